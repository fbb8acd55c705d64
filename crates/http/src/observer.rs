//! Who is told what becomes of calls.

use std::time::Duration;

use actix_web::http::{Method, StatusCode};
use roadmap_domain::usecase::authenticate::Rejection;

/// A call that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletedRequest<'a> {
    /// The pattern of its path, or [`UNKNOWN_ROUTE`].
    pub route: &'a str,
    /// One of the methods that there are, or `other`.
    pub method: &'static str,
    /// The answer's status.
    pub status: StatusCode,
    /// How long it took.
    pub duration: Duration,
    /// Whether the answer was given before, under the same operation key.
    pub replayed: bool,
}

/// The route of all paths that there are not: what strangers ask for does not become a name.
pub const UNKNOWN_ROUTE: &str = "unknown";

/// Is told of calls, and counts them perhaps. It must not take time.
pub trait Observer: Send + Sync {
    /// A call was answered.
    fn request_completed(&self, request: &CompletedRequest<'_>);

    /// A call was answered with 401.
    fn authentication_rejected(&self, cause: Rejection);

    /// A call was refused because this budget is used up.
    fn budget_exceeded(&self, budget: &'static str);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn request_completed(&self, _: &CompletedRequest<'_>) {}

    fn authentication_rejected(&self, _: Rejection) {}

    fn budget_exceeded(&self, _: &'static str) {}
}

/// The name of a method. Those that nobody has heard of have one between them.
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
