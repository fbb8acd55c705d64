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
        if key.revoked_at.is_some() {
            return Ok(Performed::new(key, Audit::Unchanged));
        }
        let revoked_at = Some(context.now);
        work.update_api_key_validity(key.id, key.expires_at, revoked_at).await?;
        let audit = revocation(&key);
        Ok(Performed::new(ApiKey { revoked_at, ..key }, audit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api_key::Scopes;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{name, now, perform};
    use time::Duration;
    use uuid::Uuid;

    #[test]
    fn a_revoked_key_keeps_its_time_and_is_not_recorded_again() {
        let earlier = now().plus(-Duration::HOUR);
        for (before, after, has_changed) in [(None, now(), true), (Some(earlier), earlier, false)] {
            let id = ApiKeyId::new(Uuid::from_u128(7));
            let mut unit = MockUnit::new();
            unit.expect_find_api_key().returning(move |id| {
                Ok(Some(ApiKey {
                    id,
                    name: name("ci"),
                    last_four: "abcd".to_owned(),
                    scopes: Scopes::ALL,
                    created_at: earlier,
                    expires_at: None,
                    revoked_at: before,
                    last_used_at: None,
                    made_by: None,
                }))
            });
            unit.expect_update_api_key_validity()
                .withf(|_, _, revoked_at| *revoked_at == Some(now()))
                .times(usize::from(has_changed))
                .returning(|_, _, _| Ok(()));
            let revoked = perform(&RevokeApiKey { id }, &mut unit).unwrap();
            assert_eq!((revoked.has_changed(), revoked.output.revoked_at), (has_changed, Some(after)));
        }
    }
}
