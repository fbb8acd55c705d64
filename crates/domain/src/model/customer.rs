//! Customers of the workspace's company: the people who vote. Contract section 2.4.

use crate::error::Validated;
use crate::model::email_address::EmailAddress;
use crate::model::id::CustomerId;
use crate::model::text::{self, Name};

/// A customer as a call describes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerDraft {
    /// Address, by which the customer is found.
    pub email: EmailAddress,
    /// Display name, if any was sent.
    pub name: Option<Name>,
}

impl CustomerDraft {
    /// Checks the fields of a customer.
    ///
    /// # Errors
    /// An `email` that is missing or no address, a `name` that is too long.
    pub fn parse(email: Option<&str>, name: Option<&str>) -> Validated<Self> {
        let email = EmailAddress::parse("email", email.unwrap_or_default())?;
        let name = text::parse_optional_line("name", name.unwrap_or_default(), Name::MAX)?.map(Name::from_stored);
        Ok(Self { email, name })
    }

    /// The customer to be found by address, or to be stored under `id`.
    #[must_use]
    pub fn to_new_customer(&self, id: CustomerId) -> NewCustomer {
        NewCustomer { id, email: self.email.clone(), name: self.name.clone() }
    }
}

/// A customer who is found by address or created under `id`. A stored name is never overwritten;
/// an empty one is filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCustomer {
    /// Identity, should the address be new.
    pub id: CustomerId,
    /// Address.
    pub email: EmailAddress,
    /// Display name.
    pub name: Option<Name>,
}
