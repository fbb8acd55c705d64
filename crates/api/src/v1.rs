//! Version 1 of the external API, one file per resource.

pub(crate) mod changelogs;
pub(crate) mod comments;
pub(crate) mod feature_requests;
pub(crate) mod setting;
pub(crate) mod synonyms;
pub(crate) mod track_moves;
pub(crate) mod tracks;
pub(crate) mod upvotes;
pub(crate) mod voters;
pub(crate) mod votes;

use actix_web::{HttpResponse, web};
use roadmap_domain::error::{FieldError, RoadmapError, Validated};
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_domain::usecase::executor::Operation;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extractors::WriteRequest;
use crate::fields;
use crate::markup;
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

/// Runs a command with an optional operation key to its end, even if the client disconnects, and renders its result.
///
/// An invalid field, including the key, is an error inside of the command, because a saved response and a missing
/// record take precedence. For a body with much markup, both are checked before the body is parsed.
pub(crate) async fn execute_operation<B: DeserializeOwned, T: Send + 'static, O: Operation + 'static>(
    state: &web::Data<State>,
    input: WriteRequest,
    parse: impl FnOnce(B) -> Validated<T> + Send + 'static,
    operation: impl Fn(Validated<T>) -> O + Clone + Send + 'static,
    render: impl Fn(O::Output) -> SavedResponse + Clone + Send + Sync + 'static,
) -> Result<HttpResponse, ApiError> {
    let (workspace, key, body, memory) = input.into_parts();
    let run = |key: Option<OperationKey>, operation: O| {
        let (executor, render) = (state.executor.clone(), render.clone());
        state.http.detached.run(async move { executor.run(workspace, key.as_ref(), &operation, render).await })
    };
    let is_expensive = markup::is_expensive(&body);
    let parse = move || {
        let parsed = fields::body(body).and_then(parse);
        drop(memory);
        parsed
    };
    let (key, operation) = match key {
        Err(invalid) => (None, operation(Err(invalid))),
        Ok(key) if is_expensive => {
            match run(key.clone(), operation(Err(unread_body()))).await? {
                Err(RoadmapError::Invalid(invalid)) if invalid == unread_body() => {}
                outcome => return Ok(wire::response(outcome?)),
            }
            (key, state.markup.run(move || operation(parse())).await?)
        }
        Ok(key) => (key, operation(parse())),
    };
    Ok(wire::response(run(key, operation).await??))
}

/// The placeholder input of a command that runs only to find its saved response or a missing record.
fn unread_body() -> FieldError {
    FieldError::missing("body")
}
