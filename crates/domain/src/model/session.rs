//! Sessions of people who are signed in to the pages of a workspace.
//!
//! A session belongs to an address, not to a customer or a member: whether its owner is one is looked up at each use.

use sha2::{Digest, Sha256};
use time::Duration;

use crate::model::customer::CustomerName;
use crate::model::email_address::EmailAddress;
use crate::model::id::SessionId;
use crate::model::member::Member;
use crate::model::portal::{Language, Viewer};
use crate::model::timestamp::Timestamp;

/// A secret that a browser keeps in a cookie: 43 base62 characters, 256 random bits. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct BrowserSecret(String);

impl BrowserSecret {
    /// Number of characters.
    pub const LENGTH: usize = 43;

    /// Parses a secret, also one of random characters. Returns `None` for any other text.
    #[must_use]
    pub fn parse(raw: &str) -> Option<Self> {
        let fits = raw.len() == Self::LENGTH && raw.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| Self(raw.to_owned()))
    }

    /// Returns the text, for the cookie.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the digest by which the secret is stored and looked up.
    #[must_use]
    pub fn digest(&self) -> SecretDigest {
        SecretDigest(Sha256::digest(self.0.as_bytes()).into())
    }
}

impl std::fmt::Debug for BrowserSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BrowserSecret(…)")
    }
}

/// The SHA-256 of a secret. A slow hash is not needed, because the secret has 256 random bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretDigest(pub [u8; 32]);

/// A browser and its system, as people recognise them: `Firefox on Linux`. It is shown to its owner only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserName(String);

impl BrowserName {
    /// Maximum number of characters.
    pub const MAX: usize = 60;

    /// Returns the name for a `User-Agent` header, or `None` if nothing in it is known.
    #[must_use]
    pub fn of_user_agent(header: &str) -> Option<Self> {
        // Browsers name others, too, for compatibility: the first that is found counts.
        let find = |names: &[(&str, &'static str)]| {
            names.iter().find(|(part, _)| header.contains(part)).map(|(_, name)| *name)
        };
        let browser = find(&[
            ("Firefox/", "Firefox"),
            ("Edg", "Edge"),
            ("OPR/", "Opera"),
            ("SamsungBrowser/", "Samsung Internet"),
            ("Chrome/", "Chrome"),
            ("CriOS/", "Chrome"),
            ("FxiOS/", "Firefox"),
            ("Safari/", "Safari"),
        ]);
        let system = find(&[
            ("Android", "Android"),
            ("iPhone", "iPhone"),
            ("iPad", "iPad"),
            ("Windows", "Windows"),
            ("Mac OS", "macOS"),
            ("CrOS", "ChromeOS"),
            ("Linux", "Linux"),
        ]);
        match (browser, system) {
            (Some(browser), Some(system)) => Some(Self(format!("{browser} · {system}"))),
            (Some(name), None) | (None, Some(name)) => Some(Self(name.to_owned())),
            (None, None) => None,
        }
    }

    /// Wraps a stored name.
    #[must_use]
    pub fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A session to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    pub id: SessionId,
    /// The digest of the cookie.
    pub digest: SecretDigest,
    /// The address that was confirmed.
    pub email: EmailAddress,
    pub browser: Option<BrowserName>,
    /// Timestamp of the sign-in, also of the last use.
    pub created_at: Timestamp,
}

/// A session with what its address means now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    /// The confirmed address.
    pub email: EmailAddress,
    /// The customer with this address.
    pub customer: Option<CustomerName>,
    /// The language that the customer has chosen.
    pub language: Option<Language>,
    /// The member with this address.
    pub member: Option<Member>,
    /// Timestamp of the sign-in.
    pub created_at: Timestamp,
    /// Timestamp of a use; updated at most once in [`Session::USE_PRECISION`].
    pub last_seen_at: Timestamp,
    /// Whether the member has switched on the keyboard shortcuts.
    pub has_shortcuts: bool,
}

impl Session {
    /// How exactly the last use is known.
    pub const USE_PRECISION: Duration = Duration::HOUR;
    /// How long a sign-in counts as fresh.
    pub const FRESH: Duration = Duration::HOUR;
    /// A customer's session ends after this time without use, and after this time in all.
    pub const CUSTOMER_LIFETIME: (Duration, Duration) = (Duration::days(30), Duration::days(180));
    /// A member's session ends after this time without use, and after this time in all.
    pub const MEMBER_LIFETIME: (Duration, Duration) = (Duration::hours(24), Duration::days(14));

    /// Returns the time before which sessions were last used that have ended at `now`, those of customers and of members.
    #[must_use]
    pub fn ended_before(now: Timestamp) -> Timestamp {
        now.plus(-Self::CUSTOMER_LIFETIME.1)
    }

