//! `roadmap backup` and `roadmap restore`

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use roadmap_domain::ports::Clock;
use serde::Serialize;
use tempfile::{NamedTempFile, TempPath};

use super::output::{OutputFormat, Row};
use crate::archive::{self, Contents, Manifest, UnpackTarget, Unpacked};
use crate::secret;
use crate::settings::{Database, Settings, Storage};
use crate::system::SystemClock;
use crate::wiring;

#[derive(Debug, clap::Args)]
pub(crate) struct Backup {
    /// File to write
    file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    format: OutputFormat,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Restore {
    /// File written by `roadmap backup`
    file: PathBuf,
    /// Replace the database if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    format: OutputFormat,
}

#[derive(Serialize)]
struct OutputRow {
    file: String,
    database: String,
    made_at: String,
    database_bytes: u64,
    /// `null` when files are stored in a bucket, which the backup does not include.
    files: Option<u64>,
    has_secret: bool,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["file", "database", "made_at", "database_bytes", "files", "has_secret"];
}

impl OutputRow {
    fn new(file: &Path, database: &Path, manifest: Manifest) -> Self {
        Self {
            file: file.display().to_string(),
            database: database.display().to_string(),
            made_at: manifest.made_at,
            database_bytes: manifest.database_bytes,
            files: manifest.files,
            has_secret: manifest.has_secret,
        }
    }
}

impl Backup {
    pub(crate) async fn run(self, settings: Settings) -> anyhow::Result<()> {
        let database = embedded_database_file(&settings, "backed up", "pg_dump")?;
        let failed = format!("{} could not be written", self.file.display());
        let (target, from) = (self.file.clone(), database.clone());
        let force = self.force;
        let written = tokio::task::spawn_blocking(move || backup(&settings, &from, &target, force));
        let manifest = written.await?.context(failed)?;
        self.format.print_one(&OutputRow::new(&self.file, &database, manifest))
    }
}

impl Restore {
    pub(crate) async fn run(self, settings: Settings) -> anyhow::Result<()> {
        let database = embedded_database_file(&settings, "restored", "pg_restore")?;
        let failed = format!("{} was not restored", self.file.display());
        let (from, to) = (self.file.clone(), database.clone());
        let force = self.force;
        let restored = tokio::task::spawn_blocking(move || restore(&settings, &from, &to, force));
        let manifest = restored.await?.context(failed)?;
        self.format.print_one(&OutputRow::new(&self.file, &database, manifest))
    }
}

/// The file of the embedded database. Fails for a database server, which has its own tools.
fn embedded_database_file(settings: &Settings, what: &str, tool: &str) -> anyhow::Result<PathBuf> {
    match &settings.database {
        Database::File(file) => Ok(file.clone()),
        Database::Server(_) => bail!(
            "the database {} is {what} with its own tools, for example {tool}, and the storage {} separately: \
             copy the database first, then the files",
            settings.database,
            settings.storage
        ),
    }
}

/// Writes a backup under a temporary name, verifies it and renames it.
fn backup(settings: &Settings, database: &Path, target: &Path, force: bool) -> anyhow::Result<Manifest> {
    ensure!(force || !target.exists(), "the file exists already; --force replaces it");
    ensure!(database.is_file(), "there is no database {}", database.display());
    let folder = parent_folder(target);
    let work = tempfile::tempdir_in(&folder)?;
    let copy = work.path().join(archive::DATABASE);
    let made_at = SystemClock.now().to_string();
    roadmap_sqlite::copy_to(&wiring::sqlite_options(settings, database), &copy)
        .context("the database cannot be copied")?;
    let errors = roadmap_sqlite::integrity_errors(&copy)?;
    ensure!(errors.is_empty(), "the database is damaged: {}", errors.join("; "));
    // All files with a row in the copy were stored before the copy was made.
    let files = roadmap_sqlite::stored_files(&copy)?;
    let blobs = match &settings.storage {
        Storage::Folder(folder) => Some(folder.as_path()),
        Storage::Bucket(_) => None,
    };
    let secret = secret::read_from_folder(settings)?;
    let mut file = NamedTempFile::new_in(&folder)?;
    let contents = Contents { database: &copy, made_at, secret, blobs, files: &files };
    let written = archive::write(file.as_file_mut(), &contents)?;
    file.as_file().sync_all()?;

    let again = tempfile::tempdir_in(&folder)?;
    let unpack_target = UnpackTarget { work: again.path(), blobs: None };
    let read =
        archive::unpack(&File::open(file.path())?, &unpack_target).context("the written backup cannot be read")?;
    ensure!(read.manifest == written && read.files == files, "the written backup differs from the data");
    if force {
        drop(file.persist(target)?);
    } else {
        drop(file.persist_noclobber(target).context("the file was created meanwhile; --force replaces it")?);
    }
    archive::sync_folder(&folder)?;
    Ok(written)
}

/// Unpacks a backup into temporary folders, verifies it and moves its parts into place. The database is the last part, so
/// that an interrupted restore can be repeated.
fn restore(settings: &Settings, from: &Path, database: &Path, force: bool) -> anyhow::Result<Manifest> {
    let archive = File::open(from).context("it cannot be opened")?;
    let lock = if database.exists() {
        ensure!(force, "the database {} exists already; --force replaces it", database.display());
        let lock = roadmap_sqlite::lock_exclusively(database)?;
        Some(lock.with_context(|| format!("the database {} is in use; stop the service first", database.display()))?)
    } else {
        None
    };
    if let Some(log) = log_files(database).find(|log| !force && log.exists()) {
        bail!("the log of another database exists already, {}; --force removes it", log.display());
    }
    let folder = parent_folder(database);
    std::fs::create_dir_all(&folder)?;
    let work = tempfile::tempdir_in(&folder)?;
    let blobs = match &settings.storage {
        Storage::Folder(folder) => {
            std::fs::create_dir_all(folder)?;
            Some((folder.as_path(), tempfile::tempdir_in(folder)?))
        }
        Storage::Bucket(_) => None,
    };
    let unpack_target = UnpackTarget { work: work.path(), blobs: blobs.as_ref().map(|(_, staging)| staging.path()) };
    let Unpacked { manifest, secret, files } =
        archive::unpack(&archive, &unpack_target).context("it is not a complete backup")?;
    match (&blobs, manifest.files) {
        (Some((folder, staging)), Some(_)) => {
            archive::move_blobs(staging.path(), folder, files.iter().map(|file| file.key))?;
        }
        (None, Some(_)) => bail!("it contains files, but the storage {} is not a folder", settings.storage),
        (_, None) => {}
    }
    if let Some(secret) = secret {
        secret::write_to_folder(settings, &secret, force)?;
    }
    let restored = TempPath::try_from_path(work.path().join(archive::DATABASE))?;
    if lock.is_some() {
        remove_log_files(database)?;
        restored.persist(database)?;
    } else {
        // Without a lock a service may have started meanwhile. A new database and its log are then in use.
        ensure_absent(database)?;
        if force {
            remove_log_files(database)?;
        }
        persist_as(restored, database)?;
    }
    archive::sync_folder(&folder)?;
    drop(lock);
    Ok(manifest)
}

/// Renames a file atomically. Fails if the name exists already.
fn persist_as(file: TempPath, name: &Path) -> anyhow::Result<()> {
    match file.persist_noclobber(name) {
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(database_appeared(name)),
        persisted => Ok(persisted?),
    }
}

fn ensure_absent(database: &Path) -> anyhow::Result<()> {
    if database.exists() { Err(database_appeared(database)) } else { Ok(()) }
}

fn database_appeared(database: &Path) -> anyhow::Error {
    anyhow!("the database {} was created meanwhile; stop the service, then use --force", database.display())
}

/// The files beside the database in which SQLite keeps pending changes.
fn log_files(database: &Path) -> impl Iterator<Item = PathBuf> {
    ["-wal", "-shm", "-journal"].into_iter().map(|ending| {
        let mut log = database.as_os_str().to_owned();
        log.push(ending);
        PathBuf::from(log)
    })
}

/// Removes the log files of the replaced database, which must not be applied to the restored one.
fn remove_log_files(database: &Path) -> anyhow::Result<()> {
    for log in log_files(database).filter(|log| log.exists()) {
        std::fs::remove_file(log)?;
    }
    Ok(())
}

fn parent_folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restored_database_replaces_no_existing_one() {
        let folder = tempfile::tempdir().unwrap();
        let (restored, database) = (folder.path().join("restored"), folder.path().join("roadmap.db"));
        std::fs::write(&restored, "restored").unwrap();
        std::fs::write(&database, "a service's").unwrap();
        // As if the database was created between the last check and the rename.
        let error = persist_as(TempPath::try_from_path(&restored).unwrap(), &database).unwrap_err();
        let expected =
            format!("the database {} was created meanwhile; stop the service, then use --force", database.display());
        assert_eq!(error.to_string(), expected);
        assert_eq!(std::fs::read(&database).unwrap(), b"a service's");

        std::fs::remove_file(&database).unwrap();
        std::fs::write(&restored, "restored").unwrap();
        persist_as(TempPath::try_from_path(&restored).unwrap(), &database).unwrap();
        assert_eq!(std::fs::read(&database).unwrap(), b"restored");
        assert!(!restored.exists());
    }
}
