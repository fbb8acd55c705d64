//! The effort of tests, and repeatable random numbers.

pub use roadmap_testkit::effort::{SeededRng, rounds};
