//! The input of an import: a file, a folder or a zip becomes a list of named files that can be opened again and again.
//!
//! A zip is checked as a whole before anything of it is read (contract section 5): its names, its structure, and that the
//! content of each entry has the size and the checksum that the archive says. No name from an archive reaches the file
//! system: entries are read from the archive itself, by their position.

mod entry;
mod error;
mod limits;
mod name;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zip::read::{Config, ZipFileEntry};
// The stable reader holds the headers of all entries in memory, and drops all but one of equal names.
use zip::unstable::read::ZipIterable;
use zip::{CompressionMethod, ZipReadOptions};

use self::entry::{Entry, Method, Section};
pub use self::error::ArchiveError;
pub use self::limits::Limits;
use self::name::clean_name;

/// The first bytes of a zip with entries, and of one without.
const ZIP_SIGNATURES: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The part of `st_mode` that is the type of a file, and its value for regular files and folders.
const MODE_TYPE: u32 = 0o170_000;
const MODE_FILE: u32 = 0o100_000;
const MODE_FOLDER: u32 = 0o040_000;

/// One file of an input.
#[derive(Debug, Clone)]
pub struct Input {
    name: Arc<str>,
    size: u64,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    File(PathBuf),
    Entry(Entry),
    Memory(Arc<[u8]>),
}

impl Input {
    /// Creates an input of bytes in memory.
    #[must_use]
    pub fn from_bytes(name: impl Into<Arc<str>>, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { name: name.into(), size: bytes.len() as u64, source: Source::Memory(bytes) }
    }

    /// Returns the name, relative to the folder or the archive, with `/` between its parts. It is text of a file: it may
    /// have any character, and is no path to open.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the size of the content in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Opens the content from its beginning. It can be opened any number of times.
    ///
    /// Reading fails if an entry of an archive has changed since it was checked.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match &self.source {
            Source::File(path) => Box::new(File::open(path)?.take(self.size)),
            Source::Entry(entry) => Box::new(entry.open()),
            Source::Memory(bytes) => Box::new(Cursor::new(bytes.clone())),
        })
    }
}

/// Lists the files of a file, a folder or a zip, sorted by name. `.DS_Store` and `__MACOSX/` are left out, and so is one
/// folder that all files have in common.
///
/// A file is a zip by its first bytes or the end of its name. Archives in folders or archives are not opened.
///
/// # Errors
/// The path cannot be read, a limit is exceeded, or the archive is hostile or broken.
pub fn open(path: &Path, limits: &Limits) -> Result<Vec<Input>, ArchiveError> {
    let unreadable = |source| ArchiveError::unreadable(path, source);
    let metadata = fs::metadata(path).map_err(unreadable)?;
    let mut inputs = if metadata.is_dir() {
        list_folder(path, limits)?
    } else if !metadata.is_file() {
        return Err(ArchiveError::special_file(path));
    } else if is_zip(path).map_err(unreadable)? {
        list_zip(path, File::open(path).map_err(unreadable)?, limits)?
    } else {
        return Ok(vec![list_file(path, file_name(path), metadata.len(), limits)?]);
    };
    inputs.retain(|input| !is_clutter(&input.name));
    if inputs.is_empty() {
        return Err(ArchiveError::empty(path));
    }
    drop_common_folder(&mut inputs);
    inputs.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(inputs)
}

fn list_file(path: &Path, name: String, size: u64, limits: &Limits) -> Result<Input, ArchiveError> {
    if size > limits.max_file_bytes {
        return Err(ArchiveError::file_too_large(&name, limits.max_file_bytes));
    }
    Ok(Input { name: name.into(), size, source: Source::File(path.to_owned()) })
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_zip(path: &Path) -> io::Result<bool> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip")) {
        return Ok(true);
    }
    let mut start = Vec::with_capacity(4);
    File::open(path)?.take(4).read_to_end(&mut start)?;
    Ok(ZIP_SIGNATURES.contains(&&*start))
}

