//! `roadmap doctor`

use anyhow::bail;

use super::output::{OutputFormat, print, print_json};
use crate::doctor::{self, Finding, Verdict};
use crate::settings::Settings;

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    format: OutputFormat,
}

impl Doctor {
    /// Prints the findings and fails if one of them is a problem.
    pub(crate) async fn run(self, settings: anyhow::Result<Settings>) -> anyhow::Result<()> {
        let findings = doctor::run_checks(settings).await;
        if self.format.is_json() {
            print_json(&findings)?;
        } else {
            for finding in &findings {
                print(&format_finding(finding))?;
            }
        }
        match findings.iter().filter(|finding| finding.result == Verdict::Problem).count() {
            0 => Ok(()),
            1 => bail!("1 problem found"),
            many => bail!("{many} problems found"),
        }
    }
}

/// Formats a finding: one line, and a second one with its fix.
fn format_finding(Finding { check, result, found, fix }: &Finding) -> String {
    let line = format!("{:<8} {check:<10} {found}", result.name());
    match fix {
        Some(fix) => format!("{line}\n{:<19} fix: {fix}", ""),
        None => line,
    }
}
