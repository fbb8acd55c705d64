//! The team, as far as commands need it.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::id::MemberId;
use roadmap_domain::policy::authorship::AuthorCandidates;
use roadmap_domain::ports::TeamReads;

use crate::codec::Id;
use crate::schema::members;
use crate::unit::SqliteUnit;

#[async_trait]
impl TeamReads for SqliteUnit {
    async fn author_candidates(&mut self, named: Option<FoldedEmail>) -> Result<AuthorCandidates, StoreError> {
        self.run(move |connection, workspace| {
            let team = members::table.filter(members::workspace_id.eq(workspace)).select(members::id);
            let named: Option<Id> = match named {
                Some(email) => team.filter(members::email_folded.eq(email.as_str())).first(connection).optional()?,
                None => None,
            };
            let oldest: Option<Id> = team.order((members::created_at, members::id)).first(connection).optional()?;
            let member = |id: Id| MemberId::new(id.0);
            Ok(AuthorCandidates { named: named.map(member), oldest: oldest.map(member) })
        })
        .await
    }
}
