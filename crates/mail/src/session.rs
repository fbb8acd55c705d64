//! The SMTP dialog (RFC 5321) with a mail server, step by step: the meaning of a rejection depends on the step.

use std::fmt::Display;
use std::sync::Arc;

use lettre::Message;
use lettre::message::Mailbox;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::{Extension, MailBodyParameter, MailParameter};
use lettre::transport::smtp::response::Response;
use roadmap_domain::error::ErrorChain;
use roadmap_domain::model::mail::SendError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::net::TcpStream;

use crate::options::{MailSettingError, Security, SmtpOptions};
use crate::problem::{SmtpProblem, is_issuer_as_server};
use crate::rejection::{Cause, Step, cause, is_no_such_mailbox};

/// The line of a transcript after which the server is to speak.
pub(crate) const CONNECTED: &str = "(connected)";

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
    pinned: Option<Arc<PinnedCertificates>>,
}

/// Certificates of the setting `ca`, one of which may be that of the server itself.
struct PinnedCertificates {
    /// Accepts all certificates, as long as the server has the key. The caller compares them.
    tls: TlsParameters,
    certificates: Vec<CertificateDer<'static>>,
}

impl Server {
    pub(crate) fn new(options: &SmtpOptions) -> Result<Self, MailSettingError> {
        // Fails if another part of the process has installed a provider already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let setup = |error: Error| MailSettingError::Setup(error.into());
        let accept_all = || {
            let tls = TlsParameters::builder(options.host.clone());
            tls.dangerous_accept_invalid_certs(true).dangerous_accept_invalid_hostnames(true).build().map_err(setup)
        };
        let mut tls = TlsParameters::builder(options.host.clone());
        let mut pinned = None;
        if let Some(file) = &options.certificates {
            let failed = |error| MailSettingError::Certificates(file.clone(), error);
            let pem = std::fs::read(file).map_err(|error| failed(error.into()))?;
            let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
            let certificates = certificates.map_err(|error| failed(error.into()))?;
            if certificates.is_empty() {
                return Err(failed("there is no certificate in it".into()));
            }
            tls = tls.add_root_certificate(Certificate::from_pem(&pem).map_err(|error| failed(error.into()))?);
            pinned = Some(Arc::new(PinnedCertificates { tls: accept_all()?, certificates }));
        }
        // Opportunistic security (RFC 7435): unauthenticated encryption is better than none.
        let is_opportunistic = options.security == Security::Opportunistic;
        let tls = if is_opportunistic { accept_all()? } else { tls.build().map_err(setup)? };
        Ok(Self { options: options.clone(), tls, pinned })
    }

    /// The options.
    pub(crate) fn options(&self) -> &SmtpOptions {
        &self.options
    }

    /// Opens a connection that is ready to send mail.
    pub(crate) async fn connect(
        &self,
        transcript: &mut dyn TranscriptSink,
    ) -> Result<AsyncSmtpConnection, SmtpProblem> {
        let mut connection = match (self.connect_with(&self.tls, transcript).await, &self.pinned) {
            (Err(ConnectError::Dialog(step, error)), Some(pinned)) if is_issuer_as_server(&error) => {
                self.connect_pinned(pinned, transcript).await?.ok_or_else(|| self.problem(step, &error))?
            }
            (connected, _) => connected.map_err(|error| self.connect_problem(&error))?,
        };
        transcript.record(if connection.is_encrypted() { "(encrypted)" } else { "(not encrypted)" }.to_owned());
        if let Some((user, password)) = &self.options.login {
            transcript.record(format!("> AUTH (as {user})"));
            let credentials = Credentials::new(user.clone(), password.clone());
            let response = connection.auth(DEFAULT_MECHANISMS, &credentials).await;
            let response = response.map_err(|error| self.problem(Step::Login, &error))?;
            transcript.record(format!("< {}", response_text(&response)));
        }
        Ok(connection)
    }

    /// Connects to a server whose certificate is not signed by a trusted one, but may be one of these. Returns `None` if
    /// it is not. The key of the certificate is verified.
    async fn connect_pinned(
        &self,
        pinned: &PinnedCertificates,
        transcript: &mut dyn TranscriptSink,
    ) -> Result<Option<AsyncSmtpConnection>, SmtpProblem> {
        let connected = self.connect_with(&pinned.tls, transcript).await;
        let connection = connected.map_err(|error| self.connect_problem(&error))?;
        let certificate = connection.peer_certificate().map_err(|error| self.problem(Step::Connect, &error))?;
        let is_trusted = pinned.certificates.iter().any(|trusted| **trusted == *certificate);
        Ok(is_trusted.then_some(connection))
    }

    /// Opens a connection up to EHLO and STARTTLS.
    async fn connect_with(
        &self,
        tls: &TlsParameters,
        transcript: &mut dyn TranscriptSink,
    ) -> Result<AsyncSmtpConnection, ConnectError> {
        let SmtpOptions { host, port, security, hello, .. } = &self.options;
        transcript.record(format!("connecting to {}", self.options.server()));
        let address = (host.as_str(), *port);
        let connected = if *security == Security::Implicit {
            AsyncSmtpConnection::connect_tokio1(address, None, &hello.0, Some(tls.clone()), None).await
        } else {
            let stream = self.connect_tcp().await.map_err(ConnectError::Tcp)?;
            transcript.record(CONNECTED.to_owned());
            AsyncSmtpConnection::connect_with_transport(Box::new(stream), &hello.0).await
        };
        let mut connection = connected.map_err(|error| ConnectError::Dialog(Step::Connect, error))?;
        transcript.record(format!("> EHLO {hello}"));
        transcript.record(format!("< {}", connection.server_info()));
        let starts_tls = match security {
            Security::None | Security::Implicit => false,
            Security::Opportunistic => connection.can_starttls(),
            Security::Required => true,
        };
        if starts_tls {
            transcript.record("> STARTTLS".to_owned());
            let started = connection.starttls(tls.clone(), &hello.0).await;
            started.map_err(|error| ConnectError::Dialog(Step::StartTls, error))?;
            transcript.record(format!("< {}", connection.server_info()));
        }
        Ok(connection)
    }

