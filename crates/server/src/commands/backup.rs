//! `roadmap backup` and `roadmap restore`

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use roadmap_domain::ports::Clock;
use serde::Serialize;
use tempfile::{NamedTempFile, TempDir, TempPath};

use super::output::{OutputFormat, Row};
use super::person;
use crate::archive::{self, Contents, Manifest, UnpackTarget, Unpacked};
use crate::ownership;
use crate::personal_files::Folders;
use crate::secret;
use crate::settings::{Database, Settings, Storage};
use crate::system::SystemClock;
use crate::wiring::{self, Application};

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
        let task = tokio::task::spawn_blocking(move || backup(&settings, &from, &target, force));
        let manifest = task.await?.context(failed)?;
        self.format.print_one(&OutputRow::new(&self.file, &database, manifest))
    }
}

impl Restore {
    pub(crate) async fn run(self, settings: Settings) -> anyhow::Result<()> {
        let database = embedded_database_file(&settings, "restored", "pg_restore")?;
        let failed = format!("{} was not restored", self.file.display());
        let (from, to) = (self.file.clone(), database.clone());
        let force = self.force;
        let restore_settings = settings.clone();
        let restored = tokio::task::spawn_blocking(move || restore(&restore_settings, &from, &to, force));
        let manifest = restored.await?.context(failed)?;
        erase_again(&settings).await.context(
            "the backup is restored, but people who were erased after it may be in it: run `roadmap customer reapply`",
        )?;
        self.format.print_one(&OutputRow::new(&self.file, &database, manifest))
    }
}

/// Erases again who was erased after the backup was made.
async fn erase_again(settings: &Settings) -> anyhow::Result<()> {
    if Folders::new(settings).listed_erasures()?.is_empty() {
        return Ok(());
    }
    let erased = person::erase_again(&Application::open(settings).await?, settings).await?;
    if erased > 0 {
        tracing::warn!(erased, "erased people again who were erased after the backup was made");
    }
    Ok(())
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
    ensure!(!target.is_dir(), "it is a folder; name the file to write in it");
    ensure!(force || !target.exists(), "the file exists already; --force replaces it");
    ensure!(database.is_file(), "there is no database {}", database.display());
    let folder = parent_folder(target);
    remove_remains(&folder);
    let work = WorkFolder::new(&folder)?;
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
    let mut file = work_file(&folder)?;
    let contents = Contents { database: &copy, made_at, secret, blobs, files: &files };
    let manifest = archive::write(file.as_file_mut(), &contents)?;
    file.as_file().sync_all()?;

    let again = WorkFolder::new(&folder)?;
    let unpack_target = UnpackTarget { work: again.path(), blobs: None };
    let read =
        archive::unpack(&File::open(file.path())?, &unpack_target).context("the written backup cannot be read")?;
    ensure!(read.manifest == manifest && read.files == files, "the written backup differs from the data");
    if force {
        drop(file.persist(target)?);
    } else {
        drop(file.persist_noclobber(target).context("the file was created meanwhile; --force replaces it")?);
    }
    ownership::adopt(target);
    archive::sync_folder(&folder)?;
    Ok(manifest)
}

/// Unpacks a backup into temporary folders, verifies it and moves its parts into place. The database is the last part, so
/// that an interrupted restore can be repeated.
fn restore(settings: &Settings, from: &Path, database: &Path, force: bool) -> anyhow::Result<Manifest> {
    let archive = File::open(from).context("it cannot be opened")?;
    ensure!(!archive.metadata()?.is_dir(), "it is a folder; name the file that `roadmap backup` has written");
    let lock = if database.exists() {
        ensure!(force, "the database {} exists already; --force replaces it", database.display());
        let lock = roadmap_sqlite::lock_exclusively(database);
        let lock = lock.with_context(|| format!("the database {} cannot be locked", database.display()))?;
        Some(lock.with_context(|| format!("the database {} is in use; stop the service first", database.display()))?)
    } else {
        None
    };
    if let Some(log) = log_files(database).find(|log| !force && log.exists()) {
        bail!("the log of another database exists already, {}; --force removes it", log.display());
    }
    let folder = parent_folder(database);
    ownership::create_folder(&folder)?;
    let blobs = match &settings.storage {
        Storage::Folder(folder) => Some(folder.as_path()),
        Storage::Bucket(_) => None,
    };
    if let Some(folder) = blobs {
        ownership::create_folder(folder)?;
    }
    // Both may be the same folder.
    [Some(folder.as_path()), blobs].into_iter().flatten().for_each(remove_remains);
    let work = WorkFolder::new(&folder)?;
    let blobs = blobs.map(|folder| WorkFolder::new(folder).map(|staging| (folder, staging))).transpose()?;
    let unpack_target = UnpackTarget { work: work.path(), blobs: blobs.as_ref().map(|(_, staging)| staging.path()) };
    let Unpacked { manifest, secret, files } =
        archive::unpack(&archive, &unpack_target).context("it is not a complete backup")?;
    if lock.is_none() {
        // The files and the secret of a service that has started meanwhile are not replaced, either.
        ensure_absent(database)?;
    }
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
    ownership::adopt(database);
    archive::sync_folder(&folder)?;
    drop(lock);
    Ok(manifest)
}

