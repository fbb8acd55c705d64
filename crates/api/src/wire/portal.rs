//! The settings of the portal.

use roadmap_domain::model::changelog::CoverImage;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::portal::{EmbedOrigin, Language, MailDomain, PortalSettings};
use serde::Serialize;
use utoipa::ToSchema;

use super::Links;

/// The current settings of the portal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PortalShown)]
pub(crate) struct Response<'a> {
    portal: Fields<'a>,
}

/// The settings of the portal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Portal)]
pub(crate) struct Fields<'a> {
    #[schema(value_type = Visibility)]
    visibility: &'static str,
    /// The domains of the addresses whose owners can see a private portal.
    #[schema(max_items = 50)]
    mail_domains: Vec<&'a str>,
    /// Whether search engines may list it.
    indexing: bool,
    /// The origins of the sites that may embed it.
    #[schema(max_items = 20)]
    embed_origins: Vec<&'a str>,
    /// The first one is the default.
    #[schema(value_type = Vec<LanguageCode>, min_items = 1, max_items = 3)]
    languages: Vec<&'static str>,
    /// Whether feature requests and comments of customers on the portal wait for approval.
    moderation: bool,
    /// Null unless the workspace has chosen one.
    #[schema(pattern = "^#[0-9a-f]{6}$", required = true)]
    accent_color: Option<String>,
    /// The `blob_url` of the logo.
    #[schema(format = "uri", required = true)]
    logo_url: Option<String>,
    /// The address that replies to mail go to. Null: that of the sender.
    #[schema(format = "email", required = true)]
    reply_to: Option<&'a str>,
    /// The time zone of the team, a name of the IANA database, in which pages show and read times.
    time_zone: &'static str,
    /// What the roadmap says first, in Markdown.
    welcome_text: LocalizedText<'a>,
    /// What the form for ideas asks.
    form_question: LocalizedText<'a>,
    /// What the pages of visitors call a feature request.
    #[schema(value_type = NounName)]
    noun: &'static str,
}

/// What people submit: feature requests, or ideas everywhere.
#[derive(ToSchema)]
#[schema(as = PortalNoun, rename_all = "snake_case")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum NounName {
    FeatureRequests,
    Ideas,
}

/// A text by the codes of its languages. In a language that is left out, pages show the product's own text, or the name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LocalizedText)]
pub(crate) struct LocalizedText<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    en: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    de: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ar: Option<&'a str>,
}

impl<'a> LocalizedText<'a> {
    pub(crate) fn new(texts: &'a Localized) -> Self {
        let [en, de, ar] = [Language::English, Language::German, Language::Arabic].map(|language| texts.get(language));
        Self { en, de, ar }
    }
}

/// Who can see the portal: everybody, members and owners of certain addresses, or members.
#[derive(ToSchema)]
#[schema(as = PortalVisibility, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum Visibility {
    Public,
    Private,
    Off,
}

/// A language of the portal, as in BCP 47.
#[derive(ToSchema)]
#[schema(as = PortalLanguage, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the codes, this lists them in the document")]
enum LanguageCode {
    En,
    De,
    Ar,
}

/// Renders the settings. `logo` has the file name of their logo.
pub(crate) fn response<'a>(
    settings: &'a PortalSettings,
    logo: Option<&CoverImage>,
    links: &Links,
) -> impl Serialize + use<'a> {
    Response {
        portal: Fields {
            visibility: settings.access.name(),
            mail_domains: settings.mail_domains.iter().map(MailDomain::as_str).collect(),
            indexing: settings.is_indexed,
            embed_origins: settings.embed_origins.iter().map(EmbedOrigin::as_str).collect(),
            languages: settings.languages.iter().map(|language| Language::code(*language)).collect(),
            moderation: settings.holds_posts,
            accent_color: settings.accent.map(|accent| accent.to_string()),
            logo_url: logo.map(|logo| links.blob(logo.attachment, &logo.filename)),
            reply_to: settings.reply_to.as_ref().map(EmailAddress::as_str),
            time_zone: settings.time_zone.name(),
            welcome_text: LocalizedText::new(&settings.welcome_text),
            form_question: LocalizedText::new(&settings.form_question),
            noun: settings.noun.name(),
        },
    }
}
