//! The folders of runs below the data folder. They hold addresses and texts of people, so they go after a while.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use roadmap_domain::model::id::ImportId;

/// How long the files of a run are kept after their last change.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long what was read is kept of a run that never began.
const KEPT_UNUSED: Duration = Duration::from_secs(24 * 60 * 60);

/// What the name of a folder begins with until its run begins.
pub(crate) const NEW: &str = "new-";

/// Returns the folder of all runs.
pub(crate) fn all(data_dir: &Path) -> PathBuf {
    data_dir.join("imports")
}

/// Returns the folder of a run.
pub(crate) fn of(data_dir: &Path, id: ImportId) -> PathBuf {
    all(data_dir).join(id.to_string())
}

/// Deletes old folders. Returns how many.
///
/// # Errors
/// A folder cannot be read or deleted.
pub(crate) fn sweep(data_dir: &Path, now: SystemTime) -> io::Result<u64> {
    let folders = match fs::read_dir(all(data_dir)) {
        Ok(folders) => folders,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut deleted = 0;
    for folder in folders {
        let folder = folder?;
        let is_new = folder.file_name().to_string_lossy().starts_with(NEW);
        let age = now.duration_since(folder.metadata()?.modified()?).unwrap_or_default();
        if age > if is_new { KEPT_UNUSED } else { KEPT } {
            fs::remove_dir_all(folder.path())?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_folders_are_deleted() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(sweep(data.path(), SystemTime::now()).unwrap(), 0);
        for name in ["new-a", "run"] {
            fs::create_dir_all(all(data.path()).join(name).join("rejected")).unwrap();
            fs::write(all(data.path()).join(name).join("report.json"), "{}").unwrap();
        }
        let left = || fs::read_dir(all(data.path())).unwrap().count();
        let days = |days: u64| SystemTime::now() + Duration::from_secs(days * 24 * 60 * 60 + 60);
        for (now, deleted, kept) in [(days(0), 0, 2), (days(1), 1, 1), (days(29), 0, 1), (days(30), 1, 0)] {
            assert_eq!((sweep(data.path(), now).unwrap(), left()), (deleted, kept));
        }
    }
}
