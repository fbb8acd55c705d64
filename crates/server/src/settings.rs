//! Settings: flags override the environment, which overrides `roadmap.toml`, which overrides the defaults.
//!
//! A new setting is a field of [`Settings`], a line with its default and its parser in `Settings::from_source`, and a row of
//! `docs/configuration.md`; a test compares the names. As a flag it is a field of [`SettingFlags`], too.

mod source;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::destination::OutboundNetworks;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::policy::signed_reference::Secret;
use roadmap_domain::policy::storage::StorageLimits;
use roadmap_http::client_address::Proxies;
use roadmap_http::limits::Rates;
use roadmap_mail::HelloName;
use serde::Serialize;

use source::Source;
use values::{
    Tuning, audit_retention, collector, connections, count, header_family, hello_name, keep_alive, mail_per_address,
    mail_per_day, mail_timeout, origins, path, proxy_networks, rate, retention, role, secrets, service_name, size,
    statement_timeout, switch, text, unused_uploads, webhook_backlog, webhook_disable_after, webhook_retry_delays,
    webhook_timeout,
};

pub(crate) use values::{Database, LogFormat, Mail, Storage, duration};

const DEFAULT_FILE: &str = "roadmap.toml";

/// The beginning of the names of environment variables that are settings.
const PREFIX: &str = "ROADMAP_";

/// The settings that can be given as flags. Flags that were not given are left out.
#[derive(Debug, Clone, Default, clap::Args, Serialize)]
#[command(next_help_heading = "Settings (or ROADMAP_… in the environment, or roadmap.toml)")]
pub(crate) struct SettingFlags {
    /// File with settings [default: roadmap.toml, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(long, global = true, value_name = "ADDRESS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    listen: Option<String>,
    /// URL of the service; workspace `acme` is one label below it [default: http://localhost and the port]
    #[arg(long, global = true, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    base_url: Option<String>,
    /// Database: sqlite://FILE or postgres://… [default: roadmap.db in the folder for data]
    #[arg(long, global = true, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    database_url: Option<String>,
    /// Folder for data [default: ./roadmap-data]
    #[arg(long, global = true, value_name = "FOLDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    data_dir: Option<String>,
    /// Where files are kept: file://FOLDER or s3://BUCKET/PREFIX [default: blobs in the folder for data]
    #[arg(long, global = true, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_url: Option<String>,
    /// Workspace that the base URL itself addresses, for installations with one workspace
    #[arg(long, global = true, value_name = "SUBDOMAIN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    default_workspace: Option<String>,
    /// What to log, for example `info` or `roadmap_http=debug,warn` [default: info]
    #[arg(long, global = true, value_name = "FILTER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
    /// Form of the log: `text` or `json` [default: text]
    #[arg(long, global = true, value_name = "FORMAT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    log_format: Option<String>,
}

/// All settings of the process, valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The address to listen on.
    pub(crate) listen: String,
    /// The address on which metrics are served; none if not set.
    pub(crate) metrics_listen: Option<String>,
    /// The endpoint that traces are sent to; none if not set.
    pub(crate) otlp_endpoint: Option<String>,
    /// The URL of the service; by default it is derived from the address to listen on.
    pub(crate) base_url: Option<BaseUrl>,
    /// The folder for data.
    pub(crate) data_dir: PathBuf,
    pub(crate) database: Database,
    /// The role that runs statements on a database server.
    pub(crate) database_role: String,
    /// Whether a database server additionally isolates workspaces with row security.
    pub(crate) row_security: bool,
    /// The storage of files.
    pub(crate) storage: Storage,
    /// The secret that signs references; if not set, it is in a file.
    pub(crate) secret: Option<Secret>,
    /// Former secrets, whose signatures are still valid.
    pub(crate) previous_secrets: Vec<Secret>,
    /// How mail is sent.
    pub(crate) mail: Mail,
    /// The time limit for sending one mail.
    pub(crate) mail_timeout: Duration,
    /// Whether `serve` also sends mail.
    pub(crate) mail_worker: bool,
    /// Whether `serve` also sends events to webhooks.
    pub(crate) webhook_worker: bool,
    /// Networks that are not public and to which requests may go all the same.
    pub(crate) outbound_networks: OutboundNetworks,
    /// The time limit for one try to send an event.
    pub(crate) webhook_timeout: Duration,
    /// The delays before an event is sent again.
    pub(crate) webhook_retry_delays: Vec<Duration>,
    /// How long a webhook may fail before it is disabled.
    pub(crate) webhook_disable_after: Option<Duration>,
    /// Maximum waiting, and maximum ended, deliveries of a webhook.
    pub(crate) webhook_backlog: u32,
    /// Maximum mails that a workspace may create in a day.
    pub(crate) mail_per_day: Option<u64>,
    /// Maximum single mails (not digests) to a customer of a workspace in an hour.
    pub(crate) mail_per_address: Option<u32>,
    /// The name of the service, in the sender of mail.
    pub(crate) service_name: String,
    /// The workspace that the base host itself addresses.
    pub(crate) default_workspace: Option<Subdomain>,
    /// The proxies whose headers may report the host and the client.
    pub(crate) proxies: Proxies,
    /// The rate limits of requests.
    pub(crate) rates: Rates,
    /// Whether agents are served at `/mcp`.
    pub(crate) mcp: bool,
    /// The origins of pages, besides those of the workspaces, that may use `/mcp`.
    pub(crate) mcp_allowed_origins: Vec<String>,
    /// The storage limits of workspaces.
    pub(crate) storage_limits: StorageLimits,
    /// The age at which an unused file is deleted.
    pub(crate) unused_uploads: Option<Duration>,
    /// Maximum bytes of a file that is uploaded to be imported. `None`: any number.
    pub(crate) import_max_size: Option<u64>,
    /// The number of threads that serve HTTP; one per processor if not set.
    pub(crate) workers: Option<usize>,
    /// The number of connections for reads; on a database server, also the number for writes.
    pub(crate) pool_size: usize,
    /// How long a write waits for the writer of the embedded database.
    pub(crate) write_wait: Duration,
    /// How long a request waits for a connection.
    pub(crate) read_wait: Duration,
    /// The time limit of a statement on a database server.
    pub(crate) statement_timeout: Duration,
    /// The time limit for receiving the body of a request.
    pub(crate) body_timeout: Duration,
    /// How long a connection may be idle between two requests.
    pub(crate) keep_alive: Duration,
    /// How long a request waits for a concurrent one with the same operation key.
    pub(crate) operation_wait: Duration,
    /// How long responses are saved under their operation keys.
    pub(crate) operation_retention: Duration,
    /// How long entries of the audit log are kept.
    pub(crate) audit_retention: Duration,
    /// How long new requests are still accepted after the shutdown signal.
    pub(crate) shutdown_delay: Duration,
    /// How long running requests may take after that.
    pub(crate) shutdown_wait: Duration,
    /// The filter of the log.
    pub(crate) log: String,
    pub(crate) log_format: LogFormat,
}

