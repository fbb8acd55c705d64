//! What customers edit and delete of what they have written.

use roadmap_domain::model::changelog::{ChangelogDraft, ChangelogFields};
use roadmap_domain::model::comment::parse_content;
use roadmap_domain::model::event::EventContent;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{CommentId, CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::own_post::{OwnComment, OwnRequest};
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::own_posts::{
    DeleteOwnComment, DeleteOwnRequest, EditOwnComment, FindOwnComment, FindOwnRequest, OwnRequestDeleted,
};
use uuid::Uuid;

use crate::harness::{
    Harness, add_link, changelog_fields, comment, customer_comment, draft, held_idea, hold, member_viewer, vote,
};

const ANN: &str = "ann@example.com";
const BOB: &str = "bob@example.com";

/// An idea of Ann, with her vote.
fn of_ann(title: &str, description: &str) -> FeatureRequestDraft {
    FeatureRequestDraft { private: false, awaiting_approval: false, ..held(title, description) }
}

fn held(title: &str, description: &str) -> FeatureRequestDraft {
    let customer = held_idea(title, ANN).customer;
    FeatureRequestDraft { private: true, awaiting_approval: true, customer, ..draft(title, &[], description) }
}

async fn own_comment(
    harness: &Harness,
    workspace: WorkspaceId,
    comment: CommentId,
    customer: CustomerId,
) -> Option<OwnComment> {
    harness.executor.run_without_key(workspace, &FindOwnComment { comment, customer }).await.ok()
}

async fn own_request(
    harness: &Harness,
    workspace: WorkspaceId,
    request: FeatureRequestRef,
    customer: CustomerId,
) -> Option<OwnRequest> {
    harness.executor.run_without_key(workspace, &FindOwnRequest { request, customer }).await.ok()
}

/// Comments of others, in other workspaces and unknown ones are not found. Answers are later comments of the team on the same
/// page.
pub async fn an_own_comment_is_found_with_what_happened_since(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    harness.member(acme, "mia@team.example", "Mia").await;
    let [source, target] = harness.requests(acme, ["Quokka", "Numbat"]).await;
    harness.perform(acme, &comment(FeatureRequestRef::Id(source.id), "Before", false)).await;
    harness.next_second();
    let on_source = FeatureRequestRef::Id(source.id);
    let written = harness.perform(acme, &customer_comment(on_source, "<p>Please</p>", ANN, None)).await.comment;
    let waiting = harness.hold(acme, source.id, "<p>Waits</p>", ANN).await;
    let of_bob = harness.perform(acme, &customer_comment(on_source, "Me too", BOB, None)).await.comment.id;
    let (ann, bob) = (harness.customer(acme, ANN).await.id, harness.customer(acme, BOB).await.id);
    for (comment, content, is_held) in [(written.id, "<p>Please</p>", false), (waiting, "<p>Waits</p>", true)] {
        let own = own_comment(&harness, acme, comment, ann).await.unwrap();
        assert_eq!((own.request.id, own.content.as_str()), (source.id, content));
        assert_eq!(
            (own.written.at, own.written.is_answered, own.written.is_held),
            (written.created_at, false, is_held)
        );
        assert_eq!(own_comment(&harness, acme, comment, bob).await, None);
        assert_eq!(own_comment(&harness, bolt, comment, ann).await, None);
    }
    assert_eq!(own_comment(&harness, acme, of_bob, ann).await, None);
    // Both are shown on what it is merged into, with an answer there.
    harness.merge(acme, source.id, target.id).await;
    harness.next_second();
    harness.perform(acme, &comment(FeatureRequestRef::Id(target.id), "After", false)).await;
    for comment in [written.id, waiting] {
        let own = own_comment(&harness, acme, comment, ann).await.unwrap();
        assert_eq!((own.request.id, own.written.is_answered), (target.id, true));
    }
}

/// An edited comment that waits still waits, and a deleted one does not.
pub async fn own_comments_are_edited_and_deleted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request] = harness.requests(workspace, ["Quokka"]).await;
    let reference = FeatureRequestRef::Id(request.id);
    let public = harness.perform(workspace, &customer_comment(reference, "One", ANN, None)).await.comment.id;
    let waiting = harness.hold(workspace, request.id, "Two", ANN).await;
    let ann = harness.customer(workspace, ANN).await.id;
    for (comment, content) in [(public, "Three"), (waiting, "Four")] {
        let content = parse_content(Some(content)).unwrap();
        let own = FindOwnComment { comment, customer: ann };
        let edited = harness.perform(workspace, &EditOwnComment { own, content, holds_posts: false }).await;
        assert_eq!(edited.id, request.id);
    }
    let texts = async || -> (Vec<String>, Vec<String>) {
        let page = harness.page_of(workspace, request.id, member_viewer()).await;
        let public = page.comments.items.iter().map(|listed| listed.comment.content.as_str().to_owned());
        let held = page.held.iter().map(|held| held.content.as_str().to_owned());
        (public.collect(), held.collect())
    };
    assert_eq!(texts().await, (vec!["Three".to_owned()], vec!["Four".to_owned()]));
    for comment in [public, waiting] {
        let delete = DeleteOwnComment { own: FindOwnComment { comment, customer: ann } };
        harness.perform(workspace, &delete).await;
        assert_eq!(harness.failure(workspace, &delete).await, "Comment does not exist.");
    }
    assert_eq!(texts().await, (Vec::new(), Vec::new()));
}

