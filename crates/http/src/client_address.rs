//! The client address and host of a request, as the proxies in front of the service report them.
//!
//! Any client can send the headers that proxies use for this. They count only in a request from a network that the
//! operator has configured as a network of proxies, and only if they belong to the configured header family: a proxy
//! that sets one family forwards a client's headers of the other family unchanged.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use actix_web::http::header::{FORWARDED, HOST, HeaderMap, HeaderName};
use ipnet::IpNet;

use crate::error::HttpError;
use crate::headers::single_value;

const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The headers by which proxies report clients and hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderFamily {
    /// `Forwarded` (RFC 7239).
    Forwarded,
    /// `X-Forwarded-For` and `X-Forwarded-Host`.
    XForwarded,
}

impl HeaderFamily {
    fn other(self) -> Self {
        match self {
            Self::Forwarded => Self::XForwarded,
            Self::XForwarded => Self::Forwarded,
        }
    }
}

/// The proxies in front of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxies {
    /// The header family that they set. `None`: no header counts.
    pub headers: Option<HeaderFamily>,
    /// Their networks.
    pub networks: Vec<IpNet>,
}

impl Proxies {
    /// No proxies: no header counts.
    #[must_use]
    pub const fn none() -> Self {
        Self { headers: None, networks: Vec::new() }
    }

    /// Returns the client address and the host of a request.
    ///
    /// # Errors
    /// 400: the two families of headers report different clients or hosts.
    pub fn origin<'a>(&self, headers: &'a HeaderMap, peer: Option<SocketAddr>) -> Result<RequestOrigin<'a>, HttpError> {
        // Every connection has a peer address. Requests without one would share one limit.
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip().to_canonical());
        let direct = RequestOrigin { address: peer, host: single_value(headers, &HOST) };
        let Some(family) = self.headers.filter(|_| self.contains(peer)) else { return Ok(direct) };
        let report = self.report(family, headers);
        let other = self.report(family.other(), headers);
        if differ(report.address, other.address) || differ(report.host.map(host_name), other.host.map(host_name)) {
            return Err(HttpError::ConflictingForwarding);
        }
        Ok(RequestOrigin { address: report.address.unwrap_or(direct.address), host: report.host.or(direct.host) })
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(&address))
    }

    fn report<'a>(&self, family: HeaderFamily, headers: &'a HeaderMap) -> Report<'a> {
        let (nodes, host): (Vec<&str>, Option<&str>) = match family {
            HeaderFamily::Forwarded => (
                entries(headers, &FORWARDED).map(|entry| parameter(entry, "for").unwrap_or_default()).collect(),
                entries(headers, &FORWARDED).next().and_then(|entry| parameter(entry, "host")),
            ),
            HeaderFamily::XForwarded => {
                (entries(headers, &X_FORWARDED_FOR).collect(), entries(headers, &X_FORWARDED_HOST).next())
            }
        };
        Report { address: self.client(&nodes), host: host.filter(|host| !host.is_empty()) }
    }

    /// Returns the client among `nodes`, which are ordered from last to first: the first node that is not a proxy. Each
    /// proxy appends its own peer, so every node after that one was written by the client itself. If all nodes are
    /// proxies, the client is the outermost one.
    fn client(&self, nodes: &[&str]) -> Option<IpAddr> {
        let mut client = None;
        for node in nodes {
            let Some(address) = address_of(node) else { break };
            client = Some(address);
            if !self.contains(address) {
                break;
            }
        }
        client
    }
}

/// The sender of a request and the host that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestOrigin<'a> {
    /// The client's address.
    pub address: IpAddr,
    /// The host with an optional port.
    pub host: Option<&'a str>,
}

/// The client and host that one header family reports.
struct Report<'a> {
    address: Option<IpAddr>,
    host: Option<&'a str>,
}

/// Whether both values are present and different.
fn differ<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

/// Normalizes a host for comparison and removes its port.
fn host_name(host: &str) -> String {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Parses an address as proxies write it: with an optional port, IPv6 also in brackets.
fn address_of(node: &str) -> Option<IpAddr> {
    let bare = node.strip_prefix('[').and_then(|node| node.strip_suffix(']')).unwrap_or(node);
    let address: Option<IpAddr> = bare.parse().ok();
    address.or_else(|| node.parse().ok().map(|node: SocketAddr| node.ip())).map(|address| address.to_canonical())
}

/// Returns the value of a parameter of a `Forwarded` entry.
fn parameter<'a>(entry: &'a str, name: &str) -> Option<&'a str> {
    entry.split(';').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
    })
}

