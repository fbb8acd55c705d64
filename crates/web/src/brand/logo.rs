//! The logo of a workspace that has uploaded none: the first letter of the product's name on the accent colour.

use askama::Template;
use roadmap_domain::model::portal::{Color, Portal};
use roadmap_domain::policy::contrast::{AccentColors, AccentPalette};
use unicode_segmentation::UnicodeSegmentation;

use super::digits;
use crate::digest::hex;

/// Changes with the image, so that browsers get the new one.
const VERSION: &str = "1";

/// Maximum number of bytes of a letter with its marks. A name with a longer one has a dot.
const MAX_LETTER: usize = 16;

/// What addresses have in place of a letter if there is none.
const DOT: &str = "dot";

/// A logo: a letter, or a dot, on a colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LetterLogo {
    fill: Color,
    letter: Option<String>,
}

/// The image of a logo.
#[derive(Template)]
#[template(path = "logo.svg")]
struct Image<'a> {
    /// The background.
    fill: Color,
    /// Black or white, whichever can be read on it.
    on_fill: Color,
    letter: Option<&'a str>,
}

impl LetterLogo {
    /// A dot on the default colour, for pages without a workspace.
    pub(crate) const NEUTRAL: Self = Self { fill: AccentPalette::DEFAULT.light.fill, letter: None };

    /// Returns the logo of a portal.
    pub(crate) fn of_portal(portal: &Portal) -> Self {
        let fill = AccentPalette::of_portal(portal.settings.accent).light.fill;
        Self { fill, letter: first_letter(portal.setting.product_name.as_str()) }
    }

    /// Returns the path of the image.
    pub(crate) fn path(&self) -> String {
        format!("/brand/{}.svg", self.name())
    }

    fn name(&self) -> String {
        let letter = self.letter.as_ref().map_or_else(|| DOT.to_owned(), |letter| hex(letter.as_bytes()));
        format!("{VERSION}-{}-{letter}", digits(self.fill))
    }

    /// Returns the logo whose file has this name, without the extension. Each logo has one name, and others name none.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let (fill, letter) = name.strip_prefix(VERSION)?.strip_prefix('-')?.split_once('-')?;
        let fill = Color::from_hex(&format!("#{fill}"))?;
        let letter = match letter {
            DOT => None,
            letter => Some(from_hex(letter).filter(|letter| first_letter(letter).as_ref() == Some(letter))?),
        };
        Some(Self { fill, letter }).filter(|logo| logo.name() == name)
    }

    /// Returns the image.
    pub(super) fn image(&self) -> String {
        let AccentColors { fill, on_fill, .. } = AccentPalette::of(self.fill).light;
        // Rendering to memory cannot fail.
        Image { fill, on_fill, letter: self.letter.as_deref() }.render().unwrap_or_default()
    }
}

/// Returns the first letter or digit of a name, in upper case and with its marks.
fn first_letter(name: &str) -> Option<String> {
    let first =
        |text: &str| text.graphemes(true).find(|part| part.starts_with(char::is_alphanumeric)).map(str::to_owned);
    let written = first(name)?;
    // Some letters are several in upper case: `ß` is `SS`.
    let letter = if is_georgian(&written) { written } else { first(&written.to_uppercase())? };
    Some(letter).filter(|letter| letter.len() <= MAX_LETTER && letter.chars().all(is_shown))
}

/// Whether a letter is of the Georgian script, in which names do not begin with a capital letter.
fn is_georgian(letter: &str) -> bool {
    letter.starts_with(|first: char| matches!(first, '\u{10d0}'..='\u{10ff}'))
}

/// Whether a character can be part of a letter in an image: not a character of markup or one that XML does not allow.
fn is_shown(part: char) -> bool {
    part.is_alphanumeric() || (!part.is_ascii() && !part.is_control() && !matches!(part, '\u{fffe}' | '\u{ffff}'))
}

