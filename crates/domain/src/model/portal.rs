//! The public portal of a workspace: its settings, and what its pages show.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::changelog::{ChangelogCategory, CoverImage};
use crate::model::comment::ListedComment;
use crate::model::customer::CustomerName;
use crate::model::email_address::{EmailAddress, FoldedEmail};
use crate::model::event::Event;
use crate::model::feature_request::{FeatureRequestDetail, FeatureRequestSummary, RequestLink, Tag, Title};
use crate::model::html::CleanHtml;
use crate::model::id::{AttachmentId, ChangelogId, CommentId, CustomerId, LaneId};
use crate::model::localized::Localized;
use crate::model::pagination::{Listing, PageRequest};
use crate::model::session::SessionEntry;
use crate::model::setting::Setting;
use crate::model::text;
use crate::model::time_zone::TimeZone;
use crate::model::timestamp::Timestamp;
use url::{Host, Url};

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Language {
    #[default]
    English,
    German,
    /// Arabic, which is written from right to left.
    Arabic,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 3] = [Self::English, Self::German, Self::Arabic];

    /// Returns the BCP 47 tag.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::Arabic => "ar",
        }
    }

    /// Returns the language with this tag.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// Returns the language's own name for itself.
    #[must_use]
    pub const fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::Arabic => "العربية",
        }
    }

    /// Returns the direction of writing, as in HTML's `dir`.
    #[must_use]
    pub const fn direction(self) -> &'static str {
        match self {
            Self::English | Self::German => "ltr",
            Self::Arabic => "rtl",
        }
    }
}

/// Who can see a portal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PortalAccess {
    /// Everybody.
    #[default]
    Public,
    /// Members, and signed-in people whose address has one of the portal's mail domains.
    Private,
    /// Members.
    Off,
}

impl PortalAccess {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Public, Self::Private, Self::Off];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
            Self::Off => "off",
        }
    }

    /// Returns the access with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|access| access.name() == name)
    }
}

/// The domain of mail addresses, in lower case and with A-labels: `example.com`, `xn--exmple-cua.de`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailDomain(String);

impl MailDomain {
    /// Maximum number of domains of a portal.
    pub const MAX_COUNT: usize = 50;

    /// Validates a domain. An `@` before it is ignored.
    ///
    /// # Errors
    /// Not a host name with at least two labels.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let raw = raw.trim();
        text::validate_text(field, raw, 254)?;
        let malformed =
            || FieldError::new(field, FieldProblem::Malformed { expected: "a mail domain such as example.com" });
        match Host::parse(raw.strip_prefix('@').unwrap_or(raw)) {
            Ok(Host::Domain(domain)) if domain.contains('.') && !domain.ends_with('.') => Ok(Self(domain)),
            _ => Err(malformed()),
        }
    }

    /// Wraps a stored domain, which is not validated again.
    #[must_use]
    pub fn from_stored(domain: String) -> Self {
        Self(domain)
    }

    /// Returns the domain.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the domain of an address, in any spelling. Subdomains are others.
    #[must_use]
    pub fn is_of(&self, address: &FoldedEmail) -> bool {
        address.domain() == Some(&self.0)
    }
}

/// Whether a host has only characters of host names. A URL may also have others, which end a directive of
/// `Content-Security-Policy` (`;`), a policy (`,`), or mean something else there (`*`, `'`).
fn is_plain_host(host: &Host<&str>) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match host {
        Host::Domain(domain) => domain.split('.').all(|label| !label.is_empty() && label.bytes().all(is_of_name)),
        Host::Ipv4(_) | Host::Ipv6(_) => true,
    }
}

/// An origin (RFC 6454) whose pages may show embedded pages of the portal: `https://help.example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedOrigin(String);

impl EmbedOrigin {
    /// Maximum number of origins of a portal.
    pub const MAX_COUNT: usize = 20;

