//! Options of the mail server, parsed from `smtp://user:password@host:port` or `smtps://…`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::transport::smtp::extension::ClientId;
use percent_encoding::percent_decode_str;
use roadmap_domain::model::email_address::EmailAddress;
use thiserror::Error;
use url::{Host, Url};

/// An invalid mail setting. No message shows a password.
#[derive(Debug, Error)]
pub enum MailSettingError {
    /// Not a URL of a mail server.
    #[error(
        "the URL of the mail server is not of the form smtp://user:password@host:port or smtps://…; characters of user and \
         password other than letters and digits are percent-encoded: `@` is %40, `/` is %2F, `#` is %23, `?` is %3F"
    )]
    Url,
    /// An unknown parameter or an invalid value of a parameter.
    #[error(
        "the URL of the mail server has the parameter `{0}`; allowed are tls=none|opportunistic|required and ca=FILE"
    )]
    Parameter(String),
    /// Not a name for EHLO.
    #[error(
        "`{0}` is neither a host name such as roadmap.example.com nor an IP address such as [192.0.2.7] or [IPv6:2001:db8::7]"
    )]
    Hello(String),
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

/// The name by which the service introduces itself to mail servers, in EHLO (RFC 5321 section 4.1.1.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelloName(pub(crate) ClientId);

impl HelloName {
    /// Parses a host name or an IP address, which may be written as an address literal (RFC 5321 section 4.1.3).
    ///
    /// # Errors
    /// Any other value.
    pub fn parse(raw: &str) -> Result<Self, MailSettingError> {
        let malformed = || MailSettingError::Hello(raw.to_owned());
        let name = raw.trim();
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let literal = bare.map(|address| match address.get(..5) {
            Some(tag) if tag.eq_ignore_ascii_case("IPv6:") => &address[5..],
            _ => address,
        });
        match literal.unwrap_or(name).parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => return Ok(Self(ClientId::Ipv4(address))),
            Ok(IpAddr::V6(address)) => return Ok(Self(ClientId::Ipv6(address))),
            Err(_) if literal.is_some() => return Err(malformed()),
            Err(_) => {}
        }
        let Ok(Host::<String>::Domain(host)) = Host::parse(name) else { return Err(malformed()) };
        let host = host.trim_end_matches('.');
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        if host.len() > 253 || !host.split('.').all(is_label) {
            return Err(malformed());
        }
        Ok(Self(ClientId::Domain(host.to_owned())))
    }

    /// The name of this machine for itself.
    #[must_use]
    pub fn localhost() -> Self {
        Self(ClientId::Domain("localhost".to_owned()))
    }
}

impl std::fmt::Display for HelloName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
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
    pub service_name: String,
    /// Time limit for a connection, and for one mail over it.
    pub timeout: Duration,
    /// The name in EHLO. Servers may refuse one that is no full host name.
    pub hello: HelloName,
    /// Maximum connections to the server.
    pub connections: usize,
}

/// The default maximum of connections to the server.
const CONNECTIONS: usize = 8;

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
            hello: HelloName::localhost(),
            connections: CONNECTIONS,
        })
    }

    /// The URL of the mail server without the password.
    #[must_use]
    pub fn redacted(&self) -> String {
        let scheme = if self.security == Security::Implicit { "smtps" } else { "smtp" };
        let user = self.login.as_ref().map(|(user, _)| format!("{user}@")).unwrap_or_default();
        format!("{scheme}://{user}{}", self.server())
    }

    /// The host and the port of the mail server.
    pub(crate) fn server(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

impl std::fmt::Debug for SmtpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SmtpOptions({}, {:?}, from {})", self.redacted(), self.security, self.from)
    }
}

/// Parses a sender: an address with an optional display name. An international domain becomes A-labels, which need no
/// SMTPUTF8.
pub(crate) fn sender(raw: &str) -> Result<Mailbox, MailSettingError> {
    let invalid = || MailSettingError::Sender(raw.to_owned());
    let Mailbox { name, email } = raw.trim().parse().map_err(|_| invalid())?;
    let email = EmailAddress::from_stored(email.to_string()).with_ascii_domain().parse().map_err(|_| invalid())?;
    Ok(Mailbox { name, email })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<SmtpOptions, MailSettingError> {
        SmtpOptions::parse(url, "Acme <hello@acme.example>")
    }

    /// Decision 7.
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

    /// Decision 7.
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
    fn the_address_of_a_server_has_brackets_in_messages() {
        for (url, redacted) in [
            ("smtp://[::1]:25", "smtp://[::1]:25"),
            ("smtps://ann:x@[2001:db8::7]", "smtps://ann@[2001:db8::7]:465"),
            ("smtp://192.0.2.7", "smtp://192.0.2.7:587"),
        ] {
            assert_eq!(parse(url).unwrap().redacted(), redacted);
        }
    }

    #[test]
    fn a_name_for_ehlo_is_a_host_name_or_an_address() {
        for (raw, name) in [
            ("roadmap.example.com", "roadmap.example.com"),
            (" Roadmap.Example.com. ", "roadmap.example.com"),
            ("localhost", "localhost"),
            ("exämple.de", "xn--exmple-cua.de"),
            ("192.0.2.7", "[192.0.2.7]"),
            ("[192.0.2.7]", "[192.0.2.7]"),
            ("[::1]", "[IPv6:::1]"),
            ("[IPv6:2001:db8::7]", "[IPv6:2001:db8::7]"),
            ("[ipv6:2001:db8::7]", "[IPv6:2001:db8::7]"),
            ("2001:db8::7", "[IPv6:2001:db8::7]"),
        ] {
            assert_eq!(HelloName::parse(raw).unwrap().to_string(), name, "{raw}");
        }
        let long = format!("{}.example", "a".repeat(64));
        for raw in [
            "",
            " ",
            "a b",
            "a_b.example",
            "-a.example",
            "a-.example",
            "a..example",
            ".",
            "[roadmap.example.com]",
            "[]",
            "a.example\r\nMAIL FROM:<x@y.example>",
            "https://a.example",
            "a.example:25",
            "999.1.1.1",
            &long,
        ] {
            assert!(matches!(HelloName::parse(raw), Err(MailSettingError::Hello(_))), "{raw}");
        }
    }

    /// Decision 7.
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
            // The usual reason of a URL that cannot be read.
            assert_eq!(message.contains("are percent-encoded"), expected.contains("smtp://"), "{message}");
        }
        let international = sender("Ann <Ann@exämple.de>").unwrap();
        assert_eq!(international.to_string(), "Ann <Ann@xn--exmple-cua.de>");
        for from in ["", "Acme", "a@b@c", "Acme <hello>"] {
            let error = SmtpOptions::parse("smtp://localhost", from).unwrap_err();
            assert!(matches!(error, MailSettingError::Sender(_)), "{from}");
        }
    }
}
