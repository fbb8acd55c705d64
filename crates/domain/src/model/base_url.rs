//! The base URL of the service and the URLs of workspaces.

use std::net::IpAddr;

use url::Url;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::workspace::Subdomain;

/// The base URL of the service, for example `https://roadmap.example.com`.
///
/// Workspace `acme` then has the URL `https://acme.roadmap.example.com`. URLs in responses are built from this setting
/// and a stored subdomain, never from a request header.
///
/// The host may be an IP address, below which there are no workspaces: only the default workspace has a URL then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    scheme: String,
    host: String,
    port: Option<u16>,
    default_workspace: Option<Subdomain>,
}

impl BaseUrl {
    /// Parses a base URL: scheme, host and optional port, without a path.
    ///
    /// # Errors
    /// Any other value. The error says which part is wrong.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let malformed = |expected| Err(FieldError::new(field, FieldProblem::Malformed { expected }));
        let raw = raw.trim();
        let scheme = raw.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        if !matches!(scheme.as_deref(), Some("http" | "https")) {
            return malformed("a URL such as https://roadmap.example.com: it must begin with http:// or https://");
        }
        let Ok(url) = Url::parse(raw) else {
            return malformed("a URL such as https://roadmap.example.com: its host or port is invalid");
        };
        if !url.username().is_empty() || url.password().is_some() {
            return malformed("a URL such as https://roadmap.example.com: it must have no user and no password");
        }
        if !matches!(url.path(), "" | "/") {
            return malformed("a URL such as https://roadmap.example.com: it must have no path behind the host");
        }
        if url.query().is_some() || url.fragment().is_some() {
            return malformed("a URL such as https://roadmap.example.com: it must have no `?` and no `#`");
        }
        let host = url.host_str().unwrap_or_default().trim_end_matches('.');
        if host.is_empty() {
            return malformed("a URL such as https://roadmap.example.com: it must have a host");
        }
        Ok(Self { scheme: url.scheme().to_owned(), host: host.to_owned(), port: url.port(), default_workspace: None })
    }

    /// Returns the base URL of a service whose bare base host is the address of a workspace.
    #[must_use]
    pub fn with_default_workspace(self, default_workspace: Option<Subdomain>) -> Self {
        Self { default_workspace, ..self }
    }

    /// Returns the URL of a workspace, without a trailing slash. It is also the origin of its pages (RFC 6454). That of
    /// the default workspace is the base URL itself.
    #[must_use]
    pub fn workspace_url(&self, subdomain: &Subdomain) -> String {
        let Self { scheme, host, port, default_workspace } = self;
        if default_workspace.as_ref() == Some(subdomain) {
            return self.to_string();
        }
        match port {
            Some(port) => format!("{scheme}://{subdomain}.{host}:{port}"),
            None => format!("{scheme}://{subdomain}.{host}"),
        }
    }

    /// Returns the host of the service: a name, an IPv4 address, or an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether the host is an IP address.
    #[must_use]
    pub fn has_ip_address(&self) -> bool {
        ip_address(&self.host).is_some()
    }

    /// Whether there is a default workspace.
    #[must_use]
    pub fn has_default_workspace(&self) -> bool {
        self.default_workspace.is_some()
    }

    /// Whether the scheme is HTTPS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.scheme == "https"
    }

    /// Resolves a `Host` header value (RFC 9112 section 3.2). Ignores the port, the case and one trailing dot.
    #[must_use]
    pub fn resolve_host(&self, host: &str) -> HostTarget {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        if name == self.host {
            return HostTarget::Service;
        }
        if let Some(address) = ip_address(&self.host) {
            // An IPv6 address may be written in several ways, and nothing is below an address.
            return if ip_address(&name) == Some(address) { HostTarget::Service } else { HostTarget::Unknown };
        }
        name.strip_suffix(&self.host)
            .and_then(|rest| rest.strip_suffix('.'))
            .and_then(Subdomain::from_label)
            .map_or(HostTarget::Unknown, HostTarget::Workspace)
    }
}

impl std::fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { scheme, host, port, default_workspace: _ } = self;
        match port {
            Some(port) => write!(f, "{scheme}://{host}:{port}"),
            None => write!(f, "{scheme}://{host}"),
        }
    }
}

/// Parses a host that is an IP address. IPv6 addresses are in brackets.
fn ip_address(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse().ok().map(IpAddr::V6),
        None => host.parse().ok().map(IpAddr::V4),
    }
}

