//! Checks of the settings, alone and in combination.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::policy::signed_reference::Secret;
use roadmap_http::client_address::{HeaderFamily, Proxies};

use super::{Finding, chain, data_problem};
use crate::secret;
use crate::settings::{Database, Mail, Settings, Storage};
use crate::telemetry;

/// The finding for invalid settings, without which no other check can run.
pub(super) fn unreadable(error: &anyhow::Error) -> Finding {
    Finding::problem("settings", format!("{error:#}"), "docs/configuration.md lists all settings and their values")
}

pub(super) fn check(settings: &Settings) -> Vec<Finding> {
    vec![
        check_consistency(settings),
        base_url(settings),
        https(settings),
        origin(settings),
        proxy(settings),
        secret(settings),
    ]
}

/// Checks whether the settings are consistent. Returns the first problem.
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
        if is_conflict(&listen, &metrics) {
            return Finding::problem(
                CHECK,
                format!("listen and metrics_listen have the same port, {}", listen.port()),
                "give metrics_listen a port of its own, for example 127.0.0.1:9464",
            );
        }
        if !metrics.ip().is_loopback() {
            return Finding::warning(
                CHECK,
                format!("metrics are served at {raw} without a login, also to other machines"),
                "set metrics_listen to a loopback address or to one of a private network",
            );
        }
    }
    if let Some(current) = &settings.secret
        && settings.previous_secrets.contains(current)
    {
        return Finding::warning(
            CHECK,
            "secret is also one of previous_secrets",
            "remove it from previous_secrets, which is for replaced secrets",
        );
    }
    if let (Database::Server(_), Storage::Folder(folder)) = (&settings.database, &settings.storage) {
        return Finding::warning(
            CHECK,
            format!("the database is a server, but files are in the folder {}", folder.display()),
            "if processes run on several machines, set storage_url to a bucket or a shared folder",
        );
    }
    Finding::ok(CHECK, "they are valid and consistent")
}

fn address(name: &str, raw: &str) -> Result<SocketAddr, Finding> {
    let addresses = raw.to_socket_addrs().map(|mut addresses| addresses.next());
    addresses.ok().flatten().ok_or_else(|| {
        let found = format!("{name} is `{raw}`, which is not an address to listen on");
        Finding::problem("settings", found, format!("set {name} to an address and a port, for example 127.0.0.1:8080"))
    })
}

/// Whether a process cannot listen on both addresses. With port 0 the system chooses a free port.
fn is_conflict(one: &SocketAddr, other: &SocketAddr) -> bool {
    let (ip, of_other) = (one.ip(), other.ip());
    one.port() == other.port()
        && one.port() != 0
        && (ip == of_other || ip.is_unspecified() || of_other.is_unspecified())
}

fn base_url(settings: &Settings) -> Finding {
    const CHECK: &str = "base_url";
    let fix = "set base_url to the public https:// URL of the service";
    let Some(url) = &settings.base_url else {
        return Finding::warning(CHECK, "it is not set: all URLs in responses and mails point to this machine", fix);
    };
    if is_local(url) {
        return if matches!(settings.mail, Mail::Smtp(_)) {
            Finding::problem(
                CHECK,
                format!("{url} is this machine, and mail with links to it is sent to customers"),
                fix,
            )
        } else {
            Finding::warning(
                CHECK,
                format!("{url} is this machine: other machines cannot open the URLs in responses"),
                fix,
            )
        };
    }
    if url.has_ip_address() {
        return match &settings.default_workspace {
            Some(subdomain) => {
                Finding::ok(CHECK, format!("{url}, the URL of {subdomain}; other workspaces need a host name"))
            }
            None => Finding::problem(
                CHECK,
                format!("{url} has an IP address, below which there can be no workspaces"),
                "set default_workspace to the one workspace that is served there, or use a host name",
            ),
        };
    }
    let (host, certificate) = (url.host(), if url.is_https() { ", with a certificate" } else { "" });
    match &settings.default_workspace {
        Some(subdomain) => Finding::ok(
            CHECK,
            format!(
                "{url}, the URL of {subdomain}; other workspaces need *.{host}, which must lead to the service{certificate}"
            ),
        ),
        None => Finding::ok(CHECK, format!("{url}; *.{host} must lead to the service{certificate}")),
    }
}

/// Checks that what browsers and clients send is encrypted.
fn https(settings: &Settings) -> Finding {
    const CHECK: &str = "https";
    match &settings.base_url {
        Some(url) if url.is_https() => {
            Finding::ok(CHECK, "cookies of sessions are encrypted and bound to the host of their workspace")
        }
        Some(url) if !is_local(url) => Finding::warning(
            CHECK,
            format!(
                "{url} is not encrypted: keys and cookies of sessions can be intercepted, browsers do not say whether a \
                 form comes from the same site, and one-click unsubscribe does not work"
            ),
            "put a proxy with a certificate in front of the service, and set base_url to its https:// URL",
        ),
        _ => Finding::ok(CHECK, "it is not required on this machine"),
    }
}

