//! Who is calling: host and key, before anything else is looked at. Contract section 5.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, ResponseError, web};
use roadmap_domain::error::{ErrorChain, RoadmapError};
use roadmap_domain::model::api_key::Credential;
use roadmap_domain::model::base_url::HostTarget;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::policy::signed_reference::Purpose;
use roadmap_domain::usecase::authenticate::{Authenticated, AuthenticationError, Rejection};
use uuid::Uuid;

use crate::error::ApiError;
use crate::forwarding::single_value;
use crate::state::State;

/// Where the key is.
pub const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Lets a call through with its [`Credential`], or answers 400, 401, or 429 (or 503, when nobody can tell).
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

/// Lets a request without a key through, or answers 400 or 429.
///
/// # Errors
/// None of its own.
pub async fn admit_anonymous(
    state: web::Data<State>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let address = match state.proxies.origin(request.headers(), request.peer_addr()) {
        Ok(origin) => origin.address,
        Err(error) => return Ok(request.into_response(error.error_response())),
    };
    let admission = state.limits.admit_anonymous(address);
    let mut response = match admission.check() {
        Ok(()) => next.call(request).await?.map_into_boxed_body(),
        Err(error) => request.into_response(error.error_response()),
    };
    admission.write_headers(response.headers_mut());
    Ok(response)
}

/// Recognises the caller. The key is looked up whatever others at the same address do, so that nobody
/// locks out a good one; only answers to callers who are not recognised are refused. The directory
/// sees to it that they cannot keep the database busy.
async fn identify(state: &web::Data<State>, request: &ServiceRequest) -> Result<Credential, ApiError> {
    let origin = state.proxies.origin(request.headers(), request.peer_addr())?;
    let recognised = match look_up_caller(state, request.headers(), origin.host).await {
        Ok(recognised) => recognised,
        Err(AuthenticationError::Rejected(cause)) => {
            state.limits.record_failure(origin.address)?;
            tracing::debug!(cause = cause.name(), "a caller was rejected");
            state.observer.authentication_rejected(cause);
            return Err(RoadmapError::Unauthenticated.into());
        }
        Err(error @ AuthenticationError::Store(_)) => return Err(RoadmapError::from(error).into()),
    };
    record_workspace_in_span(&recognised.credential.workspace);
    if recognised.needs_last_use_update {
        let (authenticate, credential) = (state.authenticate.clone(), recognised.credential.clone());
        state.detached.spawn(async move {
            if let Err(error) = authenticate.record_use(&credential).await {
                tracing::warn!(error = %ErrorChain::new(&error), "the use of an API key could not be recorded");
            }
        });
    }
    Ok(recognised.credential)
}

async fn look_up_caller(
    state: &State,
    headers: &HeaderMap,
    host: Option<&str>,
) -> Result<Authenticated, AuthenticationError> {
    let subdomain = subdomain_of_host(state, host).ok_or(AuthenticationError::Rejected(Rejection::NoWorkspace))?;
    let key = single_value(headers, &API_KEY).ok_or(AuthenticationError::Rejected(Rejection::NoKey))?;
    state.authenticate.verify_key(&subdomain, key).await
}

/// All that is logged of the call from now on names its workspace.
fn record_workspace_in_span(workspace: &Workspace) {
    tracing::Span::current().record("workspace", tracing::field::display(&workspace.subdomain));
}

/// The subdomain that a host stands for.
fn subdomain_of_host(state: &State, host: Option<&str>) -> Option<Subdomain> {
    match state.base_url.resolve_host(host?) {
        HostTarget::Workspace(subdomain) => Some(subdomain),
        HostTarget::Service => state.default_workspace.clone(),
        HostTarget::Unknown => None,
    }
}

/// The workspace of the host and the record that the path's `{reference}` is to, of a visitor who has
/// no key. Whatever is wrong with either, there is nothing here, and for what has not even the form of
/// a reference nothing is looked up.
///
/// # Errors
/// 404, or 503 when nobody can tell.
pub(crate) async fn resolve_reference(
    state: &State,
    request: &HttpRequest,
    purpose: Purpose,
) -> Result<(Workspace, Uuid), ApiError> {
    let reference = request.match_info().get("reference").unwrap_or_default();
    if !state.references.is_well_formed(reference) {
        return Err(ApiError::NotFound);
    }
    let origin = state.proxies.origin(request.headers(), request.peer_addr())?;
    let subdomain = subdomain_of_host(state, origin.host).ok_or(ApiError::NotFound)?;
    let workspace = state.directory.workspace(&subdomain).await?.ok_or(ApiError::NotFound)?;
    record_workspace_in_span(&workspace);
    let record = state.references.verify(purpose, workspace.id, reference, state.clock.now());
    Ok((workspace, record.ok_or(ApiError::NotFound)?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use actix_web::test::TestRequest;
    use roadmap_domain::policy::signed_reference::{ReferenceSigner, Secret};
    use roadmap_domain::ports::mocks::MockWorkspaceDirectory;

    use crate::middleware;

    /// How often the workspace is looked up for these references at this host.
    async fn lookups(host: &str, references: &[String]) -> usize {
        let mut directory = MockWorkspaceDirectory::new();
        let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        directory.expect_workspace().returning({
            let asked = asked.clone();
            move |_| {
                asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Ok(None)
            }
        });
        let mut state = Arc::into_inner(middleware::tests::test_state().into_inner()).unwrap();
        state.directory = Arc::new(directory);
        for reference in references {
            for purpose in [Purpose::Blob, Purpose::File, Purpose::Unsubscribe] {
                let request = TestRequest::get().insert_header(("host", host)).param("reference", reference.clone());
                let refused = resolve_reference(&state, &request.to_http_request(), purpose).await.unwrap_err();
                assert!(matches!(refused, ApiError::NotFound), "{reference}: {refused}");
            }
        }
        asked.load(std::sync::atomic::Ordering::Relaxed)
    }

    #[actix_web::test]
    async fn malformed_references_cause_no_lookup() {
        let junk: Vec<String> = (0..200).map(|length| "A".repeat(length)).collect();
        assert_eq!(lookups("acme.localhost", &junk).await, 0);
        // As the fixture signs them, for a workspace that there is not.
        let secret = Secret::parse("secret", &"s".repeat(Secret::MIN_LENGTH)).unwrap();
        let workspace = roadmap_domain::model::id::WorkspaceId::new(Uuid::from_u128(1));
        let signed = ReferenceSigner::new(secret, Vec::new()).sign(Purpose::Blob, workspace, Uuid::from_u128(2));
        assert_eq!(lookups("acme.localhost", std::slice::from_ref(&signed)).await, 3);
        assert_eq!(lookups("elsewhere.example", &[signed]).await, 0);
    }
}
