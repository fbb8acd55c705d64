//! Sealed texts: secrets that the service must read back are stored encrypted.
//!
//! A sealed text is `sealed1.{key}.{nonce}.{ciphertext}`: the ID of the secret whose key encrypts it, 24 random
//! characters, and the output of XChaCha20-Poly1305 in URL-safe Base64. The key is derived with HKDF-SHA256 (RFC 5869).
//! What the text is for is authenticated with it, so that it does not open in another row or column (ADR 79).

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest, Sha256};
use thiserror::Error;
use uuid::Uuid;

use crate::model::id::WorkspaceId;
use crate::policy::signed_reference::Secret;
use crate::ports::Random;

/// What a sealed text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealedKind {
    /// The URL of a webhook, which is a credential at chat services.
    WebhookUrl,
    /// A secret that signs the requests of a webhook.
    WebhookSecret,
    /// The secret with which a tracker proves its reports.
    LinkSourceSecret,
}

impl SealedKind {
    /// Returns the label that is authenticated. It never changes, because sealed texts are stored.
    fn label(self) -> &'static [u8] {
        match self {
            Self::WebhookUrl => b"webhook-url",
            Self::WebhookSecret => b"webhook-secret",
            Self::LinkSourceSecret => b"link-source-secret",
        }
    }
}

/// The only place at which a sealed text opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedPlace {
    pub workspace: WorkspaceId,
    pub kind: SealedKind,
    /// The ID of the row.
    pub record: Uuid,
}

impl SealedPlace {
    /// Returns the associated data. The zero byte ends the label, which is the only part of variable length.
    fn associated_data(self) -> Vec<u8> {
        [self.kind.label(), &[0], self.workspace.uuid().as_bytes(), self.record.as_bytes()].concat()
    }
}

/// A text that was sealed, or is to be. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// Wraps a text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretText(…)")
    }
}

/// The reason why a sealed text does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum OpenError {
    /// No known secret has the ID.
    #[error("it was encrypted with a secret that is neither secret nor one of previous_secrets")]
    UnknownKey,
    /// It is no sealed text, was changed, or belongs to another place.
    #[error("it is damaged, or was encrypted for another record")]
    Damaged,
}

/// The version of the format.
const VERSION: &str = "sealed1";

/// What the derived key is for (`info` of HKDF). It never changes.
const KEY_LABEL: &[u8] = b"roadmap/1\0sealed texts";

/// Characters of a nonce, which are its bytes. 24 base62 characters have 142 random bits, so that texts with the same
/// nonce are not to be expected before 2^64 of them.
const NONCE_LENGTH: usize = 24;

/// Seals texts with the current secret, and opens those of the current and previous secrets.
pub struct Sealer {
    current: Key,
    previous: Vec<Key>,
    random: Arc<dyn Random>,
}

impl Sealer {
    /// Creates a sealer that seals with `current` and also opens what was sealed with one of `previous`.
    #[must_use]
    pub fn new(current: &Secret, previous: &[Secret], random: Arc<dyn Random>) -> Self {
        Self { current: Key::derive(current), previous: previous.iter().map(Key::derive).collect(), random }
    }

    /// Returns a new secret: 40 base62 characters, which have 238 random bits.
    #[must_use]
    pub fn new_secret(&self) -> SecretText {
        SecretText(self.random.base62(40))
    }

    /// Returns 32 bytes for a new secret: a digest of 64 base62 characters, which have 381 random bits.
    #[must_use]
    pub fn random_bytes(&self) -> [u8; 32] {
        Sha256::digest(self.random.base62(64)).into()
    }

    /// Seals a text for one place.
    #[must_use]
    pub fn seal(&self, place: SealedPlace, text: &SecretText) -> String {
        self.current.seal(place, text, &self.random.base62(NONCE_LENGTH))
    }

