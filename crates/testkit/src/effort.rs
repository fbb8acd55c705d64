//! The effort of tests, and repeatable random numbers.

/// The number of rounds: the first in every run, the second when `TEST_EFFORT=long`, which is what
/// `cargo xtask torture` sets.
///
/// # Panics
/// When the variable has another value.
#[must_use]
pub fn rounds(quick: u64, long: u64) -> u64 {
    match variable("TEST_EFFORT").as_deref() {
        None | Some("quick") => quick,
        Some("long") => long,
        Some(other) => panic!("TEST_EFFORT is `quick` or `long`, not `{other}`"),
    }
}

/// A small random number generator with a seed, which each run prints.
pub struct SeededRng(u64);

impl SeededRng {
    /// A generator with the seed `TEST_SEED`, or a new one.
    ///
    /// # Panics
    /// When the variable is no number.
    #[must_use]
    pub fn from_env() -> Self {
        let seed = variable("TEST_SEED").map(|seed| seed.parse().expect("TEST_SEED is a number"));
        let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
        println!("TEST_SEED={seed}");
        Self(seed)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[expect(clippy::disallowed_methods, reason = "what a test tries is no setting of the service")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
