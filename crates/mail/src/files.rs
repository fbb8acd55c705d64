//! Mail as files (`<mail id>.eml`), for installations without a mail server.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use roadmap_domain::model::mail::{
    DigestNotification, Notification, SendError, SignInMail, TestMail, WebhookDisabledMail,
};
use roadmap_domain::model::team_mail::TeamDigestNotification;
use roadmap_domain::ports::Mailer;
use tempfile::NamedTempFile;

use crate::composer::{Composer, Sender};
use crate::options::{MailSettingError, SERVICE_NAME, sender};

/// Writes mail into a folder. Sending a mail twice leaves one file.
#[derive(Clone)]
pub struct FileMailer {
    folder: PathBuf,
    composer: Composer,
    on_created: fn(&Path),
}

impl FileMailer {
    /// Creates a mailer for a folder, which is created if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be created, or `from` is not a valid sender.
    pub fn new(folder: impl Into<PathBuf>, from: &str) -> Result<Self, MailSettingError> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder).map_err(|error| MailSettingError::Folder(folder.clone(), error))?;
        let sender = Sender { mailbox: sender(from)?, service_name: SERVICE_NAME.to_owned() };
        Ok(Self { folder, composer: Composer::new(sender), on_created: |_| {} })
    }

    /// Replaces the name of the service.
    #[must_use]
    pub fn with_service_name(self, service_name: &str) -> Self {
        let mailbox = self.composer.sender().mailbox.clone();
        Self { composer: Composer::new(Sender { mailbox, service_name: service_name.to_owned() }), ..self }
    }

    /// Sets what is done with each file before it gets its name, for example to change its owner.
    #[must_use]
    pub fn on_created(self, on_created: fn(&Path)) -> Self {
        Self { on_created, ..self }
    }
}

#[async_trait]
impl Mailer for FileMailer {
    async fn send(&self, notification: &Notification) -> Result<String, SendError> {
        self.write(self.composer.notification(notification).await?, format!("{}.eml", notification.id)).await
    }

    async fn send_digest(&self, digest: &DigestNotification) -> Result<String, SendError> {
        self.write(self.composer.digest(digest).await?, format!("{}.eml", digest.id)).await
    }

    async fn send_team_digest(&self, digest: &TeamDigestNotification) -> Result<String, SendError> {
        self.write(self.composer.team_digest(digest).await?, format!("{}.eml", digest.id)).await
    }

    async fn send_sign_in(&self, mail: &SignInMail) -> Result<String, SendError> {
        self.write(self.composer.sign_in(mail)?, format!("{}.eml", mail.id)).await
    }

    async fn send_test(&self, mail: &TestMail) -> Result<String, SendError> {
        self.write(self.composer.test_mail(mail)?, format!("{}.eml", mail.id)).await
    }

    async fn send_webhook_disabled(&self, mail: &WebhookDisabledMail) -> Result<String, SendError> {
        self.write(self.composer.webhook_disabled(mail)?, format!("{}.eml", mail.id)).await
    }
}

impl FileMailer {
    /// Returns where the mail is.
    async fn write(&self, message: lettre::Message, name: String) -> Result<String, SendError> {
        let (folder, on_created) = (self.folder.clone(), self.on_created);
        let response = format!("written to {}", folder.join(&name).display());
        let outcome =
            tokio::task::spawn_blocking(move || write(&folder, &name, &message.formatted(), on_created)).await;
        let transient = |reason: String| SendError::Transient { reason };
        let outcome = outcome.map_err(|panic| transient(format!("the mail could not be written: {panic}")))?;
        let failed = |error| transient(format!("the mail cannot be written to {}: {error}", self.folder.display()));
        outcome.map_err(failed).map(|()| response)
    }
}

