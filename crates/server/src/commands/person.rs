//! `roadmap customer show`, `export`, `erase` and `reapply`: a person's data

use std::collections::HashMap;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use roadmap_domain::error::{Resource, RoadmapError};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::{CustomerId, WorkspaceId, parse_uuid};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::person::{
    ErasedRecords, ErasedTexts, ErasedVotes, ErasureRecord, ExportOptions, PersonExport, PersonRecords, PersonRef,
    ShownMention,
};
use roadmap_domain::policy::erasing::PersonWords;
use roadmap_domain::usecase::erase_customer::{EraseCustomer, KeepErasure, RecordExport};
use serde::Serialize;
use tempfile::NamedTempFile;

use super::WorkspaceArgument;
use super::output::{OutputFormat, Row, print, print_json};
use crate::personal_files::Folders;
use crate::secret;
use crate::settings::Settings;
use crate::wiring::Application;

/// A customer of a workspace.
#[derive(Debug, Args)]
pub(crate) struct Person {
    #[command(flatten)]
    target: WorkspaceArgument,
    /// Address or ID of the customer
    #[arg(value_name = "ADDRESS|ID")]
    customer: String,
}

impl Person {
    /// Returns who is meant. Somebody who is not known is an error of the command.
    fn reference(&self) -> anyhow::Result<PersonRef> {
        if self.customer.contains('@') {
            let address = EmailAddress::parse("ADDRESS", &self.customer)?;
            return Ok(PersonRef::Address(address.folded().clone()));
        }
        Ok(PersonRef::Id(CustomerId::new(parse_uuid("ID", &self.customer)?)))
    }

    async fn find(&self, application: &Application, workspace: WorkspaceId) -> anyhow::Result<PersonRecords> {
        let records = application.reader.person(workspace, &self.reference()?).await?;
        records
            .ok_or(RoadmapError::NotFound(Resource::Customer))
            .with_context(|| format!("the workspace has no customer `{}`", self.customer))
    }
}

/// What is stored about a customer.
#[derive(Serialize)]
struct PersonRow {
    id: String,
    email: String,
    name: Option<String>,
    created_at: String,
    votes: usize,
    feature_requests: usize,
    comments: usize,
    notes: usize,
    subscriptions: usize,
    mails: usize,
    sessions: usize,
    imported: usize,
}

impl Row for PersonRow {
    const COLUMNS: &[&str] = &[
        "id",
        "email",
        "name",
        "created_at",
        "votes",
        "feature_requests",
        "comments",
        "notes",
        "subscriptions",
        "mails",
        "sessions",
        "imported",
    ];
}

/// Shows how much is stored about a customer.
pub(crate) async fn show(settings: &Settings, person: &Person, format: OutputFormat) -> anyhow::Result<()> {
    let application = Application::open(settings).await?;
    let workspace = person.target.find(&application).await?.id;
    let records = person.find(&application, workspace).await?;
    format.print_one(&PersonRow {
        id: records.customer.id,
        email: records.customer.email,
        name: records.customer.name,
        created_at: records.customer.created_at.to_string(),
        votes: records.votes.len(),
        feature_requests: records.feature_requests.len(),
        comments: records.comments.len(),
        notes: records.notes.len(),
        subscriptions: records.subscriptions.len(),
        mails: records.mails.len(),
        sessions: records.sessions.len(),
        imported: records.imported.len(),
    })
}

/// Writes the data of a customer to a file or to standard output.
pub(crate) async fn export(
    settings: &Settings,
    person: &Person,
    to: Option<&Path>,
    without_notes: bool,
) -> anyhow::Result<()> {
    let application = Application::open(settings).await?;
    let workspace = person.target.find(&application).await?;
    let links = super::links(settings, &workspace)?;
    let records = person.find(&application, workspace.id).await?;
    let customer = CustomerId::new(parse_uuid("id", &records.customer.id)?);
    let options = ExportOptions { with_notes: !without_notes, with_private_titles: true };
    let export = PersonExport::new(records, &links, options, application.clock.now());
    application.executor.run_without_key(workspace.id, &RecordExport { customer }).await?;
    let Some(to) = to else { return print_json(&export) };
    let failed = || format!("{} could not be written", to.display());
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut file = NamedTempFile::new_in(parent).with_context(failed)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o600)).with_context(failed)?;
    serde_json::to_writer_pretty(&mut file, &export).with_context(failed)?;
    file.write_all(b"\n").and_then(|()| file.as_file().sync_all()).with_context(failed)?;
    file.persist_noclobber(to).with_context(failed)?;
    Ok(())
}

/// What becomes of votes.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum Votes {
    /// They stay, so that nothing is counted differently
    #[default]
    Keep,
    /// They go, and what they were for is counted again
    Drop,
}

/// What becomes of feature requests and comments.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum Texts {
    /// They stay without a name
    #[default]
    Keep,
    /// Comments go; feature requests in which others took part lose their texts, others go
    Remove,
}

