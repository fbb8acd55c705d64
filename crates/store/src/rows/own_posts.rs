//! What customers have written, for themselves.

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::own_post::{OwnComment, OwnRequest, Written};

use super::LinkRow;
use crate::columns::{Id, TimestampColumn};

/// The columns of [`Written`]: the timestamp, whether it is answered, and whether it waits.
type WrittenColumns = (TimestampColumn, bool, bool);

fn written((at, is_answered, is_held): WrittenColumns, table: &'static str, id: Id) -> Result<Written, StoreError> {
    Ok(Written { at: at.into_timestamp(table, "created_at", id)?, is_answered, is_held })
}

/// A comment of a customer.
#[derive(Debug, Queryable)]
pub struct OwnCommentRow {
    request: LinkRow,
    content: String,
    written: WrittenColumns,
}

impl TryFrom<OwnCommentRow> for OwnComment {
    type Error = StoreError;

    fn try_from(row: OwnCommentRow) -> Result<Self, StoreError> {
        let written = written(row.written, "comments", row.request.id)?;
        Ok(Self { request: row.request.into(), content: CleanHtml::from_stored(row.content), written })
    }
}

/// A feature request of a customer.
#[derive(Debug, Queryable)]
pub struct OwnRequestRow {
    request: LinkRow,
    root: Option<Id>,
    written: WrittenColumns,
    is_shared: bool,
}

impl TryFrom<OwnRequestRow> for OwnRequest {
    type Error = StoreError;

    fn try_from(row: OwnRequestRow) -> Result<Self, StoreError> {
        let written = written(row.written, "feature_requests", row.request.id)?;
        let root = row.root.map(|root| FeatureRequestId::new(root.0));
        Ok(Self { request: row.request.into(), root, written, is_shared: row.is_shared })
    }
}
