//! A memory of words that are in the vocabulary of their workspace.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use roadmap_domain::model::search::SearchDocument;
use uuid::Uuid;

/// Number of words that are remembered, of all workspaces: about a megabyte.
const CAPACITY: usize = 100_000;

/// Remembers words that units of work have added to a vocabulary, so that not every word of every document is looked up.
///
/// Nothing is ever deleted from a vocabulary. Words are remembered by a hash of 64 bits, whose key differs in each
/// process: that of an unknown word is taken for a known one once in 10^14 words.
#[derive(Debug, Default)]
pub(crate) struct KnownWords {
    hasher: RandomState,
    hashes: Mutex<HashSet<u64>>,
}

impl KnownWords {
    /// Returns the words of a document's vocabulary that are not remembered, in their order.
    pub(crate) fn unknown_words(&self, workspace: Uuid, document: &SearchDocument) -> Vec<String> {
        let vocabulary = document.vocabulary();
        let hashes = self.hashes();
        let is_unknown = |word: &&str| !hashes.contains(&self.hash(workspace, word));
        vocabulary.into_iter().filter(is_unknown).map(ToOwned::to_owned).collect()
    }

    /// Remembers words, once the transaction that has added them to the vocabulary is durable. When there are too many,
    /// it forgets all others.
    pub(crate) fn remember(&self, workspace: Uuid, words: &[String]) {
        if words.is_empty() {
            return;
        }
        let mut hashes = self.hashes();
        if hashes.len().saturating_add(words.len()) > CAPACITY {
            hashes.clear();
        }
        hashes.extend(words.iter().map(|word| self.hash(workspace, word)));
    }

    fn hash(&self, workspace: Uuid, word: &str) -> u64 {
        self.hasher.hash_one((workspace, word))
    }

    fn hashes(&self) -> MutexGuard<'_, HashSet<u64>> {
        // Nothing panics while it holds the lock.
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    fn document(title: &str) -> SearchDocument {
        SearchDocument::new(title, [], "")
    }

    #[test]
    fn words_are_known_in_their_workspace_once_they_are_remembered() {
        let known = KnownWords::default();
        let words = known.unknown_words(ONE, &document("dark mode"));
        assert_eq!(words, ["dark", "mode"]);
        // Nothing is remembered only because it was asked for: its transaction may fail.
        assert_eq!(known.unknown_words(ONE, &document("dark mode")), ["dark", "mode"]);
        known.remember(ONE, &words);
        assert_eq!(known.unknown_words(ONE, &document("darker mode")), ["darker"]);
        assert_eq!(known.unknown_words(OTHER, &document("dark mode")), ["dark", "mode"]);
    }

    #[test]
    fn the_number_of_remembered_words_is_limited() {
        let known = KnownWords::default();
        let words: Vec<String> = (0..CAPACITY).map(|number| format!("w{number}")).collect();
        known.remember(ONE, &words);
        assert_eq!(known.hashes().len(), CAPACITY);
        known.remember(ONE, &["mode".to_owned()]);
        assert_eq!(known.hashes().len(), 1);
        assert_eq!(known.unknown_words(ONE, &document("dark mode")), ["dark"]);
    }
}
