//! Removed texts and blocked customers.

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::admin::InboxState;
use roadmap_domain::model::audit::Audit;
use roadmap_domain::model::customer::{CustomerDraft, CustomerQuery};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::model::removal::{CustomerTexts, MovedTexts, REMOVED_TITLE, TextState};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::block_customer::BlockCustomer;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::merge_customers::MergeCustomers;
use roadmap_domain::usecase::remove_texts::MoveTexts;
use time::Duration;

use crate::contract::changes::{Item, PUBLIC};
use crate::harness::{
    Harness, comment, customer_comment, draft, held_idea, largest_page, member_viewer, new_title, page,
};

const ANN: &str = "ann@example.com";

/// A feature request that Ann asks for.
fn of_ann(title: &str, tags: &[&str], description: &str) -> FeatureRequestDraft {
    let customer = CustomerDraft::parse(Some(ANN), Some("Ann")).ok();
    FeatureRequestDraft { customer, ..draft(title, tags, description) }
}

async fn texts(harness: &Harness, workspace: WorkspaceId, customer: CustomerId) -> CustomerTexts {
    harness.subject.reader.customer_texts(workspace, customer, largest_page()).await.unwrap()
}

/// The titles and the beginnings of the contents of a customer's texts, with their states, newest first.
fn listed(texts: &CustomerTexts) -> Vec<(String, bool, &'static str)> {
    let state = |state: TextState| match state {
        TextState::Shown => "shown",
        TextState::Private => "private",
        TextState::Held => "held",
        TextState::Removed(_) => "removed",
    };
    let text = texts.page.items.iter().map(|text| {
        let words = text.title.as_ref().map_or_else(|| text.content.as_str().to_owned(), ToString::to_string);
        (words, text.title.is_some(), state(text.state))
    });
    text.collect()
}

/// Whether an address is blocked.
struct IsBlocked(&'static str);

#[async_trait]
impl Operation for IsBlocked {
    type Output = bool;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        let email = EmailAddress::parse("email", self.0).unwrap();
        Ok(Performed::new(work.find_known_address(email.folded()).await?.is_blocked(), Audit::Unchanged))
    }
}

/// Moves at most as many texts.
struct Move {
    customer: CustomerId,
    removes: bool,
    limit: u32,
}

#[async_trait]
impl Operation for Move {
    type Output = MovedTexts;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<MovedTexts>, RoadmapError> {
        Ok(Performed::new(
            if self.removes {
                work.remove_texts(self.customer, context.now, self.limit).await?
            } else {
                work.restore_texts(self.customer, context.now, self.limit).await?
            },
            Audit::Unchanged,
        ))
    }
}

