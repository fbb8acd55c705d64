//! Lists of everything, oldest change first.

use crate::trees::LinkSql;
use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::RunQueryDsl;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changes::{
    ChangeEntry, ChangePlace, ChangedComment, ChangedRequest, ChangesFilter, ChangesListing, ChangesPage,
    ChangesSelection, EXAMINED,
};
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::ports::ChangeReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{ChangeRow, CommentRow, LinkRow};

use crate::SqliteStore;
use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::records::{CommentSql, comment_authors, comment_columns, load_detail_of};
use crate::rows::find_row;
use crate::statement::statement;

/// The kind of the rows of feature requests.
const REQUEST: &str = "feature_request";

/// The kind of the rows of comments.
const COMMENT: &str = "comment";

statement! {
    /// Selects the changes of records of one kind after a place.
    Changes {
        workspace: Id => Binary,
        kind: &'static str => Text,
        at: i64 => BigInt,
        number: i64 => BigInt,
        limit: i64 => BigInt,
    } -> (Binary, Nullable<Binary>, Bool, Bool, Bool, BigInt, BigInt, BigInt),
    "SELECT record_id, track_id, private, was_public, deleted, updated_at, changed_at, number FROM changes
     WHERE workspace_id = ? AND kind = ? AND number IS NOT NULL AND (changed_at, number) > (?, ?)
     ORDER BY changed_at, number LIMIT ?"
}

statement! {
    /// Selects the comments of a JSON array, each with the feature request that it was written on and whether that is
    /// private.
    ChangedComments { comments: String => Text, workspace: Id => Binary }
        -> (CommentSql, LinkSql, Bool),
    concat!(
        "SELECT ", comment_columns!(), ", NULL, NULL, NULL, source.id, source.tag_number, source.title, source.private
         FROM json_each(?) AS chosen
         CROSS JOIN comments ON comments.workspace_id = ? AND comments.id = unhex(chosen.value)
         CROSS JOIN feature_requests source ON source.workspace_id = comments.workspace_id
                AND source.id = comments.request_id ", comment_authors!()
    )
}

fn choose(
    connection: &mut SqliteConnection,
    workspace: Id,
    kind: &'static str,
    filter: ChangesFilter,
    page: ChangesPage,
) -> Result<ChangesSelection, SqlError> {
    let ChangePlace { at, number } = ChangesSelection::start(&filter, page);
    let changes = Changes { workspace, kind, at: at.millis(), number, limit: i64::from(EXAMINED) };
    let rows: Vec<ChangeRow> = changes.load(connection)?;
    let entries = rows.into_iter().map(ChangeEntry::try_from).collect::<Result<_, _>>()?;
    Ok(ChangesSelection::choose(entries, filter, page))
}

fn load_request(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: FeatureRequestId,
) -> Result<Option<ChangedRequest>, SqlError> {
    let Some((row, root)) = find_row(connection, workspace, &FeatureRequestRef::Id(request))? else { return Ok(None) };
    let merged_into = match root {
        Some(root) => find_row(connection, workspace, &FeatureRequestRef::Id(FeatureRequestId::new(root.0)))?,
        None => None,
    };
    let merged_into =
        merged_into.map(|(root, _)| LinkRow { id: root.id, tag_number: root.tag_number, title: root.title }.into());
    Ok(Some(ChangedRequest { detail: load_detail_of(connection, workspace, row)?, merged_into }))
}

#[async_trait]
impl ChangeReader for SqliteStore {
    async fn changed_requests(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedRequest>, StoreError> {
        let (workspace, filter) = (Id(workspace.uuid()), *filter);
        self.readers
            .run_in_snapshot(move |connection| {
                let selection = choose(connection, workspace, REQUEST, filter, page)?;
                let mut records = Vec::new();
                for id in selection.visible_ids() {
                    records.extend(load_request(connection, workspace, FeatureRequestId::new(id))?);
                }
                Ok(selection.listing(records))
            })
            .await
    }

    async fn changed_comments(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedComment>, StoreError> {
        let (workspace, filter) = (Id(workspace.uuid()), *filter);
        self.readers
            .run_in_snapshot(move |connection| {
                let selection = choose(connection, workspace, COMMENT, filter, page)?;
                let ids: Vec<Id> = selection.visible_ids().into_iter().map(Id).collect();
                let comments = ChangedComments { comments: json_ids(&ids), workspace };
                let rows: Vec<(CommentRow, LinkRow, bool)> = comments.load(connection)?;
                let records = rows.into_iter().map(|(comment, request, private)| {
                    let comment = ListedComment::try_from(comment)?;
                    Ok(ChangedComment { comment, request: request.into(), private })
                });
                Ok(selection.listing(records.collect::<Result<_, StoreError>>()?))
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{connection, database};
    use crate::plans::{ID, plan, sql};

    #[test]
    fn a_page_is_read_in_the_order_of_an_index() {
        let (_folder, options) = database();
        let mut connection = connection(&options.path);
        let changes = Changes { workspace: ID, kind: REQUEST, at: 0, number: 0, limit: 500 };
        let steps: Vec<String> = plan(&mut connection, &sql(&changes)).into_iter().map(|step| step.detail).collect();
        assert_eq!(
            steps,
            ["SEARCH changes USING INDEX changes_in_order (workspace_id=? AND kind=? AND (changed_at,number)>(?,?))"]
        );
        let comments = ChangedComments { comments: String::new(), workspace: ID };
        for step in plan(&mut connection, &sql(&comments)) {
            assert!(step.detail.contains("chosen") || step.detail.starts_with("SEARCH"), "{}", step.detail);
        }
    }
}
