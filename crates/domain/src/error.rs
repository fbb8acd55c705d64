//! What can go wrong, in the words of the domain.
//!
//! The `Display` texts of [`RoadmapError`] and [`FieldError`] are the messages that
//! clients and operators read. Those of one field's own stand beside its rule
//! ([`FieldProblem::Custom`]), all others here and nowhere else. Each `Display`
//! speaks for its own level only: the cause of a [`StoreError`] is its `source`.

use std::error::Error;

use thiserror::Error;

/// The outcome of parsing one piece of input.
pub type Validated<T> = Result<T, FieldError>;

/// The cause behind a store failure, as the adapter saw it.
pub type Cause = Box<dyn Error + Send + Sync>;

/// A request that cannot be served.
#[derive(Debug, Error)]
pub enum RoadmapError {
    /// No workspace, no key, or a key that does not open this workspace. One answer for all, so
    /// that nobody learns which of them it was.
    #[error("Could not authenticate, invalid API Key")]
    Unauthenticated,
    /// The key is good, but not for this.
    #[error("API Key does not have the required scope")]
    InsufficientScope,
    /// A record that the request names does not exist in this workspace.
    #[error("{} does not exist.", .0.name())]
    NotFound(Resource),
    /// A field that cannot be accepted.
    #[error(transparent)]
    Invalid(#[from] FieldError),
    /// A name that must be unique in its scope is in use.
    #[error("{what} is already taken")]
    Taken {
        /// What is taken, for example ``subdomain `acme` ``.
        what: String,
    },
    /// Another call with the same operation key has not finished within the time to wait for it.
    #[error("operation_in_progress")]
    OperationInProgress,
    /// A budget of the workspace is used up; nothing was changed.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The search index cannot be asked.
    #[error("search_unavailable")]
    SearchUnavailable(#[source] StoreError),
    /// A write was on its way when the store went away: it happened or it did not.
    #[error("{}", outcome_unknown_message(*.has_key))]
    OutcomeUnknown {
        /// Whether the request had an operation key, so that sending it again is safe.
        has_key: bool,
        /// What happened.
        source: StoreError,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn outcome_unknown_message(has_key: bool) -> &'static str {
    if has_key {
        "The outcome is unknown, send the request again with the same operation_key"
    } else {
        "The outcome is unknown, check whether the change was made before sending the request again"
    }
}

/// A failure of a store, sorted by what the caller can do about it.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The store cannot be reached or cannot take the work now; nothing was changed.
    #[error("Service is temporarily unavailable")]
    Unavailable(#[source] Cause),
    /// The unit was undone through no fault of its own; running it again may succeed.
    #[error("Service is temporarily unavailable, the unit of work was undone")]
    Transient(#[source] Cause),
    /// The commit was sent and its result was lost: the unit is durable or undone, and nobody knows which.
    #[error("the outcome of the commit is unknown")]
    OutcomeUnknown(#[source] Cause),
    /// Stored data that cannot be read back into the model.
    #[error("stored data is inconsistent: {table}.{column} of row {row}")]
    Inconsistent {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row's identity, as far as it could be read.
        row: String,
    },
    /// Anything else.
    #[error("the store failed")]
    Fatal(#[source] Cause),
}

/// A bound on what one workspace may cost. `docs/operations.md` lists them with their settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Budget {
    /// Bytes of the workspace's rows in the database.
    StoredRecords,
    /// Bytes of the workspace's files.
    StoredFiles,
    /// Mails that the workspace sends in a day.
    MailsPerDay,
}

impl Budget {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::StoredRecords, Self::StoredFiles, Self::MailsPerDay];

    /// The name in metrics.
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
    /// Which one.
    pub budget: Budget,
    /// How much there is of it: bytes, or mails.
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

/// A number of bytes in the largest unit that it is a whole number of, up to megabytes.
fn format_bytes(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

/// An error with all its causes, as the log shows it: `what failed: why: and why that`.
#[derive(Debug, Clone, Copy)]
pub struct ErrorChain<'a>(&'a (dyn Error + 'static));

impl<'a> ErrorChain<'a> {
    /// The chain that begins with `error`.
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
            // Some libraries' errors show their own cause.
            if !above.ends_with(&cause) {
                write!(f, ": {cause}")?;
            }
            above = cause;
        }
        Ok(())
    }
}

/// Records that a request can name, with the names that clients know them by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// A feature request, by id or slug.
    FeatureRequest,
    /// A track, by id.
    Track,
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
}

impl Resource {
    /// The name in messages, contract section 7.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FeatureRequest => "FeatureRequest",
            Self::Track => "Track",
            Self::Lane => "Lane",
            Self::Workspace => "Workspace",
            Self::ApiKey => "ApiKey",
            Self::Customer => "Customer",
            Self::File => "File",
        }
    }
}

/// A field and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field's own name, without the objects around it.
    pub field: String,
    /// What is wrong.
    pub problem: FieldProblem,
}

impl FieldError {
    /// `field` has `problem`.
    #[must_use]
    pub fn new(field: &str, problem: FieldProblem) -> Self {
        Self { field: field.to_owned(), problem }
    }

    /// `field` is absent, null or blank.
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
            FieldProblem::Malformed { expected } => write!(f, "{field} is not {expected}"),
            FieldProblem::Custom { message } => f.write_str(message),
        }
    }
}

/// What can be wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldProblem {
    /// Absent, null or blank where a value is required.
    Missing,
    /// Another JSON type than the contract's.
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
    /// HTML that cleaning makes much longer.
    TooMuchMarkup {
        /// How many times as long it may become.
        growth: usize,
    },
    /// U+0000, which not every store can keep.
    ContainsNul,
    /// The right type, but not the form that the field needs.
    Malformed {
        /// What it should be, with its article: `a valid UUID`.
        expected: &'static str,
    },
    /// A case with a sentence of its own in the contract.
    Custom {
        /// The whole message.
        message: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_store_failure_keeps_its_cause_out_of_the_message() {
        let error = RoadmapError::SearchUnavailable(StoreError::Fatal("no such table: search_index".into()));
        assert_eq!(error.to_string(), "search_unavailable");
        let source = error.source().and_then(Error::source).map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("no such table: search_index"));
    }
}
