//! Merging feature requests, and undoing it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use roadmap_domain::model::comment::{Comment, ListedComment, PublicAuthor};
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::feature_request::{
    FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, RequestLink, Sort,
};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::vote::WrongTally;
use roadmap_domain::model::vote::{VoteOutcome, Voter};
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::delete_feature_request::{DeleteFeatureRequest, FeatureRequestDeleted};
use roadmap_domain::usecase::edit_comment::DeleteComment;
use roadmap_domain::usecase::merge_feature_requests::{MergeFeatureRequests, Merged, Unmerged};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::effort::{SeededRng, rounds};
use crate::harness::{
    Failing, Harness, comment, customer_comment, draft, edit, largest_page, merge, move_to, name, new_title,
    new_visibility, page, unmerge, vote, withdraw,
};

/// A feature request without texts and merges, and with this number of votes.
fn plain(request: &FeatureRequestSummary, votes_count: i64, updated_at: Timestamp) -> FeatureRequestDetail {
    FeatureRequestDetail {
        summary: FeatureRequestSummary { votes_count, ..request.clone() },
        description: CleanHtml::from_stored(String::new()),
        tags: Vec::new(),
        private: false,
        awaiting_approval: false,
        comments_count: 0,
        author: None,
        merged: Vec::new(),
        updated_at,
    }
}

fn ids(requests: &[FeatureRequestSummary]) -> Vec<FeatureRequestId> {
    requests.iter().map(|request| request.id).collect()
}

/// Adds a note about no customer.
async fn add_note(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId, body: &str) {
    harness.perform(workspace, &vote(FeatureRequestRef::Id(request), None, Some(body))).await;
}

async fn add_comment(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId, content: &str) {
    harness.perform(workspace, &comment(FeatureRequestRef::Id(request), content, false)).await;
}

/// The target counts distinct customers and names the source. All references lead to it. A repeated merge changes
/// nothing, and undoing it restores both.
///
/// Addition 2: a merged feature request is shown as what it was merged into.
/// Addition 3: a merge is a link: nothing is moved.
pub async fn a_merge_is_a_link(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    for (request, voters) in [(&source, ["ann", "bob"]), (&target, ["bob", "cyd"])] {
        for voter in voters {
            harness.vote(workspace, request, &format!("{voter}@example.com")).await;
        }
    }
    let at = harness.next_second();
    let merged = harness.merge(workspace, source.id, target.id).await;
    let link = RequestLink::from(&source);
    let detail = FeatureRequestDetail { merged: vec![link.clone()], ..plain(&target, 3, at) };
    assert_eq!(merged, Merged { target: detail.clone(), source: link, was_there: false });
    let references = [FeatureRequestRef::Id(source.id), FeatureRequestRef::Number(1), FeatureRequestRef::Number(2)];
    for reference in references {
        let stored = harness.subject.reader.feature_request(workspace, &reference).await.unwrap();
        assert_eq!(stored, Some(detail.clone()), "{reference:?}");
    }
    harness.next_second();
    let again = harness.merge(workspace, source.id, target.id).await;
    assert_eq!(again, Merged { was_there: true, ..merged });

    let at = harness.next_second();
    let unmerged = harness.unmerge(workspace, source.id).await;
    assert_eq!(unmerged, Unmerged { source: plain(&source, 2, at), target: RequestLink::from(&target) });
    assert_eq!(harness.detail(workspace, target.id).await, plain(&target, 2, at));
}

/// The voters list has each customer once, with the first vote, latest first. A customer who voted for any feature
/// request of the tree has voted. A vote for a merged one is stored on the target and stays there.
///
/// Addition 3: the voters list of the target shows each once, with the earliest time.
/// Addition 3: `GET /votes` shows the target once; `already_voted` looks at all of them.
pub async fn voters_of_a_tree_are_listed_once(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    for (request, voter) in [(&source, "ann"), (&target, "bob"), (&target, "ann"), (&source, "cyd"), (&source, "bob")] {
        harness.vote(workspace, request, &format!("{voter}@example.com")).await;
        harness.next_second();
    }
    let of_source = harness.voters(workspace, source.id).await;
    let of_target = harness.voters(workspace, target.id).await;
    let find = |voters: &[Voter], email: &str| voters.iter().find(|voter| voter.email.as_str() == email).cloned();
    harness.merge(workspace, source.id, target.id).await;
    let expected = [
        find(&of_source, "cyd@example.com").unwrap(),
        find(&of_target, "bob@example.com").unwrap(),
        find(&of_source, "ann@example.com").unwrap(),
    ];
    for reference in [FeatureRequestRef::Id(target.id), FeatureRequestRef::Number(1)] {
        for (number, voter) in (1..).zip(&expected) {
            let page = page(number, 1);
            let listing = harness.subject.reader.voters(workspace, &reference, page).await.unwrap().unwrap();
            assert_eq!((listing.items, listing.total), (vec![voter.clone()], 3));
        }
    }
    for voter in ["ann@example.com", "bob@example.com", "cyd@example.com"] {
        for request in [&source, &target] {
            let cast = harness.vote(workspace, request, voter).await;
            assert_eq!((cast.outcome, cast.request.votes_count), (VoteOutcome::AlreadyVoted, 3), "{voter}");
        }
        assert_eq!(harness.voted(workspace, voter).await, [2], "{voter}");
    }
    let cast = harness.vote(workspace, &source, "dan@example.com").await;
    let counted = FeatureRequestSummary { votes_count: 4, ..target.clone() };
    assert_eq!((cast.outcome, cast.request), (VoteOutcome::Registered, counted));
    harness.unmerge(workspace, source.id).await;
    assert_eq!(harness.voters(workspace, source.id).await, of_source);
    assert_eq!(harness.voted(workspace, "dan@example.com").await, [2]);
    assert_eq!(harness.voted(workspace, "ann@example.com").await, [2, 1]);
    assert_eq!(harness.detail(workspace, target.id).await.summary.votes_count, 3);
}

