//! Values of settings: their types, and how they are written.
//!
//! Each parser gets the name of its setting ("the setting rate_limit") for its errors, and the written text.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use ipnet::IpNet;
use roadmap_domain::model::portal::EmbedOrigin;
use roadmap_domain::policy::signed_reference::Secret;
use roadmap_http::client_address::HeaderFamily;
use roadmap_http::limits::Rate;
use roadmap_mail::{HelloName, SmtpOptions};

/// Maximum number of requests of a rate. A higher one would not limit anything.
const MAX_RATE: u32 = 1_000_000;

/// A petabyte, in bytes: more is a mistake.
const MAX_SIZE: u64 = 1 << 50;

/// Files that were uploaded later than that are not taken for unused.
const MIN_UNUSED_AGE: Duration = Duration::from_secs(3_600);
/// More mails in a day than that are no limit.
const MAX_MAILS_PER_DAY: u64 = 10_000_000;

/// More connections to one mail server are taken for an attack.
const MAX_SMTP_CONNECTIONS: usize = 64;

/// Most delays before an event is sent again.
const MAX_RETRY_DELAYS: usize = 20;

/// Most bytes of the name of the service.
const MAX_SERVICE_NAME_LENGTH: usize = 36;

/// The form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    pub(super) fn parse(name: &str, raw: &str) -> anyhow::Result<Self> {
        match raw {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => bail!("{name} is `{raw}`, which is neither `text` nor `json`"),
        }
    }
}

/// Any text.
pub(super) fn text(_: &str, raw: &str) -> anyhow::Result<String> {
    Ok(raw.to_owned())
}

/// A path.
pub(super) fn path(_: &str, raw: &str) -> anyhow::Result<PathBuf> {
    Ok(PathBuf::from(raw))
}

/// `true` or `false`, or another usual pair of words.
pub(super) fn switch(name: &str, raw: &str) -> anyhow::Result<bool> {
    match raw.to_ascii_lowercase().as_str() {
        "true" | "on" | "yes" | "1" => Ok(true),
        "false" | "off" | "no" | "0" => Ok(false),
        _ => bail!("{name} is `{raw}`, which is neither `true` nor `false`"),
    }
}

/// Origins of pages, with commas between them.
pub(super) fn origins(name: &str, raw: &str) -> anyhow::Result<Vec<String>> {
    let origins = raw.split(',').map(str::trim).filter(|origin| !origin.is_empty());
    let parse = |origin: &str| match EmbedOrigin::parse(name, origin) {
        Ok(parsed) => Ok(parsed.as_str().to_owned()),
        Err(_) => bail!("{name} has `{origin}`, which is not an origin such as https://help.example.com"),
    };
    origins.map(parse).collect()
}

/// A number of things of which there must be one at least.
pub(super) fn count(name: &str, raw: &str) -> anyhow::Result<usize> {
    let count = raw.parse().with_context(|| format!("{name} is `{raw}`, which is not a number"))?;
    if count == 0 {
        bail!("{name} must be at least 1");
    }
    Ok(count)
}

/// Where the data is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// The embedded database, in a file.
    File(PathBuf),
    /// A PostgreSQL server, by its URL.
    Server(String),
}

impl Database {
    pub(super) fn parse(url: Option<&str>, data_dir: &Path) -> anyhow::Result<Self> {
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

    /// A file is read from memory mostly, a server over the network.
    pub(super) fn default_pool_size(&self) -> usize {
        match self {
            Self::File(_) => 4,
            Self::Server(_) => 8,
        }
    }
}

impl std::fmt::Display for Database {
    /// As people may see it: without a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Server(url) => f.write_str(&roadmap_postgres::redacted(url)),
        }
    }
}

/// Where files are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Storage {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A bucket, by its URL.
    Bucket(String),
}

