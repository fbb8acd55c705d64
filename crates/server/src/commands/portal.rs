//! `roadmap portal`

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use clap::Subcommand;
use roadmap_domain::error::{FieldError, FieldProblem, Resource, RoadmapError, Validated};
use roadmap_domain::model::changelog::CoverImage;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::portal::{
    Color, EmbedOrigin, Language, MailDomain, Noun, PortalAccess, PortalChange, PortalSettings, parse_reply_to,
};
use roadmap_domain::model::time_zone::TimeZone;
use roadmap_domain::policy::links::Links;
use roadmap_domain::usecase::update_portal::UpdatePortal;
use serde::Serialize;

use super::output::{OutputFormat, Row};
use super::{WorkspaceArgument, links};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum PortalCommand {
    /// Show the settings of the portal of a workspace
    Show {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Change settings of the portal of a workspace, and keep the others
    Set {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        change: Box<ChangeArguments>,
        #[command(flatten)]
        format: OutputFormat,
    },
}

/// The settings to change.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ChangeArguments {
    /// Who sees the portal: everybody (`public`), members and addresses of the mail domains (`private`), or members
    /// (`off`)
    #[arg(long, value_name = "WHO")]
    visibility: Option<String>,
    /// Domains of the addresses that see a private portal, separated by commas; an empty text for none
    #[arg(long, value_name = "DOMAINS")]
    mail_domains: Option<String>,
    /// Whether search engines may list the portal: `true` or `false`
    #[arg(long, value_name = "BOOL")]
    indexing: Option<bool>,
    /// Origins of the sites that may embed the portal, separated by commas; an empty text for none
    #[arg(long, value_name = "ORIGINS")]
    embed_origins: Option<String>,
    /// Languages of the pages, separated by commas, the default one first: `en`, `de`, `ar`
    #[arg(long, value_name = "LANGUAGES")]
    languages: Option<String>,
    /// Whether ideas and comments of customers wait for approval: `on` or `off`
    #[arg(long, value_name = "SWITCH")]
    moderation: Option<String>,
    /// Accent colour such as `#17694f`, or `none`
    #[arg(long, value_name = "COLOUR")]
    accent_color: Option<String>,
    /// Address that replies to the mail of the workspace go to, or `none` for the sender's
    #[arg(long, value_name = "ADDRESS")]
    reply_to: Option<String>,
    /// Time zone of the IANA database in which times are shown and read, such as `Europe/Berlin`
    #[arg(long, value_name = "NAME")]
    time_zone: Option<String>,
    /// What the roadmap says first, in Markdown, behind its language as in `de:Willkommen`. Replaces all texts, so give it
    /// once for each language; an empty text removes them
    #[arg(long, value_name = "LANGUAGE:TEXT")]
    welcome_text: Option<Vec<String>>,
    /// What the form for ideas asks, in the same form
    #[arg(long, value_name = "LANGUAGE:TEXT")]
    form_question: Option<Vec<String>>,
    /// What the pages of visitors call a feature request: `feature_requests` or `ideas`
    #[arg(long, value_name = "NOUN")]
    noun: Option<String>,
}

/// The settings, with the names of the API.
#[derive(Serialize)]
struct OutputRow {
    visibility: &'static str,
    mail_domains: Vec<String>,
    indexing: bool,
    embed_origins: Vec<String>,
    languages: Vec<&'static str>,
    moderation: bool,
    accent_color: Option<String>,
    logo_url: Option<String>,
    reply_to: Option<String>,
    time_zone: &'static str,
    welcome_text: BTreeMap<&'static str, String>,
    form_question: BTreeMap<&'static str, String>,
    noun: &'static str,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &[
        "visibility",
        "mail_domains",
        "indexing",
        "embed_origins",
        "languages",
        "moderation",
        "accent_color",
        "logo_url",
        "reply_to",
        "time_zone",
        "welcome_text",
        "form_question",
        "noun",
    ];
}

impl OutputRow {
    fn new(settings: &PortalSettings, logo: Option<&CoverImage>, links: &Links) -> Self {
        Self {
            visibility: settings.access.name(),
            mail_domains: settings.mail_domains.iter().map(|domain| domain.as_str().to_owned()).collect(),
            indexing: settings.is_indexed,
            embed_origins: settings.embed_origins.iter().map(|origin| origin.as_str().to_owned()).collect(),
            languages: settings.languages.iter().map(|language| language.code()).collect(),
            moderation: settings.holds_posts,
            accent_color: settings.accent.map(|accent| accent.to_string()),
            logo_url: logo.map(|logo| links.blob(logo.attachment, &logo.filename)),
            reply_to: settings.reply_to.as_ref().map(|address| address.as_str().to_owned()),
            time_zone: settings.time_zone.name(),
            welcome_text: settings.welcome_text.texts().clone(),
            form_question: settings.form_question.texts().clone(),
            noun: settings.noun.name(),
        }
    }
}

