//! Reads of the portal's pages. The files in the folder of this module have the statements of each kind of record.

mod account;
mod changelogs;
mod chosen;
mod held;
mod lists;
#[cfg(test)]
pub(super) mod plans;
mod requests;
pub(super) mod rows;
mod sessions;
mod tracks;

use async_trait::async_trait;
use diesel::prelude::OptionalExtension;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::{Queryable, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, Filename};
use roadmap_domain::model::changelog::CoverImage;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::feature_request::{FeatureRequestRef, RequestLink};
use roadmap_domain::model::id::{
    AttachmentId, ChangelogId, CustomerId, FeatureRequestId, SessionId, SignInId, WorkspaceId,
};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::{
    AccountLists, HeldPost, Portal, PortalFilter, PortalList, PortalRow, PublishedChangelog, RequestPage, SitemapEntry,
    Viewer,
};
use roadmap_domain::model::session::{SecretDigest, Session};
use roadmap_domain::model::setting::{Setting, WebsiteUrl};
use roadmap_domain::model::sign_in::SignIn;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::trending::Candidate;
use roadmap_domain::ports::PortalReader;

use crate::SqliteStore;
use crate::codec::{Id, timestamp};
use crate::portal_settings::{PortalSettingsRow, SettingsSql, portal_columns};
use crate::records::request_link;
use crate::statement::statement;

statement! {
    /// Selects the settings of a workspace and of its portal, and the name of the portal's logo.
    OnePortal { workspace: Id => Binary } -> (Text, Text, Nullable<SettingsSql>, Nullable<Text>),
    concat!(
        "SELECT settings.product_name, settings.website_url, ", portal_columns!(), ", logo.filename
         FROM settings
         LEFT JOIN portal_settings ON portal_settings.workspace_id = settings.workspace_id
         LEFT JOIN attachments logo ON logo.workspace_id = portal_settings.workspace_id
               AND logo.id = portal_settings.logo_attachment_id
         WHERE settings.workspace_id = ?"
    )
}

/// A row of [`OnePortal`].
#[derive(Debug, Queryable)]
struct PortalRowColumns {
    product_name: String,
    website_url: String,
    settings: Option<PortalSettingsRow>,
    logo: Option<String>,
}

impl PortalRowColumns {
    fn portal(self, workspace: Id) -> Result<Portal, StoreError> {
        let settings = self.settings.map(|row| row.settings(workspace)).transpose()?.unwrap_or_default();
        let logo = settings
            .logo
            .zip(self.logo)
            .map(|(attachment, filename)| CoverImage { attachment, filename: Filename::from_stored(filename) });
        let setting = Setting {
            product_name: Name::from_stored(self.product_name),
            website_url: WebsiteUrl::from_stored(self.website_url),
        };
        Ok(Portal { setting, settings, logo })
    }
}

statement! {
    /// Selects the public feature requests with tag numbers above one, in their order.
    Sitemap { workspace: Id => Binary, after: i64 => BigInt, limit: i64 => BigInt } -> (Binary, BigInt, Text, BigInt),
    "SELECT id, tag_number, title, updated_at FROM feature_requests
     WHERE workspace_id = ? AND tag_number > ? AND NOT private AND root_id IS NULL ORDER BY tag_number LIMIT ?"
}

statement! {
    /// Selects the highest tag number so far, if there is one.
    LastTagNumber { workspace: Id => Binary } -> BigInt,
    "SELECT last_tag_number FROM tag_counters WHERE workspace_id = ?"
}

fn sitemap_entry((id, tag_number, title, updated_at): (Id, i64, String, i64)) -> Result<SitemapEntry, StoreError> {
    let updated_at = timestamp(updated_at, "feature_requests", "updated_at", id)?;
    Ok(SitemapEntry { request: request_link((id, tag_number, title)), updated_at })
}

#[async_trait]
impl PortalReader for SqliteStore {
    async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Portal>, StoreError> {
        let workspace = Id(workspace.uuid());
        let find = OnePortal { workspace };
        let row: Option<PortalRowColumns> =
            self.readers.run(move |connection| Ok(find.get_result(connection).optional()?)).await?;
        row.map(|row| row.portal(workspace)).transpose()
    }

