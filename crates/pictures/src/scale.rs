//! Makes uploaded pictures safe and small.
//!
//! [`scale`] decodes a picture and writes it anew, so nothing of the original file but its pixels (and, for the right
//! colours, a small ICC profile) reaches a reader: no position from a camera, no comment, no data behind the picture.
//! What a file costs is bounded by [`Limits`], whatever it claims about itself.

use std::{io::Cursor, num::NonZeroU64, ops::Range};

use gif::{ColorOutput, DecodeOptions, Decoder, Encoder, Frame, MemoryLimit};
use image::{
    DynamicImage, ImageDecoder, ImageEncoder, ImageError, ImageFormat,
    codecs::{
        jpeg::{JpegDecoder, JpegEncoder},
        png::{CompressionType, FilterType, PngDecoder, PngEncoder},
        webp::WebPDecoder,
    },
    imageops,
    metadata::Orientation,
};
use roadmap_domain::model::picture::PictureProblem;

/// The quality of written JPEGs, from 1 to 100.
const JPEG_QUALITY: u8 = 85;

/// The longest ICC profile that is kept, in bytes.
const MAX_PROFILE: usize = 64 * 1024;

/// The canvas area of all kept frames of an animation together, in pixels.
const MAX_ANIMATED_PIXELS: u64 = 200_000_000;

/// How large a picture may be, and how large it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The most pixels (width times height) of a picture that is decoded. It may take four bytes for each of them, so
    /// one with 16 bits per channel may have to be smaller.
    pub max_pixels: u64,
    /// The longest side of the result, in pixels. Smaller pictures keep their size.
    pub max_side: u32,
    /// The most frames of an animation that are kept; the first one always is.
    pub max_frames: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_pixels: 40_000_000, max_side: 1_600, max_frames: 200 }
    }
}

impl Limits {
    fn max_bytes(&self) -> u64 {
        self.max_pixels.saturating_mul(4)
    }

    fn check_size(&self, (width, height): (u32, u32)) -> Result<(), PictureProblem> {
        let pixels = u64::from(width).saturating_mul(u64::from(height));
        if pixels > self.max_pixels { Err(PictureProblem::TooManyPixels) } else { Ok(()) }
    }

    fn check(&self, decoder: &impl ImageDecoder) -> Result<(), PictureProblem> {
        self.check_size(decoder.dimensions())?;
        if decoder.total_bytes() > self.max_bytes() { Err(PictureProblem::TooManyPixels) } else { Ok(()) }
    }

    fn of_decoder(&self) -> image::Limits {
        let max_side = u32::try_from(self.max_pixels).unwrap_or(u32::MAX);
        let mut limits = image::Limits::no_limits();
        limits.max_image_width = Some(max_side);
        limits.max_image_height = Some(max_side);
        limits.max_alloc = Some(self.max_bytes());
        limits
    }
}

/// Writes a picture anew: upright, without metadata, and at most [`Limits::max_side`] pixels wide and high.
///
/// A PNG, JPEG or GIF keeps its format, and a GIF its animation; a WebP becomes a JPEG, or a PNG if it is transparent
/// somewhere.
///
/// # Errors
///
/// [`PictureProblem::TooManyPixels`] as soon as the header is read, [`PictureProblem::Animated`] for an animated WebP, and
/// [`PictureProblem::Unreadable`] for everything else that is no whole picture. The end of a PNG may be missing if all pixels
/// are there, and so may frames of a GIF after the first one.
pub(crate) fn scale(content: &[u8], limits: &Limits) -> Result<Vec<u8>, PictureProblem> {
    match image::guess_format(content) {
        Ok(ImageFormat::Png) => {
            let decoder = PngDecoder::with_limits(Cursor::new(content), limits.of_decoder()).map_err(problem)?;
            scale_still(decoder, ImageFormat::Png, limits)
        }
        Ok(ImageFormat::Jpeg) => {
            let decoder = JpegDecoder::new(Cursor::new(content)).map_err(problem)?;
            limits.check(&decoder)?;
            if is_whole_jpeg(content) {
                scale_still(decoder, ImageFormat::Jpeg, limits)
            } else {
                Err(PictureProblem::Unreadable)
            }
        }
        Ok(ImageFormat::WebP) => {
            let decoder = WebPDecoder::new(Cursor::new(still_webp(content, limits)?)).map_err(problem)?;
            scale_still(decoder, ImageFormat::WebP, limits)
        }
        Ok(ImageFormat::Gif) => scale_gif(content, limits),
        _ => Err(PictureProblem::Unreadable),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "fits `map_err`")]
fn problem(error: ImageError) -> PictureProblem {
    match error {
        ImageError::Limits(_) => PictureProblem::TooManyPixels,
        _ => PictureProblem::Unreadable,
    }
}

