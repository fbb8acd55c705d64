//! A search index in memory: the reference for the stores, and a double for tests.

use std::cmp::Reverse;

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::search::{Expression, Fields, Matcher};
use crate::policy::search::{CANDIDATE_LIMIT, should_continue_scan};
use crate::policy::similarity::trigrams;
use crate::ports::{IndexedRequest, Matches, SearchIndex};

/// An index of feature requests. Counts what is read of it.
#[derive(Debug, Clone, Default)]
pub struct MemoryIndex {
    /// The feature requests, in the order of their numbers.
    pub requests: Vec<IndexedRequest>,
    /// Number of matches and documents that were read.
    pub rows_read: usize,
}

impl MemoryIndex {
    fn find(&self, expression: &Expression, fields: Fields) -> Vec<IndexedRequest> {
        let matcher = Matcher::new(expression, fields);
        self.requests.iter().filter(|request| matcher.matches(&request.document)).cloned().collect()
    }

    /// Returns the feature requests with the most votes first, and the newest first among equals.
    fn by_votes(&self) -> Vec<IndexedRequest> {
        let mut ordered = self.requests.clone();
        ordered.sort_by_key(|request| Reverse((request.votes_count, request.number)));
        ordered
    }
}

#[async_trait]
impl SearchIndex for MemoryIndex {
    async fn request_count(&mut self) -> Result<u64, StoreError> {
        Ok(self.requests.len() as u64)
    }

    async fn matches(&mut self, lookups: &[(Expression, Fields)], limit: usize) -> Result<Vec<Matches>, StoreError> {
        let mut all = Vec::new();
        for (expression, fields) in lookups {
            let matches = self.find(expression, *fields);
            self.rows_read += matches.len().min(limit);
            all.push(if matches.len() <= limit {
                Matches::All(matches.into_iter().map(|request| request.number).collect())
            } else if self.find(&expression.without_prefixes(), *fields).len() <= limit {
                Matches::TooManyWithPrefixes
            } else {
                Matches::TooMany
            });
        }
        Ok(all)
    }

    async fn similar_words(&mut self, words: &[&str], limit: usize) -> Result<Vec<Vec<String>>, StoreError> {
        let mut vocabulary: Vec<&str> =
            self.requests.iter().flat_map(|request| request.document.vocabulary()).collect();
        vocabulary.sort_unstable();
        vocabulary.dedup();
        let similar = |word: &&str| {
            let word_trigrams = trigrams(word);
            let mut ordered: Vec<(usize, &str)> = vocabulary
                .iter()
                .map(|known| (trigrams(known).iter().filter(|trigram| word_trigrams.contains(trigram)).count(), *known))
                .filter(|(shared, _)| *shared > 0)
                .collect();
            ordered.sort_by_key(|(shared, known)| (Reverse(*shared), *known));
            ordered.into_iter().take(limit).map(|(_, known)| known.to_owned()).collect()
        };
        Ok(words.iter().map(similar).collect())
    }

    async fn votes(&mut self, numbers: &[i64]) -> Result<Vec<(i64, i64)>, StoreError> {
        self.rows_read += numbers.len();
        let requests = self.requests.iter().filter(|request| numbers.contains(&request.number));
        Ok(requests.map(|request| (request.number, request.votes_count)).collect())
    }

    async fn documents(&mut self, numbers: &[i64]) -> Result<Vec<IndexedRequest>, StoreError> {
        self.rows_read += numbers.len();
        Ok(self.requests.iter().filter(|request| numbers.contains(&request.number)).cloned().collect())
    }

    async fn most_voted(
        &mut self,
        expression: &Expression,
        fields: Fields,
        limit: usize,
        count: usize,
    ) -> Result<Option<Vec<IndexedRequest>>, StoreError> {
        let mut matches = self.find(expression, fields);
        self.rows_read += matches.len().min(limit);
        if matches.len() > limit {
            return Ok(None);
        }
        matches.sort_by_key(|request| Reverse((request.votes_count, request.number)));
        matches.truncate(count);
        Ok(Some(matches))
    }

    async fn walk(&mut self, expression: &Expression, fields: Fields) -> Result<Vec<IndexedRequest>, StoreError> {
        let matcher = Matcher::new(expression, fields);
        let mut matches = Vec::with_capacity(CANDIDATE_LIMIT);
        for (rows, request) in self.by_votes().into_iter().enumerate() {
            if !should_continue_scan(rows, matches.len()) {
                break;
            }
            self.rows_read += 1;
            if matcher.matches(&request.document) {
                matches.push(request);
            }
        }
        Ok(matches)
    }

    async fn newest(
        &mut self,
        expression: &Expression,
        fields: Fields,
        rows: usize,
        count: usize,
    ) -> Result<Vec<IndexedRequest>, StoreError> {
        let newest = self.requests.iter().rev().take(rows);
        let matcher = Matcher::new(expression, fields);
        let matches = newest.filter(|request| matcher.matches(&request.document)).take(count);
        Ok(matches.cloned().collect())
    }

    async fn any(
        &mut self,
        expression: &Expression,
        fields: Fields,
        count: usize,
    ) -> Result<Vec<IndexedRequest>, StoreError> {
        let mut matches = self.find(expression, fields);
        matches.truncate(count);
        Ok(matches)
    }
}
