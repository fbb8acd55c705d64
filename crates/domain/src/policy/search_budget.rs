//! How much one search may look at, on every store.

/// Rows that a search looks at, from the most voted request down. When they have too few matches, it takes the
/// newest matches instead ([`crate::ports::TextSearch::candidates`]). Independent words need about
/// `60 * requests / matches` of them, and a word is only searched for like this when it has many matches.
pub const MAX_SCANNED_ROWS: usize = 2_000;

/// After so many of these rows it is checked whether the rest is worth looking at.
pub const PROBE_ROWS: usize = 400;

/// Whether a walk with so many matches among its [`PROBE_ROWS`] goes on. With fewer than a quarter of what would
/// lead to 60 matches in [`MAX_SCANNED_ROWS`], the matches are not among the most voted.
#[must_use]
pub fn should_continue_scan(first_matches: usize) -> bool {
    first_matches >= 3
}
