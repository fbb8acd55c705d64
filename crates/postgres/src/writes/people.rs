//! Erasing people, and what is kept of that.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::mail::NO_MAILBOX;
use roadmap_domain::model::person::{
    AskedRequest, ErasedRecords, ErasedTexts, ErasedVotes, Erasure, ErasureRecord, PersonRef, UnfinishedErasure,
    erased_address,
};
use roadmap_domain::policy::erasing::PersonWords;
use roadmap_domain::ports::{CustomerWrites, PersonWrites};
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{CustomerNameRow, ErasureRow, asked_requests};
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::rows::CustomerNameColumns;
use crate::statement::statement;
use crate::unit::PostgresUnit;
use crate::writes::merges::delete_messages_about;

statement! {
    /// Selects a customer by ID or address.
    FindPerson {
        workspace: Uuid => SqlUuid,
        id: Option<Uuid> => Nullable<SqlUuid>,
        address: Option<String> => Nullable<Text>,
    } -> CustomerNameColumns,
    "SELECT id, name, email FROM customers
     WHERE workspace_id = {workspace} AND (id = {id} OR email_folded = {address})"
}

statement! {
    /// Locks the feature requests of a customer against votes, comments and merges.
    LockAsked { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> Untyped,
    "SELECT FROM feature_requests WHERE workspace_id = {workspace} AND author_id = {customer} ORDER BY id FOR UPDATE"
}

statement! {
    /// Selects the feature requests that a customer asked for as a JSON array, oldest first.
    SelectAsked { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> Text,
    "SELECT coalesce(json_agg(json_build_object(
         'id', request.id, 'tag_number', request.tag_number,
         'tags', (SELECT coalesce(json_agg(tag ORDER BY position), '[]') FROM feature_request_tags AS tags
                  WHERE tags.workspace_id = {workspace} AND tags.request_id = request.id),
         'is_private', request.private, 'root', request.root_id, 'is_waiting', request.awaiting_approval,
         'has_others', request.root_id IS NOT NULL
             OR EXISTS (SELECT FROM feature_requests AS merged
                        WHERE merged.workspace_id = {workspace} AND merged.merged_into_id = request.id)
             OR tally.nameless_votes > 0
             OR EXISTS (SELECT FROM votes WHERE votes.workspace_id = {workspace}
                           AND votes.request_id = request.id AND votes.customer_id <> {customer})
             OR EXISTS (SELECT FROM comments WHERE comments.workspace_id = {workspace}
                           AND comments.request_id = request.id AND comments.customer_id IS DISTINCT FROM {customer})
             OR EXISTS (SELECT FROM held_comments AS held WHERE held.workspace_id = {workspace}
                           AND held.request_id = request.id AND held.customer_id <> {customer})
     ) ORDER BY request.tag_number), '[]')::text
     FROM feature_requests AS request
     JOIN vote_tallies AS tally ON tally.workspace_id = {workspace} AND tally.request_id = request.id
     WHERE request.workspace_id = {workspace} AND request.author_id = {customer}"
}

statement! {
    /// Counts the votes, the comments, also those that wait or were removed, and the notes of a customer.
    CountRecords { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> (BigInt, BigInt, BigInt),
    "SELECT (SELECT count(*) FROM votes WHERE workspace_id = {workspace} AND customer_id = {customer}),
            (SELECT count(*) FROM comments WHERE workspace_id = {workspace} AND customer_id = {customer})
          + (SELECT count(*) FROM held_comments WHERE workspace_id = {workspace} AND customer_id = {customer})
          + (SELECT count(*) FROM removed_comments WHERE workspace_id = {workspace} AND customer_id = {customer}),
            (SELECT count(*) FROM notes WHERE workspace_id = {workspace} AND customer_id = {customer})"
}

statement! {
    /// Inserts the customer that is left of another one.
    InsertErased {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        email: String => Text,
        email_folded: String => Text,
        customer: Uuid => SqlUuid,
    } -> Untyped,
    "INSERT INTO customers (workspace_id, id, email, email_folded, created_at, import_id)
     SELECT {workspace}, {id}, {email}, {email_folded}, created_at, import_id FROM customers
     WHERE workspace_id = {workspace} AND id = {customer}"
}

statement! {
    /// Takes everything away from a customer that the merge has brought, stops all mail, and deletes what is the person's
    /// alone.
    ClearErased {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        because: String => Text,
    } -> Untyped,
    "WITH cleared AS (
         UPDATE customers SET name = NULL, name_folded = NULL, language = NULL, last_language = NULL,
             mail_stopped_at = {at}, mail_stopped_because = {because}, blocked_at = NULL, stops_changelogs = false,
             news_since = NULL
         WHERE workspace_id = {workspace} AND id = {customer}
     ), voted AS (
         UPDATE votes SET subscribed = false WHERE workspace_id = {workspace} AND customer_id = {customer}
     ), followed AS (
         DELETE FROM followers WHERE workspace_id = {workspace} AND customer_id = {customer}
     ), held AS (
         DELETE FROM held_comments WHERE workspace_id = {workspace} AND customer_id = {customer}
     ), removed_texts AS (
         DELETE FROM removed_comments WHERE workspace_id = {workspace} AND customer_id = {customer}
     ), removed_descriptions AS (
         DELETE FROM removed_requests WHERE workspace_id = {workspace} AND customer_id = {customer}
     ), noted AS (
         DELETE FROM notes WHERE workspace_id = {workspace} AND customer_id = {customer}
     )
     DELETE FROM outbox WHERE workspace_id = {workspace} AND customer_id = {customer}"
}

