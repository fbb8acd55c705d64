//! What the admin panel shows: the inbox, the records of a customer, and the overview.

use std::collections::HashSet;
use std::hash::Hash;

use sha2::{Digest, Sha256};
use time::Duration;
use unicode_normalization::UnicodeNormalization;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::changelog::{Changelog, ChangelogCategory};
use crate::model::comment::ListedComment;
use crate::model::customer::{Customer, CustomerName};
use crate::model::feature_request::{Attention, FeatureRequestDetail, FeatureRequestSummary, RequestLink, Tag, Title};
use crate::model::id::{CommentId, FeatureRequestId, MemberId, TrackId};
use crate::model::note::Note;
use crate::model::pagination::PageRequest;
use crate::model::text::truncate;
use crate::model::timestamp::Timestamp;
use crate::model::track::Track;
use crate::model::vote::Voter;

/// Which state of feature requests the inbox shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum InboxState {
    /// Those on open tracks: in a lane that is neither done nor declined, or without a lane and with a name that means
    /// neither.
    Open,
    /// Those without an answer, see [`Attention::Unanswered`].
    Unanswered,
    /// Those on which a customer has written after the team, see [`Attention::Replied`].
    Replied,
    /// Those that wait for approval.
    Awaiting,
    /// Private ones, also those that wait for approval.
    Private,
    /// Those that are merged into others.
    Merged,
    /// All that are not merged.
    #[default]
    All,
}

impl InboxState {
    /// All states, as they are offered.
    pub const ALL: [Self; 7] =
        [Self::Open, Self::Unanswered, Self::Replied, Self::Awaiting, Self::Private, Self::Merged, Self::All];

    /// Returns the value of the parameter.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::All => "all",
            Self::Unanswered => Attention::Unanswered.name(),
            Self::Replied => Attention::Replied.name(),
            Self::Awaiting => "awaiting",
            Self::Private => "private",
            Self::Merged => "merged",
        }
    }

    /// Returns the state of a parameter. Anything unknown is what is open.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|state| state.name() == name).unwrap_or(Self::Open)
    }
}

/// The order of the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum InboxSort {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
    /// Most voted first.
    Votes,
    /// Those with voters of the most companies first.
    Companies,
    /// Last updated first.
    Updated,
}

impl InboxSort {
    /// All orders, as they are offered.
    pub const ALL: [Self; 5] = [Self::Newest, Self::Votes, Self::Companies, Self::Oldest, Self::Updated];

    /// Returns the value of the parameter.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Votes => "votes",
            Self::Companies => "companies",
            Self::Updated => "updated",
        }
    }

    /// Returns the order of a parameter. Anything unknown is the default.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|sort| sort.name() == name).unwrap_or_default()
    }
}

/// Which feature requests the inbox shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InboxFilter {
    /// Only those of this state.
    pub state: InboxState,
    /// Only those on one of these tracks.
    pub tracks: Option<Vec<TrackId>>,
    /// Only those with this tag, regardless of case.
    pub tag: Option<Tag>,
    /// Only those on which this member has commented or written a note.
    pub member: Option<MemberId>,
}

impl InboxFilter {
    /// Returns the tracks that the list shows: the chosen ones, of them the open ones if the state says so. `None` means
    /// all.
    #[must_use]
    pub fn shown_tracks(&self, known: &[Track]) -> Option<Vec<TrackId>> {
        match self.state {
            InboxState::Open => {
                let is_chosen = |track: &&Track| self.tracks.as_ref().is_none_or(|chosen| chosen.contains(&track.id));
                let open = known.iter().filter(|track| !track.kind().is_closed());
                Some(open.filter(is_chosen).map(|track| track.id).collect())
            }
            _ => self.tracks.clone(),
        }
    }
}

/// A page of the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InboxList {
    /// Which feature requests.
    pub filter: InboxFilter,
    /// In which order. Equal ones come newest first.
    pub sort: InboxSort,
    /// Which page. Pages after [`Self::MAX_PAGE`] are empty.
    pub page: PageRequest,
}

impl InboxList {
    /// The last page that is read.
    pub const MAX_PAGE: u64 = 200;
    /// Number of feature requests on a page.
    pub const PER_PAGE: u64 = 50;
    /// The number of feature requests with a tag or of a member that are read to sort them, the newest ones. Totals of
    /// such lists are not above it.
    pub const READ_LIMIT: u32 = 5_000;
}

