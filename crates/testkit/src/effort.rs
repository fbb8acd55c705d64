//! The effort of tests, and repeatable random numbers.

/// Returns the number of rounds: `long` if `TEST_EFFORT=long`, as set by `cargo xtask torture`, otherwise the normal
/// number.
///
/// # Panics
/// When `TEST_EFFORT` has another value.
#[must_use]
pub fn rounds(quick: u64, long: u64) -> u64 {
    match variable("TEST_EFFORT").as_deref() {
        None | Some("quick") => quick,
        Some("long") => long,
        Some(other) => panic!("TEST_EFFORT is `quick` or `long`, not `{other}`"),
    }
}

/// A small pseudorandom number generator with a seed, which each run prints.
pub struct SeededRng(u64);

impl SeededRng {
    /// Creates a generator with a fixed seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Creates a generator with the seed `TEST_SEED`, or with a new seed.
    ///
    /// # Panics
    /// When `TEST_SEED` is not a number.
    #[must_use]
    pub fn from_env() -> Self {
        let seed = variable("TEST_SEED").map(|seed| seed.parse().expect("TEST_SEED is a number"));
        let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
        println!("TEST_SEED={seed}");
        Self(seed)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[expect(clippy::disallowed_methods, reason = "what a test tries is no setting of the service")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
