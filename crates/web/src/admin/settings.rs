//! The settings of the product, its portal and its search, in one form.
//!
//! All fields are validated before anything is changed. What a person has changed in the form is changed in one unit of
//! work ([`SaveSettings`]). The form remembers what it showed ([`FormFingerprints`]), so that what others have changed
//! since then stays.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::StatusCode;
use askama::Template;
use fluent_bundle::FluentValue;
use roadmap_domain::error::{Conflict, FieldError, FieldProblem, RoadmapError, Validated};
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::portal::{
    Color, EmbedOrigin, Language, MailDomain, Noun, Portal, PortalAccess, PortalSettings, parse_reply_to,
};
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::{Setting, WebsiteUrl};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::time_zone::TimeZone;
use roadmap_domain::policy::contrast::{AccentColors, AccentPalette, DARK, LIGHT, contrast};
use roadmap_domain::usecase::query::portal::ShowPortalSettings;
use roadmap_domain::usecase::query::setting::ListSynonyms;
use roadmap_domain::usecase::save_settings::{
    AllSettings, FormFingerprints, QUESTION_FIELDS, SaveSettings, SettingsChanges, WELCOME_FIELDS,
};
use roadmap_domain::usecase::update_portal::invalid_logo;
use roadmap_http::error::HttpError;

use crate::actions::multiline_text;
use crate::admin::image_field::{ImageField, ImageView};
use crate::admin::parts::Choice;
use crate::admin::{self, Entry};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// Largest logo in bytes.
const MAX_LOGO: usize = 256_000;

