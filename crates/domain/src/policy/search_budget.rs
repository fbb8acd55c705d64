//! Limits on the rows that a search reads, for all stores.

/// Maximum number of rows that a search scans, starting with the most voted feature request.
///
/// If the scan finds too few matches, the newest matches are added ([`crate::ports::TextSearch::candidates`]). Stores
/// scan only for words with many matches. When votes and words are independent, 60 matches are found within about
/// `60 * feature requests / matches` rows.
pub const MAX_SCANNED_ROWS: usize = 2_000;

/// Number of scanned rows after which [`should_continue_scan`] decides whether to scan the rest.
pub const PROBE_ROWS: usize = 400;

/// Whether to continue a scan that found `first_matches` matches in the first [`PROBE_ROWS`] rows.
///
/// 60 matches in [`MAX_SCANNED_ROWS`] rows correspond to 12 in the first [`PROBE_ROWS`]. With less than a quarter of
/// that, the matches are not among the most voted feature requests.
#[must_use]
pub fn should_continue_scan(first_matches: usize) -> bool {
    first_matches >= 3
}
