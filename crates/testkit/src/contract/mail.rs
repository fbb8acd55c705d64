//! Contract tests of the outbox as workers see it.

use std::collections::BTreeSet;

use async_trait::async_trait;
use roadmap_domain::error::{Budget, OverBudget, RoadmapError};
use roadmap_domain::model::audit::{Audit, Origin};
use roadmap_domain::model::changelog::{ChangelogChange, ChangelogDraft, ChangelogFields, ChangelogMail, CoverImage};
use roadmap_domain::model::comment::{CommentDraft, PublicAuthor};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, RequestLink, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{ChangelogId, FeatureRequestId, TrackId, WorkspaceId};
use roadmap_domain::model::mail::{
    About, DigestEntry, DigestId, LeasedDigest, LeasedMail, MailId, MailSender, OutboxDepth, SenderName, Topic,
    Unsubscription,
};
use roadmap_domain::model::member::Author;
use roadmap_domain::model::message::{
    Audience, Lease, LeasedMessage, MessageContent, MessageId, MessageOutcome, NewMessage, Priority, Recipient,
};
use roadmap_domain::model::portal::{Color, Language, PortalChange};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_limits::{MailBudgetWindow, end_of_hour, start_of_hour};
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::change_changelog::{DeleteChangelog, EditChangelog, PublishChangelog, UnpublishChangelog};
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::deliver_mail::{Leases, LoadedMessage, LoadedMessages};
use roadmap_domain::usecase::edit_comment::{DeleteComment, EditComment};
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::merge_feature_requests::MergeFeatureRequests;
use roadmap_domain::usecase::move_feature_request::{MoveComment, MoveDraft, MoveFeatureRequest};
use roadmap_domain::usecase::post_comment::PostComment;
use roadmap_domain::usecase::queue_test_mail::{QueueTestMail, TestMailBy};
use roadmap_domain::usecase::save_account::SaveAccount;
use roadmap_domain::usecase::set_sender_name::SetSenderName;
use roadmap_domain::usecase::update_portal::UpdatePortal;
use time::Duration;
use uuid::Uuid;

use crate::harness::{
    Failing, Harness, Many, changelog_fields, comment, customer_comment, draft, largest_page, merge, move_to, name,
    new_title, page, vote,
};

const MINUTE: Duration = Duration::minutes(1);

/// Creates a workspace with a feature request, voters, and a comment that the voters are notified of.
async fn announced(harness: &Harness, subdomain: &str, voters: usize) -> (WorkspaceId, FeatureRequestSummary) {
    let workspace = harness.workspace(subdomain).await;
    let request = harness.request(workspace, "Dark mode").await;
    for number in 0..voters {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    announce(harness, workspace, &request).await;
    (workspace, request)
}

async fn announce(harness: &Harness, workspace: WorkspaceId, request: &FeatureRequestSummary) -> Topic {
    let comment = comment(FeatureRequestRef::Id(request.id), "<p>Soon</p>", true);
    Topic::Comment(harness.perform(workspace, &comment).await.comment.id)
}

/// Leases messages for a minute, as workers do.
async fn lease_messages(harness: &Harness, workspace: WorkspaceId, limit: u32) -> LoadedMessages {
    let now = harness.now();
    leases(harness).lease(workspace, Priority::Bulk, (now, now.plus(MINUTE)), limit, start_of_hour(now)).await.unwrap()
}

fn leases(harness: &Harness) -> Leases {
    Leases::new(harness.subject.queue.clone(), harness.subject.mail.clone()).with_digest_entries(3)
}

/// Leases notifications for a minute. Messages of other kinds are returned.
async fn lease(harness: &Harness, workspace: WorkspaceId, limit: u32) -> Vec<LeasedMail> {
    let mut mails = Vec::new();
    loop {
        let missing = limit - u32::try_from(mails.len()).unwrap();
        let leased = lease_messages(harness, workspace, missing).await;
        assert!(leased.unreadable.is_empty() && leased.unknown.is_empty(), "{leased:?}");
        let (lease_size, before) = (leased.len(), mails.len());
        for message in leased.messages {
            let lease = message.lease();
            match message {
                LoadedMessage::Mail(mail) => mails.push(mail),
                _ => assert!(settle_lease(harness, workspace, &lease, MessageOutcome::Returned).await),
            }
        }
        if lease_size == mails.len() - before || mails.len() == before {
            return mails;
        }
    }
}

async fn settle(harness: &Harness, workspace: WorkspaceId, mail: &LeasedMail, outcome: MessageOutcome) -> bool {
    settle_lease(harness, workspace, &mail.lease, outcome).await
}

async fn settle_lease(harness: &Harness, workspace: WorkspaceId, lease: &Lease, outcome: MessageOutcome) -> bool {
    harness.subject.queue.settle(workspace, lease, &outcome, harness.now()).await.unwrap()
}

fn sent() -> MessageOutcome {
    MessageOutcome::Sent { response: "250 OK".to_owned() }
}

/// Expands the audience that has been due longest. Returns the number of created notifications, or `None` without an
/// audience.
async fn expand(harness: &Harness, workspace: WorkspaceId, limit: u32) -> Option<u64> {
    let (queue, now) = (&harness.subject.queue, harness.now());
    let mut expanded = None;
    for message in queue.lease(workspace, Priority::Bulk, now, now.plus(MINUTE), 1_000).await.unwrap().messages {
        match MessageContent::parse(&message.kind, &message.payload).unwrap() {
            MessageContent::Audience(audience) if expanded.is_none() => {
                let LeasedMessage { lease, created_at, .. } = message;
                expanded = queue.expand(workspace, &lease, &audience, created_at, limit, now).await.unwrap();
            }
            _ => assert!(settle_lease(harness, workspace, &message.lease, MessageOutcome::Returned).await),
        }
    }
    expanded
}

/// The workspaces with due notifications.
async fn due(harness: &Harness) -> Vec<WorkspaceId> {
    let due = harness.subject.queue.due_workspaces(harness.now()).await.unwrap();
    assert!(due.iter().all(|(_, priority)| *priority == Priority::Bulk), "{due:?}");
    due.into_iter().map(|(workspace, _)| workspace).collect()
}

fn mail(message: LoadedMessage) -> Option<LeasedMail> {
    let LoadedMessage::Mail(mail) = message else { return None };
    Some(mail)
}

fn product_name(sender: &MailSender) -> &str {
    sender.portal.setting.product_name.as_str()
}

/// The voters of what was merged are told into what, and those of the target are not, however many there are. A merge that is
/// undone meanwhile is not told.
pub async fn voters_of_what_was_merged_are_told(harness: Harness) {
    for voters in [2, 30] {
        let workspace = harness.workspace(&format!("acme{voters}")).await;
        let [older, source, target] = harness.requests(workspace, ["Older", "Source", "Target"]).await;
        harness.vote(workspace, &older, "older@example.com").await;
        for number in 0..voters {
            harness.vote(workspace, &source, &format!("v{number}@example.com")).await;
            harness.vote(workspace, &target, &format!("t{number}@example.com")).await;
        }
        // Votes for both; follows; has stopped mail; does not follow it any more.
        harness.vote(workspace, &target, "v0@example.com").await;
        harness.subscribe(workspace, source.id, "follower@example.com").await;
        for (email, what) in [
            ("stopped@example.com", Unsubscription::Everything),
            ("left@example.com", Unsubscription::Request(source.id)),
        ] {
            harness.vote(workspace, &source, email).await;
            let customer = harness.customer(workspace, email).await.id;
            harness.unsubscribe(workspace, customer, what).await.unwrap();
        }
        harness.merge(workspace, older.id, source.id).await;
        assert_eq!(harness.count("outbox", workspace).await, 0);
        let merge = MergeFeatureRequests { tells_voters: true, ..merge(source.id, target.id) };
        harness.failure(workspace, &Failing(merge.clone())).await;
        harness.perform(workspace, &merge).await;
        harness.next_second();
        while expand(&harness, workspace, 7).await.is_some() {}
        let mails = lease(&harness, workspace, 100).await;
        let mut told: Vec<String> = mails.iter().map(|mail| mail.to.as_str().to_owned()).collect();
        told.sort();
        let mut expected: Vec<String> = (0..voters).map(|number| format!("v{number}@example.com")).collect();
        expected.extend(["follower@example.com".to_owned(), "older@example.com".to_owned()]);
        expected.sort();
        assert_eq!(told, expected);
        let about = About::Merge { request: RequestLink::from(&target), source: source.title.clone() };
        for mail in &mails {
            assert_eq!((&mail.about, mail.stops), (&about, Unsubscription::Request(target.id)));
            assert_eq!(mail.content.as_str(), "");
            assert!(settle(&harness, workspace, mail, MessageOutcome::Returned).await);
        }
        // Whoever stops mail about the target gets none of it, and nobody does if the merge is undone.
        let follower = harness.customer(workspace, "follower@example.com").await.id;
        harness.unsubscribe(workspace, follower, Unsubscription::Request(target.id)).await.unwrap();
        assert_eq!(lease(&harness, workspace, 100).await.len(), mails.len() - 1);
        harness.next_second();
        harness.clock.advance(MINUTE);
        harness.unmerge(workspace, source.id).await;
        assert_eq!(lease(&harness, workspace, 100).await, []);
        assert_eq!(harness.count("outbox", workspace).await, 0);
    }
}

/// A comment of the team of a workspace without members.
fn comment_on(request: &FeatureRequestSummary) -> About {
    About::Comment(RequestLink::from(request), PublicAuthor::Member(None))
}

/// A change of the status that nobody has explained.
fn status_of(request: &FeatureRequestSummary, status: Option<&str>) -> About {
    About::StatusChange { request: RequestLink::from(request), status: status.map(name), author: None }
}

fn about_changelog(id: ChangelogId) -> About {
    About::Changelog { id, title: Title::parse("title", "1.0").unwrap(), cover: None }
}

fn addresses(mails: &[LeasedMail]) -> BTreeSet<String> {
    mails.iter().map(|mail| mail.to.as_str().to_owned()).collect()
}

/// The content of a leased mail is complete, and a leased mail is not leased again.
///
/// Decision 6.
pub async fn a_mail_is_leased_to_one_worker(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 3).await;
    let queue = &harness.subject.queue;
    assert_eq!(due(&harness).await, [workspace]);
    let first = lease(&harness, workspace, 2).await;
    let mail = &first[0];
    assert_eq!((mail.attempt.get(), mail.lease.until), (1, harness.now().plus(MINUTE)));
    assert_eq!(mail.about, comment_on(&request));
    assert_eq!((mail.content.as_str(), product_name(&mail.sender)), ("<p>Soon</p>", "Acme"));
    assert_eq!(mail.sender.subdomain.to_string(), "acme");
    let second = lease(&harness, workspace, 2).await;
    assert_eq!((first.len(), second.len(), lease(&harness, workspace, 2).await.len()), (2, 1, 0));
    let all: Vec<LeasedMail> = first.into_iter().chain(second).collect();
    assert_eq!(addresses(&all), ["v0", "v1", "v2"].map(|name| format!("{name}@example.com")).into());
    assert_eq!(due(&harness).await, []);
    for mail in &all {
        assert!(settle(&harness, workspace, mail, sent()).await);
    }
    harness.clock.advance(MINUTE * 10);
    assert_eq!(lease(&harness, workspace, 10).await, []);
    let status = queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.sent, status.dead, status.oldest), (0, 3, 0, None));
}

