//! Where requests to URLs that people type may lead (ADR 78).
//!
//! A URL is judged when it is created, without any look-up, and the addresses of its host at each request, because a
//! name may lead elsewhere by then.

mod networks;

use std::net::IpAddr;

use url::{Host, Url};

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::base_url::BaseUrl;
use crate::model::text::validate_text;

pub use networks::{OutboundNetworks, Scheme, is_public};

/// Names that lead into the own network, and with them all names below.
const LOCAL_NAMES: [&str; 4] = ["localhost", "local", "internal", "home.arpa"];

/// The URL of a server that somebody named.
#[derive(Clone, PartialEq, Eq)]
pub struct Destination(Url);

impl Destination {
    /// Maximum number of characters.
    pub const MAX: usize = 2_048;

    /// Parses a URL as browsers do, and judges what can be judged without a look-up.
    ///
    /// # Errors
    /// No absolute URL, a scheme, an address, a name or a port to which `rules` allow no request, user info, or a
    /// fragment. Too many characters, also if only the normalized URL has so many.
    pub fn parse(raw: &str, rules: &DestinationRules) -> Validated<Self> {
        validate_text("url", raw, Self::MAX)?;
        let url = Url::parse(raw).map_err(|_| not_https())?;
        let networks = &rules.networks;
        let scheme = match url.scheme() {
            "https" => Scheme::Https,
            "http" if !networks.is_empty() => Scheme::Http,
            _ => return Err(not_https()),
        };
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(not_https());
        }
        match url.host() {
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                if name.is_empty() {
                    return Err(not_https());
                }
                let is_local = !name.contains('.') || LOCAL_NAMES.iter().any(|local| is_below(name, local));
                if is_below(name, &rules.own_host) || (networks.is_empty() && is_local) {
                    return Err(not_public());
                }
            }
            Some(Host::Ipv4(address)) => rules.judge(scheme, address.into())?,
            Some(Host::Ipv6(address)) => rules.judge(scheme, address.into())?,
            None => return Err(not_https()),
        }
        if url.port().is_some_and(|port| port < 1_024 && port != 80 && port != 443) {
            return Err(custom("url must use port 80, 443 or one above 1023"));
        }
        validate_text("url", url.as_str(), Self::MAX)?;
        Ok(Self(url))
    }

    /// Wraps a stored URL, which is not judged again: the client judges its addresses at each request.
    #[must_use]
    pub fn from_stored(url: Url) -> Self {
        Self(url)
    }

    /// Returns the URL as browsers write it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the parsed URL.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.0
    }
}

/// Without path and query, because the whole URL is a credential at many services.
impl std::fmt::Debug for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Destination({}://{}/…)", self.0.scheme(), self.0.host_str().unwrap_or_default())
    }
}

/// What decides where a URL may lead when it is created.
#[derive(Debug, Clone)]
pub struct DestinationRules {
    own_host: String,
    networks: OutboundNetworks,
}

impl DestinationRules {
    /// Creates the rules of a service at `base_url`, to which no URL may lead, and neither to a name below its host.
    #[must_use]
    pub fn new(base_url: &BaseUrl, networks: OutboundNetworks) -> Self {
        Self { own_host: base_url.host().to_owned(), networks }
    }

    fn judge(&self, scheme: Scheme, address: IpAddr) -> Validated<()> {
        let own: Option<IpAddr> = self.own_host.trim_matches(['[', ']']).parse().ok();
        if own == Some(address.to_canonical()) || !self.networks.admit(Scheme::Https, address) {
            return Err(not_public());
        }
        // HTTP is for the networks that the setting names, not for public addresses.
        if self.networks.admit(scheme, address) { Ok(()) } else { Err(not_https()) }
    }
}

