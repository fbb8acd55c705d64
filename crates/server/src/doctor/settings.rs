//! The settings: each for itself, and whether they go together.

use std::net::{SocketAddr, ToSocketAddrs};

use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::policy::signed_reference::Secret;
use roadmap_http::client_address::{HeaderFamily, Proxies};

use super::{Finding, chain};
use crate::secret;
use crate::settings::{Database, Mail, Settings, Storage};
use crate::telemetry;

/// The settings cannot be read: nothing else can be looked at.
pub(super) fn unreadable(error: &anyhow::Error) -> Finding {
    Finding::problem("settings", format!("{error:#}"), "docs/configuration.md lists all settings and their values")
}

pub(super) fn check(settings: &Settings) -> Vec<Finding> {
    vec![check_consistency(settings), base_url(settings), proxy(settings), secret(settings)]
}

/// Whether they go together: the first thing that is wrong is told.
fn check_consistency(settings: &Settings) -> Finding {
    const CHECK: &str = "settings";
    if let Err(error) = telemetry::log_filter(settings) {
        return Finding::problem(CHECK, format!("{error:#}"), "set log to a level such as info");
    }
    let listen = match address("listen", &settings.listen) {
        Ok(listen) => listen,
        Err(finding) => return finding,
    };
    if let Some(raw) = &settings.metrics_listen {
        let metrics = match address("metrics_listen", raw) {
            Ok(metrics) => metrics,
            Err(finding) => return finding,
        };
        if metrics.port() == listen.port() && metrics.port() != 0 {
            return Finding::problem(
                CHECK,
                format!("listen and metrics_listen have the same port, {}", listen.port()),
                "give metrics_listen a port of its own, for example 127.0.0.1:9464",
            );
        }
        if !metrics.ip().is_loopback() {
            return Finding::warning(
                CHECK,
                format!("metrics are served at {raw} to whoever reaches it, without a login"),
                "set metrics_listen to an address of this machine or of a network of your own",
            );
        }
    }
    if let Some(current) = &settings.secret
        && settings.previous_secrets.contains(current)
    {
        return Finding::warning(
            CHECK,
            "secret is also one of previous_secrets",
            "take it out of previous_secrets, which is for those that were replaced",
        );
    }
    if let (Database::Server(_), Storage::Folder(folder)) = (&settings.database, &settings.storage) {
        return Finding::warning(
            CHECK,
            format!("the database is a server, and files are in the folder {}", folder.display()),
            "with processes on several machines set storage_url to a bucket, or to a folder that they share",
        );
    }
    Finding::ok(CHECK, "they can be read and go together")
}

fn address(name: &str, raw: &str) -> Result<SocketAddr, Finding> {
    let addresses = raw.to_socket_addrs().map(|mut addresses| addresses.next());
    addresses.ok().flatten().ok_or_else(|| {
        let found = format!("{name} is `{raw}`, which is no address to listen on");
        Finding::problem("settings", found, format!("set {name} to an address and a port, for example 127.0.0.1:8080"))
    })
}

fn base_url(settings: &Settings) -> Finding {
    const CHECK: &str = "base_url";
    let fix = "set base_url to the https:// URL at which the service is reached";
    let Some(url) = &settings.base_url else {
        return Finding::warning(CHECK, "it is not set: all URLs in answers and mails lead to this machine", fix);
    };
    if is_local(url) {
        return if matches!(settings.mail, Mail::Smtp(_)) {
            Finding::problem(
                CHECK,
                format!("{url} is this machine, and mail with links to it is sent to customers"),
                fix,
            )
        } else {
            Finding::warning(CHECK, format!("{url} is this machine: nobody else can open the URLs in answers"), fix)
        };
    }
    if !url.to_string().starts_with("https://") {
        return Finding::warning(
            CHECK,
            format!("{url} is not encrypted: keys can be read on the way, and mail programs do not unsubscribe"),
            fix,
        );
    }
    let host = url.host();
    match &settings.default_workspace {
        Some(subdomain) => Finding::ok(
            CHECK,
            format!("{url}, which is also {subdomain}; {subdomain}.{host} must lead here, too, with a certificate"),
        ),
        None => Finding::ok(CHECK, format!("{url}; *.{host} must lead here, with a certificate for it")),
    }
}

