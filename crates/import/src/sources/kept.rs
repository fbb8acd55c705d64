//! What tests of conversions look at.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{self, Read};

use roadmap_domain::model::timestamp::Timestamp;

use super::tables::Options;
use crate::archive::Input;
use crate::dates::Dates;
use crate::records::{
    Changelog, Comment, FeatureRequest, Kind, Lost, Move, Note, Person, PersonKey, Problem, Record, Sink, Status,
    Subscription, Vote,
};

/// A sink that keeps everything.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) records: Vec<Record>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) lost: Vec<(String, u64, Option<Kind>)>,
    /// The rejected bytes of each file with its head, and the kinds of all that was rejected.
    pub(crate) rejected: BTreeMap<usize, Vec<u8>>,
    pub(crate) kinds: Vec<Kind>,
    /// The records and problems that it takes before it fails.
    space: Option<usize>,
}

macro_rules! records {
    ($($name:ident: $kind:ident),+) => {$(
        pub(crate) fn $name(&self) -> Vec<&$kind> {
            let found = self.records.iter().filter_map(|record| match record {
                Record::$kind(found) => Some(found),
                _ => None,
            });
            found.collect()
        }
    )+};
}

impl Kept {
    records! {
        statuses: Status, requests: FeatureRequest, all_votes: Vote, subscriptions: Subscription, comments: Comment,
        notes: Note, moves: Move, changelogs: Changelog
    }

    /// A sink that fails after so many records and problems.
    pub(crate) fn with_space(space: usize) -> Self {
        Self { space: Some(space), ..Self::default() }
    }

    pub(crate) fn request(&self) -> &FeatureRequest {
        let [request] = self.requests()[..] else { panic!("{:?}", self.requests()) };
        request
    }

    /// The votes, as feature request and address or id.
    pub(crate) fn votes(&self) -> Vec<(&str, &str)> {
        self.all_votes().into_iter().map(|vote| (vote.request.as_str(), key(&vote.person))).collect()
    }

    /// The problems, as line, id, field, value, sentence and action.
    pub(crate) fn problems(&self) -> Vec<String> {
        let text = |problem: &Problem| {
            let mut text = String::new();
            if let Some(line) = problem.line {
                write!(text, "{line} ").unwrap();
            }
            if let Some(id) = &problem.id {
                write!(text, "{id} ").unwrap();
            }
            if let (Some(field), Some(value)) = (&problem.field, &problem.value) {
                write!(text, "{field}={value} ").unwrap();
            }
            write!(text, "{:?}: {}", problem.action, problem.problem).unwrap();
            text
        };
        self.problems.iter().map(text).collect()
    }

    /// The problems with the names of their files without the extension.
    pub(crate) fn problems_of_files(&self) -> Vec<String> {
        let files = self.problems.iter().map(|problem| problem.file.trim_end_matches(".csv"));
        files.zip(self.problems()).map(|(file, problem)| format!("{file} {problem}")).collect()
    }

    pub(crate) fn lost(&self) -> Vec<(&str, u64)> {
        self.lost.iter().map(|(what, count, _)| (what.as_str(), *count)).collect()
    }

    pub(crate) fn rejected(&self, file: usize) -> &str {
        self.rejected.get(&file).map_or("", |bytes| std::str::from_utf8(bytes).unwrap())
    }

    /// How often the sink was called.
    pub(crate) fn steps(&self) -> usize {
        self.records.len() + self.problems.len() + self.lost.len() + self.kinds.len()
    }

    fn take_space(&mut self) -> io::Result<()> {
        match &mut self.space {
            Some(0) => Err(io::Error::other("disk full")),
            Some(space) => {
                *space -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Sink for Kept {
    fn record(&mut self, record: Record) -> io::Result<()> {
        let line = serde_json::to_string(&record)?;
        assert_eq!(serde_json::from_str::<Record>(&line)?, record);
        self.records.push(record);
        self.take_space()
    }

    fn problem(&mut self, problem: Problem) -> io::Result<()> {
        self.problems.push(problem);
        self.take_space()
    }

    fn lost(&mut self, lost: Lost) -> io::Result<()> {
        self.lost.push((lost.what, lost.count, lost.kind));
        self.take_space()
    }

    fn rejected(&mut self, kind: Kind, file: usize, head: &[u8], original: &mut dyn Read) -> io::Result<()> {
        original.read_to_end(self.rejected.entry(file).or_insert_with(|| head.to_vec()))?;
        self.kinds.push(kind);
        self.take_space()
    }
}

/// The address or the id of a person.
pub(crate) fn key(person: &Person) -> &str {
    match &person.key {
        PersonKey::Email(key) | PersonKey::ExternalId(key) => key,
    }
}

pub(crate) fn person(email: &str, name: &str) -> Option<Person> {
    let name = (!name.is_empty()).then(|| name.to_owned());
    Some(Person { key: PersonKey::Email(email.to_owned()), name })
}

pub(crate) fn options() -> Options<'static> {
    let dates = Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() };
    Options { encoding: None, delimiter: None, dates, is_known: &|_| false, max_records: 1_000 }
}

pub(crate) fn inputs(files: &[(&str, &str)]) -> Vec<Input> {
    files.iter().map(|(name, text)| Input::from_bytes(*name, text.as_bytes())).collect()
}

/// Makes inputs of tables, each with its name without the extension.
pub(crate) fn tables_of(tables: &[(&str, &str)]) -> Vec<Input> {
    tables.iter().map(|(name, text)| Input::from_bytes(format!("{name}.csv"), text.as_bytes())).collect()
}
