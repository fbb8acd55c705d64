//! Changes many feature requests in one unit of work: all of them, or none.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::admin::{Selection, Triage};
use crate::model::audit::Audit;
use crate::model::feature_request::{FeatureRequestRef, Tag};
use crate::model::id::FeatureRequestId;
use crate::model::member::Author;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::approve_feature_request::{ApproveFeatureRequest, DeclineFeatureRequest};
use crate::usecase::edit_feature_request::{EditFeatureRequest, FeatureRequestChange};
use crate::usecase::executor::{Operation, OperationContext};
use crate::usecase::merge_feature_requests::MergeFeatureRequests;
use crate::usecase::move_feature_request::{MoveDraft, MoveFeatureRequest};

/// Does the same with all selected feature requests. Those that have been deleted are left out.
#[derive(Debug, Clone)]
pub struct TriageFeatureRequests {
    /// The feature requests.
    pub selection: Selection,
    /// What is done.
    pub triage: Triage,
}

/// What was done with the selected feature requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triaged {
    /// How many have changed.
    pub changed: usize,
    audits: Vec<Audit>,
    recorded_bytes: u64,
}

/// What an operation on one feature request has done.
struct Done {
    audit: Audit,
    recorded_bytes: u64,
}

async fn perform<O: Operation>(
    operation: &O,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<Done, RoadmapError> {
    let output = operation.perform(context, work).await?;
    Ok(Done { audit: operation.audit(&output), recorded_bytes: operation.recorded_bytes(&output) })
}

impl TriageFeatureRequests {
    async fn one(
        &self,
        id: FeatureRequestId,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Done, RoadmapError> {
        let request = FeatureRequestRef::Id(id);
        let edit = |change| EditFeatureRequest { request, change: Ok(change) };
        match &self.triage {
            Triage::Move(track) => {
                let draft = MoveDraft { track: *track, author: Author::Oldest, notify_all_voters: false };
                perform(&MoveFeatureRequest { request, draft: Ok(draft), mails_per_day: None }, context, work).await
            }
            Triage::AddTag(tag) => {
                let found = edit(FeatureRequestChange::default()).perform(context, work).await?;
                let mut tags: Vec<String> = found.detail.tags.iter().map(Tag::to_string).collect();
                tags.push(tag.to_string());
                let tags = Some(Tag::parse_list("tag", &tags)?);
                perform(&edit(FeatureRequestChange { tags, ..FeatureRequestChange::default() }), context, work).await
            }
            Triage::SetPrivate(private) => {
                let private = Some(*private);
                perform(&edit(FeatureRequestChange { private, ..FeatureRequestChange::default() }), context, work).await
            }
            Triage::MergeInto(target) => {
                let target = Ok(FeatureRequestRef::Id(*target));
                perform(&MergeFeatureRequests { source: request, target }, context, work).await
            }
            Triage::Approve => perform(&ApproveFeatureRequest { request }, context, work).await,
            Triage::Decline => perform(&DeclineFeatureRequest { request }, context, work).await,
        }
    }
}

#[async_trait]
impl Operation for TriageFeatureRequests {
    type Output = Triaged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Triaged, RoadmapError> {
        let selected = self.selection.requests();
        let existing = work.existing_feature_requests(selected).await?;
        let mut triaged = Triaged { changed: 0, audits: Vec::new(), recorded_bytes: 0 };
        for id in selected.iter().copied().filter(|id| existing.contains(id)) {
            let done = self.one(id, context, work).await?;
            triaged.changed += usize::from(done.audit != Audit::Unchanged);
            triaged.audits.push(done.audit);
            triaged.recorded_bytes += done.recorded_bytes;
        }
        Ok(triaged)
    }

    fn stored_bytes(&self) -> u64 {
        let requests = self.selection.requests().len() as u64;
        match &self.triage {
            Triage::AddTag(tag) => requests * (storage::row_bytes(&[tag.as_str()]) + storage::EVENT_BYTES),
            Triage::Move(_) | Triage::SetPrivate(_) | Triage::MergeInto(_) | Triage::Approve | Triage::Decline => 0,
        }
    }

    fn recorded_bytes(&self, triaged: &Triaged) -> u64 {
        triaged.recorded_bytes
    }

    fn audit(&self, triaged: &Triaged) -> Audit {
        Audit::all(triaged.audits.iter().cloned())
    }
}
