//! The secret that signs references and seals stored secrets: a setting, or a file that is generated at the first start.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use roadmap_domain::policy::sealing::Sealer;
use roadmap_domain::policy::signed_reference::{ReferenceSigner, Secret};
use roadmap_domain::ports::Random;
use tempfile::NamedTempFile;

use crate::ownership;
use crate::settings::{Database, Settings};
use crate::system::SystemRandom;

/// The name of the secret's file in the data folder.
pub(crate) const FILE: &str = "secret";

/// Characters of a generated secret: more than 256 bits.
const LENGTH: usize = 48;

/// The description of a guessable secret.
pub(crate) const GUESSABLE_MESSAGE: &str = "it has too few different characters to be random";

/// The fix for a guessable or missing secret.
pub(crate) const REPLACE_HINT: &str =
    "run `openssl rand -hex 32` once and set ROADMAP_SECRET of every process to its output";

/// The fix for a guessable previous secret.
pub(crate) const REMOVE_PREVIOUS_HINT: &str = "remove it, because anyone who guesses it can forge references";

/// The description of a secret that is missing although it was used.
pub(crate) const LOST_MESSAGE: &str = "there was data, but no secret: with a new one, links in earlier mails and links to files \
                                       and covers do not work any more";

/// The fix for a lost secret.
pub(crate) const LOST_HINT: &str =
    "if there is a backup of the file `secret`, stop the service and put it back; otherwise nothing is to be done";

/// Whether the secret's file is missing although a service has already run on the data.
pub(crate) fn is_lost(settings: &Settings) -> bool {
    match &settings.database {
        Database::File(file) if settings.secret.is_none() && !settings.data_dir.join(FILE).exists() => {
            // Without a readable schema, no service has run.
            file.exists() && roadmap_sqlite::has_been_served(file).unwrap_or(false)
        }
        _ => false,
    }
}

/// Fails if a secret is guessable, because anyone could then forge references. Creates no files.
pub(crate) fn refuse_guessable(settings: &Settings) -> anyhow::Result<()> {
    let (place, current) = match &settings.secret {
        Some(secret) => ("the setting secret".to_owned(), Some(secret.clone())),
        None => (format!("the secret in {}", settings.data_dir.join(FILE).display()), existing(settings)?),
    };
    if current.is_some_and(|secret| secret.is_guessable()) {
        bail!("{place} cannot be used: {GUESSABLE_MESSAGE}: {REPLACE_HINT}");
    }
    if has_guessable_previous(settings) {
        bail!(
            "the setting previous_secrets cannot be used: one of them has too few different characters to be random: \
             {REMOVE_PREVIOUS_HINT}"
        );
    }
    Ok(())
}

/// Returns the secret of the service, if there is one. Creates none.
pub(crate) fn existing(settings: &Settings) -> anyhow::Result<Option<Secret>> {
    if settings.secret.is_some() {
        return Ok(settings.secret.clone());
    }
    let Database::File(_) = settings.database else { return Ok(None) };
    let path = settings.data_dir.join(FILE);
    let failed = || format!("the secret in {} cannot be read or created", path.display());
    let content = read_if_present(&path).with_context(failed)?;
    let parsed = content.map(|text| Secret::parse(&format!("the content of {}", path.display()), &text));
    Ok(parsed.transpose()?)
}

/// Whether one of the previous secrets is guessable.
pub(crate) fn has_guessable_previous(settings: &Settings) -> bool {
    settings.previous_secrets.iter().any(Secret::is_guessable)
}

/// Creates the signer of references.
pub(crate) fn references(settings: &Settings) -> anyhow::Result<ReferenceSigner> {
    Ok(ReferenceSigner::new(current(settings)?, settings.previous_secrets.clone()))
}

/// Creates the sealer of secrets that are stored.
pub(crate) fn sealer(settings: &Settings) -> anyhow::Result<Sealer> {
    Ok(Sealer::new(&current(settings)?, &settings.previous_secrets, Arc::new(SystemRandom)))
}

/// Returns the secret of the service.
fn current(settings: &Settings) -> anyhow::Result<Secret> {
    match (&settings.secret, &settings.database) {
        (Some(secret), _) => Ok(secret.clone()),
        // Processes that share a database must share the secret, but may have different data folders.
        (None, Database::Server(_)) => bail!(
            "the setting secret is required with a database server, because all processes must share it: \
             {REPLACE_HINT}"
        ),
        (None, Database::File(_)) => {
            let is_lost = is_lost(settings);
            let secret = load_or_create(&settings.data_dir)?;
            if is_lost {
                tracing::warn!("{LOST_MESSAGE}: {LOST_HINT}");
            }
            Ok(secret)
        }
    }
}

