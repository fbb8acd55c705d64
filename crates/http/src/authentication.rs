//! Authenticates requests by a workspace's key, before routing. Contract section 5.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, ResponseError, web};
use roadmap_domain::error::{ErrorChain, RoadmapError};
use roadmap_domain::model::api_key::Credential;
use roadmap_domain::usecase::authenticate::{Authenticated, AuthenticationError, Rejection};

use crate::dependencies::HttpDependencies;
use crate::error::HttpError;
use crate::headers::single_value;
use crate::workspace::{record_workspace_in_span, subdomain_of_host};

/// The header with the key.
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
    let key = single_value(headers, &API_KEY).ok_or(AuthenticationError::Rejected(Rejection::NoKey))?;
    dependencies.authenticate.verify_key(&subdomain, key).await
}