#[derive(Template)]
#[template(path = "admin/settings.html")]
struct SettingsTemplate {
    page: Page,
    form: SettingsForm,
    logo: ImageView,
    /// Contrasts of the colour, in words: in the light theme and in the dark one.
    contrasts: [String; 2],
    access: Vec<AccessChoice>,
    /// Whether visitors do not see the portal with these settings.
    is_hidden: bool,
    languages: Vec<Choice>,
    default_languages: Vec<Choice>,
    time_zones: Vec<Choice>,
    nouns: Vec<Choice>,
    /// The IDs of the welcome texts and of the questions, each with its label and its text.
    welcome: Vec<(&'static str, String, String)>,
    question: Vec<(&'static str, String, String)>,
    /// HTML that shows the roadmap on another website.
    snippet: String,
    problems: Problems,
}

/// Who can see the portal, as an option.
struct AccessChoice {
    choice: Choice,
    hint: String,
}

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct SettingsForm {
    product_name: String,
    website: String,
    accent: String,
    has_default_accent: bool,
    access: String,
    mail_domains: String,
    embed_origins: String,
    languages: Vec<String>,
    default_language: String,
    is_indexed: bool,
    holds_posts: bool,
    reply_to: String,
    time_zone: String,
    noun: String,
    synonyms: String,
    /// The welcome texts and the questions of the form for ideas, in the order of the languages.
    welcome: [String; 3],
    question: [String; 3],
    /// What the form showed when it was opened.
    initial: FormFingerprints,
}

impl SettingsForm {
    fn of_stored(portal: &Portal, synonyms: &Synonyms) -> Self {
        let Portal { setting, settings, .. } = portal;
        let lines = |lines: Vec<&str>| lines.join("\n");
        let groups: Vec<String> = synonyms.groups().iter().map(|group| group.join(", ")).collect();
        Self {
            product_name: setting.product_name.as_str().to_owned(),
            website: setting.website_url.as_str().to_owned(),
            accent: settings.accent.unwrap_or(AccentPalette::DEFAULT.light.fill).to_string(),
            has_default_accent: settings.accent.is_none(),
            access: settings.access.name().to_owned(),
            mail_domains: lines(settings.mail_domains.iter().map(MailDomain::as_str).collect()),
            embed_origins: lines(settings.embed_origins.iter().map(EmbedOrigin::as_str).collect()),
            languages: settings.languages.iter().map(|language| language.code().to_owned()).collect(),
            default_language: settings.default_language().code().to_owned(),
            is_indexed: settings.is_indexed,
            holds_posts: settings.holds_posts,
            reply_to: settings.reply_to.as_ref().map(|address| address.as_str().to_owned()).unwrap_or_default(),
            time_zone: settings.time_zone.name().to_owned(),
            noun: settings.noun.name().to_owned(),
            synonyms: groups.join("\n"),
            welcome: Language::ALL.map(|language| settings.welcome_text.get(language).unwrap_or_default().to_owned()),
            question: Language::ALL.map(|language| settings.form_question.get(language).unwrap_or_default().to_owned()),
            initial: FormFingerprints::of_stored(&all(portal, synonyms)),
        }
    }

    fn of_form(fields: &Fields) -> Self {
        let (accent, initial_accent) = (fields.get("accent").trim(), fields.get("accent-shown"));
        // Who chooses a colour and overlooks the tick of the default one wants the colour.
        let is_chosen = !initial_accent.is_empty() && !accent.eq_ignore_ascii_case(initial_accent);
        Self {
            product_name: fields.get("product_name").to_owned(),
            website: fields.get("website_url").to_owned(),
            accent: accent.to_owned(),
            has_default_accent: fields.has("accent-default") && !is_chosen,
            access: fields.get("access").to_owned(),
            mail_domains: multiline_text(fields, "mail-domains"),
            embed_origins: multiline_text(fields, "embed-origins"),
            languages: fields.all("languages").map(str::to_owned).collect(),
            default_language: fields.get("default-language").to_owned(),
            is_indexed: fields.has("indexed"),
            holds_posts: fields.has("moderation"),
            reply_to: fields.get("reply-to").to_owned(),
            time_zone: fields.get("time-zone").to_owned(),
            noun: fields.get("noun").to_owned(),
            synonyms: multiline_text(fields, "synonyms"),
            welcome: WELCOME_FIELDS.map(|(field, _)| multiline_text(fields, field)),
            question: QUESTION_FIELDS.map(|(field, _)| fields.get(field).to_owned()),
            initial: FormFingerprints::parse(fields.get("shown")),
        }
    }

    fn accent(&self) -> Validated<Option<Color>> {
        match self.has_default_accent {
            true => Ok(None),
            false => Color::parse("accent", &self.accent).map(Some),
        }
    }
}

/// Returns the lines that are not blank, each with its number.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}

/// Parses a list with one item on each line, each item once.
fn parse_list<T: PartialEq>(
    field: &'static str,
    text: &str,
    max: usize,
    parse: impl Fn(&str) -> Validated<T>,
) -> Result<Vec<T>, ListProblem> {
    let mut items = Vec::new();
    for (_, line) in lines(text) {
        let item = parse(line).map_err(|_| ListProblem::Item { field, line: line.trim().to_owned() })?;
        if !items.contains(&item) {
            items.push(item);
        }
    }
    if items.len() > max { Err(ListProblem::TooMany { field, max }) } else { Ok(items) }
}

/// Why a list cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ListProblem {
    /// A line is none of what it should be.
    Item { field: &'static str, line: String },
    /// There are too many.
    TooMany { field: &'static str, max: usize },
}

impl ListProblem {
    fn add(&self, t: Text, key: &str, problems: &mut Problems) {
        match self {
            Self::Item { field, line } => problems.add(*field, t.named(key, line)),
            Self::TooMany { field, max } => problems.add(*field, t.count("settings-too-many", *max as i64)),
        }
    }
}

/// Parses synonyms: one group on each line, with commas between its words and phrases.
fn parse_synonyms(t: Text, raw: &str, problems: &mut Problems) -> Option<Synonyms> {
    let numbered: Vec<(usize, &str)> = lines(raw).collect();
    let groups: Vec<Vec<String>> =
        numbered.iter().map(|(_, line)| line.split(',').map(|phrase| phrase.trim().to_owned()).collect()).collect();
    let problem = match Synonyms::parse(&groups) {
        Ok(synonyms) => return Some(synonyms),
        Err(error) => error.problem,
    };
    let sentence = match problem {
        FieldProblem::TooMany { max } => t.count("settings-synonyms-too-many", max as i64),
        FieldProblem::InGroup { number, .. } => {
            let (number, line) = numbered.get(number - 1).copied().unwrap_or((number, ""));
            let number = t.number(i64::try_from(number).unwrap_or(i64::MAX));
            let line = roadmap_domain::model::text::truncate(line.trim(), 60);
            t.with(
                "settings-synonyms-invalid",
                &[("number", FluentValue::from(number)), ("name", FluentValue::from(line))],
            )
        }
        problem => t.problem(&FieldError::new("synonyms", problem)),
    };
    problems.add("synonyms", sentence);
    None
}

/// Validates all fields. `None` if there is a problem.
fn check(
    t: Text,
    form: &SettingsForm,
    logo: &ImageField,
    stored: &PortalSettings,
    problems: &mut Problems,
) -> Option<AllSettings> {
    let product_name = problems.check(Name::parse("product_name", &form.product_name), t);
    let website_url = WebsiteUrl::parse(&form.website)
        .map_err(|_| problems.add("website_url", t.get("settings-website-invalid")))
        .ok();
    let accent = form.accent().map_err(|_| problems.add("accent", t.get("settings-accent-invalid"))).ok();
    let access = PortalAccess::from_name(&form.access);
    if access.is_none() {
        problems.add("access", t.get("settings-access-missing"));
    }
    let domains = parse_list("mail-domains", &form.mail_domains, MailDomain::MAX_COUNT, |line| {
        MailDomain::parse("mail-domains", line)
    });
    let mail_domains = domains.map_err(|problem| problem.add(t, "settings-domain-invalid", problems)).ok();
    let origins = parse_list("embed-origins", &form.embed_origins, EmbedOrigin::MAX_COUNT, |line| {
        EmbedOrigin::parse("embed-origins", line)
    });
    let embed_origins = origins.map_err(|problem| problem.add(t, "settings-origin-invalid", problems)).ok();
    let languages = check_languages(t, form, stored, problems);
    let reply_to = parse_reply_to("reply-to", &form.reply_to)
        .map_err(|_| problems.add("reply-to", t.get("settings-reply-to-invalid")))
        .ok();
    let time_zone = TimeZone::parse("time-zone", &form.time_zone)
        .map_err(|_| problems.add("time-zone", t.get("settings-time-zone-invalid")))
        .ok();
    // A form without the choice leaves what is stored.
    let raw_noun = if form.noun.is_empty() { stored.noun.name() } else { form.noun.as_str() };
    let noun = Noun::parse("noun", raw_noun).map_err(|_| problems.add("noun", t.get("settings-noun-invalid"))).ok();
    let synonyms = parse_synonyms(t, &form.synonyms, problems);
    let welcome_text = check_texts(t, WELCOME_FIELDS, &form.welcome, PortalSettings::MAX_WELCOME, problems);
    let form_question = check_texts(t, QUESTION_FIELDS, &form.question, PortalSettings::MAX_QUESTION, problems);
    let settings = PortalSettings {
        access: access?,
        mail_domains: mail_domains?,
        is_indexed: form.is_indexed,
        embed_origins: embed_origins?,
        languages: languages?,
        holds_posts: form.holds_posts,
        accent: accent?,
        logo: logo.file_to_store(),
        reply_to: reply_to?,
        time_zone: time_zone?,
        welcome_text,
        form_question,
        noun: noun?,
    };
    let setting = Setting { product_name: product_name?, website_url: website_url? };
    let new_settings = AllSettings { setting, settings, synonyms: synonyms? };
    problems.is_empty().then_some(new_settings)
}

/// Validates the texts of several languages. Those with a problem are left out.
fn check_texts(
    t: Text,
    fields: [(&'static str, Language); 3],
    texts: &[String; 3],
    max: usize,
    problems: &mut Problems,
) -> Localized {
    fields.iter().zip(texts).fold(Localized::default(), |checked, ((field, language), text)| {
        let parsed = Localized::parse(field, max, [(language.code(), Some(text.as_str()))]);
        let parsed = problems.check(parsed, t).unwrap_or_default();
        checked.with(*language, parsed.get(*language).unwrap_or_default())
    })
}

/// Returns the chosen languages, the default one first. The others keep their order.
fn check_languages(
    t: Text,
    form: &SettingsForm,
    stored: &PortalSettings,
    problems: &mut Problems,
) -> Option<Vec<Language>> {
    let order = stored.languages.iter().chain(&Language::ALL);
    let mut languages: Vec<Language> = Vec::new();
    for language in order {
        if form.languages.iter().any(|code| code == language.code()) && !languages.contains(language) {
            languages.push(*language);
        }
    }
    if languages.is_empty() {
        problems.add("languages", t.get("settings-languages-missing"));
        return None;
    }
    match Language::from_code(&form.default_language).filter(|default| languages.contains(default)) {
        Some(default) => {
            languages.sort_by_key(|language| *language != default);
            Some(languages)
        }
        None => {
            problems.add("default-language", t.get("settings-default-language"));
            None
        }
    }
}

/// `GET /admin/settings`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let (stored, synonyms) = load(&context).await?;
    let (form, logo) = (SettingsForm::of_stored(&stored, &synonyms), ImageField::of_stored(stored.logo.as_ref()));
    render(&context, stored, form, logo, Problems::default()).await
}

/// `POST /admin/settings`: saves the settings, or shows the colours.
pub(crate) async fn save(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, mut problems) = (context.text(), Problems::default());
    let stored = context.run(&ShowPortalSettings).await?;
    let mut form = SettingsForm::of_form(&fields);
    let logo = ImageField::read(&context, &fields, "logo", MAX_LOGO, "settings-logo-gone", &mut problems).await?;
    if fields.get("do") == "colours" {
        if form.accent().is_err() {
            problems.add("accent", t.get("settings-accent-invalid"));
        }
        return render(&context, stored, form, logo, problems).await;
    }
    let Some(new_settings) = check(t, &form, &logo, &stored.settings, &mut problems) else {
        return render(&context, stored, form, logo, problems).await;
    };
    let operation = SaveSettings { form: new_settings.clone(), fingerprints: form.initial.clone() };
    let landing = |_| "/admin/settings?done=settings-saved".to_owned();
    match run_once(&context, &fields, operation, landing).await {
        Err(HttpError::Domain(RoadmapError::Invalid(error))) if error == invalid_logo() => {
            problems.add("logo", t.get("settings-logo-gone"));
        }
        Err(HttpError::Domain(RoadmapError::OverBudget(_))) => problems.add("synonyms", t.get("storage-used-up")),
        // Asked only now, because a form that is sent twice is no conflict.
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::ChangedMeanwhile))) => {
            // What the unit of work has compared with, which may be newer than what was loaded before.
            let (stored, synonyms) = load(&context).await?;
            let all = all(&stored, &synonyms);
            let now = FormFingerprints::of_stored(&all);
            for field in SettingsChanges::between(&all, new_settings, &form.initial).contested {
                problems.add(field, changed_meanwhile(t, field, &all));
                // The next **Save** overwrites it knowingly.
                form.initial.0.extend(now.0.get(field).map(|print| (field.to_owned(), print.clone())));
            }
            return render(&context, stored, form, logo, problems).await;
        }
        outcome => return outcome,
    }
    render(&context, stored, form, logo, problems).await
}

