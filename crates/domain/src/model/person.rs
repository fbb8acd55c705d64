//! A person's data: what is stored about a customer, for the export, and the choices of erasing.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use crate::error::Validated;
use crate::model::customer::CustomerName;
use crate::model::email_address::{EmailAddress, FoldedEmail};
use crate::model::feature_request::Title;
use crate::model::id::{CustomerId, FeatureRequestId, parse_uuid};
use crate::model::slug::slug;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::policy::links::Links;

/// The end of the addresses of customers who were erased.
const ERASED_DOMAIN: &str = "@erased.invalid";

/// A customer, by ID or address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonRef {
    Id(CustomerId),
    Address(FoldedEmail),
}

/// What becomes of the votes of somebody who is erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErasedVotes {
    /// They stay, so that nothing is counted differently.
    #[default]
    Keep,
    Drop,
}

/// What becomes of the feature requests and comments of somebody who is erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErasedTexts {
    /// They stay without a name.
    #[default]
    Keep,
    Remove,
}

impl ErasedVotes {
    /// Both choices.
    pub const ALL: [Self; 2] = [Self::Keep, Self::Drop];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Drop => "drop",
        }
    }
}

impl ErasedTexts {
    /// Both choices.
    pub const ALL: [Self; 2] = [Self::Keep, Self::Remove];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Remove => "remove",
        }
    }
}

/// Returns the address of somebody who was erased: it belongs to nobody, and says nothing about the person.
#[must_use]
pub fn erased_address(customer: CustomerId) -> EmailAddress {
    EmailAddress::from_stored(format!("erased-{}{ERASED_DOMAIN}", customer.uuid().simple()))
}

/// Whether a customer is what is left of somebody who was erased.
#[must_use]
pub fn is_erased(address: &FoldedEmail) -> bool {
    let id = address.as_str().strip_suffix(ERASED_DOMAIN).and_then(|local| local.strip_prefix("erased-"));
    id.is_some_and(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A feature request that somebody asked for, as far as erasing depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AskedRequest {
    #[serde(deserialize_with = "request_id")]
    pub id: FeatureRequestId,
    pub tag_number: i64,
    pub tags: Vec<String>,
    #[serde(deserialize_with = "flag")]
    pub is_private: bool,
    /// What it is merged into, in the end.
    #[serde(deserialize_with = "optional_request_id")]
    pub root: Option<FeatureRequestId>,
    /// Whether it waits for approval.
    #[serde(deserialize_with = "flag")]
    pub is_waiting: bool,
    /// Whether somebody else voted for it or commented on it, or it is merged with another one.
    #[serde(deserialize_with = "flag")]
    pub has_others: bool,
}

impl AskedRequest {
    /// Reads what a store has collected as JSON.
    ///
    /// # Errors
    /// Another form.
    pub fn from_json(json: &str) -> Result<Vec<Self>, serde_json::Error> {
        serde_json::from_str(json)
    }
}

/// What a unit of work erases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// Who is erased.
    pub person: CustomerName,
    /// The customer that is left.
    pub id: CustomerId,
    pub votes: ErasedVotes,
    pub texts: ErasedTexts,
    pub at: Timestamp,
}

/// What is kept of an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureRecord {
    /// The customer that is left. An erasure of a restored database has an ID of its own.
    pub id: CustomerId,
    /// A keyed hash of the address ([`ReferenceSigner::address_digest`]).
    ///
    /// [`ReferenceSigner::address_digest`]: crate::policy::signed_reference::ReferenceSigner::address_digest
    pub digest: String,
    pub votes: ErasedVotes,
    pub texts: ErasedTexts,
    pub at: Timestamp,
}

/// An erasure whose files may still have the person's address or name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedErasure {
    pub record: ErasureRecord,
    /// Addresses and name, until no file has them.
    pub words: Vec<String>,
}

/// How many votes, feature requests, comments and notes an erasure concerns. Comments include those that wait and those
/// that were removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ErasedRecords {
    pub votes: u64,
    pub feature_requests: u64,
    pub comments: u64,
    pub notes: u64,
}

/// A text of somebody else that has the address or the name of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// `feature_request`, `comment`, `note` or `changelog`.
    pub kind: String,
    pub id: String,
    /// The title of the changelog or the feature request.
    pub title: String,
    /// The feature request of a comment or note, or the feature request itself.
    pub request: Option<RequestOfRecord>,
}