statement! {
    /// Gives neutral names to the pictures in texts of a customer.
    RenamePictures { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> Untyped,
    "UPDATE attachments SET filename = 'picture.' || split_part(content_type, '/', 2)
     WHERE workspace_id = {workspace} AND picture_by = 'customer' AND id IN (
         SELECT attachment_id FROM text_pictures WHERE workspace_id = {workspace} AND record_id IN (
             SELECT id FROM comments WHERE workspace_id = {workspace} AND customer_id = {customer}
             UNION ALL
             SELECT id FROM held_comments WHERE workspace_id = {workspace} AND customer_id = {customer}
             UNION ALL
             SELECT id FROM removed_comments WHERE workspace_id = {workspace} AND customer_id = {customer}
             UNION ALL
             SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND author_id = {customer}
         )
     )"
}

statement! {
    /// Selects the roots of the trees for which a customer has voted.
    VotedRoots { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> SqlUuid,
    "SELECT DISTINCT coalesce(tally.root_id, tally.request_id) FROM votes
     JOIN vote_tallies AS tally ON tally.workspace_id = {workspace} AND tally.request_id = votes.request_id
     WHERE votes.workspace_id = {workspace} AND votes.customer_id = {customer}"
}

statement! {
    /// Deletes the votes of a customer.
    DeleteVotes { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> Untyped,
    "DELETE FROM votes WHERE workspace_id = {workspace} AND customer_id = {customer}"
}

statement! {
    /// Deletes the unsent messages about the comments of a customer.
    DeleteMessages { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> Untyped,
    concat!("WITH topics AS MATERIALIZED (
         SELECT id::text AS topic FROM comments WHERE workspace_id = {workspace} AND customer_id = {customer}
     ) ", delete_messages_about!())
}

statement! {
    /// Deletes the comments of a customer.
    DeleteComments { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> Untyped,
    "DELETE FROM comments WHERE workspace_id = {workspace} AND customer_id = {customer}"
}

statement! {
    /// Deletes what is stored under an address.
    DeleteByAddress { workspace: Uuid => SqlUuid, address: String => Text } -> Untyped,
    "WITH ended AS (
         DELETE FROM sessions WHERE workspace_id = {workspace} AND email_folded = {address}
     ), asked AS (
         DELETE FROM sign_ins WHERE workspace_id = {workspace} AND email_folded = {address}
     )
     DELETE FROM confirmed_addresses WHERE workspace_id = {workspace} AND email_folded = {address}"
}

statement! {
    /// Selects the messages to addresses.
    AddressedMessages { workspace: Uuid => SqlUuid } -> (Text, Text),
    "SELECT id, address FROM outbox WHERE workspace_id = {workspace} AND address IS NOT NULL"
}

statement! {
    /// Deletes messages.
    DeleteAddressed { workspace: Uuid => SqlUuid, ids: Vec<String> => Array<Text> } -> Untyped,
    "DELETE FROM outbox WHERE workspace_id = {workspace} AND id = ANY ({ids})"
}

statement! {
    /// Takes name and address away from a removed member.
    ClearMember {
        workspace: Uuid => SqlUuid,
        address: String => Text,
        left: String => Text,
    } -> Untyped,
    "WITH cleared AS (
         UPDATE members SET email = {left}, email_folded = {left}, name = 'Team', saved_views = '[]'
         WHERE workspace_id = {workspace} AND email_folded = {address} AND removed_at IS NOT NULL
         RETURNING id
     )
     UPDATE feature_request_events SET actor_name = 'Team' FROM cleared
     WHERE workspace_id = {workspace} AND actor_kind = 'member' AND actor_id = cleared.id"
}

statement! {
    /// Selects the counted searches.
    CountedSearches { workspace: Uuid => SqlUuid } -> Text,
    "SELECT DISTINCT words FROM missed_searches WHERE workspace_id = {workspace}"
}

statement! {
    /// Deletes counted searches.
    DeleteSearches { workspace: Uuid => SqlUuid, words: Vec<String> => Array<Text> } -> Untyped,
    "DELETE FROM missed_searches WHERE workspace_id = {workspace} AND words = ANY ({words})"
}

statement! {
    /// Deletes words from the vocabulary of the search, unless a document has them.
    ForgetVocabulary { workspace: Uuid => SqlUuid, words: Vec<String> => Array<Text> } -> Untyped,
    "DELETE FROM search_words WHERE workspace_id = {workspace} AND word = ANY ({words}) AND NOT EXISTS (
         SELECT FROM search_documents AS document WHERE document.workspace_id = {workspace}
            AND position(' ' || word || ' ' IN
                         ' ' || document.title || ' ' || document.tags || ' ' || document.description || ' ') > 0
     )"
}

statement! {
    /// Selects the saved responses that have one of the words.
    ResponsesWith { workspace: Uuid => SqlUuid, words: Vec<String> => Array<Text> } -> (Text, Binary),
    "SELECT operation_key, body FROM operations WHERE workspace_id = {workspace} AND EXISTS (
         SELECT FROM unnest({words}) AS word WHERE position(convert_to(word, 'UTF8') IN body) > 0
     )"
}

statement! {
    /// Replaces a saved response.
    ReplaceResponse { workspace: Uuid => SqlUuid, key: String => Text, body: Vec<u8> => Binary } -> Untyped,
    "UPDATE operations SET body = {body} WHERE workspace_id = {workspace} AND operation_key = {key}"
}

statement! {
    /// Selects the runs of imports whose progress, report or upload has one of the words.
    ImportsWith { workspace: Uuid => SqlUuid, words: Vec<String> => Array<Text> } -> (
        SqlUuid, Text, Nullable<Text>, Nullable<Text>
    ),
    "SELECT id, progress, report, upload FROM imports WHERE workspace_id = {workspace} AND EXISTS (
         SELECT FROM unnest({words}) AS word
         WHERE position(word IN progress || coalesce(report, '') || coalesce(upload, '')) > 0
     )"
}

