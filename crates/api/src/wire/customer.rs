//! Customers, contract section 2.4.

use roadmap_domain::model::admin::CustomersMerged;
use roadmap_domain::model::cursor::{CursorList, Placed};
use roadmap_domain::model::customer::{Customer, CustomerName};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::text::Name;
use serde::Serialize;
use utoipa::ToSchema;

use super::page::Envelope;

/// A customer, as other records name it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CustomerReference<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(required = true)]
    name: Option<&'a str>,
    /// The address as it was first sent.
    #[schema(min_length = 3, max_length = 254)]
    email: &'a str,
}

/// A page of customers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CustomersPage)]
pub(crate) struct Page<'a> {
    #[schema(max_items = 100)]
    customers: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A single customer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CustomerShown)]
pub(crate) struct Response<'a> {
    customer: Fields<'a>,
}

/// A customer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ListedCustomer)]
pub(crate) struct Fields<'a> {
    #[serde(flatten)]
    customer: CustomerReference<'a>,
    /// Number of feature requests that the customer voted for. Merged ones count once.
    #[schema(minimum = 0)]
    votes_count: i64,
    #[schema(format = DateTime)]
    created_at: String,
}

/// A customer who was merged into another one.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CustomersMerged)]
pub(crate) struct Merged<'a> {
    /// What it was merged into.
    customer: Fields<'a>,
    /// What was merged. It does not exist any more.
    merged: CustomerReference<'a>,
}

fn fields(customer: &Customer) -> Fields<'_> {
    Fields {
        customer: reference(&customer.customer),
        votes_count: customer.votes_count,
        created_at: customer.created_at.to_string(),
    }
}

pub(crate) fn reference(customer: &CustomerName) -> CustomerReference<'_> {
    CustomerReference {
        id: customer.id.to_string(),
        name: customer.name.as_ref().map(Name::as_str),
        email: customer.email.as_str(),
    }
}

/// Customers are listed by ID.
pub(crate) fn listed(customers: &Listing<Customer>, cursors: &CursorList) -> impl Serialize {
    let envelope = Envelope::with_cursor(customers, cursors, Placed::place);
    Page { customers: customers.page_items().iter().map(fields).collect(), envelope }
}

pub(crate) fn response(customer: &Customer) -> impl Serialize {
    Response { customer: fields(customer) }
}

pub(crate) fn merged(merged: &CustomersMerged) -> impl Serialize {
    Merged { customer: fields(&merged.customer), merged: reference(&merged.source) }
}
