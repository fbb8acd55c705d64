//! Feature requests.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::event::NewEvent;
use roadmap_domain::model::feature_request::{
    Description, EditableFields, FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, NewFeatureRequest,
    SearchableText, Tag, Title,
};
use roadmap_domain::model::id::{FeatureRequestId, TrackId};
use roadmap_domain::model::search::concepts::INDEX_VERSION;
use roadmap_domain::model::search::{Fields, SearchDocument};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::FeatureRequestWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::SummaryRow;
use uuid::Uuid;

use crate::rows::{DetailRow, FindDetail, FindRequest, SummaryColumns};
use crate::schema::{feature_request_events, feature_requests, outdated_documents, search_documents};
use crate::statement::{id_or_number, resolved, statement, upserted_customer};
use crate::unit::PostgresUnit;

statement! {
    /// Inserts a feature request under the next tag number, with its author, its tags and its search document, and
    /// returns it. Absent parts are NULL, and nothing is stored for them.
    InsertRequest {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        title: String => Text,
        description: String => Text,
        description_text: String => Text,
        track: Uuid => SqlUuid,
        private: bool => Bool,
        awaiting_approval: bool => Bool,
        handled_at: Option<TimestampColumn> => Nullable<Timestamptz>,
        attention: Option<String> => Nullable<Text>,
        at: TimestampColumn => Timestamptz,
        tags: Vec<String> => Array<Text>,
        tags_folded: Vec<String> => Array<Text>,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        email: Option<String> => Nullable<Text>,
        email_folded: Option<String> => Nullable<Text>,
        name: Option<String> => Nullable<Text>,
        name_folded: Option<String> => Nullable<Text>,
        search_title: Option<String> => Nullable<Text>,
        search_tags: Option<String> => Nullable<Text>,
        search_description: Option<String> => Nullable<Text>,
        search_terms: Vec<String> => Array<Text>,
        search_words: Vec<String> => Array<Text>,
        search_version: i32 => Integer,
    } -> SummaryColumns,
    concat!("WITH known AS (
         SELECT id FROM customers WHERE workspace_id = {workspace} AND email_folded = {email_folded}
     ), added AS (
         ", upserted_customer!("WHERE {customer} IS NOT NULL AND NOT EXISTS (SELECT FROM known)"), "
         RETURNING id
     ), named AS (
         UPDATE customers SET name = {name}, name_folded = {name_folded}
         WHERE workspace_id = {workspace} AND id = (SELECT id FROM known) AND name IS NULL AND {name} IS NOT NULL
     ), author AS (
         SELECT id FROM known UNION ALL SELECT id FROM added
     ), number AS (
         INSERT INTO tag_counters (workspace_id, last_tag_number) VALUES ({workspace}, 1)
         ON CONFLICT (workspace_id) DO UPDATE SET last_tag_number = tag_counters.last_tag_number + 1
         RETURNING last_tag_number AS tag_number
     ), request AS (
         INSERT INTO feature_requests
             (workspace_id, id, tag_number, title, description, description_text, track_id, author_id, private,
              awaiting_approval, handled_at, status_since, attention, created_at, updated_at)
         SELECT {workspace}, {id}, tag_number, {title}, {description}, {description_text}, {track},
                (SELECT id FROM author), {private}, {awaiting_approval}, {handled_at}, {at}, {attention}, {at}, {at}
         FROM number
     ), tally AS (
         INSERT INTO vote_tallies (workspace_id, request_id, tag_number, votes_count, track_id, private, attention)
         SELECT {workspace}, {id}, tag_number, 0, {track}, {private}, {attention} FROM number
     ), tagged AS (
         INSERT INTO feature_request_tags (workspace_id, request_id, position, tag, tag_folded)
         SELECT {workspace}, {id}, position - 1, tag, tag_folded
         FROM unnest({tags}, {tags_folded}) WITH ORDINALITY AS tags (tag, tag_folded, position)
     ), document AS (
         INSERT INTO search_documents (workspace_id, request_id, tag_number, title, tags, description, terms, version)
         SELECT {workspace}, {id}, tag_number, {search_title}, {search_tags}, {search_description},
                array_to_tsvector({search_terms}), {search_version}
         FROM number WHERE {search_title} IS NOT NULL
     ), learned AS (
         INSERT INTO search_words (workspace_id, word)
         SELECT {workspace}, word FROM unnest({search_words}) AS words (word)
         ON CONFLICT (workspace_id, word) DO NOTHING
     )
     SELECT {id}, tag_number, {title}, tracks.name, lanes.name, 0::bigint, {at}
     FROM number
     JOIN tracks ON tracks.workspace_id = {workspace} AND tracks.id = {track}
     LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = tracks.lane_id")
}

