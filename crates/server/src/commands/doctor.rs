//! `roadmap doctor`

use anyhow::bail;

use super::output::{Form, print};
use crate::doctor::{self, Finding, Verdict};
use crate::settings::Settings;

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    form: Form,
}

impl Doctor {
    /// Fails when there is a problem.
    pub(crate) async fn run(self, settings: anyhow::Result<Settings>) -> anyhow::Result<()> {
        let findings = doctor::examine(settings).await;
        if self.form.is_json() {
            print(&serde_json::to_string_pretty(&findings)?)?;
        } else {
            for finding in &findings {
                print(&shown(finding))?;
            }
        }
        match findings.iter().filter(|finding| finding.result == Verdict::Problem).count() {
            0 => Ok(()),
            1 => bail!("there is a problem"),
            many => bail!("there are {many} problems"),
        }
    }
}

/// A line, and another one on how to mend it.
fn shown(Finding { check, result, found, mend }: &Finding) -> String {
    let line = format!("{:<8} {check:<10} {found}", result.name());
    match mend {
        Some(mend) => format!("{line}\n{:<19} mend: {mend}", ""),
        None => line,
    }
}
