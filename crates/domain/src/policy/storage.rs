//! Storage accounting: the counted size of records, and the limits of a workspace.
//!
//! A row counts the bytes of its texts plus [`ROW_BYTES`]. A command estimates its size before it runs. At that time it
//! is unknown whether a customer, a vote or a word is new, so the estimate assumes that it is. An estimate is therefore
//! never less than the stored size, and the daily recount corrects the total. The stores count by the same rules; the
//! contract suite checks that both agree.
//!
//! Not counted: the outbox and sign-ins, which have budgets of their own, what customers cause in the audit log, and records
//! created by operators (members, tracks, keys).

use crate::error::{Budget, OverBudget};
use crate::model::attachment::Attachment;
use crate::model::customer::CustomerDraft;
use crate::model::feature_request::{Description, Tag, Title};
use crate::model::note::NoteDraft;
use crate::model::operation_key::{OperationKey, SavedResponse};
use crate::model::search::SearchDocument;
use crate::model::usage::Usage;

/// Counted size of a row without its texts: IDs, timestamps and index entries.
pub const ROW_BYTES: u64 = 200;

/// Counted size of an event in the history of a feature request, whatever its details.
pub const EVENT_BYTES: u64 = 2 * ROW_BYTES;

/// Counted size of an entry of the audit log, whatever its changes.
pub const AUDIT_ENTRY_BYTES: u64 = 3 * ROW_BYTES;

/// Factor by which the terms of a search document count: once for its row and twice for the index.
pub const TERM_COPIES: u64 = 3;

/// Counted size of the row of one trigram of a word, without the word.
pub const TRIGRAM_BYTES: u64 = 25;

/// Returns the counted size of a row with these texts.
#[must_use]
pub fn row_bytes(texts: &[&str]) -> u64 {
    texts.iter().fold(ROW_BYTES, |bytes, text| bytes.saturating_add(byte_len(text)))
}

/// Returns the counted size of a word of the vocabulary.
///
/// The correction of typing errors stores one row per trigram, and each row contains the word. A word has one trigram
/// more than it has letters.
#[must_use]
pub fn word_bytes(word: &str) -> u64 {
    let letters = byte_len(word);
    (letters + 1).saturating_mul(letters + TRIGRAM_BYTES)
}

/// Returns the counted size of a search document and its vocabulary.
#[must_use]
pub fn search_document_bytes(document: &SearchDocument) -> u64 {
    let terms = [&document.title, &document.tags, &document.description].map(|field| byte_len(field));
    let words: u64 = document.vocabulary().into_iter().map(word_bytes).sum();
    ROW_BYTES + TERM_COPIES.saturating_mul(terms.iter().sum()) + words
}

/// Returns the counted size of a feature request with its tally, tags and search document.
#[must_use]
pub fn feature_request_bytes(
    title: &Title,
    description: &Description,
    tags: &[Tag],
    search: Option<&SearchDocument>,
) -> u64 {
    let text = row_bytes(&[title.as_str(), description.html(), description.text()]);
    let vote_tally = ROW_BYTES;
    let tags: u64 = tags.iter().map(|tag| row_bytes(&[tag.as_str()])).sum();
    text + vote_tally + tags + search.map_or(0, search_document_bytes)
}

/// Returns the counted size of a customer.
#[must_use]
pub fn customer_bytes(customer: &CustomerDraft) -> u64 {
    let name = customer.name.as_ref().map_or("", |name| name.as_str());
    row_bytes(&[customer.email.as_str(), customer.email.folded().as_str(), name])
}

/// Returns the counted size of a voter: the customer and the vote. A subscriber counts the same.
#[must_use]
pub fn voter_bytes(customer: &CustomerDraft) -> u64 {
    customer_bytes(customer) + ROW_BYTES
}

/// Returns the counted size of a note.
#[must_use]
pub fn note_bytes(note: &NoteDraft) -> u64 {
    row_bytes(&[note.body.as_str()])
}

/// Returns the usage of a file: its row and its content.
#[must_use]
pub fn attachment_usage(file: &Attachment) -> Usage {
    let Attachment { filename, media_type, key, service_name, byte_size, .. } = file;
    let row = row_bytes(&[filename.as_str(), media_type.as_str(), &key.to_string(), service_name]);
    Usage::from_records(row).plus(Usage::from_files(*byte_size))
}

/// Returns the counted size of an operation key and its saved response.
#[must_use]
pub fn saved_response_bytes(key: &OperationKey, response: &SavedResponse) -> u64 {
    row_bytes(&[key.as_str()]).saturating_add(response.body.len() as u64)
}

fn byte_len(text: &str) -> u64 {
    text.len() as u64
}

/// Storage limits of a workspace in bytes. `None` means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StorageLimits {
    /// Limit of database rows.
    pub records: Option<u64>,
    pub files: Option<u64>,
}

impl StorageLimits {
    /// Checks that `used` plus `added` is within the limits. A part of `added` that is zero or negative always fits.
    ///
    /// # Errors
    /// The first budget that would be exceeded.
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

    /// Returns how many bytes the pictures of customers may take together: a tenth of all files, so that strangers cannot
    /// fill the storage of a team.
    #[must_use]
    pub fn customer_pictures(&self) -> Option<u64> {
        self.files.map(|files| files / 10)
    }

    /// Returns the used part of the limit in percent, or `None` without a limit.
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

/// Converts a count to unsigned. A count is negative only while estimates differ from counts.
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
        let document = SearchDocument::new("Quokka", [], "");
        assert_eq!(document.title.len(), " quokka/quokka".len());
        assert_eq!(search_document_bytes(&document), 200 + 3 * 14 + 217);
    }
}
