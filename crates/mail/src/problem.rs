//! What is wrong with a mail server or its settings, and how an operator fixes it.

use std::error::Error as StdError;
use std::io::ErrorKind;
use std::time::Duration;

use lettre::transport::smtp::Error;
use roadmap_domain::error::ErrorChain;
use rustls::CertificateError;

use crate::options::{Security, SmtpOptions};
use crate::rejection::{Cause, Step, cause};
use crate::session::bounded_line;

/// The port of TLS from the first byte (RFC 8314).
const TLS_PORT: u16 = 465;

const PERCENT_ENCODED: &str = "characters other than letters and digits are percent-encoded";

/// A dialog with the mail server that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmtpProblem {
    /// The reason, in the mail server's words if it responded.
    pub reason: String,
    /// How to fix it.
    pub fix: String,
    /// Whether it keeps all mail from being sent. A temporary refusal does not.
    pub is_fatal: bool,
}

impl SmtpProblem {
    pub(crate) fn new(reason: &str, fix: impl Into<String>) -> Self {
        Self { reason: bounded_line(reason), fix: fix.into(), is_fatal: true }
    }

    /// The problem of an error that lettre reports at a step.
    pub(crate) fn at_step(step: Step, error: &Error, options: &SmtpOptions) -> Self {
        let reason = format!("at {}: {}", step.name(), ErrorChain::new(error));
        if let Some(code) = error.status() {
            let text = error.source().map(ToString::to_string).unwrap_or_default();
            let fix = fix_of_refusal(step, code.into(), &text, options);
            return Self { is_fatal: error.is_permanent(), ..Self::new(&reason, fix) };
        }
        if let Some(tls) = find::<rustls::Error>(error) {
            return of_tls(step, tls, &reason, options);
        }
        if let Some(io) = find::<std::io::Error>(error) {
            return Self::new(&reason, fix_of_connection(io.kind(), options));
        }
        let fix = match step {
            Step::StartTls => {
                "the server does not offer STARTTLS on this port: use smtps:// and its port, or ?tls=none if nothing \
                 between here and the server can read the mail"
            }
            Step::Login => "the server does not offer a login: leave user and password out of smtp_url",
            _ => "check host and port in smtp_url: no mail server speaks there",
        };
        Self::new(&reason, fix)
    }

    /// The problem of a TCP connection that cannot be opened.
    pub(crate) fn of_connection(error: &std::io::Error, options: &SmtpOptions) -> Self {
        Self::new(&format!("at {}: {error}", Step::Connect.name()), fix_of_connection(error.kind(), options))
    }

    /// The problem of a server that is silent for too long. `is_connected`: it has accepted a connection.
    pub(crate) fn of_timeout(timeout: Duration, is_connected: bool, options: &SmtpOptions) -> Self {
        let reason = timeout_reason(timeout, options);
        let fix = if is_connected && options.security != Security::Implicit {
            format!("it says nothing on port {}: a server that waits for TLS wants smtps:// in smtp_url", options.port)
        } else {
            format!("check host and port in smtp_url, and the firewalls on the way to {}", options.server())
        };
        Self::new(&reason, fix)
    }
}

/// Why there is no response within the time limit.
pub(crate) fn timeout_reason(timeout: Duration, options: &SmtpOptions) -> String {
    let silent = format!("the mail server did not respond within {timeout:?}");
    if options.port == TLS_PORT && options.security != Security::Implicit {
        return format!("{silent}: on port {TLS_PORT} a server mostly wants smtps://");
    }
    silent
}

fn fix_of_connection(kind: ErrorKind, options: &SmtpOptions) -> String {
    let server = options.server();
    match kind {
        ErrorKind::ConnectionRefused => {
            format!("check host and port in smtp_url, and that a mail server runs at {server}")
        }
        ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::AddrNotAvailable
        | ErrorKind::TimedOut => {
            format!("check host and port in smtp_url, and the firewalls on the way to {server}")
        }
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::UnexpectedEof
        | ErrorKind::BrokenPipe => {
            format!(
                "the server has closed the connection: check the port in smtp_url, and whether smtps:// (TLS at once, mostly \
                 port {TLS_PORT}) or smtp:// (STARTTLS, mostly port 587) fits it"
            )
        }
        _ => "check the host name in smtp_url, and the DNS of this machine".to_owned(),
    }
}

