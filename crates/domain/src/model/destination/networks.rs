//! Which IP addresses are public, and which others requests may go to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

use crate::error::{FieldError, FieldProblem, Validated};

/// The scheme of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

/// The networks of the setting `outbound_networks`, to which requests may go besides public addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutboundNetworks(Vec<IpNet>);

impl OutboundNetworks {
    /// Parses networks that are separated by commas. An address is a network of its own.
    ///
    /// # Errors
    /// Anything else, and IPv4 networks in the notation of IPv6, which would never match.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let network = |raw: &str| {
            let parsed = raw.parse().or_else(|_| raw.parse::<IpAddr>().map(IpNet::from)).ok();
            parsed.filter(|network: &IpNet| network.addr().to_canonical() == network.addr()).ok_or_else(|| {
                FieldError::new(
                    field,
                    FieldProblem::Malformed { expected: "a list of networks such as `10.0.0.0/8, fd00::/8`" },
                )
            })
        };
        let parts = raw.split(',').map(str::trim).filter(|part| !part.is_empty());
        Ok(Self(parts.map(network).collect::<Validated<_>>()?))
    }

    /// Whether no network is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all addresses of IPv4 or of IPv6 are named.
    #[must_use]
    pub fn name_everything(&self) -> bool {
        IpNet::aggregate(&self.0).iter().any(|network| network.prefix_len() == 0)
    }

    /// Whether a request with `scheme` may go to an address: HTTPS to public addresses and to those of the named
    /// networks, HTTP to the latter only.
    #[must_use]
    pub fn admit(&self, scheme: Scheme, address: IpAddr) -> bool {
        self.contain(address) || (scheme == Scheme::Https && is_public(address))
    }

    /// Whether an address is in a named network. What carries an IPv4 address leads to that one, so that must be
    /// public or in a named network, too.
    fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let leads_elsewhere = match address {
            IpAddr::V4(_) => false,
            IpAddr::V6(address) => {
                carried(address).into_iter().map(IpAddr::V4).any(|inner| !is_public(inner) && !self.contain(inner))
            }
        };
        !leads_elsewhere && self.0.iter().any(|network| network.contains(&address))
    }
}

/// Whether an address belongs to a host of the public internet.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The registries of IANA (special-purpose addresses, RFC 6890; multicast, RFC 5771; reserved, RFC 1112).
fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        // Unspecified and "this network", private, loopback, link-local.
        [0 | 10 | 127, ..] | [172, 16..=31, ..] | [192, 168, ..] | [169, 254, ..]
        // Shared, protocol assignments, benchmarking, the former 6to4 relays.
        | [100, 64..=127, ..] | [192, 0, 0, _] | [198, 18 | 19, ..] | [192, 88, 99, _]
        // Documentation.
        | [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _]
        // Multicast, reserved, broadcast.
        | [224..=255, ..]
    )
}

/// Public are global unicast addresses (2000::/3) alone. That leaves out unspecified, loopback, link-local, site-local,
/// unique local, multicast, discard-only and all unassigned ones.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let is_special = matches!(
        address.segments(),
        // Protocol assignments: among them Teredo, benchmarking and ORCHID.
        [0x2001, 0..=0x1ff, ..]
        // Documentation (RFC 3849, RFC 9637).
        | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..]
    );
    matches!(address.segments(), [0x2000..=0x3fff, ..]) && !is_special && carried(address).is_empty()
}