/// Whether the end marker of a JPEG follows its first scan. The decoder paints what is missing grey instead.
fn is_whole_jpeg(content: &[u8]) -> bool {
    let mut rest = content;
    while let [first, marker, high, low, ..] = *rest {
        let length = match (first, marker) {
            (0xFF, 0xDA) => return rest.windows(2).any(|pair| pair == [0xFF, 0xD9]),
            (0xFF, 0x02..=0xCF | 0xDB..=0xFE) => 2 + usize::from(u16::from_be_bytes([high, low])),
            _ => 1,
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    false
}

/// The WebP without what follows it, if it is whole, has no frames, and declares no size that is too large. The decoder
/// believes the size of the container, and decodes the bitstream before it compares the two.
fn still_webp<'a>(content: &'a [u8], limits: &Limits) -> Result<&'a [u8], PictureProblem> {
    let (_, size, _) = riff_chunk(content).ok_or(PictureProblem::Unreadable)?;
    let content = content.get(..size.saturating_add(8)).ok_or(PictureProblem::Unreadable)?;
    let mut rest = content.get(12..).ok_or(PictureProblem::Unreadable)?;
    while let Some((kind, size, data)) = riff_chunk(rest) {
        let body = data.get(..size).ok_or(PictureProblem::Unreadable)?;
        let number = |range: Range<usize>| {
            body.get(range).unwrap_or_default().iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
        };
        match &kind {
            b"ANIM" | b"ANMF" => return Err(PictureProblem::Animated),
            b"VP8X" if number(0..1) & 0b10 != 0 => return Err(PictureProblem::Animated),
            b"VP8X" => limits.check_size((number(4..7) + 1, number(7..10) + 1))?,
            b"VP8 " => limits.check_size((number(6..8) & 0x3FFF, number(8..10) & 0x3FFF))?,
            b"VP8L" => limits.check_size(((number(1..5) & 0x3FFF) + 1, (number(1..5) >> 14 & 0x3FFF) + 1))?,
            _ => {}
        }
        rest = data.get(size.next_multiple_of(2)..).unwrap_or_default();
    }
    Ok(content)
}

/// The kind and size of the first chunk, and all that follows its header.
fn riff_chunk(content: &[u8]) -> Option<([u8; 4], usize, &[u8])> {
    let (kind, rest) = content.split_first_chunk()?;
    let (size, rest) = rest.split_first_chunk()?;
    Some((*kind, usize::try_from(u32::from_le_bytes(*size)).ok()?, rest))
}

fn scale_still(
    mut decoder: impl ImageDecoder,
    format: ImageFormat,
    limits: &Limits,
) -> Result<Vec<u8>, PictureProblem> {
    limits.check(&decoder)?;
    decoder.set_limits(limits.of_decoder()).map_err(problem)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().ok().flatten().filter(|profile| profile.len() <= MAX_PROFILE);
    let picture = DynamicImage::from_decoder(decoder).map_err(problem)?;
    let mut picture = reduce(eight_bit(picture), limits.max_side);
    picture.apply_orientation(orientation);
    let profile = profile.filter(|profile| describes(profile, &picture)).unwrap_or_default();
    match format {
        ImageFormat::WebP if is_opaque(&picture) => jpeg(&picture.into_rgb8().into(), profile),
        ImageFormat::Jpeg => jpeg(&picture, profile),
        _ => png(&picture, &profile),
    }
}

fn eight_bit(picture: DynamicImage) -> DynamicImage {
    match picture {
        DynamicImage::ImageLuma16(_) => picture.into_luma8().into(),
        DynamicImage::ImageLumaA16(_) => picture.into_luma_alpha8().into(),
        DynamicImage::ImageRgb16(_) => picture.into_rgb8().into(),
        DynamicImage::ImageRgba16(_) => picture.into_rgba8().into(),
        _ => picture,
    }
}

fn is_opaque(picture: &DynamicImage) -> bool {
    match picture {
        DynamicImage::ImageRgba8(picture) => picture.pixels().all(|pixel| pixel.0.last() == Some(&u8::MAX)),
        _ => !picture.color().has_alpha(),
    }
}

/// The size with the same aspect ratio whose long side is at most `max_side`.
fn fit(width: u32, height: u32, max_side: u32) -> (u32, u32) {
    let long = width.max(height).max(1);
    let scaled = |side: u32| {
        let side = (u64::from(side) * u64::from(max_side) + u64::from(long / 2)) / u64::from(long);
        u32::try_from(side).unwrap_or(max_side).max(1)
    };
    if long > max_side { (scaled(width), scaled(height)) } else { (width, height) }
}

/// Scales a picture down to `max_side`, and blackens what is wholly transparent. The good filter is slow, and needs 16
/// bytes for each pixel that it works on, so squares of pixels are averaged before it.
fn reduce(mut picture: DynamicImage, max_side: u32) -> DynamicImage {
    let (width, height) = fit(picture.width(), picture.height(), max_side);
    if (width, height) == (picture.width(), picture.height()) {
        each_transparent(&mut picture, |colour, alpha| if alpha == 0 { 0 } else { colour });
        return picture;
    }
    multiply_alpha(&mut picture);
    let step = picture.width().max(picture.height()).div_ceil(max_side.saturating_mul(2).max(1));
    if step > 1 {
        picture = picture.thumbnail_exact(picture.width().div_ceil(step), picture.height().div_ceil(step));
    }
    picture = picture.resize_exact(width, height, imageops::FilterType::CatmullRom);
    divide_alpha(&mut picture);
    picture
}

/// Weights colours by their opacity, so that what is invisible does not bleed into its neighbours when they are mixed.
pub(crate) fn multiply_alpha(picture: &mut DynamicImage) {
    each_transparent(picture, |colour, alpha| (colour * alpha + 127) / 255);
}

pub(crate) fn divide_alpha(picture: &mut DynamicImage) {
    each_transparent(picture, |colour, alpha| (colour * 255 + alpha / 2).checked_div(alpha).unwrap_or(0));
}

fn each_transparent(picture: &mut DynamicImage, change: impl Fn(u32, u32) -> u32) {
    let (samples, channels) = match picture {
        DynamicImage::ImageLumaA8(picture) => (picture.as_flat_samples_mut().samples, 2),
        DynamicImage::ImageRgba8(picture) => (picture.as_flat_samples_mut().samples, 4),
        _ => return,
    };
    for pixel in samples.chunks_exact_mut(channels) {
        if let Some((alpha, colours)) = pixel.split_last_mut()
            && *alpha < u8::MAX
        {
            for colour in colours {
                *colour = u8::try_from(change((*colour).into(), (*alpha).into())).unwrap_or(u8::MAX);
            }
        }
    }
}

