//! Writes that only imports make: many rows with one statement.

use std::collections::HashMap;

use async_trait::async_trait;
use diesel::ExpressionMethods;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::event::NewEvent;
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, ImportId, MemberId};
use roadmap_domain::model::import::{
    ImportedAuthor, ImportedComment, ImportedMove, ImportedNote, ImportedRequest, ImportedSubscription, ImportedVote,
    VotesImported,
};
use roadmap_domain::model::mail::NO_MAILBOX;
use roadmap_domain::model::member::Member;
use roadmap_domain::model::search::concepts::INDEX_VERSION;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::ImportWrites;
use roadmap_store::columns::TimestampColumn;
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::schema::feature_request_events;
use crate::statement::statement;
use crate::unit::PostgresUnit;
use crate::writes::requests::{event_row, folded_name_of, name_of, terms};

/// Maximum number of events of one statement, which has at most 65,535 parameters.
const MAX_EVENTS: usize = 5_000;

/// Separates the index terms of a document, which have no control character.
const TERMS: &str = "\u{1f}";

statement! {
    /// Inserts customers whose addresses are new, and fills empty names of those that are known. Of several with one
    /// address, the first is inserted, with the first name. Locks them in the order of their addresses.
    ImportCustomers {
        workspace: Uuid => SqlUuid,
        ids: Vec<Uuid> => Array<SqlUuid>,
        emails: Vec<String> => Array<Text>,
        emails_folded: Vec<String> => Array<Text>,
        names: Vec<Option<String>> => Array<Nullable<Text>>,
        names_folded: Vec<Option<String>> => Array<Nullable<Text>>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
        have_mailbox: Vec<bool> => Array<Bool>,
        no_mailbox: String => Text,
        import: Uuid => SqlUuid,
    } -> Untyped,
    "INSERT INTO customers (workspace_id, id, email, email_folded, name, name_folded, created_at, mail_stopped_at,
                            mail_stopped_because, stops_changelogs, import_id)
     SELECT {workspace}, (array_agg(id ORDER BY place))[1], (array_agg(email ORDER BY place))[1], folded,
            (array_agg(name ORDER BY place) FILTER (WHERE name IS NOT NULL))[1],
            (array_agg(name_folded ORDER BY place) FILTER (WHERE name IS NOT NULL))[1],
            (array_agg(at ORDER BY place))[1],
            CASE WHEN NOT bool_and(has_mailbox) THEN (array_agg(at ORDER BY place))[1] END,
            CASE WHEN NOT bool_and(has_mailbox) THEN {no_mailbox} END, NOT bool_and(has_mailbox), {import}
     FROM unnest({ids}, {emails}, {emails_folded}, {names}, {names_folded}, {times}, {have_mailbox})
         WITH ORDINALITY AS given (id, email, folded, name, name_folded, at, has_mailbox, place)
     GROUP BY folded ORDER BY folded
     ON CONFLICT (workspace_id, email_folded) DO UPDATE
     SET name = coalesce(customers.name, excluded.name),
         name_folded = coalesce(customers.name_folded, excluded.name_folded)
     WHERE customers.name IS NULL AND excluded.name IS NOT NULL"
}

statement! {
    /// Selects the customers with some addresses.
    CustomersByAddress { workspace: Uuid => SqlUuid, emails_folded: Vec<String> => Array<Text> } -> (Text, SqlUuid),
    "SELECT email_folded, id FROM customers WHERE workspace_id = {workspace} AND email_folded = ANY ({emails_folded})"
}

