//! The team, as far as commands need it.

use async_trait::async_trait;
use diesel::sql_types::{Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::id::MemberId;
use roadmap_domain::policy::authorship::AuthorCandidates;
use roadmap_domain::ports::TeamReads;
use uuid::Uuid;

use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// The member with this address, and the oldest.
    Candidates { workspace: Uuid => SqlUuid, email: Option<String> => Nullable<Text> }
        -> (Nullable<SqlUuid>, Nullable<SqlUuid>),
    "SELECT (SELECT id FROM members WHERE workspace_id = {workspace} AND email_folded = {email}),
            (SELECT id FROM members WHERE workspace_id = {workspace} ORDER BY created_at, id LIMIT 1)"
}

#[async_trait]
impl TeamReads for PostgresUnit {
    async fn author_candidates(&mut self, named: Option<FoldedEmail>) -> Result<AuthorCandidates, StoreError> {
        let email = named.map(|email| email.as_str().to_owned());
        let candidates = Candidates { workspace: self.workspace, email };
        let (named, oldest): (Option<Uuid>, Option<Uuid>) =
            self.run(candidates.get_result(&mut self.connection()?)).await?;
        Ok(AuthorCandidates { named: named.map(MemberId::new), oldest: oldest.map(MemberId::new) })
    }
}