/// Says that somebody else has changed a field, and what is stored now if it can be said in words.
fn changed_meanwhile(t: Text, field: &str, stored: &AllSettings) -> String {
    const MAX_LENGTH: usize = 200;
    let settings = &stored.settings;
    let text = match field {
        "logo" => return t.get("settings-changed-meanwhile").into_owned(),
        "access" => t.get(access_label(settings.access)).into_owned(),
        "languages" => {
            let names: Vec<&str> = settings.languages.iter().map(|language| language.own_name()).collect();
            names.join(", ")
        }
        _ => {
            let text =
                stored.texts().into_iter().find(|(name, _)| *name == field).map(|(_, text)| text).unwrap_or_default();
            text.replace('\n', "; ")
        }
    };
    let text = if text.is_empty() { t.get("stored-nothing").into_owned() } else { text };
    t.named("settings-changed-to", roadmap_domain::model::text::truncate(&text, MAX_LENGTH).as_ref())
}

fn access_label(access: PortalAccess) -> &'static str {
    match access {
        PortalAccess::Public => "settings-access-public",
        PortalAccess::Private => "settings-access-private",
        PortalAccess::Off => "settings-access-off",
    }
}

fn all(portal: &Portal, synonyms: &Synonyms) -> AllSettings {
    let Portal { setting, settings, .. } = portal;
    AllSettings { setting: setting.clone(), settings: settings.clone(), synonyms: synonyms.clone() }
}

