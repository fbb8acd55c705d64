//! `GET /customers`, `GET` and `PATCH /customers/{id}`, `POST /customers/{id}/merge` and `/erase`,
//! `GET /customers/{id}/export`.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, FieldProblem, Validated};
use roadmap_domain::model::admin::CustomersMerged;
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::customer::CustomerQuery;
use roadmap_domain::model::id::{CustomerId, parse_uuid};
use roadmap_domain::model::person::{ErasedRecords, ErasedTexts, ErasedVotes, ExportOptions, PersonRef};
use roadmap_domain::model::text::Name;
use roadmap_domain::usecase::erase_customer::{EraseCustomer, RecordExport};
use roadmap_domain::usecase::merge_customers::MergeCustomers;
use roadmap_domain::usecase::query::people::{ExportPerson, ListCustomers, ShowCustomer};
use roadmap_domain::usecase::rename_customer::{CustomerRenamed, RenameCustomer};
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{execute_deletion, execute_operation};
use crate::error::ApiError;
use crate::extractors::{
    DeleteRequest, ReadRequest, WriteRequest, WriteRequestWithoutFields, record_id, record_id_or_nil,
};
use crate::fields::Object;
use crate::openapi::failures::{
    BodyErrors, CommonErrors, CustomerErrors, EraseErrors, OperationKeyErrors, QueryErrors, RecordBudgetErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateCustomer)]
struct Body {
    #[schema(required = true, value_type = CustomerChange)]
    customer: Option<Object<CustomerChange>>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct CustomerChange {
    #[schema(required = true, schema_with = described::record_name)]
    name: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = MergeCustomer)]
struct MergeBody {
    #[schema(required = true, schema_with = described::target_customer_id)]
    target_id: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = EraseCustomer)]
struct EraseBody {
    #[schema(schema_with = described::erased_votes)]
    votes: Option<String>,
    #[schema(schema_with = described::erased_texts)]
    texts: Option<String>,
}

/// List customers
///
/// Oldest first.
#[utoipa::path(
    get,
    path = "/api/external/v1/customers",
    operation_id = "listCustomers",
    tag = "People",
    params(described::CustomersParameters),
    responses(
        (
            status = 200,
            description = "A page of customers.",
            body = wire::customer::Page,
            links(
                ("show" = (
                    operation_id = "showCustomer",
                    parameters(("id" = "$response.body#/customers/0/id"))
                )),
                ("update" = (
                    operation_id = "updateCustomer",
                    parameters(("id" = "$response.body#/customers/0/id"))
                ))
            )
        ),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let query = CustomerQuery::parse("query", input.query.get("query")?)?;
    let text = query.as_ref().map(CustomerQuery::pattern).unwrap_or_default();
    let cursors = CursorList::new(input.workspace, "customers", &text);
    let page = input.query.page_of(&cursors)?;
    let customers = state.queries.run(input.workspace, &ListCustomers { query, page }).await?;
    Ok(wire::ok(&wire::customer::listed(&customers, &cursors)))
}

/// Show a customer
#[utoipa::path(
    get,
    path = "/api/external/v1/customers/{id}",
    operation_id = "showCustomer",
    tag = "People",
    params(described::RecordIdParameter),
    responses(
        (status = 200, description = "The customer.", body = wire::customer::Response),
        CommonErrors, CustomerErrors
    )
)]
pub(crate) async fn show(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ShowCustomer { customer: record_id(&request, CustomerId::new) };
    let customer = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::customer::response(&customer)))
}

/// Rename a customer
#[utoipa::path(
    patch,
    path = "/api/external/v1/customers/{id}",
    operation_id = "updateCustomer",
    tag = "People",
    params(described::RecordIdParameter),
    request_body(content = Body, example = json!({ "customer": { "name": "Ann Example" } })),
    responses(
        (status = 200, description = "The customer.", body = wire::customer::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, CustomerErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let customer = record_id_or_nil(&request, CustomerId::new);
    let operation = move |name| RenameCustomer { customer, name };
    let render = |renamed: CustomerRenamed| wire::saved_ok(&wire::customer::response(&renamed.customer));
    execute_operation(&state, input, Target::Customer(customer), name, operation, render).await
}

/// Merge a customer into another one
///
/// For a person with two addresses. The target gets everything of the customer: votes, feature requests, comments, notes
/// and subscriptions. The customer is deleted, and its address belongs to nobody afterwards. This cannot be undone.
#[utoipa::path(
    post,
    path = "/api/external/v1/customers/{id}/merge",
    operation_id = "mergeCustomer",
    tag = "People",
    params(described::RecordIdParameter),
    request_body(content = MergeBody, example = json!({ "target_id": "01890a5d-ac96-774b-bcce-b302099a8057" })),
    responses(
        (
            status = 200,
            description = "The target, and the customer that is gone.",
            body = wire::customer::Merged,
            links(
                ("target" = (
                    operation_id = "showCustomer",
                    parameters(("id" = "$response.body#/customer/id"))
                ))
            )
        ),
        CommonErrors, BodyErrors, OperationKeyErrors, CustomerErrors
    )
)]
pub(crate) async fn merge(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let source = record_id_or_nil(&request, CustomerId::new);
    let operation = move |target| MergeCustomers { source, target };
    let render = |merged: CustomersMerged| wire::saved_ok(&wire::customer::merged(&merged));
    execute_operation(&state, input, Target::Customer(source), target, operation, render).await
}