    /// Validates an origin: `http` or `https`, host, and port if it is not the default.
    ///
    /// # Errors
    /// Any other value, also a URL with a path.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let malformed = || {
            FieldError::new(field, FieldProblem::Malformed { expected: "an origin such as https://help.example.com" })
        };
        text::validate_text(field, raw, 300)?;
        let url = Url::parse(raw.trim()).map_err(|_| malformed())?;
        let is_bare = matches!(url.scheme(), "http" | "https")
            && url.host().is_some_and(|host| is_plain_host(&host))
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if is_bare { Ok(Self(url.origin().ascii_serialization())) } else { Err(malformed()) }
    }

    /// Wraps a stored origin, which is not validated again.
    #[must_use]
    pub fn from_stored(origin: String) -> Self {
        Self(origin)
    }

    /// Returns the origin as browsers send it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the origin as a source in `Content-Security-Policy`. `None` for a stored one that is not valid.
    #[must_use]
    pub fn as_source(&self) -> Option<&str> {
        Self::parse("", &self.0).is_ok().then_some(self.as_str())
    }
}

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

impl Color {
    /// Creates a colour.
    #[must_use]
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    /// Validates a colour written as `#1a2b3c` or `#123`.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let malformed = || FieldError::new(field, FieldProblem::Malformed { expected: "a colour such as #17694f" });
        Self::from_hex(raw.trim()).ok_or_else(malformed)
    }

    /// Returns the colour of a text such as `#1a2b3c` or `#123`.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let part = |at: usize, length: usize| u8::from_str_radix(digits.get(at..at + length)?, 16).ok();
        match digits.len() {
            6 => Some(Self::new(part(0, 2)?, part(2, 2)?, part(4, 2)?)),
            3 => Some(Self::new(part(0, 1)? * 17, part(1, 1)? * 17, part(2, 1)? * 17)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

/// Validates the address that replies go to. A blank one is none.
///
/// # Errors
/// Anything else than an address that any mail server accepts, which excludes quoted local parts and those that are not
/// ASCII.
pub fn parse_reply_to(field: &str, raw: &str) -> Validated<Option<EmailAddress>> {
    if raw.trim().is_empty() {
        return Ok(None);
    }
    let invalid =
        || FieldError::new(field, FieldProblem::Malformed { expected: "an address that replies can be sent to" });
    let address = EmailAddress::parse(field, raw).map_err(|_| invalid())?;
    let written = address.with_ascii_domain();
    let is_plain =
        written.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b','));
    if is_plain { Ok(Some(address)) } else { Err(invalid()) }
}

/// The settings of a portal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortalSettings {
    /// Who can see it.
    pub access: PortalAccess,
    /// The domains of the addresses whose owners can see a private portal.
    pub mail_domains: Vec<MailDomain>,
    /// Whether search engines may list it.
    pub is_indexed: bool,
    /// Where its embedded pages may be shown.
    pub embed_origins: Vec<EmbedOrigin>,
    /// The languages of its pages, at least one. The first is the default.
    pub languages: Vec<Language>,
    /// Whether ideas and comments of customers wait for approval.
    pub holds_posts: bool,
    /// The accent colour, if the workspace has chosen one.
    pub accent: Option<Color>,
    /// The logo, an uploaded image.
    pub logo: Option<AttachmentId>,
    /// Where replies to its mail go. `None`: to the sender of all mail.
    pub reply_to: Option<EmailAddress>,
    /// The time zone of the team, in which times are shown and read.
    pub time_zone: TimeZone,
    /// What the roadmap says first, in Markdown, at most [`Self::MAX_WELCOME`] characters.
    pub welcome_text: Localized,
    /// What the form for ideas asks, at most [`Self::MAX_QUESTION`] characters.
    pub form_question: Localized,
    /// What the pages of visitors call a feature request.
    pub noun: Noun,
}

/// What the pages of visitors call a feature request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Noun {
    /// A feature request. What somebody is about to submit is an idea.
    #[default]
    FeatureRequests,
    /// An idea, everywhere.
    Ideas,
}

impl Noun {
    /// All nouns, as they are offered.
    pub const ALL: [Self; 2] = [Self::FeatureRequests, Self::Ideas];

    /// Returns the name that is stored and sent.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FeatureRequests => "feature_requests",
            Self::Ideas => "ideas",
        }
    }

    /// Returns the noun with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|noun| noun.name() == name)
    }

    /// Validates a name. An error names `field`.
    ///
    /// # Errors
    /// Another name.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let expected = "one of feature_requests, ideas";
        Self::from_name(raw.trim()).ok_or_else(|| FieldError::new(field, FieldProblem::Malformed { expected }))
    }
}

