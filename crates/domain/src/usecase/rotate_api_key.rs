//! Rotates an API key: the new key is valid immediately, the old one for an overlap.

use async_trait::async_trait;
use time::Duration;

use crate::error::{FieldError, FieldProblem, Resource, RoadmapError};
use serde_json::Value;

use crate::model::api_key::{ApiKey, KeyText};
use crate::model::audit::{Audit, Change};
use crate::model::id::ApiKeyId;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::issue_api_key::IssueApiKey;

/// Maximum time for which the old key stays valid.
pub const MAX_OVERLAP: Duration = Duration::days(7);

/// Replaces a valid key.
#[derive(Debug, Clone)]
pub struct RotateApiKey {
    /// The old key.
    pub id: ApiKeyId,
    /// The new key.
    pub replacement: KeyText,
    /// Time for which the old key stays valid.
    pub overlap: Duration,
}

#[async_trait]
impl Operation for RotateApiKey {
    type Output = ApiKey;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ApiKey>, RoadmapError> {
        if !(Duration::ZERO..=MAX_OVERLAP).contains(&self.overlap) {
            return Err(FieldError::new(
                "overlap",
                FieldProblem::WrongType { expected: "between 0s and 7d".to_owned() },
            )
            .into());
        }
        let old = work.find_api_key(self.id).await?.ok_or(RoadmapError::NotFound(Resource::ApiKey))?;
        if !old.is_valid_at(context.now) {
            let message = "The API key no longer works; create a new one instead";
            return Err(FieldError::new("id", FieldProblem::Custom { message }).into());
        }
        let end = context.now.plus(self.overlap);
        let expires_at = Some(old.expires_at.map_or(end, |expiry| expiry.min(end)));
        work.update_api_key_validity(old.id, expires_at, old.revoked_at).await?;
        let lifetime = old.expires_at.map(|expiry| Duration::milliseconds(expiry.millis() - old.created_at.millis()));
        let issue =
            IssueApiKey { key: self.replacement.clone(), name: old.name, scopes: old.scopes, expires_in: lifetime };
        let key = issue.perform(context, work).await?.output;
        let changes = vec![
            Change::new("name", Value::Null, key.name.as_str()),
            Change::new("scopes", Value::Null, key.scopes.names()),
        ];
        let audit = Audit::with_changes("api_key.rotate", "api_key", Some(key.id.uuid()), changes);
        Ok(Performed::new(key, audit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api_key::Scopes;
    use crate::model::audit::Actor;
    use crate::model::id::MemberId;
    use crate::model::timestamp::Timestamp;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, name, now, workspace};
    use pollster::block_on;
    use uuid::Uuid;

    fn old(expires_at: Option<Timestamp>) -> ApiKey {
        ApiKey {
            id: ApiKeyId::new(Uuid::from_u128(77)),
            name: name("ci"),
            last_four: "abcd".to_owned(),
            scopes: Scopes { read: true, write: false, manage: true },
            created_at: now().plus(-Duration::days(10)),
            expires_at,
            revoked_at: None,
            last_used_at: None,
            made_by: Some(MemberId::new(Uuid::from_u128(5))),
        }
    }

    fn rotate(old: Option<ApiKey>, overlap: Duration, expected_end: Option<Timestamp>) -> Result<ApiKey, RoadmapError> {
        let mut unit = MockUnit::new();
        unit.expect_find_api_key().returning(move |_| Ok(old.clone()));
        if let Some(expected_end) = expected_end {
            unit.expect_update_api_key_validity()
                .withf(move |_, expires_at, revoked_at| *expires_at == Some(expected_end) && revoked_at.is_none())
                .times(1)
                .returning(|_, _, _| Ok(()));
            unit.expect_insert_api_key().times(1).returning(|_, _| Ok(()));
        }
        let replacement = KeyText::from_random(&"x".repeat(43)).unwrap();
        let ids = NumberedIds::default();
        let operation = RotateApiKey { id: ApiKeyId::new(Uuid::from_u128(77)), replacement, overlap };
        block_on(operation.perform(&context(&ids), &mut unit)).map(|performed| performed.output)
    }

    /// Decision 1.
    #[test]
    fn the_old_key_expires_after_the_overlap_and_the_new_one_has_its_properties() {
        let day = Duration::DAY;
        let new = rotate(Some(old(None)), day, Some(now().plus(day))).unwrap();
        assert_eq!((new.name, new.scopes, new.expires_at), (name("ci"), old(None).scopes, None));
        // An earlier expiry of the old key is kept. The new key has the lifetime of the old one.
        let sooner = now().plus(Duration::hours(2));
        let new = rotate(Some(old(Some(sooner))), day, Some(sooner)).unwrap();
        assert_eq!(new.expires_at, Some(now().plus(Duration::days(10) + Duration::hours(2))));
        rotate(Some(old(None)), Duration::ZERO, Some(now())).unwrap();
    }

    #[test]
    fn a_rotated_key_belongs_to_whoever_rotates_it() {
        let ids = NumberedIds::default();
        let member = MemberId::new(Uuid::from_u128(6));
        for (actor, made_by) in [(Actor::member(member, &name("Bob")), Some(member)), (Actor::operator("root"), None)] {
            let mut unit = MockUnit::new();
            unit.expect_find_api_key().returning(|_| Ok(Some(old(None))));
            unit.expect_update_api_key_validity().returning(|_, _, _| Ok(()));
            unit.expect_insert_api_key().withf(move |key, _| key.made_by == made_by).times(1).returning(|_, _| Ok(()));
            let replacement = KeyText::from_random(&"x".repeat(43)).unwrap();
            let operation =
                RotateApiKey { id: ApiKeyId::new(Uuid::from_u128(77)), replacement, overlap: Duration::DAY };
            let context = OperationContext::new(workspace(), now(), &actor, &ids);
            assert_eq!(block_on(operation.perform(&context, &mut unit)).unwrap().output.made_by, made_by);
        }
    }

    /// Decision 1.
    #[test]
    fn invalid_rotations_are_rejected() {
        for overlap in [Duration::days(7) + Duration::MILLISECOND, -Duration::SECOND] {
            let outcome = rotate(Some(old(None)), overlap, None);
            assert_eq!(outcome.unwrap_err().to_string(), "overlap must be between 0s and 7d");
        }
        assert_eq!(rotate(None, Duration::DAY, None).unwrap_err().to_string(), "ApiKey does not exist.");
        let expired = old(Some(now()));
        let outcome = rotate(Some(expired), Duration::DAY, None);
        assert_eq!(outcome.unwrap_err().to_string(), "The API key no longer works; create a new one instead");
    }
}