    async fn session(&self, workspace: WorkspaceId, digest: &SecretDigest) -> Result<Option<Session>, StoreError> {
        self.find_session(Id(workspace.uuid()), digest).await
    }

    async fn touch_session(&self, workspace: WorkspaceId, session: SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.save_use(Id(workspace.uuid()), Id(session.uuid()), at).await
    }

    async fn sign_in(&self, workspace: WorkspaceId, id: SignInId) -> Result<Option<SignIn>, StoreError> {
        self.find_sign_in(Id(workspace.uuid()), Id(id.uuid())).await
    }

    async fn sign_in_of_browser(
        &self,
        workspace: WorkspaceId,
        browser: &SecretDigest,
    ) -> Result<Option<SignIn>, StoreError> {
        self.find_latest_sign_in(Id(workspace.uuid()), browser).await
    }

    async fn portal_list(&self, workspace: WorkspaceId, list: &PortalList) -> Result<Listing<PortalRow>, StoreError> {
        self.list_portal(Id(workspace.uuid()), list).await
    }

    async fn trending_candidates(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        limit: u32,
    ) -> Result<Vec<Candidate>, StoreError> {
        self.list_trending(Id(workspace.uuid()), filter, limit).await
    }

    async fn portal_rows(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<PortalRow>, StoreError> {
        self.list_rows(Id(workspace.uuid()), requests).await
    }

    async fn matching(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        self.list_matching(Id(workspace.uuid()), filter, requests).await
    }

    async fn voted_among(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        self.list_voted_among(Id(workspace.uuid()), customer, requests).await
    }

    async fn request_page(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        viewer: Viewer,
        comments: Option<u64>,
    ) -> Result<Option<RequestPage>, StoreError> {
        self.find_request_page(Id(workspace.uuid()), *request, viewer, comments).await
    }

    async fn visible_request(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        viewer: Viewer,
    ) -> Result<Option<RequestLink>, StoreError> {
        self.find_visible(Id(workspace.uuid()), *request, viewer).await
    }

    async fn published_changelogs(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Listing<PublishedChangelog>, StoreError> {
        self.list_published(Id(workspace.uuid()), now, page).await
    }

    async fn published_changelog(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        now: Timestamp,
    ) -> Result<Option<PublishedChangelog>, StoreError> {
        self.find_published(Id(workspace.uuid()), Id(changelog.uuid()), now).await
    }

    async fn public_image(
        &self,
        workspace: WorkspaceId,
        image: AttachmentId,
        now: Timestamp,
    ) -> Result<Option<Attachment>, StoreError> {
        self.find_public_attachment(Id(workspace.uuid()), Id(image.uuid()), now).await
    }

    async fn account_lists(
        &self,
        workspace: WorkspaceId,
        email: &FoldedEmail,
        customer: Option<CustomerId>,
        limit: u32,
    ) -> Result<AccountLists, StoreError> {
        let customer = customer.map(|customer| Id(customer.uuid()));
        self.list_account(Id(workspace.uuid()), email, customer, limit).await
    }

    async fn sitemap(&self, workspace: WorkspaceId, after: i64, limit: u32) -> Result<Vec<SitemapEntry>, StoreError> {
        let sitemap = Sitemap { workspace: Id(workspace.uuid()), after, limit: i64::from(limit) };
        let rows: Vec<(Id, i64, String, i64)> =
            self.readers.run(move |connection| Ok(sitemap.load(connection)?)).await?;
        rows.into_iter().map(sitemap_entry).collect()
    }

    async fn last_tag_number(&self, workspace: WorkspaceId) -> Result<i64, StoreError> {
        let last = LastTagNumber { workspace: Id(workspace.uuid()) };
        let number: Option<i64> =
            self.readers.run(move |connection| Ok(last.get_result(connection).optional()?)).await?;
        Ok(number.unwrap_or(0))
    }

    async fn held_posts(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<HeldPost>, StoreError> {
        self.list_held(Id(workspace.uuid()), page).await
    }
}