/// Each part that others have in an idea makes it a shared one.
pub async fn an_idea_is_shared_by_every_part_of_others(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    harness.member(acme, "mia@team.example", "Mia").await;
    let parts = [
        "nothing",
        "note about the own vote",
        "own comment",
        "vote",
        "follow",
        "comment",
        "comment that waits",
        "answer",
        "note",
        "link",
        "move",
        "merged into another",
        "merged into it",
        "changelog",
    ];
    for part in parts {
        let idea = harness.create(acme, of_ann(part, "<p>Ears</p>")).await;
        let reference = FeatureRequestRef::Id(idea.id);
        let ann = harness.customer(acme, ANN).await.id;
        match part {
            "note about the own vote" => {
                harness.perform(acme, &vote(reference, Some((ANN, None)), Some("Mine"))).await;
            }
            "own comment" => {
                harness.perform(acme, &customer_comment(reference, "Mine", ANN, None)).await;
            }
            "vote" => {
                harness.vote(acme, &idea, BOB).await;
            }
            "follow" => {
                harness.subscribe(acme, idea.id, BOB).await;
            }
            "comment" => {
                harness.perform(acme, &customer_comment(reference, "Me too", BOB, None)).await;
            }
            "comment that waits" => {
                harness.perform(acme, &hold(reference, "Me too", BOB)).await;
            }
            "answer" => {
                harness.perform(acme, &comment(reference, "Soon", false)).await;
            }
            "note" => {
                harness.perform(acme, &vote(reference, None, Some("Renews in May"))).await;
            }
            "link" => {
                harness.perform(acme, &add_link(reference, "https://github.com/acme/app/issues/7")).await;
            }
            "move" => {
                harness.move_to(acme, idea.id, "Planned").await;
            }
            "merged into another" => {
                let [target] = harness.requests(acme, ["Target"]).await;
                harness.merge(acme, idea.id, target.id).await;
            }
            "merged into it" => {
                let [source] = harness.requests(acme, ["Source"]).await;
                harness.merge(acme, source.id, idea.id).await;
            }
            "changelog" => {
                let ids = Some(vec![idea.id.to_string()]);
                let fields = ChangelogFields { feature_request_ids: Some(ids), ..changelog_fields("Shipped", "Ears") };
                let draft = ChangelogDraft::parse(&fields, true, |_| None).unwrap();
                harness.perform(acme, &CreateChangelog { draft }).await;
            }
            _ => {}
        }
        let own = own_request(&harness, acme, reference, ann).await.unwrap();
        let is_shared = !["nothing", "own comment"].contains(&part);
        let is_answered = ["answer", "move"].contains(&part);
        assert_eq!(
            (own.is_shared, own.written.is_answered, own.written.is_held),
            (is_shared, is_answered, false),
            "{part}"
        );
        assert_eq!((own.request.id, own.root.is_some()), (idea.id, part == "merged into another"), "{part}");
        let by_number = own_request(&harness, acme, FeatureRequestRef::Number(idea.tag_number), ann).await;
        assert_eq!(by_number, Some(own), "{part}");
        let other = CustomerId::new(Uuid::from_u128(7));
        assert_eq!(own_request(&harness, acme, reference, other).await, None);
        assert_eq!(own_request(&harness, bolt, reference, ann).await, None);
    }
    let waiting = harness.create(acme, held("Waits", "")).await;
    let ann = harness.customer(acme, ANN).await.id;
    let own = own_request(&harness, acme, FeatureRequestRef::Id(waiting.id), ann).await.unwrap();
    assert_eq!((own.written.is_held, own.is_shared), (true, false));
    assert_eq!(own_request(&harness, acme, FeatureRequestRef::Unresolvable, ann).await, None);
}