impl Settings {
    /// Reads the settings of this process.
    pub(crate) fn load(flags: &SettingFlags) -> anyhow::Result<Self> {
        Ok(Self::read(flags, utf8_variables(std::env::vars_os())?)?.0)
    }

    /// The base URL of the service for commands that do not serve. Without the setting it is derived from `listen`.
    pub(crate) fn service_url(&self) -> anyhow::Result<BaseUrl> {
        let port = self.listen.rsplit_once(':').map_or("8080", |(_, port)| port);
        self.service_url_at(port)
    }

    /// The base URL of a service that listens on this port. It is also the URL of the default workspace.
    pub(crate) fn service_url_at(&self, port: &str) -> anyhow::Result<BaseUrl> {
        let base_url = match &self.base_url {
            Some(base_url) => base_url.clone(),
            None => BaseUrl::parse("the address to listen on", &format!("http://localhost:{port}"))?,
        };
        let base_url = base_url.with_default_workspace(self.default_workspace.clone());
        anyhow::ensure!(
            !base_url.has_ip_address() || base_url.has_default_workspace(),
            "the setting base_url has the IP address {}, below which there can be no workspaces: set default_workspace \
             to the one workspace that is served there, or use a host name",
            base_url.host()
        );
        Ok(base_url)
    }

    /// The settings, and the names of all that exist.
    fn read(flags: &SettingFlags, environment: Vec<(String, String)>) -> anyhow::Result<(Self, Vec<&'static str>)> {
        let file = flags.config.as_deref().unwrap_or(Path::new(DEFAULT_FILE));
        let flag_values = serde_json::from_value(serde_json::to_value(flags)?)?;
        let mut source = Source::new(flag_values, environment, file, flags.config.is_some())?;
        let settings = Self::from_source(&mut source)?;
        Ok((settings, source.finish()?))
    }

