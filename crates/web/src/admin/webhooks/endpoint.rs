//! The page of a webhook: its fields, what can be done with it, and its deliveries.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::destination::Destination;
use roadmap_domain::model::id::WebhookId;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{
    Delivery, DeliveryState, DisabledBecause, Webhook, WebhookChange, parse_description,
};
use roadmap_domain::usecase::change_webhooks::{
    DeleteWebhook, RedeliverFailed, RotateWebhookSecret, TestWebhook, UpdateWebhook, open_url, shown_url,
};
use roadmap_domain::usecase::query::webhooks::ListDeliveries;
use roadmap_http::error::HttpError;
use time::Duration;

use super::delivery::DeliveryRow;
use super::form::{RawForm, WebhookForm, check_url};
use super::secret::{self, Made};
use super::{PATH, State, find, format_name, name_of, path_of, status_of};
use crate::admin::parts::{Choice, DisplayTime};
use crate::admin::{self, Entry, missing_record_as_404, path_id};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::portal::parts::Pager;
use crate::reply::{PageResult, Reply};

/// How long the old secret signs after a rotation: the value, the time, and the keys of the label and of the sentence
/// about it.
const OVERLAPS: [(&str, Duration, &str, &str); 4] = [
    ("day", Duration::DAY, "key-overlap-day", "webhook-rotated-day"),
    ("week", Duration::WEEK, "key-overlap-week", "webhook-rotated-week"),
    ("hour", Duration::HOUR, "key-overlap-hour", "webhook-rotated-hour"),
    ("none", Duration::ZERO, "key-overlap-none", "webhook-rotated-at-once"),
];

/// The states by which deliveries are filtered, with the keys of their names.
const FILTERS: [(Option<DeliveryState>, &str); 4] = [
    (None, "deliveries-all"),
    (Some(DeliveryState::Waiting), "deliveries-waiting"),
    (Some(DeliveryState::Delivered), "deliveries-delivered"),
    (Some(DeliveryState::Failed), "deliveries-failed"),
];

/// The age of the oldest deliveries, so that all failed ones are delivered again.
const KEPT: Duration = Duration::days(30);

#[derive(Template)]
#[template(path = "admin/webhook.html")]
struct EndpointPage {
    page: Page,
    path: String,
    facts: Facts,
    /// Why the service has disabled it, with the time since which it has failed.
    trouble: Option<(&'static str, Option<DisplayTime>)>,
    form: WebhookForm,
    overlaps: Vec<Choice>,
    filters: Vec<Filter>,
    deliveries: Vec<DeliveryRow>,
    /// The path of the first page, on one after the last.
    first_page: Option<String>,
    pager: Option<Pager>,
    is_fresh: bool,
    problems: Problems,
}

/// The page that asks before a webhook is deleted.
#[derive(Template)]
#[template(path = "admin/webhook-delete.html")]
struct DeletePage {
    page: Page,
    path: String,
    name: String,
    facts: Facts,
}

/// What is known of a webhook.
struct Facts {
    /// Empty if it cannot be read.
    url: String,
    format: String,
    is_chat: bool,
    is_enabled: bool,
    state: State,
    created: DisplayTime,
    /// Until when an older secret signs, too.
    older_secret: Option<DisplayTime>,
}

impl Facts {
    fn new(page: &Page, webhook: &Webhook, url: String, now: Timestamp) -> Self {
        let t = page.t;
        Self {
            url,
            format: format_name(t, webhook.format),
            is_chat: webhook.format.is_chat(),
            is_enabled: webhook.enabled,
            state: State::new(t, webhook),
            created: DisplayTime::minute(t, webhook.created_at),
            older_secret: webhook.previous_secret_expires_at(now).map(|at| DisplayTime::minute(t, at)),
        }
    }
}

/// A link to the deliveries in a state.
struct Filter {
    path: String,
    name: &'static str,
    is_current: bool,
}

/// Returns the path of a page of deliveries.
fn list_path(id: WebhookId, state: Option<DeliveryState>, number: u64) -> String {
    let state = state.map(|state| format!("state={}", state.name()));
    let number = (number > 1).then(|| format!("page={number}"));
    let query: Vec<String> = state.into_iter().chain(number).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{}{query}#deliveries", path_of(id))
}

/// `GET /admin/webhooks/{id}`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render(&context, path_id(&context, WebhookId::new)?, None, Problems::default()).await
}

