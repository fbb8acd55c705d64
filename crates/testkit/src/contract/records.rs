//! Single feature requests and what belongs to them: reading, editing, comments, notes, events, deleting.

use std::collections::BTreeMap;
use std::sync::Arc;

use roadmap_domain::model::audit::{Actor, AuditFilter, Change, Channel, Origin};
use roadmap_domain::model::changelog::{ChangelogDraft, ChangelogFields};
use roadmap_domain::model::comment::{Comment, ListedComment, PublicAuthor};
use roadmap_domain::model::customer::{CustomerDraft, CustomerName};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::event::{Event, EventContent, Move};
use roadmap_domain::model::feature_request::{
    Description, FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, Tag,
};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{ApiKeyId, CommentId, FeatureRequestId, NoteId, WorkspaceId};
use roadmap_domain::model::member::Author;
use roadmap_domain::model::note::{Note, NoteDraft};
use roadmap_domain::model::track::Placement;
use roadmap_domain::model::vote::VoteDraft;
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::delete_feature_request::DeleteFeatureRequest;
use roadmap_domain::usecase::delete_note::DeleteNote;
use roadmap_domain::usecase::edit_comment::DeleteComment;
use roadmap_domain::usecase::edit_feature_request::FeatureRequestChange;
use roadmap_domain::usecase::move_feature_request::{MoveDraft, MoveFeatureRequest};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::harness::{
    Failing, Harness, add_link, changelog_fields, comment, customer_comment, draft, edit, edit_comment, merge, move_to,
    name, new_title, new_visibility, page, vote,
};

fn html(text: &str) -> CleanHtml {
    CleanHtml::from_stored(text.to_owned())
}

fn tags(tags: &[&str]) -> Vec<Tag> {
    tags.iter().map(|tag| Tag::from_stored((*tag).to_owned())).collect()
}

fn email(raw: &str) -> EmailAddress {
    EmailAddress::parse("email", raw).unwrap()
}

/// All fields are returned, by every reference, and none of an unknown feature request.
///
/// Addition 2.
pub async fn a_request_shows_all_of_its_fields(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let customer = CustomerDraft::parse(Some("Ann@Example.com"), Some("Ann")).ok();
    let first_draft = draft("Größer", &["zoo", "Api", "ünal", "b"], "<p>Eyes <b>hurt</b> &amp; more</p>");
    let created = harness.create(workspace, FeatureRequestDraft { customer, ..first_draft }).await;
    let voter = harness.voters(workspace, created.id).await.remove(0);
    let expected = FeatureRequestDetail {
        summary: FeatureRequestSummary { votes_count: 1, ..created.clone() },
        description: html("<p>Eyes <b>hurt</b> &amp; more</p>"),
        tags: tags(&["zoo", "Api", "ünal", "b"]),
        private: false,
        awaiting_approval: false,
        comments_count: 0,
        author: Some(CustomerName { id: voter.id, name: Some(name("Ann")), email: email("Ann@Example.com") }),
        merged: Vec::new(),
        updated_at: created.created_at,
    };
    harness.next_second();
    let quiet = harness.create(workspace, FeatureRequestDraft { private: true, ..draft("Quiet", &[], "") }).await;
    let private = FeatureRequestDetail {
        summary: quiet.clone(),
        description: html(""),
        tags: Vec::new(),
        private: true,
        author: None,
        updated_at: quiet.created_at,
        ..expected.clone()
    };
    for (reference, detail) in [
        (FeatureRequestRef::Id(created.id), Some(&expected)),
        (FeatureRequestRef::Number(1), Some(&expected)),
        (FeatureRequestRef::parse("1-an-older-title"), Some(&expected)),
        (FeatureRequestRef::Id(quiet.id), Some(&private)),
        (FeatureRequestRef::Number(2), Some(&private)),
        (FeatureRequestRef::Number(3), None),
        (FeatureRequestRef::Id(FeatureRequestId::new(Uuid::from_u128(1))), None),
        (FeatureRequestRef::Unresolvable, None),
    ] {
        let reader = &harness.subject.reader;
        assert_eq!(reader.feature_request(workspace, &reference).await.unwrap().as_ref(), detail, "{reference:?}");
        let page = page(1, 5);
        let lists = [
            reader.comments(workspace, &reference, page).await.unwrap().map(|comments| comments.total),
            reader.notes(workspace, &reference, page).await.unwrap().map(|notes| notes.total),
            reader.events(workspace, &reference, None, page).await.unwrap().map(|events| events.total),
        ];
        assert_eq!(lists, [detail.map(|_| 0); 3], "{reference:?}");
    }
}

