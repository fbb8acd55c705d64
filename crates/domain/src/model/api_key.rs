//! API keys, contract section 5.

use sha2::{Digest, Sha256};

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::id::{ApiKeyId, MemberId};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::workspace::Workspace;

/// The complete text of an API key.
///
/// It consists of the prefix `rmk_`, 43 random base62 characters (256 bits), and the CRC-32 of both in 6 base62
/// characters. The checksum allows rejecting a mistyped key without a query. The prefix allows scanners to detect a
/// leaked key.
///
/// A key is shown once. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyText(String);

/// Number of random characters of a key.
pub const RANDOM_CHARACTERS: usize = 43;
const PREFIX: &str = "rmk_";
const CHECKSUM_CHARACTERS: usize = 6;

impl KeyText {
    /// Creates a key from 43 random base62 characters. Returns `None` for any other text.
    #[must_use]
    pub fn from_random(characters: &str) -> Option<Self> {
        let fits = characters.len() == RANDOM_CHARACTERS && characters.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| {
            let body = format!("{PREFIX}{characters}");
            Self(format!("{body}{}", checksum(&body)))
        })
    }

    /// Parses a key. Returns `None` when the format or the checksum is wrong.
    #[must_use]
    pub fn parse(raw: &str) -> Option<Self> {
        let body = raw.get(..raw.len().checked_sub(CHECKSUM_CHARACTERS)?)?;
        let characters = body.strip_prefix(PREFIX)?;
        Self::from_random(characters).filter(|key| key.0 == raw)
    }

    /// Returns the text of the key, for showing it once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the digest by which the key is stored and looked up.
    #[must_use]
    pub fn digest(&self) -> KeyDigest {
        KeyDigest(Sha256::digest(self.0.as_bytes()).into())
    }

    /// Returns the last four characters, which help people to distinguish their keys.
    #[must_use]
    pub fn last_four(&self) -> &str {
        self.0.get(self.0.len() - 4..).unwrap_or_default()
    }
}

impl std::fmt::Debug for KeyText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyText(…)")
    }
}

fn checksum(body: &str) -> String {
    format!("{:0>CHECKSUM_CHARACTERS$}", base62::encode(crc32fast::hash(body.as_bytes())))
}

/// The SHA-256 of a key. A slow hash is not needed, because the key has 256 random bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest(pub [u8; 32]);

/// The scopes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scopes {
    /// Allows GET requests.
    pub read: bool,
    /// Allows requests that change records.
    pub write: bool,
    /// Allows requests that change how the workspace works for everybody. It does not include `write`.
    pub manage: bool,
}

impl Scopes {
    /// The scopes of a key that is issued without a choice.
    pub const DEFAULT: Self = Self { read: true, write: true, manage: false };
    /// All scopes.
    pub const ALL: Self = Self { read: true, write: true, manage: true };

    /// Parses a list of scope names. An empty list means [`Self::DEFAULT`].
    ///
    /// # Errors
    /// A name that is not `read`, `write` or `manage`.
    pub fn parse(field: &str, names: &[String]) -> Validated<Self> {
        if names.is_empty() {
            return Ok(Self::DEFAULT);
        }
        let mut scopes = Self { read: false, write: false, manage: false };
        for name in names {
            match name.as_str() {
                "read" => scopes.read = true,
                "write" => scopes.write = true,
                "manage" => scopes.manage = true,
                _ => {
                    let expected = "one of read, write, manage";
                    return Err(FieldError::new(field, FieldProblem::Malformed { expected }));
                }
            }
        }
        Ok(scopes)
    }

    /// Whether the key allows a request that needs `scope`.
    #[must_use]
    pub fn allows(self, scope: Scope) -> bool {
        match scope {
            Scope::Read => self.read,
            Scope::Write => self.write,
            Scope::Manage => self.manage,
        }
    }

    /// Returns the names of the scopes.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        [(self.read, "read"), (self.write, "write"), (self.manage, "manage")]
            .into_iter()
            .filter(|(held, _)| *held)
            .map(|(_, name)| name)
            .collect()
    }
}

/// The scope that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Read access.
    Read,
    /// Write access.
    Write,
    /// Access to what concerns the whole workspace.
    Manage,
}

impl Scope {
    /// Returns the name that clients and operators see.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Manage => "manage",
        }
    }
}

/// The stored metadata of an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: ApiKeyId,
    pub name: Name,
    /// The key's last four characters.
    pub last_four: String,
    pub scopes: Scopes,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
    /// Timestamp from which the key is invalid.
    pub expires_at: Option<Timestamp>,
    /// Timestamp of the revocation.
    pub revoked_at: Option<Timestamp>,
    /// Timestamp of the last use, with a precision of a minute.
    pub last_used_at: Option<Timestamp>,
    /// The member who made or rotated it. `None`: an operator, or unknown.
    pub made_by: Option<MemberId>,
}

impl ApiKey {
    /// Whether the key is valid at `now`. It is invalid from the timestamps of its expiry and revocation on.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none_or(|at| now < at) && self.expires_at.is_none_or(|at| now < at)
    }

    /// Whether no use of the key was recorded within the last minute.
    #[must_use]
    pub fn needs_last_use_update(&self, now: Timestamp) -> bool {
        self.last_used_at.is_none_or(|at| at.plus(LAST_USE_PRECISION) <= now)
    }
}

