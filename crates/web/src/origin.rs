//! Refuses forms that another origin has sent.
//!
//! The workspaces of a service are subdomains of one host. To browsers they are the same site, so `SameSite` cookies do
//! not protect them from each other. Every request that changes something must therefore come from the workspace's own
//! origin: by `Sec-Fetch-Site` (Fetch Metadata), or by `Origin` (RFC 6454) where a browser does not send that header,
//! as on plain HTTP. Tokens are not needed, so that a page holds no secret and never expires.

use actix_web::http::Method;
use actix_web::http::header::{HeaderMap, HeaderName, ORIGIN};
use roadmap_http::headers::single_value;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a request may change something. `origin` is that of the workspace: the configured one, never that of a
/// header.
pub(crate) fn is_allowed(method: &Method, headers: &HeaderMap, origin: &str) -> bool {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return true;
    }
    if headers.contains_key(&SEC_FETCH_SITE) {
        return matches!(single_value(headers, &SEC_FETCH_SITE), Some("same-origin" | "none"));
    }
    single_value(headers, &ORIGIN).is_some_and(|sent| sent.eq_ignore_ascii_case(origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    /// Portal.
    #[test]
    fn only_the_own_origin_may_change_something() {
        const OWN: &str = "https://acme.example.com";
        for (site, origin, is_own) in [
            (Some("same-origin"), None, true),
            (Some("none"), None, true),
            (Some("same-origin"), Some("https://evil.example"), true),
            (Some("same-site"), Some(OWN), false),
            (Some("cross-site"), Some(OWN), false),
            (Some(""), Some(OWN), false),
            (Some("Same-Origin"), Some(OWN), false),
            (None, Some(OWN), true),
            (None, Some("HTTPS://ACME.example.com"), true),
            (None, Some("https://beta.example.com"), false),
            (None, Some("http://acme.example.com"), false),
            (None, Some("https://acme.example.com:8443"), false),
            (None, Some("https://acme.example.com.evil.example"), false),
            (None, Some("null"), false),
            (None, Some(""), false),
            (None, None, false),
        ] {
            let mut headers = HeaderMap::new();
            site.map(|site| headers.insert(SEC_FETCH_SITE, HeaderValue::from_static(site)));
            origin.map(|origin| headers.insert(ORIGIN, HeaderValue::from_static(origin)));
            assert_eq!(is_allowed(&Method::POST, &headers, OWN), is_own, "{site:?} {origin:?}");
            assert!(is_allowed(&Method::GET, &headers, OWN));
        }
        let mut repeated = HeaderMap::new();
        repeated.append(SEC_FETCH_SITE, HeaderValue::from_static("same-origin"));
        repeated.append(SEC_FETCH_SITE, HeaderValue::from_static("cross-site"));
        assert!(!is_allowed(&Method::POST, &repeated, OWN));
    }
}
