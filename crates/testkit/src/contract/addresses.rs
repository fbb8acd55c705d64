//! Addresses in several spellings, and those that are stored as they were once folded.

use roadmap_domain::model::customer::{CustomerQuery, DoubleAddresses};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::usecase::merge_customers::MergeCustomers;
use roadmap_domain::usecase::save_account::SaveAccount;

use crate::harness::{Harness, add_member, largest_page};

fn email(address: &str) -> EmailAddress {
    EmailAddress::parse("email", address).unwrap()
}

/// One domain in two spellings is one. Local parts that differ in more than the case of ASCII letters are two. What was
/// written first is shown.
pub async fn a_mailbox_is_one_in_all_spellings(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    for (address, votes) in [
        ("Ann@exämple.de", 1),
        ("ann@xn--exmple-cua.de", 1),
        ("ann@EXÄMPLE.de", 1),
        ("mark@team.example", 2),
        ("mar\u{212a}@team.example", 3),
        ("jürgen@team.example", 4),
        ("ju\u{308}rgen@team.example", 4),
    ] {
        assert_eq!(harness.vote(workspace, &request, address).await.request.votes_count, votes, "{address}");
    }
    let voters = harness.voters(workspace, request.id).await;
    let mut addresses: Vec<&str> = voters.iter().map(|voter| voter.email.as_str()).collect();
    addresses.sort_unstable();
    assert_eq!(addresses, ["Ann@exämple.de", "jürgen@team.example", "mark@team.example", "mar\u{212a}@team.example"]);
    assert_eq!(harness.voted(workspace, "ANN@XN--EXMPLE-CUA.de").await, [1]);
    for query in ["exämple", "EXÄMPLE", "ann@xn--exmple-cua.de", "Ann@Exämple.DE"] {
        let query = CustomerQuery::parse("query", Some(query)).unwrap();
        let listing = harness.subject.reader.customers(workspace, query.as_ref(), largest_page()).await.unwrap();
        assert_eq!(listing.items.len(), 1, "{query:?}");
    }
    assert_eq!(harness.withdraw(workspace, request.id, "ann@xn--exmple-cua.de").await.request.votes_count, 3);
    let member = harness.perform(workspace, &add_member("mia@exämple.de", "Mia")).await;
    let again = add_member("mia@xn--exmple-cua.de", "Mia");
    assert_eq!(harness.failure(workspace, &again).await, "e-mail address `mia@xn--exmple-cua.de` is already taken");
    assert_eq!(harness.subject.reader.members(workspace).await.unwrap(), [member]);
}

/// Addresses that are stored as they were once folded are folded again, and found in all spellings from then on. Of two
/// that have become one, the other one stays as it is until they are merged.
pub async fn stored_addresses_are_folded_again(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [first, second] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    let stranger = harness.request(other, "Moss").await;
    harness.vote(other, &stranger, "ann@exämple.de").await;
    harness.vote(workspace, &first, "bob@exämple.de").await;
    harness.vote(workspace, &first, "mar\u{212a}@team.example").await;
    harness.vote(workspace, &first, "ann@exämple.de").await;
    let member = harness.perform(workspace, &add_member("mia@exämple.de", "Mia")).await;
    let save = SaveAccount { email: email("cyd@exämple.de"), name: None, language: None, holds_names: false };
    harness.perform(workspace, &save).await;
    for (table, address, folded) in [
        ("customers", "ann@exämple.de", "ann@exämple.de"),
        ("customers", "bob@exämple.de", "bob@exämple.de"),
        ("customers", "cyd@exämple.de", "cyd@exämple.de"),
        ("customers", "mar\u{212a}@team.example", "mark@team.example"),
        ("members", "mia@exämple.de", "mia@exämple.de"),
    ] {
        let outdate = format!("UPDATE {table} SET email_folded = '{folded}' WHERE email = '{address}'");
        harness.subject.probe.execute(&outdate).await;
    }
    // Before the service is updated, the other spelling is another customer.
    harness.vote(workspace, &first, "ann@xn--exmple-cua.de").await;
    harness.vote(workspace, &second, "ann@xn--exmple-cua.de").await;
    let maintenance = &harness.subject.maintenance;
    assert_eq!(maintenance.refold_addresses().await.unwrap(), 5);
    assert_eq!(maintenance.refold_addresses().await.unwrap(), 0);

    assert_eq!(harness.voted(workspace, "bob@xn--exmple-cua.de").await, [1]);
    assert_eq!(harness.voted(workspace, "mar\u{212a}@team.example").await, [1]);
    assert_eq!(harness.voted(workspace, "mark@team.example").await, Vec::<i64>::new());
    assert_eq!(harness.voted(other, "ann@xn--exmple-cua.de").await, [1]);
    let again = add_member("mia@xn--exmple-cua.de", "Mia");
    assert_eq!(harness.failure(workspace, &again).await, "e-mail address `mia@xn--exmple-cua.de` is already taken");
    let saved = SaveAccount { email: email("cyd@xn--exmple-cua.de"), name: None, language: None, holds_names: false };
    assert_eq!(harness.perform(workspace, &saved).await.email.as_str(), "cyd@exämple.de");

    assert_eq!(maintenance.double_addresses(other).await.unwrap(), DoubleAddresses::default());
    let doubles = maintenance.double_addresses(workspace).await.unwrap();
    assert_eq!(doubles.members, []);
    let [double] = &*doubles.customers else { panic!("{doubles:?}") };
    assert_eq!(
        (double.double.email.as_str(), double.canonical.email.as_str()),
        ("ann@exämple.de", "ann@xn--exmple-cua.de")
    );
    let merge = MergeCustomers { source: double.double.id, target: double.canonical.id };
    harness.perform(workspace, &merge).await;
    assert_eq!(maintenance.double_addresses(workspace).await.unwrap(), DoubleAddresses::default());
    assert_eq!(harness.voted(workspace, "ann@exämple.de").await, [2, 1]);
    assert_eq!(harness.find(workspace, 1).await.votes_count, 3);
    assert_eq!(harness.subject.reader.members(workspace).await.unwrap(), [member]);
}

/// A member whose address is that of another one is named, unless it was removed.
pub async fn double_members_are_named(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.perform(workspace, &add_member("mia@exämple.de", "Mia")).await;
    let outdate = "UPDATE members SET email_folded = 'mia@exämple.de' WHERE email = 'mia@exämple.de'";
    harness.subject.probe.execute(outdate).await;
    harness.perform(workspace, &add_member("mia@xn--exmple-cua.de", "Mia")).await;
    let maintenance = &harness.subject.maintenance;
    assert_eq!(maintenance.refold_addresses().await.unwrap(), 0);
    let members = maintenance.double_addresses(workspace).await.unwrap().members;
    assert_eq!(members.iter().map(EmailAddress::as_str).collect::<Vec<_>>(), ["mia@exämple.de"]);
    harness.subject.probe.execute("UPDATE members SET removed_at = created_at WHERE email = 'mia@exämple.de'").await;
    assert_eq!(maintenance.double_addresses(workspace).await.unwrap(), DoubleAddresses::default());
}

crate::contract::cases!($ addresses {
    a_mailbox_is_one_in_all_spellings,
    stored_addresses_are_folded_again,
    double_members_are_named,
});
