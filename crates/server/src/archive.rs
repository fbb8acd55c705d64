//! A backup as one file: a tar archive (POSIX.1-1988 with GNU extensions) with these entries, in this order.
//!
//! | Entry | Content |
//! |---|---|
//! | `backup.json` | the [`Manifest`] |
//! | `roadmap.db` | the database |
//! | `secret` | the secret that signs references, when it is stored in a file |
//! | `blobs/<workspace>/<file>` | each uploaded file with a row in the database, when files are stored in a folder |
//!
//! Mail in files is not part of it: the links of sign-in mail work until they expire.
//!
//! Reading verifies an archive: the database by the manifest, the files by their rows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Chain, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use md5::Md5;
use roadmap_domain::model::attachment::BlobKey;
use roadmap_sqlite::StoredFile;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tar::{Archive, Builder, EntryType, Header};

use crate::ownership;

/// The only format version so far.
const FORMAT_VERSION: u32 = 1;

const MANIFEST: &str = "backup.json";
/// The name of the database in the archive, and in the working folder of [`unpack`].
pub(crate) const DATABASE: &str = "roadmap.db";
const SECRET: &str = "secret";

/// Maximum bytes of the manifest and of the secret.
const MAX_TEXT_LENGTH: u64 = 64 * 1024;

/// The description of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The version of the archive's format.
    format_version: u32,
    /// The version of the service that made the archive.
    pub(crate) made_by: String,
    /// When the copy of the database was made.
    pub(crate) made_at: String,
    /// The size of the database in bytes.
    pub(crate) database_bytes: u64,
    /// The SHA-256 of the database in hexadecimal digits.
    database_sha256: String,
    /// Whether the archive contains the secret.
    pub(crate) has_secret: bool,
    /// The number of uploaded files in the archive; `None` when files are stored in a bucket.
    pub(crate) files: Option<u64>,
}

/// The content of a new archive.
pub(crate) struct Contents<'a> {
    /// A copy of the database, which does not change any more.
    pub(crate) database: &'a Path,
    /// When the copy was made.
    pub(crate) made_at: String,
    /// The content of the secret's file.
    pub(crate) secret: Option<Vec<u8>>,
    /// The folder with the uploaded files, unless they are stored in a bucket.
    pub(crate) blobs: Option<&'a Path>,
    /// The files that have a row in the database.
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

/// Appends an uploaded file, which must match its row.
fn append_blob<W: Write>(builder: &mut Builder<W>, blobs: &Path, file: &StoredFile) -> anyhow::Result<()> {
    let path = blobs.join(file.key.to_string());
    let mismatch = || format!("the file {} is missing or differs from its record in the database", path.display());
    let stored = File::open(&path).with_context(mismatch)?;
    ensure!(stored.metadata()?.len() == file.byte_size, mismatch());
    let mut bytes = HashingReader::<_, Md5>::new(stored);
    append(builder, &format!("blobs/{}", file.key), file.byte_size, &mut bytes).with_context(mismatch)?;
    ensure!(bytes.matches(file), mismatch());
    Ok(())
}

/// Appends an entry of exactly `length` bytes, readable by its owner only.
fn append<W: Write>(builder: &mut Builder<W>, name: &str, length: u64, bytes: impl Read) -> anyhow::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(length);
    Ok(builder.append_data(&mut header, name, bytes)?)
}

/// The folders that an archive is unpacked into.
pub(crate) struct UnpackTarget<'a> {
    /// The folder for the database, which is written there as [`DATABASE`].
    pub(crate) work: &'a Path,
    /// The folder for the uploaded files. Without it they are only verified.
    pub(crate) blobs: Option<&'a Path>,
}

/// The verified content of an archive.
pub(crate) struct Unpacked {
    pub(crate) manifest: Manifest,
    pub(crate) secret: Option<Vec<u8>>,
    /// The files that have a row in the database.
    pub(crate) files: Vec<StoredFile>,
}

/// An archive, with the bytes that were read already in front.
type Source<'a> = Chain<Cursor<Vec<u8>>, &'a File>;

