//! `GET /overview`.

use actix_web::{HttpResponse, web};
use roadmap_domain::error::{FieldError, FieldProblem, Validated};
use roadmap_domain::model::admin::Period;

use crate::error::ApiError;
use crate::extractors::ReadRequest;
use crate::openapi::failures::{CommonErrors, QueryErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// Show the overview of a workspace
///
/// What happened in a period and before it, and what the team should look at. Private feature requests are included. It
/// is up to a minute old.
#[utoipa::path(
    get,
    path = "/api/external/v1/overview",
    operation_id = "showOverview",
    tag = "Feature requests",
    params(described::OverviewParameters),
    responses(
        (status = 200, description = "The overview.", body = wire::overview::Response),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn show(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let period = period(input.query.get("days")?)?;
    let overview = state.overviews.show(&state.queries, input.workspace, period).await?;
    Ok(wire::ok(&wire::overview::response(&overview, &input.links)))
}

/// Parses the parameter `days`. Absent or blank means the default.
fn period(raw: Option<&str>) -> Validated<Period> {
    let raw = raw.unwrap_or_default().trim();
    if raw.is_empty() {
        return Ok(Period::default());
    }
    let known = Period::ALL.into_iter().find(|period| period.days().to_string() == raw);
    known.ok_or_else(|| FieldError::new("days", FieldProblem::Malformed { expected: "one of 7, 30, 365" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addition 8.
    #[test]
    fn a_period_is_one_of_three_and_a_week_by_default() {
        for (raw, expected) in [
            (None, Period::Week),
            (Some(""), Period::Week),
            (Some(" "), Period::Week),
            (Some("7"), Period::Week),
            (Some(" 30 "), Period::Month),
            (Some("365"), Period::Year),
        ] {
            assert_eq!(period(raw), Ok(expected), "{raw:?}");
        }
        for raw in ["0", "1", "07", "7.0", "+7", "-7", "week", "7,30"] {
            assert_eq!(period(Some(raw)).unwrap_err().to_string(), "days is not one of 7, 30, 365", "{raw}");
        }
        let all = Period::ALL.map(|period| period.days().to_string());
        assert_eq!(all.join(", "), "7, 30, 365");
    }
}