impl Storage {
    pub(super) fn parse(url: Option<&str>, data_dir: &Path) -> anyhow::Result<Self> {
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

/// How the mail server is used.
pub(super) struct Tuning {
    pub(super) timeout: Duration,
    pub(super) hello: HelloName,
    pub(super) connections: usize,
}

/// How mail is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mail {
    /// It is written to files in a folder, from this sender.
    Folder(PathBuf, Option<String>),
    /// By a mail server.
    Smtp(SmtpOptions),
}

impl Mail {
    pub(super) fn parse(url: Option<&str>, from: Option<&str>, data_dir: &Path, smtp: Tuning) -> anyhow::Result<Self> {
        let Some(url) = url else { return Ok(Self::Folder(data_dir.join("mail"), from.map(str::to_owned))) };
        let Some(from) = from else {
            bail!("the setting mail_from is required with smtp_url: the address that mail is sent from");
        };
        let options = SmtpOptions::parse(url, from).context("the settings smtp_url and mail_from cannot be used")?;
        let Tuning { timeout, hello, connections } = smtp;
        Ok(Self::Smtp(SmtpOptions { timeout, hello, connections, ..options }))
    }
}

impl std::fmt::Display for Mail {
    /// As people may see it: without a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder(folder, _) => write!(f, "files in {}", folder.display()),
            Self::Smtp(options) => f.write_str(&options.redacted()),
        }
    }
}

/// A host name or an address.
pub(super) fn hello_name(name: &str, raw: &str) -> anyhow::Result<HelloName> {
    HelloName::parse(raw).with_context(|| name.to_owned())
}

/// A number of connections to the mail server.
pub(super) fn connections(name: &str, raw: &str) -> anyhow::Result<usize> {
    let connections = raw.parse().ok().filter(|number| (1..=MAX_SMTP_CONNECTIONS).contains(number));
    connections
        .with_context(|| format!("{name} is `{raw}`, which is not a number between 1 and {MAX_SMTP_CONNECTIONS}"))
}

/// The time limit of a try to send an event.
pub(super) fn webhook_timeout(name: &str, raw: &str) -> anyhow::Result<Duration> {
    let timeout = duration(name, raw)?;
    if timeout < Duration::from_millis(100) || timeout > Duration::from_secs(60) {
        bail!("{name} is `{raw}`; it must be between 100ms and 60s");
    }
    Ok(timeout)
}

/// The delays before an event is sent again, with commas between them.
pub(super) fn webhook_retry_delays(name: &str, raw: &str) -> anyhow::Result<Vec<Duration>> {
    let delay = |raw: &str| {
        humantime::parse_duration(raw)
            .with_context(|| format!("{name} has `{raw}`, which is not a number and a unit such as 5s, 30m or 2h"))
    };
    let delays: Vec<Duration> = raw.split(',').map(|raw| delay(raw.trim())).collect::<Result<_, _>>()?;
    if delays.len() > MAX_RETRY_DELAYS {
        bail!("{name} has {} delays; it must have 1 to {MAX_RETRY_DELAYS}", delays.len());
    }
    Ok(delays)
}

/// `off`, or how long a webhook may fail.
pub(super) fn webhook_disable_after(name: &str, raw: &str) -> anyhow::Result<Option<Duration>> {
    if raw == "off" {
        return Ok(None);
    }
    let time = duration(name, raw)?;
    if time < Duration::from_secs(1) {
        bail!("{name} is `{raw}`; it must be `off` or at least 1s");
    }
    Ok(Some(time))
}

/// A number of deliveries of a webhook.
pub(super) fn webhook_backlog(name: &str, raw: &str) -> anyhow::Result<u32> {
    let backlog = raw.parse().ok().filter(|number| (100..=1_000_000).contains(number));
    backlog.with_context(|| format!("{name} is `{raw}`, which is not a number between 100 and 1000000"))
}

pub(super) fn mail_timeout(name: &str, raw: &str) -> anyhow::Result<Duration> {
    let timeout = duration(name, raw)?;
    if timeout < Duration::from_millis(100) || timeout > Duration::from_secs(600) {
        bail!("{name} is `{raw}`; it must be between 100ms and 10m");
    }
    Ok(timeout)
}

