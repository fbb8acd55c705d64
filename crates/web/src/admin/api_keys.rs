//! API keys: creating, rotating and revoking them. The text of a key is on one page, once.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{RoadmapError, StoreError};
use roadmap_domain::model::api_key::{ApiKey, KeyText, RANDOM_CHARACTERS, Scopes};
use roadmap_domain::model::id::{ApiKeyId, parse_uuid};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::executor::Operation;
use roadmap_domain::usecase::issue_api_key::IssueApiKey;
use roadmap_domain::usecase::query::admin::ListApiKeys;
use roadmap_domain::usecase::revoke_api_key::RevokeApiKey;
use roadmap_domain::usecase::rotate_api_key::RotateApiKey;
use roadmap_http::error::HttpError;
use time::Duration;

use crate::admin::parts::{Choice, DisplayTime};
use crate::admin::{self, Entry, missing_record_as_404, path_id};
use crate::context::Context;
use crate::digest::hex;
use crate::form::{Fields, Problems};
use crate::once::{run_once, run_step};
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the list.
const PATH: &str = "/admin/api-keys";

/// The scopes, with the keys of the sentences about what they allow.
const SCOPES: [(&str, &str); 3] =
    [("read", "key-scope-read"), ("write", "key-scope-write"), ("manage", "key-scope-manage")];
/// The scopes that are ticked at first.
const USUAL_SCOPES: [&str; 2] = ["read", "write"];
/// The lifetimes that are offered: the value, the time, and the key of the label.
const LIFETIMES: [(&str, Option<Duration>, &str); 4] = [
    ("never", None, "key-lifetime-never"),
    ("30", Some(Duration::days(30)), "key-lifetime-30"),
    ("90", Some(Duration::days(90)), "key-lifetime-90"),
    ("365", Some(Duration::days(365)), "key-lifetime-365"),
];
/// How long the old key works after a rotation: the value, the time, and the keys of the label and of the sentence about
/// it.
const OVERLAPS: [(&str, Duration, &str, &str); 4] = [
    ("day", Duration::DAY, "key-overlap-day", "key-rotated-day"),
    ("week", Duration::WEEK, "key-overlap-week", "key-rotated-week"),
    ("hour", Duration::HOUR, "key-overlap-hour", "key-rotated-hour"),
    ("none", Duration::ZERO, "key-overlap-none", "key-rotated-at-once"),
];

#[derive(Template)]
#[template(path = "admin/api-keys.html")]
struct KeysPage {
    page: Page,
    active: Vec<KeyRow>,
    ended: Vec<KeyRow>,
    /// What was typed for a new key.
    name: String,
    scopes: Vec<ScopeChoice>,
    lifetimes: Vec<Choice>,
    overlaps: Vec<Choice>,
    is_fresh: bool,
    problems: Problems,
}

/// The page with the text of a new key.
#[derive(Template)]
#[template(path = "admin/api-key-created.html")]
struct CreatedPage {
    page: Page,
    key: KeyRow,
    /// The text of the key.
    text: String,
    /// A command that uses it.
    example: String,
    /// What happens with the key that it replaces.
    overlap: Option<String>,
}

/// The page that asks before a key is revoked.
#[derive(Template)]
#[template(path = "admin/api-key-revoke.html")]
struct RevokePage {
    page: Page,
    key: KeyRow,
    is_fresh: bool,
}

/// A key in the list.
#[derive(Debug, Clone)]
struct KeyRow {
    id: String,
    name: String,
    last_four: String,
    scopes: String,
    created: DisplayTime,
    used: Option<DisplayTime>,
    expires: Option<DisplayTime>,
    revoked: Option<DisplayTime>,
}

