//! Errors of the domain.
//!
//! The `Display` texts of [`RoadmapError`] and [`FieldError`] are the messages that clients and operators read.
//! A message that belongs to a single field is defined next to that field's rule ([`FieldProblem::Custom`]). All other
//! messages are defined in this module. A `Display` text does not contain the cause: the cause of a [`StoreError`] is
//! its `source`.

use std::error::Error;

use thiserror::Error;

/// The result of validating an input value.
pub type Validated<T> = Result<T, FieldError>;

/// The cause of a store failure, as reported by the adapter.
pub type Cause = Box<dyn Error + Send + Sync>;

/// The reason why a command or query failed.
#[derive(Debug, Error)]
pub enum RoadmapError {
    /// No workspace, no key, or a key that is not valid for this workspace.
    ///
    /// All cases have the same message, so that a client cannot tell them apart.
    #[error("Could not authenticate, invalid API Key")]
    Unauthenticated,
    /// The key is valid but lacks the scope that the operation needs.
    #[error("API Key does not have the required scope")]
    InsufficientScope,
    /// A referenced record does not exist in this workspace.
    #[error("{} does not exist.", .0.name())]
    NotFound(Resource),
    /// A field is invalid.
    #[error(transparent)]
    Invalid(#[from] FieldError),
    /// A name that must be unique in its scope is already in use.
    #[error("{what} is already taken")]
    Taken {
        /// The kind and the name of the record, for example ``subdomain `acme` ``.
        what: String,
    },
    /// Another request with the same operation key did not finish before the wait timed out.
    #[error("operation_in_progress")]
    OperationInProgress,
    /// The state of a record does not allow the change. Nothing was changed.
    #[error("{}", .0.message())]
    Conflict(Conflict),
    /// A budget of the workspace is used up. Nothing was changed.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The search index cannot be queried.
    #[error("search_unavailable")]
    SearchUnavailable(#[source] StoreError),
    /// The store failed during a commit, so it is unknown whether the write was applied.
    #[error("{}", outcome_unknown_message(*.has_key))]
    OutcomeUnknown {
        /// Whether the request had an operation key. If it had, sending it again is safe.
        has_key: bool,
        /// The store failure.
        source: StoreError,
    },
    /// More mail was asked for than is sent.
    #[error(transparent)]
    OverMailLimit(#[from] OverMailLimit),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is limited of the mail that somebody asks for ([`crate::policy::mail_requests`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailBudget {
    /// Mails to one person, or of one browser.
    SignIns,
    /// Ideas and comments of a workspace that nobody has confirmed.
    KeptPosts,
    /// Test mails of a workspace.
    TestMails,
}

impl MailBudget {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::SignIns, Self::KeptPosts, Self::TestMails];

    /// Returns the name that metrics use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SignIns => "sign_ins",
            Self::KeptPosts => "kept_posts",
            Self::TestMails => "test_mails",
        }
    }
}

/// A limit of asked mail that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("Too many mails were asked for, try again in {} seconds", .retry_after)]
pub struct OverMailLimit {
    /// What is limited.
    pub budget: MailBudget,
    /// The seconds until the limit admits another one.
    pub retry_after: u64,
}

fn outcome_unknown_message(has_key: bool) -> &'static str {
    if has_key {
        "The outcome is unknown, send the request again with the same operation_key"
    } else {
        "The outcome is unknown, check whether the change was made before sending the request again"
    }
}

/// The state of a record that does not allow a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflict {
    /// Other feature requests are merged into the one that is to be deleted.
    HasMerged,
    /// The feature request that is to be unmerged is not merged.
    NotMerged,
    /// The feature request is merged into another one than the requested target.
    AlreadyMerged,
    /// A changelog uses the file.
    AttachmentInUse,
    /// The workspace has no other track.
    LastTrack,
    /// The workspace has no other admin.
    LastAdmin,
    /// The customer who is to be blocked is a member of the team.
    IsMember,
    /// Somebody else has changed the record since it was read.
    ChangedMeanwhile,
    /// The author of a post may not edit it any more.
    NotEditable,
    /// More feature requests have the tag than one change may change.
    TooManyTagged,
    /// The feature request has as many links as it may have.
    TooManyLinks,
    /// The workspace has as many link sources as it may have.
    TooManyLinkSources,
    /// The workspace has as many webhooks as it may have.
    TooManyWebhooks,
    /// The format of the webhook has no signatures.
    NoWebhookSecret,
    /// The webhook gets nothing while it is disabled.
    WebhookDisabled,
    /// An import of the workspace runs, or is being undone.
    ImportRunning,
    /// There is no uploaded file that could be imported.
    ImportNotReady,
    /// The import has made something, or runs.
    ImportNotDiscardable,
    /// The workspace has as many uploaded files as it may have.
    TooManyImports,
    /// An export of the workspace runs.
    ExportRunning,
    /// Another process has taken the import over.
    ImportTakenOver,
    /// The import cannot go on, because it has not stopped.
    ImportNotStopped,
    /// The import cannot be undone: it is undone, too old, or has restored an export.
    ImportNotUndoable,
}

