//! How much one search may look at, on every store.

/// Rows that a search looks at, from the most voted request down. When they have too few matches, it takes the
/// newest matches instead ([`crate::ports::TextSearch::candidates`]). Independent words need about
/// `60 * requests / matches` of them, and a word is only searched for like this when it has many matches.
pub const ROWS_LOOKED_AT: usize = 2_000;
