//! Metrics for Prometheus: HTTP requests, the status of connections and of the outbox, on a separate listener.
//!
//! `docs/operations.md` lists all metrics; a test checks that the list is complete.
//!
//! Invariant: no label has a value from a client or the name of a workspace. All counts are totals of all workspaces.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use actix_web::{App, HttpResponse, HttpServer, web};
use anyhow::Context;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use roadmap_domain::error::{Budget, ErrorChain, MailBudget};
use roadmap_domain::model::link::Tracker;
use roadmap_domain::model::mail::OutboxDepth;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{AttemptError, WebhookDepth};
use roadmap_domain::ports::{AttemptObserver, Clock, ConnectionPools, OutboxQueue, PoolStatus, WebhookQueue};
use roadmap_domain::usecase::authenticate::Rejection;
use roadmap_http::detached::DetachedTasks;
use roadmap_http::error::{BODY_MEMORY, MARKUP_THREADS, WORKSPACE_SIGN_INS};
use roadmap_http::observer::{CompletedRequest, Observer, ReportOutcome, SignInStep, ToolOutcome};

/// The media type of the response (OpenMetrics 1.0).
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of the duration buckets in seconds: from a read in memory to the longest wait for an operation lock.
const BUCKETS: [f64; 14] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
    method: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CauseLabels {
    cause: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BudgetLabels {
    budget: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StepLabels {
    step: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ToolLabels {
    tool: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ToolCallLabels {
    tool: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReportLabels {
    kind: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PoolLabels {
    pool: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PoolStateLabels {
    pool: &'static str,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

impl OutcomeLabels {
    fn new(error: Option<AttemptError>) -> Self {
        Self { outcome: error.map_or("delivered", AttemptError::name) }
    }
}

/// Counters that are updated while requests are served.
pub(crate) struct Metrics {
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram>,
    replays: Counter,
    rejections: Family<CauseLabels, Counter>,
    budget_refusals: Family<BudgetLabels, Counter>,
    sign_ins: Family<StepLabels, Counter>,
    honeypots: Counter,
    tool_calls: Family<ToolCallLabels, Counter>,
    tool_durations: Family<ToolLabels, Histogram>,
    mcp_rejections: Family<CauseLabels, Counter>,
    link_reports: Family<ReportLabels, Counter>,
    webhook_attempts: Family<OutcomeLabels, Counter>,
    webhook_durations: Histogram,
    registry: Registry,
}

impl Metrics {
    /// Creates the counters of a process that started at this time.
    pub(crate) fn new(started: Timestamp) -> Self {
        let requests = Family::<RequestLabels, Counter>::default();
        let durations = Family::<RouteLabels, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS));
        let replays = Counter::default();
        let rejections = Family::<CauseLabels, Counter>::default();
        for cause in Rejection::ALL {
            drop(rejections.get_or_create(&CauseLabels { cause: cause.name() }));
        }
        let budget_refusals = Family::<BudgetLabels, Counter>::default();
        let budgets = Budget::ALL.map(Budget::name).into_iter().chain(MailBudget::ALL.map(MailBudget::name));
        for budget in budgets.chain([BODY_MEMORY, MARKUP_THREADS, WORKSPACE_SIGN_INS]) {
            drop(budget_refusals.get_or_create(&BudgetLabels { budget }));
        }
        let sign_ins = Family::<StepLabels, Counter>::default();
        for step in SignInStep::ALL {
            drop(sign_ins.get_or_create(&StepLabels { step: step.name() }));
        }
        let honeypots = Counter::default();
        let tool_calls = Family::<ToolCallLabels, Counter>::default();
        let tool_durations = Family::<ToolLabels, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS));
        let mcp_rejections = Family::<CauseLabels, Counter>::default();
        let link_reports = Family::<ReportLabels, Counter>::default();
        for outcome in ReportOutcome::ALL {
            let kinds = Tracker::ALL.map(Tracker::name).into_iter();
            // What is refused is of no known kind.
            let kinds: Vec<_> = if outcome == ReportOutcome::Refused { vec!["unknown"] } else { kinds.collect() };
            for kind in kinds {
                drop(link_reports.get_or_create(&ReportLabels { kind, outcome: outcome.name() }));
            }
        }
        let start = Gauge::<f64, AtomicU64>::default();
        start.set(seconds(started.millis()));
        let mut registry = Registry::default();
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("roadmap_build", "Version of the service", build);
        registry.register_with_unit(
            "process_start_time",
            "Start time of the process since the Unix epoch",
            Unit::Seconds,
            start,
        );
        registry.register("roadmap_http_requests", "Completed HTTP requests", requests.clone());
        registry.register_with_unit(
            "roadmap_http_request_duration",
            "Duration of HTTP requests",
            Unit::Seconds,
            durations.clone(),
        );
        let help = "Requests that replayed the saved response of their operation key";
        registry.register("roadmap_operation_replays", help, replays.clone());
        registry.register("roadmap_rejected_keys", "Requests rejected with 401, by cause", rejections.clone());
        let help = "Requests rejected because a budget was used up";
        registry.register("roadmap_budget_refusals", help, budget_refusals.clone());
        registry.register("roadmap_sign_ins", "Sign-ins on the pages, by step", sign_ins.clone());
        registry.register("roadmap_honeypot_fills", "Forms whose honeypot was filled in", honeypots.clone());
        registry.register("roadmap_mcp_calls", "Calls of tools by MCP clients, by outcome", tool_calls.clone());
        let help = "Duration of calls of tools";
        registry.register_with_unit("roadmap_mcp_call_duration", help, Unit::Seconds, tool_durations.clone());
        let help = "Messages of MCP clients that were answered with a protocol error, by cause";
        registry.register("roadmap_mcp_rejected", help, mcp_rejections.clone());
        let help = "Reports of issue trackers, by the kind of the link source and by outcome";
        registry.register("roadmap_link_reports", help, link_reports.clone());
        let webhook_attempts = Family::<OutcomeLabels, Counter>::default();
        for error in std::iter::once(None).chain(AttemptError::ALL.map(Some)) {
            drop(webhook_attempts.get_or_create(&OutcomeLabels::new(error)));
        }
        let webhook_durations = Histogram::new(BUCKETS);
        let help = "Tries to send events to webhooks, by outcome";
        registry.register("roadmap_webhook_attempts", help, webhook_attempts.clone());
        let help = "Duration of tries to send events to webhooks";
        registry.register_with_unit("roadmap_webhook_attempt_duration", help, Unit::Seconds, webhook_durations.clone());
        Self {
            requests,
            durations,
            replays,
            rejections,
            budget_refusals,
            sign_ins,
            honeypots,
            tool_calls,
            tool_durations,
            mcp_rejections,
            link_reports,
            webhook_attempts,
            webhook_durations,
            registry,
        }
    }
}

impl Observer for Metrics {
    fn request_completed(&self, request: &CompletedRequest<'_>) {
        let (route, method) = (request.route.to_owned(), request.method);
        let labels = RouteLabels { route: route.clone(), method };
        self.durations.get_or_create(&labels).observe(request.duration.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { route, method, status: request.status.as_u16() }).inc();
        if request.replayed {
            self.replays.inc();
        }
    }

    fn authentication_rejected(&self, cause: Rejection) {
        self.rejections.get_or_create(&CauseLabels { cause: cause.name() }).inc();
    }

    fn budget_exceeded(&self, budget: &'static str) {
        self.budget_refusals.get_or_create(&BudgetLabels { budget }).inc();
    }

    fn sign_in(&self, step: SignInStep) {
        self.sign_ins.get_or_create(&StepLabels { step: step.name() }).inc();
    }

    fn honeypot_filled(&self) {
        self.honeypots.inc();
    }

    fn tool_called(&self, tool: &'static str, outcome: ToolOutcome, duration: Duration) {
        self.tool_calls.get_or_create(&ToolCallLabels { tool, outcome: outcome.name() }).inc();
        self.tool_durations.get_or_create(&ToolLabels { tool }).observe(duration.as_secs_f64());
    }

    fn report_received(&self, tracker: Option<Tracker>, outcome: ReportOutcome) {
        let (kind, outcome) = (tracker.map_or("unknown", Tracker::name), outcome.name());
        self.link_reports.get_or_create(&ReportLabels { kind, outcome }).inc();
    }

    fn mcp_rejected(&self, cause: &'static str) {
        self.mcp_rejections.get_or_create(&CauseLabels { cause }).inc();
    }
}

impl AttemptObserver for Metrics {
    fn attempted(&self, error: Option<AttemptError>, duration: Duration) {
        self.webhook_attempts.get_or_create(&OutcomeLabels::new(error)).inc();
        self.webhook_durations.observe(duration.as_secs_f64());
    }
}

/// Sources of the gauges, which are read for each scrape.
pub(crate) struct Sources {
    pub(crate) connections: Vec<Arc<dyn ConnectionPools>>,
    pub(crate) queue: Arc<dyn OutboxQueue>,
    pub(crate) webhooks: Arc<dyn WebhookQueue>,
    /// Writes, which continue when their client disconnects.
    pub(crate) detached: DetachedTasks,
    /// The clock, for the age of mail.
    pub(crate) clock: Arc<dyn Clock>,
    /// The number of feature requests that must be indexed again.
    pub(crate) outdated_documents: Arc<AtomicU64>,
}

impl Sources {
    /// Reads all gauges. A gauge that cannot be read is omitted, because an outdated value would mislead.
    async fn collect(&self) -> Registry {
        let mut registry = Registry::default();
        let in_flight = Gauge::<i64>::default();
        in_flight.set(gauge_value(self.detached.in_flight()));
        registry.register("roadmap_detached_writes", "Writes in progress", in_flight);
        register_connections(&mut registry, self.connections.iter().flat_map(|source| source.pools()));
        let outdated = Gauge::<i64>::default();
        outdated.set(self.outdated_documents.load(Ordering::Relaxed).cast_signed());
        let help = "Feature requests that are indexed by an earlier version and must be indexed again";
        registry.register("roadmap_search_outdated_documents", help, outdated);
        let now = self.clock.now();
        match self.queue.depth(now).await {
            Ok(depth) => register_outbox(&mut registry, &depth, now),
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to count the outbox for the metrics")
            }
        }
        match self.webhooks.depth(now).await {
            Ok(depth) => register_webhooks(&mut registry, &depth, now),
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to count deliveries for the metrics")
            }
        }
        registry
    }
}

fn register_webhooks(registry: &mut Registry, depth: &WebhookDepth, now: Timestamp) {
    let gauges = |states: &[(&'static str, u64)]| {
        let family = Family::<StateLabels, Gauge>::default();
        for (state, number) in states {
            family.get_or_create(&StateLabels { state }).set(number.cast_signed());
        }
        family
    };
    let deliveries = gauges(&[
        ("due", depth.due),
        ("leased", depth.leased),
        ("postponed", depth.postponed),
        ("failed", depth.failed),
    ]);
    registry.register("roadmap_webhook_deliveries", "Deliveries to webhooks that wait or have failed", deliveries);
    let endpoints = gauges(&[("enabled", depth.enabled), ("disabled", depth.disabled)]);
    registry.register("roadmap_webhook_endpoints", "Webhooks, by state", endpoints);
    let age = Gauge::<f64, AtomicU64>::default();
    age.set(depth.oldest_due_at.map_or(0.0, |due| seconds(now.millis() - due.millis()).max(0.0)));
    let help = "Time since the oldest delivery became due; 0 when none is due";
    registry.register_with_unit("roadmap_webhook_oldest_due_age", help, Unit::Seconds, age);
}

fn register_connections(registry: &mut Registry, pools: impl Iterator<Item = PoolStatus>) {
    let limits = Family::<PoolLabels, Gauge>::default();
    let connections = Family::<PoolStateLabels, Gauge>::default();
    let waiting = Family::<PoolLabels, Gauge>::default();
    for PoolStatus { name: pool, limit, open, in_use, waiting: waits } in pools {
        limits.get_or_create(&PoolLabels { pool }).inc_by(gauge_value(limit));
        let idle = open.saturating_sub(in_use);
        for (state, connected) in [("in_use", in_use), ("idle", idle)] {
            connections.get_or_create(&PoolStateLabels { pool, state }).inc_by(gauge_value(connected));
        }
        waiting.get_or_create(&PoolLabels { pool }).inc_by(gauge_value(waits));
    }
    registry.register("roadmap_store_connections", "Connections to the database", connections);
    registry.register("roadmap_store_connections_limit", "Maximum number of connections to the database", limits);
    registry.register("roadmap_store_connections_waiting", "Requests that wait for a connection", waiting);
}

fn register_outbox(registry: &mut Registry, depth: &OutboxDepth, now: Timestamp) {
    let mails = Family::<StateLabels, Gauge>::default();
    let states = [("due", depth.due), ("leased", depth.leased), ("postponed", depth.postponed), ("dead", depth.dead)];
    for (state, number) in states {
        mails.get_or_create(&StateLabels { state }).set(number.cast_signed());
    }
    let audiences = Gauge::<i64>::default();
    audiences.set(depth.audiences.cast_signed());
    let age = Gauge::<f64, AtomicU64>::default();
    age.set(depth.oldest_due.map_or(0.0, |due| seconds(now.millis() - due.millis()).max(0.0)));
    registry.register("roadmap_outbox_mails", "Mails that are not sent, by state", mails);
    registry.register(
        "roadmap_outbox_audiences",
        "Comments, status changes and changelogs whose mails are not expanded completely",
        audiences,
    );
    let help = "Time since the oldest mail became due; 0 when none is due";
    registry.register_with_unit("roadmap_outbox_oldest_due_age", help, Unit::Seconds, age);
}

fn gauge_value(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn seconds(millis: i64) -> f64 {
    Duration::from_millis(millis.unsigned_abs()).as_secs_f64() * if millis < 0 { -1.0 } else { 1.0 }
}

/// The HTTP server for metrics.
pub(crate) struct MetricsServer {
    handle: ServerHandle,
    pub(crate) url: String,
}

impl MetricsServer {
    /// Starts to serve the metrics, and nothing else, at this address.
    pub(crate) fn start(address: &str, metrics: Arc<Metrics>, sources: Sources) -> anyhow::Result<Self> {
        let failed = || format!("cannot listen on {address} for metrics");
        let listener = TcpListener::bind(address).with_context(failed)?;
        let url = format!("http://{}/metrics", listener.local_addr()?);
        let sources = Arc::new(sources);
        let server: Server = HttpServer::new(move || {
            let state = web::Data::new((metrics.clone(), sources.clone()));
            App::new().app_data(state).route("/metrics", web::get().to(serve_metrics))
        })
        .workers(1)
        .disable_signals()
        .shutdown_timeout(1)
        .listen(listener)
        .with_context(failed)?
        .run();
        let handle = server.handle();
        tokio::spawn(server);
        Ok(Self { handle, url })
    }

    /// Stops the server.
    pub(crate) async fn stop(self) {
        self.handle.stop(true).await;
    }
}

async fn serve_metrics(state: web::Data<(Arc<Metrics>, Arc<Sources>)>) -> HttpResponse {
    let (metrics, sources) = &**state;
    let collected = sources.collect().await;
    match encode(&[&metrics.registry, &collected]) {
        Ok(text) => HttpResponse::Ok().content_type(CONTENT_TYPE).body(text),
        Err(error) => {
            tracing::error!(error = %ErrorChain::new(&error), "failed to encode the metrics");
            HttpResponse::InternalServerError().finish()
        }
    }
}

fn encode(registries: &[&Registry]) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for registry in registries {
        encode_registry(&mut text, registry)?;
    }
    encode_eof(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_ins_are_counted_by_step() {
        let metrics = Metrics::new(Timestamp::from_millis(0).unwrap());
        for step in [SignInStep::Asked, SignInStep::Refused, SignInStep::Asked] {
            metrics.sign_in(step);
        }
        let text = encode(&[&metrics.registry]).unwrap();
        let mut counts: Vec<&str> = text.lines().filter(|line| line.starts_with("roadmap_sign_ins_total")).collect();
        counts.sort_unstable();
        let expected = [
            "roadmap_sign_ins_total{step=\"asked\"} 2",
            "roadmap_sign_ins_total{step=\"redeemed\"} 0",
            "roadmap_sign_ins_total{step=\"refused\"} 1",
        ];
        assert_eq!(counts, expected);
    }
}
