//! Votes, their voters and their notes.

use async_trait::async_trait;
use diesel::prelude::ExpressionMethods;
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::id::{FeatureRequestId, NoteId};
use roadmap_domain::model::vote::{NewVote, VoteCast, VoteOutcome, VoteWithdrawn};
use roadmap_domain::ports::{FeatureRequestWrites, VoteWrites};
use roadmap_store::rows::SummaryRow;
use uuid::Uuid;

use crate::cast::Cast;
use crate::schema::notes;
use crate::statement::{id_or_number, statement};
use crate::unit::PostgresUnit;
use crate::writes::requests::{folded_name_of, name_of};
use crate::writes::subscriptions::delete_messages_of_voter;

statement! {
    /// Deletes the votes of a customer for a feature request and everything in its tree. Returns the root of the tree, if
    /// there is one, and whether there was a vote.
    Withdraw {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        email_folded: String => Text,
    } -> (Nullable<SqlUuid>, Bool),
    "SELECT root, removed FROM withdraw_vote({workspace}, {request}, {number}, {email_folded})"
}

#[async_trait]
impl VoteWrites for PostgresUnit {
    async fn cast_vote(&mut self, vote: &NewVote) -> Result<Option<VoteCast>, StoreError> {
        let Some((request, number)) = id_or_number(&vote.request) else { return Ok(None) };
        let (customer, note) = (vote.customer.as_ref(), vote.note.as_ref());
        let mut cast = Cast {
            workspace: self.workspace,
            request,
            number,
            root: None,
            at: vote.at.into(),
            customer: customer.map(|customer| customer.id.uuid()),
            email: customer.map(|customer| customer.email.as_str().to_owned()),
            email_folded: customer.map(|customer| customer.email.folded().as_str().to_owned()),
            name: customer.and_then(name_of),
            name_folded: customer.and_then(folded_name_of),
            note: note.map(|note| note.id.uuid()),
            note_author: note.and_then(|note| note.author.address()).map(ToOwned::to_owned),
            note_body: note.map(|note| note.body.as_str().to_owned()),
        };
        if let Some((request, is_new)) = self.cast_together(&cast).await? {
            return Ok(Some(VoteCast { outcome: outcome_of(is_new), request: request.try_into()? }));
        }
        let (request, is_new, root) = loop {
            let row: Option<(SummaryRow, Option<bool>, Option<Uuid>)> =
                self.run_optional(cast.clone().get_result(&mut self.connection()?)).await?;
            if let Some(row) = row {
                break row;
            }
            // Merged, or merged again since the root was found, or unknown.
            let Some(root) = self.find_feature_request(&vote.request).await? else { return Ok(None) };
            cast.root = Some(root.id.uuid());
        };
        let request = match root {
            // A merge that the statement did not see has moved the vote.
            Some(root) if root != request.id.0 => self.summary_of(root).await?,
            _ => request.try_into()?,
        };
        Ok(Some(VoteCast { outcome: outcome_of(is_new), request }))
    }

    async fn withdraw_vote(
        &mut self,
        request: &FeatureRequestRef,
        customer: &FoldedEmail,
    ) -> Result<Option<VoteWithdrawn>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let email_folded = customer.as_str().to_owned();
        let withdraw = Withdraw { workspace: self.workspace, request, number, email_folded };
        let (root, vote_removed): (Option<Uuid>, bool) = self.run(withdraw.get_result(&mut self.connection()?)).await?;
        let Some(root) = root else { return Ok(None) };
        if vote_removed {
            delete_messages_of_voter(self, customer, root).await?;
        }
        Ok(Some(VoteWithdrawn { request: self.summary_of(root).await?, vote_removed }))
    }

    async fn delete_note(&mut self, note: NoteId) -> Result<Option<FeatureRequestId>, StoreError> {
        let delete = diesel::delete(notes::table)
            .filter(notes::workspace_id.eq(self.workspace))
            .filter(notes::id.eq(note.uuid()))
            .returning(notes::request_id);
        let request: Option<Uuid> = self.run_optional(delete.get_result(&mut self.connection()?)).await?;
        Ok(request.map(FeatureRequestId::new))
    }
}

impl PostgresUnit {
    /// Returns a feature request that an earlier statement of the unit has found.
    async fn summary_of(&mut self, request: Uuid) -> Result<FeatureRequestSummary, StoreError> {
        let request = self.find_feature_request(&FeatureRequestRef::Id(FeatureRequestId::new(request))).await?;
        request.ok_or_else(|| StoreError::Transient("the feature request of a vote was deleted".into()))
    }
}

fn outcome_of(is_new: Option<bool>) -> VoteOutcome {
    match is_new {
        None => VoteOutcome::NoVoter,
        Some(true) => VoteOutcome::Registered,
        Some(false) => VoteOutcome::AlreadyVoted,
    }
}