/// With eight concurrent workers, each mail is leased to exactly one.
///
/// Decision 6.
pub async fn concurrent_workers_share_the_mails(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 40).await;
    assert_eq!(expand(&harness, workspace, 100).await, Some(40));
    assert_eq!(expand(&harness, workspace, 100).await, None);
    let now = harness.now();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let leases = leases(&harness);
        workers.spawn(async move {
            let (until, hour) = (now.plus(MINUTE), start_of_hour(now));
            leases.lease(workspace, Priority::Bulk, (now, until), 10, hour).await.unwrap().messages
        });
    }
    let mut mails: Vec<LeasedMail> = workers.join_all().await.into_iter().flatten().filter_map(mail).collect();
    // A worker gets fewer mails if the others lease the remaining ones concurrently.
    mails.extend(lease(&harness, workspace, 40).await);
    assert_eq!((mails.len(), addresses(&mails).len()), (40, 40));
}

/// After a lease expires, the next worker leases the mail, and the outcome of the first worker is rejected.
///
/// Decision 6.
pub async fn the_outcome_of_an_expired_lease_is_rejected(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 1).await;
    let frozen = lease(&harness, workspace, 1).await;
    harness.clock.advance(MINUTE);
    let next = lease(&harness, workspace, 1).await;
    assert_eq!((next[0].id, next[0].attempt.get()), (frozen[0].id, 2));
    let dead = MessageOutcome::Dead { reason: "thawed".to_owned(), no_such_mailbox: true };
    for outcome in [sent(), MessageOutcome::Returned, dead] {
        assert!(!settle(&harness, workspace, &frozen[0], outcome).await);
    }
    assert!(settle(&harness, workspace, &next[0], sent()).await);
    assert!(!settle(&harness, workspace, &next[0], sent()).await);
    // The rejected "no such mailbox" did not stop mail to the voter.
    announce(&harness, workspace, &harness.find(workspace, 1).await).await;
    assert_eq!(lease(&harness, workspace, 1).await.len(), 1);
}

/// A mail without a connection waits, and its lease does not count as an attempt. Its failure is shown until it is sent.
pub async fn a_deferred_mail_waits_without_an_attempt(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 1).await;
    let queue = &harness.subject.queue;
    let first = lease(&harness, workspace, 1).await.remove(0);
    let until = harness.now().plus(MINUTE);
    assert!(
        settle(&harness, workspace, &first, MessageOutcome::Deferred { until, reason: "421 full".to_owned() }).await
    );
    assert_eq!(lease(&harness, workspace, 1).await, []);
    let status = queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.dead), (1, 0));
    let failure = &status.failures[0];
    assert_eq!((failure.attempts, failure.next_attempt_at, failure.reason.as_str()), (0, Some(until), "421 full"));
    // The lease is over: nobody else may settle it.
    assert!(!settle(&harness, workspace, &first, MessageOutcome::Deferred { until, reason: "late".to_owned() }).await);
    // An operator need not wait for it.
    assert_eq!(harness.retry_mail(workspace, false).await, 1);
    let mail = lease(&harness, workspace, 1).await.remove(0);
    assert_eq!((mail.attempt.get(), mail.created_at), (1, first.created_at));
    assert!(settle(&harness, workspace, &mail, MessageOutcome::Sent { response: "250 OK".to_owned() }).await);
    assert!(queue.status(workspace, 5, harness.now()).await.unwrap().failures.is_empty());
}

/// A failed mail waits for its next attempt. A returned mail does not wait, and its lease does not count as an attempt.
///
/// Decision 6.
pub async fn a_postponed_mail_waits(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 1).await;
    let queue = &harness.subject.queue;
    let mail = lease(&harness, workspace, 1).await.remove(0);
    assert!(settle(&harness, workspace, &mail, MessageOutcome::Returned).await);
    let mail = lease(&harness, workspace, 1).await.remove(0);
    assert_eq!(mail.attempt.get(), 1);
    let until = harness.now().plus(MINUTE * 5);
    let postponed = MessageOutcome::Postponed { until, reason: "450 busy".to_owned() };
    assert!(settle(&harness, workspace, &mail, postponed).await);
    assert_eq!(lease(&harness, workspace, 1).await, []);
    let status = queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.dead, status.oldest), (1, 0, Some(harness.now())));
    let failure = &status.failures[0];
    assert_eq!((&failure.id, failure.attempts, failure.next_attempt_at), (&mail.id.into(), 1, Some(until)));
    assert_eq!(failure.reason, "450 busy");
    harness.clock.advance(MINUTE * 5);
    assert_eq!(lease(&harness, workspace, 1).await[0].attempt.get(), 2);
}

/// A dead mail is reported with its reason, and an operator can retry it.
///
/// Decision 6.
pub async fn dead_mail_can_be_retried(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 2).await;
    let queue = &harness.subject.queue;
    let mails = lease(&harness, workspace, 2).await;
    let dead = |reason: &str, no_such_mailbox| MessageOutcome::Dead { reason: reason.to_owned(), no_such_mailbox };
    assert!(settle(&harness, workspace, &mails[0], dead("554 no", false)).await);
    assert!(settle(&harness, workspace, &mails[1], dead("550 5.1.1 who?", true)).await);
    let status = queue.status(workspace, 1, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.dead, status.failures.len()), (0, 2, 1));
    assert_eq!(status.failures[0].next_attempt_at, None);
    harness.clock.advance(MINUTE * 60);
    assert_eq!(harness.retry_mail(workspace, false).await, 0);
    assert_eq!(harness.retry_mail(workspace, true).await, 2);
    // The customer whose mailbox does not exist still gets no mail.
    let again = lease(&harness, workspace, 2).await;
    assert_eq!((again.len(), again[0].id, again[0].attempt.get()), (1, mails[0].id, 1));
    // Leased mail is not retried.
    assert_eq!(harness.retry_mail(workspace, true).await, 0);
    let later = MessageOutcome::Postponed { until: harness.now().plus(MINUTE * 60), reason: "450".to_owned() };
    assert!(settle(&harness, workspace, &again[0], later).await);
    assert_eq!(harness.retry_mail(workspace, false).await, 1);
    assert_eq!(lease(&harness, workspace, 2).await.len(), 1);
    announce(&harness, workspace, &request).await;
    assert_eq!(addresses(&lease(&harness, workspace, 5).await), addresses(&again));
}

/// A large audience is expanded in batches. Each voter at the time of the comment is notified once.
///
/// Decision 6: for more than 20 voters, one row represents all messages, written with the comment (not in the
/// decision).
pub async fn a_big_audience_is_expanded_in_batches(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 120).await;
    let queue = &harness.subject.queue;
    // The audience is a single message.
    assert_eq!(harness.count("outbox", workspace).await, 1);
    let status = queue.status(workspace, 1, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.audiences, status.oldest), (0, 1, Some(harness.now())));
    assert_eq!(expand(&harness, workspace, 50).await, Some(50));
    // Later voters do not belong to the audience; voters who unsubscribe before the expansion are left out.
    harness.clock.advance(MINUTE);
    harness.vote(workspace, &request, "late@example.com").await;
    let all = lease(&harness, workspace, 50).await;
    let last = all.iter().max_by_key(|mail| mail.id.customer).unwrap().id.customer;
    assert_eq!(due(&harness).await, [workspace]);
    assert_eq!(expand(&harness, workspace, 30).await, Some(30));
    let more = lease(&harness, workspace, 100).await;
    assert!(more.iter().all(|mail| mail.id.customer > last));
    assert_eq!(expand(&harness, workspace, 40).await, Some(40));
    assert_eq!(expand(&harness, workspace, 40).await, Some(0));
    assert_eq!(expand(&harness, workspace, 40).await, None);
    let rest = lease(&harness, workspace, 100).await;
    let sent: Vec<LeasedMail> = all.into_iter().chain(more).chain(rest).collect();
    assert_eq!((sent.len(), addresses(&sent).len()), (120, 120));
    assert!(!addresses(&sent).contains("late@example.com"));
    assert_eq!(due(&harness).await, []);
}

/// Unsubscribing from one feature request or from everything, including later votes, deletes waiting mail.
///
/// Decision 6: waiting mail to a customer who unsubscribes is not sent.
pub async fn unsubscribed_voters_get_nothing(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 3).await;
    let other = harness.request(workspace, "Light mode").await;
    let mails = lease(&harness, workspace, 3).await;
    for mail in &mails {
        harness.vote(workspace, &other, mail.to.as_str()).await;
        assert!(settle(&harness, workspace, mail, MessageOutcome::Returned).await);
    }
    let [all, one, none] = &mails[..] else { panic!("three mails") };
    let unsubscribe = |mail: &LeasedMail, what| harness.unsubscribe(workspace, mail.id.customer, what);
    unsubscribe(one, Unsubscription::Request(request.id)).await.unwrap();
    unsubscribe(none, Unsubscription::Everything).await.unwrap();
    unsubscribe(none, Unsubscription::Everything).await.unwrap();
    assert_eq!(harness.count("outbox", workspace).await, 1);
    assert_eq!(addresses(&lease(&harness, workspace, 9).await), addresses(std::slice::from_ref(all)));
    // The next comment on each feature request. Voting again does not resubscribe.
    for (request, expected) in [(&request, vec![all.clone()]), (&other, vec![all.clone(), one.clone()])] {
        for mail in &mails {
            harness.vote(workspace, request, mail.to.as_str()).await;
        }
        announce(&harness, workspace, request).await;
        assert_eq!(addresses(&lease(&harness, workspace, 9).await), addresses(&expected));
    }
    let third = harness.request(workspace, "No mode").await;
    harness.vote(workspace, &third, none.to.as_str()).await;
    announce(&harness, workspace, &third).await;
    assert_eq!(lease(&harness, workspace, 9).await, []);
}

/// A mail whose recipient unsubscribes while it is being sent is not retried.
///
/// Decision 6.
pub async fn a_mail_is_not_retried_after_its_recipient_unsubscribes(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 1).await;
    let mail = lease(&harness, workspace, 1).await.remove(0);
    harness.unsubscribe(workspace, mail.id.customer, Unsubscription::Request(request.id)).await.unwrap();
    settle(&harness, workspace, &mail, MessageOutcome::Returned).await;
    assert_eq!(lease(&harness, workspace, 1).await, []);
    assert_eq!(harness.count("outbox", workspace).await, 0);
}

