//! The customers and team members of a workspace.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::customer::{Customer, CustomerQuery};
use crate::model::id::{CustomerId, WorkspaceId};
use crate::model::member::Member;
use crate::model::pagination::{Listing, PageRequest};
use crate::model::person::{ExportOptions, PersonExport, PersonRef};
use crate::policy::links::Links;
use crate::usecase::query::{Query, QueryPorts};

/// Lists the customers whose name or address contains the query, or all, newest first.
#[derive(Debug, Clone)]
pub struct ListCustomers {
    pub query: Option<CustomerQuery>,
    /// The page to return.
    pub page: PageRequest,
}

#[async_trait]
impl Query for ListCustomers {
    type Output = Listing<Customer>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Listing<Customer>, RoadmapError> {
        Ok(ports.reader.customers(workspace, self.query.as_ref(), self.page).await?)
    }
}

/// Shows a customer.
#[derive(Debug, Clone, Copy)]
pub struct ShowCustomer {
    /// The customer. `None` for an ID that no customer can have.
    pub customer: Option<CustomerId>,
}

#[async_trait]
impl Query for ShowCustomer {
    type Output = Customer;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Customer, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::Customer);
        let customer = self.customer.ok_or_else(missing)?;
        ports.reader.customer(workspace, customer).await?.ok_or_else(missing)
    }
}

/// Collects the data of a customer.
#[derive(Debug, Clone)]
pub struct ExportPerson {
    /// The customer. `None` for an ID that no customer can have.
    pub customer: Option<CustomerId>,
    pub options: ExportOptions,
    pub links: Links,
}

#[async_trait]
impl Query for ExportPerson {
    type Output = PersonExport;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<PersonExport, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::Customer);
        let person = PersonRef::Id(self.customer.ok_or_else(missing)?);
        let records = ports.reader.person(workspace, &person).await?.ok_or_else(missing)?;
        Ok(PersonExport::new(records, &self.links, self.options, ports.clock.now()))
    }
}

/// Lists the team members, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct ListMembers;

#[async_trait]
impl Query for ListMembers {
    type Output = Vec<Member>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<Member>, RoadmapError> {
        Ok(ports.reader.members(workspace).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::query::tests::run_query;
    use uuid::Uuid;

    #[test]
    fn an_unknown_customer_is_not_found() {
        for customer in [None, Some(CustomerId::new(Uuid::from_u128(3)))] {
            let mut reader = MockReads::new();
            reader.expect_customer().times(usize::from(customer.is_some())).returning(|_, _| Ok(None));
            let error = run_query(reader, MockBlobs::new(), &ShowCustomer { customer }).unwrap_err();
            assert_eq!(error.to_string(), "Customer does not exist.");
        }
    }
}
