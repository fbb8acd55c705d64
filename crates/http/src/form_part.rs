//! The heads of the parts of a form with files (RFC 7578), as clients send them.
//!
//! The library refuses a form when the name of a file is not UTF-8 or its parameters are malformed. A file is worth more
//! than its name: here, a name is decoded as well as possible and never an error.

use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap, HeaderValue};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::{Encoding, WINDOWS_1252};
use percent_encoding::percent_decode;

/// What a part of a form is.
#[derive(Debug, PartialEq, Eq)]
pub struct FormPart {
    /// The name of the field.
    pub name: String,
    /// The name of the file, if the client declares one. It is not sanitized.
    pub filename: Option<String>,
}

impl FormPart {
    /// Parses the head of a part. Returns `None` unless it is of a form and has the name of a field.
    #[must_use]
    pub fn parse(head: &HeaderMap) -> Option<Self> {
        let disposition = head.get(CONTENT_DISPOSITION)?.as_bytes();
        let mut parts = split_at_semicolons(disposition).into_iter();
        parts.next().filter(|kind| kind.trim_ascii().eq_ignore_ascii_case(b"form-data"))?;
        let parameters: Vec<(String, Vec<u8>)> = parts.filter_map(parameter).collect();
        let value = |of: &str| parameters.iter().find(|(name, _)| name == of).map(|(_, value)| value.as_slice());
        let extended = value("filename*").and_then(decode_extended);
        let plain = || value("filename").map(|name| decode_words(&decode(name)));
        Some(Self { name: decode(value("name")?), filename: extended.or_else(plain) })
    }
}

/// Returns the headers with which the library reads a form and leaves the heads of its parts to [`FormPart::parse`]: it
/// requires them to be well-formed only in a `multipart/form-data`.
#[must_use]
pub fn lenient_headers(headers: &HeaderMap) -> HeaderMap {
    let declared = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let parameters = declared.iter().position(|byte| *byte == b';').and_then(|at| declared.get(at..));
    let content_type = [b"multipart/mixed", parameters.unwrap_or_default()].concat();
    let content_type = HeaderValue::from_bytes(&content_type).ok();
    content_type.map(|value| (CONTENT_TYPE, value)).into_iter().collect()
}

/// Splits a header at the semicolons that are not in quotes.
fn split_at_semicolons(header: &[u8]) -> Vec<&[u8]> {
    let (mut quoted, mut escaped) = (false, false);
    let is_separator = |byte: &u8| {
        let is_escaped = escaped;
        escaped = quoted && !is_escaped && *byte == b'\\';
        quoted ^= *byte == b'"' && !is_escaped;
        *byte == b';' && !quoted
    };
    header.split(is_separator).collect()
}

/// Returns the name of a parameter in lower case, and its value without quotes.
fn parameter(raw: &[u8]) -> Option<(String, Vec<u8>)> {
    let equals = raw.iter().position(|byte| *byte == b'=')?;
    let (name, value) = raw.split_at_checked(equals)?;
    let name = std::str::from_utf8(name).ok()?.trim().to_ascii_lowercase();
    let value = value.strip_prefix(b"=")?.trim_ascii();
    let Some(quoted) = value.strip_prefix(b"\"") else { return Some((name, value.to_vec())) };
    let mut text = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => break,
            // A backslash before anything else is one of a path.
            b'\\' => text.push(bytes.next_if(|next| matches!(next, b'"' | b'\\')).unwrap_or(byte)),
            _ => text.push(byte),
        }
    }
    Some((name, text))
}

/// Decodes UTF-8, or else Windows-1252, of which Latin-1 is a part.
fn decode(bytes: &[u8]) -> String {
    let utf8 = std::str::from_utf8(bytes).map(str::to_owned);
    utf8.unwrap_or_else(|_| WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned())
}

