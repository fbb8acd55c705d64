//! Outgoing mail: what it looks like, and the two ways that it takes, a mail server or a folder.
//!
//! - `message.rs`: a notification as a mail, text and HTML, from compiled-in templates; `comment.rs` is what it shows of a
//!   comment, made once for all its mails, and `composer.rs` writes them beside the runtime.
//! - [`SmtpMailer`] (`smtp.rs`): over a few connections to a mail server that are kept open;
//!   `session.rs` is what is said on them, `transcript.rs` says it aloud to an operator.
//! - [`FileMailer`] (`files.rs`): a file for each mail, where there is no server.
//!
//! Not here: whom to send what, when to try again and when to give up. That is the domain's.
//!
//! Invariant: a mail has one recipient, and nothing that a client wrote becomes a header or a command.

mod comment;
mod composer;
mod files;
mod message;
mod options;
mod session;
mod smtp;
mod transcript;

pub use files::FileMailer;
pub use options::{MailSettingError, Security, SmtpOptions};
pub use smtp::SmtpMailer;
pub use transcript::SmtpTranscript;