impl Default for PortalSettings {
    fn default() -> Self {
        Self {
            access: PortalAccess::default(),
            mail_domains: Vec::new(),
            is_indexed: true,
            embed_origins: Vec::new(),
            languages: Language::ALL.to_vec(),
            holds_posts: false,
            accent: None,
            logo: None,
            reply_to: None,
            time_zone: TimeZone::UTC,
            welcome_text: Localized::default(),
            form_question: Localized::default(),
            noun: Noun::default(),
        }
    }
}

/// A change of a portal's settings. `None` leaves a setting as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortalChange {
    /// Who can see it.
    pub access: Option<PortalAccess>,
    /// The domains of the addresses whose owners can see a private portal.
    pub mail_domains: Option<Vec<MailDomain>>,
    /// Whether search engines may list it.
    pub is_indexed: Option<bool>,
    /// Where its embedded pages may be shown.
    pub embed_origins: Option<Vec<EmbedOrigin>>,
    /// The languages of its pages, at least one.
    pub languages: Option<Vec<Language>>,
    /// Whether ideas and comments of customers wait for approval.
    pub holds_posts: Option<bool>,
    /// The accent colour. `Some(None)` removes it.
    pub accent: Option<Option<Color>>,
    /// The logo. `Some(None)` removes it.
    pub logo: Option<Option<AttachmentId>>,
    /// Where replies to its mail go. `Some(None)` removes the address.
    pub reply_to: Option<Option<EmailAddress>>,
    /// The time zone of the team.
    pub time_zone: Option<TimeZone>,
    /// What the roadmap says first.
    pub welcome_text: Option<Localized>,
    /// What the form for ideas asks.
    pub form_question: Option<Localized>,
    /// What the pages of visitors call a feature request.
    pub noun: Option<Noun>,
}

impl PortalSettings {
    /// Maximum number of characters of a welcome text.
    pub const MAX_WELCOME: usize = 300;
    /// Maximum number of characters of the question of the form for ideas.
    pub const MAX_QUESTION: usize = 150;

    /// Returns the settings with a change.
    #[must_use]
    pub fn with_change(self, change: &PortalChange) -> Self {
        let change = change.clone();
        Self {
            access: change.access.unwrap_or(self.access),
            mail_domains: change.mail_domains.unwrap_or(self.mail_domains),
            is_indexed: change.is_indexed.unwrap_or(self.is_indexed),
            embed_origins: change.embed_origins.unwrap_or(self.embed_origins),
            languages: change.languages.unwrap_or(self.languages),
            holds_posts: change.holds_posts.unwrap_or(self.holds_posts),
            accent: change.accent.unwrap_or(self.accent),
            logo: change.logo.unwrap_or(self.logo),
            reply_to: change.reply_to.unwrap_or(self.reply_to),
            time_zone: change.time_zone.unwrap_or(self.time_zone),
            welcome_text: change.welcome_text.unwrap_or(self.welcome_text),
            form_question: change.form_question.unwrap_or(self.form_question),
            noun: change.noun.unwrap_or(self.noun),
        }
    }

    /// Whether the owner of a confirmed address may see the portal.
    #[must_use]
    pub fn admits(&self, email: &FoldedEmail, is_member: bool) -> bool {
        match self.access {
            PortalAccess::Public => true,
            PortalAccess::Private => is_member || self.mail_domains.iter().any(|domain| domain.is_of(email)),
            PortalAccess::Off => is_member,
        }
    }

    /// Returns the default language.
    #[must_use]
    pub fn default_language(&self) -> Language {
        self.languages.first().copied().unwrap_or_default()
    }

    /// Returns a customer's language if the portal is in it, else the default one.
    #[must_use]
    pub fn language_for(&self, customer: Option<Language>) -> Language {
        customer.filter(|language| self.languages.contains(language)).unwrap_or_else(|| self.default_language())
    }
}

/// What every page of a portal needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portal {
    /// The product's name and website.
    pub setting: Setting,
    /// The portal's settings.
    pub settings: PortalSettings,
    /// The logo's file name, if there is a logo.
    pub logo: Option<CoverImage>,
}

/// The order of a list of feature requests on the portal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum PortalSort {
    /// Those that people vote for now first: [`crate::policy::trending`].
    #[default]
    Trending,
    /// Most voted first.
    Votes,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
    /// Last updated first.
    Updated,
}

impl PortalSort {
    /// All orders, as they are offered.
    pub const ALL: [Self; 5] = [Self::Trending, Self::Votes, Self::Newest, Self::Oldest, Self::Updated];