/// Reports from where forms are accepted, which must be what browsers show.
fn origin(settings: &Settings) -> Finding {
    const CHECK: &str = "origin";
    let base_url = match settings.service_url() {
        Ok(base_url) => base_url,
        Err(error) => return Finding::problem(CHECK, chain(error), "set base_url"),
    };
    let of_others = base_url.to_string().replacen("://", "://*.", 1);
    let origins = match &settings.default_workspace {
        Some(subdomain) if base_url.has_ip_address() => format!("{base_url} ({subdomain})"),
        Some(subdomain) => format!("{} ({subdomain}) and {of_others} (other workspaces)", base_url),
        None => of_others,
    };
    let is_public = address("listen", &settings.listen).is_ok_and(|listen| !listen.ip().is_loopback());
    if settings.base_url.is_none() && is_public {
        return Finding::warning(
            CHECK,
            format!(
                "the service listens on {}, but pages accept forms from {origins} only: browsers on other machines cannot \
                 use them",
                settings.listen
            ),
            "set base_url to the URL that browsers show",
        );
    }
    Finding::ok(CHECK, format!("pages accept forms from {origins} only, as browsers show it in the address bar"))
}

/// Checks that client addresses are known behind a proxy, and that clients cannot forge them.
fn proxy(settings: &Settings) -> Finding {
    const CHECK: &str = "proxy";
    let Proxies { headers, networks } = &settings.proxies;
    let Some(family) = headers else {
        return match &settings.base_url {
            Some(url) if url.to_string().starts_with("https://") => Finding::warning(
                CHECK,
                format!(
                    "{url} needs a proxy, but trust_proxy is off: all clients share the rate limits of the proxy's address"
                ),
                "set trust_proxy to the headers that the proxy sets, forwarded or x-forwarded, and proxy_networks to its network",
            ),
            _ => Finding::ok(CHECK, "headers of proxies are ignored"),
        };
    };
    if let Some(network) = networks.iter().find(|network| network.prefix_len() == 0) {
        return Finding::warning(
            CHECK,
            format!("proxy_networks has {network}: every client can forge its host and address"),
            "set proxy_networks to the networks of the proxies only",
        );
    }
    let is_public = address("listen", &settings.listen).is_ok_and(|listen| !listen.ip().is_loopback());
    if is_public && networks.iter().all(|network| network.addr().is_loopback()) {
        return Finding::warning(
            CHECK,
            format!("the service listens on {}, but only proxies on this machine are trusted", settings.listen),
            "set proxy_networks to the network of the proxy, or listen on 127.0.0.1",
        );
    }
    let family = match family {
        HeaderFamily::Forwarded => "Forwarded is trusted",
        HeaderFamily::XForwarded => "X-Forwarded-For and X-Forwarded-Host are trusted",
    };
    let networks: Vec<String> = networks.iter().map(ToString::to_string).collect();
    Finding::ok(CHECK, format!("{family} from {}", networks.join(", ")))
}

fn is_local(url: &BaseUrl) -> bool {
    let address = url.host().trim_matches(['[', ']']).parse::<IpAddr>();
    url.host() == "localhost"
        || url.host().ends_with(".localhost")
        || address.is_ok_and(|address| address.is_loopback())
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
        let found = "it is not set, but all processes on a database server must share one";
        return Finding::problem(CHECK, found, secret::REPLACE_HINT);
    }
    let text = match secret::read_from_folder(settings) {
        Ok(Some(text)) => text,
        Ok(None) if secret::is_lost(settings) => {
            let file = settings.data_dir.join(secret::FILE);
            return Finding::warning(
                CHECK,
                format!("{} is missing: {}", file.display(), secret::LOST_MESSAGE),
                secret::LOST_HINT,
            );
        }
        Ok(None) => return Finding::ok(CHECK, "it is generated at the first start"),
        Err(error) => {
            let fix = "make the service's user the owner of data_dir and its content";
            return data_problem(CHECK, settings, chain(error), fix);
        }
    };
    let file = settings.data_dir.join(secret::FILE);
    let file = file.display();
    match Secret::parse(&format!("the content of {file}"), &String::from_utf8_lossy(&text)) {
        Err(error) => {
            Finding::problem(CHECK, chain(error), "restore it from a backup; without a backup, delete the file")
        }
        Ok(_) if secret::is_readable_by_others(settings) => Finding::problem(
            CHECK,
            format!("users other than the owner have access to {file}"),
            format!("chmod 600 {file}, and replace the secret if it may have been read"),
        ),
        Ok(secret) => guessable(&secret).unwrap_or_else(|| Finding::ok(CHECK, format!("it is in {file}"))),
    }
}

fn guessable(secret: &Secret) -> Option<Finding> {
    secret.is_guessable().then(|| Finding::problem("secret", secret::GUESSABLE_MESSAGE, secret::REPLACE_HINT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_conflict_with_the_same_port_and_the_same_or_no_ip() {
        for (one, other, expected) in [
            ("127.0.0.1:8080", "127.0.0.1:8080", true),
            ("10.0.0.5:8080", "127.0.0.1:8080", false),
            ("0.0.0.0:8080", "127.0.0.1:8080", true),
            ("[::]:8080", "127.0.0.1:8080", true),
            ("[::1]:8080", "[::]:8080", true),
            ("[::1]:8080", "127.0.0.1:8080", false),
            ("0.0.0.0:8080", "127.0.0.1:9464", false),
            ("0.0.0.0:0", "0.0.0.0:0", false),
        ] {
            let [first, second] = [one, other].map(|address| address.parse::<SocketAddr>().unwrap());
            assert_eq!(is_conflict(&first, &second), expected, "{one} {other}");
            assert_eq!(is_conflict(&second, &first), expected, "{other} {one}");
        }
    }
}
