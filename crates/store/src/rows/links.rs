//! Links of feature requests to what the team builds for them, and the trackers that report about it.

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::id::{LinkId, LinkSourceId, TrackId};
use roadmap_domain::model::link::{Link, LinkState, LinkUrl, Tracker};
use roadmap_domain::model::link_source::LinkSource;
use roadmap_domain::model::text::Name;

use super::LinkRow;
use crate::columns::{Id, TimestampColumn, inconsistent};

/// A link to an issue.
#[derive(Debug, Queryable)]
pub struct IssueLinkRow {
    id: Id,
    url: String,
    title: Option<String>,
    state: Option<String>,
    created_at: TimestampColumn,
    updated_at: TimestampColumn,
    /// The merged feature request that it belongs to.
    from: Option<LinkRow>,
}

impl TryFrom<IssueLinkRow> for Link {
    type Error = StoreError;

    fn try_from(row: IssueLinkRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: LinkId::new(row.id.0),
            url: LinkUrl::from_stored(row.url),
            title: row.title.map(Title::from_stored),
            state: row.state.as_deref().and_then(LinkState::from_name),
            created_at: row.created_at.into_timestamp("links", "created_at", row.id)?,
            updated_at: row.updated_at.into_timestamp("links", "updated_at", row.id)?,
            from: row.from.map(Into::into),
        })
    }
}

/// A link source.
#[derive(Debug, Queryable)]
pub struct LinkSourceRow {
    id: Id,
    name: String,
    kind: String,
    closed_track: Option<Id>,
    notify_all_voters: bool,
    enabled: bool,
    last_received_at: Option<TimestampColumn>,
    created_at: TimestampColumn,
    updated_at: TimestampColumn,
}

impl TryFrom<LinkSourceRow> for LinkSource {
    type Error = StoreError;

    fn try_from(row: LinkSourceRow) -> Result<Self, StoreError> {
        let at = |column: TimestampColumn, name| column.into_timestamp("link_sources", name, row.id);
        Ok(Self {
            id: LinkSourceId::new(row.id.0),
            name: Name::from_stored(row.name),
            tracker: Tracker::from_name(&row.kind).ok_or_else(|| inconsistent("link_sources", "kind", row.id))?,
            closed_track: row.closed_track.map(|track| TrackId::new(track.0)),
            notify_all_voters: row.notify_all_voters,
            enabled: row.enabled,
            last_received_at: row.last_received_at.map(|column| at(column, "last_received_at")).transpose()?,
            created_at: at(row.created_at, "created_at")?,
            updated_at: at(row.updated_at, "updated_at")?,
        })
    }
}

/// Converts a link source with its sealed secret.
///
/// # Errors
/// As the conversion of [`LinkSourceRow`].
pub fn sealed_link_source((row, sealed): (LinkSourceRow, String)) -> Result<(LinkSource, String), StoreError> {
    Ok((row.try_into()?, sealed))
}
