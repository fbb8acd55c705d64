//! Settings, synonyms and the settings of the portal.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::mail::SenderName;
use roadmap_domain::model::portal::{EmbedOrigin, MailDomain, PortalSettings};
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::Setting;
use roadmap_domain::ports::SettingWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::{PortalSettingsRow, SettingRow};

use crate::codec::json_texts;
use crate::errors::SqlError;
use crate::portal_settings::StoredSettings;
use crate::schema::{portal_settings, settings, synonyms};
use crate::unit::SqliteUnit;

fn save_settings(connection: &mut SqliteConnection, workspace: Id, settings: &PortalSettings) -> Result<(), SqlError> {
    let values = (
        portal_settings::access.eq(settings.access.name()),
        portal_settings::mail_domains.eq(json_texts(settings.mail_domains.iter().map(MailDomain::as_str))),
        portal_settings::is_indexed.eq(settings.is_indexed),
        portal_settings::embed_origins.eq(json_texts(settings.embed_origins.iter().map(EmbedOrigin::as_str))),
        portal_settings::languages.eq(json_texts(settings.languages.iter().map(|language| language.code()))),
        portal_settings::holds_posts.eq(settings.holds_posts),
        portal_settings::accent.eq(settings.accent.map(|accent| accent.to_string())),
        portal_settings::logo_attachment_id.eq(settings.logo.map(|logo| Id(logo.uuid()))),
        portal_settings::reply_to.eq(settings.reply_to.as_ref().map(EmailAddress::as_str)),
        portal_settings::time_zone.eq(settings.time_zone.name()),
        portal_settings::welcome_text.eq(settings.welcome_text.to_json()),
        portal_settings::form_question.eq(settings.form_question.to_json()),
        portal_settings::noun.eq(settings.noun.name()),
    );
    diesel::insert_into(portal_settings::table)
        .values((portal_settings::workspace_id.eq(workspace), values.clone()))
        .on_conflict(portal_settings::workspace_id)
        .do_update()
        .set(values)
        .execute(connection)?;
    Ok(())
}

#[async_trait]
impl SettingWrites for SqliteUnit {
    async fn load_setting(&mut self) -> Result<Setting, StoreError> {
        let row: SettingRow = self
            .run(|connection, workspace| {
                Ok(settings::table
                    .filter(settings::workspace_id.eq(workspace))
                    .select((settings::product_name, settings::website_url))
                    .first(connection)?)
            })
            .await?;
        Ok(row.into())
    }

    async fn save_setting(&mut self, setting: &Setting) -> Result<(), StoreError> {
        let setting = setting.clone();
        self.run(move |connection, workspace| {
            diesel::update(settings::table)
                .filter(settings::workspace_id.eq(workspace))
                .set((
                    settings::product_name.eq(setting.product_name.as_str()),
                    settings::website_url.eq(setting.website_url.as_str()),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn load_synonyms(&mut self) -> Result<Synonyms, StoreError> {
        let rows: Vec<(i32, String)> = self
            .run(move |connection, workspace| {
                Ok(synonyms::table
                    .filter(synonyms::workspace_id.eq(workspace))
                    .order((synonyms::group_number, synonyms::position))
                    .select((synonyms::group_number, synonyms::phrase))
                    .load(connection)?)
            })
            .await?;
        Ok(Synonyms::from_stored(rows))
    }

    async fn save_synonyms(&mut self, synonyms: &Synonyms) -> Result<(), StoreError> {
        let groups = synonyms.groups().to_vec();
        self.run(move |connection, workspace| {
            diesel::delete(synonyms::table).filter(synonyms::workspace_id.eq(workspace)).execute(connection)?;
            for (group_number, group) in (0_i32..).zip(&groups) {
                for (position, phrase) in (0_i32..).zip(group) {
                    diesel::insert_into(synonyms::table)
                        .values((
                            synonyms::workspace_id.eq(workspace),
                            synonyms::group_number.eq(group_number),
                            synonyms::position.eq(position),
                            synonyms::phrase.eq(phrase),
                        ))
                        .execute(connection)?;
                }
            }
            Ok(())
        })
        .await
    }

    async fn load_portal(&mut self) -> Result<PortalSettings, StoreError> {
        let (workspace, row): (Id, Option<PortalSettingsRow>) = self
            .run(|connection, workspace| {
                Ok((workspace, StoredSettings { workspace }.get_result(connection).optional()?))
            })
            .await?;
        row.map_or_else(|| Ok(PortalSettings::default()), |row| row.into_settings(WorkspaceId::new(workspace.0)))
    }

    async fn save_portal(&mut self, settings: &PortalSettings) -> Result<(), StoreError> {
        let settings = settings.clone();
        self.run(move |connection, workspace| save_settings(connection, workspace, &settings)).await
    }

    async fn replace_sender_name<'a>(
        &mut self,
        name: Option<&'a SenderName>,
    ) -> Result<Option<SenderName>, StoreError> {
        let name = name.map(|name| name.as_str().to_owned());
        let old: Option<String> = self
            .run(move |connection, workspace| {
                let row = settings::table.filter(settings::workspace_id.eq(workspace));
                let old = row.select(settings::sender_name).first(connection)?;
                diesel::update(row).set(settings::sender_name.eq(name)).execute(connection)?;
                Ok(old)
            })
            .await?;
        Ok(old.map(SenderName::from_stored))
    }
}
