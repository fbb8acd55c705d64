//! The mail that tells team members what customers have written.

use std::num::NonZeroU32;
use std::sync::Arc;

use time::{Duration, Time};

use crate::model::comment::PublicAuthor;
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::{RequestLink, Title};
use crate::model::id::{MemberId, WorkspaceId};
use crate::model::mail::{Brand, MailSender};
use crate::model::message::Lease;
use crate::model::portal::Language;
use crate::model::time_zone::TimeZone;
use crate::model::timestamp::Timestamp;

/// Which mail a member gets about new feature requests and what customers comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TeamMail {
    /// Soon after each new feature request and comment. What follows within [`TeamMail::SPACING`] comes together.
    Each,
    /// Soon after each comment on a feature request that the member has commented on.
    Answered,
    /// Once a day, at [`TeamMail::TIME_OF_DAY`] in the workspace's time zone.
    Daily,
    Nothing,
}

impl TeamMail {
    /// All choices, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Each, Self::Answered, Self::Daily, Self::Nothing];

    /// When the daily mail goes out.
    pub const TIME_OF_DAY: Time = match Time::from_hms(8, 0, 0) {
        Ok(time) => time,
        Err(_) => Time::MIDNIGHT,
    };

    /// The least time between two mails to a member, unless they are daily.
    pub const SPACING: Duration = Duration::minutes(5);

    /// What is younger is told the next time: it may be written with an earlier timestamp than its commit.
    pub const DELAY: Duration = Duration::MINUTE;

    /// Returns the name that is stored and sent.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Each => "each",
            Self::Answered => "answered",
            Self::Daily => "daily",
            Self::Nothing => "nothing",
        }
    }

    /// Returns the choice with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
    }
}

/// A member who wants mail, and until when everything was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberToTell {
    pub workspace: WorkspaceId,
    /// The time zone of the workspace.
    pub zone: TimeZone,
    pub member: MemberId,
    pub wanted: TeamMail,
    /// The last timestamp of what the member was told, or did not want to be told.
    pub told_until: Timestamp,
}

impl MemberToTell {
    /// Returns whether mail is due at `now`, if there is anything to tell.
    #[must_use]
    pub fn is_due(&self, now: Timestamp) -> bool {
        match self.wanted {
            TeamMail::Nothing => false,
            TeamMail::Each | TeamMail::Answered => self.told_until.plus(TeamMail::DELAY + TeamMail::SPACING) <= now,
            TeamMail::Daily => {
                let day = self.zone.local(now).date();
                let today = self.zone.time_of_day(day, TeamMail::TIME_OF_DAY);
                let last = match today <= now {
                    true => today,
                    false => self.zone.time_of_day(day.saturating_sub(Duration::DAY), TeamMail::TIME_OF_DAY),
                };
                self.told_until.plus(TeamMail::DELAY) < last
            }
        }
    }
}

/// The identity of a mail to a member: about what was written after one time and until another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TeamDigestId {
    pub member: MemberId,
    pub after: Timestamp,
    pub until: Timestamp,
}

impl std::fmt::Display for TeamDigestId {
    /// `team.<milliseconds>.<member>`: the same at every attempt.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "team.{}.{}", self.until.millis(), self.member)
    }
}

/// What a mail to a member is about, as it is at the time of sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamDigestContent {
    /// The member's address.
    pub to: EmailAddress,
    /// The language that a customer with this address has chosen, else the one of the last visit.
    pub language: Option<Language>,
    /// The first of the new feature requests, oldest first.
    pub requests: Vec<TeamPost>,
    /// The number of all new feature requests.
    pub requests_count: u64,
    /// The first of the new comments of customers, oldest first.
    pub replies: Vec<TeamPost>,
    /// The number of all new comments.
    pub replies_count: u64,
}

impl TeamDigestContent {
    /// Maximum number of feature requests, and of comments, that a mail shows. It states the number of further ones.
    pub const MAX_SHOWN: u32 = 20;

    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requests_count == 0 && self.replies_count == 0
    }
}

/// A feature request or comment that a mail to a member shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamPost {
    /// The feature request, of a comment on a merged one the one that it was merged into.
    pub request: RequestLink,
    /// The customer. `None` for a feature request without an author.
    pub author: Option<PublicAuthor>,
    /// Whether it waits for approval.
    pub is_awaiting: bool,
    /// The beginning of the cleaned HTML. It may be cut anywhere, even inside of a tag.
    pub beginning: String,
}

/// A mail to a member that one worker has leased, with all of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedTeamDigest {
    pub id: TeamDigestId,
    pub lease: Lease,
    /// The number of this attempt, from 1.
    pub attempt: NonZeroU32,
    /// When it was queued.
    pub created_at: Timestamp,
    pub content: TeamDigestContent,
    pub sender: Arc<MailSender>,
}

