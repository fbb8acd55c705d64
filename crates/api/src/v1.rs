//! Version 1 of the external API, one file per resource.

pub(crate) mod changelogs;
pub(crate) mod comments;
pub(crate) mod feature_requests;
pub(crate) mod setting;
pub(crate) mod track_moves;
pub(crate) mod tracks;
pub(crate) mod upvotes;
pub(crate) mod voters;
pub(crate) mod votes;

use actix_web::{HttpResponse, web};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::operation_key::{OperationKey, SavedReply};
use roadmap_domain::usecase::executor::Operation;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// A customer in a body.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Customer)]
pub(crate) struct CustomerBody {
    #[schema(required = true, schema_with = described::email)]
    pub(crate) email: Option<String>,
    #[schema(schema_with = described::name)]
    pub(crate) name: Option<String>,
}

/// A private note in a body.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ReferenceNote)]
pub(crate) struct ReferenceNoteBody {
    #[schema(required = true, schema_with = described::note)]
    pub(crate) body: Option<String>,
    #[schema(schema_with = described::author_email)]
    pub(crate) author_email: Option<String>,
}

/// Runs a keyed command to its end, whatever becomes of the client, and answers with what it says.
pub(crate) async fn execute<O: Operation + 'static>(
    state: &web::Data<State>,
    workspace: WorkspaceId,
    key: Option<OperationKey>,
    operation: O,
    render: impl Fn(O::Reply) -> SavedReply + Send + Sync + 'static,
) -> Result<HttpResponse, ApiError> {
    let executor = state.executor.clone();
    let run = async move { executor.run(workspace, key.as_ref(), &operation, render).await };
    Ok(wire::answer(state.detached.run(run).await??))
}