/// Decodes text in a named charset. Returns `None` if the charset is unknown.
fn decode_in(charset: &str, bytes: &[u8]) -> Option<String> {
    let encoding = Encoding::for_label(charset.trim().as_bytes())?;
    Some(encoding.decode_without_bom_handling(bytes).0.into_owned())
}

/// Decodes the value of an extended parameter (RFC 8187): `UTF-8'en'%c3%bc.txt`.
fn decode_extended(value: &[u8]) -> Option<String> {
    let mut parts = value.splitn(3, |byte| *byte == b'\'');
    let (charset, _language, text) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes: Vec<u8> = percent_decode(text).collect();
    decode_in(std::str::from_utf8(charset).ok()?, &bytes)
}

/// Decodes the encoded words of a text (RFC 2047): `=?utf-8?B?w7w=?=`. White space between two of them is not shown.
/// What is no encoded word stays as it is.
fn decode_words(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    let mut after_word = false;
    while let Some((before, candidate)) = rest.split_once("=?") {
        match encoded_word(candidate) {
            Some((word, behind)) => {
                let is_between = after_word && before.trim().is_empty();
                decoded.push_str(if is_between { "" } else { before });
                decoded.push_str(&word);
                (rest, after_word) = (behind, true);
            }
            None => {
                decoded.push_str(before);
                decoded.push_str("=?");
                (rest, after_word) = (candidate, false);
            }
        }
    }
    decoded + rest
}

