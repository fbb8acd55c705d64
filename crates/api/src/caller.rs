//! Who is calling: host and key, before anything else is looked at. Contract section 5.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{FORWARDED, HOST, HeaderMap, HeaderName};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, ResponseError, web};
use roadmap_domain::error::{ErrorChain, RoadmapError};
use roadmap_domain::model::api_key::{Credential, KeyText};
use roadmap_domain::model::base_url::HostOf;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::policy::reference::Purpose;
use roadmap_domain::usecase::authenticate::{NotRecognised, Recognised, Rejection};
use uuid::Uuid;

use crate::error::ApiError;
use crate::state::State;

/// Where the key is.
pub const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Lets a call through with its [`Credential`], or answers 401, or 429 (or 503, when nobody can tell).
///
/// # Errors
/// None of its own.
pub async fn authenticate(
    state: web::Data<State>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let credential = match identify(&state, &request).await {
        Ok(credential) => credential,
        Err(error) => return Ok(request.into_response(error.error_response())),
    };
    let admission = state.limits.admit(&credential);
    let mut response = match admission.refused() {
        Ok(()) => {
            request.extensions_mut().insert(credential);
            next.call(request).await?.map_into_boxed_body()
        }
        Err(error) => request.into_response(error.error_response()),
    };
    admission.tell(response.headers_mut());
    Ok(response)
}

/// Recognises the caller, unless too many keys were tried in vain from its address: then only keys are
/// looked up that were good before, so that nobody learns anything more.
async fn identify(state: &web::Data<State>, request: &ServiceRequest) -> Result<Credential, ApiError> {
    let address = address(state.trust_proxy, request.headers(), request.peer_addr());
    let key = only(request.headers(), &API_KEY).and_then(KeyText::parse).map(|key| key.digest());
    state.limits.may_try(address, key.as_ref())?;
    let recognised = recognise(state, request.headers()).await;
    match (&recognised, key) {
        (Ok(_), Some(key)) => state.limits.recognised(key),
        (Err(ApiError::Domain(RoadmapError::Unauthenticated)), _) => state.limits.failed(address)?,
        _ => {}
    }
    recognised
}

async fn recognise(state: &web::Data<State>, headers: &HeaderMap) -> Result<Credential, ApiError> {
    let recognised = match known(state, headers).await {
        Ok(recognised) => recognised,
        Err(error) => {
            if let NotRecognised::Rejected(cause) = error {
                tracing::debug!(cause = cause.name(), "a caller was rejected");
                state.observer.rejected(cause);
            }
            return Err(RoadmapError::from(error).into());
        }
    };
    tell_workspace(&recognised.credential.workspace);
    if recognised.use_is_stale {
        let (authenticate, credential) = (state.authenticate.clone(), recognised.credential.clone());
        state.detached.start(async move {
            if let Err(error) = authenticate.record_use(&credential).await {
                tracing::warn!(error = %ErrorChain::new(&error), "the use of an API key could not be recorded");
            }
        });
    }
    Ok(recognised.credential)
}

async fn known(state: &State, headers: &HeaderMap) -> Result<Recognised, NotRecognised> {
    let subdomain = subdomain(state, headers).ok_or(NotRecognised::Rejected(Rejection::NoWorkspace))?;
    let key = only(headers, &API_KEY).ok_or(NotRecognised::Rejected(Rejection::NoKey))?;
    state.authenticate.recognise(&subdomain, key).await
}

/// All that is logged of the call from now on names its workspace.
fn tell_workspace(workspace: &Workspace) {
    tracing::Span::current().record("workspace", tracing::field::display(&workspace.subdomain));
}

/// The subdomain that the call addresses. Headers that proxies set count only when the operator
/// trusts the proxy; anybody can send them.
fn subdomain(state: &State, headers: &HeaderMap) -> Option<Subdomain> {
    let forwarded = state.trust_proxy.then(|| forwarded_host(headers)).flatten();
    let host = forwarded.or_else(|| only(headers, &HOST))?;
    match state.base_url.workspace_of(host) {
        HostOf::Workspace(subdomain) => Some(subdomain),
        HostOf::Service => state.default_workspace.clone(),
        HostOf::Nobody => None,
    }
}

/// The workspace of the host and the record that the path's `{reference}` is to, of a visitor who has
/// no key. Whatever is wrong with either, there is nothing here.
///
/// # Errors
/// 404, or 503 when nobody can tell.
pub(crate) async fn referred(
    state: &State,
    request: &HttpRequest,
    purpose: Purpose,
) -> Result<(Workspace, Uuid), ApiError> {
    let subdomain = subdomain(state, request.headers()).ok_or(ApiError::NotFound)?;
    let workspace = state.directory.workspace(&subdomain).await?.ok_or(ApiError::NotFound)?;
    tell_workspace(&workspace);
    let reference = request.match_info().get("reference").unwrap_or_default();
    let record = state.references.verify(purpose, workspace.id, reference, state.clock.now());
    Ok((workspace, record.ok_or(ApiError::NotFound)?))
}

