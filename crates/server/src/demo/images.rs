//! The images of the demo: the logo of the product, and the covers of its changelogs.

use bytes::Bytes;
use md5::{Digest, Md5};
use roadmap_domain::model::attachment::{Attachment, BlobKey, Checksum, ContentHeaders, Filename};
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::media_type::{self, MediaType};
use roadmap_domain::ports::{Blobs, Clock, IdGenerator};

/// The file name of the logo.
pub(super) const LOGO: &str = "lumen-desk.png";

/// All images by their file names.
const IMAGES: [(&str, &[u8]); 8] = [
    (LOGO, include_bytes!("logo.png")),
    ("business-hours.webp", include_bytes!("covers/business-hours.webp")),
    ("chat.webp", include_bytes!("covers/chat.webp")),
    ("dark-mode.webp", include_bytes!("covers/dark-mode.webp")),
    ("export.webp", include_bytes!("covers/export.webp")),
    ("quiet-hours.webp", include_bytes!("covers/quiet-hours.webp")),
    ("undo-send.webp", include_bytes!("covers/undo-send.webp")),
    ("webhooks.webp", include_bytes!("covers/webhooks.webp")),
];

/// Stores the content of all images. Their rows are not stored yet: without them, the sweep deletes the content.
pub(super) async fn store(
    blobs: &dyn Blobs,
    workspace: WorkspaceId,
    ids: &dyn IdGenerator,
    clock: &dyn Clock,
) -> anyhow::Result<Vec<Attachment>> {
    let mut stored = Vec::new();
    for (name, bytes) in IMAGES {
        let now = clock.now();
        let id = AttachmentId::new(ids.next(now));
        let (key, filename) = (BlobKey { workspace, attachment: id }, Filename::sanitize(name));
        let media_type = MediaType::detect(bytes, None);
        let mut upload = blobs.create(key, &ContentHeaders::new(&media_type, &filename)).await?;
        upload.write(Bytes::from_static(bytes)).await?;
        upload.finish().await?;
        stored.push(Attachment {
            id,
            filename,
            byte_size: bytes.len() as u64,
            checksum: Checksum(Md5::digest(bytes).into()),
            key,
            service_name: blobs.service_name().to_owned(),
            dimensions: media_type::dimensions(&media_type, bytes),
            media_type,
            created_at: now,
        });
    }
    Ok(stored)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The file names of all images.
    pub(in super::super) fn names() -> Vec<&'static str> {
        IMAGES.map(|(name, _)| name).to_vec()
    }

    #[test]
    fn all_images_are_small_and_shown() {
        for (name, bytes) in IMAGES {
            let media_type = MediaType::detect(bytes, None);
            assert!(media_type.is_inline() && bytes.len() < 20_000, "{name}: {}", bytes.len());
            let dimensions = media_type::dimensions(&media_type, bytes).unwrap();
            let expected = if name == LOGO { (128, 128) } else { (1_280, 640) };
            assert_eq!((dimensions.width, dimensions.height), expected, "{name}");
        }
    }
}
