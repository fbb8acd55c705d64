//! Writes that only imports make.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Double, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::event::NewEvent;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, ImportId, MemberId};
use roadmap_domain::model::import::{
    ImportedAuthor, ImportedComment, ImportedMove, ImportedNote, ImportedRequest, ImportedSubscription, ImportedVote,
    VotesImported,
};
use roadmap_domain::model::mail::NO_MAILBOX;
use roadmap_domain::model::member::Member;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::ImportWrites;
use roadmap_store::columns::{Id, inconsistent};
use uuid::Uuid;

use crate::codec::{json_array, json_texts, quoted_id};
use crate::errors::SqlError;
use crate::outbox_queue::stop_mail;
use crate::schema::{comments, held_comments, members, notes};
use crate::search_documents::index_all;
use crate::statement::statement;
use crate::unit::SqliteUnit;
use crate::writes::merges::recount;
use crate::writes::requests::{insert_event, insert_without_document};
use crate::writes::votes::{AddVotes, find_customer, weight_of_vote};

statement! {
    /// Inserts votes for feature requests themselves, also if they are merged, from a JSON array of feature request, customer,
    /// whether the customer subscribes, and time. Returns the new ones, with whether they are subscriptions.
    ImportVotes { workspace: Id => Binary, import: Id => Binary, votes: String => Text } -> (
        Binary, Binary, BigInt, Bool
    ),
    "WITH scope (workspace, import, given) AS (SELECT ?, ?, ?)
     INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at, import_id)
     SELECT workspace, unhex(value ->> 0), voter.id, (value ->> 2) AND mail_stopped_at IS NULL, value ->> 3, import
     FROM scope CROSS JOIN json_each(scope.given)
     CROSS JOIN customers AS voter ON voter.workspace_id = workspace AND voter.id = unhex(value ->> 1) WHERE true
     ON CONFLICT DO NOTHING RETURNING request_id, customer_id, created_at, subscribed"
}

statement! {
    /// Selects those feature requests of a JSON array that are in a tree with merged ones, with its root.
    MergedRoots { workspace: Id => Binary, requests: String => Text } -> (Binary, Binary),
    "SELECT id, coalesce(root_id, id) FROM feature_requests AS member
     WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?)) AND (root_id IS NOT NULL OR EXISTS (
         SELECT 1 FROM feature_requests AS merged
         WHERE merged.workspace_id = member.workspace_id AND merged.root_id = member.id
     ))"
}

statement! {
    /// Counts voters of feature requests for their companies, from a JSON array of feature request and customer.
    AddCompanyVoters { workspace: Id => Binary, voters: String => Text }
    "WITH scope (workspace, given) AS (SELECT ?, ?)
     INSERT INTO company_tallies (workspace_id, request_id, company, voters_count)
     SELECT workspace, unhex(value ->> 0) AS request, company, count(*) FROM scope CROSS JOIN json_each(scope.given)
     CROSS JOIN customer_companies ON workspace_id = workspace AND customer_id = unhex(value ->> 1)
     WHERE true GROUP BY request, company
     ON CONFLICT (workspace_id, request_id, company) DO UPDATE SET voters_count = voters_count + excluded.voters_count"
}

statement! {
    /// Adds votes and their weight to the tally of a feature request, and counts its companies, which are counted already.
    AddImportedVotes { votes: i64 => BigInt, weight: f64 => Double, workspace: Id => Binary, request: Id => Binary }
    "WITH added (votes, weight) AS (SELECT ?, ?)
     UPDATE vote_tallies SET votes_count = votes_count + added.votes, trend = max(trend + added.weight, 0.0),
         companies_count = (
             SELECT count(*) FROM company_tallies WHERE company_tallies.workspace_id = vote_tallies.workspace_id
                AND company_tallies.request_id = vote_tallies.request_id
         )
     FROM added WHERE workspace_id = ? AND request_id = ?"
}

statement! {
    /// Selects the customers with the addresses of a JSON array, with the places of the addresses in it.
    CustomersByAddress { addresses: String => Text, workspace: Id => Binary } -> (BigInt, Binary),
    "SELECT given.key, customers.id FROM json_each(?) AS given
     CROSS JOIN customers ON customers.workspace_id = ? AND customers.email_folded = given.value"
}