    /// Returns the value of the parameter.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trending => "trending",
            Self::Votes => "votes",
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Updated => "updated",
        }
    }

    /// Returns the order of a parameter. Anything unknown is the default.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|sort| sort.name() == name).unwrap_or_default()
    }
}

/// Which of a person's own feature requests a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mine {
    /// Those that the person voted for.
    Voted,
    /// Those that the person submitted, also private ones and those that await approval.
    Written,
}

/// Which feature requests a list of the portal shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortalFilter {
    /// Only those in this lane.
    pub lane: Option<LaneId>,
    /// Only those with this tag, regardless of case.
    pub tag: Option<Tag>,
    /// Only those of this customer.
    pub mine: Option<(Mine, CustomerId)>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortalList {
    /// Which feature requests.
    pub filter: PortalFilter,
    /// In which order.
    pub sort: PortalSort,
    /// Which page. Pages after [`Self::MAX_PAGE`] are empty.
    pub page: PageRequest,
}

impl PortalList {
    /// The last page that is read. Later ones would cost more than they are worth to anybody.
    pub const MAX_PAGE: u64 = 200;
    /// The number of feature requests with a tag, or of votes or submissions of a customer, that are read to sort them,
    /// the newest ones. Totals of such lists are not above it.
    pub const TAG_LIMIT: u32 = 5_000;
}

/// A row of a list: a feature request with the beginning of its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortalRow {
    pub summary: FeatureRequestSummary,
    /// Since when it has its public status, or none.
    pub status_since: Timestamp,
    /// The beginning of the description as plain text, at most 500 characters.
    pub excerpt: String,
    /// Whether it is hidden from everybody but members and its author.
    pub private: bool,
    /// Whether it waits for approval.
    pub awaiting_approval: bool,
}

/// Who looks at a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Viewer {
    /// The customer with the address of the session, if there is one.
    pub customer: Option<CustomerId>,
    /// Whether the session belongs to a member.
    pub is_member: bool,
}

/// The page of a feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestPage {
    /// The feature request. A merged one is shown as what it was merged into.
    pub detail: FeatureRequestDetail,
    /// A page of its comments, oldest first.
    pub comments: Listing<ListedComment>,
    /// The latest comment of the team.
    pub answer: Option<ListedComment>,
    /// Its history, newest first, at most [`Self::MAX_EVENTS`].
    pub events: Vec<Event>,
    /// Comments in its tree that wait for approval, oldest first, at most [`Self::MAX_HELD`]: those of the viewer, or all
    /// of them if the viewer is a member.
    pub held: Vec<HeldComment>,
    /// Whether the viewer has voted.
    pub has_voted: bool,
    /// Whether the viewer gets mail about it.
    pub is_subscribed: bool,
}

impl RequestPage {
    /// Number of comments on a page.
    pub const COMMENTS: u64 = 30;
    /// Maximum number of events.
    pub const MAX_EVENTS: u32 = 30;
    /// Maximum number of comments that wait for approval.
    pub const MAX_HELD: u32 = 100;

    /// Whether this viewer may see it. A private one is visible to members and its author.
    #[must_use]
    pub fn is_visible_to(&self, viewer: Viewer) -> bool {
        let author = self.detail.author.as_ref().map(|author| author.id);
        !self.detail.private || viewer.is_member || (author.is_some() && author == viewer.customer)
    }
}

/// A comment that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldComment {
    /// ID, which it keeps.
    pub id: CommentId,
    pub content: CleanHtml,
    pub author: CustomerName,
    /// Timestamp of the submission.
    pub created_at: Timestamp,
}

/// An idea or a comment that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldPost {
    /// The feature request: the idea itself, or what the comment is about.
    pub request: RequestLink,
    /// The comment. `None` for an idea.
    pub comment: Option<HeldComment>,
    /// The author of the idea, if it is one.
    pub author: Option<CustomerName>,
    /// Timestamp of the submission.
    pub created_at: Timestamp,
}

/// A published changelog with the public feature requests that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedChangelog {
    pub id: ChangelogId,
    pub title: Title,
    pub content: CleanHtml,
    pub category: Option<ChangelogCategory>,
    pub cover: Option<CoverImage>,
    /// Timestamp of the publication.
    pub published_at: Timestamp,
    /// Timestamp of the last change.
    pub updated_at: Timestamp,
    /// The public feature requests that it is about, in the team's order.
    pub feature_requests: Vec<FeatureRequestSummary>,
}

