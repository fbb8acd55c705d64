//! Moves a feature request to any track of the workspace, contract section 4.9.

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::audit::{Actor, Audit, Change, OwnRecord};
use crate::model::comment::{Comment, CommentAuthor, parse_content};
use crate::model::event::{EventContent, Move};
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::html::CleanHtml;
use crate::model::id::{EventId, FeatureRequestId, TrackId};
use crate::model::mail::Topic;
use crate::model::member::Author;
use crate::model::text::Name;
use crate::model::track::{Placement, Track};
use crate::model::webhook_event::{EventDetails, EventDraft, EventKind, EventRecords, MoveDetails};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::notify::notify_subscribers;
use crate::usecase::post_comment::{Notify, insert_comment};
use crate::usecase::records::record_event;

/// Moves a feature request to a track.
#[derive(Debug, Clone)]
pub struct MoveFeatureRequest {
    pub request: FeatureRequestRef,
    pub draft: MoveDraft,
}

/// The validated fields of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveDraft {
    /// The new track.
    pub track: TrackId,
    /// The member who moves. Otherwise it is the actor of the operation.
    pub author: Author,
    /// Whether the subscribed customers are notified: of a new public status with the comment, or of the comment alone.
    pub notify_all_voters: bool,
    /// A public comment that says why.
    pub comment: Option<MoveComment>,
}

/// The validated fields of the comment of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveComment {
    pub content: CleanHtml,
    /// The member who writes it.
    pub author: Author,
}

impl MoveComment {
    /// Validates the fields.
    ///
    /// # Errors
    /// A `content` that is missing or invalid, or an `author_email` that is too long or has a NUL character.
    pub fn parse(content: Option<&str>, author_email: Option<&str>) -> Validated<Self> {
        Ok(Self { content: parse_content(content)?, author: Author::parse("author_email", author_email)? })
    }
}

/// A moved feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The feature request, on its new track.
    pub request: FeatureRequestSummary,
    /// The move. `None` if the feature request was on the track before.
    pub moved: Option<Move>,
    /// The comment, if one was given.
    pub comment: Option<Comment>,
}

#[async_trait]
impl Operation for MoveFeatureRequest {
    type Output = Moved;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Moved>, RoadmapError> {
        let request = work.lock_feature_request(&self.request).await?;
        let request = request.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        let track = work.find_track(self.draft.track).await?.ok_or(RoadmapError::NotFound(Resource::Track))?;
        move_to(&track, request, &self.draft, context, work).await
    }
}

