//! The customers and team members of a workspace.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::customer::{Customer, CustomerName, CustomerQuery};
use crate::model::id::{CustomerId, WorkspaceId};
use crate::model::member::Member;
use crate::model::pagination::{Listing, PageRequest};
use crate::model::person::{ErasedRecords, ErasedTexts, ExportOptions, Mention, PersonExport, PersonRef, is_erased};
use crate::policy::erasing::PersonWords;
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

/// Shows how much erasing a customer concerns.
#[derive(Debug, Clone, Copy)]
pub struct PreviewErasure {
    pub customer: CustomerId,
}

#[async_trait]
impl Query for PreviewErasure {
    type Output = (CustomerName, ErasedRecords);

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Self::Output, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::Customer);
        let records = ports.reader.person(workspace, &PersonRef::Id(self.customer)).await?.ok_or_else(missing)?;
        let person = records.person()?;
        // What is left of somebody who was erased.
        if is_erased(person.email.folded()) {
            return Err(missing());
        }
        Ok((person, records.erased()))
    }
}

/// Lists texts that have the address or the name of a customer, and that erasing the customer leaves: those of others, and
/// those of the customer unless they are removed.
#[derive(Debug, Clone)]
pub struct ListMentions {
    pub person: CustomerName,
}

#[async_trait]
impl Query for ListMentions {
    type Output = Vec<Mention>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<Mention>, RoadmapError> {
        let words = PersonWords::new(&self.person);
        Ok(ports.reader.mentions(workspace, self.person.id, &words, ErasedTexts::Keep).await?)
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
    use crate::model::person::{PersonRecords, erased_address};
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

    /// Import contract 8.
    #[test]
    fn only_who_is_not_erased_yet_has_something_to_erase() {
        let customer = CustomerId::new(Uuid::from_u128(3));
        let erased = erased_address(customer);
        for (email, expected) in [(None, None), (Some(erased.as_str()), None), (Some("ann@a.example"), Some(2))] {
            let mut reader = MockReads::new();
            let fields = email.map(|email| {
                let own = serde_json::json!({ "id": "1", "tag_number": 1, "title": "x", "is_private": 0, "is_own": 1 });
                let vote = serde_json::json!({ "feature_request": own, "subscribed": 1, "created_at": 0 });
                let records = serde_json::json!({
                    "customer": { "id": customer.to_string(), "email": email, "name": "Ann", "created_at": 0,
                        "language": null, "last_language": null, "mail_stopped_at": null,
                        "mail_stopped_because": null, "stops_changelogs": 0, "news_since": null,
                        "blocked_at": null, "confirmed_at": null },
                    "votes": [vote, vote], "feature_requests": [], "comments": [], "notes": [],
                    "subscriptions": [], "mails": [], "sessions": [], "imported": [],
                });
                PersonRecords::from_json(&records.to_string()).unwrap()
            });
            reader.expect_person().returning(move |_, _| Ok(fields.clone()));
            let preview = run_query(reader, MockBlobs::new(), &PreviewErasure { customer });
            match (preview, expected) {
                (Ok((person, records)), Some(votes)) => {
                    assert_eq!((person.id, records.votes), (customer, votes));
                    let words = PersonWords::new(&person);
                    let mut reader = MockReads::new();
                    reader
                        .expect_mentions()
                        .withf(move |_, of, searched, texts| {
                            (*of, searched, *texts) == (customer, &words, ErasedTexts::Keep)
                        })
                        .returning(|_, _, _, _| Ok(Vec::new()));
                    run_query(reader, MockBlobs::new(), &ListMentions { person }).unwrap();
                }
                (Err(error), None) => assert_eq!(error.to_string(), "Customer does not exist."),
                (preview, _) => panic!("{email:?} {preview:?}"),
            }
        }
    }
}