/// `off`, or a number of mails.
pub(super) fn mail_per_day(name: &str, raw: &str) -> anyhow::Result<Option<u64>> {
    if raw == "off" {
        return Ok(None);
    }
    let limit = raw.parse().ok().filter(|limit| (1..=MAX_MAILS_PER_DAY).contains(limit));
    limit.map(Some).with_context(|| {
        format!("{name} is `{raw}`, which is neither `off` nor a number between 1 and {MAX_MAILS_PER_DAY}")
    })
}

/// `off`, or a number of mails an hour: `10/h`.
pub(super) fn mail_per_address(name: &str, raw: &str) -> anyhow::Result<Option<u32>> {
    if raw == "off" {
        return Ok(None);
    }
    let limit = raw.strip_suffix("/h").and_then(|mails| mails.parse().ok()).filter(|limit| (1..=1_000).contains(limit));
    limit.map(Some).with_context(|| {
        format!("{name} is `{raw}`, which is neither `off` nor a number between 1 and 1000 such as 10/h")
    })
}

/// A name that fits on a line of a header.
pub(super) fn service_name(setting: &str, raw: &str) -> anyhow::Result<String> {
    let name = raw.trim();
    if !(1..=MAX_SERVICE_NAME_LENGTH).contains(&name.len()) || name.contains(char::is_control) {
        bail!("{setting} is `{raw}`, which is not one line of at most {MAX_SERVICE_NAME_LENGTH} bytes");
    }
    Ok(name.to_owned())
}

/// Secrets with commas between them.
pub(super) fn secrets(name: &str, raw: &str) -> anyhow::Result<Vec<Secret>> {
    let secrets = raw.split(',').map(str::trim).filter(|secret| !secret.is_empty());
    Ok(secrets.map(|secret| Secret::parse(name, secret)).collect::<Result<_, _>>()?)
}

/// A name that needs no quoting in SQL.
pub(super) fn role(setting: &str, name: &str) -> anyhow::Result<String> {
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !plain || name.is_empty() || name.len() > 63 || name.starts_with(|first: char| first.is_ascii_digit()) {
        bail!("{setting} is `{name}`, which is not a name of lower-case letters, digits and `_`");
    }
    Ok(name.to_owned())
}

/// How long a connection may be idle.
pub(super) fn keep_alive(name: &str, raw: &str) -> anyhow::Result<Duration> {
    let time = duration(name, raw)?;
    if time < Duration::from_secs(1) || time > Duration::from_secs(3_600) {
        bail!("{name} is `{raw}`; it must be between 1s and 1h");
    }
    Ok(time)
}

pub(super) fn statement_timeout(name: &str, raw: &str) -> anyhow::Result<Duration> {
    let timeout = duration(name, raw)?;
    if timeout < Duration::from_millis(100) || timeout > Duration::from_secs(60) {
        bail!("{name} is `{raw}`; it must be between 100ms and 60s");
    }
    Ok(timeout)
}

/// The scheme of what may be a URL. Nothing else of it is shown, because any of it may be a password.
pub(super) fn redacted(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => format!("{scheme}://…"),
        _ => "…".to_owned(),
    }
}

/// The URL of a collector. Whatever it wants to know of us is in a header, and not in the URL.
pub(super) fn collector(name: &str, url: &str) -> anyhow::Result<String> {
    let place = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")).unwrap_or_default();
    if place.is_empty() || place.contains(['@', '?', '#']) || place.trim() != place {
        bail!("{name} is `{}`, which is not the URL of a collector such as http://localhost:4318", redacted(url));
    }
    Ok(url.to_owned())
}

