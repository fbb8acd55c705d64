//! The list of feature requests: search, filters, order.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::model::board::ListedLane;
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::pagination::{Listing, PageRequest, parse_count};
use roadmap_domain::model::portal::{Mine, PortalFilter, PortalList, PortalSort};
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::model::text::{Name, truncate};
use roadmap_domain::usecase::query::portal::{ListFeatureRequests, ListedRequests};
use roadmap_domain::usecase::query::tracks::ListLanes;

use crate::context::Context;
use crate::form::Fields;
use crate::page::{Feed, Nav, Page, encoded, sign_in_path};
use crate::portal::parts::{Pager, Row, Statuses, place_notice};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the list.
pub(crate) const PATH: &str = "/feature_requests";

/// Maximum number of characters of a search.
const MAX_QUERY: usize = 200;

#[derive(Template)]
#[template(path = "portal/requests.html")]
struct RequestsPage {
    page: Page,
    /// The parameters of the address.
    address: Address,
    /// What an empty field of the search says.
    search_hint: String,
    /// The lanes, to filter by them.
    lanes: Vec<Tab>,
    /// The own feature requests, to filter by them. Empty for visitors.
    mine: Vec<Tab>,
    sorts: Vec<SortOption>,
    rows: Vec<Row>,
    /// How many feature requests a search has found.
    results_count: Option<String>,
    /// Why there are no rows.
    empty: Option<Empty>,
    pager: Option<Pager>,
}

/// A link that filters.
struct Tab {
    name: String,
    path: String,
    count: String,
    is_current: bool,
}

/// An order to choose.
struct SortOption {
    value: &'static str,
    name: String,
    is_current: bool,
}

/// Why a list is empty, and what to do.
struct Empty {
    title: String,
    text: String,
    /// The path and the words of the first link.
    action: (String, String),
    /// Another link.
    other: Option<(String, String)>,
}

/// The parameters of a list, as its address has them. Empty ones are not in the address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Address {
    query: String,
    lane: String,
    tag: String,
    sort: &'static str,
    mine: &'static str,
    page: u64,
}

impl Address {
    fn parse(fields: &Fields) -> Self {
        let sort = fields.get("sort");
        Self {
            query: truncate(fields.get("query").trim(), MAX_QUERY).to_owned(),
            // One character more than there can be, so that a longer one is no other lane or tag.
            lane: truncate(fields.get("lane").trim(), Name::MAX + 1).to_owned(),
            tag: truncate(fields.get("tag").trim(), Tag::MAX + 1).to_owned(),
            sort: PortalSort::ALL.map(PortalSort::name).into_iter().find(|name| *name == sort).unwrap_or_default(),
            mine: MINE
                .map(|(name, _, _)| name)
                .into_iter()
                .find(|name| *name == fields.get("mine"))
                .unwrap_or_default(),
            page: parse_count("page", Some(fields.get("page")), 1, u64::MAX).unwrap_or(1),
        }
    }

    /// Returns the path of the list with these parameters.
    fn path(&self) -> String {
        let page = if self.page > 1 { self.page.to_string() } else { String::new() };
        let parameters = [
            ("query", self.query.as_str()),
            ("lane", &self.lane),
            ("tag", &self.tag),
            ("sort", self.sort),
            ("mine", self.mine),
            ("page", &page),
        ];
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(parameters.into_iter().filter(|(_, value)| !value.is_empty()));
        let query = query.finish();
        if query.is_empty() { PATH.to_owned() } else { format!("{PATH}?{query}") }
    }

    /// Whether the list shows a part of the feature requests, or in an order that was chosen.
    fn is_plain(&self) -> bool {
        *self == Self { page: 1, ..Self::default() }
    }

    /// Returns the first page without the search.
    fn without_query(&self) -> String {
        self.with(|to| to.query.clear()).path()
    }

    /// Returns the first page with any tag.
    fn without_tag(&self) -> String {
        self.with(|to| to.tag.clear()).path()
    }

    fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut address = Self { page: 1, ..self.clone() };
        change(&mut address);
        address
    }
}