statement! {
    /// Inserts a customer of a run, or fills in the name of the one with the address. Returns the ID if it wrote anything.
    ImportCustomer {
        workspace: Id => Binary, id: Id => Binary, email: String => Text, email_folded: String => Text,
        name: Option<String> => Nullable<Text>, name_folded: Option<String> => Nullable<Text>, at: i64 => BigInt,
        import: Id => Binary,
    } -> Binary,
    "INSERT INTO customers (workspace_id, id, email, email_folded, name, name_folded, created_at, import_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (workspace_id, email_folded) DO UPDATE SET name = excluded.name, name_folded = excluded.name_folded
     WHERE name IS NULL AND excluded.name IS NOT NULL
     RETURNING id"
}

statement! {
    /// Subscribes a customer without a vote, unless there is one or the customer's mail is stopped.
    ImportSubscription {
        workspace: Id => Binary, request: Id => Binary, customer: Id => Binary, at: i64 => BigInt, import: Id => Binary,
    }
    "WITH given (workspace, request, customer, at, import) AS (SELECT ?, ?, ?, ?, ?)
     INSERT INTO followers (workspace_id, request_id, customer_id, created_at, import_id)
     SELECT workspace, request, customer, at, import FROM given
     CROSS JOIN customers ON customers.workspace_id = workspace AND customers.id = customer
     WHERE mail_stopped_at IS NULL AND NOT EXISTS (
         SELECT 1 FROM votes WHERE votes.workspace_id = workspace AND votes.request_id = request
            AND votes.customer_id = customer
     )
     ON CONFLICT DO NOTHING"
}

statement! {
    /// Selects whether a customer has voted for a feature request itself or is subscribed to it.
    SubscriptionExists {
        workspace: Id => Binary, request: Id => Binary, customer: Id => Binary,
    } -> Bool,
    "WITH given (workspace, request, customer) AS (SELECT ?, ?, ?)
     SELECT EXISTS (SELECT 1 FROM votes WHERE workspace_id = workspace AND request_id = request AND customer_id = customer)
         OR EXISTS (SELECT 1 FROM followers WHERE workspace_id = workspace AND request_id = request
                       AND customer_id = customer)
     FROM given"
}

statement! {
    /// Sets since when the team has decided about a feature request, and since when it has its public status if the move
    /// leads to its track.
    DateMove {
        handled_at: i64 => BigInt, changes_status: bool => Bool, track: Option<Id> => Nullable<Binary>, at: i64 => BigInt,
        workspace: Id => Binary, request: Id => Binary,
    }
    "UPDATE feature_requests SET handled_at = max(coalesce(handled_at, created_at), ?),
            status_since = CASE WHEN ? AND track_id = ? THEN max(status_since, ?) ELSE status_since END
     WHERE workspace_id = ? AND id = ?"
}

statement! {
    /// Inserts a removed member, unless there is one with the address, removed or not.
    ImportMember {
        workspace: Id => Binary, id: Id => Binary, email: String => Text, email_folded: String => Text,
        name: String => Text, role: String => Text, at: i64 => BigInt,
    }
    "WITH member (workspace, id, email, folded, name, role, at) AS (SELECT ?, ?, ?, ?, ?, ?, ?)
     INSERT INTO members (workspace_id, id, email, email_folded, name, role, created_at, told_until, removed_at)
     SELECT workspace, id, email, folded, name, role, at, at, at FROM member WHERE true
     ON CONFLICT DO NOTHING"
}

statement! {
    /// Selects how many nameless votes a feature request has, and the root of its tree.
    NamelessVotesOf { workspace: Id => Binary, request: Id => Binary } -> (BigInt, Binary),
    "SELECT nameless_votes, coalesce(root_id, request_id) FROM vote_tallies WHERE workspace_id = ? AND request_id = ?"
}

statement! {
    /// Sets the nameless votes of a feature request.
    SetNamelessVotes { votes: i64 => BigInt, workspace: Id => Binary, request: Id => Binary }
    "UPDATE vote_tallies SET nameless_votes = ? WHERE workspace_id = ? AND request_id = ?"
}

statement! {
    /// Selects whether a customer has voted for a feature request itself.
    VoteExists { workspace: Id => Binary, request: Id => Binary, customer: Id => Binary } -> Bool,
    "SELECT EXISTS (SELECT 1 FROM votes WHERE workspace_id = ? AND request_id = ? AND customer_id = ?)"
}

/// The new votes for a feature request that is not merged.
#[derive(Default)]
struct Added {
    votes: i64,
    weight: f64,
}

/// Returns the customers with some addresses, in their order.
fn find_customers(
    connection: &mut SqliteConnection,
    workspace: Id,
    addresses: &[FoldedEmail],
) -> Result<Vec<Option<Id>>, SqlError> {
    let texts = json_texts(addresses.iter().map(FoldedEmail::as_str));
    let found: Vec<(i64, Id)> = CustomersByAddress { addresses: texts, workspace }.load(connection)?;
    Ok(by_place(addresses.len(), found))
}

