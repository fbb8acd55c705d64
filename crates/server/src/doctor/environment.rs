//! Checks of the environment: the storage of files, access to the data, the mail server, the disk.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bytes::Bytes;
use roadmap_domain::model::attachment::{BlobKey, ContentHeaders, Filename};
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::ports::{Blobs, Clock, IdGenerator};
use uuid::Uuid;

use super::{Finding, chain, data_problem};
use crate::ownership::{self, Obstacle};
use crate::settings::{Database, Mail, Settings, Storage};
use crate::system::{MonotonicIds, SystemClock};
use crate::wiring::{self, Application};

/// Free space below which concurrent uploads may fail.
const CRITICAL_FREE_SPACE: u64 = 200 * MEGABYTE;

/// Free space below which there is a warning.
const LOW_FREE_SPACE: u64 = 2_048 * MEGABYTE;

const MEGABYTE: u64 = 1024 * 1024;

/// Writes a blob, reads it and deletes it.
pub(super) async fn storage(settings: &Settings) -> Finding {
    const CHECK: &str = "storage";
    let storage = &settings.storage;
    let fix = match storage {
        Storage::Folder(folder) if !folder.exists() => {
            return Finding::ok(CHECK, format!("the folder {storage} is created at the first start"));
        }
        Storage::Folder(_) => {
            "make the service's user the owner of the folder and its content, and check the free disk space"
        }
        Storage::Bucket(_) => {
            "check storage_url and the AWS_… variables; the keys must allow get, put, delete and list below the prefix"
        }
    };
    let tried = match Application::open_blobs(settings) {
        Ok(blobs) => probe(&*blobs).await,
        Err(error) => Err(error),
    };
    if let Storage::Folder(folder) = storage {
        // The probe's folder, which contains nothing else.
        let _ = std::fs::remove_dir(folder.join(Uuid::nil().to_string()));
    }
    match tried {
        Ok(()) => Finding::ok(CHECK, format!("{storage} can be written, read and deleted from")),
        Err(error) => data_problem(CHECK, settings, format!("{storage} does not work: {}", chain(error)), fix),
    }
}

async fn probe(blobs: &dyn Blobs) -> anyhow::Result<()> {
    let attachment = AttachmentId::new(MonotonicIds::default().next(SystemClock.now()));
    // No workspace has this id, so that no sweep touches the probe.
    let key = BlobKey { workspace: WorkspaceId::new(Uuid::nil()), attachment };
    let content = Bytes::from_static(b"roadmap doctor");
    let filename = Filename::sanitize("probe");
    let content_headers =
        ContentHeaders { content_type: "application/octet-stream".to_owned(), inline: false, filename };
    let mut upload = blobs.create(key, &content_headers).await?;
    upload.write(content.clone()).await?;
    upload.finish().await?;
    let read = read(blobs, key).await;
    blobs.delete(key).await?;
    anyhow::ensure!(read? == content, "the content of the probe differs from what was written");
    Ok(())
}

async fn read(blobs: &dyn Blobs, key: BlobKey) -> anyhow::Result<Vec<u8>> {
    let mut read = Vec::new();
    let mut chunks =
        blobs.read(key, None).await?.ok_or_else(|| anyhow::anyhow!("the probe is missing after it was written"))?;
    while let Some(chunk) = chunks.next().await? {
        read.extend_from_slice(&chunk);
    }
    Ok(read)
}

/// Checks whether the data belongs to the user of the service, and whether others have access to it. This version creates
/// private files, but does not change the mode of existing ones.
pub(super) fn access(settings: &Settings) -> Finding {
    const CHECK: &str = "access";
    if let Some(Obstacle { found, fix }) = ownership::find_foreign(settings) {
        return Finding::problem(CHECK, found, fix);
    }
    let folder = settings.data_dir.as_path();
    let mut places = Vec::new();
    if let Database::File(file) = &settings.database {
        places.push(file.as_path());
    }
    if let Storage::Folder(blobs) = &settings.storage {
        places.push(blobs);
    }
    if let Mail::Folder(mail, _) = &settings.mail {
        places.push(mail);
    }
    // A private folder also protects its content.
    if open_mode(folder).is_none() {
        places.retain(|place| !place.starts_with(folder));
    }
    places.insert(0, folder);
    let open: Vec<(&Path, u32)> = places.into_iter().filter_map(|place| Some((place, open_mode(place)?))).collect();
    if open.is_empty() {
        return Finding::ok(CHECK, "only the owner has access to the data");
    }
    let listed: Vec<String> = open.iter().map(|(place, mode)| format!("{} (mode {mode:o})", place.display())).collect();
    let names: Vec<String> = open.iter().map(|(place, _)| place.display().to_string()).collect();
    Finding::warning(
        CHECK,
        format!("users other than the owner have access: {}", listed.join(", ")),
        format!("remove the permissions of group and others: chmod go= {}", names.join(" ")),
    )
}

