//! Changelogs.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changelog::Changelog;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::ChangelogWrites;

use crate::codec::Id;
use crate::schema::changelogs;
use crate::unit::SqliteUnit;

#[async_trait]
impl ChangelogWrites for SqliteUnit {
    async fn insert_changelog(&mut self, changelog: &Changelog) -> Result<(), StoreError> {
        let changelog = changelog.clone();
        self.run(move |connection, workspace| {
            diesel::insert_into(changelogs::table)
                .values((
                    changelogs::workspace_id.eq(workspace),
                    changelogs::id.eq(Id(changelog.id.uuid())),
                    changelogs::title.eq(changelog.title.as_str()),
                    changelogs::content.eq(changelog.content.as_str()),
                    changelogs::cover_attachment_id
                        .eq(changelog.cover.as_ref().map(|cover| Id(cover.attachment.uuid()))),
                    changelogs::published_at.eq(changelog.published_at.map(Timestamp::millis)),
                    changelogs::created_at.eq(changelog.created_at.millis()),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }
}
