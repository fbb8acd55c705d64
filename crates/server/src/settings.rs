//! Settings: flags override the environment, which overrides `roadmap.toml`, which overrides the defaults.
//!
//! `docs/configuration.md` lists all settings; a test compares the two.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use config::builder::DefaultState;
use config::{Config, ConfigBuilder, File, FileFormat};
use ipnet::IpNet;
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::policy::signed_reference::Secret;
use roadmap_domain::policy::storage::StorageLimits;
use roadmap_http::client_address::{HeaderFamily, Proxies};
use roadmap_http::limits::{Rate, Rates};
use roadmap_mail::SmtpOptions;
use serde::{Deserialize, Serialize};

/// The names of all settings, as in the file. The environment variable is the name in capitals with the prefix
/// `ROADMAP_`.
const NAMES: [&str; 40] = [
    "listen",
    "metrics_listen",
    "otlp_endpoint",
    "base_url",
    "database_url",
    "database_role",
    "row_security",
    "data_dir",
    "storage_url",
    "secret",
    "previous_secrets",
    "smtp_url",
    "mail_from",
    "mail_timeout",
    "mail_worker",
    "mail_per_day",
    "mail_per_address",
    "service_name",
    "default_workspace",
    "trust_proxy",
    "proxy_networks",
    "rate_limit",
    "rate_limit_workspace",
    "rate_limit_failures",
    "rate_limit_anonymous",
    "storage_records",
    "storage_files",
    "unused_uploads",
    "workers",
    "pool_size",
    "write_wait",
    "read_wait",
    "statement_timeout",
    "body_timeout",
    "operation_wait",
    "operation_retention",
    "shutdown_delay",
    "shutdown_wait",
    "log",
    "log_format",
];

/// Maximum number of requests in a rate.
const MAX_RATE: u32 = 1_000_000;

/// Maximum size in bytes (a petabyte). A larger value is a mistake.
const MAX_SIZE: u64 = 1 << 50;

/// Minimum age of an upload that may be deleted as unused.
const MIN_UNUSED_AGE: Duration = Duration::from_secs(3_600);
/// Maximum value of the daily mail limit.
const MAX_MAILS_PER_DAY: u64 = 10_000_000;

/// Maximum bytes of the service's name.
const MAX_SERVICE_NAME_LENGTH: usize = 36;

const DEFAULT_FILE: &str = "roadmap.toml";

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

/// The settings as given, before validation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSettings {
    listen: String,
    metrics_listen: Option<String>,
    otlp_endpoint: Option<String>,
    base_url: Option<String>,
    database_url: Option<String>,
    database_role: String,
    row_security: bool,
    data_dir: PathBuf,
    storage_url: Option<String>,
    secret: Option<String>,
    previous_secrets: Option<String>,
    smtp_url: Option<String>,
    mail_from: Option<String>,
    mail_timeout: String,
    mail_worker: bool,
    mail_per_day: String,
    mail_per_address: String,
    service_name: String,
    default_workspace: Option<String>,
    trust_proxy: String,
    proxy_networks: String,
    rate_limit: String,
    rate_limit_workspace: String,
    rate_limit_failures: String,
    rate_limit_anonymous: String,
    storage_records: String,
    storage_files: String,
    unused_uploads: String,
    workers: Option<usize>,
    pool_size: Option<usize>,
    write_wait: String,
    read_wait: String,
    statement_timeout: String,
    body_timeout: String,
    operation_wait: String,
    operation_retention: String,
    shutdown_delay: String,
    shutdown_wait: String,
    log: String,
    log_format: LogFormat,
}

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// The validated settings.
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
    /// The database.
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
    /// The storage limits of workspaces.
    pub(crate) storage_limits: StorageLimits,
    /// The age at which an unused file is deleted.
    pub(crate) unused_uploads: Option<Duration>,
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
    /// How long a request waits for a concurrent one with the same operation key.
    pub(crate) operation_wait: Duration,
    /// How long responses are saved under their operation keys.
    pub(crate) operation_retention: Duration,
    /// How long new requests are still accepted after the shutdown signal.
    pub(crate) shutdown_delay: Duration,
    /// How long running requests may take after that.
    pub(crate) shutdown_wait: Duration,
    /// The filter of the log.
    pub(crate) log: String,
    /// The format of the log.
    pub(crate) log_format: LogFormat,
}

