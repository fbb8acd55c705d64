//! Saves the form of a changelog: creates or edits it, and publishes it or makes it a draft again, in one unit of work.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::changelog::ChangelogDetail;
use crate::ports::UnitOfWork;
use crate::usecase::change_changelog::{
    ChangelogChanged, EditUnchangedChangelog, PublishChangelog, UnpublishChangelog,
};
use crate::usecase::create_changelog::CreateChangelog;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::triage_feature_requests::TriageFeatureRequests;

/// Edits a changelog, unless somebody else has changed it since its editor read it, and publishes or unpublishes it.
#[derive(Debug, Clone)]
pub struct SaveChangelog {
    pub edit: EditUnchangedChangelog,
    /// What follows it.
    pub then: ThenPublish,
    /// The move of its feature requests, if they are done with it.
    pub moves: Option<TriageFeatureRequests>,
}

/// What follows an edit.
#[derive(Debug, Clone)]
pub enum ThenPublish {
    Nothing,
    /// It is published.
    Publish(PublishChangelog),
    /// It becomes a draft again.
    Unpublish(UnpublishChangelog),
}

#[async_trait]
impl Operation for SaveChangelog {
    /// The change by what followed the edit, if anything.
    type Output = Option<ChangelogChanged>;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Self::Output>, RoadmapError> {
        let mut saved = self.edit.perform(context, work).await?.map(|_| None);
        if let Some(moves) = &self.moves {
            saved.join(moves.perform(context, work).await?);
        }
        saved.output = match &self.then {
            ThenPublish::Nothing => None,
            ThenPublish::Publish(publish) => Some(saved.join(publish.perform(context, work).await?)),
            ThenPublish::Unpublish(unpublish) => Some(saved.join(unpublish.perform(context, work).await?)),
        };
        Ok(saved)
    }
}

/// Creates a changelog, and mails the voters if it is published at once.
#[derive(Debug, Clone)]
pub struct CreateAndNotify {
    pub create: CreateChangelog,
    /// Whether the voters of its feature requests are notified.
    pub notify_subscribers: bool,
    /// The move of its feature requests, if they are done with it.
    pub moves: Option<TriageFeatureRequests>,
}

#[async_trait]
impl Operation for CreateAndNotify {
    /// The changelog, and the change by the notification, if there was one.
    type Output = (ChangelogDetail, Option<ChangelogChanged>);

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Self::Output>, RoadmapError> {
        let mut created = self.create.perform(context, work).await?.map(|detail| (detail, None));
        if let Some(moves) = &self.moves {
            created.join(moves.perform(context, work).await?);
        }
        if self.notify_subscribers {
            let changelog = created.output.0.changelog.id;
            let publish = PublishChangelog { changelog, notify_subscribers: true };
            created.output.1 = Some(created.join(publish.perform(context, work).await?));
        }
        Ok(created)
    }
}
