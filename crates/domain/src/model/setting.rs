//! Settings of a workspace, contract section 2.1.

use url::Url;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::text::{self, Name};

/// The website of a company: an absolute `http` or `https` URL with a host. Never fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebsiteUrl(String);

impl WebsiteUrl {
    /// Maximum number of characters of a URL.
    pub const MAX: usize = 2_000;

    /// Validates and trims a URL. It is otherwise kept as written.
    ///
    /// # Errors
    /// `Website URL is invalid` for any other text.
    pub fn parse(raw: &str) -> Validated<Self> {
        let invalid = || FieldError::new("website_url", FieldProblem::Custom { message: "Website URL is invalid" });
        let trimmed = raw.trim();
        text::validate_text("website_url", trimmed, Self::MAX).map_err(|_| invalid())?;
        if !is_web_address(trimmed) {
            return Err(invalid());
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
}

/// Whether a text is an absolute `http` or `https` URL with a host, without user info and without characters that
/// disguise it.
pub(crate) fn is_web_address(text: &str) -> bool {
    // The URL parser accepts and corrects input that the contract rejects: `http:example.com`, inner white space.
    let lower = text.to_ascii_lowercase();
    let is_absolute = lower.starts_with("http://") || lower.starts_with("https://");
    let is_misleading = |c: char| c.is_whitespace() || c.is_control() || c == '\\' || is_bidi_control(c);
    if !is_absolute || text.chars().any(is_misleading) {
        return false;
    }
    // The URL parser reads `http:///path` as the host `path`, so an empty authority is detected in the input.
    let has_host = Url::parse(text).is_ok_and(|url| url.host_str().is_some_and(|host| !host.is_empty()));
    let authority = text.split(['/', '?', '#']).nth(2).unwrap_or_default();
    // User info can be mistaken for the host: `https://acme.example@evil.example`.
    has_host && !authority.is_empty() && !authority.contains('@')
}

/// Whether a character changes the direction of text (Unicode property `Bidi_Control`), which can disguise a URL.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The settings of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub product_name: Name,
    /// Website of the product.
    pub website_url: WebsiteUrl,
}

impl Setting {
    /// Validates both settings.
    ///
    /// # Errors
    /// A product name that is blank, too long or has a NUL character, or an invalid URL.
    pub fn parse(product_name: &str, website_url: &str) -> Validated<Self> {
        Ok(Self { product_name: parse_product_name(product_name)?, website_url: WebsiteUrl::parse(website_url)? })
    }

    /// Returns the settings after a change. Omitted settings are unchanged.
    #[must_use]
    pub fn with_change(self, change: &SettingChange) -> Self {
        Self {
            product_name: change.product_name.clone().unwrap_or(self.product_name),
            website_url: change.website_url.clone().unwrap_or(self.website_url),
        }
    }
}

/// A change of one or both settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingChange {
    /// New name, if it was sent.
    pub product_name: Option<Name>,
    /// New URL, if it was sent.
    pub website_url: Option<WebsiteUrl>,
}

impl SettingChange {
    /// Validates the settings that were sent. Null counts as blank.
    ///
    /// # Errors
    /// As [`Setting::parse`], for each setting that was sent.
    pub fn parse(product_name: Option<Option<&str>>, website_url: Option<Option<&str>>) -> Validated<Self> {
        Ok(Self {
            product_name: product_name.map(|raw| parse_product_name(raw.unwrap_or_default())).transpose()?,
            website_url: website_url.map(|raw| WebsiteUrl::parse(raw.unwrap_or_default())).transpose()?,
        })
    }
}

fn parse_product_name(raw: &str) -> Validated<Name> {
    let message = "Product name can't be blank";
    let name = text::parse_optional_line("product_name", raw, Name::MAX)?.map(Name::from_stored);
    name.ok_or_else(|| FieldError::new("product_name", FieldProblem::Custom { message }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    /// Decision 4: a website URL is an absolute `http` or `https` URL with a host.
    fn absolute_http_urls_with_a_host_are_kept_as_written() {
        for url in [
            "https://example.com",
            "HTTP://Example.com/Path?q=1#f",
            "https://münchen.example/ü",
            "http://127.0.0.1:8080",
            "https://[::1]/",
        ] {
            assert_eq!(WebsiteUrl::parse(url).unwrap().as_str(), url);
        }
        assert_eq!(WebsiteUrl::parse(" https://example.com\n").unwrap().as_str(), "https://example.com");
    }

    /// Decision 4.
    #[test]
    fn other_urls_are_invalid() {
        let long = format!("https://example.com/{}", "a".repeat(2_000));
        for url in [
            "",
            " ",
            "example.com",
            "//example.com",
            "ftp://example.com",
            "javascript:alert(1)",
            "http:example.com",
            "https://",
            "https:///path",
            "http://exa mple.com",
            "https://exa\tmple.com",
            "https://a\0b.example",
            "https://example.com/a b",
            "https://example.com/a\u{1}b",
            "https://example.com/a\\b",
            "https:\\\\example.com",
            "mailto:a@example.com",
            "https://?q",
            "https://example.com:99999",
            // User info, which can be mistaken for the host.
            "https://user:pw@example.com",
            "https://user@example.com/path",
            "https://example.com@evil.example",
            "https://:pw@example.com",
            "https://@example.com",
            "https://:@example.com",
            "HTTP://a%40b:c@example.com?q",
            // Control characters, including those outside of ASCII.
            "https://example.com/a\u{7f}b",
            "https://example.com/a\u{85}b",
            "https://example.com/a\u{9b}b",
            &long,
        ] {
            assert_eq!(WebsiteUrl::parse(url).unwrap_err().to_string(), "Website URL is invalid", "{url:?}");
        }
    }

    #[test]
    fn bidi_control_characters_are_invalid() {
        let marks = ['\u{61c}', '\u{200e}', '\u{200f}'];
        for control in marks.into_iter().chain('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}') {
            for url in [
                format!("https://example.com/{control}gpj.exe"),
                format!("https://exa{control}mple.com"),
                format!("https://example.com?q={control}#f"),
                format!("https://example.com/{control}"),
            ] {
                assert_eq!(WebsiteUrl::parse(&url).unwrap_err().to_string(), "Website URL is invalid", "{url:?}");
            }
        }
    }

    #[test]
    fn an_at_sign_after_the_host_is_not_user_info() {
        for url in [
            "https://example.com/@acme",
            "https://example.com?mail=a@b.example",
            "https://example.com#@acme",
            "https://example.com//@acme",
            // Right-to-left text without control characters.
            "https://example.com/שלום",
        ] {
            assert_eq!(WebsiteUrl::parse(url).unwrap().as_str(), url);
        }
    }

    /// Contract 4.3.
    #[test]
    fn a_change_keeps_the_other_settings() {
        let setting = Setting::parse("Acme", "https://acme.example").unwrap();
        let change = SettingChange::parse(Some(Some("Acme 2")), None).unwrap();
        assert_eq!(setting.clone().with_change(&change), Setting::parse("Acme 2", "https://acme.example").unwrap());
        assert_eq!(setting.clone().with_change(&SettingChange::default()), setting);
    }

    /// Decision 2.
    #[test]
    fn null_is_blank() {
        assert_eq!(SettingChange::parse(Some(None), None).unwrap_err().to_string(), "Product name can't be blank");
        assert_eq!(SettingChange::parse(None, Some(None)).unwrap_err().to_string(), "Website URL is invalid");
    }
}
