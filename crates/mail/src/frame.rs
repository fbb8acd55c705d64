//! The frame that all mails of a workspace have: its logo, its colours, and a footer that says why somebody gets the mail.
//!
//! Mail programs differ more than browsers. Layout is by tables, because Outlook for Windows knows little else; styles
//! are inline, and those of the dark theme and of people's texts in the head, which mail programs may leave out.

use roadmap_domain::model::mail::Brand;
use roadmap_domain::model::portal::Language;
use roadmap_domain::policy::contrast::{AccentColors, AccentPalette};

/// The fonts of texts, as the beginning of an inline style.
pub(crate) const FONT: &str = "font-family:'Segoe UI',Helvetica,Arial,sans-serif;";

/// A mail without its headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// The subject, with client text.
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) html: String,
}

/// What the templates of all mails need.
pub(crate) struct Frame<'a> {
    pub(crate) language: Language,
    /// What the mail is about.
    pub(crate) title: &'a str,
    pub(crate) brand: &'a Brand,
    /// The first letter of the product, in place of a logo.
    pub(crate) initial: String,
    /// The accent in the light theme.
    pub(crate) light: AccentColors,
    /// The accent in the dark theme.
    pub(crate) dark: AccentColors,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(language: Language, brand: &'a Brand, title: &'a str) -> Self {
        let AccentPalette { light, dark } = AccentPalette::of_portal(brand.accent);
        let initial = brand.product_name.as_str().chars().find(|character| character.is_alphanumeric());
        let initial = initial.map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        Self { language, title, brand, initial, light, dark }
    }
}
