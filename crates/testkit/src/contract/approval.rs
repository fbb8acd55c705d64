//! Ideas and comments of customers that wait for approval.

use async_trait::async_trait;
use roadmap_domain::error::{FieldError, RoadmapError};
use roadmap_domain::model::audit::{Audit, Change};
use roadmap_domain::model::comment::{Comment, CommentAuthor, ListedComment, NewComment, PublicAuthor};
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, RequestLink};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::portal::{HeldComment, HeldPost, PortalFilter, PortalList, Viewer};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::trending::WantedRanking;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::approve_feature_request::ApproveFeatureRequest;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::edit_comment::DeleteComment;
use roadmap_domain::usecase::executor::{Checked, Operation, OperationContext, Performed};
use roadmap_domain::usecase::hold_comment::{ApproveComment, HoldComment};
use roadmap_domain::usecase::target::Target;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::harness::{
    Failing, Harness, comment, draft, edit_comment, held_idea, hold, largest_page, member_viewer, name, new_title,
    new_visibility, page, unmerge,
};

const MISSING: &str = "Comment does not exist.";
const VISITOR: Viewer = Viewer { customer: None, is_member: false };

/// Deletes a comment that waits. The output is its feature request.
struct Discard(CommentId);

#[async_trait]
impl Operation for Discard {
    type Output = Option<FeatureRequestId>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Option<FeatureRequestId>>, RoadmapError> {
        Ok(Performed::new(work.discard_comment(self.0).await?, Audit::Unchanged))
    }
}

/// Holds a comment with a given ID.
struct Hold(NewComment);

#[async_trait]
impl Operation for Hold {
    type Output = Option<FeatureRequestSummary>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Option<FeatureRequestSummary>>, RoadmapError> {
        Ok(Performed::new(work.hold_comment(&self.0).await?, Audit::Unchanged))
    }
}

/// All that waits for approval, in pages of one, of two, and at once.
async fn held_posts(harness: &Harness, workspace: WorkspaceId) -> Vec<HeldPost> {
    let pages = &harness.subject.reader;
    let all = pages.held_posts(workspace, largest_page()).await.unwrap();
    assert_eq!(all.total, all.items.len() as u64);
    for size in [1, 2] {
        let mut paged = Vec::new();
        for number in 1..=all.total / size + 1 {
            let Listing { items, request, total } = pages.held_posts(workspace, page(number, size)).await.unwrap();
            assert_eq!((request, total), (page(number, size), all.total));
            paged.extend(items);
        }
        assert_eq!(paged, all.items);
    }
    all.items
}

/// The IDs of the comments that wait, as this viewer sees them on the page of the feature request.
async fn held(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId, viewer: Viewer) -> Vec<CommentId> {
    harness.page_of(workspace, request, viewer).await.held.iter().map(|comment| comment.id).collect()
}

