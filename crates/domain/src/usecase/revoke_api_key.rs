//! Revokes an API key.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::api_key::ApiKey;
use crate::model::audit::Audit;
use crate::model::id::ApiKeyId;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Revokes a key immediately. A key that was revoked before keeps its revocation timestamp.
#[derive(Debug, Clone)]
pub struct RevokeApiKey {
    /// The key.
    pub id: ApiKeyId,
}

/// The entry about a revoked key.
pub(crate) fn revocation(key: &ApiKey) -> Audit {
    Audit::entry("api_key.revoke", "api_key", Some(key.id.uuid()))
}

#[async_trait]
impl Operation for RevokeApiKey {
    type Output = ApiKey;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ApiKey>, RoadmapError> {
        let key = work.find_api_key(self.id).await?.ok_or(RoadmapError::NotFound(Resource::ApiKey))?;
        let revoked_at = key.revoked_at.or(Some(context.now));
        work.update_api_key_validity(key.id, key.expires_at, revoked_at).await?;
        let audit = revocation(&key);
        Ok(Performed::new(ApiKey { revoked_at, ..key }, audit))
    }
}
