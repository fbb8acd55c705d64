//! Webhooks: where events are sent, and what became of each. The secret of one is on one page, once.

mod delivery;
mod endpoint;
mod form;
mod secret;

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::id::WebhookId;
use roadmap_domain::model::webhook::{DisabledBecause, Inclusion, Webhook, WebhookFormat, parse_description};
use roadmap_domain::usecase::change_webhooks::{CreateWebhook, WebhookDraft, shown_host, shown_url};
use roadmap_domain::usecase::query::webhooks::{ListWebhooks, ShowWebhook};
use roadmap_http::error::HttpError;

use self::form::{RawForm, WebhookForm, check_url};
use self::secret::Made;
use crate::admin::parts::{Choice, DisplayTime};
use crate::admin::{self, Entry};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

pub(crate) use delivery::{redeliver, show as show_delivery};
pub(crate) use endpoint::{
    ask_delete, delete, disable, enable, redeliver_failed, rotate, save, show as show_endpoint, test,
};

/// The path of the list.
const PATH: &str = "/admin/webhooks";

/// Returns the path of the page of a webhook.
fn path_of(id: WebhookId) -> String {
    format!("{PATH}/{id}")
}

/// Returns the name of a format in words. Chat services are called what they call themselves.
fn format_name(t: Text, format: WebhookFormat) -> String {
    match format {
        WebhookFormat::Standard => t.get("webhook-format-standard").into_owned(),
        WebhookFormat::Slack => "Slack".to_owned(),
        WebhookFormat::Discord => "Discord".to_owned(),
        WebhookFormat::Teams => "Microsoft Teams".to_owned(),
    }
}

/// Returns what a webhook is called: its description, or its host.
fn name_of(context: &Context, webhook: &Webhook) -> String {
    let host = || shown_host(&context.state.sealer, context.workspace.id, webhook);
    let names = [webhook.description.clone(), host()];
    let name = names.into_iter().find(|name| !name.is_empty());
    name.unwrap_or_else(|| context.text().get("record-webhook").into_owned())
}

/// Returns a webhook.
async fn find(context: &Context, id: WebhookId) -> Result<Webhook, HttpError> {
    context.run(&ShowWebhook { webhook: Some(id) }).await
}

fn status_of(problems: &Problems) -> StatusCode {
    if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
}

#[derive(Template)]
#[template(path = "admin/webhooks.html")]
struct ListPage {
    page: Page,
    rows: Vec<WebhookRow>,
    form: WebhookForm,
    formats: Vec<Choice>,
    is_fresh: bool,
    problems: Problems,
}

/// A webhook in the list.
struct WebhookRow {
    path: String,
    /// Empty if it cannot be read.
    url: String,
    description: String,
    format: String,
    state: State,
}

impl WebhookRow {
    fn new(t: Text, webhook: &Webhook, url: String) -> Self {
        Self {
            path: path_of(webhook.id),
            url,
            description: webhook.description.clone(),
            format: format_name(t, webhook.format),
            state: State::new(t, webhook),
        }
    }
}

/// The state of a webhook: the key of its words, and the time that follows them.
struct State {
    key: &'static str,
    since: Option<DisplayTime>,
    /// Whether somebody should look after it.
    is_trouble: bool,
}

impl State {
    fn new(t: Text, webhook: &Webhook) -> Self {
        let since = webhook.failing_since.filter(|_| webhook.enabled).map(|at| DisplayTime::minute(t, at));
        let key = match (webhook.enabled, webhook.disabled_because) {
            (true, _) if since.is_some() => "webhook-failing-since",
            (true, _) => "webhook-enabled",
            (false, Some(DisabledBecause::Gone)) => "webhook-disabled-gone",
            (false, Some(DisabledBecause::Failing)) => "webhook-disabled-failing",
            (false, Some(DisabledBecause::Operator) | None) => "webhook-disabled-operator",
        };
        Self { key, is_trouble: !["webhook-enabled", "webhook-disabled-operator"].contains(&key), since }
    }
}

/// `GET /admin/webhooks`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render(&context, &RawForm::default(), Problems::default()).await
}

/// `POST /admin/webhooks`: creates a webhook. Shows its secret, if it has one.
pub(crate) async fn create(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, form, mut problems) = (context.text(), RawForm::new(&fields), Problems::default());
    let url = check_url(&mut problems, t, &form.url, &context.state.destinations);
    let description = problems.check(parse_description(&form.description), t);
    let format = problems.check(WebhookFormat::parse(Some(&form.format)), t);
    let events = format.and_then(|format| form.check_events(&mut problems, t, format));
    let (Some(url), Some(description), Some(format), Some(events)) = (url, description, format, events) else {
        return render(&context, &form, problems).await;
    };
    let includes = Inclusion { private: form.private, emails: form.emails };
    let draft = WebhookDraft { url, format, description, events, includes, enabled: true };
    let operation = CreateWebhook { draft, sealer: context.state.sealer.clone() };
    match secret::run(&context, &fields, operation).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::TooManyWebhooks))) => {
            problems.add("url", t.get("webhooks-full"));
            render(&context, &form, problems).await
        }
        Err(error) => Err(error),
        Ok(Made::Secret(id, secret)) => secret::show(&context, id, &secret, "webhook-created-notice", None).await,
        Ok(Made::NoSecret(id)) => Ok(Reply::see_other(format!("{}?done=webhook-created", path_of(id)))),
        Ok(Made::Before(id)) => Ok(Reply::see_other(format!("{}?done=webhook-created-before", path_of(id)))),
    }
}

