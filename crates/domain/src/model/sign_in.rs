//! Sign-ins by mail: a link and a code, and the action that a visitor has begun before.

use serde_json::{Value, json};
use time::Duration;

use crate::model::email_address::EmailAddress;
use crate::model::feature_request::Title;
use crate::model::id::{FeatureRequestId, SignInId};
use crate::model::portal::Language;
use crate::model::session::{BrowserName, SecretDigest};
use crate::model::timestamp::Timestamp;
use uuid::Uuid;

/// A path with a query on the workspace's own host, to which a page leads on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPath(String);

impl LocalPath {
    /// Maximum number of bytes.
    pub const MAX: usize = 2_000;

    /// Parses a path. Returns `None` for anything that a browser could resolve to another host.
    #[must_use]
    pub fn parse(raw: &str) -> Option<Self> {
        let is_local = raw.starts_with('/')
            && !raw.starts_with("//")
            && raw.len() <= Self::MAX
            && raw.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        is_local.then(|| Self(raw.to_owned()))
    }

    /// Returns the path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What somebody does on a page of the portal. The feature request is a root, or was one when the page was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageAction {
    Vote(FeatureRequestId),
    /// Removes the own vote.
    RemoveVote(FeatureRequestId),
    /// Posts a comment, written in Markdown.
    Comment {
        request: FeatureRequestId,
        /// The Markdown as typed.
        content: String,
    },
    /// Submits an idea.
    Submit {
        /// The title as typed.
        title: String,
        /// The description in Markdown as typed. It may be empty.
        description: String,
    },
    /// Asks for mail about a feature request.
    Subscribe(FeatureRequestId),
    /// Asks for no more mail about a feature request.
    Unsubscribe(FeatureRequestId),
    /// Asks for all changelogs by mail.
    GetNews,
}

impl PageAction {
    /// Returns the name that is stored, and shown in addresses.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Vote(_) => "vote",
            Self::RemoveVote(_) => "remove_vote",
            Self::Comment { .. } => "comment",
            Self::Submit { .. } => "submit",
            Self::Subscribe(_) => "subscribe",
            Self::Unsubscribe(_) => "unsubscribe",
            Self::GetNews => "get_news",
        }
    }

    /// Whether it has a text that somebody typed.
    #[must_use]
    pub const fn is_post(&self) -> bool {
        matches!(self, Self::Comment { .. } | Self::Submit { .. })
    }

    /// Returns the feature request that it is about, if it is about an existing one.
    #[must_use]
    pub const fn request(&self) -> Option<FeatureRequestId> {
        match self {
            Self::Vote(request)
            | Self::RemoveVote(request)
            | Self::Comment { request, .. }
            | Self::Subscribe(request)
            | Self::Unsubscribe(request) => Some(*request),
            Self::Submit { .. } | Self::GetNews => None,
        }
    }

    /// Returns the action as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let name = self.name();
        let action = match self {
            Self::Vote(request) | Self::RemoveVote(request) | Self::Subscribe(request) | Self::Unsubscribe(request) => {
                json!({ "action": name, "feature_request": request.to_string() })
            }
            Self::Comment { request, content } => {
                json!({ "action": name, "feature_request": request.to_string(), "content": content })
            }
            Self::Submit { title, description } => {
                json!({ "action": name, "title": title, "description": description })
            }
            Self::GetNews => json!({ "action": name }),
        };
        action.to_string()
    }

    /// Parses stored JSON. Returns `None` if it is not what [`Self::to_json`] writes.
    #[must_use]
    pub fn from_json(json: &str) -> Option<Self> {
        let action: Value = serde_json::from_str(json).ok()?;
        let text = |field: &str| action.get(field)?.as_str().map(str::to_owned);
        let request = || Uuid::try_parse(action.get("feature_request")?.as_str()?).ok().map(FeatureRequestId::new);
        match action.get("action")?.as_str()? {
            "vote" => request().map(Self::Vote),
            "remove_vote" => request().map(Self::RemoveVote),
            "comment" => Some(Self::Comment { request: request()?, content: text("content")? }),
            "submit" => Some(Self::Submit { title: text("title")?, description: text("description")? }),
            "subscribe" => request().map(Self::Subscribe),
            "unsubscribe" => request().map(Self::Unsubscribe),
            "get_news" => Some(Self::GetNews),
            _ => None,
        }
    }
}

/// A sign-in that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    /// ID, which the link and the code are derived from.
    pub id: SignInId,
    /// The address to confirm.
    pub email: EmailAddress,
    /// The digest of the cookie of the browser that asked. `None` if a command did.
    pub browser: Option<SecretDigest>,
    /// The browser that asked, for the owner of the address to recognise.
    pub browser_name: Option<BrowserName>,
    /// The action to do once the address is confirmed.
    pub action: Option<PageAction>,
    /// Where to go then.
    pub next: Option<LocalPath>,
    /// The language of the page that asked.
    pub language: Language,
    /// Number of wrong codes so far.
    pub wrong_codes: u32,
    /// Timestamp of the request.
    pub created_at: Timestamp,
    /// When it was used.
    pub consumed_at: Option<Timestamp>,
}

impl SignIn {
    /// How long the link and the code are valid.
    pub const LIFETIME: Duration = Duration::minutes(15);
    /// Number of wrong codes after which no code is accepted.
    pub const MAX_WRONG_CODES: u32 = 5;
    /// How long the action stays: a new mail carries it, if the link came too late.
    pub const ACTION_LIFETIME: Duration = Duration::DAY;
    /// Number of sign-ins without a mail that a workspace stores.
    pub const MAX_WITHOUT_MAIL: u32 = 2_000;
    /// Maximum size of a stored action in bytes.
    pub const MAX_ACTION_BYTES: usize = 64 * 1024;

