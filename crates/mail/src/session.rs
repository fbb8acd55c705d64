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
use roadmap_domain::model::mail::SendError;
use tokio::net::TcpStream;

use crate::options::{MailSettingError, Security, SmtpOptions};

/// Most characters of a reason.
const MAX_REASON_LENGTH: usize = 500;

/// Who listens to a dialog.
pub(crate) trait TranscriptSink: Send {
    /// Something was said, or has happened.
    fn record(&mut self, line: String);
}

/// Nobody.
impl TranscriptSink for () {
    fn record(&mut self, _: String) {}
}

impl TranscriptSink for Vec<String> {
    fn record(&mut self, line: String) {
        self.push(line);
    }
}

/// The server, and how it is spoken to.
#[derive(Clone)]
pub(crate) struct Server {
    options: SmtpOptions,
    tls: TlsParameters,
    client_id: ClientId,
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
        Ok(Self { options: options.clone(), tls, client_id: ClientId::default() })
    }

    /// A connection that mail can be sent on. Whatever fails here may work later: it has nothing to
    /// do with any mail.
    pub(crate) async fn connect(&self, transcript: &mut dyn TranscriptSink) -> Result<AsyncSmtpConnection, SendError> {
        let SmtpOptions { host, port, security, login, .. } = &self.options;
        transcript.record(format!("connecting to {host}:{port}"));
        let implicit = (*security == Security::Implicit).then(|| self.tls.clone());
        let mut connection = match implicit {
            Some(tls) => {
                AsyncSmtpConnection::connect_tokio1((host.as_str(), *port), None, &self.client_id, Some(tls), None)
                    .await
            }
            None => {
                let stream = self.connect_tcp().await?;
                AsyncSmtpConnection::connect_with_transport(Box::new(stream), &self.client_id).await
            }
        }
        .map_err(|error| transient_error("connecting", &error))?;
        transcript.record(format!("> EHLO {}", self.client_id));
        transcript.record(format!("< {}", connection.server_info()));
        let starts_tls = match security {
            Security::None | Security::Implicit => false,
            Security::Opportunistic => connection.can_starttls(),
            Security::Required => true,
        };
        if starts_tls {
            transcript.record("> STARTTLS".to_owned());
            let started = connection.starttls(self.tls.clone(), &self.client_id).await;
            started.map_err(|error| transient_error("STARTTLS", &error))?;
            transcript.record(format!("< {}", connection.server_info()));
        }
        transcript.record(if connection.is_encrypted() { "(encrypted)" } else { "(not encrypted)" }.to_owned());
        if let Some((user, password)) = login {
            transcript.record(format!("> AUTH (as {user})"));
            let credentials = Credentials::new(user.clone(), password.clone());
            let response = connection.auth(DEFAULT_MECHANISMS, &credentials).await;
            transcript
                .record(format!("< {}", response_text(&response.map_err(|error| transient_error("AUTH", &error))?)));
        }
        Ok(connection)
    }
}