/// Moves a feature request, which is locked, to a track.
pub(crate) async fn move_to(
    track: &Track,
    request: FeatureRequestSummary,
    draft: &MoveDraft,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<Performed<Moved>, RoadmapError> {
    let MoveDraft { author, notify_all_voters, comment, .. } = draft;
    let changes_status = request.placement.status.as_ref() != track.status();
    // The mail about the status has the comment.
    let notify = match (notify_all_voters, changes_status) {
        (true, true) => Notify::Nobody,
        (true, false) => Notify::Subscribers,
        (false, _) => Notify::People,
    };
    let (comment, bytes) = match comment {
        Some(MoveComment { content, author }) => {
            let author = CommentAuthor::Member(author.clone());
            let (posted, bytes) =
                insert_comment(context, work, (FeatureRequestRef::Id(request.id), content, author), notify).await?;
            (Some(posted.comment), bytes)
        }
        None => (None, 0),
    };
    // Names of tracks are unique.
    if request.placement.track == track.name {
        let audit = if comment.is_some() { Audit::OwnRecord(OwnRecord::Comment) } else { Audit::Unchanged };
        let commented =
            comment.as_ref().map(|comment| EventDraft::of_comment(EventKind::CommentCreated, request.id, comment.id));
        let output = Moved { request, moved: None, comment };
        return Ok(Performed::new(output, audit).storing(bytes).announcing(commented));
    }
    let placement = Placement { status: track.status().cloned(), track: track.name.clone() };
    let comment_id = comment.as_ref().map(|comment| comment.id);
    let moved = Move { from: request.placement, to: placement.clone(), comment: comment_id };
    work.set_feature_request_track(request.id, track.id, changes_status, context.now).await?;
    let actor = find_author(work, author).await?.unwrap_or_else(|| context.actor.clone());
    let id = record_event(context, work, request.id, actor.clone(), EventContent::Moved(moved.clone())).await?;
    let announced = announcement(request.id, (id, &moved), &actor, context);
    if *notify_all_voters && changes_status {
        notify_subscribers(context, work, Topic::StatusChange(id)).await?;
    }
    let audit = entry(request.id, &moved);
    let request = FeatureRequestSummary { placement, ..request };
    let output = Moved { request, moved: Some(moved), comment };
    Ok(Performed::new(output, audit).recording(storage::EVENT_BYTES).storing(bytes).announcing([announced]))
}

/// The event of a move, which has the comment, too.
fn announcement(
    request: FeatureRequestId,
    (id, moved): (EventId, &Move),
    actor: &Actor,
    context: &OperationContext<'_>,
) -> EventDraft {
    let records = EventRecords { request: Some(request), comment: moved.comment, ..EventRecords::default() };
    let moved = Some(MoveDetails::new(id, moved, actor, context.now));
    EventDraft::new(EventKind::FeatureRequestMoved, records).with(EventDetails { moved, ..EventDetails::default() })
}

fn entry(request: FeatureRequestId, Move { from, to, .. }: &Move) -> Audit {
    let status = |name: &Option<Name>| name.as_ref().map_or(Value::Null, |name| name.as_str().into());
    let changes = [
        Change::between("track", from.track.as_str(), to.track.as_str()),
        Change::between("status", status(&from.status), status(&to.status)),
    ];
    let changes = changes.into_iter().flatten().collect();
    Audit::with_changes("feature_request.move", "feature_request", Some(request.uuid()), changes)
}

/// Returns the named member as an actor.
async fn find_author(work: &mut dyn UnitOfWork, author: &Author) -> Result<Option<Actor>, RoadmapError> {
    let Author::Named(address) = author else { return Ok(None) };
    let member = work.find_member(address).await?;
    Ok(member.map(|member| Actor::member(member.id, &member.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::email_address::EmailAddress;
    use crate::model::id::{CommentId, LaneId, MemberId, parse_uuid};
    use crate::model::localized::Localized;
    use crate::model::member::{Member, Role};
    use crate::model::track::{Lane, LaneKind, Track};
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{actor, name, now, perform, request, summary};
    use uuid::Uuid;

    fn id() -> TrackId {
        TrackId::new(parse_uuid("track_id", "01890a5d-ac96-774b-bcce-b302099a8057").unwrap())
    }

    fn track(lane: Option<&str>) -> Track {
        let lane = lane.map(|lane| Lane {
            id: LaneId::new(Uuid::from_u128(1)),
            name: name(lane),
            kind: LaneKind::Other,
            names: Localized::default(),
        });
        Track { id: id(), name: name("Next quarter"), lane }
    }

    fn draft(notify_all_voters: bool) -> MoveDraft {
        MoveDraft { track: id(), author: Author::Oldest, notify_all_voters, comment: None }
    }

    fn moved(unit: &mut MockUnit, draft: MoveDraft) -> Result<Performed<Moved>, RoadmapError> {
        perform(&MoveFeatureRequest { request: request(), draft }, unit)
    }

    /// A unit with a feature request on `Inbox` with this status, and the track with this lane.
    fn unit(status: Option<&'static str>, lane: Option<&'static str>) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_lock_feature_request().returning(move |_| Ok(Some(summary("Inbox", status, 4))));
        unit.expect_find_track().returning(move |_| Ok(Some(track(lane))));
        unit
    }

    /// Contract 3.
    #[test]
    fn a_request_shows_its_new_track_and_keeps_the_move() {
        for lane in [Some("Planned"), None] {
            let mut unit = unit(Some("Done"), lane);
            unit.expect_set_feature_request_track()
                .withf(|request, track, changes_status, at| {
                    (*request, *track, *changes_status, *at) == (summary("", None, 0).id, id(), true, now())
                })
                .times(1)
                .returning(|_, _, _, _| Ok(()));
            unit.expect_insert_event()
                .withf(move |new| {
                    let EventContent::Moved(moved) = &new.event.content else { return false };
                    new.request == summary("", None, 0).id
                        && new.event.actor == actor()
                        && (moved.from.track.as_str(), moved.to.track.as_str()) == ("Inbox", "Next quarter")
                        && moved.to.status == lane.map(name)
                })
                .times(1)
                .returning(|_| Ok(()));
            let outcome = moved(&mut unit, draft(false)).unwrap();
            assert_eq!(outcome.output.request, summary("Next quarter", lane, 4));
            let moved = outcome.output.moved.unwrap();
            let details = MoveDetails::new(EventId::new(Uuid::from_u128(1)), &moved, &actor(), now());
            let details = EventDetails { moved: Some(details), ..EventDetails::default() };
            let announced = EventDraft::of_request(EventKind::FeatureRequestMoved, summary("", None, 0).id);
            assert_eq!(outcome.events, [announced.with(details)]);
            let Audit::Entry(entry) = outcome.audit else { panic!("an entry") };
            assert_eq!(
                entry.changes,
                [
                    Change::new("track", "Inbox", "Next quarter"),
                    Change::new("status", "Done", lane.map_or(Value::Null, Value::from)),
                ]
            );
        }
    }

    #[test]
    fn a_move_to_the_same_track_changes_nothing() {
        let mut unit = MockUnit::new();
        unit.expect_lock_feature_request().returning(|_| Ok(Some(summary("Next quarter", None, 4))));
        unit.expect_find_track().returning(|_| Ok(Some(track(None))));
        let outcome = moved(&mut unit, draft(true)).unwrap();
        assert!(!outcome.has_changed());
        assert_eq!(outcome.output, Moved { request: summary("Next quarter", None, 4), moved: None, comment: None });
    }

    /// Addition 5.
    #[test]
    fn subscribers_are_notified_of_a_new_status_only() {
        for (status, lane, notify, mails) in [
            (None, Some("Planned"), true, 1),
            (Some("Planned"), None, true, 1),
            (Some("Planned"), Some("Planned"), true, 0),
            (None, None, true, 0),
            (None, Some("Planned"), false, 0),
        ] {
            let mut unit = unit(status, lane);
            unit.expect_set_feature_request_track().returning(|_, _, _, _| Ok(()));
            unit.expect_insert_event().returning(|_| Ok(()));
            unit.expect_enqueue_notifications()
                .withf(|topic, _, _, _| *topic == Topic::StatusChange(EventId::new(Uuid::from_u128(1))))
                .times(mails)
                .returning(|_, _, _, _| Ok(()));
            moved(&mut unit, draft(notify)).unwrap();
        }
    }

    /// A move and its reason are one mail: about the status if that changes, else about the comment. Without mail to all,
    /// the author of the feature request gets the answer.
    #[test]
    fn a_reason_is_a_comment_in_one_mail() {
        enum Mail {
            Status,
            Comment,
            Author,
        }
        let why = || MoveComment::parse(Some("<p>Enough asked</p>"), Some("olga@acme.example")).unwrap();
        for (status, lane, notify_all_voters, mail) in [
            (None, Some("Planned"), true, Mail::Status),
            (Some("Planned"), Some("Planned"), true, Mail::Comment),
            (None, Some("Planned"), false, Mail::Author),
        ] {
            let mut unit = unit(status, lane);
            let comment = CommentId::new(Uuid::from_u128(1));
            unit.expect_insert_comment()
                .withf(|new| {
                    matches!(&new.author, CommentAuthor::Member(author) if author.address() == Some("olga@acme.example"))
                        && new.content.as_str() == "<p>Enough asked</p>"
                })
                .times(1)
                .returning(|_| Ok(Some(summary("Inbox", None, 4))));
            unit.expect_set_feature_request_track().returning(|_, _, _, _| Ok(()));
            unit.expect_insert_event()
                .withf(move |new| matches!(&new.event.content, EventContent::Moved(moved) if moved.comment == Some(comment)))
                .times(1)
                .returning(|_| Ok(()));
            let topic = match mail {
                Mail::Status => Some(Topic::StatusChange(EventId::new(Uuid::from_u128(2)))),
                Mail::Comment => Some(Topic::Comment(comment)),
                Mail::Author => None,
            };
            unit.expect_enqueue_notifications()
                .withf(move |about, _, _, _| Some(*about) == topic)
                .times(usize::from(topic.is_some()))
                .returning(|_, _, _, _| Ok(()));
            unit.expect_notify_people().times(usize::from(topic.is_none())).returning(|_, _, _, _| Ok(()));
            let moved = moved(&mut unit, MoveDraft { comment: Some(why()), ..draft(notify_all_voters) }).unwrap();
            assert_eq!(moved.output.comment.map(|comment| comment.id), Some(comment));
            // Without an event of its own.
            let [announced] = moved.events.as_slice() else { panic!("one event") };
            assert_eq!((announced.kind, announced.records.comment), (EventKind::FeatureRequestMoved, Some(comment)));
            assert_eq!(announced.details.moved.as_ref().and_then(|moved| moved.comment), Some(comment));
        }
    }

    #[test]
    fn a_comment_is_posted_without_a_move() {
        let mut unit = MockUnit::new();
        unit.expect_lock_feature_request().returning(|_| Ok(Some(summary("Next quarter", None, 4))));
        unit.expect_find_track().returning(|_| Ok(Some(track(None))));
        unit.expect_insert_comment().times(1).returning(|_| Ok(Some(summary("Next quarter", None, 4))));
        unit.expect_notify_people().times(1).returning(|_, _, _, _| Ok(()));
        let comment = Some(MoveComment::parse(Some("Still here"), None).unwrap());
        let outcome = moved(&mut unit, MoveDraft { comment, ..draft(false) }).unwrap();
        assert!(outcome.has_changed() && outcome.output.moved.is_none() && outcome.output.comment.is_some());
        let comment = CommentId::new(Uuid::from_u128(1));
        let commented = EventDraft::of_comment(EventKind::CommentCreated, summary("", None, 0).id, comment);
        assert_eq!(outcome.events, [commented]);
    }

    /// Addition 2.
    #[test]
    fn a_named_member_is_the_one_who_moves() {
        for known in [true, false] {
            let mut unit = unit(None, None);
            unit.expect_set_feature_request_track().returning(|_, _, _, _| Ok(()));
            unit.expect_find_member().withf(|address| address.as_str() == "olga@acme.example").returning(move |_| {
                let email = EmailAddress::parse("email", "olga@acme.example").unwrap();
                let id = MemberId::new(Uuid::from_u128(3));
                let member = Member { id, email, name: name("Olga"), role: Role::Member, created_at: now() };
                Ok(known.then_some(member))
            });
            let expected = if known { "Olga" } else { "support-desk" };
            unit.expect_insert_event()
                .withf(move |new| new.event.actor.name == expected)
                .times(1)
                .returning(|_| Ok(()));
            let author = Author::parse("author_email", Some("Olga@acme.example")).unwrap();
            let draft = MoveDraft { track: id(), author, notify_all_voters: false, comment: None };
            let outcome = moved(&mut unit, draft).unwrap();
            let names = outcome.events.iter().filter_map(|event| event.details.moved.as_ref());
            assert_eq!(names.map(|moved| moved.actor_name.as_str()).collect::<Vec<_>>(), [expected]);
        }
    }

    #[test]
    fn the_request_and_the_track_exist() {
        let mut unit = MockUnit::new();
        unit.expect_lock_feature_request().returning(|_| Ok(None));
        assert!(matches!(moved(&mut unit, draft(false)), Err(RoadmapError::NotFound(Resource::FeatureRequest))));

        let mut unit = MockUnit::new();
        unit.expect_lock_feature_request().returning(|_| Ok(Some(summary("Inbox", None, 0))));
        unit.expect_find_track().returning(|_| Ok(None));
        assert!(matches!(moved(&mut unit, draft(false)), Err(RoadmapError::NotFound(Resource::Track))));
    }
}
