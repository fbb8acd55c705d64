//! Draws the pictures that chats show beside a link (Open Graph `og:image`).
//!
//! All text is shaped with embedded fonts, so a picture is the same on each machine. What cannot be drawn is left
//! out: a text in a script that no font has, a broken logo. Nothing is kept in memory between two pictures.

use std::sync::Arc;

use cosmic_text::{
    Align, Attrs, Buffer, Family, Font, FontSystem, Metrics, Shaping, SwashCache, Weight, Wrap,
    fontdb::{Database, Source},
};
use image::{DynamicImage, Rgb, RgbImage, RgbaImage, imageops::FilterType};
use roadmap_domain::model::portal::Color;
use roadmap_domain::model::preview::{self, Preview};
use roadmap_domain::policy::contrast::contrast;
use unicode_normalization::UnicodeNormalization;

use crate::scale::{Limits, divide_alpha, multiply_alpha, png, scale};

static FONTS: [&[u8]; 2] = [
    include_bytes!("../fonts/NotoSans-SemiBold.ttf").as_slice(),
    include_bytes!("../fonts/NotoSansArabic-SemiBold.ttf").as_slice(),
];
const FAMILY: Family<'static> = Family::Name("Noto Sans SemiBold");

const WIDTH: f32 = preview::WIDTH as f32;
const HEIGHT: f32 = preview::HEIGHT as f32;
/// The width of the edge in the accent colour.
const EDGE: f32 = 28.0;
/// Where the content starts, and how wide it is.
const START: f32 = 104.0;
const CONTENT: f32 = 1012.0;
const FOOTER_MIDDLE: f32 = 540.0;
/// Where the title is centred vertically.
const TITLE_TOP: f32 = 176.0;
const TITLE_BOTTOM: f32 = 484.0;

/// Font sizes in pixels, each with the most lines that it is used for. What does not fit is cut at the last one.
type Sizes<'a> = &'a [(f32, usize)];

const TITLE_SIZES: [(f32, usize); 2] = [(84.0, 2), (66.0, 3)];
/// The height of a line, in font sizes.
const LINE_HEIGHT: f32 = 1.25;

/// How large the logo and the product name are, in pixels.
struct BrandStyle {
    middle: f32,
    /// The most width and height of the logo
    emblem: (f32, f32),
    name_sizes: Sizes<'static>,
}

const HEADER: BrandStyle = BrandStyle { middle: 112.0, emblem: (320.0, 88.0), name_sizes: &[(40.0, 1), (32.0, 2)] };
/// For a picture without a title.
const LARGE_BRAND: BrandStyle =
    BrandStyle { middle: 0.0, emblem: (440.0, 168.0), name_sizes: &[(84.0, 1), (66.0, 2), (48.0, 3)] };

/// The most characters of a text that are laid out, without spaces. Three lines of a title have room for fewer.
const MAX_CHARACTERS: usize = 300;
/// Formatting characters that take no space. They matter to Arabic and to mixed directions, and need no glyph.
const INVISIBLE: [char; 8] =
    ['\u{AD}', '\u{200B}', '\u{200C}', '\u{200D}', '\u{200E}', '\u{200F}', '\u{2060}', '\u{FEFF}'];

/// The most pixels of a logo that is decoded: as many as an uploaded image has.
const MAX_LOGO_PIXELS: u64 = 1_600 * 1_600;
/// How much a small logo is enlarged at most.
const MAX_LOGO_ENLARGEMENT: f32 = 2.0;

/// The steps of opacity at the edges of shapes and glyphs. Few shades look the same and make files a third smaller.
/// It divides 255.
const OPACITY_STEP: u8 = 17;

type Colour = [u8; 3];

const WHITE: Colour = [255, 255, 255];
const INK: Colour = [0x1a, 0x1b, 0x19];
const MUTED_INK: Colour = [0x4d, 0x4f, 0x49];
const PILL: Colour = [0xf0, 0xf0, 0xed];

/// The least contrast of a shape that carries a meaning (WCAG 2, 1.4.11).
const SHAPE_CONTRAST: f64 = 3.0;
/// The least contrast of a decoration: enough to be seen.
const DECORATION_CONTRAST: f64 = 1.2;

/// Returns the picture as PNG.
///
/// Each text is left out as a whole if the fonts lack one of its letters or digits (they have Latin, Greek, Cyrillic
/// and Arabic), and other missing characters are dropped. Without its title, the picture shows the brand alone. Takes
/// some tens of milliseconds of one core, so it belongs on a thread for blocking work.
pub(crate) fn render(preview: &Preview) -> Vec<u8> {
    png(&draw(preview).into(), &[]).unwrap_or_default()
}