/// A row of the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxRow {
    pub summary: FeatureRequestSummary,
    /// Whether it is hidden from everybody but members and its author.
    pub private: bool,
    /// Whether it waits for approval.
    pub awaiting_approval: bool,
    /// What it needs from the team.
    pub attention: Option<Attention>,
    /// Number of companies whose customers have voted for it or for what is merged into it.
    pub companies_count: i64,
    /// Number of its own comments, without those of what is merged into it.
    pub comments_count: i64,
    /// Number of its comments that wait for approval.
    pub held_count: i64,
    /// The first [`Self::EXCERPT`] characters of its description, as text.
    pub excerpt: String,
    pub tags: Vec<Tag>,
    /// Number of its own private notes.
    pub notes_count: i64,
    /// The customer who asked for it.
    pub author: Option<CustomerName>,
    /// What it is merged into, in the end.
    pub merged_into: Option<RequestLink>,
}

impl InboxRow {
    /// Number of characters of a description that a row has.
    pub const EXCERPT: usize = 160;
}

/// The numbers of feature requests on a track, without merged ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackCounts {
    pub track: Track,
    pub all: i64,
    /// Those of [`InboxState::Unanswered`].
    pub unanswered: i64,
    /// Those of [`InboxState::Replied`].
    pub replied: i64,
    /// Those of [`InboxState::Private`].
    pub private: i64,
}

/// The numbers of feature requests by track and state, in the team's order of tracks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InboxCounts {
    pub tracks: Vec<TrackCounts>,
    /// The number of feature requests that wait for approval.
    pub awaiting: i64,
    /// The number of comments that wait for approval.
    pub held_comments: i64,
    /// The number of merged feature requests.
    pub merged: i64,
}

impl InboxCounts {
    /// Returns the number of feature requests of a state, on all tracks.
    #[must_use]
    pub fn of_state(&self, state: InboxState) -> i64 {
        let sum = |count: fn(&TrackCounts) -> i64| self.tracks.iter().map(count).sum();
        match state {
            InboxState::All => sum(|track| track.all),
            InboxState::Open => sum(|track| if track.track.kind().is_closed() { 0 } else { track.all }),
            InboxState::Unanswered => sum(|track| track.unanswered),
            InboxState::Replied => sum(|track| track.replied),
            InboxState::Awaiting => self.awaiting,
            InboxState::Private => sum(|track| track.private),
            InboxState::Merged => self.merged,
        }
    }
}

/// What only the team sees of a feature request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamPage {
    /// Its notes and those of what is merged into it, newest first, at most [`Self::MAX_NOTES`].
    pub notes: Vec<Note>,
    /// The number of all notes.
    pub notes_count: i64,
    /// Its latest voters, at most [`Self::MAX_VOTERS`].
    pub voters: Vec<Voter>,
    /// The number of people who would get mail about it.
    pub subscribers: i64,
}

impl TeamPage {
    /// Maximum number of notes.
    pub const MAX_NOTES: u32 = 100;
    /// Maximum number of voters.
    pub const MAX_VOTERS: u32 = 10;
}

/// What a merge of two feature requests would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergePreview {
    /// What would be merged.
    pub source: InboxRow,
    /// What it would be merged into.
    pub target: InboxRow,
    /// The number of different customers who have voted for one of them or for what is merged into them.
    pub votes_count: i64,
}

/// The records of a customer, each list newest first and with at most [`Self::MAX`] entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CustomerRecords {
    /// What the customer voted for. What is merged is listed once, as what it was merged into.
    pub votes: Vec<FeatureRequestSummary>,
    /// What the customer asked for.
    pub requests: Vec<FeatureRequestSummary>,
    /// The customer's comments, each with the feature request on which it was written.
    pub comments: Vec<(RequestLink, ListedComment)>,
    /// The team's notes about the customer, each with its feature request.
    pub notes: Vec<(RequestLink, Note)>,
    /// What the customer gets mail about. Empty if all mail is stopped.
    pub subscriptions: Vec<RequestLink>,
    /// When the customer stopped all mail.
    pub unsubscribed_at: Option<Timestamp>,
}

impl CustomerRecords {
    /// Maximum number of entries of a list.
    pub const MAX: u32 = 50;
}

/// Two customers who were one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomersMerged {
    /// The customer who is left, with the votes of both.
    pub customer: Customer,
    /// The customer who is gone.
    pub source: CustomerName,
}

/// Returns the error for merging a customer with itself.
#[must_use]
pub fn same_customer() -> FieldError {
    FieldError::new("target_id", FieldProblem::Custom { message: "target_id is the customer itself" })
}

