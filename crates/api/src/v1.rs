//! Version 1 of the external API, one file per resource.

pub(crate) mod api_key;
pub(crate) mod audit_entries;
pub(crate) mod changelogs;
pub(crate) mod comments;
pub(crate) mod customers;
pub(crate) mod exports;
pub(crate) mod feature_requests;
pub(crate) mod held_posts;
pub(crate) mod lanes;
pub(crate) mod link_sources;
pub(crate) mod links;
pub(crate) mod members;
pub(crate) mod merges;
pub(crate) mod overview;
pub(crate) mod portal;
pub(crate) mod reference_notes;
pub(crate) mod roadmap;
pub(crate) mod setting;
pub(crate) mod subscriptions;
pub(crate) mod synonyms;
pub(crate) mod tags;
pub(crate) mod track_moves;
pub(crate) mod tracks;
pub(crate) mod upvotes;
pub(crate) mod voters;
pub(crate) mod votes;
pub(crate) mod webhooks;

use actix_web::{HttpResponse, web};
use roadmap_domain::error::Validated;
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::operation_key::SavedResponse;
use roadmap_domain::policy::signed_reference::Purpose;
use roadmap_domain::usecase::executor::{Checked, Operation};
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extractors::{DeleteRequest, WriteRequest};
use crate::fields::{self, Object, double_option};
use crate::markup;
use crate::openapi::fields as described;
use crate::pictures;
use crate::state::State;
use crate::wire;

/// A customer in a body.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Customer)]
pub(crate) struct CustomerBody {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(required = true, schema_with = described::email)]
    email: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::name)]
    name: Option<Option<String>>,
}

/// A private note in a body.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ReferenceNote)]
pub(crate) struct ReferenceNoteBody {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(required = true, schema_with = described::note)]
    body: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::author_email)]
    author_email: Option<Option<String>>,
}

/// Whether the empty fields of a form were sent: each one, and all of them blank or null. Such an object counts as absent.
fn is_blank_form(fields: [&Option<Option<String>>; 2]) -> bool {
    let is_blank = |sent: &Option<String>| sent.as_ref().is_none_or(|text| text.trim().is_empty());
    fields.into_iter().all(|field| field.as_ref().is_some_and(is_blank))
}

/// Parses the customer of a body, if there is one.
pub(crate) fn customer(body: Option<Object<CustomerBody>>) -> Validated<Option<CustomerDraft>> {
    let sent = body.filter(|Object(customer)| !is_blank_form([&customer.email, &customer.name]));
    let parse = |Object(CustomerBody { email, name })| {
        CustomerDraft::parse(email.flatten().as_deref(), name.flatten().as_deref())
    };
    sent.map(parse).transpose()
}

/// Parses the note of a body, if there is one.
pub(crate) fn note(body: Option<Object<ReferenceNoteBody>>) -> Validated<Option<NoteDraft>> {
    let sent = body.filter(|Object(note)| !is_blank_form([&note.body, &note.author_email]));
    let parse = |Object(ReferenceNoteBody { body, author_email })| {
        NoteDraft::parse(body.flatten().as_deref(), author_email.flatten().as_deref())
    };
    sent.map(parse).transpose()
}

/// Runs a command with an optional operation key to its end, even if the client disconnects, and renders its result.
///
/// A saved response and a missing `target` take precedence over an invalid field, including the key. For a body with
/// much markup, both are checked before the body is parsed.
pub(crate) async fn execute_operation<B: DeserializeOwned, T: Send + 'static, O: Operation + 'static>(
    state: &web::Data<State>,
    input: WriteRequest,
    target: Target,
    parse: impl FnOnce(B) -> Validated<T> + Send + 'static,
    operation: impl FnOnce(T) -> O + Send + 'static,
    render: impl Fn(O::Output) -> SavedResponse + Send + Sync + 'static,
) -> Result<HttpResponse, ApiError> {
    let WriteRequest { workspace, links, origin, mut body, key, memory } = input;
    let executor = state.executor.acting_as(origin);
    let is_expensive = markup::is_expensive(&body);
    let pictures = match key {
        Ok(_) => pictures::prepare(state, workspace, &links, &mut body).await?,
        Err(_) => Ok(()),
    };
    let parse = move || {
        let parsed = pictures.and_then(|()| fields::body(body)).and_then(parse).map(operation);
        drop(memory);
        parsed
    };
    let (key, operation) = match key {
        Err(invalid) => (None, Err(invalid)),
        Ok(key) if is_expensive => {
            let (executor, key_to_find, target) = (executor.clone(), key.clone(), target.clone());
            let find = async move { executor.find_saved_response(workspace, key_to_find.as_ref(), &target).await };
            if let Some(saved) = state.http.detached.run(find).await?? {
                return Ok(wire::response(saved));
            }
            (key, state.markup.run(parse).await?)
        }
        Ok(key) => (key, parse()),
    };
    let operation = Checked { target, operation };
    let run = async move { executor.run(workspace, key.as_ref(), &operation, render).await };
    Ok(wire::response(state.http.detached.run(run).await??))
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

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::error::FieldError;
    use serde_json::{Value, json};

    fn parsed<B: DeserializeOwned, T>(
        sent: Value,
        parse: fn(Option<Object<B>>) -> Validated<Option<T>>,
    ) -> Validated<bool> {
        parse(serde_json::from_value(sent).unwrap()).map(|record| record.is_some())
    }

    /// Beyond the contract.
    #[test]
    fn the_empty_fields_of_a_form_are_no_customer_and_no_note() {
        for (sent, expected) in [
            (json!(null), Ok(false)),
            (json!({ "email": "", "name": "" }), Ok(false)),
            (json!({ "email": null, "name": null }), Ok(false)),
            (json!({ "email": " ", "name": null, "id": 7 }), Ok(false)),
            (json!({ "email": "ann@example.com", "name": "" }), Ok(true)),
            (json!({ "email": "ann@example.com" }), Ok(true)),
            (json!({}), Err(FieldError::missing("email"))),
            (json!({ "email": "" }), Err(FieldError::missing("email"))),
            (json!({ "name": "" }), Err(FieldError::missing("email"))),
            (json!({ "email": "", "name": "Ann" }), Err(FieldError::missing("email"))),
        ] {
            assert_eq!(parsed(sent.clone(), customer), expected, "{sent}");
        }
        for (sent, expected) in [
            (json!(null), Ok(false)),
            (json!({ "body": "", "author_email": "" }), Ok(false)),
            (json!({ "body": null, "author_email": " " }), Ok(false)),
            (json!({ "body": "Heard", "author_email": "" }), Ok(true)),
            (json!({ "body": "" }), Err(FieldError::missing("body"))),
            (json!({}), Err(FieldError::missing("body"))),
            (json!({ "body": "", "author_email": "olga@acme.example" }), Err(FieldError::missing("body"))),
        ] {
            assert_eq!(parsed(sent.clone(), note), expected, "{sent}");
        }
    }
}
