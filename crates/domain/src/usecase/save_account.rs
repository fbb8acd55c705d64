//! Saves the name and the language of somebody who is signed in.

use async_trait::async_trait;

use crate::error::{RoadmapError, Validated};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::customer::{CustomerDraft, CustomerName};
use crate::model::email_address::EmailAddress;
use crate::model::id::CustomerId;
use crate::model::portal::Language;
use crate::model::text::{self, Name};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Saves the own settings of a person, who becomes a customer.
#[derive(Debug, Clone)]
pub struct SaveAccount {
    /// The confirmed address.
    pub email: EmailAddress,
    /// The name, `None` for none, or its validation error.
    pub name: Validated<Option<Name>>,
    /// The language; `None` follows the browser.
    pub language: Option<Language>,
}

impl SaveAccount {
    /// Validates a typed name. A blank one is none.
    ///
    /// # Errors
    /// Too long, or with a NUL character.
    pub fn parse_name(raw: &str) -> Validated<Option<Name>> {
        Ok(text::parse_optional_line("name", raw, Name::MAX)?.map(Name::from_stored))
    }
}

#[async_trait]
impl Operation for SaveAccount {
    type Output = CustomerName;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<CustomerName, RoadmapError> {
        let name = self.name.as_ref().map_err(Clone::clone)?;
        let customer = CustomerDraft { email: self.email.clone(), name: None };
        let customer = customer.to_new_customer(context.new_id(CustomerId::new));
        let customer = work.set_language(&customer, self.language, context.now).await?;
        work.set_own_name(customer.id, name.as_ref()).await?;
        Ok(CustomerName { name: name.clone(), ..customer })
    }

    fn stored_bytes(&self) -> u64 {
        let name = self.name.as_ref().ok().cloned().flatten();
        storage::customer_bytes(&CustomerDraft { email: self.email.clone(), name })
    }

    fn audit(&self, _: &CustomerName) -> Audit {
        Audit::OwnRecord(OwnRecord::OwnAccount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, name};
    use pollster::block_on;

    #[test]
    fn a_blank_name_is_removed() {
        for (typed, expected) in [(" Ann ", Some(name("Ann"))), (" ", None)] {
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
            let save = SaveAccount { email, name: SaveAccount::parse_name(typed), language: Some(Language::German) };
            let saved = block_on(save.perform(&context(&NumberedIds::default()), &mut unit)).unwrap();
            assert_eq!(saved.name, expected);
        }
        assert!(SaveAccount::parse_name(&"a".repeat(201)).is_err());
    }
}