/// Whether `name` is `domain` or a name below it. Both are in lower case.
fn is_below(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn not_https() -> FieldError {
    custom("url must be an absolute https URL")
}

fn not_public() -> FieldError {
    custom("url must not lead to a local or reserved address")
}

fn custom(message: &'static str) -> FieldError {
    FieldError::new("url", FieldProblem::Custom { message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOT_HTTPS: &str = "url must be an absolute https URL";
    const NOT_PUBLIC: &str = "url must not lead to a local or reserved address";
    const PORT: &str = "url must use port 80, 443 or one above 1023";

    fn rules_at(base_url: &str, networks: &str) -> DestinationRules {
        let base_url = BaseUrl::parse("base_url", base_url).unwrap();
        DestinationRules::new(&base_url, OutboundNetworks::parse("outbound_networks", networks).unwrap())
    }

    fn rules(networks: &str) -> DestinationRules {
        rules_at("https://roadmap.example.com:8443", networks)
    }

    fn problem(raw: &str, rules: &DestinationRules) -> String {
        Destination::parse(raw, rules).expect_err(raw).to_string()
    }

    /// Webhooks: where it may lead.
    #[test]
    fn a_url_is_stored_as_browsers_write_it() {
        let rules = rules("");
        for (raw, stored) in [
            ("https://hooks.example.org", "https://hooks.example.org/"),
            (" HTTPS://Hooks.Example.ORG:443/a b?c=ä\n", "https://hooks.example.org/a%20b?c=%C3%A4"),
            ("https:\\\\hooks.example.org\\x", "https://hooks.example.org/x"),
            ("https:hooks.example.org", "https://hooks.example.org/"),
            ("https://bücher.example/./a/../b", "https://xn--bcher-kva.example/b"),
            ("https://@hooks.example.org/", "https://hooks.example.org/"),
            ("https://hooks.example.org./", "https://hooks.example.org./"),
            ("https://hooks.example.org:80/", "https://hooks.example.org:80/"),
            ("https://hooks.example.org:1024/", "https://hooks.example.org:1024/"),
            ("https://hooks.example.org:65535/", "https://hooks.example.org:65535/"),
            ("https://0x08080808/", "https://8.8.8.8/"),
            ("https://[2606:4700:0::1111]/", "https://[2606:4700::1111]/"),
            ("https://localhost.example.org/", "https://localhost.example.org/"),
            ("https://not.mylocal/", "https://not.mylocal/"),
            ("https://127.0.0.1.example.org/", "https://127.0.0.1.example.org/"),
            ("https://xroadmap.example.com/", "https://xroadmap.example.com/"),
            ("https://example.com/", "https://example.com/"),
        ] {
            let parsed = Destination::parse(raw, &rules).unwrap_or_else(|error| panic!("{raw}: {error}"));
            assert_eq!(parsed.as_str(), stored, "{raw}");
            let again = Destination::parse(parsed.as_str(), &rules).unwrap();
            assert_eq!((again.as_str(), again.url()), (stored, parsed.url()));
            assert_eq!(Destination::from_stored(Url::parse(stored).unwrap()), parsed);
        }
    }

    /// Webhooks: what is refused when a URL is created, done when 3.
    #[test]
    fn urls_that_lead_nowhere_public_are_refused() {
        let rules = rules("");
        for (message, refused) in [
            (
                NOT_HTTPS,
                &[
                    "",
                    "hooks.example.org",
                    "//hooks.example.org/",
                    "/hooks",
                    "http://hooks.example.org/",
                    "http://127.0.0.1/",
                    "ftp://hooks.example.org/",
                    "file:///etc/passwd",
                    "data:text/plain,x",
                    "javascript:alert(1)",
                    "wss://hooks.example.org/",
                    "gopher://hooks.example.org/",
                    "https://",
                    "https:///",
                    "https://./",
                    "https://../",
                    "https://?x",
                    "https://user@hooks.example.org/",
                    "https://user:password@hooks.example.org/",
                    "https://:password@hooks.example.org/",
                    "https://hooks.example.org@127.0.0.1/",
                    "https://hooks.example.org/#",
                    "https://hooks.example.org/#part",
                    "https://hooks.example.org:65536/",
                    "https://hooks.example.org:x/",
                    "https://hooks example.org/",
                    "https://hooks%00.example.org/",
                    "https://hooks%2f.example.org/",
                    "https://[::1/",
                    "https://[fe80::1%25eth0]/",
                    "https://256.256.256.256/",
                    "https://1.2.3.4.5/",
                    "https://0x100000000/",
                    "https://127.0.0.08/",
                ][..],
            ),
            (
                NOT_PUBLIC,
                &[
                    // Names.
                    "https://localhost/",
                    "https://LOCALHOST/",
                    "https://localhost./",
                    "https://localhost:8080/",
                    "https://ｌｏｃａｌｈｏｓｔ/",
                    "https://%6cocalhost/",
                    "https://app.localhost/",
                    "https://app.localhost./",
                    "https://printer.local/",
                    "https://printer.LOCAL../",
                    "https://metadata.google.internal/",
                    "https://router.home.arpa/",
                    "https://home.arpa/",
                    "https://intranet/",
                    "https://intranet./",
                    "https://com/",
                    // The service itself.
                    "https://roadmap.example.com/",
                    "https://roadmap.example.com:8443/",
                    "https://ROADMAP.example.com./",
                    "https://acme.roadmap.example.com/",
                    "https://a.b.roadmap.example.com/",
                    "https://roadmap。example。com/",
                    // Spellings of addresses.
                    "https://127.0.0.1/",
                    "https://127.0.0.1./",
                    "https://127.1/",
                    "https://127.0.1/",
                    "https://2130706433/",
                    "https://2130706433./",
                    "https://0x7f000001/",
                    "https://0x7f.1/",
                    "https://0X7F.0x0.0X0.0x1/",
                    "https://017700000001/",
                    "https://0177.0.0.1/",
                    "https://0177.0.0.01/",
                    "https://00000177.0.0.1/",
                    "https://１２７.０.０.１/",
                    "https://127。0。0。1/",
                    "https://127%2e0%2e0%2e1/",
                    "https://%31%32%37.0.0.1/",
                    "https://①②⑦.⓪.⓪.①/",
                    "https:\\\\127.0.0.1\\",
                    "https:127.0.0.1",
                    "https://127.0.0.1:8080/",
                    "https://0/",
                    "https://0.0.0.0/",
                    "https://0x0/",
                    "https://10.0.0.1/",
                    "https://012.0.0.1/",
                    "https://100.64.0.1/",
                    "https://169.254.169.254/latest/meta-data/",
                    "https://0xa9fea9fe/",
                    "https://2852039166/",
                    "https://0251.0376.0251.0376/",
                    "https://172.16.0.1/",
                    "https://192.0.0.8/",
                    "https://192.168.1.1/",
                    "https://3232235777/",
                    "https://198.18.0.1/",
                    "https://203.0.113.1/",
                    "https://224.0.0.1/",
                    "https://240.0.0.1/",
                    "https://255.255.255.255/",
                    "https://4294967295/",
                    "https://[::]/",
                    "https://[::1]/",
                    "https://[0:0:0:0:0:0:0:1]/",
                    "https://[0000:0000:0000:0000:0000:0000:0000:0001]/",
                    "https://[::ffff:127.0.0.1]/",
                    "https://[::ffff:7f00:1]/",
                    "https://[::ffff:8.8.8.8]/",
                    "https://[::127.0.0.1]/",
                    "https://[64:ff9b::127.0.0.1]/",
                    "https://[2002:7f00:1::]/",
                    "https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
                    "https://[2606:4700::5efe:10.0.0.1]/",
                    "https://[fe80::1]/",
                    "https://[fec0::1]/",
                    "https://[fd00::1]/",
                    "https://[ff02::1]/",
                    "https://[2001:db8::1]/",
                    "https://[FD00:EC2::254]/latest/meta-data/",
                    // A port that is refused, too.
                    "https://127.0.0.1:22/",
                ][..],
            ),
            (
                PORT,
                &[
                    "https://hooks.example.org:0/",
                    "https://hooks.example.org:1/",
                    "https://hooks.example.org:22/",
                    "https://hooks.example.org:25/",
                    "https://hooks.example.org:79/",
                    "https://hooks.example.org:81/",
                    "https://hooks.example.org:444/",
                    "https://hooks.example.org:1023/",
                    "https://8.8.8.8:53/",
                ][..],
            ),
        ] {
            for raw in refused {
                assert_eq!(problem(raw, &rules), message, "{raw}");
            }
        }
    }

    /// Webhooks: while `outbound_networks` names a network.
    #[test]
    fn named_networks_open_http_and_local_names_but_never_the_own_host() {
        let rules = rules("10.0.0.0/8, fd00::/8");
        for accepted in [
            "http://10.1.2.3/",
            "https://10.1.2.3/",
            "http://0xa010203/",
            "http://[fd00::1]:5678/webhook",
            "https://[::ffff:10.1.2.3]/",
            "https://8.8.8.8/",
            "http://n8n/webhook",
            "http://n8n.local:5678/",
            "http://localhost/",
            "https://hooks.example.org/",
            "http://hooks.example.org/",
        ] {
            assert!(Destination::parse(accepted, &rules).is_ok(), "{accepted}");
        }
        for (refused, message) in [
            ("http://8.8.8.8/", NOT_HTTPS),
            ("http://[2606:4700::1111]/", NOT_HTTPS),
            ("ftp://10.1.2.3/", NOT_HTTPS),
            ("http://./", NOT_HTTPS),
            ("http://192.168.1.1/", NOT_PUBLIC),
            ("https://192.168.1.1/", NOT_PUBLIC),
            ("http://127.0.0.1/", NOT_PUBLIC),
            ("https://[::1]/", NOT_PUBLIC),
            ("https://[fe80::1]/", NOT_PUBLIC),
            ("http://roadmap.example.com/", NOT_PUBLIC),
            ("https://acme.roadmap.example.com/", NOT_PUBLIC),
            ("http://10.1.2.3:22/", PORT),
        ] {
            assert_eq!(problem(refused, &rules), message, "{refused}");
        }
    }

    #[test]
    fn a_service_at_an_address_or_without_a_domain_is_not_a_destination() {
        for (base_url, networks, refused) in [
            ("http://10.0.0.7:3000", "10.0.0.0/8", "https://10.0.0.7/"),
            ("http://10.0.0.7:3000", "10.0.0.0/8", "http://0xa000007:3000/"),
            ("http://10.0.0.7:3000", "10.0.0.0/8", "https://[::ffff:10.0.0.7]/"),
            ("https://8.8.8.8", "", "https://8.8.8.8/"),
            ("http://[fd00::7]", "fd00::/8", "http://[fd00:0::7]/"),
            ("http://localhost:3000", "127.0.0.0/8", "http://acme.localhost:3000/"),
        ] {
            assert_eq!(problem(refused, &rules_at(base_url, networks)), NOT_PUBLIC, "{refused}");
        }
        let rules = rules_at("http://10.0.0.7:3000", "10.0.0.0/8");
        assert!(Destination::parse("http://10.0.0.8/", &rules).is_ok());
        assert!(Destination::parse("http://acme.localhost/", &rules).is_ok());
    }

    #[test]
    fn the_length_is_that_of_the_typed_and_of_the_normalized_url() {
        let rules = rules("");
        let url = |path: &str| format!("https://hooks.example.org/{path}");
        let longest = url(&"a".repeat(Destination::MAX - url("").len()));
        assert_eq!(Destination::parse(&longest, &rules).unwrap().as_str(), longest);
        for too_long in [format!("{longest}a"), url(&"ä".repeat(400))] {
            assert_eq!(problem(&too_long, &rules), "url must be at most 2048 characters long");
        }
        assert_eq!(problem("https://hooks.example.org/\0", &rules), "url must not contain the NUL character");
    }

    #[test]
    fn a_url_that_may_be_a_credential_is_not_shown() {
        let url = "https://hooks.slack.com/services/T0/B0/secret?token=secret";
        let shown = format!("{:?}", Destination::parse(url, &rules("")).unwrap());
        assert_eq!(shown, "Destination(https://hooks.slack.com/…)");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_spelling_of_an_address_is_judged_alike(
            address in prop_oneof![any::<u32>(), any::<[u8; 3]>().prop_map(|[a, b, c]| u32::from_be_bytes([10, a, b, c]))],
            bases in any::<[u8; 4]>(),
            parts in 1..=4_usize,
            dot in any::<bool>(),
        ) {
            let bytes = address.to_be_bytes();
            let number = |value: u32, base: u8| match base % 3 {
                0 => value.to_string(),
                1 => format!("{value:#x}"),
                _ => format!("0{value:o}"),
            };
            let mut labels: Vec<String> = (0..parts - 1).map(|at| number(bytes[at].into(), bases[at])).collect();
            let rest = bytes[parts - 1..].iter().fold(0, |rest, byte| (rest << 8) | u32::from(*byte));
            labels.push(number(rest, bases[parts - 1]));
            let host = format!("{}{}", labels.join("."), if dot { "." } else { "" });
            let parsed = Destination::parse(&format!("https://{host}/"), &rules(""));
            let canonical = std::net::Ipv4Addr::from(address);
            if is_public(canonical.into()) {
                prop_assert_eq!(parsed.unwrap().as_str().to_owned(), format!("https://{canonical}/"));
            } else {
                prop_assert_eq!(parsed.unwrap_err().to_string(), NOT_PUBLIC);
            }
        }

        #[test]
        fn whatever_is_accepted_is_an_https_url_of_a_public_host(raw in "https?:[/\\\\]{0,3}.{0,40}|.{0,60}") {
            if let Ok(destination) = Destination::parse(&raw, &rules("")) {
                let url = destination.url();
                prop_assert_eq!((url.scheme(), url.username(), url.password(), url.fragment()), ("https", "", None, None));
                match url.host() {
                    Some(Host::Domain(name)) => prop_assert!(name.trim_end_matches('.').contains('.')),
                    Some(Host::Ipv4(address)) => prop_assert!(is_public(address.into())),
                    Some(Host::Ipv6(address)) => prop_assert!(is_public(address.into())),
                    None => prop_assert!(false, "{} has no host", raw),
                }
            }
        }
    }
}