statement! {
    /// Inserts feature requests under the next tag numbers, with their tags, tallies and search documents. Returns the
    /// first number.
    ImportRequests {
        workspace: Uuid => SqlUuid,
        count: i64 => BigInt,
        ids: Vec<Uuid> => Array<SqlUuid>,
        titles: Vec<String> => Array<Text>,
        descriptions: Vec<String> => Array<Text>,
        description_texts: Vec<String> => Array<Text>,
        tracks: Vec<Uuid> => Array<SqlUuid>,
        authors: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        are_private: Vec<bool> => Array<Bool>,
        are_awaiting: Vec<bool> => Array<Bool>,
        handled: Vec<Option<TimestampColumn>> => Array<Nullable<Timestamptz>>,
        attentions: Vec<Option<String>> => Array<Nullable<Text>>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
        nameless: Vec<i64> => Array<BigInt>,
        tagged: Vec<Uuid> => Array<SqlUuid>,
        positions: Vec<i32> => Array<Integer>,
        tags: Vec<String> => Array<Text>,
        tags_folded: Vec<String> => Array<Text>,
        documents: Vec<Uuid> => Array<SqlUuid>,
        search_titles: Vec<String> => Array<Text>,
        search_tags: Vec<String> => Array<Text>,
        search_descriptions: Vec<String> => Array<Text>,
        search_terms: Vec<String> => Array<Text>,
        separator: String => Text,
        search_words: Vec<String> => Array<Text>,
        search_version: i32 => Integer,
    } -> BigInt,
    "WITH counter AS (
         INSERT INTO tag_counters (workspace_id, last_tag_number) VALUES ({workspace}, {count})
         ON CONFLICT (workspace_id) DO UPDATE SET last_tag_number = tag_counters.last_tag_number + {count}
         RETURNING last_tag_number - {count} AS before
     ), numbered AS MATERIALIZED (
         SELECT given.*, before + place AS tag_number FROM counter, unnest(
             {ids}, {titles}, {descriptions}, {description_texts}, {tracks}, {authors}, {are_private}, {are_awaiting},
             {handled}, {attentions}, {times}, {nameless}
         ) WITH ORDINALITY AS given (
             id, title, description, description_text, track, author, is_private, is_awaiting, handled_at, attention,
             at, nameless, place
         )
     ), requests AS (
         INSERT INTO feature_requests
             (workspace_id, id, tag_number, title, description, description_text, track_id, author_id, private,
              awaiting_approval, handled_at, status_since, attention, created_at, updated_at)
         SELECT {workspace}, id, tag_number, title, description, description_text, track, author, is_private,
                is_awaiting, handled_at, at, attention, at, at
         FROM numbered ORDER BY place
     ), tallies AS (
         INSERT INTO vote_tallies
             (workspace_id, request_id, tag_number, votes_count, nameless_votes, track_id, private, attention)
         SELECT {workspace}, id, tag_number, nameless, nameless, track, is_private, attention FROM numbered
         ORDER BY place
     ), tagged AS (
         INSERT INTO feature_request_tags (workspace_id, request_id, position, tag, tag_folded)
         SELECT {workspace}, request, position, tag, folded
         FROM unnest({tagged}, {positions}, {tags}, {tags_folded}) AS tags (request, position, tag, folded)
     ), documents AS (
         INSERT INTO search_documents (workspace_id, request_id, tag_number, title, tags, description, terms, version)
         SELECT {workspace}, numbered.id, tag_number, document.title, document.tags, document.description,
                array_to_tsvector(string_to_array(document.terms, {separator})), {search_version}
         FROM unnest({documents}, {search_titles}, {search_tags}, {search_descriptions}, {search_terms})
             AS document (request, title, tags, description, terms)
         JOIN numbered ON numbered.id = document.request
     ), learned AS (
         INSERT INTO search_words (workspace_id, word)
         SELECT {workspace}, word FROM unnest({search_words}) AS words (word) ORDER BY word
         ON CONFLICT (workspace_id, word) DO NOTHING
     )
     SELECT before + 1 FROM counter"
}

