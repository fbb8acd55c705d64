//! Checks everything that the service needs and reports problems and how to fix them.
//!
//! The checks change nothing: they run no migrations, send no mail and create no folders. The probe that is written to the
//! storage is deleted again.

mod database;
mod environment;
mod settings;

use std::time::Duration;

use serde::Serialize;

use crate::ownership;
use crate::report;
use crate::settings::Settings;

/// Time limit of the storage check. The other checks have their own limits.
const CHECK_TIMEOUT: Duration = Duration::from_secs(60);

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The name of the check.
    pub(crate) check: &'static str,
    pub(crate) result: Verdict,
    /// A description of the result.
    pub(crate) found: String,
    /// How to fix a warning or problem.
    pub(crate) fix: Option<String>,
}

/// The verdict of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// Correct.
    Ok,
    /// Works, but should be changed.
    Warning,
    /// Does not work.
    Problem,
}

impl Verdict {
    /// The name in the output.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, result: Verdict::Ok, found: found.into(), fix: None }
    }

    fn warning(check: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, result: Verdict::Warning, found: found.into(), fix: Some(fix.into()) }
    }

    fn problem(check: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, result: Verdict::Problem, found: found.into(), fix: Some(fix.into()) }
    }
}

/// Runs all checks that are possible with these settings.
pub(crate) async fn run_checks(settings: anyhow::Result<Settings>) -> Vec<Finding> {
    let settings = match settings {
        Ok(settings) => settings,
        Err(error) => return vec![settings::unreadable(&error)],
    };
    let mut findings = settings::check(&settings);
    findings.extend(database::check(&settings).await);
    findings.push(with_timeout("storage", environment::storage(&settings)).await);
    findings.push(environment::access(&settings));
    findings.push(environment::mail(&settings).await);
    findings.push(environment::disk(&settings));
    findings
}

/// Runs a check with a time limit, because it may wait for something outside of this process.
async fn with_timeout(check: &'static str, finding: impl Future<Output = Finding>) -> Finding {
    tokio::time::timeout(CHECK_TIMEOUT, finding).await.unwrap_or_else(|_| {
        let found = format!("it does not respond within {} s", CHECK_TIMEOUT.as_secs());
        Finding::problem(check, found, "check the network and the disks of the storage")
    })
}

/// Formats an error with all its causes.
fn chain(error: impl Into<anyhow::Error>) -> String {
    report::error_line(&error.into())
}

/// A problem with the data. If it may come from an owner, a mode or a disk, these are reported with the fix for them,
/// otherwise `fix`.
fn data_problem(check: &'static str, settings: &Settings, found: String, fix: &str) -> Finding {
    match ownership::find_obstacle(settings).filter(|_| ownership::may_be_obstacle(&found)) {
        Some(obstacle) => Finding::problem(check, format!("{found}: {}", obstacle.found), obstacle.fix),
        None => Finding::problem(check, found, fix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_check_that_times_out_is_a_problem() {
        let found = "it does not respond within 60 s";
        let fix = "check the network and the disks of the storage";
        assert_eq!(with_timeout("storage", std::future::pending()).await, Finding::problem("storage", found, fix));
        let slow = async {
            tokio::time::sleep(CHECK_TIMEOUT - Duration::from_secs(1)).await;
            Finding::ok("storage", "it is slow")
        };
        assert_eq!(with_timeout("storage", slow).await, Finding::ok("storage", "it is slow"));
    }
}
