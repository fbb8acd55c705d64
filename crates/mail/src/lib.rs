//! Outgoing mail: its content, and its delivery to a mail server or a folder.
//!
//! - `message.rs`: builds a mail with its headers. `notification.rs`, `digest.rs`, `team_digest.rs`, `sign_in.rs`,
//!   `webhook_disabled.rs` and `test_mail.rs` render the text and the HTML of each kind with compiled-in templates in the
//!   frame of `frame.rs`, with the words of `words.rs` in each language. `content.rs` renders a comment or changelog once for all its mails. `composer.rs` builds
//!   the mails outside of the async runtime. `samples.rs` writes examples of all mails.
//! - [`SmtpMailer`] (`smtp.rs`): sends over the connections of `connections.rs` to a mail server. `session.rs` is the SMTP
//!   dialog, `rejection.rs` the meaning of the server's refusals. `transcript.rs` records the dialog for an operator, and
//!   `problem.rs` has the fixes for what can go wrong in it.
//! - [`FileMailer`] (`files.rs`): writes one file per mail, for installations without a mail server.
//!
//! Not here: recipients, retries and giving up. These belong to the domain.
//!
//! Invariant: a mail has exactly one recipient, and no client text becomes a header or an SMTP command.

mod composer;
mod connections;
mod content;
mod digest;
mod files;
mod frame;
mod message;
mod notification;
mod options;
mod problem;
mod rejection;
#[cfg(test)]
mod samples;
mod session;
mod sign_in;
mod smtp;
mod team_digest;
mod test_mail;
mod transcript;
mod webhook_disabled;
mod words;

pub use files::FileMailer;
pub use options::{HelloName, MailSettingError, Security, SmtpOptions};
pub use problem::SmtpProblem;
pub use smtp::SmtpMailer;
pub use transcript::SmtpTranscript;
