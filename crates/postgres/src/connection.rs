//! Opens connections, all with the same settings, and encrypted unless the server is on this machine.

use std::net::Ipv6Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use diesel_async::pooled_connection::PoolableConnection;
use diesel_async::{AsyncConnection, AsyncPgConnection};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use roadmap_store::spans::StatementSpans;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::Handle;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;
use uuid::Uuid;

use crate::PostgresOptions;
use crate::errors::ConnectError;

/// The name of the service's sessions on the server.
pub(crate) const APPLICATION_NAME: &str = "roadmap";

/// A connection and the state of its session.
pub(crate) struct PooledConnection {
    pub(crate) connection: AsyncPgConnection,
    /// The workspace that the session has set for row-level security.
    pub(crate) workspace: Option<Uuid>,
    /// Whether the session has prepared the statements about operation keys.
    pub(crate) key_statements_prepared: bool,
    /// Whether the session has prepared the last statement of votes that are cast together.
    pub(crate) vote_statements_prepared: bool,
    /// Whether the session has prepared the statement that records events.
    pub(crate) event_statement_prepared: bool,
}

/// Opens connections to one database.
#[derive(Clone)]
pub(crate) struct Connector {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    runtime: Option<Handle>,
}

impl Connector {
    /// Creates a connector for the service, with its role and its time limits.
    pub(crate) fn new(options: &PostgresOptions) -> Result<Self, ConnectError> {
        let mut connector = Self::for_login(&options.url)?;
        let flags = connector.config.get_options().map(ToOwned::to_owned).unwrap_or_default();
        let millis = |limit: Duration| limit.as_millis();
        connector.config.options(format!(
            "{flags} -c role={} -c statement_timeout={} -c lock_timeout={} -c idle_in_transaction_session_timeout={} \
             -c synchronous_commit=on -c default_transaction_isolation=read\\ committed -c jit=off \
             -c plan_cache_mode=force_generic_plan",
            options.role,
            millis(options.statement_timeout),
            millis(options.lock_timeout()),
            // A unit is never idle for longer than it takes to send the next statement.
            millis(options.statement_timeout),
        ));
        connector.set_connect_timeout(options.connection_wait);
        Ok(connector)
    }

    /// Sets the time limit for opening a connection. Several hosts share it equally, so that an unresponsive host
    /// leaves time for the next.
    pub(crate) fn set_connect_timeout(&mut self, wait: Duration) {
        let hosts = u32::try_from(self.config.get_hosts().len()).unwrap_or(1).max(1);
        self.config.connect_timeout(wait / hosts);
    }

    /// Creates a connector for inspections, with the login itself and the service's time limits.
    pub(crate) fn for_inspection(options: &PostgresOptions) -> Result<Self, ConnectError> {
        let mut connector = Self::for_login(&options.url)?;
        let flags = connector.config.get_options().map(ToOwned::to_owned).unwrap_or_default();
        let (statement, lock) = (options.statement_timeout.as_millis(), options.lock_timeout().as_millis());
        connector.config.options(format!("{flags} -c statement_timeout={statement} -c lock_timeout={lock}"));
        connector.set_connect_timeout(options.connection_wait);
        Ok(connector)
    }

    /// Creates a connector for migrations, with the login itself and without time limits.
    pub(crate) fn for_login(url: &str) -> Result<Self, ConnectError> {
        let ParsedUrl { mut config, encrypted, roots } = ParsedUrl::parse(url)?;
        let encrypted = encrypted.unwrap_or_else(|| !is_local(&config));
        config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        config.application_name(APPLICATION_NAME);
        // Keepalives detect a vanished peer before the next statement is sent.
        config.keepalives_idle(Duration::from_secs(10));
        let tls = encrypted.then(|| tls_config(roots.as_deref().map(Path::new))).transpose()?;
        Ok(Self { config, tls, runtime: None })
    }

    /// Runs connections on `runtime` instead of the runtime that opens them.
    pub(crate) fn on_runtime(self, runtime: Handle) -> Self {
        Self { runtime: Some(runtime), ..self }
    }

