//! What became of an event for a webhook: a row of the list, and the page with the body and the tries.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::id::{WebhookEventId, WebhookId, parse_uuid};
use roadmap_domain::model::webhook::{
    Attempt, AttemptError, Delivery, DeliveryDetail, DeliveryState, Failure, Webhook,
};
use roadmap_domain::usecase::change_webhooks::Redeliver;
use roadmap_domain::usecase::query::webhooks::ShowDelivery;
use roadmap_http::error::HttpError;

use super::{name_of, path_of, status_of};
use crate::admin::parts::DisplayTime;
use crate::admin::{self, Entry, missing_record_as_404, path_id};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

#[derive(Template)]
#[template(path = "admin/webhook-delivery.html")]
struct DeliveryPage {
    page: Page,
    webhook: String,
    /// The path of the page of the webhook.
    webhook_path: String,
    row: DeliveryRow,
    tries: String,
    /// What is sent. `None` if nothing is.
    body: Option<String>,
    attempts: Vec<AttemptRow>,
    is_enabled: bool,
    problems: Problems,
}

/// A delivery in the list.
pub(super) struct DeliveryRow {
    pub(super) id: String,
    pub(super) path: String,
    /// The type that is sent.
    pub(super) kind: &'static str,
    pub(super) created: DisplayTime,
    /// The key of the state in words.
    pub(super) state: &'static str,
    pub(super) has_failed: bool,
    /// When it is tried again.
    pub(super) next: Option<DisplayTime>,
    pub(super) tries: String,
    /// What the last try got, in words.
    pub(super) answer: Option<String>,
}

impl DeliveryRow {
    pub(super) fn new(t: Text, webhook: WebhookId, delivery: &Delivery) -> Self {
        let is_again = delivery.state == DeliveryState::Waiting && delivery.attempts > 0;
        Self {
            id: delivery.event.to_string(),
            path: path_of_delivery(webhook, delivery.event),
            kind: delivery.kind.name(),
            created: DisplayTime::minute(t, delivery.created_at),
            state: state_key(delivery),
            has_failed: delivery.state == DeliveryState::Failed,
            next: delivery.due_at.filter(|_| is_again).map(|at| DisplayTime::minute(t, at)),
            tries: t.number(delivery.attempts.into()),
            answer: delivery.last_attempt.as_ref().map(|attempt| answer(t, attempt)),
        }
    }
}

/// A try.
struct AttemptRow {
    at: DisplayTime,
    status: Option<u16>,
    /// The key of what went wrong.
    error: Option<&'static str>,
    duration: String,
    response: String,
}

impl AttemptRow {
    fn new(t: Text, attempt: &Attempt) -> Self {
        Self {
            at: DisplayTime::minute(t, attempt.at),
            status: attempt.status,
            error: attempt.error.map(error_key),
            duration: t.count("attempt-duration-ms", attempt.duration_ms),
            response: attempt.response.clone().unwrap_or_default(),
        }
    }
}

/// Returns the path of the page of a delivery.
fn path_of_delivery(webhook: WebhookId, event: WebhookEventId) -> String {
    format!("{}/deliveries/{event}", path_of(webhook))
}

fn state_key(delivery: &Delivery) -> &'static str {
    match (delivery.state, delivery.failure) {
        (DeliveryState::Waiting, _) => "delivery-waiting",
        (DeliveryState::Delivered, _) => "delivery-delivered",
        (DeliveryState::Failed, Some(Failure::GaveUp) | None) => "delivery-gave-up",
        (DeliveryState::Failed, Some(Failure::Blocked)) => "delivery-blocked",
        (DeliveryState::Failed, Some(Failure::Gone)) => "delivery-gone",
        (DeliveryState::Failed, Some(Failure::Disabled)) => "delivery-disabled",
        (DeliveryState::Failed, Some(Failure::Backlog)) => "delivery-backlog",
    }
}

