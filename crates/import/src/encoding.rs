//! The encoding of a text file: found by its bytes, or given by the operator.

use std::io::{self, Read};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use thiserror::Error;

use crate::visible;

/// Bytes that are read at a time.
const CHUNK: usize = 64 * 1024;
/// Bytes at the beginning of a file that are searched for the NULs of UTF-16.
const SAMPLE: usize = 1024;

/// How the bytes of a file become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detected {
    /// The encoding.
    pub encoding: &'static Encoding,
    /// Bytes of the byte order mark at the beginning of the file: 0 without one.
    pub bom_length: usize,
    /// How the encoding was found.
    pub evidence: Evidence,
}

/// How an encoding was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// By a byte order mark.
    Bom,
    /// The operator has given it.
    Given,
    /// By NULs in every second byte.
    Nuls,
    /// The whole file is valid UTF-8.
    Valid,
    /// By nothing: the file is in no other encoding that can be detected. The operator should see a warning.
    Guessed,
}

/// A label that the Encoding Standard does not have.
#[derive(Debug, Error)]
#[error("`{label}` is no encoding: use a label such as utf-8, windows-1252 or utf-16le")]
pub struct UnknownLabel {
    label: String,
}

/// Finds the encoding that the operator has given with a WHATWG label, such as `latin1` or `shift_jis`.
///
/// # Errors
/// There is no such encoding, or it is one that hides all content (`replacement`).
pub fn from_label(label: &str) -> Result<&'static Encoding, UnknownLabel> {
    Encoding::for_label_no_replacement(label.as_bytes()).ok_or_else(|| UnknownLabel { label: visible(label, 80) })
}

/// Detects the encoding of a file. A byte order mark is stronger than a given encoding, as the Encoding Standard says.
///
/// Reads the whole file, unless its first bytes or `given` decide. Memory does not depend on the size of the file.
///
/// # Errors
/// The file cannot be read.
pub fn detect(mut file: impl Read, given: Option<&'static Encoding>) -> io::Result<Detected> {
    let mut bytes = Vec::with_capacity(CHUNK);
    file.by_ref().take(SAMPLE as u64).read_to_end(&mut bytes)?;
    if let Some((encoding, bom_length)) = Encoding::for_bom(&bytes) {
        return Ok(Detected { encoding, bom_length, evidence: Evidence::Bom });
    }
    let (encoding, evidence) = match given {
        Some(encoding) => (encoding, Evidence::Given),
        None => match utf_16_by_nuls(&bytes) {
            Some(encoding) => (encoding, Evidence::Nuls),
            None if is_utf_8(file, bytes)? => (UTF_8, Evidence::Valid),
            None => (WINDOWS_1252, Evidence::Guessed),
        },
    };
    Ok(Detected { encoding, bom_length: 0, evidence })
}

/// Returns the kind of UTF-16 of which at least half of the characters are Latin: their other byte is NUL.
fn utf_16_by_nuls(sample: &[u8]) -> Option<&'static Encoding> {
    let (pairs, _) = sample.as_chunks::<2>();
    let count = |index: usize| pairs.iter().filter(|pair| pair.get(index) == Some(&0)).count();
    let (first, second) = (count(0), count(1));
    // A few other characters have a NUL in the other half.
    let are_most = |nuls: usize, others: usize| nuls * 2 >= pairs.len() && nuls > others * 4;
    if are_most(second, first) {
        Some(UTF_16LE)
    } else if are_most(first, second) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Whether these bytes and the rest of the file are UTF-8.
