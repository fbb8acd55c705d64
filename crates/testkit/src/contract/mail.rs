//! The outbox as workers see it.

use std::collections::BTreeSet;

use roadmap_domain::error::{Budget, OverBudget, RoadmapError};
use roadmap_domain::model::comment::CommentDraft;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::mail::{LeasedDigest, LeasedMail, MailOutcome, OutboxDepth, Unsubscription};
use roadmap_domain::policy::mail_limits::{MailBudgetWindow, end_of_hour, start_of_hour};
use roadmap_domain::usecase::post_comment::PostComment;
use time::Duration;

use crate::harness::{Harness, comment};

const MINUTE: Duration = Duration::minutes(1);

/// A workspace with a request, voters of it, and a comment that they are told of.
async fn announced(harness: &Harness, subdomain: &str, voters: usize) -> (WorkspaceId, FeatureRequestSummary) {
    let workspace = harness.workspace(subdomain).await;
    let request = harness.request(workspace, "Dark mode").await;
    for number in 0..voters {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    announce(harness, workspace, &request).await;
    (workspace, request)
}

async fn announce(harness: &Harness, workspace: WorkspaceId, request: &FeatureRequestSummary) {
    harness
        .executor
        .run_without_key(workspace, &comment(FeatureRequestRef::Id(request.id), "<p>Soon</p>", true))
        .await
        .unwrap();
}

/// Leases for a minute.
async fn lease(harness: &Harness, workspace: WorkspaceId, limit: u32) -> Vec<LeasedMail> {
    let now = harness.now();
    let leased =
        harness.subject.queue.lease(workspace, now, now.plus(MINUTE), limit, start_of_hour(now)).await.unwrap();
    assert!(leased.unreadable.is_empty(), "{leased:?}");
    leased.mails
}

async fn settle(harness: &Harness, workspace: WorkspaceId, mail: &LeasedMail, outcome: MailOutcome) -> bool {
    let queue = &harness.subject.queue;
    queue.settle(workspace, mail.id, mail.leased_until, &outcome, harness.now()).await.unwrap()
}

fn addresses(mails: &[LeasedMail]) -> BTreeSet<String> {
    mails.iter().map(|mail| mail.to.as_str().to_owned()).collect()
}

/// All that a mail says is there, and nobody else takes a mail that is taken.
pub async fn a_mail_is_leased_to_one_worker(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 3).await;
    let queue = &harness.subject.queue;
    assert_eq!(queue.workspaces_with_mail(harness.now()).await.unwrap(), [workspace]);
    let first = lease(&harness, workspace, 2).await;
    let mail = &first[0];
    assert_eq!((mail.attempt.get(), mail.leased_until), (1, harness.now().plus(MINUTE)));
    assert_eq!((mail.request, mail.tag_number, mail.title.as_str()), (request.id, 1, "Dark mode"));
    assert_eq!((mail.comment.as_str(), mail.product_name.as_str()), ("<p>Soon</p>", "Acme"));
    assert_eq!(mail.subdomain.to_string(), "acme");
    let second = lease(&harness, workspace, 2).await;
    assert_eq!((first.len(), second.len(), lease(&harness, workspace, 2).await.len()), (2, 1, 0));
    let all: Vec<LeasedMail> = first.into_iter().chain(second).collect();
    assert_eq!(addresses(&all), ["v0", "v1", "v2"].map(|name| format!("{name}@example.com")).into());
    assert_eq!(queue.workspaces_with_mail(harness.now()).await.unwrap(), []);
    for mail in &all {
        assert!(settle(&harness, workspace, mail, MailOutcome::Sent).await);
    }
    harness.clock.advance(MINUTE * 10);
    assert_eq!(lease(&harness, workspace, 10).await, []);
    let status = queue.status(workspace, 5).await.unwrap();
    assert_eq!((status.waiting, status.sent, status.dead, status.oldest), (0, 3, 0, None));
}

