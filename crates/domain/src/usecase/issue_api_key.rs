//! Issues an API key, contract section 5.

use async_trait::async_trait;
use time::Duration;

use crate::error::RoadmapError;
use serde_json::Value;

use crate::model::api_key::{ApiKey, KeyText, Scopes};
use crate::model::audit::{Audit, Change};
use crate::model::id::ApiKeyId;
use crate::model::text::Name;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Stores a newly generated key.
#[derive(Debug, Clone)]
pub struct IssueApiKey {
    /// The key. Only its digest and its last four characters are stored.
    pub key: KeyText,
    pub name: Name,
    pub scopes: Scopes,
    /// The lifetime. `None` means that the key does not expire.
    pub expires_in: Option<Duration>,
}

#[async_trait]
impl Operation for IssueApiKey {
    type Output = ApiKey;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ApiKey>, RoadmapError> {
        let key = ApiKey {
            id: context.new_id(ApiKeyId::new),
            name: self.name.clone(),
            last_four: self.key.last_four().to_owned(),
            scopes: self.scopes,
            created_at: context.now,
            expires_at: self.expires_in.map(|span| context.now.plus(span)),
            revoked_at: None,
            last_used_at: None,
            made_by: context.actor.member_id(),
        };
        work.insert_api_key(&key, &self.key.digest()).await?;
        let changes = vec![
            Change::new("name", Value::Null, key.name.as_str()),
            Change::new("scopes", Value::Null, key.scopes.names()),
        ];
        let audit = Audit::with_changes("api_key.create", "api_key", Some(key.id.uuid()), changes);
        Ok(Performed::new(key, audit))
    }
}
