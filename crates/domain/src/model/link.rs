//! Links from feature requests to what the team builds for them, mostly issues in trackers. Never shown to customers.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use url::Url;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::feature_request::{RequestLink, Title};
use crate::model::id::LinkId;
use crate::model::setting::is_web_address;
use crate::model::text::{self, truncate};
use crate::model::timestamp::Timestamp;

/// The host of Linear, whose paths alone say too little.
const LINEAR: &str = "linear.app";

/// An issue tracker whose URLs are known, on any host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tracker {
    Github,
    Gitlab,
    Jira,
    Linear,
}

impl Tracker {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Github, Self::Gitlab, Self::Jira, Self::Linear];

    /// Returns the name that is stored and that the API uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Jira => "jira",
            Self::Linear => "linear",
        }
    }

    /// Returns the tracker with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tracker| tracker.name() == name)
    }
}

/// What a link leads to, by the path of its URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// An issue of a tracker.
    Tracker(Tracker),
    /// Anything else.
    Other,
}

impl LinkKind {
    /// Returns the name that the API uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tracker(tracker) => tracker.name(),
            Self::Other => "other",
        }
    }
}

/// The state of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkState {
    Open,
    Closed,
}

impl LinkState {
    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }

    /// Returns the state with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Open, Self::Closed].into_iter().find(|state| state.name() == name)
    }
}

/// What a URL leads to: the same for all URLs of one issue, whatever their case, query or trailing words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    pub kind: LinkKind,
    /// What people call it.
    pub name: String,
    /// What is equal for all URLs of the issue, of any length.
    identity: String,
}

impl Issue {
    /// Maximum number of characters of a name.
    pub const MAX_NAME: usize = 60;

    /// Returns the text by which stores find the links to an issue: a digest, because URLs are too long for an index.
    #[must_use]
    pub fn key(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{}\n{}", self.kind.name(), self.identity)))
    }

    /// Creates the issue of a tracker. The end of its name says most.
    fn known(tracker: Tracker, host: &str, path: &str, name: &str) -> Self {
        let name = match name.len().checked_sub(Self::MAX_NAME) {
            None | Some(0) => name.to_owned(),
            // Hosts and paths of URLs are ASCII.
            Some(surplus) => format!("…{}", name.get(surplus + 1..).unwrap_or(name)),
        };
        let kind = LinkKind::Tracker(tracker);
        Self { kind, name, identity: format!("{host}/{path}").to_lowercase() }
    }

    fn of(url: &Url) -> Self {
        let host = match (url.host_str().unwrap_or_default(), url.port()) {
            (host, Some(port)) => format!("{host}:{port}"),
            (host, None) => host.to_owned(),
        };
        let segments: Vec<&str> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
        known_issue(&host, &segments).unwrap_or_else(|| Self {
            kind: LinkKind::Other,
            name: beginning(&format!("{host}{}", url.path().trim_end_matches('/'))),
            identity: format!("{host}{}?{}", url.path(), url.query().unwrap_or_default()),
        })
    }
}

/// Returns the beginning of a name that is too long, else the whole.
fn beginning(name: &str) -> String {
    match truncate(name, Issue::MAX_NAME) {
        whole if whole.len() == name.len() => name.to_owned(),
        _ => format!("{}…", truncate(name, Issue::MAX_NAME - 1)),
    }
}

/// Returns the issue of a path, if it is one of a known kind.
fn known_issue(host: &str, segments: &[&str]) -> Option<Issue> {
    let is = |segment: &str, word: &str| segment.eq_ignore_ascii_case(word);
    if let Some(dash) = segments.iter().position(|segment| *segment == "-") {
        return gitlab_issue(host, segments.get(..dash)?, segments.get(dash + 1..)?);
    }
    match segments {
        [team, kind, key, ..] if host == LINEAR && is(kind, "issue") && is_key(key) => {
            Some(Issue::known(Tracker::Linear, host, &format!("{team}/{key}"), &key.to_uppercase()))
        }
        [kind, key, ..] | [_, kind, key, ..] if is(kind, "browse") && is_key(key) => {
            Some(Issue::known(Tracker::Jira, host, key, &key.to_uppercase()))
        }
        [owner, repository, kind, number, ..] if (is(kind, "issues") || is(kind, "pull")) && is_number(number) => {
            let name = format!("{owner}/{repository}#{number}");
            Some(Issue::known(Tracker::Github, host, &name, &name))
        }
        _ => None,
    }
}

