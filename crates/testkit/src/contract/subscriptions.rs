//! Contract tests of mail subscriptions.

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::audit::Audit;
use roadmap_domain::model::changelog::{ChangelogDraft, ChangelogFields};
use roadmap_domain::model::comment::PublicAuthor;
use roadmap_domain::model::customer::{CustomerDraft, CustomerName};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, RequestLink};
use roadmap_domain::model::id::{ChangelogId, CommentId, CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::mail::{About, MailId, MailSettings, Topic, Unsubscription};
use roadmap_domain::model::message::{MessageOutcome, Priority};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::text::Name;
use roadmap_domain::policy::mail_limits::start_of_hour;
use roadmap_domain::policy::subscription::is_wanted;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::block_customer::BlockCustomer;
use roadmap_domain::usecase::change_changelog::PublishChangelog;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::deliver_mail::{Leases, LoadedMessage};
use roadmap_domain::usecase::edit_comment::DeleteComment;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::hold_comment::ApproveComment;
use roadmap_domain::usecase::merge_customers::MergeCustomers;
use roadmap_domain::usecase::subscribe::{AskForNews, EndSubscription, Subscribe, Subscription};
use roadmap_domain::usecase::unsubscribe::{SaveMailSettings, Unsubscribe};
use time::Duration;
use uuid::Uuid;

use crate::harness::{
    Failing, Harness, changelog_fields, comment, customer_comment, draft, held_idea, largest_page, new_visibility,
};

/// Comments on a feature request and returns the number of waiting mails.
async fn announce(harness: &Harness, workspace: WorkspaceId, request: &FeatureRequestSummary) -> u64 {
    harness
        .executor
        .run_without_key(workspace, &comment(FeatureRequestRef::Id(request.id), "<p>Soon</p>", true))
        .await
        .unwrap();
    harness.count("outbox", workspace).await
}

/// Creates a vote on a feature request and returns the customer.
async fn voter(harness: &Harness, workspace: WorkspaceId, request: &FeatureRequestSummary, email: &str) -> CustomerId {
    harness.vote(workspace, request, email).await;
    let reader = &harness.subject.reader;
    let voters = reader.voters(workspace, &FeatureRequestRef::Id(request.id), PageRequest::default()).await.unwrap();
    voters.unwrap().items.iter().find(|voter| voter.email.as_str() == email).expect("the voter").id
}

/// Unsubscribing from one feature request or from all mail deletes waiting mails and prevents new ones. Unsubscribing
/// from all mail includes feature requests voted for later.
pub async fn unsubscribing_deletes_waiting_mail(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let (one, other) = (harness.request(workspace, "Dark mode").await, harness.request(workspace, "Export").await);
    let ann = voter(&harness, workspace, &one, "ann@example.com").await;
    let bob = voter(&harness, workspace, &one, "bob@example.com").await;
    for email in ["ann@example.com", "bob@example.com"] {
        harness.vote(workspace, &other, email).await;
    }
    assert_eq!((announce(&harness, workspace, &one).await, announce(&harness, workspace, &other).await), (2, 4));
    // Repeated, like a mail program that repeats its POST.
    for _ in 0..2 {
        harness.unsubscribe(workspace, ann, Unsubscription::Request(one.id)).await.unwrap();
        assert_eq!(harness.count("outbox", workspace).await, 3);
        harness.clock.advance(Duration::MINUTE);
    }
    assert_eq!(announce(&harness, workspace, &one).await, 4);
    for _ in 0..2 {
        harness.unsubscribe(workspace, bob, Unsubscription::Everything).await.unwrap();
        assert_eq!(harness.count("outbox", workspace).await, 1);
        harness.clock.advance(Duration::MINUTE);
    }
    let later = harness.request(workspace, "API").await;
    for email in ["ann@example.com", "bob@example.com"] {
        harness.vote(workspace, &later, email).await;
    }
    assert_eq!(announce(&harness, workspace, &later).await, 2);
}

/// Whoever unsubscribes while being merged with another customer gets no mail as that one, or is told that it failed.
pub async fn an_unsubscription_survives_a_merge_of_customers(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let about = |request: &FeatureRequestSummary| Unsubscription::Request(request.id);
    for (number, is_merged_first, is_everything) in
        [(0, true, true), (1, true, false), (2, false, true), (3, false, false)]
    {
        let request = harness.request(workspace, &format!("Request {number}")).await;
        let other = harness.request(workspace, &format!("Other {number}")).await;
        let [ann, bob] = ["ann", "bob"].map(|name| format!("{name}{number}@example.com"));
        let source = voter(&harness, workspace, &request, &ann).await;
        let target = voter(&harness, workspace, &other, &bob).await;
        let what = if is_everything { Unsubscription::Everything } else { about(&request) };
        let unsubscribe = Unsubscribe { customer: source, what };
        let merge = MergeCustomers { source, target };
        let before = harness.count("outbox", workspace).await;
        if is_merged_first {
            let (merged, unsubscribed) = harness.overlap(workspace, merge, &unsubscribe).await;
            assert!(merged.is_ok());
            assert_eq!(unsubscribed.unwrap_err().to_string(), "Customer does not exist.");
        } else {
            let (unsubscribed, merged) = harness.overlap(workspace, unsubscribe, &merge).await;
            assert!(unsubscribed.is_ok() && merged.is_ok());
            assert_eq!(announce(&harness, workspace, &request).await, before, "{number}");
        }
    }
}

/// A unit of work that is rolled back changes neither subscriptions nor waiting mails.
pub async fn a_rolled_back_unit_unsubscribes_nobody(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let customer = voter(&harness, workspace, &request, "ann@example.com").await;
    assert_eq!(announce(&harness, workspace, &request).await, 1);
    for what in [Unsubscription::Request(request.id), Unsubscription::Changelogs, Unsubscription::Everything] {
        assert!(harness.executor.run_without_key(workspace, &Failing(Unsubscribe { customer, what })).await.is_err());
    }
    assert_eq!(announce(&harness, workspace, &request).await, 2);
}

/// An id without a customer, or of a customer of another workspace, changes nothing.
pub async fn an_unknown_customer_is_not_unsubscribed(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(acme, "Dark mode").await;
    let ann = voter(&harness, acme, &request, "ann@example.com").await;
    assert_eq!(announce(&harness, acme, &request).await, 1);
    for (workspace, customer) in [(acme, CustomerId::new(Uuid::from_u128(9))), (bolt, ann)] {
        for what in [Unsubscription::Request(request.id), Unsubscription::Changelogs, Unsubscription::Everything] {
            let error = harness.unsubscribe(workspace, customer, what).await.unwrap_err();
            assert_eq!(error.to_string(), "Customer does not exist.");
        }
    }
    assert_eq!(announce(&harness, acme, &request).await, 2);
}

/// The addresses of the customers who would get mail about a new comment.
async fn subscribers(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId) -> Vec<String> {
    let posted = harness.perform(workspace, &comment(FeatureRequestRef::Id(request), "<p>Soon</p>", true)).await;
    let topic = Topic::Comment(posted.comment.id);
    let (now, page) = (harness.now(), largest_page());
    let customers = harness.subject.reader.customers(workspace, None, page).await.unwrap().items;
    let mut addresses = Vec::new();
    for CustomerName { id, email, .. } in customers.into_iter().rev().map(|customer| customer.customer) {
        let mail = MailId { topic, customer: id };
        let queued = harness.subject.queue.message(workspace, &mail.into()).await.unwrap().is_some();
        let recipients = harness.subject.mail.recipients(workspace, &[mail], now, now).await.unwrap();
        let [recipient] = recipients.as_slice() else { panic!("{recipients:?}") };
        assert_eq!((is_wanted(recipient), &recipient.to), (queued, &email), "{recipient:?}");
        addresses.extend(queued.then(|| email.as_str().to_owned()));
    }
    harness.perform(workspace, &DeleteComment { comment: posted.comment.id }).await;
    addresses
}

fn end(request: FeatureRequestId, email: &str) -> EndSubscription {
    let customer = EmailAddress::parse("email", email);
    EndSubscription { request: FeatureRequestRef::Id(request), customer: customer.unwrap() }
}

/// A subscription needs no vote, is not doubled, and ends on request. It is no vote.
pub async fn customers_subscribe_without_a_vote(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, other] = harness.requests(workspace, ["Dark mode", "Export"]).await;
    let subscribe = |email: &str, name: Option<&str>| Subscribe {
        request: FeatureRequestRef::Id(request.id),
        customer: CustomerDraft::parse(Some(email), name).unwrap(),
        resumes_mail: false,
    };
    let subscription = |is_subscribed, has_changed| Subscription {
        request: request.id,
        is_subscribed,
        has_changed,
        has_resumed: false,
    };
    for (email, name, has_changed) in [
        ("Ann@Example.com", None, true),
        ("ann@example.com", Some("Ann"), false),
        ("ANN@example.com", Some("Eve"), false),
    ] {
        let subscribed = harness.perform(workspace, &subscribe(email, name)).await;
        assert_eq!(subscribed, subscription(true, has_changed));
        assert_eq!((harness.count("followers", workspace).await, harness.count("customers", workspace).await), (1, 1));
    }
    let customers = harness.subject.reader.customers(workspace, None, largest_page()).await.unwrap().items;
    assert_eq!((customers[0].customer.name.as_ref().map(Name::as_str), customers[0].votes_count), (Some("Ann"), 0));
    assert_eq!(subscribers(&harness, workspace, request.id).await, ["Ann@Example.com"]);
    assert_eq!(subscribers(&harness, workspace, other.id).await, Vec::<String>::new());
    assert_eq!(harness.detail(workspace, request.id).await.summary.votes_count, 0);
    harness.failure(workspace, &Failing(subscribe("bob@example.com", None))).await;
    let unknown = Subscribe { request: FeatureRequestRef::Number(9), ..subscribe("bob@example.com", None) };
    assert_eq!(harness.failure(workspace, &unknown).await, "FeatureRequest does not exist.");
    assert_eq!(harness.count("customers", workspace).await, 1);
    harness.failure(workspace, &Failing(end(request.id, "ann@example.com"))).await;
    assert_eq!(subscribers(&harness, workspace, request.id).await, ["Ann@Example.com"]);
    for (email, has_changed) in [("ann@EXAMPLE.com", true), ("ann@example.com", false), ("nobody@example.com", false)] {
        let ended = harness.perform(workspace, &end(request.id, email)).await;
        assert_eq!(ended, subscription(false, has_changed));
        assert_eq!(harness.count("followers", workspace).await, 0);
    }
    // One may subscribe again, also after a vote, which then is not subscribed twice.
    harness.vote(workspace, &request, "ann@example.com").await;
    assert!(harness.subscribe(workspace, request.id, "ann@example.com").await);
    assert_eq!(subscribers(&harness, workspace, request.id).await, ["Ann@Example.com"]);
    for has_changed in [true, false] {
        let ended = harness.perform(workspace, &end(request.id, "ann@example.com")).await;
        assert_eq!(ended.has_changed, has_changed);
    }
    assert_eq!(subscribers(&harness, workspace, request.id).await, Vec::<String>::new());
    assert_eq!(harness.detail(workspace, request.id).await.summary.votes_count, 1);
    assert!(harness.subscribe(workspace, request.id, "ann@example.com").await);
    assert_eq!(subscribers(&harness, workspace, request.id).await, ["Ann@Example.com"]);
}

