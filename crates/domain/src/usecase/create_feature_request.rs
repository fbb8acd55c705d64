//! Creates a feature request, contract section 4.9. The customer becomes the author and the first voter.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, StoreError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::customer::CustomerDraft;
use crate::model::feature_request::{Description, FeatureRequestRef, NewFeatureRequest, Tag, Title};
use crate::model::id::{CustomerId, FeatureRequestId, NoteId, TrackId};
use crate::model::note::NoteDraft;
use crate::model::picture::MAX_IN_POST;
use crate::model::search::SearchDocument;
use crate::model::vote::{NewVote, VoteCast, VoteOutcome};
use crate::model::webhook_event::{EventDraft, EventKind};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::add_picture::keep_pictures;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Creates a feature request.
#[derive(Debug, Clone)]
pub struct CreateFeatureRequest {
    draft: FeatureRequestDraft,
    search: Option<SearchDocument>,
}

impl CreateFeatureRequest {
    /// Creates the command from a draft.
    ///
    /// Builds the search document here, before the unit of work begins: on SQLite an open unit of work blocks all other
    /// writes.
    #[must_use]
    pub fn new(draft: FeatureRequestDraft) -> Self {
        let search = (!draft.private).then(|| {
            let tags = draft.tags.iter().map(Tag::as_str);
            SearchDocument::new(draft.title.as_str(), tags, draft.description.text())
        });
        Self { draft, search }
    }

    fn stored_bytes(&self) -> u64 {
        let draft = &self.draft;
        let FeatureRequestDraft { title, description, tags, .. } = draft;
        let request = storage::feature_request_bytes(title, description, tags, self.search.as_ref());
        let author = draft.customer.as_ref().map_or(0, storage::voter_bytes);
        let note = draft.note.as_ref().map_or(0, storage::note_bytes);
        request + author + note
    }
}

/// The validated fields of a new feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureRequestDraft {
    pub title: Title,
    pub description: Description,
    pub tags: Vec<Tag>,
    /// The initial track. `None` means the workspace's first track.
    pub track: Option<TrackId>,
    /// Whether the feature request is hidden from search and all public views.
    pub private: bool,
    /// Whether it is private only until it is approved.
    pub awaiting_approval: bool,
    /// The requesting customer.
    pub customer: Option<CustomerDraft>,
    /// A private note of the team.
    pub note: Option<NoteDraft>,
}