/// The timestamp of the update changes with title, description, tags, visibility, track and merges. It does not change
/// with votes, comments, notes and subscriptions, or when nothing changes.
///
/// Addition 2: `updated_at` changes with title, description, tags, track, visibility and merge, not with votes and
/// comments.
pub async fn only_changes_of_the_request_itself_update_it(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.create(workspace, draft("Dark mode", &["ui"], "<p>Eyes</p>")).await;
    let other = harness.request(workspace, "Light mode").await;
    let reference = FeatureRequestRef::Id(request.id);
    let mut updated_at = request.created_at;
    let change = FeatureRequestChange::default;
    let same = FeatureRequestChange { tags: Some(tags(&["ui"])), private: Some(false), ..new_title("Dark mode") };
    let description = Some(Description::parse("description", "<p>Ears</p>").unwrap());
    for (step, updates) in [
        ("vote", false),
        ("comment", false),
        ("note", false),
        ("subscription", false),
        ("withdrawal", false),
        ("equal fields", false),
        ("title", true),
        ("description", true),
        ("tags", true),
        ("visibility", true),
        ("visibility again", true),
        ("move", true),
        ("move to the same track", false),
        ("merge", true),
        ("merge again", false),
        ("unmerge", true),
    ] {
        let at = harness.next_second();
        match step {
            "vote" => drop(harness.vote(workspace, &request, "ann@example.com").await),
            "comment" => drop(harness.perform(workspace, &comment(reference, "<p>Soon</p>", true)).await),
            "note" => drop(harness.perform(workspace, &vote(reference, None, Some("note"))).await),
            "subscription" => assert!(harness.subscribe(workspace, request.id, "bob@example.com").await),
            "withdrawal" => drop(harness.withdraw(workspace, request.id, "ann@example.com").await),
            "equal fields" => drop(harness.edit(workspace, request.id, same.clone()).await),
            "title" => drop(harness.edit(workspace, request.id, new_title("Night mode")).await),
            "description" => {
                let description = description.clone();
                harness.edit(workspace, request.id, FeatureRequestChange { description, ..change() }).await;
            }
            "tags" => {
                let tags = Some(tags(&["b", "a"]));
                harness.edit(workspace, request.id, FeatureRequestChange { tags, ..change() }).await;
            }
            "visibility" => drop(harness.edit(workspace, request.id, new_visibility(true)).await),
            "visibility again" => drop(harness.edit(workspace, request.id, new_visibility(false)).await),
            "merge" | "merge again" => drop(harness.merge(workspace, other.id, request.id).await),
            "unmerge" => drop(harness.unmerge(workspace, other.id).await),
            _ => drop(harness.move_to(workspace, request.id, "Planned").await),
        }
        if updates {
            updated_at = at;
        }
        assert_eq!(harness.detail(workspace, request.id).await.updated_at, updated_at, "{step}");
    }
    let detail = harness.detail(workspace, request.id).await;
    assert_eq!((detail.comments_count, detail.tags, detail.description), (1, tags(&["b", "a"]), html("<p>Ears</p>")));
    assert_eq!(harness.detail(workspace, other.id).await.updated_at, updated_at);
}

