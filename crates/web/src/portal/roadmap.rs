//! The roadmap: the lanes with their most voted feature requests.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::model::board::RoadmapLane;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::query::portal::{ListFeatureRequests, ListPublishedChangelogs};
use roadmap_domain::usecase::query::tracks::ShowRoadmap;
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::page::{Nav, Page};
use crate::portal::parts::{Counted, Status};
use crate::portal::requests;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// Number of feature requests in each lane.
pub(crate) const PER_LANE: u32 = 20;

#[derive(Template)]
#[template(path = "portal/roadmap.html")]
struct RoadmapPage {
    page: Page,
    lanes: Vec<LaneView>,
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
    /// The most voted feature requests.
    pub(crate) cards: Vec<Card>,
    /// The words of the link to all of them.
    pub(crate) all: String,
    /// The path of the list of all of them.
    pub(crate) path: String,
}

/// A feature request in a lane.
pub(crate) struct Card {
    pub(crate) title: String,
    pub(crate) slug: String,
    /// The number of votes.
    pub(crate) votes: Counted,
}

impl LaneView {
    /// Creates the view of a lane.
    pub(crate) fn new(t: Text, lane: &RoadmapLane) -> Self {
        let RoadmapLane { lane, feature_requests } = lane;
        let name = lane.lane.name.as_str();
        let count = lane.feature_requests_count;
        let cards = feature_requests.iter().map(|summary| Card {
            title: summary.title.as_str().to_owned(),
            slug: summary.slug(),
            votes: Counted::votes(t, summary.votes_count),
        });
        Self {
            status: Status::of_lane(&lane.lane),
            count: t.number(count),
            count_in_words: t.count("requests-count", count),
            cards: cards.collect(),
            all: t.with("all-in-lane", &[("number", t.number(count).into()), ("name", name.into())]),
            path: requests::lane_path(name),
        }
    }
}

/// `GET /`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let lanes = context.run(&ShowRoadmap { per_lane: PER_LANE }).await?;
    let t = context.text();
    let title = t.named("roadmap-title", context.portal.setting.product_name.as_str());
    let mut page = Page::new(&context, Nav::Roadmap, title).canonical("/");
    page.is_title_whole = true;
    page.description = Some(t.get("roadmap-lead").into_owned());
    page.feeds = vec![requests::feed(t)];
    let empty = match lanes.iter().all(|lane| lane.feature_requests.is_empty()) {
        true => Some(empty(&context).await?),
        false => None,
    };
    let has_changelogs = empty == Some(Empty::Everywhere) && has_changelogs(&context).await?;
    let lanes = lanes.iter().map(|lane| LaneView::new(t, lane)).collect();
    Ok(Reply::page(&RoadmapPage { page, lanes, empty, has_changelogs }))
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
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_lanes, sample_page, sample_summary};
    use roadmap_domain::model::portal::Language;

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
                let lane = |listed: &roadmap_domain::model::board::ListedLane| RoadmapLane {
                    lane: listed.clone(),
                    feature_requests: match is_empty || listed.position == 3 {
                        true => Vec::new(),
                        false => vec![sample_summary(1, "Dark <b>mode</b>", None), sample_summary(2, "Exports", None)],
                    },
                };
                let lanes: Vec<LaneView> =
                    sample_lanes().iter().map(|listed| LaneView::new(Text::utc(language), &lane(listed))).collect();
                let page = sample_page(language, false, "Roadmap");
                let html = RoadmapPage { page, lanes, empty, has_changelogs }.render().unwrap();
                assert_well_formed(&html);
                let regions = html.matches("<section ").count();
                assert_eq!((regions, html.matches("class=\"card\"").count()), (4, if is_empty { 0 } else { 6 }));
                assert!(!html.contains("/feature_requests?lane=In+progress"), "an empty lane has no link");
                let main = html.split_once("<main").unwrap().1;
                assert_eq!(main.contains("href=\"/feature_requests\""), empty == Some(Empty::InLanes), "{html}");
                assert_eq!(main.contains("href=\"/changelogs\""), has_changelogs, "{html}");
            }
        }
    }
}
