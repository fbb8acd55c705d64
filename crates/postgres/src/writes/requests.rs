//! Feature requests.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, Bool, Integer, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::feature_request::{
    FeatureRequestRef, FeatureRequestSummary, NewFeatureRequest, SearchableText, Tag,
};
use roadmap_domain::model::id::{FeatureRequestId, TrackId};
use roadmap_domain::model::search::concepts::INDEX_VERSION;
use roadmap_domain::model::search::{Fields, SearchDocument};
use roadmap_domain::model::text::Name;
use roadmap_domain::ports::FeatureRequestWrites;
use uuid::Uuid;

use crate::codec::TimestampColumn;
use crate::rows::{SummaryColumns, SummaryRow, placed_requests, summary_columns};
use crate::schema::feature_requests;
use crate::statement::statement;
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
        at: TimestampColumn => Timestamptz,
        tags: Vec<String> => Array<Text>,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        email: Option<String> => Nullable<Text>,
        email_folded: Option<String> => Nullable<Text>,
        name: Option<String> => Nullable<Text>,
        search_title: Option<String> => Nullable<Text>,
        search_tags: Option<String> => Nullable<Text>,
        search_description: Option<String> => Nullable<Text>,
        search_terms: Vec<String> => Array<Text>,
        search_words: Vec<String> => Array<Text>,
        search_version: i32 => Integer,
    } -> SummaryColumns,
    "WITH known AS (
         SELECT id FROM customers WHERE workspace_id = {workspace} AND email_folded = {email_folded}
     ), added AS (
         INSERT INTO customers (workspace_id, id, email, email_folded, name, created_at)
         SELECT {workspace}, {customer}, {email}, {email_folded}, {name}, {at}
         WHERE {customer} IS NOT NULL AND NOT EXISTS (SELECT FROM known)
         ON CONFLICT (workspace_id, email_folded) DO UPDATE SET name = coalesce(customers.name, excluded.name)
         RETURNING id
     ), named AS (
         UPDATE customers SET name = {name}
         WHERE workspace_id = {workspace} AND id = (SELECT id FROM known) AND name IS NULL AND {name} IS NOT NULL
     ), author AS (
         SELECT id FROM known UNION ALL SELECT id FROM added
     ), number AS (
         INSERT INTO tag_counters (workspace_id, last_tag_number) VALUES ({workspace}, 1)
         ON CONFLICT (workspace_id) DO UPDATE SET last_tag_number = tag_counters.last_tag_number + 1
         RETURNING last_tag_number AS tag_number
     ), request AS (
         INSERT INTO feature_requests
             (workspace_id, id, tag_number, title, description, description_text, track_id, author_id, private, created_at)
         SELECT {workspace}, {id}, tag_number, {title}, {description}, {description_text}, {track},
                (SELECT id FROM author), {private}, {at} FROM number
     ), tally AS (
         INSERT INTO vote_tallies (workspace_id, request_id, tag_number, votes_count)
         SELECT {workspace}, {id}, tag_number, 0 FROM number
     ), tagged AS (
         INSERT INTO feature_request_tags (workspace_id, request_id, position, tag)
         SELECT {workspace}, {id}, position - 1, tag FROM unnest({tags}) WITH ORDINALITY AS tags (tag, position)
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
     LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = tracks.lane_id"
}

statement! {
    /// Selects the texts that a public feature request is searched by.
    SelectSearchableText { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid } -> (Text, Array<Text>, Text),
    "SELECT title, ARRAY(
         SELECT tag FROM feature_request_tags
         WHERE workspace_id = {workspace} AND request_id = {request} ORDER BY position
     ), description_text
     FROM feature_requests WHERE workspace_id = {workspace} AND id = {request} AND NOT private"
}

statement! {
    /// Replaces a search document, and adds its words to the vocabulary.
    UpdateSearchDocument {
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
     )
     UPDATE search_documents
     SET title = {title}, tags = {tags}, description = {description}, terms = array_to_tsvector({terms}),
         version = {version}
     WHERE workspace_id = {workspace} AND request_id = {request}"
}