/// Minimum interval between two updates of the last use of a key.
pub const LAST_USE_PRECISION: time::Duration = time::Duration::MINUTE;

/// An API key and its workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    pub workspace: Workspace,
    pub key: ApiKey,
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn key() -> KeyText {
        KeyText::from_random(&"aB3".repeat(15)[..43]).unwrap()
    }

    /// Decision 1.
    #[test]
    fn a_key_has_a_prefix_43_characters_and_a_checksum() {
        let text = key().reveal().to_owned();
        assert_eq!(text.len(), 4 + 43 + 6);
        assert!(text.starts_with("rmk_aB3"));
        assert_eq!(KeyText::parse(&text), Some(key()));
        assert_eq!(key().last_four(), &text[49..]);
    }

    #[test]
    fn a_key_has_exactly_43_base62_characters() {
        for characters in
            ["", &"a".repeat(42), &"a".repeat(44), &format!("{}-", "a".repeat(42)), &format!("{}ü", "a".repeat(41))]
        {
            assert_eq!(KeyText::from_random(characters), None, "{characters}");
        }
    }

    /// Decision 1: the digest is SHA-256.
    #[test]
    fn the_digest_is_sha_256_of_the_whole_key() {
        // Checksum and digest were computed with another implementation.
        let key = KeyText::from_random(&"a".repeat(43)).unwrap();
        let digest: String = key.digest().0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            (key.reveal(), digest.as_str()),
            (
                "rmk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa3MhS3x",
                "7e6faef82ef81459b1bb71b05a12f7447ab93b0f4235e984985ddb21d949b90a"
            )
        );
    }

    /// Decision 1.
    #[test]
    fn the_checksum_detects_any_single_wrong_character() {
        let text = key().reveal().to_owned();
        for at in 0..text.len() {
            let mut wrong = text.clone().into_bytes();
            wrong[at] = if wrong[at] == b'x' { b'y' } else { b'x' };
            assert_eq!(KeyText::parse(&String::from_utf8(wrong).unwrap()), None, "at {at}");
        }
        for raw in ["", "rmk_", "rmk", &text[1..], &format!("{text}a"), &format!(" {text}"), "ü", &"ü".repeat(30)] {
            assert_eq!(KeyText::parse(raw), None, "{raw}");
        }
    }

    /// Decision 1.
    #[test]
    fn the_key_is_not_in_debug_output() {
        assert_eq!(format!("{:?}", key()), "KeyText(…)");
    }

    /// Decision 1.
    #[test]
    fn a_key_expires_exactly_at_its_timestamp() {
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        let mut key = ApiKey {
            id: ApiKeyId::new(Uuid::from_u128(1)),
            name: Name::from_stored("ci".to_owned()),
            last_four: "abcd".to_owned(),
            scopes: Scopes::ALL,
            created_at: at(0),
            expires_at: Some(at(1_000)),
            revoked_at: None,
            last_used_at: None,
            made_by: None,
        };
        assert!(key.is_valid_at(at(999)));
        assert!(!key.is_valid_at(at(1_000)));
        key.revoked_at = Some(at(500));
        assert!(key.is_valid_at(at(499)));
        assert!(!key.is_valid_at(at(500)));
    }

    /// Decision 1.
    #[test]
    fn last_use_is_recorded_once_a_minute() {
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        let used = |last_used_at| ApiKey {
            id: ApiKeyId::new(Uuid::from_u128(1)),
            name: Name::from_stored("ci".to_owned()),
            last_four: "abcd".to_owned(),
            scopes: Scopes::ALL,
            created_at: at(0),
            expires_at: None,
            revoked_at: None,
            last_used_at,
            made_by: None,
        };
        assert!(used(None).needs_last_use_update(at(0)));
        assert!(!used(Some(at(0))).needs_last_use_update(at(59_999)));
        assert!(used(Some(at(0))).needs_last_use_update(at(60_000)));
    }

    /// Decision 1; Addition 1.
    #[test]
    fn scopes_limit_what_a_key_allows() {
        let read = Scopes::parse("scope", &["read".to_owned()]).unwrap();
        assert!(read.allows(Scope::Read) && !read.allows(Scope::Write));
        let write = Scopes::parse("scope", &["write".to_owned()]).unwrap();
        assert!(!write.allows(Scope::Read) && write.allows(Scope::Write) && !write.allows(Scope::Manage));
        let manage = Scopes::parse("scope", &["manage".to_owned()]).unwrap();
        assert!(!manage.allows(Scope::Read) && !manage.allows(Scope::Write) && manage.allows(Scope::Manage));
        assert_eq!(Scopes::parse("scope", &[]).unwrap().names(), ["read", "write"]);
        assert_eq!(Scopes::ALL.names(), ["read", "write", "manage"]);
        assert_eq!(
            Scopes::parse("scope", &["admin".to_owned()]).unwrap_err().to_string(),
            "scope is not one of read, write, manage"
        );
    }
}
