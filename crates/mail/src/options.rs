//! Options of the mail server, parsed from `smtp://user:password@host:port` or `smtps://…`.

use std::path::PathBuf;
use std::time::Duration;

use lettre::message::Mailbox;
use percent_encoding::percent_decode_str;
use thiserror::Error;
use url::{Host, Url};

/// An invalid mail setting. No message shows a password.
#[derive(Debug, Error)]
pub enum MailSettingError {
    /// Not a URL of a mail server.
    #[error("the URL of the mail server is not of the form smtp://user:password@host:port or smtps://…")]
    Url,
    /// An unknown parameter or an invalid value of a parameter.
    #[error(
        "the URL of the mail server has the parameter `{0}`; allowed are tls=none|opportunistic|required and ca=FILE"
    )]
    Parameter(String),
    /// Not a valid sender.
    #[error("the sender `{0}` is neither an address nor of the form Name <address>")]
    Sender(String),
    /// The certificates cannot be read.
    #[error("the certificates in {0} cannot be read")]
    Certificates(PathBuf, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// The folder for mail cannot be created.
    #[error("the folder {0} cannot be created")]
    Folder(PathBuf, #[source] std::io::Error),
    /// The client cannot be built from the options.
    #[error("the connection to the mail server cannot be set up")]
    Setup(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Encryption of the connection to the mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// No encryption.
    None,
    /// STARTTLS (RFC 3207), if the server offers it.
    Opportunistic,
    /// STARTTLS; without it, no mail is sent.
    Required,
    /// TLS from the first byte (RFC 8314).
    Implicit,
}

/// The default name of the service.
pub(crate) const SERVICE_NAME: &str = "Roadmap";

/// The mail server and the sender.
#[derive(Clone, PartialEq, Eq)]
pub struct SmtpOptions {
    /// Host name or address of the mail server.
    pub host: String,
    /// Port of the mail server.
    pub port: u16,
    /// Encryption of the connection.
    pub security: Security,
    /// User and password, if the server requires a login.
    pub login: Option<(String, String)>,
    /// A file with certificates to trust besides the system's.
    pub certificates: Option<PathBuf>,
    /// The sender. Without a display name, the sender is shown as `<product> via <service name>`.
    pub from: Mailbox,
    /// The name of the service.
    pub service_name: String,
    /// Time limit for one mail, including the connection.
    pub timeout: Duration,
}

impl SmtpOptions {
    /// Parses a URL and a sender.
    ///
    /// `smtp://` requires STARTTLS and defaults to port 587. For a server on this machine, STARTTLS is optional and the
    /// default port is 25. `smtps://` uses TLS from the first byte and defaults to port 465. User and password are
    /// percent-encoded.
    ///
    /// # Errors
    /// The URL or the sender is invalid.
    pub fn parse(url: &str, from: &str) -> Result<Self, MailSettingError> {
        let url = Url::parse(url.trim()).map_err(|_| MailSettingError::Url)?;
        // The URL standard does not parse hosts of unknown schemes, so the host is parsed below.
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(MailSettingError::Url)?.to_owned();
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(MailSettingError::Url);
        }
        // An `@` in the query means that the password contains a `?`. Its end must not be shown as a parameter.
        if url.query().is_some_and(|query| query.contains('@')) {
            return Err(MailSettingError::Url);
        }
        let is_local = match Host::parse(&host) {
            Ok(Host::Domain(name)) => name == "localhost",
            Ok(Host::Ipv4(address)) => address.is_loopback(),
            Ok(Host::Ipv6(address)) => address.is_loopback(),
            Err(_) => return Err(MailSettingError::Url),
        };
        let (mut security, port) = match (url.scheme(), is_local) {
            ("smtps", _) => (Security::Implicit, 465),
            ("smtp", true) => (Security::Opportunistic, 25),
            ("smtp", false) => (Security::Required, 587),
            _ => return Err(MailSettingError::Url),
        };
        let mut certificates = None;
        for (name, value) in url.query_pairs() {
            match (&*name, &*value) {
                ("ca", file) if !file.is_empty() => certificates = Some(PathBuf::from(file)),
                ("tls", tls) if security != Security::Implicit => {
                    security = match tls {
                        "none" => Security::None,
                        "opportunistic" => Security::Opportunistic,
                        "required" => Security::Required,
                        _ => return Err(MailSettingError::Parameter(format!("tls={tls}"))),
                    };
                }
                (name, _) => return Err(MailSettingError::Parameter(name.to_owned())),
            }
        }
        let decoded =
            |raw: &str| percent_decode_str(raw).decode_utf8().map(Into::into).map_err(|_| MailSettingError::Url);
        let login = match (url.username(), url.password()) {
            ("", None) => None,
            (user, password) => Some((decoded(user)?, decoded(password.unwrap_or_default())?)),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = url.port().unwrap_or(port);
        let timeout = Duration::from_secs(30);
        Ok(Self {
            host,
            port,
            security,
            login,
            certificates,
            from: sender(from)?,
            service_name: SERVICE_NAME.to_owned(),
            timeout,
        })
    }

    /// The URL of the mail server without the password.
    #[must_use]
    pub fn redacted(&self) -> String {
        let scheme = if self.security == Security::Implicit { "smtps" } else { "smtp" };
        let user = self.login.as_ref().map(|(user, _)| format!("{user}@")).unwrap_or_default();
        format!("{scheme}://{user}{}:{}", self.host, self.port)
    }
}

impl std::fmt::Debug for SmtpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SmtpOptions({}, {:?}, from {})", self.redacted(), self.security, self.from)
    }
}