/// Writes a file atomically and durably. Only its owner can read it: the mail of a sign-in has a link that works.
fn write(folder: &Path, name: &str, bytes: &[u8], on_created: fn(&Path)) -> std::io::Result<()> {
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    on_created(file.path());
    file.as_file().sync_all()?;
    file.persist(folder.join(name)).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{ContentCache, ContentParts};
    use crate::samples;
    use roadmap_domain::model::html::CleanHtml;
    use roadmap_domain::model::id::CustomerId;
    use roadmap_domain::model::mail::MailId;
    use roadmap_domain::model::portal::Language;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use uuid::Uuid;

    fn sample_notification(number: u128) -> Notification {
        let sample = samples::sample_notification("Dark mode", "Soon", "ann@example.com");
        Notification { id: MailId { customer: CustomerId::new(Uuid::from_u128(number)), ..sample.id }, ..sample }
    }

    /// The processor time that this process has used, on systems with `/proc`.
    fn processor_time() -> Option<std::time::Duration> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?;
        Some(std::time::Duration::from_millis(ticks * 10))
    }

    /// The most expensive comment is rendered once, independently of the number of voters.
    #[tokio::test]
    async fn a_hostile_comment_to_a_thousand_voters_is_rendered_once() {
        const VOTERS: usize = 1_000;
        let folder = tempfile::tempdir().unwrap();
        let rendered = Arc::new(AtomicUsize::new(0));
        let count = rendered.clone();
        let contents = ContentCache::new(move |content| {
            count.fetch_add(1, Ordering::SeqCst);
            ContentParts::render(content)
        });
        let sender = Sender { mailbox: sender("hello@acme.example").unwrap(), service_name: "Acme".to_owned() };
        let mailer = FileMailer {
            folder: folder.path().to_owned(),
            composer: Composer::with_cache(sender, contents),
            on_created: |_| {},
        };
        // At least as deep as a stored comment may be.
        let content = Arc::new(CleanHtml::from_stored("<ul><li>".repeat(12_500)));
        let before = processor_time();
        let mails = (0..VOTERS as u128).map(|number| {
            let (mailer, mail) =
                (mailer.clone(), Notification { content: content.clone(), ..sample_notification(number) });
            async move { mailer.composer.notification(&mail).await }
        });
        let mut tasks = tokio::task::JoinSet::from_iter(mails);
        while let Some(mail) = tasks.join_next().await {
            mail.unwrap().unwrap();
        }
        let used = processor_time().zip(before).map(|(after, before)| after - before);
        println!("{VOTERS} mails with {} KB each: {used:?} of processor time", content.as_str().len() / 1_000);
        assert_eq!(rendered.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn only_the_owner_can_read_the_mail_of_a_sign_in() {
        let folder = tempfile::tempdir().unwrap();
        let mailer = FileMailer::new(folder.path(), "hello@acme.example").unwrap();
        let mail = samples::sample_sign_in("Acme", Language::German);
        let file = folder.path().join("sign_in.00000000-0000-0000-0000-000000000007.eml");
        assert_eq!(mailer.send_sign_in(&mail).await.unwrap(), format!("written to {}", file.display()));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let raw = std::fs::read_to_string(&file).unwrap();
        assert!(raw.contains("https://acme.example/sign-in/token"), "{raw}");
    }

    /// Decision 6, 7.
    #[tokio::test]
    async fn a_mail_that_is_written_twice_is_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("mail");
        let mailer = FileMailer::new(&inside, "hello@acme.example").unwrap();
        for number in [1, 2, 1] {
            mailer.send(&sample_notification(number)).await.unwrap();
        }
        let mut names: Vec<String> = std::fs::read_dir(&inside)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [1, 2].map(|number| format!("{}.eml", sample_notification(number).id)));
        std::fs::remove_dir_all(&inside).unwrap();
        let gone = mailer.send(&sample_notification(1)).await.unwrap_err();
        assert!(matches!(gone, SendError::Transient { .. }), "{gone:?}");
        assert!(matches!(FileMailer::new(&inside, "nobody").err(), Some(MailSettingError::Sender(_))));
    }
}
