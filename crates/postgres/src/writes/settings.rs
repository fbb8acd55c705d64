//! Settings, synonyms and the settings of the portal.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, Bool, Nullable, Text, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::mail::SenderName;
use roadmap_domain::model::portal::{EmbedOrigin, MailDomain, PortalSettings};
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::Setting;
use roadmap_domain::ports::SettingWrites;
use roadmap_store::rows::{PortalSettingsRow, SettingRow};
use uuid::Uuid;

use crate::rows::portal_columns;
use crate::schema::{portal_settings, settings, synonyms};
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Inserts or replaces the settings of the portal.
    SavePortal {
        workspace: Uuid => SqlUuid,
        access: String => Text,
        mail_domains: Vec<String> => Array<Text>,
        is_indexed: bool => Bool,
        embed_origins: Vec<String> => Array<Text>,
        languages: Vec<String> => Array<Text>,
        holds_posts: bool => Bool,
        accent: Option<String> => Nullable<Text>,
        logo: Option<Uuid> => Nullable<SqlUuid>,
        reply_to: Option<String> => Nullable<Text>,
        time_zone: &'static str => Text,
        welcome_text: String => Text,
        form_question: String => Text,
        noun: &'static str => Text,
    } -> Untyped,
    "INSERT INTO portal_settings
         (workspace_id, access, mail_domains, is_indexed, embed_origins, languages, holds_posts, accent,
          logo_attachment_id, reply_to, time_zone, welcome_text, form_question, noun)
     VALUES ({workspace}, {access}, {mail_domains}, {is_indexed}, {embed_origins}, {languages}, {holds_posts}, {accent},
             {logo}, {reply_to}, {time_zone}, {welcome_text}, {form_question}, {noun})
     ON CONFLICT (workspace_id) DO UPDATE
     SET access = excluded.access, mail_domains = excluded.mail_domains, is_indexed = excluded.is_indexed,
         embed_origins = excluded.embed_origins, languages = excluded.languages, holds_posts = excluded.holds_posts,
         accent = excluded.accent, logo_attachment_id = excluded.logo_attachment_id,
         reply_to = excluded.reply_to, time_zone = excluded.time_zone,
         welcome_text = excluded.welcome_text, form_question = excluded.form_question,
         noun = excluded.noun"
}

#[async_trait]
impl SettingWrites for PostgresUnit {
    async fn load_setting(&mut self) -> Result<Setting, StoreError> {
        let stored = settings::table
            .filter(settings::workspace_id.eq(self.workspace))
            .select((settings::product_name, settings::website_url))
            // No other unit may change the row until this one ends.
            .for_update();
        let row: SettingRow = self.run(stored.first(&mut self.connection()?)).await?;
        Ok(row.into())
    }

    async fn save_setting(&mut self, setting: &Setting) -> Result<(), StoreError> {
        let save = diesel::update(settings::table).filter(settings::workspace_id.eq(self.workspace)).set((
            settings::product_name.eq(setting.product_name.as_str()),
            settings::website_url.eq(setting.website_url.as_str()),
        ));
        self.run(save.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn load_synonyms(&mut self) -> Result<Synonyms, StoreError> {
        let phrases = synonyms::table
            .filter(synonyms::workspace_id.eq(self.workspace))
            .order((synonyms::group_number, synonyms::position))
            .select((synonyms::group_number, synonyms::phrase));
        let rows: Vec<(i32, String)> = self.run(phrases.load(&mut self.connection()?)).await?;
        Ok(Synonyms::from_stored(rows))
    }

    async fn save_synonyms(&mut self, synonyms: &Synonyms) -> Result<(), StoreError> {
        // The synonyms of concurrent units must not be mixed.
        let lock = settings::table
            .filter(settings::workspace_id.eq(self.workspace))
            .select(settings::workspace_id)
            .for_no_key_update();
        let _: Vec<Uuid> = self.run(lock.load(&mut self.connection()?)).await?;
        let delete = diesel::delete(synonyms::table).filter(synonyms::workspace_id.eq(self.workspace));
        self.run(delete.execute(&mut self.connection()?)).await?;
        let workspace = self.workspace;
        let rows: Vec<_> = (0_i32..)
            .zip(synonyms.groups())
            .flat_map(|(group_number, group)| {
                (0_i32..).zip(group).map(move |(position, phrase)| {
                    (
                        synonyms::workspace_id.eq(workspace),
                        synonyms::group_number.eq(group_number),
                        synonyms::position.eq(position),
                        synonyms::phrase.eq(phrase),
                    )
                })
            })
            .collect();
        let insert = diesel::insert_into(synonyms::table).values(&rows);
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    /// Locks the settings of the workspace, which always exist, with one statement and reads with the next, which sees
    /// the changes that the lock waited for.
    async fn load_portal(&mut self) -> Result<PortalSettings, StoreError> {
        let lock = settings::table
            .filter(settings::workspace_id.eq(self.workspace))
            .select(settings::workspace_id)
            .for_no_key_update();
        let _: Vec<Uuid> = self.run(lock.load(&mut self.connection()?)).await?;
        let stored =
            portal_settings::table.filter(portal_settings::workspace_id.eq(self.workspace)).select(portal_columns());
        let row: Option<PortalSettingsRow> = self.run_optional(stored.first(&mut self.connection()?)).await?;
        Ok(row.map(|row| row.into_settings(WorkspaceId::new(self.workspace))).transpose()?.unwrap_or_default())
    }

    async fn save_portal(&mut self, settings: &PortalSettings) -> Result<(), StoreError> {
        let save = SavePortal {
            workspace: self.workspace,
            access: settings.access.name().to_owned(),
            mail_domains: settings.mail_domains.iter().map(MailDomain::as_str).map(ToOwned::to_owned).collect(),
            is_indexed: settings.is_indexed,
            embed_origins: settings.embed_origins.iter().map(EmbedOrigin::as_str).map(ToOwned::to_owned).collect(),
            languages: settings.languages.iter().map(|language| language.code().to_owned()).collect(),
            holds_posts: settings.holds_posts,
            accent: settings.accent.map(|accent| accent.to_string()),
            logo: settings.logo.map(|logo| logo.uuid()),
            reply_to: settings.reply_to.as_ref().map(|address| address.as_str().to_owned()),
            time_zone: settings.time_zone.name(),
            welcome_text: settings.welcome_text.to_json(),
            form_question: settings.form_question.to_json(),
            noun: settings.noun.name(),
        };
        self.run(save.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn replace_sender_name<'a>(
        &mut self,
        name: Option<&'a SenderName>,
    ) -> Result<Option<SenderName>, StoreError> {
        let row = settings::table.filter(settings::workspace_id.eq(self.workspace));
        let stored = row.select(settings::sender_name).for_no_key_update();
        let old: Option<String> = self.run(stored.first(&mut self.connection()?)).await?;
        let save = diesel::update(row).set(settings::sender_name.eq(name.map(SenderName::as_str)));
        self.run(save.execute(&mut self.connection()?)).await?;
        Ok(old.map(SenderName::from_stored))
    }
}
