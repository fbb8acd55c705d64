//! The SMTP dialog (RFC 5321) with a mail server, step by step: the meaning of a rejection depends on the step.

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

/// Maximum characters of a reason.
const MAX_REASON_LENGTH: usize = 500;

/// A receiver of the lines of a dialog.
pub(crate) trait TranscriptSink: Send {
    /// Records a command, a reply or an event.
    fn record(&mut self, line: String);
}

/// Discards the lines.
impl TranscriptSink for () {
    fn record(&mut self, _: String) {}
}

impl TranscriptSink for Vec<String> {
    fn record(&mut self, line: String) {
        self.push(line);
    }
}

/// A mail server with everything that is needed to connect to it.
#[derive(Clone)]
pub(crate) struct Server {
    options: SmtpOptions,
    tls: TlsParameters,
    client_id: ClientId,
}

impl Server {
    pub(crate) fn new(options: &SmtpOptions) -> Result<Self, MailSettingError> {
        // Fails if another part of the process has installed a provider already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut tls = TlsParameters::builder(options.host.clone());
        if let Some(file) = &options.certificates {
            let failed = |error| MailSettingError::Certificates(file.clone(), error);
            let pem = std::fs::read(file).map_err(|error| failed(error.into()))?;
            tls = tls.add_root_certificate(Certificate::from_pem(&pem).map_err(|error| failed(error.into()))?);
        }
        if options.security == Security::Opportunistic {
            // Opportunistic security (RFC 7435): unauthenticated encryption is better than none.
            tls = tls.dangerous_accept_invalid_certs(true);
        }
        let tls = tls.build().map_err(|error| MailSettingError::Setup(error.into()))?;
        Ok(Self { options: options.clone(), tls, client_id: ClientId::default() })
    }

    /// Opens a connection that is ready to send mail. All errors are transient, because they do not concern a mail.
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
    /// Opens the TCP connection with `TCP_NODELAY`, because a mail is written in several pieces and none should wait for the
    /// acknowledgement of the previous one.
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

/// Sends a mail. After an error the connection must not be used again.
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
            // The mailbox may exist: another mail server could deliver to it.
            let reason = "the address is not ASCII, and the mail server does not support SMTPUTF8".to_owned();
            return Err(SendError::Permanent { reason, no_such_mailbox: false });
        }
        parameters.push(MailParameter::SmtpUtfEight);
    }
    if !bytes.is_ascii() {
        // Only headers with non-ASCII addresses are not ASCII: bodies are encoded.
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

/// An error that does not concern the mail itself.
fn transient_error(step: &str, error: &Error) -> SendError {
    SendError::Transient { reason: reason(step, error) }
}

/// An error at a step that concerns the mail: 5xx is permanent, unless the operator can fix it.
fn rejection_error(step: &str, error: &Error) -> SendError {
    let reason = reason(step, error);
    if !error.is_permanent() || requires_operator_action(error.status()) {
        return SendError::Transient { reason };
    }
    SendError::Permanent { no_such_mailbox: is_no_such_mailbox(error), reason }
}

/// Whether the code means that a login or encryption is required (RFC 4954 section 6, RFC 3207 section 4), which the
/// operator can fix.
fn requires_operator_action(code: Option<response::Code>) -> bool {
    code.is_some_and(|code| matches!(u16::from(code), 530 | 534 | 535 | 538))
}

/// Whether the enhanced status code (RFC 3463 section 3.2) means that the mailbox does not exist: bad mailbox, bad
/// destination, bad syntax, moved, null MX (RFC 7505).
fn is_no_such_mailbox(error: &Error) -> bool {
    matches!(enhanced_code(error), Some([5, 1, 1 | 2 | 3 | 6 | 10]))
}

/// Parses the enhanced status code at the beginning of the response's text. lettre 0.11 does not parse it: its error has
/// only the basic code ([`Error::status`]), with the text as its source. A test below verifies this.
fn enhanced_code(error: &Error) -> Option<[u16; 3]> {
    error.status()?;
    let text = std::error::Error::source(error)?.to_string();
    let parts: Vec<u16> = text.split_whitespace().next()?.split('.').map_while(|part| part.parse().ok()).collect();
    parts.try_into().ok()
}

/// The step and the chain of causes, as one line.
fn reason(step: &str, error: &Error) -> String {
    bounded_line(&format!("at {step}: {}", ErrorChain::new(error)))
}

/// Makes a single line of at most [`MAX_REASON_LENGTH`] characters.
fn bounded_line(text: &str) -> String {
    let line: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    line.trim().chars().take(MAX_REASON_LENGTH).collect()
}

/// The mailbox for an address that an operator entered.
pub(crate) fn mailbox(address: &str) -> Result<Mailbox, SendError> {
    address.parse().map(|address| Mailbox::new(None, address)).map_err(|error| SendError::Permanent {
        reason: format!("the address is invalid: {error}"),
        no_such_mailbox: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_testkit::smtp::{Reply, Sink, Step};

    /// The error that lettre returns for a reply to RCPT.
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

    /// The functions above rely on this behaviour of lettre 0.11 (0.11.23 when this was written): the error has the code of
    /// the reply, and its source is the reply's text with the lines joined by spaces. The error's own text contains it too.
    #[tokio::test]
    async fn lettre_0_11_has_the_text_of_a_rejection_as_its_source() {
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

    /// An error without a valid reply has no code, even if its text looks like one.
    #[tokio::test]
    async fn an_error_without_a_response_has_no_code() {
        let error = error_of("5.1.1 no code before it").await;
        assert_eq!((error.status(), enhanced_code(&error)), (None, None));
        assert!(!is_no_such_mailbox(&error));
    }
}