impl Conflict {
    /// Returns the message for clients.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::HasMerged => "FeatureRequest has merged requests.",
            Self::NotMerged => "FeatureRequest is not merged.",
            Self::AlreadyMerged => "FeatureRequest is already merged.",
            Self::AttachmentInUse => "Attachment is in use.",
            Self::LastTrack => "The last track cannot be deleted.",
            Self::IsMember => "The customer is a member of the team.",
            Self::ChangedMeanwhile => "The record was changed meanwhile. Read it again first.",
            Self::NotEditable => "Posts can be edited for 15 minutes, and until the team answers or approves them.",
            Self::TooManyTagged => "Tag has more than 10,000 feature requests.",
            Self::TooManyLinks => "FeatureRequest has at most 20 links.",
            Self::TooManyLinkSources => "A workspace has at most 20 link sources.",
            Self::TooManyWebhooks => "A workspace has at most 10 webhooks.",
            Self::NoWebhookSecret => "Webhook has no secret.",
            Self::WebhookDisabled => "Webhook is disabled.",
            Self::ImportRunning => "Import is already running.",
            Self::ImportNotReady => "Import has no file that can be imported.",
            Self::ImportNotDiscardable => "Import cannot be deleted: it has made something, or is running.",
            Self::TooManyImports => "Too many files wait for their import. Delete one of them first.",
            Self::ExportRunning => "Export is already running.",
            Self::ImportTakenOver => "Another process goes on with the import.",
            Self::ImportNotStopped => "Import has not stopped.",
            Self::ImportNotUndoable => {
                "Import cannot be undone: it is undone, older than 30 days, or has restored an export."
            }
            Self::LastAdmin => "The last admin cannot be removed or demoted. Make another member an admin first.",
        }
    }
}

/// A failure of a store, classified by how the caller can react.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The store is unreachable or overloaded. Nothing was changed.
    #[error("Service is temporarily unavailable")]
    Unavailable(#[source] Cause),
    /// The store rolled back the unit of work because of a conflict. A retry may succeed.
    #[error("Service is temporarily unavailable, the unit of work was undone")]
    Transient(#[source] Cause),
    /// The commit was sent but its result was lost, so the unit of work is either durable or rolled back.
    #[error("the outcome of the commit is unknown")]
    OutcomeUnknown(#[source] Cause),
    /// Stored data cannot be converted to the model.
    #[error("stored data is inconsistent: {table}.{column} of row {row}")]
    Inconsistent {
        table: &'static str,
        column: &'static str,
        /// The row's ID, as far as it could be read.
        row: String,
    },
    /// Any other failure.
    #[error("the store failed")]
    Fatal(#[source] Cause),
}

/// A limit on the resources of one workspace. `docs/operations.md` lists the budgets and their settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Budget {
    /// Bytes of the workspace's database rows.
    StoredRecords,
    /// Bytes of the workspace's files.
    StoredFiles,
    /// Mails that the workspace sends per day.
    MailsPerDay,
}

impl Budget {
    /// All budgets.
    pub const ALL: [Self; 3] = [Self::StoredRecords, Self::StoredFiles, Self::MailsPerDay];

    /// Returns the name that metrics use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::StoredRecords => "stored_records",
            Self::StoredFiles => "stored_files",
            Self::MailsPerDay => "mails_per_day",
        }
    }
}