/// Returns the IPv4 addresses that an IPv6 address carries, and to which gateways or this machine may translate it.
fn carried(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let ipv4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    let mut carried = Vec::new();
    match address.segments() {
        // Unspecified and loopback.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => {}
        // Compatible (RFC 4291), mapped (RFC 4291), translated (RFC 2765), NAT64 (RFC 6052, RFC 8215).
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low] => carried.push(ipv4(high, low)),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => carried.push(ipv4(high, low)),
        // Teredo (RFC 4380): the server, and the client with all bits inverted.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            carried.extend([ipv4(server_high, server_low), ipv4(!high, !low)]);
        }
        _ => {}
    }
    // ISATAP (RFC 5214), behind any prefix.
    if let [.., 0 | 0x200, 0x5efe, high, low] = address.segments() {
        carried.push(ipv4(high, low));
    }
    carried
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ip(raw: &str) -> IpAddr {
        raw.parse().unwrap_or_else(|_| panic!("{raw}"))
    }

    fn networks(raw: &str) -> OutboundNetworks {
        OutboundNetworks::parse("outbound_networks", raw).unwrap()
    }

    /// Webhooks: not public. First and last address of each range, and the neighbours outside of it.
    #[test]
    fn the_edges_of_each_range_are_judged() {
        for (name, first, last, before, after) in [
            ("this network", "0.0.0.0", "0.255.255.255", "", "1.0.0.0"),
            ("private 10/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
            ("shared", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
            ("loopback", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
            ("link-local", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
            ("private 172.16/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
            ("protocol assignments", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
            ("documentation 1", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
            ("6to4 relays", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
            ("private 192.168/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
            ("benchmarking", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
            ("documentation 2", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
            ("documentation 3", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
            ("multicast", "224.0.0.0", "239.255.255.255", "223.255.255.255", ""),
            ("reserved and broadcast", "240.0.0.0", "255.255.255.255", "", ""),
            ("below global unicast", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "2000::"),
            ("protocol assignments", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::"),
            ("documentation", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7::", "2001:db9::"),
            ("6to4", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"),
            ("documentation", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"),
            ("above global unicast", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff::", ""),
        ] {
            for inside in [first, last] {
                assert!(!is_public(ip(inside)), "{name}: {inside}");
            }
            for outside in [before, after] {
                assert!(outside.is_empty() || is_public(ip(outside)), "{name}: {outside}");
            }
        }
    }

    /// Webhooks: the ranges of IPv6 by name, and what carries an IPv4 address, whichever it is.
    #[test]
    fn special_addresses_of_ipv6_are_not_public() {
        for (name, addresses) in [
            ("unspecified", &["::"][..]),
            ("loopback", &["::1"]),
            ("compatible", &["::2", "::127.0.0.1", "::8.8.8.8", "::255.255.255.255"]),
            ("mapped", &["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:255.255.255.255"]),
            ("translated", &["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"]),
            ("NAT64", &["64:ff9b::", "64:ff9b::10.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b::ffff:ffff"]),
            ("NAT64 of a site", &["64:ff9b:1::", "64:ff9b:1::8.8.8.8", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"]),
            ("discard-only", &["100::", "100::ffff:ffff:ffff:ffff", "100:0:0:1::1"]),
            ("Teredo", &["2001::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:0:ffff:ffff::"]),
            ("benchmarking", &["2001:2::", "2001:2:0:ffff::"]),
            ("ORCHID", &["2001:10::", "2001:1f::", "2001:20::", "2001:2f::", "2001:30::"]),
            ("documentation", &["2001:db8::", "2001:db8::1", "3fff::1"]),
            ("6to4", &["2002:7f00:1::", "2002:a00:1::1", "2002:808:808::1", "2002:c0a8:101::"]),
            ("ISATAP", &["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:8.8.8.8", "fe80::5efe:192.168.1.1"]),
            ("segment routing", &["5f00::", "5f00::1"]),
            ("unique local", &["fc00::", "fc00::1", "fd00:ec2::254", "fdff:ffff::1"]),
            ("link-local", &["fe80::", "fe80::1", "febf:ffff::1"]),
            ("site-local", &["fec0::", "fec0::1", "feff:ffff::1"]),
            ("multicast", &["ff00::", "ff02::1", "ff0e::1", "ffff::1"]),
        ] {
            for address in addresses {
                assert!(!is_public(ip(address)), "{name}: {address}");
                assert!(!OutboundNetworks::default().admit(Scheme::Https, ip(address)), "{name}: {address}");
            }
        }
        for public in [
            "2606:4700::1111",
            "2a00:1450:4001:81b::200e",
            "2620:4f:8000::1",
            "2600::",
            "2606:4700:0:0:100:5efe:a00:1",
            "2606:4700:0:0:0:5eff:a00:1",
            "2606:4700:0:0:5efe:0:a00:1",
        ] {
            assert!(is_public(ip(public)), "{public}");
        }
    }

    /// Webhooks: `outbound_networks`.
    #[test]
    fn named_networks_are_admitted_with_both_schemes() {
        let named = networks("10.0.0.0/8, 192.0.2.7,fd00::/8 , ::1");
        for (address, http, https) in [
            ("10.255.255.255", true, true),
            ("::ffff:10.0.0.1", true, true),
            ("192.0.2.7", true, true),
            ("192.0.2.8", false, false),
            ("fd00::1", true, true),
            ("fc00::1", false, false),
            ("::1", true, true),
            ("::", false, false),
            ("127.0.0.1", false, false),
            ("8.8.8.8", false, true),
            ("2606:4700::1111", false, true),
            ("::ffff:8.8.8.8", false, false),
            // In a named network, but leads to an address that is in none.
            ("fd00::5efe:192.168.0.1", false, false),
            ("fd00::5efe:10.0.0.1", true, true),
            ("fd00::5efe:8.8.8.8", true, true),
        ] {
            assert_eq!(named.admit(Scheme::Http, ip(address)), http, "{address}");
            assert_eq!(named.admit(Scheme::Https, ip(address)), https, "{address}");
        }
    }

    #[test]
    fn a_named_translator_does_not_lead_to_addresses_that_are_not_named() {
        let named = networks("64:ff9b::/96, 64:ff9b:1::/48, 2002::/16, 2001::/32");
        for (address, admitted) in [
            ("64:ff9b::8.8.8.8", true),
            ("64:ff9b::127.0.0.1", false),
            ("64:ff9b::169.254.169.254", false),
            ("64:ff9b:1::8.8.8.8", true),
            ("64:ff9b:1::10.0.0.1", false),
            ("2002:808:808::1", true),
            ("2002:a00:1::1", false),
            // Teredo: server and client are public, only the client, only the server.
            ("2001:0:808:808:0:0:f7f7:f7f7", true),
            ("2001:0:a00:1:0:0:f7f7:f7f7", false),
            ("2001:0:808:808:0:0:80ff:fffe", false),
        ] {
            assert_eq!(named.admit(Scheme::Https, ip(address)), admitted, "{address}");
        }
    }

    #[test]
    fn networks_are_a_list_of_networks_and_addresses() {
        for (raw, count) in [("", 0), (" , ", 0), ("10.0.0.0/8", 1), ("10.1.2.3/8,::1,", 2)] {
            let parsed = networks(raw);
            assert_eq!((parsed.0.len(), parsed.is_empty()), (count, count == 0), "{raw}");
        }
        for refused in ["10.0.0.0/33", "10.0.0", "localhost", "10.0.0.0/8 fd00::/8", "*", "::ffff:10.0.0.0/104"] {
            assert_eq!(
                OutboundNetworks::parse("outbound_networks", refused).unwrap_err().to_string(),
                "outbound_networks is not a list of networks such as `10.0.0.0/8, fd00::/8`",
                "{refused}"
            );
        }
    }

    #[test]
    fn networks_that_name_everything_are_noticed() {
        for (raw, everything) in [
            ("0.0.0.0/0", true),
            ("::/0", true),
            ("10.0.0.0/8, 0.0.0.0/1, 128.0.0.0/1", true),
            ("", false),
            ("0.0.0.0/1", false),
            ("10.0.0.0/8, fd00::/8", false),
        ] {
            assert_eq!(networks(raw).name_everything(), everything, "{raw}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn whatever_carries_an_ipv4_address_is_not_public(inner in any::<u32>(), prefix in any::<u64>(), noise in any::<u64>()) {
            let inner = u128::from(inner);
            let (nat64, teredo) = (0x64_ff9b_u128 << 96, 0x2001_0000_u128 << 96);
            for address in [
                (0xffff << 32) | inner,
                (0xffff_0000_u128 << 32) | inner,
                nat64 | inner,
                nat64 | (1 << 80) | (u128::from(noise) << 16) | inner,
                (0x2002_u128 << 112) | (inner << 80) | u128::from(noise),
                teredo | (u128::from(noise) << 32) | (!inner & 0xffff_ffff),
                (u128::from(prefix) << 64) | (0x5efe << 32) | inner,
                (u128::from(prefix) << 64) | (0x0200_5efe << 32) | inner,
            ] {
                prop_assert!(!is_public(Ipv6Addr::from(address).into()), "{}", Ipv6Addr::from(address));
            }
        }

        #[test]
        fn the_standard_library_knows_no_public_address_that_is_special(address in any::<u32>()) {
            let address = Ipv4Addr::from(address);
            let special = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_broadcast() || address.is_documentation() || address.is_multicast()
                || address.is_unspecified();
            prop_assert!(!(special && is_public(address.into())), "{}", address);
        }
    }
}