    /// Whether the session has not ended yet. Members have shorter ones.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        let (idle, total) = if self.member.is_some() { Self::MEMBER_LIFETIME } else { Self::CUSTOMER_LIFETIME };
        // The last use is known only up to its precision, in favour of the person.
        now <= self.last_seen_at.plus(idle + Self::USE_PRECISION) && now <= self.created_at.plus(total)
    }

    /// Whether the last use is to be stored.
    #[must_use]
    pub fn needs_touch_at(&self, now: Timestamp) -> bool {
        now >= self.last_seen_at.plus(Self::USE_PRECISION)
    }

    /// Whether the person has signed in lately. What cannot be undone asks for it.
    #[must_use]
    pub fn is_fresh_at(&self, now: Timestamp) -> bool {
        now < self.created_at.plus(Self::FRESH)
    }

    /// Returns what the session may see.
    #[must_use]
    pub fn viewer(&self) -> Viewer {
        Viewer { customer: self.customer.as_ref().map(|customer| customer.id), is_member: self.member.is_some() }
    }

    /// Returns the name to show to its owner: that of the member or of the customer, or none.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        let member = self.member.as_ref().map(|member| member.name.as_str());
        member.or_else(|| self.customer.as_ref()?.name.as_ref().map(|name| name.as_str()))
    }
}

/// A session, as its owner sees it in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEntry {
    pub id: SessionId,
    pub browser: Option<BrowserName>,
    /// Timestamp of the sign-in.
    pub created_at: Timestamp,
    /// Timestamp of a recent use.
    pub last_seen_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::MemberId;
    use crate::model::member::Role;
    use crate::usecase::fixtures::{name, now};
    use uuid::Uuid;

    #[test]
    fn a_secret_is_43_base62_characters_and_is_not_shown() {
        let secret = BrowserSecret::parse(&"a".repeat(43)).unwrap();
        assert_eq!(format!("{secret:?}"), "BrowserSecret(…)");
        assert_eq!(secret.digest(), SecretDigest(Sha256::digest("a".repeat(43)).into()));
        for raw in ["", &"a".repeat(42), &"a".repeat(44), &"-".repeat(43), &"é".repeat(43)] {
            assert_eq!(BrowserSecret::parse(raw), None, "{raw}");
        }
    }

    #[test]
    fn browsers_are_named_with_their_system() {
        for (header, expected) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", Some("Firefox · Linux")),
            (
                "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0 Safari/537.36 Edg/126.0",
                Some("Edge · Windows"),
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Safari/604.1",
                Some("Safari · iPhone"),
            ),
            ("Mozilla/5.0 (Linux; Android 14) Chrome/126.0 Mobile Safari/537.36", Some("Chrome · Android")),
            ("Linux", Some("Linux")),
            ("curl/8.5", None),
        ] {
            assert_eq!(BrowserName::of_user_agent(header).as_ref().map(BrowserName::as_str), expected);
        }
    }

    #[test]
    fn sessions_of_members_end_sooner() {
        let session = |is_member: bool, seen: Duration| {
            let email = EmailAddress::from_stored("ann@example.com".to_owned());
            let member = is_member.then(|| Member {
                id: MemberId::new(Uuid::from_u128(1)),
                email: email.clone(),
                name: name("Ann"),
                role: Role::Member,
                created_at: now(),
            });
            let id = SessionId::new(Uuid::from_u128(2));
            let last_seen_at = now().plus(seen);
            Session {
                id,
                email,
                customer: None,
                language: None,
                member,
                created_at: now(),
                last_seen_at,
                has_shortcuts: false,
            }
        };
        let after = |days: i64, hours: i64| now().plus(Duration::days(days) + Duration::hours(hours));
        for (is_member, seen, at, is_valid) in [
            (true, Duration::ZERO, after(1, 1), true),
            (true, Duration::ZERO, after(1, 2), false),
            (true, Duration::days(14), after(14, 0), true),
            (true, Duration::days(14), after(14, 1), false),
            (false, Duration::ZERO, after(30, 1), true),
            (false, Duration::ZERO, after(30, 2), false),
            (false, Duration::days(180), after(180, 0), true),
            (false, Duration::days(180), after(180, 1), false),
        ] {
            assert_eq!(session(is_member, seen).is_valid_at(at), is_valid, "{is_member} {at:?}");
        }
        assert!(!session(false, Duration::ZERO).needs_touch_at(now().plus(Duration::minutes(59))));
        assert!(session(false, Duration::ZERO).needs_touch_at(after(0, 1)));
    }

    #[test]
    fn a_sign_in_is_fresh_for_an_hour() {
        let email = EmailAddress::from_stored("ann@example.com".to_owned());
        let id = SessionId::new(Uuid::from_u128(2));
        let session = Session {
            id,
            email,
            customer: None,
            language: None,
            member: None,
            created_at: now(),
            last_seen_at: now().plus(Duration::hours(5)),
            has_shortcuts: false,
        };
        for (minutes, is_fresh) in [(0, true), (59, true), (60, false), (600, false)] {
            assert_eq!(session.is_fresh_at(now().plus(Duration::minutes(minutes))), is_fresh);
        }
    }
}