statement! {
    /// Replaces the progress, the report and the upload of a run.
    ReplaceReport {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        progress: String => Text,
        report: Option<String> => Nullable<Text>,
        upload: Option<String> => Nullable<Text>,
    } -> Untyped,
    "UPDATE imports SET progress = {progress}, report = {report}, upload = {upload} WHERE workspace_id = {workspace} AND id = {id}"
}

statement! {
    /// Stores an erasure.
    SaveErasure {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        digest: String => Text,
        votes: String => Text,
        texts: String => Text,
        at: TimestampColumn => Timestamptz,
        words: Option<Vec<String>> => Nullable<Array<Text>>,
    } -> Untyped,
    "INSERT INTO erasures (workspace_id, id, digest, votes, texts, erased_at, words, is_finished)
     VALUES ({workspace}, {id}, {digest}, {votes}, {texts}, {at}, {words}, {words} IS NULL)
     ON CONFLICT (workspace_id, id) DO UPDATE
     SET digest = excluded.digest, votes = excluded.votes, texts = excluded.texts, erased_at = excluded.erased_at,
         words = excluded.words, is_finished = excluded.is_finished"
}

/// The types of the columns of an erasure.
type ErasureColumns = (SqlUuid, Text, Text, Text, Timestamptz);

statement! {
    /// Selects the erasures, or only the unfinished ones, oldest first, with their words.
    SelectErasures { workspace: Uuid => SqlUuid, all: bool => Bool } -> (ErasureColumns, Nullable<Array<Text>>),
    "SELECT id, digest, votes, texts, erased_at, words FROM erasures
     WHERE workspace_id = {workspace} AND ({all} OR NOT is_finished) ORDER BY erased_at, id"
}

