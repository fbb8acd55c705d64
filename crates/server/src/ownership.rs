//! Who owns the data: files that root creates go to the owner of their folder, and a process that may not use a file
//! reports its owner and the command that changes it.

use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat, statvfs};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::secret;
use crate::settings::{Database, Mail, Settings, Storage};

/// Why this process cannot use its data, and how to change that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Obstacle {
    /// What is wrong with which file or folder.
    pub(crate) found: String,
    /// The command or the action that changes it.
    pub(crate) fix: String,
}

/// Gives a file or folder that root has just created to the owner of its folder, so that a service of that user can use
/// it. Does nothing for other users, and in folders of root.
pub(crate) fn adopt(path: &Path) {
    if !geteuid().is_root() {
        return;
    }
    let (Ok(folder), Ok(created)) = (std::fs::metadata(parent(path)), std::fs::symlink_metadata(path)) else { return };
    if folder.uid() == 0 || created.uid() != 0 {
        return;
    }
    if let Err(error) = lchown(path, Some(folder.uid()), Some(folder.gid())) {
        tracing::warn!(%error, "failed to give {} to the owner of its folder", path.display());
    }
}

/// Creates a folder with all folders above it, as [`adopt`] gives them to their owners.
pub(crate) fn create_folder(folder: &Path) -> std::io::Result<()> {
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|above| !above.as_os_str().is_empty() && !above.exists()).collect();
    std::fs::create_dir_all(folder)?;
    missing.into_iter().rev().for_each(adopt);
    Ok(())
}

/// Creates an empty database file if there is none and [`adopt`] would change its owner. SQLite gives the files beside it
/// the same owner.
pub(crate) fn prepare_database(file: &Path) {
    if geteuid().is_root() && std::fs::File::create_new(file).is_ok() {
        adopt(file);
    }
}

/// Returns the first file or folder of the data that this process may not use as it has to.
pub(crate) fn find_obstacle(settings: &Settings) -> Option<Obstacle> {
    find_permission(settings).or_else(|| places(settings).iter().find_map(|place| full_disk(&place.path)))
}

fn find_permission(settings: &Settings) -> Option<Obstacle> {
    places(settings).iter().find_map(|place| examine(place, settings))
}

/// Returns what the user of the service may not use. If this process is root, that user is the owner of the data folder.
pub(crate) fn find_foreign(settings: &Settings) -> Option<Obstacle> {
    if !geteuid().is_root() {
        return find_permission(settings);
    }
    let owner = |path: &Path| std::fs::metadata(path).ok().map(|metadata| metadata.uid());
    let service = owner(&settings.data_dir).filter(|owner| *owner != 0)?;
    let below = places(settings).into_iter().filter(|place| place.path.starts_with(&settings.data_dir));
    let (path, foreign) = below
        .filter_map(|place| owner(&place.path).map(|owner| (place.path, owner)))
        .find(|(_, owner)| *owner != service)?;
    Some(Obstacle {
        found: format!(
            "{} belongs to {}, but the data folder belongs to {}",
            path.display(),
            user(foreign),
            user(service)
        ),
        fix: change_owner(service, foreign, settings),
    })
}

/// Whether an error may come from a file that this process may not use.
pub(crate) fn may_be_obstacle(message: &str) -> bool {
    [
        "unable to open database file",
        "readonly database",
        "Permission denied",
        "Operation not permitted",
        "Read-only file system",
        "disk is full",
        "No space left on device",
        "disk I/O error",
    ]
    .iter()
    .any(|cause| message.contains(cause))
}

/// A file or folder of the data, and what the service does with it.
struct Place {
    path: PathBuf,
    access: Access,
    /// What is to be created in this folder.
    missing: Option<PathBuf>,
}

/// All files and folders of the data that exist, and the nearest folder above each that does not.
fn places(settings: &Settings) -> Vec<Place> {
    let folder = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
    let file = Access::READ_OK | Access::WRITE_OK;
    let mut places = vec![(settings.data_dir.clone(), folder)];
    if let Database::File(database) = &settings.database {
        places.push((parent(database), folder));
        places.push((database.clone(), file));
        places.extend(["-wal", "-shm"].map(|ending| {
            let mut log = database.clone().into_os_string();
            log.push(ending);
            (PathBuf::from(log), file)
        }));
        if settings.secret.is_none() {
            places.push((settings.data_dir.join(secret::FILE), Access::READ_OK));
        }
    }
    if let Storage::Folder(blobs) = &settings.storage {
        places.push((blobs.clone(), folder));
        // One folder for each workspace.
        let workspaces = std::fs::read_dir(blobs).into_iter().flatten().flatten();
        places.extend(workspaces.filter(|entry| entry.path().is_dir()).map(|entry| (entry.path(), folder)));
    }
    if let Mail::Folder(mail, _) = &settings.mail {
        places.push((mail.clone(), folder));
    }
    let existing = |(path, access): (PathBuf, Access)| match path.try_exists() {
        Ok(false) => Place { path: nearest_folder(&path), access: folder, missing: Some(path) },
        // It exists, or the folder above it cannot be searched.
        _ => Place { path, access, missing: None },
    };
    places.into_iter().map(existing).collect()
}