/// The values of the parameter `mine`, with the keys of their names.
const MINE: [(&str, Mine, &str); 2] =
    [("voted", Mine::Voted, "mine-voted"), ("written", Mine::Written, "mine-written")];

/// Returns the path of the list of a lane.
pub(crate) fn lane_path(lane: &str) -> String {
    Address { lane: lane.to_owned(), ..Address::default() }.path()
}

/// Returns the path of the list of a tag.
pub(crate) fn tag_path(tag: &str) -> String {
    Address { tag: tag.to_owned(), ..Address::default() }.path()
}

/// `GET /feature_requests`.
pub(crate) async fn list(context: Rc<Context>) -> PageResult {
    let address = Address::parse(&context.query);
    if !address.mine.is_empty() && context.session.is_none() {
        return Ok(Reply::see_other(sign_in_path(&address.path())));
    }
    let lanes = context.run(&ListLanes).await?;
    let ListedRequests { listing, voted, lane_counts } = list_of_address(&context, &address, &lanes).await?;
    let t = context.text();
    let statuses = Statuses::load(&context).await?;
    let is_own = address.mine == "written" || context.viewer().is_member;
    let mut rows: Vec<Row> = listing.items.iter().map(|row| Row::new(&statuses, &voted, row, is_own)).collect();
    let mut page = Page::new(&context, Nav::Requests, title(t, &address));
    place_notice(&mut page, &context, &mut rows);
    page.description = Some(t.named("requests-description", context.portal.setting.product_name.as_str()));
    page.feeds = vec![feed(t)];
    let page = if address.is_plain() { page.canonical(PATH) } else { page.not_indexed() };
    let is_indexed = page.is_indexed;
    let template = RequestsPage {
        search_hint: search_hint(t, &address, listing.total),
        lanes: lane_tabs(t, &lanes, lane_counts.as_deref(), &address),
        mine: if context.session.is_some() { mine_tabs(t, &address) } else { Vec::new() },
        sorts: sorts(t, &address),
        results_count: (!address.query.is_empty() && !rows.is_empty()).then(|| t.count("results", listing.total)),
        empty: rows.is_empty().then(|| empty(t, &address)),
        pager: Pager::new(t, &listing, PortalList::MAX_PAGE, |page| address.with(|to| to.page = page).path()),
        rows,
        address,
        page,
    };
    let reply = Reply::page(&template);
    Ok(if is_indexed { reply } else { reply.not_indexed() })
}

/// Returns what an empty field of the search says: how many feature requests it searches, if the list says so. A list with a
/// tag or of a person counts the newest only, and one that was searched counts the results.
fn search_hint(t: Text, address: &Address, total: u64) -> String {
    let counts_all = [address.query.as_str(), &address.tag, address.mine].iter().all(|filter| filter.is_empty());
    if counts_all && total > 0 { t.count("search-count", total) } else { t.get("search-label").into_owned() }
}

/// Returns the feed of new feature requests.
pub(crate) fn feed(t: Text) -> Feed {
    Feed { title: t.get("feed-requests").into_owned(), path: "/feature_requests.atom".to_owned() }
}

/// Runs the query of an address. A filter that nothing can match gives an empty list.
async fn list_of_address(
    context: &Context,
    address: &Address,
    lanes: &[ListedLane],
) -> Result<ListedRequests, roadmap_http::error::HttpError> {
    let page = PageRequest::parse(Some(&address.page.to_string()), None).unwrap_or_default();
    let viewer = context.viewer();
    let nothing = || {
        let listing = Listing { items: Vec::new(), request: page, total: 0 };
        ListedRequests { listing, voted: Vec::new(), lane_counts: Some(Vec::new()) }
    };
    let mut query = ListFeatureRequests { page, viewer, ..ListFeatureRequests::default() };
    if !address.lane.is_empty() {
        let Some(lane) = lane_named(lanes, &address.lane) else { return Ok(nothing()) };
        query.filter.lane = Some(lane.lane.id);
    }
    if !address.tag.is_empty() {
        let Ok(tag) = Tag::parse("tag", &address.tag) else { return Ok(nothing()) };
        query.filter.tag = Some(tag);
    }
    if let Some((_, mine, _)) = MINE.into_iter().find(|(name, _, _)| *name == address.mine) {
        // A member who has never voted is no customer.
        let Some(customer) = viewer.customer else { return Ok(nothing()) };
        query.filter = PortalFilter { mine: Some((mine, customer)), ..query.filter };
    }
    if !address.query.is_empty() {
        let Ok(words) = SearchQuery::parse("query", &address.query) else { return Ok(nothing()) };
        query.query = Some(words);
    }
    query.sort = (!address.sort.is_empty()).then(|| PortalSort::from_name(address.sort));
    context.run(&query).await
}