/// A held comment is visible to its author and to members only. Approved, it is an ordinary comment with the same ID and
/// time.
pub async fn a_held_comment_is_hidden_until_it_is_approved(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(acme, "Dark mode").await;
    let reference = FeatureRequestRef::Id(request.id);
    harness.vote(acme, &request, "bob@example.com").await;
    let before = (harness.snapshots(acme, &[request.id]).await, harness.page_of(acme, request.id, VISITOR).await);
    let unknown = hold(FeatureRequestRef::Number(9), "<p>Please</p>", "ann@example.com");
    assert_eq!(harness.failure(acme, &unknown).await, "FeatureRequest does not exist.");
    let foreign = hold(reference, "<p>Please</p>", "ann@example.com");
    assert_eq!(harness.failure(bolt, &foreign).await, "FeatureRequest does not exist.");
    harness.failure(acme, &Failing(hold(reference, "<p>Please</p>", "ann@example.com"))).await;
    assert_eq!((harness.count("customers", acme).await, harness.count("held_comments", acme).await), (1, 0));

    let created_at = harness.next_second();
    let customer = CustomerDraft::parse(Some("Ann@Example.com"), Some("Ann")).unwrap();
    let content = CleanHtml::parse("content", "<p>Please, <b>ünal</b></p>").unwrap();
    let operation = HoldComment { request: FeatureRequestRef::Number(1), content: content.clone(), customer };
    let held_on = harness.perform(acme, &operation).await;
    assert_eq!(held_on, before.1.detail.summary);
    harness.next_second();
    let other = harness.hold(acme, request.id, "<p>Me, too</p>", "bob@example.com").await;
    let page = harness.page_of(acme, request.id, member_viewer()).await;
    let [of_ann, of_bob] = page.held.as_slice() else { panic!("{:?}", page.held) };
    let ann = harness.customer(acme, "ann@example.com").await;
    assert_eq!(ann.name, Some(name("Ann")));
    let expected = HeldComment { id: of_ann.id, content: content.clone(), author: ann.clone(), created_at };
    assert_eq!((of_ann, of_bob.id), (&expected, other));
    assert_eq!(of_ann.author.email.as_str(), "Ann@Example.com");
    let viewer = Viewer { customer: Some(ann.id), is_member: false };
    assert_eq!(harness.page_of(acme, request.id, viewer).await.held, std::slice::from_ref(of_ann));
    let both = Viewer { is_member: true, ..viewer };
    assert_eq!(harness.page_of(acme, request.id, both).await.held, page.held);
    assert_eq!(
        (harness.snapshots(acme, &[request.id]).await, harness.page_of(acme, request.id, VISITOR).await),
        before
    );
    // It is no comment yet: it cannot be edited as one.
    for new in ["<p>New</p>", ""] {
        assert_eq!(harness.failure(acme, &edit_comment(of_ann.id, new)).await, MISSING);
    }
    // An invalid field is reported if it waits.
    let invalid = FieldError::missing("operation_key");
    let checked = Checked::<ApproveComment> { target: Target::HeldComment(of_ann.id), operation: Err(invalid.clone()) };
    assert_eq!(harness.failure(acme, &checked).await, invalid.to_string());
    assert_eq!(harness.failure(bolt, &checked).await, MISSING);

    let approve = ApproveComment { comment: of_ann.id };
    assert_eq!(harness.failure(bolt, &approve).await, MISSING);
    harness.failure(acme, &Failing(approve)).await;
    assert_eq!(held(&harness, acme, request.id, member_viewer()).await, [of_ann.id, other]);
    harness.next_second();
    harness.perform(acme, &comment(reference, "<p>Later</p>", false)).await;
    assert_eq!(harness.perform(acme, &approve).await, held_on);
    assert_eq!(harness.failure(acme, &approve).await, MISSING);
    let comment = Comment { id: of_ann.id, content, created_at };
    let author = PublicAuthor::Customer(Some(name("Ann")));
    let approved = ListedComment { comment, author, from: None, updated_at: created_at };
    let page = harness.page_of(acme, request.id, viewer).await;
    assert_eq!((page.held, page.comments.total, &page.comments.items[0]), (Vec::new(), 2, &approved));
    assert_eq!(harness.comments(acme, request.id).await[0], approved);
    assert_eq!(harness.detail(acme, request.id).await.comments_count, 2);
    assert_eq!(held(&harness, acme, request.id, member_viewer()).await, [other]);
    // Nobody gets mail about it, and it can be deleted like any other.
    assert_eq!(harness.count("outbox", acme).await, 0);
    harness.perform(acme, &DeleteComment { comment: approved.comment.id }).await;
    assert_eq!(harness.comments(acme, request.id).await.len(), 1);
}