impl KeyRow {
    fn new(t: Text, key: &ApiKey) -> Self {
        Self {
            id: key.id.to_string(),
            name: key.name.as_str().to_owned(),
            last_four: key.last_four.clone(),
            scopes: key.scopes.names().join(&t.get("list-separator")),
            created: DisplayTime::short_day(t, key.created_at),
            used: key.last_used_at.map(|at| DisplayTime::minute(t, at)),
            expires: key.expires_at.map(|at| DisplayTime::short_day(t, at)),
            revoked: key.revoked_at.map(|at| DisplayTime::minute(t, at)),
        }
    }
}

/// A scope that can be ticked.
#[derive(Debug, Clone)]
struct ScopeChoice {
    name: &'static str,
    hint: &'static str,
    is_ticked: bool,
}

/// What the form for a new key shows.
struct KeyForm<'a> {
    name: &'a str,
    scopes: Vec<&'a str>,
    lifetime: &'a str,
}

impl Default for KeyForm<'_> {
    fn default() -> Self {
        Self { name: "", scopes: USUAL_SCOPES.to_vec(), lifetime: "" }
    }
}

/// `GET /admin/api-keys`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render(&context, &KeyForm::default(), Problems::default()).await
}

/// `POST /admin/api-keys`: creates a key and shows its text.
pub(crate) async fn create(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, mut problems) = (context.text(), Problems::default());
    let form =
        KeyForm { name: fields.get("name"), scopes: fields.all("scope").collect(), lifetime: fields.get("expires_in") };
    let name = problems.check(Name::parse("name", form.name), t);
    let names: Vec<String> = form.scopes.iter().map(|name| (*name).to_owned()).collect();
    let scopes = Scopes::parse("read", &names).ok().filter(|_| !names.is_empty());
    if scopes.is_none() {
        problems.add("read", t.get("key-scope-missing"));
    }
    let lifetime = LIFETIMES.into_iter().find(|(value, ..)| *value == form.lifetime);
    if lifetime.is_none() {
        problems.add("expires_in", t.get("key-lifetime-missing"));
    }
    let (Some(name), Some(scopes), Some((_, expires_in, _))) = (name, scopes, lifetime) else {
        return render(&context, &form, problems).await;
    };
    let key = generate(&context)?;
    let issue = IssueApiKey { key: key.clone(), name, scopes, expires_in };
    let issued = issue_once(&context, &fields, issue, &key).await?;
    created(&context, issued, &key, None).await
}

/// `POST /admin/api-keys/{id}/rotate`: replaces a key and shows the text of the new one.
pub(crate) async fn rotate(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, id) = (context.text(), path_id(&context, ApiKeyId::new)?);
    let overlap = OVERLAPS.into_iter().find(|(value, ..)| *value == fields.get("overlap"));
    let Some((_, overlap, _, sentence)) = overlap else {
        return refused(&context, format!("overlap-{id}"), "key-overlap-missing").await;
    };
    let key = generate(&context)?;
    let rotation = RotateApiKey { id, replacement: key.clone(), overlap };
    match issue_once(&context, &fields, rotation, &key).await {
        Err(HttpError::Domain(RoadmapError::Invalid(_))) => {
            refused(&context, "active".to_owned(), "key-ended-before").await
        }
        Err(HttpError::Domain(RoadmapError::NotFound(_))) => Err(HttpError::NotFound),
        Err(error) => Err(error),
        Ok(issued) => created(&context, issued, &key, Some(t.get(sentence).into_owned())).await,
    }
}

/// `GET /admin/api-keys/{id}/revoke`: asks.
pub(crate) async fn ask_revoke(context: Rc<Context>) -> PageResult {
    let (t, id) = (context.text(), path_id(&context, ApiKeyId::new)?);
    let key = find_key(&context, id).await?;
    let title = t.named("key-revoke-title", key.name.as_str());
    let page = admin::frame(&context, Entry::ApiKeys, title).await?;
    let template = RevokePage { page, key: KeyRow::new(t, &key), is_fresh: context.has_fresh_sign_in() };
    Ok(Reply::page(&template))
}

