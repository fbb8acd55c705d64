//! What several pages show: the status of a feature request, its row in a list, numbers in sentences, pages of a list.

use roadmap_domain::model::board::ListedLane;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::portal::PortalRow;
use roadmap_domain::model::text::{Name, truncate};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::query::tracks::ListLanes;
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::text::{self, Text};

/// Number of colours of lanes in the stylesheet.
const TONES: u64 = 6;
/// Number of glyphs of lanes among the icons.
const GLYPHS: u64 = 4;
/// Maximum number of characters of the beginning of a description in a row, of which two lines are shown.
const EXCERPT: usize = 220;

/// The public status of a feature request: the lane that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    /// The name of the lane.
    pub(crate) name: String,
    /// The number of its colour, from 1.
    pub(crate) tone: u64,
    /// The number of its glyph, from 1.
    pub(crate) glyph: u64,
}

impl Status {
    /// Creates the status of a lane by its position, from 1. Colours and glyphs repeat; the name tells lanes apart.
    pub(crate) fn new(name: &Name, position: u64) -> Self {
        let index = position.saturating_sub(1);
        Self { name: name.as_str().to_owned(), tone: index % TONES + 1, glyph: index % GLYPHS + 1 }
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
        Self { words: t.date(at), machine: text::machine_date(at) }
    }
}

/// The lanes of the roadmap.
#[derive(Debug, Clone)]
pub(crate) struct Lanes(pub(crate) Vec<ListedLane>);

impl Lanes {
    /// Loads the lanes.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn load(context: &Context) -> Result<Self, HttpError> {
        Ok(Self(context.run(&ListLanes).await?))
    }

    /// Returns the lane with this name, regardless of case.
    pub(crate) fn named(&self, name: &str) -> Option<&ListedLane> {
        let folded = name.trim().to_lowercase();
        self.0.iter().find(|lane| lane.lane.name.as_str().to_lowercase() == folded)
    }

    /// Returns the status with this name, if it is that of a lane.
    pub(crate) fn status(&self, name: Option<&Name>) -> Option<Status> {
        let lane = self.0.iter().find(|lane| Some(&lane.lane.name) == name)?;
        Some(Status::new(&lane.lane.name, lane.position))
    }
}

/// A feature request in a list, with the button to vote.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) title: String,
    pub(crate) slug: String,
    /// The lane.
    pub(crate) status: Option<Status>,
    /// The beginning of the description. It may be empty.
    pub(crate) excerpt: String,
    /// The number of votes.
    pub(crate) votes: Counted,
    /// Whether the viewer has voted for it.
    pub(crate) is_voted: bool,
    /// The date in words.
    pub(crate) date: String,
    /// The date for programs.
    pub(crate) machine_date: String,
    /// Whether it is hidden from everybody but members and its author.
    pub(crate) is_private: bool,
    /// Whether it waits for approval.
    pub(crate) is_awaiting: bool,
}

impl Row {
    /// Creates a row. `voted` are the feature requests that the viewer has voted for.
    pub(crate) fn new(t: Text, lanes: &Lanes, voted: &[FeatureRequestId], row: &PortalRow) -> Self {
        let PortalRow { summary, excerpt: text, private, awaiting_approval } = row;
        Self {
            title: summary.title.as_str().to_owned(),
            slug: summary.slug(),
            status: lanes.status(summary.placement.status.as_ref()),
            excerpt: excerpt(text, EXCERPT),
            votes: Counted::votes(t, summary.votes_count),
            is_voted: voted.contains(&summary.id),
            date: t.date(summary.created_at),
            machine_date: text::machine_date(summary.created_at),
            is_private: *private && !awaiting_approval,
            is_awaiting: *awaiting_approval,
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
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::feature_request::{FeatureRequestSummary, Title};
    use roadmap_domain::model::id::{LaneId, MemberId, SessionId};
    use roadmap_domain::model::member::{Member, Role};
    use roadmap_domain::model::pagination::PageRequest;
    use roadmap_domain::model::portal::{Language, Portal, PortalSettings};
    use roadmap_domain::model::session::Session;
    use roadmap_domain::model::setting::{Setting, WebsiteUrl};
    use roadmap_domain::model::timestamp::Timestamp;
    use roadmap_domain::model::track::{Lane, Placement};
    use std::sync::Arc;
    use uuid::Uuid;

    const ENGLISH: Text = Text(Language::English);

    /// Returns a timestamp some days after a fixed one.
    pub(crate) fn at(days: i64) -> Timestamp {
        Timestamp::from_millis(1_772_622_120_000 + days * 86_400_000).unwrap()
    }

    /// Returns a feature request with some votes.
    pub(crate) fn sample_summary(number: i64, title: &str, status: Option<&str>) -> FeatureRequestSummary {
        let status = status.map(|name| Name::from_stored(name.to_owned()));
        FeatureRequestSummary {
            id: FeatureRequestId::new(Uuid::from_u128(number.unsigned_abs().into())),
            tag_number: number,
            title: Title::parse("title", title).unwrap(),
            placement: Placement { track: Name::from_stored("Secret track".to_owned()), status },
            votes_count: number,
            created_at: at(0),
        }
    }

    /// Returns four lanes.
    pub(crate) fn sample_lanes() -> Lanes {
        let names = (1..).zip(["Under consideration", "Planned", "In progress", "Done"]);
        let lane = |(position, name): (u64, &str)| ListedLane {
            lane: Lane { id: LaneId::new(Uuid::from_u128(position.into())), name: Name::from_stored(name.to_owned()) },
            position,
            feature_requests_count: 1_204,
        };
        Lanes(names.map(lane).collect())
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
        };
        Page {
            t: Text(language),
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
            assets: Assets::get(),
            operation_key: is_member.then(|| "web:1:2".to_owned()),
        }
    }

    impl Row {
        /// Returns a row as the similar feature requests have it.
        pub(crate) fn similar_sample(t: Text) -> Self {
            let summary = sample_summary(3, "Night <colours> & \"themes\"", Some("Done"));
            let excerpt = "Less light\n\nin the evening".to_owned();
            let row = PortalRow { summary, excerpt, private: false, awaiting_approval: false };
            Self::new(t, &sample_lanes(), &[], &row)
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
        let (lanes, summary) = (sample_lanes(), sample_summary(3, "Dark mode", Some("Done")));
        let row = |private, awaiting_approval| {
            let row =
                PortalRow { summary: summary.clone(), excerpt: "Less\nlight".to_owned(), private, awaiting_approval };
            Row::new(ENGLISH, &lanes, &[summary.id], &row)
        };
        let marks = |row: Row| (row.is_private, row.is_awaiting, row.is_voted);
        assert_eq!(marks(row(true, false)), (true, false, true));
        assert_eq!(marks(row(true, true)), (false, true, true));
        assert_eq!(marks(row(false, false)), (false, false, true));
        let row = row(false, false);
        assert_eq!((row.slug.as_str(), row.excerpt.as_str()), ("3-dark-mode", "Less light"));
        assert_eq!(row.status, Some(Status { name: "Done".to_owned(), tone: 4, glyph: 4 }));
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
            let Counted { before, number, after } = Counted::votes(Text(language), count);
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
    fn statuses_repeat_their_colours_and_glyphs() {
        let name = Name::from_stored("Planned".to_owned());
        let parts = |position| (Status::new(&name, position).tone, Status::new(&name, position).glyph);
        assert_eq!([1, 4, 5, 6, 7].map(parts), [(1, 1), (4, 4), (5, 1), (6, 2), (1, 3)]);
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
