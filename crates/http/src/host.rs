//! Requires one consistent host per request (RFC 9112 section 3.2).
//!
//! If a proxy and a server derive different hosts from one request, an attacker can exploit the difference. A request
//! with contradictory hosts is therefore always rejected. The HTTP library rejects requests without `Host` or with
//! several.

use std::str::FromStr;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::http::header::HOST;
use actix_web::http::uri::Authority;
use actix_web::middleware::Next;
use actix_web::{Error, ResponseError};

use crate::error::HttpError;

/// Middleware: passes on a request whose host is well-formed and the same in target and header, or responds with 400.
///
/// # Errors
/// None of its own.
pub(crate) async fn check_host(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let host = request.headers().get(HOST).map(|host| host.to_str().map_err(|_| HttpError::MalformedHost));
    match host.transpose().and_then(|host| check_target(host, request.uri())) {
        Ok(()) => Ok(next.call(request).await?.map_into_boxed_body()),
        Err(error) => Ok(request.into_response(error.error_response())),
    }
}

/// Checks that header and target name the same host. Most targets name none. A client whose target has no host sends an
/// empty header.
fn check_target(host: Option<&str>, target: &Uri) -> Result<(), HttpError> {
    let named = host.filter(|host| !host.is_empty()).map(HostAndPort::parse).transpose()?;
    let Some(authority) = target.authority() else { return Ok(()) };
    let targeted = HostAndPort::parse(authority.as_str())?;
    let port = match target.scheme_str() {
        Some("https") => 443,
        _ => 80,
    };
    // An HTTP/1.0 request may lack the header. It is rejected here, because otherwise the target's host would count.
    if named.is_some_and(|named| named.with_default_port(port) == targeted.with_default_port(port)) {
        Ok(())
    } else {
        Err(HttpError::MalformedHost)
    }
}

/// A host with an optional port.
struct HostAndPort {
    name: String,
    port: Option<u16>,
}

impl HostAndPort {
    fn parse(raw: &str) -> Result<Self, HttpError> {
        let authority = Authority::from_str(raw).map_err(|_| HttpError::MalformedHost)?;
        // Rejects user info before an `@`. Only a port may follow the name.
        let behind = raw.strip_prefix(authority.host()).ok_or(HttpError::MalformedHost)?;
        let port = match behind.strip_prefix(':') {
            Some("") => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().map_err(|_| HttpError::MalformedHost)?)
            }
            None if behind.is_empty() => None,
            _ => return Err(HttpError::MalformedHost),
        };
        let name = authority.host();
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        if name.is_empty() { Err(HttpError::MalformedHost) } else { Ok(Self { name, port }) }
    }

    fn with_default_port(&self, default: u16) -> (&str, u16) {
        (&self.name, self.port.unwrap_or(default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beyond the contract.
    #[test]
    fn a_host_is_well_formed_and_the_same_in_target_and_header() {
        for (host, target, is_valid) in [
            (Some("acme.example"), "/", true),
            (Some("acme.example:8443"), "/", true),
            (Some("acme.example:"), "/", true),
            (Some("acme.example."), "/", true),
            (Some("[::1]:80"), "/", true),
            (Some("127.0.0.1"), "/", true),
            (Some(""), "/", true),
            (None, "/", true),
            (Some("acme.example"), "http://acme.example/", true),
            (Some("ACME.example:80"), "http://acme.EXAMPLE./", true),
            (Some("acme.example"), "https://acme.example:443/", true),
            (Some("acme.example:8443"), "http://acme.example:8443/", true),
            (Some("acme.example"), "http://other.example/", false),
            (Some("acme.example:8443"), "http://acme.example/", false),
            (Some("acme.example"), "http://acme.example:443/", false),
            (Some("acme.example"), "http://ann@acme.example/", false),
            (Some(""), "http://acme.example/", false),
            (None, "http://acme.example/", false),
            (Some("ann@acme.example"), "/", false),
            (Some("acme.example:port"), "/", false),
            (Some("acme.example:+80"), "/", false),
            (Some("[::1]80"), "/", false),
            (Some("acme.example@acme.example"), "/", false),
            (Some("acme.example:65536"), "/", false),
            (Some("acme.example:80:80"), "/", false),
            (Some("acme.example/path"), "/", false),
            (Some("acme.example?a"), "/", false),
            (Some("acme example"), "/", false),
            (Some("acme.example, other.example"), "/", false),
            (Some("http://acme.example"), "/", false),
            (Some("acme%2eexample"), "/", false),
            (Some("acme\\example"), "/", false),
            (Some("[::1"), "/", false),
            (Some(":80"), "/", false),
            (Some("."), "/", false),
        ] {
            let target = target.parse().unwrap();
            assert_eq!(check_target(host, &target).is_ok(), is_valid, "{host:?} {target}");
        }
    }
}
