//! What the process itself gives the domain: time, ids, chance, and a gate in memory.

mod cached_directory;
mod gate;

use std::time::SystemTime;

use rand::RngExt;
use rand::distr::{Alphanumeric, SampleString};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{Clock, Ids, Random};
use time::OffsetDateTime;
use uuid::{Builder, Uuid};

pub(crate) use cached_directory::CachedDirectory;
pub(crate) use gate::MemoryGate;

/// The system's time.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the port's one implementation")]
    fn now(&self) -> Timestamp {
        Timestamp::new(OffsetDateTime::from(SystemTime::now()))
    }
}

/// UUIDs of version 7 with 74 random bits.
pub(crate) struct RandomIds;

impl Ids for RandomIds {
    fn next(&self, at: Timestamp) -> Uuid {
        let millis = u64::try_from(at.millis()).unwrap_or(0);
        Builder::from_unix_timestamp_millis(millis, &rand::rng().random()).into_uuid()
    }
}

/// The thread's generator, which the operating system seeds and which is fit for secrets.
pub(crate) struct SystemRandom;

impl Random for SystemRandom {
    fn base62(&self, characters: usize) -> String {
        Alphanumeric.sample_string(&mut rand::rng(), characters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_version_7_and_follow_time() {
        let at = |millis| RandomIds.next(Timestamp::from_millis(millis).unwrap());
        assert_eq!(at(1_780_000_000_000).get_version_num(), 7);
        assert!(at(1_780_000_000_000) < at(1_780_000_000_001));
        assert_ne!(at(1), at(1));
    }

    #[test]
    fn secrets_are_of_the_length_and_alphabet_of_keys() {
        let secret = SystemRandom.base62(43);
        assert_eq!(secret.len(), 43);
        assert!(secret.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_ne!(secret, SystemRandom.base62(43));
    }
}