/// Returns what was found for each place of a list.
pub(crate) fn by_place<T: Clone>(count: usize, found: Vec<(i64, T)>) -> Vec<Option<T>> {
    let mut values = vec![None; count];
    for (place, value) in found {
        if let Some(slot) = usize::try_from(place).ok().and_then(|place| values.get_mut(place)) {
            *slot = Some(value);
        }
    }
    values
}

fn import_customer(
    connection: &mut SqliteConnection,
    workspace: Id,
    import: Id,
    (customer, at): &(NewCustomer, Timestamp),
) -> Result<CustomerId, SqlError> {
    let (own, address) = (Id(customer.id.uuid()), customer.email.folded());
    let name = customer.name.as_ref().map(Name::as_str);
    let insert = ImportCustomer {
        workspace,
        id: own,
        email: customer.email.as_str().to_owned(),
        email_folded: address.as_str().to_owned(),
        name: name.map(str::to_owned),
        name_folded: name.map(str::to_lowercase),
        at: at.millis(),
        import,
    };
    let written: Option<Id> = insert.get_result(connection).optional()?;
    let id = match written {
        Some(id) => id,
        None => find_customer(connection, workspace, address)?
            .ok_or_else(|| inconsistent("customers", "email_folded", address.as_str()))?,
    };
    if id.0 == own.0 && !address.has_mailbox() {
        stop_mail(connection, workspace, id, at.millis(), NO_MAILBOX)?;
    }
    Ok(CustomerId::new(id.0))
}

fn import_requests(
    connection: &mut SqliteConnection,
    workspace: Id,
    import: Id,
    requests: &[ImportedRequest],
) -> Result<i64, SqlError> {
    let mut first = None;
    let mut documents = Vec::with_capacity(requests.len());
    for ImportedRequest { request, nameless_votes } in requests {
        if let Some(author) = &request.author
            && find_customer(connection, workspace, author.email.folded())?.is_none()
        {
            import_customer(connection, workspace, import, &(author.clone(), request.created_at))?;
        }
        let numbers = insert_without_document(connection, workspace, request, (*nameless_votes).into())?;
        first.get_or_insert(numbers.tag_number);
        if let Some(document) = &request.search {
            documents.push((numbers.row_number, Id(request.id.uuid()), document));
        }
    }
    index_all(connection, workspace, &documents)?;
    Ok(first.unwrap_or_default())
}

fn import_votes(
    connection: &mut SqliteConnection,
    workspace: Id,
    import: Id,
    votes: &[ImportedVote],
) -> Result<VotesImported, SqlError> {
    let given = votes.iter().map(|vote| {
        let (request, customer) = (quoted_id(vote.request.uuid()), quoted_id(vote.customer.uuid()));
        format!("[{request},{customer},{},{}]", u8::from(vote.is_subscribed), vote.at.millis())
    });
    let import = ImportVotes { workspace, import, votes: json_array(given) };
    let new: Vec<(Id, Id, i64, bool)> = import.load(connection)?;
    let subscribed = new.iter().filter(|(.., is_subscribed)| *is_subscribed).count() as u64;
    let imported = VotesImported { new: new.len() as u64, subscribed };

    let requests: BTreeSet<Uuid> = new.iter().map(|(request, ..)| request.0).collect();
    let requests = json_array(requests.into_iter().map(quoted_id));
    let merged: Vec<(Id, Id)> = MergedRoots { workspace, requests }.load(connection)?;
    let roots: BTreeMap<Uuid, Uuid> = merged.into_iter().map(|(request, root)| (request.0, root.0)).collect();
    let unmerged = || new.iter().filter(|(request, ..)| !roots.contains_key(&request.0));

    let voters = json_array(
        unmerged().map(|(request, customer, ..)| format!("[{},{}]", quoted_id(request.0), quoted_id(customer.0))),
    );
    AddCompanyVoters { workspace, voters }.execute(connection)?;
    let mut counted: BTreeMap<Uuid, Added> = BTreeMap::new();
    for (request, _, at, _) in unmerged() {
        let added = counted.entry(request.0).or_default();
        added.votes += 1;
        added.weight += weight_of_vote(*at, *request)?;
    }
    for (request, Added { votes, weight }) in counted {
        AddImportedVotes { votes, weight, workspace, request: Id(request) }.execute(connection)?;
    }
    for root in roots.into_values().collect::<BTreeSet<_>>() {
        recount(connection, workspace, Id(root))?;
    }
    Ok(imported)
}