fn jpeg(picture: &DynamicImage, profile: Vec<u8>) -> Result<Vec<u8>, PictureProblem> {
    let mut content = Vec::new();
    write(picture, profile, JpegEncoder::new_with_quality(&mut content, JPEG_QUALITY))?;
    Ok(content)
}

/// The smaller of two PNGs: filters halve photographs, but spoil the repetitions of screenshots. Two attempts at this
/// level take less time than one at the default level, and the better one is smaller.
pub(crate) fn png(picture: &DynamicImage, profile: &[u8]) -> Result<Vec<u8>, PictureProblem> {
    let (mut filtered, mut plain) = (Vec::new(), Vec::new());
    for (content, filter) in [(&mut filtered, FilterType::Adaptive), (&mut plain, FilterType::NoFilter)] {
        write(picture, profile.to_vec(), PngEncoder::new_with_quality(content, CompressionType::Level(4), filter))?;
    }
    Ok(if plain.len() < filtered.len() { plain } else { filtered })
}

fn write(picture: &DynamicImage, profile: Vec<u8>, mut encoder: impl ImageEncoder) -> Result<(), PictureProblem> {
    if !profile.is_empty() {
        encoder.set_icc_profile(profile).map_err(|_| PictureProblem::Unreadable)?;
    }
    picture.write_with_encoder(encoder).map_err(problem)
}

/// Whether the header of an ICC profile fits the channels of a picture: that of a CMYK JPEG, say, is useless for the
/// RGB that it is decoded to.
fn describes(profile: &[u8], picture: &DynamicImage) -> bool {
    let space: &[u8] = if picture.color().has_color() { b"RGB " } else { b"GRAY" };
    profile.get(16..20) == Some(space) && profile.get(36..40) == Some(b"acsp")
}

fn scale_gif(content: &[u8], limits: &Limits) -> Result<Vec<u8>, PictureProblem> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::Indexed);
    options.set_memory_limit(MemoryLimit::Bytes(NonZeroU64::new(limits.max_bytes()).unwrap_or(NonZeroU64::MIN)));
    options.check_frame_consistency(true);
    let mut decoder = options.read_info(content).map_err(|_| PictureProblem::Unreadable)?;
    let canvas = (u32::from(decoder.width()), u32::from(decoder.height()));
    limits.check_size(canvas)?;
    let (width, height) = fit(canvas.0, canvas.1, limits.max_side);
    let (columns, rows) = (sources(canvas.0, width), sources(canvas.1, height));

    let mut scaled = Vec::new();
    write_frames(&mut decoder, &columns, &rows, limits.max_frames, &mut scaled).ok_or(PictureProblem::Unreadable)?;
    Ok(scaled)
}

/// Copies frames until one is missing or broken, but nothing if that is the first one.
fn write_frames(
    decoder: &mut Decoder<&[u8]>,
    columns: &[u16],
    rows: &[u16],
    max_frames: usize,
    scaled: &mut Vec<u8>,
) -> Option<()> {
    let canvas_pixels = u64::from(decoder.width()) * u64::from(decoder.height());
    let affordable = usize::try_from(MAX_ANIMATED_PIXELS.checked_div(canvas_pixels)?).unwrap_or(usize::MAX);
    let (width, height) = (u16::try_from(columns.len()).ok()?, u16::try_from(rows.len()).ok()?);
    let mut encoder = Encoder::new(scaled, width, height, decoder.global_palette().unwrap_or_default()).ok()?;
    encoder.set_repeat(decoder.repeat()).ok()?;
    encoder.write_frame(&scale_frame(decoder.read_next_frame().ok()??, columns, rows)?).ok()?;
    for _ in 1..affordable.min(max_frames) {
        let Ok(Some(frame)) = decoder.read_next_frame() else { break };
        encoder.write_frame(&scale_frame(frame, columns, rows)?).ok()?;
    }
    encoder.into_inner().ok().map(drop)
}

/// For each column (or row) of the scaled canvas, the one of the original canvas that it shows, in order.
fn sources(original: u32, scaled: u32) -> Vec<u16> {
    let source = |index: u32| (2 * u64::from(index) + 1) * u64::from(original) / (2 * u64::from(scaled));
    (0..scaled).filter_map(|index| u16::try_from(source(index)).ok()).collect()
}

/// The first index, and the sources, of the scaled columns (or rows) which show those from `start` on.
fn shown(sources: &[u16], start: u16, length: u16) -> (usize, &[u16]) {
    let first = sources.partition_point(|source| *source < start);
    let rest = sources.get(first..).unwrap_or_default();
    let count = rest.partition_point(|source| *source - start < length);
    (first, rest.get(..count).unwrap_or_default())
}

