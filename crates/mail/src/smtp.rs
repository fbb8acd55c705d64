//! Sends mail by SMTP over a few connections.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roadmap_domain::model::mail::{
    DigestNotification, Notification, SendError, SignInMail, TestMail, WebhookDisabledMail,
};
use roadmap_domain::model::team_mail::TeamDigestNotification;
use roadmap_domain::ports::Mailer;

use crate::composer::{Composer, Sender};
use crate::connections::Connections;
use crate::options::{MailSettingError, SmtpOptions};
use crate::problem::timeout_reason;
use crate::session::{self, Server};

/// Sends mail by SMTP. Clones share the connections.
#[derive(Clone)]
pub struct SmtpMailer {
    pub(crate) server: Server,
    connections: Arc<Connections>,
    pub(crate) composer: Composer,
    pub(crate) timeout: Duration,
}

impl SmtpMailer {
    /// Creates a mailer for a server without connecting to it.
    ///
    /// # Errors
    /// The options are invalid.
    pub fn new(options: &SmtpOptions) -> Result<Self, MailSettingError> {
        let server = Server::new(options)?;
        let connections = Arc::new(Connections::new(server.clone(), options.connections));
        let sender = Sender { mailbox: options.from.clone(), service_name: options.service_name.clone() };
        Ok(Self { server, connections, composer: Composer::new(sender), timeout: options.timeout })
    }

    /// Returns the server's response to the message.
    async fn send_message(&self, message: lettre::Message) -> Result<String, SendError> {
        let reason = || timeout_reason(self.timeout, self.server.options());
        let Ok(lease) = tokio::time::timeout(self.timeout, self.connections.get()).await else {
            return Err(SendError::NoConnection { reason: reason() });
        };
        let mut lease = lease?;
        let Some(connection) = lease.connection() else {
            return Err(SendError::NoConnection { reason: "the connection is closed".to_owned() });
        };
        let sent = tokio::time::timeout(self.timeout, session::send_message(connection, &message, &mut ())).await;
        let response = sent.unwrap_or_else(|_| Err(SendError::Transient { reason: reason() }))?;
        lease.complete();
        Ok(response)
    }
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, notification: &Notification) -> Result<String, SendError> {
        self.send_message(self.composer.notification(notification).await?).await
    }

    async fn send_digest(&self, digest: &DigestNotification) -> Result<String, SendError> {
        self.send_message(self.composer.digest(digest).await?).await
    }

    async fn send_team_digest(&self, digest: &TeamDigestNotification) -> Result<String, SendError> {
        self.send_message(self.composer.team_digest(digest).await?).await
    }

    async fn send_sign_in(&self, mail: &SignInMail) -> Result<String, SendError> {
        self.send_message(self.composer.sign_in(mail)?).await
    }

    async fn send_test(&self, mail: &TestMail) -> Result<String, SendError> {
        self.send_message(self.composer.test_mail(mail)?).await
    }

    async fn send_webhook_disabled(&self, mail: &WebhookDisabledMail) -> Result<String, SendError> {
        self.send_message(self.composer.webhook_disabled(mail)?).await
    }
}