    /// Opens a sealed text at its place.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(&self, place: SealedPlace, sealed: &str) -> Result<SecretText, OpenError> {
        let (id, nonce, ciphertext) = parts(sealed).ok_or(OpenError::Damaged)?;
        let mut keys = std::iter::once(&self.current).chain(&self.previous);
        let key = keys.find(|key| key.id == id).ok_or(OpenError::UnknownKey)?;
        key.open(place, nonce, ciphertext).ok_or(OpenError::Damaged)
    }

    /// Returns what all texts begin with that were sealed with a secret that is known: the current one, which is the first,
    /// or a previous one.
    #[must_use]
    pub fn known_prefixes(&self) -> Vec<String> {
        std::iter::once(&self.current).chain(&self.previous).map(Key::prefix).collect()
    }

    /// Returns what all texts begin with that were sealed with the current secret. Each start seals all others anew.
    #[must_use]
    pub fn current_prefix(&self) -> String {
        self.current.prefix()
    }
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sealer")
            .field("current", &self.current)
            .field("previous", &self.previous)
            .finish_non_exhaustive()
    }
}

/// Splits a sealed text into the ID of its secret, its nonce and its ciphertext.
fn parts(sealed: &str) -> Option<(&str, &str, &str)> {
    let (id, rest) = sealed.strip_prefix(VERSION)?.strip_prefix('.')?.split_once('.')?;
    let (nonce, ciphertext) = rest.split_once('.')?;
    Some((id, nonce, ciphertext))
}

/// A key that is derived from a secret.
#[derive(Clone)]
struct Key {
    id: String,
    cipher: XChaCha20Poly1305,
}

impl Key {
    fn derive(secret: &Secret) -> Self {
        Self {
            id: format!("{:08x}", u32::from_be_bytes(secret.key_id())),
            cipher: XChaCha20Poly1305::new(&secret.derive_key(KEY_LABEL).into()),
        }
    }

    fn prefix(&self) -> String {
        format!("{VERSION}.{}.", self.id)
    }

    fn seal(&self, place: SealedPlace, text: &SecretText, nonce: &str) -> String {
        let payload = Payload { msg: text.0.as_bytes(), aad: &place.associated_data() };
        // Fails for texts of more than 256 GiB only. What is stored then does not open.
        let ciphertext = cipher_nonce(nonce).and_then(|bytes| self.cipher.encrypt(&bytes, payload).ok());
        format!("{}{nonce}.{}", self.prefix(), URL_SAFE_NO_PAD.encode(ciphertext.unwrap_or_default()))
    }