/// Returns the title of the window, which names the filters.
fn title(t: Text, address: &Address) -> String {
    let title = t.get("requests-title");
    let filter = [&address.query, &address.lane, &address.tag].into_iter().find(|filter| !filter.is_empty());
    filter.map_or_else(|| title.clone().into_owned(), |filter| format!("{filter} · {title}"))
}

/// Returns the lane with this name, regardless of case.
fn lane_named<'a>(lanes: &'a [ListedLane], name: &str) -> Option<&'a ListedLane> {
    let folded = name.trim().to_lowercase();
    lanes.iter().find(|lane| lane.lane.name.as_str().to_lowercase() == folded)
}

/// Returns links to all lanes, with the number of feature requests that each shows with the search and the other filters.
fn lane_tabs(t: Text, lanes: &[ListedLane], counts: Option<&[(Name, u64)]>, address: &Address) -> Vec<Tab> {
    let count = |lane: &ListedLane| match counts {
        None => lane.feature_requests_count,
        Some(counts) => counts
            .iter()
            .find(|(name, _)| *name == lane.lane.name)
            .map_or(0, |(_, count)| i64::try_from(*count).unwrap_or(i64::MAX)),
    };
    let current = lane_named(lanes, &address.lane).map(|lane| lane.lane.id);
    let all = Tab {
        name: t.get("lane-all").into_owned(),
        path: address.with(|to| to.lane.clear()).path(),
        count: String::new(),
        is_current: address.lane.is_empty(),
    };
    let tabs = lanes.iter().map(|lane| Tab {
        name: lane.lane.name_in(t.language).to_owned(),
        path: address.with(|to| lane.lane.name.as_str().clone_into(&mut to.lane)).path(),
        count: t.number(count(lane)),
        is_current: current == Some(lane.lane.id),
    });
    std::iter::once(all).chain(tabs).collect()
}

fn mine_tabs(t: Text, address: &Address) -> Vec<Tab> {
    let tabs = MINE.into_iter().map(|(value, _, key)| {
        let is_current = address.mine == value;
        // The current one leads back to all.
        let path = address.with(|to| to.mine = if is_current { "" } else { value }).path();
        Tab { name: t.get(key).into_owned(), path, count: String::new(), is_current }
    });
    tabs.collect()
}

/// Returns the orders to choose from. The order that the list has is the current one.
fn sorts(t: Text, address: &Address) -> Vec<SortOption> {
    let (is_search, is_mine) = (!address.query.is_empty(), !address.mine.is_empty());
    // `None` is the order of relevance, in which the results of a search are unless another one is chosen.
    let current = match PortalSort::from_name(address.sort) {
        PortalSort::Trending if is_search => None,
        // What somebody has voted for or written is shown newest first.
        PortalSort::Trending if is_mine => Some(PortalSort::Newest),
        // A search does not know when something was updated: the newest ones are first.
        PortalSort::Updated if is_search => Some(PortalSort::Newest),
        sort => Some(sort),
    };
    let is_offered = |sort: &PortalSort| match sort {
        PortalSort::Trending => !is_search && !is_mine,
        PortalSort::Updated => !is_search,
        PortalSort::Votes | PortalSort::Newest | PortalSort::Oldest => true,
    };
    let option = |sort: PortalSort| {
        let key = match sort {
            PortalSort::Trending => "sort-trending",
            PortalSort::Votes => "sort-votes",
            PortalSort::Newest => "sort-newest",
            PortalSort::Oldest => "sort-oldest",
            PortalSort::Updated => "sort-updated",
        };
        SortOption { value: sort.name(), name: t.get(key).into_owned(), is_current: Some(sort) == current }
    };
    let relevance = is_search.then(|| SortOption {
        value: "",
        name: t.get("sort-relevance").into_owned(),
        is_current: current.is_none(),
    });
    relevance.into_iter().chain(PortalSort::ALL.into_iter().filter(is_offered).map(option)).collect()
}

