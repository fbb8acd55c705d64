//! A mail sent aloud: what `roadmap mail test` shows.

use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::mail::SendError;

use crate::message;
use crate::session::{self, TranscriptSink};
use crate::smtp::{SmtpMailer, timeout_reason};

/// What was said between here and the mail server. Never a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmtpTranscript {
    /// The lines in their order: `>` was said to the server, `<` by it.
    pub lines: Vec<String>,
    /// Whether the server has taken the mail; else why not.
    pub outcome: Result<(), String>,
}

impl SmtpMailer {
    /// Sends a mail over a connection of its own and writes down what is said.
    pub async fn send_test_mail(&self, to: &EmailAddress) -> SmtpTranscript {
        let mut lines = Vec::new();
        let outcome = match tokio::time::timeout(self.timeout, self.send_with_transcript(to, &mut lines)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(SendError::Transient { reason } | SendError::Permanent { reason, .. })) => Err(reason),
            Err(_) => Err(timeout_reason(self.timeout)),
        };
        SmtpTranscript { lines, outcome }
    }

    /// Says hello to the server, with encryption and login as for a mail, and takes leave of it. No mail
    /// is sent.
    pub async fn check_connection(&self) -> SmtpTranscript {
        let mut lines = Vec::new();
        let outcome = match tokio::time::timeout(self.timeout, self.server.connect(&mut lines)).await {
            Ok(Ok(mut connection)) => {
                // How the goodbye goes does not matter, nor whether the server has one.
                let _ = tokio::time::timeout(self.timeout, connection.quit()).await;
                Ok(())
            }
            Ok(Err(SendError::Transient { reason } | SendError::Permanent { reason, .. })) => Err(reason),
            Err(_) => Err(timeout_reason(self.timeout)),
        };
        SmtpTranscript { lines, outcome }
    }

    async fn send_with_transcript(
        &self,
        to: &EmailAddress,
        transcript: &mut dyn TranscriptSink,
    ) -> Result<(), SendError> {
        let message = message::test(session::mailbox(to.as_str())?, &self.composer.sender().mailbox)?;
        let mut connection = self.server.connect(transcript).await?;
        session::send_message(&mut connection, &message, transcript).await?;
        // The mail is taken: how the goodbye goes does not matter.
        let _ = connection.quit().await;
        Ok(())
    }
}
