//! Media types of files, detected from their content.

use crate::model::attachment::Dimensions;

/// Number of bytes at the start of a file that detection needs.
pub const SNIFF_BYTES: usize = 4_096;

/// A media type (RFC 6838) without parameters, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType(String);

impl MediaType {
    /// Detects the type of a file from its first bytes: at least [`SNIFF_BYTES`], or all.
    ///
    /// The type declared by the client is used only when the content does not determine one.
    #[must_use]
    pub fn detect(head: &[u8], declared: Option<&str>) -> Self {
        if let Some(known) = infer::get(head) {
            return Self(known.mime_type().to_owned());
        }
        let declared = declared.and_then(Self::parse);
        if looks_like_markup(head) {
            // A declared markup type is more precise than detection. Any other declared type is wrong.
            return declared.filter(Self::is_markup).unwrap_or_else(|| Self("text/html".to_owned()));
        }
        declared.filter(|declared| !declared.is_inline()).unwrap_or_else(|| Self("application/octet-stream".to_owned()))
    }

    /// Parses `type/subtype` and drops parameters. Returns `None` for any other text.
    fn parse(raw: &str) -> Option<Self> {
        let essence = raw.split(';').next()?.trim().to_ascii_lowercase();
        let (kind, subtype) = essence.split_once('/')?;
        // RFC 6838 section 4.2.
        let is_name = |name: &str| {
            (1..=127).contains(&name.len())
                && name.starts_with(|first: char| first.is_ascii_alphanumeric())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
        };
        (is_name(kind) && is_name(subtype)).then_some(Self(essence))
    }

    /// Wraps a stored value, which is not validated again.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// Returns the type.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether browsers may show files of this type inline. True for raster images, which contain no scripts.
    #[must_use]
    pub fn is_inline(&self) -> bool {
        matches!(self.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp")
    }

    /// Whether browsers never execute files of this type, so that it is safe as a `Content-Type`.
    #[must_use]
    pub fn is_passive(&self) -> bool {
        let (kind, subtype) = self.0.split_once('/').unwrap_or_default();
        match kind {
            "audio" | "video" | "font" => !subtype.ends_with("xml"),
            "image" => !subtype.contains("svg") && !subtype.ends_with("xml"),
            "text" => matches!(subtype, "plain" | "csv"),
            "application" => {
                matches!(
                    subtype,
                    "zip"
                        | "gzip"
                        | "x-tar"
                        | "x-7z-compressed"
                        | "x-bzip2"
                        | "vnd.rar"
                        | "json"
                        | "rtf"
                        | "msword"
                        | "vnd.ms-excel"
                        | "vnd.ms-powerpoint"
                ) || subtype.starts_with("vnd.openxmlformats-officedocument.")
                    || subtype.starts_with("vnd.oasis.opendocument.")
            }
            _ => false,
        }
    }

    /// Whether browsers parse files of this type as markup.
    fn is_markup(&self) -> bool {
        self.0 == "text/html" || self.0.ends_with("/xml") || self.0.ends_with("+xml")
    }
}

/// Reads the dimensions of an image from the first bytes of its file.
#[must_use]
pub fn dimensions(media_type: &MediaType, head: &[u8]) -> Option<Dimensions> {
    if !media_type.as_str().starts_with("image/") {
        return None;
    }
    let size = imagesize::blob_size(head).ok()?;
    Some(Dimensions { width: u32::try_from(size.width).ok()?, height: u32::try_from(size.height).ok()? })
}

/// Whether text starts like markup, which browsers with content sniffing would treat as HTML or XML.
fn looks_like_markup(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let wide = |bytes: &[u8]| bytes.starts_with(b"<\0") || bytes.starts_with(b"\0<");
    match head {
        [0xff, 0xfe, rest @ ..] | [0xfe, 0xff, rest @ ..] => wide(rest),
        _ => head.trim_ascii_start().starts_with(b"<"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0";

    /// Decision 4.
    #[test]
    fn content_overrides_the_declared_media_type() {
        for (head, declared, is) in [
            (PNG, Some("text/html"), "image/png"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", None, "image/jpeg"),
            (b"GIF89a\x01\0\x01\0", None, "image/gif"),
            (b"%PDF-1.7", Some("image/png"), "application/pdf"),
            (b"<!DOCTYPE html><p>", Some("image/png"), "text/html"),
            (b"  <svg xmlns='http://www.w3.org/2000/svg'>", Some("image/svg+xml"), "image/svg+xml"),
            (b"<svg onload=alert(1)>", Some("image/png"), "text/html"),
            (b"<feed>", Some("text/html"), "text/html"),
            (b"<feed>", Some("application/xml"), "application/xml"),
            (b"<feed>", Some("application/atom+xml"), "application/atom+xml"),
            (b"\xef\xbb\xbf<script>", None, "text/html"),
            (b"\xff\xfe<\0s\0", Some("text/plain"), "text/html"),
            (b"a,b\n1,2", Some("text/csv; charset=utf-8"), "text/csv"),
            (b"a,b\n1,2", Some("image/png"), "application/octet-stream"),
            (b"a,b\n1,2", Some("nonsense"), "application/octet-stream"),
            (b"a,b\n1,2", Some("a/b\r\nX: y"), "application/octet-stream"),
            (b"", None, "application/octet-stream"),
        ] {
            assert_eq!(
                MediaType::detect(head, declared).as_str(),
                is,
                "{declared:?} {}",
                String::from_utf8_lossy(head)
            );
        }
    }

    /// Decision 4.
    #[test]
    fn only_raster_images_are_inline_and_only_passive_types_keep_their_content_type() {
        let of = |text: &str| MediaType::from_stored(text.to_owned());
        for name in ["image/png", "image/jpeg", "image/gif", "image/webp"] {
            assert!(of(name).is_inline() && of(name).is_passive(), "{name}");
        }
        for passive in [
            "text/plain",
            "text/csv",
            "video/mp4",
            "audio/mpeg",
            "application/zip",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.oasis.opendocument.text",
            "image/bmp",
        ] {
            assert!(!of(passive).is_inline() && of(passive).is_passive(), "{passive}");
        }
        for active in [
            "text/html",
            "application/xhtml+xml",
            "image/svg+xml",
            "image/svg",
            "image/x-drawing+xml",
            "text/xml",
            "application/xml",
            "text/javascript",
            "application/pdf",
            "application/javascript",
            "multipart/related",
            "message/rfc822",
            "text/css",
            "application/x-shockwave-flash",
        ] {
            assert!(!of(active).is_inline() && !of(active).is_passive(), "{active}");
        }
    }

    /// Decision 4.
    #[test]
    fn the_size_of_an_image_is_read_from_its_head() {
        let png = MediaType::detect(PNG, None);
        assert_eq!(dimensions(&png, PNG), Some(Dimensions { width: 640, height: 480 }));
        assert_eq!(dimensions(&png, PNG.get(..12).unwrap()), None);
        assert_eq!(dimensions(&MediaType::from_stored("text/plain".to_owned()), PNG), None);
    }
}
