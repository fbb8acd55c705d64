//! Transcripts of SMTP dialogs, for `roadmap mail test` and `roadmap doctor`.

use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::mail::SendError;

use crate::message;
use crate::session::{self, TranscriptSink};
use crate::smtp::{SmtpMailer, timeout_reason};

/// A transcript of the dialog with the mail server. It never contains a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmtpTranscript {
    /// The lines in order: `>` marks commands, `<` replies.
    pub lines: Vec<String>,
    /// Success, or the reason of the failure.
    pub outcome: Result<(), String>,
}

impl SmtpMailer {
    /// Sends a test mail over a separate connection and records the dialog.
    pub async fn send_test_mail(&self, to: &EmailAddress) -> SmtpTranscript {
        let mut lines = Vec::new();
        let outcome = match tokio::time::timeout(self.timeout, self.send_with_transcript(to, &mut lines)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(SendError::Transient { reason } | SendError::Permanent { reason, .. })) => Err(reason),
            Err(_) => Err(timeout_reason(self.timeout)),
        };
        SmtpTranscript { lines, outcome }
    }

    /// Connects to the server, with encryption and login as for a mail, and disconnects. No mail is sent.
    pub async fn check_connection(&self) -> SmtpTranscript {
        let mut lines = Vec::new();
        let outcome = match tokio::time::timeout(self.timeout, self.server.connect(&mut lines)).await {
            Ok(Ok(mut connection)) => {
                // The reply to QUIT does not matter, nor whether there is one.
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
        // The server has accepted the mail: the reply to QUIT does not matter.
        let _ = connection.quit().await;
        Ok(())
    }
}
