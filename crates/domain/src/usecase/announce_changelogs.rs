//! Announces changelogs whose time of publication has come.

use async_trait::async_trait;

use crate::error::{ErrorChain, RoadmapError};
use crate::model::audit::{Audit, Origin, OwnRecord};
use crate::model::id::ChangelogId;
use crate::model::timestamp::Timestamp;
use crate::model::webhook_event::{EventDraft, EventKind};
use crate::ports::{UnitOfWork, WebhookQueue};
use crate::usecase::executor::{Executor, Operation, OperationContext, Performed};

/// Maximum number of changelogs that are announced at a time.
const AT_ONCE: u32 = 100;

/// Announces a changelog that is published at a time which has come. Returns whether it was to be announced.
#[derive(Debug, Clone, Copy)]
pub struct AnnounceChangelog {
    pub changelog: ChangelogId,
}

#[async_trait]
impl Operation for AnnounceChangelog {
    type Output = bool;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        if !work.mark_announced(self.changelog, context.now).await? {
            return Ok(Performed::new(false, Audit::Unchanged));
        }
        let event = EventDraft::of_changelog(EventKind::ChangelogPublished, self.changelog);
        Ok(Performed::new(true, Audit::OwnRecord(OwnRecord::Announcement)).announcing([event]))
    }
}

/// Announces the changelogs of all workspaces whose time of publication has come. Returns their number.
///
/// # Errors
/// Errors of the store while it looks for them. An error of one changelog is logged and does not delay the others.
pub async fn announce_changelogs(
    queue: &dyn WebhookQueue,
    executor: &Executor,
    now: Timestamp,
) -> Result<u64, RoadmapError> {
    let executor = executor.acting_as(Origin::service());
    let mut announced = 0;
    for (workspace, changelog) in queue.changelogs_to_announce(now, AT_ONCE).await? {
        match executor.run_without_key(workspace, &AnnounceChangelog { changelog }).await {
            Ok(is_announced) => announced += u64::from(is_announced),
            Err(error) => {
                let error = ErrorChain::new(&error);
                tracing::warn!(%workspace, %changelog, %error, "failed to announce a changelog");
            }
        }
    }
    Ok(announced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::{MockStore, MockUnit, MockWebhookQueue};
    use crate::ports::{BeginOutcome, EndOutcome};
    use crate::usecase::fixtures::{executor_of, now, perform, workspace};
    use pollster::block_on;
    use uuid::Uuid;

    fn changelog() -> ChangelogId {
        ChangelogId::new(Uuid::from_u128(5))
    }

    #[test]
    fn only_what_is_to_be_announced_is() {
        for is_due in [true, false] {
            let mut unit = MockUnit::new();
            unit.expect_mark_announced().returning(move |_, _| Ok(is_due));
            let performed = perform(&AnnounceChangelog { changelog: changelog() }, &mut unit).unwrap();
            let expected = EventDraft::of_changelog(EventKind::ChangelogPublished, changelog());
            assert_eq!(performed.events, if is_due { vec![expected] } else { Vec::new() });
        }
    }

    #[test]
    fn an_error_does_not_delay_the_others() {
        let mut queue = MockWebhookQueue::new();
        queue.expect_changelogs_to_announce().returning(|_, _| Ok(vec![(workspace(), changelog()); 2]));
        let (mut store, mut fails) = (MockStore::new(), true);
        store.expect_begin().times(2).returning(move |_, _| {
            let mut unit = MockUnit::new();
            if std::mem::take(&mut fails) {
                return Err(crate::error::StoreError::Fatal("gone".into()));
            }
            unit.expect_mark_announced().returning(|_, _| Ok(true));
            unit.expect_record_events().times(1).returning(|_| Ok(()));
            unit.expect_commit().returning(|_, _| Ok(EndOutcome::Applied));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        assert_eq!(block_on(announce_changelogs(&queue, &executor_of(store), now())).unwrap(), 1);
    }
}
