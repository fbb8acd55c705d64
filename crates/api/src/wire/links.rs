//! Where a workspace's things are seen.

use std::sync::Arc;

use roadmap_domain::model::attachment::Filename;
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::signed_reference::{Purpose, ReferenceSigner};

/// Makes URLs from the configured base and the stored subdomain, never from what a client sent.
#[derive(Debug, Clone)]
pub struct Links {
    base: String,
    workspace: WorkspaceId,
    references: Arc<ReferenceSigner>,
}

impl Links {
    /// Links below the workspace's base.
    pub(crate) fn new(base: String, workspace: WorkspaceId, references: Arc<ReferenceSigner>) -> Self {
        Self { base, workspace, references }
    }

    /// A feature request on the public roadmap.
    pub(crate) fn request(&self, slug: &str) -> String {
        format!("{}/feature_requests/{slug}", self.base)
    }

    /// A feature request in the admin panel.
    pub(crate) fn admin_request(&self, slug: &str) -> String {
        format!("{}/admin/feature_requests/{slug}", self.base)
    }

    /// A changelog in public.
    pub(crate) fn changelog(&self, id: &str) -> String {
        format!("{}/changelogs/{id}", self.base)
    }

    /// A changelog in the admin panel.
    pub(crate) fn admin_changelog(&self, id: &str) -> String {
        format!("{}/admin/changelogs/{id}", self.base)
    }

    /// A file, for ever.
    pub(crate) fn blob(&self, file: AttachmentId, filename: &Filename) -> String {
        format!("{}/blobs/{}/{}", self.base, self.signed_id(file), filename.percent_encoded())
    }

    /// The bytes of a file, for a while.
    pub(crate) fn file(&self, file: AttachmentId, filename: &Filename, until: Timestamp) -> String {
        let token = self.references.sign_with_expiry(Purpose::File, self.workspace, file.uuid(), until);
        format!("{}/files/{token}/{}", self.base, filename.percent_encoded())
    }

    /// A reference by which the workspace uses a file.
    pub(crate) fn signed_id(&self, file: AttachmentId) -> String {
        self.references.sign(Purpose::Blob, self.workspace, file.uuid())
    }

    /// A reference by which rich text has a file attached.
    pub(crate) fn attachable_id(&self, file: AttachmentId) -> String {
        self.references.sign(Purpose::Attachable, self.workspace, file.uuid())
    }
}
