//! Compression of responses with gzip.

use std::io::Write as _;

use actix_web::HttpRequest;
use actix_web::http::header::ACCEPT_ENCODING;
use actix_web::web::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Compresses bytes as gzip (RFC 1952).
pub(crate) fn compress(content: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(content.len() / 3), level);
    // Writing to memory cannot fail.
    let _ = encoder.write_all(content);
    encoder.finish().unwrap_or_default().into()
}

/// Whether the client accepts gzip (RFC 9110 section 12.5.3).
pub(crate) fn accepts_gzip(request: &HttpRequest) -> bool {
    let values = request.headers().get_all(ACCEPT_ENCODING).filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|part| {
        let mut parts = part.split(';').map(str::trim);
        parts.next().is_some_and(|coding| coding.eq_ignore_ascii_case("gzip"))
            && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}