/// Eight workers at once: each mail goes to one of them.
pub async fn concurrent_workers_share_the_mails(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 40).await;
    assert_eq!(harness.subject.queue.expand(workspace, 100).await.unwrap(), Some(40));
    assert_eq!(harness.subject.queue.expand(workspace, 100).await.unwrap(), None);
    let now = harness.now();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let queue = harness.subject.queue.clone();
        workers.spawn(async move {
            queue.lease(workspace, now, now.plus(MINUTE), 10, start_of_hour(now)).await.unwrap().mails
        });
    }
    let mut mails: Vec<LeasedMail> = workers.join_all().await.into_iter().flatten().collect();
    // Who finds all that is left taken by others at that moment gets fewer.
    mails.extend(lease(&harness, workspace, 40).await);
    assert_eq!((mails.len(), addresses(&mails).len()), (40, 40));
}

/// After a worker's death its mail is taken by the next, and what the first still says is void.
pub async fn an_expired_lease_is_void(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 1).await;
    let frozen = lease(&harness, workspace, 1).await;
    harness.clock.advance(MINUTE);
    let next = lease(&harness, workspace, 1).await;
    assert_eq!((next[0].id, next[0].attempt.get()), (frozen[0].id, 2));
    let dead = MailOutcome::Dead { reason: "thawed".to_owned(), no_such_mailbox: true };
    for outcome in [MailOutcome::Sent, MailOutcome::Released, dead] {
        assert!(!settle(&harness, workspace, &frozen[0], outcome).await);
    }
    assert!(settle(&harness, workspace, &next[0], MailOutcome::Sent).await);
    assert!(!settle(&harness, workspace, &next[0], MailOutcome::Sent).await);
    // The void "no such mailbox" did not stop mail to the voter.
    announce(&harness, workspace, &harness.find(workspace, 1).await).await;
    assert_eq!(lease(&harness, workspace, 1).await.len(), 1);
}

/// A mail that failed waits for its next try; one that was only put back does not, nor counts it.
pub async fn a_postponed_mail_waits(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 1).await;
    let queue = &harness.subject.queue;
    let mail = lease(&harness, workspace, 1).await.remove(0);
    assert!(settle(&harness, workspace, &mail, MailOutcome::Released).await);
    let mail = lease(&harness, workspace, 1).await.remove(0);
    assert_eq!(mail.attempt.get(), 1);
    let until = harness.now().plus(MINUTE * 5);
    let postponed = MailOutcome::Postponed { until, reason: "450 busy".to_owned() };
    assert!(settle(&harness, workspace, &mail, postponed).await);
    assert_eq!(lease(&harness, workspace, 1).await, []);
    let status = queue.status(workspace, 5).await.unwrap();
    assert_eq!((status.waiting, status.dead, status.oldest), (1, 0, Some(harness.now())));
    let failure = &status.failures[0];
    assert_eq!((failure.id, failure.attempts, failure.next_attempt_at), (mail.id, 1, Some(until)));
    assert_eq!(failure.reason, "450 busy");
    harness.clock.advance(MINUTE * 5);
    assert_eq!(lease(&harness, workspace, 1).await[0].attempt.get(), 2);
}

/// A dead mail is told with its reason and comes back when an operator says so.
pub async fn dead_mail_can_be_retried(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 2).await;
    let queue = &harness.subject.queue;
    let mails = lease(&harness, workspace, 2).await;
    let dead = |reason: &str, no_such_mailbox| MailOutcome::Dead { reason: reason.to_owned(), no_such_mailbox };
    assert!(settle(&harness, workspace, &mails[0], dead("554 no", false)).await);
    assert!(settle(&harness, workspace, &mails[1], dead("550 5.1.1 who?", true)).await);
    let status = queue.status(workspace, 1).await.unwrap();
    assert_eq!((status.waiting, status.dead, status.failures.len()), (0, 2, 1));
    assert_eq!(status.failures[0].next_attempt_at, None);
    harness.clock.advance(MINUTE * 60);
    assert_eq!(queue.retry(workspace, false, harness.now()).await.unwrap(), 0);
    assert_eq!(queue.retry(workspace, true, harness.now()).await.unwrap(), 2);
    // The address that is not there stays without mail.
    let again = lease(&harness, workspace, 2).await;
    assert_eq!((again.len(), again[0].id, again[0].attempt.get()), (1, mails[0].id, 1));
    // What is under way is left alone.
    assert_eq!(queue.retry(workspace, true, harness.now()).await.unwrap(), 0);
    let later = MailOutcome::Postponed { until: harness.now().plus(MINUTE * 60), reason: "450".to_owned() };
    assert!(settle(&harness, workspace, &again[0], later).await);
    assert_eq!(queue.retry(workspace, false, harness.now()).await.unwrap(), 1);
    assert_eq!(lease(&harness, workspace, 2).await.len(), 1);
    announce(&harness, workspace, &request).await;
    assert_eq!(addresses(&lease(&harness, workspace, 5).await), addresses(&again));
}