/// Loads what is stored, without a cache.
async fn load(context: &Context) -> Result<(Portal, Synonyms), HttpError> {
    Ok((context.run(&ShowPortalSettings).await?, context.run(&ListSynonyms).await?))
}

async fn render(
    context: &Context,
    stored: Portal,
    form: SettingsForm,
    logo: ImageField,
    problems: Problems,
) -> PageResult {
    let page = admin::frame(context, Entry::Settings, context.text().get("admin-settings")).await?;
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let snippet = snippet(&context.links.page("/embed/roadmap"), stored.setting.product_name.as_str());
    let template = SettingsTemplate::new(page, stored, form, logo.view(context), snippet, problems);
    Ok(Reply::page_with(status, &template))
}

/// Returns HTML that shows a page of the portal on another website.
fn snippet(url: &str, product: &str) -> String {
    let title = product.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    format!("<iframe src=\"{url}\" title=\"{title}\" width=\"100%\" height=\"640\" loading=\"lazy\"></iframe>")
}

/// Returns a contrast ratio in the notation of the language: `4.5`. It is rounded down, so that it never promises more
/// than there is.
fn ratio(t: Text, one: Color, other: Color) -> String {
    let tenths = (contrast(one, other) * 10.0).floor() / 10.0;
    let number = format!("{tenths:.1}");
    match t.language {
        Language::German => number.replace('.', ","),
        Language::English | Language::Arabic => number,
    }
}

fn contrast_words(t: Text, colors: AccentColors, backgrounds: [Color; 3]) -> String {
    let [canvas, ..] = backgrounds;
    let (button, link) = (ratio(t, colors.on_fill, colors.fill), ratio(t, colors.text, canvas));
    t.with("settings-contrast", &[("button", FluentValue::from(button)), ("link", FluentValue::from(link))])
}