    fn open(&self, place: SealedPlace, nonce: &str, ciphertext: &str) -> Option<SecretText> {
        let ciphertext = URL_SAFE_NO_PAD.decode(ciphertext).ok()?;
        let payload = Payload { msg: &ciphertext, aad: &place.associated_data() };
        let text = self.cipher.decrypt(&cipher_nonce(nonce)?, payload).ok()?;
        String::from_utf8(text).ok().map(SecretText)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

fn cipher_nonce(nonce: &str) -> Option<XNonce> {
    nonce.as_bytes().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Nonces that are counted.
    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Random for Counter {
        fn base62(&self, characters: usize) -> String {
            format!("{:0characters$}", self.0.fetch_add(1, Ordering::Relaxed))
        }
    }

    const KINDS: [SealedKind; 3] = [SealedKind::WebhookUrl, SealedKind::WebhookSecret, SealedKind::LinkSourceSecret];
    const SECRET: &str = "8f0c2b64e19d7a35f1e40b9c6d2a8375";
    const WORKSPACE: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
    const RECORD: &str = "01976800-c95f-7d4d-9d90-7a6bf43233fb";

    fn secret(text: &str) -> Secret {
        Secret::parse("secret", text).unwrap()
    }

    fn other_secret() -> Secret {
        secret("1b5d8a40c7e2936ff07a4d8be3169c52")
    }

    fn sealer_of(current: &Secret, previous: &[Secret]) -> Sealer {
        Sealer::new(current, previous, Arc::new(Counter::default()))
    }

    fn sealer() -> Sealer {
        sealer_of(&secret(SECRET), &[])
    }

    fn place(workspace: &str, kind: SealedKind, record: &str) -> SealedPlace {
        let [workspace, record] = [workspace, record].map(|id| Uuid::parse_str(id).unwrap());
        SealedPlace { workspace: WorkspaceId::new(workspace), kind, record }
    }

    fn here() -> SealedPlace {
        place(WORKSPACE, SealedKind::WebhookSecret, RECORD)
    }

    fn text(raw: &str) -> SecretText {
        SecretText::new(raw.to_owned())
    }

    /// Computed with HKDF of Python's `cryptography` and XChaCha20-Poly1305 of libsodium, equal in PyCryptodome.
    #[test]
    fn sealed_texts_match_those_of_other_libraries() {
        let long = format!("{}Ä1", "x".repeat(40));
        for (raw, place, nonce, plain, sealed) in [
            (
                SECRET,
                here(),
                "abcdefghijklmnopqrstuvwx",
                "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "sealed1.0e597ace.abcdefghijklmnopqrstuvwx.\
                 L33niceF4sgWAdtjlJfFRDKxeYXVqUp9VDHaekN-HCVDpH6FsnuK9IbAgnU3m5yaO4xJRXDJ",
            ),
            (
                SECRET,
                place(WORKSPACE, SealedKind::WebhookUrl, RECORD),
                "ABCDEFGHIJKLMNOPQRSTUVWX",
                "https://hooks.slack.com/services/T0/B0/aB3x",
                "sealed1.0e597ace.ABCDEFGHIJKLMNOPQRSTUVWX.\
                 KPBiEk0b2PJctCKtDhCrcJra4aHGrsdFRiu4_gCmcOLsg_zfq2wHMg-dlHFSLs_Y1sHMvyt4RLXjir4",
            ),
            (
                &long,
                place(WORKSPACE, SealedKind::LinkSourceSecret, RECORD),
                "012345678901234567890123",
                "ä 🦀",
                "sealed1.833d4b59.012345678901234567890123.aj0MMMW1bX5fioGpWpW085Z_9J7_voU",
            ),
            (
                &long,
                place(RECORD, SealedKind::WebhookUrl, WORKSPACE),
                "0Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh",
                "",
                "sealed1.833d4b59.0Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh.ZgM9LyOtZhPWqElDdP2LQw",
            ),
        ] {
            assert_eq!(Key::derive(&secret(raw)).seal(place, &text(plain), nonce), sealed);
            assert_eq!(sealer_of(&secret(raw), &[]).open(place, sealed), Ok(text(plain)));
        }
    }

    /// Webhooks: `previous_secrets` decrypt older texts, and each start encrypts them anew.
    #[test]
    fn previous_secrets_open_until_a_text_is_sealed_anew() {
        let old = sealer().seal(here(), &text("whsec_x"));
        assert!(old.starts_with(&sealer().current_prefix()));
        let rotated = sealer_of(&other_secret(), &[secret(SECRET)]);
        assert!(!old.starts_with(&rotated.current_prefix()));
        assert_eq!(rotated.known_prefixes(), [rotated.current_prefix(), sealer().current_prefix()]);
        let opened = rotated.open(here(), &old).unwrap();
        let new = rotated.seal(here(), &opened);
        assert!(new.starts_with(&rotated.current_prefix()));
        let after = sealer_of(&other_secret(), &[]);
        assert_eq!(after.open(here(), &new), Ok(text("whsec_x")));
        assert_eq!(after.open(here(), &old), Err(OpenError::UnknownKey));
        assert_eq!(sealer().open(here(), &new), Err(OpenError::UnknownKey));
    }

    #[test]
    fn a_text_opens_at_its_place_only() {
        let sealed = sealer().seal(here(), &text("whsec_x"));
        assert_eq!(sealer().open(here(), &sealed), Ok(text("whsec_x")));
        for elsewhere in [
            place(RECORD, SealedKind::WebhookSecret, RECORD),
            place(WORKSPACE, SealedKind::WebhookSecret, WORKSPACE),
            place(RECORD, SealedKind::WebhookSecret, WORKSPACE),
            place(WORKSPACE, SealedKind::WebhookUrl, RECORD),
            place(WORKSPACE, SealedKind::LinkSourceSecret, RECORD),
        ] {
            assert_eq!(sealer().open(elsewhere, &sealed), Err(OpenError::Damaged), "{elsewhere:?}");
        }
    }

    #[test]
    fn an_unknown_secret_is_distinguished_from_damage() {
        let sealed = sealer().seal(here(), &text("whsec_x"));
        let (head, ciphertext) = sealed.rsplit_once('.').unwrap();
        for damaged in [
            "",
            "whsec_x",
            "sealed1",
            "sealed1.0e597ace",
            "sealed1.0e597ace.x",
            head,
            &format!("{head}."),
            &format!("{head}.{ciphertext}="),
            &format!("{head}.{ciphertext}A"),
            &format!("{head}.{}", &ciphertext[1..]),
            &format!("{head}.{ciphertext}.{ciphertext}"),
            &format!(" {sealed}"),
            &format!("{sealed}\n"),
            &sealed.replace("sealed1", "sealed2"),
            &sealed.replace("sealed1", "Sealed1"),
            &sealed.replace(".000", ".00"),
            &sealed.replace(".000", ".0000"),
            &sealed.replace(".000", ".001"),
        ] {
            assert_eq!(sealer().open(here(), damaged), Err(OpenError::Damaged), "{damaged}");
        }
        for unknown in [sealed.replace("0e597ace", "0e597acf"), sealed.replace("0e597ace", "0E597ACE")] {
            assert_eq!(sealer().open(here(), &unknown), Err(OpenError::UnknownKey), "{unknown}");
            assert!(!unknown.starts_with(&sealer().current_prefix()));
        }
        // The ID of another known secret does not make its key fit.
        let both = sealer_of(&other_secret(), &[secret(SECRET)]);
        let moved = sealed.replace("0e597ace", &both.current.id);
        assert_eq!(both.open(here(), &moved), Err(OpenError::Damaged));
        assert_ne!(OpenError::UnknownKey.to_string(), OpenError::Damaged.to_string());
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?} {:?}", sealer_of(&secret(SECRET), &[other_secret()]), text("whsec_x"));
        let previous = Key::derive(&other_secret()).id;
        assert_eq!(
            shown,
            format!("Sealer {{ current: Key(0e597ace), previous: [Key({previous})], .. }} SecretText(…)")
        );
    }

    #[test]
    fn the_places_of_texts_have_different_associated_data() {
        for (at, kind) in KINDS.iter().enumerate() {
            assert!(!kind.label().contains(&0));
            assert!(KINDS[at + 1..].iter().all(|other| other.label() != kind.label()));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn what_was_sealed_opens_and_nothing_else_does(
            plain in ".{0,300}",
            (workspace, record, other) in any::<(u128, u128, u128)>(),
            kind in 0..KINDS.len(),
            nonce in "[0-9A-Za-z]{24}",
            (bit, cut) in any::<(prop::sample::Index, prop::sample::Index)>(),
        ) {
            let of = |workspace, record| SealedPlace {
                workspace: WorkspaceId::new(Uuid::from_u128(workspace)),
                kind: KINDS[kind],
                record: Uuid::from_u128(record),
            };
            let here = of(workspace, record);
            let sealed = sealer().current.seal(here, &text(&plain), &nonce);
            prop_assert_eq!(sealer().open(here, &sealed), Ok(text(&plain)));
            prop_assert!(plain.len() < 8 || !sealed.contains(&plain));
            prop_assume!(other != workspace && other != record);
            prop_assert_eq!(sealer().open(of(other, record), &sealed), Err(OpenError::Damaged));
            prop_assert_eq!(sealer().open(of(workspace, other), &sealed), Err(OpenError::Damaged));
            // Every other ciphertext, nonce and length.
            let (head, ciphertext) = sealed.rsplit_once('.').unwrap();
            let mut bytes = URL_SAFE_NO_PAD.decode(ciphertext).unwrap();
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            let flipped = format!("{head}.{}", URL_SAFE_NO_PAD.encode(&bytes));
            prop_assert_eq!(sealer().open(here, &flipped), Err(OpenError::Damaged));
            prop_assert!(sealer().open(here, &sealed[..cut.index(sealed.len())]).is_err());
            let other_nonce = sealed.replace(&nonce, "________________________");
            prop_assert_eq!(sealer().open(here, &other_nonce), Err(OpenError::Damaged));
        }

        #[test]
        fn a_made_up_text_does_not_open(made_up in "sealed1\\.0e597ace\\.[0-9A-Za-z]{24}\\.[A-Za-z0-9_-]{0,80}|.{0,80}") {
            prop_assert!(sealer().open(here(), &made_up).is_err());
        }
    }
}
