//! Version 1 of the external API, one file per resource.

pub(crate) mod api_key;
pub(crate) mod audit_entries;
pub(crate) mod changelogs;
pub(crate) mod comments;
pub(crate) mod customers;
pub(crate) mod feature_requests;
pub(crate) mod held_posts;
pub(crate) mod lanes;
pub(crate) mod members;
pub(crate) mod merges;
pub(crate) mod overview;
pub(crate) mod portal;
pub(crate) mod reference_notes;
pub(crate) mod roadmap;
pub(crate) mod setting;
pub(crate) mod subscriptions;
pub(crate) mod synonyms;
pub(crate) mod track_moves;
pub(crate) mod tracks;
pub(crate) mod upvotes;
pub(crate) mod voters;
pub(crate) mod votes;

use actix_web::{HttpResponse, web};
use async_trait::async_trait;
use roadmap_domain::error::{FieldError, RoadmapError, Validated};
use roadmap_domain::model::audit::Audit;
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_domain::policy::signed_reference::Purpose;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::executor::{Operation, OperationContext};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extractors::{DeleteRequest, WriteRequest};
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
    let WriteRequest { workspace, origin, body, memory, .. } = input;
    let key = fields::operation_key(&body);
    let acting = state.executor.acting_as(origin);
    let run = |key: Option<OperationKey>, operation: O| {
        let (executor, render) = (acting.clone(), render.clone());
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

/// Runs a command of a DELETE request to its end, even if the client disconnects.
pub(crate) async fn execute_deletion<O: Operation + 'static>(
    state: &web::Data<State>,
    input: DeleteRequest,
    operation: O,
) -> Result<O::Output, ApiError>
where
    O::Output: 'static,
{
    let DeleteRequest { workspace, origin, .. } = input;
    let executor = state.executor.acting_as(origin);
    Ok(state.http.detached.run(async move { executor.run_without_key(workspace, &operation).await }).await??)
}

/// Returns a function that resolves the signed id of a file of the workspace.
pub(crate) fn resolve_file(
    state: &State,
    workspace: WorkspaceId,
) -> impl FnOnce(&str) -> Option<AttachmentId> + Send + use<> {
    let (references, now) = (state.http.references.clone(), state.http.clock.now());
    move |reference| references.verify(Purpose::Blob, workspace, reference, now).map(AttachmentId::new)
}

/// A body without fields of its own.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct NoFields {}

/// A command without fields. An invalid operation key is reported after a missing record. So the command runs first,
/// and the unit of work is rolled back.
pub(crate) struct WithoutFields<O> {
    operation: O,
    input: Validated<()>,
}

impl<O> WithoutFields<O> {
    /// Adds the result of reading the body to a command.
    pub(crate) fn new(operation: O, input: Validated<()>) -> Self {
        Self { operation, input }
    }
}

#[async_trait]
impl<O: Operation> Operation for WithoutFields<O> {
    type Output = O::Output;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<O::Output, RoadmapError> {
        let output = self.operation.perform(context, work).await?;
        self.input.clone()?;
        Ok(output)
    }

    fn stored_bytes(&self) -> u64 {
        self.operation.stored_bytes()
    }

    fn recorded_bytes(&self, output: &O::Output) -> u64 {
        self.operation.recorded_bytes(output)
    }

    fn audit(&self, output: &O::Output) -> Audit {
        self.operation.audit(output)
    }
}

/// The placeholder input of a command that runs only to find its saved response or a missing record.
fn unread_body() -> FieldError {
    FieldError::missing("body")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command that stores 3 bytes and records 5.
    struct Weighed;

    #[async_trait]
    impl Operation for Weighed {
        type Output = ();

        async fn perform(&self, _: &OperationContext<'_>, _: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
            Ok(())
        }

        fn stored_bytes(&self) -> u64 {
            3
        }

        fn recorded_bytes(&self, (): &()) -> u64 {
            5
        }

        fn audit(&self, (): &()) -> Audit {
            Audit::entry("test.run", "test", None)
        }
    }

    #[test]
    fn a_command_without_fields_counts_and_records_what_the_command_does() {
        let wrapped = WithoutFields::new(Weighed, Ok(()));
        assert_eq!((wrapped.stored_bytes(), wrapped.recorded_bytes(&())), (3, 5));
        assert_eq!(wrapped.audit(&()), Weighed.audit(&()));
    }
}
