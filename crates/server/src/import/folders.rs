//! The folders of runs below the data folder. They hold addresses and texts of people, so they go after a while.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use roadmap_domain::model::id::ImportId;
use roadmap_domain::model::timestamp::Timestamp;
use time::Duration;

/// How long the files of a run are kept after their last change.
const KEPT: Duration = Duration::days(30);
/// How long what was read is kept of a run that never began.
const KEPT_UNUSED: Duration = Duration::days(1);

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
pub(crate) fn sweep(data_dir: &Path, now: Timestamp) -> io::Result<u64> {
    let folders = match fs::read_dir(all(data_dir)) {
        Ok(folders) => folders,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut deleted = 0;
    for folder in folders {
        let folder = folder?;
        let is_new = folder.file_name().to_string_lossy().starts_with(NEW);
        let kept = if is_new { KEPT_UNUSED } else { KEPT };
        if changed_at(&folder.metadata()?)?.is_some_and(|at| at.plus(kept) < now) {
            fs::remove_dir_all(folder.path())?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// Returns when a folder was changed last.
fn changed_at(folder: &fs::Metadata) -> io::Result<Option<Timestamp>> {
    let since: SystemTime = folder.modified()?;
    let millis = since.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Ok(i64::try_from(millis).ok().and_then(Timestamp::from_millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_folders_are_deleted() {
        let data = tempfile::tempdir().unwrap();
        let today = changed_at(&fs::metadata(data.path()).unwrap()).unwrap().unwrap();
        assert_eq!(sweep(data.path(), today).unwrap(), 0);
        for name in ["new-a", "run"] {
            fs::create_dir_all(all(data.path()).join(name).join("rejected")).unwrap();
            fs::write(all(data.path()).join(name).join("report.json"), "{}").unwrap();
        }
        let left = || fs::read_dir(all(data.path())).unwrap().count();
        let days = |days: i64| today.plus(Duration::days(days) + Duration::MINUTE);
        for (now, deleted, kept) in [(days(0), 0, 2), (days(1), 1, 1), (days(29), 0, 1), (days(30), 1, 0)] {
            assert_eq!((sweep(data.path(), now).unwrap(), left()), (deleted, kept));
        }
    }
}
