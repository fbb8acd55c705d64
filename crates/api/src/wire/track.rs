//! Tracks, contract section 2.3.

use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Track;
use serde::Serialize;
use utoipa::ToSchema;

/// All tracks, in the team's order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tracks)]
pub(crate) struct Body<'a> {
    tracks: Vec<Fields<'a>>,
}

/// A single track.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TrackShown)]
pub(crate) struct Response<'a> {
    track: Fields<'a>,
}

/// A state in the team's workflow.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Track)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1)]
    name: &'a str,
    /// The public lane of the track; null if it has none.
    #[schema(required = true)]
    status: Option<&'a str>,
}

fn fields(track: &Track) -> Fields<'_> {
    Fields { id: track.id.to_string(), name: track.name.as_str(), status: track.status().map(Name::as_str) }
}

pub(crate) fn listed(tracks: &[Track]) -> impl Serialize {
    Body { tracks: tracks.iter().map(fields).collect() }
}

pub(crate) fn response(track: &Track) -> impl Serialize {
    Response { track: fields(track) }
}