/// Accepts Base64 with padding and without it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes the encoded word at the beginning of a text, without its `=?`. Returns what is behind it, too.
fn encoded_word(text: &str) -> Option<(String, &str)> {
    let (charset, rest) = text.split_once('?')?;
    let (encoding, rest) = rest.split_once('?')?;
    let (encoded, behind) = rest.split_once("?=")?;
    let bytes = match encoding {
        "B" | "b" => BASE64.decode(encoded).ok()?,
        // The bytes of `=C3=BC` and `%C3%BC` differ in one character only, and `%` itself has no meaning here.
        "Q" | "q" => {
            percent_decode(encoded.replace('%', "%25").replace('=', "%").replace('_', " ").as_bytes()).collect()
        }
        _ => return None,
    };
    // A language may follow the charset (RFC 2231).
    let charset = charset.split('*').next().unwrap_or_default();
    Some((decode_in(charset, &bytes)?, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(disposition: &[u8]) -> Option<FormPart> {
        let value = HeaderValue::from_bytes(disposition).unwrap();
        FormPart::parse(&HeaderMap::from_iter([(CONTENT_DISPOSITION, value)]))
    }

    /// Decision 4: names of files in any encoding are decoded, and refuse no file.
    #[test]
    fn the_name_of_a_file_is_decoded_and_never_an_error() {
        for (parameters, filename) in [
            (&b""[..], None),
            (b"; filename=\"a.txt\"", Some("a.txt")),
            (b"; filename=a.txt", Some("a.txt")),
            (b" ;FILENAME = \"a.txt\" ", Some("a.txt")),
            (b"; filename=\"\"", Some("")),
            (b"; filename=", Some("")),
            (b"; filename", None),
            (b"; filename=\"a;b=c.txt\"", Some("a;b=c.txt")),
            (b"; filename=\"a\\\".txt\"", Some("a\".txt")),
            (b"; filename=\"a\\\\\"; filename*=utf-8''b", Some("b")),
            (b"; filename=\"C:\\dir\\a.txt\"", Some("C:\\dir\\a.txt")),
            (b"; filename=\"C:\\\\dir\\\\a.txt\"", Some("C:\\dir\\a.txt")),
            (b"; filename=\"open", Some("open")),
            (b"; filename=\"a.txt\" junk", Some("a.txt")),
            // UTF-8, or else Windows-1252.
            ("; filename=\"grün.txt\"".as_bytes(), Some("grün.txt")),
            (b"; filename=\"gr\xfcn.txt\"", Some("grün.txt")),
            (b"; filename=\"5 \x80 \x93a\x94.txt\"", Some("5 € “a”.txt")),
            (b"; filename=gr\xfcn.txt", Some("grün.txt")),
            (b"; filename=\"\xc3\"", Some("Ã")),
            // Encoded words (RFC 2047).
            (b"; filename=\"=?utf-8?B?Z3LDvG4udHh0?=\"", Some("grün.txt")),
            (b"; filename==?utf-8?B?Z3LDvG4udHh0?=", Some("grün.txt")),
            (b"; filename=\"=?UTF-8?b?w7w?=\"", Some("ü")),
            (b"; filename=\"=?utf-8?Q?gr=C3=BCn_1%.txt?=\"", Some("grün 1%.txt")),
            (b"; filename=\"=?iso-8859-1?q?gr=FCn?=.txt\"", Some("grün.txt")),
            (b"; filename=\"=?utf-8*de?Q?gr=C3=BCn?=\"", Some("grün")),
            (b"; filename=\"=?utf-8?Q?a?= =?utf-8?Q?_b?= c\"", Some("a b c")),
            (b"; filename=\"=?gb18030?B?xOPK9Q==?=\"", Some("你术")),
            (b"; filename=\"=?utf-8?Q?=FF?=\"", Some("\u{fffd}")),
            (b"; filename=\"=?unknown?B?w7w=?=\"", Some("=?unknown?B?w7w=?=")),
            (b"; filename=\"=?utf-8?B?***?=\"", Some("=?utf-8?B?***?=")),
            (b"; filename=\"=?utf-8?X?a?=\"", Some("=?utf-8?X?a?=")),
            (b"; filename=\"=?utf-8?Q?a\"", Some("=?utf-8?Q?a")),
            (b"; filename=\"a=?b.txt\"", Some("a=?b.txt")),
            // Extended parameters (RFC 8187) have the unabridged name.
            (b"; filename=\"_.txt\"; filename*=UTF-8''%C3%BC.txt", Some("ü.txt")),
            (b"; filename*=utf-8'de'%c3%bc.txt; filename=\"_.txt\"", Some("ü.txt")),
            (b"; filename*=\"UTF-8''%C3%BC.txt\"", Some("ü.txt")),
            (b"; filename*=ISO-8859-1''%FC.txt", Some("ü.txt")),
            (b"; filename*=UTF-8''%FF", Some("\u{fffd}")),
            (b"; filename=\"a.txt\"; filename*=unknown''b", Some("a.txt")),
            (b"; filename=\"a.txt\"; filename*=b.txt", Some("a.txt")),
            (b"; filename*=b.txt", None),
        ] {
            let disposition = [b"form-data; name=\"file\"", parameters].concat();
            let part = parse(&disposition).unwrap_or_else(|| panic!("{}", decode(&disposition)));
            assert_eq!((part.name.as_str(), part.filename.as_deref()), ("file", filename), "{}", decode(&disposition));
        }
    }

    #[test]
    fn a_part_of_a_form_has_the_name_of_a_field() {
        for (disposition, name) in [
            (&b"form-data; name=\"file\""[..], Some("file")),
            (b"Form-Data;name=file", Some("file")),
            (b"form-data; filename=\"a\"; name=\"gr\xfcn\"", Some("grün")),
            (b"form-data", None),
            (b"form-data; filename=\"name=file\"", None),
            (b"attachment; name=\"file\"", None),
            (b"", None),
        ] {
            assert_eq!(parse(disposition).map(|part| part.name).as_deref(), name, "{}", decode(disposition));
        }
        assert_eq!(FormPart::parse(&HeaderMap::new()), None);
    }

    #[test]
    fn the_boundary_stays() {
        for (sent, expected) in [
            ("multipart/form-data; boundary=limit", "multipart/mixed; boundary=limit"),
            ("multipart/form-data", "multipart/mixed"),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(sent))]);
            assert_eq!(lenient_headers(&headers).get(CONTENT_TYPE).unwrap(), expected);
        }
    }
}