/// Erases a customer.
#[derive(Debug, Args)]
pub(crate) struct Erase {
    #[command(flatten)]
    person: Person,
    /// What becomes of the votes
    #[arg(long, value_enum, default_value_t)]
    votes: Votes,
    /// What becomes of feature requests and comments
    #[arg(long, value_enum, default_value_t)]
    texts: Texts,
    /// Say what would go and which texts name the person, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Confirm that the customer is to be erased, which cannot be undone
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// What an erasure concerns.
#[derive(Serialize)]
struct Erased {
    erased: ErasedRecords,
    #[serde(skip_serializing_if = "Option::is_none")]
    mentions: Option<Vec<ShownMention>>,
}

impl Erase {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        let workspace = self.person.target.find(&application).await?;
        let records = self.person.find(&application, workspace.id).await?;
        let customer = CustomerId::new(parse_uuid("id", &records.customer.id)?);
        let votes = match self.votes {
            Votes::Keep => ErasedVotes::Keep,
            Votes::Drop => ErasedVotes::Drop,
        };
        let texts = match self.texts {
            Texts::Keep => ErasedTexts::Keep,
            Texts::Remove => ErasedTexts::Remove,
        };
        if self.dry_run {
            let words = PersonWords::new(&records.person()?);
            let mentions = application.reader.mentions(workspace.id, customer, &words, texts).await?;
            let links = super::links(settings, &workspace)?;
            let mentions = mentions.into_iter().map(|mention| mention.shown(&links)).collect();
            return self.print(records.erased(), Some(mentions));
        }
        if !self.yes {
            bail!("erasing {} cannot be undone; --yes confirms it, --dry-run says what would go", self.person.customer);
        }
        let references = Arc::new(secret::references(settings)?);
        let erase = EraseCustomer { person: PersonRef::Id(customer), votes, texts, references, repeats: None };
        let erased = application.executor.run_without_key(workspace.id, &erase).await?;
        finish(&application, settings).await?;
        self.print(erased, None)
    }

    fn print(&self, erased: ErasedRecords, mentions: Option<Vec<ShownMention>>) -> anyhow::Result<()> {
        if self.format.is_json() {
            return print_json(&Erased { erased, mentions });
        }
        let ErasedRecords { votes, feature_requests, comments, notes } = erased;
        let kept = |keeps: bool, then: &'static str| if keeps { "without the person" } else { then };
        let of_votes = kept(matches!(self.votes, Votes::Keep), "dropped");
        let of_texts = kept(matches!(self.texts, Texts::Keep), "removed");
        let begin = if mentions.is_some() { "Would be erased" } else { "Erased" };
        print(&format!(
            "{begin}: {votes} votes ({of_votes}), {feature_requests} feature requests and {comments} comments \
             ({of_texts}; those that wait go), {notes} notes."
        ))?;
        let Some(mentions) = mentions else { return Ok(()) };
        if mentions.is_empty() {
            return print("No text that stays has the address or the name.");
        }
        print("These texts have the address or the name, and stay as they are:")?;
        for mention in mentions {
            print(&format!("  {} {}", mention.kind.replace('_', " "), mention.url))?;
        }
        Ok(())
    }
}

/// Takes the erased people out of all files, as far as that is possible now.
async fn finish(application: &Application, settings: &Settings) -> anyhow::Result<()> {
    let (_, left) = application.finish_erasures(settings, Application::open_blobs(settings)?).run().await?;
    application.budgets.flush().await?;
    if left > 0 {
        tracing::warn!(
            "an import, an export or a read is at work: its files still have the person, until the service deletes them"
        );
    }
    Ok(())
}

/// Erases again who was erased before a database was restored. Prints how many.
pub(crate) async fn reapply(settings: &Settings, format: OutputFormat) -> anyhow::Result<()> {
    let application = Application::open(settings).await?;
    let erased = erase_again(&application, settings).await?;
    if format.is_json() {
        return print_json(&serde_json::json!({ "erased": erased }));
    }
    print(&format!("{erased} customers who came back with the database are erased again."))
}

/// Erases again who was erased before a database was restored. Returns how many.
pub(crate) async fn erase_again(application: &Application, settings: &Settings) -> anyhow::Result<u64> {
    let folders = Folders::new(settings);
    let mut listed: HashMap<WorkspaceId, HashMap<String, ErasureRecord>> = HashMap::new();
    for (workspace, record) in folders.listed_erasures().context("the list of erasures cannot be read")? {
        // The last one of an address counts.
        listed.entry(workspace).or_default().insert(record.digest.clone(), record);
    }
    let references = Arc::new(secret::references(settings)?);
    let mut erased = 0;
    for workspace in application.directory.workspaces().await? {
        let Some(records) = listed.remove(&workspace.id) else { continue };
        let mut found = Vec::new();
        let mut number = 1;
        loop {
            let page = PageRequest::parse(Some(&number.to_string()), Some(&PageRequest::MAX_SIZE.to_string()))?;
            let listing = application.reader.customers(workspace.id, None, page).await?;
            let is_last = listing.items.is_empty();
            for customer in listing.items {
                let digests = references.address_digests(workspace.id, customer.customer.email.folded());
                let record = digests.iter().find_map(|digest| records.get(digest));
                // Who took part again afterwards is a new customer.
                if let Some(record) = record.filter(|record| customer.created_at <= record.at) {
                    found.push((customer.customer.id, record.clone()));
                }
            }
            if is_last {
                break;
            }
            number += 1;
        }
        for (customer, record) in found {
            let (votes, texts) = (record.votes, record.texts);
            let (person, references) = (PersonRef::Id(customer), references.clone());
            let erase = EraseCustomer { person, votes, texts, references, repeats: Some(record) };
            application.executor.run_without_key(workspace.id, &erase).await?;
            erased += 1;
        }
        for record in records.into_values() {
            application.executor.run_without_key(workspace.id, &KeepErasure { record }).await?;
        }
    }
    finish(application, settings).await?;
    Ok(erased)
}

/// Where `export` writes to.
#[derive(Debug, Args)]
pub(crate) struct ExportTarget {
    /// File to write, which must not exist (by default standard output)
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Leave out the team's notes about the person
    #[arg(long)]
    pub(crate) without_notes: bool,
}