impl PortalCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        match self {
            Self::Show { target, format } => {
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?;
                let portal = application.reader.portal(workspace.id).await?;
                let portal = portal.ok_or(RoadmapError::NotFound(Resource::Workspace))?;
                let links = links(settings, &workspace)?;
                format.print_one(&OutputRow::new(&portal.settings, portal.logo.as_ref(), &links))
            }
            Self::Set { target, change, format } => {
                let change = change.parse()?;
                ensure!(
                    change != PortalChange::default(),
                    "no setting to change: `roadmap portal set --help` lists all"
                );
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?;
                let links = links(settings, &workspace)?;
                let operation = UpdatePortal { change };
                let updated = application.executor.run_without_key(workspace.id, &operation).await;
                let updated = updated.context("the portal cannot be changed")?;
                format.print_one(&OutputRow::new(&updated.settings, updated.logo.as_ref(), &links))
            }
        }
    }
}

impl ChangeArguments {
    fn parse(&self) -> Validated<PortalChange> {
        let moderation = self.moderation.as_deref();
        Ok(PortalChange {
            access: self.visibility.as_deref().map(visibility).transpose()?,
            mail_domains: self
                .mail_domains
                .as_deref()
                .map(|raw| list("--mail-domains", MailDomain::MAX_COUNT, raw, MailDomain::parse))
                .transpose()?,
            is_indexed: self.indexing,
            embed_origins: self
                .embed_origins
                .as_deref()
                .map(|raw| list("--embed-origins", EmbedOrigin::MAX_COUNT, raw, EmbedOrigin::parse))
                .transpose()?,
            languages: self.languages.as_deref().map(languages).transpose()?,
            holds_posts: moderation.map(|raw| switch("--moderation", raw)).transpose()?,
            accent: self.accent_color.as_deref().map(accent).transpose()?,
            logo: None,
            reply_to: self.reply_to.as_deref().map(reply_to).transpose()?,
            time_zone: self.time_zone.as_deref().map(|raw| TimeZone::parse("--time-zone", raw)).transpose()?,
            welcome_text: self
                .welcome_text
                .as_deref()
                .map(|raw| localized("--welcome-text", PortalSettings::MAX_WELCOME, raw))
                .transpose()?,
            form_question: self
                .form_question
                .as_deref()
                .map(|raw| localized("--form-question", PortalSettings::MAX_QUESTION, raw))
                .transpose()?,
            noun: self.noun.as_deref().map(|raw| Noun::parse("--noun", raw)).transpose()?,
        })
    }
}

fn malformed(field: &str, expected: &'static str) -> FieldError {
    FieldError::new(field, FieldProblem::Malformed { expected })
}

fn visibility(raw: &str) -> Validated<PortalAccess> {
    PortalAccess::from_name(raw).ok_or_else(|| malformed("--visibility", "one of public, private, off"))
}

fn switch(field: &str, raw: &str) -> Validated<bool> {
    match raw {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(malformed(field, "on or off")),
    }
}

fn accent(raw: &str) -> Validated<Option<Color>> {
    if raw == "none" { Ok(None) } else { Color::parse("--accent-color", raw).map(Some) }
}

fn reply_to(raw: &str) -> Validated<Option<EmailAddress>> {
    if raw == "none" { Ok(None) } else { parse_reply_to("--reply-to", raw) }
}

/// Parses texts behind the codes of their languages. Empty ones are omitted.
fn localized(flag: &str, max: usize, raw: &[String]) -> Validated<Localized> {
    let texts = raw.iter().filter(|raw| !raw.is_empty()).map(|raw| {
        let (code, text) = raw.split_once(':')?;
        Language::from_code(code).map(|language| (language.code(), Some(text)))
    });
    let texts: Option<Vec<_>> = texts.collect();
    let texts = texts.ok_or_else(|| malformed(flag, "a language of en, de, ar and a text, such as en:Hello"))?;
    Localized::parse(flag, max, texts)
}

fn languages(raw: &str) -> Validated<Vec<Language>> {
    const FLAG: &str = "--languages";
    let parse =
        |field: &str, code: &str| Language::from_code(code).ok_or_else(|| malformed(field, "one of en, de, ar"));
    let languages = list(FLAG, usize::MAX, raw, parse)?;
    if languages.is_empty() { Err(FieldError::missing(FLAG)) } else { Ok(languages) }
}

