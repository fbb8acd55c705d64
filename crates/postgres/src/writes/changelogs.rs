//! Changelogs.

use async_trait::async_trait;
use diesel::prelude::ExpressionMethods;
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changelog::Changelog;
use roadmap_domain::ports::ChangelogWrites;

use crate::codec::TimestampColumn;
use crate::schema::changelogs;
use crate::unit::PostgresUnit;

#[async_trait]
impl ChangelogWrites for PostgresUnit {
    async fn insert_changelog(&mut self, changelog: &Changelog) -> Result<(), StoreError> {
        let insert = diesel::insert_into(changelogs::table).values((
            changelogs::workspace_id.eq(self.workspace),
            changelogs::id.eq(changelog.id.uuid()),
            changelogs::title.eq(changelog.title.as_str()),
            changelogs::content.eq(changelog.content.as_str()),
            changelogs::cover_attachment_id.eq(changelog.cover.as_ref().map(|cover| cover.attachment.uuid())),
            changelogs::published_at.eq(changelog.published_at.map(TimestampColumn::from)),
            changelogs::created_at.eq(TimestampColumn::from(changelog.created_at)),
        ));
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
