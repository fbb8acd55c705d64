//! Erasing people: what becomes of their feature requests, and where their address or name is found in texts.

use serde_json::Value;

use crate::model::customer::CustomerName;
use crate::model::email_address::EmailAddress;
use crate::model::person::{AskedRequest, ErasedTexts};
use crate::model::search::SearchDocument;
use crate::model::text::Name;

/// What stands in saved texts instead of a name.
const NOBODY: &str = "Customer";

/// What becomes of a feature request whose author is erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedRequestFate {
    /// It stays as it is, without the author's name.
    Keep,
    /// It stays for the others, without its texts.
    Empty,
    Delete,
}

/// Decides what becomes of a feature request. One that waits for approval was never seen by others.
#[must_use]
pub fn fate(request: &AskedRequest, texts: ErasedTexts) -> AskedRequestFate {
    match (texts, request.is_waiting, request.has_others) {
        (ErasedTexts::Keep, false, _) => AskedRequestFate::Keep,
        (_, _, true) => AskedRequestFate::Empty,
        (_, _, false) => AskedRequestFate::Delete,
    }
}

/// The address and the name of a person, as they are looked for in texts: as whole words, in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonWords {
    /// The address as written and folded.
    addresses: Vec<String>,
    name: Option<String>,
}

impl PersonWords {
    /// Returns those of a person.
    #[must_use]
    pub fn new(person: &CustomerName) -> Self {
        Self::from_parts(&person.email, person.name.as_ref().map(Name::as_str))
    }

    fn from_parts(email: &EmailAddress, name: Option<&str>) -> Self {
        let mut addresses = vec![email.as_str().to_owned()];
        if email.folded().as_str() != email.as_str() {
            addresses.push(email.folded().as_str().to_owned());
        }
        Self { addresses, name: name.map(str::to_owned) }
    }

    /// Returns the words that [`Self::to_list`] has returned.
    #[must_use]
    pub fn from_list(list: Vec<String>) -> Self {
        let (addresses, names): (Vec<String>, Vec<String>) = list.into_iter().partition(|word| word.contains('@'));
        Self { addresses, name: names.into_iter().next() }
    }

    /// Reads a JSON array of what [`Self::to_list`] has returned.
    ///
    /// # Errors
    /// Another form.
    pub fn list_from_json(json: &str) -> Result<Vec<String>, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// Returns the addresses, and the name if there is one.
    #[must_use]
    pub fn to_list(&self) -> Vec<String> {
        self.addresses.iter().chain(&self.name).cloned().collect()
    }

    /// Returns them as they can be in JSON, where some characters are escaped.
    #[must_use]
    pub fn in_json(&self) -> Vec<String> {
        let escaped = |word: &String| Value::from(word.as_str()).to_string();
        let words = self.addresses.iter().chain(&self.name).map(escaped);
        words.map(|word| word.trim_matches('"').to_owned()).collect()
    }

    /// Returns the words of the address and the name, as the vocabulary of the search has them.
    #[must_use]
    pub fn vocabulary(&self) -> Vec<String> {
        let document = SearchDocument::new(&self.to_list().join(" "), std::iter::empty(), "");
        document.vocabulary().into_iter().map(str::to_owned).collect()
    }

    /// Whether a text has the address or the name.
    #[must_use]
    pub fn are_in(&self, text: &str) -> bool {
        self.addresses.iter().chain(&self.name).any(|word| find(text, word, 0).is_some())
    }

    /// Replaces the address and the name in a text.
    #[must_use]
    pub fn replaced_in(&self, text: &str, address: &EmailAddress) -> String {
        let mut replaced = text.to_owned();
        let words = self.addresses.iter().map(|word| (word, address.as_str()));
        for (word, by) in words.chain(self.name.iter().map(|name| (name, NOBODY))) {
            let mut from = 0;
            while let Some((start, end)) = find(&replaced, word, from) {
                replaced.replace_range(start..end, by);
                from = start + by.len();
            }
        }
        replaced
    }

    /// Replaces the address and the name in all texts of a JSON document. What is no JSON is taken as a text.
    #[must_use]
    pub fn replaced_in_json(&self, json: &[u8], address: &EmailAddress) -> Vec<u8> {
        match serde_json::from_slice::<Value>(json) {
            Ok(mut value) => {
                self.replace(&mut value, address);
                value.to_string().into_bytes()
            }
            Err(_) => self.replaced_in(&String::from_utf8_lossy(json), address).into_bytes(),
        }
    }

