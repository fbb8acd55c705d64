//! Feature requests.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, IntoSql, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::event::NewEvent;
use roadmap_domain::model::feature_request::{
    Attention, Description, EditableFields, FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary,
    NewFeatureRequest, SearchableText, Tag, Title,
};
use roadmap_domain::model::id::{FeatureRequestId, TrackId};
use roadmap_domain::model::search::SearchDocument;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::FeatureRequestWrites;
use roadmap_store::columns::{Id, inconsistent};

use crate::codec::json_ids;
use crate::deletions::delete_tree;
use crate::errors::SqlError;
use crate::records::{load_detail, load_tags};
use crate::rows::find_summary;
use crate::schema::{
    feature_request_events, feature_request_tags, feature_requests, tag_counters, vote_tallies, workspaces,
};
use crate::search_documents::{MarkOutdated, delete_document, index, save_document};
use crate::statement::statement;
use crate::unit::SqliteUnit;
use crate::writes::votes::find_or_insert_customer;

statement! {
    /// Selects the titles and the tags of the first public feature requests that lead to a root. Each title comes
    /// before its tags.
    MergedTexts { workspace: Id => Binary, root: Id => Binary, limit: i64 => BigInt } -> Text,
    "WITH merged (workspace, id, number, title) AS (
         SELECT workspace_id, id, row_number, title FROM feature_requests
         WHERE workspace_id = ? AND root_id = ? AND NOT private ORDER BY row_number LIMIT ?
     )
     SELECT text FROM (
         SELECT number, -1 AS position, title AS text FROM merged
         UNION ALL
         SELECT number, position, tag FROM merged CROSS JOIN feature_request_tags
             ON feature_request_tags.workspace_id = merged.workspace AND feature_request_tags.request_id = merged.id
     ) ORDER BY number, position"
}

statement! {
    /// Selects the feature requests of a JSON array that exist.
    ExistingRequests { workspace: Id => Binary, requests: String => Text } -> Binary,
    "SELECT id FROM feature_requests WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
}

#[async_trait]
impl FeatureRequestWrites for SqliteUnit {
    async fn find_feature_request(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let request = *request;
        let row = self.run(move |connection, workspace| find_summary(connection, workspace, &request)).await?;
        row.map(FeatureRequestSummary::try_from).transpose()
    }