/// Fields that were not sent stay. Old words are no longer found, new ones are, and all old slugs still work.
///
/// Addition 2: after a `PATCH` search, slug and URLs follow the title, and old slugs go on working.
pub async fn the_index_follows_an_edit(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.create(workspace, draft("Quokka zoo", &["fern"], "<p>Burrow</p>")).await;
    let other = harness.create(workspace, draft("Wombat", &[], "")).await;
    let untouched = harness.snapshots(workspace, &[other.id]).await;
    let before = harness.detail(workspace, request.id).await;
    let match_counts = async |queries: [&str; 6]| {
        let mut match_counts = Vec::new();
        for query in queries {
            match_counts.push(harness.search(workspace, query).await.len());
        }
        match_counts
    };
    let queries = ["quokka", "fern", "burrow", "gecko", "lichen", "zebra"];
    assert_eq!(match_counts(queries).await, [1, 1, 1, 0, 0, 0]);
    let at = harness.next_second();
    let edited = harness.edit(workspace, request.id, new_title("Gecko zoo")).await;
    let title = new_title("Gecko zoo").title.unwrap();
    let summary = FeatureRequestSummary { title, ..before.summary.clone() };
    assert_eq!(edited.detail, FeatureRequestDetail { summary, updated_at: at, ..before.clone() });
    assert_eq!(edited.changes, [Change::new("title", "Quokka zoo", "Gecko zoo")]);
    assert_eq!(match_counts(queries).await, [0, 1, 1, 1, 0, 0]);
    assert_eq!(harness.search(workspace, "zoo").await, ["Gecko zoo"]);

    let change = FeatureRequestChange { tags: Some(tags(&["lichen"])), ..FeatureRequestChange::default() };
    let edited = harness.edit(workspace, request.id, change).await.detail;
    assert_eq!((edited.tags, edited.description), (tags(&["lichen"]), before.description.clone()));
    assert_eq!(match_counts(queries).await, [0, 0, 1, 1, 1, 0]);
    let description = Some(Description::parse("description", "<p>Zebra <i>herd</i></p>").unwrap());
    let change = FeatureRequestChange { description, ..FeatureRequestChange::default() };
    let edited = harness.edit(workspace, request.id, change).await.detail;
    assert_eq!((edited.tags, edited.description), (tags(&["lichen"]), html("<p>Zebra <i>herd</i></p>")));
    assert_eq!(match_counts(queries).await, [0, 0, 0, 1, 1, 1]);
    let results = harness.results(workspace, "gecko").await;
    assert_eq!(results[0].description, "Zebra herd");
    // Everything can be taken away.
    let description = Some(Description::parse("description", "").unwrap());
    let change = FeatureRequestChange { description, tags: Some(Vec::new()), ..FeatureRequestChange::default() };
    let edited = harness.edit(workspace, request.id, change).await.detail;
    assert_eq!((edited.tags, edited.description), (Vec::new(), html("")));
    assert_eq!(match_counts(queries).await, [0, 0, 0, 1, 0, 0]);
    for slug in [request.slug(), edited.summary.slug()] {
        let reference = FeatureRequestRef::parse(&slug);
        let detail = harness.subject.reader.feature_request(workspace, &reference).await.unwrap();
        assert_eq!(detail.map(|detail| detail.summary), Some(edited.summary.clone()), "{slug}");
    }
    assert_eq!(harness.snapshots(workspace, &[other.id]).await, untouched);
}

/// A feature request that becomes private is not found any more. A public one is found again, by its present words. A
/// private one that is edited stays out of the index.
///
/// Addition 2: visibility decides what is found.
pub async fn visibility_decides_what_is_found(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.create(workspace, draft("Quokka zoo", &["fern"], "<p>Burrow</p>")).await;
    let voted = harness.vote(workspace, &request, "ann@example.com").await;
    let matches = async |query: &str| harness.search(workspace, query).await;
    let none = Vec::<String>::new();
    harness.edit(workspace, request.id, new_visibility(true)).await;
    for query in ["quokka", "fern", "burrow"] {
        assert_eq!(matches(query).await, none, "{query}");
    }
    assert_eq!(harness.count("search_documents", workspace).await, 0);
    harness.edit(workspace, request.id, new_title("Gecko zoo")).await;
    assert_eq!(matches("gecko").await, none);
    assert_eq!(harness.count("search_documents", workspace).await, 0);
    assert_eq!(harness.detail(workspace, request.id).await.summary.votes_count, voted.request.votes_count);
    harness.edit(workspace, request.id, new_visibility(false)).await;
    for query in ["gecko", "fern", "burrow"] {
        assert_eq!(matches(query).await, ["Gecko zoo"], "{query}");
    }
    assert_eq!(matches("quokka").await, none);
    harness.failure(workspace, &Failing(edit(FeatureRequestRef::Id(request.id), new_title("Lichen")))).await;
    assert_eq!((matches("lichen").await, matches("gecko").await), (none, vec!["Gecko zoo".to_owned()]));
}

