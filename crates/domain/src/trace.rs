//! Traces: which spans are part of them.
//!
//! A span of a trace has OpenTelemetry's names and is sent to a collector. The log never shows it. Without a collector,
//! such spans are disabled, and cost no more than the check of that.

use tracing::Span;

/// Target of all spans of traces.
pub const TRACE_TARGET: &str = "roadmap_trace";

/// Returns the innermost span of the trace that the caller belongs to, for work in another task or thread, which enters
/// it. The span is disabled if there is no trace.
#[must_use]
pub fn current_span() -> Span {
    let current = Span::current();
    let is_traced = current.metadata().is_some_and(|metadata| metadata.target() == TRACE_TARGET);
    if is_traced { current } else { Span::none() }
}
