//! Authentication by API key in the workspace of the host, contract section 5.

use std::sync::Arc;

use crate::error::{RoadmapError, StoreError};
use crate::model::api_key::{Credential, KeyText};
use crate::model::workspace::Subdomain;
use crate::ports::{Clock, WorkspaceDirectory};

/// Authenticates clients.
#[derive(Clone)]
pub struct Authenticate {
    directory: Arc<dyn WorkspaceDirectory>,
    clock: Arc<dyn Clock>,
}

/// An authenticated client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authenticated {
    /// The workspace and the key.
    pub credential: Credential,
    /// Whether this use of the key must be recorded.
    pub needs_last_use_update: bool,
}

/// The reason for a rejected authentication. Only operators see it: clients get the same response for all reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rejection {
    /// The host does not name a workspace.
    NoWorkspace,
    /// The request has no key, or more than one.
    NoKey,
    /// The key has the wrong format or checksum.
    Malformed,
    /// The workspace does not have this key or does not exist.
    Unknown,
    /// The key has expired.
    Expired,
    /// The key was revoked.
    Revoked,
}

impl Rejection {
    /// All reasons.
    pub const ALL: [Self; 6] =
        [Self::NoWorkspace, Self::NoKey, Self::Malformed, Self::Unknown, Self::Expired, Self::Revoked];

    /// Returns the name that operators see.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoWorkspace => "no_workspace",
            Self::NoKey => "no_key",
            Self::Malformed => "malformed",
            Self::Unknown => "unknown",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// A failed authentication.
#[derive(Debug)]
pub enum AuthenticationError {
    /// The key was rejected.
    Rejected(Rejection),
    /// The store failed.
    Store(StoreError),
}

impl From<StoreError> for AuthenticationError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<AuthenticationError> for RoadmapError {
    /// Maps all rejections to one error, so that a client cannot tell them apart.
    fn from(error: AuthenticationError) -> Self {
        match error {
            AuthenticationError::Rejected(_) => Self::Unauthenticated,
            AuthenticationError::Store(error) => error.into(),
        }
    }
}

impl Authenticate {
    /// Creates an authenticator that looks up keys in `directory`.
    #[must_use]
    pub fn new(directory: Arc<dyn WorkspaceDirectory>, clock: Arc<dyn Clock>) -> Self {
        Self { directory, clock }
    }

    /// Verifies `key` in the workspace of `subdomain`.
    ///
    /// # Errors
    /// A rejection, or an error of the store. All rejections become [`RoadmapError::Unauthenticated`].
    pub async fn verify_key(&self, subdomain: &Subdomain, key: &str) -> Result<Authenticated, AuthenticationError> {
        let rejected = AuthenticationError::Rejected;
        let key = KeyText::parse(key).ok_or(rejected(Rejection::Malformed))?;
        let credential = self.directory.credential(subdomain, &key.digest()).await?;
        let credential = credential.ok_or(rejected(Rejection::Unknown))?;
        let now = self.clock.now();
        if !credential.key.is_valid_at(now) {
            let is_revoked = credential.key.revoked_at.is_some_and(|at| at <= now);
            return Err(rejected(if is_revoked { Rejection::Revoked } else { Rejection::Expired }));
        }
        Ok(Authenticated { needs_last_use_update: credential.key.needs_last_use_update(now), credential })
    }

    /// Records that the key was used now.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn record_use(&self, credential: &Credential) -> Result<(), RoadmapError> {
        Ok(self.directory.record_use(credential, self.clock.now()).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api_key::{ApiKey, Scopes};
    use crate::model::id::ApiKeyId;
    use crate::model::timestamp::Timestamp;
    use crate::model::workspace::Workspace;
    use crate::ports::mocks::MockWorkspaceDirectory;
    use crate::usecase::fixtures::{FixedClock, name, now, workspace};
    use pollster::block_on;
    use time::Duration;
    use uuid::Uuid;

    fn key() -> KeyText {
        KeyText::from_random(&"k".repeat(43)).unwrap()
    }

    fn acme() -> Subdomain {
        Subdomain::from_label("acme").unwrap()
    }

    fn credential(expires_at: Option<Timestamp>, revoked_at: Option<Timestamp>) -> Credential {
        let key = ApiKey {
            id: ApiKeyId::new(Uuid::from_u128(1)),
            name: name("ci"),
            last_four: key().last_four().to_owned(),
            scopes: Scopes::ALL,
            created_at: now(),
            expires_at,
            revoked_at,
            last_used_at: Some(now()),
            made_by: None,
        };
        Credential { workspace: Workspace { id: workspace(), subdomain: acme() }, key }
    }

    fn verify(credential: Option<Credential>) -> Result<Authenticated, AuthenticationError> {
        let mut directory = MockWorkspaceDirectory::new();
        directory
            .expect_credential()
            .withf(|subdomain, digest| *subdomain == acme() && *digest == key().digest())
            .times(1)
            .return_once(|_, _| Ok(credential));
        let authenticate = Authenticate::new(Arc::new(directory), Arc::new(FixedClock));
        block_on(authenticate.verify_key(&acme(), key().reveal()))
    }

    #[test]
    fn a_valid_key_authenticates_in_its_workspace() {
        let authenticated = verify(Some(credential(None, None))).unwrap();
        assert_eq!(authenticated, Authenticated { credential: credential(None, None), needs_last_use_update: false });
    }

    /// Decision 1.
    #[test]
    fn all_rejections_are_the_same_error() {
        let yesterday = Some(now().plus(-Duration::DAY));
        for (stored, cause) in [
            (None, Rejection::Unknown),
            (Some(credential(Some(now()), None)), Rejection::Expired),
            (Some(credential(yesterday, None)), Rejection::Expired),
            (Some(credential(None, Some(now()))), Rejection::Revoked),
            (Some(credential(yesterday, yesterday)), Rejection::Revoked),
        ] {
            let error = verify(stored).unwrap_err();
            assert!(matches!(error, AuthenticationError::Rejected(found) if found == cause), "{error:?}");
            assert!(matches!(error.into(), RoadmapError::Unauthenticated));
        }
    }

    /// Decision 1: a mistyped key causes no database read.
    #[test]
    fn a_malformed_key_is_rejected_without_a_lookup() {
        let authenticate = Authenticate::new(Arc::new(MockWorkspaceDirectory::new()), Arc::new(FixedClock));
        let mistyped = key().reveal().replace("rmk_kk", "rmk_kx");
        for raw in ["", "x", &mistyped] {
            let error = block_on(authenticate.verify_key(&acme(), raw)).unwrap_err();
            assert!(matches!(error, AuthenticationError::Rejected(Rejection::Malformed)), "{error:?}");
        }
    }
}