    fn from_source(source: &mut Source) -> anyhow::Result<Self> {
        let data_dir = source.value("data_dir", "./roadmap-data", path)?;
        let database = Database::parse(source.optional("database_url", text)?.as_deref(), &data_dir)?;
        let mail_timeout = source.value("mail_timeout", "30s", mail_timeout)?;
        let base_url = source.optional("base_url", |name, raw| Ok(BaseUrl::parse(name, raw)?))?;
        let default_name = || base_url.as_ref().and_then(|url| HelloName::parse(url.host()).ok());
        let smtp = Tuning {
            timeout: mail_timeout,
            hello: source
                .optional("smtp_hello", hello_name)?
                .or_else(default_name)
                .unwrap_or_else(HelloName::localhost),
            connections: source.value("smtp_connections", "8", connections)?,
        };
        let (smtp_url, mail_from) = (source.optional("smtp_url", text)?, source.optional("mail_from", text)?);
        Ok(Self {
            listen: source.value("listen", "127.0.0.1:8080", text)?,
            metrics_listen: source.optional("metrics_listen", text)?,
            otlp_endpoint: source.optional("otlp_endpoint", collector)?,
            base_url,
            database_role: source.value("database_role", "roadmap_service", role)?,
            row_security: source.value("row_security", "true", switch)?,
            storage: Storage::parse(source.optional("storage_url", text)?.as_deref(), &data_dir)?,
            secret: source.optional("secret", |name, raw| Ok(Secret::parse(name, raw)?))?,
            previous_secrets: source.optional("previous_secrets", secrets)?.unwrap_or_default(),
            mail: Mail::parse(smtp_url.as_deref(), mail_from.as_deref(), &data_dir, smtp)?,
            mail_timeout,
            mail_worker: source.value("mail_worker", "true", switch)?,
            webhook_worker: source.value("webhook_worker", "true", switch)?,
            outbound_networks: source
                .optional("outbound_networks", |name, raw| Ok(OutboundNetworks::parse(name, raw)?))?
                .unwrap_or_default(),
            webhook_timeout: source.value("webhook_timeout", "15s", webhook_timeout)?,
            webhook_retry_delays: source.value(
                "webhook_retry_delays",
                "5s, 5m, 30m, 2h, 5h, 10h, 14h, 20h, 24h",
                webhook_retry_delays,
            )?,
            webhook_disable_after: source.value("webhook_disable_after", "120h", webhook_disable_after)?,
            webhook_backlog: source.value("webhook_backlog", "10000", webhook_backlog)?,
            mail_per_day: source.value("mail_per_day", "10000", mail_per_day)?,
            mail_per_address: source.value("mail_per_address", "10/h", mail_per_address)?,
            service_name: source.value("service_name", "Roadmap", service_name)?,
            default_workspace: source.optional("default_workspace", |name, raw| Ok(Subdomain::parse(name, raw)?))?,
            proxies: Proxies {
                headers: source.value("trust_proxy", "off", header_family)?,
                networks: source.value("proxy_networks", "127.0.0.0/8, ::1/128", proxy_networks)?,
            },
            rates: Rates {
                key: source.value("rate_limit", "600/min", rate)?,
                workspace: source.value("rate_limit_workspace", "6000/min", rate)?,
                failures: source.value("rate_limit_failures", "60/min", rate)?,
                anonymous: source.value("rate_limit_anonymous", "600/min", rate)?,
                sign_in: source.value("rate_limit_sign_in", "60/h burst 10", rate)?,
                posts: source.value("rate_limit_posts", "20/h", rate)?,
            },
            mcp: source.value("mcp", "true", switch)?,
            mcp_allowed_origins: source.optional("mcp_allowed_origins", origins)?.unwrap_or_default(),
            storage_limits: StorageLimits {
                records: source.value("storage_records", "2GB", size)?,
                files: source.value("storage_files", "10GB", size)?,
            },
            unused_uploads: source.value("unused_uploads", "7d", unused_uploads)?,
            import_max_size: source.value("import_max_size", "200MB", size)?,
            workers: source.optional("workers", count)?,
            pool_size: source.optional("pool_size", count)?.unwrap_or_else(|| database.default_pool_size()),
            write_wait: source.value("write_wait", "5s", duration)?,
            read_wait: source.value("read_wait", "2s", duration)?,
            statement_timeout: source.value("statement_timeout", "2s", statement_timeout)?,
            body_timeout: source.value("body_timeout", "30s", duration)?,
            keep_alive: source.value("keep_alive", "75s", keep_alive)?,
            operation_wait: source.value("operation_wait", "30s", duration)?,
            operation_retention: source.value("operation_retention", "30d", retention)?,
            audit_retention: source.value("audit_retention", "400d", audit_retention)?,
            shutdown_delay: source.value("shutdown_delay", "0s", duration)?,
            shutdown_wait: source.value("shutdown_wait", "30s", duration)?,
            log: source.value("log", "info", text)?,
            log_format: source.value("log_format", "text", LogFormat::parse)?,
            data_dir,
            database,
        })
    }
}

/// Returns the API key in the environment. It is no setting, because it belongs to a client of the service.
pub(crate) fn client_key(name: &str) -> Option<String> {
    environment().find(|(of, _)| of == name).map(|(_, key)| key)
}

/// Returns the variables of this process, except those that are not valid UTF-8.
pub(crate) fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(utf8_variable)
}

/// Returns the variables that are valid UTF-8. Others are of other programs, but an error if they may be settings. The
/// error does not contain the value, which may be a secret.
fn utf8_variables(variables: impl Iterator<Item = (OsString, OsString)>) -> anyhow::Result<Vec<(String, String)>> {
    let mut valid = Vec::new();
    for (name, value) in variables {
        let may_be_setting = name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
        let printable = name.to_string_lossy().into_owned();
        match utf8_variable((name, value)) {
            Some(variable) => valid.push(variable),
            None if may_be_setting => bail!("the environment variable {printable} is not valid UTF-8"),
            None => {}
        }
    }
    Ok(valid)
}

