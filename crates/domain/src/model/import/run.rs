//! The runs of imports (contract sections 2, 3 and 5).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use time::Duration;
use uuid::Uuid;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::email_address::EmailAddress;
use crate::model::id::ImportId;
use crate::model::import::hex_digest;
use crate::model::import::records::{Kind, PersonKey};
use crate::model::import::upload::{ImportJob, Upload};
use crate::model::timestamp::Timestamp;

/// The source of runs that restore an export of this service.
pub const RESTORE: &str = "roadmap";

/// The local part of the address of [`SourceName::nobody`].
const NOBODY: &str = "nobody";

/// The name of an installation of a source: 1 to 40 of `a-z0-9-`. Records of two installations never meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceName(String);

impl SourceName {
    /// Maximum number of characters.
    const MAX: usize = 40;

    /// Parses a name.
    ///
    /// # Errors
    /// Empty, too long, or with another character.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if (1..=Self::MAX).contains(&raw.len()) && raw.bytes().all(is_allowed) && !raw.starts_with('-') {
            return Ok(Self(raw.to_owned()));
        }
        Err(FieldError::new(field, FieldProblem::Malformed { expected: "1 to 40 of the characters a-z, 0-9 and -" }))
    }

    /// Wraps a stored name, which is not validated again.
    #[must_use]
    pub fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the address of a person of this source. Somebody whose address is not known gets one without a mailbox.
    ///
    /// # Errors
    /// The address of a person is none.
    pub fn address_of(&self, person: &PersonKey) -> Validated<EmailAddress> {
        match person {
            PersonKey::Email(address) => EmailAddress::parse("email", address),
            // Addresses are compared without regard to case, ids with.
            PersonKey::ExternalId(id) if is_plain(id) && id != NOBODY => self.without_mailbox(id),
            PersonKey::ExternalId(id) => self.without_mailbox(&hex_digest(id.as_bytes())),
        }
    }

    /// Returns the address of those of whom nothing is known but that they have written something.
    ///
    /// # Errors
    /// None: the name of a source is part of an address.
    pub fn nobody(&self) -> Validated<EmailAddress> {
        self.without_mailbox(NOBODY)
    }

    fn without_mailbox(&self, local_part: &str) -> Validated<EmailAddress> {
        EmailAddress::parse("email", &format!("{local_part}@{}.invalid", self.0.trim_matches('-')))
    }
}

/// Whether an id can be the local part of an address as it is.
fn is_plain(id: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    (1..=40).contains(&id.len()) && id.bytes().all(is_allowed)
}

impl std::fmt::Display for SourceName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportState {
    /// Its file was uploaded, and nobody has started it yet.
    Uploaded,
    Running,
    /// It ended before its end, and goes on when somebody says so.
    Stopped,
    /// It has ended without success.
    Failed,
    Done,
    /// What it has made is being deleted. If that stops, it is to be undone again.
    Undoing,
    Undone,
}

impl ImportState {
    /// All states.
    const ALL: [Self; 7] =
        [Self::Uploaded, Self::Running, Self::Stopped, Self::Failed, Self::Done, Self::Undoing, Self::Undone];

