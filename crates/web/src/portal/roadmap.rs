//! The roadmap: the lanes with their first feature requests.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::model::board::{PortalLane, RoadmapCard};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::markdown;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::query::portal::{ListFeatureRequests, ListPublishedChangelogs};
use roadmap_domain::usecase::query::tracks::ShowPortalRoadmap;
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::page::{Nav, Page};
use crate::portal::parts::{Counted, Status, excerpt};
use crate::portal::requests;
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// Number of feature requests in each lane.
pub(crate) const PER_LANE: u32 = 20;

/// Number of them that a phone shows, as in the stylesheet.
const PER_LANE_ON_PHONE: usize = 5;

/// Number of lanes that a wide screen shows side by side. More are scrolled.
const ACROSS: usize = 5;

#[derive(Template)]
#[template(path = "portal/roadmap.html")]
struct RoadmapPage {
    page: Page,
    /// What the workspace says first, to be inserted without escaping. `None`: what the product says.
    welcome: Option<String>,
    lanes: Vec<LaneView>,
    /// Whether a wide screen scrolls the lanes.
    is_scrolled: bool,
    /// What is shown instead of lanes without feature requests.
    empty: Option<Empty>,
    /// Whether an empty roadmap leads to the changelogs, because there are some.
    has_changelogs: bool,
}

/// Why no lane has a feature request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Empty {
    /// There are no feature requests.
    Everywhere,
    /// There are some, but in no lane.
    InLanes,
}

/// A lane of the roadmap.
pub(crate) struct LaneView {
    pub(crate) status: Status,
    /// The number of feature requests.
    pub(crate) count: String,
    /// The number of feature requests, in a sentence.
    pub(crate) count_in_words: String,
    /// The first feature requests.
    pub(crate) cards: Vec<Card>,
    /// The link to all of them, if some are not shown.
    pub(crate) more: Option<More>,
}

/// The link from a lane to the list of all its feature requests.
pub(crate) struct More {
    pub(crate) path: String,
    /// The words, without the name of the lane.
    pub(crate) words: String,
    /// Whether some are hidden on a phone only.
    pub(crate) is_for_phone: bool,
}

/// A feature request in a lane.
pub(crate) struct Card {
    pub(crate) title: String,
    pub(crate) slug: String,
    /// The number of votes.
    pub(crate) votes: Counted,
    /// The number of comments, alone and in words, if there are any.
    pub(crate) comments: Option<(String, String)>,
    /// In words, since when it has its status.
    pub(crate) since: String,
    /// The same day for programs.
    pub(crate) machine_since: String,
    /// The first tags.
    pub(crate) tags: Vec<String>,
}

impl Card {
    fn new(t: Text, card: &RoadmapCard) -> Self {
        let RoadmapCard { summary, status_since, comments_count, tags } = card;
        let comments = || (t.number(*comments_count), t.count("comments-count", *comments_count));
        Self {
            title: summary.title.as_str().to_owned(),
            slug: summary.slug(),
            votes: Counted::votes(t, summary.votes_count),
            comments: (*comments_count > 0).then(comments),
            since: t.with("since", &[("date", t.date(*status_since).into())]),
            machine_since: t.machine_date(*status_since),
            tags: tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
        }
    }
}

impl LaneView {
    /// Creates the view of a lane.
    pub(crate) fn new(t: Text, lane: &PortalLane) -> Self {
        let PortalLane { lane, cards } = lane;
        let count = lane.feature_requests_count;
        let all = usize::try_from(count).unwrap_or_default();
        let more = || More {
            path: requests::lane_path(lane.lane.name.as_str()),
            words: t.with("show-all-in-lane", &[("number", t.number(count).into())]),
            is_for_phone: all <= cards.len(),
        };
        Self {
            status: Status::of_lane(&lane.lane, t.language),
            count: t.number(count),
            count_in_words: t.count("requests-count", count),
            cards: cards.iter().map(|card| Card::new(t, card)).collect(),
            more: (all > cards.len().min(PER_LANE_ON_PHONE)).then(more),
        }
    }
}

/// `GET /`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let lanes = context.run(&ShowPortalRoadmap { per_lane: PER_LANE }).await?;
    let t = context.text();
    let title = t.named("roadmap-title", context.portal.setting.product_name.as_str());
    let mut page = Page::new(&context, Nav::Roadmap, title).canonical("/");
    page.is_title_whole = true;
    let welcome = context.portal.settings.welcome_text.get(context.language);
    // It was validated in its length alone; what cannot be converted is left out.
    let welcome = welcome.and_then(|text| markdown::to_html("welcome_text", text).ok());
    let description = welcome.as_ref().map_or_else(|| t.get("roadmap-lead").into_owned(), CleanHtml::to_text);
    page.description = Some(excerpt(&description, 300));
    page.feeds = vec![requests::feed(t)];
    let empty = match lanes.iter().all(|lane| lane.cards.is_empty()) {
        true => Some(empty(&context).await?),
        false => None,
    };
    let has_changelogs = empty == Some(Empty::Everywhere) && has_changelogs(&context).await?;
    let lanes: Vec<LaneView> = lanes.iter().map(|lane| LaneView::new(t, lane)).collect();
    let is_scrolled = lanes.len() > ACROSS;
    let welcome = welcome.as_ref().map(prose::html);
    Ok(Reply::page(&RoadmapPage { page, welcome, lanes, is_scrolled, empty, has_changelogs }))
}