/// A withdrawn vote takes its subscription and its waiting mail with it, but not a subscription of its own. A new vote
/// subscribes again.
///
/// Addition 2: withdrawing a vote ends the subscription that came with it.
pub async fn a_withdrawn_vote_ends_its_subscription(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, other] = harness.requests(workspace, ["Dark mode", "Export"]).await;
    for voter in ["ann@example.com", "bob@example.com"] {
        harness.vote(workspace, &request, voter).await;
        harness.vote(workspace, &other, voter).await;
    }
    harness.subscribe(workspace, request.id, "bob@example.com").await;
    for request in [&request, &other] {
        announce(&harness, workspace, request).await;
    }
    assert_eq!(harness.count("outbox", workspace).await, 4);
    harness.withdraw(workspace, request.id, "ann@example.com").await;
    assert_eq!(harness.count("outbox", workspace).await, 3);
    harness.withdraw(workspace, request.id, "bob@example.com").await;
    assert_eq!((harness.count("outbox", workspace).await, harness.count("followers", workspace).await), (3, 1));
    assert_eq!(subscribers(&harness, workspace, request.id).await, ["bob@example.com"]);
    assert_eq!(subscribers(&harness, workspace, other.id).await, ["ann@example.com", "bob@example.com"]);
    harness.vote(workspace, &request, "ann@example.com").await;
    assert_eq!(subscribers(&harness, workspace, request.id).await, ["ann@example.com", "bob@example.com"]);
}