/// The host by which the client reached the nearest proxy: the last `host` of `Forwarded` (RFC 7239
/// section 5.3), else the last entry of `X-Forwarded-Host`.
fn forwarded_host(headers: &HeaderMap) -> Option<&str> {
    let host = forwarded(headers, "host").or_else(|| last_entry(headers, &FORWARDED_HOST));
    host.filter(|host| !host.is_empty())
}

/// Where the call comes from: the address that a trusted proxy tells, the last `for` of `Forwarded`,
/// else the last entry of `X-Forwarded-For`. Anybody can send these, so that without such a proxy it
/// is the other end of the connection.
fn address(trust_proxy: bool, headers: &HeaderMap, peer: Option<SocketAddr>) -> IpAddr {
    let told = || forwarded(headers, "for").or_else(|| last_entry(headers, &FORWARDED_FOR)).and_then(address_of);
    let told = trust_proxy.then(told).flatten();
    // A connection has another end. Were it not known, these calls would share one limit.
    told.or_else(|| peer.map(|peer| peer.ip())).unwrap_or(Ipv4Addr::UNSPECIFIED.into())
}

/// An address as proxies write it: perhaps with a port, of IPv6 also in brackets.
fn address_of(node: &str) -> Option<IpAddr> {
    let bare = node.strip_prefix('[').and_then(|node| node.strip_suffix(']')).unwrap_or(node);
    bare.parse().ok().or_else(|| node.parse().ok().map(|address: SocketAddr| address.ip()))
}

/// A value in the last entry of `Forwarded`.
fn forwarded<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    last_entry(headers, &FORWARDED)?.split(';').find_map(|pair| {
        let (named, value) = pair.split_once('=')?;
        named.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
    })
}

/// The last entry of a header that is a list, however it is spread over lines.
fn last_entry<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get_all(name).last()?.to_str().ok()?.rsplit(',').next().map(str::trim)
}

/// The value of a header that is there exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name);
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_proxy_s_last_word_counts() {
        for (pairs, host) in [
            (&[("x-forwarded-host", "acme.example")][..], Some("acme.example")),
            (&[("x-forwarded-host", "evil.example, acme.example ")], Some("acme.example")),
            (&[("x-forwarded-host", "evil.example"), ("x-forwarded-host", "acme.example")], Some("acme.example")),
            (&[("forwarded", "for=1.2.3.4;host=acme.example:8443;proto=https")], Some("acme.example:8443")),
            (&[("forwarded", "host=evil.example, for=1.2.3.4; Host=\"acme.example\"")], Some("acme.example")),
            (&[("forwarded", "for=1.2.3.4"), ("x-forwarded-host", "acme.example")], Some("acme.example")),
            (&[("forwarded", "host=")], None),
            (&[("x-forwarded-host", "")], None),
            (&[], None),
        ] {
            assert_eq!(forwarded_host(&headers(pairs)), host, "{pairs:?}");
        }
    }

    #[test]
    fn an_address_is_the_peer_s_unless_a_trusted_proxy_tells_another() {
        let peer: SocketAddr = "10.0.0.7:4711".parse().unwrap();
        for (pairs, told) in [
            (&[("x-forwarded-for", "192.0.2.1")][..], "192.0.2.1"),
            (&[("x-forwarded-for", "198.51.100.9, 192.0.2.1 ")], "192.0.2.1"),
            (&[("x-forwarded-for", "198.51.100.9"), ("x-forwarded-for", "192.0.2.1")], "192.0.2.1"),
            (&[("x-forwarded-for", "192.0.2.1:80")], "192.0.2.1"),
            (&[("x-forwarded-for", "2001:db8::1")], "2001:db8::1"),
            (&[("x-forwarded-for", "[2001:db8::1]")], "2001:db8::1"),
            (&[("x-forwarded-for", "[2001:db8::1]:80")], "2001:db8::1"),
            (&[("forwarded", "for=198.51.100.9, For=\"[2001:db8::1]:80\";host=x")], "2001:db8::1"),
            (&[("forwarded", "for=192.0.2.1"), ("x-forwarded-for", "198.51.100.9")], "192.0.2.1"),
            (&[("forwarded", "host=x"), ("x-forwarded-for", "192.0.2.1")], "192.0.2.1"),
            (&[("forwarded", "for=unknown")], "10.0.0.7"),
            (&[("x-forwarded-for", "")], "10.0.0.7"),
            (&[], "10.0.0.7"),
        ] {
            let headers = headers(pairs);
            assert_eq!(address(true, &headers, Some(peer)).to_string(), told, "{pairs:?}");
            assert_eq!(address(false, &headers, Some(peer)).to_string(), "10.0.0.7", "{pairs:?}");
        }
    }

    #[test]
    fn a_repeated_header_is_no_header() {
        assert_eq!(only(&headers(&[("x-api-key", "a")]), &API_KEY), Some("a"));
        assert_eq!(only(&headers(&[("x-api-key", "a"), ("x-api-key", "a")]), &API_KEY), None);
        assert_eq!(only(&headers(&[]), &API_KEY), None);
    }
}