/// Returns why no lane has a feature request. Those on tracks without a lane count, too.
async fn empty(context: &Context) -> Result<Empty, HttpError> {
    let first = PageRequest::first(1);
    let list = ListFeatureRequests { page: first, viewer: context.viewer(), ..ListFeatureRequests::default() };
    let has_any = context.run(&list).await?.listing.total > 0;
    Ok(if has_any { Empty::InLanes } else { Empty::Everywhere })
}

/// Whether there is a published changelog.
async fn has_changelogs(context: &Context) -> Result<bool, HttpError> {
    let first = ListPublishedChangelogs { page: PageRequest::first(1) };
    Ok(context.run(&first).await?.total > 0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_lanes, sample_page, sample_summary};
    use roadmap_domain::model::board::ListedLane;
    use roadmap_domain::model::feature_request::Tag;
    use roadmap_domain::model::portal::Language;

    /// Returns a card with comments and tags.
    pub(crate) fn sample_card(number: i64, title: &str) -> RoadmapCard {
        RoadmapCard {
            summary: sample_summary(number, title, None),
            status_since: at(9),
            comments_count: 1_204,
            tags: ["<ui>", "export"].map(|tag| Tag::from_stored(tag.to_owned())).into(),
        }
    }

    fn lane(listed: ListedLane, cards: i64) -> PortalLane {
        PortalLane { lane: listed, cards: (1..=cards).map(|number| sample_card(number, "Dark <b>mode</b>")).collect() }
    }

    #[test]
    fn the_roadmap_is_well_formed_with_and_without_feature_requests() {
        for language in Language::ALL {
            for (empty, has_changelogs) in [
                (None, false),
                (Some(Empty::InLanes), false),
                (Some(Empty::Everywhere), false),
                (Some(Empty::Everywhere), true),
            ] {
                let is_empty = empty.is_some();
                let cards = |listed: &ListedLane| if is_empty || listed.position == 3 { 0 } else { 2 };
                let lanes: Vec<LaneView> = sample_lanes()
                    .into_iter()
                    .map(|listed| LaneView::new(Text::utc(language), &lane(listed.clone(), cards(&listed))))
                    .collect();
                let page = sample_page(language, false, "Roadmap");
                let html = RoadmapPage {
                    page,
                    welcome: Some("<p>Hello</p>".to_owned()),
                    lanes,
                    is_scrolled: false,
                    empty,
                    has_changelogs,
                }
                .render()
                .unwrap();
                assert_well_formed(&html);
                let regions = html.matches("<section ").count();
                assert_eq!((regions, html.matches("class=\"card\"").count()), (4, if is_empty { 0 } else { 6 }));
                assert!(!html.contains("/feature_requests?lane=In+progress"), "an empty lane has no link");
                let main = html.split_once("<main").unwrap().1;
                assert_eq!(main.contains("href=\"/feature_requests\""), empty == Some(Empty::InLanes), "{html}");
                assert_eq!(main.contains("href=\"/changelogs\""), has_changelogs, "{html}");
                assert!(!html.contains("tabindex=\"0\""), "{html}");
            }
        }
    }

    #[test]
    fn more_lanes_than_fit_are_a_region_to_scroll() {
        for language in Language::ALL {
            let t = Text::utc(language);
            let lanes: Vec<LaneView> = sample_lanes()
                .into_iter()
                .chain(sample_lanes())
                .map(|listed| LaneView::new(t, &lane(listed, 6)))
                .collect();
            let page = sample_page(language, false, "Roadmap");
            let html =
                RoadmapPage { page, welcome: None, lanes, is_scrolled: true, empty: None, has_changelogs: false };
            let html = html.render().unwrap();
            // The IDs of the lanes are their numbers, so that these are unique.
            assert_well_formed(&html);
            let region = format!("class=\"lanes lanes--many\" aria-label=\"{}\" tabindex=\"0\"", t.get("lanes"));
            assert!(html.contains(&region), "{html}");
        }
    }

    #[test]
    fn a_card_says_what_it_is_about_and_since_when() {
        let card = |count| {
            let card = RoadmapCard { comments_count: count, ..sample_card(3, "Exports") };
            let Card { comments, since, machine_since, tags, .. } = Card::new(Text::utc(Language::English), &card);
            (comments, since, machine_since, tags)
        };
        let (comments, since, machine_since, tags) = card(1_204);
        assert_eq!(comments, Some(("1,204".to_owned(), "1,204 comments".to_owned())));
        assert_eq!((since.as_str(), machine_since.as_str()), ("since 13 March 2026", "2026-03-13"));
        assert_eq!(tags, ["<ui>", "export"]);
        assert_eq!(card(0).0, None);
    }

    #[test]
    fn a_lane_leads_to_all_of_its_feature_requests_where_some_are_hidden() {
        let listed = sample_lanes().remove(3);
        for (all, shown, expected) in [
            (0, 0, None),
            (5, 5, None),
            (6, 6, Some(("Show all 6", true))),
            (20, 20, Some(("Show all 20", true))),
            (21, 20, Some(("Show all 21", false))),
            (1_204, 20, Some(("Show all 1,204", false))),
            (5, 4, Some(("Show all 5", false))),
        ] {
            let listed = ListedLane { feature_requests_count: all, ..listed.clone() };
            let view = LaneView::new(Text::utc(Language::English), &lane(listed, shown));
            let more = view.more.as_ref().map(|more| (more.words.as_str(), more.is_for_phone));
            assert_eq!(more, expected, "{shown} of {all}");
            if let Some(more) = view.more {
                assert_eq!(more.path, "/feature_requests?lane=Done");
            }
        }
    }
}
