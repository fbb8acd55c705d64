//! Customers: lists, look-ups by words, and names.

use roadmap_domain::model::customer::{Customer, CustomerName, CustomerQuery};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::usecase::rename_customer::{CustomerRenamed, RenameCustomer};
use uuid::Uuid;

use crate::harness::{Failing, Harness, customer_comment, largest_page, name, page, vote};

async fn customers(harness: &Harness, workspace: WorkspaceId) -> Vec<Customer> {
    let listing = harness.subject.reader.customers(workspace, None, largest_page()).await.unwrap();
    assert_eq!(listing.total, listing.items.len() as u64);
    listing.items
}

/// The addresses of the customers that a query finds, oldest first.
async fn find(harness: &Harness, workspace: WorkspaceId, query: &str) -> Vec<String> {
    let query = CustomerQuery::parse("query", Some(query)).unwrap();
    let listing = harness.subject.reader.customers(workspace, query.as_ref(), largest_page()).await.unwrap();
    assert_eq!(listing.total, listing.items.len() as u64);
    listing.items.into_iter().rev().map(|customer| customer.customer.email.as_str().to_owned()).collect()
}

/// Voters, subscribers and commenters are customers. They are listed newest first, with the number of their votes; what
/// is merged counts once. Pages have no repeats with equal timestamps.
///
/// Addition 4: in the `votes_count` of a customer, merged ones count once.
pub async fn customers_are_listed_with_their_votes(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [first, second, third] = harness.requests(workspace, ["Quokka", "Fern", "Lichen"]).await;
    let mut expected = Vec::new();
    for (email, text, requests) in [
        ("Ann@Example.com", Some("Ann"), &[&first, &second, &third][..]),
        ("bob@example.com", None, &[&second]),
        ("cyd@example.com", None, &[]),
        ("dan@example.com", Some("Dan"), &[]),
    ] {
        for request in requests {
            let vote = vote(FeatureRequestRef::Id(request.id), Some((email, text)), None);
            harness.perform(workspace, &vote).await;
        }
        if requests.is_empty() && text.is_none() {
            harness.subscribe(workspace, first.id, email).await;
        } else {
            let reference = FeatureRequestRef::Id(first.id);
            harness.perform(workspace, &customer_comment(reference, "<p>When?</p>", email, text)).await;
        }
        let votes_count = i64::try_from(requests.len()).unwrap();
        expected.push((text.map(name), email, votes_count, harness.now()));
        // Two at a time have equal timestamps.
        if email == "bob@example.com" {
            harness.next_second();
        }
    }
    expected.reverse();
    let listed = customers(&harness, workspace).await;
    let fields = listed.iter().map(|Customer { customer, votes_count, created_at, .. }| {
        (customer.name.clone(), customer.email.as_str(), *votes_count, *created_at)
    });
    assert_eq!(fields.collect::<Vec<_>>(), expected);
    let mut expected = listed;
    let voters = harness.voters(workspace, third.id).await;
    assert_eq!(voters[0].id, expected[3].customer.id);
    for (source, target, votes) in [(&first, &second, 2), (&second, &third, 1)] {
        harness.merge(workspace, source.id, target.id).await;
        expected[3].votes_count = votes;
        assert_eq!(customers(&harness, workspace).await, expected);
    }
    for customer in &expected {
        let stored = harness.subject.reader.customer(workspace, customer.customer.id).await.unwrap();
        assert_eq!(stored.as_ref(), Some(customer));
        assert_eq!(harness.subject.reader.customer(other, customer.customer.id).await.unwrap(), None);
    }
    assert_eq!(customers(&harness, other).await, []);
    harness.withdraw(workspace, first.id, "ann@example.com").await;
    expected[3].votes_count = 0;
    let mut paged = Vec::new();
    for number in 1..=3 {
        let listing = harness.subject.reader.customers(workspace, None, page(number, 2)).await.unwrap();
        assert_eq!(listing.total, 4);
        paged.extend(listing.items);
    }
    assert_eq!(paged, expected);
}

