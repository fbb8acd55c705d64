//! Sends mail by SMTP over a pool of connections.

use std::time::Duration;

use async_trait::async_trait;
use deadpool::managed::{Manager, Metrics, Pool, PoolError, RecycleError, RecycleResult};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use roadmap_domain::model::mail::{DigestNotification, Notification, SendError, SignInMail, TestMail};
use roadmap_domain::ports::Mailer;
use roadmap_domain::usecase::deliver_mail::MAX_CONCURRENT_SENDS;

use crate::composer::{Composer, Sender};
use crate::options::{MailSettingError, SmtpOptions};
use crate::session::{self, Server};

/// Maximum open connections: one for each mail that may be sent at the same time, so that none waits for another.
const MAX_CONNECTIONS: usize = MAX_CONCURRENT_SENDS;

/// How long an idle connection is kept. Servers close idle connections after some minutes.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// Idle time after which a connection is tested before its next use.
const CHECK_AFTER_IDLE: Duration = Duration::from_secs(5);

/// Sends mail by SMTP. Clones share the connections.
#[derive(Clone)]
pub struct SmtpMailer {
    pub(crate) server: Server,
    connections: Pool<Connector>,
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
        let connections = Pool::builder(Connector(server.clone())).max_size(MAX_CONNECTIONS).build();
        let connections = connections.map_err(|error| MailSettingError::Setup(error.into()))?;
        let sender = Sender { mailbox: options.from.clone(), service_name: options.service_name.clone() };
        Ok(Self { server, connections, composer: Composer::new(sender), timeout: options.timeout })
    }

    /// Returns the server's response to the message.
    async fn send_message(&self, message: lettre::Message) -> Result<String, SendError> {
        match tokio::time::timeout(self.timeout, self.send_pooled(&message)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(SendError::Transient { reason: timeout_reason(self.timeout) }),
        }
    }

    async fn send_pooled(&self, message: &lettre::Message) -> Result<String, SendError> {
        let mut pooled = self.connections.get().await.map_err(|error| match error {
            PoolError::Backend(error) => error,
            other => SendError::Transient { reason: format!("no connection to the mail server: {other:?}") },
        })?;
        pooled.is_in_use = true;
        let response = session::send_message(&mut pooled.connection, message, &mut ()).await?;
        pooled.is_in_use = false;
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

    async fn send_sign_in(&self, mail: &SignInMail) -> Result<String, SendError> {
        self.send_message(self.composer.sign_in(mail)?).await
    }

    async fn send_test(&self, mail: &TestMail) -> Result<String, SendError> {
        self.send_message(self.composer.test_mail(mail)?).await
    }
}

pub(crate) fn timeout_reason(timeout: Duration) -> String {
    format!("the mail server did not respond within {timeout:?}")
}

/// Opens connections for the pool.
struct Connector(Server);

/// A connection of the pool.
struct PooledConnection {
    connection: AsyncSmtpConnection,
    /// Whether a mail was begun and not finished. The next reply is then unpredictable, and the connection is discarded.
    is_in_use: bool,
}

impl Manager for Connector {
    type Type = PooledConnection;
    type Error = SendError;

    async fn create(&self) -> Result<PooledConnection, SendError> {
        Ok(PooledConnection { connection: self.0.connect(&mut ()).await?, is_in_use: false })
    }

    async fn recycle(&self, pooled: &mut PooledConnection, metrics: &Metrics) -> RecycleResult<SendError> {
        let idle = metrics.last_used();
        if pooled.is_in_use || pooled.connection.has_broken() || idle > MAX_IDLE {
            return Err(RecycleError::message("the connection cannot be reused"));
        }
        if idle > CHECK_AFTER_IDLE && !pooled.connection.test_connected().await {
            return Err(RecycleError::message("the server has closed the connection"));
        }
        Ok(())
    }
}
