//! What several pages show: the status of a feature request, its row in a list, numbers in sentences, pages of a list.

use std::sync::Arc;

use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::portal::{Language, PortalRow, RequestPage};
use roadmap_domain::model::text::{Name, truncate};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::track::{Lane, LaneKind, Placement, Track};
use roadmap_domain::usecase::query::tracks::ListTracks;
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::page::{Page, ROW};
use crate::text::Text;

/// Maximum number of characters of the beginning of a description in a row, of which two lines are shown.
const EXCERPT: usize = 220;

/// The public status of a feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    /// The name of the lane, or words for what is in none.
    pub(crate) name: String,
    /// What it means: the end of the names of its icon and of its colour in the stylesheet.
    pub(crate) sign: &'static str,
}

impl Status {
    /// Returns the status of what is in a lane, in a language.
    pub(crate) fn of_lane(lane: &Lane, language: Language) -> Self {
        Self { name: lane.name_in(language).to_owned(), sign: lane.kind.as_str() }
    }

    /// Whether it says that the feature request is done.
    pub(crate) fn is_done(&self) -> bool {
        self.sign == LaneKind::Done.as_str()
    }
}

/// What the tracks of a workspace say about their feature requests.
pub(crate) struct Statuses {
    t: Text,
    tracks: Arc<[Track]>,
}

impl Statuses {
    /// Loads the tracks.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn load(context: &Context) -> Result<Self, HttpError> {
        Self::load_with(context, context.text()).await
    }

    /// Loads the tracks, with their words in the language of these texts.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn load_with(context: &Context, t: Text) -> Result<Self, HttpError> {
        Ok(Self { t, tracks: context.run(&ListTracks).await? })
    }

    /// Returns the status of a feature request on a track. Without a lane, it says so on the first track, where nobody has
    /// decided yet; and whoever `is_own` sees that it was declined.
    pub(crate) fn of(&self, placement: &Placement, is_own: bool) -> Option<Status> {
        let index = self.tracks.iter().position(|track| track.name == placement.track);
        let track = index.and_then(|index| self.tracks.get(index));
        let status = |name: &str, sign| Some(Status { name: self.t.get(name).into_owned(), sign });
        match (track.map(|track| (track.lane.as_ref(), track.kind())), &placement.status) {
            (Some((Some(lane), _)), _) => Some(Status::of_lane(lane, self.t.language)),
            (Some(_), None) if index == Some(0) => status("status-not-reviewed", "new"),
            (Some((None, LaneKind::Declined)), None) if is_own => status("status-declined", "declined"),
            // The track has just been renamed.
            (_, Some(name)) => Some(Status { name: name.as_str().to_owned(), sign: LaneKind::Other.as_str() }),
            _ => None,
        }
    }

    /// Returns the status of the lane with this name, if there is one.
    pub(crate) fn of_lane(&self, name: &Name) -> Option<Status> {
        let lane = self.tracks.iter().filter_map(|track| track.lane.as_ref()).find(|lane| lane.name == *name);
        lane.map(|lane| Status::of_lane(lane, self.t.language))
    }
}

/// A day in words and for programs.
pub(crate) struct Day {
    /// In words.
    pub(crate) words: String,
    /// For programs.
    pub(crate) machine: String,
}

impl Day {
    /// Returns the day of a timestamp.
    pub(crate) fn new(t: Text, at: Timestamp) -> Self {
        Self { words: t.date(at), machine: t.machine_date(at) }
    }
}

/// A feature request in a list, with the button to vote.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The tag number.
    pub(crate) number: i64,
    pub(crate) title: String,
    pub(crate) slug: String,
    /// The public status.
    pub(crate) status: Option<Status>,
    /// The beginning of the description. It may be empty.
    pub(crate) excerpt: String,
    /// The number of votes.
    pub(crate) votes: Counted,
    /// Whether the viewer has voted for it.
    pub(crate) is_voted: bool,
    /// Whether it is done, so that there is nothing to vote for.
    pub(crate) is_done: bool,
    /// In words, since when it has its status, or when it was asked for.
    pub(crate) date: String,
    /// The date for programs.
    pub(crate) machine_date: String,
    /// Whether it is hidden from everybody but members and its author.
    pub(crate) is_private: bool,
    /// Whether it waits for approval.
    pub(crate) is_awaiting: bool,
    /// What has just been done with it.
    pub(crate) notice: Option<String>,
}