/// Texts that are public, wait or are part of a merge are gone for everybody, with the mail about them, and come back as
/// they were. What others wrote and voted stays.
pub async fn removed_texts_are_hidden_and_restored_exactly(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    harness.member(workspace, "mia@team.example", "Mia").await;
    let idea = harness.create(workspace, of_ann("Quokka", &["Ui", "zoo"], "<p>With <b>ears</b></p>")).await;
    harness.next_second();
    let held_idea = harness.create(workspace, held_idea("Bilby", ANN)).await;
    let merged = harness.create(workspace, of_ann("Numbat", &["zoo"], "<p>Stripes</p>")).await;
    let [target] = harness.requests(workspace, ["Fern"]).await;
    harness.merge(workspace, merged.id, target.id).await;
    let reference = FeatureRequestRef::Id(target.id);
    harness.next_second();
    let public = customer_comment(reference, "<p>Public</p>", ANN, None);
    let public = harness.perform(workspace, &public).await.comment.id.uuid();
    harness.next_second();
    harness.hold(workspace, target.id, "<p>Waits</p>", ANN).await;
    harness.vote(workspace, &idea, "bob@example.com").await;
    let on_idea = FeatureRequestRef::Id(idea.id);
    harness.perform(workspace, &customer_comment(on_idea, "<p>Of Bob</p>", "bob@example.com", None)).await;
    harness.next_second();
    // The team's answer to the comment of Ann, and one on the idea of Ann, about which mail waits.
    harness.perform(workspace, &comment(reference, "<p>Soon</p>", false)).await;
    harness.perform(workspace, &comment(on_idea, "<p>Later</p>", true)).await;
    let ann = harness.customer(workspace, ANN).await.id;
    assert_eq!(harness.count("outbox", workspace).await, 2);
    let requests = [idea.id, target.id];
    let before = harness.snapshots(workspace, &requests).await;
    let counts_before = harness.subject.reader.inbox_counts(workspace).await.unwrap();
    let held_before = harness.page_of(workspace, target.id, member_viewer()).await.held;
    let texts_before = texts(&harness, workspace, ann).await;
    let change = async || -> Vec<Item> {
        let changed = harness.changed_comments(workspace, PUBLIC).await;
        changed.into_iter().filter(|(comment, _)| *comment == public).collect()
    };
    assert_eq!(change().await, [(public, true)]);
    let text = |words: &str, is_idea, state| (words.to_owned(), is_idea, state);
    let expected = [
        text("<p>Waits</p>", false, "held"),
        text("<p>Public</p>", false, "shown"),
        text("Numbat", true, "shown"),
        text("Bilby", true, "held"),
        text("Quokka", true, "shown"),
    ];
    assert_eq!(listed(&texts_before), expected);
    assert_eq!((texts_before.counts.requests, texts_before.counts.comments), (3, 2));

    assert_eq!(harness.failure(other, &MoveTexts { customer: ann, removes: true }).await, "Customer does not exist.");
    let moved = harness.perform(workspace, &MoveTexts { customer: ann, removes: true }).await;
    assert_eq!((moved.comments, moved.requests.len()), (2, 3));
    assert_eq!(change().await, [(public, false)]);
    let detail = harness.detail(workspace, idea.id).await;
    assert_eq!((detail.summary.title.as_str(), detail.description.as_str()), (REMOVED_TITLE, ""));
    assert_eq!((detail.tags.len(), detail.private, detail.awaiting_approval), (0, true, false));
    assert_eq!((detail.summary.votes_count, detail.comments_count), (2, 2));
    let now = harness.detail(workspace, target.id).await;
    assert_eq!((now.merged[0].title.as_str(), now.summary.votes_count), (REMOVED_TITLE, 1));
    let comments = harness.comments(workspace, target.id).await;
    assert_eq!(comments.iter().map(|listed| listed.comment.content.as_str()).collect::<Vec<_>>(), ["<p>Soon</p>"]);
    assert!(harness.page_of(workspace, target.id, member_viewer()).await.held.is_empty());
    for words in ["Quokka", "Numbat", "Bilby", "ears", "zoo"] {
        assert!(harness.search(workspace, words).await.is_empty(), "{words}");
    }
    assert_eq!((harness.count("outbox", workspace).await, harness.count("held_comments", workspace).await), (0, 0));
    let counts = harness.subject.reader.inbox_counts(workspace).await.unwrap();
    assert_eq!((counts.awaiting, counts.held_comments), (0, 0));
    assert_eq!(counts.of_state(InboxState::Private), 2);
    let now = texts(&harness, workspace, ann).await;
    let removed: Vec<_> = expected.iter().map(|(words, is_idea, _)| text(words, *is_idea, "removed")).collect();
    assert_eq!(listed(&now), removed);
    assert_eq!((now.counts.requests, now.counts.comments, now.counts.removed), (0, 0, 5));
    assert_eq!(now.counts.removed_at, Some(harness.now()));
    // There is nothing left to remove.
    assert_eq!(harness.perform(workspace, &MoveTexts { customer: ann, removes: true }).await, MovedTexts::default());

    harness.next_second();
    let restored = harness.perform(workspace, &MoveTexts { customer: ann, removes: false }).await;
    assert_eq!((restored.comments, restored.requests.len()), (2, 3));
    assert_eq!(harness.snapshots(workspace, &requests).await, before);
    assert_eq!(harness.subject.reader.inbox_counts(workspace).await.unwrap(), counts_before);
    assert_eq!(harness.page_of(workspace, target.id, member_viewer()).await.held, held_before);
    assert_eq!(texts(&harness, workspace, ann).await, texts_before);
    assert_eq!(change().await, [(public, true)]);
    assert!(harness.detail(workspace, held_idea.id).await.awaiting_approval);
    assert_eq!(harness.search(workspace, "Numbat").await, ["Fern"]);
    let left = (harness.count("removed_comments", workspace).await, harness.count("removed_requests", workspace).await);
    assert_eq!(left, (0, 0));
    assert_eq!(harness.perform(workspace, &MoveTexts { customer: ann, removes: false }).await, MovedTexts::default());
}