/// The headers of proxies that count.
pub(super) fn header_family(name: &str, raw: &str) -> anyhow::Result<Option<HeaderFamily>> {
    match raw {
        "off" | "false" => Ok(None),
        "forwarded" => Ok(Some(HeaderFamily::Forwarded)),
        "x-forwarded" => Ok(Some(HeaderFamily::XForwarded)),
        "true" => bail!(
            "{name} is `true`, which does not say which headers the proxy sets: `forwarded` \
             (Forwarded) or `x-forwarded` (X-Forwarded-For and X-Forwarded-Host)"
        ),
        _ => bail!("{name} is `{raw}`, which is none of `off`, `forwarded` and `x-forwarded`"),
    }
}

/// Networks, or single addresses, with commas between them.
pub(super) fn proxy_networks(name: &str, raw: &str) -> anyhow::Result<Vec<IpNet>> {
    let network = |raw: &str| raw.parse().or_else(|_| raw.parse::<IpAddr>().map(IpNet::from));
    raw.split(',').map(|raw| network(raw.trim())).collect::<Result<_, _>>().with_context(|| {
        format!(
            "{name} is `{raw}`, which is not a list of networks such as \
             127.0.0.0/8, ::1/128, 10.0.0.0/8"
        )
    })
}

/// A number and a unit: `2s`, `30m`, `12h`, `90d`.
pub(crate) fn duration(name: &str, raw: &str) -> anyhow::Result<Duration> {
    humantime::parse_duration(raw)
        .with_context(|| format!("{name} is `{raw}`, which is not a number and a unit such as 2s, 30m, 12h or 90d"))
}

/// `off`, or requests per time: `600/min`. The burst is the same number unless specified: `600/min burst 100`.
pub(super) fn rate(name: &str, raw: &str) -> anyhow::Result<Option<Rate>> {
    if raw == "off" {
        return Ok(None);
    }
    let (requests, burst) = raw.split_once(" burst ").map_or((raw, None), |(requests, burst)| (requests, Some(burst)));
    let (requests, unit) = requests.split_once('/').unwrap_or((requests, "min"));
    let seconds = match unit {
        "s" => Some(1),
        "min" => Some(60),
        "h" => Some(3_600),
        _ => None,
    };
    let number = |raw: &str| raw.parse().ok().filter(|number: &NonZeroU32| number.get() <= MAX_RATE);
    let rate = number(requests).zip(number(burst.unwrap_or(requests))).zip(seconds);
    let rate = rate.and_then(|((requests, burst), seconds)| Rate::new(requests, Duration::from_secs(seconds), burst));
    rate.map(Some).with_context(|| {
        format!(
            "{name} is `{raw}`, which is neither `off` nor a number of requests such as 600/min, 10/s or \
             600/min burst 100, between 1 and {MAX_RATE}"
        )
    })
}

/// `off`, or a number of bytes: `2GB`, `500MB`, `64KB`, each 1024 of the one below.
pub(super) fn size(name: &str, raw: &str) -> anyhow::Result<Option<u64>> {
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

/// `off`, or a time in which a client can use what it has uploaded.
pub(super) fn unused_uploads(name: &str, raw: &str) -> anyhow::Result<Option<Duration>> {
    if raw == "off" {
        return Ok(None);
    }
    let time = duration(name, raw)?;
    if time < MIN_UNUSED_AGE {
        bail!("{name} is `{raw}`; clients need at least 1h to use what they have uploaded");
    }
    Ok(Some(time))
}

pub(super) fn retention(name: &str, raw: &str) -> anyhow::Result<Duration> {
    let retention = duration(name, raw)?;
    if retention < roadmap_domain::policy::idempotency::MIN_RETENTION {
        bail!("{name} is `{raw}`; clients rely on at least 24h");
    }
    Ok(retention)
}

/// How long entries of the audit log are kept. The database itself keeps younger ones from being deleted.
pub(super) fn audit_retention(name: &str, raw: &str) -> anyhow::Result<Duration> {
    let retention = duration(name, raw)?;
    if retention < roadmap_domain::usecase::purge_audit_entries::MIN_RETENTION {
        bail!("{name} is `{raw}`; it must be at least 30d");
    }
    Ok(retention)
}
