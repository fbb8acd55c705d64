//! Headers that all surfaces share.

use actix_web::http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue, STRICT_TRANSPORT_SECURITY};

use crate::request_id::REQUEST_ID;

/// Marks the response of an idempotent replay.
pub const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// HSTS for one year, without `includeSubDomains`: the hosts below the base host may belong to others, so each
/// workspace's host sets the header itself.
const HSTS_ONE_YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Sets the headers of every response. Only a response that sets `Cache-Control` itself may be cached.
pub(crate) fn set_common_headers(headers: &mut HeaderMap, id: HeaderValue, is_https: bool) {
    headers.insert(REQUEST_ID, id);
    if is_https {
        headers.insert(STRICT_TRANSPORT_SECURITY, HSTS_ONE_YEAR);
    }
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// Returns the value of a header that occurs exactly once.
#[must_use]
pub fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name);
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_header_counts_as_missing() {
        const KEY: HeaderName = HeaderName::from_static("x-api-key");
        let mut headers = HeaderMap::new();
        assert_eq!(single_value(&headers, &KEY), None);
        headers.append(KEY, HeaderValue::from_static("a"));
        assert_eq!(single_value(&headers, &KEY), Some("a"));
        headers.append(KEY, HeaderValue::from_static("a"));
        assert_eq!(single_value(&headers, &KEY), None);
    }
}
