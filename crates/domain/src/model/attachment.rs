//! Attachments: uploaded files, contract section 2.7.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::model::id::{AttachmentId, WorkspaceId, parse_hyphenated_uuid};
use crate::model::media_type::MediaType;
use crate::model::text;
use crate::model::timestamp::Timestamp;

/// Maximum size of a file: 50 MB of 1024 × 1024 bytes.
pub const MAX_BYTES: u64 = 50 * 1024 * 1024;

/// The metadata of an uploaded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    pub id: AttachmentId,
    /// Sanitized name.
    pub filename: Filename,
    /// Media type, detected from the content.
    pub media_type: MediaType,
    /// Size in bytes.
    pub byte_size: u64,
    /// MD5 of the content.
    pub checksum: Checksum,
    pub key: BlobKey,
    /// Name of the storage that holds the blob.
    pub service_name: String,
    /// Width and height, if the file is an image whose first bytes contain them.
    pub dimensions: Option<Dimensions>,
    /// Timestamp of the upload.
    pub created_at: Timestamp,
}

/// Width and height of an image, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    pub width: u32,
    pub height: u32,
}

impl Dimensions {
    /// Converts two stored columns. Returns `None` unless both are valid.
    #[must_use]
    pub fn from_stored(width: Option<i64>, height: Option<i64>) -> Option<Self> {
        Some(Self { width: u32::try_from(width?).ok()?, height: u32::try_from(height?).ok()? })
    }
}

/// An MD5 checksum (RFC 1321). It detects transmission errors but not forgery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum(pub [u8; 16]);

impl std::fmt::Display for Checksum {
    /// Formats as Base64 with padding (RFC 4648 section 4), as in `Content-MD5`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

/// The key of an attachment's blob. It consists of IDs and never contains a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlobKey {
    /// The workspace of the attachment.
    pub workspace: WorkspaceId,
    pub attachment: AttachmentId,
}

impl BlobKey {
    /// Parses a key as formatted by [`std::fmt::Display`]. Returns `None` for any other text.
    #[must_use]
    pub fn parse(raw: &str) -> Option<Self> {
        let (workspace, attachment) = raw.split_once('/')?;
        let key = Self {
            workspace: WorkspaceId::new(parse_hyphenated_uuid(workspace)?),
            attachment: AttachmentId::new(parse_hyphenated_uuid(attachment)?),
        };
        (key.to_string() == raw).then_some(key)
    }
}

impl std::fmt::Display for BlobKey {
    /// Formats as `<workspace>/<attachment>`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.workspace, self.attachment)
    }
}

/// An unused file whose row was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnusedAttachment {
    pub key: BlobKey,
    /// Size in bytes.
    pub byte_size: u64,
}

/// The response headers that describe a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentHeaders {
    /// `Content-Type`. Never a type that browsers execute.
    pub content_type: String,
    /// Whether browsers show the file inline instead of saving it.
    pub inline: bool,
    /// The file name for saving.
    pub filename: Filename,
}

impl ContentHeaders {
    /// Creates the headers of a file. Raster images are shown inline, and all other files are saved.
    ///
    /// Types that are not passive are sent as `application/octet-stream`.
    #[must_use]
    pub fn new(media_type: &MediaType, filename: &Filename) -> Self {
        let content_type = if media_type.is_passive() { media_type.as_str() } else { "application/octet-stream" };
        Self { content_type: content_type.to_owned(), inline: media_type.is_inline(), filename: filename.clone() }
    }

    /// Returns the value of `Content-Disposition` (RFC 6266).
    ///
    /// It contains the name in ASCII, and also the complete name (RFC 8187) when that differs.
    #[must_use]
    pub fn content_disposition(&self) -> String {
        let kind = if self.inline { "inline" } else { "attachment" };
        let name = self.filename.as_str();
        let plain = |character: char| character.is_ascii_graphic() && !matches!(character, '"' | '\\' | '%');
        let ascii: String = name.chars().map(|c| if plain(c) || c == ' ' { c } else { '_' }).collect();
        if ascii == name {
            format!("{kind}; filename=\"{ascii}\"")
        } else {
            format!("{kind}; filename=\"{ascii}\"; filename*=UTF-8''{}", self.filename.percent_encoded())
        }
    }
}