const fn error_key(error: AttemptError) -> &'static str {
    match error {
        AttemptError::Status => "attempt-status",
        AttemptError::Timeout => "attempt-timeout",
        AttemptError::Unreachable => "attempt-unreachable",
        AttemptError::Tls => "attempt-tls",
        AttemptError::Blocked => "attempt-blocked",
    }
}

/// Returns what a try got, in words: the status, or what went wrong.
fn answer(t: Text, attempt: &Attempt) -> String {
    let error = || attempt.error.map(|error| t.get(error_key(error)).into_owned()).unwrap_or_default();
    attempt.status.map_or_else(error, |status| format!("HTTP {status}"))
}

/// Returns the IDs in the path.
///
/// # Errors
/// 404 if there are none.
fn path_ids(context: &Context) -> Result<(WebhookId, WebhookEventId), HttpError> {
    let event = parse_uuid("delivery", context.parameter("delivery")).map_err(|_| HttpError::NotFound)?;
    Ok((path_id(context, WebhookId::new)?, WebhookEventId::new(event)))
}

/// `GET /admin/webhooks/{id}/deliveries/{delivery}`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render(&context, Problems::default()).await
}

/// `POST /admin/webhooks/{id}/deliveries/{delivery}/redeliver`: delivers the event again.
pub(crate) async fn redeliver(context: Rc<Context>, fields: Fields) -> PageResult {
    let (webhook, event) = path_ids(&context)?;
    let landing = move |_| format!("{}?done=delivery-redelivered", path_of_delivery(webhook, event));
    match run_once(&context, &fields, Redeliver { webhook, event }, landing).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::WebhookDisabled))) => {
            let mut problems = Problems::default();
            problems.add("redeliver", context.text().get("webhook-enable-first"));
            render(&context, problems).await
        }
        done => missing_record_as_404(done),
    }
}

async fn render(context: &Context, problems: Problems) -> PageResult {
    let (id, event) = path_ids(context)?;
    let (webhook, detail) = context.run(&ShowDelivery { webhook: Some(id), event: Some(event) }).await?;
    let title = context.text().named("delivery-title", detail.delivery.kind.name());
    let page = admin::frame(context, Entry::Webhooks, title).await?;
    let page = Page { here: path_of_delivery(id, event), ..page.with_problem(!problems.is_empty()) };
    let (workspace, includes) = (&context.workspace, detail.delivery.includes);
    let events = &context.state.events;
    let body = events.body(&detail.event, webhook.format, includes, workspace.id, &workspace.subdomain);
    let status = status_of(&problems);
    let template = DeliveryPage::new(page, name_of(context, &webhook), &webhook, &detail, body, problems);
    Ok(Reply::page_with(status, &template))
}

