//! `GET` and `POST /changelogs` (contract section 4.9), and what is done with a single changelog.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::changelog::{
    ChangelogChange, ChangelogDetail, ChangelogDraft, ChangelogFields, ChangelogState,
};
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::id::{AttachmentId, ChangelogId};
use roadmap_domain::model::operation_key::SavedResponse;
use roadmap_domain::ports::Clock;
use roadmap_domain::usecase::change_changelog::{
    ChangelogChanged, DeleteChangelog, EditChangelog, PublishChangelog, UnpublishChangelog,
};
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::query::admin::CountChangelogAudience;
use roadmap_domain::usecase::query::changelogs::{ListChangelogs, ShowChangelog};
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{NoFields, execute_deletion, execute_operation, resolve_file};
use crate::error::ApiError;
use crate::extractors::{
    DeleteRequest, ReadRequest, WriteRequest, WriteRequestWithoutFields, record_id, record_id_or_nil,
};
use crate::fields::{Object, double_option};
use crate::openapi::failures::{
    BodyErrors, ChangelogErrors, ChangelogOrFeatureRequestErrors, CommonErrors, DeleteErrors, FeatureRequestErrors,
    OperationKeyErrors, QueryErrors, RecordBudgetErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateChangelog)]
struct Body {
    #[schema(required = true, value_type = ChangelogBody)]
    changelog: Option<Object<ChangelogBody>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewChangelog)]
struct ChangelogBody {
    #[schema(required = true, schema_with = described::title)]
    title: Option<String>,
    #[schema(required = true, schema_with = described::changelog)]
    content: Option<String>,
    #[schema(schema_with = described::new_changelog_category)]
    category: Option<String>,
    #[schema(schema_with = described::cover_image_signed_id)]
    cover_image_signed_id: Option<String>,
    #[schema(schema_with = described::publish)]
    publish: Option<bool>,
    #[schema(schema_with = described::feature_request_ids)]
    feature_request_ids: Option<Vec<String>>,
    #[schema(schema_with = described::publish_at)]
    publish_at: Option<String>,
    #[schema(schema_with = described::notify_at_publication)]
    notify_subscribers: Option<bool>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateChangelog)]
struct ChangeBody {
    #[schema(required = true, value_type = ChangedFields)]
    changelog: Option<Object<ChangedFields>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChangelogChange)]
struct ChangedFields {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::title)]
    title: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::changelog)]
    content: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::changed_changelog_category)]
    category: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::changed_cover)]
    cover_image_signed_id: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::feature_request_ids)]
    feature_request_ids: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::changed_publish_at)]
    publish_at: Option<Option<String>>,
    #[schema(schema_with = described::notify_at_publication)]
    notify_subscribers: Option<bool>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = PublishChangelog)]
struct PublishBody {
    #[schema(schema_with = described::notify_subscribers)]
    notify_subscribers: Option<bool>,
}

/// List changelogs
///
/// Newest first, including drafts and scheduled ones.
#[utoipa::path(
    get,
    path = "/api/external/v1/changelogs",
    operation_id = "listChangelogs",
    tag = "Changelogs",
    params(described::PageParameters),
    responses((status = 200, description = "A page of changelogs.", body = wire::changelog::Page), CommonErrors, QueryErrors)
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let cursors = CursorList::new(input.workspace, "changelogs", "");
    let page = input.query.page_of(&cursors)?;
    let changelogs = state.queries.run(input.workspace, &ListChangelogs { page }).await?;
    Ok(wire::ok(&wire::changelog::listed(&changelogs, &input.links, state.http.clock.now(), &cursors)))
}