fn import_member(connection: &mut SqliteConnection, workspace: Id, member: &Member) -> Result<MemberId, SqlError> {
    let address = member.email.folded().as_str();
    let import = ImportMember {
        workspace,
        id: Id(member.id.uuid()),
        email: member.email.as_str().to_owned(),
        email_folded: address.to_owned(),
        name: member.name.to_string(),
        role: member.role.name().to_owned(),
        at: member.created_at.millis(),
    };
    import.execute(connection)?;
    find_any_member(connection, workspace, address)?
        .ok_or_else(|| inconsistent("members", "email_folded", address).into())
}

/// Returns the member with a folded address, removed or not.
fn find_any_member(
    connection: &mut SqliteConnection,
    workspace: Id,
    address: &str,
) -> Result<Option<MemberId>, SqlError> {
    let id: Option<Id> = members::table
        .filter(members::workspace_id.eq(workspace))
        .filter(members::email_folded.eq(address))
        .select(members::id)
        .first(connection)
        .optional()?;
    Ok(id.map(|id| MemberId::new(id.0)))
}

fn import_comment(connection: &mut SqliteConnection, workspace: Id, comment: &ImportedComment) -> Result<(), SqlError> {
    let ImportedComment { id, request, author, content, at } = comment;
    let (id, request, at) = (Id(id.uuid()), Id(request.uuid()), at.millis());
    let (member, customer) = match author {
        ImportedAuthor::HeldCustomer(customer) => {
            diesel::insert_into(held_comments::table)
                .values((
                    held_comments::workspace_id.eq(workspace),
                    held_comments::id.eq(id),
                    held_comments::request_id.eq(request),
                    held_comments::customer_id.eq(Id(customer.uuid())),
                    held_comments::content.eq(content.as_str()),
                    held_comments::created_at.eq(at),
                ))
                .execute(connection)?;
            return Ok(());
        }
        ImportedAuthor::Customer(customer) => (None, Some(Id(customer.uuid()))),
        ImportedAuthor::Member(member) => (member.map(|member| Id(member.uuid())), None),
    };
    diesel::insert_into(comments::table)
        .values((
            comments::workspace_id.eq(workspace),
            comments::id.eq(id),
            comments::request_id.eq(request),
            comments::author_id.eq(member),
            comments::customer_id.eq(customer),
            comments::content.eq(content.as_str()),
            comments::created_at.eq(at),
            comments::updated_at.eq(at),
        ))
        .execute(connection)?;
    Ok(())
}

fn import_note(connection: &mut SqliteConnection, workspace: Id, note: &ImportedNote) -> Result<(), SqlError> {
    diesel::insert_into(notes::table)
        .values((
            notes::workspace_id.eq(workspace),
            notes::id.eq(Id(note.id.uuid())),
            notes::request_id.eq(Id(note.request.uuid())),
            notes::customer_id.eq(note.customer.map(|customer| Id(customer.uuid()))),
            notes::author_id.eq(note.author.map(|author| Id(author.uuid()))),
            notes::body.eq(note.body.as_str()),
            notes::created_at.eq(note.at.millis()),
        ))
        .execute(connection)?;
    Ok(())
}

fn set_nameless_votes(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: Id,
    votes: i64,
) -> Result<(), SqlError> {
    let found: Option<(i64, Id)> = NamelessVotesOf { workspace, request }.get_result(connection).optional()?;
    let Some((before, root)) = found else { return Ok(()) };
    SetNamelessVotes { votes, workspace, request }.execute(connection)?;
    let add = AddVotes { votes: votes - before, weight: 0.0, companies: 0, workspace, request: root };
    let _: i64 = add.get_result(connection)?;
    Ok(())
}

#[async_trait]
impl ImportWrites for SqliteUnit {
    async fn find_customers(&mut self, addresses: &[FoldedEmail]) -> Result<Vec<Option<CustomerId>>, StoreError> {
        let addresses = addresses.to_vec();
        self.run(move |connection, workspace| {
            let found = find_customers(connection, workspace, &addresses)?;
            Ok(found.into_iter().map(|id| id.map(|id| CustomerId::new(id.0))).collect())
        })
        .await
    }

    async fn find_all_members(&mut self, addresses: &[FoldedEmail]) -> Result<Vec<Option<MemberId>>, StoreError> {
        let addresses = addresses.to_vec();
        self.run(move |connection, workspace| {
            addresses.iter().map(|address| find_any_member(connection, workspace, address.as_str())).collect()
        })
        .await
    }

