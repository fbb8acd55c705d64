//! Who is calling: the key's holder, in the workspace of the host. Contract section 5.

use std::sync::Arc;

use crate::error::RoadmapError;
use crate::model::api_key::{Credential, KeyText};
use crate::model::workspace::Subdomain;
use crate::ports::{Clock, Directory};

/// Recognises callers.
#[derive(Clone)]
pub struct Authenticate {
    directory: Arc<dyn Directory>,
    clock: Arc<dyn Clock>,
}

/// A caller who was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// Workspace and key.
    pub credential: Credential,
    /// Whether this use of the key is to be written down.
    pub use_is_stale: bool,
}

impl Authenticate {
    /// Recognises callers by this directory.
    #[must_use]
    pub fn new(directory: Arc<dyn Directory>, clock: Arc<dyn Clock>) -> Self {
        Self { directory, clock }
    }

    /// The caller with `key` in the workspace of `subdomain`.
    ///
    /// # Errors
    /// [`RoadmapError::Unauthenticated`], the same for every cause: unknown workspace, malformed,
    /// unknown, expired or revoked key, another workspace's key.
    pub async fn recognise(&self, subdomain: &Subdomain, key: &str) -> Result<Recognised, RoadmapError> {
        let key = KeyText::parse(key).ok_or(RoadmapError::Unauthenticated)?;
        let credential = self.directory.credential(subdomain, &key.digest()).await?;
        let now = self.clock.now();
        let credential =
            credential.filter(|credential| credential.key.works_at(now)).ok_or(RoadmapError::Unauthenticated)?;
        Ok(Recognised { use_is_stale: credential.key.use_is_stale(now), credential })
    }

    /// Writes down that the key was used just now.
    ///
    /// # Errors
    /// Those of the store.
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
    use crate::ports::mocks::MockDirectory;
    use crate::usecase::fixtures::{FixedClock, name, now, workspace};
    use pollster::block_on;
    use time::Duration;
    use uuid::Uuid;

    fn key() -> KeyText {
        KeyText::of_random(&"k".repeat(43)).unwrap()
    }

    fn acme() -> Subdomain {
        Subdomain::of_label("acme").unwrap()
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
        };
        Credential { workspace: Workspace { id: workspace(), subdomain: acme() }, key }
    }

    fn recognise(found: Option<Credential>) -> Result<Recognised, RoadmapError> {
        let mut directory = MockDirectory::new();
        directory
            .expect_credential()
            .withf(|subdomain, digest| *subdomain == acme() && *digest == key().digest())
            .times(1)
            .return_once(|_, _| Ok(found));
        let authenticate = Authenticate::new(Arc::new(directory), Arc::new(FixedClock));
        block_on(authenticate.recognise(&acme(), key().reveal()))
    }

    #[test]
    fn a_working_key_opens_its_workspace() {
        let recognised = recognise(Some(credential(None, None))).unwrap();
        assert_eq!(recognised, Recognised { credential: credential(None, None), use_is_stale: false });
    }

    #[test]
    fn every_other_case_gets_the_same_answer() {
        for found in [
            None,
            Some(credential(Some(now()), None)),
            Some(credential(Some(now().plus(-Duration::DAY)), None)),
            Some(credential(None, Some(now()))),
        ] {
            assert!(matches!(recognise(found), Err(RoadmapError::Unauthenticated)));
        }
    }

    #[test]
    fn a_mistyped_key_is_refused_without_asking_the_directory() {
        let authenticate = Authenticate::new(Arc::new(MockDirectory::new()), Arc::new(FixedClock));
        let mistyped = key().reveal().replace("rmk_kk", "rmk_kx");
        for raw in ["", "x", &mistyped] {
            assert!(matches!(block_on(authenticate.recognise(&acme(), raw)), Err(RoadmapError::Unauthenticated)));
        }
    }
}
