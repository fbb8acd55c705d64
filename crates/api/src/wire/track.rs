//! Tracks, contract section 2.3.

use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Track;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Body<'a> {
    tracks: Vec<Fields<'a>>,
}

#[derive(Debug, Serialize)]
struct Fields<'a> {
    id: String,
    name: &'a str,
    status: Option<&'a str>,
}

fn fields(track: &Track) -> Fields<'_> {
    Fields { id: track.id.to_string(), name: track.name.as_str(), status: track.status().map(Name::as_str) }
}

pub(crate) fn listed(tracks: &[Track]) -> impl Serialize {
    Body { tracks: tracks.iter().map(fields).collect() }
}