    async fn existing_votes(&mut self, votes: &[(FeatureRequestId, CustomerId)]) -> Result<Vec<bool>, StoreError> {
        let votes = votes.to_vec();
        self.run(move |connection, workspace| {
            let exists = |(request, customer): (FeatureRequestId, CustomerId)| {
                let (request, customer) = (Id(request.uuid()), Id(customer.uuid()));
                Ok(VoteExists { workspace, request, customer }.get_result(connection)?)
            };
            votes.into_iter().map(exists).collect()
        })
        .await
    }

    async fn import_customers(
        &mut self,
        by: ImportId,
        customers: &[(NewCustomer, Timestamp)],
    ) -> Result<Vec<CustomerId>, StoreError> {
        let customers = customers.to_vec();
        self.run(move |connection, workspace| {
            let import = |customer| import_customer(connection, workspace, Id(by.uuid()), customer);
            customers.iter().map(import).collect()
        })
        .await
    }

    async fn import_feature_requests(&mut self, by: ImportId, requests: &[ImportedRequest]) -> Result<i64, StoreError> {
        let requests = requests.to_vec();
        self.run(move |connection, workspace| import_requests(connection, workspace, Id(by.uuid()), &requests)).await
    }

    async fn import_votes(&mut self, by: ImportId, votes: &[ImportedVote]) -> Result<VotesImported, StoreError> {
        let votes = votes.to_vec();
        self.run(move |connection, workspace| import_votes(connection, workspace, Id(by.uuid()), &votes)).await
    }

    async fn import_members(&mut self, members: &[Member]) -> Result<Vec<MemberId>, StoreError> {
        let members = members.to_vec();
        self.run(move |connection, workspace| {
            members.iter().map(|member| import_member(connection, workspace, member)).collect()
        })
        .await
    }

    async fn import_subscriptions(
        &mut self,
        by: ImportId,
        subscriptions: &[ImportedSubscription],
    ) -> Result<u64, StoreError> {
        let subscriptions = subscriptions.to_vec();
        self.run(move |connection, workspace| {
            let mut new = 0;
            for ImportedSubscription { request, customer, at } in &subscriptions {
                let (request, customer, at) = (Id(request.uuid()), Id(customer.uuid()), at.millis());
                let import = ImportSubscription { workspace, request, customer, at, import: Id(by.uuid()) };
                new += import.execute(connection)? as u64;
            }
            Ok(new)
        })
        .await
    }

    async fn existing_subscriptions(
        &mut self,
        subscriptions: &[(FeatureRequestId, CustomerId)],
    ) -> Result<Vec<bool>, StoreError> {
        let subscriptions = subscriptions.to_vec();
        self.run(move |connection, workspace| {
            let exists = |(request, customer): (FeatureRequestId, CustomerId)| {
                let (request, customer) = (Id(request.uuid()), Id(customer.uuid()));
                Ok(SubscriptionExists { workspace, request, customer }.get_result(connection)?)
            };
            subscriptions.into_iter().map(exists).collect()
        })
        .await
    }

    async fn import_comments(&mut self, comments: &[ImportedComment]) -> Result<(), StoreError> {
        let comments = comments.to_vec();
        self.run(move |connection, workspace| {
            comments.iter().try_for_each(|comment| import_comment(connection, workspace, comment))
        })
        .await
    }

    async fn import_notes(&mut self, notes: &[ImportedNote]) -> Result<(), StoreError> {
        let notes = notes.to_vec();
        self.run(move |connection, workspace| {
            notes.iter().try_for_each(|note| import_note(connection, workspace, note))
        })
        .await
    }

    async fn import_moves(&mut self, moves: &[ImportedMove]) -> Result<(), StoreError> {
        let moves = moves.to_vec();
        self.run(move |connection, workspace| {
            for ImportedMove { event, track, changes_status } in moves {
                insert_event(connection, workspace, &event)?;
                let at = event.event.created_at.millis();
                let date = DateMove {
                    handled_at: at,
                    changes_status,
                    track: track.map(|track| Id(track.uuid())),
                    at,
                    workspace,
                    request: Id(event.request.uuid()),
                };
                date.execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn import_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError> {
        let events = events.to_vec();
        self.run(move |connection, workspace| {
            events.iter().try_for_each(|event| insert_event(connection, workspace, event))
        })
        .await
    }

    async fn set_nameless_votes(&mut self, votes: &[(FeatureRequestId, u32)]) -> Result<(), StoreError> {
        let votes = votes.to_vec();
        self.run(move |connection, workspace| {
            votes.iter().try_for_each(|(request, votes)| {
                set_nameless_votes(connection, workspace, Id(request.uuid()), (*votes).into())
            })
        })
        .await
    }
}