/// A mail whose vote has been deleted is deleted when it is leased. The expansion of an audience skips such voters.
pub async fn a_mail_without_its_vote_is_deleted(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 3).await;
    let delete = "DELETE FROM votes WHERE customer_id IN (SELECT id FROM customers WHERE email = 'v1@example.com')";
    harness.subject.probe.execute(delete).await;
    let leased = lease_messages(&harness, workspace, 10).await;
    assert_eq!((leased.messages.len(), leased.unreadable.len(), leased.unwanted), (2, 0, 1));
    let mails: Vec<LeasedMail> = leased.messages.into_iter().filter_map(mail).collect();
    assert!(!addresses(&mails).contains("v1@example.com"));
    assert_eq!(harness.count("outbox", workspace).await, 2);
    // The same for a large audience, if the votes are deleted before the expansion.
    for number in 3..40 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    announce(&harness, workspace, &request).await;
    let delete = "DELETE FROM votes WHERE customer_id IN (SELECT id FROM customers WHERE email LIKE 'v2_@example.com')";
    harness.subject.probe.execute(delete).await;
    assert_eq!(expand(&harness, workspace, 100).await, Some(29));
    assert_eq!(lease(&harness, workspace, 100).await.len(), 29);
}

/// An unreadable row is reported next to the readable mails, and is given up like them.
pub async fn an_unreadable_row_delays_no_other_mail(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 4).await;
    let queue = &harness.subject.queue;
    for (voter, attempts) in [(1, -7_i64), (2, 2_147_483_647)] {
        let broken = format!(
            "UPDATE outbox SET attempts = {attempts} WHERE customer_id IN
             (SELECT id FROM customers WHERE email = 'v{voter}@example.com')"
        );
        harness.subject.probe.execute(&broken).await;
    }
    // Stored addresses and subdomains are not validated again; the mailer reports an invalid address.
    harness.subject.probe.execute("UPDATE customers SET email = 'nobody' WHERE email = 'v3@example.com'").await;
    harness.subject.probe.execute("UPDATE workspaces SET subdomain = 'not a label'").await;
    let now = harness.now();
    let leased = lease_messages(&harness, workspace, 10).await;
    let mails: Vec<LeasedMail> = leased.messages.into_iter().filter_map(mail).collect();
    let expected = ["nobody", "v0@example.com", "v2@example.com"].map(str::to_owned);
    assert_eq!(addresses(&mails), expected.into());
    assert_eq!(mails[0].sender.subdomain.as_str(), "not a label");
    let [unreadable] = leased.unreadable.as_slice() else { panic!("{:?}", leased.unreadable) };
    assert_eq!(
        unreadable.error.to_string(),
        format!("stored data is inconsistent: outbox.attempts of row {}", unreadable.lease.message)
    );
    let dead = MessageOutcome::Dead { reason: "it cannot be read".to_owned(), no_such_mailbox: false };
    assert!(queue.settle(workspace, &unreadable.lease, &dead, now).await.unwrap());
    let status = queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.dead), (3, 1));
    assert_eq!((&status.failures[0].id, status.failures[0].next_attempt_at), (&unreadable.lease.message, None));
    assert_eq!(status.failures[0].reason, "it cannot be read");
}

/// Each mail has the number of mails that its recipient has been sent since the hour began, or that are being sent.
pub async fn mails_to_one_customer_are_counted_by_the_hour(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 2).await;
    let recent_count = |mails: &[LeasedMail]| mails.iter().map(|mail| mail.recent_count).collect::<Vec<_>>();
    let first = lease(&harness, workspace, 10).await;
    assert_eq!(recent_count(&first), [0, 0]);
    assert!(settle(&harness, workspace, &first[0], sent()).await);
    // One mail is sent and one is leased. The next two of each recipient do not count yet.
    announce(&harness, workspace, &request).await;
    announce(&harness, workspace, &request).await;
    let next = lease(&harness, workspace, 10).await;
    assert_eq!(recent_count(&next), [1, 1, 1, 1]);
    let later = MessageOutcome::Postponed { until: harness.now().plus(MINUTE * 5), reason: "450".to_owned() };
    for mail in &next {
        assert!(settle(&harness, workspace, mail, later.clone()).await);
    }
    assert!(settle(&harness, workspace, &first[1], later).await);
    harness.clock.advance(MINUTE * 5);
    let again = lease(&harness, workspace, 10).await;
    let sent = again.iter().filter(|mail| mail.id.customer == first[0].id.customer);
    assert!(sent.clone().count() == 2 && sent.into_iter().all(|mail| mail.recent_count == 1), "{again:?}");
    let unsent = again.iter().filter(|mail| mail.id.customer != first[0].id.customer);
    assert!(unsent.clone().count() == 3 && unsent.into_iter().all(|mail| mail.recent_count == 0), "{again:?}");
    // Nothing has been sent in an hour that begins later. Leased mails count until their leases expire.
    for mail in &again {
        assert!(settle(&harness, workspace, mail, MessageOutcome::Returned).await);
    }
    let now = harness.now();
    let leased = leases(&harness).lease(workspace, Priority::Bulk, (now, now.plus(MINUTE)), 10, now).await.unwrap();
    let mails: Vec<LeasedMail> = leased.messages.into_iter().filter_map(mail).collect();
    assert_eq!(recent_count(&mails), [0; 5]);
}

/// The outcome of a mail that is held for the digest of its recipient.
fn held(mail: &LeasedMail, until: Timestamp) -> MessageOutcome {
    MessageOutcome::Held { digest: DigestId { at: until, customer: mail.id.customer } }
}

/// Leases digests for a minute. Messages of other kinds are returned.
async fn digests(harness: &Harness, workspace: WorkspaceId) -> Vec<LeasedDigest> {
    let mut digests = Vec::new();
    for message in lease_messages(harness, workspace, 100).await.messages {
        let lease = message.lease();
        match message {
            LoadedMessage::Digest(digest) => digests.push(digest),
            _ => assert!(settle_lease(harness, workspace, &lease, MessageOutcome::Returned).await),
        }
    }
    digests
}

/// Held mails wait for the end of the hour. Then they are leased, sent and counted as one digest.
pub async fn held_mails_go_out_as_one_digest(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 2).await;
    let queue = &harness.subject.queue;
    for _ in 0..3 {
        harness.clock.advance(Duration::SECOND);
        announce(&harness, workspace, &request).await;
    }
    let mails = lease(&harness, workspace, 20).await;
    assert_eq!(mails.len(), 8);
    let until = end_of_hour(harness.now());
    let [one, other] =
        [mails[0].id.customer, mails.iter().find(|mail| mail.id.customer != mails[0].id.customer).unwrap().id.customer];
    for mail in &mails {
        assert!(settle(&harness, workspace, mail, held(mail, until)).await);
    }
    let digests = async || digests(&harness, workspace).await;
    assert_eq!((digests().await, lease(&harness, workspace, 20).await), (vec![], vec![]));
    assert_eq!(due(&harness).await, []);
    let depth = queue.depth(harness.now()).await.unwrap();
    assert_eq!((depth.due, depth.postponed), (0, 8));

    // One of the two recipients unsubscribes before the end of the hour. The digest of the other is leased once.
    harness.clock.advance(MINUTE * 60);
    harness.unsubscribe(workspace, other, Unsubscription::Request(request.id)).await.unwrap();
    assert_eq!(due(&harness).await, [workspace]);
    assert_eq!(lease(&harness, workspace, 20).await, []);
    let leased = digests().await;
    let [digest] = leased.as_slice() else { panic!("{leased:?}") };
    let expected = DigestId { at: until, customer: one };
    assert_eq!((digest.id, digest.attempt.get(), digest.mails), (expected, 1, 4));
    assert_eq!((product_name(&digest.sender), digest.sender.subdomain.as_str()), ("Acme", "acme"));
    assert_eq!(digest.entries.len(), 3);
    let about = comment_on(&request);
    assert_eq!(digest.entries, vec![DigestEntry { about, beginning: "<p>Soon</p>".to_owned() }; 3]);
    assert_eq!(digests().await, []);

    // All mails of a digest are returned, retried and sent together. The lease identifies the attempt.
    let settle_digest = async |outcome: MessageOutcome, digest: &LeasedDigest| {
        settle_lease(&harness, workspace, &LoadedMessage::Digest(digest.clone()).lease(), outcome).await
    };
    assert!(settle_digest(MessageOutcome::Returned, digest).await);
    let again = digests().await;
    assert_eq!((again[0].id, again[0].attempt.get(), again[0].mails), (digest.id, 1, 4));
    let later = MessageOutcome::Postponed { until: harness.now().plus(MINUTE * 5), reason: "450 busy".to_owned() };
    assert!(settle_digest(later, &again[0]).await);
    assert!(!settle_digest(sent(), &again[0]).await);
    assert_eq!(digests().await, []);
    harness.clock.advance(MINUTE * 5);
    let last = digests().await;
    assert_eq!((last[0].id, last[0].attempt.get()), (digest.id, 2));
    assert!(settle_digest(sent(), &last[0]).await);
    let status = queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.sent, status.dead), (0, 4, 0));
    // Purging the digest's row also purges its mails.
    assert_eq!(harness.count("outbox", workspace).await, 5);
    assert_eq!(queue.purge_sent(harness.now().plus(MINUTE), 10).await.unwrap(), 1);
    assert_eq!(harness.count("outbox", workspace).await, 0);
    // Mails in a digest do not count towards the following hour.
    announce(&harness, workspace, &request).await;
    let next = lease(&harness, workspace, 20).await;
    assert_eq!((next.len(), next[0].id.customer, next[0].recent_count), (1, one, 0));
}

/// If the mailbox of a digest does not exist, the digest and all its mails are dead, and mail to the customer is
/// stopped.
pub async fn a_dead_digest_makes_its_mails_dead(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 1).await;
    announce(&harness, workspace, &request).await;
    let queue = &harness.subject.queue;
    let until = end_of_hour(harness.now());
    for mail in lease(&harness, workspace, 20).await {
        assert!(settle(&harness, workspace, &mail, held(&mail, until)).await);
    }
    harness.clock.advance(MINUTE * 60);
    let digest = digests(&harness, workspace).await.remove(0);
    let dead = MessageOutcome::Dead { reason: "550 5.1.1 who?".to_owned(), no_such_mailbox: true };
    assert!(settle_lease(&harness, workspace, &LoadedMessage::Digest(digest).lease(), dead).await);
    let status = queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.dead, status.failures.len()), (0, 2, 2));
    announce(&harness, workspace, &request).await;
    assert_eq!(lease(&harness, workspace, 20).await, []);
    // An operator can retry it, but it is deleted because its recipient's mail is stopped.
    assert_eq!(harness.retry_mail(workspace, true).await, 2);
    assert_eq!(digests(&harness, workspace).await, []);
    assert_eq!(harness.count("outbox", workspace).await, 0);
}