/// Parses items with commas between them. Repeated ones are omitted.
fn list<T: PartialEq>(
    flag: &str,
    max: usize,
    raw: &str,
    parse: impl Fn(&str, &str) -> Validated<T>,
) -> Validated<Vec<T>> {
    let mut items = Vec::new();
    for raw in raw.split(',').map(str::trim).filter(|raw| !raw.is_empty()) {
        let item = parse(flag, raw)?;
        if !items.contains(&item) {
            items.push(item);
        }
    }
    if items.len() > max { Err(FieldError::new(flag, FieldProblem::TooMany { max })) } else { Ok(items) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_given_settings_change() {
        assert_eq!(ChangeArguments::default().parse().unwrap(), PortalChange::default());
        let arguments = ChangeArguments {
            visibility: Some("private".to_owned()),
            mail_domains: Some("acme.example, @ACME.example,b.example".to_owned()),
            indexing: Some(false),
            embed_origins: Some(String::new()),
            languages: Some("de,en".to_owned()),
            moderation: Some("on".to_owned()),
            accent_color: Some("none".to_owned()),
            reply_to: Some("help@acme.example".to_owned()),
            time_zone: Some("europe/berlin".to_owned()),
            welcome_text: Some(vec!["en:Hi: you".to_owned(), "de:Hallo".to_owned()]),
            form_question: Some(vec![String::new()]),
            noun: Some("ideas".to_owned()),
        };
        let expected = PortalChange {
            access: Some(PortalAccess::Private),
            mail_domains: Some(["acme.example", "b.example"].map(|name| MailDomain::from_stored(name.into())).to_vec()),
            is_indexed: Some(false),
            embed_origins: Some(Vec::new()),
            languages: Some(vec![Language::German, Language::English]),
            holds_posts: Some(true),
            accent: Some(None),
            logo: None,
            reply_to: Some(Some(EmailAddress::from_stored("help@acme.example".to_owned()))),
            time_zone: Some(TimeZone::from_stored("Europe/Berlin")),
            welcome_text: Some(Localized::default().with(Language::English, "Hi: you").with(Language::German, "Hallo")),
            form_question: Some(Localized::default()),
            noun: Some(Noun::Ideas),
        };
        assert_eq!(arguments.parse().unwrap(), expected);
    }

    #[test]
    fn invalid_values_are_named_by_their_flags() {
        let none = ChangeArguments::default;
        let many = (0..=20).map(|number| format!("https://{number}.example")).collect::<Vec<_>>().join(",");
        for (arguments, message) in [
            (
                ChangeArguments { visibility: Some("hidden".to_owned()), ..none() },
                "--visibility is not one of public, private, off",
            ),
            (
                ChangeArguments { mail_domains: Some("acme".to_owned()), ..none() },
                "--mail-domains is not a mail domain such as example.com",
            ),
            (
                ChangeArguments { embed_origins: Some("acme.example".to_owned()), ..none() },
                "--embed-origins is not an origin such as https://help.example.com",
            ),
            (ChangeArguments { embed_origins: Some(many), ..none() }, "--embed-origins must have at most 20 items"),
            (ChangeArguments { languages: Some("en,fr".to_owned()), ..none() }, "--languages is not one of en, de, ar"),
            (
                ChangeArguments { languages: Some(" ,".to_owned()), ..none() },
                "param is missing or the value is empty or invalid: --languages",
            ),
            (ChangeArguments { moderation: Some("true".to_owned()), ..none() }, "--moderation is not on or off"),
            (
                ChangeArguments { accent_color: Some("green".to_owned()), ..none() },
                "--accent-color is not a colour such as #17694f",
            ),
            (
                ChangeArguments { reply_to: Some("help".to_owned()), ..none() },
                "--reply-to is not an address that replies can be sent to",
            ),
            (
                ChangeArguments { time_zone: Some("CEST+1".to_owned()), ..none() },
                "--time-zone is not an IANA time zone such as Europe/Berlin",
            ),
            (
                ChangeArguments { welcome_text: Some(vec!["Hello".to_owned()]), ..none() },
                "--welcome-text is not a language of en, de, ar and a text, such as en:Hello",
            ),
            (
                ChangeArguments { form_question: Some(vec!["fr:Quoi ?".to_owned()]), ..none() },
                "--form-question is not a language of en, de, ar and a text, such as en:Hello",
            ),
            (
                ChangeArguments { noun: Some("wishes".to_owned()), ..none() },
                "--noun is not one of feature_requests, ideas",
            ),
        ] {
            assert_eq!(arguments.parse().unwrap_err().to_string(), message);
        }
    }
}
