//! Locates the bytes of a file, the target of a blob link.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::attachment::ContentHeaders;
use crate::model::id::{AttachmentId, WorkspaceId};
use crate::model::links::Links;
use crate::usecase::query::{Queries, Query};

/// How long the returned URL is valid.
const LIFE: Duration = Duration::from_secs(300);

/// Locates the bytes of a file. The result is a URL of the storage, or one of this service if the storage has no URLs.
#[derive(Debug, Clone)]
pub struct LocateFile {
    /// The id of the file.
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

    async fn execute(&self, workspace: WorkspaceId, ports: &Queries) -> Result<FileLocation, RoadmapError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::{MockBlobs, MockRoadmapReader};
    use crate::usecase::fixtures::{attachment, links};
    use crate::usecase::query::tests::run_query;

    fn locate(exists: bool, link: Option<&'static str>) -> Result<FileLocation, RoadmapError> {
        let mut reader = MockRoadmapReader::new();
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

    #[test]
    fn an_unknown_file_is_not_found() {
        assert_eq!(locate(false, None).unwrap_err().to_string(), "File does not exist.");
    }
}
