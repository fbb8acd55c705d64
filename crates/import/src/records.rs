//! What a conversion gives: records, and what is to be said about them.

use std::borrow::Cow;
use std::io::{self, Read};

pub use roadmap_domain::model::import::records::{
    Changelog, Comment, FeatureRequest, File, Kind, Move, Note, Origin, Person, PersonKey, Record, Status,
    Subscription, Vote,
};
use serde::{Deserialize, Serialize};

use crate::visible;

/// What is done about a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The record is not imported; its original bytes are kept to be corrected.
    Rejected,
    /// The record is not imported, by a rule.
    Skipped,
    /// A value is corrected.
    Changed,
    /// A value is left out.
    Ignored,
}

/// Something about a record or a file that the operator should know. No text has control or bidirectional characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The name of the file.
    pub file: String,
    /// The line in which the record begins. `None` for a problem of the whole file.
    pub line: Option<u64>,
    /// The external id of the record.
    pub id: Option<String>,
    /// The name of the field.
    pub field: Option<Cow<'static, str>>,
    /// At most 80 characters of the value.
    pub value: Option<String>,
    /// A sentence.
    pub problem: String,
    pub action: Action,
}

impl Problem {
    /// Most characters of a value.
    pub const MAX_VALUE: usize = 80;
    /// Most characters of the name of a file and of an id.
    const MAX_NAME: usize = 200;

    /// Creates a problem of a whole file.
    #[must_use]
    pub fn new(file: &str, problem: impl Into<String>, action: Action) -> Self {
        Self {
            file: visible(file, Self::MAX_NAME),
            line: None,
            id: None,
            field: None,
            value: None,
            problem: problem.into(),
            action,
        }
    }

    /// Adds the line in which the record begins.
    #[must_use]
    pub fn in_line(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    /// Adds the external id of the record.
    #[must_use]
    pub fn of_record(self, id: &str) -> Self {
        Self { id: Some(visible(id, Self::MAX_NAME)), ..self }
    }

    /// Adds the field and its value.
    #[must_use]
    pub fn of_value(self, field: &'static str, value: &str) -> Self {
        Self { field: Some(Cow::Borrowed(field)), value: Some(visible(value, Self::MAX_VALUE)), ..self }
    }
}

/// What has no place here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// For example `reactions`.
    pub what: String,
    pub count: u64,
    /// The kind of the records, if these are whole records that would be records here: they count as skipped.
    #[serde(skip)]
    pub kind: Option<Kind>,
}

/// The votes of a run. What the source counts is the sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteTotals {
    /// Different pairs of a feature request and a person.
    pub voters: u64,
    /// Votes without a person.
    pub nameless: u64,
    /// Repeated votes.
    pub doubles: u64,
}

impl VoteTotals {
    /// Returns how many votes the source counts.
    #[must_use]
    pub fn source(&self) -> u64 {
        self.voters + self.nameless + self.doubles
    }
}

/// What takes the output of a conversion. An error ends the conversion.
pub trait Sink {
    /// Takes a record.
    ///
    /// # Errors
    /// It cannot be stored.
    fn record(&mut self, record: Record) -> io::Result<()>;

    /// Takes a problem. For one that is [`Action::Rejected`], [`Self::rejected`] follows.
    ///
    /// # Errors
    /// It cannot be stored, or there are too many.
    fn problem(&mut self, problem: Problem) -> io::Result<()>;

    /// Takes what has no place here, once for each [`Lost::what`], at the end.
    ///
    /// # Errors
    /// It cannot be stored.
    fn lost(&mut self, lost: Lost) -> io::Result<()>;

    /// Takes the original bytes of a rejected record of an input, by its position, once for each. `head` is what goes before the first
    /// rejected record of that input, so that all together are a file of its kind.
    ///
    /// # Errors
    /// They cannot be read or stored.
    fn rejected(&mut self, kind: Kind, file: usize, head: &[u8], original: &mut dyn Read) -> io::Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_has_no_control_character_and_a_short_value() {
        let problem = Problem::new("a\u{1b}.csv", "the title is blank", Action::Rejected)
            .in_line(3)
            .of_record("A\u{202e}1")
            .of_value("title", &format!("\t{}", "x".repeat(80)));
        let json = serde_json::to_string(&problem).unwrap();
        let value = format!("\u{fffd}{}…", "x".repeat(78));
        assert_eq!(
            json,
            format!(
                "{{\"file\":\"a\u{fffd}.csv\",\"line\":3,\"id\":\"A\u{fffd}1\",\"field\":\"title\",\"value\":\"{value}\",\
                 \"problem\":\"the title is blank\",\"action\":\"rejected\"}}"
            )
        );
        assert_eq!(value.chars().count(), Problem::MAX_VALUE);
        assert_eq!(serde_json::from_str::<Problem>(&json).unwrap(), problem);
    }

    #[test]
    fn the_source_counts_all_votes() {
        assert_eq!(VoteTotals { voters: 3, nameless: 2, doubles: 1 }.source(), 6);
    }
}