/// Parses a sender: an address with an optional display name.
pub(crate) fn sender(raw: &str) -> Result<Mailbox, MailSettingError> {
    raw.trim().parse().map_err(|_| MailSettingError::Sender(raw.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<SmtpOptions, MailSettingError> {
        SmtpOptions::parse(url, "Acme <hello@acme.example>")
    }

    #[test]
    fn remote_servers_are_reached_with_encryption() {
        for (url, host, port, security) in [
            ("smtp://mail.example.com", "mail.example.com", 587, Security::Required),
            ("smtp://mail.example.com:25", "mail.example.com", 25, Security::Required),
            ("smtp://mail.example.com?tls=opportunistic", "mail.example.com", 587, Security::Opportunistic),
            ("smtp://mail.example.com/?tls=none", "mail.example.com", 587, Security::None),
            ("smtps://mail.example.com", "mail.example.com", 465, Security::Implicit),
            ("smtp://localhost", "localhost", 25, Security::Opportunistic),
            ("smtp://127.0.0.1:2525", "127.0.0.1", 2525, Security::Opportunistic),
            ("smtp://[::1]", "::1", 25, Security::Opportunistic),
            ("smtp://localhost?tls=required", "localhost", 25, Security::Required),
        ] {
            let options = parse(url).unwrap();
            assert_eq!((options.host.as_str(), options.port, options.security), (host, port, security), "{url}");
        }
    }

    #[test]
    fn user_and_password_are_decoded_and_the_password_is_never_shown() {
        let options = parse("smtps://ann%40acme.example:p%3Assword%2F@mail.example.com?ca=/etc/ca.pem").unwrap();
        assert_eq!(options.login, Some(("ann@acme.example".to_owned(), "p:ssword/".to_owned())));
        assert_eq!(options.certificates, Some("/etc/ca.pem".into()));
        assert_eq!(options.redacted(), "smtps://ann@acme.example@mail.example.com:465");
        assert!(!format!("{options:?}").contains("p:ssword"));
        assert_eq!(parse("smtp://mail.example.com").unwrap().login, None);
        let options = parse("smtp://ann:p@ss:word@mail.example.com").unwrap();
        assert_eq!(options.redacted(), "smtp://ann@mail.example.com:587");
    }

    #[test]
    fn option_errors_never_show_a_password() {
        for (url, expected) in [
            ("mail.example.com", "not of the form smtp://"),
            ("http://mail.example.com", "not of the form smtp://"),
            ("smtp://", "not of the form smtp://"),
            ("smtp://user:secret@", "not of the form smtp://"),
            ("smtp://u:secret@mail.example.com/path", "not of the form smtp://"),
            ("smtp://u:secret@mail.example.com?tls=maybe", "`tls=maybe`"),
            ("smtps://u:secret@mail.example.com?tls=none", "`tls`"),
            ("smtp://u:secret@mail.example.com?x=y", "`x`"),
            ("smtp://u:se/cret@mail.example.com", "not of the form smtp://"),
            ("smtp://u:1/secret@mail.example.com", "not of the form smtp://"),
            ("smtp://u:1?secret@mail.example.com", "not of the form smtp://"),
            ("smtp://u:1?secret=x@mail.example.com", "not of the form smtp://"),
            ("smtp://u:1?tls=secret@mail.example.com", "not of the form smtp://"),
            ("smtp://u:1#secret@mail.example.com", "not of the form smtp://"),
            ("smtp://u:%ffsecret@mail.example.com", "not of the form smtp://"),
        ] {
            let message = parse(url).unwrap_err().to_string();
            assert!(message.contains(expected) && !message.contains("secret"), "{url}: {message}");
        }
        for from in ["", "Acme", "a@b@c", "Acme <hello>"] {
            let error = SmtpOptions::parse("smtp://localhost", from).unwrap_err();
            assert!(matches!(error, MailSettingError::Sender(_)), "{from}");
        }
    }
}
