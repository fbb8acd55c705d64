//! Outgoing mail: its content, and its delivery to a mail server or a folder.
//!
//! - `message.rs`: builds a mail (text and HTML) from a notification with compiled-in templates. `content.rs` renders a
//!   comment or changelog once for all its mails. `sign_in.rs` has the mail of a sign-in in each language. `composer.rs`
//!   builds the mails outside of the async runtime.
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
mod files;
mod message;
mod options;
mod problem;
mod rejection;
mod session;
mod sign_in;
mod smtp;
mod transcript;

pub use files::FileMailer;
pub use options::{HelloName, MailSettingError, Security, SmtpOptions};
pub use problem::SmtpProblem;
pub use smtp::SmtpMailer;
pub use transcript::SmtpTranscript;
