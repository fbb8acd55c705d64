//! Signed references to records, which clients can store but not forge.
//!
//! A reference is valid for one purpose in one workspace. It consists of the secret's ID, the record's ID, an optional
//! expiry timestamp, and an HMAC-SHA256 (RFC 2104) over these, the purpose and the workspace.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::email_address::FoldedEmail;
use crate::model::id::WorkspaceId;
use crate::model::timestamp::Timestamp;

/// The purpose of a reference. A reference is invalid for any other purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// `signed_id`: uses a file as a cover image or by its URL.
    Blob,
    /// `attachable_sgid`: attaches a file to rich text.
    Attachable,
    /// A link to the content of a file, which expires soon.
    File,
    /// An unsubscribe link in mail to a voter.
    Unsubscribe,
    /// A link in mail to a member of the team that stops it.
    TeamMail,
    /// A link to the mail settings of a customer, which expires.
    MailSettings,
    /// A link in mail that signs somebody in.
    SignIn,
    /// A cookie that says who was signed in in a browser before.
    KnownBrowser,
    /// A digest of an address that was erased, which is no reference.
    ErasedAddress,
}

impl Purpose {
    /// Returns the label that is signed. It never changes, because clients store references.
    fn label(self) -> &'static [u8] {
        match self {
            Self::Blob => b"blob",
            Self::Attachable => b"attachable",
            Self::File => b"file",
            Self::Unsubscribe => b"unsubscribe",
            Self::TeamMail => b"team-mail",
            Self::MailSettings => b"mail-settings",
            Self::SignIn => b"sign-in",
            Self::KnownBrowser => b"known-browser",
            Self::ErasedAddress => b"erased-address",
        }
    }
}

