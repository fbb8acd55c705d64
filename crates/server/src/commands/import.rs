//! `roadmap import`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand};
use roadmap_domain::error::{Resource, RoadmapError};
use roadmap_domain::model::id::{ImportId, WorkspaceId, parse_uuid};
use roadmap_domain::model::import::run::{Import, ImportState, SourceName};
use roadmap_domain::model::import::upload::Subscribing;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::import::run::{BeginImport, ListImports, ResumeImport};
use roadmap_import::archive::{self, Input, Limits};
use roadmap_import::dates::DayOrder;
use roadmap_import::encoding;
use serde::Serialize;

use super::WorkspaceArgument;
use super::output::{OutputFormat, Row, print, print_json};
use crate::import::folders;
use crate::import::load::{Ended, Stop, Target, begun, is_taken_over};
use crate::import::reading::{Known, TooManyRejected, digest, read};
use crate::import::report::Report;
use crate::import::restore::Restore;
use crate::import::source::{self, Reading, Source};
use crate::import::staging::{LoadOptions, PROBLEMS, REJECTED, Staged};
use crate::import::undo::undo;
use crate::settings::Settings;
use crate::shutdown::ShutdownSignals;
use crate::wiring::Application;

/// Done, but some records were rejected.
const SOME_REJECTED: u8 = 3;
/// Stopped before the end; `resume` goes on.
const STOPPED: u8 = 4;

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Import feature requests, votes and comments from CSV or TSV files of any program. Files are recognized by their columns
    Csv {
        #[command(flatten)]
        import: Run,
        /// Take a field from a column; nothing behind the `=` leaves the field out
        #[arg(long = "map", value_name = "FIELD=COLUMN")]
        map: Vec<String>,
        #[command(flatten)]
        delimiter: Delimiter,
    },
    /// Import a backup of Fider (`backup.zip`, or a folder with its files) with votes, comments, subscriptions and pictures, or
    /// its `posts.csv`
    Fider {
        #[command(flatten)]
        import: Run,
    },
    /// Import what the list calls of Canny's API answer: feature requests, votes, comments, status changes and changelogs. Or its
    /// CSV export
    Canny {
        #[command(flatten)]
        import: Run,
        #[command(flatten)]
        delimiter: Delimiter,
    },
    /// Import issues and discussions of GitHub with their comments: what `gh issue list --json` writes, pages of the REST API,
    /// discussions of the GraphQL API
    Github {
        #[command(flatten)]
        import: Run,
    },
    /// Import suggestions, votes, comments and notes from CSV exports of UserVoice
    Uservoice {
        #[command(flatten)]
        import: Run,
        #[command(flatten)]
        delimiter: Delimiter,
    },
    /// Import the zip of an export of Quackback, or its template CSV
    Quackback {
        #[command(flatten)]
        import: Run,
        #[command(flatten)]
        delimiter: Delimiter,
    },
    /// Import the CSVs of an export of ClearFlask, or the zip with them
    Clearflask {
        #[command(flatten)]
        import: Run,
        #[command(flatten)]
        delimiter: Delimiter,
    },
    /// Import the tables of a database of Astuto, as `\copy … CSV HEADER` of psql writes them: a folder or a zip
    Astuto {
        #[command(flatten)]
        import: Run,
        #[command(flatten)]
        delimiter: Delimiter,
    },
    /// Import the tables of a database of LogChimp, as `\copy … CSV HEADER` of psql writes them: a folder or a zip
    Logchimp {
        #[command(flatten)]
        import: Run,
        #[command(flatten)]
        delimiter: Delimiter,
    },
    /// Restore an export of a workspace into one that has no feature requests, customers and changelogs
    Roadmap {
        #[command(flatten)]
        restore: RestoreRun,
    },
    /// List the imports of a workspace, newest first
    List {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Show the report of an import
    Show {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// ID of the import
        id: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Go on with an import that has stopped
    Resume {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// ID of the import
        id: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Delete what an import has made. Feature requests on which anything else has happened since stay
    Undo {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// ID of the import
        id: String,
        /// Confirm that it is to be deleted
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        format: OutputFormat,
    },
}

/// The character between columns.
#[derive(Debug, Args)]
pub(crate) struct Delimiter {
    /// Character between the columns, or `tab` (by default it is detected)
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<String>,
}

impl Delimiter {
    fn parse(&self) -> anyhow::Result<Option<u8>> {
        let parse = |text| source::delimiter(text).context("--delimiter is one character, or `tab`");
        self.delimiter.as_deref().map(parse).transpose()
    }
}

/// Who gets mail about the feature requests that they have voted for
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Subscribe {
    /// As the source says, nobody where it says nothing
    #[default]
    Keep,
    /// Nobody
    None,
    /// Everybody who has not stopped mail here
    All,
}

impl From<Subscribe> for Subscribing {
    fn from(subscribe: Subscribe) -> Self {
        match subscribe {
            Subscribe::Keep => Self::Keep,
            Subscribe::None => Self::Nobody,
            Subscribe::All => Self::Everybody,
        }
    }
}

/// A run of any source.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    target: WorkspaceArgument,
    /// Files, folders or zips
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Say what would be imported, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Which installation of the source it is: 1 to 40 of a-z, 0-9 and - (by default the source). Two boards of one program
    /// need two names, or their ids collide
    #[arg(long)]
    name: Option<String>,
    /// Overwrite records that have changed in the source, unless they were changed here since
    #[arg(long)]
    update: bool,
    /// Who gets mail about the feature requests that they have voted for
    #[arg(long, value_enum, default_value_t)]
    subscribe: Subscribe,
    /// Put the feature requests with a status on a track, by its name
    #[arg(long = "track", value_name = "THEIRS=OURS")]
    tracks: Vec<String>,
    /// Encoding of the files (by default it is detected)
    #[arg(long, value_name = "LABEL")]
    encoding: Option<String>,
    /// Order of dates such as 01/02/2024
    #[arg(long, value_name = "ORDER", value_parser = ["dmy", "mdy"])]
    dates: Option<String>,
    /// With more rejected records nothing is imported
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    max_rejected: u64,
    /// Add the team of the source to the team, with the role member
    #[arg(long)]
    make_members: bool,
    /// Folder for the files of the report
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    #[command(flatten)]
    format: OutputFormat,
}

/// A run that restores an export.
#[derive(Debug, Args)]
pub(crate) struct RestoreRun {
    #[command(flatten)]
    target: WorkspaceArgument,
    /// Zip that `roadmap export` has written
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Check the export, say what would be restored, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Give members the role and the access that they had (by default they have none until they are added)
    #[arg(long)]
    make_members: bool,
    /// Folder for the files of the report
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    #[command(flatten)]
    format: OutputFormat,
}

impl RestoreRun {
    async fn run(&self, settings: &Settings) -> anyhow::Result<ExitCode> {
        let application = Application::open(settings).await?;
        let workspace = self.target.find(&application).await?;
        let (links, blobs) = (super::links(settings, &workspace)?, Application::open_blobs(settings)?);
        let stop = stop_at_signal()?;
        folders::sweep(&settings.data_dir, application.clock.now())
            .context("old files of imports cannot be deleted")?;
        let restore = Restore {
            application: &application,
            workspace: workspace.id,
            subdomain: workspace.subdomain.as_str(),
            links: &links,
            blobs: &*blobs,
            data_dir: &settings.data_dir,
            makes_members: self.make_members,
            stop: &stop,
        };
        let (ended, folder) = restore.run(&self.path, self.dry_run, self.report.as_deref()).await?;
        let Some(folder) = folder else {
            print_report(&ended.report, self.report.as_deref(), self.format)?;
            return Ok(ExitCode::SUCCESS);
        };
        if let Some(to) = &self.report {
            keep_report(&folder, to)?;
        }
        finish(ended, self.report.as_deref().unwrap_or(&folder), self.format)
    }
}

/// A run in a list.
#[derive(Serialize)]
struct ListedImport {
    id: String,
    source: String,
    name: String,
    state: &'static str,
    began_at: String,
    ended_at: Option<String>,
}

impl Row for ListedImport {
    const COLUMNS: &[&str] = &["id", "source", "name", "state", "began_at", "ended_at"];
}

impl ImportCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<ExitCode> {
        match self {
            Self::Csv { import, map, delimiter } => {
                let mut reading = import.reading()?;
                for text in &map {
                    reading.map.add(text)?;
                }
                (reading.map_texts, reading.delimiter) = (map, delimiter.parse()?);
                import.run(Source::Csv, &reading, settings).await
            }
            Self::Fider { import } => import.run(Source::Fider, &import.reading()?, settings).await,
            Self::Github { import } => import.run(Source::Github, &import.reading()?, settings).await,
            Self::Astuto { import, delimiter } => import.run_tables(Source::Astuto, &delimiter, settings).await,
            Self::Canny { import, delimiter } => import.run_tables(Source::Canny, &delimiter, settings).await,
            Self::Clearflask { import, delimiter } => import.run_tables(Source::Clearflask, &delimiter, settings).await,
            Self::Logchimp { import, delimiter } => import.run_tables(Source::Logchimp, &delimiter, settings).await,
            Self::Quackback { import, delimiter } => import.run_tables(Source::Quackback, &delimiter, settings).await,
            Self::Uservoice { import, delimiter } => import.run_tables(Source::Uservoice, &delimiter, settings).await,
            Self::Roadmap { restore } => restore.run(settings).await,
            Self::List { target, format } => {
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?.id;
                let now = application.clock.now();
                let listed = |import: &Import| ListedImport {
                    id: import.id.to_string(),
                    source: import.source.clone(),
                    name: import.name.to_string(),
                    state: import.visible_state(now).name(),
                    began_at: import.began_at.to_string(),
                    ended_at: import.ended_at.map(|at| at.to_string()),
                };
                let imports = application.executor.run_without_key(workspace, &ListImports).await?;
                format.print_many(&imports.iter().map(listed).collect::<Vec<_>>())?;
                Ok(ExitCode::SUCCESS)
            }
            Self::Show { target, id, format } => {
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?.id;
                let import = find(&application, workspace, &id).await?;
                let Some(report) = &import.report else {
                    let state = import.visible_state(application.clock.now()).name();
                    bail!("import {} is {state}: it has no report yet", import.id);
                };
                let report: Report = serde_json::from_str(report)?;
                print_report(&report, Some(&folders::of(&settings.data_dir, import.id)), format)?;
                Ok(ExitCode::SUCCESS)
            }
            Self::Resume { target, id, format } => resume(settings, &target, &id, format).await,
            Self::Undo { target, id, yes, format } => {
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?;
                let import = find(&application, workspace.id, &id).await?;
                if !yes {
                    bail!("undoing import {} deletes what it has made; --yes confirms it", import.id);
                }
                let links = super::links(settings, &workspace)?;
                let undone = undo(&application, workspace.id, &links, import.id).await?;
                if format.is_json() {
                    print_json(&undone)?;
                    return Ok(ExitCode::SUCCESS);
                }
                let deleted = undone.deleted.iter().filter(|(_, count)| **count > 0);
                let deleted: Vec<_> =
                    deleted.map(|(kind, count)| format!("{count} {}", kind.replace('_', " "))).collect();
                let deleted = if deleted.is_empty() { "nothing".to_owned() } else { deleted.join(", ") };
                print(&format!("Import {} is undone. Deleted: {deleted}.", undone.id))?;
                if !undone.kept.is_empty() {
                    print(&format!(
                        "{} records stay, because something has happened to them since:",
                        undone.kept.len()
                    ))?;
                }
                undone.kept.iter().try_for_each(|kept| print(&format!("  {} {}", kept.url, kept.title)))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

async fn find(application: &Application, workspace: WorkspaceId, id: &str) -> anyhow::Result<Import> {
    let unknown = || anyhow::Error::from(RoadmapError::NotFound(Resource::Import));
    let id = ImportId::new(parse_uuid("the ID of the import", id)?);
    let imports = application.executor.run_without_key(workspace, &ListImports).await?;
    imports
        .into_iter()
        .find(|import| import.id == id)
        .ok_or_else(unknown)
        .with_context(|| format!("there is no import {id}; `roadmap import list` lists the imports of a workspace"))
}

fn print_report(report: &Report, folder: Option<&Path>, format: OutputFormat) -> anyhow::Result<()> {
    if format.is_json() { print_json(report) } else { print(&report.to_text(folder)) }
}

/// Says how a run has ended.
fn finish(ended: Ended, folder: &Path, format: OutputFormat) -> anyhow::Result<ExitCode> {
    let Ended { report, why } = ended;
    if why.as_ref().is_some_and(is_taken_over) {
        return Err(why.unwrap_or_else(|| anyhow!("another process goes on with the import")));
    }
    print_report(&report, Some(folder), format)?;
    match why {
        Some(why) => {
            eprintln!("error: {}", crate::report::error_line(&why));
            Ok(if report.state == ImportState::Failed { ExitCode::FAILURE } else { STOPPED.into() })
        }
        None if report.has_rejected() => Ok(SOME_REJECTED.into()),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Lets the signals that stop the process stop the run at its next batch.
fn stop_at_signal() -> anyhow::Result<Stop> {
    let (stop, mut signals) = (Stop::default(), ShutdownSignals::listen()?);
    let requested = stop.clone();
    tokio::spawn(async move {
        signals.wait().await;
        requested.request();
    });
    Ok(stop)
}

async fn resume(
    settings: &Settings,
    target: &WorkspaceArgument,
    id: &str,
    format: OutputFormat,
) -> anyhow::Result<ExitCode> {
    let application = Application::open(settings).await?;
    let workspace = target.find(&application).await?;
    let import = find(&application, workspace.id, id).await?;
    let folder = folders::of(&settings.data_dir, import.id);
    let Some(staged) = Staged::open(&folder)? else {
        bail!(
            "the records of import {} are not in {}: run the import again with the same files and options",
            import.id,
            folder.display()
        );
    };
    let holder = application.ids.next(application.clock.now());
    let resume = ResumeImport { id: import.id, holder };
    let import = begun(application.executor.run_without_key(workspace.id, &resume).await?)?;
    let (links, stop) = (super::links(settings, &workspace)?, stop_at_signal()?);
    let upload = application.upload(Application::open_blobs(settings)?);
    let target = Target {
        application: &application,
        workspace: workspace.id,
        subdomain: workspace.subdomain.as_str(),
        links: &links,
        upload: &upload,
        stop: &stop,
    };
    let ended = target.load(&staged, &import, &folder).await?;
    clean_up(&ended, &folder)?;
    finish(ended, &folder, format)
}

/// Deletes the records of a run that has come to its end. The files of its report stay.
fn clean_up(ended: &Ended, folder: &Path) -> anyhow::Result<()> {
    if ended.report.state != ImportState::Stopped {
        Staged::delete(folder)?;
    }
    Ok(())
}

impl Run {
    async fn run_tables(&self, source: Source, delimiter: &Delimiter, settings: &Settings) -> anyhow::Result<ExitCode> {
        let reading = Reading { delimiter: delimiter.parse()?, ..self.reading()? };
        self.run(source, &reading, settings).await
    }

    async fn run(&self, source: Source, reading: &Reading, settings: &Settings) -> anyhow::Result<ExitCode> {
        let name = SourceName::parse("--name", self.name.as_deref().unwrap_or(source.name()))?;
        let options = self.load_options()?;
        let application = Application::open(settings).await?;
        let workspace = self.target.find(&application).await?;
        let links = super::links(settings, &workspace)?;
        let stop = stop_at_signal()?;
        let upload = application.upload(Application::open_blobs(settings)?);
        let inputs = open_inputs(&self.paths)?;
        source.check(&inputs)?;
        let input = digest(&inputs, reading, &options)?;
        let read_at = self.read_at(&application, workspace.id, &name, &input).await?;

        let imports = folders::all(&settings.data_dir);
        fs::create_dir_all(&imports).with_context(|| format!("{} cannot be created", imports.display()))?;
        folders::sweep(&settings.data_dir, application.clock.now())
            .with_context(|| format!("old files in {} cannot be deleted", imports.display()))?;
        let folder = tempfile::Builder::new().prefix(folders::NEW).tempdir_in(&imports);
        let folder = folder.with_context(|| format!("{} cannot be written", imports.display()))?;
        let staged = {
            let (path, name) = (folder.path().to_owned(), name.clone());
            let known = Known::new(&application, workspace.id, name.clone());
            let max_rejected = self.max_rejected;
            let staged = tokio::task::block_in_place(|| {
                read(source, &inputs, reading, &path, &name, (read_at, options, max_rejected), &known)
            });
            let staged = match staged {
                Err(error) if error.is::<TooManyRejected>() => {
                    bail!("{error}: --dry-run with a larger --max-rejected and --report lists them")
                }
                staged => staged?,
            };
            known.check()?;
            staged
        };
        let target = Target {
            application: &application,
            workspace: workspace.id,
            subdomain: workspace.subdomain.as_str(),
            links: &links,
            upload: &upload,
            stop: &stop,
        };
        target.check_tracks(&staged).await?;
        if self.dry_run {
            let mut report = target.try_out(&staged).await?;
            if let Some(to) = &self.report {
                keep_report(folder.path(), to)?;
                report.save(to, &[])?;
            }
            print_report(&report, self.report.as_deref(), self.format)?;
            return Ok(if report.has_rejected() { SOME_REJECTED.into() } else { ExitCode::SUCCESS });
        }

        let holder = application.ids.next(application.clock.now());
        let begin = BeginImport { source: source.name(), name, input, holder, began_at: read_at };
        let import = begun(application.executor.run_without_key(workspace.id, &begin).await?)?;
        let place = folders::of(&settings.data_dir, import.id);
        let staged = match Staged::open(&place)? {
            // It goes on where it has stopped.
            Some(before) => before,
            None => {
                fs::rename(folder.keep(), &place)?;
                Staged::open(&place)?.context("the records of the run are gone")?
            }
        };
        let ended = target.load(&staged, &import, &place).await?;
        clean_up(&ended, &place)?;
        let shown = match &self.report {
            Some(to) => {
                keep_report(&place, to)?;
                to.as_path()
            }
            None => &*place,
        };
        finish(ended, shown, self.format)
    }

    /// When the input was read: as a run of the same input that has stopped has read it, so that it goes on with the same
    /// records.
    async fn read_at(
        &self,
        application: &Application,
        workspace: WorkspaceId,
        name: &SourceName,
        input: &str,
    ) -> anyhow::Result<Timestamp> {
        let now = application.clock.now();
        let imports = application.executor.run_without_key(workspace, &ListImports).await?;
        let stopped = |import: &&Import| import.name == *name && import.input == input && import.can_resume(now);
        Ok(imports.iter().find(stopped).map_or(now, |import| import.began_at))
    }

    fn load_options(&self) -> anyhow::Result<LoadOptions> {
        let pair = |text: &String| {
            let (theirs, ours) = text.split_once('=').with_context(|| format!("`{text}` is no THEIRS=OURS"))?;
            Ok((theirs.trim().to_owned(), ours.trim().to_owned()))
        };
        let tracks = self.tracks.iter().map(pair).collect::<anyhow::Result<_>>()?;
        Ok(LoadOptions {
            updates: self.update,
            subscribe: self.subscribe.into(),
            makes_members: self.make_members,
            tracks,
        })
    }

    fn reading(&self) -> anyhow::Result<Reading> {
        let encoding = self.encoding.as_deref().map(encoding::from_label).transpose()?;
        let order = self.dates.as_deref().and_then(DayOrder::from_option);
        Ok(Reading { encoding, order, ..Reading::default() })
    }
}

fn open_inputs(paths: &[PathBuf]) -> anyhow::Result<Vec<Input>> {
    let limits = Limits::default();
    let mut inputs = Vec::new();
    for path in paths {
        inputs.extend(archive::open(path, &limits)?);
    }
    Ok(inputs)
}

/// Copies the files of a report to another folder.
fn keep_report(from: &Path, to: &Path) -> anyhow::Result<()> {
    let failed = || format!("the report cannot be written to {}", to.display());
    fs::create_dir_all(to).with_context(failed)?;
    for name in ["report.json", PROBLEMS, "redirects.csv"] {
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).with_context(failed)?;
        }
    }
    if let Ok(rejected) = fs::read_dir(from.join(REJECTED)) {
        fs::create_dir_all(to.join(REJECTED)).with_context(failed)?;
        for file in rejected {
            let file = file.with_context(failed)?;
            fs::copy(file.path(), to.join(REJECTED).join(file.file_name())).with_context(failed)?;
        }
    }
    Ok(())
}