/// A big audience is written out piece by piece: everybody of the comment's moment, once.
pub async fn a_big_audience_is_expanded_in_batches(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 120).await;
    let queue = &harness.subject.queue;
    assert_eq!(harness.count("outbox", workspace).await, 0);
    let status = queue.status(workspace, 1).await.unwrap();
    assert_eq!((status.waiting, status.audiences, status.oldest), (0, 1, Some(harness.now())));
    assert_eq!(queue.expand(workspace, 50).await.unwrap(), Some(50));
    // Who votes afterwards is not in it; who unsubscribes meanwhile no longer is.
    harness.clock.advance(MINUTE);
    harness.vote(workspace, &request, "late@example.com").await;
    let all = lease(&harness, workspace, 50).await;
    let last = all.iter().max_by_key(|mail| mail.id.customer).unwrap().id.customer;
    assert_eq!(queue.workspaces_with_mail(harness.now()).await.unwrap(), [workspace]);
    assert_eq!(queue.expand(workspace, 30).await.unwrap(), Some(30));
    let more = lease(&harness, workspace, 100).await;
    assert!(more.iter().all(|mail| mail.id.customer > last));
    assert_eq!(queue.expand(workspace, 40).await.unwrap(), Some(40));
    assert_eq!(queue.expand(workspace, 40).await.unwrap(), Some(0));
    assert_eq!(queue.expand(workspace, 40).await.unwrap(), None);
    let rest = lease(&harness, workspace, 100).await;
    let sent: Vec<LeasedMail> = all.into_iter().chain(more).chain(rest).collect();
    assert_eq!((sent.len(), addresses(&sent).len()), (120, 120));
    assert!(!addresses(&sent).contains("late@example.com"));
    assert_eq!(queue.workspaces_with_mail(harness.now()).await.unwrap(), []);
}

/// Of one request, or of everything, also of what is voted for later; mail that waits is dropped.
pub async fn unsubscribed_voters_get_nothing(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 3).await;
    let other = harness.request(workspace, "Light mode").await;
    let mails = lease(&harness, workspace, 3).await;
    for mail in &mails {
        harness.vote(workspace, &other, mail.to.as_str()).await;
        assert!(settle(&harness, workspace, mail, MailOutcome::Released).await);
    }
    let [all, one, none] = &mails[..] else { panic!("three mails") };
    let unsubscribe = |mail: &LeasedMail, what| harness.unsubscribe(workspace, mail.id.customer, what);
    unsubscribe(one, Unsubscription::Request(request.id)).await.unwrap();
    unsubscribe(none, Unsubscription::Everything).await.unwrap();
    unsubscribe(none, Unsubscription::Everything).await.unwrap();
    assert_eq!(harness.count("outbox", workspace).await, 1);
    assert_eq!(addresses(&lease(&harness, workspace, 9).await), addresses(std::slice::from_ref(all)));
    // The next comment, on each request; a repeated vote subscribes nobody again.
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

/// Who unsubscribes while a mail to him is under way gets no second try of it.
pub async fn an_unwanted_mail_is_not_tried_again(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 1).await;
    let mail = lease(&harness, workspace, 1).await.remove(0);
    harness.unsubscribe(workspace, mail.id.customer, Unsubscription::Request(request.id)).await.unwrap();
    settle(&harness, workspace, &mail, MailOutcome::Released).await;
    assert_eq!(lease(&harness, workspace, 1).await, []);
    assert_eq!(harness.count("outbox", workspace).await, 0);
}

