//! Deletes what a run has made.

use std::collections::BTreeSet;

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::feature_request::RequestLink;
use crate::model::id::{ChangelogId, CustomerId, FeatureRequestId, ImportId, LaneId, TrackId};
use crate::model::import::records::Kind;
use crate::model::import::run::{Import, ImportState};
use crate::model::import::upload::ImportJob;
use crate::model::import::{MadeChangelog, MadePosts, MadeRequest};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::import::run::{Begun, at_work, stop_abandoned};
use crate::usecase::indexing::index;

/// How many feature requests are looked at in one unit of work. Bounds how long other writes wait.
const REQUESTS: u32 = 50;
/// How many posts or customers are.
const ROWS: u32 = 1_000;

/// Begins to undo a run, or goes on with it.
#[derive(Debug, Clone)]
pub struct BeginUndo {
    pub id: ImportId,
    /// The process that works on it.
    pub holder: Uuid,
}

/// Deletes the next feature requests of a run on which nothing else has happened since: first those that are merged, because
/// others would take them with them.
#[derive(Debug, Clone, Copy)]
pub struct UndoRequests {
    pub id: ImportId,
    pub holder: Uuid,
    /// Whether those are meant that are merged.
    pub merged: bool,
    /// Those up to this one were looked at.
    pub after: Option<FeatureRequestId>,
}

/// Feature requests that were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestsUndone {
    pub deleted: u64,
    /// What was deleted with them.
    pub posts: MadePosts,
    /// Those that stay, because something else has happened to them.
    pub kept: Vec<RequestLink>,
    /// The last one that was looked at. `None`: there are no more.
    pub last: Option<FeatureRequestId>,
}

/// Deletes the next changelogs of a run that nobody has edited since. They come first, because feature requests stay that a
/// changelog links to.
#[derive(Debug, Clone, Copy)]
pub struct UndoChangelogs {
    pub id: ImportId,
    pub holder: Uuid,
    /// Those up to this one were looked at.
    pub after: Option<ChangelogId>,
}

/// Changelogs that were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogsUndone {
    pub deleted: u64,
    /// Those that stay, because they were edited.
    pub kept: Vec<MadeChangelog>,
    /// The last one that was looked at. `None`: there are no more.
    pub last: Option<ChangelogId>,
}

/// Deletes the next votes, subscriptions, comments and notes that a run has added to feature requests that it has not made.
#[derive(Debug, Clone, Copy)]
pub struct UndoPosts {
    pub id: ImportId,
    pub holder: Uuid,
}

/// Deletes the next customers of a run to whom nothing refers.
#[derive(Debug, Clone, Copy)]
pub struct UndoCustomers {
    pub id: ImportId,
    pub holder: Uuid,
    /// Those up to this one were looked at.
    pub after: Option<CustomerId>,
}

/// Deletes the removed members and the tracks of a run to which nothing refers, and ends the undoing.
#[derive(Debug, Clone, Copy)]
pub struct EndUndo {
    pub id: ImportId,
    pub holder: Uuid,
}

/// What is deleted at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoEnded {
    pub members: u64,
    pub tracks: u64,
    pub lanes: u64,
}

/// Says that the process works on it, and checks that no other one does.
async fn keep(
    work: &mut dyn UnitOfWork,
    (id, holder): (ImportId, Uuid),
    context: &OperationContext<'_>,
) -> Result<Import, RoadmapError> {
    let imports = work.load_imports().await?;
    let import = imports.into_iter().find(|import| import.id == id);
    let import = import.ok_or(RoadmapError::NotFound(Resource::Import))?;
    if import.holder != holder || import.state != ImportState::Undoing {
        return Err(RoadmapError::Conflict(Conflict::ImportTakenOver));
    }
    let import = Import { seen_at: context.now, ..import };
    work.save_import(&import).await?;
    Ok(import)
}