impl Settings {
    /// Reads and validates the settings of this process.
    pub(crate) fn load(flags: &SettingFlags) -> anyhow::Result<Self> {
        let environment: Vec<(String, String)> = std::env::vars().collect();
        Self::read(flags, environment)
    }

    fn read(flags: &SettingFlags, environment: Vec<(String, String)>) -> anyhow::Result<Self> {
        let mut layers = defaults()?;
        let file = flags.config.as_deref().unwrap_or(Path::new(DEFAULT_FILE));
        layers = layers.add_source(File::from(file).format(FileFormat::Toml).required(flags.config.is_some()));
        // Only known names, because platforms set their own variables with the same prefix. An empty variable counts as
        // not set.
        for name in NAMES {
            let variable = format!("ROADMAP_{}", name.to_uppercase());
            let value = environment.iter().find(|(set, value)| *set == variable && !value.is_empty());
            layers = layers.set_override_option(name, value.map(|(_, value)| value.clone()))?;
        }
        let flags = serde_json::to_value(flags)?;
        for (name, value) in flags.as_object().into_iter().flatten() {
            layers = layers.set_override_option(name, value.as_str())?;
        }
        let raw: RawSettings =
            layers.build().and_then(Config::try_deserialize).context("the settings cannot be read")?;
        raw.validate()
    }
}

fn defaults() -> Result<ConfigBuilder<DefaultState>, config::ConfigError> {
    Config::builder()
        .set_default("listen", "127.0.0.1:8080")?
        .set_default("data_dir", "./roadmap-data")?
        .set_default("database_role", "roadmap_service")?
        .set_default("row_security", true)?
        .set_default("trust_proxy", "off")?
        .set_default("proxy_networks", "127.0.0.0/8, ::1/128")?
        .set_default("rate_limit", "600/min")?
        .set_default("rate_limit_workspace", "6000/min")?
        .set_default("rate_limit_failures", "60/min")?
        .set_default("rate_limit_anonymous", "600/min")?
        .set_default("storage_records", "2GB")?
        .set_default("storage_files", "10GB")?
        .set_default("unused_uploads", "7d")?
        .set_default("mail_timeout", "30s")?
        .set_default("mail_worker", true)?
        .set_default("mail_per_day", "10000")?
        .set_default("mail_per_address", "10/h")?
        .set_default("service_name", "Roadmap")?
        .set_default("write_wait", "5s")?
        .set_default("read_wait", "2s")?
        .set_default("statement_timeout", "2s")?
        .set_default("body_timeout", "30s")?
        .set_default("operation_wait", "30s")?
        .set_default("operation_retention", "30d")?
        .set_default("shutdown_delay", "0s")?
        .set_default("shutdown_wait", "30s")?
        .set_default("log", "info")?
        .set_default("log_format", "text")
}

impl RawSettings {
    fn validate(self) -> anyhow::Result<Settings> {
        if self.workers == Some(0) {
            bail!("the setting workers must be at least 1");
        }
        if self.pool_size == Some(0) {
            bail!("the setting pool_size must be at least 1");
        }
        let database = Database::parse(self.database_url.as_deref(), &self.data_dir)?;
        let mail_timeout = mail_timeout(&self.mail_timeout)?;
        Ok(Settings {
            storage: Storage::parse(self.storage_url.as_deref(), &self.data_dir)?,
            secret: self.secret.map(|raw| Secret::parse("the setting secret", &raw)).transpose()?,
            mail: Mail::parse(self.smtp_url.as_deref(), self.mail_from.as_deref(), &self.data_dir, mail_timeout)?,
            mail_timeout,
            mail_worker: self.mail_worker,
            mail_per_day: mail_per_day(&self.mail_per_day)?,
            mail_per_address: mail_per_address(&self.mail_per_address)?,
            service_name: service_name(&self.service_name)?,
            previous_secrets: previous_secrets(self.previous_secrets.as_deref())?,
            pool_size: self.pool_size.unwrap_or_else(|| database.default_pool_size()),
            database,
            database_role: role(self.database_role)?,
            row_security: self.row_security,
            statement_timeout: statement_timeout(&self.statement_timeout)?,
            base_url: self.base_url.map(|raw| BaseUrl::parse("the setting base_url", &raw)).transpose()?,
            default_workspace: self
                .default_workspace
                .map(|raw| Subdomain::parse("the setting default_workspace", &raw))
                .transpose()?,
            write_wait: duration("the setting write_wait", &self.write_wait)?,
            read_wait: duration("the setting read_wait", &self.read_wait)?,
            body_timeout: duration("the setting body_timeout", &self.body_timeout)?,
            operation_wait: duration("the setting operation_wait", &self.operation_wait)?,
            operation_retention: retention(&self.operation_retention)?,
            shutdown_delay: duration("the setting shutdown_delay", &self.shutdown_delay)?,
            shutdown_wait: duration("the setting shutdown_wait", &self.shutdown_wait)?,
            listen: self.listen,
            metrics_listen: self.metrics_listen,
            otlp_endpoint: self.otlp_endpoint.map(collector).transpose()?,
            data_dir: self.data_dir,
            proxies: Proxies {
                headers: header_family(&self.trust_proxy)?,
                networks: proxy_networks(&self.proxy_networks)?,
            },
            rates: Rates {
                key: rate("the setting rate_limit", &self.rate_limit)?,
                workspace: rate("the setting rate_limit_workspace", &self.rate_limit_workspace)?,
                failures: rate("the setting rate_limit_failures", &self.rate_limit_failures)?,
                anonymous: rate("the setting rate_limit_anonymous", &self.rate_limit_anonymous)?,
            },
            storage_limits: StorageLimits {
                records: size("the setting storage_records", &self.storage_records)?,
                files: size("the setting storage_files", &self.storage_files)?,
            },
            unused_uploads: unused_uploads(&self.unused_uploads)?,
            workers: self.workers,
            log: self.log,
            log_format: self.log_format,
        })
    }
}