/// A mail whose vote is gone is deleted when a worker comes to it, and an audience passes over such voters.
pub async fn a_mail_without_its_vote_is_deleted(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 3).await;
    let queue = &harness.subject.queue;
    let forget = "DELETE FROM votes WHERE customer_id IN (SELECT id FROM customers WHERE email = 'v1@example.com')";
    harness.subject.probe.execute(forget).await;
    let now = harness.now();
    let leased = queue.lease(workspace, now, now.plus(MINUTE), 10, start_of_hour(now)).await.unwrap();
    assert_eq!((leased.mails.len(), leased.unreadable.len(), leased.unwanted), (2, 0, 1));
    assert!(!addresses(&leased.mails).contains("v1@example.com"));
    assert_eq!(harness.count("outbox", workspace).await, 2);
    // Of a big audience, too: those whose votes are gone when it is written out.
    for number in 3..40 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    announce(&harness, workspace, &request).await;
    let forget = "DELETE FROM votes WHERE customer_id IN (SELECT id FROM customers WHERE email LIKE 'v2_@example.com')";
    harness.subject.probe.execute(forget).await;
    assert_eq!(queue.expand(workspace, 100).await.unwrap(), Some(29));
    assert_eq!(lease(&harness, workspace, 100).await.len(), 29);
}

/// A row that cannot be read is reported beside the mails that can be, and is given up like them.
pub async fn a_row_that_cannot_be_read_keeps_no_other_mail(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 4).await;
    let queue = &harness.subject.queue;
    for (voter, attempts) in [(1, -7_i64), (2, 2_147_483_647)] {
        let broken = format!(
            "UPDATE outbox SET attempts = {attempts} WHERE customer_id IN
             (SELECT id FROM customers WHERE email = 'v{voter}@example.com')"
        );
        harness.subject.probe.execute(&broken).await;
    }
    // What no address is any more is not validated again: the mailer says what it cannot write to.
    harness.subject.probe.execute("UPDATE customers SET email = 'nobody' WHERE email = 'v3@example.com'").await;
    harness.subject.probe.execute("UPDATE workspaces SET subdomain = 'not a label'").await;
    let now = harness.now();
    let leased = queue.lease(workspace, now, now.plus(MINUTE), 10, start_of_hour(now)).await.unwrap();
    let expected = ["nobody", "v0@example.com", "v2@example.com"].map(str::to_owned);
    assert_eq!(addresses(&leased.mails), expected.into());
    assert_eq!(leased.mails[0].subdomain.as_str(), "not a label");
    let [unreadable] = leased.unreadable.as_slice() else { panic!("{leased:?}") };
    assert_eq!(
        unreadable.error.to_string(),
        format!("stored data is inconsistent: outbox.attempts of row {}", unreadable.id)
    );
    let dead = MailOutcome::Dead { reason: "it cannot be read".to_owned(), no_such_mailbox: false };
    assert!(queue.settle(workspace, unreadable.id, unreadable.leased_until, &dead, now).await.unwrap());
    let status = queue.status(workspace, 5).await.unwrap();
    assert_eq!((status.waiting, status.dead), (3, 1));
    assert_eq!((status.failures[0].id, status.failures[0].next_attempt_at), (unreadable.id, None));
    assert_eq!(status.failures[0].reason, "it cannot be read");
}

/// Every mail says how many its recipient has got since the hour began, or gets at the moment.
pub async fn mails_to_one_customer_are_counted_by_the_hour(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 2).await;
    let recent_count = |mails: &[LeasedMail]| mails.iter().map(|mail| mail.recent_count).collect::<Vec<_>>();
    let first = lease(&harness, workspace, 10).await;
    assert_eq!(recent_count(&first), [0, 0]);
    assert!(settle(&harness, workspace, &first[0], MailOutcome::Sent).await);
    // One was sent, the other one is leased; of the next two, none counts yet.
    announce(&harness, workspace, &request).await;
    announce(&harness, workspace, &request).await;
    let next = lease(&harness, workspace, 10).await;
    assert_eq!(recent_count(&next), [1, 1, 1, 1]);
    let later = MailOutcome::Postponed { until: harness.now().plus(MINUTE * 5), reason: "450".to_owned() };
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
    // Of an hour that began after that, nothing has been sent. What is leased counts for as long as the lease lasts.
    for mail in &again {
        assert!(settle(&harness, workspace, mail, MailOutcome::Released).await);
    }
    let now = harness.now();
    let leased = harness.subject.queue.lease(workspace, now, now.plus(MINUTE), 10, now).await.unwrap();
    assert_eq!(recent_count(&leased.mails), [0; 5]);
}