/// A changelog as another page leads to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogLink {
    pub id: ChangelogId,
    pub title: Title,
}

/// The changelogs that were published before and after another one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangelogNeighbours {
    /// The latest one of those before it.
    pub older: Option<ChangelogLink>,
    /// The first one of those after it.
    pub newer: Option<ChangelogLink>,
}

/// The changelog that a feature request was shipped with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShippedIn {
    pub changelog: ChangelogId,
    pub title: Title,
    /// Timestamp of the publication.
    pub published_at: Timestamp,
}

/// The lists of somebody's account, each with its latest entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccountLists {
    /// What the person voted for or gets mail about, the one that has its status for the shortest time first.
    pub followed: Vec<FollowedRequest>,
    /// What the person submitted, newest first.
    pub ideas: Vec<PortalRow>,
    /// The person's sessions, latest use first.
    pub sessions: Vec<SessionEntry>,
}

/// A feature request that somebody voted for or gets mail about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedRequest {
    pub row: PortalRow,
    /// Whether the person voted for it, or for what is merged into it.
    pub has_voted: bool,
    /// Whether the person gets mail about it.
    pub is_followed: bool,
}

/// A public feature request in the sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitemapEntry {
    /// The feature request.
    pub request: RequestLink,
    /// Timestamp of the last change.
    pub updated_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addition 7.
    #[test]
    fn mail_domains_are_host_names() {
        for (raw, domain) in [("Example.com", "example.com"), ("@a.example.com", "a.example.com"), (" x.de ", "x.de")] {
            assert_eq!(MailDomain::parse("domains", raw).unwrap().as_str(), domain);
        }
        for raw in
            ["", "com", "a b.com", "ann@example.com", "127.0.0.1", "example.com.", "http://example.com", "*.com/"]
        {
            let error = MailDomain::parse("domains", raw).unwrap_err().to_string();
            assert_eq!(error, "domains is not a mail domain such as example.com", "{raw}");
        }
        let address = |text: &str| EmailAddress::from_stored(text.to_owned());
        for (domain, text, is_of) in [
            ("example.com", "ann@example.com", true),
            ("example.com", "ann@EXAMPLE.com", true),
            ("example.com", "ann@sub.example.com", false),
            ("example.com", "example.com", false),
            ("exämple.de", "ann@exämple.de", true),
            ("exämple.de", "ann@EXÄMPLE.de", true),
            ("exämple.de", "ann@xn--exmple-cua.de", true),
            ("xn--exmple-cua.de", "ann@exa\u{308}mple.de", true),
            ("xn--exmple-cua.de", "ann@exemple.de", false),
        ] {
            let domain = MailDomain::parse("domains", domain).unwrap();
            assert_eq!(domain.is_of(address(text).folded()), is_of, "{text}");
        }
    }

    /// Addition 7.
    #[test]
    fn origins_have_no_path_and_no_default_port() {
        for (raw, origin) in [
            ("https://Help.example.com", "https://help.example.com"),
            ("https://help.example.com:443/", "https://help.example.com"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("https://hälp.example", "https://xn--hlp-qla.example"),
            ("https://xn--hlp-qla.example", "https://xn--hlp-qla.example"),
            ("https://a_b-c.example:8443", "https://a_b-c.example:8443"),
            ("http://192.0.2.7:8080", "http://192.0.2.7:8080"),
            ("http://[2001:DB8::1]:8080", "http://[2001:db8::1]:8080"),
        ] {
            let parsed = EmbedOrigin::parse("embed_origins", raw).unwrap();
            assert_eq!((parsed.as_str(), parsed.as_source()), (origin, Some(origin)));
        }
        for raw in [
            "",
            "*",
            "https://*.example.com",
            "help.example.com",
            "https://help.example.com/x",
            "https://a@help.example.com",
            "ftp://example.com",
            "https://example.com?q",
            "https://example.com; script-src *",
            "'self'",
            "https://a.example;sandbox",
            "https://a.example,default-src",
            "https://a'b.example",
            "https://a\"b.example",
            "https://a b.example",
            "https://a%3bsandbox.example",
            "https://a%2csandbox.example",
            "https://a(b).example",
            "https://a!b.example",
            "https://a$b.example",
            "https://a&b.example",
            "https://a+b.example",
            "https://a=b.example",
            "https://a~b.example",
            "https://a`b.example",
            "https://a{b}.example",
            "https://a.example.",
            "https://a..example",
            "https://.example",
        ] {
            assert!(EmbedOrigin::parse("embed_origins", raw).is_err(), "{raw}");
            assert_eq!(EmbedOrigin::from_stored(raw.to_owned()).as_source(), None, "{raw}");
        }
    }

    /// Addition 7.
    #[test]
    fn colours_are_hexadecimal() {
        for (raw, colour) in [("#17694F", "#17694f"), (" #fff ", "#ffffff"), ("#000000", "#000000")] {
            assert_eq!(Color::parse("accent_color", raw).unwrap().to_string(), colour);
        }
        for raw in ["", "17694f", "#12", "#1234567", "#12345g", "red", "#é12", "#+12345"] {
            assert_eq!(
                Color::parse("accent_color", raw).unwrap_err().to_string(),
                "accent_color is not a colour such as #17694f",
                "{raw}"
            );
        }
    }

    #[test]
    fn only_those_who_may_see_a_portal_are_admitted() {
        let settings = |access| PortalSettings {
            access,
            mail_domains: vec![MailDomain::from_stored("example.com".to_owned())],
            ..PortalSettings::default()
        };
        for (access, email, is_member, may) in [
            (PortalAccess::Public, "ann@other.example", false, true),
            (PortalAccess::Private, "ann@other.example", false, false),
            (PortalAccess::Private, "ann@example.com", false, true),
            (PortalAccess::Private, "ann@other.example", true, true),
            (PortalAccess::Off, "ann@example.com", false, false),
            (PortalAccess::Off, "ann@other.example", true, true),
        ] {
            let address = EmailAddress::from_stored(email.to_owned());
            assert_eq!(settings(access).admits(address.folded(), is_member), may, "{access:?} {email}");
        }
    }

    /// Addition 7.
    #[test]
    fn a_change_keeps_the_other_settings() {
        let old = PortalSettings { holds_posts: true, ..PortalSettings::default() };
        let change = PortalChange { access: Some(PortalAccess::Off), accent: Some(None), ..PortalChange::default() };
        let new = old.clone().with_change(&change);
        assert_eq!(new, PortalSettings { access: PortalAccess::Off, ..old.clone() });
        assert_eq!(old.clone().with_change(&PortalChange::default()), old);
    }

    #[test]
    fn replies_go_to_addresses_that_any_mail_server_accepts() {
        for (raw, address) in [
            (" Help@acme.example ", Some("Help@acme.example")),
            ("help+1@bücher.example", Some("help+1@bücher.example")),
            ("  ", None),
        ] {
            let parsed = parse_reply_to("reply_to", raw).unwrap();
            assert_eq!(parsed.as_ref().map(EmailAddress::as_str), address, "{raw:?}");
        }
        for raw in [
            "help",
            "Help <help@acme.example>",
            "\"a b\"@acme.example",
            "jürgen@acme.example",
            "a@b.example, c@d.example",
        ] {
            let error = parse_reply_to("reply_to", raw).unwrap_err().to_string();
            assert_eq!(error, "reply_to is not an address that replies can be sent to", "{raw}");
        }
    }

    #[test]
    fn mail_is_in_a_language_of_the_portal() {
        let languages = vec![Language::German, Language::English];
        let settings = PortalSettings { languages, ..PortalSettings::default() };
        for (customer, expected) in [
            (Some(Language::English), Language::English),
            (Some(Language::Arabic), Language::German),
            (None, Language::German),
        ] {
            assert_eq!(settings.language_for(customer), expected, "{customer:?}");
        }
    }

    #[test]
    fn names_are_read_back() {
        for access in PortalAccess::ALL {
            assert_eq!(PortalAccess::from_name(access.name()), Some(access));
        }
        for sort in PortalSort::ALL {
            assert_eq!(PortalSort::from_name(sort.name()), sort);
        }
        assert_eq!(PortalSort::from_name("best"), PortalSort::Trending);
        for language in Language::ALL {
            assert_eq!(Language::from_code(language.code()), Some(language));
        }
    }
}