/// Lists the regular files below a folder.
fn list_folder(root: &Path, limits: &Limits) -> Result<Vec<Input>, ArchiveError> {
    let mut inputs = Vec::new();
    let mut total = Total::new(limits);
    let mut folders = vec![(root.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for item in fs::read_dir(&folder).map_err(|source| ArchiveError::unreadable(&folder, source))? {
            let item = item.map_err(|source| ArchiveError::unreadable(&folder, source))?;
            let path = item.path();
            // Unlike the metadata of a path, this does not follow links.
            let metadata = item.metadata().map_err(|source| ArchiveError::unreadable(&path, source))?;
            let name = format!("{prefix}{}", item.file_name().to_string_lossy());
            total.add_entry(&name)?;
            if metadata.is_dir() {
                folders.push((path, format!("{name}/")));
            } else if metadata.is_file() {
                total.add_bytes(metadata.len())?;
                inputs.push(list_file(&path, name, metadata.len(), limits)?);
            } else {
                return Err(ArchiveError::special_file(&path));
            }
        }
    }
    Ok(inputs)
}

/// Lists the entries of a zip, which are all checked.
fn list_zip(path: &Path, file: File, limits: &Limits) -> Result<Vec<Input>, ArchiveError> {
    let malformed = |error| ArchiveError::malformed(path, error);
    let archive_size = file.metadata().map_err(|source| ArchiveError::unreadable(path, source))?.len();
    if archive_size > limits.max_file_bytes {
        return Err(ArchiveError::file_too_large(&file_name(path), limits.max_file_bytes));
    }
    let file = Arc::new(file);
    let reader = || BufReader::new(Section::new(file.clone(), 0, archive_size));
    let archive = ZipIterable::try_new(reader(), Config::default()).map_err(malformed)?;
    let mut archive = archive.enforce_header_consistency(true);
    if archive.len() > limits.max_entries {
        return Err(ArchiveError::too_many_entries(limits.max_entries));
    }
    let mut headers = reader();
    let mut entries = Entries::new(limits);
    for (index, header) in archive.files().map_err(malformed)?.enumerate() {
        let malformed = |error| ArchiveError::malformed_entry(path, index + 1, error);
        let header = header.map_err(malformed)?;
        let name = clean_name(&header.name().map_err(malformed)?)?;
        let method = check_header(&header, &name)?;
        let is_folder = header.is_dir();
        let directory_start = header.central_header_start();
        let start = header.header_start();
        let (size, length, crc) = (header.size(), header.compressed_size(), header.crc32());
        let opened = header.with_reader(&mut headers, ZipReadOptions::new()).map_err(malformed)?;
        let section = Section::new(file.clone(), opened.data_start().unwrap_or(u64::MAX), length);
        // One text for all that refers to the entry: there may be 100,000 long names.
        let entry = Entry { name: name.into(), section, method, size, crc };
        entries.add(entry, is_folder, start, directory_start)?;
    }
    limits.check_ratio(&file_name(path), entries.total.bytes, archive_size)?;
    entries.verify()
}

/// The entries of a zip so far.
struct Entries<'a> {
    inputs: Vec<Input>,
    names: HashSet<Arc<str>>,
    extents: Vec<Extent>,
    total: Total<'a>,
}