fn utf8_variable((name, value): (OsString, OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_http::client_address::HeaderFamily;
    use roadmap_http::limits::Rate;
    use std::num::NonZeroU32;
    use std::os::unix::ffi::OsStringExt;

    fn read(flags: &SettingFlags, environment: &[(&str, &str)]) -> anyhow::Result<Settings> {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Ok(Settings::read(flags, environment.collect())?.0)
    }

    fn message(outcome: anyhow::Result<Settings>) -> String {
        format!("{:#}", outcome.unwrap_err())
    }

    /// Decision 5: the wait for a key is 30 s.
    /// Decision 5: saved responses are kept 30 days, which is configurable, and at least 24 h.
    /// Decision 7; Addition 6.
    #[test]
    fn every_setting_has_a_default() {
        let settings = read(&SettingFlags::default(), &[]).unwrap();
        assert_eq!(settings.listen, "127.0.0.1:8080");
        assert_eq!(settings.base_url, None);
        assert_eq!(settings.database, Database::File("./roadmap-data/roadmap.db".into()));
        assert_eq!((settings.pool_size, settings.statement_timeout), (4, Duration::from_secs(2)));
        assert_eq!((settings.database_role.as_str(), settings.row_security), ("roadmap_service", true));
        assert_eq!(settings.storage, Storage::Folder("./roadmap-data/blobs".into()));
        assert_eq!((settings.secret, settings.previous_secrets), (None, vec![]));
        assert_eq!((settings.operation_wait, settings.keep_alive), (Duration::from_secs(30), Duration::from_secs(75)));
        assert_eq!(settings.operation_retention, Duration::from_secs(30 * 24 * 3600));
        assert_eq!(settings.audit_retention, Duration::from_secs(400 * 24 * 3600));
        assert_eq!((settings.metrics_listen, settings.otlp_endpoint), (None, None));
        assert_eq!((settings.mail_per_day, settings.mail_per_address), (Some(10_000), Some(10)));
        assert_eq!(settings.service_name, "Roadmap");
        assert_eq!((settings.mcp, settings.mcp_allowed_origins), (true, vec![]));
        assert_eq!(settings.shutdown_delay, Duration::ZERO);
        assert_eq!((settings.log.as_str(), settings.log_format), ("info", LogFormat::Text));
    }

    /// Decision 7.
    #[test]
    fn flags_come_before_the_environment_before_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, "listen = \"file:1\"\nlog = \"file\"\npool_size = 7\ndata_dir = \"/file\"\n").unwrap();
        let flags = SettingFlags { config: Some(file), listen: Some("flag:1".to_owned()), ..SettingFlags::default() };
        let environment = [
            ("ROADMAP_LISTEN", "environment:1"),
            ("ROADMAP_LOG", "environment"),
            ("ROADMAP_DATA_DIR", ""),
            ("ROADMAP_TRUST_PROXY", "x-forwarded"),
            ("ROADMAP_WORKERS", "3"),
            ("ROADMAP_PORT", "tcp://10.0.0.1:80"),
        ];
        let settings = read(&flags, &environment).unwrap();
        assert_eq!((settings.listen.as_str(), settings.log.as_str(), settings.pool_size), ("flag:1", "environment", 7));
        assert_eq!(settings.data_dir, Path::new("/file"));
        assert_eq!((settings.proxies.headers, settings.workers), (Some(HeaderFamily::XForwarded), Some(3)));
    }

    /// Decision 7: `smtp_url` without `mail_from` is rejected, and `mail_timeout` has limits.
    /// Addition 6.
    #[test]
    fn invalid_settings_are_rejected_by_name() {
        let environment = |name, value| message(read(&SettingFlags::default(), &[(name, value)]));
        for (name, value, says) in [
            ("ROADMAP_BASE_URL", "example.com", "the setting base_url is not a URL such as"),
            ("ROADMAP_DATABASE_URL", "mysql://u:secret@host/db", "is `mysql://…`, which is neither a file"),
            ("ROADMAP_DATABASE_URL", "secret", "is `…`, which is neither a file"),
            ("ROADMAP_DATABASE_URL", "host=db password=s3cret://x", "is `…`, which is neither a file"),
            ("ROADMAP_DATABASE_URL", "mysql://u:s3cret://@host/db", "is `mysql://…`, which is neither a file"),
            ("ROADMAP_DATABASE_URL", "postgres://", "postgres://user:password@host/database"),
            ("ROADMAP_DATABASE_ROLE", "Robert'); DROP", "is not a name of lower-case letters"),
            ("ROADMAP_STATEMENT_TIMEOUT", "0s", "must be between 100ms and 60s"),
            ("ROADMAP_DATABASE_URL", "sqlite://", "sqlite:///path/to/roadmap.db"),
            ("ROADMAP_STORAGE_URL", "gs://secret@bucket", "is `gs://…`, which is neither a folder"),
            ("ROADMAP_MCP", "maybe", "the setting mcp is `maybe`, which is neither `true` nor `false`"),
            (
                "ROADMAP_MCP_ALLOWED_ORIGINS",
                "https://a.example, https://b.example/path",
                "the setting mcp_allowed_origins has `https://b.example/path`, which is not an origin such as",
            ),
            ("ROADMAP_SECRET", "secret", "the setting secret is not a secret of at least 32 characters"),
            ("ROADMAP_PREVIOUS_SECRETS", "a,b", "the setting previous_secrets is not a secret of at least"),
            ("ROADMAP_SMTP_URL", "smtp://u:secret@mail.example.com", "the setting mail_from is required with smtp_url"),
            ("ROADMAP_MAIL_TIMEOUT", "1h", "must be between 100ms and 10m"),
            (
                "ROADMAP_SMTP_HELLO",
                "my_host",
                "the setting smtp_hello: `my_host` is neither a host name such as roadmap.example.com nor an IP address",
            ),
            ("ROADMAP_SMTP_HELLO", "https://a.example", "the setting smtp_hello: `https://a.example` is neither"),
            (
                "ROADMAP_SMTP_CONNECTIONS",
                "0",
                "the setting smtp_connections is `0`, which is not a number between 1 and 64",
            ),
            ("ROADMAP_SMTP_CONNECTIONS", "65", "the setting smtp_connections is `65`"),
            ("ROADMAP_SMTP_CONNECTIONS", "many", "the setting smtp_connections is `many`"),
            (
                "ROADMAP_MAIL_PER_DAY",
                "0",
                "the setting mail_per_day is `0`, which is neither `off` nor a number between 1 and 10000000",
            ),
            ("ROADMAP_MAIL_PER_DAY", "10/h", "the setting mail_per_day is `10/h`"),
            (
                "ROADMAP_MAIL_PER_ADDRESS",
                "10",
                "the setting mail_per_address is `10`, which is neither `off` nor a number between 1 and 1000 such as 10/h",
            ),
            ("ROADMAP_MAIL_PER_ADDRESS", "0/h", "the setting mail_per_address is `0/h`"),
            ("ROADMAP_SERVICE_NAME", " ", "the setting service_name is ` `, which is not one line of at most 36 bytes"),
            ("ROADMAP_SERVICE_NAME", "a\r\nBcc: b", "which is not one line of at most 36 bytes"),
            ("ROADMAP_OTLP_ENDPOINT", "localhost:4317", "is `…`, which is not the URL of a collector such as"),
            ("ROADMAP_OTLP_ENDPOINT", "http://u:secret@host", "is `http://…`, which is not the URL of a collector"),
            ("ROADMAP_SHUTDOWN_DELAY", "soon", "shutdown_delay is `soon`, which is not a number and a unit"),
            ("ROADMAP_RATE_LIMIT", "many", "the setting rate_limit is `many`, which is neither `off` nor a number"),
            ("ROADMAP_RATE_LIMIT", "0/min", "the setting rate_limit is `0/min`"),
            ("ROADMAP_RATE_LIMIT", "600/day", "the setting rate_limit is `600/day`"),
            ("ROADMAP_RATE_LIMIT", "1000001", "such as 600/min, 10/s or 600/min burst 100, between 1 and 1000000"),
            ("ROADMAP_RATE_LIMIT_WORKSPACE", "600/min burst 0", "the setting rate_limit_workspace is"),
            ("ROADMAP_RATE_LIMIT_FAILURES", "-1", "the setting rate_limit_failures is `-1`"),
            ("ROADMAP_RATE_LIMIT_ANONYMOUS", "1/d", "the setting rate_limit_anonymous is `1/d`"),
            ("ROADMAP_RATE_LIMIT_SIGN_IN", "10/10min", "the setting rate_limit_sign_in is `10/10min`"),
            ("ROADMAP_RATE_LIMIT_POSTS", "20/h burst", "the setting rate_limit_posts is `20/h burst`"),
            (
                "ROADMAP_TRUST_PROXY",
                "true",
                "the setting trust_proxy is `true`, which does not say which headers the proxy sets: `forwarded` \
                 (Forwarded) or `x-forwarded` (X-Forwarded-For and X-Forwarded-Host)",
            ),
            (
                "ROADMAP_TRUST_PROXY",
                "on",
                "the setting trust_proxy is `on`, which is none of `off`, `forwarded` and `x-forwarded`",
            ),
            (
                "ROADMAP_PROXY_NETWORKS",
                "10.0.0.0/8; ::1",
                "the setting proxy_networks is `10.0.0.0/8; ::1`, which is not a list of networks such as \
                 127.0.0.0/8, ::1/128, 10.0.0.0/8",
            ),
            ("ROADMAP_PROXY_NETWORKS", "10.0.0.0/33", "the setting proxy_networks is `10.0.0.0/33`"),
            ("ROADMAP_PROXY_NETWORKS", "10.0.0.0/8,", "the setting proxy_networks is `10.0.0.0/8,`"),
            ("ROADMAP_PROXY_NETWORKS", "proxy.example", "the setting proxy_networks is `proxy.example`"),
            (
                "ROADMAP_STORAGE_RECORDS",
                "2",
                "the setting storage_records is `2`, which is neither `off` nor a size such as",
            ),
            ("ROADMAP_STORAGE_FILES", "0MB", "the setting storage_files is `0MB`"),
            ("ROADMAP_UNUSED_UPLOADS", "59m", "clients need at least 1h to use what they have uploaded"),
            ("ROADMAP_UNUSED_UPLOADS", "never", "unused_uploads is `never`, which is not a number and a unit"),
            ("ROADMAP_WRITE_WAIT", "5", "write_wait is `5`, which is not a number and a unit"),
            ("ROADMAP_KEEP_ALIVE", "0s", "the setting keep_alive is `0s`; it must be between 1s and 1h"),
            ("ROADMAP_KEEP_ALIVE", "61m", "the setting keep_alive is `61m`"),
            ("ROADMAP_KEEP_ALIVE", "75", "keep_alive is `75`, which is not a number and a unit"),
            ("ROADMAP_OPERATION_RETENTION", "23h", "clients rely on at least 24h"),
            ("ROADMAP_AUDIT_RETENTION", "29d", "the setting audit_retention is `29d`; it must be at least 30d"),
            ("ROADMAP_AUDIT_RETENTION", "off", "audit_retention is `off`, which is not a number and a unit"),
            ("ROADMAP_WORKERS", "0", "workers must be at least 1"),
            ("ROADMAP_POOL_SIZE", "many", "the setting pool_size is `many`, which is not a number"),
            ("ROADMAP_MAIL_WORKER", "maybe", "the setting mail_worker is `maybe`, which is neither `true` nor `false`"),
            ("ROADMAP_OUTBOUND_NETWORKS", "n8n.lan", "outbound_networks"),
            (
                "ROADMAP_WEBHOOK_TIMEOUT",
                "99ms",
                "the setting webhook_timeout is `99ms`; it must be between 100ms and 60s",
            ),
            ("ROADMAP_WEBHOOK_TIMEOUT", "61s", "must be between 100ms and 60s"),
            (
                "ROADMAP_WEBHOOK_RETRY_DELAYS",
                "5s,",
                "the setting webhook_retry_delays has ``, which is not a number and a",
            ),
            ("ROADMAP_WEBHOOK_RETRY_DELAYS", "5s,soon", "the setting webhook_retry_delays has `soon`"),
            (
                "ROADMAP_WEBHOOK_RETRY_DELAYS",
                "1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s",
                "the setting webhook_retry_delays has 21 delays; it must have 1 to 20",
            ),
            ("ROADMAP_WEBHOOK_DISABLE_AFTER", "999ms", "must be `off` or at least 1s"),
            (
                "ROADMAP_WEBHOOK_BACKLOG",
                "99",
                "the setting webhook_backlog is `99`, which is not a number between 100 and",
            ),
            ("ROADMAP_WEBHOOK_BACKLOG", "1000001", "which is not a number between 100 and 1000000"),
            ("ROADMAP_DEFAULT_WORKSPACE", "a.b", "the setting default_workspace is not a host name label"),
            ("ROADMAP_LOG_FORMAT", "xml", "the setting log_format is `xml`, which is neither `text` nor `json`"),
        ] {
            let text = environment(name, value);
            assert!(text.contains(says), "{name}={value}: {text}");
            assert!(!text.contains(&format!("`{value}`")) || !value.contains("secret"), "{text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, "lisen = \"x\"\n").unwrap();
        let flags = SettingFlags { config: Some(file), ..SettingFlags::default() };
        assert_eq!(message(read(&flags, &[])), "there is no setting lisen; docs/configuration.md lists all settings");
        for (text, says) in [("listen", "cannot be read"), ("listen = [1]\n", "the setting listen is a TOML array")] {
            std::fs::write(flags.config.as_ref().unwrap(), text).unwrap();
            assert!(message(read(&flags, &[])).contains(says), "{text}");
        }
        // A line that cannot be understood may have a password, which is not shown.
        for text in ["smtp_url = smtp://ann:hunter2@smtp.example.com", "secret = \"hunter2", "secret = hunter2"] {
            std::fs::write(flags.config.as_ref().unwrap(), format!("listen = \"[::1]:80\"\n\n{text}\n")).unwrap();
            let error = message(read(&flags, &[]));
            assert!(error.contains("settings.toml cannot be read: line 3: "), "{error}");
            assert!(!error.contains("hunter2") && !error.contains('\n'), "{error}");
        }
        let flags = SettingFlags { config: Some(folder.path().join("none.toml")), ..SettingFlags::default() };
        assert!(message(read(&flags, &[])).contains("none.toml"));
    }

    #[test]
    fn variables_that_are_not_utf8_are_ignored_unless_they_may_be_settings() {
        fn variable(name: &[u8], value: &[u8]) -> (OsString, OsString) {
            (OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec()))
        }
        let valid = utf8_variables(
            [
                variable(b"HOME", "/caf\u{e9}".as_bytes()),
                variable(b"PWD", b"/caf\xe9"),
                variable(b"OTHER_\xe9", b"value"),
                variable(b"ROADMAP_LISTEN", b"a:1"),
            ]
            .into_iter(),
        );
        let expected = [("HOME", "/caf\u{e9}"), ("ROADMAP_LISTEN", "a:1")];
        assert_eq!(valid.unwrap(), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for (invalid, name) in [
            (variable(b"ROADMAP_SECRET", b"s3cret \xe9"), "ROADMAP_SECRET"),
            (variable(b"ROADMAP_\xe9", b"s3cret"), "ROADMAP_\u{fffd}"),
        ] {
            let message = utf8_variables(std::iter::once(invalid)).unwrap_err().to_string();
            assert_eq!(message, format!("the environment variable {name} is not valid UTF-8"));
        }
    }

    /// Decision 7.
    #[test]
    fn a_server_is_chosen_by_its_url_and_shown_without_its_password() {
        for url in ["postgres://ann:secret@db.example.com/roadmap", "postgresql://ann:secret@db.example.com/roadmap"] {
            let settings = read(&SettingFlags::default(), &[("ROADMAP_DATABASE_URL", url)]).unwrap();
            assert_eq!(settings.database, Database::Server(url.to_owned()));
            assert_eq!(settings.pool_size, 8);
            assert_eq!(settings.database.to_string(), "postgres://ann@db.example.com:5432/roadmap");
        }
    }

    /// Decision 7.
    #[test]
    fn a_rate_is_off_or_a_number_of_requests_per_time() {
        let rates = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap().rates;
        let rate = |requests, seconds, burst| {
            let [requests, burst] = [requests, burst].map(|number| NonZeroU32::new(number).unwrap());
            Rate::new(requests, Duration::from_secs(seconds), burst)
        };
        let default = Rates {
            key: rate(600, 60, 600),
            workspace: rate(6_000, 60, 6_000),
            failures: rate(60, 60, 60),
            anonymous: rate(600, 60, 600),
            sign_in: rate(60, 3_600, 10),
            posts: rate(20, 3_600, 20),
        };
        assert_eq!(rates(&[]), default);
        for (raw, key) in [
            ("off", None),
            ("1200", rate(1_200, 60, 1_200)),
            ("10/s", rate(10, 1, 10)),
            ("5000/h", rate(5_000, 3_600, 5_000)),
            ("600/min burst 100", rate(600, 60, 100)),
            ("1000000/s", rate(1_000_000, 1, 1_000_000)),
        ] {
            assert_eq!(rates(&[("ROADMAP_RATE_LIMIT", raw)]), Rates { key, ..default }, "{raw}");
        }
        let off = [("ROADMAP_RATE_LIMIT_WORKSPACE", "off"), ("ROADMAP_RATE_LIMIT_FAILURES", "off")];
        assert_eq!(rates(&off), Rates { workspace: None, failures: None, ..default });
        assert_eq!(rates(&[("ROADMAP_RATE_LIMIT_ANONYMOUS", "off")]), Rates { anonymous: None, ..default });
        let off = [("ROADMAP_RATE_LIMIT_SIGN_IN", "off"), ("ROADMAP_RATE_LIMIT_POSTS", "off")];
        assert_eq!(rates(&off), Rates { sign_in: None, posts: None, ..default });

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, "rate_limit = 1200\n").unwrap();
        let flags = SettingFlags { config: Some(file), ..SettingFlags::default() };
        assert_eq!(read(&flags, &[]).unwrap().rates.key, rate(1_200, 60, 1_200));
    }

    #[test]
    fn proxy_headers_need_a_family_and_named_networks() {
        let proxies = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap().proxies;
        let networks = |proxies: &Proxies| proxies.networks.iter().map(ToString::to_string).collect::<Vec<_>>();
        let default = proxies(&[]);
        assert_eq!((default.headers, networks(&default)), (None, vec!["127.0.0.0/8".to_owned(), "::1/128".to_owned()]));
        for (raw, headers) in [
            ("off", None),
            ("false", None),
            ("forwarded", Some(HeaderFamily::Forwarded)),
            ("x-forwarded", Some(HeaderFamily::XForwarded)),
        ] {
            assert_eq!(proxies(&[("ROADMAP_TRUST_PROXY", raw)]).headers, headers, "{raw}");
        }
        let named = proxies(&[("ROADMAP_PROXY_NETWORKS", "10.0.0.0/8,192.0.2.7, fd00::/8 ,::1")]);
        assert_eq!(networks(&named), ["10.0.0.0/8", "192.0.2.7/32", "fd00::/8", "::1/128"]);

        // Values of older files.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        let flags = SettingFlags { config: Some(file.clone()), ..SettingFlags::default() };
        std::fs::write(&file, "trust_proxy = false\n").unwrap();
        assert_eq!(read(&flags, &[]).unwrap().proxies, default);
        std::fs::write(&file, "trust_proxy = true\n").unwrap();
        assert!(message(read(&flags, &[])).starts_with("the setting trust_proxy is `true`, which does not say which"));
    }

    #[test]
    fn a_size_is_off_or_a_number_and_a_unit() {
        let limits = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap().storage_limits;
        assert_eq!(limits(&[]), StorageLimits { records: Some(2 << 30), files: Some(10 << 30) });
        for (raw, bytes) in [
            ("off", None),
            ("1KB", Some(1_024)),
            ("64KB", Some(65_536)),
            ("500MB", Some(524_288_000)),
            ("1GB", Some(1_073_741_824)),
            ("1048576GB", Some(1 << 50)),
        ] {
            assert_eq!(limits(&[("ROADMAP_STORAGE_RECORDS", raw)]).records, bytes, "{raw}");
            assert_eq!(limits(&[("ROADMAP_STORAGE_FILES", raw)]).files, bytes, "{raw}");
        }
        for raw in [
            "",
            "1",
            "GB",
            "0KB",
            "-1GB",
            "+1GB",
            "1.5GB",
            "1 GB",
            "1gb",
            "1TB",
            "1B",
            "1048577GB",
            "99999999999999999999KB",
        ] {
            let error = size("it", raw).unwrap_err().to_string();
            let says = "which is neither `off` nor a size such as 2GB, 500MB or 64KB, of up to 1048576GB";
            assert_eq!(error, format!("it is `{raw}`, {says}"));
        }
    }

    #[test]
    fn webhooks_have_their_settings() {
        let settings = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap();
        let default = settings(&[]);
        assert!(default.webhook_worker && default.outbound_networks.is_empty());
        assert_eq!((default.webhook_timeout, default.webhook_backlog), (Duration::from_secs(15), 10_000));
        assert_eq!(default.webhook_disable_after, Some(Duration::from_secs(5 * 24 * 3_600)));
        let hours = |hours: u64| Duration::from_secs(hours * 3_600);
        let short = [Duration::from_secs(5), Duration::from_secs(300), Duration::from_secs(1_800)];
        let expected = short.into_iter().chain([2, 5, 10, 14, 20, 24].map(hours));
        assert_eq!(default.webhook_retry_delays, expected.collect::<Vec<_>>());
        let set = settings(&[
            ("ROADMAP_WEBHOOK_RETRY_DELAYS", "100ms, 1s"),
            ("ROADMAP_WEBHOOK_DISABLE_AFTER", "off"),
            ("ROADMAP_OUTBOUND_NETWORKS", "10.1.2.0/24"),
        ]);
        assert_eq!(set.webhook_retry_delays, [Duration::from_millis(100), Duration::from_secs(1)]);
        assert!(set.webhook_disable_after.is_none() && !set.outbound_networks.is_empty());
    }

    #[test]
    fn unused_uploads_is_off_or_a_duration() {
        let unused = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap().unused_uploads;
        assert_eq!(unused(&[]), Some(Duration::from_secs(7 * 24 * 3_600)));
        assert_eq!(unused(&[("ROADMAP_UNUSED_UPLOADS", "1h")]), Some(Duration::from_secs(3_600)));
        assert_eq!(unused(&[("ROADMAP_UNUSED_UPLOADS", "off")]), None);
    }

    /// Decision 7: the signing secret is required with `postgres://`.
    #[test]
    fn a_database_server_needs_a_secret_that_all_processes_share() {
        let server = ("ROADMAP_DATABASE_URL", "postgres://db.example.com/roadmap");
        let settings = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap();
        let error = crate::secret::references(&settings(&[server])).unwrap_err();
        assert!(error.to_string().starts_with("the setting secret is required with a database server"), "{error}");
        let secret = ("ROADMAP_SECRET", "0123456789abcdef0123456789abcdef");
        assert!(crate::secret::references(&settings(&[server, secret])).is_ok());
    }

    #[test]
    fn mail_is_written_to_files_without_a_mail_server() {
        let mail = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap().mail.to_string();
        assert_eq!(mail(&[]), "files in ./roadmap-data/mail");
        let url = ("ROADMAP_SMTP_URL", "smtps://ann:secret@mail.example.com");
        assert_eq!(mail(&[url, ("ROADMAP_MAIL_FROM", "a@b.example")]), "smtps://ann@mail.example.com:465");
    }

    #[test]
    fn mail_servers_are_greeted_with_the_host_of_the_base_url_unless_another_name_is_set() {
        let options = |environment: &[(&str, &str)]| {
            let server = [("ROADMAP_SMTP_URL", "smtp://mail.example.com"), ("ROADMAP_MAIL_FROM", "a@b.example")];
            match read(&SettingFlags::default(), &[&server[..], environment].concat()).unwrap().mail {
                Mail::Smtp(options) => options,
                other => panic!("{other}"),
            }
        };
        let base_url = ("ROADMAP_BASE_URL", "https://roadmap.example.com:8443");
        for (environment, name) in [
            (vec![], "localhost"),
            (vec![base_url], "roadmap.example.com"),
            (vec![base_url, ("ROADMAP_SMTP_HELLO", "mail.acme.example")], "mail.acme.example"),
            (vec![("ROADMAP_SMTP_HELLO", "192.0.2.7")], "[192.0.2.7]"),
        ] {
            assert_eq!(options(&environment).hello.to_string(), name);
        }
        assert_eq!(options(&[]).connections, 8);
        assert_eq!(options(&[("ROADMAP_SMTP_CONNECTIONS", "64")]).connections, 64);
    }

    #[test]
    fn limits_of_mail_are_off_or_numbers() {
        let settings = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap();
        let off = settings(&[("ROADMAP_MAIL_PER_DAY", "off"), ("ROADMAP_MAIL_PER_ADDRESS", "off")]);
        assert_eq!((off.mail_per_day, off.mail_per_address), (None, None));
        let set = settings(&[("ROADMAP_MAIL_PER_DAY", "7"), ("ROADMAP_MAIL_PER_ADDRESS", "1000/h")]);
        assert_eq!((set.mail_per_day, set.mail_per_address), (Some(7), Some(1_000)));
        assert_eq!(settings(&[("ROADMAP_SERVICE_NAME", " Wishes ")]).service_name, "Wishes");
    }

    /// Decision 7: every setting is documented in docs/configuration.md.
    #[test]
    fn every_setting_is_documented() {
        let document = include_str!("../../../docs/configuration.md");
        let (_, names) = Settings::read(&SettingFlags::default(), Vec::new()).unwrap();
        assert!(names.len() > 30);
        for name in names {
            assert!(document.contains(&format!("`ROADMAP_{}`", name.to_uppercase())), "{name}");
        }
    }
}
