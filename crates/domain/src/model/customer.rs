//! Customers of the workspace's company, who vote for feature requests. Contract section 2.4.

use crate::error::Validated;
use crate::model::email_address::EmailAddress;
use crate::model::id::CustomerId;
use crate::model::text::{self, Name};

/// The validated fields of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerDraft {
    /// E-mail address, which identifies the customer.
    pub email: EmailAddress,
    /// Display name, if it was sent.
    pub name: Option<Name>,
}

impl CustomerDraft {
    /// Validates the fields of a customer.
    ///
    /// # Errors
    /// An `email` that is missing or invalid, or a `name` that is too long or has a NUL character.
    pub fn parse(email: Option<&str>, name: Option<&str>) -> Validated<Self> {
        let email = EmailAddress::parse("email", email.unwrap_or_default())?;
        let name = text::parse_optional_line("name", name.unwrap_or_default(), Name::MAX)?.map(Name::from_stored);
        Ok(Self { email, name })
    }

    /// Returns the customer to be found by address or created with `id`.
    #[must_use]
    pub fn to_new_customer(&self, id: CustomerId) -> NewCustomer {
        NewCustomer { id, email: self.email.clone(), name: self.name.clone() }
    }
}

/// A customer to be found by address or created.
///
/// A stored name is never overwritten. An empty name is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCustomer {
    /// ID, used when the address is new.
    pub id: CustomerId,
    /// E-mail address.
    pub email: EmailAddress,
    /// Display name.
    pub name: Option<Name>,
}