/// Votes, comments, notes, moves, edits, subscriptions and withdrawals by a reference to the source concern the target.
/// They stay there after the merge is undone.
///
/// Addition 3: voting, commenting, moving by the source's id or slug act on the target.
/// Addition 2.
pub async fn a_reference_to_the_source_acts_on_the_target(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target, other] = harness.requests(workspace, ["Quokka", "Fern", "Lichen"]).await;
    harness.vote(workspace, &source, "ann@example.com").await;
    let before = harness.snapshots(workspace, &[source.id]).await;
    harness.merge(workspace, source.id, target.id).await;
    for (reference, voter) in [(FeatureRequestRef::Id(source.id), "bob"), (FeatureRequestRef::Number(1), "cyd")] {
        let email = format!("{voter}@example.com");
        let cast = harness.perform(workspace, &vote(reference, Some((&email, None)), Some("note"))).await;
        assert_eq!(cast.request.id, target.id);
        let posted = harness.perform(workspace, &comment(reference, "<p>Soon</p>", false)).await;
        assert_eq!(posted.request.id, target.id);
        let posted = harness.perform(workspace, &customer_comment(reference, "<p>When?</p>", &email, None)).await;
        assert_eq!(posted.request.id, target.id);
        let track = harness.track(workspace, if voter == "bob" { "Planned" } else { "Done" }).await;
        let moved = harness.perform(workspace, &move_to(reference, track)).await;
        assert_eq!(moved.request.id, target.id);
        let edited = harness.perform(workspace, &edit(reference, new_title(&format!("Fern for {voter}")))).await;
        assert_eq!((edited.detail.summary.id, edited.detail.private), (target.id, false));
        assert!(harness.subscribe(workspace, source.id, "dan@example.com").await);
    }
    let withdrawn = harness.withdraw(workspace, source.id, "cyd@example.com").await;
    assert_eq!((withdrawn.request.id, withdrawn.request.votes_count, withdrawn.vote_removed), (target.id, 2, true));
    let snapshot = harness.snapshots(workspace, &[target.id]).await.remove(0);
    assert_eq!(harness.snapshots(workspace, &[source.id]).await, std::slice::from_ref(&snapshot));
    assert_eq!((snapshot.comments.len(), snapshot.notes.len(), snapshot.voters.len()), (4, 2, 2));
    assert!(snapshot.comments.iter().all(|comment| comment.from.is_none()), "{snapshot:?}");
    let events = harness.events(workspace, source.id, None).await;
    assert_eq!(events, harness.events(workspace, target.id, None).await);
    assert_eq!(events.iter().filter(|event| event.content.kind() == "moved").count(), 2);

    harness.unmerge(workspace, source.id).await;
    assert_eq!(harness.snapshots(workspace, &[source.id]).await, before);
    let after = harness.snapshots(workspace, &[target.id]).await.remove(0);
    assert_eq!((&after.comments, &after.notes), (&snapshot.comments, &snapshot.notes));
    assert_eq!(after.detail.summary.placement.track, name("Done"));
    let kinds = async |request| {
        let events = harness.events(workspace, request, None).await;
        events.iter().map(|event| event.content.kind()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(source.id).await, ["unmerged_from", "merged_into"]);
    assert_eq!(kinds(other.id).await, Vec::<&str>::new());
}

