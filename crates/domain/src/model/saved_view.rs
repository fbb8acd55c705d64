//! Views of the inbox that a member has saved.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::text::{Name, truncate};

/// A view: the parameters of the list, under a name of the member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedView {
    /// The name as typed, in one line.
    pub name: String,
    /// The query of the list's address, without a question mark. It is parsed again at each use.
    pub query: String,
}

impl SavedView {
    /// Maximum number of characters of a name.
    pub const MAX_NAME: usize = 40;
    /// Maximum number of bytes of a query: filters by a hundred tracks, and words.
    const MAX_QUERY: usize = 6_000;

    /// Validates a view.
    ///
    /// # Errors
    /// A name that is blank or too long, or a query that is too long.
    pub fn parse(name: &str, query: &str) -> Validated<Self> {
        let name = Name::parse("name", name)?;
        if truncate(name.as_str(), Self::MAX_NAME) != name.as_str() {
            return Err(FieldError::new("name", FieldProblem::TooLong { max: Self::MAX_NAME }));
        }
        if query.len() > Self::MAX_QUERY {
            return Err(FieldError::new("query", FieldProblem::TooLong { max: Self::MAX_QUERY }));
        }
        Ok(Self { name: name.as_str().to_owned(), query: query.to_owned() })
    }
}

/// The views of a member, in the order in which they were saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavedViews(Vec<SavedView>);

impl SavedViews {
    /// Maximum number of views of a member.
    pub const MAX: usize = 20;

    /// Restores stored views. Of an unreadable text, there are none.
    #[must_use]
    pub fn from_stored(json: &str) -> Self {
        let pairs: Vec<(String, String)> = serde_json::from_str(json).unwrap_or_default();
        Self(pairs.into_iter().map(|(name, query)| SavedView { name, query }).collect())
    }

    /// Returns the text that is stored: an array of pairs, a name and a query.
    #[must_use]
    pub fn to_json(&self) -> String {
        let pairs = self.0.iter().map(|view| serde_json::json!([view.name, view.query]));
        serde_json::Value::Array(pairs.collect()).to_string()
    }

    /// Returns the views.
    #[must_use]
    pub fn views(&self) -> &[SavedView] {
        &self.0
    }

    /// Adds a view.
    ///
    /// # Errors
    /// There is one with this name, or there are [`Self::MAX`].
    pub fn add(&mut self, view: SavedView) -> Validated<()> {
        if self.0.iter().any(|other| other.name == view.name) {
            return Err(name_taken());
        }
        if self.0.len() >= Self::MAX {
            return Err(too_many());
        }
        self.0.push(view);
        Ok(())
    }

    /// Removes the view with a name. Returns whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let count = self.0.len();
        self.0.retain(|view| view.name != name);
        self.0.len() < count
    }
}

/// Returns the error about a name that another view has.
#[must_use]
pub fn name_taken() -> FieldError {
    FieldError::new("name", FieldProblem::Custom { message: "You have a view with this name" })
}

/// Returns the error about one view too many.
#[must_use]
pub fn too_many() -> FieldError {
    FieldError::new("name", FieldProblem::Custom { message: "You have 20 views: remove one first" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(name: &str) -> SavedView {
        SavedView::parse(name, "state=all").unwrap()
    }

    #[test]
    fn a_view_has_a_short_name_of_its_own() {
        assert_eq!(view("  Bugs\tof ours ").name, "Bugs of ours");
        for (name, query) in [(" ", ""), (&*"ü".repeat(41), ""), ("Long", &*"x".repeat(6_001))] {
            assert!(SavedView::parse(name, query).is_err(), "{name}");
        }
        assert!(SavedView::parse(&"ü".repeat(40), &"x".repeat(6_000)).is_ok());
        let mut views = SavedViews::default();
        views.add(view("Bugs")).unwrap();
        assert_eq!(views.add(view("Bugs ")).unwrap_err(), name_taken());
        for number in 1..SavedViews::MAX {
            views.add(view(&number.to_string())).unwrap();
        }
        assert_eq!(views.add(view("One more")).unwrap_err(), too_many());
        assert!(views.remove("Bugs") && !views.remove("Bugs"));
        assert_eq!(views.views().len(), SavedViews::MAX - 1);
    }

    #[test]
    fn views_are_stored_as_they_are() {
        let mut views = SavedViews::default();
        views.add(SavedView::parse("\"Ü\" <b>", "tag=a%26b&state=all").unwrap()).unwrap();
        assert_eq!(SavedViews::from_stored(&views.to_json()), views);
        for unreadable in ["", "{}", "[[1]]"] {
            assert_eq!(SavedViews::from_stored(unreadable), SavedViews::default());
        }
    }
}