/// A workspace's mails of a day are counted by the hour. A rejected comment does not count.
pub async fn mails_of_a_day_are_limited(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let other = harness.workspace("bolt").await;
    let request = harness.request(workspace, "Dark mode").await;
    for number in 0..30 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    let post = async |limit: u64| {
        let draft = CommentDraft::parse(Some("<p>Soon</p>"), None, true);
        let comment = PostComment { request: FeatureRequestRef::Id(request.id), draft: draft.unwrap() };
        harness.with_mail_budget(limit).run_without_key(workspace, &comment).await.map(|_| ())
    };
    let over = |limit: u64| OverBudget { budget: Budget::MailsPerDay, limit };
    let refused = |outcome: Result<(), RoadmapError>, limit: u64| matches!(outcome, Err(RoadmapError::OverBudget(found)) if found == over(limit));
    assert!(refused(post(29).await, 29));
    for table in ["comments", "outbox", "mail_hours"] {
        assert_eq!(harness.count(table, workspace).await, 0, "{table}");
    }
    post(60).await.unwrap();
    post(60).await.unwrap();
    assert!(refused(post(60).await, 60));
    assert_eq!(harness.count("comments", workspace).await, 2);
    // A comment without recipients always fits.
    let quiet = harness.request(workspace, "Light mode").await;
    let draft = CommentDraft::parse(Some("<p>Soon</p>"), None, true);
    let comment = PostComment { request: FeatureRequestRef::Id(quiet.id), draft: draft.unwrap() };
    harness.with_mail_budget(60).run_without_key(workspace, &comment).await.unwrap();
    assert_eq!(harness.count("mail_hours", other).await, 0);
    // Customers who have unsubscribed or have no mailbox do not count.
    let stopped = "UPDATE customers SET mail_stopped_at = created_at WHERE email LIKE 'v1_@example.com'";
    harness.subject.probe.execute(stopped).await;
    post(80).await.unwrap();
    assert!(refused(post(99).await, 99));
    // With each hour, the mails of the same hour of the day before stop counting, and their counter is deleted.
    let day = MailBudgetWindow::ending_at(harness.now());
    harness.clock.advance(Duration::DAY - (Duration::milliseconds(harness.now().millis() - day.hour.millis())));
    assert!(refused(post(99).await, 99));
    harness.clock.advance(Duration::HOUR);
    post(20).await.unwrap();
    assert_eq!(harness.count("mail_hours", workspace).await, 1);
}

/// Concurrent comments count each other's mails.
pub async fn concurrent_comments_share_the_budget_of_a_day(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    for number in 0..10 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    let mut comments = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let executor = harness.with_mail_budget(50);
        let draft = CommentDraft::parse(Some("<p>Soon</p>"), None, true);
        let comment = PostComment { request: FeatureRequestRef::Id(request.id), draft: draft.unwrap() };
        comments.spawn(async move { executor.run_without_key(workspace, &comment).await.is_ok() });
    }
    let posted = comments.join_all().await.into_iter().filter(|posted| *posted).count();
    assert_eq!((posted, harness.count("outbox", workspace).await), (5, 50));
}

/// The mail of all workspaces is counted by state, for metrics.
pub async fn mail_is_counted_over_all_workspaces(harness: Harness) {
    let queue = &harness.subject.queue;
    assert_eq!(queue.depth(harness.now()).await.unwrap(), OutboxDepth::default());
    let began = harness.now();
    let (acme, _) = announced(&harness, "acme", 5).await;
    harness.clock.advance(MINUTE);
    let (bolt, _) = announced(&harness, "bolt", 3).await;
    let depth = OutboxDepth { due: 8, oldest_due: Some(began), ..OutboxDepth::default() };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);
    // By a clock that is behind the one that created them, the mails are due later.
    let depth = OutboxDepth { postponed: 8, ..OutboxDepth::default() };
    assert_eq!(queue.depth(began.plus(-MINUTE)).await.unwrap(), depth);

    let mails = lease(&harness, acme, 4).await;
    assert!(settle(&harness, acme, &mails[0], sent()).await);
    let until = harness.now().plus(MINUTE * 60);
    assert!(settle(&harness, acme, &mails[1], MessageOutcome::Postponed { until, reason: "450".to_owned() }).await);
    let dead = MessageOutcome::Dead { reason: "554".to_owned(), no_such_mailbox: false };
    assert!(settle(&harness, acme, &mails[2], dead).await);
    let depth = OutboxDepth { due: 4, leased: 1, postponed: 1, dead: 1, audiences: 0, oldest_due: Some(began) };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);

    // A leased mail becomes due again when its lease expires.
    assert_eq!(lease(&harness, acme, 4).await.len(), 1);
    assert_eq!(lease(&harness, bolt, 4).await.len(), 3);
    let depth = OutboxDepth { due: 0, leased: 5, oldest_due: None, ..depth };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);
    harness.clock.advance(MINUTE * 2);
    let depth = OutboxDepth { due: 5, leased: 0, oldest_due: Some(harness.now().plus(-MINUTE)), ..depth };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);

    // An audience that is not expanded yet has been waiting since its comment.
    let (_, _) = announced(&harness, "crane", 60).await;
    let depth = OutboxDepth { audiences: 1, ..depth };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);
}

/// Sent mails are purged after the retention time, unsent mails never.
///
/// Decision 6: sent mail is purged after 30 days.
pub async fn sent_mails_are_purged(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 4).await;
    let mails = lease(&harness, workspace, 3).await;
    for mail in &mails[..2] {
        assert!(settle(&harness, workspace, mail, sent()).await);
    }
    let dead = MessageOutcome::Dead { reason: "no".to_owned(), no_such_mailbox: false };
    assert!(settle(&harness, workspace, &mails[2], dead).await);
    let queue = &harness.subject.queue;
    assert_eq!(queue.purge_sent(harness.now(), 10).await.unwrap(), 0);
    harness.clock.advance(MINUTE);
    assert_eq!(queue.purge_sent(harness.now(), 1).await.unwrap(), 1);
    assert_eq!(queue.purge_sent(harness.now(), 10).await.unwrap(), 1);
    assert_eq!(harness.count("outbox", workspace).await, 2);
}

/// A workspace's mail is not accessible from another workspace.
///
/// Decision 6: mail of one workspace is not visible to another.
pub async fn mail_belongs_to_its_workspace(harness: Harness) {
    let (acme, _) = announced(&harness, "acme", 1).await;
    let (bolt, _) = announced(&harness, "bolt", 1).await;
    let queue = &harness.subject.queue;
    let mut both = due(&harness).await;
    both.sort();
    assert_eq!(both, BTreeSet::from([acme, bolt]).into_iter().collect::<Vec<_>>());
    let mail = lease(&harness, acme, 10).await;
    assert_eq!((mail.len(), mail[0].sender.subdomain.to_string()), (1, "acme".to_owned()));
    assert!(!settle(&harness, bolt, &mail[0], sent()).await);
    let unsubscribed = harness.unsubscribe(bolt, mail[0].id.customer, Unsubscription::Everything).await;
    assert_eq!(unsubscribed.unwrap_err().to_string(), "Customer does not exist.");
    assert_eq!(queue.status(bolt, 5, harness.now()).await.unwrap().waiting, 1);
    assert_eq!(due(&harness).await, [bolt]);
    assert!(settle(&harness, acme, &mail[0], sent()).await);
}

/// Adds a message to the outbox. The reply is whether it is new.
struct Enqueue(NewMessage);

#[async_trait]
impl Operation for Enqueue {
    type Output = bool;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        Ok(Performed::new(work.insert_message(&self.0).await?, Audit::Unchanged))
    }
}

async fn queue_test_mail(harness: &Harness, workspace: WorkspaceId, to: &str) -> MessageId {
    let to = EmailAddress::parse("to", to).unwrap();
    harness.executor.run_without_key(workspace, &QueueTestMail { to, requester: TestMailBy::Operator }).await.unwrap()
}

async fn lease_urgent(harness: &Harness, workspace: WorkspaceId) -> Vec<LeasedMessage> {
    let now = harness.now();
    let leased = harness.subject.queue.lease(workspace, Priority::Urgent, now, now.plus(MINUTE), 10).await.unwrap();
    assert!(leased.unreadable.is_empty(), "{leased:?}");
    leased.messages
}

/// Messages are leased by priority, independent of their kind, and all kinds are settled in the same way.
pub async fn messages_of_all_kinds_share_one_queue(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 1).await;
    let (queue, now) = (&harness.subject.queue, harness.now());
    let mail = lease(&harness, workspace, 9).await.remove(0);
    assert!(settle(&harness, workspace, &mail, sent()).await);
    for number in 1..=20 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    let announced = announce(&harness, workspace, &request).await;
    let test = queue_test_mail(&harness, workspace, "ops@acme.example").await;
    let customer = mail.id.customer;
    let digest = DigestId { at: now, customer };
    let new = NewMessage {
        id: digest.into(),
        content: MessageContent::CommentDigest { at: now },
        recipient: Recipient::Customer(customer),
        created_at: now,
        request_id: None,
    };
    assert!(harness.executor.run_without_key(workspace, &Enqueue(new.clone())).await.unwrap());
    assert!(!harness.executor.run_without_key(workspace, &Enqueue(new)).await.unwrap());
    let due = queue.due_workspaces(now).await.unwrap();
    assert_eq!(due, [(workspace, Priority::Urgent), (workspace, Priority::Bulk)]);

    let urgent = lease_urgent(&harness, workspace).await;
    let [message] = urgent.as_slice() else { panic!("{urgent:?}") };
    assert_eq!(message.lease, Lease { message: test.clone(), until: now.plus(MINUTE), request_id: None });
    assert_eq!(MessageContent::parse(&message.kind, &message.payload), Ok(MessageContent::TestMail));
    let to = Recipient::Address(EmailAddress::parse("to", "ops@acme.example").unwrap());
    assert_eq!((&message.recipient, message.created_at, message.attempt.get()), (&to, now, 1));
    assert_eq!(queue.due_workspaces(now).await.unwrap(), [(workspace, Priority::Bulk)]);

    let mut bulk = queue.lease(workspace, Priority::Bulk, now, now.plus(MINUTE), 10).await.unwrap().messages;
    bulk.sort_by(|one, other| one.kind.cmp(&other.kind));
    let [audience, digest] = bulk.as_slice() else { panic!("{bulk:?}") };
    assert_eq!((digest.kind.as_str(), &digest.recipient), ("comment_digest", &Recipient::Customer(customer)));
    assert_eq!((audience.kind.as_str(), &audience.recipient), ("comment_audience", &Recipient::None));
    let content = MessageContent::parse(&audience.kind, &audience.payload).unwrap();
    let MessageContent::Audience(Audience { topic, .. }) = content else { panic!("{content:?}") };
    assert_eq!((topic, &audience.lease.message), (announced, &MessageId::audience(announced)));

    // Messages of every kind can be returned, retried, given up and sent, but only under their lease.
    for message in urgent.iter().chain(&bulk) {
        assert!(settle_lease(&harness, workspace, &message.lease, MessageOutcome::Returned).await);
        assert!(!settle_lease(&harness, workspace, &message.lease, sent()).await);
    }
    let until = now.plus(MINUTE * 5);
    let postponed = MessageOutcome::Postponed { until, reason: "450 busy".to_owned() };
    let again = lease_urgent(&harness, workspace).await.remove(0);
    assert_eq!((&again.lease.message, again.attempt.get()), (&test, 1));
    assert!(settle_lease(&harness, workspace, &again.lease, postponed).await);
    assert_eq!(lease_urgent(&harness, workspace).await, []);
    let status = queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.audiences, &status.failures[0].id), (1, 1, &test));
    harness.clock.advance(MINUTE * 5);
    let last = lease_urgent(&harness, workspace).await.remove(0);
    assert_eq!(last.attempt.get(), 2);
    assert!(settle_lease(&harness, workspace, &last.lease, MessageOutcome::Unwanted).await);
    assert_eq!(harness.subject.queue.message(workspace, &test).await.unwrap(), None);
}

