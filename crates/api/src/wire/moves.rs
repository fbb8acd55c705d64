//! Moves of a feature request between tracks.

use roadmap_domain::model::audit::ActorKind;
use roadmap_domain::model::cursor::{CursorList, Placed};
use roadmap_domain::model::event::{Event, EventContent, Move};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::text::Name;
use serde::Serialize;
use utoipa::ToSchema;

use super::page::Envelope;

/// A page of moves.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MovesPage)]
pub(crate) struct Page<'a> {
    #[schema(max_items = 100)]
    moves: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A move of a feature request to another track, with the names of that time.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Move)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1)]
    from_track: &'a str,
    #[schema(min_length = 1)]
    to_track: &'a str,
    /// The public lane before; null if the track had none.
    #[schema(required = true)]
    from_status: Option<&'a str>,
    /// The public lane after; null if the track had none.
    #[schema(required = true)]
    to_status: Option<&'a str>,
    moved_by: Mover<'a>,
    /// The comment that says why; null without one.
    #[schema(format = "uuid", required = true)]
    comment_id: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
}

/// Who moved a feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Mover)]
pub(crate) struct Mover<'a> {
    #[schema(value_type = MoverKind)]
    kind: &'static str,
    /// The name of the member, the key, the operator or the link source.
    name: &'a str,
}

/// The kind of who moved a feature request.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum MoverKind {
    Member,
    ApiKey,
    Operator,
    Service,
}

fn fields<'a>(event: &'a Event, Move { from, to, comment }: &'a Move) -> Fields<'a> {
    let kind = match event.actor.kind {
        // The service moves for a link source.
        kind @ (ActorKind::Member | ActorKind::ApiKey | ActorKind::Operator | ActorKind::Service) => kind,
        // Customers do not move feature requests.
        ActorKind::Customer => ActorKind::Operator,
    };
    Fields {
        id: event.id.to_string(),
        from_track: from.track.as_str(),
        to_track: to.track.as_str(),
        from_status: from.status.as_ref().map(Name::as_str),
        to_status: to.status.as_ref().map(Name::as_str),
        moved_by: Mover { kind: kind.name(), name: &event.actor.name },
        comment_id: comment.map(|comment| comment.to_string()),
        created_at: event.created_at.to_string(),
    }
}

pub(crate) fn listed<'a>(events: &'a Listing<Event>, cursors: &CursorList) -> impl Serialize + use<'a> {
    let envelope = Envelope::with_cursor(events, cursors, Placed::place);
    let fields = |event: &'a Event| match &event.content {
        EventContent::Moved(moved) => Some(fields(event, moved)),
        _ => None,
    };
    Page { moves: events.page_items().iter().filter_map(fields).collect(), envelope }
}