impl<'a> Entries<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self { inputs: Vec::new(), names: HashSet::new(), extents: Vec::new(), total: Total::new(limits) }
    }

    /// Adds an entry whose headers begin at `start` and `directory_start`. Checks its name, and the size it has by them.
    fn add(&mut self, entry: Entry, is_folder: bool, start: u64, directory_start: u64) -> Result<(), ArchiveError> {
        let (name, size) = (entry.name.clone(), entry.size);
        self.total.add_entry(&name)?;
        if !self.names.insert(name.clone()) {
            return Err(ArchiveError::duplicate(&name));
        }
        self.total.limits.check_size(&name, size, entry.section.length())?;
        self.total.add_bytes(size)?;
        self.extents.push(Extent { start, end: entry.section.end(), directory_start, name: name.clone() });
        if !is_folder {
            self.inputs.push(Input { name, size, source: Source::Entry(entry) });
        } else if size > 0 {
            return Err(ArchiveError::size_differs(&name));
        }
        Ok(())
    }

    /// Checks that the entries do not overlap, and that their contents are what the headers say.
    fn verify(self) -> Result<Vec<Input>, ArchiveError> {
        check_extents(self.extents)?;
        for input in &self.inputs {
            if let Source::Entry(entry) = &input.source {
                entry.verify()?;
            }
        }
        Ok(self.inputs)
    }
}

/// Checks what the header of an entry says of it. Returns how it is compressed.
fn check_header(header: &ZipFileEntry<'_>, name: &str) -> Result<Method, ArchiveError> {
    let file_type = header.unix_mode().unwrap_or_default() & MODE_TYPE;
    if ![0, MODE_FILE, MODE_FOLDER].contains(&file_type) {
        return Err(ArchiveError::link(name));
    }
    if header.encrypted() {
        return Err(ArchiveError::encrypted(name));
    }
    match header.compression() {
        CompressionMethod::Stored => Ok(Method::Stored),
        CompressionMethod::Deflated => Ok(Method::Deflated),
        _ => Err(ArchiveError::method(name)),
    }
}

/// The bytes of an archive that an entry takes: its header and its data.
struct Extent {
    start: u64,
    end: u64,
    /// Where the header of the entry in the directory of the archive begins.
    directory_start: u64,
    name: Arc<str>,
}

/// Checks that no byte belongs to two entries, or to an entry and the directory.
fn check_extents(mut extents: Vec<Extent>) -> Result<(), ArchiveError> {
    let directory_start = extents.iter().map(|extent| extent.directory_start).min().unwrap_or_default();
    extents.sort_unstable_by_key(|extent| (extent.start, extent.end));
    let mut end = 0;
    for extent in &extents {
        if extent.start < end || extent.end > directory_start {
            return Err(ArchiveError::overlap(&extent.name));
        }
        end = extent.end;
    }
    Ok(())
}

/// How many entries an input has so far, and their size in bytes.
struct Total<'a> {
    limits: &'a Limits,
    entries: usize,
    bytes: u64,
}

impl<'a> Total<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self { limits, entries: 0, bytes: 0 }
    }

    fn add_entry(&mut self, name: &str) -> Result<(), ArchiveError> {
        self.entries += 1;
        if self.entries > self.limits.max_entries {
            return Err(ArchiveError::too_many_entries(self.limits.max_entries));
        }
        if name.len() > self.limits.max_name_bytes {
            return Err(ArchiveError::name(name, "is too long"));
        }
        Ok(())
    }

    fn add_bytes(&mut self, bytes: u64) -> Result<(), ArchiveError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.limits.max_total_bytes {
            return Err(ArchiveError::total_too_large(self.limits.max_total_bytes));
        }
        Ok(())
    }
}

/// Whether a file is one that macOS adds to folders and archives.
fn is_clutter(name: &str) -> bool {
    name.starts_with("__MACOSX/") || name == ".DS_Store" || name.ends_with("/.DS_Store")
}

/// Drops the first part of all names if it is the same folder.
fn drop_common_folder(inputs: &mut [Input]) {
    let Some(folder) =
        inputs.first().and_then(|first| first.name.split_once('/')).map(|(folder, _)| format!("{folder}/"))
    else {
        return;
    };
    if inputs.iter().all(|input| input.name.starts_with(&*folder)) {
        for input in inputs {
            input.name = input.name.get(folder.len()..).unwrap_or_default().into();
        }
    }
}

#[cfg(test)]
mod tests;
