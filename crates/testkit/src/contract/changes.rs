//! Lists of everything, oldest change first.

use roadmap_domain::model::changes::{
    Changed, ChangedComment, ChangedRecord, ChangedRequest, ChangesFilter, ChangesListing, ChangesPage,
};
use roadmap_domain::model::comment::parse_content;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::edit_comment::{DeleteComment, EditComment};
use time::Duration;
use uuid::Uuid;

use crate::harness::{Failing, Harness, comment, draft, edit, new_title, new_visibility};

pub(super) const PUBLIC: ChangesFilter = ChangesFilter { since: None, track: None, include_private: false };
const ALL: ChangesFilter = ChangesFilter { include_private: true, ..PUBLIC };

/// An item: the ID, and whether the record is there.
pub(super) type Item = (Uuid, bool);

fn items<T: ChangedRecord>(listing: &ChangesListing<T>) -> Vec<Item> {
    let item = |item: &Changed<T>| match item {
        Changed::Present(record) => (record.id(), true),
        Changed::Gone { id, .. } => (*id, false),
    };
    listing.items.iter().map(item).collect()
}

impl Harness {
    async fn page_of_requests(
        &self,
        workspace: WorkspaceId,
        filter: ChangesFilter,
        page: ChangesPage,
    ) -> ChangesListing<ChangedRequest> {
        self.subject.reader.changed_requests(workspace, &filter, page).await.unwrap()
    }

    async fn page_of_comments(
        &self,
        workspace: WorkspaceId,
        filter: ChangesFilter,
        page: ChangesPage,
    ) -> ChangesListing<ChangedComment> {
        self.subject.reader.changed_comments(workspace, &filter, page).await.unwrap()
    }

    async fn changed_requests(&self, workspace: WorkspaceId, filter: ChangesFilter) -> Vec<Item> {
        items(&self.page_of_requests(workspace, filter, ChangesPage { after: None, size: 100 }).await)
    }

    pub(super) async fn changed_comments(&self, workspace: WorkspaceId, filter: ChangesFilter) -> Vec<Item> {
        items(&self.page_of_comments(workspace, filter, ChangesPage { after: None, size: 100 }).await)
    }
}

/// Goes on to a time that the database's own clock does not reach: deletions then have the time of the change before.
fn future(harness: &Harness) -> Timestamp {
    let far = Timestamp::from_millis(4_000_000_000_000).unwrap();
    harness.clock.advance(Duration::milliseconds(far.millis() - harness.now().millis()));
    harness.now()
}