impl Row {
    /// Creates a row. `voted` are the feature requests that the viewer has voted for; `is_own` says that the viewer has
    /// written it, or is a member.
    pub(crate) fn new(statuses: &Statuses, voted: &[FeatureRequestId], row: &PortalRow, is_own: bool) -> Self {
        let t = statuses.t;
        let PortalRow { summary, status_since, excerpt: text, private, awaiting_approval } = row;
        let status = if *awaiting_approval { None } else { statuses.of(&summary.placement, is_own) };
        // A status that is none is as old as the feature request.
        let (at, key) = match (&status, &summary.placement.status) {
            (Some(_), Some(_)) => (*status_since, "since"),
            _ => (summary.created_at, "asked-on"),
        };
        Self {
            number: summary.tag_number,
            title: summary.title.as_str().to_owned(),
            slug: summary.slug(),
            is_done: status.as_ref().is_some_and(Status::is_done),
            status,
            excerpt: excerpt(text, EXCERPT),
            votes: Counted::votes(t, summary.votes_count),
            is_voted: voted.contains(&summary.id),
            date: t.with(key, &[("date", t.date(at).into())]),
            machine_date: t.machine_date(at),
            is_private: *private && !awaiting_approval,
            is_awaiting: *awaiting_approval,
            notice: None,
        }
    }
}

/// Moves the notice of a page beside the row that it is about, if the page shows it.
pub(crate) fn place_notice(page: &mut Page, context: &Context, rows: &mut [Row]) {
    let number = context.query.get(ROW).parse::<i64>().ok();
    if let Some(row) = rows.iter_mut().find(|row| Some(row.number) == number) {
        row.notice = page.notice.take();
    }
}

/// The votes of a feature request on its page, and whether the viewer follows it.
pub(crate) struct VoteBox {
    pub(crate) title: String,
    pub(crate) slug: String,
    pub(crate) votes: Counted,
    pub(crate) has_voted: bool,
    pub(crate) is_subscribed: bool,
    /// Whether it is done, so that there is nothing to vote for.
    pub(crate) is_done: bool,
    /// Whether it waits for approval.
    pub(crate) is_awaiting: bool,
}

impl VoteBox {
    /// Creates the box of a feature request.
    pub(crate) fn new(statuses: &Statuses, request: &RequestPage) -> Self {
        let (summary, is_awaiting) = (&request.detail.summary, request.detail.awaiting_approval);
        let status = statuses.of(&summary.placement, false);
        Self {
            title: summary.title.as_str().to_owned(),
            slug: summary.slug(),
            votes: Counted::votes(statuses.t, summary.votes_count),
            has_voted: request.has_voted,
            is_subscribed: request.is_subscribed,
            is_done: !is_awaiting && status.is_some_and(|status| status.is_done()),
            is_awaiting,
        }
    }
}

/// Returns the beginning of a text on one line. A cut text ends with an ellipsis.
pub(crate) fn excerpt(text: &str, max: usize) -> String {
    // The line breaks between the first words are all that is looked at of a long text.
    let words: Vec<&str> = truncate(text, max * 2).split_whitespace().collect();
    let line = words.join(" ");
    let cut = truncate(&line, max);
    if cut.len() == line.len() { line } else { format!("{}…", cut.trim_end()) }
}

/// A number in a sentence, apart from the words before and after it, so that it can be emphasized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The words before the number, or all words if there is no number.
    pub(crate) before: String,
    /// The number. Empty if the words say how many.
    pub(crate) number: String,
    /// The words after the number.
    pub(crate) after: String,
}

impl Counted {
    /// Returns a number of votes.
    pub(crate) fn votes(t: Text, count: i64) -> Self {
        let sentence = t.count("votes", count);
        let number = t.number(count);
        match sentence.split_once(&number) {
            Some((before, after)) => Self { before: before.to_owned(), number, after: after.to_owned() },
            None => Self { before: sentence, number: String::new(), after: String::new() },
        }
    }
}

