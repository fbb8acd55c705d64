//! Feature requests with their comments and tracks; changelogs.

use std::sync::Arc;

use roadmap_domain::model::changelog::{Changelog, ChangelogDraft};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::text::Name;
use roadmap_domain::ports::Clock;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::CreateFeatureRequest;
use tokio::task::JoinSet;

use crate::harness::{Failing, Harness, changelog_fields, comment, draft, move_to, vote};

/// Numbers count from 1 in each workspace, also with concurrent creation.
///
/// Decision 3.
pub async fn tag_numbers_count_up_without_gaps_or_repeats(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let harness = Arc::new(harness);
    let mut creators = JoinSet::new();
    for number in 0..24 {
        let harness = Arc::clone(&harness);
        let workspace = if number % 3 == 0 { bolt } else { acme };
        creators.spawn(async move { (workspace, harness.request(workspace, "Dark mode").await.tag_number) });
    }
    let drawn = creators.join_all().await;
    for (workspace, count) in [(acme, 16), (bolt, 8)] {
        let mut numbers: Vec<i64> =
            drawn.iter().filter(|(of, _)| *of == workspace).map(|(_, number)| *number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=count).collect::<Vec<i64>>());
    }
}

/// A feature request is found by its UUID or its number only.
///
/// Contract 2.2: a slug is the number, a dash, and the words with dashes.
/// Decision 3.
pub async fn a_request_is_found_by_id_and_by_number(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let created = harness.request(workspace, "Façade für Zürich").await;
    assert_eq!(created.slug(), "1-facade-fur-zurich");
    assert_eq!(created.created_at, harness.clock.now());
    assert_eq!((created.votes_count, created.placement.track.as_str()), (0, "Inbox"));
    for (reference, is_there) in [
        (FeatureRequestRef::Id(created.id), true),
        (FeatureRequestRef::Number(1), true),
        (FeatureRequestRef::Number(2), false),
        (FeatureRequestRef::Id(FeatureRequestId::new(uuid::Uuid::from_u128(1))), false),
        (FeatureRequestRef::Unresolvable, false),
    ] {
        let voters = harness.subject.reader.voters(workspace, &reference, PageRequest::default()).await.unwrap();
        assert_eq!(voters.is_some(), is_there, "{reference:?}");
    }
}

/// The status is the lane of the track. A track without a lane has no status.
///
/// Contract 2.2: `status` is the lane's name, null without a lane.
/// Contract 3: the possible moves are open; by decision 4 they are from any track to any.
/// Decision 4: a move goes from any track to any track, and to the current one nothing happens.
pub async fn the_status_follows_the_track(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let created = harness.request(workspace, "Dark mode").await;
    let voter = "ann@example.com";
    harness.vote(workspace, &created, voter).await;
    for (track, status) in
        [("Planned", Some("Planned")), ("Declined", None), ("Declined", None), ("Done", Some("Done"))]
    {
        let target = harness.track(workspace, track).await;
        let moved = harness.perform(workspace, &move_to(FeatureRequestRef::Number(1), target)).await.request;
        let email = roadmap_domain::model::email_address::EmailAddress::parse("email", voter).unwrap();
        let listed = harness.subject.reader.voted_requests(workspace, &email, PageRequest::default()).await.unwrap();
        for request in [&moved, &listed.items[0]] {
            assert_eq!(request.placement.track.as_str(), track);
            assert_eq!(request.placement.status.as_ref().map(Name::as_str), status);
            assert_eq!(request.votes_count, 1);
        }
    }
}

/// A failed unit of work leaves no feature request, no customer, no words and no gap in the numbers.
///
/// Decision 3.
pub async fn a_rolled_back_request_leaves_nothing(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let failing = Failing(CreateFeatureRequest::new(draft("Quokka mode", &["animals"], "Wombat")));
    assert!(harness.executor.run_without_key(workspace, &failing).await.is_err());
    for table in ["feature_requests", "feature_request_tags", "vote_tallies", "search_documents", "search_words"] {
        assert_eq!(harness.count(table, workspace).await, 0, "{table}");
    }
    assert_eq!(harness.search(workspace, "quokka").await, Vec::<String>::new());
    assert_eq!(harness.request(workspace, "Dark mode").await.tag_number, 1);
}

/// Every subscribed voter of the feature request gets one mail for each comment, and no other customer does.
///
/// Contract 4.8: `notify_all_voters` inserts a message to every subscribed voter into the outbox.
/// Decision 6: each subscribed voter gets one message, in the comment's transaction.
pub async fn each_comment_is_mailed_to_subscribed_voters_once(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let (request, other) = (harness.request(workspace, "Dark mode").await, harness.request(workspace, "Export").await);
    for voter in ["ann@example.com", "bob@example.com", "ANN@example.com"] {
        harness.vote(workspace, &request, voter).await;
    }
    harness.vote(workspace, &other, "cyd@example.com").await;
    for (notify, messages) in [(false, 0), (true, 2), (true, 4)] {
        harness
            .executor
            .run_without_key(workspace, &comment(FeatureRequestRef::Id(request.id), "Soon", notify))
            .await
            .unwrap();
        assert_eq!(harness.count("outbox", workspace).await, messages);
    }
    assert_eq!(harness.count("comments", workspace).await, 3);
}

/// A comment and its mails are committed or rolled back together.
///
/// Contract 4.8; Decision 6.
pub async fn a_rolled_back_comment_sends_nothing(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    harness
        .executor
        .run_without_key(workspace, &vote(FeatureRequestRef::Number(1), Some(("ann@example.com", None)), None))
        .await
        .unwrap();
    let failing = Failing(comment(FeatureRequestRef::Id(request.id), "Soon", true));
    assert!(harness.executor.run_without_key(workspace, &failing).await.is_err());
    assert_eq!(harness.count("outbox", workspace).await + harness.count("comments", workspace).await, 0);
}

/// Newest first, also for equal timestamps, drafts and published changelogs mixed.
///
/// Decision 4.
pub async fn changelogs_come_newest_first(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    for number in 1..=5 {
        let fields = changelog_fields(&format!("1.{number}"), "<p>New</p>");
        let draft = ChangelogDraft::parse(&fields, number % 2 == 0, |_| None);
        harness.perform(workspace, &CreateChangelog { draft: draft.unwrap() }).await;
    }
    let mut titles = Vec::new();
    for page in ["1", "2", "3"] {
        let page = PageRequest::parse(Some(page), Some("2")).unwrap();
        let listing = harness.subject.reader.changelogs(workspace, page).await.unwrap();
        assert_eq!((listing.total, listing.total_pages()), (5, 3));
        let state = |changelog: &Changelog| changelog.state(harness.now()).name();
        titles.extend(listing.items.into_iter().map(|changelog| (changelog.title.to_string(), state(&changelog))));
    }
    let status = |title: &str, status| (title.to_owned(), status);
    assert_eq!(
        titles,
        [
            status("1.5", "draft"),
            status("1.4", "published"),
            status("1.3", "draft"),
            status("1.2", "published"),
            status("1.1", "draft")
        ]
    );
}

crate::contract::cases!($ requests {
    tag_numbers_count_up_without_gaps_or_repeats,
    a_request_is_found_by_id_and_by_number,
    the_status_follows_the_track,
    a_rolled_back_request_leaves_nothing,
    each_comment_is_mailed_to_subscribed_voters_once,
    a_rolled_back_comment_sends_nothing,
    changelogs_come_newest_first,
});