/// A feature request is listed once, as it is shown alone, at the place of its last change. Votes and comments are no
/// change of it. Pages go on after their place, whatever their size.
///
/// Addition 6.
pub async fn all_requests_are_listed_by_their_last_change(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let requests = harness.requests(workspace, ["One", "Two", "Three", "Four"]).await;
    let ids = [0, 1, 2, 3].map(|index: usize| requests[index].id);
    harness.request(other, "Elsewhere").await;
    harness.edit(workspace, ids[1], new_title("Two, again")).await;
    harness.next_second();
    harness.vote(workspace, &requests[0], "bo@example.com").await;
    harness.perform(workspace, &comment(FeatureRequestRef::Id(ids[0]), "<p>Soon</p>", false)).await;
    harness.failure(workspace, &Failing(edit(FeatureRequestRef::Id(ids[0]), new_title("Lost")))).await;
    let expected: Vec<Item> = [0, 2, 3, 1].map(|index: usize| (ids[index].uuid(), true)).into();
    assert_eq!(harness.changed_requests(workspace, PUBLIC).await, expected);
    for size in 1..=5 {
        let (mut after, mut paged) = (None, Vec::new());
        loop {
            let page = harness.page_of_requests(workspace, PUBLIC, ChangesPage { after, size }).await;
            paged.extend(items(&page));
            assert_eq!(page.next.is_none(), paged.len() == expected.len(), "{size}");
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(paged, expected, "{size}");
    }
    let page = harness.page_of_requests(workspace, PUBLIC, ChangesPage { after: None, size: 1 }).await;
    let detail = harness.subject.reader.feature_request(workspace, &FeatureRequestRef::Id(ids[0])).await.unwrap();
    let Changed::Present(listed) = &page.items[0] else { panic!("it is not deleted") };
    assert_eq!((Some(&listed.detail), &listed.merged_into), (detail.as_ref(), &None));
    assert_eq!((listed.detail.summary.votes_count, listed.detail.comments_count), (1, 1));
}

/// A reader that has read everything gets exactly what changes after that: also a second change of the same record, a
/// deletion, and what a failed unit of work did not change.
///
/// Addition 6.
pub async fn a_place_is_after_everything_that_was_read(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let start = future(&harness);
    let [one, two, three] = [
        harness.request(workspace, "One").await.id,
        harness.request(workspace, "Two").await.id,
        harness.request(workspace, "Three").await.id,
    ];
    // The last place is not in a response with nothing after it.
    let mut last = harness.page_of_requests(workspace, ALL, ChangesPage { after: None, size: 2 }).await.next;
    let mut go_on = async || {
        let mut read = Vec::new();
        loop {
            let page = harness.page_of_requests(workspace, ALL, ChangesPage { after: last, size: 1 }).await;
            read.extend(items(&page));
            match page.next {
                Some(next) => last = Some(next),
                None => return read,
            }
        }
    };
    assert_eq!(go_on().await, [(three.uuid(), true)]);
    // All in the millisecond of the creation.
    harness.edit(workspace, one, new_title("Once")).await;
    assert_eq!(go_on().await, [(three.uuid(), true), (one.uuid(), true)]);
    harness.edit(workspace, one, new_title("Twice")).await;
    assert_eq!(go_on().await, [(one.uuid(), true)]);
    // A clock that goes back hides nothing.
    harness.clock.advance(-Duration::hours(1));
    harness.edit(workspace, two, new_title("Back")).await;
    assert_eq!(go_on().await, [(one.uuid(), true), (two.uuid(), true)]);
    harness.clock.advance(Duration::hours(1));
    harness.delete(workspace, one, false).await;
    harness.failure(workspace, &Failing(edit(FeatureRequestRef::Id(three), new_title("Lost")))).await;
    assert_eq!(go_on().await, [(two.uuid(), true), (one.uuid(), false)]);
    // What is listed late has an earlier time itself, and is listed by the time of what was listed before.
    let since = ChangesFilter { since: Some(start), ..ALL };
    assert_eq!(
        harness.changed_requests(workspace, since).await,
        [(three.uuid(), true), (two.uuid(), true), (one.uuid(), false)]
    );
    let later = ChangesFilter { since: Some(start.plus(Duration::milliseconds(1))), ..ALL };
    assert_eq!(harness.changed_requests(workspace, later).await, []);
}

/// What is private is listed only with private ones. What became private is listed as deleted, with its comments, and
/// again when it is public.
///
/// Addition 6: deleted and hidden records are `{id, deleted, updated_at}`, and deletions are listed for 30 days.
pub async fn hidden_records_are_listed_as_deleted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    future(&harness);
    let [public, secret] =
        [harness.request(workspace, "Shown").await.id, harness.request(workspace, "Secret").await.id];
    harness.edit(workspace, secret, new_visibility(true)).await;
    let draft = FeatureRequestDraft { private: true, ..draft("Private", &[], "") };
    let private = harness.create(workspace, draft).await.id;
    let mut comments = Vec::new();
    for request in [public, secret, private] {
        let posted = comment(FeatureRequestRef::Id(request), "<p>Soon</p>", false);
        comments.push(harness.perform(workspace, &posted).await.comment.id.uuid());
    }
    let [public_id, secret_id, private_id] = [public, secret, private].map(FeatureRequestId::uuid);
    assert_eq!(harness.changed_requests(workspace, PUBLIC).await, [(public_id, true), (secret_id, false)]);
    let all = [(public_id, true), (secret_id, true), (private_id, true)];
    assert_eq!(harness.changed_requests(workspace, ALL).await, all);
    assert_eq!(harness.changed_comments(workspace, PUBLIC).await, [(comments[0], true)]);
    let all: Vec<Item> = comments.iter().map(|id| (*id, true)).collect();
    assert_eq!(harness.changed_comments(workspace, ALL).await, all);
    harness.next_second();
    harness.edit(workspace, public, new_visibility(true)).await;
    harness.edit(workspace, private, new_visibility(false)).await;
    assert_eq!(
        harness.changed_requests(workspace, PUBLIC).await,
        [(secret_id, false), (public_id, false), (private_id, true)]
    );
    assert_eq!(harness.changed_comments(workspace, PUBLIC).await, [(comments[0], false), (comments[2], true)]);
    harness.next_second();
    harness.edit(workspace, public, new_visibility(false)).await;
    assert_eq!(harness.changed_comments(workspace, PUBLIC).await, [(comments[2], true), (comments[0], true)]);
}