/// The newest texts are moved first, and what the team has written since a removal stays.
pub async fn removals_are_bounded_and_keep_later_edits(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.member(workspace, "mia@team.example", "Mia").await;
    let [on] = harness.requests(workspace, ["Fern"]).await;
    let mut ideas = Vec::new();
    for number in 0..3 {
        ideas.push(harness.create(workspace, of_ann(&format!("Idea {number}"), &[], "")).await);
        let content = format!("<p>Comment {number}</p>");
        let posted = customer_comment(FeatureRequestRef::Id(on.id), &content, ANN, None);
        harness.perform(workspace, &posted).await;
        harness.next_second();
    }
    let customer = harness.customer(workspace, ANN).await.id;
    let moved = harness.perform(workspace, &Move { customer, removes: true, limit: 2 }).await;
    assert_eq!((moved.comments, moved.requests.len()), (2, 2));
    let states: Vec<_> =
        listed(&texts(&harness, workspace, customer).await).into_iter().map(|(.., state)| state).collect();
    assert_eq!(states, ["removed", "removed", "removed", "removed", "shown", "shown"]);
    harness.edit(workspace, ideas[2].id, new_title("What the team says")).await;
    let moved = harness.perform(workspace, &Move { customer, removes: false, limit: 1 }).await;
    assert_eq!((moved.comments, moved.requests), (1, Vec::new()));
    let moved = harness.perform(workspace, &Move { customer, removes: false, limit: 9 }).await;
    assert_eq!((moved.comments, moved.requests), (1, vec![(ideas[1].id, None)]));
    let title = async |idea: &FeatureRequestSummary| harness.detail(workspace, idea.id).await.summary.title.to_string();
    assert_eq!(
        (title(&ideas[1]).await, title(&ideas[2]).await),
        ("Idea 1".to_owned(), "What the team says".to_owned())
    );
    let texts = harness.subject.reader.customer_texts(workspace, customer, page(2, 4)).await.unwrap();
    assert_eq!((texts.page.items.len(), texts.page.total), (2, 6));
}

/// Removed texts go with the feature request, to the customer who is left after a merge, and after thirty days.
pub async fn removed_texts_follow_their_records_and_are_purged(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [on, gone] = harness.requests(workspace, ["Fern", "Lichen"]).await;
    let idea = harness.create(workspace, of_ann("Quokka", &["ui"], "")).await;
    let untouched = harness.create(workspace, of_ann("Bilby", &["ui"], "")).await;
    for request in [&on, &gone] {
        let posted = customer_comment(FeatureRequestRef::Id(request.id), "<p>When?</p>", ANN, None);
        harness.perform(workspace, &posted).await;
    }
    let ann = harness.customer(workspace, ANN).await.id;
    harness.perform(workspace, &MoveTexts { customer: ann, removes: true }).await;
    let count = async || {
        (harness.count("removed_comments", workspace).await, harness.count("removed_requests", workspace).await)
    };
    assert_eq!(count().await, (2, 2));
    harness.delete(workspace, gone.id, false).await;
    harness.delete(workspace, idea.id, false).await;
    assert_eq!(count().await, (1, 1));
    harness.vote(workspace, &on, "bob@example.com").await;
    let bob = harness.customer(workspace, "bob@example.com").await.id;
    harness.perform(workspace, &MergeCustomers { source: ann, target: bob }).await;
    assert_eq!((count().await, texts(&harness, workspace, bob).await.counts.removed), ((1, 1), 2));
    harness.create(other, of_ann("Quokka", &[], "")).await;
    let removed_at = harness.now();
    let maintenance = &harness.subject.maintenance;
    assert_eq!(maintenance.purge_removed_texts(removed_at, 10).await.unwrap(), 0);
    let later = removed_at.plus(Duration::MILLISECOND);
    assert_eq!(maintenance.purge_removed_texts(later, 1).await.unwrap(), 1);
    assert_eq!(maintenance.purge_removed_texts(later, 1).await.unwrap(), 1);
    assert_eq!(maintenance.purge_removed_texts(later, 1).await.unwrap(), 0);
    assert_eq!(count().await, (0, 0));
    assert_eq!(harness.perform(workspace, &MoveTexts { customer: bob, removes: false }).await, MovedTexts::default());
    assert_eq!(harness.detail(workspace, untouched.id).await.summary.title.as_str(), REMOVED_TITLE);
}