/// A mention, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownMention {
    pub kind: String,
    pub id: String,
    pub url: String,
}

impl Mention {
    /// Returns the mention with the URL of its page for the team.
    #[must_use]
    pub fn shown(self, links: &Links) -> ShownMention {
        let url = match &self.request {
            Some(request) => links.admin_request(&request.slug()),
            None => links.admin_changelog(&self.id),
        };
        ShownMention { kind: self.kind, id: self.id, url }
    }
}

/// What is stored about a customer, as stores read it in one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PersonRecords {
    pub customer: PersonFields,
    pub votes: Vec<PersonVote>,
    pub feature_requests: Vec<PersonRequest>,
    pub comments: Vec<PersonText>,
    pub notes: Vec<PersonText>,
    pub subscriptions: Vec<PersonSubscription>,
    pub mails: Vec<PersonMail>,
    pub sessions: Vec<PersonSession>,
    pub imported: Vec<PersonImport>,
}

/// The customer itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PersonFields {
    pub id: String,
    pub email: String,
    pub name: Option<String>,
    #[serde(deserialize_with = "time")]
    pub created_at: Timestamp,
    pub language: Option<String>,
    pub last_language: Option<String>,
    #[serde(deserialize_with = "optional_time")]
    pub mail_stopped_at: Option<Timestamp>,
    pub mail_stopped_because: Option<String>,
    #[serde(deserialize_with = "flag")]
    pub stops_changelogs: bool,
    #[serde(deserialize_with = "optional_time")]
    pub news_since: Option<Timestamp>,
    #[serde(deserialize_with = "optional_time")]
    pub blocked_at: Option<Timestamp>,
    /// When somebody with the address used a sign-in for the last time.
    #[serde(deserialize_with = "optional_time")]
    pub confirmed_at: Option<Timestamp>,
}

/// A feature request, as records on it name it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RequestOfRecord {
    pub id: String,
    pub tag_number: i64,
    pub title: String,
    #[serde(deserialize_with = "flag")]
    pub is_private: bool,
    /// Whether the person asked for it.
    #[serde(deserialize_with = "flag")]
    pub is_own: bool,
}

impl RequestOfRecord {
    /// Returns the slug of its pages.
    #[must_use]
    pub fn slug(&self) -> String {
        Title::parse("title", &self.title)
            .map_or_else(|_| self.tag_number.to_string(), |title| slug(self.tag_number, &title))
    }
}

/// A vote.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PersonVote {
    pub feature_request: RequestOfRecord,
    #[serde(deserialize_with = "flag")]
    pub subscribed: bool,
    #[serde(deserialize_with = "time")]
    pub created_at: Timestamp,
}

/// A feature request that the person asked for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PersonRequest {
    pub feature_request: RequestOfRecord,
    pub description: String,
    pub tags: Vec<String>,
    /// `public`, `private`, `waiting` or `removed`. Texts that the team has removed are those that can be restored.
    pub state: String,
    #[serde(deserialize_with = "time")]
    pub created_at: Timestamp,
    #[serde(deserialize_with = "time")]
    pub updated_at: Timestamp,
}

/// A comment by the person, or a note about the person.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PersonText {
    pub id: String,
    pub feature_request: RequestOfRecord,
    pub content: String,
    /// `public`, `waiting` or `removed`; `note` for a note.
    pub state: String,
    #[serde(deserialize_with = "time")]
    pub created_at: Timestamp,
    #[serde(deserialize_with = "time")]
    pub updated_at: Timestamp,
}

/// A subscription without a vote.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PersonSubscription {
    pub feature_request: RequestOfRecord,
    #[serde(deserialize_with = "time")]
    pub created_at: Timestamp,
}

/// A mail that was sent, or is to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct PersonMail {
    pub kind: String,
    #[serde(deserialize_with = "time", serialize_with = "text")]
    pub created_at: Timestamp,
    #[serde(deserialize_with = "optional_time", serialize_with = "optional_text")]
    pub sent_at: Option<Timestamp>,
}

/// A browser that is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct PersonSession {
    pub browser: Option<String>,
    #[serde(deserialize_with = "time", serialize_with = "text")]
    pub created_at: Timestamp,
    #[serde(deserialize_with = "time", serialize_with = "text")]
    pub last_seen_at: Timestamp,
}

