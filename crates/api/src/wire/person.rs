//! A person's data, and what an erasure concerned.

use roadmap_domain::model::person::{
    ErasedRecords, ExportedCustomer, ExportedFeatureRequest, ExportedNote, ExportedRequest, ExportedSubscription,
    ExportedText, ExportedVote, PersonExport, PersonImport, PersonMail, PersonSession,
};
use serde::Serialize;
use utoipa::ToSchema;

/// Declares an object of a person's data, which has the fields of one of the domain.
macro_rules! object {
    (
        $(#[$doc:meta])*
        $name:ident as $schema:ident of $domain:ident {
            $($(#[$field_doc:meta])* $field:ident: $kind:ty = $convert:expr),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Serialize, ToSchema)]
        #[schema(as = $schema)]
        pub(crate) struct $name {
            $($(#[$field_doc])* $field: $kind),+
        }

        impl From<$domain> for $name {
            fn from(from: $domain) -> Self {
                Self { $($field: $convert(from.$field)),+ }
            }
        }
    };
}

fn same<T>(value: T) -> T {
    value
}

fn list<T, U: From<T>>(values: Vec<T>) -> Vec<U> {
    values.into_iter().map(U::from).collect()
}

object! {
    /// All data of a customer, and nothing of anybody else.
    Person as PersonData of PersonExport {
        /// Always `roadmap-person`.
        format: &'static str = same,
        format_version: u32 = same,
        #[schema(format = DateTime)]
        exported_at: String = same,
        customer: Customer = Customer::from,
        votes: Vec<Vote> = list,
        feature_requests: Vec<FeatureRequest> = list,
        comments: Vec<Comment> = list,
        /// The team's notes about the person, without their authors.
        notes: Vec<Note> = list,
        /// Subscriptions without a vote.
        subscriptions: Vec<Subscription> = list,
        mails: Vec<Mail> = list,
        sessions: Vec<Session> = list,
        /// Where the customer and their posts were imported from.
        imported: Vec<Import> = list,
    }
}

object! {
    /// The customer itself.
    Customer as PersonCustomer of ExportedCustomer {
        #[schema(format = "uuid")]
        id: String = same,
        email: String = same,
        #[schema(required = true)]
        name: Option<String> = same,
        #[schema(format = DateTime)]
        created_at: String = same,
        #[schema(required = true)]
        language: Option<String> = same,
        #[schema(required = true)]
        last_language: Option<String> = same,
        #[schema(required = true, format = DateTime)]
        mail_stopped_at: Option<String> = same,
        #[schema(required = true)]
        mail_stopped_because: Option<String> = same,
        stops_changelogs: bool = same,
        #[schema(required = true, format = DateTime)]
        news_since: Option<String> = same,
        #[schema(required = true, format = DateTime)]
        blocked_at: Option<String> = same,
        #[schema(required = true, format = DateTime)]
        confirmed_at: Option<String> = same,
    }
}

object! {
    /// The feature request of a record.
    Request as PersonFeatureRequestReference of ExportedRequest {
        #[schema(format = "uuid")]
        id: String = same,
        #[schema(required = true)]
        title: Option<String> = same,
        #[schema(required = true, format = "uri")]
        url: Option<String> = same,
    }
}

object! {
    /// A vote.
    Vote as PersonVote of ExportedVote {
        feature_request: Request = Request::from,
        subscribed: bool = same,
        #[schema(format = DateTime)]
        created_at: String = same,
    }
}

object! {
    /// A feature request that the person asked for.
    FeatureRequest as PersonFeatureRequest of ExportedFeatureRequest {
        #[schema(format = "uuid")]
        id: String = same,
        tag_number: i64 = same,
        title: String = same,
        /// Sanitized HTML.
        description: String = same,
        tags: Vec<String> = same,
        /// `public`, `private`, `waiting` or `removed`.
        state: String = same,
        #[schema(format = "uri")]
        url: String = same,
        #[schema(format = DateTime)]
        created_at: String = same,
        #[schema(format = DateTime)]
        updated_at: String = same,
    }
}

object! {
    /// A comment by the person.
    Comment as PersonComment of ExportedText {
        #[schema(format = "uuid")]
        id: String = same,
        feature_request: Request = Request::from,
        /// Sanitized HTML.
        content: String = same,
        /// `public`, `waiting` or `removed`.
        state: String = same,
        #[schema(format = DateTime)]
        created_at: String = same,
        #[schema(format = DateTime)]
        updated_at: String = same,
    }
}

object! {
    /// A note about the person.
    Note as PersonNote of ExportedNote {
        #[schema(format = "uuid")]
        id: String = same,
        feature_request: Request = Request::from,
        /// Sanitized HTML.
        body: String = same,
        #[schema(format = DateTime)]
        created_at: String = same,
    }
}

object! {
    /// A subscription without a vote.
    Subscription as PersonSubscription of ExportedSubscription {
        feature_request: Request = Request::from,
        #[schema(format = DateTime)]
        created_at: String = same,
    }
}

fn text(at: roadmap_domain::model::timestamp::Timestamp) -> String {
    at.to_string()
}

object! {
    /// A mail to the person.
    Mail as PersonMail of PersonMail {
        kind: String = same,
        #[schema(format = DateTime)]
        created_at: String = text,
        #[schema(required = true, format = DateTime)]
        sent_at: Option<String> = |at: Option<_>| at.map(text),
    }
}

object! {
    /// A browser that is signed in.
    Session as PersonSession of PersonSession {
        #[schema(required = true)]
        browser: Option<String> = same,
        #[schema(format = DateTime)]
        created_at: String = text,
        #[schema(format = DateTime)]
        last_seen_at: String = text,
    }
}

object! {
    /// Where a record was imported from.
    Import as PersonImport of PersonImport {
        /// `customer`, `feature_requests` or `comments`.
        kind: String = same,
        #[schema(format = "uuid")]
        id: String = same,
        source: String = same,
        #[schema(required = true)]
        external_id: Option<String> = same,
        #[schema(format = DateTime)]
        imported_at: String = text,
    }
}

/// What an erasure concerned.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CustomerErased)]
pub(crate) struct Erased {
    erased: Counts,
}

/// How many records are concerned: kept without the person, or removed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ErasedRecords)]
pub(crate) struct Counts {
    votes: u64,
    feature_requests: u64,
    comments: u64,
    notes: u64,
}

pub(crate) fn exported(export: PersonExport) -> impl Serialize {
    Person::from(export)
}

pub(crate) fn erased(erased: ErasedRecords) -> impl Serialize {
    let ErasedRecords { votes, feature_requests, comments, notes } = erased;
    Erased { erased: Counts { votes, feature_requests, comments, notes } }
}