/// Concurrent edits wait for each other: the last one wins, and each entry of the audit log continues the one before.
///
/// Addition 2: of concurrent edits the last wins, and the audit log shows both.
pub async fn concurrent_edits_follow_each_other(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Title").await;
    let harness = Arc::new(harness);
    let mut edits = JoinSet::new();
    for number in 0..8 {
        let harness = Arc::clone(&harness);
        edits.spawn(async move {
            let operation = edit(FeatureRequestRef::Id(request.id), new_title(&format!("Title {number}")));
            harness.perform(workspace, &operation).await;
        });
    }
    edits.join_all().await;
    let filter = AuditFilter { action: Some("feature_request.update".to_owned()), ..AuditFilter::default() };
    let entries = harness.audit_entries(workspace, &filter).await;
    let changes = entries.iter().map(|entry| {
        let [Change { values: Some((old, new)), .. }] = entry.changes.as_slice() else { panic!("{entry:?}") };
        (old.as_str().unwrap(), new.as_str().unwrap())
    });
    let mut changes: BTreeMap<&str, &str> = changes.collect();
    assert_eq!(changes.len(), 8, "{changes:?}");
    let mut title = "Title";
    while let Some(next) = changes.remove(title) {
        title = next;
    }
    assert!(changes.is_empty(), "{changes:?}");
    assert_eq!(harness.detail(workspace, request.id).await.summary.title.as_str(), title);
    assert_eq!(harness.events(workspace, request.id, None).await.len(), 8);
}

/// A move that waits for another one starts from its track.
pub async fn overlapping_moves_follow_each_other(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [planned, done] = [harness.track(workspace, "Planned").await, harness.track(workspace, "Done").await];
    let request = harness.request(workspace, "Dark mode").await;
    let reference = FeatureRequestRef::Id(request.id);
    let (first, second) = harness.overlap(workspace, move_to(reference, planned), &move_to(reference, planned)).await;
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.moved.map(|moved| moved.from), Some(request.placement));
    assert_eq!((second.moved, second.request), (None, first.request));
    let (first, second) = harness.overlap(workspace, move_to(reference, done), &move_to(reference, planned)).await;
    let (first, second) = (first.unwrap(), second.unwrap().moved.unwrap());
    assert_eq!(second.from, first.request.placement);
    assert_eq!(second.to, harness.detail(workspace, request.id).await.summary.placement);
    assert_eq!(harness.events(workspace, request.id, None).await.len(), 3);
}

/// A move that waits for a merge moves the feature request that is left.
pub async fn a_move_follows_a_merge(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let done = harness.track(workspace, "Done").await;
    let [source, target] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    let moving = move_to(FeatureRequestRef::Id(source.id), done);
    let (merged, moved) = harness.overlap(workspace, merge(source.id, target.id), &moving).await;
    assert_eq!(merged.unwrap().target.summary.id, target.id);
    let moved = moved.unwrap().request;
    assert_eq!((moved.id, moved.placement.track.as_str()), (target.id, "Done"));
    assert_eq!(harness.detail(workspace, target.id).await.summary, moved);
    harness.unmerge(workspace, source.id).await;
    assert_eq!(harness.detail(workspace, source.id).await.summary.placement, source.placement);
}