/// A blocked customer gets no mail, with what waited. What the customer has stopped stays stopped after the block.
pub async fn blocks_stop_mail_until_they_end(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    harness.member(workspace, "mia@team.example", "Mia").await;
    let [request] = harness.requests(workspace, ["Fern"]).await;
    for voter in [ANN, "bob@example.com", "mia@team.example"] {
        harness.vote(workspace, &request, voter).await;
    }
    let ann = harness.customer(workspace, ANN).await.id;
    let set = |is_blocked| BlockCustomer { customer: ann, is_blocked };
    let mails = async || {
        let before = harness.count("outbox", workspace).await;
        harness.perform(workspace, &comment(FeatureRequestRef::Id(request.id), "<p>Soon</p>", true)).await;
        harness.count("outbox", workspace).await - before
    };
    let listed = async || -> Vec<(CustomerId, Option<Timestamp>)> {
        let query = Some(CustomerQuery::blocked_among(None));
        let listing = harness.subject.reader.customers(workspace, query.as_ref(), largest_page()).await.unwrap();
        listing.items.into_iter().map(|row| (row.customer.id, row.blocked_at)).collect()
    };
    assert_eq!((mails().await, listed().await), (3, Vec::new()));
    assert_eq!(harness.failure(other, &set(true)).await, "Customer does not exist.");
    assert!(harness.perform(workspace, &set(true)).await.has_changed);
    let blocked_at = harness.now();
    // What waited is deleted.
    assert_eq!((harness.count("outbox", workspace).await, mails().await), (2, 2));
    harness.next_second();
    assert!(!harness.perform(workspace, &set(true)).await.has_changed);
    assert_eq!(listed().await, [(ann, Some(blocked_at))]);
    assert!(harness.perform(workspace, &IsBlocked("Ann@Example.com")).await);
    assert!(!harness.perform(workspace, &IsBlocked("bob@example.com")).await);
    assert!(!harness.perform(other, &IsBlocked(ANN)).await);
    // That mail is stopped is no wish of the customer.
    let records = harness.subject.reader.customer_records(workspace, ann).await.unwrap();
    assert_eq!(records.unsubscribed_at, None);
    assert!(harness.perform(workspace, &set(false)).await.has_changed);
    assert!(!harness.perform(workspace, &set(false)).await.has_changed);
    assert_eq!((mails().await, listed().await), (3, Vec::new()));
    harness.perform(workspace, &set(true)).await;
    harness.unsubscribe(workspace, ann, Unsubscription::Everything).await.unwrap();
    harness.perform(workspace, &set(false)).await;
    assert_eq!(mails().await, 2);
    // A member is never blocked, and a customer who becomes one is not blocked any more.
    let mia = harness.customer(workspace, "mia@team.example").await.id;
    let block = BlockCustomer { customer: mia, is_blocked: true };
    assert_eq!(harness.failure(workspace, &block).await, "The customer is a member of the team.");
    harness.perform(workspace, &set(true)).await;
    harness.member(workspace, ANN, "Ann").await;
    assert!(!harness.perform(workspace, &IsBlocked(ANN)).await);
}

/// Whoever is merged with a blocked customer is blocked. An own stop of mail stays after the block, whichever was first.
pub async fn a_block_survives_a_merge_of_customers(harness: Harness) {
    for (index, (blocked_first, target_is_blocked)) in
        [(true, true), (true, false), (false, true), (false, false)].into_iter().enumerate()
    {
        let workspace = harness.workspace(&format!("acme{index}")).await;
        let [request] = harness.requests(workspace, ["Fern"]).await;
        for voter in [ANN, "bob@example.com"] {
            harness.vote(workspace, &request, voter).await;
        }
        let ann = harness.customer(workspace, ANN).await.id;
        let bob = harness.customer(workspace, "bob@example.com").await.id;
        for blocks in [blocked_first, !blocked_first] {
            harness.next_second();
            if blocks {
                harness.perform(workspace, &BlockCustomer { customer: ann, is_blocked: true }).await;
            } else {
                harness.unsubscribe(workspace, bob, Unsubscription::Everything).await.unwrap();
            }
        }
        let (source, target) = if target_is_blocked { (bob, ann) } else { (ann, bob) };
        let merged = harness.perform(workspace, &MergeCustomers { source, target }).await;
        assert!(merged.customer.blocked_at.is_some());
        let unblock = BlockCustomer { customer: target, is_blocked: false };
        assert!(harness.perform(workspace, &unblock).await.has_changed);
        let records = harness.subject.reader.customer_records(workspace, target).await.unwrap();
        assert!(records.unsubscribed_at.is_some(), "{blocked_first} {target_is_blocked}");
    }
}

crate::contract::cases!($ moderation {
    removed_texts_are_hidden_and_restored_exactly,
    removals_are_bounded_and_keep_later_edits,
    removed_texts_follow_their_records_and_are_purged,
    blocks_stop_mail_until_they_end,
    a_block_survives_a_merge_of_customers,
});