/// A budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{}", .budget.message(*.limit))]
pub struct OverBudget {
    pub budget: Budget,
    /// The limit, in bytes or mails.
    pub limit: u64,
}

impl Budget {
    fn message(self, limit: u64) -> String {
        match self {
            Self::StoredRecords => format!("Storage for records is used up, the workspace has {}", format_bytes(limit)),
            Self::StoredFiles => format!("Storage for files is used up, the workspace has {}", format_bytes(limit)),
            Self::MailsPerDay => format!("Mails of the day are used up, the workspace has {limit}"),
        }
    }
}

/// Formats a number of bytes in the largest unit, up to megabytes, that gives a whole number.
fn format_bytes(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

/// Displays an error with all its causes, separated by colons, for the log.
#[derive(Debug, Clone, Copy)]
pub struct ErrorChain<'a>(&'a (dyn Error + 'static));

impl<'a> ErrorChain<'a> {
    /// Creates the chain that begins with `error`.
    #[must_use]
    pub fn new(error: &'a (dyn Error + 'static)) -> Self {
        Self(error)
    }
}

impl std::fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut above = self.0.to_string();
        f.write_str(&above)?;
        for cause in std::iter::successors(self.0.source(), |cause: &&(dyn Error + 'static)| (*cause).source()) {
            let cause = cause.to_string();
            // The errors of some libraries already include their cause.
            if !above.ends_with(&cause) {
                write!(f, ": {cause}")?;
            }
            above = cause;
        }
        Ok(())
    }
}

/// A kind of record that clients can reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// A feature request, by id or slug.
    FeatureRequest,
    /// A track, by id.
    Track,
    /// A tag, by name.
    Tag,
    /// A lane, by name.
    Lane,
    /// A workspace, by subdomain.
    Workspace,
    /// An API key, by id.
    ApiKey,
    /// A customer, by id.
    Customer,
    /// A file, by id.
    File,
    /// An attachment of the API, by id.
    Attachment,
    /// A public comment, by id.
    Comment,
    /// A private note, by id.
    ReferenceNote,
    /// A link of a feature request, by id.
    Link,
    /// A link source, by id.
    LinkSource,
    /// A webhook, by id.
    Webhook,
    /// A delivery of a webhook, by the id of its event.
    Delivery,
    /// A changelog, by id.
    Changelog,
    /// A team member, by id or address.
    Member,
    /// A sign-in that can be used, by its link or code.
    SignIn,
    /// A session, by id.
    Session,
    /// A run of an import, by id.
    Import,
    Export,
}

impl Resource {
    /// Returns the name that messages use, contract section 7.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FeatureRequest => "FeatureRequest",
            Self::Track => "Track",
            Self::Tag => "Tag",
            Self::Lane => "Lane",
            Self::Workspace => "Workspace",
            Self::ApiKey => "ApiKey",
            Self::Customer => "Customer",
            Self::File => "File",
            Self::Attachment => "Attachment",
            Self::Comment => "Comment",
            Self::ReferenceNote => "ReferenceNote",
            Self::Link => "Link",
            Self::LinkSource => "LinkSource",
            Self::Webhook => "Webhook",
            Self::Delivery => "Delivery",
            Self::Changelog => "Changelog",
            Self::Member => "Member",
            Self::SignIn => "SignIn",
            Self::Session => "Session",
            Self::Import => "Import",
            Self::Export => "Export",
        }
    }
}

/// A validation error of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field's name, without the path of the enclosing objects.
    pub field: String,
    pub problem: FieldProblem,
}

impl FieldError {
    /// Creates an error for `field`.
    #[must_use]
    pub fn new(field: &str, problem: FieldProblem) -> Self {
        Self { field: field.to_owned(), problem }
    }

    /// Creates the error for a field that is absent, null or blank.
    #[must_use]
    pub fn missing(field: &str) -> Self {
        Self::new(field, FieldProblem::Missing)
    }
}