/// The numbers of a week, which begins on Monday (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Week {
    /// The first instant of the week.
    pub start: Timestamp,
    /// Number of new feature requests.
    pub requests: i64,
    /// Number of votes that count today. A vote that was withdrawn is not there any more.
    pub votes: i64,
    /// Number of comments of customers.
    pub comments: i64,
}

/// A feature request with the number of votes that it got lately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rising {
    pub request: FeatureRequestSummary,
    /// The number of its latest votes.
    pub new_votes: i64,
}

/// A search that found nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedSearch {
    /// What was searched for, in lower case.
    pub words: MissedWords,
    /// How often.
    pub count: i64,
}

/// The words of a search that found nothing: lower case, separated by single spaces, without e-mail addresses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MissedWords(String);

impl MissedWords {
    /// Maximum number of characters. Longer searches are cut.
    pub const MAX: usize = 80;

    /// Returns the words of a search, with normalized characters (NFKC): full-width letters and signs count as plain ones.
    /// A word with an `@` is left out. `None` if nothing is left.
    #[must_use]
    pub fn of_query(query: &str) -> Option<Self> {
        let start = truncate(query, Self::MAX * 2).nfkc().collect::<String>().to_lowercase();
        let words: Vec<&str> = start.split_whitespace().filter(|word| !word.contains(['@', '\0'])).collect();
        let joined = words.join(" ");
        let cut = truncate(&joined, Self::MAX).trim_end();
        (!cut.is_empty()).then(|| Self(cut.to_owned()))
    }

    /// Wraps stored words.
    #[must_use]
    pub fn from_stored(words: String) -> Self {
        Self(words)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The period that the overview is about, until now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Period {
    /// Seven days.
    #[default]
    Week,
    /// Thirty days.
    Month,
    /// 365 days.
    Year,
}

impl Period {
    /// All periods.
    pub const ALL: [Self; 3] = [Self::Week, Self::Month, Self::Year];

    /// Returns the number of days.
    #[must_use]
    pub const fn days(self) -> i64 {
        match self {
            Self::Week => 7,
            Self::Month => 30,
            Self::Year => 365,
        }
    }

    /// Returns the period of a number of days. Anything unknown is the default.
    #[must_use]
    pub fn from_days(days: &str) -> Self {
        Self::ALL.into_iter().find(|period| period.days().to_string() == days).unwrap_or_default()
    }
}

/// What was written in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Number of new feature requests.
    pub requests: i64,
    /// Number of votes that count today.
    pub votes: i64,
    /// Number of comments of customers.
    pub comments: i64,
}

impl Activity {
    const fn add(&mut self, kind: ActivityKind, count: i64) {
        match kind {
            ActivityKind::Request => self.requests += count,
            ActivityKind::Vote => self.votes += count,
            ActivityKind::Comment => self.comments += count,
        }
    }
}

/// What counts as activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivityKind {
    /// A feature request.
    Request,
    Vote,
    /// A comment of a customer.
    Comment,
}

impl ActivityKind {
    /// Returns the kind of a number in a statement: a feature request is 0, a vote 1, a comment any other one.
    #[must_use]
    pub const fn from_number(number: i32) -> Self {
        match number {
            0 => Self::Request,
            1 => Self::Vote,
            _ => Self::Comment,
        }
    }
}

/// How many of a kind were written in a week, or before the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityCount {
    pub kind: ActivityKind,
    /// The position of the week in [`OverviewTimes::weeks`]. `None` before the first one.
    pub week: Option<usize>,
    /// Number of all of them.
    pub all: i64,
    /// Number of those in the period.
    pub within: i64,
    /// Number of those in the period before it.
    pub before: i64,
}

/// The state of a workspace, as a product manager asks for it on Monday.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// In the period.
    pub activity: Activity,
    /// In the period of the same length before it.
    pub activity_before: Activity,
    /// The last [`Self::WEEKS`] weeks, the oldest first. The last one is not over.
    pub weeks: Vec<Week>,
    /// The most voted feature requests without an answer, see [`InboxState::Unanswered`]; at most [`Self::ENTRIES`].
    pub unanswered: Vec<FeatureRequestSummary>,
    /// The most voted feature requests with a new reply, see [`InboxState::Replied`]; at most [`Self::ENTRIES`].
    pub replied: Vec<FeatureRequestSummary>,
    /// When the oldest feature request without an answer was asked for.
    pub oldest_unanswered_at: Option<Timestamp>,
    /// The feature requests with the most votes in the period; at most [`Self::ENTRIES`].
    pub rising: Vec<Rising>,
    /// The most frequent searches in the period that found nothing; at most [`Self::ENTRIES`].
    pub missed_searches: Vec<MissedSearch>,
}