    /// Returns the stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uploaded => "uploaded",
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Done => "done",
            Self::Undoing => "undoing",
            Self::Undone => "undone",
        }
    }

    /// Returns the state with this stored name.
    #[must_use]
    pub fn from_stored(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A run of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub id: ImportId,
    /// The program whose files are imported: `csv`.
    pub source: String,
    pub name: SourceName,
    pub state: ImportState,
    /// What a process of the service is to do with it. `None`: nothing, or somebody's command works on it.
    pub job: Option<ImportJob>,
    /// The file that was uploaded. `None`: a command has read its files, or it has come to its end.
    pub upload: Option<Upload>,
    /// A digest of the files and of how they are read. A run with the same one goes on with a stopped one.
    pub input: String,
    pub progress: Progress,
    /// The report as JSON, once it has ended.
    pub report: Option<String>,
    /// The process that works on it.
    pub holder: Uuid,
    pub began_at: Timestamp,
    /// When the process has said last that it works on it.
    pub seen_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

impl Import {
    /// How long a process that says nothing holds a run.
    pub const PATIENCE: Duration = Duration::seconds(15);
    /// How long a run can be undone.
    pub const UNDOABLE: Duration = Duration::days(30);

    /// Returns when it was uploaded or a command has begun it. IDs begin with that time (RFC 9562 section 5.7).
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        let millis = i64::try_from(self.id.uuid().as_u128() >> 80).ok();
        millis.and_then(Timestamp::from_millis).unwrap_or(self.began_at)
    }

    /// Whether a process works on it.
    #[must_use]
    pub fn is_at_work(&self, now: Timestamp) -> bool {
        matches!(self.state, ImportState::Running | ImportState::Undoing) && self.seen_at.plus(Self::PATIENCE) > now
    }

    /// Returns the state for people: a run whose process has died has stopped, unless another process of the service goes on
    /// with it.
    #[must_use]
    pub fn visible_state(&self, now: Timestamp) -> ImportState {
        match self.state {
            _ if self.job.is_some() => ImportState::Running,
            ImportState::Running | ImportState::Undoing if !self.is_at_work(now) => ImportState::Stopped,
            ImportState::Undoing => ImportState::Running,
            state => state,
        }
    }

    /// Whether it can go on where it has stopped.
    #[must_use]
    pub fn can_resume(&self, now: Timestamp) -> bool {
        match self.state {
            ImportState::Stopped => true,
            ImportState::Running => self.job.is_none() && !self.is_at_work(now),
            _ => false,
        }
    }

    /// Whether its file can be imported: nothing of it is in yet, or it has stopped.
    #[must_use]
    pub fn can_run(&self, now: Timestamp) -> bool {
        let can = matches!(self.state, ImportState::Uploaded | ImportState::Failed) || self.can_resume(now);
        self.upload.is_some() && self.job.is_none() && can
    }

    /// Whether what it has made can be deleted, if no process works on it.
    #[must_use]
    pub fn can_undo(&self, now: Timestamp) -> bool {
        let is_recent = self.began_at.plus(Self::UNDOABLE) > now;
        let has_made = !self.has_made_nothing() && self.state != ImportState::Undone;
        self.job.is_none() && has_made && is_recent && self.source != RESTORE
    }

    /// Whether it can be deleted as if it had never been.
    #[must_use]
    pub fn can_discard(&self) -> bool {
        self.job.is_none() && self.has_made_nothing()
    }

    /// Whether nothing of its file is in. A run that fails later has no file any more.
    fn has_made_nothing(&self) -> bool {
        self.state == ImportState::Uploaded || (self.state == ImportState::Failed && self.upload.is_some())
    }
}

/// What a run writes, in this order (contract section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    #[default]
    Tracks,
    Members,
    Customers,
    Files,
    FeatureRequests,
    Merges,
    Votes,
    Subscriptions,
    Comments,
    Notes,
    Moves,
    Changelogs,
}

impl Stage {
    /// All stages in their order.
    pub const ALL: [Self; 12] = [
        Self::Tracks,
        Self::Members,
        Self::Customers,
        Self::Files,
        Self::FeatureRequests,
        Self::Merges,
        Self::Votes,
        Self::Subscriptions,
        Self::Comments,
        Self::Notes,
        Self::Moves,
        Self::Changelogs,
    ];

    /// Returns the kind of the records that the stage writes.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Tracks => Kind::Tracks,
            Self::Members => Kind::Members,
            Self::Customers => Kind::Customers,
            Self::Files => Kind::Files,
            Self::FeatureRequests => Kind::FeatureRequests,
            Self::Merges => Kind::Merges,
            Self::Votes => Kind::Votes,
            Self::Subscriptions => Kind::Subscriptions,
            Self::Comments => Kind::Comments,
            Self::Notes => Kind::Notes,
            Self::Moves => Kind::Moves,
            Self::Changelogs => Kind::Changelogs,
        }
    }
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    pub stage: Stage,
    /// How many records of the stage are done.
    pub position: u64,
    /// How many records the stage has.
    #[serde(default)]
    pub total: u64,
    /// What became of the records so far.
    pub counts: Counts,
    /// How many of the new votes are subscriptions, too.
    pub subscribed: u64,
    /// The names of the tracks that it has added.
    pub new_tracks: Vec<String>,
    /// The names of the members that it has added, at most [`Self::MAX_NAMES`].
    pub new_members: Vec<String>,
    /// Why records were left out, with their numbers.
    pub refused: BTreeMap<String, u64>,
}

impl Progress {
    /// Maximum number of names of new members.
    pub const MAX_NAMES: usize = 100;

    /// Returns it as stored JSON.
    #[must_use]
    pub fn to_stored(&self) -> String {
        json!(self).to_string()
    }

    /// Parses what [`Self::to_stored`] returns. `None`: it is something else.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// What became of the records of a kind (contract section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Count {
    /// Records that are here now and were not before.
    pub new: u64,
    /// Records that were overwritten, because they had changed in the source.
    pub changed: u64,
    /// Records that were here before.
    pub unchanged: u64,
    /// Records that have changed in the source, but were not overwritten.
    pub kept: u64,
    /// Records that a rule leaves out.
    pub skipped: u64,
    /// Records that cannot be records here.
    pub rejected: u64,
}

