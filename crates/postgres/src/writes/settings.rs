//! Settings and synonyms.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::{Setting, WebsiteUrl};
use roadmap_domain::model::text::Name;
use roadmap_domain::ports::SettingWrites;
use uuid::Uuid;

use crate::schema::{settings, synonyms};
use crate::unit::PostgresUnit;

#[async_trait]
impl SettingWrites for PostgresUnit {
    async fn load_setting(&mut self) -> Result<Setting, StoreError> {
        let stored = settings::table
            .filter(settings::workspace_id.eq(self.workspace))
            .select((settings::product_name, settings::website_url))
            // No other unit may change the row until this one ends.
            .for_update();
        let (product_name, website_url): (String, String) = self.run(stored.first(&mut self.connection()?)).await?;
        Ok(Setting { product_name: Name::from_stored(product_name), website_url: WebsiteUrl::from_stored(website_url) })
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
}