#[async_trait]
impl Operation for BeginUndo {
    type Output = Begun;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Begun>, RoadmapError> {
        let mut imports = work.load_imports().await?;
        let import = imports.iter().find(|import| import.id == self.id).cloned();
        let import = import.ok_or(RoadmapError::NotFound(Resource::Import))?;
        if let Some(other) =
            at_work(&imports, context.now).filter(|other| other.is_at_work(context.now) || other.id != self.id)
        {
            return Ok(Performed::new(Begun::Busy(other.id), Audit::Unchanged));
        }
        if import.job != Some(ImportJob::Undo) && !import.can_undo(context.now) {
            return Err(RoadmapError::Conflict(Conflict::ImportNotUndoable));
        }
        stop_abandoned(&mut imports, context.now, work).await?;
        let is_new = import.state != ImportState::Undoing;
        let import = Import { state: ImportState::Undoing, holder: self.holder, seen_at: context.now, ..import };
        work.save_import(&import).await?;
        let audit = Audit::entry("import.undo", "import", Some(import.id.uuid()));
        Ok(Performed::new(Begun::Run(Box::new(import)), if is_new { audit } else { Audit::Unchanged }))
    }
}

#[async_trait]
impl Operation for UndoChangelogs {
    type Output = ChangelogsUndone;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ChangelogsUndone>, RoadmapError> {
        keep(work, (self.id, self.holder), context).await?;
        let made = work.made_changelogs(self.id, self.after, REQUESTS).await?;
        let mut undone = ChangelogsUndone { deleted: 0, kept: Vec::new(), last: made.last().map(|made| made.id) };
        for changelog in made {
            if changelog.has_changed {
                undone.kept.push(changelog);
            } else {
                undone.deleted += u64::from(work.delete_changelog(changelog.id).await?);
            }
        }
        Ok(Performed::new(undone, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for UndoRequests {
    type Output = RequestsUndone;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<RequestsUndone>, RoadmapError> {
        keep(work, (self.id, self.holder), context).await?;
        let made = work.made_requests(self.id, self.merged, self.after, REQUESTS).await?;
        let last = made.last().map(|made| made.link.id);
        let mut undone = RequestsUndone { deleted: 0, posts: MadePosts::default(), kept: Vec::new(), last };
        let mut roots = BTreeSet::new();
        for MadeRequest { link, root, posts, has_changed } in made {
            if has_changed {
                undone.kept.push(link);
                continue;
            }
            work.delete_feature_request(link.id).await?;
            undone.deleted += 1;
            undone.posts.add(posts);
            if self.merged {
                roots.insert(root);
            }
        }
        // They were found by the words of what is deleted.
        for root in roots {
            index(work, root).await?;
        }
        Ok(Performed::new(undone, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for UndoPosts {
    /// How many. `None`: there are no more.
    type Output = Option<MadePosts>;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Option<MadePosts>>, RoadmapError> {
        keep(work, (self.id, self.holder), context).await?;
        Ok(Performed::new(work.delete_made_posts(self.id, ROWS).await?, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for UndoCustomers {
    /// How many were deleted, and the last one that was looked at.
    type Output = (u64, Option<CustomerId>);

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Self::Output>, RoadmapError> {
        keep(work, (self.id, self.holder), context).await?;
        Ok(Performed::new(work.delete_made_customers(self.id, self.after, ROWS).await?, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for EndUndo {
    type Output = UndoEnded;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<UndoEnded>, RoadmapError> {
        let import = keep(work, (self.id, self.holder), context).await?;
        let members = work.delete_made_members(self.id).await?;
        let mut board = work.load_board().await?;
        let mut tracks = 0;
        for track in work.made_records(self.id, Kind::Tracks).await?.into_iter().map(TrackId::new) {
            if board.track(track).is_ok()
                && !work.has_feature_requests(track).await?
                && board.remove_track(track).is_ok()
            {
                tracks += 1;
            }
        }
        let mut lanes = 0;
        for lane in work.made_records(self.id, Kind::Lanes).await?.into_iter().map(LaneId::new) {
            let is_used = board.tracks().iter().any(|track| track.lane.as_ref().is_some_and(|used| used.id == lane));
            if !is_used && board.remove_lane(lane).is_ok() {
                lanes += 1;
            }
        }
        if tracks + lanes > 0 {
            work.save_board(&board).await?;
        }
        work.forget_deleted(self.id).await?;
        let import = Import { state: ImportState::Undone, upload: None, ended_at: Some(context.now), ..import };
        work.save_import(&import).await?;
        let changes = vec![Change::new("state", ImportState::Undoing.name(), ImportState::Undone.name())];
        let audit = Audit::with_changes("import.finish", "import", Some(import.id.uuid()), changes);
        let performed = Performed::new(UndoEnded { members, tracks, lanes }, audit);
        Ok(if tracks + lanes > 0 { performed.changing_configuration() } else { performed })
    }
}
