//! The names of a source, in a form of few bytes each.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

use roadmap_domain::model::email_address::{EmailAddress, FoldedEmail};

use crate::records::{Person, PersonKey};

/// Most bytes of all lines of [`Names`].
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The names have more than [`MAX_BYTES`].
#[derive(Debug)]
pub(super) struct TooManyNames;

/// Lines by an id.
#[derive(Default)]
struct Names {
    hasher: RandomState,
    /// Where the lines of an id begin.
    starts: HashMap<u64, u32>,
    /// A mark and two lines for each id.
    lines: String,
}

impl Names {
    /// Adds lines. Returns `false` if the id has some already.
    fn add(&mut self, id: impl Hash, mark: char, first: &str, second: &str) -> Result<bool, TooManyNames> {
        let start = u32::try_from(self.lines.len()).map_err(|_| TooManyNames)?;
        let key = self.hasher.hash_one(id);
        if self.starts.contains_key(&key) {
            return Ok(false);
        }
        if self.lines.len() + first.len() + second.len() > MAX_BYTES {
            return Err(TooManyNames);
        }
        self.starts.insert(key, start);
        self.lines.push(mark);
        for line in [first, second] {
            self.lines.push_str(line);
            self.lines.push('\n');
        }
        Ok(true)
    }

    /// Returns where the lines of an id begin.
    fn start(&self, id: impl Hash) -> Option<u32> {
        self.starts.get(&self.hasher.hash_one(id)).copied()
    }

    fn read(&self, start: u32) -> Option<(char, &str, &str)> {
        let mut lines = self.lines.get(usize::try_from(start).ok()?..)?.split('\n');
        let mut first = lines.next()?.chars();
        Some((first.next()?, first.as_str(), lines.next()?))
    }
}

/// The people of a source by their id.
#[derive(Default)]
pub(super) struct People(Names);

/// A person, found by an id.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct User {
    /// `None` for somebody who is marked as deleted.
    pub(super) person: Option<Person>,
    pub(super) is_team: bool,
}

impl People {
    pub(super) fn len(&self) -> usize {
        self.0.starts.len()
    }

    /// Adds a person, whose address and name are lines. Returns `false` if an earlier one has the same id.
    pub(super) fn add(&mut self, id: &str, user: &User) -> Result<bool, TooManyNames> {
        let mark = match (user.person.is_some(), user.is_team) {
            (true, false) => 'c',
            (true, true) => 't',
            (false, false) => 'd',
            (false, true) => 'e',
        };
        let (email, name) = match &user.person {
            Some(Person { key: PersonKey::Email(email), name }) => (email.as_str(), name.as_deref()),
            Some(Person { name, .. }) => ("", name.as_deref()),
            None => ("", None),
        };
        self.0.add(id, mark, email, name.unwrap_or_default())
    }

    pub(super) fn find(&self, id: &str) -> Option<User> {
        let (mark, email, name) = self.0.read(self.0.start(id)?)?;
        let key = match email {
            "" => PersonKey::ExternalId(id.to_owned()),
            email => PersonKey::Email(email.to_owned()),
        };
        let name = (!name.is_empty()).then(|| name.to_owned());
        let person = matches!(mark, 'c' | 't').then_some(Person { key, name });
        Some(User { person, is_team: matches!(mark, 't' | 'e') })
    }
}

/// Returns what is the same for two votes of one person.
pub(super) fn identity(key: &PersonKey) -> (Option<FoldedEmail>, &str) {
    match key {
        PersonKey::Email(email) => (Some(EmailAddress::from_stored(email.clone()).folded().clone()), ""),
        PersonKey::ExternalId(id) => (None, id),
    }
}

/// The names of people whose address is known.
#[derive(Default)]
pub(super) struct NamesByAddress(Names);

impl NamesByAddress {
    pub(super) fn len(&self) -> usize {
        self.0.starts.len()
    }

    /// Adds a name, which is a line, unless the mailbox has one already.
    pub(super) fn add(&mut self, address: &EmailAddress, name: &str) -> Result<(), TooManyNames> {
        self.0.add(address.folded(), 'n', name, "").map(drop)
    }