fn examine(place: &Place, settings: &Settings) -> Option<Obstacle> {
    let path = place.path.as_path();
    match accessat(CWD, path, place.access, AtFlags::EACCESS) {
        Err(Errno::ROFS) => Some(Obstacle {
            found: format!("{} is on a read-only file system", path.display()),
            fix: "mount the disk for writing; a disk with errors is often mounted read-only by the system, whose log \
                  says so"
                .to_owned(),
        }),
        Err(Errno::ACCESS | Errno::PERM) => {
            let me = geteuid().as_raw();
            let Ok(metadata) = std::fs::metadata(path) else {
                // A folder above it hides it.
                let access = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
                return examine(&Place { path: nearest_folder(path), access, missing: None }, settings);
            };
            let mode = metadata.permissions().mode() & 0o777;
            let (path_text, owner) = (path.display(), metadata.uid());
            let belongs = format!("{path_text} belongs to {}, mode {mode:o}", user(owner));
            if let Some(missing) = &place.missing {
                let (missing, service) = (missing.display(), name_or_number(me));
                return Some(Obstacle {
                    found: format!("{missing} does not exist, {belongs}, and this process runs as {}", user(me)),
                    fix: format!("as root: install -d -o {service} -m 700 {missing}"),
                });
            }
            if owner == me {
                return Some(Obstacle {
                    found: format!("{belongs}, which does not allow its owner to use it"),
                    fix: format!("chmod -R u+rwX {path_text}"),
                });
            }
            Some(Obstacle {
                found: format!("{belongs}, and this process runs as {}", user(me)),
                fix: change_owner(me, owner, settings),
            })
        }
        _ => None,
    }
}

/// The command that gives the data to a user, or the one to run as its present owner.
fn change_owner(to: u32, owner: u32, settings: &Settings) -> String {
    let mut elsewhere = Vec::new();
    if let Database::File(database) = &settings.database {
        elsewhere.push(database.clone());
    }
    if let Storage::Folder(blobs) = &settings.storage {
        elsewhere.push(blobs.clone());
    }
    elsewhere.retain(|path| !path.starts_with(&settings.data_dir));
    let all = std::iter::once(&settings.data_dir).chain(&elsewhere);
    let folders: Vec<String> = all.map(|path| path.display().to_string()).collect();
    let chown = format!("as root: chown -R {} {}", name_or_number(to), folders.join(" "));
    if owner == 0 {
        return chown;
    }
    format!("if the service runs as {}, run this command as that user, too; else {chown}", user(owner))
}

fn full_disk(path: &Path) -> Option<Obstacle> {
    let status = statvfs(nearest_folder(path)).ok()?;
    (status.f_bavail == 0).then(|| Obstacle {
        found: format!("the disk of {} is full", path.display()),
        fix: "free disk space, or move data_dir to a larger disk".to_owned(),
    })
}

/// The path itself, or the nearest folder above it that exists and can be seen.
fn nearest_folder(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let nearest = absolute.ancestors().find(|folder| std::fs::metadata(folder).is_ok());
    nearest.map_or_else(|| PathBuf::from("/"), Path::to_owned)
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A user for people: the name and the number.
fn user(id: u32) -> String {
    match name(id) {
        Some(name) => format!("{name} (user {id})"),
        None => format!("user {id}"),
    }
}

fn name_or_number(id: u32) -> String {
    name(id).unwrap_or_else(|| id.to_string())
}

/// The name of a user of this machine.
fn name(id: u32) -> Option<String> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_named_as_on_this_machine() {
        assert_eq!(user(0), "root (user 0)");
        assert_eq!(user(4_000_000_001), "user 4000000001");
    }

    #[test]
    fn files_of_root_go_to_the_owner_of_their_folder() {
        if !geteuid().is_root() {
            eprintln!("only root can test this");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let owner = |path: &Path| {
            let metadata = std::fs::metadata(path).unwrap();
            (metadata.uid(), metadata.gid())
        };
        let (below, file) = (folder.path().join("a/b"), folder.path().join("a/b/roadmap.db"));
        create_folder(&below).unwrap();
        prepare_database(&file);
        assert_eq!(owner(&file), (0, 0));
        std::fs::remove_dir_all(folder.path().join("a")).unwrap();

        lchown(folder.path(), Some(10_001), Some(10_002)).unwrap();
        create_folder(&below).unwrap();
        prepare_database(&file);
        for path in [&below, &file, &folder.path().join("a")] {
            assert_eq!(owner(path), (10_001, 10_002), "{}", path.display());
        }
        // A file of somebody else stays as it is, and so does one that exists.
        std::fs::write(&file, "data").unwrap();
        lchown(&file, Some(10_003), None).unwrap();
        prepare_database(&file);
        adopt(&file);
        assert_eq!(owner(&file), (10_003, 10_002));
        assert_eq!(std::fs::read(&file).unwrap(), b"data");
    }
}
