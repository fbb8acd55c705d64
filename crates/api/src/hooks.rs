//! `POST /hooks/{id}`: the reports of issue trackers. They have no key, but a proof.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::model::id::LinkSourceId;
use roadmap_domain::usecase::receive_report::{ReportApplied, ReportError};
use roadmap_http::body::JSON_LIMIT;
use roadmap_http::observer::ReportOutcome;
use roadmap_http::request_id::id_of;
use roadmap_http::workspace::workspace_of_host;

use crate::error::ApiError;
use crate::extractors::{check_json_content_type, record_id};
use crate::state::State;
use crate::wire;

/// Applies a report. Everything that is not proved has the same response, also at a host without a workspace.
pub(crate) async fn receive(
    state: web::Data<State>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    check_json_content_type(&request)?;
    let workspace = match workspace_of_host(&state.http, &request).await {
        Ok(workspace) => workspace,
        Err(ApiError::NotFound) => return Err(refused(&state)),
        Err(error) => return Err(error),
    };
    let Some(source) = record_id(&request, LinkSourceId::new) else { return Err(refused(&state)) };
    let known = state.reports.find(workspace.id, source).await.map_err(|error| failed(&state, error))?;
    // Only now: the body of a request to anything else occupies no memory.
    let (body, _memory) = state.http.bodies.read_body(&mut payload.into_inner(), JSON_LIMIT).await?;
    let proof = request.headers().get(known.proof_header()).map(|value| value.as_bytes().to_vec()).unwrap_or_default();
    let (reports, request_id, tracker) = (state.reports.clone(), id_of(&request), known.tracker());
    let run = async move { reports.receive(&known, &proof, &body, request_id).await };
    let applied = state.http.detached.run(run).await?.map_err(|error| failed(&state, error))?;
    let is_nothing = applied == ReportApplied::default();
    let outcome = if is_nothing { ReportOutcome::Ignored } else { ReportOutcome::Applied };
    state.http.observer.report_received(Some(tracker), outcome);
    Ok(wire::ok(&wire::link_source::applied(applied)))
}

fn failed(state: &State, error: ReportError) -> ApiError {
    match error {
        ReportError::NotProved => refused(state),
        ReportError::NotJson => ApiError::MalformedBody,
        ReportError::Failed(error) => error.into(),
    }
}

fn refused(state: &State) -> ApiError {
    state.http.observer.report_received(None, ReportOutcome::Refused);
    ApiError::NotProved
}