#[async_trait]
impl FeatureRequestWrites for PostgresUnit {
    async fn find_feature_request(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let requests = placed_requests().filter(feature_requests::workspace_id.eq(self.workspace));
        let requests = requests.select(summary_columns());
        let row: Option<SummaryRow> = match *request {
            FeatureRequestRef::Id(id) => {
                let request = requests.filter(feature_requests::id.eq(id.uuid()));
                self.run_optional(request.first(&mut self.connection()?)).await?
            }
            FeatureRequestRef::Number(number) => {
                let request = requests.filter(feature_requests::tag_number.eq(number));
                self.run_optional(request.first(&mut self.connection()?)).await?
            }
            FeatureRequestRef::Unresolvable => None,
        };
        row.map(FeatureRequestSummary::try_from).transpose()
    }

    async fn insert_feature_request(
        &mut self,
        request: &NewFeatureRequest,
    ) -> Result<FeatureRequestSummary, StoreError> {
        let insert = InsertRequest::new(self.workspace, request);
        let row: SummaryRow = self.run(insert.get_result(&mut self.connection()?)).await?;
        row.try_into()
    }

    async fn set_feature_request_track(&mut self, request: FeatureRequestId, track: TrackId) -> Result<(), StoreError> {
        let place = diesel::update(feature_requests::table)
            .filter(feature_requests::workspace_id.eq(self.workspace))
            .filter(feature_requests::id.eq(request.uuid()))
            .set(feature_requests::track_id.eq(track.uuid()));
        self.run(place.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn searchable_text(&mut self, request: FeatureRequestId) -> Result<Option<SearchableText>, StoreError> {
        let select = SelectSearchableText { workspace: self.workspace, request: request.uuid() };
        let row: Option<(String, Vec<String>, String)> =
            self.run_optional(select.get_result(&mut self.connection()?)).await?;
        Ok(row.map(|(title, tags, description)| SearchableText { title, tags, description }))
    }

    async fn save_search_document(
        &mut self,
        request: FeatureRequestId,
        document: &SearchDocument,
    ) -> Result<(), StoreError> {
        let update = UpdateSearchDocument {
            workspace: self.workspace,
            request: request.uuid(),
            title: document.title.clone(),
            tags: document.tags.clone(),
            description: document.description.clone(),
            terms: terms(self.workspace, document),
            words: document.vocabulary().into_iter().map(ToOwned::to_owned).collect(),
            version: INDEX_VERSION,
        };
        self.run(update.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}

impl InsertRequest {
    fn new(workspace: Uuid, request: &NewFeatureRequest) -> Self {
        let author = request.author.as_ref();
        let search = request.search.as_ref();
        let words = search.map(SearchDocument::vocabulary).unwrap_or_default();
        Self {
            workspace,
            id: request.id.uuid(),
            title: request.title.to_string(),
            description: request.description.html().to_owned(),
            description_text: request.description.text().to_owned(),
            track: request.track.uuid(),
            private: request.private,
            at: request.created_at.into(),
            tags: request.tags.iter().map(Tag::to_string).collect(),
            customer: author.map(|author| author.id.uuid()),
            email: author.map(|author| author.email.as_str().to_owned()),
            email_folded: author.map(|author| author.email.folded().as_str().to_owned()),
            name: author.and_then(name_of),
            search_title: search.map(|document| document.title.clone()),
            search_tags: search.map(|document| document.tags.clone()),
            search_description: search.map(|document| document.description.clone()),
            search_terms: search.map(|document| terms(workspace, document)).unwrap_or_default(),
            search_words: words.into_iter().map(ToOwned::to_owned).collect(),
            search_version: INDEX_VERSION,
        }
    }
}

/// Returns the customer's display name, if one was given.
pub(crate) fn name_of(customer: &NewCustomer) -> Option<String> {
    customer.name.as_ref().map(Name::to_string)
}

/// Returns the index terms of a document, and those of the title a second time.
fn terms(workspace: Uuid, document: &SearchDocument) -> Vec<String> {
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