/// Mails that are held for a digest wait for the end of the hour, and then are leased, sent, and counted as one.
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
        assert!(settle(&harness, workspace, mail, MailOutcome::Held { until }).await);
    }
    let digests = async || {
        let now = harness.now();
        queue.lease_digests(workspace, now, now.plus(MINUTE), 5, 3).await.unwrap()
    };
    assert_eq!((digests().await, lease(&harness, workspace, 20).await), (vec![], vec![]));
    assert_eq!(queue.workspaces_with_mail(harness.now()).await.unwrap(), []);
    let depth = queue.depth(harness.now()).await.unwrap();
    assert_eq!((depth.due, depth.postponed), (0, 8));

    // One of them has unsubscribed when the hour is over; nobody else leases the digest of the other one.
    harness.clock.advance(MINUTE * 60);
    harness.unsubscribe(workspace, other, Unsubscription::Request(request.id)).await.unwrap();
    assert_eq!(queue.workspaces_with_mail(harness.now()).await.unwrap(), [workspace]);
    assert_eq!(lease(&harness, workspace, 20).await, []);
    let leased = digests().await;
    let [digest] = leased.as_slice() else { panic!("{leased:?}") };
    assert_eq!((digest.id.at, digest.id.first.customer, digest.attempt.get(), digest.mails), (until, one, 1, 4));
    assert_eq!((digest.product_name.as_str(), digest.subdomain.as_str()), ("Acme", "acme"));
    let mut comments: Vec<_> =
        mails.iter().filter(|mail| mail.id.customer == one).map(|mail| mail.id.comment).collect();
    comments.sort();
    assert_eq!(digest.id.first.comment, comments[0]);
    assert_eq!(digest.entries.len(), 3);
    for entry in &digest.entries {
        assert_eq!((entry.tag_number, entry.title.as_str(), entry.beginning.as_str()), (1, "Dark mode", "<p>Soon</p>"));
    }
    assert_eq!(digests().await, []);

    // All its mails have one fate: put back, tried again, sent. The lease names the try.
    let settle_digest = async |outcome: MailOutcome, digest: &LeasedDigest| {
        queue.settle_digest(workspace, digest.id, digest.leased_until, &outcome, harness.now()).await.unwrap()
    };
    assert!(settle_digest(MailOutcome::Released, digest).await);
    let again = digests().await;
    assert_eq!((again[0].id, again[0].attempt.get(), again[0].mails), (digest.id, 1, 4));
    let later = MailOutcome::Postponed { until: harness.now().plus(MINUTE * 5), reason: "450 busy".to_owned() };
    assert!(settle_digest(later, &again[0]).await);
    assert!(!settle_digest(MailOutcome::Sent, &again[0]).await);
    assert_eq!(digests().await, []);
    harness.clock.advance(MINUTE * 5);
    let last = digests().await;
    assert_eq!((last[0].id, last[0].attempt.get()), (digest.id, 2));
    assert!(settle_digest(MailOutcome::Sent, &last[0]).await);
    let status = queue.status(workspace, 5).await.unwrap();
    assert_eq!((status.waiting, status.sent, status.dead), (0, 4, 0));
    // What went out in a digest counts for nothing in the hour that follows.
    announce(&harness, workspace, &request).await;
    let next = lease(&harness, workspace, 20).await;
    assert_eq!((next.len(), next[0].id.customer, next[0].recent_count), (1, one, 0));
}