/// Where the customer or one of their posts was imported from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct PersonImport {
    /// `customer`, `feature_requests` or `comments`.
    pub kind: String,
    pub id: String,
    pub source: String,
    /// The ID there. A customer has none.
    pub external_id: Option<String>,
    #[serde(deserialize_with = "time", serialize_with = "text")]
    pub imported_at: Timestamp,
}

impl PersonRecords {
    /// Reads what a store has collected as JSON: timestamps in milliseconds, truth values also as numbers.
    ///
    /// # Errors
    /// Another form.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// Returns who it is about.
    ///
    /// # Errors
    /// The stored ID is none.
    pub fn person(&self) -> Validated<CustomerName> {
        Ok(CustomerName {
            id: CustomerId::new(parse_uuid("id", &self.customer.id)?),
            name: self.customer.name.clone().map(Name::from_stored),
            email: EmailAddress::from_stored(self.customer.email.clone()),
        })
    }

    /// Returns how much of it an erasure concerns.
    #[must_use]
    pub fn erased(&self) -> ErasedRecords {
        ErasedRecords {
            votes: self.votes.len() as u64,
            feature_requests: self.feature_requests.len() as u64,
            comments: self.comments.len() as u64,
            notes: self.notes.len() as u64,
        }
    }
}

impl Mention {
    /// Reads the mentions that a store has collected as JSON.
    ///
    /// # Errors
    /// Another form.
    pub fn from_json(json: &str) -> Result<Vec<CandidateMention>, serde_json::Error> {
        serde_json::from_str(json)
    }
}

/// A text that may mention a person, as a store finds it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CandidateMention {
    pub kind: String,
    pub id: String,
    pub request: Option<RequestOfRecord>,
    /// Its texts. That of a changelog begins with a line that is its title.
    pub text: String,
}

impl From<CandidateMention> for Mention {
    fn from(found: CandidateMention) -> Self {
        let title = match &found.request {
            Some(request) => request.title.clone(),
            None => found.text.lines().next().unwrap_or_default().to_owned(),
        };
        Self { kind: found.kind, id: found.id, title, request: found.request }
    }
}

/// Who gets the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportOptions {
    /// Whether notes about the person are in it.
    pub with_notes: bool,
    /// Whether titles of private feature requests of others are in it, which the team sees and the person does not.
    pub with_private_titles: bool,
}

/// A person's data for the person: nothing of anybody else is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonExport {
    pub format: &'static str,
    pub format_version: u32,
    pub exported_at: String,
    pub customer: ExportedCustomer,
    pub votes: Vec<ExportedVote>,
    pub feature_requests: Vec<ExportedFeatureRequest>,
    pub comments: Vec<ExportedText>,
    pub notes: Vec<ExportedNote>,
    pub subscriptions: Vec<ExportedSubscription>,
    pub mails: Vec<PersonMail>,
    pub sessions: Vec<PersonSession>,
    pub imported: Vec<PersonImport>,
}

/// The exported customer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportedCustomer {
    pub id: String,
    pub email: String,
    pub name: Option<String>,
    pub created_at: String,
    pub language: Option<String>,
    pub last_language: Option<String>,
    pub mail_stopped_at: Option<String>,
    pub mail_stopped_because: Option<String>,
    pub stops_changelogs: bool,
    pub news_since: Option<String>,
    pub blocked_at: Option<String>,
    pub confirmed_at: Option<String>,
}

/// The feature request of an exported record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportedRequest {
    pub id: String,
    /// `None` for one that the person cannot see.
    pub title: Option<String>,
    pub url: Option<String>,
}

/// An exported vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportedVote {
    pub feature_request: ExportedRequest,
    pub subscribed: bool,
    pub created_at: String,
}

/// A feature request that the person asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportedFeatureRequest {
    pub id: String,
    pub tag_number: i64,
    pub title: String,
    pub description: String,
    pub tags: Vec<String>,
    pub state: String,
    pub url: String,
    pub created_at: String,
    pub updated_at: String,
}

/// An exported comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportedText {
    pub id: String,
    pub feature_request: ExportedRequest,
    pub content: String,
    pub state: String,
    pub created_at: String,
    pub updated_at: String,
}

