//! Authenticates requests by a workspace's key, before routing. Contract section 5.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, ResponseError, web};
use roadmap_domain::error::{ErrorChain, RoadmapError};
use roadmap_domain::model::api_key::Credential;
use roadmap_domain::usecase::authenticate::{Authenticated, AuthenticationError, Rejection};

use crate::dependencies::HttpDependencies;
use crate::error::HttpError;
use crate::headers::single_value;
use crate::workspace::{record_workspace_in_span, subdomain_of_host};

/// The header with the key. `Authorization` with the scheme `Bearer` is accepted, too.
pub const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Middleware: passes a request on with its [`Credential`] in the extensions, or responds with 400, 401 or 429, or with
/// 503 when the store fails.
///
/// # Errors
/// None of its own.
pub async fn authenticate(
    dependencies: web::Data<HttpDependencies>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let credential = match identify(&dependencies, &request).await {
        Ok(credential) => credential,
        Err(error) => return Ok(request.into_response(error.error_response())),
    };
    let admission = dependencies.limits.admit(&credential);
    let mut response = match admission.check() {
        Ok(()) => {
            request.extensions_mut().insert(credential);
            next.call(request).await?.map_into_boxed_body()
        }
        Err(error) => request.into_response(error.error_response()),
    };
    admission.write_headers(response.headers_mut());
    Ok(response)
}

/// Identifies the caller.
///
/// The key is always verified, regardless of failures from the same address, so that an attacker cannot lock out a
/// valid key. Only the responses to rejected callers are limited. The workspace directory bounds the database load of
/// unknown keys.
async fn identify(
    dependencies: &web::Data<HttpDependencies>,
    request: &ServiceRequest,
) -> Result<Credential, HttpError> {
    let origin = dependencies.proxies.origin(request.headers(), request.peer_addr())?;
    let recognised = match look_up_caller(dependencies, request.headers(), origin.host).await {
        Ok(recognised) => recognised,
        Err(AuthenticationError::Rejected(cause)) => {
            dependencies.limits.record_failure(origin.address)?;
            tracing::debug!(cause = cause.name(), "a caller was rejected");
            dependencies.observer.authentication_rejected(cause);
            return Err(RoadmapError::Unauthenticated.into());
        }
        Err(error @ AuthenticationError::Store(_)) => return Err(RoadmapError::from(error).into()),
    };
    record_workspace_in_span(&recognised.credential.workspace);
    if recognised.needs_last_use_update {
        let (authenticate, credential) = (dependencies.authenticate.clone(), recognised.credential.clone());
        dependencies.detached.spawn(async move {
            if let Err(error) = authenticate.record_use(&credential).await {
                tracing::warn!(error = %ErrorChain::new(&error), "the use of an API key could not be recorded");
            }
        });
    }
    Ok(recognised.credential)
}

async fn look_up_caller(
    dependencies: &HttpDependencies,
    headers: &HeaderMap,
    host: Option<&str>,
) -> Result<Authenticated, AuthenticationError> {
    let subdomain =
        subdomain_of_host(dependencies, host).ok_or(AuthenticationError::Rejected(Rejection::NoWorkspace))?;
    let key = presented_key(headers).ok_or(AuthenticationError::Rejected(Rejection::NoKey))?;
    dependencies.authenticate.verify_key(&subdomain, key).await
}

/// Returns the key of `X-Api-Key` or of `Authorization: Bearer`. If both are sent, they must be equal. Repeated ones
/// count as missing.
fn presented_key(headers: &HeaderMap) -> Option<&str> {
    let mut tokens = headers.get_all(AUTHORIZATION).filter_map(bearer_token);
    match (headers.contains_key(&API_KEY), tokens.next(), tokens.next()) {
        (true, None, _) => single_value(headers, &API_KEY),
        (true, Some(token), None) => single_value(headers, &API_KEY).filter(|key| *key == token),
        (false, Some(token), None) => Some(token),
        _ => None,
    }
}

/// Returns the token of the `Bearer` scheme (RFC 6750 section 2.1), or `None` for another scheme. A malformed token is
/// empty.
fn bearer_token(authorization: &HeaderValue) -> Option<&str> {
    let (scheme, token) = authorization.as_bytes().split_at_checked("Bearer".len())?;
    if !scheme.eq_ignore_ascii_case(b"Bearer") || token.first().is_some_and(|separator| *separator != b' ') {
        return None;
    }
    Some(std::str::from_utf8(token.trim_ascii()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(keys: &[&'static str], authorizations: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        keys.iter().for_each(|key| headers.append(API_KEY, HeaderValue::from_static(key)));
        authorizations.iter().for_each(|value| headers.append(AUTHORIZATION, HeaderValue::from_static(value)));
        headers
    }

    /// Addition 1.
    #[test]
    fn a_key_is_sent_in_either_header_or_equally_in_both() {
        for (keys, authorizations, key) in [
            (&["a"][..], &[][..], Some("a")),
            (&[], &["Bearer a"], Some("a")),
            (&[], &["bearer a"], Some("a")),
            (&[], &["BEARER   a"], Some("a")),
            (&["a"], &["Bearer a"], Some("a")),
            (&["a"], &["Basic YTpi"], Some("a")),
            (&[], &["Basic YTpi", "Bearer a"], Some("a")),
            (&["a"], &["Bearer b"], None),
            (&["a"], &["Bearer"], None),
            (&["a", "a"], &["Bearer a"], None),
            (&["a", "a"], &[], None),
            (&[], &["Bearer a", "Bearer a"], None),
            (&["a"], &["Bearer a", "Bearer a"], None),
            (&[], &["Basic a"], None),
            (&[], &["a"], None),
            (&[], &["Bearera"], None),
            (&[], &[""], None),
            (&[], &["Bearer"], Some("")),
            (&[], &["Bearer a b"], Some("a b")),
            (&[], &[], None),
        ] {
            assert_eq!(presented_key(&headers(keys, authorizations)), key, "{keys:?} {authorizations:?}");
        }
        let mut malformed = headers(&["a"], &[]);
        malformed.append(AUTHORIZATION, HeaderValue::from_bytes(b"Bearer \xff").unwrap());
        assert_eq!(presented_key(&malformed), None);
    }
}
