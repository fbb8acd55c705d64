//! Settings and synonyms.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::{Setting, WebsiteUrl};
use roadmap_domain::model::text::Name;
use roadmap_domain::ports::SettingWrites;

use crate::schema::{settings, synonyms};
use crate::unit::SqliteUnit;

#[async_trait]
impl SettingWrites for SqliteUnit {
    async fn load_setting(&mut self) -> Result<Setting, StoreError> {
        let (product_name, website_url): (String, String) = self
            .run(|connection, workspace| {
                Ok(settings::table
                    .filter(settings::workspace_id.eq(workspace))
                    .select((settings::product_name, settings::website_url))
                    .first(connection)?)
            })
            .await?;
        Ok(Setting { product_name: Name::from_stored(product_name), website_url: WebsiteUrl::from_stored(website_url) })
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
}