statement! {
    /// Inserts votes for feature requests themselves. Counts those for feature requests that were never part of a merge,
    /// and their companies. Returns the number of new votes and that of subscriptions among them, and the roots of the trees
    /// that must be counted again.
    ImportVotes {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        customers: Vec<Uuid> => Array<SqlUuid>,
        subscribed: Vec<bool> => Array<Bool>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
        import: Uuid => SqlUuid,
    } -> (BigInt, BigInt, Array<SqlUuid>),
    "WITH added AS (
         INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at, import_id)
         SELECT DISTINCT ON (request, customer) {workspace}, request, customer,
                subscribed AND voter.mail_stopped_at IS NULL, at, {import}
         FROM unnest({requests}, {customers}, {subscribed}, {times})
             WITH ORDINALITY AS given (request, customer, subscribed, at, place)
         JOIN customers AS voter ON voter.workspace_id = {workspace} AND voter.id = customer
         ORDER BY request, customer, place
         ON CONFLICT (workspace_id, request_id, customer_id) DO NOTHING
         RETURNING request_id, customer_id, created_at, subscribed
     ), placed AS MATERIALIZED (
         SELECT added.*, was_merged, coalesce(root_id, id) AS root FROM added
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND id = request_id
     ), companies AS (
         INSERT INTO company_tallies AS tallies (workspace_id, request_id, company, voters_count)
         SELECT {workspace}, request_id, company, count(*) FROM (
             SELECT request_id, company_of(email_folded) AS company FROM placed
             JOIN customers ON customers.workspace_id = {workspace} AND customers.id = customer_id
             WHERE NOT was_merged
         ) AS voters
         WHERE company IS NOT NULL GROUP BY request_id, company
         ON CONFLICT (workspace_id, request_id, company)
         DO UPDATE SET voters_count = tallies.voters_count + excluded.voters_count
         -- Nothing else has written a row that was inserted.
         RETURNING request_id, tallies.xmax = 0 AS is_new
     ), counted AS (
         UPDATE vote_tallies SET votes_count = votes_count + voted.votes, trend = trend + voted.weight,
                companies_count = companies_count + coalesce(new.companies, 0)
         FROM (
             SELECT request_id AS request, count(*) AS votes, sum(vote_weight(created_at)) AS weight FROM placed
             WHERE NOT was_merged GROUP BY request_id
         ) AS voted
         LEFT JOIN (
             SELECT request_id AS request, count(*) AS companies FROM companies WHERE is_new GROUP BY request_id
         ) AS new ON new.request = voted.request
         WHERE workspace_id = {workspace} AND request_id = voted.request
     )
     SELECT count(*), count(*) FILTER (WHERE subscribed),
            coalesce(array_agg(DISTINCT root ORDER BY root) FILTER (WHERE was_merged), ARRAY[]::uuid[])
     FROM placed"
}

statement! {
    /// Inserts removed members, unless there is one with the address, removed or not.
    ImportMembers {
        workspace: Uuid => SqlUuid,
        ids: Vec<Uuid> => Array<SqlUuid>,
        emails: Vec<String> => Array<Text>,
        emails_folded: Vec<String> => Array<Text>,
        names: Vec<String> => Array<Text>,
        roles: Vec<String> => Array<Text>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
    } -> Untyped,
    "INSERT INTO members (workspace_id, id, email, email_folded, name, role, created_at, told_until, removed_at)
     SELECT DISTINCT ON (folded) {workspace}, id, email, folded, name, role, at, at, at
     FROM unnest({ids}, {emails}, {emails_folded}, {names}, {roles}, {times})
         WITH ORDINALITY AS given (id, email, folded, name, role, at, place)
     ORDER BY folded, place
     ON CONFLICT (workspace_id, email_folded) DO NOTHING"
}

statement! {
    /// Selects the members with some addresses, removed ones included.
    MembersByAddress { workspace: Uuid => SqlUuid, emails_folded: Vec<String> => Array<Text> } -> (Text, SqlUuid),
    "SELECT email_folded, id FROM members WHERE workspace_id = {workspace} AND email_folded = ANY ({emails_folded})"
}