impl Overview {
    /// Number of weeks.
    pub const WEEKS: usize = 12;
    /// Maximum number of entries of a list.
    pub const ENTRIES: u32 = 10;
}

/// The times that an overview is read by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverviewTimes {
    pub now: Timestamp,
    /// The start of the period.
    pub since: Timestamp,
    /// The start of the period before it.
    pub before: Timestamp,
    /// The starts of the weeks, the oldest first: Mondays (UTC).
    pub weeks: [Timestamp; Overview::WEEKS],
}

/// The milliseconds of a day.
const DAY_MILLIS: i64 = 86_400_000;

impl OverviewTimes {
    /// The milliseconds of a week.
    pub const WEEK_MILLIS: i64 = 7 * DAY_MILLIS;

    /// Returns the times of a period that ends at `now`.
    #[must_use]
    pub fn new(period: Period, now: Timestamp) -> Self {
        let today = now.start_of_day();
        // 1 January 1970 was a Thursday.
        let since_monday = (today.millis() + 3 * DAY_MILLIS).rem_euclid(Self::WEEK_MILLIS);
        let mut start = today.plus(Duration::milliseconds(-since_monday));
        let mut weeks = [start; Overview::WEEKS];
        for week in weeks.iter_mut().rev() {
            *week = start;
            start = start.plus(-Duration::WEEK);
        }
        let length = Duration::days(period.days());
        Self { now, since: now.plus(-length), before: now.plus(-length * 2), weeks }
    }

    /// Returns the start of all that is counted: of the period before the period, or of the first week.
    #[must_use]
    pub fn first(&self) -> Timestamp {
        let [first_week, ..] = self.weeks;
        self.before.min(first_week)
    }

    /// Adds counts up. Returns those of the period, of the period before it, and of the weeks.
    #[must_use]
    pub fn add_up(&self, counts: impl IntoIterator<Item = ActivityCount>) -> (Activity, Activity, Vec<Week>) {
        let (mut within, mut before) = (Activity::default(), Activity::default());
        let mut weeks = [Activity::default(); Overview::WEEKS];
        for count in counts {
            within.add(count.kind, count.within);
            before.add(count.kind, count.before);
            if let Some(week) = count.week.and_then(|week| weeks.get_mut(week)) {
                week.add(count.kind, count.all);
            }
        }
        let week = |(start, Activity { requests, votes, comments })| Week { start, requests, votes, comments };
        (within, before, self.weeks.into_iter().zip(weeks).map(week).collect())
    }
}

/// What is done with all of the selected feature requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Triage {
    /// They are moved to a track. Nobody gets mail.
    Move(TrackId),
    /// They get a tag, unless they have it.
    AddTag(Tag),
    /// They lose a tag, if they have it.
    RemoveTag(Tag),
    /// They are hidden from the portal, or shown there.
    SetPrivate(bool),
    /// They are merged into a feature request.
    MergeInto(FeatureRequestId),
    /// Those that wait for approval become public.
    Approve,
    /// Those that wait for approval do not wait any more, and stay private.
    Decline,
    /// They need no answer, until a customer writes again.
    NoAnswerNeeded,
    /// They are deleted. One into which others are merged fails all.
    Delete,
}

fn each_once<T: Copy + Eq + Hash>(mut selected: Vec<T>) -> Vec<T> {
    let mut seen = HashSet::new();
    selected.retain(|one| seen.insert(*one));
    selected
}

/// The selected feature requests, at most [`Self::MAX`], each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(Vec<FeatureRequestId>);

impl Selection {
    /// Maximum number of feature requests.
    pub const MAX: usize = 100;

    /// Validates a selection.
    ///
    /// # Errors
    /// None, or too many of them.
    pub fn new(field: &str, requests: Vec<FeatureRequestId>) -> Validated<Self> {
        let requests = each_once(requests);
        Self::check(field, requests.len())?;
        Ok(Self(requests))
    }

    fn check(field: &str, selected: usize) -> Validated<()> {
        match selected {
            0 => Err(FieldError::missing(field)),
            1..=Self::MAX => Ok(()),
            _ => Err(FieldError::new(field, FieldProblem::TooMany { max: Self::MAX })),
        }
    }