fn fix_of_refusal(step: Step, code: u16, text: &str, options: &SmtpOptions) -> String {
    let login = format!("put user and password into smtp_url, smtp://user:password@host:port; {PERCENT_ENCODED}");
    match cause(step, code, text) {
        Cause::Hello => format!(
            "set smtp_hello to the full host name of this machine as the DNS knows it, such as mail.example.com; it is {}",
            options.hello
        ),
        Cause::Login if options.login.is_some() => {
            format!("check user and password in smtp_url; {PERCENT_ENCODED}")
        }
        Cause::Login => format!("the server wants a login: {login}"),
        Cause::Encryption => "the server wants encryption: add ?tls=required to smtp_url, or use smtps://".to_owned(),
        Cause::Client if code < 500 => {
            "it may be for a while only; if it stays so, ask the operator of the mail server".to_owned()
        }
        Cause::Client => {
            "ask the operator of the mail server, or of the block list that it names, to accept mail from this machine, or \
             send by another server with a login"
                .to_owned()
        }
        Cause::Relay if options.login.is_none() => format!("the server wants a login for mail to others: {login}"),
        Cause::Relay => "ask the operator of the mail server to let this login send mail to all domains".to_owned(),
        Cause::Sender => format!(
            "set mail_from to an address that this server may send mail for; it is {}. SPF, DKIM and DMARC of its domain must \
             allow the server",
            options.from.email
        ),
        Cause::Protocol | Cause::Mail => "`roadmap mail test` shows the dialog with the server".to_owned(),
    }
}

fn of_tls(step: Step, error: &rustls::Error, reason: &str, options: &SmtpOptions) -> SmtpProblem {
    let host = &options.host;
    let trust = "?ca=FILE behind smtp_url trusts the certificate, or the one of its issuer, in this file (PEM)";
    match error {
        rustls::Error::InvalidMessage(_) => {
            let reason = format!("at {}: the server does not speak TLS on port {}", step.name(), options.port);
            SmtpProblem::new(&reason, "smtp:// instead of smtps:// uses STARTTLS, mostly on port 587")
        }
        rustls::Error::InvalidCertificate(certificate) => {
            let fix = match certificate {
                CertificateError::UnknownIssuer => trust.to_owned(),
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                    format!("{host} is not a name in the certificate: use one of its names as the host of smtp_url")
                }
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. } => {
                    "the server's certificate must be renewed, or the clock of this machine is wrong".to_owned()
                }
                _ => format!("the server's certificate cannot be used: {trust}"),
            };
            SmtpProblem::new(reason, fix)
        }
        _ => SmtpProblem::new(reason, "the server must speak TLS 1.2 or 1.3 with usual ciphers"),
    }
}

/// Whether the certificate of a server was refused because it is one of an issuer, as the usual self-signed ones are.
pub(crate) fn is_issuer_as_server(error: &Error) -> bool {
    matches!(
        find::<rustls::Error>(error),
        Some(rustls::Error::InvalidCertificate(CertificateError::Other(_) | CertificateError::UnknownIssuer))
    )
}

/// Finds an error of this type among the causes, also those inside of I/O errors.
fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(cause) = error.downcast_ref::<E>() {
            // An I/O error that only wraps another error says nothing itself.
            let is_wrapper = error
                .downcast_ref::<std::io::Error>()
                .is_some_and(|io| io.get_ref().is_some_and(|inner| inner.is::<E>()));
            if !is_wrapper {
                return Some(cause);
            }
        }
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = inner.map(|inner| inner as &(dyn StdError + 'static)).or_else(|| error.source());
    }
    None
}