/// `POST /admin/api-keys/{id}/revoke`.
pub(crate) async fn revoke(context: Rc<Context>, fields: Fields) -> PageResult {
    let id = path_id(&context, ApiKeyId::new)?;
    let landing = |_| format!("{PATH}?done=key-revoked");
    missing_record_as_404(run_once(&context, &fields, RevokeApiKey { id }, landing).await)
}

/// Generates the text of a key.
fn generate(context: &Context) -> Result<KeyText, HttpError> {
    let key = KeyText::from_random(&context.state.random.base62(RANDOM_CHARACTERS));
    key.ok_or_else(|| HttpError::from(StoreError::Fatal("the random source has returned no key".into())))
}

/// Stores a key at most once for each form. Returns its ID, or `None` if the form was sent before: then the key of that
/// time is stored, and its text is gone.
async fn issue_once<O>(
    context: &Context,
    fields: &Fields,
    operation: O,
    key: &KeyText,
) -> Result<Option<ApiKeyId>, HttpError>
where
    O: Operation<Output = ApiKey> + 'static,
{
    // The digest tells the own key from that of an earlier use, also when a lost commit has run twice.
    let digest = hex(&key.digest().0);
    let own = digest.clone();
    let saved = run_step(context, fields, "", operation, move |key| format!("{}:{digest}", key.id)).await?;
    let id = saved.split_once(':').filter(|(_, of)| *of == own).map(|(id, _)| parse_uuid("id", id));
    Ok(id.and_then(Result::ok).map(ApiKeyId::new))
}

/// Returns a key.
async fn find_key(context: &Context, id: ApiKeyId) -> Result<ApiKey, HttpError> {
    let keys = context.run(&ListApiKeys).await?;
    keys.into_iter().find(|key| key.id == id).ok_or(HttpError::NotFound)
}

/// Shows the text of a new key.
async fn created(context: &Context, id: Option<ApiKeyId>, text: &KeyText, overlap: Option<String>) -> PageResult {
    let Some(id) = id else { return Ok(Reply::see_other(format!("{PATH}?done=key-created-before"))) };
    let (t, key) = (context.text(), find_key(context, id).await?);
    let page = admin::frame(context, Entry::ApiKeys, t.named("key-created-title", key.name.as_str())).await?;
    let notice = Some(t.get("key-created-notice").into_owned());
    let page = Page { here: PATH.to_owned(), notice, ..page };
    let key = KeyRow::new(t, &key);
    Ok(Reply::page(&CreatedPage::new(page, key, text, overlap)).private())
}

impl CreatedPage {
    fn new(page: Page, key: KeyRow, text: &KeyText, overlap: Option<String>) -> Self {
        let text = text.reveal().to_owned();
        let example = format!("curl -H 'X-Api-Key: {text}' {}/api/external/v1/api_key", page.origin);
        Self { page, key, text, example, overlap }
    }
}

/// Shows the list with a problem of a key.
async fn refused(context: &Context, field: String, key: &str) -> PageResult {
    let mut problems = Problems::default();
    problems.add(field, context.text().get(key));
    render(context, &KeyForm::default(), problems).await
}

async fn render(context: &Context, form: &KeyForm<'_>, problems: Problems) -> PageResult {
    let t = context.text();
    let keys = context.run(&ListApiKeys).await?;
    let page = admin::frame(context, Entry::ApiKeys, t.get("admin-api-keys")).await?;
    let page = Page { here: PATH.to_owned(), ..page.with_problem(!problems.is_empty()) };
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let (now, is_fresh) = (context.state.http.clock.now(), context.has_fresh_sign_in());
    Ok(Reply::page_with(status, &KeysPage::new(page, &keys, now, form, is_fresh, problems)))
}