    fn replace(&self, value: &mut Value, address: &EmailAddress) {
        match value {
            Value::String(text) => *text = self.replaced_in(text, address),
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace(item, address)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.replace(field, address)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Finds a word in a text from a position on: not inside of a longer word, in any case. Returns where it begins and ends.
fn find(text: &str, word: &str, from: usize) -> Option<(usize, usize)> {
    let first = word.chars().next()?;
    let rest = text.get(from..)?;
    for (offset, character) in rest.char_indices() {
        if !is_same(character, first) {
            continue;
        }
        let (before, candidate) = (text.get(..from + offset)?, rest.get(offset..)?);
        let Some(length) = length_of_match(candidate, word) else { continue };
        let is_alone = |next: Option<char>| next.is_none_or(|next| !next.is_alphanumeric());
        if is_alone(before.chars().next_back()) && is_alone(candidate.get(length..)?.chars().next()) {
            return Some((from + offset, from + offset + length));
        }
    }
    None
}

/// Returns how many bytes of a text are a word that it begins with.
fn length_of_match(text: &str, word: &str) -> Option<usize> {
    let mut characters = text.chars();
    let mut length = 0;
    for expected in word.chars() {
        let character = characters.next()?;
        if !is_same(character, expected) {
            return None;
        }
        length += character.len_utf8();
    }
    Some(length)
}

fn is_same(one: char, other: char) -> bool {
    one == other || one.to_lowercase().eq(other.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{CustomerId, FeatureRequestId};
    use crate::model::person::erased_address;
    use crate::usecase::fixtures::name;
    use uuid::Uuid;

    fn words(email: &str, who: Option<&str>) -> PersonWords {
        let id = CustomerId::new(Uuid::from_u128(1));
        let email = EmailAddress::parse("email", email).unwrap();
        PersonWords::new(&CustomerName { id, name: who.map(name), email })
    }

    /// Import contract 8.
    #[test]
    fn what_others_took_part_in_stays_without_its_texts() {
        let request = |is_waiting, has_others| AskedRequest {
            id: FeatureRequestId::new(Uuid::from_u128(1)),
            tag_number: 7,
            tags: Vec::new(),
            is_private: false,
            root: None,
            is_waiting,
            has_others,
        };
        for (texts, is_waiting, has_others, expected) in [
            (ErasedTexts::Keep, false, false, AskedRequestFate::Keep),
            (ErasedTexts::Keep, false, true, AskedRequestFate::Keep),
            (ErasedTexts::Keep, true, false, AskedRequestFate::Delete),
            (ErasedTexts::Keep, true, true, AskedRequestFate::Empty),
            (ErasedTexts::Remove, false, false, AskedRequestFate::Delete),
            (ErasedTexts::Remove, false, true, AskedRequestFate::Empty),
            (ErasedTexts::Remove, true, false, AskedRequestFate::Delete),
            (ErasedTexts::Remove, true, true, AskedRequestFate::Empty),
        ] {
            assert_eq!(fate(&request(is_waiting, has_others), texts), expected);
        }
    }

    #[test]
    fn names_and_addresses_are_found_as_whole_words_in_any_case() {
        let ann = words("Ann@a.example", Some("Ann Lee"));
        for (text, expected) in [
            ("ask ann lee.", true),
            ("ANN LEE", true),
            ("Joann Lee", false),
            ("Ann Leeds", false),
            ("Ann", false),
            ("<p>ann@a.example</p>", true),
            ("mail ANN@A.EXAMPLE, please", true),
            ("joann@a.example", false),
            ("Joann Lee and Ann Lee", true),
            ("", false),
        ] {
            assert_eq!(ann.are_in(text), expected, "{text}");
        }
        assert!(words("b@b.example", Some("Élodie")).are_in("merci éLODIE!"));
        assert!(!words("b@b.example", None).are_in("anything"));
    }

    #[test]
    fn saved_responses_lose_name_and_address_only() {
        let ann = words("Ann@a.example", Some("Ann \"A\" Lee"));
        let left = erased_address(CustomerId::new(Uuid::from_u128(7)));
        let body = serde_json::json!({
            "customer": { "name": "Ann \"A\" Lee", "email": "Ann@a.example" },
            "content": ["by ann@a.example", 3, null, true]
        });
        let replaced: Value =
            serde_json::from_slice(&ann.replaced_in_json(body.to_string().as_bytes(), &left)).unwrap();
        let expected = serde_json::json!({
            "customer": { "name": "Customer", "email": left.as_str() },
            "content": [format!("by {}", left.as_str()), 3, null, true]
        });
        assert_eq!(replaced, expected);
        assert_eq!(
            ann.replaced_in_json(b"no json: ann@a.example", &left),
            format!("no json: {}", left.as_str()).into_bytes()
        );
        assert_eq!(ann.in_json(), ["Ann@a.example", "ann@a.example", "Ann \\\"A\\\" Lee"]);
        assert_eq!(PersonWords::from_list(ann.to_list()), ann);
        // What replaces it is not searched again.
        let customer = words("c@c.example", Some("Customer"));
        assert_eq!(customer.replaced_in("Customer, customer", &left), "Customer, Customer");
    }
}
