//! Transcripts of SMTP dialogs, for `roadmap mail test` and `roadmap doctor`.

use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::mail::SendError;

use crate::message;
use crate::problem::SmtpProblem;
use crate::session::{self, CONNECTED};
use crate::smtp::SmtpMailer;

/// A transcript of the dialog with the mail server. It never contains a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmtpTranscript {
    /// The lines in order: `>` marks commands, `<` replies.
    pub lines: Vec<String>,
    /// Success, or what failed and how to fix it.
    pub outcome: Result<(), SmtpProblem>,
}

impl SmtpMailer {
    /// Sends a test mail over a separate connection and records the dialog.
    pub async fn send_test_mail(&self, to: &EmailAddress) -> SmtpTranscript {
        let mut lines = Vec::new();
        let sent = tokio::time::timeout(self.timeout, self.send_with_transcript(to, &mut lines)).await;
        let outcome = sent.unwrap_or_else(|_| Err(self.timeout_problem(&lines)));
        SmtpTranscript { lines, outcome }
    }

    /// Does everything that comes before a mail: connects with encryption and login, and asks the server whether it takes
    /// mail from the sender. Then it disconnects. No mail is sent.
    pub async fn check_connection(&self) -> SmtpTranscript {
        let mut lines = Vec::new();
        let checked = tokio::time::timeout(self.timeout, async {
            let mut connection = self.server.connect(&mut lines).await?;
            self.server.try_envelope(&mut connection, &mut lines).await?;
            Ok(connection)
        });
        let outcome = match checked.await {
            Ok(Ok(mut connection)) => {
                // The reply to QUIT does not matter, nor whether there is one.
                let _ = tokio::time::timeout(self.timeout, connection.quit()).await;
                Ok(())
            }
            Ok(Err(problem)) => Err(problem),
            Err(_) => Err(self.timeout_problem(&lines)),
        };
        SmtpTranscript { lines, outcome }
    }

    fn timeout_problem(&self, lines: &[String]) -> SmtpProblem {
        let is_silent = lines.last().is_some_and(|line| line == CONNECTED);
        SmtpProblem::of_timeout(self.timeout, is_silent, self.server.options())
    }

    async fn send_with_transcript(&self, to: &EmailAddress, lines: &mut Vec<String>) -> Result<(), SmtpProblem> {
        let unsent = |error| {
            let (SendError::NoConnection { reason }
            | SendError::Transient { reason }
            | SendError::Permanent { reason, .. }) = error;
            SmtpProblem::new(&reason, "`roadmap doctor` checks what comes before a mail")
        };
        let mailbox = session::mailbox(&to.with_ascii_domain()).map_err(unsent)?;
        let message = message::test(mailbox, &self.composer.sender().mailbox).map_err(unsent)?;
        let mut connection = self.server.connect(lines).await?;
        session::send_message(&mut connection, &message, lines).await.map_err(unsent)?;
        // The server has accepted the mail: the reply to QUIT does not matter.
        let _ = connection.quit().await;
        Ok(())
    }
}