statement! {
    /// Forgets the words of an erasure.
    ForgetWords { workspace: Uuid => SqlUuid, id: Uuid => SqlUuid } -> Untyped,
    "UPDATE erasures SET words = NULL WHERE workspace_id = {workspace} AND id = {id}"
}

statement! {
    /// Marks erasures as finished.
    FinishErasures { workspace: Uuid => SqlUuid, ids: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "UPDATE erasures SET is_finished = true WHERE workspace_id = {workspace} AND id = ANY ({ids}) AND words IS NULL"
}

impl PostgresUnit {
    /// Gives everything of a customer to the one that is left, without what is the person's alone.
    async fn replace_person(&mut self, erasure: &Erasure) -> Result<(), StoreError> {
        let (workspace, customer) = (self.workspace, erasure.id.uuid());
        let left = erased_address(erasure.id);
        let insert = InsertErased {
            workspace,
            id: customer,
            email: left.as_str().to_owned(),
            email_folded: left.folded().as_str().to_owned(),
            customer: erasure.person.id.uuid(),
        };
        self.run(insert.execute(&mut self.connection()?)).await?;
        self.merge_customers(erasure.person.id, erasure.id).await?;
        let rename = RenamePictures { workspace, customer };
        self.run(rename.execute(&mut self.connection()?)).await?;
        let because = NO_MAILBOX.to_owned();
        let clear = ClearErased { workspace, customer, at: erasure.at.into(), because };
        self.run(clear.execute(&mut self.connection()?)).await?;
        if erasure.votes == ErasedVotes::Drop {
            let roots: Vec<Uuid> = self.run(VotedRoots { workspace, customer }.load(&mut self.connection()?)).await?;
            self.lock_trees(roots.clone(), Uuid::nil(), Vec::new()).await?;
            self.run(DeleteVotes { workspace, customer }.execute(&mut self.connection()?)).await?;
            self.count_trees(roots).await?;
        }
        if erasure.texts == ErasedTexts::Remove {
            self.run(DeleteMessages { workspace, customer }.execute(&mut self.connection()?)).await?;
            self.run(DeleteComments { workspace, customer }.execute(&mut self.connection()?)).await?;
        }
        Ok(())
    }

    /// Deletes what is stored under the address, and takes it away from a removed member.
    async fn delete_address(&mut self, erasure: &Erasure) -> Result<(), StoreError> {
        let workspace = self.workspace;
        let email = &erasure.person.email;
        let address = email.folded().as_str().to_owned();
        let delete = DeleteByAddress { workspace, address: address.clone() };
        self.run(delete.execute(&mut self.connection()?)).await?;
        let messages: Vec<(String, String)> =
            self.run(AddressedMessages { workspace }.load(&mut self.connection()?)).await?;
        let own = messages.into_iter().filter(|(_, to)| EmailAddress::from_stored(to.clone()) == *email);
        let delete = DeleteAddressed { workspace, ids: own.map(|(id, _)| id).collect() };
        self.run(delete.execute(&mut self.connection()?)).await?;
        let left = erased_address(erasure.id).folded().as_str().to_owned();
        let clear = ClearMember { workspace, address, left };
        self.run(clear.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    /// Deletes the counted searches that have words.
    async fn delete_searches(&mut self, words: &PersonWords) -> Result<(), StoreError> {
        let workspace = self.workspace;
        let counted: Vec<String> = self.run(CountedSearches { workspace }.load(&mut self.connection()?)).await?;
        let found = counted.into_iter().filter(|text| words.are_in(text)).collect();
        let delete = DeleteSearches { workspace, words: found };
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    /// Replaces words in saved responses and in what is kept of imports.
    async fn replace_words(&mut self, words: &PersonWords, left: &EmailAddress) -> Result<(), StoreError> {
        let (workspace, needles) = (self.workspace, words.in_json());
        let find = ResponsesWith { workspace, words: needles.clone() };
        let responses: Vec<(String, Vec<u8>)> = self.run(find.load(&mut self.connection()?)).await?;
        for (key, body) in responses {
            let replace = ReplaceResponse { workspace, key, body: words.replaced_in_json(&body, left) };
            self.run(replace.execute(&mut self.connection()?)).await?;
        }
        let find = ImportsWith { workspace, words: needles };
        let runs: Vec<(Uuid, String, Option<String>, Option<String>)> =
            self.run(find.load(&mut self.connection()?)).await?;
        let replaced =
            |text: &str| String::from_utf8_lossy(&words.replaced_in_json(text.as_bytes(), left)).into_owned();
        for (id, progress, report, upload) in runs {
            let (progress, report) = (replaced(&progress), report.as_deref().map(replaced));
            let replace = ReplaceReport { workspace, id, progress, report, upload: upload.as_deref().map(replaced) };
            self.run(replace.execute(&mut self.connection()?)).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl PersonWrites for PostgresUnit {
    async fn find_person(&mut self, person: &PersonRef) -> Result<Option<CustomerName>, StoreError> {
        let (id, address) = match person {
            PersonRef::Id(id) => (Some(id.uuid()), None),
            PersonRef::Address(address) => (None, Some(address.as_str().to_owned())),
        };
        let find = FindPerson { workspace: self.workspace, id, address };
        let row: Option<CustomerNameRow> = self.run_optional(find.get_result(&mut self.connection()?)).await?;
        Ok(row.map(CustomerName::from))
    }

    async fn asked_requests(&mut self, customer: CustomerId) -> Result<Vec<AskedRequest>, StoreError> {
        self.lock_workspace(WorkspaceLock::Merges).await?;
        let (workspace, customer) = (self.workspace, customer.uuid());
        self.run(LockAsked { workspace, customer }.execute(&mut self.connection()?)).await?;
        let json: String = self.run(SelectAsked { workspace, customer }.get_result(&mut self.connection()?)).await?;
        asked_requests(&json)
    }

    async fn erase_person(&mut self, erasure: &Erasure) -> Result<ErasedRecords, StoreError> {
        let count = CountRecords { workspace: self.workspace, customer: erasure.person.id.uuid() };
        let (votes, comments, notes): (i64, i64, i64) = self.run(count.get_result(&mut self.connection()?)).await?;
        self.replace_person(erasure).await?;
        self.delete_address(erasure).await?;
        let words = PersonWords::new(&erasure.person);
        self.delete_searches(&words).await?;
        self.replace_words(&words, &erased_address(erasure.id)).await?;
        let forget = ForgetVocabulary { workspace: self.workspace, words: words.vocabulary() };
        self.run(forget.execute(&mut self.connection()?)).await?;
        Ok(ErasedRecords {
            votes: votes.unsigned_abs(),
            feature_requests: 0,
            comments: comments.unsigned_abs(),
            notes: notes.unsigned_abs(),
        })
    }

    async fn save_erasure<'a>(
        &mut self,
        record: &ErasureRecord,
        words: Option<&'a PersonWords>,
    ) -> Result<(), StoreError> {
        let save = SaveErasure {
            workspace: self.workspace,
            id: record.id.uuid(),
            digest: record.digest.clone(),
            votes: record.votes.name().to_owned(),
            texts: record.texts.name().to_owned(),
            at: record.at.into(),
            words: words.map(PersonWords::to_list),
        };
        self.run(save.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn erasures(&mut self) -> Result<Vec<ErasureRecord>, StoreError> {
        let select = SelectErasures { workspace: self.workspace, all: true };
        let rows: Vec<(ErasureRow, Option<Vec<String>>)> = self.run(select.load(&mut self.connection()?)).await?;
        rows.into_iter().map(|(row, _)| row.try_into()).collect()
    }

    async fn unfinished_erasures(&mut self) -> Result<Vec<UnfinishedErasure>, StoreError> {
        let select = SelectErasures { workspace: self.workspace, all: false };
        let rows: Vec<(ErasureRow, Option<Vec<String>>)> = self.run(select.load(&mut self.connection()?)).await?;
        let unfinished = |(row, words): (ErasureRow, Option<Vec<String>>)| {
            Ok(UnfinishedErasure { record: row.try_into()?, words: words.unwrap_or_default() })
        };
        rows.into_iter().map(unfinished).collect()
    }

    async fn forget_words(&mut self, erasure: &UnfinishedErasure) -> Result<(), StoreError> {
        self.delete_searches(&PersonWords::from_list(erasure.words.clone())).await?;
        let forget = ForgetWords { workspace: self.workspace, id: erasure.record.id.uuid() };
        self.run(forget.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn finish_erasures(&mut self, finished: &[CustomerId]) -> Result<(), StoreError> {
        let ids = finished.iter().map(|id| id.uuid()).collect();
        let finish = FinishErasures { workspace: self.workspace, ids };
        self.run(finish.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