statement! {
    /// Subscribes customers without a vote, unless there is one or the customer's mail is stopped.
    ImportSubscriptions {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        customers: Vec<Uuid> => Array<SqlUuid>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
        import: Uuid => SqlUuid,
    } -> Untyped,
    "INSERT INTO followers (workspace_id, request_id, customer_id, created_at, import_id)
     SELECT DISTINCT ON (request, customer) {workspace}, request, customer, at, {import}
     FROM unnest({requests}, {customers}, {times}) WITH ORDINALITY AS given (request, customer, at, place)
     JOIN customers ON customers.workspace_id = {workspace} AND customers.id = customer
     WHERE mail_stopped_at IS NULL AND NOT EXISTS (
         SELECT FROM votes WHERE votes.workspace_id = {workspace} AND votes.request_id = request
            AND votes.customer_id = customer
     )
     ORDER BY request, customer, place
     ON CONFLICT (workspace_id, request_id, customer_id) DO NOTHING"
}

statement! {
    /// Inserts comments, or comments that wait for approval. Absent authors are NULL.
    ImportComments {
        workspace: Uuid => SqlUuid,
        ids: Vec<Uuid> => Array<SqlUuid>,
        requests: Vec<Uuid> => Array<SqlUuid>,
        members: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        customers: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        are_held: Vec<bool> => Array<Bool>,
        contents: Vec<String> => Array<Text>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
    } -> Untyped,
    "WITH given AS MATERIALIZED (
         SELECT * FROM unnest({ids}, {requests}, {members}, {customers}, {are_held}, {contents}, {times})
             AS given (id, request, member, customer, is_held, content, at)
     ), held AS (
         INSERT INTO held_comments (workspace_id, id, request_id, customer_id, content, created_at)
         SELECT {workspace}, id, request, customer, content, at FROM given WHERE is_held
     )
     INSERT INTO comments (workspace_id, id, request_id, author_id, customer_id, content, created_at, updated_at)
     SELECT {workspace}, id, request, member, customer, content, at, at FROM given WHERE NOT is_held"
}

statement! {
    /// Inserts notes. Absent customers and authors are NULL.
    ImportNotes {
        workspace: Uuid => SqlUuid,
        ids: Vec<Uuid> => Array<SqlUuid>,
        requests: Vec<Uuid> => Array<SqlUuid>,
        customers: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        authors: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        bodies: Vec<String> => Array<Text>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
    } -> Untyped,
    "INSERT INTO notes (workspace_id, id, request_id, customer_id, author_id, body, created_at)
     SELECT {workspace}, given.* FROM unnest({ids}, {requests}, {customers}, {authors}, {bodies}, {times}) AS given"
}

statement! {
    /// Selects which customers have voted for feature requests themselves.
    ExistingVotes {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        customers: Vec<Uuid> => Array<SqlUuid>,
    } -> Bool,
    "SELECT EXISTS (
         SELECT FROM votes WHERE workspace_id = {workspace} AND request_id = request AND customer_id = customer
     ) FROM unnest({requests}, {customers}) WITH ORDINALITY AS given (request, customer, place) ORDER BY place"
}

statement! {
    /// Selects whether customers have voted for feature requests themselves or are subscribed to them.
    ExistingSubscriptions {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        customers: Vec<Uuid> => Array<SqlUuid>,
    } -> Bool,
    "SELECT EXISTS (
         SELECT FROM votes WHERE workspace_id = {workspace} AND request_id = request AND customer_id = customer
     ) OR EXISTS (
         SELECT FROM followers WHERE workspace_id = {workspace} AND request_id = request AND customer_id = customer
     ) FROM unnest({requests}, {customers}) WITH ORDINALITY AS given (request, customer, place) ORDER BY place"
}