/// A message carries the id of the HTTP request that caused it, also if it was created by expanding an audience.
pub async fn a_message_carries_the_id_of_its_http_request(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 1).await;
    let acting = |id: &str| {
        let origin = Origin { request_id: Some(id.to_owned()), ..Origin::service() };
        harness.executor.acting_as(origin)
    };
    let announce = comment(FeatureRequestRef::Id(request.id), "<p>Soon</p>", true);
    acting("r-1").run_without_key(workspace, &announce).await.unwrap();
    let leased = lease(&harness, workspace, 9).await;
    let ids: BTreeSet<Option<&str>> = leased.iter().map(|mail| mail.lease.request_id.as_deref()).collect();
    assert_eq!(ids, [None, Some("r-1")].into());
    for mail in &leased {
        assert!(settle(&harness, workspace, mail, sent()).await);
    }

    for number in 1..=20 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    acting("r-2").run_without_key(workspace, &announce).await.unwrap();
    assert_eq!((expand(&harness, workspace, 20).await, expand(&harness, workspace, 20).await), (Some(20), Some(1)));
    let expanded = lease(&harness, workspace, 21).await;
    assert!(expanded.iter().all(|mail| mail.lease.request_id.as_deref() == Some("r-2")), "{expanded:?}");
    assert_eq!(expanded.len(), 21);

    let to = EmailAddress::parse("to", "ops@acme.example").unwrap();
    let test = QueueTestMail { to, requester: TestMailBy::Operator };
    acting("r-3").run_without_key(workspace, &test).await.unwrap();
    assert_eq!(lease_urgent(&harness, workspace).await[0].lease.request_id.as_deref(), Some("r-3"));
}

/// The state of a message can be read from queued to sent or dead, but not from another workspace.
pub async fn the_state_of_a_message_can_be_looked_up(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let queue = &harness.subject.queue;
    let (good, bad) = (
        queue_test_mail(&harness, workspace, "a@acme.example").await,
        queue_test_mail(&harness, workspace, "b@acme.example").await,
    );
    assert_eq!(queue.message(other, &good).await.unwrap(), None);
    let state = async |id: &MessageId| queue.message(workspace, id).await.unwrap().expect("the message");
    let queued = state(&good).await;
    assert_eq!((queued.attempts, queued.due_at, queued.leased_until), (0, Some(harness.now()), None));
    let until = harness.now().plus(MINUTE);
    for message in lease_urgent(&harness, workspace).await {
        assert_eq!(state(&message.lease.message).await.leased_until, Some(until));
        let outcome = if message.lease.message == good {
            sent()
        } else {
            MessageOutcome::Dead { reason: "550 no".to_owned(), no_such_mailbox: true }
        };
        assert!(settle_lease(&harness, workspace, &message.lease, outcome).await);
    }
    let (good, bad) = (state(&good).await, state(&bad).await);
    assert_eq!((good.attempts, good.due_at, good.leased_until), (1, None, None));
    assert_eq!((good.sent_at, good.response.as_deref(), good.failure), (Some(harness.now()), Some("250 OK"), None));
    assert_eq!((bad.sent_at, bad.due_at, bad.response, bad.failure.as_deref()), (None, None, None, Some("550 no")));
}

/// An audience whose worker crashes stays unchanged, and an expansion after the lease has expired has no effect.
///
/// Decision 6.
pub async fn an_audience_is_expanded_under_its_lease_alone(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 30).await;
    let queue = &harness.subject.queue;
    let leased = async || {
        let now = harness.now();
        queue.lease(workspace, Priority::Bulk, now, now.plus(MINUTE), 100).await.unwrap().messages
    };
    let expand = async |message: &LeasedMessage| {
        let content = MessageContent::parse(&message.kind, &message.payload).unwrap();
        let MessageContent::Audience(audience) = content else { panic!("{content:?}") };
        queue.expand(workspace, &message.lease, &audience, message.created_at, 20, harness.now()).await.unwrap()
    };
    let frozen = leased().await.remove(0);
    assert_eq!(leased().await, []);
    harness.clock.advance(MINUTE);
    let next = leased().await.remove(0);
    assert_eq!((next.attempt.get(), &next.lease.message), (2, &frozen.lease.message));
    assert_eq!(expand(&frozen).await, None);
    assert_eq!(harness.count("outbox", workspace).await, 1);
    assert_eq!(expand(&next).await, Some(20));
    assert_eq!((expand(&next).await, harness.count("outbox", workspace).await), (None, 21));
    let rest = leased().await.into_iter().find(|message| message.kind == "comment_audience").unwrap();
    assert_eq!((rest.attempt.get(), expand(&rest).await), (1, Some(10)));
    assert_eq!(harness.count("outbox", workspace).await, 30);
}

/// A mail cannot be held for a digest that is already leased, because it would be missing from it.
pub async fn a_mail_is_not_held_for_a_digest_that_was_leased(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 1).await;
    let until = end_of_hour(harness.now());
    let first = lease(&harness, workspace, 9).await.remove(0);
    assert!(settle(&harness, workspace, &first, held(&first, until)).await);
    announce(&harness, workspace, &request).await;
    let second = lease(&harness, workspace, 9).await.remove(0);
    harness.clock.advance(MINUTE * 60);
    // The hour is over, and the digest is leased. The second mail's lease has expired, and it is leased again before it
    // is held.
    let digest = digests(&harness, workspace).await.remove(0);
    assert_eq!(digest.mails, 1);
    assert!(!settle(&harness, workspace, &second, held(&second, until)).await);
    let second = lease(&harness, workspace, 9).await.remove(0);
    assert!(settle(&harness, workspace, &second, held(&second, until)).await);
    // The mail was returned instead.
    let again = lease(&harness, workspace, 9).await.remove(0);
    assert_eq!((again.id, again.attempt), (second.id, second.attempt));
    assert!(settle_lease(&harness, workspace, &LoadedMessage::Digest(digest).lease(), sent()).await);
    assert!(settle(&harness, workspace, &again, held(&again, until)).await);
    assert_eq!(lease(&harness, workspace, 9).await[0].id, again.id);
    let status = harness.subject.queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.sent), (1, 1));
}

/// A customer who unsubscribes from everything gets no waiting digest. Sent digests are not deleted.
pub async fn unsubscribing_deletes_waiting_digests(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 1).await;
    let queue = &harness.subject.queue;
    let mut customer = None;
    for is_sent in [true, false] {
        let mail = lease(&harness, workspace, 9).await.remove(0);
        customer = Some(mail.id.customer);
        assert!(settle(&harness, workspace, &mail, held(&mail, end_of_hour(harness.now()))).await);
        if is_sent {
            harness.clock.advance(MINUTE * 60);
            let digest = digests(&harness, workspace).await.remove(0);
            assert!(settle_lease(&harness, workspace, &LoadedMessage::Digest(digest).lease(), sent()).await);
            announce(&harness, workspace, &request).await;
        }
    }
    assert_eq!(harness.count("outbox", workspace).await, 4);
    let customer = customer.unwrap();
    // For the feature request of both mails, only the waiting mail is deleted, and then the empty digest.
    harness.unsubscribe(workspace, customer, Unsubscription::Request(request.id)).await.unwrap();
    assert_eq!(harness.count("outbox", workspace).await, 3);
    harness.unsubscribe(workspace, customer, Unsubscription::Everything).await.unwrap();
    assert_eq!(harness.count("outbox", workspace).await, 2);
    let status = queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.sent), (0, 1));
}

fn move_with_mail(request: FeatureRequestId, track: TrackId) -> MoveFeatureRequest {
    let draft = MoveDraft { track, author: Author::Oldest, notify_all_voters: true, comment: None };
    MoveFeatureRequest { request: FeatureRequestRef::Id(request), draft }
}

/// Moves a feature request to a track with another status, with mail. Returns the topic.
async fn announce_status(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId, track: &str) -> Topic {
    let track = harness.track(workspace, track).await;
    harness.perform(workspace, &move_with_mail(request, track)).await;
    Topic::StatusChange(harness.events(workspace, request, None).await[0].id)
}

fn publish(changelog: ChangelogId, notify_subscribers: bool) -> PublishChangelog {
    PublishChangelog { changelog, notify_subscribers }
}

/// Creates a draft that is about these feature requests.
async fn draft_changelog(harness: &Harness, workspace: WorkspaceId, linked: &[FeatureRequestId]) -> ChangelogId {
    let ids = linked.iter().map(ToString::to_string).collect();
    let fields = ChangelogFields { feature_request_ids: Some(Some(ids)), ..changelog_fields("1.0", "<p>New</p>") };
    let draft = ChangelogDraft::parse(&fields, false, |_| None);
    harness.perform(workspace, &CreateChangelog { draft: draft.unwrap() }).await.changelog.id
}

/// Publishes a new changelog with mail. Returns the topic.
async fn announce_changelog(harness: &Harness, workspace: WorkspaceId, linked: &[FeatureRequestId]) -> Topic {
    let changelog = draft_changelog(harness, workspace, linked).await;
    harness.perform(workspace, &publish(changelog, true)).await;
    Topic::Changelog(changelog)
}