/// A query is a part of the name or of the address, regardless of case, also of non-ASCII letters. `%`, `_` and `\` mean
/// themselves.
///
/// Addition 4: `query` of `GET /customers` finds by name and address.
pub async fn customers_are_found_by_a_part_of_name_or_address(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(workspace, "Dark mode").await;
    for (email, text) in [
        ("Ann@Example.com", Some("Änne ÖZIL")),
        ("bob_100%@example.com", Some("50% off")),
        ("jürgen@bücher.example", None),
        ("c.lee@example.com", Some("C_Lee \\ Sons")),
        ("ann.lee@other.example", None),
    ] {
        harness.perform(workspace, &vote(FeatureRequestRef::Id(request.id), Some((email, text)), None)).await;
    }
    let [ann, bob, jurgen, lee, other_ann] = [
        "Ann@Example.com",
        "bob_100%@example.com",
        "jürgen@bücher.example",
        "c.lee@example.com",
        "ann.lee@other.example",
    ];
    for (query, expected) in [
        ("ann", &[ann, other_ann][..]),
        ("ANN@EXAMPLE", &[ann]),
        ("änne", &[ann]),
        ("ÄNNE özil", &[ann]),
        ("  Özil ", &[ann]),
        ("anne", &[]),
        ("JÜRGEN", &[jurgen]),
        ("Bücher", &[jurgen]),
        ("%", &[bob]),
        ("_", &[bob, lee]),
        ("0%", &[bob]),
        ("c_l", &[lee]),
        ("c.l", &[lee]),
        ("\\", &[lee]),
        ("lee", &[lee, other_ann]),
        ("example", &[ann, bob, jurgen, lee, other_ann]),
        ("zebra", &[]),
        ("'", &[]),
    ] {
        assert_eq!(find(&harness, workspace, query).await, expected, "{query}");
        assert_eq!(find(&harness, other, query).await, Vec::<String>::new(), "{query}");
    }
    assert_eq!(CustomerQuery::parse("query", Some("  ")).unwrap(), None);
    let query = CustomerQuery::parse("query", Some("example")).unwrap();
    let second = harness.subject.reader.customers(workspace, query.as_ref(), page(2, 2)).await.unwrap();
    let addresses: Vec<&str> = second.items.iter().map(|customer| customer.customer.email.as_str()).collect();
    assert_eq!((addresses, second.total), (vec![jurgen, bob], 5));
}

/// A new name is shown wherever the customer is, and is found. The old one is not found any more.
///
/// Addition 4.
pub async fn a_customer_gets_another_name(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(workspace, "Dark mode").await;
    harness.vote(workspace, &request, "ann@example.com").await;
    let mut ann = customers(&harness, workspace).await.remove(0);
    let rename = |text: &str| RenameCustomer { customer: ann.customer.id, name: name(text) };
    for (text, has_changed) in [("Änne", true), ("Änne", false), ("Özil", true)] {
        let renamed = harness.perform(workspace, &rename(text)).await;
        let customer = CustomerName { name: Some(name(text)), ..ann.customer.clone() };
        let expected = Customer { customer, ..ann.clone() };
        assert_eq!(renamed, CustomerRenamed { customer: expected.clone(), has_changed });
        assert_eq!(customers(&harness, workspace).await, [expected]);
        assert_eq!(harness.voters(workspace, request.id).await[0].name, Some(name(text)));
    }
    harness.failure(workspace, &Failing(rename("Eve"))).await;
    assert_eq!(find(&harness, workspace, "ÖZIL").await, ["ann@example.com"]);
    for old in ["änne", "eve"] {
        assert_eq!(find(&harness, workspace, old).await, Vec::<String>::new());
    }
    let missing = "Customer does not exist.";
    assert_eq!(harness.failure(other, &rename("Eve")).await, missing);
    ann.customer.id = CustomerId::new(Uuid::from_u128(1));
    let unknown = RenameCustomer { customer: ann.customer.id, name: name("Eve") };
    assert_eq!(harness.failure(workspace, &unknown).await, missing);
}

crate::contract::cases!($ customers {
    customers_are_listed_with_their_votes,
    customers_are_found_by_a_part_of_name_or_address,
    a_customer_gets_another_name,
});