/// A comment is listed with its author: a member, a customer with or without a name, or nobody. Customers are found by
/// folded address, and an empty name is set.
///
/// Addition 2.
pub async fn comments_name_their_authors(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    harness.vote(workspace, &request, "cyd@example.com").await;
    let reference = FeatureRequestRef::Id(request.id);
    let mut expected = Vec::new();
    let operations = [
        (comment(reference, "<p>0</p>", false), PublicAuthor::Member(None)),
        (comment(reference, "<p>1</p>", false), PublicAuthor::Member(Some(name("Mia")))),
        (
            customer_comment(reference, "<p>2</p>", "Ann@Example.com", Some("Ann")),
            PublicAuthor::Customer(Some(name("Ann"))),
        ),
        (
            customer_comment(reference, "<p>3</p>", "ann@example.COM", Some("Eve")),
            PublicAuthor::Customer(Some(name("Ann"))),
        ),
        (customer_comment(reference, "<p>4</p>", "bob@example.com", None), PublicAuthor::Customer(None)),
        (
            customer_comment(reference, "<p>5</p>", "CYD@example.com", Some("Cyd")),
            PublicAuthor::Customer(Some(name("Cyd"))),
        ),
    ];
    for (number, (operation, author)) in operations.into_iter().enumerate() {
        if number == 1 {
            harness.member(workspace, "mia@team.example", "Mia").await;
        }
        // Two at a time have equal timestamps.
        let at = if number % 2 == 0 { harness.next_second() } else { harness.now() };
        let posted = harness.perform(workspace, &operation).await;
        assert_eq!(
            posted.comment,
            Comment { id: posted.comment.id, content: html(&format!("<p>{number}</p>")), created_at: at }
        );
        expected.push(ListedComment { comment: posted.comment, author, from: None, updated_at: at });
    }
    assert_eq!(harness.comments(workspace, request.id).await, expected);
    assert_eq!(harness.detail(workspace, request.id).await.comments_count, 6);
    // Who has written what, also without a name. The description of a merged one counts as an entry of its author.
    let listed: Vec<CommentId> = expected.iter().map(|listed| listed.comment.id).collect();
    let written = async |email: &str, listed: &[CommentId]| {
        let customer = harness.customer(workspace, email).await.id;
        let mut own = harness.subject.reader.written_among(workspace, customer, listed).await.unwrap();
        own.sort();
        own
    };
    assert_eq!(written("ann@example.com", &listed).await, listed[2..4]);
    assert_eq!(written("bob@example.com", &listed).await, listed[4..5]);
    assert_eq!(written("ann@example.com", &listed[3..]).await, listed[3..4]);
    assert_eq!(written("ann@example.com", &[]).await, []);
    let customer = CustomerDraft::parse(Some("ann@example.com"), None).ok();
    let idea = harness.create(workspace, FeatureRequestDraft { customer, ..draft("Undo", &[], "<p>Soon</p>") }).await;
    let entry = [CommentId::new(idea.id.uuid())];
    assert_eq!(
        (written("ann@example.com", &entry).await, written("bob@example.com", &entry).await),
        (entry.to_vec(), vec![])
    );
    let mut paged = Vec::new();
    for number in 1..=4 {
        let page = page(number, 2);
        let listing = harness.subject.reader.comments(workspace, &reference, page).await.unwrap().unwrap();
        assert_eq!((listing.total, listing.request), (6, page));
        paged.extend(listing.items);
    }
    assert_eq!(paged, expected);
    // A comment is no vote.
    assert_eq!(harness.detail(workspace, request.id).await.summary.votes_count, 1);
    assert_eq!(harness.count("customers", workspace).await, 3);
    let unknown = customer_comment(FeatureRequestRef::Number(9), "<p>6</p>", "eve@example.com", None);
    assert_eq!(harness.failure(workspace, &unknown).await, "FeatureRequest does not exist.");
    harness.failure(workspace, &Failing(customer_comment(reference, "<p>6</p>", "eve@example.com", None))).await;
    assert_eq!(harness.count("customers", workspace).await, 3);
}

