//! Writes the zip of an export, entry by entry.

use std::io::{Read, Seek, Write};

use roadmap_domain::model::export::{Kind, Record};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An entry, as the manifest lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Lines of records, rows without the header, or one file.
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// An archive that is being written.
pub(crate) struct Archive<W: Write + Seek> {
    zip: ZipWriter<W>,
    entries: Vec<Entry>,
    /// Of the current entry.
    name: String,
    bytes: u64,
    digest: Sha256,
    /// The lines of the current kind of records.
    lines: Option<u64>,
}

impl<W: Write + Seek> Archive<W> {
    pub(crate) fn new(to: W) -> Self {
        let (zip, name, digest) = (ZipWriter::new(to), String::new(), Sha256::new());
        Self { zip, entries: Vec::new(), name, bytes: 0, digest, lines: None }
    }

    /// Begins an entry.
    pub(crate) fn begin(&mut self, name: &str, is_compressed: bool) -> anyhow::Result<()> {
        let method = if is_compressed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        // Whoever unpacks it owns what is in it. Larger entries than 4 GB need other headers from the beginning.
        let options = SimpleFileOptions::default().compression_method(method).large_file(true).unix_permissions(0o600);
        self.zip.start_file(name, options)?;
        (self.name, self.bytes, self.digest) = (name.to_owned(), 0, Sha256::new());
        Ok(())
    }

    /// Appends to the entry.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.zip.write_all(bytes)?;
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Appends all that is left of a file.
    pub(crate) fn copy(&mut self, from: &mut impl Read) -> anyhow::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = from.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
            self.write(bytes)?;
        }
    }

    /// Ends the entry, which has so many records.
    pub(crate) fn end(&mut self, records: u64) -> anyhow::Result<()> {
        let digest = std::mem::take(&mut self.digest).finalize();
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        self.entries.push(Entry { name: std::mem::take(&mut self.name), records, bytes: self.bytes, sha256 });
        Ok(())
    }

    /// Ends the current kind of records, and begins the next one, if there is one.
    pub(crate) fn next_kind(&mut self, kind: Option<Kind>) -> anyhow::Result<()> {
        if let Some(lines) = self.lines.take() {
            self.end(lines)?;
        }
        if let Some(kind) = kind {
            self.begin(kind.file(), true)?;
            self.lines = Some(0);
        }
        Ok(())
    }

    /// Adds a record of the current kind.
    pub(crate) fn add_line(&mut self, record: &Record) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.write(&line)?;
        self.lines = self.lines.map(|lines| lines + 1);
        Ok(())
    }

    /// The entries that have ended.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Completes the archive.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.zip.finish()?.flush()?;
        Ok(())
    }
}