    pub(crate) async fn connect(&self) -> Result<AsyncPgConnection, ConnectError> {
        Ok(match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(ConnectError::Unreachable)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await?
            }
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await.map_err(ConnectError::Unreachable)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await?
            }
        })
    }

    /// Opens a connection without diesel, for `COPY`. It ends when the client is dropped.
    pub(crate) async fn client(&self) -> Result<Client, ConnectError> {
        // Statements report why a connection has ended.
        match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(ConnectError::Unreachable)?;
                tokio::spawn(async move { connection.await.ok() });
                Ok(client)
            }
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await.map_err(ConnectError::Unreachable)?;
                tokio::spawn(async move { connection.await.ok() });
                Ok(client)
            }
        }
    }
}

impl Manager for Connector {
    type Type = PooledConnection;
    type Error = ConnectError;

    async fn create(&self) -> Result<PooledConnection, ConnectError> {
        let mut connection = match &self.runtime {
            None => self.connect().await?,
            Some(runtime) => {
                let connector = self.clone();
                let connecting = runtime.spawn(async move { connector.connect().await });
                connecting.await.map_err(ConnectError::TaskEnded)??
            }
        };
        connection.set_instrumentation(StatementSpans::new("postgresql"));
        Ok(PooledConnection {
            connection,
            workspace: None,
            key_statements_prepared: false,
            vote_statements_prepared: false,
            event_statement_prepared: false,
        })
    }

    async fn recycle(&self, pooled: &mut PooledConnection, _: &Metrics) -> RecycleResult<ConnectError> {
        // No round trip: the client knows whether the server has closed the connection.
        if pooled.connection.is_broken() {
            return Err(RecycleError::message("the connection has ended"));
        }
        Ok(())
    }
}

/// A parsed database URL.
struct ParsedUrl {
    config: Config,
    /// Whether the URL requires encryption; `None` if it does not specify this.
    encrypted: Option<bool>,
    /// The file with the trusted certificates, if not those of the system.
    roots: Option<String>,
}

impl ParsedUrl {
    /// Parses `sslmode` and `sslrootcert` from the URL, and leaves the rest to the library. Encryption here always
    /// includes the verification of the server's certificate and name, so `require` means what `verify-full` means
    /// elsewhere.
    ///
    /// Errors contain nothing that may be part of a password.
    fn parse(url: &str) -> Result<Self, ConnectError> {
        Self::parse_unchecked(url)
            .map_err(|error| if is_ambiguous(url) { ConnectError::UrlRejected(AMBIGUOUS.to_owned()) } else { error })
    }

    fn parse_unchecked(url: &str) -> Result<Self, ConnectError> {
        // For the library, the login ends at the first `@`, whatever comes before it: a `?` in a password does not
        // begin the parameters.
        let (login, place) = url.split_once('@').map_or((None, url), |(login, place)| (Some(login), place));
        let (address, query) = place.split_once('?').unwrap_or((place, ""));
        let (mut encrypted, mut roots, mut rest) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match (&*percent_decode_str(name).decode_utf8_lossy(), &*percent_decode_str(value).decode_utf8_lossy()) {
                ("sslmode", "disable") => encrypted = Some(false),
                ("sslmode", "require" | "verify-full") => encrypted = Some(true),
                ("sslmode", other) => {
                    return Err(ConnectError::UrlRejected(format!(
                        "has sslmode={other}; it may be `disable`, or `require` or `verify-full`, which both verify \
                         the server's certificate"
                    )));
                }
                ("sslrootcert", file) => roots = Some(file.to_owned()),
                _ => rest.push(pair),
            }
        }
        let login = login.map_or_else(String::new, |login| format!("{login}@"));
        let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        let config: Config = format!("{login}{address}{query}").parse().map_err(ConnectError::Url)?;
        // Such a name is not resolved: it may be part of a password, which must not be sent to a name server.
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
            return Err(ConnectError::UrlRejected(AMBIGUOUS.to_owned()));
        }
        Ok(Self { config, encrypted, roots })
    }
}

/// The error for a URL whose parts may not be split as intended.
const AMBIGUOUS: &str = "cannot be understood; in a user or a password `@` is written `%40`";