/// Leases all mails and settles them as sent.
async fn send_all(harness: &Harness, workspace: WorkspaceId) -> Vec<LeasedMail> {
    let mails = lease(harness, workspace, 1_000).await;
    for mail in &mails {
        assert!(settle(harness, workspace, mail, sent()).await);
    }
    mails
}

/// Expands all audiences in batches of this size.
async fn expand_all(harness: &Harness, workspace: WorkspaceId, batch: u32) {
    while let Some(created) = expand(harness, workspace, batch).await {
        assert!(created <= u64::from(batch));
    }
}

fn example_addresses(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| format!("{name}@example.com")).collect()
}

/// A move to another status is mailed to voters and followers with the new status. A move within a status, or to where
/// the feature request is, is not. The mails count towards the budget of the day.
///
/// Addition 5: a move sends nothing when the lane stays the same.
pub async fn a_new_status_is_mailed_to_subscribers(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    for voter in ["ann@example.com", "bob@example.com", "cyd@example.com"] {
        harness.vote(workspace, &request, voter).await;
    }
    harness.subscribe(workspace, request.id, "fay@example.com").await;
    let cyd = harness.voters(workspace, request.id).await;
    let cyd = cyd.iter().find(|voter| voter.email.as_str() == "cyd@example.com").unwrap().id;
    harness.unsubscribe(workspace, cyd, Unsubscription::Request(request.id)).await.unwrap();
    for (track, status) in [
        ("Declined", None),
        ("Planned", Some(Some("Planned"))),
        ("Planned", None),
        ("Done", Some(Some("Done"))),
        ("Inbox", Some(None)),
        ("Declined", None),
    ] {
        let topic = announce_status(&harness, workspace, request.id, track).await;
        let mails = send_all(&harness, workspace).await;
        let Some(status) = status else {
            assert_eq!(mails, [], "{track}");
            continue;
        };
        assert_eq!(addresses(&mails), example_addresses(&["ann", "bob", "fay"]), "{track}");
        let about = status_of(&request, status);
        for mail in &mails {
            let id = MailId { topic, customer: mail.id.customer };
            assert_eq!((mail.id, &mail.about, mail.content.as_str()), (id, &about, ""), "{track}");
        }
        harness.clock.advance(MINUTE);
    }
    // The mail about a move has the comment that says why.
    let draft = MoveDraft {
        track: harness.track(workspace, "Planned").await,
        author: Author::Oldest,
        notify_all_voters: true,
        comment: Some(MoveComment::parse(Some("<p>Enough asked</p>"), None).unwrap()),
    };
    let moved =
        harness.perform(workspace, &MoveFeatureRequest { request: FeatureRequestRef::Id(request.id), draft }).await;
    let mails = send_all(&harness, workspace).await;
    assert_eq!(addresses(&mails), example_addresses(&["ann", "bob", "fay"]));
    let (request, status) = (RequestLink::from(&request), Some(name("Planned")));
    let about = About::StatusChange { request: request.clone(), status, author: Some(PublicAuthor::Member(None)) };
    assert!(mails.iter().all(|mail| (&mail.about, mail.content.as_str()) == (&about, "<p>Enough asked</p>")));
    let comment = moved.comment.unwrap();
    assert_eq!(moved.moved.unwrap().comment, Some(comment.id));
    assert_eq!(harness.comments(workspace, request.id).await[0].comment, comment);
    harness.clock.advance(Duration::DAY);
    announce_status(&harness, workspace, request.id, "Inbox").await;
    send_all(&harness, workspace).await;
    harness.clock.advance(Duration::DAY);
    // Three mails more on one day, but not four. Moves without mail fit always.
    let [planned, done] = [harness.track(workspace, "Planned").await, harness.track(workspace, "Done").await];
    harness.clock.advance(Duration::DAY * 2);
    let limited = harness.with_mail_budget(3);
    limited.run_without_key(workspace, &move_with_mail(request.id, planned)).await.unwrap();
    let refused = limited.run_without_key(workspace, &move_with_mail(request.id, done)).await;
    let over = OverBudget { budget: Budget::MailsPerDay, limit: 3 };
    assert!(matches!(refused, Err(RoadmapError::OverBudget(found)) if found == over), "{refused:?}");
    assert_eq!(harness.detail(workspace, request.id).await.summary.placement.track, name("Planned"));
    limited.run_without_key(workspace, &move_to(FeatureRequestRef::Id(request.id), done)).await.unwrap();
    assert_eq!(send_all(&harness, workspace).await.len(), 3);
}

/// A changelog is mailed once to each customer who is subscribed to any of its feature requests or to what is merged
/// into them. Publishing it again sends nothing.
///
/// Addition 5: publishing a changelog again sends nothing.
pub async fn a_changelog_is_mailed_once_to_each_customer(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let requests = harness.requests(workspace, ["Quokka", "Fern", "Lichen", "Gecko"]).await;
    let [one, two, source, unlinked] = &requests;
    for (voter, voted) in [
        ("ann", &[one, two, source][..]),
        ("bob", &[source]),
        ("dan", &[one]),
        ("eve", &[one, two]),
        ("gus", &[one, two]),
        ("hal", &[unlinked]),
    ] {
        for request in voted {
            harness.vote(workspace, request, &format!("{voter}@example.com")).await;
        }
    }
    harness.subscribe(workspace, two.id, "cyd@example.com").await;
    harness.subscribe(workspace, one.id, "cyd@example.com").await;
    let voters = harness.voters(workspace, one.id).await;
    for (voter, what) in [
        ("dan@example.com", Unsubscription::Request(one.id)),
        ("eve@example.com", Unsubscription::Everything),
        ("gus@example.com", Unsubscription::Request(one.id)),
    ] {
        let customer = voters.iter().find(|found| found.email.as_str() == voter).unwrap().id;
        harness.unsubscribe(workspace, customer, what).await.unwrap();
    }
    harness.merge(workspace, source.id, two.id).await;
    // The source and its target are the same feature request.
    let changelog = draft_changelog(&harness, workspace, &[one.id, two.id, source.id]).await;
    assert_eq!(lease(&harness, workspace, 9).await, []);
    let refused = harness.with_mail_budget(3).run_without_key(workspace, &publish(changelog, true)).await;
    assert!(matches!(refused, Err(RoadmapError::OverBudget(_))), "{refused:?}");
    let enough = harness.with_mail_budget(4);
    enough.run_without_key(workspace, &publish(changelog, true)).await.unwrap();
    let mails = send_all(&harness, workspace).await;
    assert_eq!((mails.len(), addresses(&mails)), (4, example_addresses(&["ann", "bob", "cyd", "gus"])));
    for mail in &mails {
        let id = MailId { topic: Topic::Changelog(changelog), customer: mail.id.customer };
        let about = about_changelog(changelog);
        assert_eq!((mail.id, &mail.about, mail.content.as_str()), (id, &about, "<p>New</p>"));
    }
    harness.vote(workspace, one, "ida@example.com").await;
    for _ in 0..2 {
        enough.run_without_key(workspace, &publish(changelog, true)).await.unwrap();
        harness.perform(workspace, &UnpublishChangelog { changelog }).await;
    }
    assert_eq!(harness.count("outbox", workspace).await, 4);
    // One that is published without mail can be announced later.
    let other = draft_changelog(&harness, workspace, &[unlinked.id]).await;
    harness.perform(workspace, &publish(other, false)).await;
    assert_eq!(lease(&harness, workspace, 9).await, []);
    harness.perform(workspace, &publish(other, true)).await;
    assert_eq!(addresses(&send_all(&harness, workspace).await), example_addresses(&["hal"]));
}

/// The audience of several feature requests with merged ones is expanded in batches of any size, with one message for
/// each customer, in order of the customers. Later voters and followers do not belong to it.
///
/// Addition 5: the same voter gets at most one mail per comment, move or changelog.
pub async fn big_audiences_of_trees_have_no_doubles(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let requests = harness.requests(workspace, ["Quokka", "Fern", "Lichen"]).await;
    let [one, two, source] = requests.each_ref().map(|request| FeatureRequestRef::Id(request.id));
    let email = |number: usize| format!("v{number}@example.com");
    let cast = |request, number: usize| vote(request, Some((&email(number), None)), None);
    let mut votes = Vec::new();
    for number in 0..50 {
        let voted = [(one, number % 2 == 0), (two, number % 3 == 0), (source, number % 5 == 0)];
        votes.extend(voted.into_iter().filter(|(_, votes)| *votes).map(|(request, _)| cast(request, number)));
    }
    harness.perform(workspace, &Many(votes)).await;
    for number in [1, 2, 7, 60, 61] {
        for request in [&requests[0], &requests[2]] {
            harness.subscribe(workspace, request.id, &email(number)).await;
        }
    }
    let customer = |number: usize| {
        let listing = harness.subject.reader.customers(workspace, None, largest_page());
        async move { listing.await.unwrap().items.into_iter().find(|one| one.customer.email.as_str() == email(number)) }
    };
    // Of the votes for the first one alone, of all votes for a tree, of everything.
    for (number, what) in [
        (4, Unsubscription::Request(requests[0].id)),
        (6, Unsubscription::Request(requests[0].id)),
        (0, Unsubscription::Everything),
    ] {
        let customer = customer(number).await.unwrap().customer.id;
        harness.unsubscribe(workspace, customer, what).await.unwrap();
    }
    harness.merge(workspace, requests[2].id, requests[1].id).await;
    let is_subscribed = |number: usize| {
        let is_voter = number < 50 && [2, 3, 5].iter().any(|divisor| number.is_multiple_of(*divisor));
        (is_voter || [1, 2, 7, 60, 61].contains(&number)) && ![0, 4].contains(&number)
    };
    let expected: BTreeSet<String> = (0..62).filter(|number| is_subscribed(*number)).map(email).collect();
    assert!(expected.len() > 20);
    for batch in [1, 3, 7, 100] {
        harness.clock.advance(MINUTE);
        let linked = [requests[0].id, requests[1].id, requests[2].id];
        let topic = announce_changelog(&harness, workspace, &linked).await;
        let status = harness.subject.queue.status(workspace, 1, harness.now()).await.unwrap();
        assert_eq!((status.waiting, status.audiences), (0, 1));
        harness.clock.advance(MINUTE);
        // Too late for this audience.
        let late = format!("late-{batch}@example.com");
        harness.vote(workspace, &requests[0], &late).await;
        harness.subscribe(workspace, requests[2].id, &format!("later-{batch}@example.com")).await;
        let mut created = Vec::new();
        while let Some(count) = expand(&harness, workspace, batch).await {
            created.push(count);
        }
        assert_eq!(created.iter().sum::<u64>(), expected.len() as u64, "{batch}: {created:?}");
        let mails = send_all(&harness, workspace).await;
        assert!(mails.iter().all(|mail| mail.id.topic == topic));
        assert_eq!((mails.len(), addresses(&mails)), (expected.len(), expected.clone()), "{batch}");
        let customers = harness.subject.reader.customers(workspace, None, page(1, 100)).await.unwrap().items;
        for customer in customers.iter().filter(|customer| customer.customer.email.as_str().starts_with("late")) {
            let what = Unsubscription::Everything;
            harness.unsubscribe(workspace, customer.customer.id, what).await.unwrap();
        }
    }
}

