//! Pictures in the texts of bodies.

use std::collections::HashSet;

use roadmap_domain::error::{FieldError, RoadmapError};
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::picture::{self, MAX_IN_CHANGELOG};
use roadmap_domain::policy::links::Links;
use roadmap_domain::policy::own_pictures::localize;
use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::state::State;

/// The fields whose HTML may have pictures.
const FIELDS: [&str; 2] = ["content", "description"];

/// Writes the paths of the workspace's own pictures into the texts of a body, and makes those that are not there yet.
///
/// # Errors
/// The outer one fails the request. The inner one is that of a field, which the caller reports in its turn.
pub(crate) async fn prepare(
    state: &State,
    workspace: WorkspaceId,
    links: &Links,
    body: &mut Map<String, Value>,
) -> Result<Result<(), FieldError>, ApiError> {
    let mut files = Vec::new();
    localize_fields(body, links, &mut files);
    let mut seen = HashSet::new();
    files.retain(|named| seen.insert(*named));
    // No text may have more: nothing is made for those that are refused.
    if let Some((field, _)) = files.get(MAX_IN_CHANGELOG) {
        return Ok(Err(picture::too_many(field, MAX_IN_CHANGELOG)));
    }
    for (field, file) in files {
        let (pictures, detached) = (state.pictures.clone(), &state.http.detached);
        let make = async move { pictures.make_from(workspace, field, &[file]).await };
        match detached.run(make).await? {
            Err(RoadmapError::Invalid(invalid)) => return Ok(Err(invalid)),
            made => made?,
        }
    }
    Ok(Ok(()))
}

fn localize_fields(body: &mut Map<String, Value>, links: &Links, files: &mut Vec<(&'static str, AttachmentId)>) {
    for (name, value) in body {
        match value {
            Value::Object(fields) => localize_fields(fields, links, files),
            Value::String(html) => {
                let Some(field) = FIELDS.into_iter().find(|field| field == name) else { continue };
                let (localized, found) = localize(html, links);
                files.extend(found.into_iter().map(|file| (field, file)));
                if let std::borrow::Cow::Owned(localized) = localized {
                    *html = localized;
                }
            }
            _ => {}
        }
    }
}