/// Returns the issue of a path of GitLab, which separates the project from the rest by a hyphen.
fn gitlab_issue(host: &str, project: &[&str], rest: &[&str]) -> Option<Issue> {
    let [kind, number, ..] = rest else { return None };
    let mark = match kind.to_ascii_lowercase().as_str() {
        "issues" | "work_items" => '#',
        "merge_requests" => '!',
        _ => return None,
    };
    let name = format!("{}{mark}{number}", project.join("/"));
    (!project.is_empty() && is_number(number)).then(|| Issue::known(Tracker::Gitlab, host, &name, &name))
}

/// Whether a segment of a path is the number of an issue.
fn is_number(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a segment of a path is a key of an issue: `APP-7`.
fn is_key(segment: &str) -> bool {
    segment.split_once('-').is_some_and(|(project, number)| {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        project.starts_with(|first: char| first.is_ascii_alphabetic())
            && project.bytes().all(is_word)
            && is_number(number)
    })
}

/// The URL of a link: absolute, `http` or `https`, without user info. Never fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkUrl(String);

impl LinkUrl {
    /// Maximum number of characters of a URL.
    pub const MAX: usize = 2_048;

    /// Validates and trims a URL. It is otherwise kept as written.
    ///
    /// # Errors
    /// A `url` that is missing, too long, or anything else.
    pub fn parse(raw: Option<&str>) -> Validated<Self> {
        let trimmed = raw.unwrap_or_default().trim();
        if trimmed.is_empty() {
            return Err(FieldError::missing("url"));
        }
        text::validate_text("url", trimmed, Self::MAX)?;
        if !is_web_address(trimmed) {
            let expected = "an absolute http or https URL without user info";
            return Err(FieldError::new("url", FieldProblem::Malformed { expected }));
        }
        Ok(Self(trimmed.to_owned()))
    }

    /// Wraps a stored value, which is not validated again.
    #[must_use]
    pub fn from_stored(url: String) -> Self {
        Self(url)
    }

    /// Returns the URL as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns what it leads to.
    #[must_use]
    pub fn issue(&self) -> Issue {
        match Url::parse(&self.0) {
            Ok(url) => Issue::of(&url),
            Err(_) => Issue { kind: LinkKind::Other, name: beginning(&self.0), identity: self.0.clone() },
        }
    }
}

/// What is to change about a link. The outer `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkChange {
    pub title: Option<Option<Title>>,
    pub state: Option<Option<LinkState>>,
}

impl LinkChange {
    /// Validates the fields that were sent. A blank text counts as null.
    ///
    /// # Errors
    /// A `title` that is too long or has a NUL character, or an unknown `state`.
    pub fn parse(title: Option<Option<&str>>, state: Option<Option<&str>>) -> Validated<Self> {
        let parse_title = |raw: &str| Ok(text::parse_optional_line("title", raw, Title::MAX)?.map(Title::from_stored));
        let parse_state = |raw: &str| match raw.trim() {
            "" => Ok(None),
            name => {
                let expected = "one of open, closed";
                let unknown = || FieldError::new("state", FieldProblem::Malformed { expected });
                LinkState::from_name(name).map(Some).ok_or_else(unknown)
            }
        };
        Ok(Self {
            title: title.map(|title| parse_title(title.unwrap_or_default())).transpose()?,
            state: state.map(|state| parse_state(state.unwrap_or_default())).transpose()?,
        })
    }
}

/// The validated fields of a new link, or of one to the same issue that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkDraft {
    pub url: LinkUrl,
    pub change: LinkChange,
}

impl LinkDraft {
    /// Validates the fields of a link.
    ///
    /// # Errors
    /// As [`LinkUrl::parse`] and [`LinkChange::parse`].
    pub fn parse(url: Option<&str>, title: Option<Option<&str>>, state: Option<Option<&str>>) -> Validated<Self> {
        Ok(Self { url: LinkUrl::parse(url)?, change: LinkChange::parse(title, state)? })
    }

    /// Returns the link to be stored. An issue of a known kind is open unless its state was sent.
    #[must_use]
    pub fn to_link(&self, id: LinkId, at: Timestamp) -> Link {
        let is_known = self.url.issue().kind != LinkKind::Other;
        Link {
            id,
            url: self.url.clone(),
            title: self.change.title.clone().flatten(),
            state: self.change.state.unwrap_or_else(|| is_known.then_some(LinkState::Open)),
            created_at: at,
            updated_at: at,
            from: None,
        }
    }
}

/// A link of a feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub id: LinkId,
    pub url: LinkUrl,
    /// The title of the issue.
    pub title: Option<Title>,
    /// The state of the issue, if it has one.
    pub state: Option<LinkState>,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
    /// Timestamp of the last change of the title or the state.
    pub updated_at: Timestamp,
    /// The merged feature request that it belongs to, if that is another one than the one that shows it.
    pub from: Option<RequestLink>,
}