#[async_trait]
impl Operation for CreateFeatureRequest {
    type Output = VoteCast;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<VoteCast>, RoadmapError> {
        let draft = &self.draft;
        let first = work.first_track().await?.ok_or(RoadmapError::NotFound(Resource::Track))?;
        let first_id = first.id;
        let track = match draft.track {
            Some(track) if track != first_id => {
                work.find_track(track).await?.ok_or(RoadmapError::NotFound(Resource::Track))?
            }
            Some(_) | None => first,
        };
        let author = draft.customer.as_ref().map(|customer| customer.to_new_customer(context.new_id(CustomerId::new)));
        let id = context.new_id(FeatureRequestId::new);
        let text = ("description", draft.description.clean());
        let description = draft.description.with_html(keep_pictures(work, text, id.uuid(), MAX_IN_POST).await?);
        let request = work
            .insert_feature_request(&NewFeatureRequest {
                id,
                title: draft.title.clone(),
                description,
                tags: draft.tags.clone(),
                track: track.id,
                is_handled: track.id != first_id || track.kind().is_closed(),
                private: draft.private,
                awaiting_approval: draft.awaiting_approval,
                author: author.clone(),
                search: self.search.clone(),
                created_at: context.now,
            })
            .await?;
        let note = draft.note.as_ref().map(|note| note.to_new_note(context.new_id(NoteId::new)));
        // The author's own vote is a part of the new feature request.
        let created = EventDraft::of_request(EventKind::FeatureRequestCreated, request.id);
        let noted = note.as_ref().map(|note| EventDraft::of_note(request.id, note.id));
        let cast = if author.is_none() && note.is_none() {
            VoteCast { outcome: VoteOutcome::NoVoter, request }
        } else {
            let vote = NewVote { request: FeatureRequestRef::Id(request.id), customer: author, note, at: context.now };
            let lost =
                || StoreError::Fatal("a feature request was not found in the unit of work that stored it".into());
            work.cast_vote(&vote).await?.ok_or_else(lost)?
        };
        let performed = Performed::new(cast, Audit::OwnRecord(OwnRecord::FeatureRequest));
        Ok(performed.storing(self.stored_bytes()).announcing([created]).announcing(noted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::member::Author;
    use crate::model::track::Track;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{name, now, perform, summary};
    use uuid::Uuid;

    fn track(number: u128) -> Track {
        Track { id: TrackId::new(Uuid::from_u128(number)), name: name("Inbox"), lane: None }
    }

    fn draft() -> FeatureRequestDraft {
        FeatureRequestDraft {
            title: Title::parse("title", "Dark mode").unwrap(),
            description: Description::parse("description", "<p>Eyes</p>").unwrap(),
            tags: Tag::parse_list("tags", &["UI".to_owned()]).unwrap(),
            track: None,
            private: false,
            awaiting_approval: false,
            customer: None,
            note: None,
        }
    }

    fn create(unit: &mut MockUnit, draft: FeatureRequestDraft) -> Result<VoteCast, RoadmapError> {
        perform(&CreateFeatureRequest::new(draft), unit).map(|performed| performed.output)
    }

    /// The event of the new feature request.
    fn created() -> EventDraft {
        EventDraft::of_request(EventKind::FeatureRequestCreated, summary("", None, 0).id)
    }

    /// Decision 4.
    #[test]
    fn a_request_starts_on_the_first_track_without_votes() {
        let mut unit = MockUnit::new();
        unit.expect_first_track().returning(|| Ok(Some(track(9))));
        unit.expect_insert_feature_request()
            .withf(|new| {
                new.track == track(9).id
                    && new.author.is_none()
                    && new.created_at == now()
                    && new.search.as_ref().is_some_and(|search| {
                        (search.title.as_str(), search.tags.as_str(), search.description.as_str())
                            == (" dark/dark mode/mode +darkmod/darkmode §50", " ui/ui", " eye/eyes")
                    })
            })
            .times(1)
            .returning(|_| Ok(summary("Inbox", None, 0)));
        let performed = perform(&CreateFeatureRequest::new(draft()), &mut unit).unwrap();
        assert_eq!((performed.output.vote_registered(), performed.output.already_voted()), (false, false));
        assert_eq!(performed.events, [created()]);
    }

    /// Decision 4.
    #[test]
    fn the_customer_is_author_and_first_voter() {
        let customer = CustomerDraft::parse(Some("ann@example.com"), None).unwrap();
        let note = NoteDraft::parse(Some("big account"), None).unwrap();
        let mut unit = MockUnit::new();
        unit.expect_first_track().returning(|| Ok(Some(track(9))));
        unit.expect_insert_feature_request()
            .withf(|new| new.author.is_some())
            .returning(|_| Ok(summary("Inbox", None, 0)));
        unit.expect_cast_vote()
            .withf(|vote| {
                vote.request == FeatureRequestRef::Id(summary("Inbox", None, 0).id)
                    && vote.customer.as_ref().is_some_and(|customer| customer.email.as_str() == "ann@example.com")
                    && vote.note.as_ref().is_some_and(|note| note.author == Author::Oldest)
            })
            .times(1)
            .returning(|_| Ok(Some(VoteCast { outcome: VoteOutcome::Registered, request: summary("Inbox", None, 1) })));
        let draft = FeatureRequestDraft { customer: Some(customer), note: Some(note), ..draft() };
        let performed = perform(&CreateFeatureRequest::new(draft), &mut unit).unwrap();
        assert!(performed.output.vote_registered());
        assert_eq!(performed.output.request.votes_count, 1);
        // The IDs before are those of the customer and of the feature request.
        let noted = EventDraft::of_note(summary("", None, 0).id, NoteId::new(Uuid::from_u128(3)));
        assert_eq!(performed.events, [created(), noted]);
    }

    /// Contract 2.2.
    #[test]
    fn a_private_request_is_never_indexed() {
        let mut unit = MockUnit::new();
        unit.expect_first_track().returning(|| Ok(Some(track(9))));
        unit.expect_insert_feature_request()
            .withf(|new| new.private && new.search.is_none())
            .times(1)
            .returning(|_| Ok(summary("Inbox", None, 0)));
        let draft = FeatureRequestDraft { private: true, ..draft() };
        assert_eq!(perform(&CreateFeatureRequest::new(draft), &mut unit).unwrap().events, [created()]);
    }

    #[test]
    fn an_unknown_track_is_not_found() {
        let mut unit = MockUnit::new();
        unit.expect_first_track().returning(|| Ok(Some(track(1))));
        unit.expect_find_track().returning(|_| Ok(None));
        let outcome = create(&mut unit, FeatureRequestDraft { track: Some(track(5).id), ..draft() });
        assert!(matches!(outcome, Err(RoadmapError::NotFound(Resource::Track))));
    }
}