/// The mail of a changelog that is published at a time waits for that time, and reaches those who are subscribed then, each
/// once. It follows the publication: to another time, or away.
pub async fn a_scheduled_changelog_is_mailed_at_its_time(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    for name in ["ann", "bob"] {
        harness.vote(workspace, &request, &format!("{name}@example.com")).await;
    }
    let changelog = draft_changelog(&harness, workspace, &[request.id]).await;
    let schedule = async |at: Option<Timestamp>, notifies: Option<bool>| {
        let change = ChangelogChange { publish_at: Some(at), notifies, ..ChangelogChange::default() };
        harness.perform(workspace, &EditChangelog { changelog, change }).await;
    };
    let mail = async || harness.subject.reader.changelog_mail(workspace, changelog, harness.now()).await.unwrap();
    let at = |hours: i64| harness.now().plus(Duration::hours(hours));
    schedule(Some(at(1)), Some(true)).await;
    let status = harness.subject.queue.status(workspace, 1, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.audiences, status.oldest), (0, 0, None));
    assert_eq!(mail().await, ChangelogMail { is_sent: false, is_scheduled: true });
    schedule(None, None).await;
    assert_eq!(mail().await, ChangelogMail::default());
    harness.clock.advance(Duration::hours(2));
    assert_eq!(expand(&harness, workspace, 10).await, None, "a draft is mailed to nobody");
    schedule(Some(at(1)), Some(true)).await;
    schedule(Some(at(3)), None).await;
    harness.clock.advance(Duration::hours(2));
    assert_eq!(expand(&harness, workspace, 10).await, None, "its first time is past, and no time for mail any more");
    // Bob leaves, and Cyd comes, before it is published.
    harness.withdraw(workspace, request.id, "bob@example.com").await;
    harness.vote(workspace, &request, "cyd@example.com").await;
    harness.clock.advance(Duration::hours(1));
    expand_all(&harness, workspace, 10).await;
    let mails = send_all(&harness, workspace).await;
    assert_eq!(addresses(&mails), example_addresses(&["ann", "cyd"]));
    assert_eq!(mail().await, ChangelogMail { is_sent: true, is_scheduled: false });
    harness.perform(workspace, &publish(changelog, true)).await;
    assert_eq!(expand(&harness, workspace, 10).await, None);
    assert_eq!(send_all(&harness, workspace).await, []);
}

/// Mail about a changelog that is unpublished before it is sent is not sent. If it is published again in time, it is.
///
/// Addition 5: unsent mail about a changelog that is not public any more is dropped.
pub async fn an_unpublished_changelog_is_not_mailed(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    for number in 0..2 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    let topic = async || {
        let Topic::Changelog(changelog) = announce_changelog(&harness, workspace, &[request.id]).await else {
            panic!("a changelog")
        };
        changelog
    };
    let changelog = topic().await;
    harness.perform(workspace, &UnpublishChangelog { changelog }).await;
    harness.perform(workspace, &publish(changelog, true)).await;
    assert_eq!(send_all(&harness, workspace).await.len(), 2);
    let changelog = topic().await;
    harness.perform(workspace, &UnpublishChangelog { changelog }).await;
    let leased = lease_messages(&harness, workspace, 10).await;
    assert_eq!((leased.messages, leased.unwanted), (vec![], 2));
    assert_eq!(harness.count("outbox", workspace).await, 2);
    // The same for a big audience.
    for number in 2..30 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    let changelog = topic().await;
    assert_eq!(expand(&harness, workspace, 10).await, Some(10));
    harness.perform(workspace, &UnpublishChangelog { changelog }).await;
    expand_all(&harness, workspace, 10).await;
    assert_eq!(send_all(&harness, workspace).await, []);
    assert_eq!(harness.count("outbox", workspace).await, 2);
}

/// Deleting a comment, a changelog or a feature request deletes the messages about it that were not sent, audiences,
/// too. Others and sent ones stay.
///
/// Addition 2: unsent mail about a deleted comment is dropped.
/// Addition 5: unsent mail about a deleted changelog is dropped.
pub async fn deleting_a_record_deletes_its_unsent_mail(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, other] = harness.requests(workspace, ["Dark mode", "Export"]).await;
    for number in 0..30 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    harness.vote(workspace, &other, "v0@example.com").await;
    announce(&harness, workspace, &other).await;
    let Topic::Comment(comment) = announce(&harness, workspace, &request).await else { panic!("a comment") };
    let Topic::Changelog(changelog) = announce_changelog(&harness, workspace, &[request.id]).await else {
        panic!("a changelog")
    };
    announce_status(&harness, workspace, request.id, "Done").await;
    announce(&harness, workspace, &request).await;
    let rows = async || harness.count("outbox", workspace).await;
    assert_eq!(rows().await, 5);
    // Ten mails of each audience.
    let (queue, now) = (&harness.subject.queue, harness.now());
    for message in queue.lease(workspace, Priority::Bulk, now, now.plus(MINUTE), 100).await.unwrap().messages {
        match MessageContent::parse(&message.kind, &message.payload).unwrap() {
            MessageContent::Audience(audience) => {
                let LeasedMessage { lease, created_at, .. } = message;
                let created = queue.expand(workspace, &lease, &audience, created_at, 10, now).await.unwrap();
                assert_eq!(created, Some(10));
            }
            _ => assert!(settle_lease(&harness, workspace, &message.lease, MessageOutcome::Returned).await),
        }
    }
    assert_eq!(rows().await, 45);
    let mails = lease(&harness, workspace, 100).await;
    let of = |topic| mails.iter().filter(move |mail| mail.id.topic == topic).collect::<Vec<_>>();
    let (of_comment, of_changelog) = (of(Topic::Comment(comment)), of(Topic::Changelog(changelog)));
    let rest = mails.len() - of_comment.len() - of_changelog.len();
    assert!(settle(&harness, workspace, of_comment[0], sent()).await);
    assert!(settle(&harness, workspace, of_changelog[0], sent()).await);
    let unsent = |mails: &[&LeasedMail]| mails.len() as u64 - 1;
    let audiences = harness.subject.queue.status(workspace, 1, harness.now()).await.unwrap().audiences;
    assert_eq!((audiences, of_comment.len(), of_changelog.len(), rest), (4, 10, 10, 21));
    harness.perform(workspace, &DeleteComment { comment }).await;
    assert_eq!(rows().await, 45 - unsent(&of_comment) - 1);
    harness.perform(workspace, &DeleteChangelog { changelog }).await;
    assert_eq!(rows().await, 45 - unsent(&of_comment) - unsent(&of_changelog) - 2);
    harness.delete(workspace, request.id, false).await;
    // The two sent mails, and the one about the other feature request.
    assert_eq!(rows().await, 3);
    let status = harness.subject.queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.waiting, status.audiences, status.sent, status.dead), (1, 0, 2, 0));
    // A worker that has leased a mail which was deleted since cannot settle it.
    assert!(!settle(&harness, workspace, of_comment[1], sent()).await);
    harness.clock.advance(MINUTE);
    let left = lease(&harness, workspace, 100).await;
    assert_eq!(left[0].about, comment_on(&other));
}

/// Mail that waits has the text of its record at the time when it is sent.
///
/// Addition 2: unsent mail about a comment has the new text.
pub async fn waiting_mail_follows_edits(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    harness.vote(workspace, &request, "ann@example.com").await;
    let Topic::Comment(comment) = announce(&harness, workspace, &request).await else { panic!("a comment") };
    let content = CleanHtml::parse("content", "<p>Later</p>");
    harness.perform(workspace, &EditComment { comment, content: content.unwrap() }).await;
    harness.edit(workspace, request.id, new_title("Night mode")).await;
    let mail = send_all(&harness, workspace).await.remove(0);
    assert_eq!((mail.content.as_str(), mail.about.title().as_str()), ("<p>Later</p>", "Night mode"));
    let Topic::Changelog(changelog) = announce_changelog(&harness, workspace, &[request.id]).await else {
        panic!("a changelog")
    };
    let fields = changelog_fields("1.1", "<p>Newer</p>");
    let change = ChangelogChange::parse(&fields, |_| None);
    harness.perform(workspace, &EditChangelog { changelog, change: change.unwrap() }).await;
    let mail = send_all(&harness, workspace).await.remove(0);
    assert_eq!((mail.content.as_str(), mail.about.title().as_str()), ("<p>Newer</p>", "1.1"));
}

/// Mail about a merged feature request names its target. Comments on the target go to the subscribers of the source,
/// as long as it is merged.
///
/// Addition 5: a status change and a comment within one minute are two mails.
pub async fn mail_follows_merges(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    harness.vote(workspace, &source, "ann@example.com").await;
    harness.vote(workspace, &target, "bob@example.com").await;
    let about = comment_on;
    announce(&harness, workspace, &source).await;
    let status = announce_status(&harness, workspace, source.id, "Done").await;
    harness.merge(workspace, source.id, target.id).await;
    let mails = lease(&harness, workspace, 9).await;
    assert_eq!((mails.len(), addresses(&mails)), (2, example_addresses(&["ann"])));
    for mail in &mails {
        let is_status = mail.id.topic == status;
        let status = status_of(&target, Some("Done"));
        assert_eq!(mail.about, if is_status { status } else { about(&target) });
        assert!(settle(&harness, workspace, mail, MessageOutcome::Returned).await);
    }
    harness.unmerge(workspace, source.id).await;
    let mails = send_all(&harness, workspace).await;
    let titles: BTreeSet<&str> = mails.iter().map(|mail| mail.about.title().as_str()).collect();
    assert_eq!((mails.len(), titles), (2, BTreeSet::from(["Quokka"])));

    harness.merge(workspace, source.id, target.id).await;
    for request in [&source, &target] {
        announce(&harness, workspace, request).await;
        let mails = send_all(&harness, workspace).await;
        assert_eq!(addresses(&mails), example_addresses(&["ann", "bob"]));
        assert!(mails.iter().all(|mail| mail.about == about(&target)), "{mails:?}");
    }
    announce(&harness, workspace, &target).await;
    harness.unmerge(workspace, source.id).await;
    assert_eq!(addresses(&send_all(&harness, workspace).await), example_addresses(&["bob"]));
}