/// The database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// The embedded database, in a file.
    File(PathBuf),
    /// A PostgreSQL server, by its URL.
    Server(String),
}

impl Database {
    fn parse(url: Option<&str>, data_dir: &Path) -> anyhow::Result<Self> {
        let Some(url) = url else { return Ok(Self::File(data_dir.join("roadmap.db"))) };
        match url.split_once("://") {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::File(PathBuf::from(path))),
            Some(("postgres" | "postgresql", target)) if !target.is_empty() => Ok(Self::Server(url.to_owned())),
            _ => bail!(
                "the setting database_url is `{}`, which is neither a file such as sqlite:///path/to/roadmap.db nor a \
                 server such as postgres://user:password@host/database",
                redacted(url)
            ),
        }
    }

    /// Returns the default number of connections. It depends on whether reads come from memory (a file) or over the
    /// network (a server).
    fn default_pool_size(&self) -> usize {
        match self {
            Self::File(_) => 4,
            Self::Server(_) => 8,
        }
    }
}

impl std::fmt::Display for Database {
    /// Formats the database for people, without a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Server(url) => f.write_str(&roadmap_postgres::redacted(url)),
        }
    }
}

/// The storage of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Storage {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A bucket, by its URL.
    Bucket(String),
}

impl Storage {
    fn parse(url: Option<&str>, data_dir: &Path) -> anyhow::Result<Self> {
        let Some(url) = url else { return Ok(Self::Folder(data_dir.join("blobs"))) };
        match url.split_once("://") {
            Some(("file", path)) if !path.is_empty() => Ok(Self::Folder(PathBuf::from(path))),
            Some(("s3", place)) if !place.is_empty() => Ok(Self::Bucket(url.to_owned())),
            _ => bail!(
                "the setting storage_url is `{}`, which is neither a folder such as file:///path/to/blobs nor a \
                 bucket such as s3://bucket/prefix",
                redacted(url)
            ),
        }
    }
}

impl std::fmt::Display for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Bucket(url) => f.write_str(url),
        }
    }
}

/// How mail is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mail {
    /// Mail is written to files in a folder, with this sender.
    Folder(PathBuf, Option<String>),
    /// Mail is sent through a mail server.
    Smtp(SmtpOptions),
}

impl Mail {
    fn parse(url: Option<&str>, from: Option<&str>, data_dir: &Path, timeout: Duration) -> anyhow::Result<Self> {
        let Some(url) = url else { return Ok(Self::Folder(data_dir.join("mail"), from.map(str::to_owned))) };
        let Some(from) = from else {
            bail!("the setting mail_from is required with smtp_url: the address that mail is sent from");
        };
        let options = SmtpOptions::parse(url, from).context("the settings smtp_url and mail_from cannot be used")?;
        Ok(Self::Smtp(SmtpOptions { timeout, ..options }))
    }
}

