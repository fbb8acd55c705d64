//! Uploaded files: their metadata, their location and their bytes.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::attachment::{Attachment, ContentHeaders};
use crate::model::id::{AttachmentId, WorkspaceId};
use crate::policy::links::Links;
use crate::ports::{Blobs, Chunks};
use crate::usecase::query::{Query, QueryPorts};

/// How long the returned URL is valid.
const LIFE: Duration = Duration::from_secs(300);

/// Shows the metadata of a file.
#[derive(Debug, Clone, Copy)]
pub struct ShowAttachment {
    /// The file. `None` for an ID that no file can have.
    pub attachment: Option<AttachmentId>,
}

#[async_trait]
impl Query for ShowAttachment {
    type Output = Attachment;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Attachment, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::Attachment);
        let attachment = self.attachment.ok_or_else(missing)?;
        ports.reader.attachment(workspace, attachment).await?.ok_or_else(missing)
    }
}

/// Finds a file.
#[derive(Debug, Clone, Copy)]
pub struct FindFile {
    pub file: AttachmentId,
}

/// A file whose bytes can be read.
pub struct ReadableFile {
    /// The metadata of the file.
    pub attachment: Attachment,
    /// The headers with which the file is served.
    pub content_headers: ContentHeaders,
    blobs: Arc<dyn Blobs>,
}

impl ReadableFile {
    /// Returns a file with the storage of its bytes.
    pub(crate) fn new(attachment: Attachment, blobs: Arc<dyn Blobs>) -> Self {
        let content_headers = ContentHeaders::new(&attachment.media_type, &attachment.filename);
        Self { attachment, content_headers, blobs }
    }

    /// Reads the bytes of the file, or those of a range within it.
    ///
    /// # Errors
    /// The bytes are missing in the storage, or the storage fails.
    pub async fn read(&self, range: Option<Range<u64>>) -> Result<Box<dyn Chunks>, RoadmapError> {
        let chunks = self.blobs.read(self.attachment.key, range).await?;
        chunks.ok_or(RoadmapError::NotFound(Resource::File))
    }
}

#[async_trait]
impl Query for FindFile {
    type Output = ReadableFile;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ReadableFile, RoadmapError> {
        let file = match ports.reader.attachment(workspace, self.file).await? {
            Some(file) => file,
            None => ports.job_file(workspace, self.file).await?,
        };
        Ok(ReadableFile::new(file, ports.blobs.clone()))
    }
}

/// Locates the bytes of a file. The result is a URL of the storage, or one of this service if the storage has no URLs.
#[derive(Debug, Clone)]
pub struct LocateFile {
    pub file: AttachmentId,
    /// The links of the workspace.
    pub links: Links,
}

/// The temporary location of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocation {
    /// The headers with which the file is served.
    pub content_headers: ContentHeaders,
    /// The URL of its bytes.
    pub url: String,
}

#[async_trait]
impl Query for LocateFile {
    type Output = FileLocation;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<FileLocation, RoadmapError> {
        let attachment = ports.attachment(workspace, self.file).await?;
        let url = match ports.blobs.presigned_url(attachment.key, LIFE).await? {
            Some(url) => url,
            None => {
                let until = ports.clock.now().plus(LIFE.try_into().unwrap_or(time::Duration::ZERO));
                self.links.file(attachment.id, &attachment.filename, until)
            }
        };
        Ok(FileLocation { content_headers: ContentHeaders::new(&attachment.media_type, &attachment.filename), url })
    }
}

/// How long the URL of a file of an import or an export is valid (contract section 10).
const DOWNLOAD_LIFE: Duration = Duration::from_secs(900);

/// Locates the bytes of a file of an import or an export. The result is a URL that needs neither a key nor a sign-in.
#[derive(Debug, Clone)]
pub struct LocateJobFile<'a> {
    pub file: &'a Attachment,
    /// The links of the workspace.
    pub links: &'a Links,
}

