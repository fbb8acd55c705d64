//! Links of feature requests to what the team builds for them.

use std::sync::Arc;

use roadmap_domain::model::feature_request::{FeatureRequestRef, RequestLink};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::link::{Link, LinkChange, LinkState};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::change_links::{DeleteLink, LinkAdded, UpdateLink};
use roadmap_domain::usecase::delete_feature_request::DeleteFeatureRequest;
use tokio::task::JoinSet;

use crate::harness::{Failing, Harness, add_link, page};

async fn list(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId) -> Vec<Link> {
    let request = FeatureRequestRef::Id(request);
    harness.subject.reader.links(workspace, &request, PageRequest::default()).await.unwrap().unwrap().items
}

async fn add(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId, url: &str) -> Link {
    let LinkAdded { link, is_new } = harness.perform(workspace, &add_link(FeatureRequestRef::Id(request), url)).await;
    assert!(is_new, "{url}");
    link
}

/// All fields are stored. A change replaces the title and the state, and nothing else.
///
/// Links: oldest first; `PATCH` and `DELETE`.
pub async fn links_are_listed_changed_and_deleted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, other] = harness.requests(workspace, ["Dark mode", "Light mode"]).await;
    let reference = FeatureRequestRef::Id(request.id);
    let mut added = Vec::new();
    for number in [3, 1, 2] {
        added.push(add(&harness, workspace, request.id, &format!("https://github.com/a/b/issues/{number}")).await);
        harness.next_second();
    }
    let elsewhere = add(&harness, workspace, other.id, "https://github.com/a/b/issues/3").await;
    assert_eq!(list(&harness, workspace, request.id).await, added);
    assert_eq!(list(&harness, workspace, other.id).await, [elsewhere]);
    let reader = &harness.subject.reader;
    let second = reader.links(workspace, &FeatureRequestRef::Number(1), page(2, 2)).await.unwrap().unwrap();
    assert_eq!((second.items, second.total), (vec![added[2].clone()], 3));
    let beyond = reader.links(workspace, &reference, page(3, 2)).await.unwrap().unwrap();
    assert_eq!((beyond.items, beyond.total), (Vec::new(), 3));
    for unknown in [FeatureRequestRef::Number(9), FeatureRequestRef::Unresolvable] {
        assert_eq!(reader.links(workspace, &unknown, page(1, 2)).await.unwrap(), None);
    }

    let at = harness.next_second();
    let change = LinkChange::parse(Some(Some("Größer")), Some(Some("closed"))).unwrap();
    let update = UpdateLink { link: added[1].id, change: change.clone() };
    harness.failure(workspace, &Failing(update.clone())).await;
    assert_eq!(list(&harness, workspace, request.id).await, added);
    let changed = harness.perform(workspace, &update).await;
    let expected = Link {
        title: change.title.clone().flatten(),
        state: Some(LinkState::Closed),
        updated_at: at,
        ..added[1].clone()
    };
    assert_eq!(changed, expected);
    added[1] = expected;
    assert_eq!(list(&harness, workspace, request.id).await, added);

    let delete = DeleteLink { link: added[0].id };
    assert_eq!(harness.perform(workspace, &delete).await, request.id);
    assert_eq!(list(&harness, workspace, request.id).await, added[1..]);
    assert_eq!(harness.failure(workspace, &delete).await, "Link does not exist.");
    let gone = UpdateLink { link: added[0].id, change };
    assert_eq!(harness.failure(workspace, &gone).await, "Link does not exist.");
}

/// Of adds at the same time, one is new.
///
/// Links: the same issue again; a 21st is refused.
pub async fn an_issue_is_linked_once_and_at_most_twenty_are(harness: Harness) {
    let harness = Arc::new(harness);
    let workspace = harness.workspace("acme").await;
    let [request] = harness.requests(workspace, ["Dark mode"]).await;
    let reference = FeatureRequestRef::Id(request.id);
    let mut adding = JoinSet::new();
    for number in 0..8 {
        let harness = Arc::clone(&harness);
        let url = format!("https://github.com/Acme/app/issues/7?from={number}");
        adding.spawn(async move { harness.perform(workspace, &add_link(reference, &url)).await });
    }
    let added = adding.join_all().await;
    assert_eq!(added.iter().filter(|added| added.is_new).count(), 1);
    let [link] = &list(&harness, workspace, request.id).await[..] else { panic!("one link") };
    assert!(added.iter().all(|added| added.link == *link));

    let mut adding = JoinSet::new();
    for number in 0..24 {
        let harness = Arc::clone(&harness);
        let operation = add_link(reference, &format!("https://github.com/acme/app/issues/{}", 100 + number));
        let key = number.to_string();
        adding.spawn(
            async move { harness.run(workspace, &key, &operation, "").await.map_err(|error| error.to_string()) },
        );
    }
    let refused: Vec<String> = adding.join_all().await.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused, vec!["FeatureRequest has at most 20 links.".to_owned(); 5]);
    assert_eq!(list(&harness, workspace, request.id).await.len(), 20);
    let again = harness.perform(workspace, &add_link(reference, "https://github.com/acme/app/pull/7/files")).await;
    assert_eq!(again, LinkAdded { link: link.clone(), is_new: false });
}

