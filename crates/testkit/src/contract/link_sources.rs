//! Link sources, and the links that they report about.

use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::audit::Audit;
use roadmap_domain::model::feature_request::{FeatureRequestRef, Title};
use roadmap_domain::model::id::{FeatureRequestId, LinkId, LinkSourceId, TrackId, WorkspaceId};
use roadmap_domain::model::link::{Issue, Link, LinkState, LinkUrl, Tracker};
use roadmap_domain::model::link_source::LinkSource;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::harness::{Harness, add_link};

/// What a unit of work does with link sources and reported links.
enum Step {
    Save(Box<LinkSource>, &'static str),
    Delete(LinkSourceId),
    Report {
        issue: &'static str,
        title: &'static str,
        state: LinkState,
        at: Timestamp,
    },
    /// Adds a link source unless there are so many.
    SaveUpTo(usize, Box<LinkSource>),
}

/// Performs a step.
struct Perform(Step);

#[async_trait]
impl Operation for Perform {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        match &self.0 {
            Step::Save(source, sealed) => work.save_link_source(source, sealed).await?,
            Step::Delete(source) => work.delete_link_source(*source).await?,
            Step::SaveUpTo(limit, source) => {
                if work.load_link_sources().await?.len() < *limit {
                    work.save_link_source(source, "sealed").await?;
                }
            }
            Step::Report { issue: of, title, state, at } => {
                let links = work.links_to(&issue(of), None, 100).await?.into_iter();
                let reported = |(_, link): (FeatureRequestId, Link)| Link {
                    title: Some(Title::from_stored((*title).to_owned())),
                    state: Some(*state),
                    updated_at: context.now,
                    ..link
                };
                work.save_reported_links(&links.map(reported).collect::<Vec<_>>(), *at).await?;
            }
        }
        Ok(Performed::new((), Audit::Unchanged))
    }
}

/// Reads what a unit of work sees of an issue.
struct Look(&'static str, Option<LinkId>, u32);

#[async_trait]
impl Operation for Look {
    type Output = (Option<Timestamp>, Vec<(FeatureRequestId, LinkId)>);

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Self::Output>, RoadmapError> {
        let Self(of, after, limit) = self;
        let links = work.links_to(&issue(of), *after, *limit).await?;
        let links = links.into_iter().map(|(request, link)| (request, link.id)).collect();
        Ok(Performed::new((work.last_report(&issue(of)).await?, links), Audit::Unchanged))
    }
}

/// Whether a feature request has open links.
struct HasOpen(FeatureRequestId);

#[async_trait]
impl Operation for HasOpen {
    type Output = bool;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        Ok(Performed::new(work.has_open_links(self.0).await?, Audit::Unchanged))
    }
}

fn issue(url: &str) -> Issue {
    LinkUrl::from_stored(url.to_owned()).issue()
}

fn source(number: u128, track: Option<TrackId>, at: Timestamp) -> LinkSource {
    LinkSource {
        id: LinkSourceId::new(Uuid::from_u128(number)),
        name: Name::from_stored(format!("Tracker {number}")),
        tracker: Tracker::Gitlab,
        closed_track: track,
        notify_all_voters: true,
        enabled: false,
        last_received_at: None,
        created_at: at,
        updated_at: at,
    }
}

async fn step(harness: &Harness, workspace: WorkspaceId, step: Step) {
    harness.perform(workspace, &Perform(step)).await;
}

/// All fields are stored and replaced, and the sealed secret is kept as it is.
pub async fn link_sources_are_saved_listed_and_deleted(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let reader = &harness.subject.reader;
    let track = reader.tracks(workspace).await.unwrap()[0].id;
    let (first_at, second_at) = (harness.next_second(), harness.next_second());
    let (first, second) = (source(2, Some(track), first_at), source(1, None, second_at));
    for (saved, sealed) in [(&second, "sealed1.b.x"), (&first, "sealed1.a.x")] {
        step(&harness, workspace, Step::Save(Box::new(saved.clone()), sealed)).await;
    }
    assert_eq!(reader.link_sources(workspace).await.unwrap(), [first.clone(), second.clone()]);
    assert_eq!(reader.link_sources(other).await.unwrap(), []);
    let sealed = |workspace, id| reader.sealed_link_source(workspace, id);
    let found = Some((first.clone(), "sealed1.a.x".to_owned()));
    assert_eq!(sealed(workspace, first.id).await.unwrap(), found);
    assert_eq!(sealed(other, first.id).await.unwrap(), None);
    let otherwise = |prefix: &'static str| harness.subject.maintenance.link_sources_sealed_otherwise(prefix);
    assert_eq!(otherwise("sealed1.a.").await.unwrap(), [(workspace, second.id)]);
    assert_eq!(otherwise("sealed1.").await.unwrap(), []);

    let at = harness.next_second();
    let changed = LinkSource {
        name: Name::from_stored("Ärger".to_owned()),
        closed_track: None,
        notify_all_voters: false,
        enabled: true,
        last_received_at: Some(at),
        updated_at: at,
        ..first
    };
    step(&harness, workspace, Step::Save(Box::new(changed.clone()), "sealed1.c.x")).await;
    assert_eq!(sealed(workspace, changed.id).await.unwrap(), Some((changed.clone(), "sealed1.c.x".to_owned())));
    step(&harness, other, Step::Delete(changed.id)).await;
    step(&harness, workspace, Step::Delete(second.id)).await;
    assert_eq!(reader.link_sources(workspace).await.unwrap(), [changed]);
}

