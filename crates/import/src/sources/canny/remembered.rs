//! What a run remembers of its records.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};

use crate::sources::quotes::Quotes;

/// Bytes of a text that count as one record.
const TEXT_UNIT: usize = 16;
/// Milliseconds between a status change and its comment, at most.
const SAME_TIME: i64 = 1_000;

/// How many voters are listed for a feature request.
#[derive(Default, Clone, Copy)]
pub(super) struct Listed {
    pub(super) entries: u32,
    pub(super) unusable: u32,
}

/// What is known of a board.
#[derive(Default, Clone, Copy)]
pub(super) struct Board {
    pub(super) is_private: bool,
    /// Whether customers see no comments of others.
    pub(super) has_private_comments: bool,
}

/// What a run remembers. Ids are hashes with a key of the run, which no file can foresee.
#[derive(Default)]
pub(super) struct Remembered {
    hasher: RandomState,
    /// By the id of a board.
    pub(super) boards: HashMap<u64, Board>,
    /// Boards of which it was said that they are not known.
    pub(super) unknown_boards: HashSet<u64>,
    /// By the id of a feature request: whether it was written.
    pub(super) requests: HashMap<u64, bool>,
    /// By the id of a feature request.
    pub(super) listed: HashMap<u64, Listed>,
    /// By the id of a feature request: the one into which it is merged.
    pub(super) merges: HashMap<u64, String>,
    /// Pairs of a feature request and a voter.
    pub(super) voters: HashSet<u64>,
    /// The ids of all other records, each with its kind.
    pub(super) ids: HashSet<u64>,
    /// The comments that have replies.
    pub(super) quotes: Quotes,
    /// The comments of status changes, each with its feature request.
    pub(super) change_comments: HashSet<u64>,
    /// The times of the comments that are one of these.
    comment_times: BTreeSet<(u64, i64)>,
    text_units: usize,
}

impl Remembered {
    pub(super) fn hash(&self, value: impl Hash) -> u64 {
        self.hasher.hash_one(value)
    }

    /// Returns how much it is, in records.
    pub(super) fn records(&self) -> usize {
        self.boards.len()
            + self.unknown_boards.len()
            + self.requests.len()
            + self.listed.len()
            + self.merges.len()
            + self.voters.len()
            + self.ids.len()
            + self.quotes.records()
            + self.change_comments.len()
            + self.comment_times.len()
            + self.text_units
    }

    /// Remembers a merge. The first one of a feature request counts.
    pub(super) fn merge(&mut self, merged: &str, into: &str) {
        let merged = self.hash(merged);
        if !self.merges.contains_key(&merged) {
            self.text_units += into.len() / TEXT_UNIT + 1;
            self.merges.insert(merged, into.to_owned());
        }
    }

    /// Remembers a comment that may be the one of a status change.
    pub(super) fn add_comment(&mut self, request: &str, body: &str, millis: i64) {
        let comment = self.hash((request, body.trim()));
        if self.change_comments.contains(&comment) {
            self.comment_times.insert((comment, millis));
        }
    }

    /// Whether the comment of a status change is among the comments.
    pub(super) fn has_comment(&self, request: &str, body: &str, millis: i64) -> bool {
        let comment = self.hash((request, body.trim()));
        let times = (comment, millis.saturating_sub(SAME_TIME))..=(comment, millis.saturating_add(SAME_TIME));
        self.comment_times.range(times).next().is_some()
    }
}
