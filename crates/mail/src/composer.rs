//! Builds mails on blocking threads, outside of the async runtime.

use std::sync::Arc;

use lettre::Message;
use lettre::message::Mailbox;
use roadmap_domain::model::mail::{
    DigestNotification, Notification, SendError, SignInMail, TestMail, WebhookDisabledMail,
};
use roadmap_domain::model::team_mail::TeamDigestNotification;
use tokio::sync::Semaphore;

use crate::content::{ContentCache, ContentParts};
use crate::message;

/// How many mails are built at the same time. Each one occupies a blocking thread.
const MAX_CONCURRENT_COMPOSITIONS: usize = 2;

/// The sender of mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sender {
    /// The address, with an optional display name that is used unchanged.
    pub(crate) mailbox: Mailbox,
    /// The service's name. Without a display name, the sender is shown as `<product> via <service name>`.
    pub(crate) service_name: String,
}

/// Builds mails. Clones share the cache of content.
#[derive(Clone)]
pub(crate) struct Composer(Arc<Shared>);

struct Shared {
    sender: Sender,
    contents: ContentCache,
    writers: Semaphore,
}

impl Composer {
    pub(crate) fn new(sender: Sender) -> Self {
        Self::with_cache(sender, ContentCache::new(ContentParts::render))
    }

    pub(crate) fn with_cache(sender: Sender, contents: ContentCache) -> Self {
        Self(Arc::new(Shared { sender, contents, writers: Semaphore::new(MAX_CONCURRENT_COMPOSITIONS) }))
    }

    /// The sender of all mail.
    pub(crate) fn sender(&self) -> &Sender {
        &self.0.sender
    }

    /// Builds a notification.
    pub(crate) async fn notification(&self, notification: &Notification) -> Result<Message, SendError> {
        let notification = notification.clone();
        self.compose(move |shared| {
            shared.contents.with_parts(notification.id.topic, &notification.content, |parts| {
                message::notification(&notification, parts, &shared.sender)
            })
        })
        .await
    }

    /// Builds the digest of several notifications.
    pub(crate) async fn digest(&self, digest: &DigestNotification) -> Result<Message, SendError> {
        let digest = digest.clone();
        self.compose(move |shared| message::digest(&digest, &shared.sender)).await
    }

    /// Builds the mail to a member of the team about what customers have written.
    pub(crate) async fn team_digest(&self, digest: &TeamDigestNotification) -> Result<Message, SendError> {
        let digest = digest.clone();
        self.compose(move |shared| message::team_digest(&digest, &shared.sender)).await
    }

    /// Writes the mail of a sign-in. It is short, and waits for no other mail.
    pub(crate) fn sign_in(&self, mail: &SignInMail) -> Result<Message, SendError> {
        message::sign_in(mail, &self.0.sender)
    }

    /// Writes a test mail. It is short, and waits for no other mail.
    pub(crate) fn test_mail(&self, mail: &TestMail) -> Result<Message, SendError> {
        message::test_mail(mail, &self.0.sender)
    }

    /// Writes a mail about a disabled webhook. It is short, and waits for no other mail.
    pub(crate) fn webhook_disabled(&self, mail: &WebhookDisabledMail) -> Result<Message, SendError> {
        message::webhook_disabled(mail, &self.0.sender)
    }

    async fn compose(
        &self,
        write: impl FnOnce(&Shared) -> Result<Message, SendError> + Send + 'static,
    ) -> Result<Message, SendError> {
        let transient = |reason: String| SendError::Transient { reason };
        let _writer =
            self.0.writers.acquire().await.map_err(|closed| transient(format!("the composer is closed: {closed}")))?;
        let shared = self.0.clone();
        let message = tokio::task::spawn_blocking(move || write(&shared)).await;
        message.map_err(|panic| transient(format!("the mail could not be built: {panic}")))?
    }
}