impl std::fmt::Display for Mail {
    /// Formats the mail settings for people, without a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder(folder, _) => write!(f, "files in {}", folder.display()),
            Self::Smtp(options) => f.write_str(&options.redacted()),
        }
    }
}

fn mail_timeout(raw: &str) -> anyhow::Result<Duration> {
    let timeout = duration("the setting mail_timeout", raw)?;
    if timeout < Duration::from_millis(100) || timeout > Duration::from_secs(600) {
        bail!("the setting mail_timeout is `{raw}`; it must be between 100ms and 10m");
    }
    Ok(timeout)
}

/// Parses `off` or a number of mails.
fn mail_per_day(raw: &str) -> anyhow::Result<Option<u64>> {
    if raw == "off" {
        return Ok(None);
    }
    let limit = raw.parse().ok().filter(|limit| (1..=MAX_MAILS_PER_DAY).contains(limit));
    limit.map(Some).with_context(|| {
        format!(
            "the setting mail_per_day is `{raw}`, which is neither `off` nor a number between 1 and {MAX_MAILS_PER_DAY}"
        )
    })
}

/// Parses `off` or a number of mails per hour: `10/h`.
fn mail_per_address(raw: &str) -> anyhow::Result<Option<u32>> {
    if raw == "off" {
        return Ok(None);
    }
    let limit = raw.strip_suffix("/h").and_then(|mails| mails.parse().ok()).filter(|limit| (1..=1_000).contains(limit));
    limit.map(Some).with_context(|| {
        format!("the setting mail_per_address is `{raw}`, which is neither `off` nor a number between 1 and 1000 such as 10/h")
    })
}

/// Parses a name that fits on a line of a header.
fn service_name(raw: &str) -> anyhow::Result<String> {
    let name = raw.trim();
    if !(1..=MAX_SERVICE_NAME_LENGTH).contains(&name.len()) || name.contains(char::is_control) {
        bail!("the setting service_name is `{raw}`, which is not one line of at most {MAX_SERVICE_NAME_LENGTH} bytes");
    }
    Ok(name.to_owned())
}

/// Parses a comma-separated list of secrets.
fn previous_secrets(raw: Option<&str>) -> anyhow::Result<Vec<Secret>> {
    let secrets = raw.into_iter().flat_map(|raw| raw.split(',')).map(str::trim).filter(|secret| !secret.is_empty());
    Ok(secrets.map(|secret| Secret::parse("the setting previous_secrets", secret)).collect::<Result<_, _>>()?)
}

/// Validates a name that needs no quoting in SQL.
fn role(name: String) -> anyhow::Result<String> {
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !plain || name.is_empty() || name.len() > 63 || name.starts_with(|first: char| first.is_ascii_digit()) {
        bail!("the setting database_role is `{name}`, which is not a name of lower-case letters, digits and `_`");
    }
    Ok(name)
}

fn statement_timeout(raw: &str) -> anyhow::Result<Duration> {
    let timeout = duration("the setting statement_timeout", raw)?;
    if timeout < Duration::from_millis(100) || timeout > Duration::from_secs(60) {
        bail!("the setting statement_timeout is `{raw}`; it must be between 100ms and 60s");
    }
    Ok(timeout)
}

/// Returns the scheme of a possible URL. The rest is hidden, because any part of it may be a password.
fn redacted(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => format!("{scheme}://…"),
        _ => "…".to_owned(),
    }
}

/// Validates the URL of a collector. Credentials are set as headers (`OTEL_EXPORTER_OTLP_HEADERS`) and not in the URL.
fn collector(url: String) -> anyhow::Result<String> {
    let place = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")).unwrap_or_default();
    if place.is_empty() || place.contains(['@', '?', '#']) || place.trim() != place {
        bail!(
            "the setting otlp_endpoint is `{}`, which is not the URL of a collector such as http://localhost:4318",
            redacted(&url)
        );
    }
    Ok(url)
}

/// Parses the family of trusted proxy headers.
fn header_family(raw: &str) -> anyhow::Result<Option<HeaderFamily>> {
    match raw {
        "off" | "false" => Ok(None),
        "forwarded" => Ok(Some(HeaderFamily::Forwarded)),
        "x-forwarded" => Ok(Some(HeaderFamily::XForwarded)),
        "true" => bail!(
            "the setting trust_proxy is `true`, which does not say which headers the proxy sets: `forwarded` \
             (Forwarded) or `x-forwarded` (X-Forwarded-For and X-Forwarded-Host)"
        ),
        _ => bail!("the setting trust_proxy is `{raw}`, which is none of `off`, `forwarded` and `x-forwarded`"),
    }
}