/// The content of a mail to a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamDigestNotification {
    pub id: TeamDigestId,
    /// The only recipient.
    pub to: EmailAddress,
    /// The recipient's language.
    pub language: Language,
    pub brand: Brand,
    /// The new feature requests that the mail shows.
    pub requests: Vec<TeamDigestEntry>,
    /// The number of all new feature requests.
    pub requests_count: u64,
    /// The new comments that the mail shows.
    pub replies: Vec<TeamDigestEntry>,
    /// The number of all new comments.
    pub replies_count: u64,
    /// The URL of the inbox.
    pub inbox_url: String,
    /// The URL of the member's account, which has the choice of this mail.
    pub account_url: String,
    /// The URL that stops this mail, for people (GET) and for mail programs (POST, RFC 8058).
    pub unsubscribe_url: String,
}

/// The entry of a mail to a member for one feature request or comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamDigestEntry {
    /// The title of the feature request.
    pub title: Title,
    /// The URL of the feature request in the admin panel.
    pub url: String,
    /// The customer. `None` for a feature request without an author.
    pub author: Option<PublicAuthor>,
    /// Whether it waits for approval.
    pub is_awaiting: bool,
    /// The beginning of the cleaned HTML.
    pub beginning: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::workspace;
    use time::OffsetDateTime;
    use time::format_description::well_known::Rfc3339;
    use uuid::Uuid;

    fn at(text: &str) -> Timestamp {
        Timestamp::new(OffsetDateTime::parse(text, &Rfc3339).unwrap())
    }

    fn member(wanted: TeamMail, zone: &str, told_until: &str) -> MemberToTell {
        MemberToTell {
            workspace: workspace(),
            zone: TimeZone::parse("time_zone", zone).unwrap(),
            member: MemberId::new(Uuid::from_u128(1)),
            wanted,
            told_until: at(told_until),
        }
    }

    #[test]
    fn choices_are_read_by_their_names() {
        for choice in TeamMail::ALL {
            assert_eq!(TeamMail::from_name(choice.name()), Some(choice));
        }
        assert_eq!(TeamMail::from_name("weekly"), None);
    }

    #[test]
    fn daily_mail_goes_out_at_eight_of_the_zone_on_each_day() {
        for (zone, told_until, now, is_due) in [
            ("Europe/Berlin", "2026-03-02T06:59:00Z", "2026-03-03T06:59:59Z", false),
            ("Europe/Berlin", "2026-03-02T06:59:00Z", "2026-03-03T07:00:00Z", true),
            // Clocks are set forward on 2026-03-29, and back on 2026-10-25.
            ("Europe/Berlin", "2026-03-28T06:59:00Z", "2026-03-29T05:59:59Z", false),
            ("Europe/Berlin", "2026-03-28T06:59:00Z", "2026-03-29T06:00:00Z", true),
            ("Europe/Berlin", "2026-10-24T05:59:00Z", "2026-10-25T06:59:59Z", false),
            ("Europe/Berlin", "2026-10-24T05:59:00Z", "2026-10-25T07:00:00Z", true),
            // Told today already, also if that was later than eight.
            ("Europe/Berlin", "2026-03-03T06:59:00Z", "2026-03-03T22:00:00Z", false),
            ("Europe/Berlin", "2026-03-03T09:59:00Z", "2026-03-04T06:59:00Z", false),
            ("Europe/Berlin", "2026-03-03T09:59:00Z", "2026-03-04T07:00:00Z", true),
            // The service was down.
            ("Europe/Berlin", "2026-03-01T06:59:00Z", "2026-03-03T06:30:00Z", true),
            ("Asia/Kathmandu", "2026-03-02T02:14:00Z", "2026-03-03T02:14:59Z", false),
            ("Asia/Kathmandu", "2026-03-02T02:14:00Z", "2026-03-03T02:15:00Z", true),
            ("America/Los_Angeles", "2026-03-02T15:59:00Z", "2026-03-03T16:00:00Z", true),
        ] {
            assert_eq!(member(TeamMail::Daily, zone, told_until).is_due(at(now)), is_due, "{zone} {told_until} {now}");
        }
    }

    #[test]
    fn other_mail_keeps_its_distance() {
        for choice in [TeamMail::Each, TeamMail::Answered] {
            let member = member(choice, "UTC", "2026-03-02T11:59:00Z");
            for (now, is_due) in [("2026-03-02T12:04:59.999Z", false), ("2026-03-02T12:05:00Z", true)] {
                assert_eq!(member.is_due(at(now)), is_due, "{now}");
            }
        }
        assert!(!member(TeamMail::Nothing, "UTC", "2026-01-01T00:00:00Z").is_due(at("2026-03-02T12:00:00Z")));
    }
}
