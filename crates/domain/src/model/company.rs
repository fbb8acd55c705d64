//! The companies of customers, as their addresses tell them.

use crate::model::email_address::FoldedEmail;

/// Domains at which people have addresses for themselves, in alphabetical order: the most used providers of mail. Whoever
/// writes from another one is shown with it, which does no harm.
///
/// A migration has this list for the stores: a longer list needs another one, which counts the companies again.
pub const FREE_MAIL: [&str; 68] = [
    "126.com",
    "139.com",
    "163.com",
    "aol.com",
    "arcor.de",
    "bigpond.com",
    "bk.ru",
    "bluewin.ch",
    "bol.com.br",
    "btinternet.com",
    "comcast.net",
    "cox.net",
    "daum.net",
    "earthlink.net",
    "fastmail.com",
    "foxmail.com",
    "free.fr",
    "freenet.de",
    "gmail.com",
    "gmx.at",
    "gmx.ch",
    "gmx.com",
    "gmx.de",
    "gmx.net",
    "googlemail.com",
    "hanmail.net",
    "hey.com",
    "hotmail.co.uk",
    "hotmail.com",
    "hotmail.de",
    "hotmail.fr",
    "hotmail.it",
    "hushmail.com",
    "icloud.com",
    "inbox.ru",
    "laposte.net",
    "libero.it",
    "list.ru",
    "live.com",
    "live.nl",
    "mac.com",
    "mail.com",
    "mail.ru",
    "mailbox.org",
    "me.com",
    "msn.com",
    "naver.com",
    "orange.fr",
    "outlook.com",
    "outlook.de",
    "pm.me",
    "posteo.de",
    "proton.me",
    "protonmail.com",
    "qq.com",
    "rediffmail.com",
    "rocketmail.com",
    "seznam.cz",
    "sfr.fr",
    "t-online.de",
    "tuta.com",
    "web.de",
    "yahoo.co.jp",
    "yahoo.co.uk",
    "yahoo.com",
    "yahoo.de",
    "yandex.ru",
    "ymail.com",
];

/// Returns the company of the owner of an address: the domain, unless people have addresses there for themselves, or it is
/// made up. The stores have the same rule, by which they count the companies of voters.
#[must_use]
pub fn company(address: &FoldedEmail) -> Option<&str> {
    address.domain().filter(|domain| FREE_MAIL.binary_search(domain).is_err() && address.has_mailbox())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::email_address::EmailAddress;

    #[test]
    fn the_domain_is_the_company_unless_it_is_that_of_a_provider() {
        for (address, expected) in [
            ("ann@Example.com", Some("example.com")),
            ("ann@mail.example.com", Some("mail.example.com")),
            ("ann@ex\u{e4}mple.de", Some("xn--exmple-cua.de")),
            ("ann@GMAIL.com", None),
            ("ann@ymail.com", None),
            ("ann@126.com", None),
            ("ann@notgmail.com", Some("notgmail.com")),
            ("7@imported.invalid", None),
            ("7@invalid.example", Some("invalid.example")),
        ] {
            let address = EmailAddress::from_stored(address.to_owned());
            assert_eq!(company(address.folded()), expected, "{address:?}");
        }
    }

    #[test]
    fn providers_are_found_by_binary_search() {
        assert!(FREE_MAIL.is_sorted());
    }
}
