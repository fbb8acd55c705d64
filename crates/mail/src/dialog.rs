//! What is said on a connection to a mail server (RFC 5321), step by step, because what a refusal
//! means depends on the step.

use std::fmt::Display;

use lettre::Message;
use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use lettre::transport::smtp::response::Response;
use lettre::transport::smtp::{Error, response};
use roadmap_domain::error::ErrorChain;
use roadmap_domain::model::mail::NotSent;
use tokio::net::TcpStream;

use crate::options::{MailSettingError, Security, SmtpOptions};

/// Most characters of a reason.
const LONGEST: usize = 500;

/// Who listens to a dialog.
pub(crate) trait Listener: Send {
    /// Something was said, or has happened.
    fn hear(&mut self, line: String);
}

/// Nobody.
impl Listener for () {
    fn hear(&mut self, _: String) {}
}

impl Listener for Vec<String> {
    fn hear(&mut self, line: String) {
        self.push(line);
    }
}

/// The server, and how it is spoken to.
#[derive(Clone)]
pub(crate) struct Server {
    options: SmtpOptions,
    tls: TlsParameters,
    hello: ClientId,
}

impl Server {
    pub(crate) fn new(options: &SmtpOptions) -> Result<Self, MailSettingError> {
        // Another part of the process may have installed one, and then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut tls = TlsParameters::builder(options.host.clone());
        if let Some(file) = &options.certificates {
            let failed = |error| MailSettingError::Certificates(file.clone(), error);
            let pem = std::fs::read(file).map_err(|error| failed(error.into()))?;
            tls = tls.add_root_certificate(Certificate::from_pem(&pem).map_err(|error| failed(error.into()))?);
        }
        if options.security == Security::Opportunistic {
            // Where no encryption is good enough, encryption with whomever is better (RFC 7435).
            tls = tls.dangerous_accept_invalid_certs(true);
        }
        let tls = tls.build().map_err(|error| MailSettingError::Setup(error.into()))?;
        Ok(Self { options: options.clone(), tls, hello: ClientId::default() })
    }

    /// A connection that mail can be sent on. Whatever fails here may work later: it has nothing to
    /// do with any mail.
    pub(crate) async fn connect(&self, listener: &mut dyn Listener) -> Result<AsyncSmtpConnection, NotSent> {
        let SmtpOptions { host, port, security, login, .. } = &self.options;
        listener.hear(format!("connecting to {host}:{port}"));
        let implicit = (*security == Security::Implicit).then(|| self.tls.clone());
        let mut connection = match implicit {
            Some(tls) => {
                AsyncSmtpConnection::connect_tokio1((host.as_str(), *port), None, &self.hello, Some(tls), None).await
            }
            None => {
                let stream = self.reach().await?;
                AsyncSmtpConnection::connect_with_transport(Box::new(stream), &self.hello).await
            }
        }
        .map_err(|error| later("connecting", &error))?;
        listener.hear(format!("> EHLO {}", self.hello));
        listener.hear(format!("< {}", connection.server_info()));
        let starts_tls = match security {
            Security::None | Security::Implicit => false,
            Security::Opportunistic => connection.can_starttls(),
            Security::Required => true,
        };
        if starts_tls {
            listener.hear("> STARTTLS".to_owned());
            let started = connection.starttls(self.tls.clone(), &self.hello).await;
            started.map_err(|error| later("STARTTLS", &error))?;
            listener.hear(format!("< {}", connection.server_info()));
        }
        listener.hear(if connection.is_encrypted() { "(encrypted)" } else { "(not encrypted)" }.to_owned());
        if let Some((user, password)) = login {
            listener.hear(format!("> AUTH (as {user})"));
            let credentials = Credentials::new(user.clone(), password.clone());
            let answer = connection.auth(DEFAULT_MECHANISMS, &credentials).await;
            listener.hear(format!("< {}", told(&answer.map_err(|error| later("AUTH", &error))?)));
        }
        Ok(connection)
    }
}