/// Comments of a tree are listed in order of time, with the descriptions of what is merged, and each with where it was
/// written. Notes are listed newest first.
///
/// Addition 3: notes of the source are listed with those of the target, newest first.
/// Addition 3: comments of the source are in order of time with `from`, and its description is the first of them.
pub async fn comments_of_a_tree_come_in_order_of_time(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.member(workspace, "mia@team.example", "Mia").await;
    let customer = CustomerDraft::parse(Some("ann@example.com"), Some("Ann")).ok();
    let first = FeatureRequestDraft { customer, ..draft("Quokka", &["zoo"], "<p>They <b>smile</b></p>") };
    let first = harness.create(workspace, first).await;
    let second_at = harness.next_second();
    let second = harness.create(workspace, draft("Fern", &[], "<p>Green</p>")).await;
    harness.next_second();
    // A description that shows nothing is none.
    let blank = harness.create(workspace, draft("Lichen", &[], "<p>&nbsp;</p>\n<p> \u{3000}<br></p>")).await;
    assert_ne!(harness.detail(workspace, blank.id).await.description.as_str(), "");
    harness.next_second();
    let target = harness.create(workspace, draft("Gecko", &[], "<p>It sticks</p>")).await;

    let mia = PublicAuthor::Member(Some(name("Mia")));
    let from = |request: &FeatureRequestSummary| (request.id != target.id).then(|| RequestLink::from(request));
    let listed = |id: Uuid, content: &str, at: Timestamp, author: &PublicAuthor, on: &FeatureRequestSummary| {
        let comment =
            Comment { id: CommentId::new(id), content: CleanHtml::from_stored(content.to_owned()), created_at: at };
        ListedComment { comment, author: author.clone(), from: from(on), updated_at: at }
    };
    let ann = PublicAuthor::Customer(Some(name("Ann")));
    let mut expected = vec![
        listed(first.id.uuid(), "<p>They <b>smile</b></p>", first.created_at, &ann, &first),
        listed(second.id.uuid(), "<p>Green</p>", second_at, &PublicAuthor::Member(None), &second),
    ];
    let mut notes = Vec::new();
    for (number, request) in [&target, &first, &blank, &second, &target, &first].into_iter().enumerate() {
        let at = harness.next_second();
        let content = format!("<p>{number}</p>");
        let posted = harness.perform(workspace, &comment(FeatureRequestRef::Id(request.id), &content, false)).await;
        expected.push(listed(posted.comment.id.uuid(), &content, at, &mia, request));
        add_note(&harness, workspace, request.id, &format!("Note {number}")).await;
        notes.insert(0, format!("Note {number}"));
    }
    // A chain: the first is merged into the second, and that one into the target.
    for (source, into) in [(&first, &second), (&blank, &target), (&second, &target)] {
        harness.merge(workspace, source.id, into.id).await;
    }
    assert_eq!(harness.comments(workspace, target.id).await, expected);
    assert_eq!(harness.comments(workspace, first.id).await, expected);
    let mut paged = Vec::new();
    for number in 1..=3 {
        let reference = FeatureRequestRef::Number(1);
        let listing = harness.subject.reader.comments(workspace, &reference, page(number, 3)).await.unwrap().unwrap();
        assert_eq!(listing.total, 8);
        paged.extend(listing.items);
    }
    assert_eq!(paged, expected);
    let listed: Vec<String> =
        harness.notes(workspace, second.id).await.iter().map(|note| note.body.as_str().to_owned()).collect();
    assert_eq!(listed, notes);
    let detail = harness.detail(workspace, target.id).await;
    assert_eq!(detail.comments_count, 8);
    assert_eq!(detail.merged, [&first, &second, &blank].map(RequestLink::from));
    // A comment on a merged one is found, changed and deleted like any other.
    let last = expected.pop().unwrap().comment.id;
    harness.perform(workspace, &DeleteComment { comment: last }).await;
    assert_eq!(harness.comments(workspace, target.id).await, expected);
}

