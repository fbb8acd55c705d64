//! The responses that are saved under operation keys.

use diesel::sql_types::{Binary, Integer, Text, Timestamptz, Uuid as SqlUuid};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_store::columns::{TimestampColumn, inconsistent};
use uuid::Uuid;

use crate::statement::statement;

statement! {
    /// Finds the response that was saved under a key.
    FindSavedResponse { workspace: Uuid => SqlUuid, key: String => Text } -> (Integer, Binary),
    "SELECT status, body FROM operations WHERE workspace_id = {workspace} AND operation_key = {key}"
}

statement! {
    /// Saves a response under a key.
    SaveResponse {
        workspace: Uuid => SqlUuid,
        key: String => Text,
        status: i32 => Integer,
        body: Vec<u8> => Binary,
        at: TimestampColumn => Timestamptz,
    } -> (),
    "INSERT INTO operations (workspace_id, operation_key, status, body, created_at)
     VALUES ({workspace}, {key}, {status}, {body}, {at})"
}

/// Returns a saved response from its row.
pub(crate) fn saved_response((status, body): (i32, Vec<u8>), key: &OperationKey) -> Result<SavedResponse, StoreError> {
    let status = u16::try_from(status).map_err(|_| inconsistent("operations", "status", key.as_str()))?;
    Ok(SavedResponse { status, body })
}
