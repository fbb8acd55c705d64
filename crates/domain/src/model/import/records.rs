//! The records of an import, whatever their source.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::model::import::hex_digest;
use crate::model::timestamp::Timestamp;

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

/// A record whose texts are clean, as a run keeps it until it is stored: one a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared<T> {
    /// A digest of what the source says ([`Record::digest`]), if the record is remembered.
    pub digest: String,
    pub record: T,
}

/// Maximum number of characters of a stored external id. Of a longer one, a digest is stored.
const MAX_EXTERNAL_ID: usize = 200;

/// Returns an external id as it is stored.
#[must_use]
pub fn stored_id(external_id: &str) -> Cow<'_, str> {
    match external_id.len() > MAX_EXTERNAL_ID {
        true => Cow::Owned(hex_digest(external_id.as_bytes())),
        false => Cow::Borrowed(external_id),
    }
}

impl Record {
    /// Returns a digest of what the source says, wherever it says it.
    ///
    /// # Errors
    /// None: a record is always JSON.
    pub fn digest(&self) -> serde_json::Result<String> {
        let mut value = serde_json::to_value(self)?;
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|name, _| name != "file" && name != "line");
        }
        Ok(hex_digest(value.to_string().as_bytes()))
    }

    /// Whether it has an id in the source, by which a later run recognizes it and whether it has changed.
    #[must_use]
    pub const fn is_remembered(&self) -> bool {
        !matches!(self, Self::Status(_) | Self::File(_) | Self::Vote(_) | Self::Subscription(_))
    }

    /// Returns where it was read.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        match self {
            Self::Status(Status { origin, .. })
            | Self::File(File { origin, .. })
            | Self::FeatureRequest(FeatureRequest { origin, .. })
            | Self::Vote(Vote { origin, .. })
            | Self::Subscription(Subscription { origin, .. })
            | Self::Comment(Comment { origin, .. })
            | Self::Note(Note { origin, .. })
            | Self::Move(Move { origin, .. })
            | Self::Changelog(Changelog { origin, .. }) => *origin,
        }
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
    /// Whether the team of the source wrote it. The note of a customer is about them.
    pub is_team: bool,
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
    /// What kind of news it is, in the words of the source.
    pub category: Option<String>,
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

impl Kind {
    /// All kinds in their order.
    pub const ALL: [Self; 13] = [
        Self::Tracks,
        Self::Lanes,
        Self::Members,
        Self::Customers,
        Self::FeatureRequests,
        Self::Merges,
        Self::Votes,
        Self::Subscriptions,
        Self::Comments,
        Self::Notes,
        Self::Moves,
        Self::Changelogs,
        Self::Files,
    ];

    /// Returns the name in reports and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tracks => "tracks",
            Self::Lanes => "lanes",
            Self::Members => "members",
            Self::Customers => "customers",
            Self::FeatureRequests => "feature_requests",
            Self::Merges => "merges",
            Self::Votes => "votes",
            Self::Subscriptions => "subscriptions",
            Self::Comments => "comments",
            Self::Notes => "notes",
            Self::Moves => "moves",
            Self::Changelogs => "changelogs",
            Self::Files => "files",
        }
    }
}

/// Timestamps in RFC 3339.
mod timestamp {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::model::timestamp::Timestamp;

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
        use serde::de::Error;
        use serde::{Deserializer, Serializer};

        use crate::model::timestamp::Timestamp;

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
    use std::collections::BTreeSet;

    #[test]
    fn a_kind_has_one_name() {
        let names = Kind::ALL.map(|kind| serde_json::to_value(kind).unwrap());
        assert_eq!(names, Kind::ALL.map(|kind| serde_json::Value::from(kind.name())));
        assert!(Kind::ALL.is_sorted());
    }

    #[test]
    fn a_long_id_is_stored_as_its_digest() {
        assert_eq!(stored_id("A-1"), "A-1");
        let [one, other] = ["a", "b"].map(|end| stored_id(&format!("{}{end}", "x".repeat(200))).into_owned());
        assert!(one != other && one.len() == 32);
    }

    #[test]
    fn a_record_is_one_line_of_json() {
        let (mut digests, mut count) = (BTreeSet::new(), 0);
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
                    category: Some("new".to_owned()),
                    published_at: None,
                    requests: vec!["A-1".to_owned()],
                    origin,
                }),
                r#"{"kind":"changelog","external_id":"E-1","title":"New","body":"text","category":"new","published_at":null,"requests":["A-1"],"file":0,"line":2}"#,
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
                    is_team: true,
                    created_at: None,
                    origin,
                }),
                r#"{"kind":"note","external_id":"C-2","request":"A-1","body":"Deal","author":{"email":"ann@customer.example","name":"Ann"},"is_team":true,"created_at":null,"file":0,"line":2}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&record).unwrap(), json);
            assert_eq!(serde_json::from_str::<Record>(json).unwrap(), record);
            let elsewhere = json.replace("\"line\":2", "\"line\":3");
            assert_eq!(serde_json::from_str::<Record>(&elsewhere).unwrap().digest().unwrap(), record.digest().unwrap());
            assert_eq!(record.origin(), origin);
            digests.insert(record.digest().unwrap());
            count += 1;
        }
        assert_eq!(digests.len(), count);
        let broken = r#"{"kind":"vote","request":"A-1","person":{"email":"a@b.example","name":null},"is_subscribed":null,"created_at":"yesterday","file":0,"line":2}"#;
        for (text, message) in [
            (broken, "no timestamp of RFC 3339"),
            (r#"{"kind":"vote","#, "EOF while parsing a value at line 1 column 15"),
            (r#"{"kind":"reaction"}"#, "unknown variant `reaction`"),
        ] {
            let error = serde_json::from_str::<Record>(text).unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }
}