/// The characters to percent-encode: all except the unreserved ones of RFC 3986 section 2.3.
///
/// Path segments and extended header parameters (RFC 8187 section 3.2.1) both allow the unreserved characters.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A sanitized file name of 1 to 255 bytes: one line of visible text without a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filename(String);

impl Filename {
    /// Maximum number of bytes, which is the limit of common file systems.
    pub const MAX: usize = 255;

    /// Sanitizes a file name of a client. Truncation keeps the extension.
    #[must_use]
    pub fn sanitize(raw: &str) -> Self {
        let last = raw.rsplit(['/', '\\']).next().unwrap_or_default();
        let line = text::clean_line(last);
        let name = line.trim_matches(|character: char| character.is_whitespace() || character == '.');
        // Leading dots were trimmed: `.png` becomes `png`.
        Self(if name.is_empty() { "file".to_owned() } else { truncate_filename(name) })
    }

    /// Wraps a stored name, which is not sanitized again.
    #[must_use]
    pub fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name as a path segment of a URL.
    #[must_use]
    pub fn percent_encoded(&self) -> String {
        utf8_percent_encode(&self.0, RESERVED).to_string()
    }
}

/// Truncates a name to [`Filename::MAX`] bytes. Keeps the extension if it has at most 32 bytes with its dot.
fn truncate_filename(name: &str) -> String {
    if name.len() <= Filename::MAX {
        return name.to_owned();
    }
    let (stem, extension) = match name.rfind('.') {
        Some(dot) if name.len() - dot <= 32 => name.split_at(dot),
        _ => (name, ""),
    };
    let stem = stem.get(..stem.floor_char_boundary(Filename::MAX - extension.len())).unwrap_or_default();
    // Trims the end of the stem, as `sanitize` trims the end of a name.
    format!("{}{extension}", stem.trim_end_matches(|character: char| character.is_whitespace() || character == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    #[test]
    fn dimensions_are_restored_completely_or_not_at_all() {
        assert_eq!(Dimensions::from_stored(Some(640), Some(480)), Some(Dimensions { width: 640, height: 480 }));
        for (width, height) in [(None, Some(480)), (Some(640), None), (Some(-1), Some(480)), (Some(640), Some(1 << 32))]
        {
            assert_eq!(Dimensions::from_stored(width, height), None, "{width:?} x {height:?}");
        }
    }

    /// Decision 4: path parts and control characters are removed from `filename`.
    #[test]
    fn a_filename_loses_its_path_and_invisible_characters() {
        for (raw, name) in [
            ("report.pdf", "report.pdf"),
            ("C:\\Users\\ann\\report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("/", "file"),
            ("..", "file"),
            ("", "file"),
            (" . ", "file"),
            (".htaccess", "htaccess"),
            ("a\r\nSet-Cookie: x=1.png", "a Set-Cookie: x=1.png"),
            ("photo\u{202e}gnp.exe", "photognp.exe"),
            ("a\u{0}b\u{7f}.png", "ab.png"),
            ("Übersicht – 2026.png", "Übersicht – 2026.png"),
            ("日本語.txt", "日本語.txt"),
            ("a\u{200b}\u{feff}b", "ab"),
            ("name.", "name"),
        ] {
            assert_eq!(Filename::sanitize(raw).as_str(), name, "{raw:?}");
        }
    }

    /// Decision 4.
    #[test]
    fn a_long_filename_keeps_its_extension_and_whole_characters() {
        let name = Filename::sanitize(&format!("{}.jpeg", "ü".repeat(200)));
        assert!(name.as_str().len() <= 255 && name.as_str().ends_with("ü.jpeg"), "{name:?}");
        assert_eq!(name.as_str().len(), 255);
        let without = Filename::sanitize(&"a".repeat(300));
        assert_eq!(without.as_str(), "a".repeat(255));
        let long_extension = Filename::sanitize(&format!("a.{}", "b".repeat(300)));
        assert_eq!(long_extension.as_str().len(), 255);
    }

    /// Decision 4.
    #[test]
    fn nothing_can_be_injected_into_a_content_disposition() {
        let disposition = |name: &str, inline| {
            ContentHeaders { content_type: String::new(), inline, filename: Filename::sanitize(name) }
                .content_disposition()
        };
        assert_eq!(disposition("a b.png", true), "inline; filename=\"a b.png\"");
        assert_eq!(
            disposition("\"; filename=\"x.html", false),
            "attachment; filename=\"_; filename=_x.html\"; filename*=UTF-8''%22%3B%20filename%3D%22x.html"
        );
        assert_eq!(
            disposition("ü%41.txt", false),
            "attachment; filename=\"__41.txt\"; filename*=UTF-8''%C3%BC%2541.txt"
        );
    }

    /// Contract 2.7.
    #[test]
    fn a_blob_key_is_parsed_only_in_its_canonical_form() {
        let key = BlobKey {
            workspace: WorkspaceId::new(Uuid::from_u128(1)),
            attachment: AttachmentId::new(Uuid::from_u128(0xab)),
        };
        let text = key.to_string();
        assert_eq!(text, "00000000-0000-0000-0000-000000000001/00000000-0000-0000-0000-0000000000ab");
        assert_eq!(BlobKey::parse(&text), Some(key));
        for raw in ["", "a/b", &text.to_uppercase(), &format!("{text}/x"), &format!("{text}#1")] {
            assert_eq!(BlobKey::parse(raw), None, "{raw}");
        }
    }

    /// Contract 2.7.
    #[test]
    fn a_checksum_is_formatted_like_content_md5() {
        assert_eq!(Checksum([0; 16]).to_string(), "AAAAAAAAAAAAAAAAAAAAAA==");
    }

    #[test]
    fn a_filename_truncated_after_a_dot_does_not_end_with_it() {
        let name = Filename::sanitize(&format!("{}.{}", "a".repeat(254), "b".repeat(300)));
        assert_eq!(name.as_str(), "a".repeat(254));
    }

    /// Names of dangerous fragments: paths, control, directional and invisible characters, dots and white space.
    fn hostile_name() -> impl Strategy<Value = String> {
        let fragments = [
            "/",
            "\\",
            "..",
            "../",
            "\r\n",
            "\0",
            "\u{7f}",
            "\u{85}",
            "\u{ad}",
            "\u{61c}",
            "\u{200b}",
            "\u{200f}",
            "\u{202e}",
            "\u{2028}",
            "\u{2066}",
            "\u{2069}",
            "\u{feff}",
            "\u{e0041}",
            ".",
            " ",
            "\u{a0}",
            "\u{3000}",
            "\"",
            "%2f",
            "ü",
            "😀",
        ];
        let piece = prop_oneof![
            prop::sample::select(fragments.to_vec()).prop_map(str::to_owned),
            any::<char>().prop_map(String::from),
            "[a-z0-9 .]{1,40}",
            "[aü.]{120,260}",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    /// Whether a character changes the direction of text (Unicode standard annex 9, table 4 and section 2).
    fn is_bidi_control(character: char) -> bool {
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_hostile_filename_is_safe_after_one_sanitization(raw in hostile_name()) {
            let name = Filename::sanitize(&raw);
            prop_assert!((1..=255).contains(&name.as_str().len()));
            prop_assert!(!name.as_str().contains(['/', '\\']), "{:?}", name);
            prop_assert!(!name.as_str().chars().any(|character| character.is_control() || is_bidi_control(character)), "{:?}", name);
            prop_assert!(!name.as_str().starts_with(['.', ' ']) && !name.as_str().ends_with(['.', ' ']), "{:?}", name);
            prop_assert_eq!(&Filename::sanitize(name.as_str()), &name);
        }
    }

    proptest! {
        /// Decision 4.
        #[test]
        fn any_filename_can_be_sent_and_saved(raw in "\\PC{0,300}|(?s).{0,300}") {
            let name = Filename::sanitize(&raw);
            prop_assert!((1..=255).contains(&name.as_str().len()));
            let broken = name.as_str().contains(['/', '\\', '\0', '\r', '\n', '\u{202e}']);
            prop_assert!(!broken, "{:?}", name);
            prop_assert_eq!(&Filename::sanitize(name.as_str()), &name);
            let disposition = ContentHeaders { content_type: String::new(), inline: false, filename: name }.content_disposition();
            prop_assert!(disposition.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
            prop_assert_eq!(disposition.matches('"').count(), 2);
        }
    }
}
