//! What only imports write.

use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::audit::Audit;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::vote::VoteCounts;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::delete_feature_request::DeleteFeatureRequest;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::effort::{SeededRng, rounds};
use crate::harness::{Failing, Harness, largest_page, merge, unmerge, vote};

/// Sets the nameless votes of feature requests.
struct SetNamelessVotes(Vec<(FeatureRequestId, u32)>);

#[async_trait]
impl Operation for SetNamelessVotes {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        work.set_nameless_votes(&self.0).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

/// The number of votes of a feature request, which is that of its list of voters and of its nameless votes.
async fn votes(harness: &Harness, workspace: WorkspaceId, request: &FeatureRequestSummary) -> (i64, u64) {
    let summary = harness.detail(workspace, request.id).await.summary;
    let reader = &harness.subject.reader;
    let reference = FeatureRequestRef::Id(request.id);
    let listing = reader.voters(workspace, &reference, largest_page()).await.unwrap().unwrap();
    let counts = reader.vote_counts(workspace, summary.id).await.unwrap();
    assert_eq!(listing.total, listing.items.len() as u64);
    assert_eq!(summary.votes_count.unsigned_abs(), listing.total + counts.nameless);
    (summary.votes_count, counts.nameless)
}

/// Nameless votes count in the tally of a tree, and in no list of voters. They belong to the feature request that was
/// imported with them, so that unmerging and deleting are exact.
pub async fn nameless_votes_count_in_trees(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [source, target, other] = harness.requests(acme, ["Source", "Target", "Other"]).await;
    for (request, address) in [(&source, "ann@a.example"), (&target, "ann@a.example"), (&target, "bob@b.example")] {
        harness.vote(acme, request, address).await;
    }
    let set = |votes: &[(FeatureRequestId, u32)]| SetNamelessVotes(votes.to_vec());
    harness.perform(acme, &set(&[(source.id, 5), (target.id, 2)])).await;
    assert_eq!((votes(&harness, acme, &source).await, votes(&harness, acme, &target).await), ((6, 5), (4, 2)));
    assert_eq!(votes(&harness, acme, &other).await, (0, 0));
    // Neither another workspace nor an unknown feature request has any, and nothing is left of what was rolled back.
    let unknown = FeatureRequestId::new(Uuid::from_u128(1));
    harness.perform(bolt, &set(&[(source.id, 9)])).await;
    harness.perform(acme, &set(&[(unknown, 9), (target.id, 3)])).await;
    harness.perform(acme, &set(&[])).await;
    harness.failure(acme, &Failing(set(&[(target.id, 9)]))).await;
    assert_eq!((votes(&harness, acme, &source).await, votes(&harness, acme, &target).await), ((6, 5), (5, 3)));
    assert_eq!(harness.subject.reader.vote_counts(bolt, source.id).await.unwrap(), VoteCounts::default());

    let preview = harness.subject.reader.merge_preview(acme, source.id, target.id).await.unwrap().unwrap();
    assert_eq!(preview.votes_count, 10);
    harness.merge(acme, source.id, target.id).await;
    assert_eq!(votes(&harness, acme, &target).await, (10, 8));
    // Of a merged one, they change in the tally of its tree.
    harness.perform(acme, &set(&[(source.id, 1), (target.id, 4)])).await;
    assert_eq!(votes(&harness, acme, &target).await, (7, 5));
    harness.withdraw(acme, target.id, "ann@a.example").await;
    assert_eq!(votes(&harness, acme, &target).await, (6, 5));
    harness.vote(acme, &source, "cyd@c.example").await;
    assert_eq!(votes(&harness, acme, &target).await, (7, 5));
    harness.unmerge(acme, source.id).await;
    assert_eq!((votes(&harness, acme, &source).await, votes(&harness, acme, &target).await), ((1, 1), (6, 4)));

    harness.merge(acme, source.id, target.id).await;
    harness.merge(acme, target.id, other.id).await;
    assert_eq!(votes(&harness, acme, &other).await, (7, 5));
    harness.perform(acme, &DeleteFeatureRequest { request: FeatureRequestRef::Id(source.id), with_merged: true }).await;
    assert_eq!(votes(&harness, acme, &other).await, (6, 4));
    harness.perform(acme, &set(&[(target.id, 0)])).await;
    assert_eq!(votes(&harness, acme, &other).await, (2, 0));
}

/// Concurrent votes, withdrawals and merges lose no nameless vote, and count none twice.
pub async fn concurrent_votes_leave_nameless_ones(harness: Harness) {
    let harness = Arc::new(harness);
    let workspace = harness.workspace("acme").await;
    let requests = harness.requests(workspace, ["One", "Two"]).await;
    let [one, two] = [requests[0].id, requests[1].id];
    let mut tasks = JoinSet::new();
    for task in 0..3 {
        let harness = Arc::clone(&harness);
        tasks.spawn(async move {
            let mut random = SeededRng::new(task);
            for round in 0..rounds(20, 100) {
                match (task, round % 2) {
                    (0, _) => {
                        let [first, second] = [0, 1].map(|_| u32::try_from(random.below(9)).unwrap());
                        harness.perform(workspace, &SetNamelessVotes(vec![(two, second), (one, first)])).await;
                    }
                    (1, 0) => drop(harness.perform(workspace, &merge(one, two)).await),
                    (1, _) => drop(harness.perform(workspace, &unmerge(one)).await),
                    (_, even) => {
                        let reference = FeatureRequestRef::Id(if even == 0 { one } else { two });
                        let email = format!("voter{}@example.com", random.below(5));
                        harness.perform(workspace, &vote(reference, Some((&email, None)), None)).await;
                    }
                }
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    harness.perform(workspace, &SetNamelessVotes(vec![(one, 3), (two, 4)])).await;
    let separate = [votes(&harness, workspace, &requests[0]).await, votes(&harness, workspace, &requests[1]).await];
    assert_eq!(separate.map(|(_, nameless)| nameless), [3, 4]);
    harness.merge(workspace, one, two).await;
    assert_eq!(votes(&harness, workspace, &requests[1]).await.1, 7);
}

crate::contract::cases!($ imports {
    nameless_votes_count_in_trees,
    concurrent_votes_leave_nameless_ones,
});
