//! Exports: everything of a workspace as one zip.
//!
//! - [`archive`]: writes entries and the manifest.
//! - [`tables`]: the files for spreadsheets.

pub(crate) mod archive;
pub(crate) mod tables;

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::Context;
use roadmap_domain::model::attachment::BlobKey;
use roadmap_domain::model::export::{
    ExportOptions, Exported, FORMAT, FORMAT_VERSION, Kind, MANIFEST, Person, Record, file_entry,
};
use roadmap_domain::model::id::AttachmentId;
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::policy::links::Links;
use roadmap_domain::policy::portable_links;
use roadmap_domain::ports::{Blobs, Snapshot};
use serde::{Deserialize, Serialize};

use archive::{Archive, Entry};
use tables::Tables;

/// What an archive says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: String,
    pub(crate) format_version: u32,
    /// The version of the program that has written it.
    pub(crate) version: String,
    pub(crate) created_at: String,
    pub(crate) workspace: ManifestWorkspace,
    pub(crate) options: ExportOptions,
    pub(crate) entries: Vec<Entry>,
}

/// Which workspace it is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestWorkspace {
    pub(crate) subdomain: String,
    pub(crate) product_name: String,
}

/// What an export is made of.
pub(crate) struct Export<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) links: &'a Links,
    pub(crate) blobs: &'a dyn Blobs,
    pub(crate) options: ExportOptions,
    pub(crate) created_at: String,
}

/// A written archive.
pub(crate) struct Written {
    pub(crate) entries: Vec<Entry>,
    /// The files whose content the storage does not have.
    pub(crate) missing: Vec<AttachmentId>,
}

impl Export<'_> {
    /// Writes the archive to a file. The files for spreadsheets grow in `folder` until their turn comes.
    ///
    /// # Errors
    /// A record or a file cannot be read, or the archive cannot be written.
    pub(crate) async fn write<W: Write + Seek>(
        &self,
        mut snapshot: Box<dyn Snapshot>,
        to: W,
        folder: &Path,
    ) -> anyhow::Result<Written> {
        let mut archive = Archive::new(to);
        let mut tables = Tables::new(folder)?;
        let (mut files, mut product_name) = (Vec::new(), String::new());
        let mut kinds = Kind::ALL.into_iter();
        let mut current = None;
        while let Some(page) = snapshot.next().await.context("the records cannot be read")? {
            for exported in page {
                let Some(exported) = self.prepare(exported) else { continue };
                while current != Some(exported.record.kind()) {
                    current = Some(kinds.next().context("the records are in another order than expected")?);
                    archive.next_kind(current)?;
                }
                match &exported.record {
                    Record::Attachment(attachment) => files.push(attachment.id),
                    Record::Workspace(workspace) => product_name.clone_from(&workspace.product_name),
                    _ => {}
                }
                archive.add_line(&exported.record)?;
                tables.add(&exported)?;
            }
        }
        for kind in kinds {
            archive.next_kind(Some(kind))?;
        }
        archive.next_kind(None)?;
        let mut missing = Vec::new();
        for id in files {
            if !self.add_file(&mut archive, id).await? {
                missing.push(id);
            }
        }
        for (name, records, mut rows) in tables.into_files()? {
            rows.seek(SeekFrom::Start(0))?;
            archive.begin(name, true)?;
            archive.copy(&mut rows)?;
            archive.end(records)?;
        }
        let workspace = ManifestWorkspace { subdomain: self.workspace.subdomain.as_str().to_owned(), product_name };
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created_at: self.created_at.clone(),
            workspace,
            options: self.options,
            entries: archive.entries().to_vec(),
        };
        archive.begin(MANIFEST, true)?;
        archive.write(&serde_json::to_vec_pretty(&manifest)?)?;
        archive.finish()?;
        Ok(Written { entries: manifest.entries, missing })
    }

    /// Returns a record as it is exported. `None`: it is not.
    fn prepare(&self, exported: Exported) -> Option<Exported> {
        let mut record = self.options.apply(exported.record)?;
        if let Some(html) = record.html_mut() {
            *html = portable_links::export(html, self.links).into_owned();
        }
        let author = if self.options.without_people { Person::default() } else { exported.author };
        Some(Exported { record, author, votes: exported.votes })
    }

    /// Adds the content of a file. Returns whether the storage has it.
    async fn add_file<W: Write + Seek>(&self, archive: &mut Archive<W>, id: AttachmentId) -> anyhow::Result<bool> {
        let failed = || format!("the file {id} cannot be read");
        let key = BlobKey { workspace: self.workspace.id, attachment: id };
        let Some(mut chunks) = self.blobs.read(key, None).await.with_context(failed)? else { return Ok(false) };
        // Most files are compressed already. A file of zeros would shrink so much that it looked like an attack.
        archive.begin(&file_entry(id), false)?;
        while let Some(chunk) = chunks.next().await.with_context(failed)? {
            archive.write(&chunk)?;
        }
        archive.end(1)?;
        Ok(true)
    }
}