/// Comments are listed with the feature request that they were written on, by their last change. Those that went with
/// their feature request are listed as deleted, and forgotten later.
///
/// Addition 6.
pub async fn all_comments_are_listed_by_their_last_change(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target] = [harness.request(workspace, "Source").await, harness.request(workspace, "Target").await];
    let mut ids = Vec::new();
    for (request, text) in [(&source, "<p>A</p>"), (&target, "<p>B</p>"), (&target, "<p>C</p>")] {
        harness.next_second();
        let posted = harness.perform(workspace, &comment(FeatureRequestRef::Id(request.id), text, false)).await;
        ids.push(posted.comment.id);
    }
    harness.next_second();
    harness.merge(workspace, source.id, target.id).await;
    harness.next_second();
    let content = parse_content(Some("<p>Edited</p>"));
    harness.perform(workspace, &EditComment { comment: ids[1], content: content.unwrap() }).await;
    let page = harness.page_of_comments(workspace, PUBLIC, ChangesPage { after: None, size: 100 }).await;
    let [a, b, c] = [ids[0].uuid(), ids[1].uuid(), ids[2].uuid()];
    assert_eq!(items(&page), [(a, true), (c, true), (b, true)]);
    let contents = page.items.iter().map(|item| match item {
        Changed::Present(changed) => (changed.comment.comment.content.as_str(), changed.request.id),
        Changed::Gone { .. } => panic!("none is deleted"),
    });
    assert_eq!(
        contents.collect::<Vec<_>>(),
        [("<p>A</p>", source.id), ("<p>C</p>", target.id), ("<p>Edited</p>", target.id)]
    );
    harness.perform(workspace, &DeleteComment { comment: ids[2] }).await;
    assert_eq!(harness.changed_comments(workspace, PUBLIC).await, [(a, true), (b, true), (c, false)]);
    harness.delete(workspace, target.id, true).await;
    let gone = harness.changed_comments(workspace, ALL).await;
    assert_eq!((gone.len(), gone.iter().any(|(_, is_present)| *is_present)), (3, false));
    let gone = harness.changed_requests(workspace, ALL).await;
    assert_eq!((gone.len(), gone.iter().any(|(_, is_present)| *is_present)), (2, false));
    // By the clock of the database, which deleted them.
    let (maintenance, never) = (&harness.subject.maintenance, Timestamp::from_millis(1_000_000_000_000).unwrap());
    let always = Timestamp::from_millis(9_000_000_000_000).unwrap();
    assert_eq!(maintenance.purge_deletions(never, 10).await.unwrap(), 0);
    assert_eq!(maintenance.purge_deletions(always, 3).await.unwrap(), 3);
    assert_eq!(maintenance.purge_deletions(always, 3).await.unwrap(), 2);
    assert_eq!(harness.changed_comments(workspace, ALL).await, []);
    assert_eq!(harness.changed_requests(workspace, ALL).await, []);
}

/// A merge changes both feature requests. What is merged is listed itself, with what it is merged into in the end.
///
/// Addition 6.
pub async fn merged_requests_are_listed_themselves(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let ids = harness.requests(workspace, ["One", "Two", "Three"]).await.map(|request| request.id);
    let targets = async || {
        let page = harness.page_of_requests(workspace, PUBLIC, ChangesPage { after: None, size: 100 }).await;
        let target = |item: &Changed<ChangedRequest>| match item {
            Changed::Present(changed) => {
                (changed.detail.summary.id, changed.merged_into.as_ref().map(|target| target.id))
            }
            Changed::Gone { .. } => panic!("none is deleted"),
        };
        page.items.iter().map(target).collect::<Vec<_>>()
    };
    for (source, target) in [(0, 1), (1, 2)] {
        harness.next_second();
        let (source, target): (usize, usize) = (source, target);
        harness.merge(workspace, ids[source], ids[target]).await;
    }
    let mut listed = targets().await;
    listed.sort_by_key(|(id, _)| ids.iter().position(|known| known == id));
    assert_eq!(listed, [(ids[0], Some(ids[2])), (ids[1], Some(ids[2])), (ids[2], None)]);
    harness.next_second();
    harness.unmerge(workspace, ids[1]).await;
    let mut listed = targets().await;
    listed.sort_by_key(|(id, _)| ids.iter().position(|known| known == id));
    assert_eq!(listed, [(ids[0], Some(ids[1])), (ids[1], None), (ids[2], None)]);
}

/// A filter by track lists what is on the track, and what was on it when it was deleted.
///
/// Addition 6.
pub async fn requests_of_a_track_are_listed_by_change(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [stays, moves, goes] = [
        harness.request(workspace, "Stays").await.id,
        harness.request(workspace, "Moves").await.id,
        harness.request(workspace, "Goes").await.id,
    ];
    let [inbox, planned] = [harness.track(workspace, "Inbox").await, harness.track(workspace, "Planned").await];
    harness.next_second();
    harness.move_to(workspace, moves, "Planned").await;
    harness.delete(workspace, goes, false).await;
    let on = |track| ChangesFilter { track: Some(track), ..PUBLIC };
    assert_eq!(harness.changed_requests(workspace, on(inbox)).await, [(stays.uuid(), true), (goes.uuid(), false)]);
    assert_eq!(harness.changed_requests(workspace, on(planned)).await, [(moves.uuid(), true)]);
}

crate::contract::cases!($ changes {
    all_requests_are_listed_by_their_last_change,
    a_place_is_after_everything_that_was_read,
    hidden_records_are_listed_as_deleted,
    all_comments_are_listed_by_their_last_change,
    merged_requests_are_listed_themselves,
    requests_of_a_track_are_listed_by_change,
});