    pub(super) fn find(&self, address: &EmailAddress) -> Option<&str> {
        self.0.read(self.0.start(address.folded())?).map(|(_, name, _)| name)
    }
}

/// The tags of a source by their id.
#[derive(Default)]
pub(super) struct TagNames(Names);

/// A tag, found by its id.
pub(super) struct Tag<'a> {
    /// What [`TagNames::name`] takes.
    pub(super) handle: u32,
    pub(super) name: &'a str,
    pub(super) is_public: bool,
}

impl TagNames {
    pub(super) fn len(&self) -> usize {
        self.0.starts.len()
    }

    /// Adds a tag, whose name is a line. Returns `false` if an earlier one has the same id.
    pub(super) fn add(&mut self, id: &str, name: &str, is_public: bool) -> Result<bool, TooManyNames> {
        self.0.add(id, if is_public { 'p' } else { 't' }, name, "")
    }

    pub(super) fn find(&self, id: &str) -> Option<Tag<'_>> {
        let handle = self.0.start(id)?;
        let (mark, name, _) = self.0.read(handle)?;
        Some(Tag { handle, name, is_public: mark == 'p' })
    }

    /// Returns the name of a tag by its handle.
    pub(super) fn name(&self, handle: u32) -> &str {
        self.0.read(handle).map_or("", |(_, name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_found_by_their_id() {
        let mut people = People::default();
        let person = |key, name: Option<&str>| Some(Person { key, name: name.map(str::to_owned) });
        let email = || PersonKey::Email("Ann@customer.example".to_owned());
        let id = |id: &str| PersonKey::ExternalId(id.to_owned());
        let users = [
            ("1", User { person: person(email(), Some("Ann Lee")), is_team: false }),
            ("2", User { person: person(id("2"), Some("Ärya")), is_team: true }),
            ("3", User { person: None, is_team: true }),
            ("4", User { person: None, is_team: false }),
            ("5", User { person: person(id("5"), None), is_team: false }),
            ("6", User { person: person(email(), None), is_team: true }),
        ];
        for (id, user) in &users {
            assert!(people.add(id, user).unwrap());
        }
        assert!(!people.add("1", &User { person: None, is_team: false }).unwrap());
        for (id, user) in users {
            assert_eq!(people.find(id), Some(user));
        }
        assert_eq!((people.find("7"), people.len()), (None, 6));
    }

    #[test]
    fn people_are_one_by_their_mailbox() {
        let email = |email: &str| PersonKey::Email(email.to_owned());
        let id = |id: &str| PersonKey::ExternalId(id.to_owned());
        assert_eq!(identity(&email("ANN@x.example")), identity(&email("ann@X.example")));
        assert_ne!(identity(&id("ann@x.example")), identity(&email("ann@x.example")));
        assert_ne!(identity(&id("a")), identity(&id("A")));
    }

    #[test]
    fn names_are_found_by_the_mailbox() {
        let address = |text| EmailAddress::parse("email", text).unwrap();
        let mut names = NamesByAddress::default();
        names.add(&address("Ann@x.example"), "Ann Lee").unwrap();
        names.add(&address("ann@X.example"), "Another").unwrap();
        assert_eq!(names.find(&address("ANN@x.example")), Some("Ann Lee"));
        assert_eq!((names.find(&address("bob@x.example")), names.len()), (None, 1));
    }

    #[test]
    fn tags_are_found_by_their_id() {
        let mut tags = TagNames::default();
        assert!(tags.add("1", "ui", true).unwrap() && tags.add("2", "big deal", false).unwrap());
        assert!(!tags.add("1", "again", false).unwrap());
        let found = |id| tags.find(id).map(|tag| (tag.name, tag.is_public, tags.name(tag.handle)));
        assert_eq!(found("1"), Some(("ui", true, "ui")));
        assert_eq!(found("2"), Some(("big deal", false, "big deal")));
        assert_eq!((found("3"), tags.len()), (None, 2));
    }

    #[test]
    fn names_that_do_not_fit_into_memory_are_refused() {
        let mut tags = TagNames::default();
        let name = "x".repeat(MAX_BYTES / 2);
        assert!(tags.add("1", &name, true).is_ok());
        assert!(tags.add("2", &name, true).is_err());
    }
}
