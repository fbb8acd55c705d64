//! Where a workspace's things are seen.

/// Makes URLs from the configured base and the stored subdomain, never from what a client sent.
#[derive(Debug, Clone)]
pub struct Links {
    base: String,
}

impl Links {
    /// Links below the workspace's base.
    pub(crate) fn of(base: String) -> Self {
        Self { base }
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
}
