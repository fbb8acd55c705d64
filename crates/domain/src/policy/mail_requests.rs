//! Who pays for the mail that somebody asks for: what is counted, and the limits.
//!
//! A mail that somebody asks for is counted by several counters, and each has limits. A sign-in that was redeemed is not
//! counted any more: its mail reached the person who had asked for it.

use sha2::{Digest, Sha256};
use time::Duration;
use uuid::Uuid;

use crate::model::email_address::{EmailAddress, FoldedEmail};
use crate::model::id::WorkspaceId;
use crate::model::timestamp::Timestamp;

/// At most this many mails in each window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailLimit {
    /// Number of mails.
    pub mails: u32,
    /// Length of the window.
    pub window: Duration,
}

impl MailLimit {
    const fn new(mails: u32, window: Duration) -> Self {
        Self { mails, window }
    }

    /// Returns how long another mail has to wait, if the mail before the last [`Self::mails`] - 1 ones was asked for at
    /// `nth`.
    #[must_use]
    pub fn wait(self, nth: Option<Timestamp>, now: Timestamp) -> Option<Duration> {
        let free_at = nth?.plus(self.window);
        (free_at > now).then(|| Duration::milliseconds(free_at.millis() - now.millis()))
    }
}

const QUARTER: Duration = Duration::minutes(15);

/// Mails to one person that others may ask for, in all workspaces together. The second limit never delays a mail by more
/// than 15 minutes: within 45 minutes the first one admits nine mails.
pub const PERSON: [MailLimit; 2] = [MailLimit::new(3, QUARTER), MailLimit::new(10, Duration::HOUR)];
/// Mails that a browser asks for in which their recipient was signed in before.
pub const KNOWN_BROWSER: [MailLimit; 1] = [MailLimit::new(5, QUARTER)];
/// Invitations of one person, in all workspaces together.
pub const INVITED_PERSON: [MailLimit; 1] = [MailLimit::new(3, Duration::HOUR)];
/// Invitations of a workspace.
pub const INVITATIONS: [MailLimit; 1] = [MailLimit::new(100, Duration::HOUR)];
/// Sign-in mails of a workspace to addresses that it does not know.
pub const STRANGERS: [MailLimit; 1] = [MailLimit::new(300, Duration::HOUR)];
/// Sign-in mails of a workspace to customers who have used a sign-in before.
pub const CUSTOMERS: [MailLimit; 1] = [MailLimit::new(1_000, Duration::HOUR)];
/// Ideas and comments of a workspace that nobody has confirmed.
pub const KEPT_POSTS: [MailLimit; 1] = [MailLimit::new(200, Duration::DAY)];
/// Test mails of a workspace.
pub const TEST_MAILS: [MailLimit; 1] = [MailLimit::new(5, Duration::HOUR)];

/// How long a counted mail is stored: the longest window.
pub const COUNTED_FOR: Duration = Duration::DAY;

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub enum MailCounter<'a> {
    /// Mails to a person, in all workspaces together.
    Person(&'a EmailAddress),
    /// Mails that a known browser asks for.
    KnownBrowser(Uuid),
    /// Invitations of a person, in all workspaces together.
    InvitedPerson(&'a EmailAddress),
    Invitations(WorkspaceId),
    /// Mails of a workspace to addresses that it does not know.
    Strangers(WorkspaceId),
    /// Mails of a workspace to customers.
    Customers(WorkspaceId),
    /// Ideas and comments of a workspace that nobody has confirmed.
    KeptPosts(WorkspaceId),
    TestMails(WorkspaceId),
    /// Sign-ins that were asked for while a workspace had used up [`STRANGERS`] or [`CUSTOMERS`].
    UsedUp(WorkspaceId),
}

/// The stored name of a counter: a digest, because an address is not stored for being counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CounterKey(pub [u8; 32]);

impl MailCounter<'_> {
    /// Returns the stored name.
    #[must_use]
    pub fn key(self) -> CounterKey {
        let (kind, of) = match self {
            Self::Person(address) => ("person", mailbox(address.folded()).into_bytes()),
            Self::InvitedPerson(address) => ("invited_person", mailbox(address.folded()).into_bytes()),
            Self::KnownBrowser(browser) => ("known_browser", browser.as_bytes().to_vec()),
            Self::Invitations(workspace) => ("invitations", workspace.uuid().as_bytes().to_vec()),
            Self::Strangers(workspace) => ("strangers", workspace.uuid().as_bytes().to_vec()),
            Self::Customers(workspace) => ("customers", workspace.uuid().as_bytes().to_vec()),
            Self::KeptPosts(workspace) => ("kept_posts", workspace.uuid().as_bytes().to_vec()),
            Self::TestMails(workspace) => ("test_mails", workspace.uuid().as_bytes().to_vec()),
            Self::UsedUp(workspace) => ("used_up", workspace.uuid().as_bytes().to_vec()),
        };
        let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(of).finalize();
        CounterKey(digest.into())
    }
}