/// Create a changelog
///
/// A draft, unless it is published at once or scheduled.
#[utoipa::path(
    post,
    path = "/api/external/v1/changelogs",
    operation_id = "createChangelog",
    tag = "Changelogs",
    request_body(
        content = Body,
        example = json!({
            "changelog": { "title": "Dark mode is here", "content": "<p>Turn it on.</p>", "category": "new", "publish": true }
        })
    ),
    responses(
        (
            status = 201,
            description = "The changelog.",
            body = wire::changelog::Created,
            links(
                ("show" = (operation_id = "showChangelog", parameters(("id" = "$response.body#/changelog/id")))),
                ("update" = (operation_id = "updateChangelog", parameters(("id" = "$response.body#/changelog/id")))),
                ("publish" = (operation_id = "publishChangelog", parameters(("id" = "$response.body#/changelog/id")))),
                ("unpublish" = (operation_id = "unpublishChangelog", parameters(("id" = "$response.body#/changelog/id")))),
                ("delete" = (operation_id = "deleteChangelog", parameters(("id" = "$response.body#/changelog/id"))))
            )
        ),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn create(state: web::Data<State>, input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let referred = resolve_file(&state, input.workspace);
    let render = move |created: ChangelogDetail| wire::changelog::created(&created.changelog, &links);
    let draft = |body| draft(body, referred);
    execute_operation(&state, input, Target::Workspace, draft, |draft| CreateChangelog { draft }, render).await
}

/// Show a changelog
#[utoipa::path(
    get,
    path = "/api/external/v1/changelogs/{id}",
    operation_id = "showChangelog",
    tag = "Changelogs",
    params(described::RecordIdParameter),
    responses(
        (status = 200, description = "The changelog.", body = wire::changelog::Shown),
        CommonErrors, ChangelogErrors
    )
)]
pub(crate) async fn show(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ShowChangelog { changelog: record_id(&request, ChangelogId::new) };
    let (detail, now) = (state.queries.run(input.workspace, &query).await?, state.http.clock.now());
    let audience = match detail.changelog.state(now) {
        ChangelogState::Published(_) => None,
        ChangelogState::Draft | ChangelogState::Scheduled(_) => {
            let requests = detail.feature_requests.iter().map(|request| request.id).collect();
            Some(state.queries.run(input.workspace, &CountChangelogAudience { requests }).await?)
        }
    };
    Ok(wire::ok(&wire::changelog::shown(&detail, &input.links, now, audience)))
}

/// Update a changelog
///
/// Omitted fields are unchanged.
#[utoipa::path(
    patch,
    path = "/api/external/v1/changelogs/{id}",
    operation_id = "updateChangelog",
    tag = "Changelogs",
    params(described::RecordIdParameter),
    request_body(
        content = ChangeBody,
        example = json!({ "changelog": { "title": "Dark mode for everybody", "cover_image_signed_id": null } })
    ),
    responses(
        (status = 200, description = "The changelog.", body = wire::changelog::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, ChangelogOrFeatureRequestErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let changelog = record_id_or_nil(&request, ChangelogId::new);
    let referred = resolve_file(&state, input.workspace);
    let render = render_changed(&state, &input);
    let operation = move |change| EditChangelog { changelog, change };
    let target = Target::Changelog(changelog);
    execute_operation(&state, input, target, |body| change(body, referred), operation, render).await
}

/// Delete a changelog
///
/// Mail about it that was not sent yet is dropped.
#[utoipa::path(
    delete,
    path = "/api/external/v1/changelogs/{id}",
    operation_id = "deleteChangelog",
    tag = "Changelogs",
    params(described::RecordIdParameter),
    responses((status = 204, description = "The changelog is deleted."), CommonErrors, DeleteErrors, ChangelogErrors)
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let changelog = record_id_or_nil(&request, ChangelogId::new);
    execute_deletion(&state, input, DeleteChangelog { changelog }).await?;
    Ok(wire::no_content())
}

/// Publish a changelog
///
/// At once, also if it is scheduled. It can be sent as mail to the subscribed customers of its feature requests, each
/// of whom gets it once.
#[utoipa::path(
    post,
    path = "/api/external/v1/changelogs/{id}/publish",
    operation_id = "publishChangelog",
    tag = "Changelogs",
    params(described::RecordIdParameter),
    request_body(content = Option<PublishBody>, example = json!({ "notify_subscribers": false })),
    responses(
        (status = 200, description = "The changelog.", body = wire::changelog::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, ChangelogErrors
    )
)]
pub(crate) async fn publish(
    state: web::Data<State>,
    request: HttpRequest,
    WriteRequestWithoutFields(input): WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let changelog = record_id_or_nil(&request, ChangelogId::new);
    let render = render_changed(&state, &input);
    let operation = move |notify_subscribers| PublishChangelog { changelog, notify_subscribers };
    let notify = |body: PublishBody| Ok(body.notify_subscribers.unwrap_or(false));
    execute_operation(&state, input, Target::Changelog(changelog), notify, operation, render).await
}

