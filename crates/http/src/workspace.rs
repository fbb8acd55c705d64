//! The workspace that a request addresses with its host.

use actix_web::HttpRequest;
use roadmap_domain::model::base_url::HostTarget;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::policy::signed_reference::Purpose;
use uuid::Uuid;

use crate::access_log::log_span;
use crate::dependencies::HttpDependencies;
use crate::error::HttpError;

/// Returns the subdomain of a host.
pub(crate) fn subdomain_of_host(dependencies: &HttpDependencies, host: Option<&str>) -> Option<Subdomain> {
    match dependencies.base_url.resolve_host(host?) {
        HostTarget::Workspace(subdomain) => Some(subdomain),
        HostTarget::Service => dependencies.default_workspace.clone(),
        HostTarget::Unknown => None,
    }
}

/// Adds the workspace to the request's span, and so to all its later log lines.
pub(crate) fn record_workspace_in_span(workspace: &Workspace) {
    log_span().record("workspace", tracing::field::display(&workspace.subdomain));
}

/// Returns the workspace of the request's host.
///
/// # Errors
/// 404 when there is none; 400 when the proxies' headers contradict each other; 503 when the store fails.
pub async fn workspace_of_host(dependencies: &HttpDependencies, request: &HttpRequest) -> Result<Workspace, HttpError> {
    let origin = dependencies.proxies.origin(request.headers(), request.peer_addr())?;
    let subdomain = subdomain_of_host(dependencies, origin.host).ok_or(HttpError::NotFound)?;
    let workspace = dependencies.directory.workspace(&subdomain).await?.ok_or(HttpError::NotFound)?;
    record_workspace_in_span(&workspace);
    Ok(workspace)
}

/// Returns the workspace of the host and the record of the path's `{reference}`, for a visitor without a key.
///
/// Every invalid host or reference gets the same 404. A malformed reference causes no lookup.
///
/// # Errors
/// 404, or those of [`workspace_of_host`].
pub async fn resolve_reference(
    dependencies: &HttpDependencies,
    request: &HttpRequest,
    purpose: Purpose,
) -> Result<(Workspace, Uuid), HttpError> {
    let reference = request.match_info().get("reference").unwrap_or_default();
    if !dependencies.references.is_well_formed(reference) {
        return Err(HttpError::NotFound);
    }
    let workspace = workspace_of_host(dependencies, request).await?;
    let record = dependencies.references.verify(purpose, workspace.id, reference, dependencies.clock.now());
    Ok((workspace, record.ok_or(HttpError::NotFound)?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use actix_web::test::TestRequest;
    use roadmap_domain::policy::signed_reference::{ReferenceSigner, Secret};
    use roadmap_domain::ports::mocks::MockWorkspaceDirectory;

    use crate::access_log::tests::dependencies;

    /// Counts the lookups of the workspace for these references at this host.
    async fn lookups(host: &str, references: &[String]) -> usize {
        let mut directory = MockWorkspaceDirectory::new();
        let lookups = Arc::new(AtomicUsize::new(0));
        directory.expect_workspace().returning({
            let lookups = lookups.clone();
            move |_| {
                lookups.fetch_add(1, Ordering::Relaxed);
                Ok(None)
            }
        });
        let dependencies = HttpDependencies { directory: Arc::new(directory), ..dependencies() };
        for reference in references {
            for purpose in [Purpose::Blob, Purpose::File, Purpose::Unsubscribe] {
                let request = TestRequest::get().insert_header(("host", host)).param("reference", reference.clone());
                let refused = resolve_reference(&dependencies, &request.to_http_request(), purpose).await.unwrap_err();
                assert!(matches!(refused, HttpError::NotFound), "{reference}: {refused}");
            }
        }
        lookups.load(Ordering::Relaxed)
    }

    /// Beyond the contract.
    #[actix_web::test]
    async fn malformed_references_cause_no_lookup() {
        let junk: Vec<String> = (0..200).map(|length| "A".repeat(length)).collect();
        assert_eq!(lookups("acme.localhost", &junk).await, 0);
        // Signed with the fixture's secret, for a workspace that does not exist.
        let secret = Secret::parse("secret", &"s".repeat(Secret::MIN_LENGTH)).unwrap();
        let workspace = roadmap_domain::model::id::WorkspaceId::new(Uuid::from_u128(1));
        let signed = ReferenceSigner::new(secret, Vec::new()).sign(Purpose::Blob, workspace, Uuid::from_u128(2));
        assert_eq!(lookups("acme.localhost", std::slice::from_ref(&signed)).await, 3);
        assert_eq!(lookups("elsewhere.example", &[signed]).await, 0);
    }
}
