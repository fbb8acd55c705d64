//! Effort levels of tests and seeded random numbers.

pub use roadmap_testkit::effort::{SeededRng, rounds};