/// What the scaled canvas shows of a frame. If that is nothing, the frame becomes a transparent pixel: it still takes
/// its time, during which the frame before it is already disposed of.
fn scale_frame(frame: &Frame<'_>, columns: &[u16], rows: &[u16]) -> Option<Frame<'static>> {
    let (left, columns) = shown(columns, frame.left, frame.width);
    let (top, rows) = shown(rows, frame.top, frame.height);
    let base = Frame { delay: frame.delay, palette: frame.palette.clone(), ..Frame::default() };
    if columns.is_empty() || rows.is_empty() {
        return Some(Frame { width: 1, height: 1, transparent: Some(0), buffer: vec![0].into(), ..base });
    }
    let mut buffer = Vec::with_capacity(columns.len().saturating_mul(rows.len()));
    for row in rows {
        let line = frame.buffer.chunks_exact(frame.width.into()).nth(usize::from(row - frame.top))?;
        buffer.extend(columns.iter().filter_map(|column| line.get(usize::from(column - frame.left))));
    }
    Some(Frame {
        dispose: frame.dispose,
        transparent: frame.transparent,
        left: u16::try_from(left).ok()?,
        top: u16::try_from(top).ok()?,
        width: u16::try_from(columns.len()).ok()?,
        height: u16::try_from(rows.len()).ok()?,
        buffer: buffer.into(),
        ..base
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use gif::{AnyExtension, DisposalMethod, Repeat};
    use image::{
        ExtendedColorType, GrayAlphaImage, GrayImage, ImageBuffer, Luma, LumaA, Rgb, RgbImage, Rgba, RgbaImage,
        codecs::webp::WebPEncoder,
    };
    use proptest::prelude::*;

    use super::*;

    const SMALL: Limits = Limits { max_pixels: 40_000_000, max_side: 20, max_frames: 200 };

    /// A scaled picture with what its content says.
    #[derive(Debug, PartialEq, Eq)]
    struct Scaled {
        content: Vec<u8>,
        format: ImageFormat,
        width: u32,
        height: u32,
    }

    fn scale(content: &[u8], limits: &Limits) -> Result<Scaled, PictureProblem> {
        let content = super::scale(content, limits)?;
        let format = image::guess_format(&content).unwrap();
        let size = image::ImageReader::with_format(Cursor::new(&content), format).into_dimensions().unwrap();
        Ok(Scaled { content, format, width: size.0, height: size.1 })
    }

    fn gradient(width: u32, height: u32) -> DynamicImage {
        let byte = |value: u32| u8::try_from(value % 256).unwrap();
        RgbImage::from_fn(width, height, |x, y| Rgb([byte(x * 3), byte(y * 5), byte(x + y)])).into()
    }

    /// Left half red, right half blue.
    fn halves(width: u32, height: u32) -> DynamicImage {
        RgbImage::from_fn(width, height, |x, _| if x < width / 2 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) }).into()
    }

    fn encode(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut content = Cursor::new(Vec::new());
        picture.write_to(&mut content, format).unwrap();
        content.into_inner()
    }

    fn scaled(content: &[u8], limits: &Limits) -> (Scaled, DynamicImage) {
        let scaled = scale(content, limits).unwrap();
        let picture = image::load_from_memory(&scaled.content).unwrap();
        assert_eq!((picture.width(), picture.height()), (scaled.width, scaled.height));
        (scaled, picture)
    }

    fn contains(content: &[u8], needle: &[u8]) -> bool {
        content.windows(needle.len()).any(|window| window == needle)
    }

    /// An ICC profile as far as its header.
    fn profile(space: [u8; 4], length: usize) -> Vec<u8> {
        let mut profile = vec![7; length];
        profile[16..20].copy_from_slice(&space);
        profile[36..40].copy_from_slice(b"acsp");
        profile
    }

    /// An EXIF block with an orientation and a latitude.
    fn exif(orientation: u8) -> Vec<u8> {
        let mut exif = b"MM\0*\0\0\0\x08\0\x02".to_vec();
        exif.extend([1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]);
        exif.extend(b"\x88\x25\0\x04\0\0\0\x01\0\0\0\x26\0\0\0\0");
        exif.extend(b"\0\x01\0\x01\0\x02\0\0\0\x0bLATITUDE47N");
        exif
    }

    fn jpeg_with(picture: &DynamicImage, profile: &[u8], exif: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        let mut encoder = JpegEncoder::new_with_quality(&mut content, 95);
        encoder.set_icc_profile(profile.to_vec()).unwrap();
        encoder.set_exif_metadata(exif.to_vec()).unwrap();
        picture.write_with_encoder(encoder).unwrap();
        content
    }

    fn png_with(picture: &DynamicImage, profile: &[u8], exif: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        let mut encoder = PngEncoder::new(&mut content);
        encoder.set_icc_profile(profile.to_vec()).unwrap();
        encoder.set_exif_metadata(exif.to_vec()).unwrap();
        picture.write_with_encoder(encoder).unwrap();
        content
    }

    fn chunk(kind: [u8; 4], body: &[u8]) -> Vec<u8> {
        let mut chunk = kind.to_vec();
        chunk.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
        chunk.extend(body);
        chunk.extend(vec![0; body.len() % 2]);
        chunk
    }

    fn webp_of(chunks: &[Vec<u8>]) -> Vec<u8> {
        chunk(*b"RIFF", &[b"WEBP".to_vec(), chunks.concat()].concat())
    }

    fn webp_header(flags: u8, width: u32, height: u32) -> Vec<u8> {
        let (width, height) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
        chunk(*b"VP8X", &[&[flags, 0, 0, 0], &width[..3], &height[..3]].concat())
    }

    fn jpeg_header(width: u16, height: u16) -> Vec<u8> {
        let mut content = encode(&gradient(16, 16), ImageFormat::Jpeg);
        let frame = content.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap();
        content[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
        content[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
        content
    }

    fn png_header(width: u32, height: u32, depth: u8, color: u8) -> Vec<u8> {
        let chunk = |kind: &[u8], body: &[u8]| {
            let checked = [kind, body].concat();
            let checksum = checked.iter().fold(u32::MAX, |sum, byte| {
                (0..8)
                    .fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 })
            });
            let length = u32::try_from(body.len()).unwrap().to_be_bytes();
            [&length, checked.as_slice(), &(!checksum).to_be_bytes()].concat()
        };
        let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, color, 0, 0, 0]].concat();
        [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &header), chunk(b"IDAT", &[0; 10_000])].concat()
    }

    fn gif_of(width: u16, height: u16, global_palette: &[u8], frames: &[Frame<'_>]) -> Vec<u8> {
        let mut encoder = Encoder::new(Vec::new(), width, height, global_palette).unwrap();
        encoder.set_repeat(Repeat::Finite(7)).unwrap();
        encoder.write_raw_extension(AnyExtension(0xFE), &[b"SECRET comment"]).unwrap();
        for frame in frames {
            encoder.write_frame(frame).unwrap();
        }
        encoder.into_inner().unwrap()
    }

    fn frame(left: u16, top: u16, width: u16, height: u16, index: u8) -> Frame<'static> {
        let buffer = vec![index; usize::from(width) * usize::from(height)].into();
        Frame { left, top, width, height, buffer, delay: 5, ..Frame::default() }
    }

    const COLOURS: [u8; 12] = [0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255];

    /// Two frames with palettes, transparency and disposal.
    fn animation() -> Vec<u8> {
        let local = Frame {
            palette: Some(vec![9, 9, 9, 200, 100, 50]),
            transparent: Some(1),
            dispose: DisposalMethod::Background,
            delay: 33,
            ..frame(10, 5, 20, 10, 1)
        };
        gif_of(60, 40, &COLOURS, &[frame(0, 0, 60, 40, 2), local, frame(5, 5, 1, 1, 3)])
    }

    fn frames(content: &[u8]) -> (Vec<Frame<'static>>, Repeat) {
        let decoder = DecodeOptions::new().read_info(content).unwrap();
        let repeat = decoder.repeat();
        (decoder.into_iter().collect::<Result<_, _>>().unwrap(), repeat)
    }

    /// What a viewer shows after each frame: colours, or nothing where the canvas is transparent.
    fn shown_canvases(content: &[u8]) -> Vec<Vec<Option<[u8; 3]>>> {
        let decoder = DecodeOptions::new().read_info(content).unwrap();
        let (width, height) = (usize::from(decoder.width()), usize::from(decoder.height()));
        let global = decoder.global_palette().unwrap_or_default().to_vec();
        let mut canvas = vec![None; width * height];
        let mut shown = Vec::new();
        for frame in decoder {
            let frame = frame.unwrap();
            let before = canvas.clone();
            let at = |index: usize| {
                let (x, y) = (index % usize::from(frame.width), index / usize::from(frame.width));
                (y + usize::from(frame.top)) * width + x + usize::from(frame.left)
            };
            let palette = frame.palette.as_ref().unwrap_or(&global);
            for (index, pixel) in
                frame.buffer.iter().enumerate().filter(|(_, pixel)| frame.transparent != Some(**pixel))
            {
                canvas[at(index)] = Some(palette[usize::from(*pixel) * 3..][..3].try_into().unwrap());
            }
            shown.push(canvas.clone());
            match frame.dispose {
                DisposalMethod::Background => (0..frame.buffer.len()).for_each(|index| canvas[at(index)] = None),
                DisposalMethod::Previous => canvas = before,
                DisposalMethod::Any | DisposalMethod::Keep => {}
            }
        }
        shown
    }

    #[test]
    fn each_format_is_scaled_to_the_long_side() {
        for (format, result) in [
            (ImageFormat::Png, ImageFormat::Png),
            (ImageFormat::Jpeg, ImageFormat::Jpeg),
            (ImageFormat::WebP, ImageFormat::Jpeg),
            (ImageFormat::Gif, ImageFormat::Gif),
        ] {
            for (size, expected) in
                [((100, 50), (20, 10)), ((30, 90), (7, 20)), ((25, 25), (20, 20)), ((90, 1), (20, 1))]
            {
                let (scaled, _) = scaled(&encode(&gradient(size.0, size.1), format), &SMALL);
                assert_eq!((scaled.format, (scaled.width, scaled.height)), (result, expected), "{format:?} {size:?}");
            }
        }
    }

    #[test]
    fn small_pictures_are_not_scaled_up() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif] {
            let (scaled, _) = scaled(&encode(&gradient(20, 3), format), &SMALL);
            assert_eq!((scaled.width, scaled.height), (20, 3));
        }
    }

    #[test]
    fn a_limit_of_nothing_still_gives_a_pixel() {
        let limits = Limits { max_side: 0, max_frames: 0, ..Limits::default() };
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif] {
            let (scaled, _) = scaled(&encode(&gradient(30, 20), format), &limits);
            assert_eq!((scaled.width, scaled.height), (1, 1));
        }
    }

    #[test]
    fn pixels_of_an_unscaled_png_stay() {
        let picture = gradient(64, 48);
        assert_eq!(scaled(&encode(&picture, ImageFormat::Png), &Limits::default()).1, picture);
    }

    #[test]
    fn scaled_colours_are_right() {
        for (width, height) in [(30, 10), (64, 64), (999, 50)] {
            for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
                let picture = scaled(&encode(&halves(width, height), format), &SMALL).1.into_rgb8();
                let (left, right) = (picture.get_pixel(3, 0).0, picture.get_pixel(16, 0).0);
                assert!(left[0] > 240 && left[2] < 15 && right[0] < 15 && right[2] > 240, "{left:?} {right:?}");
            }
        }
    }

    #[test]
    fn kinds_of_png_stay_but_become_8_bit() {
        let gray = GrayImage::from_pixel(50, 50, Luma([77]));
        let gray_alpha = GrayAlphaImage::from_pixel(50, 50, LumaA([77, 100]));
        let gray_16 = ImageBuffer::<Luma<u16>, _>::from_pixel(50, 50, Luma([77 * 257]));
        let color_16 = ImageBuffer::<Rgba<u16>, _>::from_pixel(50, 50, Rgba([77 * 257, 0, 0, 100 * 257]));
        let kind = |picture: DynamicImage| scaled(&encode(&picture, ImageFormat::Png), &SMALL).1;
        assert_eq!(kind(gray.into()), GrayImage::from_pixel(20, 20, Luma([77])).into());
        assert_eq!(kind(gray_alpha.into()), GrayAlphaImage::from_pixel(20, 20, LumaA([77, 100])).into());
        assert_eq!(kind(gray_16.into()), GrayImage::from_pixel(20, 20, Luma([77])).into());
        assert_eq!(kind(color_16.into()), RgbaImage::from_pixel(20, 20, Rgba([77, 0, 0, 100])).into());
    }

    #[test]
    fn a_gray_jpeg_stays_gray() {
        let picture: DynamicImage = GrayImage::from_pixel(50, 50, Luma([77])).into();
        assert!(!scaled(&encode(&picture, ImageFormat::Jpeg), &SMALL).1.color().has_color());
    }

    #[test]
    fn invisible_colours_do_not_bleed() {
        let picture =
            RgbaImage::from_fn(90, 90, |x, _| if x < 47 { Rgba([255, 255, 255, 0]) } else { Rgba([0, 0, 0, 255]) });
        let scaled = scaled(&encode(&picture.into(), ImageFormat::Png), &SMALL).1.into_rgba8();
        assert!(scaled.pixels().any(|pixel| (1..255).contains(&pixel.0[3])));
        assert!(scaled.pixels().all(|pixel| pixel.0[..3] == [0, 0, 0]));
    }

    #[test]
    fn what_was_erased_is_gone() {
        let picture = |color| RgbaImage::from_fn(20, 20, |x, _| Rgba(if x < 9 { color } else { [9, 9, 9, 1] })).into();
        let shown = scaled(&encode(&picture([200, 100, 50, 0]), ImageFormat::Png), &SMALL).1;
        assert_eq!(shown, picture([0, 0, 0, 0]));
    }

    #[test]
    fn a_transparent_webp_becomes_a_png_and_an_opaque_one_a_jpeg() {
        let mut picture = RgbaImage::from_pixel(30, 30, Rgba([10, 20, 30, 255]));
        let of = |picture: &RgbaImage, limits: &Limits| {
            let mut content = Vec::new();
            let encoder = WebPEncoder::new_lossless(&mut content);
            encoder.encode(picture, 30, 30, ExtendedColorType::Rgba8).unwrap();
            scaled(&content, limits)
        };
        assert_eq!(of(&picture, &Limits::default()).0.format, ImageFormat::Jpeg);
        assert_eq!(of(&picture, &SMALL).0.format, ImageFormat::Jpeg);
        picture.put_pixel(7, 7, Rgba([10, 20, 30, 100]));
        let (result, shown) = of(&picture, &Limits::default());
        assert_eq!((result.format, shown.into_rgba8()), (ImageFormat::Png, picture));
    }

    #[test]
    fn a_camera_position_is_gone_and_the_picture_upright() {
        let sideways = halves(40, 20);
        for content in [jpeg_with(&sideways, &[], &exif(6)), png_with(&sideways, &[], &exif(6))] {
            assert!(contains(&content, b"LATITUDE47N"));
            let (scaled, shown) = scaled(&content, &SMALL);
            assert!(!contains(&scaled.content, b"LATITUDE") && !contains(&scaled.content, b"Exif"));
            assert_eq!((scaled.width, scaled.height), (10, 20));
            let (top, bottom) = (shown.to_rgb8().get_pixel(5, 3).0, shown.to_rgb8().get_pixel(5, 16).0);
            assert!(top[0] > 200 && bottom[2] > 200, "{top:?} {bottom:?}");
        }
    }

    #[test]
    fn a_webp_is_upright_too_and_loses_what_follows_it() {
        let mut plain = encode(&halves(40, 20), ImageFormat::WebP).split_off(12);
        plain.extend(chunk(*b"EXIF", &exif(6)));
        let mut content = webp_of(&[webp_header(0b1000, 40, 20), plain]);
        content.extend(b"what follows");
        let (scaled, _) = scaled(&content, &SMALL);
        assert_eq!((scaled.width, scaled.height), (10, 20));
        assert!(!contains(&scaled.content, b"LATITUDE"));
    }

    #[test]
    fn a_small_fitting_colour_profile_stays() {
        let kept = |content: &[u8]| {
            let scaled = scale(content, &SMALL).unwrap();
            match scaled.format {
                ImageFormat::Jpeg => JpegDecoder::new(Cursor::new(scaled.content)).unwrap().icc_profile().unwrap(),
                _ => PngDecoder::new(Cursor::new(scaled.content)).unwrap().icc_profile().unwrap(),
            }
        };
        let picture = gradient(40, 20);
        for with in [jpeg_with, png_with] {
            let profile_of = |space, length| kept(&with(&picture, &profile(space, length), &exif(1)));
            assert_eq!(profile_of(*b"RGB ", MAX_PROFILE), Some(profile(*b"RGB ", MAX_PROFILE)));
            assert_eq!(profile_of(*b"RGB ", MAX_PROFILE + 1), None);
            assert_eq!(profile_of(*b"CMYK", 500), None);
            assert_eq!(
                kept(&with(&picture, &[profile(*b"RGB ", 500)[..36].to_vec(), vec![0; 464]].concat(), &[])),
                None
            );
            let gray: DynamicImage = picture.to_luma8().into();
            assert_eq!(kept(&with(&gray, &profile(*b"GRAY", 500), &[])), Some(profile(*b"GRAY", 500)));
        }
        let plain = encode(&picture, ImageFormat::WebP).split_off(12);
        let webp = webp_of(&[webp_header(0b10_0000, 40, 20), chunk(*b"ICCP", &profile(*b"RGB ", 333)), plain]);
        assert_eq!(kept(&webp), Some(profile(*b"RGB ", 333)));
    }

    #[test]
    fn a_picture_bomb_is_refused_before_it_is_decoded() {
        let lossy = chunk(*b"VP8 ", &[&[0x10, 0, 0, 0x9D, 1, 0x2A], &[0xFF, 0x3F, 0xFF, 0x3F][..]].concat());
        let lossless = chunk(*b"VP8L", &[0x2F, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0, 0]);
        for content in [
            png_header(50_000, 50_000, 8, 2),
            png_header(0x7FFF_FFFF, 0x7FFF_FFFF, 16, 6),
            png_header(40_000_001, 1, 1, 0),
            jpeg_header(50_000, 50_000),
            gif_of(50_000, 50_000, &COLOURS, &[]),
            webp_of(std::slice::from_ref(&lossy)),
            webp_of(std::slice::from_ref(&lossless)),
            webp_of(&[webp_header(0, 1 << 24, 1 << 24), lossy.clone()]),
            webp_of(&[webp_header(0, 1, 1), lossy]),
            webp_of(&[webp_header(0, 1, 1), lossless]),
        ] {
            let start = Instant::now();
            assert_eq!(scale(&content, &Limits::default()), Err(PictureProblem::TooManyPixels));
            assert!(start.elapsed() < Duration::from_millis(100));
        }
    }

    #[test]
    fn deep_pixels_count_twice() {
        assert_eq!(scale(&png_header(5_000, 5_000, 16, 6), &Limits::default()), Err(PictureProblem::TooManyPixels));
        assert_eq!(scale(&png_header(5_000, 5_000, 8, 6), &Limits::default()), Err(PictureProblem::Unreadable));
    }

    #[test]
    fn the_limit_of_pixels_is_inclusive() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif] {
            let content = encode(&gradient(40, 30), format);
            let limits = |max_pixels| Limits { max_pixels, ..SMALL };
            assert!(scale(&content, &limits(1_200)).is_ok(), "{format:?}");
            assert_eq!(scale(&content, &limits(1_199)), Err(PictureProblem::TooManyPixels), "{format:?}");
        }
    }

    #[test]
    fn an_animated_webp_is_refused() {
        let still = encode(&gradient(8, 8), ImageFormat::WebP).split_off(12);
        let frame = chunk(*b"ANMF", &[&[0; 16], still.as_slice()].concat());
        let start = chunk(*b"ANIM", &[0; 6]);
        assert_eq!(
            scale(&webp_of(&[webp_header(2, 8, 8), start, frame.clone()]), &SMALL),
            Err(PictureProblem::Animated)
        );
        assert_eq!(scale(&webp_of(&[webp_header(0, 8, 8), still, frame]), &SMALL), Err(PictureProblem::Animated));
    }

    #[test]
    fn other_content_is_unreadable() {
        for content in
            [&b""[..], b"GIF89a", b"RIFF\xFF\xFF\xFF\xFFWEBP", b"\xFF\xD8\xFF", b"BM123456", b"<svg/>", b"II*\0"]
        {
            assert_eq!(scale(content, &Limits::default()), Err(PictureProblem::Unreadable));
        }
    }

    #[test]
    fn a_truncated_picture_is_unreadable() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let content = encode(&gradient(40, 30), format);
            let needed = content.len() - if format == ImageFormat::Png { 12 + 4 + 4 } else { 1 };
            for length in 0..needed {
                assert_eq!(scale(&content[..length], &SMALL), Err(PictureProblem::Unreadable), "{format:?} {length}");
            }
        }
    }

    #[test]
    fn a_truncated_gif_ends_after_its_last_whole_frame() {
        let content = animation();
        let mut counts: Vec<_> = (0..content.len())
            .map(|length| scale(&content[..length], &SMALL).map_or(0, |scaled| frames(&scaled.content).0.len()))
            .collect();
        assert!(counts.is_sorted());
        counts.dedup();
        assert_eq!(counts, [0, 1, 2, 3]);
    }

    #[test]
    fn an_unscaled_gif_keeps_its_frames_and_loses_its_comment() {
        let content = animation();
        let (scaled, _) = scaled(&content, &Limits::default());
        assert_eq!(shown_canvases(&scaled.content), shown_canvases(&content));
        let ((before, repeat), (after, kept_repeat)) = (frames(&content), frames(&scaled.content));
        assert_eq!((repeat, kept_repeat), (Repeat::Finite(7), Repeat::Finite(7)));
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(
                (before.delay, before.dispose, before.transparent),
                (after.delay, after.dispose, after.transparent)
            );
            assert_eq!((&before.palette, &before.buffer), (&after.palette, &after.buffer));
        }
        assert!(contains(&content, b"SECRET") && !contains(&scaled.content, b"SECRET"));
    }

    #[test]
    fn an_interlaced_gif_comes_out_right() {
        let rows: Vec<u8> = (0..9).collect();
        let order = [0, 8, 4, 2, 6, 1, 3, 5, 7];
        let stored: Vec<u8> = order.iter().flat_map(|row| [rows[*row]; 2]).collect();
        let palette: Vec<u8> = (0..27).collect();
        let interlaced = Frame { interlaced: true, buffer: stored.into(), ..frame(0, 0, 2, 9, 0) };
        let scaled = scale(&gif_of(2, 9, &palette, &[interlaced]), &Limits::default()).unwrap();
        let kept = frames(&scaled.content).0.remove(0);
        assert_eq!(kept.buffer, rows.iter().flat_map(|row| [*row; 2]).collect::<Vec<u8>>());
        assert!(!kept.interlaced);
    }

    #[test]
    fn a_broken_or_outlying_frame_ends_an_animation() {
        let (good, outside) = (frame(0, 0, 30, 30, 1), frame(25, 0, 10, 10, 2));
        let content = gif_of(30, 30, &COLOURS, &[good.clone(), outside.clone(), good.clone()]);
        assert_eq!(frames(&scale(&content, &SMALL).unwrap().content).0.len(), 1);
        assert_eq!(scale(&gif_of(30, 30, &COLOURS, &[outside, good]), &SMALL), Err(PictureProblem::Unreadable));
        assert_eq!(scale(&gif_of(30, 30, &COLOURS, &[]), &SMALL), Err(PictureProblem::Unreadable));
    }

    #[test]
    fn a_frame_that_falls_between_the_pixels_keeps_its_time() {
        let hidden = Frame { dispose: DisposalMethod::Background, ..frame(0, 0, 1, 1, 3) };
        let content = gif_of(90, 90, &COLOURS, &[frame(0, 0, 90, 90, 1), hidden, frame(0, 0, 90, 90, 2)]);
        let result = scale(&content, &SMALL).unwrap().content;
        assert_eq!(frames(&result).0.iter().map(|frame| frame.delay).collect::<Vec<_>>(), [5, 5, 5]);
        let shown = shown_canvases(&result);
        assert_eq!(shown[0], shown[1]);
    }

    #[test]
    fn an_animation_is_cut_to_its_limits() {
        let count = |content: &[u8], limits| frames(&scale(content, limits).unwrap().content).0.len();
        let many = gif_of(30, 30, &COLOURS, &vec![frame(0, 0, 30, 30, 1); 500]);
        assert_eq!(count(&many, &SMALL), 200);
        assert_eq!(count(&many, &Limits { max_frames: 3, ..SMALL }), 3);
        let large = gif_of(8_000, 5_000, &COLOURS, &vec![frame(0, 0, 1, 1, 1); 10]);
        assert_eq!(count(&large, &SMALL), 5);
    }

    #[test]
    fn a_line_of_pixels_can_be_scaled() {
        for content in [encode(&gradient(60_000, 1), ImageFormat::Png), encode(&gradient(1, 60_000), ImageFormat::Jpeg)]
        {
            let (scaled, _) = scaled(&content, &SMALL);
            assert_eq!(scaled.width.max(scaled.height), 20);
            assert_eq!(scaled.width.min(scaled.height), 1);
        }
    }

    fn samples() -> Vec<Vec<u8>> {
        let picture = gradient(33, 17);
        let mut transparent = picture.to_rgba8();
        transparent.put_pixel(3, 3, Rgba([1, 2, 3, 4]));
        let plain = encode(&picture, ImageFormat::WebP).split_off(12);
        vec![
            png_with(&picture, &profile(*b"RGB ", 200), &exif(5)),
            encode(&transparent.clone().into(), ImageFormat::Png),
            jpeg_with(&picture, &profile(*b"RGB ", 200), &exif(7)),
            encode(&picture.to_luma8().into(), ImageFormat::Jpeg),
            encode(&transparent.into(), ImageFormat::WebP),
            webp_of(&[webp_header(0b10_0000, 33, 17), chunk(*b"ICCP", &profile(*b"RGB ", 200)), plain]),
            animation(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn broken_content_never_panics(
            sample in 0..7_usize,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            header in prop::collection::vec((0..64_usize, any::<u8>()), 0..2),
            end in prop::option::of(any::<prop::sample::Index>()),
        ) {
            let mut content = samples().swap_remove(sample);
            for (place, byte) in changes {
                let place = place.index(content.len());
                content[place] = byte;
            }
            for (place, byte) in header {
                content[place] = byte;
            }
            if let Some(end) = end {
                content.truncate(end.index(content.len()));
            }
            let limits = Limits { max_pixels: 1_000_000, ..SMALL };
            if let Ok(scaled) = scale(&content, &limits) {
                prop_assert!(scaled.width.max(scaled.height) <= 20);
                prop_assert_eq!(
                    image::load_from_memory(&scaled.content).map(|picture| (picture.width(), picture.height())).ok(),
                    Some((scaled.width, scaled.height))
                );
            }
        }

        #[test]
        fn a_scaled_animation_shows_the_middles_of_its_pixels(
            (width, height) in (1..70_u16, 1..70_u16),
            rectangles in prop::collection::vec((any::<[u16; 4]>(), any::<u64>(), 0..4_u8, any::<bool>()), 1..6),
            max_side in 1..40_u32,
        ) {
            let drawn: Vec<_> = rectangles.iter().map(|([left, top, across, down], seed, dispose, transparent)| {
                let (left, top) = (left % width, top % height);
                let (across, down) = (1 + across % (width - left), 1 + down % (height - top));
                let pixel = |index: u64| seed.wrapping_mul(index * 2 + 1).to_be_bytes()[0] % 4;
                let buffer: Vec<u8> = (0..u64::from(across) * u64::from(down)).map(pixel).collect();
                Frame {
                    dispose: DisposalMethod::from_u8(*dispose).unwrap(),
                    transparent: transparent.then_some(2),
                    buffer: buffer.into(),
                    ..frame(left, top, across, down, 0)
                }
            }).collect();
            let content = gif_of(width, height, &COLOURS, &drawn);
            let scaled = scale(&content, &Limits { max_side, ..SMALL }).unwrap();
            let middle = |at: u32, of: u16, to: u32| usize::try_from((2 * at + 1) * u32::from(of) / (2 * to)).unwrap();
            let expected: Vec<Vec<_>> = shown_canvases(&content).iter().map(|canvas| {
                let at = |x, y| {
                    canvas[middle(y, height, scaled.height) * usize::from(width) + middle(x, width, scaled.width)]
                };
                (0..scaled.height).flat_map(|y| (0..scaled.width).map(move |x| at(x, y))).collect()
            }).collect();
            prop_assert_eq!(shown_canvases(&scaled.content), expected);
        }
    }
}