/// An exported note, without its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportedNote {
    pub id: String,
    pub feature_request: ExportedRequest,
    pub body: String,
    pub created_at: String,
}

/// An exported subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportedSubscription {
    pub feature_request: ExportedRequest,
    pub created_at: String,
}

impl PersonExport {
    /// Assembles the data.
    #[must_use]
    pub fn new(records: PersonRecords, links: &Links, options: ExportOptions, at: Timestamp) -> Self {
        let request = |request: RequestOfRecord| {
            let is_shown = request.is_own || !request.is_private || options.with_private_titles;
            let url = is_shown.then(|| links.request(&request.slug()));
            ExportedRequest { id: request.id, title: is_shown.then_some(request.title), url }
        };
        let customer = records.customer;
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Self {
            format: "roadmap-person",
            format_version: 1,
            exported_at: at.to_string(),
            customer: ExportedCustomer {
                id: customer.id,
                email: customer.email,
                name: customer.name,
                created_at: customer.created_at.to_string(),
                language: customer.language,
                last_language: customer.last_language,
                mail_stopped_at: time(customer.mail_stopped_at),
                mail_stopped_because: customer.mail_stopped_because,
                stops_changelogs: customer.stops_changelogs,
                news_since: time(customer.news_since),
                blocked_at: time(customer.blocked_at),
                confirmed_at: time(customer.confirmed_at),
            },
            votes: (records.votes.into_iter())
                .map(|vote| ExportedVote {
                    feature_request: request(vote.feature_request),
                    subscribed: vote.subscribed,
                    created_at: vote.created_at.to_string(),
                })
                .collect(),
            feature_requests: (records.feature_requests.into_iter())
                .map(|own| ExportedFeatureRequest {
                    url: links.request(&own.feature_request.slug()),
                    id: own.feature_request.id,
                    tag_number: own.feature_request.tag_number,
                    title: own.feature_request.title,
                    description: links.with_pictures(&own.description).into_owned(),
                    tags: own.tags,
                    state: own.state,
                    created_at: own.created_at.to_string(),
                    updated_at: own.updated_at.to_string(),
                })
                .collect(),
            comments: (records.comments.into_iter())
                .map(|comment| ExportedText {
                    id: comment.id,
                    feature_request: request(comment.feature_request),
                    content: links.with_pictures(&comment.content).into_owned(),
                    state: comment.state,
                    created_at: comment.created_at.to_string(),
                    updated_at: comment.updated_at.to_string(),
                })
                .collect(),
            notes: (records.notes.into_iter())
                .filter(|_| options.with_notes)
                .map(|note| ExportedNote {
                    id: note.id,
                    feature_request: request(note.feature_request),
                    body: note.content,
                    created_at: note.created_at.to_string(),
                })
                .collect(),
            subscriptions: (records.subscriptions.into_iter())
                .map(|subscription| ExportedSubscription {
                    feature_request: request(subscription.feature_request),
                    created_at: subscription.created_at.to_string(),
                })
                .collect(),
            mails: records.mails,
            sessions: records.sessions,
            imported: records.imported,
        }
    }
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let millis = i64::deserialize(deserializer)?;
    Timestamp::from_millis(millis).ok_or_else(|| D::Error::custom("a time is out of range"))
}

fn optional_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let millis: Option<i64> = Option::deserialize(deserializer)?;
    Ok(millis.and_then(Timestamp::from_millis))
}

fn request_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FeatureRequestId, D::Error> {
    let id = String::deserialize(deserializer)?;
    Uuid::try_parse(&id).map(FeatureRequestId::new).map_err(D::Error::custom)
}

fn optional_request_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FeatureRequestId>, D::Error> {
    let id: Option<String> = Option::deserialize(deserializer)?;
    id.map(|id| Uuid::try_parse(&id).map(FeatureRequestId::new).map_err(D::Error::custom)).transpose()
}

/// A truth value, which is a number in SQLite.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Flag {
        Truth(bool),
        Number(i64),
    }
    Ok(match Flag::deserialize(deserializer)? {
        Flag::Truth(value) => value,
        Flag::Number(value) => value != 0,
    })
}

fn text<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