    /// Units of work follow each other.
    async fn lock_feature_request(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestSummary>, StoreError> {
        self.find_feature_request(request).await
    }

    async fn insert_feature_request(
        &mut self,
        request: &NewFeatureRequest,
    ) -> Result<FeatureRequestSummary, StoreError> {
        let request = request.clone();
        let row = self
            .run(move |connection, workspace| {
                insert(connection, workspace, &request)?;
                find_summary(connection, workspace, &FeatureRequestRef::Id(request.id))
            })
            .await?;
        row.ok_or_else(|| StoreError::Fatal("a feature request is missing right after its insertion".into()))?
            .try_into()
    }

    async fn set_feature_request_track(
        &mut self,
        request: FeatureRequestId,
        track: TrackId,
        changes_status: bool,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let status_since = changes_status.then(|| feature_requests::status_since.eq(at.millis()));
        self.run(move |connection, workspace| {
            diesel::update(feature_requests::table)
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::id.eq(Id(request.uuid())))
                .set((
                    feature_requests::track_id.eq(Id(track.uuid())),
                    feature_requests::handled_at.eq(at.millis()),
                    status_since,
                    feature_requests::updated_at.eq(at.millis()),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn clear_attention(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError> {
        self.run(move |connection, workspace| {
            let changed = diesel::update(feature_requests::table)
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::id.eq(Id(request.uuid())))
                .filter(feature_requests::attention.is_not_null())
                .set(feature_requests::handled_at.eq(at.millis()))
                .execute(connection)?;
            Ok(changed > 0)
        })
        .await
    }

    async fn find_editable_fields(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<EditableFields>, StoreError> {
        let request = *request;
        self.run(move |connection, workspace| {
            let Some(summary) = find_summary(connection, workspace, &request)? else { return Ok(None) };
            let (description, text, private): (String, String, bool) = feature_requests::table
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::id.eq(summary.id))
                .select((feature_requests::description, feature_requests::description_text, feature_requests::private))
                .first(connection)?;
            let tags = load_tags(connection, workspace, summary.id)?;
            Ok(Some(EditableFields {
                id: FeatureRequestId::new(summary.id.0),
                title: Title::from_stored(summary.title),
                description: Description::from_stored(description, text),
                tags: tags.into_iter().map(Tag::from_stored).collect(),
                private,
            }))
        })
        .await
    }

    async fn save_editable_fields(&mut self, fields: &EditableFields, at: Timestamp) -> Result<(), StoreError> {
        let fields = fields.clone();
        self.run(move |connection, workspace| {
            let id = Id(fields.id.uuid());
            diesel::update(feature_requests::table)
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::id.eq(id))
                .set((
                    feature_requests::title.eq(fields.title.as_str()),
                    feature_requests::description.eq(fields.description.html()),
                    feature_requests::description_text.eq(fields.description.text()),
                    feature_requests::private.eq(fields.private),
                    feature_requests::awaiting_approval
                        .eq(feature_requests::awaiting_approval.and(fields.private.into_sql::<Bool>())),
                    feature_requests::updated_at.eq(at.millis()),
                ))
                .execute(connection)?;
            diesel::delete(feature_request_tags::table)
                .filter(feature_request_tags::workspace_id.eq(workspace))
                .filter(feature_request_tags::request_id.eq(id))
                .execute(connection)?;
            insert_tags(connection, workspace, id, &fields.tags)
        })
        .await
    }

    async fn feature_request_detail(
        &mut self,
        request: FeatureRequestId,
    ) -> Result<Option<FeatureRequestDetail>, StoreError> {
        let request = FeatureRequestRef::Id(request);
        self.run(move |connection, workspace| load_detail(connection, workspace, &request)).await
    }

    async fn searchable_text(
        &mut self,
        request: FeatureRequestId,
        merged: u32,
    ) -> Result<Option<SearchableText>, StoreError> {
        let request = Id(request.uuid());
        self.run(move |connection, workspace| {
            let texts: Option<(String, String)> = feature_requests::table
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::id.eq(request))
                .filter(feature_requests::private.eq(false))
                .filter(feature_requests::root_id.is_null())
                .select((feature_requests::title, feature_requests::description_text))
                .first(connection)
                .optional()?;
            let Some((title, description)) = texts else { return Ok(None) };
            let tags = load_tags(connection, workspace, request)?;
            let merged = MergedTexts { workspace, root: request, limit: i64::from(merged) }.load(connection)?;
            Ok(Some(SearchableText { title, tags, description, merged }))
        })
        .await
    }

    async fn save_search_document(
        &mut self,
        request: FeatureRequestId,
        document: &SearchDocument,
    ) -> Result<(), StoreError> {
        let document = document.clone();
        self.run(move |connection, workspace| save_document(connection, workspace, Id(request.uuid()), &document)).await
    }

    async fn delete_search_document(&mut self, request: FeatureRequestId) -> Result<(), StoreError> {
        self.run(move |connection, workspace| delete_document(connection, workspace, Id(request.uuid()))).await
    }

    async fn expire_search_documents(&mut self, requests: &[FeatureRequestId]) -> Result<(), StoreError> {
        let requests: Vec<Id> = requests.iter().map(|request| Id(request.uuid())).collect();
        self.run(move |connection, workspace| {
            MarkOutdated { workspace, requests: json_ids(&requests) }.execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn existing_feature_requests(
        &mut self,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let requests: Vec<Id> = requests.iter().map(|request| Id(request.uuid())).collect();
        let existing: Vec<Id> = self
            .run(move |connection, workspace| {
                Ok(ExistingRequests { workspace, requests: json_ids(&requests) }.load(connection)?)
            })
            .await?;
        Ok(existing.into_iter().map(|id| FeatureRequestId::new(id.0)).collect())
    }

    async fn insert_event(&mut self, event: &NewEvent) -> Result<(), StoreError> {
        let event = event.clone();
        self.run(move |connection, workspace| insert_event(connection, workspace, &event)).await
    }

    async fn delete_feature_request(&mut self, request: FeatureRequestId) -> Result<(), StoreError> {
        self.run(move |connection, workspace| delete_tree(connection, workspace, Id(request.uuid()))).await
    }
}

/// Adds an event to the history of a feature request.
pub(crate) fn insert_event(
    connection: &mut SqliteConnection,
    workspace: Id,
    NewEvent { request, event }: &NewEvent,
) -> Result<(), SqlError> {
    diesel::insert_into(feature_request_events::table)
        .values((
            feature_request_events::workspace_id.eq(workspace),
            feature_request_events::id.eq(Id(event.id.uuid())),
            feature_request_events::request_id.eq(Id(request.uuid())),
            feature_request_events::kind.eq(event.content.kind()),
            feature_request_events::details.eq(event.content.details()),
            feature_request_events::actor_kind.eq(event.actor.kind.name()),
            feature_request_events::actor_id.eq(event.actor.id.map(Id)),
            feature_request_events::actor_name.eq(&event.actor.name),
            feature_request_events::created_at.eq(event.created_at.millis()),
        ))
        .execute(connection)?;
    Ok(())
}

/// Inserts a feature request.
fn insert(connection: &mut SqliteConnection, workspace: Id, request: &NewFeatureRequest) -> Result<(), SqlError> {
    let Numbers { row_number, .. } = insert_without_document(connection, workspace, request, 0)?;
    match &request.search {
        Some(document) => index(connection, workspace, row_number, Id(request.id.uuid()), document),
        None => Ok(()),
    }
}

/// The numbers of a feature request.
pub(crate) struct Numbers {
    pub(crate) tag_number: i64,
    pub(crate) row_number: i64,
}

/// Inserts a feature request with a tally of these nameless votes, but not its search document.
pub(crate) fn insert_without_document(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &NewFeatureRequest,
    nameless_votes: i64,
) -> Result<Numbers, SqlError> {
    let id = Id(request.id.uuid());
    let tag_number: i64 = diesel::insert_into(tag_counters::table)
        .values((tag_counters::workspace_id.eq(workspace), tag_counters::last_tag_number.eq(1)))
        .on_conflict(tag_counters::workspace_id)
        .do_update()
        .set(tag_counters::last_tag_number.eq(tag_counters::last_tag_number + 1))
        .returning(tag_counters::last_tag_number)
        .get_result(connection)?;
    let row_number = row_number(connection, workspace, tag_number)?;
    let author = match &request.author {
        Some(customer) => Some(find_or_insert_customer(connection, workspace, customer, request.created_at)?),
        None => None,
    };
    diesel::insert_into(feature_requests::table)
        .values((
            feature_requests::row_number.eq(row_number),
            feature_requests::workspace_id.eq(workspace),
            feature_requests::id.eq(id),
            feature_requests::tag_number.eq(tag_number),
            feature_requests::title.eq(request.title.as_str()),
            feature_requests::description.eq(request.description.html()),
            feature_requests::description_text.eq(request.description.text()),
            feature_requests::track_id.eq(Id(request.track.uuid())),
            feature_requests::author_id.eq(author),
            feature_requests::private.eq(request.private),
            feature_requests::awaiting_approval.eq(request.awaiting_approval),
            feature_requests::handled_at.eq(request.handled_at().map(Timestamp::millis)),
            feature_requests::status_since.eq(request.created_at.millis()),
            feature_requests::attention.eq(request.attention().map(Attention::name)),
            feature_requests::created_at.eq(request.created_at.millis()),
            feature_requests::updated_at.eq(request.created_at.millis()),
        ))
        .execute(connection)?;
    diesel::insert_into(vote_tallies::table)
        .values((
            vote_tallies::row_number.eq(row_number),
            vote_tallies::workspace_id.eq(workspace),
            vote_tallies::request_id.eq(id),
            vote_tallies::votes_count.eq(nameless_votes),
            vote_tallies::nameless_votes.eq(nameless_votes),
            vote_tallies::trend.eq(0.0),
            vote_tallies::track_id.eq(Id(request.track.uuid())),
            vote_tallies::private.eq(request.private),
            vote_tallies::attention.eq(request.attention().map(Attention::name)),
        ))
        .execute(connection)?;
    insert_tags(connection, workspace, id, &request.tags)?;
    Ok(Numbers { tag_number, row_number })
}

/// Adds the tags of a feature request that has none.
pub(crate) fn insert_tags(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: Id,
    tags: &[Tag],
) -> Result<(), SqlError> {
    for (position, tag) in (0i64..).zip(tags) {
        diesel::insert_into(feature_request_tags::table)
            .values((
                feature_request_tags::workspace_id.eq(workspace),
                feature_request_tags::request_id.eq(request),
                feature_request_tags::position.eq(position),
                feature_request_tags::tag.eq(tag.as_str()),
                feature_request_tags::tag_folded.eq(tag.folded()),
            ))
            .execute(connection)?;
    }
    Ok(())
}

/// Returns the row number of a feature request: its workspace's number in the upper 32 bits, its tag number in the
/// lower 32 bits.
fn row_number(connection: &mut SqliteConnection, workspace: Id, tag_number: i64) -> Result<i64, SqlError> {
    let number: i64 =
        workspaces::table.filter(workspaces::id.eq(workspace)).select(workspaces::number).first(connection)?;
    compose_row_number(number, tag_number)
        .ok_or_else(|| inconsistent("tag_counters", "last_tag_number", workspace.0).into())
}

/// Composes a row number of two halves; `None` if one is out of range.
fn compose_row_number(upper: i64, lower: i64) -> Option<i64> {
    let (upper, lower) = (i32::try_from(upper).ok()?, u32::try_from(lower).ok()?);
    Some((i64::from(upper) << u32::BITS) + i64::from(lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_numbers_are_composed_of_two_halves_in_range() {
        for (upper, lower, expected) in [
            (1, 1, Some(4_294_967_297)),
            (2, 3, Some(8_589_934_595)),
            (2_147_483_647, 4_294_967_295, Some(i64::MAX)),
            (2_147_483_648, 1, None),
            (1, 4_294_967_296, None),
            (1, -1, None),
        ] {
            assert_eq!(compose_row_number(upper, lower), expected, "{upper} {lower}");
        }
    }
}
