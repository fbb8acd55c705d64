//! Search documents and search queries.
//!
//! Words of documents and queries are folded, stemmed and expanded here and not in the stores, so that all stores
//! return the same results for the same query. A store only looks up terms.

pub mod concepts;
pub mod document;
pub mod expression;
pub(crate) mod filter;
mod folding;
pub mod noise;
pub mod query;
mod script;
pub mod synonyms;
pub mod words;

pub use document::SearchDocument;
pub use expression::{Expression, Fields, Matcher};
pub use query::{Alternative, MatchKind, QueryWord, SearchQuery};
pub use synonyms::Synonyms;
pub use words::Word;

/// Loads the tables of words and phrases, which the first search or new feature request would load otherwise.
pub fn load_tables() {
    noise::load();
    concepts::load();
}