/// The team cannot undo that a customer stopped all mail.
///
/// Addition 2: a subscription cannot undo a customer's own one-click unsubscribe of everything.
pub async fn stopped_mail_stays_stopped(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let ann = voter(&harness, workspace, &request, "ann@example.com").await;
    harness.unsubscribe(workspace, ann, Unsubscription::Everything).await.unwrap();
    let customer = CustomerDraft::parse(Some("ann@example.com"), None);
    let request_ref = FeatureRequestRef::Id(request.id);
    let subscribe = Subscribe { request: request_ref, customer: customer.unwrap(), resumes_mail: false };
    let stopped = Subscription { request: request.id, is_subscribed: false, has_changed: false, has_resumed: false };
    assert_eq!(harness.perform(workspace, &subscribe).await, stopped);
    assert_eq!(harness.count("followers", workspace).await, 0);
    assert_eq!(subscribers(&harness, workspace, request.id).await, Vec::<String>::new());
    // The customer can: mail about feature requests is on again, and changelogs stay stopped.
    let follow = Subscribe { resumes_mail: true, ..subscribe };
    let resumed = Subscription { request: request.id, is_subscribed: true, has_changed: true, has_resumed: true };
    harness.failure(workspace, &Failing(follow.clone())).await;
    assert_eq!(settings(&harness, workspace, ann).await, (false, false));
    assert_eq!(harness.perform(workspace, &follow).await, resumed);
    assert_eq!(settings(&harness, workspace, ann).await, (true, false));
    assert_eq!(subscribers(&harness, workspace, request.id).await, ["ann@example.com"]);
    let again = Subscription { has_changed: false, has_resumed: false, ..resumed };
    assert_eq!(harness.perform(workspace, &follow).await, again);
    harness.unsubscribe(workspace, ann, Unsubscription::Everything).await.unwrap();
    // A link in a mail about one feature request can be undone.
    let bob = voter(&harness, workspace, &request, "bob@example.com").await;
    harness.unsubscribe(workspace, bob, Unsubscription::Request(request.id)).await.unwrap();
    assert_eq!(subscribers(&harness, workspace, request.id).await, Vec::<String>::new());
    assert!(harness.subscribe(workspace, request.id, "bob@example.com").await);
    assert_eq!(subscribers(&harness, workspace, request.id).await, ["bob@example.com"]);
}