/// An edited comment keeps its place, its author and its time, also on a merged feature request. A deleted one is gone.
///
/// Addition 2.
pub async fn comments_are_edited_and_deleted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    let mut posted = Vec::new();
    for request in [&source, &target, &target] {
        let operation = customer_comment(FeatureRequestRef::Id(request.id), "<p>Old</p>", "ann@example.com", None);
        posted.push(harness.perform(workspace, &operation).await.comment.id);
        harness.next_second();
    }
    harness.merge(workspace, source.id, target.id).await;
    let mut expected = harness.comments(workspace, target.id).await;
    for index in [0, 1] {
        let at = harness.next_second();
        let operation = edit_comment(posted[index], "<p>New</p>");
        let edited = harness.perform(workspace, &operation).await;
        expected[index].comment.content = html("<p>New</p>");
        expected[index].updated_at = at;
        assert_eq!(edited, expected[index]);
        assert_eq!(harness.comments(workspace, target.id).await, expected);
    }
    let operation = edit_comment(posted[2], "<p>Lost</p>");
    harness.failure(workspace, &Failing(operation)).await;
    assert_eq!(harness.comments(workspace, target.id).await, expected);
    harness.perform(workspace, &DeleteComment { comment: posted[1] }).await;
    expected.remove(1);
    assert_eq!(harness.comments(workspace, target.id).await, expected);
    assert_eq!(harness.detail(workspace, target.id).await.comments_count, 2);
    for unknown in [posted[1], CommentId::new(Uuid::from_u128(1)), CommentId::new(source.id.uuid())] {
        for content in ["<p>New</p>", ""] {
            let edit = edit_comment(unknown, content);
            assert_eq!(harness.failure(workspace, &edit).await, "Comment does not exist.");
        }
        let delete = DeleteComment { comment: unknown };
        assert_eq!(harness.failure(workspace, &delete).await, "Comment does not exist.");
    }
}

/// A note is listed with its author and its customer, newest first, and can be deleted.
///
/// Addition 2.
pub async fn notes_name_their_authors_and_customers(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let reference = FeatureRequestRef::Id(request.id);
    harness.perform(workspace, &vote(reference, None, Some("<p>0</p>"))).await;
    let mut expected = vec![(html("<p>0</p>"), None, None, harness.now())];
    harness.member(workspace, "mia@team.example", "Mia").await;
    harness.next_second();
    harness.member(workspace, "Noa@team.example", "Noa").await;
    let mia = Some((name("Mia"), email("mia@team.example")));
    let noa = Some((name("Noa"), email("Noa@team.example")));
    let ann = Some((Some("Ann"), "Ann@Example.com"));
    for (number, author, expected_author, customer) in [
        (1, None, &mia, None),
        (2, Some("NOA@team.example"), &noa, ann),
        (3, Some("nobody@team.example"), &mia, ann),
        (4, None, &mia, Some((None, "bob@example.com"))),
    ] {
        let at = harness.next_second();
        let text = format!("<p>{number}</p>");
        let note = NoteDraft::parse(Some(&text), author).unwrap();
        let draft = customer.map(|(name, email)| CustomerDraft::parse(Some(email), name).unwrap());
        let operation = CastVote { request: reference, draft: VoteDraft::new(draft, Some(note)).unwrap() };
        harness.perform(workspace, &operation).await;
        let customer = customer.map(|(name, email)| (name.map(self::name), self::email(email)));
        expected.insert(0, (html(&text), expected_author.clone(), customer, at));
    }
    let listed = harness.notes(workspace, request.id).await;
    let fields = |note: &Note| {
        let customer = note.customer.clone().map(|CustomerName { name, email, .. }| (name, email));
        (note.body.clone(), note.author.clone(), customer, note.created_at)
    };
    assert_eq!(listed.iter().map(fields).collect::<Vec<_>>(), expected);
    let reader = &harness.subject.reader;
    let second = reader.notes(workspace, &reference, page(2, 2)).await.unwrap().unwrap();
    assert_eq!((second.items.as_slice(), second.total), (&listed[2..4], 5));
    harness.perform(workspace, &DeleteNote { note: listed[1].id }).await;
    let left = [&listed[..1], &listed[2..]].concat();
    assert_eq!(harness.notes(workspace, request.id).await, left);
    for unknown in [listed[1].id, NoteId::new(Uuid::from_u128(1))] {
        let delete = DeleteNote { note: unknown };
        assert_eq!(harness.failure(workspace, &delete).await, "ReferenceNote does not exist.");
    }
    // The vote of the note stays.
    assert_eq!(harness.detail(workspace, request.id).await.summary.votes_count, 2);
}

