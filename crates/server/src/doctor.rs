//! Looks at everything that the service needs, and says what is wrong and how to mend it.
//!
//! Nothing is changed: no schema is brought up to date, no mail sent, no folder made. What is written to try
//! the storage is deleted again.

mod database;
mod settings;
mod surroundings;

use std::time::Duration;

use serde::Serialize;

use crate::settings::Settings;

/// How long storage that does not answer is waited for. The other checks have limits of their own.
const LIMIT: Duration = Duration::from_secs(60);

/// What was found by one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What was looked at.
    pub(crate) check: &'static str,
    /// How it is.
    pub(crate) result: Verdict,
    /// What was found.
    pub(crate) found: String,
    /// How to mend it, when it is not well.
    pub(crate) mend: Option<String>,
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
        Self { check, result: Verdict::Ok, found: found.into(), mend: None }
    }

    fn warning(check: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { check, result: Verdict::Warning, found: found.into(), mend: Some(mend.into()) }
    }

    fn problem(check: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { check, result: Verdict::Problem, found: found.into(), mend: Some(mend.into()) }
    }
}

/// Makes all checks that can be made.
pub(crate) async fn examine(settings: anyhow::Result<Settings>) -> Vec<Finding> {
    let settings = match settings {
        Ok(settings) => settings,
        Err(error) => return vec![settings::unreadable(&error)],
    };
    let mut findings = settings::check(&settings);
    findings.extend(database::check(&settings).await);
    findings.push(limited("storage", surroundings::storage(&settings)).await);
    findings.push(surroundings::access(&settings));
    findings.push(surroundings::mail(&settings).await);
    findings.push(surroundings::disk(&settings));
    findings
}

/// A check that may wait for something outside of this process, but not for ever.
async fn limited(check: &'static str, finding: impl Future<Output = Finding>) -> Finding {
    tokio::time::timeout(LIMIT, finding).await.unwrap_or_else(|_| {
        let found = format!("it does not answer: nothing was found out within {} s", LIMIT.as_secs());
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
    async fn a_check_that_does_not_end_is_a_problem() {
        let found = "it does not answer: nothing was found out within 60 s";
        let mend = "find out what it waits for; the network and its disks are good places to begin";
        assert_eq!(limited("storage", std::future::pending()).await, Finding::problem("storage", found, mend));
        let slow = async {
            tokio::time::sleep(LIMIT - Duration::from_secs(1)).await;
            Finding::ok("storage", "it is slow")
        };
        assert_eq!(limited("storage", slow).await, Finding::ok("storage", "it is slow"));
    }
}