    /// Returns the feature requests.
    #[must_use]
    pub fn requests(&self) -> &[FeatureRequestId] {
        &self.0
    }
}

/// The selected ideas and comments that wait for approval, together at most [`Selection::MAX`], each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldSelection {
    requests: Vec<FeatureRequestId>,
    comments: Vec<CommentId>,
}

impl HeldSelection {
    /// Validates a selection.
    ///
    /// # Errors
    /// None, or too many of them.
    pub fn new(field: &str, requests: Vec<FeatureRequestId>, comments: Vec<CommentId>) -> Validated<Self> {
        let (requests, comments) = (each_once(requests), each_once(comments));
        Selection::check(field, requests.len() + comments.len())?;
        Ok(Self { requests, comments })
    }

    /// Returns the ideas, if some are selected.
    #[must_use]
    pub fn requests(&self) -> Option<Selection> {
        (!self.requests.is_empty()).then(|| Selection(self.requests.clone()))
    }

    /// Returns the comments.
    #[must_use]
    pub fn comments(&self) -> &[CommentId] {
        &self.comments
    }
}

/// Identifies the editable content of a record, so that two people who edit it at once notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(String);

impl Fingerprint {
    fn of(parts: &[&str]) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            digest.update(part.as_bytes());
        }
        Self(digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns that of a feature request: title, description, tags and visibility.
    #[must_use]
    pub fn of_request(title: &Title, description: &str, tags: &[Tag], private: bool) -> Self {
        let tags: Vec<&str> = tags.iter().map(Tag::as_str).collect();
        Self::of(&[&[title.as_str(), description, if private { "private" } else { "" }], &*tags].concat())
    }

    /// As [`Self::of_request`].
    #[must_use]
    pub fn of_detail(detail: &FeatureRequestDetail) -> Self {
        Self::of_request(&detail.summary.title, detail.description.as_str(), &detail.tags, detail.private)
    }

    /// Returns that of a changelog: title, content, cover and time of publication.
    #[must_use]
    pub fn of_changelog(changelog: &Changelog) -> Self {
        let cover = changelog.cover.as_ref().map(|cover| cover.attachment.to_string()).unwrap_or_default();
        let public_from = changelog.public_from.map(|at| at.to_string()).unwrap_or_default();
        let category = changelog.category.map_or("", ChangelogCategory::name);
        Self::of(&[changelog.title.as_str(), changelog.content.as_str(), category, &cover, &public_from])
    }

    /// Returns that of one field of a form.
    #[must_use]
    pub fn of_field(text: &str) -> Self {
        Self::of(&[text])
    }

    /// Wraps what a form sends back. Anything unknown is equal to no fingerprint.
    #[must_use]
    pub fn from_form(raw: &str) -> Self {
        Self(raw.to_owned())
    }

    /// Returns the text for a form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn id(number: u128) -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(number))
    }

    #[test]
    fn a_selection_has_each_once_and_is_bounded() {
        assert_eq!(Selection::new("id", vec![id(1), id(2), id(1)]).unwrap().requests(), [id(1), id(2)]);
        assert_eq!(Selection::new("id", Vec::new()), Err(FieldError::missing("id")));
        assert!(Selection::new("id", (0..100).map(id).collect()).is_ok());
        let error = Selection::new("id", (0..101).map(id).collect()).unwrap_err();
        assert_eq!(error.problem, FieldProblem::TooMany { max: 100 });
    }

    #[test]
    fn ideas_and_comments_are_bounded_together() {
        let comments =
            |count: u128| (0..count).map(|number| CommentId::new(Uuid::from_u128(number))).collect::<Vec<_>>();
        let requests = |count: u128| (0..count).map(id).collect::<Vec<_>>();
        assert_eq!(HeldSelection::new("id", Vec::new(), Vec::new()), Err(FieldError::missing("id")));
        let doubled = HeldSelection::new("id", vec![id(1), id(1)], [comments(2), comments(2)].concat()).unwrap();
        assert_eq!(doubled.requests().unwrap().requests(), [id(1)]);
        assert_eq!(doubled.comments(), comments(2));
        assert_eq!(HeldSelection::new("id", Vec::new(), comments(1)).unwrap().requests(), None);
        assert!(HeldSelection::new("id", requests(60), comments(40)).is_ok());
        let error = HeldSelection::new("id", requests(60), comments(41)).unwrap_err();
        assert_eq!(error.problem, FieldProblem::TooMany { max: 100 });
    }

    #[test]
    fn a_fingerprint_differs_with_each_part() {
        let title = |text: &str| Title::parse("title", text).unwrap();
        let tags = |tags: &[&str]| {
            let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            Tag::parse_list("tags", &tags).unwrap()
        };
        let prints = [
            Fingerprint::of_request(&title("a"), "b", &tags(&[]), false),
            Fingerprint::of_request(&title("ab"), "", &tags(&[]), false),
            Fingerprint::of_request(&title("a"), "b", &tags(&[]), true),
            Fingerprint::of_request(&title("a"), "b", &tags(&["c", "d"]), false),
            Fingerprint::of_request(&title("a"), "b", &tags(&["cd"]), false),
        ];
        for (at, print) in prints.iter().enumerate() {
            assert_eq!(prints.iter().position(|other| other == print), Some(at));
        }
        assert_eq!(Fingerprint::from_form(prints[0].as_str()), prints[0]);
    }

    #[test]
    fn missed_words_have_no_addresses_and_are_bounded() {
        for (query, words) in [
            ("  Dark\tMODE ", Some("dark mode")),
            ("mail of ann@example.com please", Some("mail of please")),
            ("ann@example.com", None),
            ("ann＠example.com ｸﾞﾙｰﾌﾟ", Some("グループ")),
            (" ", None),
        ] {
            assert_eq!(MissedWords::of_query(query).as_ref().map(MissedWords::as_str), words, "{query}");
        }
        let long = MissedWords::of_query(&"ä".repeat(100_000)).unwrap();
        assert_eq!(long.as_str().chars().count(), MissedWords::MAX);
    }

    #[test]
    fn weeks_begin_on_monday() {
        // Wednesday, 4 March 2026, 11:02 UTC.
        let now = Timestamp::from_millis(1_772_622_120_000).unwrap();
        let times = OverviewTimes::new(Period::Month, now);
        let days = |at: Timestamp| (now.millis() - at.millis()) as f64 / 86_400_000.0;
        assert_eq!((days(times.since), days(times.before)), (30.0, 60.0));
        // Monday, 2 March 2026, 00:00 UTC.
        let monday = Timestamp::from_millis(1_772_409_600_000).unwrap();
        let weeks_ago = |weeks| monday.plus(-Duration::weeks(weeks));
        assert_eq!(times.weeks, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map(weeks_ago));
        assert_eq!(times.first(), weeks_ago(11));
        for now in [monday, monday.plus(Duration::WEEK - Duration::MILLISECOND)] {
            assert_eq!(OverviewTimes::new(Period::Week, now).weeks, times.weeks);
        }
        let year = OverviewTimes::new(Period::Year, now);
        assert_eq!(year.first(), year.before);
    }

    #[test]
    fn counts_are_added_up_by_period_and_week() {
        let times = OverviewTimes::new(Period::Week, Timestamp::from_millis(1_772_622_120_000).unwrap());
        let count = |kind, week, all, within, before| ActivityCount {
            kind: ActivityKind::from_number(kind),
            week,
            all,
            within,
            before,
        };
        let counts = [
            count(0, Some(11), 5, 5, 0),
            count(0, Some(10), 7, 3, 4),
            count(1, Some(10), 2, 1, 1),
            count(1, None, 9, 0, 2),
            count(2, Some(0), 4, 0, 0),
        ];
        let (within, before, weeks) = times.add_up(counts);
        assert_eq!(within, Activity { requests: 8, votes: 1, comments: 0 });
        assert_eq!(before, Activity { requests: 4, votes: 3, comments: 0 });
        let counted: Vec<_> = weeks.iter().map(|week| (week.requests, week.votes, week.comments)).collect();
        let mut expected = vec![(0, 0, 0); Overview::WEEKS];
        (expected[11], expected[10], expected[0]) = ((5, 0, 0), (7, 2, 0), (0, 0, 4));
        assert_eq!(counted, expected);
        assert_eq!(weeks.iter().map(|week| week.start).collect::<Vec<_>>(), times.weeks);
    }

    #[test]
    fn names_are_read_back() {
        for state in InboxState::ALL {
            assert_eq!(InboxState::from_name(state.name()), state);
        }
        for sort in InboxSort::ALL {
            assert_eq!(InboxSort::from_name(sort.name()), sort);
        }
        for period in Period::ALL {
            assert_eq!(Period::from_days(&period.days().to_string()), period);
        }
        assert_eq!(InboxState::from_name("x"), InboxState::Open);
        assert_eq!(Period::from_days("8"), Period::Week);
    }
}
