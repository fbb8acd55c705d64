//! The command line.

mod api_key;
mod attachments;
mod audit;
mod backup;
mod changelog;
mod customer;
mod doctor;
mod export;
mod import;
mod lane;
mod mail;
mod mcp;
mod member;
mod migrate;
mod move_database;
mod openapi;
mod output;
mod person;
mod portal;
mod request;
mod search;
mod serve;
mod sign_in;
mod synonyms;
mod track;
mod webhook;
mod worker;
mod workspace;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::{Parser, Subcommand};
use roadmap_domain::error::{Resource, RoadmapError};
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::policy::links::Links;

use crate::ownership::{self, Obstacle};
use crate::report;
use crate::secret;
use crate::settings::{SettingFlags, Settings};
use crate::telemetry;
use crate::wiring::Application;

/// Self-hosted product feedback and roadmap: a portal and an HTTP API for feature requests, votes,
/// comments, tracks and changelogs, one workspace per company.
#[derive(Debug, Parser)]
#[command(name = "roadmap", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    settings: SettingFlags,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Configured(ConfiguredCommand),
    /// Check settings, database, storage and mail server, and report problems and how to fix them
    Doctor(doctor::Doctor),
    /// Connect an agent that starts programs to a service, or list the tools of agents
    Mcp(mcp::Mcp),
    /// Print the OpenAPI document of the API
    Openapi(openapi::OpenApi),
}

/// A command that requires valid settings.
#[derive(Debug, Subcommand)]
enum ConfiguredCommand {
    /// Serve the portals and the API
    Serve(serve::Serve),
    /// Bring the database schema up to date (the other commands do so automatically)
    Migrate(migrate::Migrate),
    /// Create and list workspaces
    #[command(subcommand)]
    Workspace(workspace::WorkspaceCommand),
    /// Create, list, revoke and rotate the API keys of a workspace
    #[command(subcommand)]
    ApiKey(api_key::ApiKeyCommand),
    /// Add, list and remove the team members of a workspace, and change their roles
    #[command(subcommand)]
    Member(member::MemberCommand),
    /// Show, export and erase the data of customers, and merge customers who are one person
    #[command(subcommand)]
    Customer(customer::CustomerCommand),
    /// Add, list, rename, move and remove the tracks of a workspace
    #[command(subcommand)]
    Track(track::TrackCommand),
    /// Send mail and events in a separate process (`serve` does, too, unless mail_worker and webhook_worker are false)
    Worker(worker::WorkerCommand),
    /// Send a test mail, show the status of the outbox, retry failed mail
    #[command(subcommand)]
    Mail(mail::MailCommand),
    /// Back up the embedded database, the files and the secret into one file (the service may run)
    Backup(backup::Backup),
    /// Restore a backup of the embedded database (the service must be stopped)
    Restore(backup::Restore),
    /// Move the embedded database to PostgreSQL (the service must be stopped)
    Move(move_database::MoveCommand),
    /// Manage uploaded files
    #[command(subcommand)]
    Attachments(attachments::AttachmentsCommand),
    /// Explain the results of a search, index feature requests again
    #[command(subcommand)]
    Search(search::SearchCommand),
    /// List and replace the synonyms that searches of a workspace know
    #[command(subcommand)]
    Synonyms(synonyms::SynonymsCommand),
    /// Add, list, rename, move and remove the lanes of a workspace's public roadmap
    #[command(subcommand)]
    Lane(lane::LaneCommand),
    /// Show, merge, unmerge and delete feature requests
    #[command(subcommand)]
    Request(request::RequestCommand),
    /// List and publish the changelogs of a workspace
    #[command(subcommand)]
    Changelog(changelog::ChangelogCommand),
    /// Show and change the settings of a workspace's portal, the pages for people
    #[command(subcommand)]
    Portal(portal::PortalCommand),
    /// Sign in to the pages of a workspace without a mail
    #[command(subcommand)]
    SignIn(sign_in::SignInCommand),
    /// List and export the audit log of a workspace: who changed what, and when
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Import feature requests, votes and comments of other programs, and undo imports
    #[command(subcommand)]
    Import(import::ImportCommand),
    /// Write everything of a workspace into a zip (the service may run)
    Export(export::ExportCommand),
    /// Add, list, change, test and remove the webhooks of a workspace
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
}