/// Moves, merges and edits are listed newest first, with who caused them, and can be filtered by kind.
///
/// Addition 2, 6.
pub async fn events_are_listed_newest_first_and_by_kind(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, other] = harness.requests(workspace, ["Dark mode", "Night mode"]).await;
    let member = harness.member(workspace, "mia@team.example", "Mia").await;
    let key = Actor::api_key(ApiKeyId::new(Uuid::from_u128(7)), &name("support desk"));
    let origin = Origin { actor: key.clone(), channel: Channel::Api, request_id: Some("r-1".to_owned()) };
    let executor = harness.executor.acting_as(origin);
    let reference = FeatureRequestRef::Id(request.id);
    let mut expected = Vec::new();
    let placement = |track: &str, status: Option<&str>| Placement { track: name(track), status: status.map(name) };
    let mut last = placement("Inbox", None);
    for (track, status, author, actor) in [
        ("Planned", Some("Planned"), None, key.clone()),
        ("Done", Some("Done"), Some("MIA@team.example"), Actor::member(member.id, &member.name)),
        ("Declined", None, Some("nobody@team.example"), key.clone()),
    ] {
        let created_at = harness.next_second();
        let author = Author::parse("author_email", author).unwrap();
        let draft =
            MoveDraft { track: harness.track(workspace, track).await, author, notify_all_voters: false, comment: None };
        let operation = MoveFeatureRequest { request: reference, draft };
        let to = placement(track, status);
        let moved = executor.run_without_key(workspace, &operation).await.unwrap();
        let content = Move { from: std::mem::replace(&mut last, to.clone()), to: to.clone(), comment: None };
        assert_eq!((moved.request.placement, moved.moved), (to, Some(content.clone())));
        expected.insert(0, (EventContent::Moved(content), actor, created_at));
        // Again, nothing moves.
        assert_eq!(executor.run_without_key(workspace, &operation).await.unwrap().moved, None);
    }
    let created_at = harness.next_second();
    let change = FeatureRequestChange { private: Some(false), tags: Some(tags(&["a"])), ..new_title("Dim mode") };
    executor.run_without_key(workspace, &edit(reference, change)).await.unwrap();
    let fields = ["title", "tags"].map(str::to_owned).to_vec();
    expected.insert(0, (EventContent::Edited(fields), key, created_at));
    for (content, at) in
        [(EventContent::Merged(other.id), harness.next_second()), (EventContent::Unmerged(other.id), harness.now())]
    {
        match content {
            EventContent::Merged(_) => drop(harness.merge(workspace, other.id, request.id).await),
            _ => drop(harness.unmerge(workspace, other.id).await),
        }
        expected.insert(0, (content, Actor::service(), at));
    }
    let listed = harness.events(workspace, request.id, None).await;
    let fields = |event: &Event| (event.content.clone(), event.actor.clone(), event.created_at);
    assert_eq!(listed.iter().map(fields).collect::<Vec<_>>(), expected);
    for kind in ["moved", "merged", "unmerged", "edited", "merged_into"] {
        let of_kind: Vec<Event> = listed.iter().filter(|event| event.content.kind() == kind).cloned().collect();
        assert_eq!(harness.events(workspace, request.id, Some(kind)).await, of_kind, "{kind}");
    }
    let reader = &harness.subject.reader;
    let second = reader.events(workspace, &reference, Some(Move::KIND), page(2, 2)).await.unwrap().unwrap();
    assert_eq!((second.items.as_slice(), second.total), (&listed[5..], 3));
    let of_other = harness.events(workspace, other.id, None).await;
    let of_other: Vec<EventContent> = of_other.into_iter().map(|event| event.content).collect();
    assert_eq!(of_other, [EventContent::UnmergedFrom(request.id), EventContent::MergedInto(request.id)]);
}

