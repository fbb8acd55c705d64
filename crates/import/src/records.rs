//! The records of an import, whatever their source, and what is to be said about it.
//!
//! A run keeps its converted input as NDJSON: one [`Record`] a line.

use std::borrow::Cow;
use std::io::{self, BufRead, Read, Write};

use roadmap_domain::model::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use crate::visible;

/// One record of a source. Texts are those of the source: Markdown or HTML, not yet cleaned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    Status(Status),
    File(File),
    FeatureRequest(FeatureRequest),
    Vote(Vote),
    Subscription(Subscription),
    Comment(Comment),
    Note(Note),
    Move(Move),
    Changelog(Changelog),
}

impl Record {
    /// Writes the record as one line.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_line(&self, mut to: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut to, self)?;
        to.write_all(b"\n")
    }

    /// Reads the records of lines that were written by [`Self::write_line`], one by one.
    ///
    /// # Errors
    /// Lines that cannot be read, or that are no record.
    pub fn read_lines(from: impl BufRead) -> impl Iterator<Item = io::Result<Self>> {
        serde_json::Deserializer::from_reader(from).into_iter().map(|record| record.map_err(io::Error::from))
    }
}

/// Where a record was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The position of the file among the inputs, from 0.
    pub file: usize,
    /// The line in which the record begins, from 1.
    pub line: u64,
}

/// A person of a source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Person {
    #[serde(flatten)]
    pub key: PersonKey,
    /// The name, not blank, at most 200 characters.
    pub name: Option<String>,
}

/// What makes two people of a source one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonKey {
    /// A valid address, as written.
    Email(String),
    /// The id of somebody whose address is not known.
    ExternalId(String),
}

/// A status that has a column on the public roadmap of the source. Statuses of feature requests need no record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The name, as [`FeatureRequest::status`] has it.
    pub name: String,
    #[serde(flatten)]
    pub origin: Origin,
}

/// A picture of a text, whose content is the file of its origin. Texts refer to it by [`File::link`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its id in the source: 1 to 200 visible ASCII characters without `<`, `>`, `(`, `)` and `\\`.
    pub external_id: String,
    /// Its name, as the source has it.
    pub name: String,
    #[serde(flatten)]
    pub origin: Origin,
}

impl File {
    /// Returns the address of a file in texts, until it is stored.
    #[must_use]
    pub fn link(external_id: &str) -> String {
        format!("import-file:{external_id}")
    }
}

/// A feature request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureRequest {
    /// Its id in the source, or a digest of what identifies it there.
    pub external_id: String,
    /// A line of 1 to 200 characters.
    pub title: String,
    /// The text, possibly longer than a description may be.
    pub description: String,
    pub status: Option<String>,
    /// At most 20 of 1 to 50 characters, all different regardless of case.
    pub tags: Vec<String>,
    pub is_private: bool,
    /// Whether it waits for approval. Then it is private.
    pub awaits_approval: bool,
    pub author: Option<Person>,
    /// Whether the author belongs to the team of the source.
    pub is_team: bool,
    /// Votes that the source counts without a usable person. Votes with one are records of their own.
    pub nameless_votes: u32,
    /// `None`: that of the run.
    #[serde(with = "timestamp")]
    pub created_at: Option<Timestamp>,
    /// Its address in the source, from which visitors are redirected.
    pub url: Option<String>,
    /// The external id of the feature request into which it is merged, which may be unknown.
    pub merged_into: Option<String>,
    #[serde(flatten)]
    pub origin: Origin,
}

/// A vote. There is at most one of a person for a feature request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// The external id of the feature request.
    pub request: String,
    pub person: Person,
    /// Whether the person is to get mail about the feature request. `None`: the source does not say.
    pub is_subscribed: Option<bool>,
    /// `None`: that of the feature request.
    #[serde(with = "timestamp")]
    pub created_at: Option<Timestamp>,
    #[serde(flatten)]
    pub origin: Origin,
}

