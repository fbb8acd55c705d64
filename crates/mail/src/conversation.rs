//! A mail sent aloud: what `roadmap mail test` shows.

use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::mail::NotSent;

use crate::dialog::{self, Listener};
use crate::message;
use crate::smtp::{SmtpMailer, silent};

/// What was said between here and the mail server. Never a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The lines in their order: `>` was said to the server, `<` by it.
    pub lines: Vec<String>,
    /// Whether the server has taken the mail; else why not.
    pub outcome: Result<(), String>,
}

impl SmtpMailer {
    /// Sends a mail over a connection of its own and writes down what is said.
    pub async fn converse(&self, to: &EmailAddress) -> Conversation {
        let mut lines = Vec::new();
        let outcome = match tokio::time::timeout(self.timeout, self.say_aloud(to, &mut lines)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(NotSent::Later { reason } | NotSent::Never { reason, .. })) => Err(reason),
            Err(_) => Err(silent(self.timeout)),
        };
        Conversation { lines, outcome }
    }

    /// Says hello to the server, with encryption and login as for a mail, and takes leave of it. No mail
    /// is sent.
    pub async fn greet(&self) -> Conversation {
        let mut lines = Vec::new();
        let outcome = match tokio::time::timeout(self.timeout, self.server.connect(&mut lines)).await {
            Ok(Ok(mut connection)) => {
                // How the goodbye goes does not matter, nor whether the server has one.
                let _ = tokio::time::timeout(self.timeout, connection.quit()).await;
                Ok(())
            }
            Ok(Err(NotSent::Later { reason } | NotSent::Never { reason, .. })) => Err(reason),
            Err(_) => Err(silent(self.timeout)),
        };
        Conversation { lines, outcome }
    }

    async fn say_aloud(&self, to: &EmailAddress, listener: &mut dyn Listener) -> Result<(), NotSent> {
        let message = message::test(dialog::mailbox(to.as_str())?, &self.composer.sender().mailbox)?;
        let mut connection = self.server.connect(listener).await?;
        dialog::hand_over(&mut connection, &message, listener).await?;
        // The mail is taken: how the goodbye goes does not matter.
        let _ = connection.quit().await;
        Ok(())
    }
}
