//! The people of records.

use roadmap_domain::error::FieldError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::text::{Name, truncate};

use super::file::trimmed;
use crate::json::Object;
use crate::records::{Person, PersonKey};
use crate::sources::csv::values::{flag, line};

/// What a record says of a person.
#[derive(Default)]
pub(super) struct Found {
    /// A person with an address or an id.
    pub(super) person: Option<Person>,
    /// The address of the person, to compare.
    pub(super) address: Option<EmailAddress>,
    /// Whether there is a name, but neither an address nor an id.
    pub(super) is_only_name: bool,
    pub(super) is_team: bool,
    /// An address that cannot be used, and why.
    pub(super) bad_address: Option<(String, FieldError)>,
    /// Whether there is something that is no person.
    pub(super) is_malformed: bool,
}

/// Finds the person under a key, or the id of one under another key.
pub(super) fn find(object: &Object<'_>, key: &str, id_key: &str) -> Found {
    let value = object.get(key);
    let (person, is_malformed) = match value.object() {
        Some(person) => (person, false),
        None => (Object::default(), !value.is_null()),
    };
    let name = person.get("name").text().and_then(|name| line(&name));
    let name = name.map(|name| truncate(&name, Name::MAX).trim_end().to_owned());
    let id =
        trimmed(person.get("id")).or_else(|| trimmed(person.get("userID"))).or_else(|| trimmed(object.get(id_key)));
    let (mut address, mut bad_address) = (None, None);
    if let Some(email) = trimmed(person.get("email")) {
        match EmailAddress::parse("email", &email) {
            Ok(parsed) => address = Some(parsed),
            Err(error) => bad_address = Some((email.into_owned(), error)),
        }
    }
    let key = match (&address, id) {
        (Some(address), _) => Some(PersonKey::Email(address.as_str().to_owned())),
        (None, Some(id)) => Some(PersonKey::ExternalId(id.into_owned())),
        (None, None) => None,
    };
    Found {
        is_only_name: key.is_none() && name.is_some(),
        person: key.map(|key| Person { key, name }),
        address,
        is_team: person.get("isAdmin").text().is_some_and(|value| flag(&value) == Some(true)),
        bad_address,
        is_malformed,
    }
}
