//! Looks at everything that the service needs, and says what is wrong and how to fix it.
//!
//! Nothing is changed: no schema is brought up to date, no mail sent, no folder made. What is written to try
//! the storage is deleted again.

mod database;
mod environment;
mod settings;

use std::time::Duration;

use serde::Serialize;

use crate::settings::Settings;

/// How long storage that does not answer is waited for. The other checks have limits of their own.
const CHECK_TIMEOUT: Duration = Duration::from_secs(60);

/// What was found by one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What was looked at.
    pub(crate) check: &'static str,
    /// How it is.
    pub(crate) result: Verdict,
    /// What was found.
    pub(crate) found: String,
    /// How to fix it, when it is not well.
    pub(crate) fix: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// As it should be.
    Ok,
    /// It works, and should be looked at.
    Warning,
    /// It does not work.
    Problem,
}

impl Verdict {
    /// As people read it.
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

/// Makes all checks that can be made.
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

/// A check that may wait for something outside of this process, but not for ever.
async fn with_timeout(check: &'static str, finding: impl Future<Output = Finding>) -> Finding {
    tokio::time::timeout(CHECK_TIMEOUT, finding).await.unwrap_or_else(|_| {
        let found = format!("it does not answer: nothing was found out within {} s", CHECK_TIMEOUT.as_secs());
        Finding::problem(check, found, "find out what it waits for; the network and its disks are good places to begin")
    })
}

/// The whole chain of causes.
fn chain(error: impl Into<anyhow::Error>) -> String {
    format!("{:#}", error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_check_that_times_out_is_a_problem() {
        let found = "it does not answer: nothing was found out within 60 s";
        let fix = "find out what it waits for; the network and its disks are good places to begin";
        assert_eq!(with_timeout("storage", std::future::pending()).await, Finding::problem("storage", found, fix));
        let slow = async {
            tokio::time::sleep(CHECK_TIMEOUT - Duration::from_secs(1)).await;
            Finding::ok("storage", "it is slow")
        };
        assert_eq!(with_timeout("storage", slow).await, Finding::ok("storage", "it is slow"));
    }
}
