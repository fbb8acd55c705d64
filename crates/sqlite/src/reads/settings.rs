//! Settings and synonyms.

use async_trait::async_trait;
use diesel::Queryable;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{Binary, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::Filename;
use roadmap_domain::model::changelog::CoverImage;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::portal::Portal;
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::Setting;
use roadmap_domain::ports::SettingReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{PortalSettingsRow, SettingRow};

use crate::SqliteStore;
use crate::portal_settings::{SettingsSql, portal_columns};
use crate::schema::{settings, synonyms};
use crate::statement::statement;

statement! {
    /// Selects the settings of a workspace and of its portal, and the name of the portal's logo.
    OnePortal { workspace: Id => Binary } -> ((Text, Text), Nullable<SettingsSql>, Nullable<Text>),
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
pub(crate) struct PortalRowColumns {
    setting: SettingRow,
    settings: Option<PortalSettingsRow>,
    logo: Option<String>,
}

impl PortalRowColumns {
    pub(crate) fn portal(self, workspace: WorkspaceId) -> Result<Portal, StoreError> {
        let settings = self.settings.map(|row| row.into_settings(workspace)).transpose()?.unwrap_or_default();
        let logo = settings
            .logo
            .zip(self.logo)
            .map(|(attachment, filename)| CoverImage { attachment, filename: Filename::from_stored(filename) });
        Ok(Portal { setting: self.setting.into(), settings, logo })
    }
}

#[async_trait]
impl SettingReader for SqliteStore {
    async fn setting(&self, workspace: WorkspaceId) -> Result<Option<Setting>, StoreError> {
        let workspace = Id(workspace.uuid());
        let row: Option<SettingRow> = self
            .readers
            .run(move |connection| {
                Ok(settings::table
                    .filter(settings::workspace_id.eq(workspace))
                    .select((settings::product_name, settings::website_url))
                    .first(connection)
                    .optional()?)
            })
            .await?;
        Ok(row.map(Setting::from))
    }

    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Synonyms, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: Vec<(i32, String)> = self
            .readers
            .run(move |connection| {
                Ok(synonyms::table
                    .filter(synonyms::workspace_id.eq(workspace))
                    .order((synonyms::group_number, synonyms::position))
                    .select((synonyms::group_number, synonyms::phrase))
                    .load(connection)?)
            })
            .await?;
        Ok(Synonyms::from_stored(rows))
    }

    async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Portal>, StoreError> {
        let find = OnePortal { workspace: Id(workspace.uuid()) };
        let row: Option<PortalRowColumns> =
            self.readers.run(move |connection| Ok(find.get_result(connection).optional()?)).await?;
        row.map(|row| row.portal(workspace)).transpose()
    }
}