fn is_utf_8(mut rest: impl Read, mut bytes: Vec<u8>) -> io::Result<bool> {
    loop {
        let valid = Encoding::utf8_valid_up_to(&bytes);
        // Only a character that the chunk cuts may be left.
        let is_cut = bytes.get(valid..).is_some_and(|tail| match std::str::from_utf8(tail) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none(),
        });
        if !is_cut {
            return Ok(false);
        }
        bytes.drain(..valid);
        let read = rest.by_ref().take(CHUNK as u64).read_to_end(&mut bytes)?;
        if read == 0 {
            return Ok(bytes.is_empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::SHIFT_JIS;
    use proptest::prelude::*;

    use super::*;

    /// A reader that returns a few bytes at a time.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(3);
            self.0.read(&mut buffer[..length])
        }
    }

    fn utf_16(text: &str, unit: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    fn detected(bytes: &[u8], given: Option<&'static Encoding>) -> (&'static str, usize, Evidence) {
        let found = detect(bytes, given).unwrap();
        assert_eq!(detect(Trickle(bytes), given).unwrap(), found);
        (found.encoding.name(), found.bom_length, found.evidence)
    }

    #[test]
    fn an_encoding_is_found_by_its_bytes() {
        let long = |end: &[u8]| [&b"x".repeat(CHUNK * 2 - 1), "ü".as_bytes(), &b"y".repeat(CHUNK)[..], end].concat();
        for (bytes, expected) in [
            (b"".to_vec(), ("UTF-8", 0, Evidence::Valid)),
            (b"title\nDark mode\n".to_vec(), ("UTF-8", 0, Evidence::Valid)),
            ("title\nÜber 😀\n".into(), ("UTF-8", 0, Evidence::Valid)),
            (long(b""), ("UTF-8", 0, Evidence::Valid)),
            (long("ü".as_bytes()), ("UTF-8", 0, Evidence::Valid)),
            (long(b"\xfc"), ("windows-1252", 0, Evidence::Guessed)),
            (long(b"\xc3"), ("windows-1252", 0, Evidence::Guessed)),
            (b"title\n\xdcber\n".to_vec(), ("windows-1252", 0, Evidence::Guessed)),
            (b"\xf0\x9f\x98".to_vec(), ("windows-1252", 0, Evidence::Guessed)),
            (b"\xed\xa0\x80".to_vec(), ("windows-1252", 0, Evidence::Guessed)),
            (b"\xef\xbb\xbftitle".to_vec(), ("UTF-8", 3, Evidence::Bom)),
            (b"\xef\xbb\xbf\xff".to_vec(), ("UTF-8", 3, Evidence::Bom)),
            (b"\xff\xfet\0".to_vec(), ("UTF-16LE", 2, Evidence::Bom)),
            (b"\xfe\xff\0t".to_vec(), ("UTF-16BE", 2, Evidence::Bom)),
            (utf_16("title\nÜber\n", u16::to_le_bytes), ("UTF-16LE", 0, Evidence::Nuls)),
            (utf_16("title\nÜber\n", u16::to_be_bytes), ("UTF-16BE", 0, Evidence::Nuls)),
            (utf_16("id,title\n1,тема\n", u16::to_le_bytes), ("UTF-16LE", 0, Evidence::Nuls)),
            (utf_16("id,title\n1,Ā 😀\n", u16::to_le_bytes), ("UTF-16LE", 0, Evidence::Nuls)),
            (utf_16("id,title\n1,Ā 😀\n", u16::to_be_bytes), ("UTF-16BE", 0, Evidence::Nuls)),
            // A NUL character does not make it UTF-16.
            (b"title\nDark\0mode\n".to_vec(), ("UTF-8", 0, Evidence::Valid)),
            (b"\0\0\0\0".to_vec(), ("UTF-8", 0, Evidence::Valid)),
        ] {
            assert_eq!(detected(&bytes, None), expected, "{:?}", &bytes[..bytes.len().min(20)]);
        }
    }

    #[test]
    fn a_given_encoding_is_used_unless_there_is_a_byte_order_mark() {
        assert_eq!(detected(b"title\n\xff", Some(UTF_8)), ("UTF-8", 0, Evidence::Given));
        assert_eq!(detected(b"t\0i\0", Some(SHIFT_JIS)), ("Shift_JIS", 0, Evidence::Given));
        assert_eq!(detected(b"\xef\xbb\xbftitle", Some(SHIFT_JIS)), ("UTF-8", 3, Evidence::Bom));
    }

    #[test]
    fn labels_are_those_of_the_encoding_standard() {
        for (label, name) in [
            ("utf-8", "UTF-8"),
            ("UTF8", "UTF-8"),
            (" latin1 ", "windows-1252"),
            ("utf-16", "UTF-16LE"),
            ("sjis", "Shift_JIS"),
        ] {
            assert_eq!(from_label(label).unwrap().name(), name);
        }
        for label in ["", "klingon\u{1b}", "iso-2022-kr"] {
            let shown = label.replace('\u{1b}', "\u{fffd}");
            assert_eq!(
                from_label(label).unwrap_err().to_string(),
                format!("`{shown}` is no encoding: use a label such as utf-8, windows-1252 or utf-16le")
            );
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk failed"))
            }
        }
        assert_eq!(detect(Broken, None).unwrap_err().to_string(), "disk failed");
        assert_eq!(detect(b"x".chain(Broken), None).unwrap_err().to_string(), "disk failed");
    }

    proptest! {
        #[test]
        fn valid_means_valid(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let (name, _, evidence) = detected(&bytes, None);
            if evidence == Evidence::Valid {
                prop_assert!(std::str::from_utf8(&bytes).is_ok());
            }
            prop_assert_eq!(evidence == Evidence::Guessed, name == "windows-1252");
        }
    }
}
