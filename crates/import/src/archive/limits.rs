//! How large the input of an import may be.

use super::ArchiveError;

const GIB: u64 = 1024 * 1024 * 1024;

/// The most that an input may have. The default is the contract's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Files, folders included.
    pub max_entries: usize,
    /// Bytes of one file, and of an archive.
    pub max_file_bytes: u64,
    /// Bytes of all files together, as they come out of an archive.
    pub max_total_bytes: u64,
    /// How many times its compressed size an entry may have, and all entries the size of their archive.
    pub max_ratio: u64,
    /// Up to this size, in bytes, the ratio does not matter.
    pub ratio_free_bytes: u64,
    /// Bytes of a name. It bounds the memory that a list of files takes.
    pub max_name_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_entries: 100_000,
            max_file_bytes: 10 * GIB,
            max_total_bytes: 20 * GIB,
            max_ratio: 200,
            ratio_free_bytes: 1024 * 1024,
            max_name_bytes: 500,
        }
    }
}

impl Limits {
    /// Checks the size of one entry.
    pub(super) fn check_size(&self, name: &str, size: u64, compressed_size: u64) -> Result<(), ArchiveError> {
        if size > self.max_file_bytes {
            return Err(ArchiveError::file_too_large(name, self.max_file_bytes));
        }
        self.check_ratio(name, size, compressed_size)
    }

    pub(super) fn check_ratio(&self, name: &str, size: u64, compressed_size: u64) -> Result<(), ArchiveError> {
        if size > self.ratio_free_bytes && size > compressed_size.saturating_mul(self.max_ratio) {
            return Err(ArchiveError::ratio(name, self.max_ratio));
        }
        Ok(())
    }
}