/// Loads the secret from the folder's file, which is created if it does not exist.
fn load_or_create(folder: &Path) -> anyhow::Result<Secret> {
    let path = folder.join(FILE);
    let failed = || format!("the secret in {} cannot be read or created", path.display());
    if let Some(content) = read_if_present(&path).with_context(failed)? {
        return Ok(Secret::parse(&format!("the content of {}", path.display()), &content)?);
    }
    ownership::create_folder(folder).with_context(failed)?;
    // Created atomically and readable by its owner only. Of concurrent starts, the first one's secret is used by all.
    let mut file = NamedTempFile::new_in(folder).with_context(failed)?;
    writeln!(file, "{}", SystemRandom.base62(LENGTH)).with_context(failed)?;
    file.as_file().sync_all().with_context(failed)?;
    match file.persist_noclobber(&path) {
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {}
        persisted => drop(persisted.with_context(failed)?),
    }
    ownership::adopt(&path);
    File::open(folder).and_then(|folder| folder.sync_all()).with_context(failed)?;
    let content = read_if_present(&path).with_context(failed)?.unwrap_or_default();
    Ok(Secret::parse(&format!("the content of {}", path.display()), &content)?)
}

/// Reads the secret's file, if it exists.
pub(crate) fn read_from_folder(settings: &Settings) -> anyhow::Result<Option<Vec<u8>>> {
    let path = settings.data_dir.join(FILE);
    let read = read_if_present(&path).with_context(|| format!("the secret in {} cannot be read", path.display()))?;
    Ok(read.map(String::into_bytes))
}

/// Whether users other than the owner have access to the secret's file.
pub(crate) fn is_readable_by_others(settings: &Settings) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(settings.data_dir.join(FILE)).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
}

/// Writes a secret to its file, readable by the owner only. An existing file with another secret is an error, unless
/// `replace` is set.
pub(crate) fn write_to_folder(settings: &Settings, secret: &[u8], replace: bool) -> anyhow::Result<()> {
    let path = settings.data_dir.join(FILE);
    let failed = || format!("the secret in {} cannot be written", settings.data_dir.display());
    ownership::create_folder(&settings.data_dir).with_context(failed)?;
    let mut file = NamedTempFile::new_in(&settings.data_dir).with_context(failed)?;
    file.write_all(secret).with_context(failed)?;
    file.as_file().sync_all().with_context(failed)?;
    if replace {
        drop(file.persist(&path).with_context(failed)?);
    } else {
        match file.persist_noclobber(&path) {
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                // An interrupted restore may have written the same secret.
                let same = std::fs::read(&path).with_context(failed)? == secret;
                ensure!(same, "{} contains another secret; --force replaces it", path.display());
            }
            persisted => drop(persisted.with_context(failed)?),
        }
    }
    ownership::adopt(&path);
    File::open(&settings.data_dir).and_then(|folder| folder.sync_all()).with_context(failed)
}

fn read_if_present(path: &Path) -> std::io::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Decision 7: the signing secret is created in the data folder at the first start, with mode 0600.
    #[test]
    fn a_secret_is_generated_once_and_readable_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("data");
        let first = load_or_create(&inside).unwrap();
        assert!(load_or_create(&inside).unwrap() == first);
        let mode = std::fs::metadata(inside.join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(load_or_create(&folder.path().join("other")).unwrap() != first);
        assert_eq!(std::fs::read_dir(&inside).unwrap().count(), 1);
    }

    /// Decision 7.
    #[test]
    fn concurrent_starts_share_one_secret() {
        let folder = tempfile::tempdir().unwrap();
        let secrets: Vec<Secret> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| load_or_create(folder.path()).unwrap())).collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        assert!(secrets.windows(2).all(|pair| pair[0] == pair[1]));
    }

    /// Decision 7.
    #[test]
    fn an_invalid_secret_file_is_reported_by_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "short").unwrap();
        let message = format!("{:#}", load_or_create(folder.path()).unwrap_err());
        assert!(message.contains("secret is not a secret of at least 32 characters"), "{message}");
        assert!(!message.contains("short"));
    }
}