/// A secret for signing references and for sealing texts ([`crate::policy::sealing`]).
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Minimum number of characters. 32 characters hold at least 128 random bits, even in hexadecimal.
    pub const MIN_LENGTH: usize = 32;

    /// Validates a secret. An error names `field`.
    ///
    /// # Errors
    /// Fewer than [`Secret::MIN_LENGTH`] characters.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let raw = raw.trim();
        if raw.len() < Self::MIN_LENGTH {
            return Err(FieldError::new(
                field,
                FieldProblem::Malformed { expected: "a secret of at least 32 characters" },
            ));
        }
        Ok(Self(raw.as_bytes().to_vec()))
    }

    /// Whether the secret has so few distinct characters that it cannot be random.
    ///
    /// The limit is 8. 32 random hexadecimal digits almost always contain at least 10 distinct ones.
    #[must_use]
    pub fn is_guessable(&self) -> bool {
        let different: std::collections::BTreeSet<u8> = self.0.iter().copied().collect();
        different.len() < 8
    }

    /// Returns a short ID that distinguishes secrets without revealing them.
    pub(super) fn key_id(&self) -> [u8; KEY_ID_BYTES] {
        let mut id = [0; KEY_ID_BYTES];
        let digest = Sha256::new().chain_update(b"roadmap secret id\0").chain_update(&self.0).finalize();
        id.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        id
    }

    /// Derives a key with HKDF-SHA256 (RFC 5869) without a salt. `label` says what the key is for.
    pub(super) fn derive_key(&self, label: &[u8]) -> [u8; 32] {
        // Extract, then the only block of expand, because a key is as long as a block.
        let extracted: [u8; 32] =
            Hmac::<Sha256>::new(&[0; 64].into()).chain_update(&self.0).finalize().into_bytes().into();
        // HMAC fills up a key with zeros to 64 bytes.
        let mut padded = [0; 64];
        padded.iter_mut().zip(extracted).for_each(|(to, from)| *to = from);
        Hmac::<Sha256>::new(&padded.into()).chain_update(label).chain_update([1]).finalize().into_bytes().into()
    }

    fn mac(&self, purpose: Purpose, workspace: WorkspaceId, signed: &[u8]) -> Hmac<Sha256> {
        // HMAC accepts keys of any length, so the fallback is unreachable.
        let mac = Hmac::<Sha256>::new_from_slice(&self.0).unwrap_or_else(|_| Hmac::new(&[0; 64].into()));
        // The zero byte ends the label, which is the only part of variable length besides the last one.
        mac.chain_update(b"roadmap/1\0")
            .chain_update(purpose.label())
            .chain_update([0])
            .chain_update(workspace.uuid().as_bytes())
            .chain_update(signed)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Sizes in bytes of a secret's ID, a record's ID, a timestamp and the authentication code.
const KEY_ID_BYTES: usize = 4;
const UUID_BYTES: usize = 16;
const TIMESTAMP_BYTES: usize = 8;
const MAC_BYTES: usize = 32;

/// Sizes in bytes of a reference without and with an expiry timestamp.
const REFERENCE_SIZES: [usize; 2] =
    [KEY_ID_BYTES + UUID_BYTES + MAC_BYTES, KEY_ID_BYTES + UUID_BYTES + TIMESTAMP_BYTES + MAC_BYTES];

/// Number of characters of the code of a sign-in.
pub const CODE_LENGTH: usize = 8;

/// The characters of such codes, without those that look alike.
pub const CODE_ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

fn code(secret: &Secret, workspace: WorkspaceId, sign_in: Uuid) -> String {
    // The zero byte distinguishes the code's input from that of a reference, which begins with an ID of a secret.
    let signed = [&b"code\0"[..], sign_in.as_bytes()].concat();
    let mac = secret.mac(Purpose::SignIn, workspace, &signed).finalize().into_bytes();
    let bits = mac.iter().take(5).fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
    let character = |position: usize| {
        let index = usize::try_from((bits >> (5 * position)) & 31).unwrap_or_default();
        char::from(CODE_ALPHABET.get(index).copied().unwrap_or(b'A'))
    };
    (0..CODE_LENGTH).map(character).collect()
}

fn address_digest(secret: &Secret, workspace: WorkspaceId, address: &FoldedEmail) -> String {
    let mac = secret.mac(Purpose::ErasedAddress, workspace, address.as_str().as_bytes());
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// Signs references with the current secret and verifies references of the current and previous secrets.
#[derive(Debug, Clone)]
pub struct ReferenceSigner {
    current: Secret,
    previous: Vec<Secret>,
}

impl ReferenceSigner {
    /// Creates a signer that signs with `current` and also accepts references signed with one of `previous`.
    #[must_use]
    pub fn new(current: Secret, previous: Vec<Secret>) -> Self {
        Self { current, previous }
    }

    /// Signs a reference to a record that does not expire.
    #[must_use]
    pub fn sign(&self, purpose: Purpose, workspace: WorkspaceId, record: Uuid) -> String {
        self.sign_record(purpose, workspace, record.as_bytes())
    }

    /// Signs a reference to a record that is valid up to and including `until`.
    #[must_use]
    pub fn sign_with_expiry(&self, purpose: Purpose, workspace: WorkspaceId, record: Uuid, until: Timestamp) -> String {
        self.sign_record(purpose, workspace, &[&record.as_bytes()[..], &until.millis().to_be_bytes()].concat())
    }

    fn sign_record(&self, purpose: Purpose, workspace: WorkspaceId, record: &[u8]) -> String {
        let mut reference = self.current.key_id().to_vec();
        reference.extend_from_slice(record);
        let mac = self.current.mac(purpose, workspace, &reference).finalize().into_bytes();
        reference.extend_from_slice(&mac);
        URL_SAFE_NO_PAD.encode(reference)
    }

    /// Returns the code of a sign-in, which a person types instead of opening its link: [`CODE_LENGTH`] characters of
    /// [`CODE_ALPHABET`], 40 bits of an authentication code.
    #[must_use]
    pub fn sign_in_code(&self, workspace: WorkspaceId, sign_in: Uuid) -> String {
        code(&self.current, workspace, sign_in)
    }

    /// Whether a text is the code of a sign-in. Case, spaces, hyphens and dashes of all kinds and invisible characters are
    /// ignored, because mail programs and keyboards put them in. Compared in constant time.
    #[must_use]
    pub fn verify_sign_in_code(&self, workspace: WorkspaceId, sign_in: Uuid, input: &str) -> bool {
        let characters = input.chars().filter(|character| !is_separator(*character)).take(CODE_LENGTH + 1);
        // A character that no code has stays one that is not equal.
        let bytes = characters.map(|character| ascii(character).map_or(0, |byte| byte.to_ascii_uppercase()));
        let normalized: Vec<u8> = bytes.collect();
        let equals = |secret: &Secret| {
            let expected = code(secret, workspace, sign_in);
            let differences = expected.bytes().zip(&normalized).fold(0, |all, (one, other)| all | (one ^ other));
            normalized.len() == CODE_LENGTH && differences == 0
        };
        std::iter::once(&self.current).chain(&self.previous).any(equals)
    }

    /// Whether a text has the format of a reference: the length, the alphabet and the ID of a known secret.
    ///
    /// Needs no workspace, so that malformed references are rejected before the workspace is looked up.
    #[must_use]
    pub fn is_well_formed(&self, reference: &str) -> bool {
        self.decode(reference).is_some()
    }

    /// Decodes a reference. Returns its bytes and the secret that its secret ID selects.
    fn decode(&self, reference: &str) -> Option<(Vec<u8>, &Secret)> {
        let lengths = REFERENCE_SIZES.map(|size| base64::encoded_len(size, false));
        if !lengths.contains(&Some(reference.len())) {
            return None;
        }
        let reference = URL_SAFE_NO_PAD.decode(reference).ok()?;
        let (id, _) = reference.split_at_checked(KEY_ID_BYTES)?;
        let secret = std::iter::once(&self.current).chain(&self.previous).find(|secret| secret.key_id() == id)?;
        Some((reference, secret))
    }

    /// Returns the referenced record, or `None` when the reference is not valid for this purpose in this workspace at
    /// `now`.
    ///
    /// The authentication code is compared in constant time.
    #[must_use]
    pub fn verify(&self, purpose: Purpose, workspace: WorkspaceId, reference: &str, now: Timestamp) -> Option<Uuid> {
        let (record, until) = self.verify_signature(purpose, workspace, reference)?;
        until.is_none_or(|until| now.millis() <= until).then_some(record)
    }

    /// Returns the referenced record, also if the reference has expired.
    #[must_use]
    pub fn verify_despite_expiry(&self, purpose: Purpose, workspace: WorkspaceId, reference: &str) -> Option<Uuid> {
        self.verify_signature(purpose, workspace, reference).map(|(record, _)| record)
    }

    /// Signs that a person was signed in in a browser. Without the secret, the token does not say who.
    #[must_use]
    pub fn sign_known_browser(&self, workspace: WorkspaceId, browser: Uuid, person: &FoldedEmail) -> String {
        let mut token = self.current.key_id().to_vec();
        token.extend_from_slice(browser.as_bytes());
        let signed = [&token[..], person.as_str().as_bytes()].concat();
        token.extend_from_slice(&self.current.mac(Purpose::KnownBrowser, workspace, &signed).finalize().into_bytes());
        URL_SAFE_NO_PAD.encode(token)
    }

    /// Returns the browser of a token, if it says that this person was signed in there.
    ///
    /// The authentication code is compared in constant time.
    #[must_use]
    pub fn verify_known_browser(&self, workspace: WorkspaceId, token: &str, person: &FoldedEmail) -> Option<Uuid> {
        let (token, secret) = self.decode(token)?;
        let (signed, mac) = token.split_at_checked(KEY_ID_BYTES + UUID_BYTES)?;
        let signed = [signed, person.as_str().as_bytes()].concat();
        secret.mac(Purpose::KnownBrowser, workspace, &signed).verify_slice(mac).ok()?;
        Uuid::from_slice(token.get(KEY_ID_BYTES..KEY_ID_BYTES + UUID_BYTES)?).ok()
    }

    /// Returns a keyed hash of an address, by which it is recognized without being stored.
    #[must_use]
    pub fn address_digest(&self, workspace: WorkspaceId, address: &FoldedEmail) -> String {
        address_digest(&self.current, workspace, address)
    }

    /// Returns [`Self::address_digest`] with the current secret and the previous ones.
    #[must_use]
    pub fn address_digests(&self, workspace: WorkspaceId, address: &FoldedEmail) -> Vec<String> {
        let secrets = std::iter::once(&self.current).chain(&self.previous);
        secrets.map(|secret| address_digest(secret, workspace, address)).collect()
    }

    /// Returns the record of a correctly signed reference, and until when it is valid, in milliseconds.
    fn verify_signature(
        &self,
        purpose: Purpose,
        workspace: WorkspaceId,
        reference: &str,
    ) -> Option<(Uuid, Option<i64>)> {
        let (reference, secret) = self.decode(reference)?;
        let (signed, mac) = reference.split_at_checked(reference.len().checked_sub(MAC_BYTES)?)?;
        let (_, record) = signed.split_at_checked(KEY_ID_BYTES)?;
        secret.mac(purpose, workspace, signed).verify_slice(mac).ok()?;
        let (record, until) = record.split_at_checked(UUID_BYTES)?;
        let until = match until.len() {
            0 => None,
            TIMESTAMP_BYTES => Some(i64::from_be_bytes(until.try_into().ok()?)),
            _ => return None,
        };
        Some((Uuid::from_slice(record).ok()?, until))
    }
}

/// Whether a character only separates or formats what was typed: spaces, hyphens, dashes, invisible characters.
fn is_separator(character: char) -> bool {
    character.is_whitespace()
        || matches!(
            character,
            '-' | '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
                | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        )
}

/// Returns the ASCII character that was meant by a full-width one or by an Arabic digit, of which keyboards have their own.
fn ascii(character: char) -> Option<u8> {
    let code = u32::from(character);
    let meant = match character {
        '\u{660}'..='\u{669}' => code - 0x660 + u32::from(b'0'),
        '\u{6f0}'..='\u{6f9}' => code - 0x6f0 + u32::from(b'0'),
        '\u{ff01}'..='\u{ff5e}' => code - 0xfee0,
        _ => code,
    };
    u8::try_from(meant).ok().filter(u8::is_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::{now, workspace};
    use proptest::prelude::*;
    use time::Duration;

    const PURPOSES: [Purpose; 5] =
        [Purpose::Blob, Purpose::Attachable, Purpose::File, Purpose::Unsubscribe, Purpose::SignIn];

    fn secret(text: &str) -> Secret {
        Secret::parse("secret", &text.repeat(32)).unwrap()
    }

    fn references() -> ReferenceSigner {
        ReferenceSigner::new(secret("a"), Vec::new())
    }

    fn record() -> Uuid {
        Uuid::from_u128(0x0189_0a5d_ac96_774b_bcce_b302_099a_8057)
    }

    /// Contract 2.7; Decision 4, 6.
    #[test]
    fn a_reference_is_valid_only_for_its_purpose_and_workspace() {
        let other = WorkspaceId::new(Uuid::from_u128(2));
        for purpose in PURPOSES {
            let reference = references().sign(purpose, workspace(), record());
            assert!(reference.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{reference}");
            for tried in PURPOSES {
                let verified = references().verify(tried, workspace(), &reference, now());
                assert_eq!(verified, (tried == purpose).then(record), "{purpose:?} as {tried:?}");
            }
            assert_eq!(references().verify(purpose, other, &reference, now()), None);
        }
    }

    /// Portal.
    #[test]
    fn a_code_is_that_of_its_sign_in_in_any_notation() {
        let code = references().sign_in_code(workspace(), record());
        assert!(code.len() == CODE_LENGTH && code.bytes().all(|byte| CODE_ALPHABET.contains(&byte)), "{code}");
        let verify = |input: &str| references().verify_sign_in_code(workspace(), record(), input);
        let spaced = format!(" {}-{} ", &code[..4], code[4..].to_lowercase());
        assert!(verify(&code) && verify(&spaced));
        for separator in [
            '\u{a0}', '\u{202f}', '\u{2009}', '\u{3000}', '\t', '\n', '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}',
            '\u{2014}', '\u{2212}', '\u{ad}', '\u{fe63}', '\u{ff0d}', '\u{200b}', '\u{2060}', '\u{feff}', '\u{200e}',
            '\u{200f}', '\u{2068}', '\u{2069}',
        ] {
            let separated = format!("{separator}{}{separator}{}{separator}", &code[..4], &code[4..]);
            assert!(verify(&separated), "{separator:?}");
        }
        let wide: String =
            code.chars().map(|character| char::from_u32(u32::from(character) + 0xfee0).unwrap()).collect();
        assert!(verify(&wide), "{wide}");
        let arabic = |zero: u32| -> String {
            code.chars()
                .map(|character| {
                    character.to_digit(10).map_or(character, |digit| char::from_u32(zero + digit).unwrap())
                })
                .collect()
        };
        assert!(verify(&arabic(0x660)) && verify(&arabic(0x6f0)));
        let last = if code.ends_with('A') { "B" } else { "A" };
        for wrong in ["", &code[..7], &format!("{code}A"), &format!("{}{last}", &code[..7]), "ÄÄÄÄ"] {
            assert!(!verify(wrong), "{wrong}");
        }
        let other = WorkspaceId::new(Uuid::from_u128(2));
        assert!(!references().verify_sign_in_code(other, record(), &code));
        assert!(!references().verify_sign_in_code(workspace(), Uuid::from_u128(9), &code));
        let rotated = ReferenceSigner::new(secret("b"), vec![secret("a")]);
        assert!(rotated.verify_sign_in_code(workspace(), record(), &code));
        assert_ne!(rotated.sign_in_code(workspace(), record()), code);
    }

    #[test]
    fn the_form_of_a_reference_is_its_length_alphabet_and_key_id() {
        let well_formed = |reference: &str| references().is_well_formed(reference);
        let forever = references().sign(Purpose::Blob, workspace(), record());
        let ending = references().sign_with_expiry(Purpose::File, workspace(), record(), now());
        for reference in [&forever, &ending] {
            assert!(well_formed(reference));
            // Neither the authentication code nor the expiry is checked.
            let forged = format!("{}A", &reference[..reference.len() - 1]);
            assert!(well_formed(&forged), "{forged}");
            for malformed in [
                &reference[1..],
                &reference[..reference.len() - 1],
                &format!("{reference}A"),
                &format!("{reference}AAAA"),
                &format!("{}=", &reference[..reference.len() - 1]),
                &format!("{}+", &reference[..reference.len() - 1]),
                &format!("{}é", &reference[..reference.len() - 2]),
                &"A".repeat(reference.len()),
                &ReferenceSigner::new(secret("b"), Vec::new()).sign(Purpose::Blob, workspace(), record()),
            ] {
                assert!(!well_formed(malformed), "{malformed}");
            }
        }
        assert!(!well_formed("") && !well_formed(&"A".repeat(1 << 20)));
        assert!(ReferenceSigner::new(secret("b"), vec![secret("a")]).is_well_formed(&forever));
    }

    #[test]
    fn a_known_browser_is_that_of_a_person_in_a_workspace_and_says_nothing_else() {
        use crate::model::email_address::EmailAddress;
        let person = |raw: &str| EmailAddress::from_stored(raw.to_owned()).folded().clone();
        let (ann, signer) = (person("Ann@example.com"), references());
        let token = signer.sign_known_browser(workspace(), record(), &ann);
        let verify = |signer: &ReferenceSigner, of, token: &str, person: &FoldedEmail| {
            signer.verify_known_browser(of, token, person)
        };
        assert_eq!(verify(&signer, workspace(), &token, &person("ann@EXAMPLE.com")), Some(record()));
        assert_eq!(verify(&signer, workspace(), &token, &person("bob@example.com")), None);
        assert_eq!(verify(&signer, WorkspaceId::new(Uuid::from_u128(7)), &token, &ann), None);
        let rotated = ReferenceSigner::new(secret("b"), vec![secret("a")]);
        assert_eq!(verify(&rotated, workspace(), &token, &ann), Some(record()));
        assert_eq!(verify(&ReferenceSigner::new(secret("b"), Vec::new()), workspace(), &token, &ann), None);
        // References of other purposes are none, and it is no reference.
        for purpose in PURPOSES {
            assert_eq!(verify(&signer, workspace(), &signer.sign(purpose, workspace(), record()), &ann), None);
            assert_eq!(signer.verify(purpose, workspace(), &token, now()), None);
        }
    }

    #[test]
    fn an_expired_reference_is_still_that_of_its_record() {
        let signer = references();
        let past = now().plus(-Duration::DAY);
        let expired = signer.sign_with_expiry(Purpose::SignIn, workspace(), record(), past);
        assert_eq!(signer.verify(Purpose::SignIn, workspace(), &expired, now()), None);
        assert_eq!(signer.verify_despite_expiry(Purpose::SignIn, workspace(), &expired), Some(record()));
        assert_eq!(signer.verify_despite_expiry(Purpose::File, workspace(), &expired), None);
    }

    /// Decision 4.
    #[test]
    fn no_other_encoding_of_a_reference_is_valid() {
        let reference = references().sign(Purpose::Blob, workspace(), record());
        let good = |reference: &str| references().verify(Purpose::Blob, workspace(), reference, now()).is_some();
        assert!(good(&reference));
        // Every flipped bit, every truncation, and additional characters.
        let bytes = URL_SAFE_NO_PAD.decode(&reference).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!good(&URL_SAFE_NO_PAD.encode(flipped)), "bit {bit}");
        }
        for cut in 0..reference.len() {
            assert!(!good(&reference[..cut]), "{cut}");
            assert!(!good(&reference[cut + 1..]), "{cut}");
        }
        for variant in [format!("{reference}="), format!("{reference}A"), format!(" {reference}"), "é".to_owned()] {
            assert!(!good(&variant), "{variant}");
        }
    }

    /// Decision 4.
    #[test]
    fn a_reference_expires_at_its_timestamp() {
        let until = now().plus(Duration::minutes(5));
        let reference = references().sign_with_expiry(Purpose::File, workspace(), record(), until);
        let at = |timestamp| references().verify(Purpose::File, workspace(), &reference, timestamp);
        assert_eq!(at(now()), Some(record()));
        assert_eq!(at(until), Some(record()));
        assert_eq!(at(until.plus(Duration::milliseconds(1))), None);
    }

    /// Decision 7.
    #[test]
    fn references_signed_with_a_previous_secret_are_valid() {
        let reference = references().sign(Purpose::Blob, workspace(), record());
        let verify = |references: ReferenceSigner| references.verify(Purpose::Blob, workspace(), &reference, now());
        assert_eq!(verify(ReferenceSigner::new(secret("b"), vec![secret("c"), secret("a")])), Some(record()));
        assert_eq!(verify(ReferenceSigner::new(secret("b"), vec![secret("c")])), None);
    }

    #[test]
    fn a_secret_of_few_distinct_characters_is_guessable() {
        for (text, guessable) in [
            ("0123456".repeat(5), true),
            ("01234567".repeat(4), false),
            ("8f0c2b64e19d7a35f1e40b9c6d2a8375".to_owned(), false),
        ] {
            assert_eq!(secret(&text).is_guessable(), guessable, "{text}");
        }
    }

    /// RFC 5869, appendix A.3: no salt, no label. The first 32 bytes of the output.
    #[test]
    fn keys_are_derived_with_hkdf() {
        let expected = [
            0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f, 0x71, 0x5f, 0x80, 0x2a, 0x06, 0x3c, 0x5a, 0x31, 0xb8, 0xa1,
            0x1f, 0x5c, 0x5e, 0xe1, 0x87, 0x9e, 0xc3, 0x45, 0x4e, 0x5f, 0x3c, 0x73, 0x8d, 0x2d,
        ];
        assert_eq!(Secret(vec![0x0b; 22]).derive_key(b""), expected);
        assert_ne!(Secret(vec![0x0b; 22]).derive_key(b"a"), Secret(vec![0x0b; 22]).derive_key(b"b"));
    }

    /// Decision 7: `ROADMAP_SECRET` has at least 32 characters, and is never shown.
    #[test]
    fn a_secret_is_long_and_never_shown() {
        assert_eq!(
            Secret::parse("secret", " short ").unwrap_err().to_string(),
            "secret is not a secret of at least 32 characters"
        );
        assert_eq!(format!("{:?}", secret("a")), "Secret(…)");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Decision 4.
        #[test]
        fn a_random_string_is_no_valid_reference(made_up in "[A-Za-z0-9_-]{0,100}|.{0,80}") {
            for purpose in PURPOSES {
                prop_assert_eq!(references().verify(purpose, workspace(), &made_up, now()), None);
            }
        }

        #[test]
        fn a_modified_reference_is_invalid(
            (record, of, other) in any::<(u128, u128, u128)>(),
            (purpose, wrong) in (0..PURPOSES.len(), 1..PURPOSES.len()),
            ends in any::<bool>(),
            (bit, cut) in any::<(prop::sample::Index, prop::sample::Index)>(),
        ) {
            prop_assume!(of != other);
            let [record, of, other] = [record, of, other].map(Uuid::from_u128);
            let (of, other) = (WorkspaceId::new(of), WorkspaceId::new(other));
            let (wrong, purpose) = (PURPOSES[(purpose + wrong) % PURPOSES.len()], PURPOSES[purpose]);
            let until = now().plus(Duration::minutes(5));
            let reference = if ends {
                references().sign_with_expiry(purpose, of, record, until)
            } else {
                references().sign(purpose, of, record)
            };
            let verify = |purpose, workspace, reference: &str| references().verify(purpose, workspace, reference, now());
            prop_assert_eq!(verify(purpose, of, &reference), Some(record));
            prop_assert_eq!(verify(wrong, of, &reference), None);
            prop_assert_eq!(verify(purpose, other, &reference), None);
            let bytes = URL_SAFE_NO_PAD.decode(&reference).unwrap();
            let (mut flipped, bit) = (bytes.clone(), bit.index(bytes.len() * 8));
            flipped[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(verify(purpose, of, &URL_SAFE_NO_PAD.encode(flipped)), None);
            // Truncates the text, and then the decoded bytes.
            prop_assert_eq!(verify(purpose, of, &reference[..cut.index(reference.len())]), None);
            prop_assert_eq!(verify(purpose, of, &URL_SAFE_NO_PAD.encode(&bytes[..cut.index(bytes.len())])), None);
            let after = references().verify(purpose, of, &reference, until.plus(Duration::milliseconds(1)));
            prop_assert_eq!(after, (!ends).then_some(record));
        }
    }

    /// Import contract 8.
    #[test]
    fn an_erased_address_is_recognized_with_the_secret_only() {
        let address = |text: &str| crate::model::email_address::EmailAddress::parse("email", text).unwrap();
        let digest = references().address_digest(workspace(), address("Ann@a.example").folded());
        assert_eq!(digest, references().address_digest(workspace(), address("ann@A.example").folded()));
        assert_ne!(digest, references().address_digest(workspace(), address("bob@a.example").folded()));
        let other = WorkspaceId::new(Uuid::from_u128(2));
        assert_ne!(digest, references().address_digest(other, address("ann@a.example").folded()));
        let rotated = ReferenceSigner::new(secret("b"), vec![secret("a")]);
        assert_ne!(digest, rotated.address_digest(workspace(), address("ann@a.example").folded()));
        assert!(rotated.address_digests(workspace(), address("ann@a.example").folded()).contains(&digest));
    }
}
