//! How many bytes records count, and how many a workspace may store.
//!
//! A row counts its texts and [`ROW_BYTES`]. A command estimates before it runs, when it is not known
//! whether a customer, a vote or a word is new: it counts them as new. So an estimate is never less than
//! what is stored, and the daily recount takes back what was too much. The stores count by the same
//! numbers; the contract suite holds both together.
//!
//! Not counted: the outbox, which has a budget of its own, and what operators set up (members, tracks,
//! keys).

use crate::error::{Budget, OverBudget};
use crate::model::attachment::Attachment;
use crate::model::customer::CustomerDraft;
use crate::model::note::NoteDraft;
use crate::model::operation_key::{OperationKey, SavedResponse};
use crate::model::search::SearchDocument;
use crate::model::usage::Usage;

/// What a row counts besides its texts: identities, times, and its entries in indexes.
pub const ROW_BYTES: u64 = 200;

/// How often the terms of a search document count: in its row, and twice as much in the index.
pub const TERM_COPIES: u64 = 3;

/// What a row with these texts counts.
#[must_use]
pub fn row_bytes(texts: &[&str]) -> u64 {
    texts.iter().fold(ROW_BYTES, |bytes, text| bytes.saturating_add(byte_len(text)))
}

/// What a word of the vocabulary counts. Corrections of typing errors find it by its trigrams: one more
/// than it has letters, each a row with the word in it.
#[must_use]
pub fn word_bytes(word: &str) -> u64 {
    let letters = byte_len(word);
    (letters + 1).saturating_mul(letters + 25)
}

/// What a search document counts, with its words.
#[must_use]
pub fn search_document_bytes(document: &SearchDocument) -> u64 {
    let terms = [&document.title, &document.tags, &document.description].map(|field| byte_len(field));
    let words: u64 = document.vocabulary().into_iter().map(word_bytes).sum();
    ROW_BYTES + TERM_COPIES.saturating_mul(terms.iter().sum()) + words
}

/// What a voter counts: the customer and the vote.
#[must_use]
pub fn voter_bytes(customer: &CustomerDraft) -> u64 {
    let name = customer.name.as_ref().map_or("", |name| name.as_str());
    row_bytes(&[customer.email.as_str(), customer.email.folded().as_str(), name]) + ROW_BYTES
}

/// What a note counts.
#[must_use]
pub fn note_bytes(note: &NoteDraft) -> u64 {
    row_bytes(&[note.body.as_str()])
}

/// What a file counts: its row and its bytes.
#[must_use]
pub fn attachment_usage(file: &Attachment) -> Usage {
    let Attachment { filename, media_type, key, service_name, byte_size, .. } = file;
    let row = row_bytes(&[filename.as_str(), media_type.as_str(), &key.to_string(), service_name]);
    Usage::from_records(row).plus(Usage::from_files(*byte_size))
}

/// What the saved response of an operation key counts.
#[must_use]
pub fn saved_response_bytes(key: &OperationKey, response: &SavedResponse) -> u64 {
    row_bytes(&[key.as_str()]).saturating_add(response.body.len() as u64)
}

fn byte_len(text: &str) -> u64 {
    text.len() as u64
}

/// How many bytes one workspace may store. `None`: as many as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StorageLimits {
    /// Of rows in the database.
    pub records: Option<u64>,
    /// Of files.
    pub files: Option<u64>,
}

impl StorageLimits {
    /// Whether `added` fits in beside `used`. What adds nothing always does.
    ///
    /// # Errors
    /// The first budget that it would be over.
    pub fn check(&self, used: Usage, added: Usage) -> Result<(), OverBudget> {
        let fits = |budget, limit: Option<u64>, used: i64, added: i64| match limit {
            Some(limit) if added > 0 && non_negative(used.saturating_add(added)) > limit => {
                Err(OverBudget { budget, limit })
            }
            _ => Ok(()),
        };
        fits(Budget::StoredRecords, self.records, used.records, added.records)?;
        fits(Budget::StoredFiles, self.files, used.files, added.files)
    }

    /// The part of the limit that is used, in percent. `None` without a limit.
    #[must_use]
    pub fn percent_used(&self, budget: Budget, used: Usage) -> Option<u64> {
        let (limit, used) = match budget {
            Budget::StoredRecords => (self.records?, used.records),
            Budget::StoredFiles => (self.files?, used.files),
            Budget::MailsPerDay => return None,
        };
        Some(non_negative(used).saturating_mul(100) / limit.max(1))
    }
}

/// A count, which is below zero only while estimates and counts are apart.
fn non_negative(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storage_limit_is_inclusive() {
        let limits = StorageLimits { records: Some(100), files: Some(1_000) };
        let used = Usage { records: 90, files: 999 };
        assert_eq!(limits.check(used, Usage { records: 10, files: 1 }), Ok(()));
        let over = |budget, limit| Err(OverBudget { budget, limit });
        assert_eq!(limits.check(used, Usage { records: 11, files: 1 }), over(Budget::StoredRecords, 100));
        assert_eq!(limits.check(used, Usage { records: 10, files: 2 }), over(Budget::StoredFiles, 1_000));
    }

    #[test]
    fn adding_nothing_or_without_a_limit_always_fits() {
        let limits = StorageLimits { records: Some(100), files: None };
        let used = Usage { records: 500, files: i64::MAX };
        for added in [Usage::default(), Usage { records: -1, files: 7 }, Usage::from_files(u64::MAX)] {
            assert_eq!(limits.check(used, added), Ok(()), "{added:?}");
        }
        assert_eq!(StorageLimits::default().check(used, Usage { records: 1, files: 1 }), Ok(()));
    }

    #[test]
    fn usage_is_reported_in_percent() {
        let limits = StorageLimits { records: Some(200), files: None };
        let percent = |records| limits.percent_used(Budget::StoredRecords, Usage { records, files: 0 });
        assert_eq!((percent(-5), percent(0), percent(181), percent(400)), (Some(0), Some(0), Some(90), Some(200)));
        assert_eq!(limits.percent_used(Budget::StoredFiles, Usage::default()), None);
        assert_eq!(limits.percent_used(Budget::MailsPerDay, Usage::default()), None);
    }

    #[test]
    fn a_long_word_counts_much_more_than_a_short_one() {
        assert_eq!(
            (row_bytes(&["ab", "ü"]), word_bytes("a"), word_bytes("settings"), word_bytes(&"x".repeat(40))),
            (204, 52, 297, 2_665)
        );
        let document = SearchDocument::new("Settings", [], "");
        assert_eq!(document.title.len(), " set/settings".len());
        assert_eq!(search_document_bytes(&document), 200 + 3 * 13 + 297);
    }
}