/// Make a changelog a draft again
#[utoipa::path(
    post,
    path = "/api/external/v1/changelogs/{id}/unpublish",
    operation_id = "unpublishChangelog",
    tag = "Changelogs",
    params(described::RecordIdParameter),
    request_body(content = Option<NoFields>, example = json!({})),
    responses(
        (status = 200, description = "The changelog.", body = wire::changelog::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, ChangelogErrors
    )
)]
pub(crate) async fn unpublish(
    state: web::Data<State>,
    request: HttpRequest,
    WriteRequestWithoutFields(input): WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let changelog = record_id_or_nil(&request, ChangelogId::new);
    let render = render_changed(&state, &input);
    let operation = move |NoFields {}| UnpublishChangelog { changelog };
    execute_operation(&state, input, Target::Changelog(changelog), Ok, operation, render).await
}

/// Returns a function that renders a changed changelog.
fn render_changed(
    state: &State,
    input: &WriteRequest,
) -> impl Fn(ChangelogChanged) -> SavedResponse + Clone + Send + Sync + use<> {
    let (links, clock): (_, Arc<dyn Clock>) = (input.links.clone(), state.http.clock.clone());
    move |changed| wire::saved_ok(&wire::changelog::response(&changed.detail, &links, clock.now()))
}

fn draft(body: Body, referred: impl FnOnce(&str) -> Option<AttachmentId>) -> Validated<ChangelogDraft> {
    let Object(changelog) = body.changelog.ok_or_else(|| FieldError::missing("changelog"))?;
    let fields = ChangelogFields {
        title: changelog.title,
        content: changelog.content,
        category: Some(changelog.category),
        cover_image_signed_id: Some(changelog.cover_image_signed_id),
        feature_request_ids: Some(changelog.feature_request_ids),
        publish_at: Some(changelog.publish_at),
        notify_subscribers: changelog.notify_subscribers,
    };
    ChangelogDraft::parse(&fields, changelog.publish.unwrap_or(false), referred)
}

fn change(body: ChangeBody, referred: impl FnOnce(&str) -> Option<AttachmentId>) -> Validated<ChangelogChange> {
    let Object(changelog) = body.changelog.ok_or_else(|| FieldError::missing("changelog"))?;
    let fields = ChangelogFields {
        // Null is rejected like a blank text.
        title: changelog.title.map(Option::unwrap_or_default),
        content: changelog.content.map(Option::unwrap_or_default),
        category: changelog.category,
        cover_image_signed_id: changelog.cover_image_signed_id,
        feature_request_ids: changelog.feature_request_ids,
        publish_at: changelog.publish_at,
        notify_subscribers: changelog.notify_subscribers,
    };
    ChangelogChange::parse(&fields, referred)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields;
    use serde_json::{Value, json};

    fn changed(sent: Value) -> Validated<ChangelogChange> {
        let Value::Object(body) = json!({ "changelog": sent }) else { panic!("an object") };
        fields::body(body).and_then(|body| change(body, |_| None))
    }

    #[test]
    fn null_removes_what_a_changelog_can_be_without() {
        assert_eq!(changed(json!({})).unwrap(), ChangelogChange::default());
        let nothing =
            json!({ "category": null, "cover_image_signed_id": null, "feature_request_ids": null, "publish_at": null });
        let removed = changed(nothing).unwrap();
        assert_eq!(
            (removed.category, removed.cover, removed.feature_requests, removed.publish_at),
            (Some(None), Some(None), Some(Vec::new()), Some(None))
        );
        for (sent, field) in
            [(json!({ "title": null }), "title"), (json!({ "content": null }), "content"), (json!(null), "changelog")]
        {
            assert_eq!(changed(sent).unwrap_err(), FieldError::missing(field));
        }
        assert_eq!(
            changed(json!({ "cover_image_signed_id": "forged" })).unwrap_err().to_string(),
            "Cover image is invalid"
        );
    }
}