statement! {
    /// Sets since when the team has decided about feature requests, and since when they have their public status if a move
    /// leads to their track.
    DateMoves {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
        tracks: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        change_status: Vec<bool> => Array<Bool>,
    } -> Untyped,
    "UPDATE feature_requests AS record SET handled_at = greatest(coalesce(record.handled_at, record.created_at), moved_at),
            status_since = greatest(record.status_since, placed_at)
     FROM (
         SELECT request, max(at) AS moved_at,
                max(at) FILTER (WHERE changes_status AND track = moved.track_id) AS placed_at
         FROM unnest({requests}, {times}, {tracks}, {change_status}) AS given (request, at, track, changes_status)
         JOIN feature_requests AS moved ON moved.workspace_id = {workspace} AND moved.id = request
         GROUP BY request
     ) AS given
     WHERE record.workspace_id = {workspace} AND record.id = given.request"
}

statement! {
    /// Selects the roots of the trees of feature requests.
    RootsOf { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> SqlUuid,
    "SELECT DISTINCT coalesce(root_id, id) AS root FROM feature_requests
     WHERE workspace_id = {workspace} AND id = ANY ({requests}) ORDER BY root"
}

statement! {
    /// Sets the nameless votes of feature requests.
    SetNamelessVotes {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        votes: Vec<i64> => Array<BigInt>,
    } -> Untyped,
    "UPDATE vote_tallies SET nameless_votes = given.votes
     FROM unnest({requests}, {votes}) AS given (request, votes)
     WHERE workspace_id = {workspace} AND request_id = given.request"
}

impl ImportCustomers {
    fn new(workspace: Uuid, import: ImportId, customers: &[(NewCustomer, Timestamp)]) -> Self {
        let people = || customers.iter().map(|(customer, _)| customer);
        Self {
            workspace,
            ids: people().map(|customer| customer.id.uuid()).collect(),
            emails: people().map(|customer| customer.email.as_str().to_owned()).collect(),
            emails_folded: people().map(|customer| customer.email.folded().as_str().to_owned()).collect(),
            names: people().map(name_of).collect(),
            names_folded: people().map(folded_name_of).collect(),
            times: customers.iter().map(|(_, at)| (*at).into()).collect(),
            have_mailbox: people().map(|customer| customer.email.folded().has_mailbox()).collect(),
            no_mailbox: NO_MAILBOX.to_owned(),
            import: import.uuid(),
        }
    }
}

impl ImportRequests {
    /// Creates the statement. `authors` are those of the feature requests, `words` those that may be missing in the
    /// vocabulary.
    fn new(workspace: Uuid, imported: &[ImportedRequest], authors: Vec<Option<Uuid>>, words: Vec<String>) -> Self {
        let requests = || imported.iter().map(|imported| &imported.request);
        let tags = || requests().flat_map(|request| (0..).zip(&request.tags).map(move |tag| (request.id.uuid(), tag)));
        let documents = || requests().filter_map(|request| Some((request.id.uuid(), request.search.as_ref()?)));
        Self {
            workspace,
            count: i64::try_from(imported.len()).unwrap_or(i64::MAX),
            ids: requests().map(|request| request.id.uuid()).collect(),
            titles: requests().map(|request| request.title.to_string()).collect(),
            descriptions: requests().map(|request| request.description.html().to_owned()).collect(),
            description_texts: requests().map(|request| request.description.text().to_owned()).collect(),
            tracks: requests().map(|request| request.track.uuid()).collect(),
            authors,
            are_private: requests().map(|request| request.private).collect(),
            are_awaiting: requests().map(|request| request.awaiting_approval).collect(),
            handled: requests().map(|request| request.handled_at().map(TimestampColumn::from)).collect(),
            attentions: requests().map(|request| request.attention().map(|need| need.name().to_owned())).collect(),
            times: requests().map(|request| request.created_at.into()).collect(),
            nameless: imported.iter().map(|imported| imported.nameless_votes.into()).collect(),
            tagged: tags().map(|(request, _)| request).collect(),
            positions: tags().map(|(_, (position, _))| position).collect(),
            tags: tags().map(|(_, (_, tag))| tag.to_string()).collect(),
            tags_folded: tags().map(|(_, (_, tag))| Tag::folded(tag)).collect(),
            documents: documents().map(|(request, _)| request).collect(),
            search_titles: documents().map(|(_, document)| document.title.clone()).collect(),
            search_tags: documents().map(|(_, document)| document.tags.clone()).collect(),
            search_descriptions: documents().map(|(_, document)| document.description.clone()).collect(),
            search_terms: documents().map(|(_, document)| terms(workspace, document).join(TERMS)).collect(),
            separator: TERMS.to_owned(),
            search_words: words,
            search_version: INDEX_VERSION,
        }
    }
}

/// Returns the IDs of the records with some addresses, in their order, those that were found.
fn by_address(addresses: &[FoldedEmail], found: Vec<(String, Uuid)>) -> impl Iterator<Item = Option<Uuid>> {
    let found: HashMap<String, Uuid> = found.into_iter().collect();
    addresses.iter().map(move |address| found.get(address.as_str()).copied())
}

/// Returns the IDs of the records with some addresses, in their order.
fn in_order(addresses: &[String], found: Vec<(String, Uuid)>) -> Result<Vec<Uuid>, StoreError> {
    let found: HashMap<String, Uuid> = found.into_iter().collect();
    let id = |address: &String| found.get(address).copied();
    let gone = || StoreError::Transient("an imported person was merged meanwhile".into());
    addresses.iter().map(|address| id(address).ok_or_else(gone)).collect()
}

#[async_trait]
impl ImportWrites for PostgresUnit {
    async fn find_customers(&mut self, addresses: &[FoldedEmail]) -> Result<Vec<Option<CustomerId>>, StoreError> {
        let emails_folded: Vec<String> = addresses.iter().map(|address| address.as_str().to_owned()).collect();
        let find = CustomersByAddress { workspace: self.workspace, emails_folded };
        let found: Vec<(String, Uuid)> = self.run(find.load(&mut self.connection()?)).await?;
        Ok(by_address(addresses, found).map(|id| id.map(CustomerId::new)).collect())
    }

    async fn find_all_members(&mut self, addresses: &[FoldedEmail]) -> Result<Vec<Option<MemberId>>, StoreError> {
        let emails_folded: Vec<String> = addresses.iter().map(|address| address.as_str().to_owned()).collect();
        let find = MembersByAddress { workspace: self.workspace, emails_folded };
        let found: Vec<(String, Uuid)> = self.run(find.load(&mut self.connection()?)).await?;
        Ok(by_address(addresses, found).map(|id| id.map(MemberId::new)).collect())
    }

    async fn existing_votes(&mut self, votes: &[(FeatureRequestId, CustomerId)]) -> Result<Vec<bool>, StoreError> {
        let (requests, customers) = votes.iter().map(|(request, customer)| (request.uuid(), customer.uuid())).unzip();
        let exist = ExistingVotes { workspace: self.workspace, requests, customers };
        self.run(exist.load(&mut self.connection()?)).await
    }

    async fn import_customers(
        &mut self,
        by: ImportId,
        customers: &[(NewCustomer, Timestamp)],
    ) -> Result<Vec<CustomerId>, StoreError> {
        let import = ImportCustomers::new(self.workspace, by, customers);
        let addresses = import.emails_folded.clone();
        self.run(import.execute(&mut self.connection()?)).await?;
        let find = CustomersByAddress { workspace: self.workspace, emails_folded: addresses.clone() };
        let found = self.run(find.load(&mut self.connection()?)).await?;
        Ok(in_order(&addresses, found)?.into_iter().map(CustomerId::new).collect())
    }

    async fn import_feature_requests(&mut self, by: ImportId, requests: &[ImportedRequest]) -> Result<i64, StoreError> {
        if requests.is_empty() {
            return Ok(0);
        }
        let with_authors = || {
            requests.iter().filter_map(|imported| {
                imported.request.author.clone().map(|author| (author, imported.request.created_at))
            })
        };
        let authors: Vec<(NewCustomer, Timestamp)> = with_authors().collect();
        let mut found = self.import_customers(by, &authors).await?.into_iter();
        let authors = requests
            .iter()
            .map(|imported| imported.request.author.as_ref().and_then(|_| found.next()).map(|author| author.uuid()))
            .collect();
        let mut words = Vec::new();
        for document in requests.iter().filter_map(|imported| imported.request.search.as_ref()) {
            words.extend(self.learn_words(document));
        }
        words.sort_unstable();
        words.dedup();
        let import = ImportRequests::new(self.workspace, requests, authors, words);
        self.run(import.get_result(&mut self.connection()?)).await
    }

    async fn import_votes(&mut self, by: ImportId, votes: &[ImportedVote]) -> Result<VotesImported, StoreError> {
        self.lock_workspace(WorkspaceLock::Merges).await?;
        let import = ImportVotes {
            workspace: self.workspace,
            requests: votes.iter().map(|vote| vote.request.uuid()).collect(),
            customers: votes.iter().map(|vote| vote.customer.uuid()).collect(),
            subscribed: votes.iter().map(|vote| vote.is_subscribed).collect(),
            times: votes.iter().map(|vote| vote.at.into()).collect(),
            import: by.uuid(),
        };
        let (new, subscribed, roots): (i64, i64, Vec<Uuid>) =
            self.run(import.get_result(&mut self.connection()?)).await?;
        self.lock_in_order(&roots).await?;
        self.count_trees(roots).await?;
        Ok(VotesImported { new: new.unsigned_abs(), subscribed: subscribed.unsigned_abs() })
    }

    async fn import_members(&mut self, members: &[Member]) -> Result<Vec<MemberId>, StoreError> {
        let addresses: Vec<String> = members.iter().map(|member| member.email.folded().as_str().to_owned()).collect();
        let import = ImportMembers {
            workspace: self.workspace,
            ids: members.iter().map(|member| member.id.uuid()).collect(),
            emails: members.iter().map(|member| member.email.as_str().to_owned()).collect(),
            emails_folded: addresses.clone(),
            names: members.iter().map(|member| member.name.to_string()).collect(),
            roles: members.iter().map(|member| member.role.name().to_owned()).collect(),
            times: members.iter().map(|member| member.created_at.into()).collect(),
        };
        self.run(import.execute(&mut self.connection()?)).await?;
        let find = MembersByAddress { workspace: self.workspace, emails_folded: addresses.clone() };
        let found = self.run(find.load(&mut self.connection()?)).await?;
        Ok(in_order(&addresses, found)?.into_iter().map(MemberId::new).collect())
    }

    async fn import_subscriptions(
        &mut self,
        by: ImportId,
        subscriptions: &[ImportedSubscription],
    ) -> Result<u64, StoreError> {
        let import = ImportSubscriptions {
            workspace: self.workspace,
            requests: subscriptions.iter().map(|subscription| subscription.request.uuid()).collect(),
            customers: subscriptions.iter().map(|subscription| subscription.customer.uuid()).collect(),
            times: subscriptions.iter().map(|subscription| subscription.at.into()).collect(),
            import: by.uuid(),
        };
        Ok(self.run(import.execute(&mut self.connection()?)).await? as u64)
    }

    async fn existing_subscriptions(
        &mut self,
        subscriptions: &[(FeatureRequestId, CustomerId)],
    ) -> Result<Vec<bool>, StoreError> {
        let (requests, customers) =
            subscriptions.iter().map(|(request, customer)| (request.uuid(), customer.uuid())).unzip();
        let exist = ExistingSubscriptions { workspace: self.workspace, requests, customers };
        self.run(exist.load(&mut self.connection()?)).await
    }

    async fn import_comments(&mut self, comments: &[ImportedComment]) -> Result<(), StoreError> {
        let customer = |comment: &ImportedComment| match comment.author {
            ImportedAuthor::Customer(customer) | ImportedAuthor::HeldCustomer(customer) => Some(customer.uuid()),
            ImportedAuthor::Member(_) => None,
        };
        let member = |comment: &ImportedComment| match comment.author {
            ImportedAuthor::Member(member) => member.map(|member| member.uuid()),
            ImportedAuthor::Customer(_) | ImportedAuthor::HeldCustomer(_) => None,
        };
        let is_held = |comment: &ImportedComment| matches!(comment.author, ImportedAuthor::HeldCustomer(_));
        let import = ImportComments {
            workspace: self.workspace,
            ids: comments.iter().map(|comment| comment.id.uuid()).collect(),
            requests: comments.iter().map(|comment| comment.request.uuid()).collect(),
            members: comments.iter().map(member).collect(),
            customers: comments.iter().map(customer).collect(),
            are_held: comments.iter().map(is_held).collect(),
            contents: comments.iter().map(|comment| comment.content.as_str().to_owned()).collect(),
            times: comments.iter().map(|comment| comment.at.into()).collect(),
        };
        self.run(import.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn import_notes(&mut self, notes: &[ImportedNote]) -> Result<(), StoreError> {
        let import = ImportNotes {
            workspace: self.workspace,
            ids: notes.iter().map(|note| note.id.uuid()).collect(),
            requests: notes.iter().map(|note| note.request.uuid()).collect(),
            customers: notes.iter().map(|note| note.customer.map(|customer| customer.uuid())).collect(),
            authors: notes.iter().map(|note| note.author.map(|author| author.uuid())).collect(),
            bodies: notes.iter().map(|note| note.body.as_str().to_owned()).collect(),
            times: notes.iter().map(|note| note.at.into()).collect(),
        };
        self.run(import.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn import_moves(&mut self, moves: &[ImportedMove]) -> Result<(), StoreError> {
        let events: Vec<_> = moves.iter().map(|moved| moved.event.clone()).collect();
        self.import_events(&events).await?;
        let date = DateMoves {
            workspace: self.workspace,
            requests: moves.iter().map(|moved| moved.event.request.uuid()).collect(),
            times: moves.iter().map(|moved| moved.event.event.created_at.into()).collect(),
            tracks: moves.iter().map(|moved| moved.track.map(|track| track.uuid())).collect(),
            change_status: moves.iter().map(|moved| moved.changes_status).collect(),
        };
        self.run(date.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn import_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError> {
        for events in events.chunks(MAX_EVENTS) {
            let rows: Vec<_> = events.iter().map(|event| event_row!(self.workspace, event)).collect();
            let insert = diesel::insert_into(feature_request_events::table).values(rows);
            self.run(insert.execute(&mut self.connection()?)).await?;
        }
        Ok(())
    }

    async fn set_nameless_votes(&mut self, votes: &[(FeatureRequestId, u32)]) -> Result<(), StoreError> {
        let (requests, votes): (Vec<Uuid>, Vec<i64>) =
            votes.iter().map(|(request, votes)| (request.uuid(), i64::from(*votes))).unzip();
        self.lock_workspace(WorkspaceLock::Merges).await?;
        let roots = RootsOf { workspace: self.workspace, requests: requests.clone() };
        let roots: Vec<Uuid> = self.run(roots.load(&mut self.connection()?)).await?;
        self.lock_in_order(&roots).await?;
        let set = SetNamelessVotes { workspace: self.workspace, requests, votes };
        self.run(set.execute(&mut self.connection()?)).await?;
        self.count_trees(roots).await
    }
}

impl PostgresUnit {
    pub(super) async fn lock_in_order(&self, roots: &[Uuid]) -> Result<(), StoreError> {
        match roots.iter().copied().next() {
            Some(first) => self.lock_trees(roots.to_vec(), first, Vec::new()).await,
            None => Ok(()),
        }
    }
}