/// Returns the text of hexadecimal digits.
fn from_hex(digits: &str) -> Option<String> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).take(MAX_LETTER + 1).map(byte).collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::portal::parts::tests::sample_page;
    use roadmap_domain::model::portal::{Language, PortalSettings};
    use roadmap_domain::model::text::Name;
    use roadmap_domain::policy::contrast::{TEXT, contrast};

    fn logo(name: &str, accent: Option<&str>) -> LetterLogo {
        let mut portal = Portal::clone(&sample_page(Language::English, false, "").portal);
        portal.setting.product_name = Name::from_stored(name.to_owned());
        portal.settings = PortalSettings { accent: accent.and_then(Color::from_hex), ..PortalSettings::default() };
        LetterLogo::of_portal(&Arc::new(portal))
    }

    #[test]
    fn the_letter_is_the_first_one_of_the_name() {
        for (name, letter) in [
            ("Acme", "A"),
            ("acme & sons", "A"),
            ("7-Zip", "7"),
            ("  \u{201c}quoted\u{201d}", "Q"),
            ("<b>bold</b>", "B"),
            ("\u{1f680} Rocket", "R"),
            ("\u{2067}hidden\u{2069}", "H"),
            ("\u{e9}clair", "\u{c9}"),
            ("e\u{301}clair", "E\u{301}"),
            ("\u{df}harp", "S"),
            ("\u{fb01}sh", "F"),
            // Arabic, Chinese, Japanese, Korean, Hindi, Thai and Georgian.
            ("\u{639}\u{631}\u{628}\u{64a}", "\u{639}"),
            ("\u{8def}\u{7ebf}\u{56fe}", "\u{8def}"),
            ("\u{30ed}\u{30fc}\u{30c9}", "\u{30ed}"),
            ("\u{b85c}\u{b4dc}\u{b9f5}", "\u{b85c}"),
            ("\u{915}\u{93e}\u{930}", "\u{915}\u{93e}"),
            ("\u{e01}\u{e33}", "\u{e01}\u{e33}"),
            ("\u{10d0}\u{10d1}", "\u{10d0}"),
        ] {
            assert_eq!(first_letter(name).as_deref(), Some(letter), "{name}");
            // It stands for itself.
            assert_eq!(first_letter(letter).as_deref(), Some(letter), "{name}");
        }
        let long = format!("a{}", "\u{301}".repeat(50));
        // A prepended letter of Malayalam joins what follows.
        for name in ["", " ", "\u{1f680}", "?!", "<>&\"'", "\u{200d}", &long, "\u{d4e}<", "\u{d4e}\u{ffff}"] {
            assert_eq!(first_letter(name), None, "{name}");
        }
    }

    #[test]
    fn a_logo_has_one_name_that_contains_it() {
        for (name, accent, path) in [
            ("Acme", None, "/brand/1-17694f-41.svg"),
            ("acme", Some("#ffd400"), "/brand/1-ffd400-41.svg"),
            ("\u{639}\u{631}\u{628}\u{64a}", Some("#123"), "/brand/1-112233-d8b9.svg"),
            ("\u{1f680}", None, "/brand/1-17694f-dot.svg"),
        ] {
            let logo = logo(name, accent);
            assert_eq!(logo.path(), path);
            let file = path.strip_prefix("/brand/").and_then(|path| path.strip_suffix(".svg")).unwrap();
            assert_eq!(LetterLogo::from_name(file), Some(logo));
        }
        assert_eq!(LetterLogo::NEUTRAL.path(), "/brand/1-17694f-dot.svg");
        let long = format!("1-17694f-{}", "41".repeat(10_000));
        for name in [
            "",
            "1",
            "1-",
            "1--",
            "1-17694f",
            "1-17694f-",
            "2-17694f-41",
            "01-17694f-41",
            "1-17694F-41",
            "1-17694f-4",
            "1-17694f-041",
            "1-17694f-+4",
            "1-17694f-61",
            "1-17694f-4142",
            "1-17694f-3c",
            "1-17694f-00",
            "1-17694f-ff",
            "1-17694f-D8B9",
            "1-17694f-d8",
            "1-17694f-zz",
            "1-17694f-DOT",
            "1-17694f-dot-",
            "1-17694f-41-41",
            "1-123-41",
            "1-17694g-41",
            "1-\u{e9}\u{e9}4f-41",
            "1-17694f-\u{e9}",
            "1-17694f-4\u{e9}",
            "1-17694f-e0b58e3c",
            &long,
        ] {
            assert_eq!(LetterLogo::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn the_letter_can_be_read_on_every_colour() {
        for accent in ["#000000", "#ffffff", "#ffd400", "#17694f", "#767676", "#ff0000", "#0000ff", "#7a3f9d"] {
            let image = logo("Acme", Some(accent)).image();
            let fills: Vec<Color> = image
                .split("fill=\"")
                .skip(1)
                .filter_map(|rest| Color::from_hex(rest.split('"').next().unwrap()))
                .collect();
            let [back, letter] = fills[..] else { panic!("{image}") };
            assert_eq!(back.to_string(), accent);
            assert!(contrast(back, letter) >= TEXT, "{image}");
        }
    }

    #[test]
    fn an_image_has_a_letter_or_a_dot() {
        let letter = logo("\u{639}", None).image();
        assert!(
            letter.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 28 28\"><rect "),
            "{letter}"
        );
        assert!(letter.contains(" text-anchor=\"middle\">\u{639}</text></svg>"), "{letter}");
        let dot = logo("?", None).image();
        assert!(dot.contains("<circle ") && !dot.contains("<text"), "{dot}");
    }
}