impl DeliveryPage {
    fn new(
        page: Page,
        name: String,
        webhook: &Webhook,
        detail: &DeliveryDetail,
        body: Option<String>,
        problems: Problems,
    ) -> Self {
        let t = page.t;
        Self {
            webhook: name,
            webhook_path: path_of(webhook.id),
            row: DeliveryRow::new(t, webhook.id, &detail.delivery),
            tries: t.count("mail-attempts", detail.delivery.attempts),
            body,
            attempts: detail.attempts.iter().map(|attempt| AttemptRow::new(t, attempt)).collect(),
            is_enabled: webhook.enabled,
            problems,
            page,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::admin::webhooks::tests::webhook;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page};
    use roadmap_domain::model::audit::Actor;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::webhook::{Inclusion, WebhookFormat};
    use roadmap_domain::model::webhook_event::{EventDetails, EventKind, EventSnapshot, StoredEvent};
    use uuid::Uuid;

    /// A try with a response that is no text for a page.
    pub(in crate::admin::webhooks) fn attempt() -> Attempt {
        Attempt {
            at: at(0),
            status: Some(500),
            error: Some(AttemptError::Status),
            duration_ms: 1_204,
            response: Some("<script>\u{202e}</script>".to_owned()),
        }
    }

    /// A delivery: a failed one with a try, otherwise one that waits.
    pub(in crate::admin::webhooks) fn delivery(last_attempt: Option<Attempt>) -> Delivery {
        let has_failed = last_attempt.is_some();
        Delivery {
            event: WebhookEventId::new(Uuid::from_u128(if has_failed { 8 } else { 9 })),
            kind: EventKind::VoteCreated,
            includes: Inclusion::default(),
            state: if has_failed { DeliveryState::Failed } else { DeliveryState::Waiting },
            failure: has_failed.then_some(Failure::GaveUp),
            attempts: 1,
            due_at: (!has_failed).then(|| at(1)),
            created_at: at(0),
            last_attempt,
        }
    }

    fn detail(delivery: Delivery) -> DeliveryDetail {
        let event = StoredEvent {
            id: delivery.event,
            kind: delivery.kind,
            actor: Actor::service(),
            at: at(0),
            details: EventDetails::default(),
            snapshot: EventSnapshot::default(),
        };
        let unanswered = Attempt { status: None, error: Some(AttemptError::Timeout), response: None, ..attempt() };
        let answered = Attempt { status: Some(204), error: None, ..attempt() };
        DeliveryDetail { delivery, event, attempts: vec![attempt(), unanswered, answered] }
    }

    #[test]
    fn the_page_is_well_formed_and_escapes_what_came_from_elsewhere() {
        for language in Language::ALL {
            for (last, enabled) in [(Some(attempt()), true), (None, false)] {
                for body in [Some("{\"a\":\"<b>\"}".to_owned()), None] {
                    let webhook = Webhook { enabled, ..webhook(WebhookFormat::Standard) };
                    let mut problems = Problems::default();
                    problems.add("redeliver", "A sentence.");
                    let detail = detail(delivery(last.clone()));
                    let page = sample_page(language, true, "A delivery");
                    let has_body = body.is_some();
                    let page = DeliveryPage::new(page, "Sync <b>".to_owned(), &webhook, &detail, body, problems);
                    let html = page.render().unwrap();
                    assert_well_formed(&html);
                    assert!(html.contains("&#60;script&#62;") && !html.contains("<script>"), "{html}");
                    assert!(html.contains("Sync &#60;b&#62;"), "{html}");
                    assert_eq!(html.contains("{&#34;a&#34;:&#34;&#60;b&#62;&#34;}"), has_body, "{html}");
                    assert_eq!(html.contains("/redeliver\""), enabled, "{html}");
                    let empty = DeliveryDetail { attempts: Vec::new(), ..detail };
                    let page = sample_page(language, true, "A delivery");
                    let page = DeliveryPage::new(page, String::new(), &webhook, &empty, None, Problems::default());
                    assert_well_formed(&page.render().unwrap());
                }
            }
        }
    }

    #[test]
    fn states_and_answers_have_words() {
        for language in Language::ALL {
            let t = Text::utc(language);
            for failure in Failure::ALL {
                let failed = Delivery { failure: Some(failure), ..delivery(Some(attempt())) };
                let key = DeliveryRow::new(t, WebhookId::new(Uuid::nil()), &failed).state;
                assert_ne!(t.get(key), key);
            }
            for error in AttemptError::ALL {
                assert_ne!(t.get(error_key(error)), error_key(error));
            }
        }
        let t = Text::utc(Language::English);
        let row = |delivery: &Delivery| {
            let row = DeliveryRow::new(t, WebhookId::new(Uuid::nil()), delivery);
            (t.get(row.state).into_owned(), row.next.map(|at| at.words), row.answer)
        };
        let some = |text: &str| Some(text.to_owned());
        let failed = ("Failed: all tries failed".to_owned(), None, some("HTTP 500"));
        assert_eq!(row(&delivery(Some(attempt()))), failed);
        assert_eq!(row(&delivery(None)), ("Waiting".to_owned(), some("5 March 2026, 11:02"), None));
        let new = Delivery { attempts: 0, ..delivery(None) };
        assert_eq!(row(&new), ("Waiting".to_owned(), None, None));
        let unanswered = Attempt { status: None, error: Some(AttemptError::Timeout), ..attempt() };
        assert_eq!(row(&delivery(Some(unanswered))).2, some("No response in time"));
    }
}