/// Whether a customer gets answers and changes of the status, and changelogs.
async fn settings(harness: &Harness, workspace: WorkspaceId, customer: CustomerId) -> (bool, bool) {
    let found = harness.subject.reader.mail_settings(workspace, customer).await.unwrap();
    let (_, MailSettings { requests, changelogs, news: _ }) = found.expect("a customer");
    (requests, changelogs)
}

/// Each kind of mail is stopped and resumed by itself, and the others go on.
pub async fn kinds_of_mail_are_stopped_by_themselves(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let [ann, bob] = [
        voter(&harness, workspace, &request, "ann@example.com").await,
        voter(&harness, workspace, &request, "bob@example.com").await,
    ];
    let mails = async || harness.count("outbox", workspace).await;
    let changelog = async || {
        let ids = Some(Some(vec![request.id.to_string()]));
        let fields = ChangelogFields { feature_request_ids: ids, ..changelog_fields("1.0", "<p>New</p>") };
        let draft = ChangelogDraft::parse(&fields, false, |_| None).unwrap();
        let created = harness.perform(workspace, &CreateChangelog { draft }).await;
        let publish = PublishChangelog { changelog: created.changelog.id, notify_subscribers: true };
        harness.perform(workspace, &publish).await;
    };
    let email = |shown: Option<(EmailAddress, MailSettings)>| shown.map(|(email, _)| email.as_str().to_owned());
    let shown = harness.subject.reader.mail_settings(workspace, ann).await.unwrap();
    assert_eq!(email(shown).as_deref(), Some("ann@example.com"));
    let unknown = CustomerId::new(Uuid::from_u128(9));
    assert_eq!(harness.subject.reader.mail_settings(workspace, unknown).await.unwrap(), None);
    for (requests, changelogs) in [(true, true), (false, true), (false, false), (true, false), (true, true)] {
        let save = SaveMailSettings { customer: ann, settings: MailSettings { requests, changelogs, news: false } };
        harness.failure(workspace, &Failing(save)).await;
        harness.perform(workspace, &save).await;
        assert_eq!(settings(&harness, workspace, ann).await, (requests, changelogs));
        assert_eq!(settings(&harness, workspace, bob).await, (true, true));
        // All mail counts as stopped only if both kinds are.
        let records = harness.subject.reader.customer_records(workspace, ann).await.unwrap();
        assert_eq!(records.unsubscribed_at.is_some(), !requests && !changelogs, "{requests} {changelogs}");
        let before = mails().await;
        announce(&harness, workspace, &request).await;
        assert_eq!(mails().await - before, 1 + u64::from(requests), "{requests} {changelogs}");
        changelog().await;
        assert_eq!(mails().await - before, 2 + u64::from(requests) + u64::from(changelogs), "{requests} {changelogs}");
    }
    // Only what is stopped is left out of what waits already.
    harness.unsubscribe(workspace, ann, Unsubscription::Changelogs).await.unwrap();
    assert_eq!(settings(&harness, workspace, ann).await, (true, false));
    let records = harness.subject.reader.customer_records(workspace, ann).await.unwrap();
    assert_eq!(records.unsubscribed_at, None);
    // Whoever gets the records of somebody who has stopped a kind does not get that kind either.
    harness.perform(workspace, &MergeCustomers { source: ann, target: bob }).await;
    assert_eq!(settings(&harness, workspace, bob).await, (true, false));
    // The team stops all mail to somebody who is blocked, who cannot turn it on again.
    harness.perform(workspace, &BlockCustomer { customer: bob, is_blocked: true }).await;
    let all =
        SaveMailSettings { customer: bob, settings: MailSettings { requests: true, changelogs: true, news: true } };
    harness.perform(workspace, &all).await;
    assert_eq!(settings(&harness, workspace, bob).await, (false, false));
    harness.perform(workspace, &BlockCustomer { customer: bob, is_blocked: false }).await;
    assert_eq!(settings(&harness, workspace, bob).await, (true, true));
    let (_, after) = harness.subject.reader.mail_settings(workspace, bob).await.unwrap().unwrap();
    assert!(!after.news, "nothing turns news on while somebody is blocked");
}