async fn delete(
    harness: &Harness,
    workspace: WorkspaceId,
    request: FeatureRequestId,
    keeps_shared: bool,
) -> OwnRequestDeleted {
    let customer = harness.customer(workspace, ANN).await.id;
    let own = FindOwnRequest { request: FeatureRequestRef::Id(request), customer };
    harness.perform(workspace, &DeleteOwnRequest { own, keeps_shared }).await
}

/// Title, votes and comments of a shared idea stay; author and description are gone, also from the search.
pub async fn an_own_idea_is_deleted_or_loses_author_and_text(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let alone = harness.create(workspace, of_ann("Alone", "<p>Wombat</p>")).await;
    assert_eq!(delete(&harness, workspace, alone.id, false).await, OwnRequestDeleted::Deleted);
    assert_eq!(harness.search(workspace, "wombat").await, Vec::<String>::new());

    let shared = harness.create(workspace, of_ann("Shared", "<p>Wombat</p>")).await;
    harness.vote(workspace, &shared, BOB).await;
    let removed = delete(&harness, workspace, shared.id, true).await;
    assert!(matches!(removed, OwnRequestDeleted::Anonymous(request) if request.id == shared.id));
    let detail = harness.detail(workspace, shared.id).await;
    assert_eq!((detail.author, detail.description.as_str(), detail.summary.votes_count), (None, "", 2));
    assert_eq!(harness.search(workspace, "wombat").await, Vec::<String>::new());
    assert_eq!(harness.search(workspace, "shared").await, ["Shared"]);
    let events = harness.events(workspace, shared.id, None).await;
    let fields = ["author", "description"].map(ToOwned::to_owned).to_vec();
    assert_eq!(events.first().map(|event| event.content.clone()), Some(EventContent::Edited(fields)));

    // One that is a part of another one.
    let merged = harness.create(workspace, of_ann("Merged", "<p>Wombat</p>")).await;
    harness.merge(workspace, merged.id, shared.id).await;
    assert_eq!(harness.search(workspace, "merged").await, ["Shared"]);
    delete(&harness, workspace, merged.id, true).await;
    assert_eq!(harness.comments(workspace, shared.id).await, []);
    assert_eq!(harness.search(workspace, "merged").await, ["Shared"]);
    assert_eq!(harness.detail(workspace, shared.id).await.summary.votes_count, 2);
}

crate::contract::cases!($ own_posts {
    an_own_comment_is_found_with_what_happened_since,
    own_comments_are_edited_and_deleted,
    an_idea_is_shared_by_every_part_of_others,
    an_own_idea_is_deleted_or_loses_author_and_text,
});