impl Server {
    /// The connection below. A mail is written in several pieces: each must go out at once, instead of
    /// waiting for the server to acknowledge the one before.
    async fn connect_tcp(&self) -> Result<TcpStream, SendError> {
        let SmtpOptions { host, port, .. } = &self.options;
        let reached = async {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        reached.await.map_err(|error: std::io::Error| SendError::Transient {
            reason: bounded_line(&format!("at connecting: {error}")),
        })
    }
}

/// Hands over a mail and returns the server's answer to it. After an error the connection is in no state to be used again.
pub(crate) async fn send_message(
    connection: &mut AsyncSmtpConnection,
    message: &Message,
    transcript: &mut dyn TranscriptSink,
) -> Result<String, SendError> {
    let mut parameters = Vec::new();
    let bytes = message.formatted();
    let envelope = message.envelope();
    if !envelope.from().is_none_or(is_ascii) || !envelope.to().iter().all(is_ascii) {
        if !connection.server_info().supports_feature(Extension::SmtpUtfEight) {
            // Another mail server would reach the mailbox.
            let reason = "the address is not in ASCII, and the mail server takes no other (SMTPUTF8)".to_owned();
            return Err(SendError::Permanent { reason, no_such_mailbox: false });
        }
        parameters.push(MailParameter::SmtpUtfEight);
    }
    if !bytes.is_ascii() {
        // Only headers of such addresses are not: bodies are encoded.
        parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    send_command(connection, Mail::new(envelope.from().cloned(), parameters), transcript)
        .await
        .map_err(|error| transient_error("MAIL FROM", &error))?;
    for to in envelope.to() {
        let response = send_command(connection, Rcpt::new(to.clone(), Vec::new()), transcript).await;
        response.map_err(|error| rejection_error("RCPT TO", &error))?;
    }
    send_command(connection, Data, transcript).await.map_err(|error| rejection_error("DATA", &error))?;
    transcript.record(format!("> ({} bytes)", bytes.len()));
    let response = connection.message(&bytes).await.map_err(|error| rejection_error("the message", &error))?;
    let response = response_text(&response);
    transcript.record(format!("< {response}"));
    Ok(response)
}

fn is_ascii(address: &lettre::Address) -> bool {
    AsRef::<str>::as_ref(address).is_ascii()
}

async fn send_command<C: Display>(
    connection: &mut AsyncSmtpConnection,
    command: C,
    transcript: &mut dyn TranscriptSink,
) -> Result<Response, Error> {
    let command = command.to_string();
    transcript.record(format!("> {}", command.trim_end()));
    let response = connection.command(command).await;
    transcript.record(match &response {
        Ok(response) => format!("< {}", response_text(response)),
        Err(error) => format!("< {error}"),
    });
    response
}

fn response_text(response: &Response) -> String {
    let text = response.message().collect::<Vec<_>>().join(" ");
    bounded_line(&format!("{} {text}", response.code()))
}

/// A failure that has nothing to do with the mail.
fn transient_error(step: &str, error: &Error) -> SendError {
    SendError::Transient { reason: reason(step, error) }
}

/// A failure at a step that is about this mail: 5xx is for ever.
fn rejection_error(step: &str, error: &Error) -> SendError {
    let reason = reason(step, error);
    if !error.is_permanent() || requires_operator_action(error.status()) {
        return SendError::Transient { reason };
    }
    SendError::Permanent { no_such_mailbox: is_no_such_mailbox(error), reason }
}

/// Codes by which a server wants a login or encryption first (RFC 4954 section 6, RFC 3207 section
/// 4): the operator can mend that.
fn requires_operator_action(code: Option<response::Code>) -> bool {
    code.is_some_and(|code| matches!(u16::from(code), 530 | 534 | 535 | 538))
}

/// Whether the enhanced status code (RFC 3463 section 3.2) says that there is no such mailbox: bad
/// mailbox, bad destination, bad syntax, moved away, null MX (RFC 7505).
fn is_no_such_mailbox(error: &Error) -> bool {
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
    bounded_line(&format!("at {step}: {}", ErrorChain::new(error)))
}

/// One line of bounded length.
fn bounded_line(text: &str) -> String {
    let line: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    line.trim().chars().take(MAX_REASON_LENGTH).collect()
}

/// Whom a mail of an operator's goes to.
pub(crate) fn mailbox(address: &str) -> Result<Mailbox, SendError> {
    address.parse().map(|address| Mailbox::new(None, address)).map_err(|error| SendError::Permanent {
        reason: format!("the address cannot be written to: {error}"),
        no_such_mailbox: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_testkit::smtp::{Reply, Sink, Step};

    /// What lettre makes of an answer to RCPT.
    async fn error_of(response: &'static str) -> Error {
        let sink = Sink::start();
        sink.script(move |step| match step {
            Step::To(_) => Reply::Custom(response),
            _ => Reply::Default,
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
        for (response, code, text, enhanced) in [
            ("550 5.1.1 No such user", 550, "5.1.1 No such user", Some([5, 1, 1])),
            ("556 5.1.10 Null MX", 556, "5.1.10 Null MX", Some([5, 1, 10])),
            ("450 4.2.1 Busy", 450, "4.2.1 Busy", Some([4, 2, 1])),
            ("550-5.1.1 No such user\r\n550 5.1.1 here", 550, "5.1.1 No such user here", Some([5, 1, 1])),
            ("550 No such user", 550, "No such user", None),
            ("550 5.1 what", 550, "5.1 what", None),
            ("550 5.1.1.1 what", 550, "5.1.1.1 what", None),
        ] {
            let error = error_of(response).await;
            assert_eq!(error.status().map(u16::from), Some(code), "{response}");
            assert_eq!(error.is_permanent(), code >= 500, "{response}");
            assert_eq!(std::error::Error::source(&error).unwrap().to_string(), text, "{response}");
            let kind = if code >= 500 { "permanent" } else { "transient" };
            assert_eq!(error.to_string(), format!("{kind} error ({code}): {text}"));
            assert_eq!(enhanced_code(&error), enhanced, "{response}");
            assert_eq!(reason("RCPT TO", &error), format!("at RCPT TO: {kind} error ({code}): {text}"));
        }
    }

    /// An error that is no refusal has no code, whatever its text.
    #[tokio::test]
    async fn an_error_without_a_response_has_no_code() {
        let error = error_of("5.1.1 no code before it").await;
        assert_eq!((error.status(), enhanced_code(&error)), (None, None));
        assert!(!is_no_such_mailbox(&error));
    }
}