/// Creates and publishes a changelog about feature requests, with mail.
async fn publish(harness: &Harness, workspace: WorkspaceId, about: &[FeatureRequestId]) -> ChangelogId {
    let ids = Some(Some(about.iter().map(ToString::to_string).collect()));
    let fields = ChangelogFields { feature_request_ids: ids, ..changelog_fields("1.0", "<p>New</p>") };
    let draft = ChangelogDraft::parse(&fields, false, |_| None).unwrap();
    let changelog = harness.perform(workspace, &CreateChangelog { draft }).await.changelog.id;
    harness.perform(workspace, &PublishChangelog { changelog, notify_subscribers: true }).await;
    changelog
}

/// Whoever asked for news gets each changelog, also those about nothing, and once together with a subscription. News stop by
/// themselves, with the changelogs, and with all mail; the mail says by what.
pub async fn news_are_for_those_who_asked(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(workspace, "Dark mode").await;
    let voter = voter(&harness, workspace, &request, "voter@example.com").await;
    let ask = |email: &str| AskForNews { customer: CustomerDraft::parse(Some(email), None).unwrap() };
    let news_of = async |customer: CustomerId| {
        harness.subject.reader.mail_settings(workspace, customer).await.unwrap().map(|(_, settings)| settings.news)
    };
    for email in ["reader@example.com", "both@example.com", "gone@example.com"] {
        harness.failure(workspace, &Failing(ask(email))).await;
        assert!(harness.perform(workspace, &ask(email)).await);
        assert!(harness.perform(workspace, &ask(&email.to_uppercase())).await);
    }
    harness.perform(other, &ask("neighbour@example.com")).await;
    harness.vote(workspace, &request, "both@example.com").await;
    let [reader, both, gone] = [
        harness.customer(workspace, "reader@example.com").await.id,
        harness.customer(workspace, "both@example.com").await.id,
        harness.customer(workspace, "gone@example.com").await.id,
    ];
    assert_eq!((news_of(reader).await, news_of(voter).await), (Some(true), Some(false)));
    harness.next_second();
    // What each customer gets of a changelog, and what the link of the mail stops.
    let mails = async |changelog: ChangelogId| {
        let leases = Leases::new(harness.subject.queue.clone(), harness.subject.mail.clone());
        let now = harness.now();
        let times = (now, now.plus(Duration::MINUTE));
        let leased = leases.lease(workspace, Priority::Bulk, times, 100, now).await.unwrap();
        let mut found = Vec::new();
        for message in leased.messages {
            let LoadedMessage::Mail(mail) = message else { panic!("{message:?}") };
            assert_eq!(mail.id.topic, Topic::Changelog(changelog));
            found.push((mail.to.as_str().split('@').next().unwrap().to_owned(), mail.stops));
            let sent = MessageOutcome::Sent { response: String::new() };
            assert!(harness.subject.queue.settle(workspace, &mail.lease, &sent, now).await.unwrap());
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    };
    let audience = async |about: &[FeatureRequestId]| {
        harness.subject.reader.count_changelog_audience(workspace, about).await.unwrap()
    };
    let (news, changelogs) = (Unsubscription::News, Unsubscription::Changelogs);
    let of = |mails: &[(&str, Unsubscription)]| -> Vec<(String, Unsubscription)> {
        mails.iter().map(|(to, stops)| ((*to).to_owned(), *stops)).collect()
    };
    assert_eq!((audience(&[]).await, audience(&[request.id]).await), (3, 4));
    let about_nothing = publish(&harness, workspace, &[]).await;
    assert_eq!(mails(about_nothing).await, of(&[("both", news), ("gone", news), ("reader", news)]));
    let linked = publish(&harness, workspace, &[request.id]).await;
    let expected = of(&[("both", changelogs), ("gone", news), ("reader", news), ("voter", changelogs)]);
    assert_eq!(mails(linked).await, expected);

    harness.unsubscribe(workspace, reader, Unsubscription::News).await.unwrap();
    harness.unsubscribe(workspace, gone, Unsubscription::Everything).await.unwrap();
    // Without changelogs about what somebody follows, news go on until they are stopped, too.
    let only_news = MailSettings { requests: true, changelogs: false, news: true };
    harness.perform(workspace, &SaveMailSettings { customer: both, settings: only_news }).await;
    assert_eq!(
        (news_of(reader).await, news_of(gone).await, news_of(both).await),
        (Some(false), Some(false), Some(true))
    );
    assert_eq!((audience(&[]).await, audience(&[request.id]).await), (1, 2));
    harness.next_second();
    let linked = publish(&harness, workspace, &[request.id]).await;
    assert_eq!(mails(linked).await, of(&[("both", news), ("voter", changelogs)]));
    harness.unsubscribe(workspace, both, Unsubscription::Changelogs).await.unwrap();
    assert_eq!(news_of(both).await, Some(false));

    // A blocked customer gets none, and cannot ask. Of two customers who become one, one is enough.
    harness.perform(workspace, &BlockCustomer { customer: gone, is_blocked: true }).await;
    assert!(!harness.perform(workspace, &ask("gone@example.com")).await);
    harness.perform(workspace, &BlockCustomer { customer: gone, is_blocked: false }).await;
    assert_eq!(news_of(gone).await, Some(false));
    harness.perform(workspace, &ask("reader@example.com")).await;
    harness.perform(workspace, &MergeCustomers { source: reader, target: voter }).await;
    assert_eq!((news_of(voter).await, audience(&[]).await), (Some(true), 1));
    // A mail that waits is not sent to those who have stopped news meanwhile.
    harness.next_second();
    let late = publish(&harness, workspace, &[]).await;
    harness.unsubscribe(workspace, voter, Unsubscription::News).await.unwrap();
    assert_eq!(mails(late).await, of(&[]));
}

/// Subscriptions to merged feature requests are subscriptions to their target. Ending one ends all of the tree, and
/// undoing the merge separates them again.
///
/// Addition 5: a subscription concerns everything that is merged.
pub async fn subscriptions_of_a_tree_belong_together(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    harness.vote(workspace, &source, "ann@example.com").await;
    harness.subscribe(workspace, source.id, "bob@example.com").await;
    harness.vote(workspace, &target, "cyd@example.com").await;
    let dan = voter(&harness, workspace, &source, "dan@example.com").await;
    harness.vote(workspace, &target, "dan@example.com").await;
    harness.unsubscribe(workspace, dan, Unsubscription::Request(source.id)).await.unwrap();
    assert_eq!(subscribers(&harness, workspace, source.id).await, ["ann@example.com", "bob@example.com"]);
    assert_eq!(subscribers(&harness, workspace, target.id).await, ["cyd@example.com", "dan@example.com"]);
    harness.merge(workspace, source.id, target.id).await;
    let all = ["ann@example.com", "bob@example.com", "cyd@example.com", "dan@example.com"];
    for request in [source.id, target.id] {
        assert_eq!(subscribers(&harness, workspace, request).await, all);
    }
    assert_eq!(announce(&harness, workspace, &target).await, 4);
    harness.perform(workspace, &end(source.id, "bob@example.com")).await;
    harness.perform(workspace, &end(target.id, "ann@example.com")).await;
    harness.unsubscribe(workspace, dan, Unsubscription::Request(source.id)).await.unwrap();
    assert_eq!(harness.count("outbox", workspace).await, 1);
    assert_eq!(subscribers(&harness, workspace, target.id).await, ["cyd@example.com"]);
    // Stored on the target.
    harness.subscribe(workspace, source.id, "eve@example.com").await;
    harness.unmerge(workspace, source.id).await;
    assert_eq!(subscribers(&harness, workspace, source.id).await, Vec::<String>::new());
    assert_eq!(subscribers(&harness, workspace, target.id).await, ["cyd@example.com", "eve@example.com"]);
}

/// Notifies the author of a feature request of a comment.
struct NotifyAuthor(CommentId);

#[async_trait]
impl Operation for NotifyAuthor {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        work.notify_people(self.0, true, &[], context.now).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

/// Comments as the team without a notification of all voters. Returns the addresses that get mail nevertheless.
async fn notified(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId) -> Vec<String> {
    let before = harness.count("outbox", workspace).await;
    let operation = comment(FeatureRequestRef::Id(request), "<p>Soon</p>", false);
    let comment = harness.perform(workspace, &operation).await.comment.id;
    // Again: there is at most one mail per customer and comment.
    harness.perform(workspace, &NotifyAuthor(comment)).await;
    let customers = harness.subject.reader.customers(workspace, None, largest_page()).await.unwrap().items;
    let mut addresses = Vec::new();
    for CustomerName { id, email, .. } in customers.into_iter().rev().map(|customer| customer.customer) {
        let mail = MailId { topic: Topic::Comment(comment), customer: id };
        let queued = harness.subject.queue.message(workspace, &mail.into()).await.unwrap();
        addresses.extend(queued.map(|_| email.as_str().to_owned()));
    }
    assert_eq!(harness.count("outbox", workspace).await, before + addresses.len() as u64);
    addresses
}

/// The addresses that get mail about a comment of a customer that quotes these comments.
async fn told(
    harness: &Harness,
    workspace: WorkspaceId,
    (request, email): (FeatureRequestId, &str),
    quoted: &[CommentId],
) -> Vec<String> {
    let before = harness.count("outbox", workspace).await;
    let link = |comment: &CommentId| format!("<a href=\"https://acme.example/x#comment-{comment}\">x</a>");
    let content = format!("<p>Yes {}</p>", quoted.iter().map(link).collect::<String>());
    let reply = customer_comment(FeatureRequestRef::Id(request), &content, email, None);
    let reply = harness.perform(workspace, &reply).await.comment.id;
    let customers = harness.subject.reader.customers(workspace, None, largest_page()).await.unwrap().items;
    let mut addresses = Vec::new();
    for CustomerName { id, email, .. } in customers.into_iter().rev().map(|customer| customer.customer) {
        let mail = MailId { topic: Topic::Comment(reply), customer: id };
        let queued = harness.subject.queue.message(workspace, &mail.into()).await.unwrap();
        addresses.extend(queued.map(|_| email.as_str().to_owned()));
    }
    assert_eq!(harness.count("outbox", workspace).await, before + addresses.len() as u64);
    addresses.sort();
    addresses
}

/// Who is quoted gets mail as a follower, about comments of others on the same page that are not hidden.
pub async fn who_is_quoted_gets_mail(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [request, source, unrelated] = harness.requests(workspace, ["Dark mode", "Night mode", "Export"]).await;
    let written = async |workspace: WorkspaceId, request: FeatureRequestId, email: &str| {
        let comment = customer_comment(FeatureRequestRef::Id(request), "<p>Mine</p>", email, None);
        harness.perform(workspace, &comment).await.comment.id
    };
    let (ann, bob) = ("ann@example.com", "bob@example.com");
    let by_ann = written(workspace, request.id, ann).await;
    let by_cy = written(workspace, source.id, "cy@example.com").await;
    let by_dee = written(workspace, unrelated.id, "dee@example.com").await;
    let of_team =
        harness.perform(workspace, &comment(FeatureRequestRef::Id(request.id), "Soon", false)).await.comment.id;
    let all = [by_ann, by_cy, by_dee];
    // Nobody follows it.
    assert_eq!(told(&harness, workspace, (request.id, bob), &all).await, Vec::<String>::new());
    for (request, email) in [(&request, ann), (&source, "cy@example.com"), (&unrelated, "dee@example.com")] {
        harness.subscribe(workspace, request.id, email).await;
    }
    assert_eq!(told(&harness, workspace, (request.id, bob), &all).await, [ann]);
    assert_eq!(told(&harness, workspace, (request.id, ann), &all).await, Vec::<String>::new());
    assert_eq!(told(&harness, workspace, (request.id, bob), &[of_team]).await, Vec::<String>::new());
    harness.merge(workspace, source.id, request.id).await;
    assert_eq!(told(&harness, workspace, (request.id, bob), &all).await, [ann, "cy@example.com"]);
    // One that was held is told when it is approved.
    let link = format!("<p><a href=\"https://acme.example/x#comment-{by_ann}\">x</a></p>");
    let held = harness.hold(workspace, request.id, &link, bob).await;
    let before = harness.count("outbox", workspace).await;
    harness.perform(workspace, &ApproveComment { comment: held }).await;
    assert_eq!(harness.count("outbox", workspace).await, before + 1);
    // What is hidden is told to its author only.
    harness.edit(workspace, request.id, new_visibility(true)).await;
    assert_eq!(told(&harness, workspace, (request.id, bob), &all).await, Vec::<String>::new());
    let foreign = harness.request(other, "Elsewhere").await;
    assert_eq!(told(&harness, other, (foreign.id, bob), &all).await, Vec::<String>::new());
    harness.edit(workspace, request.id, new_visibility(false)).await;
    let stopped = harness.customer(workspace, ann).await.id;
    harness.unsubscribe(workspace, stopped, Unsubscription::Everything).await.unwrap();
    assert_eq!(told(&harness, workspace, (request.id, bob), &all).await, ["cy@example.com"]);
}

/// The author of a feature request gets mail about each comment of the team, as long as the author is subscribed.
pub async fn the_author_gets_every_answer(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let of = |draft: FeatureRequestDraft, email: &str| {
        let customer = CustomerDraft::parse(Some(email), None).ok();
        FeatureRequestDraft { customer, ..draft }
    };
    let request = harness.create(workspace, of(draft("Dark mode", &[], ""), "Ann@Example.com")).await;
    harness.vote(workspace, &request, "bob@example.com").await;
    let unowned = harness.request(workspace, "Export").await;
    harness.vote(workspace, &unowned, "ann@example.com").await;
    let (ann, none) = (["Ann@Example.com"], Vec::<String>::new());
    assert_eq!(notified(&harness, workspace, request.id).await, ann);
    assert_eq!(notified(&harness, workspace, unowned.id).await, none);
    let now = harness.now();
    let leases = Leases::new(harness.subject.queue.clone(), harness.subject.mail.clone());
    let until = now.plus(Duration::MINUTE);
    let leased = leases.lease(workspace, Priority::Bulk, (now, until), 10, start_of_hour(now)).await.unwrap();
    let [LoadedMessage::Mail(mail)] = leased.messages.as_slice() else { panic!("{leased:?}") };
    assert_eq!((mail.to.as_str(), mail.content.as_str()), ("Ann@Example.com", "<p>Soon</p>"));
    assert_eq!(mail.about, About::Comment(RequestLink::from(&request), PublicAuthor::Member(None)));

    // Neither customers' comments nor rolled back ones are mailed. With a mail to all, there is no second one.
    let reference = FeatureRequestRef::Id(request.id);
    harness.perform(workspace, &customer_comment(reference, "<p>When?</p>", "bob@example.com", None)).await;
    harness.failure(workspace, &Failing(comment(reference, "<p>Soon</p>", false))).await;
    assert_eq!(harness.count("outbox", workspace).await, 1);
    let to_all = harness.perform(workspace, &comment(reference, "<p>Now</p>", true)).await.comment.id;
    assert_eq!(harness.count("outbox", workspace).await, 3);
    for (workspace, comment) in [(workspace, to_all), (other, to_all), (workspace, CommentId::new(Uuid::from_u128(1)))]
    {
        harness.perform(workspace, &NotifyAuthor(comment)).await;
    }
    assert_eq!((harness.count("outbox", workspace).await, harness.count("outbox", other).await), (3, 0));

    // A subscription without a vote is enough. Ended ones are none.
    harness.withdraw(workspace, request.id, "ann@example.com").await;
    assert_eq!(notified(&harness, workspace, request.id).await, none);
    harness.subscribe(workspace, request.id, "ann@example.com").await;
    assert_eq!(notified(&harness, workspace, request.id).await, ann);
    harness.perform(workspace, &end(request.id, "ann@example.com")).await;
    assert_eq!(notified(&harness, workspace, request.id).await, none);
    // Private ones, too: their authors see them.
    let held = harness.create(workspace, held_idea("Bilby", "cyd@example.com")).await;
    assert_eq!(notified(&harness, workspace, held.id).await, ["cyd@example.com"]);
    // Of a merged one, the author of the target is notified, who may be subscribed to the source alone.
    harness.merge(workspace, held.id, request.id).await;
    assert_eq!(notified(&harness, workspace, held.id).await, none);
    harness.unmerge(workspace, held.id).await;
    harness.subscribe(workspace, unowned.id, "ann@example.com").await;
    harness.merge(workspace, unowned.id, request.id).await;
    assert_eq!(notified(&harness, workspace, unowned.id).await, ann);
    let customer = harness.customer(workspace, "ann@example.com").await.id;
    harness.unsubscribe(workspace, customer, Unsubscription::Everything).await.unwrap();
    assert_eq!(notified(&harness, workspace, request.id).await, none);
}

crate::contract::cases!($ subscriptions {
    unsubscribing_deletes_waiting_mail,
    a_rolled_back_unit_unsubscribes_nobody,
    an_unknown_customer_is_not_unsubscribed,
    customers_subscribe_without_a_vote,
    a_withdrawn_vote_ends_its_subscription,
    stopped_mail_stays_stopped,
    kinds_of_mail_are_stopped_by_themselves,
    news_are_for_those_who_asked,
    subscriptions_of_a_tree_belong_together,
    an_unsubscription_survives_a_merge_of_customers,
    the_author_gets_every_answer,
    who_is_quoted_gets_mail,
});
