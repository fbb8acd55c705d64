//! The base URL of the service and the URLs of workspaces.

use url::Url;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::workspace::Subdomain;

/// The base URL of the service, for example `https://roadmap.example.com`.
///
/// Workspace `acme` then has the URL `https://acme.roadmap.example.com`. URLs in responses are built from this setting
/// and a stored subdomain, never from a request header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    scheme: String,
    host: String,
    port: Option<u16>,
    default_workspace: Option<Subdomain>,
}

impl BaseUrl {
    /// Parses a base URL: scheme, host name and optional port, without a path.
    ///
    /// # Errors
    /// Any other value.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let expected = "a URL such as https://roadmap.example.com (http or https, a host name, no path)";
        let malformed = || FieldError::new(field, FieldProblem::Malformed { expected });
        let url = Url::parse(raw.trim()).map_err(|_| malformed())?;
        let bare = matches!(url.scheme(), "http" | "https")
            && matches!(url.path(), "" | "/")
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        match url.host() {
            Some(url::Host::Domain(host)) if bare => Ok(Self {
                scheme: url.scheme().to_owned(),
                host: host.trim_end_matches('.').to_owned(),
                port: url.port(),
                default_workspace: None,
            }),
            _ => Err(malformed()),
        }
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

    /// Returns the host name of the service.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
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

    #[test]
    fn a_workspace_is_a_subdomain_of_the_base() {
        assert_eq!(base("https://roadmap.example.com/").workspace_url(&acme()), "https://acme.roadmap.example.com");
        assert_eq!(base("http://LOCALHOST:8080").workspace_url(&acme()), "http://acme.localhost:8080");
        assert_eq!(base("http://localhost:80").to_string(), "http://localhost");
        assert_eq!(base("https://Roadmap.Example.com:8443").host(), "roadmap.example.com");
    }

    #[test]
    fn the_default_workspace_has_the_base_url_itself() {
        let base = base("https://roadmap.example.com:8443").with_default_workspace(Some(acme()));
        assert_eq!(base.workspace_url(&acme()), "https://roadmap.example.com:8443");
        let other = Subdomain::from_label("beta").unwrap();
        assert_eq!(base.workspace_url(&other), "https://beta.roadmap.example.com:8443");
        assert_eq!(base.to_string(), "https://roadmap.example.com:8443");
    }

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
    fn a_base_is_scheme_and_host_only() {
        for raw in [
            "",
            "roadmap.example.com",
            "ftp://a.example",
            "https://a.example/path",
            "https://a.example?q",
            "https://u@a.example",
            "http://127.0.0.1:8080",
        ] {
            assert!(BaseUrl::parse("base_url", raw).is_err(), "{raw}");
        }
    }
}