/// The mode of an existing path to which other users have any access.
fn open_mode(path: &Path) -> Option<u32> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Connects to the mail server, with encryption and login, and asks whether it takes mail from the sender.
pub(super) async fn mail(settings: &Settings) -> Finding {
    const CHECK: &str = "mail";
    let options = match &settings.mail {
        Mail::Smtp(options) => options,
        Mail::Folder(..) => {
            let found = format!("there is no mail server: mail is written to {}", settings.mail);
            return Finding::warning(CHECK, found, "to send mail, set smtp_url and mail_from");
        }
    };
    let server = options.redacted();
    let transcript = match wiring::smtp_mailer(options) {
        Ok(mailer) => mailer.check_connection().await,
        Err(error) => return Finding::problem(CHECK, chain(error), "check smtp_url, also the file behind ?ca="),
    };
    match transcript.outcome {
        Err(problem) if problem.is_fatal => {
            Finding::problem(CHECK, format!("{server} does not work: {}", problem.reason), problem.fix)
        }
        Err(problem) => Finding::warning(
            CHECK,
            format!("{server} has refused a mail to mail_from: {}", problem.reason),
            problem.fix,
        ),
        Ok(()) if transcript.lines.iter().any(|line| line == "(not encrypted)") && options.login.is_some() => {
            let found = format!("{server} receives the password unencrypted");
            Finding::warning(CHECK, found, "use smtps://, or ?tls=required, unless the server is on this machine")
        }
        Ok(()) => Finding::ok(CHECK, format!("{server} accepts mail from {}", options.from.email)),
    }
}

/// Checks the free space on the disk of the data folder.
pub(super) fn disk(settings: &Settings) -> Finding {
    let absolute = std::path::absolute(&settings.data_dir).unwrap_or_else(|_| settings.data_dir.clone());
    let Some(there) = absolute.ancestors().find(|folder| folder.exists()) else {
        return Finding::problem("disk", format!("{} cannot be examined", absolute.display()), "check data_dir");
    };
    match rustix::fs::statvfs(there) {
        Ok(status) => free_space(&settings.data_dir, status.f_bavail.saturating_mul(status.f_frsize)),
        Err(error) => {
            let found = format!("the disk of {} cannot be examined: {error}", settings.data_dir.display());
            Finding::problem("disk", found, "check data_dir")
        }
    }
}

fn free_space(folder: &Path, free: u64) -> Finding {
    let found = format!("{} MB are free for {}", free / MEGABYTE, folder.display());
    let fix = "free disk space, or move data_dir to a larger disk";
    if free < CRITICAL_FREE_SPACE {
        Finding::problem("disk", found, fix)
    } else if free < LOW_FREE_SPACE {
        Finding::warning("disk", found, fix)
    } else {
        Finding::ok("disk", found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    #[test]
    fn a_nearly_full_disk_is_reported() {
        for (free, result) in [
            (0, Verdict::Problem),
            (200 * MEGABYTE - 1, Verdict::Problem),
            (200 * MEGABYTE, Verdict::Warning),
            (2_048 * MEGABYTE - 1, Verdict::Warning),
            (2_048 * MEGABYTE, Verdict::Ok),
        ] {
            let finding = free_space(Path::new("/data"), free);
            assert_eq!(finding.result, result, "{finding:?}");
            assert_eq!(finding.found, format!("{} MB are free for /data", free / MEGABYTE));
        }
    }
}