impl Count {
    /// Adds the records of a batch.
    pub fn add(&mut self, other: Self) {
        self.new += other.new;
        self.changed += other.changed;
        self.unchanged += other.unchanged;
        self.kept += other.kept;
        self.skipped += other.skipped;
        self.rejected += other.rejected;
    }

    /// Returns how many records were read.
    #[must_use]
    pub const fn read(&self) -> u64 {
        self.new + self.changed + self.unchanged + self.kept + self.skipped + self.rejected
    }
}

/// What became of all records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts(BTreeMap<Kind, Count>);

impl Counts {
    /// Returns the count of a kind.
    #[must_use]
    pub fn of(&self, kind: Kind) -> Count {
        self.0.get(&kind).copied().unwrap_or_default()
    }

    /// Returns the count of a kind, to be changed.
    pub fn of_mut(&mut self, kind: Kind) -> &mut Count {
        self.0.entry(kind).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::now;

    #[test]
    fn a_source_is_named_like_a_subdomain() {
        for good in ["csv", "fider-2", "0", &"a".repeat(40)] {
            assert_eq!(SourceName::parse("name", good).unwrap().as_str(), good);
        }
        for bad in ["", "Csv", "a b", "a.b", "-a", "ä", &"a".repeat(41)] {
            assert!(SourceName::parse("name", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_person_without_an_address_gets_one_without_a_mailbox() {
        let name = SourceName::parse("name", "csv-2").unwrap();
        let address = |id: &str| name.address_of(&PersonKey::ExternalId(id.to_owned())).unwrap();
        assert_eq!(address("u-7_b").as_str(), "u-7_b@csv-2.invalid");
        // Ids that differ in case are two people, and so are those that are no part of an address.
        let odd = ["U-7", "u-7", "a b", "a@b", "", "ü", &"x".repeat(41)].map(address);
        for (place, one) in odd.iter().enumerate() {
            assert!(!one.folded().has_mailbox(), "{one:?}");
            assert!(!odd[..place].iter().any(|other| other.folded() == one.folded()), "{one:?}");
        }
        assert_eq!(name.nobody().unwrap().as_str(), "nobody@csv-2.invalid");
        assert_ne!(address("nobody"), name.nobody().unwrap());
        let ann = name.address_of(&PersonKey::Email("Ann@A.example".to_owned())).unwrap();
        assert_eq!(ann.as_str(), "Ann@A.example");
        assert!(name.address_of(&PersonKey::Email("ann".to_owned())).is_err());
        let dashed = SourceName::parse("name", "a-").unwrap();
        assert_eq!(dashed.nobody().unwrap().as_str(), "nobody@a.invalid");
    }

    #[test]
    fn a_run_whose_process_is_silent_has_stopped() {
        use ImportState::*;
        let import = |state, seconds: i64| Import {
            id: ImportId::new(Uuid::from_u128(1)),
            source: "csv".to_owned(),
            name: SourceName::parse("name", "csv").unwrap(),
            state,
            job: None,
            upload: None,
            input: String::new(),
            progress: Progress::default(),
            report: None,
            holder: Uuid::nil(),
            began_at: now(),
            seen_at: now().plus(Duration::seconds(-seconds)),
            ended_at: None,
        };
        for (state, seconds, visible, is_at_work, can_resume) in [
            (Running, 14, Running, true, false),
            (Running, 15, Stopped, false, true),
            (Undoing, 14, Running, true, false),
            (Undoing, 15, Stopped, false, false),
            (Stopped, 0, Stopped, false, true),
            (Failed, 99, Failed, false, false),
            (Uploaded, 99, Uploaded, false, false),
            (Done, 99, Done, false, false),
            (Undone, 99, Undone, false, false),
        ] {
            let import = import(state, seconds);
            let found = (import.visible_state(now()), import.is_at_work(now()), import.can_resume(now()));
            assert_eq!(found, (visible, is_at_work, can_resume), "{state:?} {seconds}");
        }
    }

    #[test]
    fn stored_states_and_progress_are_read_back() {
        for state in ImportState::ALL {
            assert_eq!(ImportState::from_stored(state.name()), Some(state));
        }
        assert_eq!(ImportState::from_stored("paused"), None);
        let mut progress = Progress { stage: Stage::Votes, position: 7, ..Progress::default() };
        progress.counts.of_mut(Kind::Votes).new = 3;
        *progress.counts.of_mut(Kind::Comments) =
            Count { new: 1, changed: 2, unchanged: 3, kept: 4, skipped: 5, rejected: 6 };
        assert_eq!(Progress::from_stored(&progress.to_stored()), Some(progress.clone()));
        assert_eq!(Progress::from_stored("{}"), None);
        assert_eq!(progress.counts.of(Kind::Comments).read(), 21);
        assert_eq!(progress.counts.of(Kind::Notes), Count::default());
    }
}
