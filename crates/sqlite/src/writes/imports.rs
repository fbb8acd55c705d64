//! Writes that only imports make.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
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
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::trending;
use roadmap_domain::ports::ImportWrites;
use roadmap_store::columns::{Id, inconsistent};
use uuid::Uuid;

use crate::errors::SqlError;
use crate::outbox_queue::stop_mail;
use crate::schema::{comments, held_comments, members, notes};
use crate::statement::statement;
use crate::trees::tree_members;
use crate::unit::SqliteUnit;
use crate::writes::merges::{recount, root_of};
use crate::writes::requests::{insert, insert_event};
use crate::writes::votes::{AddCompanyVoter, AddVotes, find_customer, find_or_insert_customer};

statement! {
    /// Inserts a vote for a feature request itself, also if it is merged. Returns whether it is a subscription.
    ImportVote {
        workspace: Id => Binary, request: Id => Binary, customer: Id => Binary, subscribed: bool => Bool,
        at: i64 => BigInt, import: Id => Binary,
    } -> Bool,
    "WITH vote (workspace, request, customer, subscribed, at, import) AS (SELECT ?, ?, ?, ?, ?, ?)
     INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at, import_id)
     SELECT workspace, request, customer, subscribed AND mail_stopped_at IS NULL, at, import FROM vote
     CROSS JOIN customers ON customers.workspace_id = workspace AND customers.id = customer WHERE true
     ON CONFLICT DO NOTHING RETURNING subscribed"
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

statement! {
    /// Sets the run that has made a customer.
    SetCustomerImport { import: Id => Binary, workspace: Id => Binary, customer: Id => Binary }
    "UPDATE customers SET import_id = ? WHERE workspace_id = ? AND id = ?"
}

/// The new votes for a feature request that is not merged.
#[derive(Default)]
struct Added {
    votes: i64,
    weight: f64,
    companies: i64,
}

fn import_customer(
    connection: &mut SqliteConnection,
    workspace: Id,
    import: Id,
    (customer, at): &(NewCustomer, Timestamp),
) -> Result<CustomerId, SqlError> {
    let id = find_or_insert_customer(connection, workspace, customer, *at)?;
    if id.0 == customer.id.uuid() {
        SetCustomerImport { import, workspace, customer: id }.execute(connection)?;
        if !customer.email.folded().has_mailbox() {
            stop_mail(connection, workspace, id, at.millis(), NO_MAILBOX)?;
        }
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
    for ImportedRequest { request, nameless_votes } in requests {
        if let Some(author) = &request.author {
            import_customer(connection, workspace, import, &(author.clone(), request.created_at))?;
        }
        let number = insert(connection, workspace, request, (*nameless_votes).into())?;
        first.get_or_insert(number);
    }
    Ok(first.unwrap_or_default())
}

/// Returns the root of a feature request if anything is merged in its tree.
fn merged_root(connection: &mut SqliteConnection, workspace: Id, request: Id) -> Result<Option<Uuid>, SqlError> {
    let root = root_of(connection, workspace, request)?.unwrap_or(request);
    Ok((tree_members(connection, workspace, root)?.len() > 1).then_some(root.0))
}

fn import_votes(
    connection: &mut SqliteConnection,
    workspace: Id,
    import: Id,
    votes: &[ImportedVote],
) -> Result<VotesImported, SqlError> {
    let mut trees: BTreeMap<Uuid, Option<Uuid>> = BTreeMap::new();
    let mut recounted = BTreeSet::new();
    let mut counted: BTreeMap<Uuid, Added> = BTreeMap::new();
    let mut imported = VotesImported::default();
    for ImportedVote { request, customer, is_subscribed, at } in votes {
        let (request, customer) = (Id(request.uuid()), Id(customer.uuid()));
        let vote = ImportVote { workspace, request, customer, subscribed: *is_subscribed, at: at.millis(), import };
        let is_new: Option<bool> = vote.get_result(connection).optional()?;
        let Some(is_subscription) = is_new else { continue };
        imported.new += 1;
        imported.subscribed += u64::from(is_subscription);
        let root = match trees.get(&request.0) {
            Some(root) => *root,
            None => {
                let root = merged_root(connection, workspace, request)?;
                trees.insert(request.0, root);
                root
            }
        };
        if let Some(root) = root {
            recounted.insert(root);
            continue;
        }
        let voters: Option<i64> = AddCompanyVoter { request, workspace, customer }.get_result(connection).optional()?;
        let added = counted.entry(request.0).or_default();
        added.votes += 1;
        added.weight += trending::weight(*at);
        added.companies += i64::from(voters == Some(1));
    }
    for (request, Added { votes, weight, companies }) in counted {
        let add = AddVotes { votes, weight, companies, workspace, request: Id(request) };
        let _: i64 = add.get_result(connection)?;
    }
    for root in recounted {
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
            let find = |address| Ok(find_customer(connection, workspace, address)?.map(|id| CustomerId::new(id.0)));
            addresses.iter().map(find).collect()
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