async fn render(context: &Context, form: &RawForm, problems: Problems) -> PageResult {
    let t = context.text();
    let webhooks = context.run(&ListWebhooks).await?;
    let row = |webhook: &Webhook| {
        WebhookRow::new(t, webhook, shown_url(&context.state.sealer, context.workspace.id, webhook))
    };
    let rows = webhooks.iter().map(row).collect();
    let page = admin::frame(context, Entry::Webhooks, t.get("admin-webhooks")).await?;
    let page = Page { here: PATH.to_owned(), ..page.with_problem(!problems.is_empty()) };
    let status = status_of(&problems);
    Ok(Reply::page_with(status, &ListPage::new(page, rows, form, context.has_fresh_sign_in(), problems)))
}

impl ListPage {
    fn new(page: Page, rows: Vec<WebhookRow>, form: &RawForm, is_fresh: bool, problems: Problems) -> Self {
        let format = |format: WebhookFormat| Choice::new(format.name(), format_name(page.t, format), &form.format);
        Self {
            rows,
            form: WebhookForm::new(form, None),
            formats: WebhookFormat::ALL.map(format).to_vec(),
            is_fresh,
            problems,
            page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page};
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::webhook_event::EventKind;
    use uuid::Uuid;

    /// A webhook with a description that is no text for a page.
    pub(super) fn webhook(format: WebhookFormat) -> Webhook {
        Webhook {
            id: WebhookId::new(Uuid::from_u128(7)),
            sealed_url: String::new(),
            secrets: Vec::new(),
            description: "Sync <b>".to_owned(),
            format,
            events: Some(vec![EventKind::CommentCreated]),
            includes: Inclusion { private: true, emails: false },
            enabled: true,
            disabled_because: None,
            enabled_at: at(0),
            disabled_at: None,
            failing_since: None,
            failed_tries: 0,
            created_at: at(0),
            updated_at: at(0),
        }
    }

    #[test]
    fn the_list_is_well_formed_and_escapes_descriptions() {
        for language in Language::ALL {
            for is_fresh in [true, false] {
                let page = sample_page(language, true, "Webhooks");
                let t = page.t;
                let row = |format: WebhookFormat| {
                    let url = if format == WebhookFormat::Slack { "" } else { "https://a.example/?<u>" };
                    WebhookRow::new(t, &webhook(format), url.to_owned())
                };
                let rows = WebhookFormat::ALL.map(row).into_iter().collect();
                let mut problems = Problems::default();
                for field in ["url", "description", "format", "events"] {
                    problems.add(field, "A sentence.");
                }
                let form = RawForm { url: "<i>".to_owned(), private: true, ..RawForm::default() };
                let list = ListPage::new(page, rows, &form, is_fresh, problems).render().unwrap();
                assert_well_formed(&list);
                assert!(list.contains("Sync &#60;b&#62;") && list.contains("?&#60;u&#62;"), "{list}");
                assert_eq!(list.contains("value=\"&#60;i&#62;\""), is_fresh);
                assert!(list.contains(&*t.get("webhook-unreadable")));
                let page = sample_page(language, true, "Webhooks");
                let empty = ListPage::new(page, Vec::new(), &RawForm::default(), is_fresh, Problems::default());
                assert_well_formed(&empty.render().unwrap());
            }
        }
    }

    #[test]
    fn the_state_says_what_is_wrong() {
        let t = Text::utc(Language::English);
        let state = |enabled, disabled_because, failing_since| {
            let webhook = Webhook { enabled, disabled_because, failing_since, ..webhook(WebhookFormat::Standard) };
            let State { key, since, is_trouble } = State::new(t, &webhook);
            (t.get(key).into_owned(), since.map(|at| at.words).unwrap_or_default(), is_trouble)
        };
        for ((enabled, because, failing), (words, since, is_trouble)) in [
            ((true, None, None), ("Enabled", "", false)),
            ((true, None, Some(at(0))), ("Failing since", "4 March 2026, 11:02", true)),
            ((false, Some(DisabledBecause::Operator), None), ("Disabled by the team", "", false)),
            ((false, Some(DisabledBecause::Gone), None), ("Disabled: the address is gone", "", true)),
            ((false, Some(DisabledBecause::Failing), Some(at(0))), ("Disabled: it failed for too long", "", true)),
        ] {
            assert_eq!(state(enabled, because, failing), (words.to_owned(), since.to_owned(), is_trouble));
        }
    }
}