/// The words of a private source show nowhere at a public target: no comment, no description, no match of a search. Its
/// votes count, and the team sees its title among the merged ones, and its notes.
///
/// Addition 3: of a private one that is merged into a public one, votes count and no words show.
pub async fn private_words_do_not_show(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let private = FeatureRequestDraft { private: true, ..draft("Quokka", &["zebra"], "<p>Burrow</p>") };
    let private = harness.create(workspace, private).await;
    let [public, target] = harness.requests(workspace, ["Lichen", "Fern"]).await;
    harness.vote(workspace, &private, "ann@example.com").await;
    for request in [&private, &public, &target] {
        add_comment(&harness, workspace, request.id, &format!("<p>On {}</p>", request.title)).await;
        add_note(&harness, workspace, request.id, request.title.as_str()).await;
        harness.next_second();
    }
    for source in [&private, &public] {
        harness.merge(workspace, source.id, target.id).await;
    }
    let contents = async || {
        let comments = harness.comments(workspace, target.id).await;
        let detail = harness.detail(workspace, target.id).await;
        assert_eq!(detail.comments_count, i64::try_from(comments.len()).unwrap());
        assert_eq!(detail.merged, [&private, &public].map(RequestLink::from));
        assert_eq!(detail.summary.votes_count, 1);
        assert_eq!(harness.notes(workspace, target.id).await.len(), 3);
        comments.iter().map(|comment| comment.comment.content.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(contents().await, ["<p>On Lichen</p>", "<p>On Fern</p>"]);
    for query in ["quokka", "zebra", "burrow", "quoka"] {
        assert_eq!(harness.search(workspace, query).await, Vec::<String>::new(), "{query}");
    }
    assert_eq!(harness.search(workspace, "lichen").await, ["Fern"]);
    // Everything of a private target is for the team alone.
    harness.edit(workspace, target.id, new_visibility(true)).await;
    let all = ["<p>Burrow</p>", "<p>On Quokka</p>", "<p>On Lichen</p>", "<p>On Fern</p>"];
    assert_eq!(contents().await, all);
    assert_eq!(harness.search(workspace, "lichen").await, Vec::<String>::new());
    harness.edit(workspace, target.id, new_visibility(false)).await;
    assert_eq!(contents().await, ["<p>On Lichen</p>", "<p>On Fern</p>"]);
    assert_eq!(harness.search(workspace, "lichen").await, ["Fern"]);
    // The source is as private as before.
    harness.unmerge(workspace, private.id).await;
    assert!(harness.detail(workspace, private.id).await.private);
    assert_eq!(harness.search(workspace, "quokka").await, Vec::<String>::new());
}

/// Lists, the roadmap and the counts of lanes contain the target only.
///
/// Addition 3: lists, the roadmap and counts leave merged ones out.
pub async fn lists_leave_merged_requests_out(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [first, second, target] = harness.requests(workspace, ["Quokka", "Lichen", "Fern"]).await;
    for request in [&first, &second, &target] {
        harness.move_to(workspace, request.id, "Planned").await;
        harness.vote(workspace, request, "ann@example.com").await;
        harness.next_second();
    }
    harness.vote(workspace, &second, "bob@example.com").await;
    let track = harness.track(workspace, "Planned").await;
    let listed = async |expected: &[i64]| {
        let reader = &harness.subject.reader;
        for sort in [Sort::Votes, Sort::Newest, Sort::Updated] {
            let listing = reader.track_requests(workspace, track, sort, largest_page()).await.unwrap().unwrap();
            let numbers: BTreeSet<i64> = listing.items.iter().map(|request| request.tag_number).collect();
            assert_eq!(numbers, expected.iter().copied().collect(), "{sort:?}");
            assert_eq!(listing.total, expected.len() as u64, "{sort:?}");
        }
        let roadmap = reader.roadmap(workspace, 50).await.unwrap();
        let lanes: Vec<_> = roadmap.iter().map(|lane| lane.lane.clone()).collect();
        assert_eq!(lanes, harness.lanes(workspace).await);
        let planned = &roadmap[1];
        assert_eq!(planned.lane.feature_requests_count, i64::try_from(expected.len()).unwrap());
        let numbers: Vec<i64> = planned.feature_requests.iter().map(|request| request.tag_number).collect();
        assert_eq!(numbers, expected);
    };
    listed(&[2, 3, 1]).await;
    harness.merge(workspace, first.id, target.id).await;
    listed(&[2, 3]).await;
    harness.merge(workspace, second.id, target.id).await;
    listed(&[3]).await;
    harness.unmerge(workspace, first.id).await;
    listed(&[3, 1]).await;
    harness.unmerge(workspace, second.id).await;
    listed(&[2, 3, 1]).await;
}

/// Merges in a chain and of whole trees count at the root, and undoing them in any order restores everything.
///
/// Addition 3.
pub async fn any_order_of_undoing_is_exact(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let requests = harness.requests(workspace, ["Quokka", "Lichen", "Fern", "Gecko"]).await;
    let [quokka, lichen, fern, gecko] = [&requests[0], &requests[1], &requests[2], &requests[3]].map(|one| one.id);
    for (number, voters) in [(0, "ab"), (1, "bc"), (2, "cda"), (3, "e")] {
        let request: &FeatureRequestSummary = &requests[number];
        for voter in voters.chars() {
            harness.vote(workspace, request, &format!("{voter}@example.com")).await;
            harness.next_second();
        }
        add_comment(&harness, workspace, request.id, "<p>Soon</p>").await;
        add_note(&harness, workspace, request.id, "note").await;
    }
    let all = ids(&requests);
    let before = harness.snapshots(workspace, &all).await;
    let links = [(quokka, lichen), (fern, lichen), (lichen, gecko)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for (step, (source, target)) in links.into_iter().enumerate() {
            let merged = harness.merge(workspace, source, target).await;
            let tally = [3, 4, 5][step];
            assert_eq!((merged.target.summary.id, merged.target.summary.votes_count), (target, tally));
        }
        // The root of a merged one is where it leads. There it is already.
        for (source, target) in [(quokka, gecko), (fern, quokka)] {
            assert!(harness.merge(workspace, source, target).await.was_there);
        }
        let snapshot = harness.snapshots(workspace, &[gecko]).await.remove(0);
        assert_eq!(snapshot.detail.merged, [&requests[0], &requests[1], &requests[2]].map(RequestLink::from));
        assert_eq!((snapshot.voters.len(), snapshot.comments.len(), snapshot.notes.len()), (5, 4, 4));
        for index in order {
            harness.unmerge(workspace, links[index].0).await;
        }
        assert_eq!(harness.snapshots(workspace, &all).await, before, "{order:?}");
    }
}

/// A merge that makes no sense is rejected and changes nothing, and so is one whose unit of work is rolled back.
///
/// Addition 3.
pub async fn rejected_merges_change_nothing(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [first, second, third, fourth] = harness.requests(workspace, ["Quokka", "Lichen", "Fern", "Gecko"]).await;
    let private = FeatureRequestDraft { private: true, ..draft("Zebra", &[], "") };
    let private = harness.create(workspace, private).await;
    let unknown = FeatureRequestId::new(Uuid::from_u128(1));
    harness.merge(workspace, first.id, second.id).await;
    let all = [first.id, second.id, third.id, fourth.id, private.id];
    let before = (harness.snapshots(workspace, &all).await, harness.count_records(workspace).await);
    for (source, target, message) in [
        (first.id, first.id, "target_id is the feature request itself"),
        (third.id, third.id, "target_id is the feature request itself"),
        (second.id, first.id, "target_id is a feature request that was merged into this one"),
        (first.id, third.id, "FeatureRequest is already merged."),
        (third.id, private.id, "target_id is a private feature request, into which a public one cannot be merged"),
        (unknown, third.id, "FeatureRequest does not exist."),
        (third.id, unknown, "FeatureRequest does not exist."),
    ] {
        assert_eq!(harness.failure(workspace, &merge(source, target)).await, message);
    }
    let nowhere = MergeFeatureRequests {
        source: FeatureRequestRef::Id(third.id),
        target: FeatureRequestRef::Unresolvable,
        tells_voters: false,
    };
    assert_eq!(harness.failure(workspace, &nowhere).await, "FeatureRequest does not exist.");
    for (source, message) in [
        (second.id, "FeatureRequest is not merged."),
        (third.id, "FeatureRequest is not merged."),
        (unknown, "FeatureRequest does not exist."),
    ] {
        assert_eq!(harness.failure(workspace, &unmerge(source)).await, message);
    }
    harness.failure(workspace, &Failing(merge(third.id, fourth.id))).await;
    harness.failure(workspace, &Failing(unmerge(first.id))).await;
    assert_eq!((harness.snapshots(workspace, &all).await, harness.count_records(workspace).await), before);
}

/// A merge that waits until a feature request is made public does not hide it in a private one.
pub async fn a_merge_follows_a_publication(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let secret = |title| FeatureRequestDraft { private: true, ..draft(title, &[], "") };
    let source = harness.create(workspace, secret("Quokka")).await;
    let target = harness.create(workspace, secret("Fern")).await;
    let publish = edit(FeatureRequestRef::Id(source.id), new_visibility(false));
    let (published, merged) = harness.overlap(workspace, publish, &merge(source.id, target.id)).await;
    assert!(published.is_ok() && merged.is_err());
    let detail = harness.detail(workspace, source.id).await;
    assert_eq!((detail.summary.id, detail.private), (source.id, false));
}

/// Of two concurrent merges in opposite directions one wins, so that no feature request leads to itself.
///
/// Addition 3: concurrent merges make no cycle.
pub async fn concurrent_merges_make_no_cycle(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [one, other] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    harness.vote(workspace, &one, "ann@example.com").await;
    harness.vote(workspace, &other, "bob@example.com").await;
    for round in 0..10 {
        let (there, back) = (merge(one.id, other.id), merge(other.id, one.id));
        let outcomes = tokio::join!(
            harness.executor.run_without_key(workspace, &there),
            harness.executor.run_without_key(workspace, &back),
        );
        let (source, target, error) = match outcomes {
            (Ok(_), Err(error)) => (one.id, other.id, error),
            (Err(error), Ok(_)) => (other.id, one.id, error),
            both => panic!("one of both wins: {both:?}"),
        };
        assert_eq!(error.to_string(), "target_id is a feature request that was merged into this one", "{round}");
        let detail = harness.detail(workspace, source).await;
        assert_eq!((detail.summary.id, detail.summary.votes_count), (target, 2));
        harness.unmerge(workspace, source).await;
    }
}

/// Deleting a merged feature request leaves its target, without its votes, comments and words. Deleting a target needs
/// consent and deletes what is merged into it, too. What a deleted one was merged into is counted again.
///
/// Addition 2: a `DELETE` of a merged one deletes itself, and the target is counted and indexed again.
pub async fn deleting_a_part_of_a_tree(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let root = harness.create(workspace, draft("Gecko", &["wall"], "<p>It sticks</p>")).await;
    harness.vote(workspace, &root, "ann@example.com").await;
    let alone = (harness.snapshots(workspace, &[root.id]).await, harness.count_records(workspace).await);
    let [_, _, _] = harness.requests(workspace, ["Quokka", "Lichen", "Fern"]).await;
    for number in 2..=4 {
        let request = harness.find(workspace, number).await;
        for voter in ["ann", "bob", &format!("v{number}")] {
            harness.vote(workspace, &request, &format!("{voter}@example.com")).await;
        }
        add_comment(&harness, workspace, request.id, "<p>Soon</p>").await;
        add_note(&harness, workspace, request.id, "note").await;
        harness.subscribe(workspace, request.id, "fay@example.com").await;
    }
    let [quokka, lichen, fern] =
        [harness.find(workspace, 2).await, harness.find(workspace, 3).await, harness.find(workspace, 4).await];
    for (source, target) in [(&quokka, &lichen), (&lichen, &root), (&fern, &root)] {
        harness.merge(workspace, source.id, target.id).await;
    }
    let detail = harness.detail(workspace, root.id).await;
    assert_eq!((detail.summary.votes_count, detail.comments_count), (5, 3));

    let of = |request| DeleteFeatureRequest { request: FeatureRequestRef::Id(request), with_merged: false };
    for request in [lichen.id, root.id] {
        assert_eq!(harness.failure(workspace, &of(request)).await, "FeatureRequest has merged requests.");
    }
    let deleted = harness.delete(workspace, fern.id, false).await;
    assert_eq!(deleted, FeatureRequestDeleted { request: RequestLink::from(&fern), merged: 0 });
    assert_eq!(harness.search(workspace, "fern").await, Vec::<String>::new());
    assert_eq!(harness.search(workspace, "quokka").await, ["Gecko"]);
    let detail = harness.detail(workspace, root.id).await;
    assert_eq!((detail.summary.votes_count, detail.comments_count), (4, 2));
    assert_eq!(detail.merged, [&quokka, &lichen].map(RequestLink::from));

    let deleted = harness.delete(workspace, lichen.id, true).await;
    assert_eq!(deleted, FeatureRequestDeleted { request: RequestLink::from(&lichen), merged: 1 });
    for gone in [quokka.id, lichen.id, fern.id] {
        let detail = harness.subject.reader.feature_request(workspace, &FeatureRequestRef::Id(gone)).await.unwrap();
        assert_eq!(detail, None);
    }
    for query in ["quokka", "lichen"] {
        assert_eq!(harness.search(workspace, query).await, Vec::<String>::new(), "{query}");
    }
    // Of the target, only the events of the two merges are new.
    let mut counts = harness.count_records(workspace).await;
    for (table, count) in &mut counts {
        if *table == "feature_request_events" {
            *count -= 2;
        }
    }
    assert_eq!((harness.snapshots(workspace, &[root.id]).await, counts), alone);

    let source = harness.request(workspace, "Zebra").await;
    harness.merge(workspace, source.id, root.id).await;
    harness.delete(workspace, root.id, true).await;
    let empty: Vec<(&str, u64)> = alone.1.iter().map(|(table, _)| (*table, 0)).collect();
    assert_eq!(harness.count_records(workspace).await, empty);
    assert_eq!(harness.voted(workspace, "ann@example.com").await, Vec::<i64>::new());
}

const REQUESTS: usize = 6;
const CUSTOMERS: usize = 8;
/// What each feature request of the model is called. The last two are private.
const TITLES: [&str; REQUESTS] = ["Quokka", "Lichen", "Fern", "Gecko", "Zebra", "Burrow"];

/// What the feature requests of a random history show, computed from its steps.
#[derive(Default)]
struct Model {
    ids: Vec<FeatureRequestSummary>,
    /// The first vote of a customer for a feature request.
    votes: BTreeMap<(usize, usize), Timestamp>,
    /// What a feature request is merged into.
    parents: [Option<usize>; REQUESTS],
    /// The feature request and the content of each comment.
    comments: Vec<(usize, String)>,
}

impl Model {
    fn is_private(request: usize) -> bool {
        request >= REQUESTS - 2
    }

    fn root(&self, request: usize) -> usize {
        self.parents[request].map_or(request, |parent| self.root(parent))
    }

    fn tree(&self, root: usize) -> Vec<usize> {
        (0..REQUESTS).filter(|request| self.root(*request) == root).collect()
    }

    fn voters(&self, root: usize) -> BTreeMap<String, Timestamp> {
        let mut voters = BTreeMap::new();
        for ((request, customer), at) in &self.votes {
            if self.root(*request) == root {
                let first: &mut Timestamp = voters.entry(email(*customer)).or_insert(*at);
                *first = (*first).min(*at);
            }
        }
        voters
    }

    /// Casts a vote. Returns whether it is counted.
    fn vote(&mut self, request: usize, customer: usize, at: Timestamp) -> bool {
        let root = self.root(request);
        if self.voters(root).contains_key(&email(customer)) {
            return false;
        }
        self.votes.insert((root, customer), at);
        true
    }

    /// Withdraws a vote. Returns whether there was one.
    fn withdraw(&mut self, request: usize, customer: usize) -> bool {
        let tree = self.tree(self.root(request));
        let before = self.votes.len();
        self.votes.retain(|(request, voter), _| !(tree.contains(request) && *voter == customer));
        before > self.votes.len()
    }

    /// Merges. Returns whether the source leads to the target now.
    fn merge(&mut self, source: usize, target: usize) -> bool {
        let root = self.root(target);
        let is_own_descendant = |mut request: usize| loop {
            match self.parents[request] {
                Some(parent) if parent == source => return true,
                Some(parent) => request = parent,
                None => return false,
            }
        };
        if source == target || is_own_descendant(target) {
            return false;
        }
        if self.parents[source].is_some() {
            return self.root(source) == root;
        }
        let is_allowed = Self::is_private(source) || !Self::is_private(root);
        if is_allowed {
            self.parents[source] = Some(root);
        }
        is_allowed
    }

    /// Whether the words of a feature request show at the root of its tree.
    fn is_shown(&self, request: usize) -> bool {
        Self::is_private(self.root(request)) || !Self::is_private(request)
    }

    fn comments(&self, root: usize) -> Vec<(Option<RequestLink>, String)> {
        let of_tree =
            self.comments.iter().filter(|(request, _)| self.root(*request) == root && self.is_shown(*request));
        let from = |request: usize| (request != root).then(|| RequestLink::from(&self.ids[request]));
        of_tree.map(|(request, content)| (from(*request), content.clone())).collect()
    }

    /// The roots of the given feature requests, most voted first, then newest first.
    fn most_voted(&self, is_listed: impl Fn(usize) -> bool) -> Vec<(i64, i64)> {
        let roots = (0..REQUESTS).filter(|request| self.parents[*request].is_none() && is_listed(*request));
        let votes = |root: usize| i64::try_from(self.voters(root).len()).unwrap();
        let mut listed: Vec<(i64, i64)> = roots.map(|root| (votes(root), self.ids[root].tag_number)).collect();
        listed.sort_unstable();
        listed.reverse();
        listed
    }

    /// Compares the model with what the store shows.
    async fn compare(&self, harness: &Harness, workspace: WorkspaceId, step: &str) {
        let counted = |request: &FeatureRequestSummary| (request.votes_count, request.tag_number);
        for (request, title) in TITLES.into_iter().enumerate() {
            let (id, root) = (self.ids[request].id, self.root(request));
            let detail = harness.detail(workspace, id).await;
            let voters = harness.voters(workspace, id).await;
            assert!(voters.is_sorted_by(|one, next| one.voted_at >= next.voted_at), "{step}: {voters:?}");
            let voters: BTreeMap<String, Timestamp> =
                voters.into_iter().map(|voter| (voter.email.as_str().to_owned(), voter.voted_at)).collect();
            assert_eq!(voters, self.voters(root), "{step}: {request}");
            let tally = (i64::try_from(voters.len()).unwrap(), self.ids[root].tag_number);
            assert_eq!(counted(&detail.summary), tally, "{step}: {request}");
            let merged = self.tree(root).into_iter().filter(|member| *member != root);
            let merged: Vec<RequestLink> = merged.map(|member| RequestLink::from(&self.ids[member])).collect();
            assert_eq!(detail.merged, merged, "{step}: {request}");
            let comments = harness.comments(workspace, id).await;
            assert_eq!(detail.comments_count, i64::try_from(comments.len()).unwrap(), "{step}: {request}");
            let comments: Vec<_> =
                comments.into_iter().map(|listed| (listed.from, listed.comment.content.as_str().to_owned())).collect();
            assert_eq!(comments, self.comments(root), "{step}: {request}");
            let matches = harness.search(workspace, title).await;
            let is_found = !Self::is_private(root) && !Self::is_private(request);
            let expected = if is_found { vec![TITLES[root].to_owned()] } else { vec![] };
            assert_eq!(matches, expected, "{step}: {request}");
        }
        for customer in 0..CUSTOMERS {
            let roots = (0..REQUESTS).filter(|root| self.parents[*root].is_none());
            let voted = roots.filter(|root| self.voters(*root).contains_key(&email(customer)));
            let voted: Vec<i64> = voted.map(|root| self.ids[root].tag_number).rev().collect();
            assert_eq!(harness.voted(workspace, &email(customer)).await, voted, "{step}: {customer}");
        }
        let track = harness.track(workspace, "Planned").await;
        let reader = &harness.subject.reader;
        let listing = reader.track_requests(workspace, track, Sort::Votes, largest_page()).await.unwrap().unwrap();
        assert_eq!(listing.items.iter().map(counted).collect::<Vec<_>>(), self.most_voted(|_| true), "{step}");
        assert_eq!(listing.total, listing.items.len() as u64, "{step}");
        let planned = reader.roadmap(workspace, 50).await.unwrap().remove(1);
        let public = self.most_voted(|request| !Self::is_private(request));
        assert_eq!(planned.feature_requests.iter().map(counted).collect::<Vec<_>>(), public, "{step}");
        assert_eq!(planned.lane.feature_requests_count, i64::try_from(public.len()).unwrap(), "{step}");
    }
}

/// The addresses are at two companies and at a provider of mail.
fn email(customer: usize) -> String {
    let domain = ["example.com", "bolt.example", "example.com", "gmail.com"][customer % 4];
    format!("v{customer}@{domain}")
}

/// After each step of random histories of votes, withdrawals, comments, merges and unmerges, everything that is shown
/// equals what a small model in memory computes.
///
/// Addition 3: unmerging restores exactly, in any order; votes and comments since then stay.
/// Addition 3: a merged target is resolved to where it leads.
pub async fn random_histories_equal_a_model(harness: Harness) {
    let mut seeds = vec![1, 17, 2_026];
    if rounds(0, 1) == 1 {
        // Other histories in each run.
        let mut random = SeededRng::from_env();
        seeds.extend((0..9).map(|_| random.below(u64::from(u32::MAX))));
    }
    // The kinds of steps with their outcomes, to check that all of them occur.
    let mut seen = BTreeSet::new();
    for (number, seed) in seeds.into_iter().enumerate() {
        let mut random = SeededRng::new(seed);
        let mut below = |end: usize| usize::try_from(random.below(end as u64)).unwrap();
        let workspace = harness.workspace(&format!("history-{number}")).await;
        let planned = harness.track(workspace, "Planned").await;
        let mut model = Model::default();
        for (number, title) in TITLES.into_iter().enumerate() {
            let private = Model::is_private(number);
            let request = FeatureRequestDraft { private, track: Some(planned), ..draft(title, &[], "") };
            model.ids.push(harness.create(workspace, request).await);
            harness.next_second();
        }
        for step in 0..rounds(45, 150) {
            let at = harness.next_second();
            let (request, other, customer) = (below(REQUESTS), below(REQUESTS), below(CUSTOMERS));
            let reference = FeatureRequestRef::Id(model.ids[request].id);
            let text = match below(10) {
                0..4 => {
                    let cast = harness.vote(workspace, &model.ids[request].clone(), &email(customer)).await;
                    assert_eq!(cast.vote_registered(), model.vote(request, customer, at), "seed {seed}, step {step}");
                    seen.insert(("vote", cast.vote_registered()));
                    format!("{customer} votes for {request}")
                }
                4 => {
                    let withdrawn = harness.perform(workspace, &withdraw(reference, &email(customer))).await;
                    assert_eq!(withdrawn.vote_removed, model.withdraw(request, customer), "seed {seed}, step {step}");
                    seen.insert(("withdrawal", withdrawn.vote_removed));
                    format!("{customer} withdraws from {request}")
                }
                5 => {
                    let content = format!("<p>Comment {step}</p>");
                    harness.perform(workspace, &comment(reference, &content, false)).await;
                    let root = model.root(request);
                    model.comments.push((root, content));
                    format!("comment on {request}")
                }
                6..8 => {
                    let operation = merge(model.ids[request].id, model.ids[other].id);
                    let outcome = harness.executor.run_without_key(workspace, &operation).await;
                    assert_eq!(outcome.is_ok(), model.merge(request, other), "seed {seed}, step {step}: {outcome:?}");
                    seen.insert(("merge", outcome.is_ok()));
                    format!("{request} is merged into {other}")
                }
                _ => {
                    let outcome = harness.executor.run_without_key(workspace, &unmerge(model.ids[request].id)).await;
                    let was_merged = model.parents[request].take().is_some();
                    assert_eq!(outcome.is_ok(), was_merged, "seed {seed}, step {step}: {outcome:?}");
                    seen.insert(("unmerge", outcome.is_ok()));
                    format!("{request} is unmerged")
                }
            };
            model.compare(&harness, workspace, &format!("seed {seed}, step {step}: {text}")).await;
        }
    }
    let kinds = ["merge", "unmerge", "vote", "withdrawal"];
    assert_eq!(seen, kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]).collect());
}