/// Whether parts of the URL, as the library splits it, may be the end of a password with an `@`.
fn is_ambiguous(url: &str) -> bool {
    match url.split_once('@') {
        None => false,
        Some((login, place)) => place.contains('@') || login.contains("password="),
    }
}

/// Whether the server is on this machine: a Unix socket, or a loopback address. The library connects to the addresses of
/// `hostaddr`, if there are any, instead of the hosts.
fn is_local(config: &Config) -> bool {
    let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
    if !addresses.is_empty() {
        return addresses.iter().all(std::net::IpAddr::is_loopback);
    }
    !hosts.is_empty()
        && hosts.iter().all(|host| match host {
            Host::Unix(_) => true,
            Host::Tcp(name) => {
                name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
            }
        })
}

/// Returns a configuration that trusts the certificates of a file, or those of the system.
fn tls_config(file: Option<&Path>) -> Result<MakeRustlsConnect, ConnectError> {
    let mut roots = RootCertStore::empty();
    let certificates = match file {
        Some(file) => CertificateDer::pem_file_iter(file)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| ConnectError::Certificates(error.into()))?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    let (added, _) = roots.add_parsable_certificates(certificates);
    if added == 0 {
        return Err(ConnectError::Certificates("no certificate was found".into()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectError::Certificates(error.into()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// The characters to encode in a displayed URL: all except those of usual names of users, hosts and databases.
const ENCODE_SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the URL without its password, for display. It is composed of the parsed parts. If they cannot be
/// distinguished with certainty, it is `postgres://…`.
#[must_use]
pub fn redacted(url: &str) -> String {
    redact(url).unwrap_or_else(|| "postgres://…".to_owned())
}

fn redact(url: &str) -> Option<String> {
    if is_ambiguous(url) {
        return None;
    }
    let ParsedUrl { config, .. } = ParsedUrl::parse(url).ok()?;
    let encoded = |part: &str| utf8_percent_encode(part, ENCODE_SET).to_string();
    let login = match config.get_user() {
        // Such a user contains a password or a whole address.
        Some(user) if user.contains([':', '/', '?', '=', '&', '#', ' ']) => return None,
        Some(user) => format!("{}@", encoded(user)),
        None => String::new(),
    };
    let named = config.get_hosts().iter().map(|host| match host {
        Host::Unix(folder) => Some(encoded(folder.to_str()?)),
        Host::Tcp(name) if name.contains(':') => Some(format!("[{}]", name.parse::<Ipv6Addr>().ok()?)),
        Host::Tcp(name) => {
            let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
            plain.then(|| name.clone())
        }
    });
    let mut hosts: Vec<String> = named.collect::<Option<_>>()?;
    if hosts.is_empty() {
        hosts = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    if hosts.is_empty() {
        return None;
    }
    let ports = config.get_ports();
    let port = |index: usize| ports.get(index).or(ports.first()).copied().unwrap_or(5432);
    let hosts: Vec<String> = hosts.iter().enumerate().map(|(index, host)| format!("{host}:{}", port(index))).collect();
    let database = config.get_dbname().map(|name| format!("/{}", encoded(name))).unwrap_or_default();
    Some(format!("postgres://{login}{}{database}", hosts.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel_async::RunQueryDsl;

    fn options(url: &str) -> PostgresOptions {
        PostgresOptions::new(url)
    }

    #[test]
    fn every_connection_has_the_role_and_the_time_limits() {
        let connector =
            Connector::new(&options("postgres://ann@localhost/roadmap?options=-c%20work_mem%3D8MB")).unwrap();
        assert_eq!(
            connector.config.get_options(),
            Some(
                "-c work_mem=8MB -c role=roadmap_service -c statement_timeout=2000 -c lock_timeout=1500 \
                 -c idle_in_transaction_session_timeout=2000 -c synchronous_commit=on \
                 -c default_transaction_isolation=read\\ committed -c jit=off -c plan_cache_mode=force_generic_plan"
            )
        );
        assert_eq!(connector.config.get_application_name(), Some("roadmap"));
    }

    #[test]
    fn several_hosts_share_the_connect_timeout() {
        for (hosts, seconds) in [("a", 12), ("a,b", 6), ("a,b,c", 4)] {
            let mut connector = Connector::for_login(&format!("postgres://{hosts}/roadmap?sslmode=disable")).unwrap();
            connector.set_connect_timeout(Duration::from_secs(12));
            assert_eq!(connector.config.get_connect_timeout(), Some(&Duration::from_secs(seconds)), "{hosts}");
        }
    }

    #[tokio::test]
    async fn a_connection_that_the_server_has_closed_is_not_reused() {
        let server = roadmap_testkit::postgres::server();
        let connector = Connector::for_login(&server).unwrap();
        let mut pooled = connector.create().await.unwrap();
        assert!(connector.recycle(&mut pooled, &Metrics::default()).await.is_ok());
        let end = diesel::sql_query("SELECT pg_terminate_backend(pg_backend_pid())");
        assert!(end.execute(&mut pooled.connection).await.is_err());
        let broken = async {
            while !pooled.connection.is_broken() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), broken).await.unwrap();
        assert!(connector.recycle(&mut pooled, &Metrics::default()).await.is_err());
    }

    #[test]
    fn remote_servers_are_connected_with_tls() {
        for (url, encrypted) in [
            ("postgres://localhost/roadmap", false),
            ("postgres://127.0.0.1/roadmap", false),
            ("postgres://%2Frun%2Fpostgresql/roadmap", false),
            ("postgres://localhost/roadmap?sslmode=require", true),
            ("postgres://db.example.com/roadmap", true),
            ("postgres://db.example.com/roadmap?sslmode=verify-full", true),
            ("postgres://db.example.com/roadmap?sslmode=disable", false),
            ("postgres://localhost,db.example.com/roadmap", true),
            ("postgres://ann@/roadmap?hostaddr=10.0.0.5", true),
            ("postgres://localhost/roadmap?hostaddr=10.0.0.5", true),
            ("postgres://localhost,localhost/roadmap?hostaddr=127.0.0.1,10.0.0.5", true),
            ("postgres://db.example.com/roadmap?hostaddr=127.0.0.1", false),
            ("postgres://ann@/roadmap?hostaddr=::1", false),
        ] {
            assert_eq!(Connector::new(&options(url)).unwrap().tls.is_some(), encrypted, "{url}");
        }
    }

    #[test]
    fn a_url_with_unsupported_parameters_is_rejected() {
        for (url, message) in [
            ("postgres://localhost/roadmap?sslmode=prefer", "has sslmode=prefer"),
            ("postgres://localhost/roadmap?nonsense=1", "not one that PostgreSQL's clients understand"),
            ("postgres://localhost:port/roadmap", "not one that PostgreSQL's clients understand"),
            ("postgres://db.example.com/roadmap?sslrootcert=/nowhere", "cannot be read"),
        ] {
            let error = Connector::new(&options(url)).err().unwrap();
            assert!(error.to_string().contains(message), "{url}: {error}");
        }
    }

    #[test]
    fn redacted_urls_contain_no_password() {
        for (url, expected) in [
            (
                "postgres://ann:s3cret@db.example.com:5432/roadmap?sslmode=require",
                "postgres://ann@db.example.com:5432/roadmap",
            ),
            ("postgresql://ann:s3cret@db/roadmap", "postgres://ann@db:5432/roadmap"),
            ("postgres://ann:s3/cret@db/roadmap", "postgres://ann@db:5432/roadmap"),
            ("postgres://ann:s3?cret@db/roadmap?sslmode=disable", "postgres://ann@db:5432/roadmap"),
            ("postgres://ann:s3#cret@db/roadmap", "postgres://ann@db:5432/roadmap"),
            ("postgres://ann:s3:cret@db/roadmap", "postgres://ann@db:5432/roadmap"),
            ("postgres://ann:s3%2Fcret%40@db/roadmap", "postgres://ann@db:5432/roadmap"),
            ("postgres://a%40b:s3cret@db/road%20map", "postgres://a%40b@db:5432/road%20map"),
            ("postgres://db/roadmap?password=s3cret", "postgres://db:5432/roadmap"),
            ("postgres://db/roadmap?user=ann&password=s3%40cret", "postgres://ann@db:5432/roadmap"),
            ("postgres://ann:s3cret@[::1]:6000/roadmap", "postgres://ann@[::1]:6000/roadmap"),
            ("postgres://ann@a:1,b/roadmap?sslrootcert=/ca.pem", "postgres://ann@a:1,b:5432/roadmap"),
            ("postgres://ann:s3cret@%2Frun%2Fpostgresql/roadmap", "postgres://ann@%2Frun%2Fpostgresql:5432/roadmap"),
            ("postgres:///roadmap?host=/run/postgresql&port=6000", "postgres://%2Frun%2Fpostgresql:6000/roadmap"),
            ("postgres://ann:s3cret@db", "postgres://ann@db:5432"),
            ("host=db user=ann password=s3cret dbname=roadmap", "postgres://ann@db:5432/roadmap"),
            ("host=db user=ann password='s3 cret/' dbname=roadmap port=6000", "postgres://ann@db:6000/roadmap"),
            ("postgres://ann@/roadmap?hostaddr=127.0.0.1", "postgres://ann@127.0.0.1:5432/roadmap"),
        ] {
            assert_eq!(redacted(url), expected, "{url}");
        }
    }

    #[test]
    fn an_ambiguous_url_is_not_shown() {
        for url in [
            "postgres://ann:s3@cret@db/roadmap",
            "postgres://ann:s3@cret/x@db/roadmap",
            "postgres://ann:s3@cret?sslmode=s3cret@db/roadmap",
            "postgres://db/roadmap?user=ann&password=s3@cret",
            "postgres://db:5432/roadmap?user=ann&password=s3@cret",
            "postgres://ann%3As3cret@db/roadmap",
            "postgres://ann/s3cret@db/roadmap",
            "postgres://ann:s3cret/db/roadmap",
            "postgres://ann:%ffs3cret@%ff/roadmap",
            "postgres://ann:s3cret@db\u{202e}/roadmap",
            "host=db password=s3@cret",
            "host=db password=s3 cret",
            "s3cret",
            "",
        ] {
            assert_eq!(redacted(url), "postgres://…", "{url}");
        }
    }

    #[test]
    fn errors_about_urls_contain_no_password() {
        let chain = |url: &str| {
            let error = Connector::for_login(url).err().unwrap();
            let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
            causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
        };
        let ambiguous = "the database URL cannot be understood; in a user or a password `@` is written `%40`";
        for (url, message) in [
            ("postgres://ann:s3@cret?s3cret=x@db/roadmap", ambiguous),
            ("postgres://ann:s3@cret?sslmode=s3cret@db/roadmap", ambiguous),
            ("postgres://ann:s3@cret@db/roadmap", ambiguous),
            (
                "postgres://ann:s3cret@db/roadmap?nonsense=s3cret",
                "the database URL is not one that PostgreSQL's clients understand: invalid connection string: \
                 unknown option `nonsense`",
            ),
            (
                "postgres://ann:s3cret/db/roadmap",
                "the database URL is not one that PostgreSQL's clients understand: invalid connection string: \
                 invalid value for option `port`",
            ),
        ] {
            assert_eq!(chain(url), message, "{url}");
        }
    }

    #[test]
    fn parameters_after_any_password_are_parsed_and_decoded() {
        for (url, encrypted) in [
            ("postgres://ann:s3?cret@localhost/roadmap?sslmode=require", true),
            ("postgres://ann:s3?cret@db.example.com/roadmap?sslmode=disable", false),
            ("postgres://ann:s3?sslmode=disable@db.example.com/roadmap", true),
            ("postgres://db.example.com/roadmap?ssl%6Dode=dis%61ble", false),
        ] {
            let connector = Connector::for_login(url).unwrap();
            assert_eq!(connector.tls.is_some(), encrypted, "{url}");
        }
        let error = Connector::for_login("postgres://db.example.com/roadmap?sslrootcert=%2Fno%20where").err().unwrap();
        assert!(matches!(error, ConnectError::Certificates(_)), "{error}");
        let config = Connector::for_login("postgres://ann:s3?c%2Fret@localhost/roadmap").unwrap().config;
        assert_eq!(config.get_password(), Some("s3?c/ret".as_bytes()));
    }
}
