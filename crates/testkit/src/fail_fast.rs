//! Stops a test run after the first failure, for runs that only need to know whether there is one.
//!
//! With `TEST_FAIL_FAST` in the environment, creating a fixture panics as soon as another test of the process has failed.

use std::sync::atomic::{AtomicBool, Ordering};

/// The environment variable that enables it, with any value.
pub const VARIABLE: &str = "TEST_FAIL_FAST";

static FAILED: AtomicBool = AtomicBool::new(false);

/// Records a failure if the current test is panicking. Fixtures call it when they are dropped.
pub fn record_failure() {
    if std::thread::panicking() {
        FAILED.store(true, Ordering::SeqCst);
    }
}

/// Stops the current test if another one has failed. Fixtures call it when they are created.
///
/// # Panics
/// When failing fast is enabled and another test has failed.
pub fn check() {
    let is_on = std::env::var_os(VARIABLE).is_some();
    assert!(!is_on || !FAILED.load(Ordering::SeqCst), "another test has failed");
}