/// The beginning of the names of temporary files and folders. The id of their process and `-` follow.
const WORK_PREFIX: &str = ".roadmap-backup-";

/// How long temporary files are kept where it is unknown which processes run.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A temporary folder, which is locked until it is removed.
struct WorkFolder {
    folder: TempDir,
    _lock: File,
}

impl WorkFolder {
    fn new(parent: &Path) -> std::io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(&own_work_prefix()).tempdir_in(parent)?;
        let lock = File::open(folder.path())?;
        // Not all file systems have locks.
        let _ = lock.try_lock();
        Ok(Self { folder, _lock: lock })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Creates a temporary file, which is locked until it is closed.
fn work_file(parent: &Path) -> std::io::Result<NamedTempFile> {
    let file = tempfile::Builder::new().prefix(&own_work_prefix()).tempfile_in(parent)?;
    // Not all file systems have locks.
    let _ = file.as_file().try_lock();
    Ok(file)
}

fn own_work_prefix() -> String {
    format!("{WORK_PREFIX}{}-", std::process::id())
}

/// Removes the temporary files that interrupted backups and restores have left in a folder. It is called before this
/// process creates its own.
fn remove_remains(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (Some(process), Ok(kind)) = (process_of(&entry.file_name()), entry.file_type()) else { continue };
        let path = entry.path();
        // A link is neither a folder nor a file.
        if !(kind.is_dir() || kind.is_file()) || !is_abandoned(&path, process) {
            continue;
        }
        let removed = if kind.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        if let Err(error) = removed {
            tracing::warn!(%error, "failed to remove {}, which an interrupted command has left", path.display());
        }
    }
}

/// Whether the process of a temporary file or folder does not run any more.
fn is_abandoned(path: &Path, process: u32) -> bool {
    // A process in another container holds its lock, too, but its id says nothing here.
    let locked = File::open(path).map(|file| file.try_lock());
    if matches!(locked, Ok(Err(TryLockError::WouldBlock))) {
        return false;
    }
    if cfg!(target_os = "linux") {
        process == std::process::id() || !Path::new("/proc").join(process.to_string()).exists()
    } else {
        let changed_at = std::fs::metadata(path).and_then(|metadata| metadata.modified());
        changed_at.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > MAX_AGE))
    }
}

/// Returns the id of the process in the name of a temporary file or folder.
fn process_of(name: &OsStr) -> Option<u32> {
    let (process, _) = name.to_str()?.strip_prefix(WORK_PREFIX)?.split_once('-')?;
    process.parse().ok()
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

    #[test]
    fn remains_of_processes_that_have_ended_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let create = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join(archive::DATABASE), "a copy").unwrap();
            path
        };
        // No process has this id.
        let file = folder.path().join(".roadmap-backup-4294967295-file");
        std::fs::write(&file, "half an archive").unwrap();
        let ended = create(".roadmap-backup-4294967295-folder");
        // An earlier process with the id of this one, as in a container.
        let same = create(&format!("{}folder", own_work_prefix()));
        let foreign = [
            ".roadmap-backup-1-folder",
            ".roadmap-backup-4294967295",
            ".roadmap-backup-old-folder",
            "roadmap-backup-4294967295-folder",
            ".tmpabcdef",
        ]
        .map(create);
        let link = folder.path().join(".roadmap-backup-4294967295-link");
        std::os::unix::fs::symlink(&foreign[0], &link).unwrap();
        let (used_folder, used_file) = (WorkFolder::new(folder.path()).unwrap(), work_file(folder.path()).unwrap());

        remove_remains(folder.path());
        for removed in [&file, &ended, &same] {
            assert!(!removed.exists(), "{}", removed.display());
        }
        for path in foreign.iter().map(PathBuf::as_path).chain([&*link, used_folder.path(), used_file.path()]) {
            assert!(path.exists(), "{}", path.display());
        }
        // Nothing is there.
        remove_remains(&folder.path().join("nowhere"));
    }
}