/// The target of a host name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostTarget {
    /// The service itself: the bare base host.
    Service,
    /// A workspace, which may or may not exist.
    Workspace(Subdomain),
    /// Neither the service nor a workspace.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(raw: &str) -> BaseUrl {
        BaseUrl::parse("base_url", raw).unwrap()
    }

    fn acme() -> Subdomain {
        Subdomain::from_label("acme").unwrap()
    }

    #[test]
    fn https_is_distinguished_from_http() {
        assert!(base("HTTPS://Roadmap.example.com:8443").is_https());
        assert!(!base("http://https.example.com").is_https());
    }

    /// Decision 1: the base URL is configured; a workspace lives one label below it.
    /// Contract 1.
    #[test]
    fn a_workspace_is_a_subdomain_of_the_base() {
        assert_eq!(base("https://roadmap.example.com/").workspace_url(&acme()), "https://acme.roadmap.example.com");
        assert_eq!(base("http://LOCALHOST:8080").workspace_url(&acme()), "http://acme.localhost:8080");
        assert_eq!(base("http://localhost:80").to_string(), "http://localhost");
        assert_eq!(base("https://Roadmap.Example.com:8443").host(), "roadmap.example.com");
    }

    /// Portal.
    #[test]
    fn the_default_workspace_has_the_base_url_itself() {
        let base = base("https://roadmap.example.com:8443").with_default_workspace(Some(acme()));
        assert_eq!(base.workspace_url(&acme()), "https://roadmap.example.com:8443");
        let other = Subdomain::from_label("beta").unwrap();
        assert_eq!(base.workspace_url(&other), "https://beta.roadmap.example.com:8443");
        assert_eq!(base.to_string(), "https://roadmap.example.com:8443");
    }

    /// Decision 1.
    #[test]
    fn exactly_one_label_names_a_workspace() {
        let base = base("https://roadmap.example.com");
        for host in [
            "acme.roadmap.example.com",
            "ACME.Roadmap.Example.COM:8443",
            "acme.roadmap.example.com.",
            "acme.roadmap.example.com.:1",
        ] {
            assert_eq!(base.resolve_host(host), HostTarget::Workspace(acme()), "{host}");
        }
        for host in ["roadmap.example.com", "roadmap.example.com:80", "ROADMAP.example.com."] {
            assert_eq!(base.resolve_host(host), HostTarget::Service, "{host}");
        }
        for host in [
            "",
            "example.com",
            "a.acme.roadmap.example.com",
            ".roadmap.example.com",
            "acmeroadmap.example.com",
            "acme.roadmap.example.com.evil.example",
            "-.roadmap.example.com",
            "acme.roadmap.example.com:x",
            "[::1]:80",
            "acme.roadmap.example.com..",
            "acme .roadmap.example.com",
        ] {
            assert_eq!(base.resolve_host(host), HostTarget::Unknown, "{host}");
        }
    }

    #[test]
    fn an_address_has_no_workspaces_below_it() {
        for (raw, text, hosts) in [
            ("http://192.0.2.7:8080", "http://192.0.2.7:8080", ["192.0.2.7:8080", "192.0.2.7"]),
            ("http://[0:0::1]:8080/", "http://[::1]:8080", ["[::1]:8080", "[0:0:0:0:0:0:0:1]"]),
            ("http://[2001:DB8::7]", "http://[2001:db8::7]", ["[2001:DB8::7]", "[2001:db8::7]:80"]),
        ] {
            let base = base(raw).with_default_workspace(Some(acme()));
            assert!(base.has_ip_address() && base.to_string() == text, "{base}");
            assert_eq!(base.workspace_url(&acme()), text);
            for host in hosts {
                assert_eq!(base.resolve_host(host), HostTarget::Service, "{host}");
            }
            for host in ["acme.192.0.2.7", "acme.[::1]", "localhost", "192.0.2.8", "[::2]", "::1", ""] {
                assert_eq!(base.resolve_host(host), HostTarget::Unknown, "{host}");
            }
        }
        assert!(!base("https://roadmap.example.com").has_ip_address());
    }

    #[test]
    fn an_error_says_which_part_is_wrong() {
        for (raw, says) in [
            ("", "it must begin with http:// or https://"),
            ("roadmap.example.com", "it must begin with http:// or https://"),
            ("localhost:8080", "it must begin with http:// or https://"),
            ("ftp://a.example", "it must begin with http:// or https://"),
            ("http://", "its host or port is invalid"),
            ("http://a b.example", "its host or port is invalid"),
            ("http://a.example:99999", "its host or port is invalid"),
            ("http://.", "it must have a host"),
            ("https://a.example/path", "it must have no path behind the host"),
            ("https://a.example?q", "it must have no `?` and no `#`"),
            ("https://a.example/#top", "it must have no `?` and no `#`"),
            ("https://u@a.example", "it must have no user and no password"),
            ("https://u:p@a.example", "it must have no user and no password"),
        ] {
            let error = BaseUrl::parse("base_url", raw).unwrap_err().to_string();
            assert_eq!(error, format!("base_url is not a URL such as https://roadmap.example.com: {says}"), "{raw}");
        }
    }
}