/// While tasks vote for source and target and withdraw votes, another one merges and unmerges them. In the end every
/// tally equals a recount, whether they are merged or not.
///
/// Addition 3: every tally equals a recount, with 1,000 votes while source and target are merged and unmerged 100
/// times.
pub async fn tallies_are_exact_while_requests_are_merged(harness: Harness) {
    const TASKS: u64 = 16;
    let workspace = harness.workspace("acme").await;
    let [source, target] = harness.requests(workspace, ["Quokka", "Fern"]).await.map(|request| request.id);
    let harness = Arc::new(harness);
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let harness = Arc::clone(&harness);
        tasks.spawn(async move {
            let mut random = SeededRng::new(task);
            for _ in 0..rounds(1_000, 5_000) / TASKS {
                let request = FeatureRequestRef::Id(if random.below(2) == 0 { source } else { target });
                let email = email(usize::try_from(random.below(12)).unwrap());
                if random.below(3) == 0 {
                    harness.perform(workspace, &withdraw(request, &email)).await;
                } else {
                    harness.perform(workspace, &vote(request, Some((&email, None)), None)).await;
                }
            }
        });
    }
    let merging = Arc::clone(&harness);
    tasks.spawn(async move {
        for _ in 0..rounds(100, 500) {
            merging.perform(workspace, &merge(source, target)).await;
            merging.perform(workspace, &unmerge(source)).await;
        }
    });
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    let recounted = async |request: FeatureRequestId| {
        let voters = harness.voters(workspace, request).await;
        let addresses: BTreeSet<String> = voters.iter().map(|voter| voter.email.as_str().to_owned()).collect();
        assert_eq!(addresses.len(), voters.len(), "{voters:?}");
        let tally = harness.detail(workspace, request).await.summary.votes_count;
        assert_eq!(tally, i64::try_from(voters.len()).unwrap());
        addresses
    };
    for _ in 0..2 {
        let all: BTreeSet<String> = recounted(source).await.union(&recounted(target).await).cloned().collect();
        harness.merge(workspace, source, target).await;
        assert_eq!(recounted(target).await, all);
        harness.unmerge(workspace, source).await;
    }
}

