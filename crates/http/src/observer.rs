//! Observers of completed, unauthenticated and rejected requests, and of sign-ins.

use std::time::Duration;

use actix_web::http::{Method, StatusCode};
use roadmap_domain::model::link::Tracker;
use roadmap_domain::usecase::authenticate::Rejection;

/// A completed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletedRequest<'a> {
    /// The pattern of its path, or [`UNKNOWN_ROUTE`].
    pub route: &'a str,
    /// A standard method, or `other`.
    pub method: &'static str,
    /// The status of the response.
    pub status: StatusCode,
    /// The time from the request to the response.
    pub duration: Duration,
    /// Whether the response is an idempotent replay.
    pub replayed: bool,
}

/// The route of all unknown paths, so that clients cannot create label values.
pub const UNKNOWN_ROUTE: &str = "unknown";

/// A step of a sign-in on the pages of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInStep {
    /// A mail with a link and a code was asked for.
    Asked,
    /// The link or the code was used, and somebody is signed in.
    Redeemed,
    /// The link or the code was wrong, expired or used before.
    Refused,
}

impl SignInStep {
    /// All steps.
    pub const ALL: [Self; 3] = [Self::Asked, Self::Redeemed, Self::Refused];

    /// Returns the name that operators see.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Redeemed => "redeemed",
            Self::Refused => "refused",
        }
    }
}

/// The outcome of a call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutcome {
    /// The operation succeeded.
    Succeeded,
    /// The caller was told what to change.
    Refused,
    /// The service failed.
    Failed,
}

impl ToolOutcome {
    /// All outcomes.
    pub const ALL: [Self; 3] = [Self::Succeeded, Self::Refused, Self::Failed];

    /// Returns the name that operators see.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// What became of a report of an issue tracker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportOutcome {
    /// Something was changed.
    Applied,
    /// It says nothing about a link, or nothing new.
    Ignored,
    /// It was not proved.
    Refused,
}

impl ReportOutcome {
    /// All outcomes.
    pub const ALL: [Self; 3] = [Self::Applied, Self::Ignored, Self::Refused];

    /// Returns the name that operators see.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Ignored => "ignored",
            Self::Refused => "refused",
        }
    }
}

/// Receives the outcome of requests, for metrics. Implementations must not block.
pub trait Observer: Send + Sync {
    /// Records a completed request.
    fn request_completed(&self, request: &CompletedRequest<'_>);

    /// Records a response with 401.
    fn authentication_rejected(&self, cause: Rejection);

    /// Records a request that was rejected because this budget is exceeded.
    fn budget_exceeded(&self, budget: &'static str);

    /// Records a step of a sign-in.
    fn sign_in(&self, step: SignInStep);

    /// Records a form whose honeypot was filled in.
    fn honeypot_filled(&self);

    /// Records a call of a tool.
    fn tool_called(&self, tool: &'static str, outcome: ToolOutcome, duration: Duration);

    /// Records a report of an issue tracker. What is refused is of no tracker.
    fn report_received(&self, tracker: Option<Tracker>, outcome: ReportOutcome);

    /// Records a message of an MCP client that was answered with a protocol error.
    fn mcp_rejected(&self, cause: &'static str);
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn request_completed(&self, _: &CompletedRequest<'_>) {}

    fn authentication_rejected(&self, _: Rejection) {}

    fn budget_exceeded(&self, _: &'static str) {}

    fn sign_in(&self, _: SignInStep) {}

    fn honeypot_filled(&self) {}

    fn tool_called(&self, _: &'static str, _: ToolOutcome, _: Duration) {}

    fn report_received(&self, _: Option<Tracker>, _: ReportOutcome) {}

    fn mcp_rejected(&self, _: &'static str) {}
}

/// Returns the name of a method. All nonstandard methods share one name.
pub(crate) fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "DELETE" => "DELETE",
        "GET" => "GET",
        "HEAD" => "HEAD",
        "OPTIONS" => "OPTIONS",
        "PATCH" => "PATCH",
        "POST" => "POST",
        "PUT" => "PUT",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_methods_share_one_name() {
        for name in ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"] {
            assert_eq!(method_name(&Method::from_bytes(name.as_bytes()).unwrap()), name);
        }
        assert_eq!(method_name(&Method::from_bytes(b"BREW").unwrap()), "other");
    }
}