/// `POST /admin/webhooks/{id}`: saves the fields.
pub(crate) async fn save(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, id) = (context.text(), path_id(&context, WebhookId::new)?);
    let (webhook, form, mut problems) = (find(&context, id).await?, RawForm::new(&fields), Problems::default());
    let url = changed_url(&context, &webhook, &form.url, &mut problems);
    let description = problems.check(parse_description(&form.description), t);
    let events = form.check_events(&mut problems, t, webhook.format);
    let (Some(url), Some(description), Some(_)) = (url, description, events) else {
        return render(&context, id, Some(form), problems).await;
    };
    let change = WebhookChange {
        description: Some(description),
        events: Some(form.ticked()),
        include_private: Some(form.private),
        include_emails: Some(form.emails),
        enabled: None,
    };
    let sealer = context.state.sealer.clone();
    let operation = UpdateWebhook { webhook: id, url, format: None, change, sealer };
    let landing = move |_| format!("{}?done=webhook-saved", path_of(id));
    missing_record_as_404(run_once(&context, &fields, operation, landing).await)
}

/// Validates the URL of a form. The inner `None` leaves it as it is: that of a chat service, which the form does not
/// show, if nothing was typed, and that of others also if it could not be chosen any more.
fn changed_url(
    context: &Context,
    webhook: &Webhook,
    typed: &str,
    problems: &mut Problems,
) -> Option<Option<Destination>> {
    let is_kept = webhook.format.is_chat() && typed.is_empty();
    let stored = || open_url(&context.state.sealer, context.workspace.id, webhook);
    if is_kept || stored().is_some_and(|stored| stored.as_str() == typed) {
        return Some(None);
    }
    check_url(problems, context.text(), typed, &context.state.destinations).map(Some)
}

/// `POST /admin/webhooks/{id}/test`: sends a test event.
pub(crate) async fn test(context: Rc<Context>, fields: Fields) -> PageResult {
    let id = path_id(&context, WebhookId::new)?;
    let landing = move |_| format!("{}?done=webhook-tested", path_of(id));
    missing_record_as_404(run_once(&context, &fields, TestWebhook { webhook: id }, landing).await)
}

/// `POST /admin/webhooks/{id}/rotate`: makes a new secret and shows it.
pub(crate) async fn rotate(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, id) = (context.text(), path_id(&context, WebhookId::new)?);
    let overlap = OVERLAPS.into_iter().find(|(value, ..)| *value == fields.get("overlap"));
    let Some((_, overlap, _, sentence)) = overlap else {
        return refused(&context, id, "overlap", "webhook-overlap-missing").await;
    };
    let operation = RotateWebhookSecret { webhook: id, overlap, sealer: context.state.sealer.clone() };
    match secret::run(&context, &fields, operation).await {
        Err(error) => missing_record_as_404(Err(error)),
        Ok(Made::Secret(id, secret)) => {
            let overlap = Some(t.get(sentence).into_owned());
            secret::show(&context, id, &secret, "webhook-rotated-notice", overlap).await
        }
        Ok(Made::NoSecret(id) | Made::Before(id)) => {
            Ok(Reply::see_other(format!("{}?done=webhook-rotated-before", path_of(id))))
        }
    }
}

/// `POST /admin/webhooks/{id}/enable`.
pub(crate) async fn enable(context: Rc<Context>, fields: Fields) -> PageResult {
    set_enabled(&context, &fields, true).await
}

/// `POST /admin/webhooks/{id}/disable`.
pub(crate) async fn disable(context: Rc<Context>, fields: Fields) -> PageResult {
    set_enabled(&context, &fields, false).await
}

async fn set_enabled(context: &Context, fields: &Fields, enabled: bool) -> PageResult {
    let id = path_id(context, WebhookId::new)?;
    let change = WebhookChange { enabled: Some(enabled), ..WebhookChange::default() };
    let sealer = context.state.sealer.clone();
    let operation = UpdateWebhook { webhook: id, url: None, format: None, change, sealer };
    let done = if enabled { "webhook-enabled" } else { "webhook-disabled" };
    let landing = move |_| format!("{}?done={done}", path_of(id));
    missing_record_as_404(run_once(context, fields, operation, landing).await)
}

