//! `GET /tags`, `PATCH` and `DELETE /tags/{name}`: the tags of all feature requests.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::tag::TagQuery;
use roadmap_domain::usecase::change_tag::{DeleteTag, RenameTag, TagRenamed};
use roadmap_domain::usecase::query::tags::ListTags;
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{execute_deletion, execute_operation};
use crate::error::ApiError;
use crate::extractors::{DeleteRequest, ReadRequest, WriteRequest, tag_name};
use crate::fields::Object;
use crate::openapi::failures::{
    BodyErrors, CommonErrors, DeleteErrors, DeleteTagErrors, QueryErrors, RecordBudgetErrors, RenameTagErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateTag)]
struct Body {
    #[schema(required = true, value_type = TagChange)]
    tag: Option<Object<TagChange>>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct TagChange {
    #[schema(required = true, schema_with = described::tag_name)]
    name: Option<String>,
}

/// List tags
///
/// Most used first.
#[utoipa::path(
    get,
    path = "/api/external/v1/tags",
    operation_id = "listTags",
    tag = "Tags",
    params(described::TagsParameters),
    responses(
        (
            status = 200,
            description = "A page of tags.",
            body = wire::tag::Page,
            links(("update" = (
                operation_id = "updateTag",
                parameters(("name" = "$response.body#/tags/0/name"))
            )))
        ),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let query = TagQuery::parse("query", input.query.get("query")?)?;
    // The order changes with every edit of tags while a client reads the pages, so that no cursor could keep its promise.
    let page = input.query.page_without_cursor("cursor cannot be given for tags")?;
    let tags = state.queries.run(input.workspace, &ListTags { query, page }).await?;
    Ok(wire::ok(&wire::tag::listed(&tags)))
}

/// Rename a tag
///
/// On all feature requests that have it. If another tag has the name, regardless of case, the two become one, which is
/// written as the other one was.
#[utoipa::path(
    patch,
    path = "/api/external/v1/tags/{name}",
    operation_id = "updateTag",
    tag = "Tags",
    params(described::TagNameParameter),
    request_body(content = Body, example = json!({ "tag": { "name": "integrations" } })),
    responses(
        (status = 200, description = "The tag.", body = wire::tag::Response),
        CommonErrors, BodyErrors, RecordBudgetErrors, RenameTagErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let tag = tag_name(&request);
    let target = Target::Tag(tag.clone());
    let operation = move |name| RenameTag { tag, name };
    let render = |renamed: TagRenamed| wire::saved_ok(&wire::tag::response(&renamed.tag));
    execute_operation(&state, input, target, name, operation, render).await
}

/// Delete a tag
///
/// It is removed from all feature requests.
#[utoipa::path(
    delete,
    path = "/api/external/v1/tags/{name}",
    operation_id = "deleteTag",
    tag = "Tags",
    params(described::TagNameParameter),
    responses(
        (status = 204, description = "No feature request has the tag any more."),
        CommonErrors, DeleteErrors, DeleteTagErrors
    )
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    execute_deletion(&state, input, DeleteTag { tag: tag_name(&request) }).await?;
    Ok(wire::no_content())
}

fn name(body: Body) -> Validated<Tag> {
    let Object(tag) = body.tag.ok_or_else(|| FieldError::missing("tag"))?;
    Tag::parse("name", tag.name.as_deref().unwrap_or_default())
}