/// A person who gets mail about a feature request without a vote for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// The external id of the feature request.
    pub request: String,
    pub person: Person,
    /// `None`: that of the feature request.
    #[serde(with = "timestamp")]
    pub created_at: Option<Timestamp>,
    #[serde(flatten)]
    pub origin: Origin,
}

/// A comment that customers see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    pub external_id: String,
    /// The external id of the feature request.
    pub request: String,
    /// The text, not blank.
    pub body: String,
    pub author: Option<Person>,
    /// Whether the team of the source wrote it.
    pub is_team: bool,
    /// Whether it waits for approval. Only comments of customers do.
    pub is_held: bool,
    /// `None`: that of the run.
    #[serde(with = "timestamp")]
    pub created_at: Option<Timestamp>,
    #[serde(flatten)]
    pub origin: Origin,
}

/// A note that only the team sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub external_id: String,
    /// The external id of the feature request.
    pub request: String,
    /// The text, not blank.
    pub body: String,
    pub author: Option<Person>,
    /// `None`: that of the run.
    #[serde(with = "timestamp")]
    pub created_at: Option<Timestamp>,
    #[serde(flatten)]
    pub origin: Origin,
}

/// A change of the status of a feature request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    pub external_id: String,
    /// The external id of the feature request.
    pub request: String,
    /// The status that it got.
    pub status: String,
    /// Who changed it, always of the team of the source.
    pub author: Option<Person>,
    #[serde(with = "timestamp::required")]
    pub at: Timestamp,
    #[serde(flatten)]
    pub origin: Origin,
}

/// A changelog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changelog {
    pub external_id: String,
    /// A line of 1 to 200 characters.
    pub title: String,
    pub body: String,
    /// `None`: a draft.
    #[serde(with = "timestamp")]
    pub published_at: Option<Timestamp>,
    /// The external ids of the feature requests that it links to, which may be unknown.
    pub requests: Vec<String>,
    #[serde(flatten)]
    pub origin: Origin,
}

/// A kind of records, in the order in which a report counts them (contract section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Tracks,
    Lanes,
    Members,
    Customers,
    FeatureRequests,
    Merges,
    Votes,
    Subscriptions,
    Comments,
    Notes,
    Moves,
    Changelogs,
    Files,
}

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