impl SettingsTemplate {
    fn new(
        page: Page,
        stored: Portal,
        form: SettingsForm,
        logo: ImageView,
        snippet: String,
        problems: Problems,
    ) -> Self {
        let t = page.t;
        // The page has the typed colour, so that the swatches show what the portal would look like.
        let accent = form.accent().unwrap_or(stored.settings.accent);
        let palette = AccentPalette::of_portal(accent);
        let settings = PortalSettings { accent, ..stored.settings };
        let page = Page { portal: Arc::new(Portal { settings, ..stored }), ..page };
        let access = PortalAccess::ALL.map(|access| {
            let hint = match access {
                PortalAccess::Public => "settings-access-public-hint",
                PortalAccess::Private => "settings-access-private-hint",
                PortalAccess::Off => "settings-access-off-hint",
            };
            AccessChoice {
                choice: Choice::new(access.name(), t.get(access_label(access)), &form.access),
                hint: t.get(hint).into_owned(),
            }
        });
        let language = |language: Language| Choice {
            value: language.code().to_owned(),
            label: language.own_name().to_owned(),
            is_chosen: form.languages.iter().any(|code| code == language.code()),
        };
        let default = |language: Language| Choice::new(language.code(), language.own_name(), &form.default_language);
        Self {
            logo,
            contrasts: [contrast_words(t, palette.light, LIGHT), contrast_words(t, palette.dark, DARK)],
            access: access.into(),
            is_hidden: form.access != PortalAccess::Public.name(),
            languages: Language::ALL.map(language).into(),
            default_languages: Language::ALL.map(default).into(),
            time_zones: time_zones(&form.time_zone),
            nouns: Noun::ALL.map(|noun| Choice::new(noun.name(), t.get(noun_key(noun)), &form.noun)).into(),
            welcome: text_fields(t, "settings-welcome", WELCOME_FIELDS, &form.welcome),
            question: text_fields(t, "settings-question", QUESTION_FIELDS, &form.question),
            snippet,
            page: page.with_problem(!problems.is_empty()),
            form,
            problems,
        }
    }
}

/// Returns the key of what visitors read.
const fn noun_key(noun: Noun) -> &'static str {
    match noun {
        Noun::FeatureRequests => "settings-noun-requests",
        Noun::Ideas => "settings-noun-ideas",
    }
}