fn draw(preview: &Preview) -> RgbImage {
    let mut fonts = Fonts::new(preview.is_right_to_left);
    let mut canvas = Canvas::new(preview.is_right_to_left);
    let accent = with_contrast(channels(preview.accent), WHITE, DECORATION_CONTRAST);
    canvas.fill(Area { start: 0.0, top: 0.0, width: EDGE, height: HEIGHT }, accent, |area, x, y| {
        rounded_rectangle(area, 0.0, x, y)
    });
    let has_footer = draw_footer(&mut canvas, &mut fonts, preview);
    let bottom = if has_footer { TITLE_BOTTOM } else { FOOTER_MIDDLE };
    let name = fonts.drawable(&preview.product_name);
    let brand = if let Some(title) = fonts.drawable(&preview.title) {
        let text = fonts.fit(&title, CONTENT, &TITLE_SIZES);
        canvas.draw_text(&mut fonts, &text, START, f32::midpoint(TITLE_TOP, bottom) - text.height / 2.0, INK);
        &HEADER
    } else {
        &BrandStyle { middle: bottom / 2.0, ..LARGE_BRAND }
    };
    draw_brand(&mut canvas, &mut fonts, preview, name.as_deref(), brand);
    canvas.pixels
}

/// Draws the logo with the product name beside it.
fn draw_brand(canvas: &mut Canvas, fonts: &mut Fonts, preview: &Preview, name: Option<&str>, brand: &BrandStyle) {
    let mut start = START;
    if let Some(emblem) = Emblem::new(fonts, preview, name, brand.emblem) {
        let (width, height) = emblem.size();
        canvas.draw_emblem(fonts, &emblem, channels(preview.accent), start, brand.middle - height / 2.0);
        start += width + brand.emblem.1 * 0.3;
    }
    if let Some(name) = name {
        let text = fonts.fit(name, START + CONTENT - start, brand.name_sizes);
        canvas.draw_text(fonts, &text, start, brand.middle - text.height / 2.0, INK);
    }
}

/// Draws the votes and the status. Returns whether there is any of them.
fn draw_footer(canvas: &mut Canvas, fonts: &mut Fonts, preview: &Preview) -> bool {
    let mut start = START;
    if let Some(votes) = preview.votes.as_ref().and_then(|votes| fonts.drawable(votes)) {
        let triangle = Area { start, top: FOOTER_MIDDLE - 14.0, width: 32.0, height: 26.0 };
        canvas.fill(triangle, with_contrast(channels(preview.accent), WHITE, SHAPE_CONTRAST), upward_triangle);
        let text = fonts.fit(&votes, 440.0, &[(36.0, 1)]);
        canvas.draw_text(fonts, &text, start + 46.0, FOOTER_MIDDLE - text.height / 2.0, MUTED_INK);
        start += 46.0 + text.width + 40.0;
    }
    if let Some((status, colour)) = &preview.status
        && let Some(status) = fonts.drawable(status)
    {
        let text = fonts.fit(&status, START + CONTENT - start - 92.0, &[(32.0, 1)]);
        let pill = Area { start, top: FOOTER_MIDDLE - 34.0, width: text.width + 92.0, height: 68.0 };
        canvas.fill(pill, PILL, |area, x, y| rounded_rectangle(area, 34.0, x, y));
        let dot = Area { start: start + 28.0, top: FOOTER_MIDDLE - 11.0, width: 22.0, height: 22.0 };
        let colour = with_contrast(channels(*colour), PILL, SHAPE_CONTRAST);
        canvas.fill(dot, colour, |area, x, y| rounded_rectangle(area, 11.0, x, y));
        canvas.draw_text(fonts, &text, start + 62.0, FOOTER_MIDDLE - text.height / 2.0, INK);
        start += pill.width;
    }
    start > START
}

/// Text that is laid out. All lengths are in pixels.
struct Text {
    buffer: Buffer,
    lines: usize,
    /// The width of the area in which the lines are aligned with its start
    area: f32,
    /// The width of the longest line
    width: f32,
    height: f32,
}

/// The embedded fonts, and the glyphs that were drawn with them.
struct Fonts {
    system: FontSystem,
    glyphs: SwashCache,
    fonts: Vec<Arc<Font>>,
    /// The side with which lines are aligned
    align: Align,
}

impl Fonts {
    fn new(right_to_left: bool) -> Self {
        let mut database = Database::new();
        for font in FONTS {
            database.load_font_source(Source::Binary(Arc::new(font)));
        }
        let ids: Vec<_> = database.faces().map(|face| face.id).collect();
        let mut system = FontSystem::new_with_locale_and_db("en".to_owned(), database);
        let fonts = ids.into_iter().filter_map(|id| system.get_font(id, Weight::SEMIBOLD)).collect();
        let align = if right_to_left { Align::Right } else { Align::Left };
        Self { system, glyphs: SwashCache::new(), fonts, align }
    }

