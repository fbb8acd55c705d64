//! How much a workspace stores.

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
    /// Bytes of rows.
    #[must_use]
    pub fn from_records(records: u64) -> Self {
        Self { records: i64::try_from(records).unwrap_or(i64::MAX), files: 0 }
    }

    /// Bytes of files.
    #[must_use]
    pub fn from_files(files: u64) -> Self {
        Self { records: 0, files: i64::try_from(files).unwrap_or(i64::MAX) }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { records: self.records.saturating_add(other.records), files: self.files.saturating_add(other.files) }
    }

    /// This without the other.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self { records: self.records.saturating_sub(other.records), files: self.files.saturating_sub(other.files) }
    }
}

/// The usage of a workspace as the store keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoredUsage {
    /// The last count and what was added since.
    pub usage: Usage,
    /// When the rows were last counted; none before the first count.
    pub counted_at: Option<Timestamp>,
}
