//! Finds a file that the service serves itself.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::attachment::{Attachment, ContentHeaders};
use crate::model::id::{AttachmentId, WorkspaceId};
use crate::ports::{Blobs, Chunks};
use crate::usecase::query::{Queries, Query};

/// Finds a file.
#[derive(Debug, Clone, Copy)]
pub struct FindFile {
    /// The id of the file.
    pub file: AttachmentId,
}

/// A file whose bytes can be read.
pub struct FoundFile {
    /// The metadata of the file.
    pub attachment: Attachment,
    /// The headers with which the file is served.
    pub content_headers: ContentHeaders,
    blobs: Arc<dyn Blobs>,
}

impl FoundFile {
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
    type Output = FoundFile;

    async fn execute(&self, workspace: WorkspaceId, ports: &Queries) -> Result<FoundFile, RoadmapError> {
        let attachment = ports.attachment(workspace, self.file).await?;
        let content_headers = ContentHeaders::new(&attachment.media_type, &attachment.filename);
        Ok(FoundFile { attachment, content_headers, blobs: ports.blobs.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attachment::BlobKey;
    use crate::ports::mocks::{MockBlobs, MockRoadmapReader};
    use crate::usecase::fixtures::attachment;
    use crate::usecase::query::tests::run_query;
    use pollster::block_on;

    fn find(exists: bool, blobs: MockBlobs) -> Result<FoundFile, RoadmapError> {
        let mut reader = MockRoadmapReader::new();
        reader.expect_attachment().returning(move |_, _| Ok(exists.then(attachment)));
        run_query(reader, blobs, &FindFile { file: attachment().id })
    }

    #[test]
    fn a_file_without_a_row_or_without_bytes_does_not_exist() {
        let missing = "File does not exist.";
        assert_eq!(find(false, MockBlobs::new()).err().unwrap().to_string(), missing);
        let mut blobs = MockBlobs::new();
        let is_asked = |key: &BlobKey, range: &Option<Range<u64>>| *key == attachment().key && *range == Some(1..2);
        blobs.expect_read().withf(is_asked).times(1).returning(|_, _| Ok(None));
        let found = find(true, blobs).unwrap();
        assert_eq!((found.content_headers.inline, &found.attachment), (true, &attachment()));
        assert_eq!(block_on(found.read(Some(1..2))).err().unwrap().to_string(), missing);
    }
}