    fn has_glyph(&self, character: char) -> bool {
        self.fonts.iter().any(|font| font.as_swash().charmap().map(character) != 0)
    }

    /// The beginning of a text on one line, without what no font has; nothing if a letter or digit is missing, or if
    /// nothing is visible.
    fn drawable(&self, text: &str) -> Option<String> {
        let mut drawable = String::new();
        let (mut length, mut is_after_space) = (0, false);
        // Composed, because the fonts lack some combining marks.
        for character in text.nfc() {
            if character.is_whitespace() {
                is_after_space = !drawable.is_empty();
            } else if !is_control(character) && (INVISIBLE.contains(&character) || self.has_glyph(character)) {
                if is_after_space {
                    drawable.push(' ');
                    is_after_space = false;
                }
                drawable.push(character);
                length += 1;
            } else if character.is_alphanumeric() {
                return None;
            }
            if length == MAX_CHARACTERS {
                break;
            }
        }
        drawable.chars().any(|character| !INVISIBLE.contains(&character)).then_some(drawable)
    }

    fn lay_out(&mut self, text: &str, size: f32, area: f32, wrap: Wrap) -> Text {
        let line_height = (size * LINE_HEIGHT).round();
        let mut buffer = Buffer::new_empty(Metrics::new(size, line_height));
        buffer.set_size(Some(area), None);
        buffer.set_wrap(wrap);
        let attributes = Attrs::new().family(FAMILY).weight(Weight::SEMIBOLD);
        buffer.set_text(text, &attributes, Shaping::Advanced, Some(self.align));
        buffer.shape_until_scroll(&mut self.system, false);
        let widths: Vec<_> = buffer.layout_runs().map(|line| line.line_w).collect();
        let height = widths.iter().map(|_| line_height).sum();
        Text { buffer, lines: widths.len(), area, width: widths.into_iter().fold(0.0, f32::max).ceil(), height }
    }

    /// Lays a text out at the first size at which its words fit into a width, or cuts it at the last one.
    fn fit(&mut self, text: &str, width: f32, sizes: Sizes<'_>) -> Text {
        for (size, max_lines) in sizes {
            let text = self.lay_out(text, *size, width, Wrap::Word);
            if text.lines <= *max_lines && text.width <= width {
                return text;
            }
        }
        let (size, max_lines) = sizes.last().copied().unwrap_or_default();
        self.cut(text, size, width, max_lines)
    }

    /// Lays out the beginning of a text that fits into some lines, with an ellipsis if that is not all of it.
    fn cut(&mut self, text: &str, size: f32, width: f32, max_lines: usize) -> Text {
        let whole = self.lay_out(text, size, width, Wrap::WordOrGlyph);
        if whole.lines <= max_lines {
            return whole;
        }
        let last_line = whole.buffer.layout_runs().take(max_lines).last();
        let glyphs = last_line.map(|line| line.glyphs).unwrap_or_default();
        let start = glyphs.iter().map(|glyph| glyph.start).min().unwrap_or_default();
        let end = glyphs.iter().map(|glyph| glyph.end).max().unwrap_or_default();
        let mut kept = text.get(..end).unwrap_or_default().trim_end();
        loop {
            let cut = self.lay_out(&format!("{kept}…"), size, width, Wrap::WordOrGlyph);
            if cut.lines <= max_lines || kept.is_empty() {
                return cut;
            }
            // Without the last word, or the last character of a word that fills the line.
            let word = kept.rfind(' ').filter(|space| *space > start);
            let end = word.or_else(|| kept.char_indices().next_back().map(|(last, _)| last));
            kept = kept.get(..end.unwrap_or_default()).unwrap_or_default();
        }
    }

    /// The first and the last row that glyphs fill, relative to the top of a text.
    fn ink_rows(&mut self, text: &Text) -> (f32, f32) {
        let mut rows = (f32::MAX, f32::MIN);
        for line in text.buffer.layout_runs() {
            for glyph in line.glyphs {
                let glyph = glyph.physical((0.0, line.line_y), 1.0);
                if let Some(image) = self.glyphs.get_image(&mut self.system, glyph.cache_key) {
                    let top = (glyph.y - image.placement.top) as f32;
                    rows = (rows.0.min(top), rows.1.max(top + image.placement.height as f32));
                }
            }
        }
        rows
    }
}

