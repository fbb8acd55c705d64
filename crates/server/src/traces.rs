//! Traces of requests and mails, sent to a collector by OTLP over HTTP.

use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use bytes::Bytes;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SdkTracerProvider, Span, SpanData, SpanProcessor};
use roadmap_domain::error::ErrorChain;
use roadmap_domain::trace::TRACE_TARGET;
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// Time limit of a request to the collector.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends spans until it is shut down.
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// Starts to send spans to the collector at this URL.
    pub(crate) fn start(endpoint: &str) -> anyhow::Result<Self> {
        // Fails if another part of the process has installed a provider already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let failed = "traces cannot be sent";
        let client = reqwest::Client::builder().timeout(EXPORT_TIMEOUT).build().context(failed)?;
        let client = Client { client, runtime: Handle::current() };
        let endpoint = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(endpoint)
            .with_timeout(EXPORT_TIMEOUT);
        let resource = Resource::builder_empty()
            .with_service_name("roadmap")
            .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(NamesRequests(BatchSpanProcessor::builder(exporter.build().context(failed)?).build()))
            .with_resource(resource)
            .build();
        Ok(Self(provider))
    }

    /// The tracing layer that exports the spans of traces only.
    pub(crate) fn layer<S: Subscriber + for<'span> LookupSpan<'span>>(&self) -> impl Layer<S> + use<S> {
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer("roadmap"));
        let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false).with_target(false);
        layer.with_filter(filter_fn(|metadata| metadata.target() == TRACE_TARGET))
    }

    /// Sends the remaining spans and stops.
    pub(crate) async fn shut_down(self) {
        let ended = tokio::task::spawn_blocking(move || self.0.shutdown()).await;
        if !matches!(ended, Ok(Ok(()))) {
            tracing::warn!("failed to send the last traces");
        }
    }
}

/// Names spans of requests by method and route. The route is only known when the span has begun, and
/// `tracing-opentelemetry` does not change the name of such a span.
#[derive(Debug)]
struct NamesRequests(BatchSpanProcessor);

impl SpanProcessor for NamesRequests {
    fn on_start(&self, span: &mut Span, parent: &opentelemetry::Context) {
        self.0.on_start(span, parent);
    }

    fn on_end(&self, mut span: SpanData) {
        let route = span.attributes.iter().find(|attribute| attribute.key.as_str() == "http.route");
        if let Some(route) = route {
            span.name = format!("{} {}", span.name, route.value).into();
        }
        self.0.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

/// An HTTP client whose requests run on the main runtime, because the exporter's threads have none.
#[derive(Debug)]
struct Client {
    client: reqwest::Client,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move {
            let request = reqwest::Request::try_from(request)?;
            let mut received = client.execute(request).await?;
            let (status, headers) = (received.status(), std::mem::take(received.headers_mut()));
            let mut response = Response::new(received.bytes().await?);
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            Ok::<_, reqwest::Error>(response)
        });
        let response = sent.await?.inspect_err(|error| {
            tracing::warn!(error = %ErrorChain::new(error), "failed to send traces");
        })?;
        if !response.status().is_success() {
            tracing::warn!(status = response.status().as_u16(), "the collector rejected traces");
        }
        Ok(response)
    }
}
