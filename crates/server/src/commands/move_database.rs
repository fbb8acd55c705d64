//! `roadmap move`

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::{Context, anyhow, bail, ensure};
use roadmap_domain::error::StoreError;
use roadmap_postgres::{MoveTarget, TableDigest};
use roadmap_sqlite::MoveSource;
use roadmap_store::moving::{MovedTable, row_channel};
use serde::Serialize;

use super::output::{OutputFormat, Row, print_json};
use crate::secret;
use crate::settings::{Database, Settings};
use crate::wiring;

#[derive(clap::Args)]
pub(crate) struct MoveCommand {
    /// PostgreSQL database without a workspace, as in database_url: postgres://USER:PASSWORD@HOST/DATABASE
    #[arg(long, value_name = "URL")]
    to: String,
    #[command(flatten)]
    format: OutputFormat,
}

impl std::fmt::Debug for MoveCommand {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MoveCommand").field("to", &roadmap_postgres::redacted(&self.to)).finish_non_exhaustive()
    }
}

/// What was moved.
#[derive(Serialize)]
struct Output {
    tables: Vec<OutputTable>,
}

#[derive(Serialize)]
struct OutputTable {
    name: String,
    rows: u64,
    digest: String,
}

impl Row for OutputTable {
    const COLUMNS: &[&str] = &["name", "rows", "digest"];
}

impl MoveCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let file = match &settings.database {
            Database::File(file) => file,
            Database::Server(_) => bail!(
                "the configured database is {}, not a file: only an embedded database is moved; pg_dump and pg_restore \
                 move this one",
                settings.database
            ),
        };
        let target = Database::Server(self.to.clone());
        ensure!(
            self.to.starts_with("postgres://") || self.to.starts_with("postgresql://"),
            "--to is no URL such as postgres://user:password@host/database"
        );
        ensure!(file.is_file(), "there is no database {}", file.display());
        let failed = || format!("the database {} cannot be moved", file.display());
        let source = MoveSource::open(file).map_err(cause).with_context(failed)?;
        let source =
            source.with_context(|| format!("the database {} is in use; stop the service first", file.display()))?;
        let source = Arc::new(Mutex::new(source));

        let refused = || format!("the database {target} cannot be moved to");
        let begun = MoveTarget::begin(&wiring::postgres_options(settings, &self.to)).await;
        let filled = begun.map_err(cause).with_context(refused)?;
        let tables = filled.tables();
        lock(&source)?.check(&tables).map_err(cause).with_context(failed)?;
        let mut moved = Vec::new();
        for table in tables {
            let name = table.name.clone();
            let digest = move_table(&source, &filled, table)
                .await
                .with_context(|| format!("the table {name} cannot be moved, so nothing is"))?;
            moved.push(OutputTable { name, rows: digest.rows, digest: digest.to_string() });
        }
        filled.commit().await.map_err(cause).with_context(|| {
            format!("the commit failed; if {target} has workspaces now, everything is in it, else run the move again")
        })?;

        if self.format.is_json() {
            print_json(&Output { tables: moved })?;
        } else {
            self.format.print_many(&moved)?;
        }
        eprintln!("{}", next_steps(settings, file, &target));
        Ok(())
    }
}

/// Moves the rows of a table, and compares what both databases have of it.
async fn move_table(
    source: &Arc<Mutex<MoveSource>>,
    target: &MoveTarget,
    table: MovedTable,
) -> anyhow::Result<TableDigest> {
    let (sender, mut rows) = row_channel();
    let (source, name) = (Arc::clone(source), table.name.clone());
    let read = tokio::task::spawn_blocking(move || lock(&source)?.read(&table, &sender));
    let sent = target.copy(&name, &mut rows).await;
    // Ends the reading, if PostgreSQL has refused a row.
    drop(rows);
    read.await??;
    let sent = sent.map_err(cause)?;
    let stored = target.digest(&name).await?;
    ensure!(
        sent == stored,
        "PostgreSQL has {} rows with the digest {stored} instead of {} with the digest {sent}",
        stored.rows,
        sent.rows
    );
    Ok(sent)
}

fn lock(source: &Mutex<MoveSource>) -> Result<MutexGuard<'_, MoveSource>, StoreError> {
    source.lock().map_err(|_| StoreError::Fatal("reading has panicked".into()))
}

/// Why a move is refused. The store itself has not failed.
fn cause(error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Fatal(cause) => anyhow!(cause),
        error => error.into(),
    }
}

/// What an operator does before the service starts again. Says where the secret is, and never what it is.
fn next_steps(settings: &Settings, file: &Path, target: &Database) -> String {
    let kept = settings.data_dir.join(secret::FILE);
    let secret = if settings.secret.is_some() {
        "stays as it is".to_owned()
    } else if kept.exists() {
        format!("the content of {}, or links in mails that were sent stop working", kept.display())
    } else {
        format!("is required now: {}", secret::REPLACE_HINT)
    };
    format!(
        "Everything is in {target}. Change these settings of every process before the service starts again:
  database_url (ROADMAP_DATABASE_URL)  the URL of --to
  secret (ROADMAP_SECRET)              {secret}
Files were not moved: storage_url stays {}. The database {} is unchanged, and not used any more.",
        settings.storage,
        file.display()
    )
}
