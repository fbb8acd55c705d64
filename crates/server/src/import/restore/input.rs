//! The archive of an export.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use md5::Md5;
use roadmap_domain::model::attachment::{Attachment, Checksum, ContentHeaders, MAX_BYTES};
use roadmap_domain::model::export::{FORMAT, FORMAT_VERSION, Kind, MANIFEST, file_entry};
use roadmap_domain::model::id::AttachmentId;
use roadmap_domain::model::media_type::{MediaType, SNIFF_BYTES};
use roadmap_domain::ports::Blobs;
use roadmap_import::archive::{self, Input, Limits};
use roadmap_import::visible;
use sha2::{Digest, Sha256};

use crate::export::Manifest;

/// Most bytes of the manifest, which has a line for each of at most 100,000 entries.
const MAX_MANIFEST: u64 = 64 * 1024 * 1024;
/// Most bytes of a record.
const MAX_RECORD: u64 = 4 * 1024 * 1024;
/// How much of a file is read at a time.
const CHUNK: usize = 64 * 1024;

/// An archive whose entries are those of its manifest.
pub(crate) struct ExportArchive {
    inputs: BTreeMap<String, Input>,
    manifest: Manifest,
    /// Of the manifest, which has those of all entries.
    digest: String,
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl ExportArchive {
    /// Opens an archive, and compares all of it with its manifest.
    ///
    /// # Errors
    /// It cannot be read, is hostile, is no export or that of a newer version, or differs from its manifest.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let inputs = archive::open(path, &Limits::default())?;
        let inputs: BTreeMap<String, Input> =
            inputs.into_iter().map(|input| (input.name().to_owned(), input)).collect();
        let Some(manifest) = inputs.get(MANIFEST) else {
            bail!("{} is no export of a workspace: it has no {MANIFEST}", path.display());
        };
        let mut content = Vec::new();
        manifest.open()?.take(MAX_MANIFEST).read_to_end(&mut content)?;
        let digest = hex(&Sha256::digest(&content));
        let manifest: Manifest =
            serde_json::from_slice(&content).with_context(|| format!("{MANIFEST} is not that of an export"))?;
        ensure!(manifest.format == FORMAT, "{MANIFEST} is not that of an export");
        ensure!(
            manifest.format_version <= FORMAT_VERSION,
            "the export has the format {}, which a newer version has written; this one reads up to {FORMAT_VERSION}",
            manifest.format_version
        );
        let archive = Self { inputs, manifest, digest };
        archive.verify()?;
        Ok(archive)
    }

    fn verify(&self) -> anyhow::Result<()> {
        let listed: BTreeSet<&str> = self.manifest.entries.iter().map(|entry| entry.name.as_str()).collect();
        if let Some(unknown) = self.inputs.keys().find(|name| *name != MANIFEST && !listed.contains(name.as_str())) {
            bail!("the entry {} is not in the manifest", visible(unknown, 200));
        }
        // Exports of earlier versions have no links.
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Links) {
            ensure!(listed.contains(kind.file()), "the export has no {}", kind.file());
        }
        let mut buffer = vec![0; CHUNK];
        for entry in &self.manifest.entries {
            let name = visible(&entry.name, 200);
            let Some(input) = self.inputs.get(&entry.name) else {
                bail!("the entry {name} of the manifest is missing");
            };
            let (mut digest, mut reader) = (Sha256::new(), input.open()?);
            loop {
                let read = reader.read(&mut buffer).with_context(|| format!("the entry {name} cannot be read"))?;
                let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
                digest.update(bytes);
            }
            ensure!(
                hex(&digest.finalize()) == entry.sha256,
                "the entry {name} differs from the manifest: the export is damaged, or was changed"
            );
        }
        Ok(())
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the number of records of a kind, as the manifest says.
    pub(crate) fn len(&self, kind: Kind) -> u64 {
        let entries = &self.manifest.entries;
        entries.iter().find(|entry| entry.name == kind.file()).map_or(0, |entry| entry.records)
    }

    /// Whether the content of a file is there.
    pub(crate) fn has_file(&self, id: AttachmentId) -> bool {
        self.inputs.contains_key(&file_entry(id))
    }

    /// Returns the lines of a kind after the first ones.
    pub(crate) fn lines(&self, kind: Kind, skipped: u64) -> anyhow::Result<Lines> {
        let reader: Box<dyn Read + Send> = match self.inputs.get(kind.file()) {
            Some(input) => input.open()?,
            None => Box::new(std::io::empty()),
        };
        let mut lines = Lines { kind, reader: BufReader::new(reader), number: 0, limit: self.len(kind) };
        for _ in 0..skipped {
            lines.next_line()?;
        }
        Ok(lines)
    }

    /// Stores the content of a file. Returns the file with the type that the content has.
    pub(crate) async fn store_file(&self, blobs: &dyn Blobs, file: &Attachment) -> anyhow::Result<Attachment> {
        let name = file_entry(file.id);
        let input = self.inputs.get(&name).with_context(|| format!("the export has no {name}"))?;
        ensure!(input.size() <= MAX_BYTES, "{name} has more than 50 MB");
        let mut reader = input.open()?;
        let mut head = Vec::new();
        reader.by_ref().take(SNIFF_BYTES as u64).read_to_end(&mut head)?;
        let media_type = MediaType::detect(&head, Some(file.media_type.as_str()));
        let mut md5 = Md5::new();
        let mut upload = blobs.create(file.key, &ContentHeaders::new(&media_type, &file.filename)).await?;
        let mut chunk = head;
        let mut size = 0;
        while !chunk.is_empty() {
            md5.update(&chunk);
            size += chunk.len() as u64;
            upload.write(Bytes::from(chunk)).await?;
            chunk = Vec::with_capacity(CHUNK);
            reader.by_ref().take(CHUNK as u64).read_to_end(&mut chunk)?;
        }
        let checksum = Checksum(md5.finalize().into());
        if checksum != file.checksum || size != file.byte_size {
            upload.abort().await?;
            bail!("{name} is not the file that {} describes", Kind::Attachments.file());
        }
        upload.finish().await?;
        Ok(Attachment { media_type, service_name: blobs.service_name().to_owned(), ..file.clone() })
    }
}

/// The lines of a file of records.
pub(crate) struct Lines {
    kind: Kind,
    reader: BufReader<Box<dyn Read + Send>>,
    number: u64,
    limit: u64,
}

impl Lines {
    /// Returns the next line with its number.
    pub(crate) fn next_line(&mut self) -> anyhow::Result<Option<(u64, Vec<u8>)>> {
        let mut line = Vec::new();
        self.reader.by_ref().take(MAX_RECORD + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            ensure!(
                self.number == self.limit,
                "{} has another number of records than the manifest says",
                self.kind.file()
            );
            return Ok(None);
        }
        self.number += 1;
        ensure!(line.len() as u64 <= MAX_RECORD, "{}:{} has more than 4 MB", self.kind.file(), self.number);
        ensure!(self.number <= self.limit, "{} has another number of records than the manifest says", self.kind.file());
        Ok(Some((self.number, line)))
    }
}