impl KeysPage {
    fn new(
        page: Page,
        keys: &[ApiKey],
        now: Timestamp,
        form: &KeyForm<'_>,
        is_fresh: bool,
        problems: Problems,
    ) -> Self {
        let t = page.t;
        let rows = |is_active| {
            let keys = keys.iter().rev().filter(move |key| key.is_valid_at(now) == is_active);
            keys.map(|key| KeyRow::new(t, key)).collect()
        };
        let scope = |(name, hint): (&'static str, &'static str)| ScopeChoice {
            name,
            hint,
            is_ticked: form.scopes.contains(&name),
        };
        Self {
            active: rows(true),
            ended: rows(false),
            name: form.name.to_owned(),
            scopes: SCOPES.map(scope).to_vec(),
            lifetimes: LIFETIMES.map(|(value, _, key)| Choice::new(value, t.get(key), form.lifetime)).to_vec(),
            overlaps: OVERLAPS.map(|(value, _, key, _)| Choice::new(value, t.get(key), "day")).to_vec(),
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
    use roadmap_domain::usecase::rotate_api_key::MAX_OVERLAP;
    use uuid::Uuid;

    fn key(number: u128, revoked_at: Option<Timestamp>) -> ApiKey {
        ApiKey {
            id: ApiKeyId::new(Uuid::from_u128(number)),
            name: Name::from_stored("CI <b>".to_owned()),
            last_four: "a1B2".to_owned(),
            scopes: Scopes::ALL,
            created_at: at(0),
            expires_at: Some(at(30)),
            revoked_at,
            last_used_at: revoked_at,
            made_by: None,
        }
    }

    fn text() -> KeyText {
        KeyText::from_random(&"aB3".repeat(15)[..RANDOM_CHARACTERS]).unwrap()
    }

    #[test]
    fn all_pages_are_well_formed() {
        for language in Language::ALL {
            let t = Text::utc(language);
            let page = || sample_page(language, true, "API keys");
            let mut with_problems = Problems::default();
            let overlap = format!("overlap-{}", key(1, None).id);
            for field in ["name", "read", "expires_in", "active", &overlap] {
                with_problems.add(field, "A sentence.");
            }
            for (is_fresh, problems) in
                [(true, Problems::default()), (false, Problems::default()), (true, with_problems)]
            {
                for keys in [Vec::new(), vec![key(1, None), key(2, Some(at(1)))]] {
                    let form = KeyForm { name: "a\"b", scopes: vec!["manage"], lifetime: "90" };
                    let list = KeysPage::new(page(), &keys, at(2), &form, is_fresh, problems.clone());
                    assert_eq!((list.active.len(), list.ended.len()), (keys.len() / 2, keys.len() / 2));
                    assert_well_formed(&list.render().unwrap());
                }
                let revoke = RevokePage { page: page(), key: KeyRow::new(t, &key(1, Some(at(1)))), is_fresh };
                assert_well_formed(&revoke.render().unwrap());
            }
            for overlap in [None, Some("A sentence.".to_owned())] {
                let created = CreatedPage::new(page(), KeyRow::new(t, &key(1, None)), &text(), overlap);
                let html = created.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.matches(text().reveal()).count(), 2, "in the field and in the example");
                let copy = format!("data-copied=\"{}\">{}</button>", t.get("copied"), t.get("copy"));
                assert!(html.contains(&copy), "{html}");
            }
        }
    }

    #[test]
    fn read_and_write_are_ticked_at_first() {
        let page = sample_page(Language::English, true, "API keys");
        let list = KeysPage::new(page, &[], at(0), &KeyForm::default(), true, Problems::default());
        let ticked: Vec<&str> = list.scopes.iter().filter(|scope| scope.is_ticked).map(|scope| scope.name).collect();
        assert_eq!(ticked, ["read", "write"]);
        let selection =
            |choices: &[Choice]| choices.iter().find(|choice| choice.is_chosen).map(|choice| choice.value.clone());
        assert_eq!((selection(&list.lifetimes), selection(&list.overlaps)), (None, Some("day".to_owned())));
    }

    #[test]
    fn every_overlap_is_possible() {
        assert!(OVERLAPS.iter().all(|(_, overlap, ..)| *overlap <= MAX_OVERLAP));
    }
}