#[expect(clippy::ref_option, reason = "the signature that serde calls")]
fn optional_text<S: serde::Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.collect_str(at),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::{links, now};

    const RECORDS: &str = r#"{
        "customer": {"id": "c", "email": "ann@a.example", "name": null, "created_at": 0, "language": "de",
            "last_language": null, "mail_stopped_at": 1000, "mail_stopped_because": "bounced", "stops_changelogs": 1,
            "news_since": null, "blocked_at": null, "confirmed_at": null},
        "votes": [
            {"feature_request": {"id": "1", "tag_number": 1, "title": "Dark mode", "is_private": 0, "is_own": false},
             "subscribed": true, "created_at": 0},
            {"feature_request": {"id": "2", "tag_number": 2, "title": "Plan", "is_private": 1, "is_own": 0},
             "subscribed": 0, "created_at": 0}
        ],
        "feature_requests": [
            {"feature_request": {"id": "3", "tag_number": 3, "title": "Mine", "is_private": true, "is_own": true},
             "description": "<p>x</p>", "tags": ["a"], "state": "private", "created_at": 0, "updated_at": 0}
        ],
        "comments": [],
        "notes": [
            {"id": "n", "feature_request": {"id": "1", "tag_number": 1, "title": "Dark mode", "is_private": 0, "is_own": 0},
             "content": "<p>big</p>", "state": "note", "created_at": 0, "updated_at": 0}
        ],
        "subscriptions": [],
        "mails": [{"kind": "comment", "created_at": 0, "sent_at": null}],
        "sessions": [],
        "imported": []
    }"#;

    fn export(with_notes: bool, with_private_titles: bool) -> serde_json::Value {
        let records = PersonRecords::from_json(RECORDS).unwrap();
        let options = ExportOptions { with_notes, with_private_titles };
        serde_json::to_value(PersonExport::new(records, &links(), options, now())).unwrap()
    }

    /// Import contract 8.
    #[test]
    fn a_person_gets_no_notes_and_no_titles_of_what_they_cannot_see() {
        let own = export(false, false);
        assert_eq!(own["format"], "roadmap-person");
        assert_eq!(own["votes"][0]["feature_request"]["title"], "Dark mode");
        assert_eq!(own["votes"][1]["feature_request"], serde_json::json!({ "id": "2", "title": null, "url": null }));
        assert_eq!(own["feature_requests"][0]["url"], "https://acme.roadmap.example.com/feature_requests/3-mine");
        assert_eq!(own["notes"].as_array().map(Vec::len), Some(0));
        assert_eq!(own["customer"]["mail_stopped_at"], "1970-01-01T00:00:01.000Z");
        let team = export(true, true);
        assert_eq!(team["votes"][1]["feature_request"]["title"], "Plan");
        assert_eq!(team["notes"][0]["body"], "<p>big</p>");
        assert_eq!(team["mails"][0]["sent_at"], serde_json::Value::Null);
        assert!(PersonRecords::from_json("{}").is_err());
    }

    #[test]
    fn an_erased_customer_has_an_address_of_nobody() {
        let address = erased_address(CustomerId::new(Uuid::from_u128(7)));
        assert_eq!(address.as_str(), "erased-00000000000000000000000000000007@erased.invalid");
        assert!(is_erased(address.folded()) && !address.folded().has_mailbox());
        for other in ["erased@a.example", "7@erased.invalid", "erased-7@erased.invalid"] {
            assert!(!is_erased(EmailAddress::from_stored(other.to_owned()).folded()));
        }
    }

    #[test]
    fn a_mention_leads_to_the_page_of_the_team() {
        let candidates = r#"[{"kind": "comment", "id": "4", "text": "x", "request":
            {"id": "1", "tag_number": 1, "title": "Dark mode", "is_private": 0, "is_own": 0}}]"#;
        let comment = Mention::from_json(candidates).unwrap().remove(0);
        let (kind, text) = ("changelog".to_owned(), "Spring\n<p>x</p>".to_owned());
        let changelog = CandidateMention { kind, id: "5".to_owned(), request: None, text };
        let base = "https://acme.roadmap.example.com/admin";
        for (found, title, page) in
            [(comment, "Dark mode", "feature_requests/1-dark-mode"), (changelog, "Spring", "changelogs/5")]
        {
            let mention = Mention::from(found);
            assert_eq!(mention.title, title);
            assert_eq!(mention.shown(&links()).url, format!("{base}/{page}"));
        }
    }
}
