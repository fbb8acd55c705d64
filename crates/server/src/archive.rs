//! A backup as one file: a tar archive (POSIX.1-1988 with the extensions of GNU) with these entries, in
//! this order.
//!
//! | Entry | What it is |
//! |---|---|
//! | `backup.json` | the [`Manifest`] |
//! | `roadmap.db` | the database |
//! | `secret` | the secret that references are signed with, when it is kept in a file |
//! | `blobs/<workspace>/<file>` | each uploaded file that the database tells about, when they are in a folder |
//!
//! Whoever reads one checks it on the way: the database by the manifest, the files by their rows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use md5::Md5;
use roadmap_domain::model::attachment::BlobKey;
use roadmap_sqlite::StoredFile;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tar::{Archive, Builder, EntryType, Header};

/// The one form that there is so far.
const FORMAT_VERSION: u32 = 1;

const MANIFEST: &str = "backup.json";
/// The name of the database, also in the working folder of whoever reads an archive.
pub(crate) const DATABASE: &str = "roadmap.db";
const SECRET: &str = "secret";

/// Longest manifest and secret that are read.
const MAX_TEXT_LENGTH: u64 = 64 * 1024;

/// What an archive says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Which form it has.
    format_version: u32,
    /// The version of the service that made it.
    pub(crate) made_by: String,
    /// When the copy of the database was made.
    pub(crate) made_at: String,
    /// The length of the database, in bytes.
    pub(crate) database_bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    database_sha256: String,
    /// Whether the secret is in it.
    pub(crate) has_secret: bool,
    /// How many uploaded files are in it. None are, not even 0, when they are in a bucket.
    pub(crate) files: Option<u64>,
}

/// What goes into an archive.
pub(crate) struct Contents<'a> {
    /// A copy of the database that nobody changes.
    pub(crate) database: &'a Path,
    /// When it was made.
    pub(crate) made_at: String,
    /// The content of the secret's file.
    pub(crate) secret: Option<Vec<u8>>,
    /// The folder with the uploaded files, when they are in one.
    pub(crate) blobs: Option<&'a Path>,
    /// The files that the database tells about.
    pub(crate) files: &'a [StoredFile],
}

/// Writes an archive.
pub(crate) fn write(to: &mut File, contents: &Contents<'_>) -> anyhow::Result<Manifest> {
    let mut database = HashingReader::<_, Sha256>::new(File::open(contents.database)?);
    let database_bytes = std::io::copy(&mut database, &mut std::io::sink())?;
    let manifest = Manifest {
        format_version: FORMAT_VERSION,
        made_by: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: contents.made_at.clone(),
        database_bytes,
        database_sha256: hex(&database.hash.finalize()),
        has_secret: contents.secret.is_some(),
        files: contents.blobs.map(|_| contents.files.len() as u64),
    };
    let mut builder = Builder::new(to);
    let described = serde_json::to_vec_pretty(&manifest)?;
    append(&mut builder, MANIFEST, described.len() as u64, described.as_slice())?;
    append(&mut builder, DATABASE, database_bytes, File::open(contents.database)?)?;
    if let Some(secret) = &contents.secret {
        append(&mut builder, SECRET, secret.len() as u64, secret.as_slice())?;
    }
    if let Some(blobs) = contents.blobs {
        contents.files.iter().try_for_each(|file| append_blob(&mut builder, blobs, file))?;
    }
    builder.finish()?;
    Ok(manifest)
}

/// The entry of an uploaded file.
fn append_blob<W: Write>(builder: &mut Builder<W>, blobs: &Path, file: &StoredFile) -> anyhow::Result<()> {
    let path = blobs.join(file.key.to_string());
    let lost = || format!("the file {} is not in the storage as the database has it", path.display());
    let stored = File::open(&path).with_context(lost)?;
    ensure!(stored.metadata()?.len() == file.byte_size, lost());
    let mut bytes = HashingReader::<_, Md5>::new(stored);
    append(builder, &format!("blobs/{}", file.key), file.byte_size, &mut bytes).with_context(lost)?;
    ensure!(bytes.matches(file), lost());
    Ok(())
}

/// An entry of exactly so many bytes, readable for its owner alone.
fn append<W: Write>(builder: &mut Builder<W>, name: &str, length: u64, bytes: impl Read) -> anyhow::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(length);
    Ok(builder.append_data(&mut header, name, bytes)?)
}

/// Where what is read from an archive is put.
pub(crate) struct UnpackTarget<'a> {
    /// A folder to work in, where the database is left under its name.
    pub(crate) work: &'a Path,
    /// A folder for the uploaded files. They are only looked at without one.
    pub(crate) blobs: Option<&'a Path>,
}

/// What was read from an archive, and found to be good.
pub(crate) struct Unpacked {
    /// What the archive says of itself.
    pub(crate) manifest: Manifest,
    /// The secret.
    pub(crate) secret: Option<Vec<u8>>,
    /// The files that the database tells about.
    pub(crate) files: Vec<StoredFile>,
}