/// Whether a character is a control, or embeds or overrides a direction.
fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The logo or its replacement.
enum Emblem {
    Logo(RgbaImage),
    /// An initial in a square of this side
    Initial(Text, f32),
}

impl Emblem {
    /// The logo scaled to fit into a size, or the initial of the product name, or nothing.
    fn new(fonts: &mut Fonts, preview: &Preview, name: Option<&str>, size: (f32, f32)) -> Option<Self> {
        if let Some(logo) = preview.logo.as_ref().and_then(|logo| decode_logo(logo, size)) {
            return Some(Self::Logo(logo));
        }
        let initial = name?.chars().find(|character| character.is_alphanumeric())?;
        let initial = fonts.drawable(&initial.to_uppercase().take(1).collect::<String>())?;
        let side = size.1;
        Some(Self::Initial(fonts.fit(&initial, side, &[(side * 0.6, 1)]), side))
    }

    /// Width and height in pixels
    fn size(&self) -> (f32, f32) {
        match self {
            Self::Logo(logo) => (logo.width() as f32, logo.height() as f32),
            Self::Initial(_, side) => (*side, *side),
        }
    }
}

/// Decodes a logo within bounds and scales it to fit into a width and height.
fn decode_logo(content: &[u8], (max_width, max_height): (f32, f32)) -> Option<RgbaImage> {
    let limits = Limits { max_pixels: MAX_LOGO_PIXELS, max_side: max_width.max(max_height) as u32, max_frames: 1 };
    let mut logo = DynamicImage::from(image::load_from_memory(&scale(content, &limits).ok()?).ok()?.into_rgba8());
    let (width, height) = (logo.width() as f32, logo.height() as f32);
    let factor = (max_width / width).min(max_height / height).min(MAX_LOGO_ENLARGEMENT);
    let scaled = |side: f32| ((side * factor).round() as u32).max(1);
    multiply_alpha(&mut logo);
    logo = logo.resize_exact(scaled(width), scaled(height), FilterType::CatmullRom);
    divide_alpha(&mut logo);
    Some(logo.into_rgba8())
}

/// A rectangle in pixels. The start is left, or right on a mirrored canvas.
#[derive(Clone, Copy)]
struct Area {
    start: f32,
    top: f32,
    width: f32,
    height: f32,
}

struct Canvas {
    pixels: RgbImage,
    is_mirrored: bool,
}

impl Canvas {
    fn new(is_mirrored: bool) -> Self {
        Self { pixels: RgbImage::from_pixel(preview::WIDTH, preview::HEIGHT, Rgb(WHITE)), is_mirrored }
    }

    /// The left side, in whole pixels, of what starts somewhere.
    fn left(&self, start: f32, width: f32) -> i32 {
        let left = if self.is_mirrored { WIDTH - start - width } else { start };
        left.round() as i32
    }

    /// Mixes a colour into a pixel at the edge of a shape.
    fn cover(&mut self, x: i32, y: i32, colour: Colour, opacity: u8) {
        self.blend(x, y, colour, opacity / OPACITY_STEP * OPACITY_STEP);
    }

    /// Mixes a colour into a pixel. Pixels outside of the canvas are skipped.
    fn blend(&mut self, x: i32, y: i32, colour: Colour, opacity: u8) {
        if let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y))
            && let Some(pixel) = self.pixels.get_pixel_mut_checked(x, y)
        {
            *pixel = Rgb(mix(pixel.0, colour, opacity));
        }
    }

    /// Fills a shape of an area: that where `distance` from its outline, at a point relative to the centre, is
    /// negative.
    fn fill(&mut self, area: Area, colour: Colour, distance: impl Fn(Area, f32, f32) -> f32) {
        let (left, top) = (self.left(area.start, area.width), area.top.round() as i32);
        for y in 0..area.height.ceil() as i32 {
            for x in 0..area.width.ceil() as i32 {
                let centred = |offset: i32, length: f32| offset as f32 + 0.5 - length / 2.0;
                let coverage = 0.5 - distance(area, centred(x, area.width), centred(y, area.height));
                self.cover(left + x, top + y, colour, (coverage.clamp(0.0, 1.0) * 255.0).round() as u8);
            }
        }
    }

    fn draw_picture(&mut self, picture: &RgbaImage, start: f32, top: f32) {
        let (left, top) = (self.left(start, picture.width() as f32), top.round() as i32);
        for (x, y, pixel) in picture.enumerate_pixels() {
            let [red, green, blue, alpha] = pixel.0;
            self.blend(left + x as i32, top + y as i32, [red, green, blue], alpha);
        }
    }

    fn draw_text(&mut self, fonts: &mut Fonts, text: &Text, start: f32, top: f32, colour: Colour) {
        let left = self.left(start, text.area) as f32;
        for line in text.buffer.layout_runs() {
            for glyph in line.glyphs {
                let glyph = glyph.physical((left, top.round() + line.line_y), 1.0);
                // Glyph 0 is the box of a missing character.
                if glyph.cache_key.glyph_id == 0 {
                    continue;
                }
                let base = cosmic_text::Color::rgb(0, 0, 0);
                fonts.glyphs.with_pixels(&mut fonts.system, glyph.cache_key, base, |x, y, pixel| {
                    self.cover(glyph.x + x, glyph.y + y, colour, pixel.a());
                });
            }
        }
    }

    fn draw_emblem(&mut self, fonts: &mut Fonts, emblem: &Emblem, accent: Colour, start: f32, top: f32) {
        match emblem {
            Emblem::Logo(logo) => self.draw_picture(logo, start, top),
            Emblem::Initial(initial, side) => {
                let accent = with_contrast(accent, WHITE, DECORATION_CONTRAST);
                let square = Area { start, top, width: *side, height: *side };
                self.fill(square, accent, |area, x, y| rounded_rectangle(area, side * 0.22, x, y));
                let (ink_top, ink_bottom) = fonts.ink_rows(initial);
                let (start, top) = (start + (side - initial.width) / 2.0, top + (side - ink_top - ink_bottom) / 2.0);
                self.draw_text(fonts, initial, start, top, ink_on(accent));
            }
        }
    }
}

