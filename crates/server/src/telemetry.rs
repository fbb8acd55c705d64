//! Telemetry: the log on standard error, as text or JSON, and traces, if a collector is configured.

use anyhow::Context;
use roadmap_domain::trace::TRACE_TARGET;
use tracing::Subscriber;
use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::settings::{LogFormat, Settings};
use crate::traces::Traces;

/// The running telemetry, to be shut down with the process.
pub(crate) struct Telemetry {
    traces: Option<Traces>,
}

/// Parses the setting `log`.
pub(crate) fn log_filter(settings: &Settings) -> anyhow::Result<EnvFilter> {
    EnvFilter::try_new(&settings.log)
        .with_context(|| format!("the setting log is `{}`, which is not a filter such as info", settings.log))
}

/// Starts logging, and traces if `with_traces` is set. Logs and traces never contain keys, addresses or bodies.
pub(crate) fn start(settings: &Settings, with_traces: bool) -> anyhow::Result<Telemetry> {
    let telemetry = Telemetry::new(settings, with_traces)?;
    let subscriber = subscriber(log_filter(settings)?, settings.log_format, telemetry.traces.as_ref());
    subscriber.try_init().context("logging cannot be started")?;
    Ok(telemetry)
}

fn subscriber(log: EnvFilter, format: LogFormat, traces: Option<&Traces>) -> impl Subscriber + Send + Sync + use<> {
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let layer = match format {
        LogFormat::Text => layer.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_span_list(false).boxed(),
    };
    let mut layers = vec![layer.with_filter(log.and(filter_fn(|metadata| metadata.target() != TRACE_TARGET))).boxed()];
    // Not an `Option` of a layer: `None` enables all spans, and so those of traces that nobody collects.
    layers.extend(traces.map(|traces| traces.layer().boxed()));
    tracing_subscriber::registry().with(layers)
}

impl Telemetry {
    fn new(settings: &Settings, with_traces: bool) -> anyhow::Result<Self> {
        let endpoint = settings.otlp_endpoint.as_deref().filter(|_| with_traces);
        Ok(Self { traces: endpoint.map(Traces::start).transpose()? })
    }

    /// Sends the remaining traces.
    pub(crate) async fn shut_down(self) {
        if let Some(traces) = self.traces {
            traces.shut_down().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_collector_the_spans_of_traces_are_disabled() {
        tracing::subscriber::with_default(subscriber(EnvFilter::new("info"), LogFormat::Text, None), || {
            assert!(tracing::info_span!(target: TRACE_TARGET, "traced").is_disabled());
            assert!(!tracing::info_span!("logged").is_disabled());
        });
    }
}