/// `POST /admin/webhooks/{id}/redeliver`: delivers all events again whose delivery has failed.
pub(crate) async fn redeliver_failed(context: Rc<Context>, fields: Fields) -> PageResult {
    let id = path_id(&context, WebhookId::new)?;
    let since = context.state.http.clock.now().plus(-KEPT);
    let landing = move |count: u64| match count {
        0 => format!("{}?done=webhook-none-failed", path_of(id)),
        count => format!("{}?done=webhook-redelivered&count={count}", path_of(id)),
    };
    match run_once(&context, &fields, RedeliverFailed { webhook: id, since }, landing).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::WebhookDisabled))) => {
            refused(&context, id, "redeliver", "webhook-enable-first").await
        }
        done => missing_record_as_404(done),
    }
}

/// `GET /admin/webhooks/{id}/delete`: asks.
pub(crate) async fn ask_delete(context: Rc<Context>) -> PageResult {
    let id = path_id(&context, WebhookId::new)?;
    let webhook = find(&context, id).await?;
    let name = name_of(&context, &webhook);
    let title = context.text().named("webhook-delete-title", &name);
    let page = admin::frame(&context, Entry::Webhooks, title).await?;
    let url = shown_url(&context.state.sealer, context.workspace.id, &webhook);
    let facts = Facts::new(&page, &webhook, url, context.state.http.clock.now());
    Ok(Reply::page(&DeletePage { page, path: path_of(id), name, facts }))
}

/// `POST /admin/webhooks/{id}/delete`.
pub(crate) async fn delete(context: Rc<Context>, fields: Fields) -> PageResult {
    let webhook = path_id(&context, WebhookId::new)?;
    let landing = |_| format!("{PATH}?done=webhook-deleted");
    missing_record_as_404(run_once(&context, &fields, DeleteWebhook { webhook }, landing).await)
}

/// Shows the page with a problem of one of its forms.
async fn refused(context: &Context, id: WebhookId, field: &str, key: &str) -> PageResult {
    let mut problems = Problems::default();
    problems.add(field, context.text().get(key));
    render(context, id, None, problems).await
}

/// Shows the page, with what was typed.
///
/// # Errors
/// 404 if there is no such webhook.
async fn render(context: &Context, id: WebhookId, typed: Option<RawForm>, problems: Problems) -> PageResult {
    let webhook = find(context, id).await?;
    let state = DeliveryState::parse_filter(Some(context.query.get("state"))).unwrap_or_default();
    let request = PageRequest::parse(Some(context.query.get("page")), None).unwrap_or_default();
    let listing = context.run(&ListDeliveries { webhook: Some(id), state, page: request }).await?;
    let page = admin::frame(context, Entry::Webhooks, name_of(context, &webhook)).await?;
    let page = Page { here: path_of(id), ..page.with_problem(!problems.is_empty()) };
    let status = status_of(&problems);
    let url = shown_url(&context.state.sealer, context.workspace.id, &webhook);
    let form = typed.unwrap_or_else(|| {
        // The URL of a chat service is a credential, which is not shown again.
        let shown = if webhook.format.is_chat() { String::new() } else { url.clone() };
        RawForm::of(&webhook, shown)
    });
    let facts = Facts::new(&page, &webhook, url, context.state.http.clock.now());
    let (deliveries, is_fresh) = (Deliveries { state, listing: &listing }, context.has_fresh_sign_in());
    Ok(Reply::page_with(status, &EndpointPage::new(page, &webhook, facts, &form, &deliveries, is_fresh, problems)))
}

/// The deliveries that a page lists.
struct Deliveries<'a> {
    state: Option<DeliveryState>,
    listing: &'a Listing<Delivery>,
}