/// Whether client addresses are known behind a proxy, and nobody else can make them up.
fn proxy(settings: &Settings) -> Finding {
    const CHECK: &str = "proxy";
    let Proxies { headers, networks } = &settings.proxies;
    let Some(family) = headers else {
        return match &settings.base_url {
            Some(url) if url.to_string().starts_with("https://") => Finding::warning(
                CHECK,
                format!("{url} needs a proxy, and trust_proxy is off: all callers share the limits of its address"),
                "set trust_proxy to the headers that the proxy sets, forwarded or x-forwarded, and proxy_networks to where it is",
            ),
            _ => Finding::ok(CHECK, "no header of a proxy counts"),
        };
    };
    if let Some(network) = networks.iter().find(|network| network.prefix_len() == 0) {
        return Finding::warning(
            CHECK,
            format!("proxy_networks has {network}: everybody may report any host and any address"),
            "set proxy_networks to the networks of the proxies alone",
        );
    }
    let is_public = address("listen", &settings.listen).is_ok_and(|listen| !listen.ip().is_loopback());
    if is_public && networks.iter().all(|network| network.addr().is_loopback()) {
        return Finding::warning(
            CHECK,
            format!("the service listens at {}, and only headers of a proxy on this machine count", settings.listen),
            "set proxy_networks to where the proxy is, or listen on 127.0.0.1",
        );
    }
    let family = match family {
        HeaderFamily::Forwarded => "Forwarded counts",
        HeaderFamily::XForwarded => "X-Forwarded-For and X-Forwarded-Host count",
    };
    let networks: Vec<String> = networks.iter().map(ToString::to_string).collect();
    Finding::ok(CHECK, format!("{family} from {}", networks.join(", ")))
}

fn is_local(url: &BaseUrl) -> bool {
    url.host() == "localhost" || url.host().ends_with(".localhost")
}

fn secret(settings: &Settings) -> Finding {
    const CHECK: &str = "secret";
    if secret::has_guessable_previous(settings) {
        let found = "one of previous_secrets has too few different characters to be random";
        return Finding::problem(CHECK, found, secret::REMOVE_PREVIOUS_HINT);
    }
    if let Some(secret) = &settings.secret {
        return guessable(secret).unwrap_or_else(|| Finding::ok(CHECK, "it is set"));
    }
    if matches!(settings.database, Database::Server(_)) {
        let found = "it is not set, and all processes on a database server must sign alike";
        return Finding::problem(CHECK, found, secret::REPLACE_HINT);
    }
    let kept = match secret::read_from_folder(settings) {
        Ok(Some(kept)) => kept,
        Ok(None) => return Finding::ok(CHECK, "it is made at the first start"),
        Err(error) => {
            return Finding::problem(
                CHECK,
                chain(error),
                "let the service's user own the folder for data and all in it",
            );
        }
    };
    let file = settings.data_dir.join(secret::FILE);
    let file = file.display();
    match Secret::parse(&format!("the content of {file}"), &String::from_utf8_lossy(&kept)) {
        Err(error) => {
            Finding::problem(CHECK, chain(error), "put it back from a backup; if it is lost, delete the file")
        }
        Ok(_) if secret::is_readable_by_others(settings) => Finding::problem(
            CHECK,
            format!("others than its owner can read {file}"),
            format!("chmod 600 {file}, and change the secret if somebody may have read it"),
        ),
        Ok(secret) => guessable(&secret).unwrap_or_else(|| Finding::ok(CHECK, format!("it is in {file}"))),
    }
}

fn guessable(secret: &Secret) -> Option<Finding> {
    secret.is_guessable().then(|| Finding::problem("secret", secret::GUESSABLE_MESSAGE, secret::REPLACE_HINT))
}
