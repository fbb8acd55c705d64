//! Colours of a workspace's accent that can be read in both themes (WCAG 2.2, success criteria 1.4.3 and 1.4.11).
//!
//! Any accent colour is accepted, and buttons have it in both themes: black or white text on it can always be read. Where it
//! does not contrast enough with the pages to be a line or a link, it is mixed with black in the light theme and with white
//! in the dark one until it does.

use crate::model::portal::Color;

/// The backgrounds of the light theme: canvas, surface and sunken, as in the pages' stylesheet.
pub const LIGHT: [Color; 3] =
    [Color::new(0xf8, 0xf8, 0xf6), Color::new(0xff, 0xff, 0xff), Color::new(0xf1, 0xf1, 0xee)];
/// The backgrounds of the dark theme.
pub const DARK: [Color; 3] = [Color::new(0x12, 0x13, 0x11), Color::new(0x1a, 0x1b, 0x19), Color::new(0x22, 0x24, 0x21)];

/// Minimum contrast of text.
pub const TEXT: f64 = 4.5;
/// Minimum contrast of parts of controls.
pub const PART: f64 = 3.0;

const BLACK: Color = Color::new(0, 0, 0);
const WHITE: Color = Color::new(255, 255, 255);

/// The colours of an accent in one theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccentColors {
    /// The background of buttons: the accent itself.
    pub fill: Color,
    /// Text on it: black or white.
    pub on_fill: Color,
    /// Borders of buttons, lines and bars, on the backgrounds of the page.
    pub edge: Color,
    /// Text and links on the backgrounds of the page.
    pub text: Color,
}

impl AccentColors {
    /// Returns the background of a button under the pointer. The same text on it contrasts no less.
    #[must_use]
    pub fn hover(&self) -> Color {
        let away = if luminance(self.on_fill) > luminance(self.fill) { BLACK } else { WHITE };
        mix(self.fill, away, 0.14)
    }
}

/// The colours of an accent in both themes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccentPalette {
    /// The light theme.
    pub light: AccentColors,
    /// The dark theme.
    pub dark: AccentColors,
}

impl AccentPalette {
    /// The colours of a portal without a colour of its own.
    pub const DEFAULT: Self = Self {
        light: AccentColors {
            fill: Color::new(0x17, 0x69, 0x4f),
            on_fill: WHITE,
            edge: Color::new(0x17, 0x69, 0x4f),
            text: Color::new(0x12, 0x5a, 0x43),
        },
        dark: AccentColors {
            fill: Color::new(0x52, 0xc3, 0x97),
            on_fill: Color::new(0x06, 0x15, 0x0f),
            edge: Color::new(0x52, 0xc3, 0x97),
            text: Color::new(0x78, 0xd8, 0xb1),
        },
    };

    /// Returns the colours of a portal, which may have an accent of its own.
    #[must_use]
    pub fn of_portal(accent: Option<Color>) -> Self {
        accent.map_or(Self::DEFAULT, Self::of)
    }

    /// Derives the colours of an accent.
    #[must_use]
    pub fn of(accent: Color) -> Self {
        Self { light: derive(accent, LIGHT, BLACK), dark: derive(accent, DARK, WHITE) }
    }
}

fn derive(accent: Color, backgrounds: [Color; 3], ink: Color) -> AccentColors {
    let on_fill = if contrast(accent, WHITE) >= contrast(accent, BLACK) { WHITE } else { BLACK };
    let edge = shift(accent, ink, |color| backgrounds.iter().all(|back| contrast(color, *back) >= PART));
    // Text also stands on surfaces with a tint of the accent.
    let tint = mix(backgrounds[1], accent, 0.12);
    let text = shift(edge, ink, |color| backgrounds.iter().chain([&tint]).all(|back| contrast(color, *back) >= TEXT));
    AccentColors { fill: accent, on_fill, edge, text }
}

/// Mixes a colour with ink, as little as makes it `enough`.
fn shift(color: Color, ink: Color, enough: impl Fn(Color) -> bool) -> Color {
    let steps = (0..=50_u8).map(|step| mix(color, ink, f64::from(step) / 50.0));
    steps.into_iter().find(|mixed| enough(*mixed)).unwrap_or(ink)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of bytes is a byte")]
fn mix(from: Color, to: Color, share: f64) -> Color {
    let part = |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * share).round() as u8;
    Color::new(part(from.red, to.red), part(from.green, to.green), part(from.blue, to.blue))
}

/// Returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio").
#[must_use]
pub fn contrast(one: Color, other: Color) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Returns the relative luminance (WCAG 2.2, "relative luminance").
fn luminance(color: Color) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn contrast_is_that_of_the_standard() {
        assert!((contrast(BLACK, WHITE) - 21.0).abs() < 1e-9);
        assert!((contrast(WHITE, WHITE) - 1.0).abs() < 1e-9);
        // A grey that is known to have 4.54:1 on white.
        assert!((contrast(Color::new(0x76, 0x76, 0x76), WHITE) - 4.54).abs() < 0.01);
    }

    #[test]
    fn a_colour_that_contrasts_enough_stays_as_it_is() {
        let accent = Color::new(0x17, 0x69, 0x4f);
        let light = AccentPalette::of(accent).light;
        assert_eq!(light, AccentColors { fill: accent, on_fill: WHITE, edge: accent, text: accent });
    }

    #[test]
    fn buttons_have_the_colour_that_was_chosen() {
        for (accent, on_fill) in [(Color::new(0xff, 0xd4, 0x00), BLACK), (Color::new(0x10, 0x10, 0x40), WHITE)] {
            let AccentPalette { light, dark } = AccentPalette::of(accent);
            for colors in [light, dark] {
                assert_eq!((colors.fill, colors.on_fill), (accent, on_fill));
            }
        }
    }

    proptest! {
        /// Portal: every accent colour can be read in both themes.
        #[test]
        fn every_accent_can_be_read(red: u8, green: u8, blue: u8) {
            let AccentPalette { light, dark } = AccentPalette::of(Color::new(red, green, blue));
            for (colors, backgrounds) in [(light, LIGHT), (dark, DARK)] {
                prop_assert!(contrast(colors.on_fill, colors.fill) >= TEXT);
                prop_assert!(contrast(colors.on_fill, colors.hover()) >= contrast(colors.on_fill, colors.fill));
                for back in backgrounds {
                    prop_assert!(contrast(colors.edge, back) >= PART);
                    prop_assert!(contrast(colors.text, back) >= TEXT);
                }
                prop_assert!(contrast(colors.text, mix(backgrounds[1], colors.fill, 0.1)) >= TEXT);
            }
        }
    }
}