/// The links between the pages of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pager {
    /// The path of the page before.
    pub(crate) previous: Option<String>,
    /// The path of the page after.
    pub(crate) next: Option<String>,
    /// Which page it is, in words.
    pub(crate) position: String,
}

impl Pager {
    /// Creates the links of a list that has at most `last` pages. `path` returns the path of a page by its number. A list
    /// with one page has no links, nor has a page after the last one.
    pub(crate) fn new<T>(t: Text, listing: &Listing<T>, last: u64, path: impl Fn(u64) -> String) -> Option<Self> {
        let (page, total) = (listing.request.page(), listing.total_pages().min(last));
        if total == 1 || page > total {
            return None;
        }
        let number = |number: u64| t.number(i64::try_from(number).unwrap_or(i64::MAX));
        let position = t.with("page-position", &[("page", number(page).into()), ("total", number(total).into())]);
        let previous = (page > 1).then(|| path(page - 1));
        let next = (page < total).then(|| path(page + 1));
        Some(Self { previous, next, position })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::assets::Assets;
    use crate::page::{Feed, Nav, Page};
    use crate::theme::Theme;
    use roadmap_domain::model::board::ListedLane;
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::feature_request::{FeatureRequestSummary, Title};
    use roadmap_domain::model::id::{LaneId, MemberId, SessionId, TrackId};
    use roadmap_domain::model::localized::Localized;
    use roadmap_domain::model::member::{Member, Role};
    use roadmap_domain::model::pagination::PageRequest;
    use roadmap_domain::model::portal::{Portal, PortalSettings};
    use roadmap_domain::model::session::Session;
    use roadmap_domain::model::setting::{Setting, WebsiteUrl};
    use roadmap_domain::model::timestamp::Timestamp;
    use uuid::Uuid;

    const ENGLISH: Text = Text::utc(Language::English);

    /// Returns a timestamp some days after a fixed one.
    pub(crate) fn at(days: i64) -> Timestamp {
        Timestamp::from_millis(1_772_622_120_000 + days * 86_400_000).unwrap()
    }

    /// Returns a feature request with some votes.
    pub(crate) fn sample_summary(number: i64, title: &str, status: Option<&str>) -> FeatureRequestSummary {
        let lane = sample_lanes().into_iter().find(|listed| Some(listed.lane.name.as_str()) == status);
        let track = lane.map_or("Secret track".to_owned(), |listed| format!("Track {}", listed.position));
        let status = status.map(|name| Name::from_stored(name.to_owned()));
        FeatureRequestSummary {
            id: FeatureRequestId::new(Uuid::from_u128(number.unsigned_abs().into())),
            tag_number: number,
            title: Title::parse("title", title).unwrap(),
            placement: Placement { track: Name::from_stored(track), status },
            votes_count: number,
            created_at: at(0),
        }
    }

    /// Returns four lanes.
    pub(crate) fn sample_lanes() -> Vec<ListedLane> {
        let names = (1..).zip(["Under consideration", "Planned", "In progress", "Done"]);
        let lane = |(position, name): (u64, &str)| {
            let (id, name) = (LaneId::new(Uuid::from_u128(position.into())), Name::from_stored(name.to_owned()));
            let lane = Lane { id, kind: LaneKind::of_name(&name), name, names: Localized::default() };
            ListedLane { lane, position, feature_requests_count: 1_204 }
        };
        names.map(lane).collect()
    }

    /// Returns the statuses of a track `Inbox`, of one track for each lane, and of a track `Declined`.
    pub(crate) fn sample_statuses(language: Language) -> Statuses {
        let track = |number: u64, name: &str, lane| Track {
            id: TrackId::new(Uuid::from_u128(number.into())),
            name: Name::from_stored(name.to_owned()),
            lane,
        };
        let of_lanes = sample_lanes()
            .into_iter()
            .map(|listed| track(listed.position, &format!("Track {}", listed.position), Some(listed.lane)));
        let tracks = std::iter::once(track(0, "Inbox", None)).chain(of_lanes);
        let tracks = tracks.chain([track(9, "Declined", None)]).collect();
        Statuses { t: Text::utc(language), tracks }
    }

    /// Returns the frame of a page, for a member or for a visitor.
    pub(crate) fn sample_page(language: Language, is_member: bool, title: &str) -> Page {
        let setting = Setting {
            product_name: Name::from_stored("Lumen Desk".to_owned()),
            website_url: WebsiteUrl::from_stored("https://lumendesk.example/".to_owned()),
        };
        let email = || EmailAddress::from_stored("ines@lumendesk.example".to_owned());
        let session = || Session {
            id: SessionId::new(Uuid::from_u128(1)),
            email: email(),
            customer: None,
            language: None,
            member: Some(Member {
                id: MemberId::new(Uuid::from_u128(1)),
                email: email(),
                name: Name::from_stored("Ines Carvalho".to_owned()),
                role: Role::Member,
                created_at: at(0),
            }),
            created_at: at(0),
            last_seen_at: at(0),
            has_shortcuts: false,
        };
        Page {
            t: Text::utc(language),
            title: title.to_owned(),
            is_title_whole: false,
            has_problem: false,
            nav: Nav::Requests,
            portal: Arc::new(Portal { setting, settings: PortalSettings::default(), logo: None }),
            session: is_member.then(|| Arc::new(session())),
            theme: Theme::System,
            canonical: Some("https://acme.example/".to_owned()),
            origin: "https://acme.example".to_owned(),
            here: "/feature_requests?query=a&page=2".to_owned(),
            description: Some("Description".to_owned()),
            image: None,
            is_indexed: true,
            has_shortcuts: false,
            admin: None,
            feeds: vec![Feed { title: "Feed".to_owned(), path: "/changelogs.atom".to_owned() }],
            lacks_mail_server: true,
            notice: Some("Done.".to_owned()),
            undo: None,
            asks_name: true,
            assets: Assets::get(),
            operation_key: is_member.then(|| "web:1:2".to_owned()),
        }
    }

    impl Row {
        /// Returns a row as the similar feature requests have it.
        pub(crate) fn similar_sample(t: Text) -> Self {
            let summary = sample_summary(3, "Night <colours> & \"themes\"", Some("Done"));
            let excerpt = "Less light\n\nin the evening".to_owned();
            let row = PortalRow { status_since: at(9), summary, excerpt, private: false, awaiting_approval: false };
            Self::new(&sample_statuses(t.language), &[], &row, false)
        }
    }

    /// Returns the values of an attribute.
    fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
        let pattern = format!(" {attribute}=\"");
        html.split(&pattern).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    /// Checks what holds for every page: unique IDs, references to them, one heading of level 1, nothing inline.
    pub(crate) fn assert_well_formed(html: &str) {
        let mut ids = values(html, "id");
        for attribute in ["for", "aria-labelledby", "aria-describedby", "form"] {
            for id in values(html, attribute).into_iter().flat_map(str::split_whitespace) {
                assert!(ids.contains(&id), "{attribute}={id}\n{html}");
            }
        }
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "{ids:?}");
        assert_eq!(html.matches("<h1").count(), 1, "{html}");
        for forbidden in [" style=", "<style", " onclick=", "javascript:", "{{", "{%", "><b><"] {
            assert!(!html.contains(forbidden), "{forbidden}\n{html}");
        }
        for element in ["div", "section", "li", "ol", "ul", "form", "a", "p", "span", "svg", "button", "article"] {
            let opened = html.matches(&format!("<{element}>")).count() + html.matches(&format!("<{element} ")).count();
            assert_eq!(opened, html.matches(&format!("</{element}>")).count(), "{element}\n{html}");
        }
    }