impl Server {
    /// The connection below. A mail is written in several pieces: each must go out at once, instead of
    /// waiting for the server to acknowledge the one before.
    async fn reach(&self) -> Result<TcpStream, NotSent> {
        let SmtpOptions { host, port, .. } = &self.options;
        let reached = async {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        reached
            .await
            .map_err(|error: std::io::Error| NotSent::Later { reason: bounded(&format!("at connecting: {error}")) })
    }
}

/// Hands over a mail. After an error the connection is in no state to be used again.
pub(crate) async fn hand_over(
    connection: &mut AsyncSmtpConnection,
    message: &Message,
    listener: &mut dyn Listener,
) -> Result<(), NotSent> {
    let mut parameters = Vec::new();
    let bytes = message.formatted();
    let envelope = message.envelope();
    if !envelope.from().is_none_or(is_ascii) || !envelope.to().iter().all(is_ascii) {
        if !connection.server_info().supports_feature(Extension::SmtpUtfEight) {
            // Another mail server would reach the mailbox.
            let reason = "the address is not in ASCII, and the mail server takes no other (SMTPUTF8)".to_owned();
            return Err(NotSent::Never { reason, no_such_mailbox: false });
        }
        parameters.push(MailParameter::SmtpUtfEight);
    }
    if !bytes.is_ascii() {
        // Only headers of such addresses are not: bodies are encoded.
        parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    say(connection, Mail::new(envelope.from().cloned(), parameters), listener)
        .await
        .map_err(|error| later("MAIL FROM", &error))?;
    for to in envelope.to() {
        let answer = say(connection, Rcpt::new(to.clone(), Vec::new()), listener).await;
        answer.map_err(|error| refused("RCPT TO", &error))?;
    }
    say(connection, Data, listener).await.map_err(|error| refused("DATA", &error))?;
    listener.hear(format!("> ({} bytes)", bytes.len()));
    let answer = connection.message(&bytes).await.map_err(|error| refused("the message", &error))?;
    listener.hear(format!("< {}", told(&answer)));
    Ok(())
}

fn is_ascii(address: &lettre::Address) -> bool {
    AsRef::<str>::as_ref(address).is_ascii()
}

async fn say<C: Display>(
    connection: &mut AsyncSmtpConnection,
    command: C,
    listener: &mut dyn Listener,
) -> Result<Response, Error> {
    let command = command.to_string();
    listener.hear(format!("> {}", command.trim_end()));
    let answer = connection.command(command).await;
    listener.hear(match &answer {
        Ok(answer) => format!("< {}", told(answer)),
        Err(error) => format!("< {error}"),
    });
    answer
}

fn told(answer: &Response) -> String {
    let text = answer.message().collect::<Vec<_>>().join(" ");
    bounded(&format!("{} {text}", answer.code()))
}

/// A failure that has nothing to do with the mail.
fn later(step: &str, error: &Error) -> NotSent {
    NotSent::Later { reason: reason(step, error) }
}

/// A failure at a step that is about this mail: 5xx is for ever.
fn refused(step: &str, error: &Error) -> NotSent {
    let reason = reason(step, error);
    if !error.is_permanent() || is_about_the_sender(error.status()) {
        return NotSent::Later { reason };
    }
    NotSent::Never { no_such_mailbox: says_no_such_mailbox(error), reason }
}

/// Codes by which a server wants a login or encryption first (RFC 4954 section 6, RFC 3207 section
/// 4): the operator can mend that.
fn is_about_the_sender(code: Option<response::Code>) -> bool {
    code.is_some_and(|code| matches!(u16::from(code), 530 | 534 | 535 | 538))
}

/// Whether the enhanced status code (RFC 3463 section 3.2) says that there is no such mailbox: bad
/// mailbox, bad destination, bad syntax, moved away, null MX (RFC 7505).
fn says_no_such_mailbox(error: &Error) -> bool {
    matches!(enhanced_code(error), Some([5, 1, 1 | 2 | 3 | 6 | 10]))
}

/// The enhanced status code that the response's text begins with. lettre 0.11 has no typed part for it: its error has the
/// code alone ([`Error::status`]), and the text is its source. A test below holds it to that.
fn enhanced_code(error: &Error) -> Option<[u16; 3]> {
    error.status()?;
    let text = std::error::Error::source(error)?.to_string();
    let parts: Vec<u16> = text.split_whitespace().next()?.split('.').map_while(|part| part.parse().ok()).collect();
    parts.try_into().ok()
}

/// The step, and all causes in the server's words.
fn reason(step: &str, error: &Error) -> String {
    bounded(&format!("at {step}: {}", ErrorChain::new(error)))
}

/// One line of bounded length.
fn bounded(text: &str) -> String {
    let line: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    line.trim().chars().take(LONGEST).collect()
}

/// Whom a mail of an operator's goes to.
pub(crate) fn mailbox(address: &str) -> Result<Mailbox, NotSent> {
    address.parse().map(|address| Mailbox::new(None, address)).map_err(|error| NotSent::Never {
        reason: format!("the address cannot be written to: {error}"),
        no_such_mailbox: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_testkit::smtp::{Reply, Sink, Step};

    /// What lettre makes of an answer to RCPT.
    async fn error_of(answer: &'static str) -> Error {
        let sink = Sink::start();
        sink.script(move |step| match step {
            Step::To(_) => Reply::Say(answer),
            _ => Reply::Usual,
        });
        let options = SmtpOptions::parse(&sink.url(), "hello@acme.example").unwrap();
        let mut connection = Server::new(&options).unwrap().connect(&mut ()).await.unwrap();
        let address: lettre::Address = "ann@example.com".parse().unwrap();
        connection.command(Mail::new(Some(address.clone()), Vec::new())).await.unwrap();
        connection.command(Rcpt::new(address, Vec::new())).await.unwrap_err()
    }

    /// What the functions above rely on of lettre 0.11 (0.11.23 when this was written): the code of a refusal is typed, and the
    /// text of the response, its lines joined by spaces, is the error's source, and stands in the error itself as well.
    #[tokio::test]
    async fn lettre_0_11_has_the_text_of_a_refusal_as_its_source() {
        for (answer, code, text, enhanced) in [
            ("550 5.1.1 No such user", 550, "5.1.1 No such user", Some([5, 1, 1])),
            ("556 5.1.10 Null MX", 556, "5.1.10 Null MX", Some([5, 1, 10])),
            ("450 4.2.1 Busy", 450, "4.2.1 Busy", Some([4, 2, 1])),
            ("550-5.1.1 No such user\r\n550 5.1.1 here", 550, "5.1.1 No such user here", Some([5, 1, 1])),
            ("550 No such user", 550, "No such user", None),
            ("550 5.1 what", 550, "5.1 what", None),
            ("550 5.1.1.1 what", 550, "5.1.1.1 what", None),
        ] {
            let error = error_of(answer).await;
            assert_eq!(error.status().map(u16::from), Some(code), "{answer}");
            assert_eq!(error.is_permanent(), code >= 500, "{answer}");
            assert_eq!(std::error::Error::source(&error).unwrap().to_string(), text, "{answer}");
            let kind = if code >= 500 { "permanent" } else { "transient" };
            assert_eq!(error.to_string(), format!("{kind} error ({code}): {text}"));
            assert_eq!(enhanced_code(&error), enhanced, "{answer}");
            assert_eq!(reason("RCPT TO", &error), format!("at RCPT TO: {kind} error ({code}): {text}"));
        }
    }

    /// An error that is no refusal has no code, whatever its text.
    #[tokio::test]
    async fn what_is_no_response_has_no_code() {
        let error = error_of("5.1.1 no code before it").await;
        assert_eq!((error.status(), enhanced_code(&error)), (None, None));
        assert!(!says_no_such_mailbox(&error));
    }
}
