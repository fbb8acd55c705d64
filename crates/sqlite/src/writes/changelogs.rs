//! Changelogs.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::{Binary, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changelog::{Changelog, ChangelogCategory, EditableChangelog};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::id::{ChangelogId, FeatureRequestId};
use roadmap_domain::model::mail::Topic;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::ChangelogWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::ChangelogRow;

use crate::codec::json_ids;
use crate::deletions::delete_messages;
use crate::errors::SqlError;
use crate::records::{find_changelog, load_linked};
use crate::schema::{changelog_feature_requests, changelogs};
use crate::statement::statement;
use crate::unit::SqliteUnit;

statement! {
    /// Links a changelog to the feature requests of a JSON array that exist, in its order.
    InsertLinks { changelog: Id => Binary, requests: String => Text, workspace: Id => Binary }
    "INSERT INTO changelog_feature_requests (workspace_id, changelog_id, request_id, position)
     SELECT feature_requests.workspace_id, ?, feature_requests.id, linked.key
     FROM json_each(?) AS linked CROSS JOIN feature_requests ON feature_requests.id = unhex(linked.value)
     WHERE feature_requests.workspace_id = ?
     ON CONFLICT DO NOTHING"
}

fn insert_links(
    connection: &mut SqliteConnection,
    workspace: Id,
    changelog: Id,
    requests: &[FeatureRequestId],
) -> Result<(), SqlError> {
    let requests: Vec<Id> = requests.iter().map(|request| Id(request.uuid())).collect();
    if !requests.is_empty() {
        InsertLinks { changelog, requests: json_ids(&requests), workspace }.execute(connection)?;
    }
    Ok(())
}

fn delete_links(connection: &mut SqliteConnection, workspace: Id, changelog: Id) -> Result<(), SqlError> {
    let links = changelog_feature_requests::table
        .filter(changelog_feature_requests::workspace_id.eq(workspace))
        .filter(changelog_feature_requests::changelog_id.eq(changelog));
    diesel::delete(links).execute(connection)?;
    Ok(())
}

#[async_trait]
impl ChangelogWrites for SqliteUnit {
    async fn insert_changelog(
        &mut self,
        changelog: &Changelog,
        feature_requests: &[FeatureRequestId],
    ) -> Result<(), StoreError> {
        let (changelog, feature_requests) = (changelog.clone(), feature_requests.to_vec());
        let to_announce = changelog.public_from.is_some_and(|at| at > changelog.created_at);
        self.run(move |connection, workspace| {
            let id = Id(changelog.id.uuid());
            diesel::insert_into(changelogs::table)
                .values((
                    changelogs::workspace_id.eq(workspace),
                    changelogs::id.eq(id),
                    changelogs::title.eq(changelog.title.as_str()),
                    changelogs::content.eq(changelog.content.as_str()),
                    changelogs::category.eq(changelog.category.map(ChangelogCategory::name)),
                    changelogs::cover_attachment_id
                        .eq(changelog.cover.as_ref().map(|cover| Id(cover.attachment.uuid()))),
                    changelogs::published_at.eq(changelog.public_from.map(Timestamp::millis)),
                    changelogs::created_at.eq(changelog.created_at.millis()),
                    changelogs::updated_at.eq(changelog.updated_at.millis()),
                    changelogs::to_announce.eq(to_announce),
                ))
                .execute(connection)?;
            insert_links(connection, workspace, id, &feature_requests)
        })
        .await
    }

    async fn find_changelog(&mut self, changelog: ChangelogId) -> Result<Option<EditableChangelog>, StoreError> {
        type ChangelogRows = (ChangelogRow, (bool, bool), Vec<Id>);
        let changelog = Id(changelog.uuid());
        let rows: Option<ChangelogRows> = self
            .run(move |connection, workspace| {
                let Some(row) = find_changelog(connection, workspace, changelog)? else { return Ok(None) };
                let mail = changelogs::table
                    .find((workspace, changelog))
                    .select((changelogs::notified, changelogs::notifies))
                    .first(connection)?;
                let linked = changelog_feature_requests::table
                    .filter(changelog_feature_requests::workspace_id.eq(workspace))
                    .filter(changelog_feature_requests::changelog_id.eq(changelog))
                    .order(changelog_feature_requests::position)
                    .select(changelog_feature_requests::request_id)
                    .load(connection)?;
                Ok(Some((row, mail, linked)))
            })
            .await?;
        let Some((row, (is_notified, notifies), linked)) = rows else { return Ok(None) };
        let feature_requests = linked.into_iter().map(|id| FeatureRequestId::new(id.0)).collect();
        Ok(Some(EditableChangelog { changelog: row.try_into()?, feature_requests, is_notified, notifies }))
    }

    async fn save_changelog(&mut self, changelog: &EditableChangelog) -> Result<(), StoreError> {
        let EditableChangelog { changelog, feature_requests, is_notified, notifies } = changelog.clone();
        // One whose time has come meanwhile is still to be announced.
        let to_announce = match changelog.public_from {
            None => Some(false),
            Some(at) => (at > changelog.updated_at).then_some(true),
        };
        self.run(move |connection, workspace| {
            let id = Id(changelog.id.uuid());
            diesel::update(changelogs::table.find((workspace, id)))
                .set((
                    changelogs::title.eq(changelog.title.as_str()),
                    changelogs::content.eq(changelog.content.as_str()),
                    changelogs::category.eq(changelog.category.map(ChangelogCategory::name)),
                    changelogs::cover_attachment_id
                        .eq(changelog.cover.as_ref().map(|cover| Id(cover.attachment.uuid()))),
                    changelogs::published_at.eq(changelog.public_from.map(Timestamp::millis)),
                    changelogs::updated_at.eq(changelog.updated_at.millis()),
                    changelogs::notified.eq(is_notified),
                    changelogs::notifies.eq(notifies),
                    to_announce.map(|to_announce| changelogs::to_announce.eq(to_announce)),
                ))
                .execute(connection)?;
            delete_links(connection, workspace, id)?;
            insert_links(connection, workspace, id, &feature_requests)
        })
        .await
    }

    async fn linked_feature_requests(
        &mut self,
        changelog: ChangelogId,
    ) -> Result<Vec<FeatureRequestSummary>, StoreError> {
        let changelog = Id(changelog.uuid());
        let rows = self.run(move |connection, workspace| load_linked(connection, workspace, changelog)).await?;
        rows.into_iter().map(FeatureRequestSummary::try_from).collect()
    }

    async fn delete_changelog(&mut self, changelog: ChangelogId) -> Result<bool, StoreError> {
        self.run(move |connection, workspace| {
            let id = Id(changelog.uuid());
            delete_messages(connection, workspace, Topic::Changelog(changelog))?;
            delete_links(connection, workspace, id)?;
            Ok(diesel::delete(changelogs::table.find((workspace, id))).execute(connection)? == 1)
        })
        .await
    }
}