/// Adds one of everything to a new feature request.
async fn fill(harness: &Harness, workspace: WorkspaceId, title: &str) -> FeatureRequestId {
    let request = harness.create(workspace, draft(title, &["a", "b"], "<p>Words</p>")).await;
    let reference = FeatureRequestRef::Id(request.id);
    for voter in ["ann@example.com", "bob@example.com"] {
        harness.perform(workspace, &vote(reference, Some((voter, None)), Some("note"))).await;
    }
    harness.subscribe(workspace, request.id, "fay@example.com").await;
    harness.perform(workspace, &add_link(reference, "https://github.com/acme/app/issues/7")).await;
    harness.perform(workspace, &comment(reference, "<p>Soon</p>", true)).await;
    harness.perform(workspace, &customer_comment(reference, "<p>When?</p>", "ann@example.com", None)).await;
    harness.hold(workspace, request.id, "<p>Please</p>", "ann@example.com").await;
    let draft = MoveDraft {
        track: harness.track(workspace, "Planned").await,
        author: Author::Oldest,
        notify_all_voters: true,
        comment: None,
    };
    let operation = MoveFeatureRequest { request: reference, draft };
    harness.perform(workspace, &operation).await;
    let linked = Some(Some(vec![request.id.to_string()]));
    let fields = ChangelogFields { feature_request_ids: linked, ..changelog_fields(title, "<p>New</p>") };
    let draft = ChangelogDraft::parse(&fields, true, |_| None);
    harness.perform(workspace, &CreateChangelog { draft: draft.unwrap() }).await;
    request.id
}

/// Everything that belongs to a deleted feature request is gone, and nothing else. Its number is not used again.
///
/// Addition 2: after a `DELETE`, votes, comments, notes, moves and queued mail are gone.
pub async fn a_deleted_request_takes_everything_with_it(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let other = fill(&harness, workspace, "Quokka").await;
    let before = (harness.snapshots(workspace, &[other]).await, harness.count_records(workspace).await);
    let (lanes, customers) = (harness.lanes(workspace).await, harness.count("customers", workspace).await);
    assert!(before.1.iter().all(|(_, count)| *count > 0), "{before:?}");
    let gone = fill(&harness, workspace, "Fern").await;
    let doubled: Vec<(&str, u64)> = before.1.iter().map(|(table, count)| (*table, 2 * count)).collect();
    assert_eq!(harness.count_records(workspace).await, doubled);
    let delete = DeleteFeatureRequest { request: FeatureRequestRef::Number(2), with_merged: false };
    harness.failure(workspace, &Failing(delete)).await;
    assert_eq!(harness.count_records(workspace).await, doubled);
    harness.perform(workspace, &delete).await;
    assert_eq!((harness.snapshots(workspace, &[other]).await, harness.count_records(workspace).await), before);
    assert_eq!(harness.lanes(workspace).await, lanes);
    assert_eq!(harness.count("customers", workspace).await, customers);
    assert_eq!(harness.voted(workspace, "ann@example.com").await, [1]);
    assert_eq!(harness.search(workspace, "fern").await, Vec::<String>::new());
    for reference in [FeatureRequestRef::Id(gone), FeatureRequestRef::Number(2)] {
        assert_eq!(harness.subject.reader.feature_request(workspace, &reference).await.unwrap(), None);
        assert_eq!(
            harness.failure(workspace, &comment(reference, "text", true)).await,
            "FeatureRequest does not exist."
        );
        let inbox = harness.track(workspace, "Inbox").await;
        assert_eq!(harness.failure(workspace, &move_to(reference, inbox)).await, "FeatureRequest does not exist.");
    }
    assert_eq!(harness.failure(workspace, &delete).await, "FeatureRequest does not exist.");
    assert_eq!(harness.request(workspace, "Lichen").await.tag_number, 3);
}

crate::contract::cases!($ records {
    a_request_shows_all_of_its_fields,
    only_changes_of_the_request_itself_update_it,
    the_index_follows_an_edit,
    visibility_decides_what_is_found,
    concurrent_edits_follow_each_other,
    overlapping_moves_follow_each_other,
    a_move_follows_a_merge,
    comments_name_their_authors,
    comments_are_edited_and_deleted,
    notes_name_their_authors_and_customers,
    events_are_listed_newest_first_and_by_kind,
    a_deleted_request_takes_everything_with_it,
});
