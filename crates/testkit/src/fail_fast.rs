//! The first failure ends the tests: for those who only want to know whether there is one.
//!
//! With `TEST_FAIL_FAST` in the environment, what a test needs is no longer made once another test of its process has
//! failed, so that it fails at once.

use std::sync::atomic::{AtomicBool, Ordering};

/// Turns it on, whatever its value.
pub const VARIABLE: &str = "TEST_FAIL_FAST";

static FAILED: AtomicBool = AtomicBool::new(false);

/// To be called where what a test has needed is dropped: tells the others when the test is failing.
pub fn record_failure() {
    if std::thread::panicking() {
        FAILED.store(true, Ordering::SeqCst);
    }
}

/// To be called where what a test needs is made.
///
/// # Panics
/// When another test has failed and this is on.
pub fn check() {
    let is_on = std::env::var_os(VARIABLE).is_some();
    assert!(!is_on || !FAILED.load(Ordering::SeqCst), "another test has failed");
}
