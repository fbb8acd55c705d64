//! Storage usage of a workspace.

use crate::model::timestamp::Timestamp;

/// Bytes of a workspace's rows and files, or a difference between two such counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Bytes of rows in the database, as [`crate::policy::storage`] counts them.
    pub records: i64,
    /// Bytes of uploaded files.
    pub files: i64,
}

impl Usage {
    /// Creates a usage of database rows.
    #[must_use]
    pub fn from_records(records: u64) -> Self {
        Self { records: i64::try_from(records).unwrap_or(i64::MAX), files: 0 }
    }

    /// Creates a usage of files.
    #[must_use]
    pub fn from_files(files: u64) -> Self {
        Self { records: 0, files: i64::try_from(files).unwrap_or(i64::MAX) }
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { records: self.records.saturating_add(other.records), files: self.files.saturating_add(other.files) }
    }

    /// Returns the difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self { records: self.records.saturating_sub(other.records), files: self.files.saturating_sub(other.files) }
    }
}

/// The usage total of a workspace in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoredUsage {
    /// The last count plus the usage added since.
    pub usage: Usage,
    /// Timestamp of the last count. `None` before the first one.
    pub counted_at: Option<Timestamp>,
}