/// A digest to a mailbox that is not there is dead with all its mails, and ends mail to it.
pub async fn a_dead_digest_is_dead_as_a_whole(harness: Harness) {
    let (workspace, request) = announced(&harness, "acme", 1).await;
    announce(&harness, workspace, &request).await;
    let queue = &harness.subject.queue;
    let until = end_of_hour(harness.now());
    for mail in lease(&harness, workspace, 20).await {
        assert!(settle(&harness, workspace, &mail, MailOutcome::Held { until }).await);
    }
    harness.clock.advance(MINUTE * 60);
    let now = harness.now();
    let digest = queue.lease_digests(workspace, now, now.plus(MINUTE), 5, 50).await.unwrap().remove(0);
    let dead = MailOutcome::Dead { reason: "550 5.1.1 who?".to_owned(), no_such_mailbox: true };
    assert!(queue.settle_digest(workspace, digest.id, digest.leased_until, &dead, now).await.unwrap());
    let status = queue.status(workspace, 5).await.unwrap();
    assert_eq!((status.waiting, status.dead, status.failures.len()), (0, 2, 2));
    announce(&harness, workspace, &request).await;
    assert_eq!(lease(&harness, workspace, 20).await, []);
    // An operator may have it tried again, but nobody is there who wants it.
    assert_eq!(queue.retry(workspace, true, now).await.unwrap(), 2);
    assert_eq!(queue.lease_digests(workspace, now, now.plus(MINUTE), 5, 50).await.unwrap(), []);
    assert_eq!(harness.count("outbox", workspace).await, 0);
}

/// A workspace's mails of a day are counted by the hour; a comment that is refused uses nothing up.
pub async fn mails_of_a_day_are_limited(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let other = harness.workspace("bolt").await;
    let request = harness.request(workspace, "Dark mode").await;
    for number in 0..30 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    let post = async |limit: u64| {
        let draft = CommentDraft::parse(Some("<p>Soon</p>"), None, true);
        let comment = PostComment { request: FeatureRequestRef::Id(request.id), draft, mails_per_day: Some(limit) };
        harness.executor.run_without_key(workspace, &comment).await.map(|_| ())
    };
    let over = |limit: u64| OverBudget { budget: Budget::MailsPerDay, limit };
    let refused = |outcome: Result<(), RoadmapError>, limit: u64| matches!(outcome, Err(RoadmapError::OverBudget(found)) if found == over(limit));
    assert!(refused(post(29).await, 29));
    for table in ["comments", "outbox", "outbox_audiences", "mail_hours"] {
        assert_eq!(harness.count(table, workspace).await, 0, "{table}");
    }
    post(60).await.unwrap();
    post(60).await.unwrap();
    assert!(refused(post(60).await, 60));
    assert_eq!(harness.count("comments", workspace).await, 2);
    // A comment that is for nobody fits always.
    let quiet = harness.request(workspace, "Light mode").await;
    let draft = CommentDraft::parse(Some("<p>Soon</p>"), None, true);
    let comment = PostComment { request: FeatureRequestRef::Id(quiet.id), draft, mails_per_day: Some(60) };
    harness.executor.run_without_key(workspace, &comment).await.unwrap();
    assert_eq!(harness.count("mail_hours", other).await, 0);
    // Who has unsubscribed, or has no mailbox, is not counted.
    let stopped = "UPDATE customers SET mail_stopped_at = created_at WHERE email LIKE 'v1_@example.com'";
    harness.subject.probe.execute(stopped).await;
    post(80).await.unwrap();
    assert!(refused(post(99).await, 99));
    // Hour by hour the mails of the day before are free again, and forgotten.
    let day = MailBudgetWindow::ending_at(harness.now());
    harness.clock.advance(Duration::DAY - (Duration::milliseconds(harness.now().millis() - day.hour.millis())));
    assert!(refused(post(99).await, 99));
    harness.clock.advance(Duration::HOUR);
    post(20).await.unwrap();
    assert_eq!(harness.count("mail_hours", workspace).await, 1);
}

/// Comments that are posted at once do not miss each other's mails.
pub async fn concurrent_comments_share_the_budget_of_a_day(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    for number in 0..10 {
        harness.vote(workspace, &request, &format!("v{number}@example.com")).await;
    }
    let mut comments = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let executor = harness.executor.clone();
        let draft = CommentDraft::parse(Some("<p>Soon</p>"), None, true);
        let comment = PostComment { request: FeatureRequestRef::Id(request.id), draft, mails_per_day: Some(50) };
        comments.spawn(async move { executor.run_without_key(workspace, &comment).await.is_ok() });
    }
    let posted = comments.join_all().await.into_iter().filter(|posted| *posted).count();
    assert_eq!((posted, harness.count("outbox", workspace).await), (5, 50));
}

