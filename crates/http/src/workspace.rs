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

/// Where a request to the base host leads, although no workspace is served there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseHost {
    /// There is no workspace yet.
    WithoutWorkspaces,
    /// The only workspace, which has a host of its own.
    OnlyWorkspace(Workspace),
}

/// Returns where a request leads for which [`workspace_of_host`] has found nothing. `None`: nowhere, because it is for
/// another host, or there are several workspaces. The service caches what is read of the directory for this.
///
/// # Errors
/// 400 when the proxies' headers contradict each other; 503 when the store fails.
pub async fn resolve_base_host(
    dependencies: &HttpDependencies,
    request: &HttpRequest,
) -> Result<Option<BaseHost>, HttpError> {
    let HttpDependencies { base_url, default_workspace, directory, .. } = dependencies;
    let origin = dependencies.proxies.origin(request.headers(), request.peer_addr())?;
    if origin.host.is_none_or(|host| base_url.resolve_host(host) != HostTarget::Service) {
        return Ok(None);
    }
    let mut first = directory.first_workspaces(2).await?.into_iter();
    Ok(match (first.next(), first.next()) {
        (None, _) => Some(BaseHost::WithoutWorkspaces),
        // A default workspace that was found just now would lead to the base host again. Below an address there is none.
        (Some(only), None) if default_workspace.as_ref() != Some(&only.subdomain) && !base_url.has_ip_address() => {
            Some(BaseHost::OnlyWorkspace(only))
        }
        _ => None,
    })
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
    use roadmap_domain::model::base_url::BaseUrl;
    use roadmap_domain::model::id::WorkspaceId;
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

    fn workspace(number: u128, label: &str) -> Workspace {
        let id = WorkspaceId::new(Uuid::from_u128(number));
        Workspace { id, subdomain: Subdomain::from_label(label).unwrap() }
    }

    /// Where a request to a host leads when there are these workspaces.
    async fn resolved(base_url: &str, default: Option<&str>, host: &str, labels: &[&str]) -> Option<BaseHost> {
        let workspaces: Vec<Workspace> = (1..).zip(labels).map(|(number, label)| workspace(number, label)).collect();
        let mut directory = MockWorkspaceDirectory::new();
        directory
            .expect_first_workspaces()
            .returning(move |limit| Ok(workspaces.iter().take(usize::try_from(limit).unwrap()).cloned().collect()));
        let default_workspace = default.and_then(Subdomain::from_label);
        let dependencies = HttpDependencies {
            directory: Arc::new(directory),
            base_url: BaseUrl::parse("base_url", base_url).unwrap().with_default_workspace(default_workspace.clone()),
            default_workspace,
            ..dependencies()
        };
        let request = TestRequest::get().insert_header(("host", host)).to_http_request();
        resolve_base_host(&dependencies, &request).await.unwrap()
    }

    #[actix_web::test]
    async fn the_base_host_leads_to_the_only_workspace() {
        const BASE: &str = "https://roadmap.example.com";
        let only = || Some(BaseHost::OnlyWorkspace(workspace(1, "acme")));
        for host in ["roadmap.example.com", "ROADMAP.example.com.:8443"] {
            assert_eq!(resolved(BASE, None, host, &[]).await, Some(BaseHost::WithoutWorkspaces), "{host}");
            assert_eq!(resolved(BASE, None, host, &["acme"]).await, only(), "{host}");
            assert_eq!(resolved(BASE, None, host, &["acme", "beta"]).await, None, "{host}");
            assert_eq!(resolved(BASE, None, host, &["acme", "beta", "cog"]).await, None, "{host}");
        }
        // Other hosts lead nowhere.
        for host in ["nobody.roadmap.example.com", "acme.roadmap.example.com", "elsewhere.example", ""] {
            for labels in [&[][..], &["acme"], &["acme", "beta"]] {
                assert_eq!(resolved(BASE, None, host, labels).await, None, "{host}");
            }
        }
    }

    #[actix_web::test]
    async fn a_default_workspace_that_does_not_exist_changes_nothing_but_never_leads_to_itself() {
        const BASE: &str = "https://roadmap.example.com";
        let host = "roadmap.example.com";
        assert_eq!(resolved(BASE, Some("beta"), host, &[]).await, Some(BaseHost::WithoutWorkspaces));
        let only = BaseHost::OnlyWorkspace(workspace(1, "acme"));
        assert_eq!(resolved(BASE, Some("beta"), host, &["acme"]).await, Some(only));
        assert_eq!(resolved(BASE, Some("acme"), host, &["acme"]).await, None);
        // Below an address there are no workspaces.
        let address = "http://192.0.2.7:8080";
        assert_eq!(resolved(address, Some("beta"), "192.0.2.7:8080", &["acme"]).await, None);
        let empty = resolved(address, Some("beta"), "192.0.2.7:8080", &[]).await;
        assert_eq!(empty, Some(BaseHost::WithoutWorkspaces));
    }

    /// Beyond the contract.
    #[actix_web::test]
    async fn malformed_references_cause_no_lookup() {
        let junk: Vec<String> = (0..200).map(|length| "A".repeat(length)).collect();
        assert_eq!(lookups("acme.localhost", &junk).await, 0);
        // Signed with the fixture's secret, for a workspace that does not exist.
        let secret = Secret::parse("secret", &"s".repeat(Secret::MIN_LENGTH)).unwrap();
        let workspace = WorkspaceId::new(Uuid::from_u128(1));
        let signed = ReferenceSigner::new(secret, Vec::new()).sign(Purpose::Blob, workspace, Uuid::from_u128(2));
        assert_eq!(lookups("acme.localhost", std::slice::from_ref(&signed)).await, 3);
        assert_eq!(lookups("elsewhere.example", &[signed]).await, 0);
    }
}