/// The distance of a point from the outline of a rectangle that fills an area.
fn rounded_rectangle(area: Area, radius: f32, x: f32, y: f32) -> f32 {
    let (across, down) = (x.abs() - area.width / 2.0 + radius, y.abs() - area.height / 2.0 + radius);
    across.max(0.0).hypot(down.max(0.0)) + across.max(down).min(0.0) - radius
}

/// The distance of a point from the outline of a triangle that fills an area and points upwards.
fn upward_triangle(area: Area, x: f32, y: f32) -> f32 {
    let (half_width, height) = (area.width / 2.0, area.height);
    let from_side = (x.abs() * height - (y + height / 2.0) * half_width) / height.hypot(half_width);
    from_side.max(y - height / 2.0)
}

fn channels(Color { red, green, blue }: Color) -> Colour {
    [red, green, blue]
}

fn color([red, green, blue]: Colour) -> Color {
    Color { red, green, blue }
}

/// A colour with some of another one on it: none for an opacity of 0, only the other one for 255.
fn mix(below: Colour, above: Colour, opacity: u8) -> Colour {
    let [below_red, below_green, below_blue] = below;
    let [red, green, blue] = above;
    let opacity = u16::from(opacity);
    let channel = |below: u8, above: u8| {
        let sum = u16::from(below) * (255 - opacity) + u16::from(above) * opacity;
        u8::try_from((sum + 127) / 255).unwrap_or(u8::MAX)
    };
    [channel(below_red, red), channel(below_green, green), channel(below_blue, blue)]
}

/// The contrast of two colours, from 1 to 21.
fn contrast_of(one: Colour, other: Colour) -> f64 {
    contrast(color(one), color(other))
}

/// The colour, darkened until it has a contrast to a light background.
fn with_contrast(colour: Colour, background: Colour, least: f64) -> Colour {
    let mut darkened = (0..=u8::MAX).map(|opacity| mix(colour, INK, opacity));
    darkened.find(|colour| contrast_of(*colour, background) >= least).unwrap_or(INK)
}

