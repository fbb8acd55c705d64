//! Isolation of workspaces: no workspace reads or changes rows of another.

use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, Visibility};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::move_feature_request::MoveFeatureRequest;

use crate::harness::{Harness, comment, draft, vote};

/// With the same content in two workspaces, every query finds only rows of its own workspace.
pub async fn nothing_is_seen_from_another_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.create(acme, draft("Dark mode", &["quokka"], "wombat")).await;
    harness.vote(acme, &request, "ann@example.com").await;
    let reader = &harness.subject.reader;
    let ann = EmailAddress::parse("email", "ann@example.com").unwrap();
    assert_eq!(reader.voted_requests(bolt, &ann, PageRequest::default()).await.unwrap().total, 0);
    for reference in [FeatureRequestRef::Id(request.id), FeatureRequestRef::Number(request.tag_number)] {
        assert_eq!(reader.voters(bolt, &reference, PageRequest::default()).await.unwrap(), None);
    }
    for query in ["dark", "quokka", "wombat", "drak", "quoka"] {
        assert_eq!(harness.search(bolt, query).await, Vec::<String>::new(), "{query}");
    }
    assert_eq!(harness.subject.search.load_results(bolt, &[request.id], Visibility::All).await.unwrap(), vec![]);
    let tracks = |workspace| reader.tracks(workspace);
    assert!(tracks(acme).await.unwrap().iter().all(|track| track.name.as_str() != "Elsewhere"));
    assert_ne!(tracks(acme).await.unwrap()[0].id, tracks(bolt).await.unwrap()[0].id);
    // The other workspace's own feature request gets the same number.
    let own = harness.request(bolt, "Dark mode").await;
    assert_eq!((own.tag_number, own.votes_count), (request.tag_number, 0));
    assert_eq!(harness.search(bolt, "dark").await, ["Dark mode"]);
    assert_eq!(harness.search(bolt, "quokka").await, Vec::<String>::new());
}

/// An id of another workspace is treated as unknown.
pub async fn nothing_is_changed_from_another_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(acme, "Dark mode").await;
    harness.request(bolt, "Own").await;
    let foreign = FeatureRequestRef::Id(request.id);
    let missing = "FeatureRequest does not exist.";
    let voted =
        harness.executor.run_without_key(bolt, &vote(foreign, Some(("ann@example.com", None)), Some("note"))).await;
    assert_eq!(voted.unwrap_err().to_string(), missing);
    let commented = harness.executor.run_without_key(bolt, &comment(foreign, "text", true)).await;
    assert_eq!(commented.unwrap_err().to_string(), missing);
    let own_track = harness.track(bolt, "Done").await;
    let moved =
        harness.executor.run_without_key(bolt, &MoveFeatureRequest { request: foreign, track: Ok(own_track) }).await;
    assert_eq!(moved.unwrap_err().to_string(), missing);
    let foreign_track =
        MoveFeatureRequest { request: FeatureRequestRef::Number(1), track: Ok(harness.track(acme, "Done").await) };
    let moved = harness.executor.run_without_key(bolt, &foreign_track).await;
    assert_eq!(moved.unwrap_err().to_string(), "Track does not exist.");
    for table in ["votes", "notes", "comments", "customers"] {
        assert_eq!(harness.count(table, acme).await + harness.count(table, bolt).await, 0, "{table}");
    }
}
