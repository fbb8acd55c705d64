//! The content of a file in UTF-8, whatever its encoding.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_8};

use crate::encoding::Detected;

/// Bytes that are read at a time.
const CHUNK: usize = 64 * 1024;
/// A byte that UTF-8 does not have, for what the encoding of the file does not have.
const MALFORMED: u8 = 0xff;

/// A reader of a file without its byte order mark. UTF-8 is as it is in the file, valid or not; other encodings become UTF-8.
pub(super) struct Utf8<R> {
    file: R,
    decoder: Option<Decoder>,
    decoded: Vec<u8>,
    /// How many of the decoded bytes were returned.
    start: usize,
    is_end: bool,
}

impl<R: Read> Utf8<R> {
    /// Skips the byte order mark.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn new(mut file: R, detected: Detected) -> io::Result<Self> {
        io::copy(&mut file.by_ref().take(detected.bom_length as u64), &mut io::sink())?;
        let encoding = detected.encoding;
        let decoder = (encoding != UTF_8).then(|| encoding.new_decoder_without_bom_handling());
        Ok(Self { file, decoder, decoded: Vec::new(), start: 0, is_end: false })
    }
}

impl<R: Read> Read for Utf8<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(decoder) = &mut self.decoder else { return self.file.read(buffer) };
        while self.start == self.decoded.len() && !self.is_end {
            let mut raw = Vec::with_capacity(CHUNK);
            self.file.by_ref().take(CHUNK as u64).read_to_end(&mut raw)?;
            self.is_end = raw.is_empty();
            self.start = 0;
            self.decoded.clear();
            decode(decoder, &raw, &mut self.decoded);
        }
        let length = self.decoded.get(self.start..).unwrap_or_default().read(buffer)?;
        self.start += length;
        Ok(length)
    }
}

/// Decodes the next bytes of a file. No bytes are its end.
fn decode(decoder: &mut Decoder, mut raw: &[u8], decoded: &mut Vec<u8>) {
    let is_end = raw.is_empty();
    loop {
        let start = decoded.len();
        let space = decoder.max_utf8_buffer_length_without_replacement(raw.len()).unwrap_or(CHUNK);
        decoded.resize(start + space, 0);
        let (result, read, written) =
            decoder.decode_to_utf8_without_replacement(raw, decoded.get_mut(start..).unwrap_or_default(), is_end);
        decoded.truncate(start + written);
        raw = raw.get(read..).unwrap_or_default();
        match result {
            DecoderResult::InputEmpty => return,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => decoded.push(MALFORMED),
        }
    }
}