/// Reads an archive and checks all that is in it: bytes, the database's integrity, and that each file that
/// the database tells about is there.
pub(crate) fn unpack(archive: &File, target: &UnpackTarget<'_>) -> anyhow::Result<Unpacked> {
    let mut archive = Archive::new(archive);
    let mut entries = archive.entries()?;
    let mut next = || -> anyhow::Result<Option<(String, tar::Entry<'_, &File>)>> {
        let Some(entry) = entries.next() else { return Ok(None) };
        let entry = entry.context("it has broken off or is damaged")?;
        ensure!(entry.header().entry_type() == EntryType::Regular, "it has an entry that is no file");
        let name = String::from_utf8(entry.path_bytes().into_owned()).context("it has an entry without a name")?;
        Ok(Some((name, entry)))
    };
    let Some(mut entry) = next()?.and_then(entry_named(MANIFEST)) else {
        bail!("it is no backup of this service: {MANIFEST} is not its first entry");
    };
    let manifest: Manifest = serde_json::from_slice(&read_text(&mut entry)?).context("its manifest cannot be read")?;
    ensure!(
        manifest.format_version == FORMAT_VERSION,
        "it has the format version {}, and this version knows the format version {FORMAT_VERSION}",
        manifest.format_version
    );

    let Some(mut entry) = next()?.and_then(entry_named(DATABASE)) else { bail!("it has no database") };
    let database = target.work.join(DATABASE);
    let (length, sha256) = {
        let mut reader = HashingReader::<_, Sha256>::new(&mut entry);
        let mut file = File::create_new(&database)?;
        std::io::copy(&mut reader, &mut file).context("it has broken off or is damaged")?;
        file.sync_all()?;
        (reader.length, hex(&reader.hash.finalize()))
    };
    ensure!(
        length == manifest.database_bytes && sha256 == manifest.database_sha256,
        "its database is not as it was written"
    );
    let faults = roadmap_sqlite::integrity_errors(&database)?;
    ensure!(faults.is_empty(), "its database is damaged: {}", faults.join("; "));
    let files = roadmap_sqlite::stored_files(&database)?;

    let mut secret = None;
    let mut missing: BTreeMap<String, &StoredFile> =
        manifest.files.iter().flat_map(|_| &files).map(|file| (format!("blobs/{}", file.key), file)).collect();
    while let Some((name, mut entry)) = next()? {
        if name == SECRET && manifest.has_secret && secret.is_none() {
            secret = Some(read_text(&mut entry)?);
            continue;
        }
        let Some(file) = missing.remove(&name) else { bail!("it has the entry {name}, which does not belong there") };
        let mut reader = HashingReader::<_, Md5>::new(&mut entry);
        let broken = || format!("its file {} cannot be read", file.key);
        match target.blobs {
            Some(folder) => write_durably(&mut reader, &folder.join(file.key.to_string())).with_context(broken)?,
            None => drop(std::io::copy(&mut reader, &mut std::io::sink()).with_context(broken)?),
        }
        ensure!(reader.matches(file), "its file {} is not as it was uploaded", file.key);
    }
    if let Some(name) = missing.keys().next() {
        bail!("{} of its files are not there, {name} for example", missing.len());
    }
    ensure!(secret.is_some() == manifest.has_secret, "its secret is not there");
    Ok(Unpacked { manifest, secret, files })
}

/// Takes the entry of one name only.
fn entry_named<E>(name: &str) -> impl FnOnce((String, E)) -> Option<E> {
    move |(found, entry)| (found == name).then_some(entry)
}

/// Writes a new file that is on the disk when this returns.
fn write_durably(from: &mut impl Read, path: &Path) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = File::create_new(path)?;
    std::io::copy(from, &mut file)?;
    file.sync_all()?;
    Ok(())
}

fn read_text(entry: &mut impl Read) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    entry.take(MAX_TEXT_LENGTH).read_to_end(&mut text).context("it has broken off or is damaged")?;
    Ok(text)
}

/// Moves the files from one folder to another on the same disk, and makes that durable.
pub(crate) fn move_blobs(from: &Path, to: &Path, keys: impl Iterator<Item = BlobKey>) -> anyhow::Result<()> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for key in keys {
        let moved = to.join(key.to_string());
        let folder = moved.parent().unwrap_or(to).to_owned();
        if folders.last() != Some(&folder) {
            std::fs::create_dir_all(&folder)?;
            folders.push(folder);
        }
        std::fs::rename(from.join(key.to_string()), moved)?;
    }
    folders.push(to.to_owned());
    folders.iter().try_for_each(|folder| sync_folder(folder))
}

/// Makes names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> anyhow::Result<()> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .with_context(|| format!("the folder {} cannot be written", folder.display()))
}

/// Bytes that are counted and hashed as they go by.
struct HashingReader<R, H> {
    inner: R,
    hash: H,
    length: u64,
}

impl<R: Read, H: Digest> HashingReader<R, H> {
    fn new(inner: R) -> Self {
        Self { inner, hash: H::new(), length: 0 }
    }
}

impl<R: Read> HashingReader<R, Md5> {
    fn matches(self, file: &StoredFile) -> bool {
        self.length == file.byte_size && <[u8; 16]>::from(self.hash.finalize()) == file.checksum.0
    }
}

impl<R: Read, H: Digest> Read for HashingReader<R, H> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.length += read as u64;
        self.hash.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