statement! {
    /// Selects the texts that a public feature request is searched by, with the titles and tags of the first public ones
    /// that are merged into it.
    SelectSearchableText { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid, merged: i64 => BigInt }
        -> (Text, Array<Text>, Text, Array<Text>),
    "SELECT title, ARRAY(
         SELECT tag FROM feature_request_tags
         WHERE workspace_id = {workspace} AND request_id = {request} ORDER BY position
     ), description_text, ARRAY(
         SELECT texts.content FROM (
             SELECT id, tag_number, title FROM feature_requests
             WHERE workspace_id = {workspace} AND root_id = {request} AND NOT private
             ORDER BY tag_number LIMIT {merged}
         ) AS merged
         CROSS JOIN LATERAL (
             SELECT -1 AS position, merged.title AS content
             UNION ALL
             SELECT position, tag FROM feature_request_tags
             WHERE workspace_id = {workspace} AND request_id = merged.id
         ) AS texts
         ORDER BY merged.tag_number, texts.position
     )
     FROM feature_requests WHERE workspace_id = {workspace} AND id = {request} AND NOT private AND root_id IS NULL"
}

statement! {
    /// Inserts or replaces a search document, which is not outdated any more, and adds its words to the vocabulary.
    SaveSearchDocument {
        workspace: Uuid => SqlUuid,
        request: Uuid => SqlUuid,
        title: String => Text,
        tags: String => Text,
        description: String => Text,
        terms: Vec<String> => Array<Text>,
        words: Vec<String> => Array<Text>,
        version: i32 => Integer,
    } -> Untyped,
    "WITH learned AS (
         INSERT INTO search_words (workspace_id, word)
         SELECT {workspace}, word FROM unnest({words}) AS words (word)
         ON CONFLICT (workspace_id, word) DO NOTHING
     ), built AS (
         DELETE FROM outdated_documents WHERE workspace_id = {workspace} AND request_id = {request}
     )
     INSERT INTO search_documents (workspace_id, request_id, tag_number, title, tags, description, terms, version)
     SELECT {workspace}, {request}, tag_number, {title}, {tags}, {description}, array_to_tsvector({terms}), {version}
     FROM feature_requests WHERE workspace_id = {workspace} AND id = {request}
     ON CONFLICT (workspace_id, request_id) DO UPDATE
     SET title = excluded.title, tags = excluded.tags, description = excluded.description, terms = excluded.terms,
         version = excluded.version"
}

