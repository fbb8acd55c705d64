//! What the members of an issue, a discussion or a comment mean.

use std::borrow::Cow;

use roadmap_domain::model::text::{Name, truncate};

use super::json::{Object, Value};
use crate::records::{Person, PersonKey};
use crate::sources::csv::values::line;
use crate::visible;

/// Longest name of an owner or a repository, in characters.
const MAX_NAME: usize = 100;
/// Longest login, in characters. Those of people have at most 39, those of apps have a name in them.
const MAX_LOGIN: usize = 200;
/// Most digits of a number.
const MAX_DIGITS: usize = 19;
/// The login that stands for deleted accounts.
const GHOST: &str = "ghost";
/// Associations of people who can change the repository.
const TEAM: [&str; 3] = ["OWNER", "MEMBER", "COLLABORATOR"];
/// Reasons for which something is closed because it is done.
const DONE: [&str; 2] = ["COMPLETED", "RESOLVED"];
/// Keys of texts, the best first.
const TEXTS: [&str; 5] = ["body", "bodyText", "body_text", "bodyHTML", "body_html"];

/// An issue, a discussion or a comment.
pub(super) struct Element<'a>(pub(super) Object<'a>);

/// What a member says that may be missing or of the wrong kind.
pub(super) enum Member<T> {
    Missing,
    Is(T),
    /// With its key, and as it is written.
    Wrong(&'static str, String),
}

impl<'a> Element<'a> {
    /// Whether it is something of GitHub, as far as its keys say.
    pub(super) fn is_of_github(&self) -> bool {
        let object = &self.0;
        let is_of_fider = object.has("tenant_id") || object.has("slug") && object.has("user_id");
        let has_number = object.has("number") || self.address().is_some();
        self.is_comment() || has_number && object.has("title") && !is_of_fider
    }

    /// Whether it is a comment of a page of its own.
    pub(super) fn is_comment(&self) -> bool {
        self.0.has("issue_url") && !self.0.has("title")
    }

    /// Whether it is a pull request, or a comment on one.
    pub(super) fn is_pull_request(&self) -> bool {
        let object = &self.0;
        let flag = object.get("pull_request").is_some_and(|value| value.flag() != Some(false))
            || object.get("isPullRequest").and_then(Value::flag) == Some(true)
            || object.text("__typename").is_some_and(|name| name == "PullRequest");
        flag || self.urls().any(|url| Address::parse(&url).is_some_and(|address| address.is_pull_request))
    }

    /// Returns its addresses, those for people first.
    fn urls(&self) -> impl Iterator<Item = Cow<'a, str>> {
        ["html_url", "url"].into_iter().filter_map(|key| self.0.text(key))
    }

    fn address(&self) -> Option<Address> {
        self.urls().find_map(|url| Address::parse(&url))
    }

    /// Returns the external id of a feature request: `owner/repository#7`, or `#7` without an address.
    pub(super) fn request_id(&self) -> Option<String> {
        let address = self.address();
        let number = self.0.text("number").and_then(|number| number_of(number.trim().trim_start_matches('#')));
        let number = number.or_else(|| Some(address.as_ref()?.number.clone()))?;
        let repository = address.map(|address| address.repository).or_else(|| {
            let url = self.0.text("repository_url")?;
            let (_, path) = url.split_once("/repos/")?;
            let (owner, name) = path.trim_end_matches('/').split_once('/')?;
            repository_of(owner, name)
        });
        Some(format!("{}#{number}", repository.unwrap_or_default()))
    }

    /// Returns the external id of the feature request that a comment of a page of its own is on.
    pub(super) fn request_of_comment(&self) -> Option<String> {
        let address = Address::parse(&self.0.text("issue_url")?)?;
        Some(format!("{}#{}", address.repository, address.number))
    }

    /// Returns the address for people, which is none of the API.
    pub(super) fn page(&self) -> Option<(&'static str, Value<'a>)> {
        let (key, value) = self.0.first(&["html_url", "url"])?;
        let is_api = value.text().is_some_and(|url| url.contains("://api.") || url.contains("/api/v3/"));
        (!is_api).then_some((key, value))
    }

    pub(super) fn title(&self) -> Option<String> {
        line(&self.0.text("title")?)
    }

