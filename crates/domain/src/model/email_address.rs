//! E-mail addresses, shown as written and compared by mailbox.
//!
//! Two addresses are one if their domains are the same name and their local parts differ at most in case. A domain is compared as the A-label that UTS 46 makes of it, so that `exämple.de` and `xn--exmple-cua.de` are
//! one. Local parts are normalized (NFC), so that two encodings of one visible text are one. No letter
//! becomes one of another script: the Kelvin sign is no `k`, and one person must never get the sign-in of another one
//! (ADR 67).

use std::borrow::Cow;

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use unicode_normalization::UnicodeNormalization;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::text;

/// The characters that NFC replaces by an ASCII one: Kelvin sign, Greek question mark and Greek varia. They stay, because
/// the ASCII one may be part of another person's address.
const ASCII_LOOKALIKES: [char; 3] = ['\u{212a}', '\u{37e}', '\u{1fef}'];

/// A well-formed e-mail address of at most 254 characters (RFC 5321 section 4.5.3.1.3).
#[derive(Debug, Clone)]
pub struct EmailAddress {
    original: String,
    folded: FoldedEmail,
}

/// An e-mail address for comparisons and uniqueness: one text for each mailbox.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FoldedEmail(String);

impl EmailAddress {
    /// Maximum number of characters of an address.
    pub const MAX: usize = 254;

    /// Validates `raw`. An error names `field`.
    ///
    /// # Errors
    /// Blank, too long, with a NUL character, or not of the form `local@domain` with a domain that can exist.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let address = text::parse_line(field, raw, Self::MAX)?;
        if is_well_formed(&address) {
            Ok(Self::from_stored(address))
        } else {
            Err(FieldError::new(field, FieldProblem::Malformed { expected: "a valid e-mail address" }))
        }
    }

    /// Wraps a stored value, which is not validated again.
    #[must_use]
    pub fn from_stored(address: String) -> Self {
        Self { folded: FoldedEmail::fold(&address), original: address }
    }

    /// Returns the address as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.original
    }

    /// Returns the folded address.
    #[must_use]
    pub fn folded(&self) -> &FoldedEmail {
        &self.folded
    }

    /// Returns the address with the domain as A-label. It is ASCII unless the local part is not, so that most mail to
    /// international domains needs no SMTPUTF8 (RFC 6531).
    #[must_use]
    pub fn with_ascii_domain(&self) -> Cow<'_, str> {
        match split(&self.original) {
            Some((local, domain)) if !domain.is_ascii() => to_a_labels(domain)
                .map_or(Cow::Borrowed(&*self.original), |domain| Cow::Owned(format!("{local}@{domain}"))),
            _ => Cow::Borrowed(&self.original),
        }
    }
}

impl PartialEq for EmailAddress {
    fn eq(&self, other: &Self) -> bool {
        self.folded == other.folded
    }
}

impl Eq for EmailAddress {}

impl FoldedEmail {
    fn fold(address: &str) -> Self {
        if address.is_ascii() {
            return Self(address.to_ascii_lowercase());
        }
        let Some((local, domain)) = split(address) else { return Self(fold_local_part(address)) };
        let domain = to_a_labels(domain).unwrap_or_else(|| domain.to_ascii_lowercase());
        Self(format!("{}@{domain}", fold_local_part(local)))
    }

    /// Parses the address of the author of a note or comment.
    ///
    /// The address need not be well-formed: an address that matches no team member falls back to the oldest one
    /// (contract section 2.5).
    ///
    /// # Errors
    /// Too long or with a NUL character.
    pub fn parse_author(field: &str, raw: &str) -> Validated<Option<Self>> {
        Ok(text::parse_optional_line(field, raw, EmailAddress::MAX)?.map(|address| Self::fold(&address)))
    }

    /// Returns the domain. `None` for the address of an author that has none.
    #[must_use]
    pub fn domain(&self) -> Option<&str> {
        split(&self.0).map(|(_, domain)| domain)
    }

    /// Whether there can be a mailbox: not below the domain `invalid` (RFC 2606 section 2), which imports use for people
    /// whose address is not known.
    #[must_use]
    pub fn has_mailbox(&self) -> bool {
        !self.0.ends_with(".invalid")
    }

