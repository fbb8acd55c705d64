//! What stores collect about one person as JSON, and erasures.

use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::person::{AskedRequest, ErasedTexts, ErasedVotes, ErasureRecord, Mention, PersonRecords};
use roadmap_domain::policy::erasing::PersonWords;

use crate::columns::{Id, TimestampColumn, inconsistent};

/// The columns of an erasure: id, digest, votes, texts, `erased_at`.
#[derive(diesel::Queryable)]
pub struct ErasureRow {
    id: Id,
    digest: String,
    votes: String,
    texts: String,
    erased_at: TimestampColumn,
}

impl TryFrom<ErasureRow> for ErasureRecord {
    type Error = StoreError;

    fn try_from(row: ErasureRow) -> Result<Self, StoreError> {
        let wrong = |column| move || inconsistent("erasures", column, row.id);
        let votes = ErasedVotes::ALL.into_iter().find(|votes| votes.name() == row.votes);
        let texts = ErasedTexts::ALL.into_iter().find(|texts| texts.name() == row.texts);
        Ok(Self {
            id: CustomerId::new(row.id.0),
            digest: row.digest,
            votes: votes.ok_or_else(wrong("votes"))?,
            texts: texts.ok_or_else(wrong("texts"))?,
            at: row.erased_at.into_timestamp("erasures", "erased_at", row.id)?,
        })
    }
}

/// Reads the feature requests that a customer asked for.
///
/// # Errors
/// Another form.
pub fn asked_requests(json: &str) -> Result<Vec<AskedRequest>, StoreError> {
    AskedRequest::from_json(json).map_err(|error| StoreError::Fatal(error.into()))
}

/// Reads what is stored about a customer.
///
/// # Errors
/// Another form.
pub fn person_records(json: &str) -> Result<PersonRecords, StoreError> {
    PersonRecords::from_json(json).map_err(|error| StoreError::Fatal(error.into()))
}

/// Reads texts that may have words. Returns those that have them.
///
/// # Errors
/// Another form.
pub fn mentions(json: &str, words: &PersonWords) -> Result<Vec<Mention>, StoreError> {
    let candidates = Mention::from_json(json).map_err(|error| StoreError::Fatal(error.into()))?;
    let found = candidates.into_iter().filter(|candidate| words.are_in(&candidate.text));
    Ok(found.map(Mention::from).collect())
}

/// Reads the words of an erasure.
///
/// # Errors
/// Another form.
pub fn person_words(json: &str) -> Result<Vec<String>, StoreError> {
    PersonWords::list_from_json(json).map_err(|error| StoreError::Fatal(error.into()))
}