impl EndpointPage {
    fn new(
        page: Page,
        webhook: &Webhook,
        facts: Facts,
        form: &RawForm,
        deliveries: &Deliveries<'_>,
        is_fresh: bool,
        problems: Problems,
    ) -> Self {
        let (t, id, current, listing) = (page.t, webhook.id, deliveries.state, deliveries.listing);
        let failing = webhook.failing_since.map(|at| DisplayTime::minute(t, at));
        let trouble = match webhook.disabled_because.filter(|_| !webhook.enabled) {
            Some(DisabledBecause::Gone) => Some(("webhook-gone-notice", None)),
            Some(DisabledBecause::Failing) => Some(("webhook-failing-notice", failing)),
            Some(DisabledBecause::Operator) | None => None,
        };
        let filter = |(state, name): (Option<DeliveryState>, &'static str)| Filter {
            path: list_path(id, state, 1),
            name,
            is_current: state == current,
        };
        let is_past_end = listing.request.page() > 1 && listing.items.is_empty();
        Self {
            path: path_of(id),
            facts,
            trouble,
            form: WebhookForm::new(form, Some(webhook.format)),
            overlaps: OVERLAPS.map(|(value, _, key, _)| Choice::new(value, t.get(key), "day")).to_vec(),
            filters: FILTERS.into_iter().map(filter).collect(),
            deliveries: listing.items.iter().map(|delivery| DeliveryRow::new(t, id, delivery)).collect(),
            first_page: is_past_end.then(|| list_path(id, current, 1)),
            pager: Pager::new(t, listing, u64::MAX, |number| list_path(id, current, number)),
            is_fresh,
            problems,
            page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::webhooks::delivery::tests::{attempt, delivery};
    use crate::admin::webhooks::tests::webhook;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page};
    use crate::text::Text;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::webhook::{SealedSecret, WebhookFormat};
    use roadmap_domain::usecase::change_webhooks::MAX_OVERLAP;

    fn page_of(language: Language, webhook: &Webhook, is_fresh: bool, items: Vec<Delivery>, fails: bool) -> String {
        let mut problems = Problems::default();
        for field in ["url", "description", "events", "overlap", "redeliver"].into_iter().filter(|_| fails) {
            problems.add(field, "A sentence.");
        }
        let page = sample_page(language, true, "Sync <b>");
        let facts = Facts::new(&page, webhook, "https://a.example/?<u>".to_owned(), at(0));
        let form = RawForm::of(webhook, "https://a.example/?<u>".to_owned());
        let total = if items.is_empty() { 0 } else { 60 };
        let listing = Listing { items, request: PageRequest::default(), total };
        let deliveries = Deliveries { state: Some(DeliveryState::Failed), listing: &listing };
        EndpointPage::new(page, webhook, facts, &form, &deliveries, is_fresh, problems).render().unwrap()
    }

    #[test]
    fn the_pages_are_well_formed_and_escape_texts() {
        let secret = |expires_at| SealedSecret { sealed: String::new(), expires_at };
        for language in Language::ALL {
            let t = Text::utc(language);
            for format in WebhookFormat::ALL {
                for because in [None, Some(DisabledBecause::Operator), Some(DisabledBecause::Failing)] {
                    let secrets = vec![secret(None), secret(Some(at(1).millis()))];
                    let failing_since = because.map(|_| at(0));
                    let enabled = because.is_none();
                    let webhook =
                        Webhook { enabled, disabled_because: because, failing_since, secrets, ..webhook(format) };
                    for (is_fresh, fails) in [(true, true), (true, false), (false, false)] {
                        let items = vec![delivery(Some(attempt())), delivery(None)];
                        let html = page_of(language, &webhook, is_fresh, items, fails);
                        assert_well_formed(&html);
                        assert!(html.contains("?&#60;u&#62;") && !html.contains("<u>"), "{html}");
                        assert_eq!(html.contains("value=\"Sync &#60;b&#62;\""), is_fresh);
                        let can_rotate = is_fresh && format == WebhookFormat::Standard;
                        assert_eq!(html.contains("name=\"overlap\""), can_rotate);
                        let is_told = html.contains(&*t.get("webhook-failing-notice"));
                        assert_eq!(is_told, because == Some(DisabledBecause::Failing), "{html}");
                        assert!(html.contains("?state=failed&#38;page=2#deliveries"), "{html}");
                    }
                    assert_well_formed(&page_of(language, &webhook, true, Vec::new(), false));
                    let page = sample_page(language, true, "Delete");
                    let facts = Facts::new(&page, &webhook, String::new(), at(0));
                    let (path, name) = (path_of(webhook.id), "Sync <b>".to_owned());
                    let html = DeletePage { page, path, name, facts }.render().unwrap();
                    assert_well_formed(&html);
                    assert!(html.contains(&*t.get("webhook-unreadable")), "{html}");
                }
            }
        }
    }

    #[test]
    fn no_overlap_is_longer_than_allowed() {
        assert!(OVERLAPS.iter().all(|(_, overlap, ..)| *overlap <= MAX_OVERLAP));
    }

    #[test]
    fn paths_keep_the_filter() {
        let id = webhook(WebhookFormat::Standard).id;
        for (state, number, query) in [
            (None, 1, ""),
            (None, 2, "?page=2"),
            (Some(DeliveryState::Waiting), 1, "?state=waiting"),
            (Some(DeliveryState::Failed), 3, "?state=failed&page=3"),
        ] {
            assert_eq!(list_path(id, state, number), format!("{PATH}/{id}{query}#deliveries"));
        }
    }
}