    /// Returns the folded address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Checks an address in ASCII: the library knows no letters that are composed of several characters, as those of Indic
/// scripts. In the local part, all characters outside of ASCII are allowed (RFC 6531 section 3.3), apart from white space.
fn is_well_formed(address: &str) -> bool {
    let Some((local, domain)) = split(address) else { return false };
    let Some(domain) = to_a_labels(domain) else { return false };
    let mut ascii = String::with_capacity(local.len() + 1 + domain.len());
    for character in local.chars() {
        if character.is_ascii() || character.is_whitespace() {
            ascii.push(character);
        } else {
            // The length of a local part is limited in bytes.
            ascii.extend(std::iter::repeat_n('x', character.len_utf8()));
        }
    }
    ascii.push('@');
    ascii.push_str(&domain);
    let options = email_address::Options::default().without_display_text().without_domain_literal();
    email_address::EmailAddress::parse_with_options(&ascii, options).is_ok()
}

/// Splits an address into local part and domain.
fn split(address: &str) -> Option<(&str, &str)> {
    address.rsplit_once('@')
}

/// Returns the domain in lower case, with its labels as A-labels. `None` if there can be no such domain.
fn to_a_labels(domain: &str) -> Option<String> {
    if domain.is_ascii() {
        return Some(domain.to_ascii_lowercase());
    }
    let ascii = Uts46::new().to_ascii(domain.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, DnsLength::Verify);
    ascii.ok().map(Cow::into_owned)
}

fn fold_local_part(local: &str) -> String {
    if local.is_ascii() {
        return local.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(local.len());
    for part in local.split_inclusive(ASCII_LOOKALIKES) {
        let lookalike = part.chars().next_back().filter(|last| ASCII_LOOKALIKES.contains(last));
        let part = part.trim_end_matches(ASCII_LOOKALIKES);
        // Some letters are composed in lower case only.
        folded.extend(part.nfc().map(lower_case).nfc());
        folded.extend(lookalike);
    }
    folded
}

/// Returns the lower-case form of a letter, unless that is an ASCII letter or several characters: no letter becomes one
/// of another script.
fn lower_case(character: char) -> char {
    let mut lower_case = character.to_lowercase();
    match (lower_case.next(), lower_case.next()) {
        (Some(letter), None) if character.is_ascii() || !letter.is_ascii() => letter,
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fold(address: &str) -> String {
        EmailAddress::parse("email", address).unwrap().folded().as_str().to_owned()
    }

    /// Contract 2.4.
    #[test]
    fn the_case_of_ascii_letters_does_not_distinguish_addresses() {
        let one = EmailAddress::parse("email", " Ann.Lee@Example.COM ").unwrap();
        let other = EmailAddress::parse("email", "ann.lee@example.com").unwrap();
        assert_eq!(one, other);
        assert_ne!(one, EmailAddress::parse("email", "bob.lee@example.com").unwrap());
        assert_eq!(one.as_str(), "Ann.Lee@Example.COM");
        assert_eq!(one.folded().as_str(), "ann.lee@example.com");
    }

    #[test]
    fn one_domain_in_two_spellings_is_one() {
        for (original, folded) in [
            ("ann@exämple.de", "ann@xn--exmple-cua.de"),
            ("Ann@EXÄMPLE.de", "ann@xn--exmple-cua.de"),
            ("ann@exa\u{308}mple.de", "ann@xn--exmple-cua.de"),
            ("ann@XN--exmple-cua.DE", "ann@xn--exmple-cua.de"),
            ("ann@faß.example", "ann@xn--fa-hia.example"),
            ("ann@fass.example", "ann@fass.example"),
            ("ann@例え.テスト", "ann@xn--r8jz45g.xn--zckzah"),
            ("ann@例え。テスト", "ann@xn--r8jz45g.xn--zckzah"),
            ("ann@ｅｘａｍｐｌｅ.com", "ann@example.com"),
            ("ann@مثال.إختبار", "ann@xn--mgbh0fb.xn--kgbechtv"),
            ("ann@हिन्दी.भारत", "ann@xn--j2bd4cyah0f.xn--h2brj9c"),
            ("ann@παράδειγμα.δοκιμή", "ann@xn--hxajbheg2az3al.xn--jxalpdlp"),
        ] {
            assert_eq!(fold(original), folded, "{original}");
            let address = EmailAddress::parse("email", original).unwrap();
            assert_eq!(address.as_str(), original);
            assert_eq!(address, EmailAddress::parse("email", folded).unwrap());
        }
    }

    #[test]
    fn other_letters_make_other_mailboxes() {
        for (one, other) in [
            ("mar\u{212a}@team.example", "mark@team.example"),
            ("mar\u{212a}@team.example", "marK@team.example"),
            ("İda@team.example", "ida@team.example"),
            ("İda@team.example", "i\u{307}da@team.example"),
            ("ıda@team.example", "ida@team.example"),
            ("a\u{17f}a@team.example", "asa@team.example"),
            ("\u{fb01}n@team.example", "fin@team.example"),
            ("ａｎｎ@team.example", "ann@team.example"),
            ("ΝΙΚΟΣ@team.example", "νικος@team.example"),
            ("νικος@team.example", "νικοσ@team.example"),
            ("straße@team.example", "strasse@team.example"),
            ("а@team.example", "a@team.example"),
            ("a\u{1fef}@team.example", "a`@team.example"),
        ] {
            assert_ne!(fold(one), fold(other), "{one} and {other}");
        }
    }

    #[test]
    fn two_encodings_of_one_local_part_are_one() {
        for (one, other) in [
            ("ju\u{308}rgen@team.example", "jürgen@team.example"),
            ("Ju\u{308}RGEN@team.example", "jürgen@team.example"),
            ("JÜRGEN@team.example", "jürgen@team.example"),
            ("E\u{301}va@team.example", "éva@team.example"),
            ("\u{212b}sa@team.example", "Åsa@team.example"),
            ("J\u{30c}@team.example", "\u{1f0}@team.example"),
            ("\u{1112}\u{1161}\u{11ab}@team.example", "한@team.example"),
        ] {
            assert_eq!(fold(one), fold(other), "{one} and {other}");
        }
    }

    #[test]
    fn no_character_becomes_an_ascii_one() {
        for character in ('\u{80}'..=char::MAX).filter(|character| !character.is_control()) {
            let folded = fold_local_part(&character.to_string());
            assert!(!folded.bytes().any(|byte| byte.is_ascii()), "{:x} becomes {folded}", u32::from(character));
        }
    }

    #[test]
    fn mail_to_an_international_domain_has_an_ascii_address() {
        for (original, wire) in [
            ("Ann@exämple.de", "Ann@xn--exmple-cua.de"),
            ("Ann@Example.de", "Ann@Example.de"),
            ("jürgen@exämple.de", "jürgen@xn--exmple-cua.de"),
            ("no address", "no address"),
        ] {
            assert_eq!(EmailAddress::from_stored(original.to_owned()).with_ascii_domain(), wire);
        }
    }

    /// Decision 2.
    #[test]
    fn an_invalid_address_is_rejected_with_the_field_name() {
        for raw in [
            "ann",
            "ann@",
            "@example.com",
            "a b@example.com",
            "Ann <ann@example.com>",
            "a@b@c",
            "a@[127.0.0.1]",
            "a@x.example\r\nBcc: b@y.example",
            // No domain can have such a name.
            "ann@a\u{e000}.example",
            "ann@ä@example.com",
            "ann@ä＠example.com",
            "ann@ä％.example",
            "ann@ä..example",
            "a\u{a0}ä@team.example",
            "a\u{3000}b@team.example",
        ] {
            assert_eq!(
                EmailAddress::parse("email", raw).unwrap_err().to_string(),
                "email is not a valid e-mail address",
                "{raw}"
            );
        }
        assert_eq!(EmailAddress::parse("email", " ").unwrap_err(), FieldError::missing("email"));
        let long = format!("a@{}.example", "b".repeat(250));
        assert_eq!(
            EmailAddress::parse("email", &long).unwrap_err().to_string(),
            "email must be at most 254 characters long"
        );
        let label = format!("a@{}.example", "ä".repeat(63));
        assert!(EmailAddress::parse("email", &label).is_err(), "the A-label is longer than 63 characters");
    }

    #[test]
    fn an_author_address_need_not_be_valid() {
        assert_eq!(FoldedEmail::parse_author("author_email", "Nobody").unwrap().unwrap().as_str(), "nobody");
        assert_eq!(FoldedEmail::parse_author("author_email", " ").unwrap(), None);
        assert!(FoldedEmail::parse_author("author_email", "a\0").is_err());
    }

    proptest! {
        #[test]
        fn a_folded_address_is_folded(local in "\\PC{1,12}", domain in "\\PC{1,12}") {
            let folded = FoldedEmail::fold(&format!("{local}@{domain}"));
            prop_assert_eq!(FoldedEmail::fold(folded.as_str()), folded);
        }
    }
}