/// Parses a comma-separated list of networks or single addresses.
fn proxy_networks(raw: &str) -> anyhow::Result<Vec<IpNet>> {
    let network = |raw: &str| raw.parse().or_else(|_| raw.parse::<IpAddr>().map(IpNet::from));
    raw.split(',').map(|raw| network(raw.trim())).collect::<Result<_, _>>().with_context(|| {
        format!(
            "the setting proxy_networks is `{raw}`, which is not a list of networks such as \
             127.0.0.0/8, ::1/128, 10.0.0.0/8"
        )
    })
}

/// Parses a number with a unit: `2s`, `30m`, `12h`, `90d`.
pub(crate) fn duration(name: &str, raw: &str) -> anyhow::Result<Duration> {
    humantime::parse_duration(raw)
        .with_context(|| format!("{name} is `{raw}`, which is not a number and a unit such as 2s, 30m, 12h or 90d"))
}

/// Parses `off` or a number of requests per unit of time: `600/min`. The burst is the same number unless it is given:
/// `600/min burst 100`.
fn rate(name: &str, raw: &str) -> anyhow::Result<Option<Rate>> {
    if raw == "off" {
        return Ok(None);
    }
    let (calls, burst) = raw.split_once(" burst ").map_or((raw, None), |(calls, burst)| (calls, Some(burst)));
    let (calls, unit) = calls.split_once('/').unwrap_or((calls, "min"));
    let seconds = match unit {
        "s" => Some(1),
        "min" => Some(60),
        "h" => Some(3_600),
        _ => None,
    };
    let number = |raw: &str| raw.parse().ok().filter(|number: &NonZeroU32| number.get() <= MAX_RATE);
    let rate = number(calls).zip(number(burst.unwrap_or(calls))).zip(seconds);
    let rate = rate.and_then(|((calls, burst), seconds)| Rate::new(calls, Duration::from_secs(seconds), burst));
    rate.map(Some).with_context(|| {
        format!(
            "{name} is `{raw}`, which is neither `off` nor a number of calls such as 600/min, 10/s or \
             600/min burst 100, between 1 and {MAX_RATE}"
        )
    })
}

/// Parses `off` or a number of bytes with a unit: `2GB`, `500MB`, `64KB`. Each unit is 1024 times the next smaller one.
fn size(name: &str, raw: &str) -> anyhow::Result<Option<u64>> {
    if raw == "off" {
        return Ok(None);
    }
    let units = [("GB", 1_u64 << 30), ("MB", 1 << 20), ("KB", 1 << 10)];
    let in_unit = |(unit, bytes): (&str, u64)| {
        let number = raw.strip_suffix(unit)?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| number.parse::<u64>().ok()?.checked_mul(bytes)).flatten()
    };
    let size = units.into_iter().find_map(in_unit).filter(|bytes| (1..=MAX_SIZE).contains(bytes));
    size.map(Some).with_context(|| {
        format!("{name} is `{raw}`, which is neither `off` nor a size such as 2GB, 500MB or 64KB, of up to 1048576GB")
    })
}

/// Parses `off` or the time that clients have to use an upload.
fn unused_uploads(raw: &str) -> anyhow::Result<Option<Duration>> {
    if raw == "off" {
        return Ok(None);
    }
    let time = duration("the setting unused_uploads", raw)?;
    if time < MIN_UNUSED_AGE {
        bail!("the setting unused_uploads is `{raw}`; clients need at least 1h to use what they have uploaded");
    }
    Ok(Some(time))
}

