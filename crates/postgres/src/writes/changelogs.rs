//! Changelogs, and what they are about.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, Bool, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changelog::{Changelog, ChangelogCategory, EditableChangelog};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::id::{ChangelogId, FeatureRequestId};
use roadmap_domain::model::mail::Topic;
use roadmap_domain::ports::ChangelogWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{ChangelogRow, SummaryRow};
use uuid::Uuid;

use crate::rows::{ChangelogColumns, SummaryColumns};
use crate::schema::{changelog_feature_requests, changelogs};
use crate::statement::{placed, statement, summary};
use crate::unit::PostgresUnit;
use crate::writes::outbox::delete_messages;

statement! {
    /// Selects a changelog, whether its voters were notified, and whether they will be with its publication.
    SelectChangelog { workspace: Uuid => SqlUuid, changelog: Uuid => SqlUuid } -> (ChangelogColumns, Bool, Bool),
    "SELECT changelogs.id, title, content, published_at, changelogs.created_at, updated_at, category, attachments.id,
            filename, notified, notifies
     FROM changelogs
     LEFT JOIN attachments ON attachments.workspace_id = {workspace} AND attachments.id = cover_attachment_id
     WHERE changelogs.workspace_id = {workspace} AND changelogs.id = {changelog}"
}

statement! {
    /// Links a changelog to the existing ones of these feature requests, in order.
    InsertLinks { workspace: Uuid => SqlUuid, changelog: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "INSERT INTO changelog_feature_requests (workspace_id, changelog_id, request_id, position)
     SELECT {workspace}, {changelog}, linked.id, linked.position
     FROM unnest({requests}) WITH ORDINALITY AS linked (id, position)
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = linked.id
     ON CONFLICT (workspace_id, changelog_id, request_id) DO NOTHING"
}

statement! {
    /// Selects the feature requests that a changelog is about, in order. A merged one is the root of its tree, which is
    /// listed once.
    LinkedRequests { workspace: Uuid => SqlUuid, changelog: Uuid => SqlUuid } -> SummaryColumns,
    concat!("WITH linked AS MATERIALIZED (
         SELECT coalesce(root_id, id) AS id, min(position) AS position
         FROM changelog_feature_requests AS links
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = links.request_id
         WHERE links.workspace_id = {workspace} AND links.changelog_id = {changelog}
         GROUP BY coalesce(root_id, id)
     )
     SELECT ", summary!(), " FROM linked
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = linked.id
     ", placed!(), " ORDER BY linked.position")
}

#[async_trait]
impl ChangelogWrites for PostgresUnit {
    async fn insert_changelog(
        &mut self,
        changelog: &Changelog,
        feature_requests: &[FeatureRequestId],
    ) -> Result<(), StoreError> {
        let insert = diesel::insert_into(changelogs::table).values((
            changelogs::workspace_id.eq(self.workspace),
            changelogs::id.eq(changelog.id.uuid()),
            changelogs::title.eq(changelog.title.as_str()),
            changelogs::content.eq(changelog.content.as_str()),
            changelogs::category.eq(changelog.category.map(ChangelogCategory::name)),
            changelogs::cover_attachment_id.eq(changelog.cover.as_ref().map(|cover| cover.attachment.uuid())),
            changelogs::published_at.eq(changelog.public_from.map(TimestampColumn::from)),
            changelogs::to_announce.eq(changelog.public_from.is_some_and(|at| at > changelog.created_at)),
            changelogs::created_at.eq(TimestampColumn::from(changelog.created_at)),
            changelogs::updated_at.eq(TimestampColumn::from(changelog.updated_at)),
        ));
        self.run(insert.execute(&mut self.connection()?)).await?;
        self.insert_links(changelog.id, feature_requests).await
    }

    async fn find_changelog(&mut self, id: ChangelogId) -> Result<Option<EditableChangelog>, StoreError> {
        // Locks the row with one statement and reads it with the next, which sees the changes that the lock waited for. A
        // statement that does both would look for the cover of the version before.
        let lock = changelogs::table
            .filter(changelogs::workspace_id.eq(self.workspace))
            .filter(changelogs::id.eq(id.uuid()))
            .select(changelogs::id)
            .for_update();
        let _: Vec<Uuid> = self.run(lock.load(&mut self.connection()?)).await?;
        let select = SelectChangelog { workspace: self.workspace, changelog: id.uuid() };
        let row: Option<(ChangelogRow, bool, bool)> =
            self.run_optional(select.get_result(&mut self.connection()?)).await?;
        let Some((row, is_notified, notifies)) = row else { return Ok(None) };
        let links = changelog_feature_requests::table
            .filter(changelog_feature_requests::workspace_id.eq(self.workspace))
            .filter(changelog_feature_requests::changelog_id.eq(id.uuid()))
            .order(changelog_feature_requests::position)
            .select(changelog_feature_requests::request_id);
        let links: Vec<Uuid> = self.run(links.load(&mut self.connection()?)).await?;
        let feature_requests = links.into_iter().map(FeatureRequestId::new).collect();
        Ok(Some(EditableChangelog { changelog: row.try_into()?, feature_requests, is_notified, notifies }))
    }

    async fn save_changelog(&mut self, changed: &EditableChangelog) -> Result<(), StoreError> {
        let EditableChangelog { changelog, feature_requests, is_notified, notifies } = changed;
        let to_announce = match changelog.public_from {
            None => Some(false),
            Some(at) if at > changelog.updated_at => Some(true),
            // Its time may have come without an announcement yet.
            Some(_) => None,
        };
        let update = diesel::update(changelogs::table)
            .filter(changelogs::workspace_id.eq(self.workspace))
            .filter(changelogs::id.eq(changelog.id.uuid()))
            .set((
                changelogs::title.eq(changelog.title.as_str()),
                changelogs::content.eq(changelog.content.as_str()),
                changelogs::category.eq(changelog.category.map(ChangelogCategory::name)),
                changelogs::cover_attachment_id.eq(changelog.cover.as_ref().map(|cover| cover.attachment.uuid())),
                changelogs::published_at.eq(changelog.public_from.map(TimestampColumn::from)),
                changelogs::updated_at.eq(TimestampColumn::from(changelog.updated_at)),
                changelogs::notified.eq(is_notified),
                changelogs::notifies.eq(notifies),
                to_announce.map(|to_announce| changelogs::to_announce.eq(to_announce)),
            ));
        self.run(update.execute(&mut self.connection()?)).await?;
        self.delete_links(changelog.id).await?;
        self.insert_links(changelog.id, feature_requests).await
    }

    async fn linked_feature_requests(
        &mut self,
        changelog: ChangelogId,
    ) -> Result<Vec<FeatureRequestSummary>, StoreError> {
        let linked = LinkedRequests { workspace: self.workspace, changelog: changelog.uuid() };
        let rows: Vec<SummaryRow> = self.run(linked.load(&mut self.connection()?)).await?;
        rows.into_iter().map(FeatureRequestSummary::try_from).collect()
    }

    async fn delete_changelog(&mut self, changelog: ChangelogId) -> Result<bool, StoreError> {
        // Locked first, so that no other unit adds links meanwhile.
        if self.find_changelog(changelog).await?.is_none() {
            return Ok(false);
        }
        self.delete_links(changelog).await?;
        delete_messages(self, Topic::Changelog(changelog)).await?;
        let delete = diesel::delete(changelogs::table)
            .filter(changelogs::workspace_id.eq(self.workspace))
            .filter(changelogs::id.eq(changelog.uuid()));
        Ok(self.run(delete.execute(&mut self.connection()?)).await? > 0)
    }
}

impl PostgresUnit {
    async fn insert_links(&self, changelog: ChangelogId, requests: &[FeatureRequestId]) -> Result<(), StoreError> {
        if requests.is_empty() {
            return Ok(());
        }
        let requests = requests.iter().map(|request| request.uuid()).collect();
        let insert = InsertLinks { workspace: self.workspace, changelog: changelog.uuid(), requests };
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn delete_links(&self, changelog: ChangelogId) -> Result<(), StoreError> {
        let delete = diesel::delete(changelog_feature_requests::table)
            .filter(changelog_feature_requests::workspace_id.eq(self.workspace))
            .filter(changelog_feature_requests::changelog_id.eq(changelog.uuid()));
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