/// Metrics count the mail of all workspaces, by what becomes of it.
pub async fn mail_is_counted_over_all_workspaces(harness: Harness) {
    let queue = &harness.subject.queue;
    assert_eq!(queue.depth(harness.now()).await.unwrap(), OutboxDepth::default());
    let began = harness.now();
    let (acme, _) = announced(&harness, "acme", 5).await;
    harness.clock.advance(MINUTE);
    let (bolt, _) = announced(&harness, "bolt", 3).await;
    let depth = OutboxDepth { due: 8, oldest_due: Some(began), ..OutboxDepth::default() };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);
    // A clock that is behind the one that wrote them: they will be due.
    let depth = OutboxDepth { postponed: 8, ..OutboxDepth::default() };
    assert_eq!(queue.depth(began.plus(-MINUTE)).await.unwrap(), depth);

    let mails = lease(&harness, acme, 4).await;
    assert!(settle(&harness, acme, &mails[0], MailOutcome::Sent).await);
    let until = harness.now().plus(MINUTE * 60);
    assert!(settle(&harness, acme, &mails[1], MailOutcome::Postponed { until, reason: "450".to_owned() }).await);
    let dead = MailOutcome::Dead { reason: "554".to_owned(), no_such_mailbox: false };
    assert!(settle(&harness, acme, &mails[2], dead).await);
    let depth = OutboxDepth { due: 4, leased: 1, postponed: 1, dead: 1, audiences: 0, oldest_due: Some(began) };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);

    // What a worker has taken out is due again when its lease is over.
    assert_eq!(lease(&harness, acme, 4).await.len(), 1);
    assert_eq!(lease(&harness, bolt, 4).await.len(), 3);
    let depth = OutboxDepth { due: 0, leased: 5, oldest_due: None, ..depth };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);
    harness.clock.advance(MINUTE * 2);
    let depth = OutboxDepth { due: 5, leased: 0, oldest_due: Some(harness.now().plus(-MINUTE)), ..depth };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);

    // An audience that is not written out yet waits since its comment.
    let (_, _) = announced(&harness, "crane", 60).await;
    let depth = OutboxDepth { audiences: 1, ..depth };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);
}

/// Sent mails are forgotten after a while, others never.
pub async fn sent_mails_are_purged(harness: Harness) {
    let (workspace, _) = announced(&harness, "acme", 4).await;
    let mails = lease(&harness, workspace, 3).await;
    for mail in &mails[..2] {
        assert!(settle(&harness, workspace, mail, MailOutcome::Sent).await);
    }
    let dead = MailOutcome::Dead { reason: "no".to_owned(), no_such_mailbox: false };
    assert!(settle(&harness, workspace, &mails[2], dead).await);
    let queue = &harness.subject.queue;
    assert_eq!(queue.purge_sent_mail(harness.now(), 10).await.unwrap(), 0);
    harness.clock.advance(MINUTE);
    assert_eq!(queue.purge_sent_mail(harness.now(), 1).await.unwrap(), 1);
    assert_eq!(queue.purge_sent_mail(harness.now(), 10).await.unwrap(), 1);
    assert_eq!(harness.count("outbox", workspace).await, 2);
}

/// One workspace's mail is none of another's business.
pub async fn mail_belongs_to_its_workspace(harness: Harness) {
    let (acme, _) = announced(&harness, "acme", 1).await;
    let (bolt, _) = announced(&harness, "bolt", 1).await;
    let queue = &harness.subject.queue;
    let mut due = queue.workspaces_with_mail(harness.now()).await.unwrap();
    due.sort();
    assert_eq!(due, BTreeSet::from([acme, bolt]).into_iter().collect::<Vec<_>>());
    let mail = lease(&harness, acme, 10).await;
    assert_eq!((mail.len(), mail[0].subdomain.to_string()), (1, "acme".to_owned()));
    assert!(!settle(&harness, bolt, &mail[0], MailOutcome::Sent).await);
    let unsubscribed = harness.unsubscribe(bolt, mail[0].id.customer, Unsubscription::Everything).await;
    assert_eq!(unsubscribed.unwrap_err().to_string(), "Customer does not exist.");
    assert_eq!(queue.status(bolt, 5).await.unwrap().waiting, 1);
    assert_eq!(queue.workspaces_with_mail(harness.now()).await.unwrap(), [bolt]);
    assert!(settle(&harness, acme, &mail[0], MailOutcome::Sent).await);
}