    #[test]
    fn a_row_shows_the_status_the_start_of_the_text_and_marks() {
        let (statuses, summary) = (sample_statuses(Language::English), sample_summary(3, "Dark mode", Some("Done")));
        let row = |private, awaiting_approval| {
            let (summary, excerpt) = (summary.clone(), "Less\nlight".to_owned());
            let row = PortalRow { summary, status_since: at(9), excerpt, private, awaiting_approval };
            Row::new(&statuses, &[row.summary.id], &row, false)
        };
        let marks = |row: Row| (row.is_private, row.is_awaiting, row.is_voted);
        assert_eq!(marks(row(true, false)), (true, false, true));
        assert_eq!(marks(row(true, true)), (false, true, true));
        assert_eq!(marks(row(false, false)), (false, false, true));
        assert_eq!(row(false, false).date, "since 13 March 2026");
        assert_eq!(row(true, true).date, "Asked 4 March 2026");
        let row = row(false, false);
        assert_eq!((row.slug.as_str(), row.excerpt.as_str()), ("3-dark-mode", "Less light"));
        assert_eq!(row.status, Some(Status { name: "Done".to_owned(), sign: "done" }));
    }

    #[test]
    fn an_excerpt_is_one_line_that_shows_where_it_was_cut() {
        for (text, expected) in [
            ("", ""),
            (" a\n\n b\tc ", "a b c"),
            ("abcdefghij", "abcdefghij"),
            ("abcdefghijk", "abcdefghij…"),
            ("abcdefghi jk", "abcdefghi…"),
            ("ääääääääääää", "ääääääääää…"),
        ] {
            assert_eq!(excerpt(text, 10), expected);
        }
    }

