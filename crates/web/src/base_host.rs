//! The base host, while no workspace is served there: its pages lead to the only workspace of the installation, or say how
//! to create the first one. With several workspaces, it has no pages.

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use roadmap_domain::policy::links::Links;
use roadmap_http::error::HttpError;
use roadmap_http::workspace::{BaseHost, resolve_base_host};

use crate::context::path_and_query;
use crate::problem;
use crate::reply::Reply;
use crate::state::State;

/// Returns the response to a request for a page that failed before its workspace was known.
pub(crate) async fn respond(state: &State, request: &HttpRequest, error: &HttpError) -> HttpResponse {
    if !matches!(error, HttpError::NotFound) {
        return problem::without_workspace(request, error);
    }
    match resolve_base_host(&state.http, request).await {
        Ok(Some(BaseHost::WithoutWorkspaces)) => problem::no_workspace(request),
        Ok(Some(BaseHost::OnlyWorkspace(only))) if matches!(*request.method(), Method::GET | Method::HEAD) => {
            let http = &state.http;
            let links = Links::new(&http.base_url, &only.subdomain, only.id, http.references.clone());
            // Not for ever: there may be a second workspace tomorrow.
            Reply::found(links.page(path_and_query(request))).into_response(request, &state.cache, None)
        }
        Ok(_) => problem::without_workspace(request, error),
        Err(error) => problem::without_workspace(request, &error),
    }
}