    /// Returns the text, as it is.
    pub(super) fn text(&self) -> Member<Cow<'a, str>> {
        let mut found = Member::Missing;
        for key in TEXTS {
            match self.0.get(key).map(|value| value.text().ok_or(value)) {
                Some(Ok(text)) if !text.trim().is_empty() => return Member::Is(text),
                Some(Err(value)) if matches!(found, Member::Missing) => found = wrong(key, value),
                _ => {}
            }
        }
        found
    }

    /// Returns the name of a status. Everything that is closed is done, unless there is a reason for something else.
    pub(super) fn status(&self) -> Member<&'static str> {
        let is_closed = match self.0.get("state") {
            Some(state) => match state.text().map(|state| state.trim().to_ascii_lowercase()).as_deref() {
                Some("open") => false,
                Some("closed") => true,
                Some("") => return Member::Missing,
                _ => return wrong("state", state),
            },
            None => match self.0.get("closed").and_then(Value::flag) {
                Some(is_closed) => is_closed,
                None if self.0.first(&["closedAt", "closed_at"]).is_some() => true,
                None => return Member::Missing,
            },
        };
        let reason = self.0.first(&["stateReason", "state_reason"]).and_then(|(_, reason)| reason.text());
        let reason = reason.unwrap_or_default();
        let is_done = reason.trim().is_empty() || DONE.iter().any(|done| done.eq_ignore_ascii_case(reason.trim()));
        Member::Is(match (is_closed, is_done) {
            (false, _) => "Open",
            (true, true) => "Done",
            (true, false) => "Declined",
        })
    }

    /// Returns the author. A name without a login is an error.
    pub(super) fn author(&self) -> Member<Result<Person, NameWithoutLogin>> {
        let Some((key, author)) = self.0.first(&["author", "user"]) else { return Member::Missing };
        let (login, name) = match author.object() {
            Some(author) => (author.text("login"), author.text("name")),
            None => (author.text(), None),
        };
        if login.is_none() && author.object().is_none() {
            return wrong(key, author);
        }
        let name = name.and_then(|name| line(&name));
        match login.and_then(|login| line(&login)) {
            None if name.is_some() => Member::Is(Err(NameWithoutLogin)),
            None => Member::Missing,
            Some(login) if login.eq_ignore_ascii_case(GHOST) => Member::Missing,
            Some(login) if login.chars().nth(MAX_LOGIN).is_some() => Member::Wrong(key, login),
            Some(login) => {
                let name = name.unwrap_or_else(|| login.clone());
                let name = truncate(&name, Name::MAX).trim_end().to_owned();
                Member::Is(Ok(Person { key: PersonKey::ExternalId(login), name: Some(name) }))
            }
        }
    }

    /// Whether the author can change the repository.
    pub(super) fn is_team(&self) -> bool {
        let association = self.0.first(&["authorAssociation", "author_association"]);
        let association = association.and_then(|(_, association)| association.text()).unwrap_or_default();
        TEAM.iter().any(|team| team.eq_ignore_ascii_case(association.trim()))
    }

    /// Returns the category of a discussion.
    pub(super) fn category(&self) -> Option<String> {
        self.0.get("category").and_then(name_of)
    }

    /// Returns the names of the labels, which may be blank.
    pub(super) fn labels(&self) -> Member<Vec<Cow<'a, str>>> {
        let Some(labels) = self.0.get("labels") else { return Member::Missing };
        let name = |label: Value<'a>| label.object().map_or_else(|| label.text(), |label| label.text("name"));
        match (labels.list(), labels.text()) {
            (Some(list), _) => Member::Is(list.items.into_iter().filter_map(name).collect()),
            (None, Some(names)) => Member::Is(names.split(',').map(|name| Cow::Owned(name.to_owned())).collect()),
            (None, None) => wrong("labels", labels),
        }
    }

    /// Returns what counts reactions, as key, name of the reaction, and count.
    pub(super) fn reactions(&self) -> Vec<(&'static str, String, Value<'a>)> {
        let mut found = Vec::new();
        if let Some((key, groups)) = self.0.first(&["reactionGroups", "reaction_groups"]) {
            for group in groups.list().map(|list| list.items).unwrap_or_default() {
                let Some(group) = group.object() else { continue };
                let count = group.first(&["users", "reactors", "count"]).map(|(_, count)| count);
                let count = count.and_then(|count| count.object().map_or(Some(count), |count| count.get("totalCount")));
                if let (Some(name), Some(count)) = (group.text("content"), count) {
                    found.push((key, name.to_ascii_lowercase(), count));
                }
            }
        }
        if let Some(reactions) = self.0.get("reactions").and_then(Value::object) {
            let is_reaction =
                |key: &str| ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"].contains(&key);
            let counts = reactions.members().filter(|(key, count)| is_reaction(key) && !count.is_null());
            found.extend(counts.map(|(name, count)| ("reactions", name.to_owned(), count)));
        }
        found
    }

    pub(super) fn upvotes(&self) -> Option<(&'static str, Value<'a>)> {
        self.0.first(&["upvoteCount", "upvote_count"])
    }

    /// Returns the id of a comment.
    pub(super) fn comment_id(&self) -> Option<String> {
        let id = |key| line(&self.0.text(key)?);
        ["id", "node_id", "databaseId", "html_url", "url"].into_iter().find_map(id)
    }

    /// Whether GitHub hides a comment.
    pub(super) fn is_minimized(&self) -> bool {
        self.0.get("isMinimized").and_then(Value::flag) == Some(true)
    }
}