/// Reads an archive and verifies it: checksums, the integrity of the database, and that each file with a row in the
/// database is present.
pub(crate) fn unpack(archive: &File, target: &UnpackTarget<'_>) -> anyhow::Result<Unpacked> {
    // It may be a pipe, which has no way back.
    let mut start = Vec::new();
    archive.take(6).read_to_end(&mut start)?;
    if let Some(tool) = decompressor(&start) {
        bail!("it is compressed: run `{tool}` on it first");
    }
    let mut archive = Archive::new(Cursor::new(start).chain(archive));
    let mut entries = archive.entries()?;
    let mut next = || -> anyhow::Result<Option<(String, tar::Entry<'_, Source<'_>>)>> {
        let Some(entry) = entries.next() else { return Ok(None) };
        let entry = entry.context("it is truncated or damaged")?;
        ensure!(entry.header().entry_type() == EntryType::Regular, "it has an entry that is not a file");
        let name =
            String::from_utf8(entry.path_bytes().into_owned()).context("the name of an entry is not valid UTF-8")?;
        Ok(Some((name, entry)))
    };
    let Some(mut entry) = next()?.and_then(entry_named(MANIFEST)) else {
        bail!("it is not a backup of this service: its first entry is not {MANIFEST}");
    };
    let manifest: Manifest = serde_json::from_slice(&read_text(&mut entry)?).context("its manifest cannot be read")?;
    ensure!(
        manifest.format_version == FORMAT_VERSION,
        "it has format version {}, but this version of the service supports only format version {FORMAT_VERSION}",
        manifest.format_version
    );

    let Some(mut entry) = next()?.and_then(entry_named(DATABASE)) else { bail!("it has no database") };
    let database = target.work.join(DATABASE);
    let (length, sha256) = {
        let mut reader = HashingReader::<_, Sha256>::new(&mut entry);
        let mut file = File::create_new(&database)?;
        std::io::copy(&mut reader, &mut file).context("it is truncated or damaged")?;
        file.sync_all()?;
        (reader.length, hex(&reader.hash.finalize()))
    };
    ensure!(
        length == manifest.database_bytes && sha256 == manifest.database_sha256,
        "its database does not match its checksum"
    );
    let errors = roadmap_sqlite::integrity_errors(&database)?;
    ensure!(errors.is_empty(), "its database is damaged: {}", errors.join("; "));
    let files = roadmap_sqlite::stored_files(&database)?;

    let mut secret = None;
    let mut missing: BTreeMap<String, &StoredFile> =
        manifest.files.iter().flat_map(|_| &files).map(|file| (format!("blobs/{}", file.key), file)).collect();
    while let Some((name, mut entry)) = next()? {
        if name == SECRET && manifest.has_secret && secret.is_none() {
            secret = Some(read_text(&mut entry)?);
            continue;
        }
        let Some(file) = missing.remove(&name) else { bail!("it has the unexpected entry {name}") };
        let mut reader = HashingReader::<_, Md5>::new(&mut entry);
        let unreadable = || format!("its file {} cannot be read", file.key);
        match target.blobs {
            Some(folder) => write_durably(&mut reader, &folder.join(file.key.to_string())).with_context(unreadable)?,
            None => drop(std::io::copy(&mut reader, &mut std::io::sink()).with_context(unreadable)?),
        }
        ensure!(reader.matches(file), "its file {} does not match its checksum", file.key);
    }
    if let Some(name) = missing.keys().next() {
        bail!("{} of its files are missing, for example {name}", missing.len());
    }
    ensure!(secret.is_some() == manifest.has_secret, "its secret is missing");
    Ok(Unpacked { manifest, secret, files })
}

/// Returns the program that decompresses a file, by its first bytes. An archive is not compressed.
fn decompressor(start: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 5] = [
        (b"\x1f\x8b", "gunzip"),
        (b"\x28\xb5\x2f\xfd", "unzstd"),
        (b"\xfd7zXZ\0", "unxz"),
        (b"BZh", "bunzip2"),
        (b"PK\x03\x04", "unzip"),
    ];
    known.into_iter().find_map(|(bytes, tool)| start.starts_with(bytes).then_some(tool))
}

/// Returns a filter that accepts only the entry with this name.
fn entry_named<E>(name: &str) -> impl FnOnce((String, E)) -> Option<E> {
    move |(entry_name, entry)| (entry_name == name).then_some(entry)
}

/// Writes a new file durably.
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
    entry.take(MAX_TEXT_LENGTH).read_to_end(&mut text).context("it is truncated or damaged")?;
    Ok(text)
}

/// Moves the files to another folder on the same disk, durably.
pub(crate) fn move_blobs(from: &Path, to: &Path, keys: impl Iterator<Item = BlobKey>) -> anyhow::Result<()> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for key in keys {
        let moved = to.join(key.to_string());
        let folder = moved.parent().unwrap_or(to).to_owned();
        if folders.last() != Some(&folder) {
            ownership::create_folder(&folder)?;
            folders.push(folder);
        }
        std::fs::rename(from.join(key.to_string()), &moved)?;
        ownership::adopt(&moved);
    }
    folders.push(to.to_owned());
    folders.iter().try_for_each(|folder| sync_folder(folder))
}

/// Makes changes of the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> anyhow::Result<()> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .with_context(|| format!("the folder {} cannot be synced to disk", folder.display()))
}

/// A reader that counts and hashes the bytes it reads.
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