/// Returns the entries of a list header from last to first, across all its lines.
fn entries<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let lines: Vec<&str> = headers.get_all(name).map(|line| line.to_str().unwrap_or_default()).collect();
    lines.into_iter().rev().flat_map(|line| line.rsplit(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    use HeaderFamily::{Forwarded, XForwarded};

    const PROXY: &str = "10.0.0.7";

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    fn proxies(headers: Option<HeaderFamily>) -> Proxies {
        let networks = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap());
        Proxies { headers, networks: networks.to_vec() }
    }

    /// Returns address and host of a request from `peer`.
    fn origin(
        family: Option<HeaderFamily>,
        peer: &str,
        pairs: &[(&'static str, &'static str)],
    ) -> Result<(String, Option<String>), HttpError> {
        let peer = SocketAddr::new(peer.parse().unwrap(), 4711);
        let headers = headers(pairs);
        let origin = proxies(family).origin(&headers, Some(peer))?;
        Ok((origin.address.to_string(), origin.host.map(str::to_owned)))
    }

    /// Decision 1.
    #[test]
    fn the_last_host_of_the_chosen_family_counts() {
        for (family, pairs, host) in [
            (XForwarded, &[("x-forwarded-host", "acme.example")][..], Some("acme.example")),
            (XForwarded, &[("x-forwarded-host", "evil.example, acme.example ")], Some("acme.example")),
            (
                XForwarded,
                &[("x-forwarded-host", "evil.example"), ("x-forwarded-host", "acme.example")],
                Some("acme.example"),
            ),
            (XForwarded, &[("x-forwarded-host", ""), ("host", "x")], Some("x")),
            (XForwarded, &[("x-forwarded-host", "acme.example"), ("host", "x")], Some("acme.example")),
            (XForwarded, &[("forwarded", "host=evil.example"), ("host", "x")], Some("x")),
            (Forwarded, &[("forwarded", "for=1.2.3.4;host=acme.example:8443;proto=https")], Some("acme.example:8443")),
            (
                Forwarded,
                &[("forwarded", "host=evil.example, for=1.2.3.4; Host=\"acme.example\"")],
                Some("acme.example"),
            ),
            (Forwarded, &[("forwarded", "host=evil.example, for=1.2.3.4"), ("host", "x")], Some("x")),
            (Forwarded, &[("forwarded", "host="), ("host", "x")], Some("x")),
            (Forwarded, &[("x-forwarded-host", "evil.example"), ("host", "x")], Some("x")),
            (Forwarded, &[], None),
        ] {
            assert_eq!(origin(Some(family), PROXY, pairs).unwrap().1.as_deref(), host, "{family:?} {pairs:?}");
            let direct = pairs.iter().find(|(name, _)| *name == "host").map(|(_, host)| *host);
            assert_eq!(origin(None, PROXY, pairs).unwrap().1.as_deref(), direct, "{pairs:?}");
            assert_eq!(origin(Some(family), "192.0.2.9", pairs).unwrap().1.as_deref(), direct, "{pairs:?}");
        }
    }

    /// Beyond the contract.
    #[test]
    fn the_client_is_the_last_node_that_is_not_a_proxy() {
        for (family, pairs, client) in [
            (XForwarded, &[("x-forwarded-for", "192.0.2.1")][..], "192.0.2.1"),
            (XForwarded, &[("x-forwarded-for", "198.51.100.9, 192.0.2.1 ")], "192.0.2.1"),
            (XForwarded, &[("x-forwarded-for", "198.51.100.9"), ("x-forwarded-for", "192.0.2.1")], "192.0.2.1"),
            (XForwarded, &[("x-forwarded-for", "198.51.100.9, 192.0.2.1, 10.0.0.8, fd00::1")], "192.0.2.1"),
            (XForwarded, &[("x-forwarded-for", "198.51.100.9, 192.0.2.1, ::ffff:10.0.0.8")], "192.0.2.1"),
            (XForwarded, &[("x-forwarded-for", "192.0.2.1:80")], "192.0.2.1"),
            (XForwarded, &[("x-forwarded-for", "2001:db8::1")], "2001:db8::1"),
            (XForwarded, &[("x-forwarded-for", "[2001:db8::1]")], "2001:db8::1"),
            (XForwarded, &[("x-forwarded-for", "[2001:db8::1]:80")], "2001:db8::1"),
            // A client within the proxies' networks: the node that the outermost proxy has seen.
            (XForwarded, &[("x-forwarded-for", "10.0.0.9, 10.0.0.8")], "10.0.0.9"),
            // A node without an address ends the chain at the proxy that reported it.
            (XForwarded, &[("x-forwarded-for", "198.51.100.9, unknown, 10.0.0.8")], "10.0.0.8"),
            (XForwarded, &[("x-forwarded-for", "")], PROXY),
            (XForwarded, &[("x-forwarded-for", "198.51.100.9, ?")], PROXY),
            (XForwarded, &[("forwarded", "for=198.51.100.9")], PROXY),
            (Forwarded, &[("forwarded", "for=198.51.100.9, For=\"[2001:db8::1]:80\";host=x")], "2001:db8::1"),
            (Forwarded, &[("forwarded", "for=192.0.2.1, for=10.0.0.8;by=10.0.0.9")], "192.0.2.1"),
            (Forwarded, &[("forwarded", "for=198.51.100.9, by=10.0.0.9")], PROXY),
            (Forwarded, &[("forwarded", "for=198.51.100.9, for=unknown")], PROXY),
            (Forwarded, &[("forwarded", "for=198.51.100.9, for=_hidden, for=10.0.0.8")], "10.0.0.8"),
            (Forwarded, &[("x-forwarded-for", "198.51.100.9")], PROXY),
            (Forwarded, &[], PROXY),
        ] {
            assert_eq!(origin(Some(family), PROXY, pairs).unwrap().0, client, "{family:?} {pairs:?}");
            let mapped = format!("::ffff:{PROXY}");
            assert_eq!(origin(Some(family), &mapped, pairs).unwrap().0, client, "{family:?} {pairs:?}");
            for (family, peer) in [(None, PROXY), (Some(family), "192.0.2.9"), (Some(family), "2001:db8::9")] {
                assert_eq!(origin(family, peer, pairs).unwrap().0, peer, "{family:?} {pairs:?}");
            }
        }
    }

    #[test]
    fn conflicting_header_families_are_rejected_from_trusted_proxies_only() {
        for pairs in [
            &[("x-forwarded-for", "192.0.2.1"), ("forwarded", "for=198.51.100.9")][..],
            &[("x-forwarded-for", "198.51.100.9, 192.0.2.1"), ("forwarded", "for=198.51.100.9")],
            &[("x-forwarded-for", "192.0.2.1, 10.0.0.8"), ("forwarded", "for=192.0.2.2")],
            &[("x-forwarded-host", "acme.example"), ("forwarded", "host=other.example")],
            &[
                ("x-forwarded-for", "192.0.2.1"),
                ("x-forwarded-host", "a.example"),
                ("forwarded", "for=192.0.2.1;host=b.example"),
            ],
        ] {
            for family in [Forwarded, XForwarded] {
                let refused = origin(Some(family), PROXY, pairs).unwrap_err();
                assert!(matches!(refused, HttpError::ConflictingForwarding), "{pairs:?}: {refused}");
                assert_eq!(origin(Some(family), "192.0.2.9", pairs).unwrap(), ("192.0.2.9".to_owned(), None));
            }
            assert_eq!(origin(None, PROXY, pairs).unwrap(), (PROXY.to_owned(), None), "{pairs:?}");
        }
        for pairs in [
            &[("x-forwarded-for", "192.0.2.1"), ("forwarded", "for=\"192.0.2.1:4711\"")][..],
            &[("x-forwarded-for", "192.0.2.1"), ("forwarded", "for=unknown;host=a.example")],
            &[("x-forwarded-for", "192.0.2.1"), ("x-forwarded-host", "a.example"), ("forwarded", "for=192.0.2.1")],
            &[("x-forwarded-host", "A.example:443"), ("forwarded", "host=\"a.example.\"")],
        ] {
            for family in [Forwarded, XForwarded] {
                assert!(origin(Some(family), PROXY, pairs).is_ok(), "{family:?} {pairs:?}");
            }
        }
    }

    #[test]
    fn a_missing_peer_is_unspecified_and_two_hosts_are_ignored() {
        let headers = headers(&[("host", "a.example"), ("host", "b.example"), ("x-forwarded-for", "192.0.2.1")]);
        let origin = proxies(Some(XForwarded)).origin(&headers, None).unwrap();
        assert_eq!(origin, RequestOrigin { address: "0.0.0.0".parse().unwrap(), host: None });
    }
}