/// Returns the mailbox of an address: folded, without the tag that many mail servers allow (`ann+news@example.com`).
fn mailbox(address: &FoldedEmail) -> String {
    let Some((local, domain)) = address.as_str().rsplit_once('@') else { return address.as_str().to_owned() };
    let person = local.split_once('+').map_or(local, |(person, _)| person);
    format!("{}@{domain}", if person.is_empty() { local } else { person })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::{now, workspace};

    fn email(raw: &str) -> EmailAddress {
        EmailAddress::from_stored(raw.to_owned())
    }

    #[test]
    fn a_limit_is_free_again_when_its_oldest_mail_leaves_the_window() {
        let limit = MailLimit::new(3, QUARTER);
        assert_eq!(limit.wait(None, now()), None);
        for (age, wait) in [(0, Some(900)), (899, Some(1)), (900, None), (5_000, None)] {
            let nth = now().plus(Duration::seconds(-age));
            assert_eq!(limit.wait(Some(nth), now()), wait.map(Duration::seconds), "{age}");
        }
    }

    /// Whoever asks, as often as possible and at any time: nobody waits for more than 15 minutes.
    ///
    /// Portal.
    #[test]
    fn the_limits_of_a_person_never_delay_a_mail_by_more_than_15_minutes() {
        for step in [1, 7, 60, 299, 300, 450, 899, 900, 901] {
            let mut sent: Vec<Timestamp> = Vec::new();
            let mut at = now();
            for _ in 0..2_000 {
                let waits = PERSON.map(|limit| {
                    let nth = sent.len().checked_sub(limit.mails as usize).map(|index| sent[index]);
                    limit.wait(nth, at)
                });
                match waits.into_iter().flatten().max() {
                    Some(wait) => assert!(wait <= QUARTER, "{step} {wait}"),
                    None => sent.push(at),
                }
                at = at.plus(Duration::seconds(step));
            }
            let in_hour =
                |end: Timestamp| sent.iter().filter(|at| **at <= end && **at > end.plus(-Duration::HOUR)).count();
            assert!(sent.iter().all(|end| in_hour(*end) <= 10), "{step}");
        }
    }

    #[test]
    fn a_person_is_one_mailbox_whatever_its_tags_and_its_case() {
        let key = |raw: &str| MailCounter::Person(&email(raw)).key();
        for same in
            ["ann@example.com", "Ann@Example.COM", "ann+1@example.com", "ANN+a+b@example.com", "ann+@example.com"]
        {
            assert_eq!(key(same), key("ann@example.com"), "{same}");
        }
        for other in ["bob@example.com", "ann@example.org", "+ann@example.com", "ann.b@example.com"] {
            assert_ne!(key(other), key("ann@example.com"), "{other}");
        }
    }

    #[test]
    fn every_counter_has_a_name_of_its_own() {
        let (address, browser) = (email("ann@example.com"), Uuid::from_u128(1));
        let of = |workspace| {
            [
                MailCounter::Invitations(workspace),
                MailCounter::Strangers(workspace),
                MailCounter::Customers(workspace),
                MailCounter::KeptPosts(workspace),
                MailCounter::TestMails(workspace),
                MailCounter::UsedUp(workspace),
            ]
        };
        let people =
            [MailCounter::Person(&address), MailCounter::InvitedPerson(&address), MailCounter::KnownBrowser(browser)];
        let other = WorkspaceId::new(Uuid::from_u128(2));
        let all = people.into_iter().chain(of(workspace())).chain(of(other)).map(MailCounter::key);
        assert_eq!(all.collect::<std::collections::HashSet<_>>().len(), 15);
    }
}