/// A discarded comment is gone. Of concurrent approvals and discards, one takes effect.
///
/// Addition 7: `DELETE /comments/{id}` deletes a comment that waits, too.
pub async fn a_held_comment_is_approved_or_discarded_once(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(acme, "Dark mode").await;
    let gone = harness.hold(acme, request.id, "<p>Spam</p>", "ann@example.com").await;
    let waiting = harness.hold(acme, request.id, "<p>Please</p>", "ann@example.com").await;
    assert_eq!(harness.perform(bolt, &Discard(gone)).await, None);
    harness.failure(acme, &Failing(Discard(gone))).await;
    assert_eq!(held(&harness, acme, request.id, member_viewer()).await, [gone, waiting]);
    assert_eq!(harness.perform(acme, &Discard(gone)).await, Some(request.id));
    // A comment is deleted whether it waits or not.
    let waits = harness.hold(acme, request.id, "<p>Spam</p>", "ann@example.com").await;
    assert_eq!(harness.perform(acme, &DeleteComment { comment: waits }).await, request.id);
    for unknown in [gone, CommentId::new(Uuid::from_u128(1))] {
        assert_eq!(harness.perform(acme, &Discard(unknown)).await, None);
        assert_eq!(harness.failure(acme, &ApproveComment { comment: unknown }).await, MISSING);
    }
    assert_eq!(held(&harness, acme, request.id, member_viewer()).await, [waiting]);
    harness.perform(acme, &ApproveComment { comment: waiting }).await;
    assert_eq!(harness.perform(acme, &Discard(waiting)).await, None);
    assert_eq!(harness.comments(acme, request.id).await.len(), 1);
    let mut published = 1;
    for _ in 0..5 {
        let comment = harness.hold(acme, request.id, "<p>Please</p>", "ann@example.com").await;
        let mut decisions = JoinSet::new();
        for number in 0..8 {
            let executor = harness.executor.clone();
            decisions.spawn(async move {
                let approves = number % 2 == 0;
                let takes_effect = if approves {
                    executor.run_without_key(acme, &ApproveComment { comment }).await.is_ok()
                } else {
                    executor.run_without_key(acme, &Discard(comment)).await.unwrap().is_some()
                };
                takes_effect.then_some(approves)
            });
        }
        let decided: Vec<bool> = decisions.join_all().await.into_iter().flatten().collect();
        assert_eq!(decided.len(), 1, "{decided:?}");
        published += usize::from(decided[0]);
        assert_eq!(harness.comments(acme, request.id).await.len(), published);
        assert_eq!(harness.count("held_comments", acme).await, 0);
    }
}

/// A comment is gone after its deletion, also if it is approved meanwhile.
pub async fn a_comment_is_deleted_while_it_is_approved(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let request = harness.request(acme, "Dark mode").await;
    let comment = harness.hold(acme, request.id, "<p>Spam</p>", "ann@example.com").await;
    let (approved, deleted) = harness.overlap(acme, ApproveComment { comment }, &DeleteComment { comment }).await;
    assert_eq!((approved.is_ok(), deleted.unwrap()), (true, request.id));
    assert_eq!(harness.comments(acme, request.id).await, []);
    let comment = harness.hold(acme, request.id, "<p>Spam</p>", "ann@example.com").await;
    let (deleted, approved) = harness.overlap(acme, DeleteComment { comment }, &ApproveComment { comment }).await;
    assert_eq!((deleted.unwrap(), approved.unwrap_err().to_string()), (request.id, MISSING.to_owned()));
    assert_eq!(harness.comments(acme, request.id).await, []);
}

/// An approval that waits until a merge is undone publishes nothing that was not to be approved.
pub async fn an_approval_follows_the_undoing_of_a_merge(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let target = harness.create(acme, held_idea("Bilby", "ann@example.com")).await;
    let source = harness.create(acme, FeatureRequestDraft { private: true, ..draft("Secret", &[], "") }).await;
    harness.merge(acme, source.id, target.id).await;
    let approve = ApproveFeatureRequest { request: FeatureRequestRef::Id(source.id) };
    let (unmerged, approved) = harness.overlap(acme, unmerge(source.id), &approve).await;
    assert!(unmerged.is_ok() && approved.is_ok());
    assert!(harness.detail(acme, source.id).await.private);
}

