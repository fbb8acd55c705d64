//! Why the input of an import is refused.

use std::io;
use std::path::Path;

use thiserror::Error;
use zip::result::ZipError;

use crate::visible;

/// Longest part of a name that a message has, in characters.
const SHOWN_NAME: usize = 200;

/// Why an input is refused, as a sentence for the operator that names the entry. It has no control character of the input.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// A file or folder cannot be read.
    #[error("`{path}` cannot be read: {source}")]
    Unreadable { path: String, source: io::Error },
    /// A link inside of a folder, or a device, a socket or a pipe.
    #[error("`{path}` is neither a file nor a folder")]
    SpecialFile { path: String },
    /// An archive or folder without files.
    #[error("`{path}` contains no file to import")]
    Empty { path: String },
    /// The structure of an archive is broken, or it uses what is not supported.
    #[error("`{path}` is no zip that can be read: {reason}")]
    Malformed { path: String, reason: String },
    /// More files than [`super::Limits::max_entries`].
    #[error("the input has more than {max} files")]
    TooManyEntries { max: usize },
    /// A file is larger than [`super::Limits::max_file_bytes`].
    #[error("`{name}` is larger than {max} bytes")]
    FileTooLarge { name: String, max: u64 },
    /// All files are larger than [`super::Limits::max_total_bytes`].
    #[error("the files of the input are larger than {max} bytes in all")]
    TotalTooLarge { max: u64 },
    /// An entry of an archive, or all of them, would unpack to much more than its compressed size.
    #[error("the archive is refused: `{name}` would unpack to more than {max} times its size")]
    Ratio { name: String, max: u64 },
    /// The name of an entry is not a relative path inside of the archive, or too long.
    #[error("the archive is refused: the name of the entry `{name}` {problem}")]
    Name { name: String, problem: &'static str },
    /// An entry is a symbolic link or another special file.
    #[error("the archive is refused: the entry `{name}` is a link or a special file")]
    Link { name: String },
    /// An entry is encrypted.
    #[error("the archive is refused: the entry `{name}` is encrypted")]
    Encrypted { name: String },
    /// An entry is neither stored nor deflated.
    #[error("the archive is refused: the entry `{name}` has a compression other than deflate")]
    Method { name: String },
    /// Two entries have one name.
    #[error("the archive is refused: two entries have the name `{name}`")]
    Duplicate { name: String },
    /// An entry shares bytes with another one or with the archive's directory.
    #[error("the archive is refused: the entry `{name}` overlaps another part of the archive")]
    Overlap { name: String },
    /// The content of an entry has another size than its header says.
    #[error("the archive is refused: the content of `{name}` has another size than the archive says")]
    SizeDiffers { name: String },
    /// The content of an entry has another checksum than its header says.
    #[error("the archive is refused: the content of `{name}` has another checksum than the archive says")]
    ChecksumDiffers { name: String },
    /// The compressed data of an entry is broken.
    #[error("the archive is refused: the content of `{name}` cannot be unpacked")]
    Corrupt { name: String },
}

/// Constructors that clean the names.
impl ArchiveError {
    pub(super) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: show_path(path), source }
    }

    pub(super) fn special_file(path: &Path) -> Self {
        Self::SpecialFile { path: show_path(path) }
    }

    pub(super) fn empty(path: &Path) -> Self {
        Self::Empty { path: show_path(path) }
    }

    pub(super) fn malformed(path: &Path, error: ZipError) -> Self {
        match error {
            ZipError::Io(source) if source.kind() != io::ErrorKind::UnexpectedEof => Self::unreadable(path, source),
            error => Self::Malformed { path: show_path(path), reason: show(&error.to_string()) },
        }
    }

    /// An error in the headers of the entry with this number, from 1.
    pub(super) fn malformed_entry(path: &Path, number: usize, error: ZipError) -> Self {
        match Self::malformed(path, error) {
            Self::Malformed { path, reason } => Self::Malformed { path, reason: format!("entry {number}: {reason}") },
            error => error,
        }
    }

    pub(super) fn too_many_entries(max: usize) -> Self {
        Self::TooManyEntries { max }
    }

    pub(super) fn file_too_large(name: &str, max: u64) -> Self {
        Self::FileTooLarge { name: show(name), max }
    }

    pub(super) fn total_too_large(max: u64) -> Self {
        Self::TotalTooLarge { max }
    }

    pub(super) fn ratio(name: &str, max: u64) -> Self {
        Self::Ratio { name: show(name), max }
    }

    pub(super) fn name(name: &str, problem: &'static str) -> Self {
        Self::Name { name: show(name), problem }
    }

    pub(super) fn link(name: &str) -> Self {
        Self::Link { name: show(name) }
    }

    pub(super) fn encrypted(name: &str) -> Self {
        Self::Encrypted { name: show(name) }
    }

    pub(super) fn method(name: &str) -> Self {
        Self::Method { name: show(name) }
    }

    pub(super) fn duplicate(name: &str) -> Self {
        Self::Duplicate { name: show(name) }
    }

    pub(super) fn overlap(name: &str) -> Self {
        Self::Overlap { name: show(name) }
    }

    pub(super) fn size_differs(name: &str) -> Self {
        Self::SizeDiffers { name: show(name) }
    }

    pub(super) fn checksum_differs(name: &str) -> Self {
        Self::ChecksumDiffers { name: show(name) }
    }

    pub(super) fn corrupt(name: &str) -> Self {
        Self::Corrupt { name: show(name) }
    }
}

fn show(name: &str) -> String {
    visible(name, SHOWN_NAME)
}

fn show_path(path: &Path) -> String {
    visible(&path.to_string_lossy(), SHOWN_NAME)
}
