//! Customers of the workspace's company, who vote for feature requests. Contract section 2.4.

use crate::error::Validated;
use crate::model::email_address::EmailAddress;
use crate::model::id::CustomerId;
use crate::model::text::{self, Name};
use crate::model::timestamp::Timestamp;

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

/// A customer, as other records name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerName {
    pub id: CustomerId,
    /// Display name, if known.
    pub name: Option<Name>,
    /// E-mail address as first written.
    pub email: EmailAddress,
}

/// A customer of the workspace's company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// ID, name and address.
    pub customer: CustomerName,
    /// Number of feature requests that the customer voted for. What is merged counts once.
    pub votes_count: i64,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
    /// Since when nothing that the person does on the portal has an effect. `None`: not blocked.
    pub blocked_at: Option<Timestamp>,
}

/// Two customers with one address. They are from a time when addresses were compared in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubleCustomer {
    /// The one that is not found by the address any more.
    pub double: CustomerName,
    /// The one that is.
    pub canonical: CustomerName,
}

/// The customers and members of a workspace with the address of another one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DoubleAddresses {
    /// Customers, oldest first.
    pub customers: Vec<DoubleCustomer>,
    /// The addresses of members who cannot sign in, because another member has the same address.
    pub members: Vec<EmailAddress>,
}

/// Which customers are listed: those whose name or address has a part, regardless of case, or only blocked ones, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerQuery {
    words: String,
    only_blocked: bool,
}

impl CustomerQuery {
    /// Maximum number of characters.
    pub const MAX: usize = 254;

    /// Validates a query. An absent or blank one finds all customers.
    ///
    /// # Errors
    /// Too long, or with a NUL character.
    pub fn parse(field: &str, raw: Option<&str>) -> Validated<Option<Self>> {
        let raw = text::parse_optional_line(field, raw.unwrap_or_default(), Self::MAX)?;
        Ok(raw.map(|raw| Self { words: raw.to_lowercase(), only_blocked: false }))
    }

    /// Returns a query for those of a query, or of all customers, who are blocked.
    #[must_use]
    pub fn blocked_among(query: Option<Self>) -> Self {
        Self { words: query.map(|query| query.words).unwrap_or_default(), only_blocked: true }
    }

    /// Whether only blocked customers are listed.
    #[must_use]
    pub fn is_only_blocked(&self) -> bool {
        self.only_blocked
    }

    /// Returns the pattern of names, and of addresses as written, for SQL's `LIKE`, with `\` as the escape character.
    #[must_use]
    pub fn pattern(&self) -> String {
        Self::pattern_of(&self.words)
    }

    /// Returns the same for folded addresses: the pattern of an address in any spelling, or that of a part of one.
    #[must_use]
    pub fn address_pattern(&self) -> String {
        match EmailAddress::parse("", &self.words) {
            Ok(address) => Self::pattern_of(address.folded().as_str()),
            Err(_) => self.pattern(),
        }
    }

    fn pattern_of(words: &str) -> String {
        let mut pattern = String::from("%");
        for character in words.chars() {
            if matches!(character, '%' | '_' | '\\') {
                pattern.push('\\');
            }
            pattern.push(character);
        }
        pattern.push('%');
        pattern
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Addition 4.
    #[test]
    fn a_query_is_folded_and_matches_literally() {
        let pattern = |raw| CustomerQuery::parse("query", Some(raw)).unwrap().map(|query| query.pattern());
        assert_eq!(pattern(" Ann "), Some("%ann%".to_owned()));
        assert_eq!(pattern("100%_\\"), Some("%100\\%\\_\\\\%".to_owned()));
        assert_eq!(pattern("  "), None);
        let address = |raw| CustomerQuery::parse("query", Some(raw)).unwrap().map(|query| query.address_pattern());
        assert_eq!(address("Ann@Exämple.de"), Some("%ann@xn--exmple-cua.de%".to_owned()));
        assert_eq!(address("exämple"), Some("%exämple%".to_owned()));
        let blocked = |raw| CustomerQuery::blocked_among(CustomerQuery::parse("query", Some(raw)).unwrap());
        assert_eq!((blocked("").pattern(), blocked("Ann").pattern()), ("%%".to_owned(), "%ann%".to_owned()));
        assert!(blocked("").is_only_blocked());
        assert_eq!(CustomerQuery::parse("query", None).unwrap(), None);
        let error = CustomerQuery::parse("query", Some(&"a".repeat(255))).unwrap_err();
        assert_eq!(error.to_string(), "query must be at most 254 characters long");
    }
}