/// A name of somebody who has no login.
pub(super) struct NameWithoutLogin;

fn wrong<T>(key: &'static str, value: Value<'_>) -> Member<T> {
    Member::Wrong(key, value.shown().to_owned())
}

/// Returns the name of something that is an object with a name, or a name.
fn name_of(value: Value<'_>) -> Option<String> {
    let name = value.object().map_or_else(|| value.text(), |object| object.text("name"));
    line(&name?)
}

fn number_of(text: &str) -> Option<String> {
    let number = text.trim_start_matches('0');
    let is_number =
        !number.is_empty() && number.len() <= MAX_DIGITS && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.to_owned())
}

fn repository_of(owner: &str, name: &str) -> Option<String> {
    let is_name = |text: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        !text.is_empty() && text.len() <= MAX_NAME && text.bytes().all(is_part)
    };
    (is_name(owner) && is_name(name)).then(|| format!("{owner}/{name}"))
}

/// What the address of an issue, a discussion or a pull request says.
struct Address {
    repository: String,
    number: String,
    is_pull_request: bool,
}

impl Address {
    /// Parses an address of the pages or of the API, on any host.
    fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.trim().split_once("://")?;
        let is_web = ["http", "https"].iter().any(|web| web.eq_ignore_ascii_case(scheme));
        let (path, _) = rest.split_once(['?', '#']).unwrap_or((rest, ""));
        // A repository may have the name `issues`, so that the last parts decide.
        let mut parts = path.trim_end_matches('/').rsplit('/');
        let (number, kind) = (number_of(parts.next()?)?, parts.next()?);
        let (name, owner) = (parts.next()?, parts.next()?);
        parts.next()?;
        let is_pull_request = match kind {
            "issues" | "discussions" => false,
            "pull" | "pulls" => true,
            _ => return None,
        };
        let repository = repository_of(owner, name).filter(|_| is_web)?;
        Some(Self { repository, number, is_pull_request })
    }
}

/// Says what an object is that is not of GitHub.
pub(super) fn looks_like(object: &Object<'_>) -> String {
    let canny = ["posts", "votes", "comments", "entries", "boards", "statusChanges"];
    let is_page_of_canny = object.has("hasMore") && canny.iter().any(|key| object.has(key));
    if is_page_of_canny || object.has("board") && object.has("created") {
        "it looks like an answer of Canny".to_owned()
    } else if object.has("tenant_id") {
        "it looks like a part of a backup of Fider".to_owned()
    } else {
        let keys: Vec<_> = object.keys().take(MAX_SHOWN).map(|key| format!("`{}`", visible(key, 80))).collect();
        format!("its first object has {}", keys.join(", "))
    }
}

/// Most keys of an object that are shown.
const MAX_SHOWN: usize = 10;