/// A link stays with its feature request, and is listed with what that was merged into.
///
/// Links: those of merged ones, too, with `from`.
pub async fn links_of_merged_requests_are_listed_and_given_back(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    let of_source = add(&harness, workspace, source.id, "https://acme.example/browse/APP-7").await;
    harness.next_second();
    let of_target = add(&harness, workspace, target.id, "https://acme.example/browse/APP-8").await;
    harness.merge(workspace, source.id, target.id).await;
    let shown = Link { from: Some(RequestLink::from(&source)), ..of_source.clone() };
    for request in [source.id, target.id] {
        assert_eq!(list(&harness, workspace, request).await, [shown.clone(), of_target.clone()]);
    }

    // The same issue is there already, and a new one is linked to the target, whatever it is added to.
    let again = add_link(FeatureRequestRef::Id(target.id), "https://acme.example/browse/app-7?focus=1");
    let again = harness.perform(workspace, &again).await;
    assert_eq!(again, LinkAdded { link: shown.clone(), is_new: false });
    harness.next_second();
    let new = add(&harness, workspace, source.id, "https://acme.example/browse/APP-9").await;
    assert_eq!(new.from, None);
    let at = harness.next_second();
    let change = LinkChange::parse(None, Some(Some("closed"))).unwrap();
    let changed = harness.perform(workspace, &UpdateLink { link: of_source.id, change }).await;
    assert_eq!(changed, Link { state: Some(LinkState::Closed), updated_at: at, ..shown });

    harness.unmerge(workspace, source.id).await;
    assert_eq!(list(&harness, workspace, source.id).await, [Link { from: None, ..changed }]);
    assert_eq!(list(&harness, workspace, target.id).await, [of_target, new]);
    // Its own link counts before that of what is merged into it.
    let own = add(&harness, workspace, target.id, "https://acme.example/browse/APP-7").await;
    harness.merge(workspace, source.id, target.id).await;
    let found = harness.perform(workspace, &add_link(FeatureRequestRef::Id(source.id), own.url.as_str())).await;
    assert_eq!(found, LinkAdded { link: own, is_new: false });

    let delete = DeleteFeatureRequest { request: FeatureRequestRef::Id(target.id), with_merged: true };
    harness.perform(workspace, &delete).await;
    assert_eq!(harness.count("links", workspace).await, 0);
}

/// Beyond the contract: links of other workspaces are not found.
pub async fn links_belong_to_one_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let ([request], [foreign]) = (harness.requests(acme, ["Mine"]).await, harness.requests(bolt, ["Theirs"]).await);
    let link = add(&harness, acme, request.id, "https://acme.example/browse/APP-7").await;
    assert!(list(&harness, bolt, foreign.id).await.is_empty());
    let reference = FeatureRequestRef::Id(request.id);
    assert_eq!(harness.subject.reader.links(bolt, &reference, page(1, 5)).await.unwrap(), None);
    let update = UpdateLink { link: link.id, change: LinkChange::default() };
    for missing in [harness.failure(bolt, &update).await, harness.failure(bolt, &DeleteLink { link: link.id }).await] {
        assert_eq!(missing, "Link does not exist.");
    }
    add(&harness, bolt, foreign.id, link.url.as_str()).await;
    assert_eq!(list(&harness, acme, request.id).await, [link]);
}

crate::contract::cases!($ links {
    links_are_listed_changed_and_deleted,
    an_issue_is_linked_once_and_at_most_twenty_are,
    links_of_merged_requests_are_listed_and_given_back,
    links_belong_to_one_workspace,
});
