//! The content of an entry of a zip, checked while it is read.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crc32fast::Hasher;
use flate2::bufread::DeflateDecoder;

use super::ArchiveError;

/// A part of a file, with a position of its own: parts of one file can be read at the same time.
#[derive(Debug, Clone)]
pub(super) struct Section {
    file: Arc<File>,
    start: u64,
    length: u64,
    position: u64,
}

impl Section {
    pub(super) fn new(file: Arc<File>, start: u64, length: u64) -> Self {
        Self { file, start, length, position: 0 }
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the position in the file after it.
    pub(super) fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let read = match buffer.get_mut(..wanted) {
            Some(buffer) if wanted > 0 => self.file.read_at(buffer, self.start.saturating_add(self.position))?,
            _ => 0,
        };
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for Section {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// How an entry is compressed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Method {
    Stored,
    Deflated,
}

/// An entry, as its archive describes it.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: Arc<str>,
    /// The compressed data.
    pub(super) section: Section,
    pub(super) method: Method,
    pub(super) size: u64,
    pub(super) crc: u32,
}

impl Entry {
    /// Opens the content. Its reader fails if size or checksum differ from those of the archive.
    pub(super) fn open(&self) -> EntryReader {
        let data = BufReader::new(self.section.clone());
        let decoder = match self.method {
            Method::Stored => Decoder::Stored(data),
            Method::Deflated => Decoder::Deflated(DeflateDecoder::new(data)),
        };
        EntryReader { decoder, entry: self.clone(), hasher: Hasher::new(), left: self.size }
    }

    /// Reads the whole content.
    ///
    /// # Errors
    /// The archive cannot be read, or the content is not what it says.
    pub(super) fn verify(&self) -> Result<(), ArchiveError> {
        match io::copy(&mut self.open(), &mut io::sink()) {
            Ok(_) => Ok(()),
            Err(error) => Err(error
                .downcast::<ArchiveError>()
                .unwrap_or_else(|source| ArchiveError::Unreadable { path: crate::visible(&self.name, 200), source })),
        }
    }
}

enum Decoder {
    Stored(BufReader<Section>),
    Deflated(DeflateDecoder<BufReader<Section>>),
}

impl Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stored(data) => data.read(buffer),
            Self::Deflated(data) => data.read(buffer),
        }
    }

    /// Returns how many bytes of compressed data the content took.
    fn consumed(&self) -> u64 {
        match self {
            Self::Stored(data) => data.get_ref().position - data.buffer().len() as u64,
            Self::Deflated(data) => data.total_in(),
        }
    }
}

/// A reader of the content of an entry that never returns more than the archive says.
pub(super) struct EntryReader {
    decoder: Decoder,
    entry: Entry,
    hasher: Hasher,
    /// Bytes that are still to come.
    left: u64,
}

impl EntryReader {
    fn read_checked(&mut self, buffer: &mut [u8]) -> Result<usize, io::Error> {
        let wanted = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let Some(buffer) = buffer.get_mut(..wanted).filter(|buffer| !buffer.is_empty()) else {
            return if self.left == 0 { self.check_end().map(|()| 0) } else { Ok(0) };
        };
        let read = self.decode(buffer)?;
        let (content, _) = buffer.split_at(read);
        if content.is_empty() {
            return Err(refusal(ArchiveError::size_differs(&self.entry.name)));
        }
        self.hasher.update(content);
        self.left -= read as u64;
        Ok(read)
    }

    fn decode(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                refusal(ArchiveError::corrupt(&self.entry.name))
            }
            _ => error,
        })
    }

    /// Checks that the content has ended, with all of its compressed data, and has the right checksum.
    fn check_end(&mut self) -> io::Result<()> {
        let more = self.decode(&mut [0])?;
        if more > 0 || self.decoder.consumed() != self.entry.section.length {
            return Err(refusal(ArchiveError::size_differs(&self.entry.name)));
        }
        if self.hasher.clone().finalize() != self.entry.crc {
            return Err(refusal(ArchiveError::checksum_differs(&self.entry.name)));
        }
        Ok(())
    }
}

impl Read for EntryReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_checked(buffer)
    }
}

fn refusal(error: ArchiveError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