    fn problem(&self, step: Step, error: &Error) -> SmtpProblem {
        SmtpProblem::at_step(step, error, &self.options)
    }

    fn connect_problem(&self, error: &ConnectError) -> SmtpProblem {
        match error {
            ConnectError::Tcp(error) => SmtpProblem::of_connection(error, &self.options),
            ConnectError::Dialog(step, error) => self.problem(*step, error),
        }
    }

    /// Opens the TCP connection with `TCP_NODELAY`, because a mail is written in several pieces and none should wait for the
    /// acknowledgement of the previous one.
    async fn connect_tcp(&self) -> std::io::Result<TcpStream> {
        let SmtpOptions { host, port, .. } = &self.options;
        let stream = TcpStream::connect((host.as_str(), *port)).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Begins a mail from the sender to the sender over a new connection and takes it back, so that all that the server
    /// may refuse before the content is known. Nothing is sent.
    ///
    /// # Errors
    /// The first refusal, with its step.
    pub(crate) async fn try_envelope(
        &self,
        connection: &mut AsyncSmtpConnection,
        transcript: &mut dyn TranscriptSink,
    ) -> Result<(), SmtpProblem> {
        let from = &self.options.from.email;
        let sender = send_command(connection, Mail::new(Some(from.clone()), Vec::new()), transcript).await;
        sender.map_err(|error| self.problem(Step::Sender, &error))?;
        let recipient = send_command(connection, Rcpt::new(from.clone(), Vec::new()), transcript).await;
        if let Err(error) = &recipient
            && is_about_mail(Step::Recipient, error)
        {
            let fix =
                format!("make {from} (mail_from) a mailbox of yours: it gets the bounces and answers of customers");
            return Err(SmtpProblem { fix, is_fatal: false, ..self.problem(Step::Recipient, error) });
        }
        recipient.map_err(|error| self.problem(Step::Recipient, &error))?;
        // The server forgets the mail at QUIT, too.
        let _ = send_command(connection, Rset, transcript).await;
        Ok(())
    }
}

/// A failure on the way to a connection.
enum ConnectError {
    Tcp(std::io::Error),
    Dialog(Step, Error),
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
            let reason =
                "the part of the address before the @ is not ASCII, and the mail server does not support SMTPUTF8"
                    .to_owned();
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
        .map_err(|error| rejection_error(Step::Sender, &error))?;
    for to in envelope.to() {
        let response = send_command(connection, Rcpt::new(to.clone(), Vec::new()), transcript).await;
        response.map_err(|error| rejection_error(Step::Recipient, &error))?;
    }
    send_command(connection, Data, transcript).await.map_err(|error| rejection_error(Step::Data, &error))?;
    transcript.record(format!("> ({} bytes)", bytes.len()));
    let response = connection.message(&bytes).await.map_err(|error| rejection_error(Step::Message, &error))?;
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

/// An error at a step: a 5xx is permanent if it is about the mail. One about this client or the sender does not depend on
/// the mail, and the operator can fix it.
fn rejection_error(step: Step, error: &Error) -> SendError {
    let reason = reason(step, error);
    if step == Step::Sender && !error.is_permanent() {
        // The server wants no mail now, or the connection is lost. The mail itself was not begun.
        return SendError::NoConnection { reason };
    }
    if !error.is_permanent() || !is_about_mail(step, error) {
        return SendError::Transient { reason };
    }
    SendError::Permanent { no_such_mailbox: is_no_such_mailbox(&text(error)), reason }
}

/// Whether a refusal is about the mail itself.
fn is_about_mail(step: Step, error: &Error) -> bool {
    error.status().is_some_and(|code| cause(step, code.into(), &text(error)) == Cause::Mail)
}

/// The text of the reply. lettre 0.11 has it as the source of its error. A test below verifies this.
fn text(error: &Error) -> String {
    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
}

/// The step and the chain of causes, as one line.
fn reason(step: Step, error: &Error) -> String {
    bounded_line(&format!("at {}: {}", step.name(), ErrorChain::new(error)))
}

/// Makes a single line of at most [`MAX_REASON_LENGTH`] characters.
pub(crate) fn bounded_line(text: &str) -> String {
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
    use crate::rejection::enhanced_code;
    use roadmap_testkit::smtp::{Reply, Sink};

    /// The error that lettre returns for a reply to RCPT.
    async fn error_of(response: &'static str) -> Error {
        let sink = Sink::start();
        sink.script(move |step| match step {
            roadmap_testkit::smtp::Step::To(_) => Reply::Custom(response),
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
            assert_eq!(enhanced_code(&super::text(&error)), enhanced, "{response}");
            assert_eq!(reason(Step::Recipient, &error), format!("at RCPT TO: {kind} error ({code}): {text}"));
        }
    }

    /// An error without a valid reply has no code, even if its text looks like one.
    #[tokio::test]
    async fn an_error_without_a_response_has_no_code() {
        let error = error_of("5.1.1 no code before it").await;
        assert_eq!(error.status(), None);
        assert!(matches!(rejection_error(Step::Recipient, &error), SendError::Transient { .. }));
    }
}
