//! Links of feature requests to what the team builds for them.

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::id::LinkId;
use roadmap_domain::model::link::{Link, LinkState, LinkUrl};

use super::LinkRow;
use crate::columns::{Id, TimestampColumn};

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
