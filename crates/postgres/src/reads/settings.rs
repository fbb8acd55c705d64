//! Settings and synonyms.

use async_trait::async_trait;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::portal::Portal;
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::Setting;
use roadmap_domain::ports::SettingReader;
use roadmap_store::rows::{CoverRow, PortalSettingsRow, SettingRow};

use crate::PostgresReader;
use crate::rows::portal_columns;
use crate::schema::{attachments, portal_settings, settings, synonyms};
use crate::session::Session;

#[async_trait]
impl SettingReader for PostgresReader {
    async fn setting(&self, workspace: WorkspaceId) -> Result<Option<Setting>, StoreError> {
        let session = self.session(workspace).await?;
        let setting = settings::table
            .filter(settings::workspace_id.eq(workspace.uuid()))
            .select((settings::product_name, settings::website_url));
        let row: Option<SettingRow> = session.run_optional(setting.first(&mut session.connection()?)).await?;
        Ok(row.map(Setting::from))
    }

    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Synonyms, StoreError> {
        let session = self.session(workspace).await?;
        let phrases = synonyms::table
            .filter(synonyms::workspace_id.eq(workspace.uuid()))
            .order((synonyms::group_number, synonyms::position))
            .select((synonyms::group_number, synonyms::phrase));
        let rows: Vec<(i32, String)> = session.run(phrases.load(&mut session.connection()?)).await?;
        Ok(Synonyms::from_stored(rows))
    }

    async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Portal>, StoreError> {
        load_portal(&self.session(workspace).await?, workspace).await
    }
}

/// Returns the settings of a workspace and of its portal.
pub(super) async fn load_portal(session: &Session, workspace: WorkspaceId) -> Result<Option<Portal>, StoreError> {
    type Row = (SettingRow, Option<PortalSettingsRow>, Option<CoverRow>);
    let select = settings::table
        .left_join(portal_settings::table.on(portal_settings::workspace_id.eq(settings::workspace_id)))
        .left_join(
            attachments::table.on(attachments::workspace_id
                .eq(settings::workspace_id)
                .and(attachments::id.nullable().eq(portal_settings::logo_attachment_id))),
        )
        .filter(settings::workspace_id.eq(workspace.uuid()))
        .select((
            (settings::product_name, settings::website_url),
            portal_columns().nullable(),
            (attachments::id, attachments::filename).nullable(),
        ));
    let row: Option<Row> = session.run_optional(select.first(&mut session.connection()?)).await?;
    let Some((setting, stored, logo)) = row else { return Ok(None) };
    let settings = stored.map(|row| row.into_settings(workspace)).transpose()?.unwrap_or_default();
    Ok(Some(Portal { setting: setting.into(), settings, logo: logo.map(Into::into) }))
}