impl Arguments {
    /// Runs the command. Returns the exit status of the process.
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        let settings = || Settings::load(&self.settings);
        match self.command {
            Command::Openapi(command) => command.run()?,
            Command::Mcp(command) => command.run(settings).await?,
            // Invalid settings are one of its findings, and the log would disturb its output.
            Command::Doctor(command) => command.run(settings()).await?,
            Command::Configured(command) => {
                let settings = settings()?;
                let telemetry = telemetry::start(&settings, matches!(command, ConfiguredCommand::Serve(_)))?;
                let outcome = command.run(settings.clone()).await;
                telemetry.shut_down().await;
                return outcome.map_err(|error| explain(error, &settings));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Adds who owns which file, and the command that changes it, to an error that may come from that.
fn explain(error: anyhow::Error, settings: &Settings) -> anyhow::Error {
    let line = report::error_line(&error);
    match ownership::find_obstacle(settings).filter(|_| ownership::may_be_obstacle(&line)) {
        Some(Obstacle { found, fix }) => anyhow!("{line}: {found}; {fix}"),
        None => error,
    }
}

impl ConfiguredCommand {
    async fn run(self, settings: Settings) -> anyhow::Result<ExitCode> {
        match self {
            Self::Import(command) => return command.run(&settings).await,
            Self::Serve(command) => command.run(settings).await,
            Self::Migrate(command) => command.run(&settings).await,
            Self::Workspace(command) => command.run(&settings).await,
            Self::ApiKey(command) => command.run(&settings).await,
            Self::Member(command) => command.run(&settings).await,
            Self::Customer(command) => command.run(&settings).await,
            Self::Track(command) => command.run(&settings).await,
            Self::Worker(command) => command.run(&settings).await,
            Self::Mail(command) => command.run(&settings).await,
            Self::Backup(command) => command.run(settings).await,
            Self::Restore(command) => command.run(settings).await,
            Self::Move(command) => command.run(&settings).await,
            Self::Attachments(command) => command.run(&settings).await,
            Self::Search(command) => command.run(&settings).await,
            Self::Synonyms(command) => command.run(&settings).await,
            Self::Lane(command) => command.run(&settings).await,
            Self::Request(command) => command.run(&settings).await,
            Self::Changelog(command) => command.run(&settings).await,
            Self::Portal(command) => command.run(&settings).await,
            Self::SignIn(command) => command.run(&settings).await,
            Self::Audit(command) => command.run(&settings).await,
            Self::Export(command) => command.run(&settings).await,
            Self::Webhook(command) => command.run(&settings).await,
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The workspace of a command.
#[derive(Debug, clap::Args)]
struct WorkspaceArgument {
    /// Subdomain of the workspace
    #[arg(long, value_name = "SUBDOMAIN")]
    workspace: String,
}

impl WorkspaceArgument {
    async fn find(&self, application: &Application) -> anyhow::Result<Workspace> {
        find_workspace(application, &self.workspace).await
    }
}

/// Finds the workspace of a subdomain that an operator has entered.
async fn find_workspace(application: &Application, raw: &str) -> anyhow::Result<Workspace> {
    let subdomain = Subdomain::parse("--workspace", raw)?;
    let workspace = application.directory.workspace(&subdomain).await?;
    workspace
        .ok_or(RoadmapError::NotFound(Resource::Workspace))
        .with_context(|| format!("there is no workspace `{subdomain}`; `roadmap workspace list` lists all workspaces"))
}

/// The URLs of a workspace's pages and files.
fn links(settings: &Settings, workspace: &Workspace) -> anyhow::Result<Links> {
    let references = Arc::new(secret::references(settings)?);
    Ok(Links::new(&settings.service_url()?, &workspace.subdomain, workspace.id, references))
}
