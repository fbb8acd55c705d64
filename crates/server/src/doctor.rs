//! Looks at everything that the service needs, and says what is wrong and how to mend it.
//!
//! Nothing is changed: no schema is brought up to date, no mail sent, no folder made. What is written to try
//! the storage is deleted again.

mod database;
mod settings;
mod surroundings;

use serde::Serialize;

use crate::settings::Settings;

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
    findings.push(surroundings::storage(&settings).await);
    findings.push(surroundings::access(&settings));
    findings.push(surroundings::mail(&settings).await);
    findings.push(surroundings::disk(&settings));
    findings
}

/// The whole chain of causes.
fn chain(error: impl Into<anyhow::Error>) -> String {
    format!("{:#}", error.into())
}