/// Export the data of a customer
///
/// Everything that is stored about the person, for the person: nothing of anybody else is in it. The audit log records the
/// export.
#[utoipa::path(
    get,
    path = "/api/external/v1/customers/{id}/export",
    operation_id = "exportCustomer",
    tag = "People",
    params(described::RecordIdParameter, described::ExportParameters),
    responses(
        (status = 200, description = "The person's data.", body = wire::person::Person),
        CommonErrors, QueryErrors, CustomerErrors
    )
)]
pub(crate) async fn export(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let customer = record_id(&request, CustomerId::new);
    let query = ExportPerson {
        customer,
        options: ExportOptions { with_notes: with_notes(input.query.get("notes")?)?, with_private_titles: true },
        links: input.links.clone(),
    };
    let export = state.queries.run(input.workspace, &query).await?;
    execute_deletion(&state, input, RecordExport { customer: record_id_or_nil(&request, CustomerId::new) }).await?;
    Ok(wire::ok(&wire::person::exported(export)))
}

/// Erase a customer
///
/// Votes stay without the person, so that nothing is counted differently, or are dropped. Feature requests and comments stay
/// without a name, or are removed; a feature request in which others took part then loses its texts. Everything else of the
/// person goes: name and address, notes, subscriptions, sessions, mail, and what waits for approval. Imports do not bring the
/// person back. This cannot be undone.
#[utoipa::path(
    post,
    path = "/api/external/v1/customers/{id}/erase",
    operation_id = "eraseCustomer",
    tag = "People",
    params(described::RecordIdParameter),
    request_body(content = EraseBody, example = json!({ "votes": "keep", "texts": "remove" })),
    responses(
        (status = 200, description = "How much was concerned.", body = wire::person::Erased),
        CommonErrors, BodyErrors, EraseErrors
    )
)]
pub(crate) async fn erase(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let customer = record_id_or_nil(&request, CustomerId::new);
    let references = state.http.references.clone();
    let operation = move |(votes, texts)| EraseCustomer {
        person: PersonRef::Id(customer),
        votes,
        texts,
        references,
        repeats: None,
    };
    let render = |erased: ErasedRecords| wire::saved_ok(&wire::person::erased(erased));
    execute_operation(&state, input.0, Target::Customer(customer), choices, operation, render).await
}

/// Parses the parameter `notes`. Absent or blank means true.
fn with_notes(raw: Option<&str>) -> Validated<bool> {
    match raw.unwrap_or_default().trim() {
        "" | "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(FieldError::new("notes", FieldProblem::Malformed { expected: "true or false" })),
    }
}

fn choices(body: EraseBody) -> Validated<(ErasedVotes, ErasedTexts)> {
    let votes = body.votes.as_deref().unwrap_or_default().trim();
    let texts = body.texts.as_deref().unwrap_or_default().trim();
    let wrong = |field, expected| FieldError::new(field, FieldProblem::Malformed { expected });
    let votes = match votes {
        "" => Some(ErasedVotes::default()),
        name => ErasedVotes::ALL.into_iter().find(|votes| votes.name() == name),
    };
    let texts = match texts {
        "" => Some(ErasedTexts::default()),
        name => ErasedTexts::ALL.into_iter().find(|texts| texts.name() == name),
    };
    Ok((votes.ok_or_else(|| wrong("votes", "keep or drop"))?, texts.ok_or_else(|| wrong("texts", "keep or remove"))?))
}

fn name(body: Body) -> Validated<Name> {
    let Object(customer) = body.customer.ok_or_else(|| FieldError::missing("customer"))?;
    Name::parse("name", customer.name.as_deref().unwrap_or_default())
}

fn target(body: MergeBody) -> Validated<CustomerId> {
    parse_uuid("target_id", body.target_id.as_deref().unwrap_or_default()).map(CustomerId::new)
}
