//! `roadmap synonyms`

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Subcommand;
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::usecase::replace_synonyms::ReplaceSynonyms;
use serde::Serialize;

use super::WorkspaceArgument;
use super::output::{self, OutputFormat};
use crate::settings::Settings;
use crate::wiring::Application;

/// Maximum bytes of a file with synonyms.
const MAX_BYTES: u64 = 1024 * 1024;

#[derive(Debug, Subcommand)]
pub(crate) enum SynonymsCommand {
    /// List the synonyms of a workspace, one group per line
    List {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Replace the synonyms of a workspace (an empty file deletes them)
    Replace {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// File with one group per line, its words and phrases separated by commas; `-` for standard input
        file: PathBuf,
        #[command(flatten)]
        format: OutputFormat,
    },
}

/// The synonyms, as the API shows them.
#[derive(Serialize)]
struct SynonymsOutput<'a> {
    synonyms: &'a [Vec<String>],
}

impl SynonymsCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        match self {
            Self::List { target, format } => {
                let workspace = target.find(&application).await?.id;
                print(&application.reader.synonyms(workspace).await?, format)
            }
            Self::Replace { target, file, format } => {
                let workspace = target.find(&application).await?.id;
                let synonyms = Synonyms::parse(&parse_lines(&read(&file)?))?;
                let operation = ReplaceSynonyms { synonyms };
                print(&application.executor.run_without_key(workspace, &operation).await?, format)
            }
        }
    }
}

fn read(file: &PathBuf) -> anyhow::Result<String> {
    let reader: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(file).with_context(|| format!("{} cannot be opened", file.display()))?)
    };
    let mut text = String::new();
    let count = reader.take(MAX_BYTES + 1).read_to_string(&mut text);
    let count = count.with_context(|| format!("{} cannot be read", file.display()))?;
    ensure!(count as u64 <= MAX_BYTES, "{} has more than {MAX_BYTES} bytes", file.display());
    Ok(text)
}

/// Returns the groups of all lines that are not blank.
fn parse_lines(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn print(synonyms: &Synonyms, format: OutputFormat) -> anyhow::Result<()> {
    if format.is_json() {
        return output::print_json(&SynonymsOutput { synonyms: synonyms.groups() });
    }
    synonyms.groups().iter().try_for_each(|group| output::print(&group.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_group() {
        let groups = parse_lines("2fa, two-factor,mfa\r\n\n  \nquokka,numbat\n");
        assert_eq!(groups, [vec!["2fa", " two-factor", "mfa"], vec!["quokka", "numbat"]]);
        assert_eq!(parse_lines(""), Vec::<Vec<String>>::new());
        let parsed = Synonyms::parse(&groups).unwrap();
        let lines: Vec<String> = parsed.groups().iter().map(|group| group.join(", ")).collect();
        assert_eq!(Synonyms::parse(&parse_lines(&lines.join("\n"))).unwrap(), parsed);
    }
}
