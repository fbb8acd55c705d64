//! The cookies of the pages.
//!
//! On HTTPS, the names of secret cookies begin with `__Host-`: a neighbour workspace cannot set them (RFC 6265bis
//! section 4.1.3.2). They have no `Domain`, so that no other host gets them.

use actix_web::HttpRequest;
use actix_web::http::header::COOKIE;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use roadmap_domain::model::session::BrowserSecret;

/// A cookie with a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secret {
    Session,
    /// The browser that has asked for a sign-in.
    SignIn,
}

impl Secret {
    const fn name(self, is_https: bool) -> &'static str {
        match (self, is_https) {
            (Self::Session, true) => "__Host-session",
            (Self::Session, false) => "session",
            (Self::SignIn, true) => "__Host-signin",
            (Self::SignIn, false) => "signin",
        }
    }

    /// The session's own end is decided by the service; browsers keep cookies for 400 days at most.
    const fn max_age(self) -> Duration {
        match self {
            Self::Session => Duration::days(180),
            // As long as what was typed is kept with the sign-in.
            Self::SignIn => Duration::days(1),
        }
    }

    /// Returns the cookie of a request.
    pub(crate) fn read(self, request: &HttpRequest, is_https: bool) -> Option<BrowserSecret> {
        value(request, self.name(is_https)).and_then(BrowserSecret::parse)
    }

    /// Returns the `Set-Cookie` value that stores a secret.
    pub(crate) fn set(self, secret: &BrowserSecret, is_https: bool) -> String {
        self.build(secret.reveal(), self.max_age(), is_https)
    }

    /// Returns the `Set-Cookie` value that removes the cookie.
    pub(crate) fn remove(self, is_https: bool) -> String {
        self.build("", Duration::ZERO, is_https)
    }

    fn build(self, value: &str, max_age: Duration, is_https: bool) -> String {
        let cookie = Cookie::build((self.name(is_https), value)).path("/").http_only(true).same_site(SameSite::Lax);
        cookie.max_age(max_age).secure(is_https).build().to_string()
    }
}

/// Returns the name of the cookie of [`crate::known_browser`].
pub(crate) const fn known_browser(is_https: bool) -> &'static str {
    if is_https { "__Host-known" } else { "known" }
}

/// Returns the `Set-Cookie` value that stores who was signed in in this browser, for as long as browsers keep cookies.
pub(crate) fn set_known_browser(tokens: String, is_https: bool) -> String {
    let cookie = Cookie::build((known_browser(is_https), tokens)).path("/").http_only(true).same_site(SameSite::Lax);
    cookie.max_age(Duration::days(400)).secure(is_https).build().to_string()
}

/// The cookie with the chosen theme.
pub(crate) const THEME: &str = "theme";
/// The cookie with the chosen language.
pub(crate) const LANGUAGE: &str = "language";

/// Returns the value of a cookie without a secret.
pub(crate) fn value<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    let headers = request.headers().get_all(COOKIE).filter_map(|header| header.to_str().ok());
    let pairs = headers.flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value);
    // Of two cookies with one name, one may be that of a neighbour: neither is believed.
    values.next().filter(|_| values.next().is_none())
}

/// Returns the `Set-Cookie` value that stores a preference for a year; an empty one removes it.
pub(crate) fn preference(name: &'static str, value: &'static str, is_https: bool) -> String {
    let max_age = if value.is_empty() { Duration::ZERO } else { Duration::days(365) };
    let cookie = Cookie::build((name, value)).path("/").http_only(true).same_site(SameSite::Lax);
    cookie.max_age(max_age).secure(is_https).build().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn secrets_are_bound_to_their_host_on_https() {
        let secret = BrowserSecret::parse(&"a".repeat(43)).unwrap();
        assert_eq!(
            Secret::Session.set(&secret, true),
            format!("__Host-session={}; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=15552000", secret.reveal())
        );
        assert_eq!(
            Secret::SignIn.set(&secret, false),
            format!("signin={}; HttpOnly; SameSite=Lax; Path=/; Max-Age=86400", secret.reveal())
        );
        assert_eq!(Secret::Session.remove(false), "session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0");
    }

    #[test]
    fn the_cookie_of_known_browsers_is_bound_to_its_host_on_https() {
        assert_eq!(
            set_known_browser("a.b".to_owned(), true),
            "__Host-known=a.b; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=34560000"
        );
        assert_eq!(known_browser(false), "known");
    }

    #[test]
    fn only_well_formed_and_single_cookies_are_read() {
        let secret = "b".repeat(43);
        for (header, is_read) in [
            (format!("session={secret}"), true),
            (format!("a=b; session={secret}; c=d"), true),
            (format!("__Host-session={secret}"), false),
            ("session=short".to_owned(), false),
            (format!("session={secret}; session={secret}"), false),
            (String::new(), false),
        ] {
            let request = TestRequest::get().insert_header((COOKIE, header.as_str())).to_http_request();
            assert_eq!(Secret::Session.read(&request, false).is_some(), is_read, "{header}");
        }
    }
}
