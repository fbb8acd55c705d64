//! Saves the name and the language of somebody who is signed in.

use async_trait::async_trait;

use crate::error::{FieldError, FieldProblem, RoadmapError, Validated};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::customer::{CustomerDraft, CustomerName};
use crate::model::email_address::EmailAddress;
use crate::model::id::CustomerId;
use crate::model::portal::Language;
use crate::model::text::{self, Name};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Saves the own settings of a person, who becomes a customer.
#[derive(Debug, Clone)]
pub struct SaveAccount {
    /// The confirmed address.
    pub email: EmailAddress,
    /// The name, if any.
    pub name: Option<Name>,
    /// The language; `None` follows the browser.
    pub language: Option<Language>,
    /// Whether the team approves what this person publishes. The name that is beside public posts is part of that, so only
    /// the team changes it.
    pub holds_names: bool,
}

/// The error of a name that only the team can change.
#[must_use]
pub fn held_name() -> FieldError {
    let message = "name can be changed by the team only, because it is beside posts that the team has approved";
    FieldError::new("name", FieldProblem::Custom { message })
}

impl SaveAccount {
    /// Maximum number of characters of a name that people give themselves.
    pub const MAX_NAME: usize = 60;

    /// Validates a typed name. A blank one is none.
    ///
    /// # Errors
    /// Too long, with a NUL character, or with a URL: such names are advertisements.
    pub fn parse_name(raw: &str) -> Validated<Option<Name>> {
        let name = text::parse_optional_line("name", raw, Self::MAX_NAME)?;
        if name.as_ref().is_some_and(|name| name.contains("://")) {
            return Err(FieldError::new("name", FieldProblem::Malformed { expected: "a name without a URL" }));
        }
        Ok(name.map(Name::from_stored))
    }
}

#[async_trait]
impl Operation for SaveAccount {
    type Output = CustomerName;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<CustomerName>, RoadmapError> {
        let draft = CustomerDraft { email: self.email.clone(), name: None };
        let customer = draft.to_new_customer(context.new_id(CustomerId::new));
        let customer = work.set_language(&customer, self.language, context.now).await?;
        let is_new = self.name.is_some() && self.name != customer.name;
        if self.holds_names && is_new && work.has_public_posts(customer.id).await? {
            return Err(held_name().into());
        }
        work.set_own_name(customer.id, self.name.as_ref()).await?;
        let bytes = storage::customer_bytes(&CustomerDraft { name: self.name.clone(), ..draft });
        let customer = CustomerName { name: self.name.clone(), ..customer };
        Ok(Performed::new(customer, Audit::OwnRecord(OwnRecord::OwnAccount)).storing(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{name, perform};

    #[test]
    fn a_blank_name_is_removed() {
        for (raw, expected) in [(" Ann ", Some(name("Ann"))), (" ", None)] {
            let mut unit = MockUnit::new();
            unit.expect_set_language()
                .withf(|customer, language, _| {
                    customer.email.as_str() == "ann@example.com" && *language == Some(Language::German)
                })
                .returning(|new, _, _| {
                    Ok(CustomerName { id: new.id, name: Some(name("Old")), email: new.email.clone() })
                });
            let wanted = expected.clone();
            unit.expect_set_own_name().withf(move |_, name| *name == wanted.as_ref()).times(1).returning(|_, _| Ok(()));
            let email = EmailAddress::from_stored("ann@example.com".to_owned());
            let save = SaveAccount {
                email,
                name: SaveAccount::parse_name(raw).unwrap(),
                language: Some(Language::German),
                holds_names: false,
            };
            let saved = perform(&save, &mut unit).unwrap();
            assert_eq!(saved.output.name, expected);
        }
    }

    #[test]
    fn a_name_that_people_give_themselves_is_short_and_no_url() {
        assert!(SaveAccount::parse_name(&"ü".repeat(60)).is_ok());
        let error = |raw: &str| SaveAccount::parse_name(raw).unwrap_err().to_string();
        assert_eq!(error(&"ü".repeat(61)), "name must be at most 60 characters long");
        for raw in ["Pills https://spam.example", "HTTPS://spam.example", "ftp:\u{200b}//x", "a:/\u{ad}/b"] {
            assert_eq!(error(raw), "name is not a name without a URL", "{raw}");
        }
        assert_eq!(SaveAccount::parse_name("A/B: Ann").unwrap(), Some(name("A/B: Ann")));
    }

    /// Saves a name of somebody who is called Ann.
    fn save(raw: &str, holds_names: bool, has_public_posts: bool) -> Result<Option<Name>, RoadmapError> {
        let mut unit = MockUnit::new();
        unit.expect_set_language()
            .returning(|new, _, _| Ok(CustomerName { id: new.id, name: Some(name("Ann")), email: new.email.clone() }));
        unit.expect_has_public_posts().returning(move |_| Ok(has_public_posts));
        unit.expect_set_own_name().returning(|_, _| Ok(()));
        let email = EmailAddress::from_stored("ann@example.com".to_owned());
        let save = SaveAccount { email, name: SaveAccount::parse_name(raw).unwrap(), language: None, holds_names };
        perform(&save, &mut unit).map(|saved| saved.output.name)
    }

    #[test]
    fn the_team_approves_the_name_beside_approved_posts() {
        for (raw, holds_names, has_public_posts, is_saved) in [
            ("Spam", true, true, false),
            ("Spam", true, false, true),
            ("Spam", false, true, true),
            ("Ann", true, true, true),
            ("", true, true, true),
        ] {
            let saved = save(raw, holds_names, has_public_posts);
            match saved {
                Ok(saved) => {
                    assert!(is_saved && saved.map_or("".to_owned(), |name| name.to_string()) == raw, "{raw}")
                }
                Err(error) => assert!(!is_saved && error.to_string() == held_name().to_string(), "{raw}: {error}"),
            }
        }
    }
}