/// Timestamps in RFC 3339.
mod timestamp {
    use roadmap_domain::model::timestamp::Timestamp;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => serializer.collect_str(at),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
        let text: Option<String> = Option::deserialize(deserializer)?;
        let parse = |text: String| Timestamp::parse(&text).ok_or_else(|| D::Error::custom("no timestamp of RFC 3339"));
        text.map(parse).transpose()
    }

    pub(super) mod required {
        use super::*;

        pub(in super::super) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
            super::serialize(&Some(*at), serializer)
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
            super::deserialize(deserializer)?.ok_or_else(|| D::Error::custom("no timestamp"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_of_json() {
        let (mut written, mut lines, mut records) = (Vec::new(), String::new(), Vec::new());
        let at = Timestamp::parse("2024-05-01T10:00:00.123Z");
        let ann = Person { key: PersonKey::Email("ann@customer.example".to_owned()), name: Some("Ann".to_owned()) };
        let nobody = Person { key: PersonKey::ExternalId("u-7".to_owned()), name: None };
        let origin = Origin { file: 0, line: 2 };
        for (record, json) in [
            (
                Record::FeatureRequest(FeatureRequest {
                    external_id: "A-1".to_owned(),
                    title: "Dark mode".to_owned(),
                    description: "one\ntwo".to_owned(),
                    status: Some("planned".to_owned()),
                    tags: vec!["ui".to_owned()],
                    is_private: true,
                    awaits_approval: false,
                    author: Some(ann.clone()),
                    is_team: false,
                    nameless_votes: 3,
                    created_at: at,
                    url: Some("https://old.example/1".to_owned()),
                    merged_into: None,
                    origin,
                }),
                r#"{"kind":"feature_request","external_id":"A-1","title":"Dark mode","description":"one\ntwo","status":"planned","tags":["ui"],"is_private":true,"awaits_approval":false,"author":{"email":"ann@customer.example","name":"Ann"},"is_team":false,"nameless_votes":3,"created_at":"2024-05-01T10:00:00.123Z","url":"https://old.example/1","merged_into":null,"file":0,"line":2}"#,
            ),
            (
                Record::Vote(Vote {
                    request: "A-1".to_owned(),
                    person: nobody.clone(),
                    is_subscribed: None,
                    created_at: None,
                    origin,
                }),
                r#"{"kind":"vote","request":"A-1","person":{"external_id":"u-7","name":null},"is_subscribed":null,"created_at":null,"file":0,"line":2}"#,
            ),
            (
                Record::Subscription(Subscription {
                    request: "A-1".to_owned(),
                    person: nobody,
                    created_at: None,
                    origin,
                }),
                r#"{"kind":"subscription","request":"A-1","person":{"external_id":"u-7","name":null},"created_at":null,"file":0,"line":2}"#,
            ),
            (
                Record::Status(Status { name: "Planned".to_owned(), origin }),
                r#"{"kind":"status","name":"Planned","file":0,"line":2}"#,
            ),
            (
                Record::File(File { external_id: "k".to_owned(), name: "a.png".to_owned(), origin }),
                r#"{"kind":"file","external_id":"k","name":"a.png","file":0,"line":2}"#,
            ),
            (
                Record::Move(Move {
                    external_id: "M-1".to_owned(),
                    request: "A-1".to_owned(),
                    status: "planned".to_owned(),
                    author: None,
                    at: at.unwrap(),
                    origin,
                }),
                r#"{"kind":"move","external_id":"M-1","request":"A-1","status":"planned","author":null,"at":"2024-05-01T10:00:00.123Z","file":0,"line":2}"#,
            ),
            (
                Record::Changelog(Changelog {
                    external_id: "E-1".to_owned(),
                    title: "New".to_owned(),
                    body: "text".to_owned(),
                    published_at: None,
                    requests: vec!["A-1".to_owned()],
                    origin,
                }),
                r#"{"kind":"changelog","external_id":"E-1","title":"New","body":"text","published_at":null,"requests":["A-1"],"file":0,"line":2}"#,
            ),
            (
                Record::Comment(Comment {
                    external_id: "C-1".to_owned(),
                    request: "A-1".to_owned(),
                    body: "Yes".to_owned(),
                    author: None,
                    is_team: true,
                    is_held: false,
                    created_at: at,
                    origin,
                }),
                r#"{"kind":"comment","external_id":"C-1","request":"A-1","body":"Yes","author":null,"is_team":true,"is_held":false,"created_at":"2024-05-01T10:00:00.123Z","file":0,"line":2}"#,
            ),
            (
                Record::Note(Note {
                    external_id: "C-2".to_owned(),
                    request: "A-1".to_owned(),
                    body: "Deal".to_owned(),
                    author: Some(ann),
                    created_at: None,
                    origin,
                }),
                r#"{"kind":"note","external_id":"C-2","request":"A-1","body":"Deal","author":{"email":"ann@customer.example","name":"Ann"},"created_at":null,"file":0,"line":2}"#,
            ),
        ] {
            record.write_line(&mut written).unwrap();
            lines.push_str(&format!("{json}\n"));
            records.push(record);
        }
        assert_eq!(String::from_utf8(written).unwrap(), lines);
        let read: Vec<_> = Record::read_lines(lines.as_bytes()).map(Result::unwrap).collect();
        assert_eq!(read, records);
        let broken = r#"{"kind":"vote","request":"A-1","person":{"email":"a@b.example","name":null},"is_subscribed":null,"created_at":"yesterday","file":0,"line":2}"#;
        for (text, message) in [
            (broken, "no timestamp of RFC 3339"),
            (r#"{"kind":"vote","#, "EOF while parsing a value at line 1 column 15"),
            (r#"{"kind":"reaction"}"#, "unknown variant `reaction`"),
        ] {
            let error = Record::read_lines(text.as_bytes()).next().unwrap().unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
        }
        assert!(records[0].write_line(&mut [0; 10][..]).is_err());
    }

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