/// Held comments of two workspaces may have the same ID.
pub async fn held_comments_belong_to_their_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let (id, created_at) = (CommentId::new(Uuid::from_u128(7)), harness.now());
    let mut requests = Vec::new();
    for (workspace, content) in [(acme, "<p>Acme</p>"), (bolt, "<p>Bolt</p>")] {
        let request = harness.request(workspace, "Dark mode").await;
        let customer = CustomerDraft::parse(Some("ann@example.com"), None).unwrap();
        let author = CommentAuthor::Customer(customer.to_new_customer(CustomerId::new(Uuid::from_u128(8))));
        let content = CleanHtml::parse("content", content).unwrap();
        let comment = NewComment { id, request: FeatureRequestRef::Id(request.id), content, author, created_at };
        assert_eq!(harness.perform(workspace, &Hold(comment)).await.as_ref(), Some(&request));
        requests.push(request.id);
    }
    assert_eq!(harness.perform(acme, &ApproveComment { comment: id }).await.id, requests[0]);
    assert_eq!(harness.comments(acme, requests[0]).await[0].comment.content.as_str(), "<p>Acme</p>");
    let page = harness.page_of(bolt, requests[1], member_viewer()).await;
    assert_eq!((page.held.len(), page.held[0].content.as_str()), (1, "<p>Bolt</p>"));
    assert_eq!(harness.perform(bolt, &Discard(id)).await, Some(requests[1]));
    assert_eq!(
        (harness.comments(acme, requests[0]).await.len(), harness.comments(bolt, requests[1]).await.len()),
        (1, 0)
    );
}

/// Held comments belong to what their feature request is merged into, and are deleted with their feature request.
///
/// Addition 7: a deleted feature request takes comments that wait along.
/// Addition 7: a comment that waits moves with a merge like a public one.
pub async fn held_comments_follow_their_request(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target, other] = harness.requests(workspace, ["Quokka", "Fern", "Lichen"]).await;
    let mut comments = Vec::new();
    for request in [&source, &target, &other] {
        comments.push(harness.hold(workspace, request.id, "<p>Please</p>", "ann@example.com").await);
        harness.next_second();
    }
    harness.merge(workspace, source.id, target.id).await;
    // A comment on a merged one is a comment on its target.
    let on_target = hold(FeatureRequestRef::Id(source.id), "<p>Again</p>", "bob@example.com");
    assert_eq!(harness.perform(workspace, &on_target).await.id, target.id);
    let page = harness.page_of(workspace, target.id, member_viewer()).await.held;
    let [first, second, third] = page.as_slice() else { panic!("{page:?}") };
    assert_eq!((first.id, second.id), (comments[0], comments[1]));
    let of_ann = held(&harness, workspace, source.id, harness.viewer(workspace, "ann@example.com").await).await;
    assert_eq!(of_ann, comments[..2]);
    // Approved, it is listed as a comment on the source.
    harness.perform(workspace, &ApproveComment { comment: first.id }).await;
    harness.perform(workspace, &ApproveComment { comment: third.id }).await;
    let listed = harness.comments(workspace, target.id).await;
    let from: Vec<_> = listed.iter().map(|listed| (listed.comment.id, listed.from.clone())).collect();
    assert_eq!(from, [(comments[0], Some(RequestLink::from(&source))), (third.id, None)]);
    harness.unmerge(workspace, source.id).await;
    assert_eq!(harness.comments(workspace, source.id).await.len(), 1);
    assert_eq!(held(&harness, workspace, source.id, member_viewer()).await, []);
    assert_eq!(held(&harness, workspace, target.id, member_viewer()).await, [comments[1]]);

    harness.delete(workspace, target.id, false).await;
    assert_eq!(harness.count("held_comments", workspace).await, 1);
    harness.hold(workspace, source.id, "<p>Please</p>", "ann@example.com").await;
    harness.merge(workspace, source.id, other.id).await;
    harness.delete(workspace, other.id, true).await;
    assert_eq!(harness.count("held_comments", workspace).await, 0);
    assert_eq!(held_posts(&harness, workspace).await, []);
    let approve = ApproveComment { comment: comments[2] };
    assert_eq!(harness.failure(workspace, &approve).await, MISSING);
}