statement! {
    /// Marks the search documents of feature requests as outdated.
    MarkOutdated { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "INSERT INTO outdated_documents (workspace_id, request_id)
     SELECT workspace_id, request_id FROM search_documents
     WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ON CONFLICT (workspace_id, request_id) DO NOTHING"
}

statement! {
    /// Locks the feature request that a reference means against other changes. Returns its ID, and its root if it was
    /// merged during the wait.
    LockRequest {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
    } -> (SqlUuid, Nullable<SqlUuid>),
    concat!("SELECT id, root_id FROM feature_requests WHERE workspace_id = {workspace} AND id = ", resolved!(), "
     FOR NO KEY UPDATE")
}

statement! {
    /// Selects the editable fields of a feature request.
    SelectEditableFields { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid } -> (Text, Text, Text, Array<Text>, Bool),
    "SELECT title, description, description_text, ARRAY(
         SELECT tag FROM feature_request_tags
         WHERE workspace_id = {workspace} AND request_id = {request} ORDER BY position
     ), private
     FROM feature_requests WHERE workspace_id = {workspace} AND id = {request}"
}

statement! {
    /// Replaces the editable fields of a feature request. A public one does not await approval any more.
    SaveEditableFields {
        workspace: Uuid => SqlUuid,
        request: Uuid => SqlUuid,
        title: String => Text,
        description: String => Text,
        description_text: String => Text,
        private: bool => Bool,
        tags: Vec<String> => Array<Text>,
        tags_folded: Vec<String> => Array<Text>,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "WITH untagged AS (
         DELETE FROM feature_request_tags
         WHERE workspace_id = {workspace} AND request_id = {request} AND position >= cardinality({tags})
     ), tagged AS (
         INSERT INTO feature_request_tags (workspace_id, request_id, position, tag, tag_folded)
         SELECT {workspace}, {request}, position - 1, tag, tag_folded
         FROM unnest({tags}, {tags_folded}) WITH ORDINALITY AS tags (tag, tag_folded, position)
         ON CONFLICT (workspace_id, request_id, position) DO UPDATE
         SET tag = excluded.tag, tag_folded = excluded.tag_folded
     )
     UPDATE feature_requests
     SET title = {title}, description = {description}, description_text = {description_text}, private = {private},
         awaiting_approval = awaiting_approval AND {private}, updated_at = {at}
     WHERE workspace_id = {workspace} AND id = {request}"
}

/// The row of a [`NewEvent`] of a workspace.
macro_rules! event_row {
    ($workspace:expr, $event:expr) => {{
        use crate::schema::feature_request_events;
        let roadmap_domain::model::event::NewEvent { request, event } = $event;
        (
            feature_request_events::workspace_id.eq($workspace),
            feature_request_events::id.eq(event.id.uuid()),
            feature_request_events::request_id.eq(request.uuid()),
            feature_request_events::kind.eq(event.content.kind()),
            feature_request_events::details.eq(event.content.details()),
            feature_request_events::actor_kind.eq(event.actor.kind.name()),
            feature_request_events::actor_id.eq(event.actor.id),
            feature_request_events::actor_name.eq(event.actor.name.clone()),
            feature_request_events::created_at.eq(roadmap_store::columns::TimestampColumn::from(event.created_at)),
        )
    }};
}
pub(crate) use event_row;

#[async_trait]
impl FeatureRequestWrites for PostgresUnit {
    async fn find_feature_request(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let find = FindRequest { workspace: self.workspace, request, number };
        let row: Option<SummaryRow> = self.run_optional(find.get_result(&mut self.connection()?)).await?;
        row.map(FeatureRequestSummary::try_from).transpose()
    }

    async fn lock_feature_request(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let Some(id) = self.lock_root(request).await? else { return Ok(None) };
        self.find_feature_request(&FeatureRequestRef::Id(FeatureRequestId::new(id))).await
    }

    async fn insert_feature_request(
        &mut self,
        request: &NewFeatureRequest,
    ) -> Result<FeatureRequestSummary, StoreError> {
        let words = request.search.as_ref().map(|document| self.learn_words(document)).unwrap_or_default();
        let insert = InsertRequest::new(self.workspace, request, words);
        let row: SummaryRow = self.run(insert.get_result(&mut self.connection()?)).await?;
        row.try_into()
    }

    async fn set_feature_request_track(
        &mut self,
        request: FeatureRequestId,
        track: TrackId,
        changes_status: bool,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let at = TimestampColumn::from(at);
        let place = diesel::update(feature_requests::table)
            .filter(feature_requests::workspace_id.eq(self.workspace))
            .filter(feature_requests::id.eq(request.uuid()))
            .set((
                feature_requests::track_id.eq(track.uuid()),
                feature_requests::handled_at.eq(at),
                changes_status.then(|| feature_requests::status_since.eq(at)),
                feature_requests::updated_at.eq(at),
            ));
        self.run(place.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn clear_attention(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError> {
        let clear = diesel::update(feature_requests::table)
            .filter(feature_requests::workspace_id.eq(self.workspace))
            .filter(feature_requests::id.eq(request.uuid()))
            .filter(feature_requests::attention.is_not_null())
            .set(feature_requests::handled_at.eq(TimestampColumn::from(at)));
        Ok(self.run(clear.execute(&mut self.connection()?)).await? > 0)
    }

    async fn find_editable_fields(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<EditableFields>, StoreError> {
        let Some(id) = self.lock_root(request).await? else { return Ok(None) };
        let select = SelectEditableFields { workspace: self.workspace, request: id };
        let row: Option<(String, String, String, Vec<String>, bool)> =
            self.run_optional(select.get_result(&mut self.connection()?)).await?;
        Ok(row.map(|(title, description, text, tags, private)| EditableFields {
            id: FeatureRequestId::new(id),
            title: Title::from_stored(title),
            description: Description::from_stored(description, text),
            tags: tags.into_iter().map(Tag::from_stored).collect(),
            private,
        }))
    }

    async fn save_editable_fields(&mut self, fields: &EditableFields, at: Timestamp) -> Result<(), StoreError> {
        let save = SaveEditableFields {
            workspace: self.workspace,
            request: fields.id.uuid(),
            title: fields.title.to_string(),
            description: fields.description.html().to_owned(),
            description_text: fields.description.text().to_owned(),
            private: fields.private,
            tags: fields.tags.iter().map(Tag::to_string).collect(),
            tags_folded: fields.tags.iter().map(Tag::folded).collect(),
            at: at.into(),
        };
        self.run(save.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn feature_request_detail(
        &mut self,
        request: FeatureRequestId,
    ) -> Result<Option<FeatureRequestDetail>, StoreError> {
        let find = FindDetail { workspace: self.workspace, request: Some(request.uuid()), number: None };
        let row: Option<DetailRow> = self.run_optional(find.get_result(&mut self.connection()?)).await?;
        row.map(FeatureRequestDetail::try_from).transpose()
    }

    /// Locks the feature request first, so that its document is not replaced by one of its earlier texts.
    async fn searchable_text(
        &mut self,
        request: FeatureRequestId,
        merged: u32,
    ) -> Result<Option<SearchableText>, StoreError> {
        let lock = feature_requests::table
            .filter(feature_requests::workspace_id.eq(self.workspace))
            .filter(feature_requests::id.eq(request.uuid()))
            .select(feature_requests::id)
            .for_share();
        let _: Vec<Uuid> = self.run(lock.load(&mut self.connection()?)).await?;
        let select =
            SelectSearchableText { workspace: self.workspace, request: request.uuid(), merged: i64::from(merged) };
        let row: Option<(String, Vec<String>, String, Vec<String>)> =
            self.run_optional(select.get_result(&mut self.connection()?)).await?;
        Ok(row.map(|(title, tags, description, merged)| SearchableText { title, tags, description, merged }))
    }

    async fn save_search_document(
        &mut self,
        request: FeatureRequestId,
        document: &SearchDocument,
    ) -> Result<(), StoreError> {
        let save = SaveSearchDocument {
            workspace: self.workspace,
            request: request.uuid(),
            title: document.title.clone(),
            tags: document.tags.clone(),
            description: document.description.clone(),
            terms: terms(self.workspace, document),
            words: self.learn_words(document),
            version: INDEX_VERSION,
        };
        self.run(save.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn delete_search_document(&mut self, request: FeatureRequestId) -> Result<(), StoreError> {
        let delete = diesel::delete(search_documents::table)
            .filter(search_documents::workspace_id.eq(self.workspace))
            .filter(search_documents::request_id.eq(request.uuid()));
        self.run(delete.execute(&mut self.connection()?)).await?;
        let delete = diesel::delete(outdated_documents::table)
            .filter(outdated_documents::workspace_id.eq(self.workspace))
            .filter(outdated_documents::request_id.eq(request.uuid()));
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn expire_search_documents(&mut self, requests: &[FeatureRequestId]) -> Result<(), StoreError> {
        let requests = requests.iter().map(|request| request.uuid()).collect();
        let expire = MarkOutdated { workspace: self.workspace, requests };
        self.run(expire.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn existing_feature_requests(
        &mut self,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let ids: Vec<Uuid> = requests.iter().map(|request| request.uuid()).collect();
        let existing = feature_requests::table
            .filter(feature_requests::workspace_id.eq(self.workspace))
            .filter(feature_requests::id.eq_any(ids))
            .select(feature_requests::id);
        let existing: Vec<Uuid> = self.run(existing.load(&mut self.connection()?)).await?;
        Ok(existing.into_iter().map(FeatureRequestId::new).collect())
    }

    async fn insert_event(&mut self, event: &NewEvent) -> Result<(), StoreError> {
        let insert = diesel::insert_into(feature_request_events::table).values(event_row!(self.workspace, event));
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn delete_feature_request(&mut self, request: FeatureRequestId) -> Result<(), StoreError> {
        self.delete_tree(request.uuid()).await
    }
}

impl PostgresUnit {
    /// Locks the row of the feature request that a reference means, and returns its ID. The next statement sees the changes
    /// that the lock waited for.
    async fn lock_root(&self, request: &FeatureRequestRef) -> Result<Option<Uuid>, StoreError> {
        let Some((mut request, mut number)) = id_or_number(request) else { return Ok(None) };
        loop {
            let lock = LockRequest { workspace: self.workspace, request, number };
            let row: Option<(Uuid, Option<Uuid>)> = self.run_optional(lock.get_result(&mut self.connection()?)).await?;
            match row {
                None => return Ok(None),
                Some((id, None)) => return Ok(Some(id)),
                Some((id, Some(_))) => (request, number) = (Some(id), None),
            }
        }
    }
}

impl InsertRequest {
    /// Creates the statement. `words` are those that may be missing in the vocabulary.
    fn new(workspace: Uuid, request: &NewFeatureRequest, words: Vec<String>) -> Self {
        let author = request.author.as_ref();
        let search = request.search.as_ref();
        Self {
            workspace,
            id: request.id.uuid(),
            title: request.title.to_string(),
            description: request.description.html().to_owned(),
            description_text: request.description.text().to_owned(),
            track: request.track.uuid(),
            private: request.private,
            awaiting_approval: request.awaiting_approval,
            handled_at: request.handled_at().map(TimestampColumn::from),
            attention: request.attention().map(|attention| attention.name().to_owned()),
            at: request.created_at.into(),
            tags: request.tags.iter().map(Tag::to_string).collect(),
            tags_folded: request.tags.iter().map(Tag::folded).collect(),
            customer: author.map(|author| author.id.uuid()),
            email: author.map(|author| author.email.as_str().to_owned()),
            email_folded: author.map(|author| author.email.folded().as_str().to_owned()),
            name: author.and_then(name_of),
            name_folded: author.and_then(folded_name_of),
            search_title: search.map(|document| document.title.clone()),
            search_tags: search.map(|document| document.tags.clone()),
            search_description: search.map(|document| document.description.clone()),
            search_terms: search.map(|document| terms(workspace, document)).unwrap_or_default(),
            search_words: words,
            search_version: INDEX_VERSION,
        }
    }
}

/// Returns the customer's display name, if one was given.
pub(crate) fn name_of(customer: &NewCustomer) -> Option<String> {
    customer.name.as_ref().map(Name::to_string)
}

/// Returns the customer's display name in lower case, if one was given.
pub(crate) fn folded_name_of(customer: &NewCustomer) -> Option<String> {
    customer.name.as_ref().map(|name| name.as_str().to_lowercase())
}

/// Returns the index terms of a document, and those of the title a second time.
pub(crate) fn terms(workspace: Uuid, document: &SearchDocument) -> Vec<String> {
    let places = [(any_place(workspace), Fields::Any), (title_place(workspace), Fields::Title)];
    let terms = |(place, fields): &(String, Fields)| -> Vec<String> {
        document.index_terms(*fields).into_iter().map(|term| format!("{place}{term}")).collect()
    };
    places.iter().flat_map(terms).collect()
}

/// Returns the prefix of a workspace's index terms from any field of a feature request.
pub(crate) fn any_place(workspace: Uuid) -> String {
    format!("{}/", short(workspace))
}

/// Returns the prefix of a workspace's index terms from the title of a feature request.
pub(crate) fn title_place(workspace: Uuid) -> String {
    format!("{}=", short(workspace))
}

/// Returns six hexadecimal digits of an id, from its random part. Two workspaces with the same digits read each other's
/// index entries needlessly: the workspace of a feature request is checked on its row.
fn short(workspace: Uuid) -> String {
    let digits = workspace.simple().to_string();
    digits.chars().skip(26).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_have_terms_of_their_own_in_the_index() {
        let workspace = Uuid::from_u128(0x0192_a3b4_c5d6_7e8f_9012_3456_789a_bcde);
        assert_eq!((any_place(workspace), title_place(workspace)), ("9abcde/".to_owned(), "9abcde=".to_owned()));
    }
}