fn retention(raw: &str) -> anyhow::Result<Duration> {
    let retention = duration("the setting operation_retention", raw)?;
    if retention < roadmap_domain::policy::idempotency::MIN_RETENTION {
        bail!("the setting operation_retention is `{raw}`; clients rely on at least 24h");
    }
    Ok(retention)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(flags: &SettingFlags, environment: &[(&str, &str)]) -> anyhow::Result<Settings> {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::read(flags, environment.collect())
    }

    fn message(outcome: anyhow::Result<Settings>) -> String {
        format!("{:#}", outcome.unwrap_err())
    }

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
        assert_eq!(settings.operation_wait, Duration::from_secs(30));
        assert_eq!(settings.operation_retention, Duration::from_secs(30 * 24 * 3600));
        assert_eq!((settings.metrics_listen, settings.otlp_endpoint), (None, None));
        assert_eq!((settings.mail_per_day, settings.mail_per_address), (Some(10_000), Some(10)));
        assert_eq!(settings.service_name, "Roadmap");
        assert_eq!(settings.shutdown_delay, Duration::ZERO);
        assert_eq!((settings.log.as_str(), settings.log_format), ("info", LogFormat::Text));
    }

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
            ("ROADMAP_SECRET", "secret", "the setting secret is not a secret of at least 32 characters"),
            ("ROADMAP_PREVIOUS_SECRETS", "a,b", "the setting previous_secrets is not a secret of at least"),
            ("ROADMAP_SMTP_URL", "smtp://u:secret@mail.example.com", "the setting mail_from is required with smtp_url"),
            ("ROADMAP_MAIL_TIMEOUT", "1h", "must be between 100ms and 10m"),
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
            ("ROADMAP_OPERATION_RETENTION", "23h", "clients rely on at least 24h"),
            ("ROADMAP_WORKERS", "0", "workers must be at least 1"),
            ("ROADMAP_POOL_SIZE", "many", "pool_size"),
            ("ROADMAP_DEFAULT_WORKSPACE", "a.b", "the setting default_workspace is not a host name label"),
            ("ROADMAP_LOG_FORMAT", "xml", "xml"),
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
        assert!(message(read(&flags, &[])).contains("lisen"));
        let flags = SettingFlags { config: Some(folder.path().join("none.toml")), ..SettingFlags::default() };
        assert!(message(read(&flags, &[])).contains("none.toml"));
    }

    #[test]
    fn a_server_is_chosen_by_its_url_and_shown_without_its_password() {
        for url in ["postgres://ann:secret@db.example.com/roadmap", "postgresql://ann:secret@db.example.com/roadmap"] {
            let settings = read(&SettingFlags::default(), &[("ROADMAP_DATABASE_URL", url)]).unwrap();
            assert_eq!(settings.database, Database::Server(url.to_owned()));
            assert_eq!(settings.pool_size, 8);
            assert_eq!(settings.database.to_string(), "postgres://ann@db.example.com:5432/roadmap");
        }
    }

    #[test]
    fn a_rate_is_off_or_a_number_of_requests_per_time() {
        let rates = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap().rates;
        let rate = |calls, seconds, burst| {
            let [calls, burst] = [calls, burst].map(|number| NonZeroU32::new(number).unwrap());
            Rate::new(calls, Duration::from_secs(seconds), burst)
        };
        let default = Rates {
            key: rate(600, 60, 600),
            workspace: rate(6_000, 60, 6_000),
            failures: rate(60, 60, 60),
            anonymous: rate(600, 60, 600),
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

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, "rate_limit = 1200\n").unwrap();
        let flags = SettingFlags { config: Some(file), ..SettingFlags::default() };
        assert_eq!(read(&flags, &[]).unwrap().rates.key, rate(1_200, 60, 1_200));
    }

    #[test]
    fn one_family_of_headers_counts_and_only_from_named_networks() {
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
    fn unused_uploads_are_kept_for_a_while_or_for_ever() {
        let unused = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap().unused_uploads;
        assert_eq!(unused(&[]), Some(Duration::from_secs(7 * 24 * 3_600)));
        assert_eq!(unused(&[("ROADMAP_UNUSED_UPLOADS", "1h")]), Some(Duration::from_secs(3_600)));
        assert_eq!(unused(&[("ROADMAP_UNUSED_UPLOADS", "off")]), None);
    }

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
    fn mail_goes_to_files_until_there_is_a_server_for_it() {
        let mail = |environment: &[(&str, &str)]| read(&SettingFlags::default(), environment).unwrap().mail.to_string();
        assert_eq!(mail(&[]), "files in ./roadmap-data/mail");
        let url = ("ROADMAP_SMTP_URL", "smtps://ann:secret@mail.example.com");
        assert_eq!(mail(&[url, ("ROADMAP_MAIL_FROM", "a@b.example")]), "smtps://ann@mail.example.com:465");
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

    #[test]
    fn every_setting_is_documented() {
        let document = include_str!("../../../docs/configuration.md");
        for name in NAMES {
            assert!(document.contains(&format!("`ROADMAP_{}`", name.to_uppercase())), "{name}");
        }
    }
}