/// Import contract 11: a number of votes that is not that of the votes is found, in its workspace.
pub async fn a_wrong_number_of_votes_is_found(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [dark, night, exports] = harness.requests(acme, ["Dark mode", "Night theme", "Exports"]).await;
    for (request, email) in [(&dark, "ann@a.example"), (&dark, "bob@b.example"), (&night, "ann@a.example")] {
        harness.vote(acme, request, email).await;
    }
    harness.merge(acme, night.id, dark.id).await;
    let wrong = async |workspace| harness.subject.maintenance.wrong_tallies(workspace, 1).await.unwrap();
    assert_eq!((wrong(acme).await, wrong(bolt).await), (Vec::new(), Vec::new()));
    harness.subject.probe.execute("UPDATE vote_tallies SET votes_count = votes_count + 2 WHERE root_id IS NULL").await;
    let expected = WrongTally { tag_number: dark.tag_number, stored: 4, counted: 2 };
    assert_eq!((wrong(acme).await, wrong(bolt).await), (vec![expected], Vec::new()));
    let all = harness.subject.maintenance.wrong_tallies(acme, 9).await.unwrap();
    assert_eq!(all[1..], [WrongTally { tag_number: exports.tag_number, stored: 2, counted: 0 }]);
}

crate::contract::cases!($ merges {
    a_wrong_number_of_votes_is_found,
    a_merge_is_a_link,
    voters_of_a_tree_are_listed_once,
    a_reference_to_the_source_acts_on_the_target,
    comments_of_a_tree_come_in_order_of_time,
    private_words_do_not_show,
    lists_leave_merged_requests_out,
    any_order_of_undoing_is_exact,
    rejected_merges_change_nothing,
    concurrent_merges_make_no_cycle,
    a_merge_follows_a_publication,
    deleting_a_part_of_a_tree,
    random_histories_equal_a_model,
    tallies_are_exact_while_requests_are_merged,
});