/// An idea that waits is in no list, search or count. Approved, it is a feature request like any other.
pub async fn a_held_idea_is_hidden_until_it_is_approved(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let first = harness.request(acme, "Quokka").await;
    harness.move_to(acme, first.id, "Planned").await;
    let planned = Some(harness.track(acme, "Planned").await);
    // The numbers on the roadmap, in lanes, lists, searches, the ranking and the sitemap.
    let seen = async || {
        let (reader, pages) = (&harness.subject.reader, &harness.subject.reader);
        let lane = reader.roadmap(acme, 50).await.unwrap().remove(1);
        assert_eq!(lane.lane.feature_requests_count, i64::try_from(lane.feature_requests.len()).unwrap());
        let on_roadmap: Vec<i64> = lane.feature_requests.iter().map(|request| request.tag_number).collect();
        let list = PortalList { page: largest_page(), ..PortalList::default() };
        let listing = pages.portal_list(acme, &list).await.unwrap();
        assert_eq!(listing.total, listing.items.len() as u64);
        let listed: Vec<i64> = listing.items.iter().map(|row| row.summary.tag_number).collect();
        let wanted = WantedRanking { closed: Vec::new(), new_since: Timestamp::MAX, places: 0..10 };
        let ranked = pages.trending(acme, &PortalFilter::default(), &wanted).await.unwrap().others;
        let ranked = pages.portal_rows(acme, &ranked).await.unwrap();
        let mut ranked: Vec<i64> = ranked.iter().map(|row| row.summary.tag_number).collect();
        ranked.sort_by_key(|number| -number);
        let sitemap = pages.sitemap(acme, 0, 10).await.unwrap();
        let sitemap: Vec<i64> = sitemap.iter().rev().map(|entry| entry.request.tag_number).collect();
        let matches = harness.search(acme, "bilby").await.len();
        assert_eq!((&on_roadmap, &ranked, &sitemap), (&listed, &listed, &listed));
        (listed, matches)
    };
    assert_eq!(seen().await, (vec![1], 0));
    harness.next_second();
    let draft = FeatureRequestDraft { track: planned, ..held_idea("Bilby", "ann@example.com") };
    let idea = harness.create(acme, draft).await;
    let detail = harness.detail(acme, idea.id).await;
    assert_eq!((detail.private, detail.awaiting_approval, detail.summary.votes_count), (true, true, 1));
    assert_eq!(seen().await, (vec![1], 0));
    // An edit does not approve it, and neither does an edit that makes it what it is: private.
    harness.edit(acme, idea.id, new_title("Big bilby")).await;
    let edited = harness.edit(acme, idea.id, new_visibility(true)).await;
    assert_eq!((edited.detail.private, edited.detail.awaiting_approval), (true, true));
    assert_eq!(held_posts(&harness, acme).await.len(), 1);

    let approve = ApproveFeatureRequest { request: FeatureRequestRef::Id(idea.id) };
    assert_eq!(harness.failure(bolt, &approve).await, "FeatureRequest does not exist.");
    harness.failure(acme, &Failing(approve)).await;
    assert_eq!((seen().await, held_posts(&harness, acme).await.len()), ((vec![1], 0), 1));
    let at = harness.next_second();
    let approved = harness.perform(acme, &approve).await;
    assert_eq!(approved.changes, [Change::new("private", true, false)]);
    let detail = harness.detail(acme, idea.id).await;
    assert_eq!(detail, approved.detail);
    assert_eq!((detail.private, detail.awaiting_approval, detail.updated_at), (false, false, at));
    assert_eq!((seen().await, held_posts(&harness, acme).await), ((vec![2, 1], 1), Vec::new()));
    assert_eq!(harness.perform(acme, &approve).await.changes, []);
    // One that is hidden later does not wait for approval again.
    harness.edit(acme, idea.id, new_visibility(true)).await;
    assert_eq!((seen().await, held_posts(&harness, acme).await), ((vec![1], 0), Vec::new()));
    let hidden = harness.perform(acme, &approve).await.detail;
    assert_eq!((hidden.private, hidden.awaiting_approval), (true, false));
}