/// Ending a subscription takes back what waits about the feature request. A changelog is still sent to who is subscribed
/// to another one of its feature requests.
pub async fn an_ended_subscription_takes_mail_of_all_kinds_back(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, other] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    for (voter, voted) in [("ann", &[&request][..]), ("bob", &[&request, &other])] {
        for request in voted {
            harness.vote(workspace, request, &format!("{voter}@example.com")).await;
        }
    }
    announce(&harness, workspace, &request).await;
    announce_status(&harness, workspace, request.id, "Done").await;
    let changelog = announce_changelog(&harness, workspace, &[request.id, other.id]).await;
    let comment = announce(&harness, workspace, &other).await;
    assert_eq!(harness.count("outbox", workspace).await, 7);
    for voter in harness.voters(workspace, request.id).await {
        harness.unsubscribe(workspace, voter.id, Unsubscription::Request(request.id)).await.unwrap();
    }
    let mails = send_all(&harness, workspace).await;
    assert_eq!((mails.len(), addresses(&mails)), (2, example_addresses(&["bob"])));
    assert_eq!(mails.iter().map(|mail| mail.id.topic).collect::<BTreeSet<_>>(), BTreeSet::from([changelog, comment]));
    assert_eq!(harness.count("outbox", workspace).await, 2);
}

/// A digest contains comments, changes of the status and changelogs.
pub async fn a_digest_has_entries_of_all_kinds(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    harness.vote(workspace, &request, "ann@example.com").await;
    announce(&harness, workspace, &request).await;
    announce_status(&harness, workspace, request.id, "Done").await;
    let Topic::Changelog(changelog) = announce_changelog(&harness, workspace, &[request.id]).await else {
        panic!("a changelog")
    };
    let Topic::Changelog(unpublished) = announce_changelog(&harness, workspace, &[request.id]).await else {
        panic!("a changelog")
    };
    for mail in lease(&harness, workspace, 9).await {
        assert!(settle(&harness, workspace, &mail, held(&mail, end_of_hour(harness.now()))).await);
    }
    harness.perform(workspace, &UnpublishChangelog { changelog: unpublished }).await;
    harness.clock.advance(MINUTE * 60);
    let digest = digests(&harness, workspace).await.remove(0);
    let entry = |about, beginning: &str| DigestEntry { about, beginning: beginning.to_owned() };
    let expected = [
        entry(comment_on(&request), "<p>Soon</p>"),
        entry(status_of(&request, Some("Done")), ""),
        entry(about_changelog(changelog), "<p>New</p>"),
    ];
    assert_eq!(digest.entries, expected);
}

/// The language of a recipient is the chosen one, else the one of the last visit.
pub async fn the_language_of_a_recipient_is_known(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 0).await;
    let save = |address: &'static str, language| SaveLanguage { address, language };
    harness.vote(workspace, &request, "ann@example.com").await;
    harness.vote(workspace, &request, "bob@example.com").await;
    harness.perform(workspace, &save("ANN@example.com", Language::Arabic)).await;
    harness.perform(workspace, &save("ann@example.com", Language::German)).await;
    harness.perform(workspace, &save("nobody@example.com", Language::German)).await;
    let other = harness.workspace("bolt").await;
    harness.perform(other, &save("bob@example.com", Language::German)).await;
    harness.failure(workspace, &Failing(save("bob@example.com", Language::Arabic))).await;
    assert_eq!(languages(&harness, workspace, &request).await, [Some(Language::German), None]);
    let chosen = |language| SaveAccount {
        email: EmailAddress::parse("email", "ann@example.com").unwrap(),
        name: None,
        language,
        holds_names: false,
    };
    harness.perform(workspace, &chosen(Some(Language::English))).await;
    assert_eq!(languages(&harness, workspace, &request).await, [Some(Language::English), None]);
    harness.perform(workspace, &chosen(None)).await;
    assert_eq!(languages(&harness, workspace, &request).await, [Some(Language::German), None]);
}

/// Saves the language of the pages that somebody has used.
struct SaveLanguage {
    address: &'static str,
    language: Language,
}

#[async_trait]
impl Operation for SaveLanguage {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let address = EmailAddress::parse("email", self.address)?;
        work.save_last_language(address.folded(), self.language).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

/// The languages of the customers Ann and Bob, who get mail about a feature request.
async fn languages(
    harness: &Harness,
    workspace: WorkspaceId,
    request: &FeatureRequestSummary,
) -> [Option<Language>; 2] {
    let topic = Topic::Comment(harness.comments(workspace, request.id).await[0].comment.id);
    let voters = harness.voters(workspace, request.id).await;
    let mails: Vec<MailId> = voters.iter().map(|voter| MailId { topic, customer: voter.id }).collect();
    let now = harness.now();
    let recipients = harness.subject.mail.recipients(workspace, &mails, now, now).await.unwrap();
    ["ann@example.com", "bob@example.com"]
        .map(|address| recipients.iter().find(|recipient| recipient.to.as_str() == address).unwrap().language)
}

/// Mail names the authors of comments as the portal does, and has the cover of a changelog.
pub async fn mail_has_authors_and_covers(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let reference = FeatureRequestRef::Id(request.id);
    harness.member(workspace, "ines@acme.example", "Ines").await;
    let mut expected = Vec::new();
    for (comment, author) in [
        (comment(reference, "<p>Soon</p>", false), PublicAuthor::Member(Some(name("Ines")))),
        (
            customer_comment(reference, "<p>When?</p>", "ann@example.com", Some("Ann")),
            PublicAuthor::Customer(Some(name("Ann"))),
        ),
        (customer_comment(reference, "<p>When?</p>", "bob@example.com", None), PublicAuthor::Customer(None)),
    ] {
        let posted = harness.perform(workspace, &comment).await;
        expected.push((Topic::Comment(posted.comment.id), About::Comment(RequestLink::from(&request), author)));
    }
    let cover = harness.attachment(workspace, 1).await;
    let changelog = draft_changelog(&harness, workspace, &[request.id]).await;
    let change = ChangelogChange { cover: Some(Some(cover.id)), ..ChangelogChange::default() };
    harness.perform(workspace, &EditChangelog { changelog, change }).await;
    harness.perform(workspace, &publish(changelog, false)).await;
    let About::Changelog { id, title, .. } = about_changelog(changelog) else { panic!("a changelog") };
    let cover = Some(CoverImage { attachment: cover.id, filename: cover.filename });
    expected.push((Topic::Changelog(changelog), About::Changelog { id, title, cover }));
    let topics: Vec<Topic> = expected.iter().map(|(topic, _)| *topic).collect();
    let contents = harness.subject.mail.topics(workspace, &topics, 100, harness.now()).await.unwrap();
    assert_eq!(contents.len(), expected.len());
    for (topic, about) in expected {
        assert_eq!(contents.iter().find(|content| content.topic == topic).unwrap().about, about);
    }
}

/// Only what everybody may see is named in the mail of a sign-in.
pub async fn titles_of_private_feature_requests_are_not_public(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [source, target] = harness.requests(workspace, ["Night", "Dark mode"]).await;
    let private = harness.create(workspace, FeatureRequestDraft { private: true, ..draft("Secret", &[], "") }).await;
    harness.merge(workspace, source.id, target.id).await;
    let foreign = harness.request(other, "Foreign").await;
    let ids = [source.id, target.id, private.id, foreign.id];
    let mut titles = harness.subject.mail.public_titles(workspace, &ids).await.unwrap();
    titles.sort_by_key(|(id, _)| *id != source.id);
    assert_eq!(titles, [(source.id, target.title.clone()), (target.id, target.title)]);
}

/// The sender has the settings of the portal, and the name that the operator has set.
pub async fn the_sender_has_the_settings_of_its_portal(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let logo = harness.attachment(workspace, 1).await;
    let change = PortalChange {
        accent: Some(Color::from_hex("#17694f")),
        logo: Some(Some(logo.id)),
        reply_to: Some(Some(EmailAddress::parse("reply_to", "help@acme.example").unwrap())),
        ..PortalChange::default()
    };
    harness.perform(workspace, &UpdatePortal { change }).await;
    let lumen = SenderName::parse("", "Lumen Desk").unwrap();
    for name in [lumen.clone(), None, lumen] {
        harness.perform(workspace, &SetSenderName { name: name.clone() }).await;
        harness.failure(workspace, &Failing(SetSenderName { name: SenderName::parse("", "Other").unwrap() })).await;
        let sender = harness.subject.mail.sender(workspace).await.unwrap().unwrap();
        let portal = harness.subject.reader.portal(workspace).await.unwrap().unwrap();
        assert_eq!((sender.name, sender.subdomain.as_str(), sender.portal), (name, "acme", portal));
        assert_eq!(harness.subject.mail.sender(other).await.unwrap().unwrap().name, None);
    }
    assert_eq!(harness.subject.mail.sender(WorkspaceId::new(Uuid::nil())).await.unwrap(), None);
}

crate::contract::cases!($ mail {
    the_language_of_a_recipient_is_known,
    mail_has_authors_and_covers,
    voters_of_what_was_merged_are_told,
    titles_of_private_feature_requests_are_not_public,
    the_sender_has_the_settings_of_its_portal,
    a_mail_is_leased_to_one_worker,
    concurrent_workers_share_the_mails,
    the_outcome_of_an_expired_lease_is_rejected,
    a_deferred_mail_waits_without_an_attempt,
    a_postponed_mail_waits,
    dead_mail_can_be_retried,
    a_big_audience_is_expanded_in_batches,
    unsubscribed_voters_get_nothing,
    a_mail_is_not_retried_after_its_recipient_unsubscribes,
    a_mail_without_its_vote_is_deleted,
    an_unreadable_row_delays_no_other_mail,
    mails_to_one_customer_are_counted_by_the_hour,
    held_mails_go_out_as_one_digest,
    a_dead_digest_makes_its_mails_dead,
    mails_of_a_day_are_limited,
    concurrent_comments_share_the_budget_of_a_day,
    mail_is_counted_over_all_workspaces,
    sent_mails_are_purged,
    mail_belongs_to_its_workspace,
    messages_of_all_kinds_share_one_queue,
    a_message_carries_the_id_of_its_http_request,
    the_state_of_a_message_can_be_looked_up,
    an_audience_is_expanded_under_its_lease_alone,
    a_mail_is_not_held_for_a_digest_that_was_leased,
    unsubscribing_deletes_waiting_digests,
    a_new_status_is_mailed_to_subscribers,
    a_changelog_is_mailed_once_to_each_customer,
    big_audiences_of_trees_have_no_doubles,
    a_scheduled_changelog_is_mailed_at_its_time,
    an_unpublished_changelog_is_not_mailed,
    deleting_a_record_deletes_its_unsent_mail,
    waiting_mail_follows_edits,
    mail_follows_merges,
    an_ended_subscription_takes_mail_of_all_kinds_back,
    a_digest_has_entries_of_all_kinds,
});
