//! Changelogs.

use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changelog::{Changelog, ChangelogDetail};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::pagination::{Listing, PageRequest};

use crate::SqliteStore;
use crate::codec::Id;
use crate::reads::roadmap::{Page, listing};
use crate::records::{ChangelogRow, changelog_columns, covered_changelogs, find_changelog, load_linked};
use crate::schema::changelogs;

impl SqliteStore {
    /// Returns the changelogs, newest first.
    pub(crate) async fn list_changelogs(
        &self,
        workspace: Id,
        page: PageRequest,
    ) -> Result<Listing<Changelog>, StoreError> {
        let rows: Page<ChangelogRow> = self
            .readers
            .run_in_snapshot(move |connection| {
                let of_workspace = changelogs::table.filter(changelogs::workspace_id.eq(workspace));
                let total: i64 = of_workspace.count().get_result(connection)?;
                let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
                let (at, before) = page.before();
                let rows = covered_changelogs()
                    .filter(changelogs::workspace_id.eq(workspace))
                    .filter(
                        changelogs::created_at
                            .lt(at.millis())
                            .or(changelogs::created_at.eq(at.millis()).and(changelogs::id.lt(Id(before)))),
                    )
                    .order((changelogs::created_at.desc(), changelogs::id.desc()))
                    .select(changelog_columns())
                    .limit(page.limit())
                    .offset(offset)
                    .load(connection)?;
                Ok((rows, total))
            })
            .await?;
        listing(rows, page, Changelog::try_from)
    }

    /// Whether the voters of a changelog were mailed.
    pub(super) async fn is_notified(&self, workspace: Id, changelog: Id) -> Result<bool, StoreError> {
        let row = changelogs::table.find((workspace, changelog)).select(changelogs::notified);
        let found: Option<bool> = self.readers.run(move |connection| Ok(row.first(connection).optional()?)).await?;
        Ok(found.unwrap_or(false))
    }

    /// Returns a changelog with the feature requests that it is about.
    pub(crate) async fn find_changelog(
        &self,
        workspace: Id,
        changelog: Id,
    ) -> Result<Option<ChangelogDetail>, StoreError> {
        let found = self
            .readers
            .run_in_snapshot(move |connection| {
                let Some(row) = find_changelog(connection, workspace, changelog)? else { return Ok(None) };
                Ok(Some((row, load_linked(connection, workspace, changelog)?)))
            })
            .await?;
        let Some((row, linked)) = found else { return Ok(None) };
        let feature_requests = linked.into_iter().map(FeatureRequestSummary::try_from).collect::<Result<_, _>>()?;
        Ok(Some(ChangelogDetail { changelog: row.try_into()?, feature_requests }))
    }
}