/// Units of work that load link sources wait for each other.
pub async fn the_number_of_link_sources_is_limited_also_at_the_same_time(harness: Harness) {
    let harness = Arc::new(harness);
    let workspace = harness.workspace("acme").await;
    let at = harness.next_second();
    let mut adding = JoinSet::new();
    for number in 1..=8 {
        let harness = Arc::clone(&harness);
        let add = Step::SaveUpTo(3, Box::new(source(number, None, at)));
        adding.spawn(async move { step(&harness, workspace, add).await });
    }
    adding.join_all().await;
    assert_eq!(harness.subject.reader.link_sources(workspace).await.unwrap().len(), 3);
}

/// The links of an issue are found with the feature request that shows them, and a report changes all of them.
///
/// Links: all links to the issue; those of merged ones are the target's.
pub async fn a_report_changes_all_links_to_its_issue(harness: Harness) {
    const ISSUE: &str = "https://github.com/a/b/issues/7";
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let [target, merged, alone] =
        harness.requests(workspace, ["Target", "Merged", "Alone"]).await.map(|request| request.id);
    let [foreign] = harness.requests(other, ["Foreign"]).await.map(|request| request.id);
    let mut links = Vec::new();
    for (workspace, request, url) in [
        (workspace, target, "https://github.com/A/B/pull/7?x=1"),
        (workspace, merged, ISSUE),
        (workspace, alone, ISSUE),
        (workspace, alone, "https://github.com/a/b/issues/8"),
        (other, foreign, ISSUE),
    ] {
        let added = harness.perform(workspace, &add_link(FeatureRequestRef::Id(request), url)).await;
        links.push(added.link.id);
    }
    harness.merge(workspace, merged, target).await;
    let shown = vec![(target, links[0]), (target, links[1]), (alone, links[2])];
    assert_eq!(harness.perform(workspace, &Look(ISSUE, None, 100)).await, (None, shown.clone()));
    assert_eq!(harness.perform(workspace, &Look(ISSUE, None, 2)).await.1, shown[..2]);
    assert_eq!(harness.perform(workspace, &Look(ISSUE, Some(links[1]), 2)).await.1, shown[2..]);

    let at = harness.next_second();
    step(&harness, workspace, Step::Report { issue: ISSUE, title: "Dark", state: LinkState::Closed, at }).await;
    assert_eq!(harness.perform(workspace, &Look(ISSUE, None, 100)).await.0, Some(at));
    assert_eq!(harness.perform(other, &Look(ISSUE, None, 100)).await.0, None);
    for (request, is_open) in [(target, false), (merged, false), (alone, true)] {
        assert_eq!(harness.perform(workspace, &HasOpen(request)).await, is_open, "{request}");
    }
    assert!(harness.perform(other, &HasOpen(foreign)).await);
    let request = FeatureRequestRef::Id(target);
    let listed = harness.subject.reader.links(workspace, &request, Default::default()).await.unwrap().unwrap();
    let shown: Vec<_> =
        listed.items.iter().map(|link| (link.title.as_ref().map(|title| title.as_str()), link.state)).collect();
    assert_eq!(shown, vec![(Some("Dark"), Some(LinkState::Closed)); 2]);
}

crate::contract::cases!($ link_sources {
    link_sources_are_saved_listed_and_deleted,
    the_number_of_link_sources_is_limited_also_at_the_same_time,
    a_report_changes_all_links_to_its_issue,
});