    #[test]
    fn numbers_are_apart_from_their_words() {
        let votes = |language, count| {
            let Counted { before, number, after } = Counted::votes(Text::utc(language), count);
            (before, number, after)
        };
        let parts = |before: &str, number: &str, after: &str| (before.to_owned(), number.to_owned(), after.to_owned());
        assert_eq!(votes(Language::English, 1), parts("", "1", " vote"));
        assert_eq!(votes(Language::English, 1_204), parts("", "1,204", " votes"));
        assert_eq!(votes(Language::German, 1_204), parts("", "1.204", " Stimmen"));
        let (one, number, _) = votes(Language::Arabic, 1);
        assert!(number.is_empty() && !one.is_empty(), "{one}");
    }

    #[test]
    fn a_status_says_what_is_known() {
        let statuses = sample_statuses(Language::English);
        let name = |text: &str| Name::from_stored(text.to_owned());
        let of = |track: &str, status: Option<&str>, is_own| {
            let status = statuses.of(&Placement { track: name(track), status: status.map(name) }, is_own);
            status.map(|status| (status.name, status.sign))
        };
        let status = |name: &str, sign| Some((name.to_owned(), sign));
        assert_eq!(of("Track 2", Some("Planned"), false), status("Planned", "planned"));
        assert_eq!(of("Inbox", None, false), status("Not reviewed yet", "new"));
        assert_eq!(of("Declined", None, true), status("Declined", "declined"));
        assert_eq!(of("Declined", None, false), None);
        assert_eq!(of("Renamed", Some("Planned"), false), status("Planned", "other"));
        assert_eq!(of("Renamed", None, true), None);
        assert_eq!(statuses.of_lane(&name("In progress")).map(|status| status.sign), Some("started"));
        assert_eq!(statuses.of_lane(&name("Gone")), None);
    }

    #[test]
    fn a_pager_leads_to_the_pages_that_there_are() {
        let pager = |page: &str, total: u64| {
            let request = PageRequest::parse(Some(page), None).unwrap();
            let listing = Listing::<()> { items: Vec::new(), request, total };
            Pager::new(ENGLISH, &listing, 200, |page| page.to_string())
                .map(|pager| (pager.previous.unwrap_or_default(), pager.next.unwrap_or_default(), pager.position))
        };
        let parts = |before: &str, next: &str, text: &str| Some((before.to_owned(), next.to_owned(), text.to_owned()));
        assert_eq!(pager("1", 25), None);
        assert_eq!(pager("1", 26), parts("", "2", "Page 1 of 2"));
        assert_eq!(pager("2", 26), parts("1", "", "Page 2 of 2"));
        assert_eq!(pager("2", 51), parts("1", "3", "Page 2 of 3"));
        assert_eq!(pager("3", 26), None);
        assert_eq!(pager("200", 1_000_000), parts("199", "", "Page 200 of 200"));
    }
}