impl Link {
    /// Maximum number of links of a feature request, without those of what is merged into it.
    pub const MAX: u64 = 20;

    /// Returns the link after a change.
    #[must_use]
    pub fn with_change(&self, change: &LinkChange, at: Timestamp) -> Self {
        let changed = Self {
            title: change.title.clone().unwrap_or_else(|| self.title.clone()),
            state: change.state.unwrap_or(self.state),
            ..self.clone()
        };
        if changed == *self { changed } else { Self { updated_at: at, ..changed } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(url: &str) -> Issue {
        LinkUrl::parse(Some(url)).unwrap().issue()
    }

    /// Links: known kinds by path, on any host.
    #[test]
    fn kind_and_name_follow_from_the_url() {
        for (url, kind, name) in [
            ("https://github.com/acme/app/issues/7", "github", "acme/app#7"),
            ("https://github.com/acme/app/pull/7", "github", "acme/app#7"),
            ("https://github.com/acme/app/pull/7/files?w=1#r2", "github", "acme/app#7"),
            ("HTTPS://GitHub.com/Acme/App/Issues/7/", "github", "Acme/App#7"),
            ("http://git.acme.example:8443/acme/app/issues/7", "github", "acme/app#7"),
            ("https://gitlab.com/acme/team/app/-/issues/7", "gitlab", "acme/team/app#7"),
            ("https://gitlab.com/acme/app/-/work_items/7", "gitlab", "acme/app#7"),
            ("https://git.acme.example/acme/app/-/merge_requests/7/diffs", "gitlab", "acme/app!7"),
            ("https://acme.atlassian.net/browse/APP-7", "jira", "APP-7"),
            ("https://issues.acme.example/jira/browse/app_2-70?filter=1", "jira", "APP_2-70"),
            ("https://linear.app/acme/issue/ENG-7/dark-mode", "linear", "ENG-7"),
            ("https://linear.app/acme/issue/eng-7", "linear", "ENG-7"),
            // None of these.
            ("https://linear.example/acme/issue/ENG-7", "other", "linear.example/acme/issue/ENG-7"),
            ("https://github.com/acme/app", "other", "github.com/acme/app"),
            ("https://github.com/acme/app/issues", "other", "github.com/acme/app/issues"),
            ("https://github.com/acme/app/issues/new", "other", "github.com/acme/app/issues/new"),
            ("https://gitlab.com/acme/app/-/epics/7", "other", "gitlab.com/acme/app/-/epics/7"),
            ("https://gitlab.com/-/issues/7", "other", "gitlab.com/-/issues/7"),
            ("https://acme.example/browse/7", "other", "acme.example/browse/7"),
            ("https://acme.example/browse/7-7", "other", "acme.example/browse/7-7"),
            ("https://bugs.acme.example:8080/show_bug.cgi?id=7", "other", "bugs.acme.example:8080/show_bug.cgi"),
            ("https://acme.example/", "other", "acme.example"),
            ("https://münchen.example/ü", "other", "xn--mnchen-3ya.example/%C3%BC"),
        ] {
            let issue = issue(url);
            assert_eq!((issue.kind.name(), issue.name.as_str()), (kind, name), "{url}");
        }
    }

    #[test]
    fn long_names_keep_the_part_that_says_most() {
        let owner = "a".repeat(70);
        let known = issue(&format!("https://github.com/{owner}/app/issues/7"));
        assert_eq!(
            (known.kind, known.name),
            (LinkKind::Tracker(Tracker::Github), format!("…{}/app#7", "a".repeat(53)))
        );
        let exact = issue(&format!("https://github.com/{}/app/issues/7", "a".repeat(54))).name;
        assert_eq!((exact.chars().count(), exact.starts_with('a')), (60, true));
        let other = issue(&format!("https://acme.example/{owner}")).name;
        assert_eq!(other, format!("acme.example/{}…", "a".repeat(46)));
    }

    /// Links: the same issue again.
    #[test]
    fn the_same_issue_has_one_key_whatever_case_query_and_trailing_words_are() {
        for (first, second, is_same) in [
            ("https://github.com/acme/app/issues/7", "http://GITHUB.com/Acme/APP/Pull/7/files?w=1#x", true),
            ("https://gitlab.com/a/b/-/issues/7", "https://gitlab.com/A/b/-/work_items/7?x", true),
            ("https://linear.app/acme/issue/ENG-7/dark", "https://linear.app/Acme/issue/eng-7/darker", true),
            ("https://jira.example/browse/APP-7", "https://jira.example/jira/browse/app-7?focus=1", true),
            ("https://acme.example/t#1", "http://acme.example/t#2", true),
            ("https://acme.example/t?id=1", "https://acme.example/t?id=2", false),
            ("https://acme.example/t", "https://acme.example/T", false),
            ("https://gitlab.com/a/b/-/issues/7", "https://gitlab.com/a/b/-/merge_requests/7", false),
            ("https://github.com/acme/app/issues/7", "https://github.com/acme/app/issues/8", false),
            ("https://github.com/acme/app/issues/7", "https://git.example/acme/app/issues/7", false),
            ("https://git.example:81/a/b/issues/7", "https://git.example/a/b/issues/7", false),
            ("https://linear.app/acme/issue/ENG-7", "https://linear.app/other/issue/ENG-7", false),
        ] {
            assert_eq!(issue(first).key() == issue(second).key(), is_same, "{first} {second}");
        }
        assert_eq!(issue("https://acme.example/").key().len(), 43);
    }

    #[test]
    fn only_web_addresses_without_user_info_are_urls() {
        let long = format!("https://acme.example/{}", "a".repeat(2_028));
        for (raw, error) in [
            (None, "param is missing or the value is empty or invalid: url"),
            (Some(" "), "param is missing or the value is empty or invalid: url"),
            (Some("https://a\0b.example"), "url must not contain the NUL character"),
            (Some(long.as_str()), "url must be at most 2048 characters long"),
        ] {
            assert_eq!(LinkUrl::parse(raw).unwrap_err().to_string(), error, "{raw:?}");
        }
        for raw in [
            "javascript:alert(1)",
            "JavaScript://acme.example/%0aalert(1)",
            "data:text/html,x",
            "ftp://acme.example/",
            "//acme.example/",
            "acme.example/browse/APP-7",
            "https:///browse/APP-7",
            "https://user@acme.example/",
            "https://user:word@acme.example/",
            "https://acme.example\\@evil.example/",
            "https://acme.example/\u{202e}",
        ] {
            let error = LinkUrl::parse(Some(raw)).unwrap_err();
            assert_eq!(error.to_string(), "url is not an absolute http or https URL without user info", "{raw}");
        }
        let url = LinkUrl::parse(Some(" https://acme.example/A ")).unwrap();
        assert_eq!(url.as_str(), "https://acme.example/A");
    }

    #[test]
    fn title_and_state_are_sent_or_not() {
        let title = |text: &str| Title::from_stored(text.to_owned());
        for (sent, expected) in [
            ((None, None), (None, None)),
            ((Some(None), Some(None)), (Some(None), Some(None))),
            ((Some(Some(" ")), Some(Some(" "))), (Some(None), Some(None))),
            ((Some(Some(" Dark ")), Some(Some("closed"))), (Some(Some(title("Dark"))), Some(Some(LinkState::Closed)))),
        ] {
            let (title, state) = expected;
            assert_eq!(LinkChange::parse(sent.0, sent.1).unwrap(), LinkChange { title, state }, "{sent:?}");
        }
        let unknown = LinkChange::parse(None, Some(Some("Open"))).unwrap_err();
        assert_eq!(unknown.to_string(), "state is not one of open, closed");
        let long = "a".repeat(201);
        let error = LinkChange::parse(Some(Some(&long)), None).unwrap_err();
        assert_eq!(error.to_string(), "title must be at most 200 characters long");
    }

    #[test]
    fn an_issue_of_a_known_kind_is_open_unless_its_state_was_sent() {
        let (id, at) = (LinkId::new(uuid::Uuid::nil()), Timestamp::MIN);
        for (url, state, expected) in [
            ("https://github.com/acme/app/issues/7", None, Some(LinkState::Open)),
            ("https://github.com/acme/app/issues/7", Some(None), None),
            ("https://github.com/acme/app/issues/7", Some(Some("closed")), Some(LinkState::Closed)),
            ("https://acme.example/", None, None),
            ("https://acme.example/", Some(Some("open")), Some(LinkState::Open)),
        ] {
            let draft = LinkDraft::parse(Some(url), None, state).unwrap();
            assert_eq!(draft.to_link(id, at).state, expected, "{url} {state:?}");
        }
    }

    #[test]
    fn a_change_to_the_same_values_changes_nothing() {
        let draft = LinkDraft::parse(Some("https://acme.example/"), Some(Some("Dark")), None).unwrap();
        let (now, later) = (Timestamp::MIN, Timestamp::from_millis(7).unwrap());
        let link = draft.to_link(LinkId::new(uuid::Uuid::nil()), now);
        let same = LinkChange { title: Some(link.title.clone()), state: None };
        assert_eq!(link.with_change(&same, later), link);
        let closed = LinkChange { title: None, state: Some(Some(LinkState::Closed)) };
        let expected = Link { state: Some(LinkState::Closed), updated_at: later, ..link.clone() };
        assert_eq!(link.with_change(&closed, later), expected);
    }
}
