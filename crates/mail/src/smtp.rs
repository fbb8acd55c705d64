//! Mail by a mail server, over a few connections that are kept open.

use std::time::Duration;

use async_trait::async_trait;
use deadpool::managed::{Manager, Metrics, Pool, PoolError, RecycleError, RecycleResult};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use roadmap_domain::model::mail::{DigestNotification, Notification, SendError, TestMail};
use roadmap_domain::ports::Mailer;
use roadmap_domain::usecase::deliver_mail::MAX_CONCURRENT_SENDS;

use crate::composer::{Composer, Sender};
use crate::options::{MailSettingError, SmtpOptions};
use crate::session::{self, Server};

/// Most connections at a time: a mail that is being sent waits for no other one.
const MAX_CONNECTIONS: usize = MAX_CONCURRENT_SENDS;

/// How long an idle connection is kept. Servers close theirs after some minutes.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// How long one may have been idle without a look at whether it is still there.
const CHECK_AFTER_IDLE: Duration = Duration::from_secs(5);

/// Sends mail by a mail server. Clones share its connections.
#[derive(Clone)]
pub struct SmtpMailer {
    pub(crate) server: Server,
    connections: Pool<Connector>,
    pub(crate) composer: Composer,
    pub(crate) timeout: Duration,
}

impl SmtpMailer {
    /// A mailer for a server. Whether it is there is not looked at.
    ///
    /// # Errors
    /// The settings cannot be used.
    pub fn new(options: &SmtpOptions) -> Result<Self, MailSettingError> {
        let server = Server::new(options)?;
        let connections = Pool::builder(Connector(server.clone())).max_size(MAX_CONNECTIONS).build();
        let connections = connections.map_err(|error| MailSettingError::Setup(error.into()))?;
        let sender = Sender { mailbox: options.from.clone(), service_name: options.service_name.clone() };
        Ok(Self { server, connections, composer: Composer::new(sender), timeout: options.timeout })
    }

    /// Returns the server's answer to the message.
    async fn send_message(&self, message: lettre::Message) -> Result<String, SendError> {
        match tokio::time::timeout(self.timeout, self.send_pooled(&message)).await {
            Ok(handed_over) => handed_over,
            Err(_) => Err(SendError::Transient { reason: timeout_reason(self.timeout) }),
        }
    }

    async fn send_pooled(&self, message: &lettre::Message) -> Result<String, SendError> {
        let mut pooled = self.connections.get().await.map_err(|error| match error {
            PoolError::Backend(error) => error,
            other => SendError::Transient { reason: format!("no connection to the mail server: {other:?}") },
        })?;
        pooled.is_in_use = true;
        let answer = session::send_message(&mut pooled.connection, message, &mut ()).await?;
        pooled.is_in_use = false;
        Ok(answer)
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

    async fn send_test(&self, mail: &TestMail) -> Result<String, SendError> {
        self.send_message(self.composer.test_mail(mail)?).await
    }
}

pub(crate) fn timeout_reason(timeout: Duration) -> String {
    format!("the mail server did not answer within {timeout:?}")
}

/// Makes connections.
struct Connector(Server);

/// A connection.
struct PooledConnection {
    connection: AsyncSmtpConnection,
    /// Whether a mail was begun on it and not finished: then nobody can tell what it says next.
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
            return Err(RecycleError::message("it is not to be used again"));
        }
        if idle > CHECK_AFTER_IDLE && !pooled.connection.test_connected().await {
            return Err(RecycleError::message("it is closed"));
        }
        Ok(())
    }
}