/// Returns what an empty list says.
fn empty(t: Text, address: &Address) -> Empty {
    let text = |key: &str| t.get(key).into_owned();
    let all = || (PATH.to_owned(), text("show-all"));
    let submit = || ("/feature_requests/new".to_owned(), text("new-idea"));
    if address.page > 1 {
        let first = address.with(|to| to.page = 1).path();
        let (title, sentence) = (text("empty-page-title"), text("empty-page-text"));
        return Empty { title, text: sentence, action: (first, text("first-page")), other: None };
    }
    if !address.query.is_empty() {
        let title = encoded(&address.query);
        return Empty {
            title: t.named("empty-search-title", &address.query),
            text: text("empty-search-text"),
            action: (format!("/feature_requests/new?title={title}"), text("new-idea")),
            other: Some(all()),
        };
    }
    let (title, sentence, action, other) = match (address.mine, address.is_plain()) {
        ("voted", _) => ("empty-voted-title", "empty-voted-text", all(), None),
        ("written", _) => ("empty-written-title", "empty-written-text", submit(), Some(all())),
        (_, true) => ("empty-list-title", "empty-list-text", submit(), None),
        (_, false) => ("empty-filter-title", "empty-filter-text", all(), None),
    };
    Empty { title: text(title), text: text(sentence), action, other }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_lanes, sample_page};
    use roadmap_domain::model::portal::Language;

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            let t = Text::utc(language);
            for (query, is_member, rows) in [
                ("", false, vec![Row::similar_sample(t)]),
                (
                    "query=a%22b&tag=%3Cb%3E&sort=votes&lane=done",
                    true,
                    vec![Row::similar_sample(t), Row { number: 4, ..Row::similar_sample(t) }],
                ),
                ("mine=voted", true, Vec::new()),
                ("query=%3Cb%3E", false, Vec::new()),
            ] {
                let address = address(query);
                let html = RequestsPage {
                    page: sample_page(language, is_member, &title(t, &address)),
                    search_hint: search_hint(t, &address, 128),
                    lanes: lane_tabs(t, &sample_lanes(), None, &address),
                    mine: if is_member { mine_tabs(t, &address) } else { Vec::new() },
                    sorts: sorts(t, &address),
                    results_count: Some(t.count("results", 15)),
                    empty: rows.is_empty().then(|| empty(t, &address)),
                    pager: Some(Pager { previous: Some("/a".to_owned()), next: None, position: "2".to_owned() }),
                    rows,
                    address,
                };
                let html = html.render().unwrap();
                assert_well_formed(&html);
                assert!(html.matches(" selected").count() >= 2, "language and order\n{html}");
            }
        }
    }

    #[test]
    fn the_current_filters_are_marked() {
        let address = address("lane=IN+progress&mine=written&query=a");
        let current = |tabs: Vec<Tab>| -> Vec<(String, String)> {
            tabs.into_iter().filter(|tab| tab.is_current).map(|tab| (tab.name, tab.path)).collect()
        };
        let t = Text::utc(Language::English);
        let lane = current(lane_tabs(t, &sample_lanes(), None, &address));
        let path = "/feature_requests?query=a&lane=In+progress&mine=written";
        assert_eq!(lane, [("In progress".to_owned(), path.to_owned())]);
        let path = "/feature_requests?query=a&lane=IN+progress";
        assert_eq!(current(mine_tabs(t, &address)), [("Written by me".to_owned(), path.to_owned())]);
    }

    #[test]
    fn the_orders_are_those_that_the_list_can_have() {
        let all: &[&str] = &["trending", "votes", "newest", "oldest", "updated"];
        let of_search: &[&str] = &["", "votes", "newest", "oldest"];
        let own: &[&str] = &["votes", "newest", "oldest", "updated"];
        for (query, offered, current) in [
            ("", all, "trending"),
            ("lane=Planned&sort=updated", all, "updated"),
            ("query=a", of_search, ""),
            ("query=a&sort=trending", of_search, ""),
            ("query=a&sort=votes", of_search, "votes"),
            ("query=a&sort=updated", of_search, "newest"),
            ("query=a&mine=voted", of_search, ""),
            ("mine=voted", own, "newest"),
            ("mine=written&sort=trending", own, "newest"),
            ("mine=written&sort=oldest", own, "oldest"),
        ] {
            let sorts = sorts(Text::utc(Language::English), &address(query));
            assert_eq!(sorts.iter().map(|sort| sort.value).collect::<Vec<_>>(), offered, "{query}");
            let current_sorts: Vec<&str> = sorts.iter().filter(|sort| sort.is_current).map(|sort| sort.value).collect();
            assert_eq!(current_sorts, [current], "{query}");
        }
    }

    fn address(query: &str) -> Address {
        Address::parse(&Fields::parse(query.as_bytes()))
    }

    #[test]
    fn addresses_have_only_the_parameters_that_mean_something() {
        for (query, path) in [
            ("", "/feature_requests"),
            ("query=&lane=&tag=&sort=&mine=&page=", "/feature_requests"),
            ("sort=best&page=0&mine=theirs", "/feature_requests"),
            ("page=-1", "/feature_requests"),
            ("page=1&other=2", "/feature_requests"),
            ("query=+dark+mode+", "/feature_requests?query=dark+mode"),
            ("sort=votes&page=2", "/feature_requests?sort=votes&page=2"),
            ("tag=%26%23&lane=In+progress&mine=voted", "/feature_requests?lane=In+progress&tag=%26%23&mine=voted"),
        ] {
            assert_eq!(address(query).path(), path, "{query}");
            assert_eq!(address(query).is_plain(), path == PATH, "{query}");
        }
    }

    #[test]
    fn a_filter_leads_to_its_first_page_and_keeps_the_others() {
        let address = address("query=a&sort=votes&page=3");
        let path = address.with(|to| "Planned".clone_into(&mut to.lane)).path();
        assert_eq!(path, "/feature_requests?query=a&lane=Planned&sort=votes");
    }

    #[test]
    fn a_long_search_is_cut() {
        assert_eq!(address(&format!("query={}", "ä".repeat(300))).query.chars().count(), MAX_QUERY);
    }

    #[test]
    fn the_search_says_how_many_feature_requests_it_searches() {
        let t = Text::utc(Language::English);
        for (query, total, hint) in [
            ("", 1_204, "Search 1,204 feature requests"),
            ("lane=Planned&sort=votes&page=2", 40, "Search 40 feature requests"),
            ("", 1, "Search 1 feature request"),
            ("", 0, "Search feature requests"),
            ("query=dark", 12, "Search feature requests"),
            ("tag=ui", 12, "Search feature requests"),
            ("mine=voted", 12, "Search feature requests"),
        ] {
            assert_eq!(search_hint(t, &address(query), total), hint, "{query}");
        }
    }

    #[test]
    fn an_empty_list_says_why() {
        let t = Text::utc(Language::English);
        for (query, title) in [
            ("", "Nothing here yet"),
            ("query=zebra", "Nothing found for “zebra”"),
            ("lane=Planned", "Nothing matches"),
            ("mine=voted", "You have not voted yet"),
            ("mine=written", "You have not submitted an idea yet"),
            ("query=zebra&page=2", "This page is empty"),
        ] {
            assert_eq!(empty(t, &address(query)).title, title, "{query}");
        }
    }
}