    /// Returns when a sign-in that has not expired at `now` was asked for, at the earliest.
    #[must_use]
    pub fn asked_since(now: Timestamp) -> Timestamp {
        now.plus(-Self::LIFETIME)
    }

    /// Returns the time before which sign-ins were asked for that are of no use any more at `now`.
    #[must_use]
    pub fn useless_before(now: Timestamp) -> Timestamp {
        now.plus(-Self::ACTION_LIFETIME)
    }

    /// Returns the last moment at which it can be used.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.created_at.plus(Self::LIFETIME)
    }

    /// Whether its link can be used at `now`.
    #[must_use]
    pub fn is_open_at(&self, now: Timestamp) -> bool {
        self.consumed_at.is_none() && now <= self.expires_at()
    }

    /// Whether its link came too late at `now`, so that a new mail can carry its action.
    #[must_use]
    pub fn is_renewable_at(&self, now: Timestamp) -> bool {
        self.consumed_at.is_none() && now > self.expires_at() && now <= self.created_at.plus(Self::ACTION_LIFETIME)
    }

    /// Whether a code can be typed at `now`.
    #[must_use]
    pub fn accepts_code_at(&self, now: Timestamp) -> bool {
        self.is_open_at(now) && self.wrong_codes < Self::MAX_WRONG_CODES
    }
}

/// Who asks for the mail of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInRequester {
    /// A browser in which the address was not signed in before. Anybody.
    Visitor {
        /// Whether the portal is open to the owner of the address, who may be no member.
        is_admitted: bool,
    },
    /// A browser in which the address was signed in before.
    KnownBrowser {
        id: Uuid,
        /// Whether the portal is open to the owner of the address, who may be no member.
        is_admitted: bool,
    },
    /// A member of the team who invites another one.
    Member,
}

/// What a workspace knows about an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KnownAddress {
    /// Whether it is that of a member.
    pub is_member: bool,
    /// Whether a sign-in of the address was redeemed before.
    pub is_confirmed: bool,
    /// Whether the customer with this address is blocked.
    pub is_blocked_customer: bool,
}

impl KnownAddress {
    /// Whether its owner may not sign in. Members may, also as blocked customers.
    #[must_use]
    pub const fn is_blocked(&self) -> bool {
        self.is_blocked_customer && !self.is_member
    }
}

/// What becomes of a sign-in that is consumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consumption {
    /// Its person is signed in, and its mail is not counted any more.
    Redeemed,
    /// Its person has not asked for it. Its mail stays counted.
    Denied,
}

/// What was asked for on a page, with what is shown of it before it is confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAction {
    pub action: PageAction,
    /// The title of the feature request. `None` if it does not exist any more, or for a new idea.
    pub title: Option<Title>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::now;

    /// Portal.
    #[test]
    fn local_paths_lead_to_no_other_host() {
        for path in ["/", "/feature_requests?query=a%20b&page=2", "/account#sessions"] {
            assert_eq!(LocalPath::parse(path).unwrap().as_str(), path);
        }
        for other in [
            "",
            "account",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "/a b",
            "/\tevil",
            "/\n/evil.example",
            "/ä",
            "javascript:alert(1)",
            &format!("/{}", "a".repeat(2_000)),
        ] {
            assert_eq!(LocalPath::parse(other), None, "{other:?}");
        }
    }

    #[test]
    fn actions_are_read_as_they_were_written() {
        let request = FeatureRequestId::new(Uuid::from_u128(7));
        let text = "a \"quote\" \u{1f600}\n".to_owned();
        for action in [
            PageAction::Vote(request),
            PageAction::RemoveVote(request),
            PageAction::Comment { request, content: text.clone() },
            PageAction::Submit { title: text.clone(), description: String::new() },
            PageAction::GetNews,
            PageAction::Subscribe(request),
            PageAction::Unsubscribe(request),
        ] {
            assert_eq!(PageAction::from_json(&action.to_json()), Some(action));
        }
        for json in
            ["", "{}", r#"{"action":"vote"}"#, r#"{"action":"vote","feature_request":"7"}"#, r#"{"action":"x"}"#]
        {
            assert_eq!(PageAction::from_json(json), None, "{json}");
        }
    }

    #[test]
    fn a_sign_in_is_open_once_for_15_minutes_and_5_codes() {
        let open = SignIn {
            id: SignInId::new(Uuid::from_u128(1)),
            email: EmailAddress::from_stored("ann@example.com".to_owned()),
            browser: None,
            browser_name: None,
            action: None,
            next: None,
            language: Language::English,
            wrong_codes: 4,
            created_at: now(),
            consumed_at: None,
        };
        let end = now().plus(SignIn::LIFETIME);
        assert_eq!(SignIn::asked_since(end), now());
        assert!(open.is_open_at(end) && open.accepts_code_at(end));
        assert!(!open.is_open_at(end.plus(Duration::MILLISECOND)));
        let guessed = SignIn { wrong_codes: 5, ..open.clone() };
        assert!(guessed.is_open_at(now()) && !guessed.accepts_code_at(now()));
        // Its action lives for a day.
        let day = now().plus(Duration::DAY);
        assert_eq!(SignIn::useless_before(day), now());
        assert!(!open.is_renewable_at(end) && open.is_renewable_at(end.plus(Duration::MILLISECOND)));
        assert!(open.is_renewable_at(day) && !open.is_renewable_at(day.plus(Duration::MILLISECOND)));
        let used = SignIn { consumed_at: Some(now()), ..open };
        assert!(!used.is_open_at(now()) && !used.accepts_code_at(now()) && !used.is_renewable_at(day));
    }
}
