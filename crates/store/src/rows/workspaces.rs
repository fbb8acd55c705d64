//! Settings, changelogs, files and the storage usage of workspaces.

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Checksum, Dimensions, Filename};
use roadmap_domain::model::changelog::{Changelog, ChangelogCategory, CoverImage};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{AttachmentId, ChangelogId, WorkspaceId};
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::model::portal::{
    ChangelogLink, ChangelogNeighbours, Color, EmbedOrigin, Language, MailDomain, Noun, PortalAccess, PortalSettings,
    ShippedIn,
};
use roadmap_domain::model::setting::{Setting, WebsiteUrl};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::time_zone::TimeZone;
use roadmap_domain::model::usage::{StoredUsage, Usage};

use crate::columns::{Id, TextList, TimestampColumn, inconsistent, optional_timestamp};

/// The settings of a workspace.
#[derive(Debug, Queryable)]
pub struct SettingRow {
    product_name: String,
    website_url: String,
}

impl From<SettingRow> for Setting {
    fn from(row: SettingRow) -> Self {
        let product_name = Name::from_stored(row.product_name);
        Self { product_name, website_url: WebsiteUrl::from_stored(row.website_url) }
    }
}

/// The settings of a portal.
#[derive(Debug, Queryable)]
pub struct PortalSettingsRow {
    access: String,
    mail_domains: TextList,
    is_indexed: bool,
    embed_origins: TextList,
    languages: TextList,
    holds_posts: bool,
    accent: Option<String>,
    logo: Option<Id>,
    reply_to: Option<String>,
    time_zone: String,
    welcome_text: String,
    form_question: String,
    noun: String,
}

impl PortalSettingsRow {
    /// Converts the row of a workspace.
    ///
    /// # Errors
    /// The model does not have a value.
    pub fn into_settings(self, workspace: WorkspaceId) -> Result<PortalSettings, StoreError> {
        let broken = |column| inconsistent("portal_settings", column, workspace);
        let languages = self.languages.0.iter().map(|code| Language::from_code(code));
        let accent = self.accent.map(|accent| Color::from_hex(&accent).ok_or_else(|| broken("accent")));
        Ok(PortalSettings {
            access: PortalAccess::from_name(&self.access).ok_or_else(|| broken("access"))?,
            mail_domains: self.mail_domains.0.into_iter().map(MailDomain::from_stored).collect(),
            is_indexed: self.is_indexed,
            embed_origins: self.embed_origins.0.into_iter().map(EmbedOrigin::from_stored).collect(),
            languages: languages.collect::<Option<_>>().ok_or_else(|| broken("languages"))?,
            holds_posts: self.holds_posts,
            accent: accent.transpose()?,
            logo: self.logo.map(|logo| AttachmentId::new(logo.0)),
            reply_to: self.reply_to.map(EmailAddress::from_stored),
            time_zone: TimeZone::from_stored(&self.time_zone),
            welcome_text: Localized::from_stored(&self.welcome_text),
            form_question: Localized::from_stored(&self.form_question),
            noun: Noun::from_name(&self.noun).ok_or_else(|| broken("noun"))?,
        })
    }
}

/// A changelog before or after another one, and whether it is before.
pub type NeighbourRow = (Id, String, bool);

/// Returns the neighbours of a changelog.
#[must_use]
pub fn changelog_neighbours(rows: Vec<NeighbourRow>) -> ChangelogNeighbours {
    let mut neighbours = ChangelogNeighbours::default();
    for (id, title, is_older) in rows {
        let link = ChangelogLink { id: ChangelogId::new(id.0), title: Title::from_stored(title) };
        *(if is_older { &mut neighbours.older } else { &mut neighbours.newer }) = Some(link);
    }
    neighbours
}

/// The image of a changelog or a logo.
#[derive(Debug, Queryable)]
pub struct CoverRow {
    attachment: Id,
    filename: String,
}

impl From<CoverRow> for CoverImage {
    fn from(row: CoverRow) -> Self {
        Self { attachment: AttachmentId::new(row.attachment.0), filename: Filename::from_stored(row.filename) }
    }
}

/// A changelog.
#[derive(Debug, Queryable)]
pub struct ChangelogRow {
    pub id: Id,
    title: String,
    content: String,
    published_at: Option<TimestampColumn>,
    created_at: TimestampColumn,
    updated_at: TimestampColumn,
    category: Option<String>,
    cover: Option<CoverRow>,
}

impl TryFrom<ChangelogRow> for Changelog {
    type Error = StoreError;

    fn try_from(row: ChangelogRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: ChangelogId::new(row.id.0),
            title: Title::from_stored(row.title),
            content: CleanHtml::from_stored(row.content),
            category: row.category.as_deref().and_then(ChangelogCategory::from_name),
            cover: row.cover.map(Into::into),
            public_from: optional_timestamp(row.published_at, "changelogs", "published_at", row.id)?,
            created_at: row.created_at.into_timestamp("changelogs", "created_at", row.id)?,
            updated_at: row.updated_at.into_timestamp("changelogs", "updated_at", row.id)?,
        })
    }
}

/// An attachment.
#[derive(Debug, Queryable)]
pub struct AttachmentRow {
    id: Id,
    filename: String,
    content_type: String,
    byte_size: i64,
    checksum: Vec<u8>,
    key: String,
    service_name: String,
    width: Option<i64>,
    height: Option<i64>,
    created_at: TimestampColumn,
}

impl TryFrom<AttachmentRow> for Attachment {
    type Error = StoreError;

    fn try_from(row: AttachmentRow) -> Result<Self, StoreError> {
        let broken = |column| inconsistent("attachments", column, row.id);
        Ok(Self {
            id: AttachmentId::new(row.id.0),
            filename: Filename::from_stored(row.filename),
            media_type: MediaType::from_stored(row.content_type),
            byte_size: row.byte_size.unsigned_abs(),
            checksum: Checksum(row.checksum.try_into().map_err(|_| broken("checksum"))?),
            key: BlobKey::parse(&row.key).ok_or_else(|| broken("key"))?,
            service_name: row.service_name,
            dimensions: Dimensions::from_stored(row.width, row.height),
            created_at: row.created_at.into_timestamp("attachments", "created_at", row.id)?,
        })
    }
}

/// The storage usage of a workspace in bytes, and when it was counted last.
#[derive(Debug, Queryable)]
pub struct UsageRow {
    records: i64,
    files: i64,
    counted_at: Option<TimestampColumn>,
}

impl UsageRow {
    /// Converts the row of a workspace.
    ///
    /// # Errors
    /// The model cannot hold the timestamp.
    pub fn into_usage(self, workspace: WorkspaceId) -> Result<StoredUsage, StoreError> {
        let counted_at = optional_timestamp(self.counted_at, "workspace_usage", "counted_at", workspace)?;
        Ok(StoredUsage { usage: Usage { records: self.records, files: self.files }, counted_at })
    }
}
/// The changelog that a feature request was shipped with.
#[derive(Debug, Queryable)]
pub struct ShippedInRow {
    id: Id,
    title: String,
    published_at: TimestampColumn,
}

impl TryFrom<ShippedInRow> for ShippedIn {
    type Error = StoreError;

    fn try_from(row: ShippedInRow) -> Result<Self, StoreError> {
        Ok(Self {
            changelog: ChangelogId::new(row.id.0),
            title: Title::from_stored(row.title),
            published_at: row.published_at.into_timestamp("changelogs", "published_at", row.id)?,
        })
    }
}
