//! How much is tried, and chance that can be repeated.

pub use roadmap_testkit::effort::{SeededRng, rounds};