/// Everything that waits is listed oldest first, ideas with their authors, comments with what they are about. Merged
/// ideas are not listed.
///
/// Addition 7: an edit that makes a feature request public ends its wait, and so does its deletion.
pub async fn what_waits_is_listed_oldest_first(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(acme, "Dark mode").await;
    let private = FeatureRequestDraft { private: true, ..draft("Quiet", &[], "") };
    let private = harness.create(acme, private).await;
    let mut expected = Vec::new();
    let mut ideas = Vec::new();
    for (kind, address) in [
        ("idea", "ann@example.com"),
        ("comment", "ann@example.com"),
        ("comment", "bob@example.com"),
        ("idea", "bob@example.com"),
        ("comment on a private one", "ann@example.com"),
        ("comment on an idea", "ann@example.com"),
    ] {
        let created_at = harness.next_second();
        if kind == "idea" {
            let idea = harness.create(acme, held_idea("Bilby", address)).await;
            let author = Some(harness.customer(acme, address).await);
            expected.push(HeldPost { request: RequestLink::from(&idea), comment: None, author, created_at });
            ideas.push(idea);
        } else {
            let on = match kind {
                "comment" => &request,
                "comment on an idea" => &ideas[0],
                _ => &private,
            };
            harness.hold(acme, on.id, "<p>Please</p>", address).await;
            let comment = harness.page_of(acme, on.id, member_viewer()).await.held.pop();
            expected.push(HeldPost { request: RequestLink::from(on), comment, author: None, created_at });
        }
    }
    assert_eq!(held_posts(&harness, acme).await, expected);
    assert_eq!(held_posts(&harness, bolt).await, []);
    // An idea without an author, and several at the same time.
    let unowned = FeatureRequestDraft { customer: None, ..held_idea("Numbat", "cyd@example.com") };
    let unowned = harness.create(acme, unowned).await;
    for address in ["ann@example.com", "bob@example.com"] {
        harness.hold(acme, request.id, "<p>Again</p>", address).await;
    }
    let all = held_posts(&harness, acme).await;
    assert_eq!((all.len(), &all[..5]), (9, &expected[..5]));
    let of_unowned = all.iter().find(|post| post.request.id == unowned.id).unwrap();
    assert_eq!((&of_unowned.author, &of_unowned.comment), (&None, &None));
    for post in all.iter().filter(|post| post.request.id == request.id || post.request.id == private.id) {
        let comment = post.comment.as_ref().unwrap().id;
        assert_eq!(harness.perform(acme, &Discard(comment)).await, Some(post.request.id));
    }
    harness.delete(acme, unowned.id, false).await;
    let expected = [expected[0].clone(), expected[3].clone(), expected[5].clone()];
    assert_eq!(held_posts(&harness, acme).await, expected);
    harness.merge(acme, ideas[1].id, private.id).await;
    assert_eq!(held_posts(&harness, acme).await, [expected[0].clone(), expected[2].clone()]);
    harness.edit(acme, ideas[0].id, new_visibility(false)).await;
    assert_eq!(held_posts(&harness, acme).await, expected[2..]);
}

crate::contract::cases!($ approval {
    a_held_comment_is_hidden_until_it_is_approved,
    a_held_comment_is_approved_or_discarded_once,
    held_comments_belong_to_their_workspace,
    held_comments_follow_their_request,
    a_held_idea_is_hidden_until_it_is_approved,
    what_waits_is_listed_oldest_first,
    a_comment_is_deleted_while_it_is_approved,
    an_approval_follows_the_undoing_of_a_merge,
});