/// The colour of text on a colour.
fn ink_on(background: Colour) -> Colour {
    if contrast_of(WHITE, background) >= contrast_of(INK, background) { WHITE } else { INK }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, io::Cursor};

    use bytes::Bytes;
    use image::ImageFormat;
    use proptest::prelude::*;

    use super::*;

    const ACCENT: Colour = [0x17, 0x69, 0x4f];
    const BLUE: Colour = [0x2a, 0x5f, 0xae];
    /// What is drawn, without allocations.
    #[derive(Clone, Copy)]
    struct Sample<'a> {
        product_name: &'a str,
        logo: Option<&'a [u8]>,
        accent: Colour,
        title: &'a str,
        votes: Option<&'a str>,
        status: Option<(&'a str, Colour)>,
        right_to_left: bool,
    }

    impl Sample<'_> {
        fn preview(&self) -> Preview {
            Preview {
                product_name: self.product_name.to_owned(),
                logo: self.logo.map(Bytes::copy_from_slice),
                accent: color(self.accent),
                title: self.title.to_owned(),
                votes: self.votes.map(ToOwned::to_owned),
                status: self.status.map(|(name, colour)| (name.to_owned(), color(colour))),
                is_right_to_left: self.right_to_left,
            }
        }
    }

    fn render(sample: &Sample<'_>) -> Vec<u8> {
        super::render(&sample.preview())
    }

    fn draw(sample: &Sample<'_>) -> RgbImage {
        super::draw(&sample.preview())
    }

    const PREVIEW: Sample<'static> = Sample {
        product_name: "Acme",
        logo: None,
        accent: ACCENT,
        title: "Export votes as CSV",
        votes: Some("43 votes"),
        status: Some(("Planned", BLUE)),
        right_to_left: false,
    };
    /// Nothing but the edge.
    const EMPTY: Sample<'static> = Sample { product_name: "", title: "", votes: None, status: None, ..PREVIEW };

    fn decoded(png: &[u8]) -> RgbImage {
        let picture = image::load_from_memory_with_format(png, ImageFormat::Png).unwrap().into_rgb8();
        assert_eq!(picture.dimensions(), (preview::WIDTH, preview::HEIGHT));
        picture
    }

    fn colour_block(width: u32, height: u32, colour: Colour) -> Vec<u8> {
        let mut content = Cursor::new(Vec::new());
        RgbImage::from_pixel(width, height, Rgb(colour)).write_to(&mut content, ImageFormat::Png).unwrap();
        content.into_inner()
    }

    /// The first and the last column, and the first and the last row, of the pixels of some colour.
    fn bounds(picture: &RgbImage, is_meant: impl Fn(Colour) -> bool) -> Option<[u32; 4]> {
        picture.enumerate_pixels().filter(|(_, _, pixel)| is_meant(pixel.0)).fold(None, |bounds, (x, y, _)| {
            let [left, right, top, bottom] = bounds.unwrap_or([x, x, y, y]);
            Some([left.min(x), right.max(x), top.min(y), bottom.max(y)])
        })
    }

    #[test]
    fn a_picture_shows_the_accent_and_all_texts_in_a_small_file() {
        let png = render(&PREVIEW);
        assert!(png.len() < 60_000, "{} bytes", png.len());
        let picture = decoded(&png);
        // The edge, the square of the initial, and the triangle.
        for (x, y) in [(0, 0), (27, 629), (110, 112), (120, 545)] {
            assert_eq!(picture.get_pixel(x, y).0, ACCENT, "{x} {y}");
        }
        for (x, y) in [(28, 0), (1199, 0), (1199, 629), (60, 300)] {
            assert_eq!(picture.get_pixel(x, y).0, WHITE, "{x} {y}");
        }
        assert!(bounds(&picture, |colour| colour == BLUE).is_some());
        for without in [
            Sample { product_name: "", ..PREVIEW },
            Sample { title: "", ..PREVIEW },
            Sample { votes: None, ..PREVIEW },
            Sample { status: None, ..PREVIEW },
        ] {
            assert!(draw(&without) != picture);
        }
    }

    #[test]
    fn a_picture_is_the_same_each_time() {
        assert_eq!(render(&PREVIEW), render(&PREVIEW));
    }

    #[test]
    fn right_to_left_is_mirrored() {
        let logo = colour_block(60, 30, BLUE);
        let left = Sample { logo: Some(&logo), ..EMPTY };
        let right = draw(&Sample { right_to_left: true, ..left });
        assert!(image::imageops::flip_horizontal(&draw(&left)) == right);
        assert_eq!(right.get_pixel(1199, 300).0, ACCENT);

        for title in ["Export votes as CSV", "تصدير الأصوات", "W"] {
            let ink = |right_to_left| {
                let preview = Sample { title, right_to_left, ..EMPTY };
                bounds(&draw(&preview), |colour| colour == INK).unwrap()
            };
            let (left, right) = (ink(false), ink(true));
            assert!((100..120).contains(&left[0]), "{title} {left:?}");
            assert!((1080..1100).contains(&right[1]), "{title} {right:?}");
            assert_eq!((left[1] - left[0], &left[2..]), (right[1] - right[0], &right[2..]), "{title}");
        }
    }

    #[test]
    fn votes_of_both_directions_are_drawn_as_a_whole() {
        let mut fonts = Fonts::new(true);
        let text = "43 صوت";
        let votes = fonts.fit(text, 440.0, &[(36.0, 1)]);
        let glyphs = votes.buffer.layout_runs().flat_map(|line| line.glyphs);
        let drawn: BTreeSet<_> = glyphs.map(|glyph| glyph.start).collect();
        assert_eq!(drawn, text.char_indices().map(|(start, _)| start).collect());
        assert_eq!(votes.lines, 1);
    }

    #[test]
    fn a_long_title_is_cut_after_three_lines() {
        let sentence = "Let administrators merge duplicate feature requests without losing votes ".repeat(3);
        let arabic = "إضافة الوضع الداكن إلى تطبيق الهاتف المحمول وتصدير البيانات ".repeat(4);
        let (wide, marks) = ("W".repeat(200), "e\u{301}\u{323}".repeat(100));
        let mixed = "CSV إضافة (PDF) الوضع ".repeat(20);
        for title in [&sentence, &arabic, &wide, &marks, &mixed, "Wi-Fi/".repeat(50).as_str(), &"i ".repeat(150)] {
            for right_to_left in [false, true] {
                let mut fonts = Fonts::new(right_to_left);
                let title = fonts.drawable(title).unwrap();
                let text = fonts.fit(&title, CONTENT, &TITLE_SIZES);
                assert!(text.lines <= 3 && text.width <= CONTENT + 1.0, "{} {} {title}", text.lines, text.width);
                assert!(text.buffer.lines[0].text().ends_with('…'), "{title}");
                assert!(text.buffer.lines[0].text().chars().count() > 40, "{title}");
                for glyph in text.buffer.layout_runs().flat_map(|line| line.glyphs) {
                    assert!(glyph.glyph_id != 0 && glyph.x >= -1.0 && glyph.x + glyph.w <= CONTENT + 1.0, "{title}");
                }
            }
        }
    }

    #[test]
    fn a_title_that_fits_is_whole_and_breaks_between_words() {
        let mut fonts = Fonts::new(false);
        for (title, size, lines) in [
            ("Dark mode", 84.0, 1),
            ("Export all votes and comments as CSV", 84.0, 2),
            ("Merge duplicate feature requests without losing the votes", 66.0, 3),
            ("Datenschutzgrundverordnung in Kraft", 66.0, 2),
        ] {
            let text = fonts.fit(title, CONTENT, &TITLE_SIZES);
            assert_eq!((text.buffer.metrics().font_size, text.lines), (size, lines), "{title}");
            assert_eq!(text.buffer.lines[0].text(), title);
            for line in text.buffer.layout_runs().skip(1) {
                assert!(title[..line.glyphs[0].start].ends_with(' '), "{title}");
            }
        }
        let name = fonts.fit("A product name that is too long", 250.0, &[(40.0, 1)]);
        assert_eq!((name.lines, name.buffer.lines[0].text()), (1, "A product…"));
        assert!(fonts.fit("W", 1.0, &[(40.0, 1)]).width < 50.0);
    }

    #[test]
    fn what_no_font_has_is_left_out() {
        let fonts = Fonts::new(false);
        let (wide, long) = ("W".repeat(200), "word ".repeat(2_000));
        for (text, drawable) in [
            ("添加深色模式", None),
            ("Dark mode 深色", None),
            ("ダークモード", None),
            ("다크 모드", None),
            ("מצב כהה", None),
            ("डार्क मोड", None),
            ("Version ２", None),
            ("🎉", None),
            ("👩🏽‍💻 ❤️", None),
            ("Ship it 🚀", Some("Ship it")),
            ("🚀 Ship it", Some("Ship it")),
            ("Ship 🚀 it", Some("Ship it")),
            ("\u{202E}evil\u{202C} \u{2067}text\u{2069}", Some("evil text")),
            ("\u{200F}\u{200B}", None),
            ("", None),
            (" \t\r\n\u{2028}\u{A0}", None),
            ("\0\0\0", None),
            ("\0a\u{7}b\u{85}c", Some("ab c")),
            ("  one\ntwo  ", Some("one two")),
            ("e\u{301}te\u{302}", Some("\u{e9}t\u{ea}")),
            ("Größe ŁŐ Ελλάδα Їжак Chế độ", Some("Größe ŁŐ Ελλάδα Їжак Chế độ")),
            ("می‌خواهم ۱۲۳", Some("می‌خواهم ۱۲۳")),
            (&wide, Some(&wide)),
            (&long, Some(long[..375].trim_end())),
        ] {
            assert_eq!(fonts.drawable(text).as_deref(), drawable, "{text:?}");
            let all = [false, true].map(|right_to_left| {
                let status = Some((text, BLUE));
                draw(&Sample { product_name: text, title: text, votes: Some(text), status, right_to_left, ..PREVIEW })
            });
            assert_eq!(all[0] == draw(&EMPTY), drawable.is_none(), "{text:?}");
        }
        assert!(draw(&Sample { title: "深色", ..PREVIEW }) == draw(&Sample { title: "", ..PREVIEW }));
    }

    #[test]
    fn without_a_title_the_brand_is_larger() {
        let logo = colour_block(400, 400, BLUE);
        let height = |title| {
            let picture = draw(&Sample { title, logo: Some(&logo), status: None, ..PREVIEW });
            bounds(&picture, |colour| colour == BLUE).map(|[_, _, top, bottom]| bottom - top + 1)
        };
        assert_eq!((height("Dark mode"), height("深色模式")), (Some(88), Some(168)));
    }

    #[test]
    fn a_logo_fits_and_keeps_its_aspect_ratio() {
        for (width, height, fitted) in [
            (1_600, 400, [104, 423, 72, 151]),
            (100, 50, [104, 279, 68, 155]),
            (20, 10, [104, 143, 102, 121]),
            (50, 1_000, [104, 107, 68, 155]),
        ] {
            let logo = colour_block(width, height, BLUE);
            let picture = draw(&Sample { title: "W", logo: Some(&logo), ..EMPTY });
            assert_eq!(bounds(&picture, |colour| colour == BLUE), Some(fitted), "{width} {height}");
        }
    }

    #[test]
    fn a_transparent_logo_is_mixed_with_the_background() {
        let mut content = Cursor::new(Vec::new());
        let logo = RgbaImage::from_fn(80, 80, |x, _| image::Rgba([0, 0, 0, if x < 40 { 0 } else { 128 }]));
        logo.write_to(&mut content, ImageFormat::WebP).unwrap();
        let picture = draw(&Sample { title: "W", logo: Some(content.get_ref()), ..EMPTY });
        assert_eq!((picture.get_pixel(110, 112).0, picture.get_pixel(180, 112).0), (WHITE, [127; 3]));
    }

    #[test]
    fn a_broken_or_huge_logo_is_left_out() {
        let without = draw(&PREVIEW);
        let mut bomb = Vec::new();
        let mut encoder = gif::Encoder::new(&mut bomb, u16::MAX, u16::MAX, &[0, 0, 0]).unwrap();
        encoder.write_frame(&gif::Frame { width: 1, height: 1, buffer: vec![0].into(), ..Default::default() }).unwrap();
        drop(encoder);
        let block = colour_block(300, 300, BLUE);
        assert!(draw(&Sample { logo: Some(&block), ..PREVIEW }) != without);
        for logo in [b"".as_slice(), b"<svg/>", &block[..block.len() / 2], &bomb, &colour_block(1_601, 1_600, BLUE)] {
            assert!(draw(&Sample { logo: Some(logo), ..PREVIEW }) == without);
        }
    }

    #[test]
    fn shapes_and_letters_have_contrast_for_each_accent() {
        let channels = [0, 60, 128, 200, 255];
        for accent in channels.iter().flat_map(|r| channels.map(|g| channels.map(|b| [*r, g, b]))).flatten() {
            assert!(contrast_of(with_contrast(accent, WHITE, SHAPE_CONTRAST), WHITE) >= 3.0);
            assert!(contrast_of(with_contrast(accent, PILL, SHAPE_CONTRAST), PILL) >= 3.0);
            let square = with_contrast(accent, WHITE, DECORATION_CONTRAST);
            assert!(contrast_of(square, WHITE) >= 1.2 && contrast_of(ink_on(square), square) >= 4.0, "{accent:?}");
            if contrast_of(accent, WHITE) > 1.2 {
                assert_eq!(square, accent);
            }
        }
        assert!((contrast_of(WHITE, [0, 0, 0]) - 21.0).abs() < 0.001);
    }

    /// Texts that can be drawn, and texts of all characters.
    fn text() -> impl Strategy<Value = String> {
        let drawn = "[a-zA-Zäößέжế ء-ي۰-۹0-9\u{300}\u{301}\u{64b}\u{ad}\u{200b}-\u{200f}«»()\\-–—…/🚀]{0,400}";
        prop_oneof![3 => drawn, 1 => any::<String>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_text_is_drawn_in_a_small_file(
            (title, product_name, votes, status) in (text(), text(), text(), text()),
            (accent, status_colour) in (any::<Colour>(), any::<Colour>()),
            right_to_left in any::<bool>(),
        ) {
            let png = render(&Sample {
                product_name: &product_name,
                logo: None,
                accent,
                title: &title,
                votes: Some(&votes),
                status: Some((&status, status_colour)),
                right_to_left,
            });
            prop_assert!(png.len() < 200_000, "{} bytes", png.len());
            decoded(&png);
            let mut fonts = Fonts::new(right_to_left);
            if let Some(title) = fonts.drawable(&title) {
                let text = fonts.fit(&title, CONTENT, &TITLE_SIZES);
                prop_assert!(text.lines <= 3);
            }
        }
    }
}