#[async_trait]
impl Query for LocateJobFile<'_> {
    type Output = String;

    async fn execute(&self, _: WorkspaceId, ports: &QueryPorts) -> Result<String, RoadmapError> {
        Ok(match ports.blobs.presigned_url(self.file.key, DOWNLOAD_LIFE).await? {
            Some(url) => url,
            None => {
                let until = ports.clock.now().plus(DOWNLOAD_LIFE.try_into().unwrap_or(time::Duration::ZERO));
                self.links.file(self.file.id, &self.file.filename, until)
            }
        })
    }
}

/// Finds a file of an import or an export.
#[derive(Debug, Clone, Copy)]
pub struct FindJobFile {
    pub file: AttachmentId,
}

#[async_trait]
impl Query for FindJobFile {
    type Output = ReadableFile;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ReadableFile, RoadmapError> {
        Ok(ReadableFile::new(ports.job_file(workspace, self.file).await?, ports.blobs.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attachment::BlobKey;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::fixtures::{attachment, links, now};
    use crate::usecase::query::tests::run_query;
    use pollster::block_on;

    fn find(exists: bool, blobs: MockBlobs) -> Result<ReadableFile, RoadmapError> {
        let mut reader = MockReads::new();
        reader.expect_attachment().returning(move |_, _| Ok(exists.then(attachment)));
        reader.expect_job_file().returning(|_, _| Ok(None));
        run_query(reader, blobs, &FindFile { file: attachment().id })
    }

    #[test]
    fn a_file_without_a_row_or_without_bytes_does_not_exist() {
        let missing = "File does not exist.";
        assert_eq!(find(false, MockBlobs::new()).err().unwrap().to_string(), missing);
        let mut blobs = MockBlobs::new();
        let is_asked = |key: &BlobKey, range: &Option<Range<u64>>| *key == attachment().key && *range == Some(1..2);
        blobs.expect_read().withf(is_asked).times(1).returning(|_, _| Ok(None));
        let file = find(true, blobs).unwrap();
        assert_eq!((file.content_headers.inline, &file.attachment), (true, &attachment()));
        assert_eq!(block_on(file.read(Some(1..2))).err().unwrap().to_string(), missing);
    }

    fn locate(exists: bool, link: Option<&'static str>) -> Result<FileLocation, RoadmapError> {
        let mut reader = MockReads::new();
        reader.expect_attachment().returning(move |_, _| Ok(exists.then(attachment)));
        let mut blobs = MockBlobs::new();
        blobs
            .expect_presigned_url()
            .withf(|key, life| *key == attachment().key && *life == Duration::from_secs(300))
            .returning(move |_, _| Ok(link.map(str::to_owned)));
        run_query(reader, blobs, &LocateFile { file: attachment().id, links: links() })
    }

    #[test]
    fn a_file_is_located_at_the_presigned_url_of_its_storage() {
        let location = locate(true, Some("https://bucket.example/a")).unwrap();
        assert_eq!((location.url.as_str(), location.content_headers.inline), ("https://bucket.example/a", true));
    }

    #[test]
    fn a_file_is_located_at_the_service_without_a_presigned_url() {
        let url = locate(true, None).unwrap().url;
        let path = url.strip_prefix("https://acme.roadmap.example.com/files/").unwrap();
        assert!(path.ends_with("/a.png"), "{url}");
    }

    /// Import contract 10: the URL is valid for 15 minutes.
    #[test]
    fn a_file_of_a_job_is_located_for_fifteen_minutes() {
        let locate = |presigned: Option<&'static str>| {
            let mut blobs = MockBlobs::new();
            blobs
                .expect_presigned_url()
                .withf(|key, life| *key == attachment().key && *life == Duration::from_secs(900))
                .returning(move |_, _| Ok(presigned.map(str::to_owned)));
            run_query(MockReads::new(), blobs, &LocateJobFile { file: &attachment(), links: &links() }).unwrap()
        };
        assert_eq!(locate(Some("https://bucket.example/a")), "https://bucket.example/a");
        let (file, until) = (attachment(), now().plus(time::Duration::minutes(15)));
        assert_eq!(locate(None), links().file(file.id, &file.filename, until));
    }

    #[test]
    fn an_unknown_file_is_not_found() {
        assert_eq!(locate(false, None).unwrap_err().to_string(), "File does not exist.");
    }
}
