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

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::feature_request::Title;
    use roadmap_domain::model::html::CleanHtml;
    use roadmap_domain::model::id::{CommentId, CustomerId};
    use roadmap_domain::model::mail::MailId;
    use roadmap_domain::model::text::Name;
    use uuid::Uuid;

    fn told(number: u128) -> Notification {
        Notification {
            id: MailId {
                comment: CommentId::new(Uuid::from_u128(0xc0)),
                customer: CustomerId::new(Uuid::from_u128(number)),
            },
            to: EmailAddress::parse("email", "ann@example.com").unwrap(),
            product_name: Name::stored("Acme".to_owned()),
            title: Title::stored("Dark mode".to_owned()),
            request_url: String::new(),
            comment: CleanHtml::stored("Soon".to_owned()),
            unsubscribe_url: "https://acme.example/unsubscribe/token".to_owned(),
        }
    }

    #[tokio::test]
    async fn a_mail_that_is_written_twice_is_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("mail");
        let mailer = FileMailer::new(&inside, "hello@acme.example").unwrap();
        for number in [1, 2, 1] {
            mailer.send(&told(number)).await.unwrap();
        }
        let mut names: Vec<String> = std::fs::read_dir(&inside)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [1, 2].map(|number| format!("{}.eml", told(number).id)));
        std::fs::remove_dir_all(&inside).unwrap();
        let gone = mailer.send(&told(1)).await.unwrap_err();
        assert!(matches!(gone, NotSent::Later { .. }), "{gone:?}");
        assert!(matches!(FileMailer::new(&inside, "nobody"), Err(MailSettingError::Sender(_))));
    }
}