/// Returns the fields of a text in several languages.
fn text_fields(
    t: Text,
    key: &str,
    fields: [(&'static str, Language); 3],
    texts: &[String; 3],
) -> Vec<(&'static str, String, String)> {
    let field = |((id, language), text): ((&'static str, Language), &String)| {
        (id, t.named(key, language.own_name()), text.clone())
    };
    fields.into_iter().zip(texts).map(field).collect()
}

/// Returns the time zones to choose from, and the stored one, which may have an older name.
fn time_zones(chosen: &str) -> Vec<Choice> {
    let mut names: Vec<&str> = TimeZone::choices().map(TimeZone::name).collect();
    if let Ok(zone) = TimeZone::parse("time-zone", chosen)
        && !names.contains(&zone.name())
    {
        names.push(zone.name());
    }
    names.into_iter().map(|name| Choice::new(name.to_owned(), name, chosen)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use roadmap_domain::model::id::AttachmentId;
    use roadmap_domain::model::portal::PortalChange;
    use uuid::Uuid;

    const ENGLISH: Text = Text::utc(Language::English);

    fn portal() -> Portal {
        let setting = Setting::parse("Acme", "https://acme.example").unwrap();
        Portal { setting, settings: PortalSettings::default(), logo: None }
    }

    fn synonyms(groups: &[&[&str]]) -> Synonyms {
        let owned = |group: &&[&str]| group.iter().map(|phrase| (*phrase).to_owned()).collect();
        Synonyms::parse(&groups.iter().map(owned).collect::<Vec<_>>()).unwrap()
    }

    fn between(
        stored: &Portal,
        synonyms: &Synonyms,
        new_settings: AllSettings,
        initial: &FormFingerprints,
    ) -> SettingsChanges {
        SettingsChanges::between(&all(stored, synonyms), new_settings, initial)
    }

    fn stored() -> SettingsForm {
        SettingsForm::of_stored(&portal(), &synonyms(&[&["2fa", "two-factor"]]))
    }

    fn checked(form: &SettingsForm) -> Result<AllSettings, Vec<String>> {
        let mut problems = Problems::default();
        let new_settings = check(ENGLISH, form, &ImageField::default(), &PortalSettings::default(), &mut problems);
        new_settings.ok_or_else(|| problems.iter().map(|(field, _)| field.clone()).collect())
    }

    #[test]
    fn the_form_is_well_formed_in_every_state() {
        for language in Language::ALL {
            for accent in [None, Color::from_hex("#ffdd00")] {
                for fields in [
                    &[][..],
                    &["product_name", "website_url", "accent", "logo", "access", "mail-domains", "embed-origins"],
                    &["languages", "default-language", "reply-to", "time-zone", "synonyms"],
                ] {
                    let mut problems = Problems::default();
                    fields.iter().for_each(|field| problems.add(*field, "Wrong."));
                    let mut portal = portal();
                    portal.settings.accent = accent;
                    portal.settings.access = PortalAccess::Off;
                    let form = SettingsForm::of_stored(&portal, &Synonyms::default());
                    let logo = ImageView { path: Some("/admin/covers/a/b.png".to_owned()), ..ImageView::default() };
                    let logo = if fields.is_empty() { ImageView::default() } else { logo };
                    let page = sample_page(language, true, "Settings");
                    let snippet = snippet("https://acme.example/embed/roadmap", "A & \"B\"");
                    let template = SettingsTemplate::new(page, portal, form, logo, snippet, problems);
                    assert_eq!(template.page.brand().is_some(), accent.is_some());
                    assert!(template.is_hidden);
                    assert_well_formed(&template.render().unwrap());
                }
            }
        }
    }

    #[test]
    fn contrasts_are_those_of_the_stylesheet() {
        let stylesheet = include_str!("../../assets/site.css");
        let AccentPalette { light, dark } = AccentPalette::DEFAULT;
        for (name, light, dark) in [
            ("accent", light.fill, dark.fill),
            ("accent-ink", light.on_fill, dark.on_fill),
            ("accent-edge", light.edge, dark.edge),
            ("accent-text", light.text, dark.text),
        ] {
            assert!(stylesheet.contains(&format!("--{name}: light-dark({light}, {dark});")), "{name}");
        }
        let words = |t, colors, backgrounds| contrast_words(t, colors, backgrounds);
        assert_eq!(words(ENGLISH, light, LIGHT), "Button 6.6 : 1, link 7.6 : 1");
        assert_eq!(words(Text::utc(Language::German), dark, DARK), "Knopf 8.5 : 1, Link 10.8 : 1".replace('.', ","));
    }

    #[test]
    fn a_colour_that_was_chosen_wins_over_the_tick_of_the_default_one() {
        for (shown, accent, has_default_accent) in [
            ("17694f", "17694f", true),
            ("17694f", "ffd400", false),
            // The default one is ticked after the colours were shown.
            ("ffd400", "FFD400", true),
        ] {
            let form = format!("accent-shown=%23{shown}&accent=%23{accent}&accent-default=1");
            let form = SettingsForm::of_form(&Fields::parse(form.as_bytes()));
            assert_eq!(form.has_default_accent, has_default_accent, "{shown} {accent}");
        }
        assert!(SettingsForm::of_form(&Fields::parse(b"accent=%23ffd400&accent-default=1")).has_default_accent);
    }

    #[test]
    fn what_is_stored_changes_nothing() {
        let old = synonyms(&[&["2fa", "two-factor"]]);
        let new_settings = checked(&stored()).ok().unwrap();
        let operation = between(&portal(), &old, new_settings, &FormFingerprints::of_stored(&all(&portal(), &old)));
        assert!(operation.setting.is_none() && operation.portal.is_none() && operation.synonyms.is_none());
    }

    #[test]
    fn only_what_differs_is_changed() {
        let form = SettingsForm {
            website: " https://new.example ".to_owned(),
            accent: "#123456".to_owned(),
            has_default_accent: false,
            access: "private".to_owned(),
            mail_domains: "acme.example\n\n @Acme.example \nother.example".to_owned(),
            embed_origins: "https://help.example.com/\r\n".to_owned(),
            languages: vec!["ar".to_owned(), "en".to_owned()],
            default_language: "ar".to_owned(),
            reply_to: " help@acme.example ".to_owned(),
            time_zone: "Europe/Berlin".to_owned(),
            synonyms: "2fa,two-factor\n\nquokka , numbat".to_owned(),
            ..stored()
        };
        let old = synonyms(&[&["2fa", "two-factor"]]);
        let initial = FormFingerprints::of_stored(&all(&portal(), &old));
        let SettingsChanges { setting, portal, synonyms, contested } =
            between(&portal(), &old, checked(&form).ok().unwrap(), &initial);
        assert_eq!(contested, [""; 0]);
        let change = setting.unwrap().change;
        assert_eq!((change.product_name, change.website_url.unwrap().as_str()), (None, "https://new.example"));
        let domains = ["acme.example", "other.example"].map(|domain| MailDomain::from_stored(domain.to_owned()));
        let expected = PortalChange {
            access: Some(PortalAccess::Private),
            mail_domains: Some(domains.to_vec()),
            embed_origins: Some(vec![EmbedOrigin::from_stored("https://help.example.com".to_owned())]),
            languages: Some(vec![Language::Arabic, Language::English]),
            accent: Some(Color::from_hex("#123456")),
            reply_to: Some(parse_reply_to("", "help@acme.example").unwrap()),
            time_zone: Some(TimeZone::from_stored("Europe/Berlin")),
            ..PortalChange::default()
        };
        assert_eq!(portal.unwrap().change, expected);
        assert_eq!(synonyms.unwrap().synonyms.groups(), [["2fa", "two-factor"], ["quokka", "numbat"]]);
    }

    /// A text in all languages.
    fn localized(text: &str) -> Localized {
        Language::ALL.iter().fold(Localized::default(), |texts, language| texts.with(*language, text))
    }

    #[test]
    fn a_text_of_one_language_leaves_those_of_the_others() {
        let mut portal = portal();
        portal.settings.welcome_text = localized("Old");
        let none = Synonyms::default();
        let initial = FormFingerprints::of_stored(&all(&portal, &none));
        let mut form = SettingsForm::of_stored(&portal, &none);
        form.welcome[0] = " New ".to_owned();
        // Meanwhile, somebody else has changed that of another language.
        portal.settings.welcome_text = localized("Old").with(Language::German, "Neu");
        let changes = between(&portal, &none, checked(&form).ok().unwrap(), &initial);
        let expected = portal.settings.welcome_text.clone().with(Language::English, "New");
        assert_eq!((changes.contested.len(), changes.portal.unwrap().change.welcome_text), (0, Some(expected)));
    }

    #[test]
    fn what_others_have_changed_stays_or_is_contested() {
        let old = synonyms(&[&["2fa", "two-factor"]]);
        let initial = FormFingerprints::parse(&FormFingerprints::of_stored(&all(&portal(), &old)).text());
        assert_eq!(initial, FormFingerprints::of_stored(&all(&portal(), &old)));
        // Somebody else has changed everything.
        let mut now = portal();
        now.setting = Setting::parse("Other", "https://other.example").unwrap();
        now.settings = PortalSettings {
            access: PortalAccess::Off,
            mail_domains: vec![MailDomain::from_stored("other.example".to_owned())],
            is_indexed: !now.settings.is_indexed,
            embed_origins: vec![EmbedOrigin::from_stored("https://other.example".to_owned())],
            languages: vec![Language::Arabic],
            holds_posts: !now.settings.holds_posts,
            accent: Color::from_hex("#ffdd00"),
            logo: Some(AttachmentId::new(Uuid::from_u128(7))),
            reply_to: parse_reply_to("", "other@acme.example").unwrap(),
            time_zone: TimeZone::from_stored("Asia/Tokyo"),
            welcome_text: localized("Other"),
            form_question: localized("Other?"),
            noun: Noun::Ideas,
        };
        let new = synonyms(&[&["quokka", "numbat"]]);
        let save = |form: &SettingsForm, logo: Option<AttachmentId>| {
            let mut new_settings = checked(form).ok().unwrap();
            new_settings.settings.logo = logo;
            between(&now, &new, new_settings, &initial)
        };
        let untouched = save(&stored(), None);
        assert!(untouched.setting.is_none() && untouched.portal.is_none() && untouched.synonyms.is_none());
        assert_eq!(untouched.contested, [""; 0]);
        let form = SettingsForm {
            product_name: "Mine".to_owned(),
            website: "https://mine.example".to_owned(),
            accent: "#123456".to_owned(),
            has_default_accent: false,
            access: "private".to_owned(),
            mail_domains: "mine.example".to_owned(),
            embed_origins: "https://mine.example".to_owned(),
            languages: vec!["de".to_owned()],
            default_language: "de".to_owned(),
            is_indexed: !stored().is_indexed,
            holds_posts: !stored().holds_posts,
            reply_to: "mine@acme.example".to_owned(),
            time_zone: "Europe/Paris".to_owned(),
            noun: "feature_requests".to_owned(),
            synonyms: "mine, own".to_owned(),
            welcome: ["Mine", "", "Meins"].map(ToOwned::to_owned),
            question: ["Mine?", "Meins?", ""].map(ToOwned::to_owned),
            initial: FormFingerprints::default(),
        };
        let fields = [
            "product_name",
            "website_url",
            "accent",
            "logo",
            "access",
            "mail-domains",
            "embed-origins",
            "languages",
            "reply-to",
            "time-zone",
            "synonyms",
            "welcome-en",
            "welcome-ar",
            "question-en",
            "question-de",
        ];
        let contested = save(&form, Some(AttachmentId::new(Uuid::from_u128(8)))).contested;
        // A box has two states, so that both wanted the same.
        assert_eq!(contested, fields);
        let all_now = all(&now, &new);
        let words = |field| changed_meanwhile(ENGLISH, field, &all_now);
        for (field, value) in [
            ("product_name", "It is now: Other. "),
            ("access", "It is now: Only the team. "),
            ("languages", "It is now: العربية. "),
            ("synonyms", "It is now: quokka,numbat. "),
        ] {
            assert!(words(field).replace(['\u{2068}', '\u{2069}'], "").contains(value), "{}", words(field));
        }
        assert!(!words("logo").contains("now:"));
    }

    #[test]
    fn every_field_has_its_problem() {
        let many = |count: usize, line: fn(usize) -> String| (0..count).map(line).collect::<Vec<_>>().join("\n");
        for (form, field) in [
            (SettingsForm { product_name: " ".to_owned(), ..stored() }, "product_name"),
            (SettingsForm { website: "acme.example".to_owned(), ..stored() }, "website_url"),
            (SettingsForm { accent: "red".to_owned(), has_default_accent: false, ..stored() }, "accent"),
            (SettingsForm { access: "hack".to_owned(), ..stored() }, "access"),
            (SettingsForm { mail_domains: "a.example\nnot a domain".to_owned(), ..stored() }, "mail-domains"),
            (
                SettingsForm { mail_domains: many(51, |number| format!("a{number}.example")), ..stored() },
                "mail-domains",
            ),
            (SettingsForm { embed_origins: "https://a.example/path".to_owned(), ..stored() }, "embed-origins"),
            (
                SettingsForm { embed_origins: many(21, |number| format!("https://a{number}.example")), ..stored() },
                "embed-origins",
            ),
            (SettingsForm { languages: vec!["fr".to_owned()], ..stored() }, "languages"),
            (SettingsForm { welcome: ["", "", &"a".repeat(301)].map(ToOwned::to_owned), ..stored() }, "welcome-ar"),
            (SettingsForm { question: ["", &"a".repeat(151), ""].map(ToOwned::to_owned), ..stored() }, "question-de"),
            (SettingsForm { languages: vec!["de".to_owned()], ..stored() }, "default-language"),
            (SettingsForm { reply_to: "help".to_owned(), ..stored() }, "reply-to"),
            (SettingsForm { time_zone: "Berlin".to_owned(), ..stored() }, "time-zone"),
            (SettingsForm { synonyms: "alone".to_owned(), ..stored() }, "synonyms"),
            (SettingsForm { synonyms: many(501, |number| format!("a{number}, b{number}")), ..stored() }, "synonyms"),
        ] {
            assert_eq!(checked(&form).err(), Some(vec![field.to_owned()]));
        }
        let all = SettingsForm { synonyms: "a,".to_owned(), ..SettingsForm::default() };
        let fields = ["product_name", "website_url", "accent", "access", "languages", "time-zone", "synonyms"];
        assert_eq!(checked(&all).err().unwrap(), fields);
    }

    #[test]
    fn a_problem_of_synonyms_names_the_line() {
        let mut problems = Problems::default();
        assert_eq!(parse_synonyms(ENGLISH, "a, b\n\n\nc\n", &mut problems), None);
        let sentence = problems.of("synonyms").unwrap();
        assert!(sentence.starts_with("Line 4 cannot be used: “c”."), "{sentence}");
    }

    #[test]
    fn other_languages_keep_their_order() {
        let settings = PortalSettings {
            languages: vec![Language::German, Language::Arabic, Language::English],
            ..PortalSettings::default()
        };
        let codes = |codes: &[&str]| codes.iter().map(|code| (*code).to_owned()).collect::<Vec<_>>();
        let form =
            SettingsForm { languages: codes(&["en", "de", "ar"]), default_language: "de".to_owned(), ..stored() };
        let languages = check_languages(ENGLISH, &form, &settings, &mut Problems::default());
        assert_eq!(languages, Some(settings.languages.clone()));
        let form = SettingsForm { default_language: "en".to_owned(), ..form };
        let languages = check_languages(ENGLISH, &form, &settings, &mut Problems::default());
        assert_eq!(languages, Some(vec![Language::English, Language::German, Language::Arabic]));
    }
}
