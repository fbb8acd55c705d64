//! `GET /customers`, `GET` and `PATCH /customers/{id}`, `POST /customers/{id}/merge`.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::admin::CustomersMerged;
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::customer::CustomerQuery;
use roadmap_domain::model::id::{CustomerId, parse_uuid};
use roadmap_domain::model::text::Name;
use roadmap_domain::usecase::merge_customers::MergeCustomers;
use roadmap_domain::usecase::query::people::{ListCustomers, ShowCustomer};
use roadmap_domain::usecase::rename_customer::{CustomerRenamed, RenameCustomer};
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::execute_operation;
use crate::error::ApiError;
use crate::extractors::{ReadRequest, WriteRequest, record_id, record_id_or_nil};
use crate::fields::Object;
use crate::openapi::failures::{
    BodyErrors, CommonErrors, CustomerErrors, OperationKeyErrors, QueryErrors, RecordBudgetErrors,
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

fn name(body: Body) -> Validated<Name> {
    let Object(customer) = body.customer.ok_or_else(|| FieldError::missing("customer"))?;
    Name::parse("name", customer.name.as_deref().unwrap_or_default())
}

fn target(body: MergeBody) -> Validated<CustomerId> {
    parse_uuid("target_id", body.target_id.as_deref().unwrap_or_default()).map(CustomerId::new)
}