impl Error for FieldError {}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let field = &self.field;
        match &self.problem {
            FieldProblem::Missing => write!(f, "param is missing or the value is empty or invalid: {field}"),
            FieldProblem::WrongType { expected } => write!(f, "{field} must be {expected}"),
            FieldProblem::TooLong { max } => write!(f, "{field} must be at most {max} characters long"),
            FieldProblem::TooMany { max } => write!(f, "{field} must have at most {max} items"),
            FieldProblem::TooMuchMarkup { growth } => write!(
                f,
                "{field} has too much markup, it must not become more than {growth} times as long when it is cleaned"
            ),
            FieldProblem::ContainsNul => write!(f, "{field} must not contain the NUL character"),
            FieldProblem::InGroup { number, problem } => write!(f, "group {number} of {field} {problem}"),
            FieldProblem::Malformed { expected } => write!(f, "{field} is not {expected}"),
            FieldProblem::UnknownParameter { known } => write!(f, "{field} is not one of the parameters {known}"),
            FieldProblem::Custom { message } => f.write_str(message),
            FieldProblem::InFile { message } => f.write_str(message),
        }
    }
}

/// The reason why a field is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldProblem {
    /// Absent, null or blank where a value is required.
    Missing,
    /// The JSON type differs from the contract's.
    WrongType {
        /// The type with its article: `a string`.
        expected: String,
    },
    /// More characters than allowed.
    TooLong {
        /// The limit, in Unicode characters.
        max: usize,
    },
    /// More items than allowed.
    TooMany {
        /// The limit.
        max: usize,
    },
    /// HTML that becomes much longer when it is sanitized.
    TooMuchMarkup {
        /// The maximum ratio of the sanitized length to the sent length.
        growth: usize,
    },
    /// A problem of one group in a list of groups.
    InGroup {
        /// The group's position, from 1.
        number: usize,
        /// The rest of the sentence: `has a blank phrase`.
        problem: String,
    },
    /// U+0000, which not every store can hold.
    ContainsNul,
    /// The type is right, but the format is not.
    Malformed {
        /// The expected format with its article: `a valid UUID`.
        expected: &'static str,
    },
    /// No parameter of the request has this name.
    UnknownParameter {
        /// The names of the parameters, separated by commas.
        known: String,
    },
    /// A problem of what a file contains.
    InFile {
        /// The complete message.
        message: String,
    },
    /// A case for which the contract defines a message of its own.
    Custom {
        /// The complete message.
        message: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 7.
    #[test]
    fn messages_match_the_contract() {
        assert_eq!(RoadmapError::Unauthenticated.to_string(), "Could not authenticate, invalid API Key");
        assert_eq!(RoadmapError::NotFound(Resource::FeatureRequest).to_string(), "FeatureRequest does not exist.");
        assert_eq!(RoadmapError::NotFound(Resource::Track).to_string(), "Track does not exist.");
        assert_eq!(
            FieldError::missing("email").to_string(),
            "param is missing or the value is empty or invalid: email"
        );
    }

    #[test]
    fn a_chain_shows_every_cause_once() {
        let error = RoadmapError::SearchUnavailable(StoreError::Fatal("no such table".into()));
        assert_eq!(ErrorChain::new(&error).to_string(), "search_unavailable: the store failed: no such table");
        let twice = StoreError::Fatal(Box::new(StoreError::Fatal("gone".into())));
        assert_eq!(ErrorChain::new(&twice).to_string(), "the store failed: gone");
        assert_eq!(
            ErrorChain::new(&RoadmapError::InsufficientScope).to_string(),
            RoadmapError::InsufficientScope.to_string()
        );
    }

    #[test]
    fn an_exhausted_budget_names_itself_and_its_limit() {
        for (budget, limit, message) in [
            (Budget::StoredRecords, 2 << 30, "Storage for records is used up, the workspace has 2048 MB"),
            (Budget::StoredRecords, 1536 << 10, "Storage for records is used up, the workspace has 1536 KB"),
            (Budget::StoredFiles, 10 << 30, "Storage for files is used up, the workspace has 10240 MB"),
            (Budget::MailsPerDay, 10_000, "Mails of the day are used up, the workspace has 10000"),
        ] {
            assert_eq!(RoadmapError::from(OverBudget { budget, limit }).to_string(), message);
        }
    }

    /// Decision 2.
    #[test]
    fn a_store_failure_keeps_its_cause_out_of_the_message() {
        let error = RoadmapError::SearchUnavailable(StoreError::Fatal("no such table: search_index".into()));
        assert_eq!(error.to_string(), "search_unavailable");
        let source = error.source().and_then(Error::source).map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("no such table: search_index"));
    }
}
