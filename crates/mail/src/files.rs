//! Mail as files, where there is no mail server: `<mail id>.eml`, as mail programs open them.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use lettre::message::Mailbox;
use roadmap_domain::model::mail::{NotSent, Notification};
use roadmap_domain::ports::Mailer;
use tempfile::NamedTempFile;

use crate::message;
use crate::options::{MailSettingError, sender};

/// Writes mail into a folder. A mail that is sent twice is one file.
#[derive(Debug, Clone)]
pub struct FileMailer {
    folder: PathBuf,
    from: Mailbox,
}

impl FileMailer {
    /// A mailer into a folder, which is made when it is not there.
    ///
    /// # Errors
    /// The folder cannot be made, or `from` is no sender.
    pub fn new(folder: impl Into<PathBuf>, from: &str) -> Result<Self, MailSettingError> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder).map_err(|error| MailSettingError::Folder(folder.clone(), error))?;
        Ok(Self { folder, from: sender(from)? })
    }
}

#[async_trait]
impl Mailer for FileMailer {
    async fn send(&self, notification: &Notification) -> Result<(), NotSent> {
        let message = message::notification(notification, &self.from)?;
        let (folder, name) = (self.folder.clone(), format!("{}.eml", notification.id));
        let written = tokio::task::spawn_blocking(move || write(&folder, &name, &message.formatted())).await;
        let later = |reason: String| NotSent::Later { reason };
        let written = written.map_err(|panic| later(format!("the mail could not be written: {panic}")))?;
        written.map_err(|error| later(format!("the mail cannot be written to {}: {error}", self.folder.display())))
    }
}

/// The file appears with all that is in it, and stays.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name)).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}
