//! What the pages of the portal show.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{ErrorChain, Resource, RoadmapError};
use crate::model::changelog::CoverImage;
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::{FeatureRequestRef, RequestLink, Title};
use crate::model::id::{AttachmentId, ChangelogId, CommentId, CustomerId, FeatureRequestId, SignInId, WorkspaceId};
use crate::model::pagination::{Listing, PageRequest};
use crate::model::portal::{
    AccountLists, ChangelogNeighbours, HeldPost, Portal, PortalFilter, PortalList, PortalRow, PortalSort,
    PublishedChangelog, RequestPage, ShippedIn, SitemapEntry, Viewer,
};
use crate::model::search::SearchQuery;
use crate::model::session::{SecretDigest, Session};
use crate::model::sign_in::{PendingAction, SignIn};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::policy::trending::{self, WantedRanking};
use crate::usecase::add_picture::UNUSED_FOR;
use crate::usecase::query::feature_requests::SearchFeatureRequests;
use crate::usecase::query::files::ReadableFile;
use crate::usecase::query::{Query, QueryPorts};

/// Finds the settings of a workspace and its portal.
#[derive(Debug, Clone, Copy)]
pub struct FindPortal;

#[async_trait]
impl Query for FindPortal {
    type Output = Arc<Portal>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Arc<Portal>, RoadmapError> {
        ports.portals.portal(workspace).await?.ok_or(RoadmapError::NotFound(Resource::Workspace))
    }
}

/// Finds the session of a cookie, unless it has ended. Stores its use from time to time.
#[derive(Debug, Clone, Copy)]
pub struct FindSession {
    /// The digest of the cookie.
    pub digest: SecretDigest,
}

#[async_trait]
impl Query for FindSession {
    type Output = Option<Session>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Option<Session>, RoadmapError> {
        let now = ports.clock.now();
        let session = ports.reader.session(workspace, &self.digest).await?.filter(|session| session.is_valid_at(now));
        if let Some(session) = session.as_ref().filter(|session| session.needs_touch_at(now))
            && let Err(error) = ports.reader.touch_session(workspace, session.id, now).await
        {
            tracing::warn!(error = %ErrorChain::new(&error), "the use of a session could not be recorded");
        }
        Ok(session)
    }
}

/// Lists feature requests: by filters and order, or by a search.
#[derive(Debug, Clone, Default)]
pub struct ListFeatureRequests {
    /// A search. The filters apply to its results. They are in the order of relevance, unless an order was chosen.
    pub query: Option<SearchQuery>,
    /// Which feature requests.
    pub filter: PortalFilter,
    /// In which order; `None` if none was chosen.
    pub sort: Option<PortalSort>,
    /// Which page.
    pub page: PageRequest,
    /// Who looks.
    pub viewer: Viewer,
}

/// A page of a list with the votes of the viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRequests {
    /// The rows, and how many there are in all.
    pub listing: Listing<PortalRow>,
    /// Those that the viewer has voted for.
    pub voted: Vec<FeatureRequestId>,
    /// How many there are in each lane, with the search and the filters apart from the lane. Lanes without any are left out.
    /// `None`: neither searched nor filtered.
    pub lane_counts: Option<Vec<(Name, u64)>>,
}

/// Number of results of a search on the portal.
const SEARCH_RESULTS: usize = 15;

impl ListFeatureRequests {
    /// Lists what the filter chooses.
    async fn listing(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Listing<PortalRow>, RoadmapError> {
        let sort = self.sort.unwrap_or_default();
        let request = self.page;
        if request.page() > PortalList::MAX_PAGE {
            return Ok(Listing { items: Vec::new(), request, total: 0 });
        }
        if sort == PortalSort::Trending && self.filter.mine.is_none() {
            let tracks = ports.tracks.tracks(workspace).await?;
            let wanted = WantedRanking::of_page(request, &tracks, ports.clock.now());
            let ranking = ports.reader.trending(workspace, &self.filter, &wanted).await?;
            let items = rows(workspace, &trending::on_page(request, &ranking), ports).await?;
            return Ok(Listing { items, request, total: ranking.total });
        }
        // What somebody has voted for or written is shown newest first.
        let sort = if sort == PortalSort::Trending { PortalSort::Newest } else { sort };
        let list = PortalList { filter: self.filter.clone(), sort, page: request };
        Ok(ports.reader.portal_list(workspace, &list).await?)
    }

    /// Searches, and counts the results in each lane. A search finds few feature requests, so that neither order nor counts
    /// need a statement.
    async fn search(
        &self,
        query: &SearchQuery,
        workspace: WorkspaceId,
        ports: &QueryPorts,
    ) -> Result<(Listing<PortalRow>, Vec<(Name, u64)>), RoadmapError> {
        let search = SearchFeatureRequests::new(query.clone(), SEARCH_RESULTS);
        let mut ids = search.run(workspace, &*ports.search, &*ports.synonyms).await?;
        if ids.is_empty() {
            ports.record_missed_search(workspace, query);
        }
        let request = self.page;
        let in_all_lanes = PortalFilter { lane: None, ..self.filter.clone() };
        if in_all_lanes != PortalFilter::default() && !ids.is_empty() {
            let matching = ports.reader.matching(workspace, &in_all_lanes, &ids).await?;
            ids.retain(|id| matching.contains(id));
        }
        let mut items = rows(workspace, &ids, ports).await?;
        let mut counts: BTreeMap<Name, u64> = BTreeMap::new();
        for lane in items.iter().filter_map(|row| row.summary.placement.status.clone()) {
            *counts.entry(lane).or_default() += 1;
        }
        if self.filter.lane.is_some() && !ids.is_empty() {
            let matching = ports.reader.matching(workspace, &self.filter, &ids).await?;
            items.retain(|row| matching.contains(&row.summary.id));
        }
        match self.sort {
            None | Some(PortalSort::Trending) => {}
            Some(PortalSort::Votes) => items.sort_by_key(|row| std::cmp::Reverse(row.summary.votes_count)),
            Some(PortalSort::Newest | PortalSort::Updated) => {
                items.sort_by_key(|row| std::cmp::Reverse(row.summary.tag_number));
            }
            Some(PortalSort::Oldest) => items.sort_by_key(|row| row.summary.tag_number),
        }
        let total = items.len() as u64;
        if request.page() > 1 {
            items.clear();
        }
        Ok((Listing { items, request, total }, counts.into_iter().collect()))
    }
}

/// Loads public feature requests in the given order, without a statement if there are none.
async fn rows(
    workspace: WorkspaceId,
    requests: &[FeatureRequestId],
    ports: &QueryPorts,
) -> Result<Vec<PortalRow>, RoadmapError> {
    match requests {
        [] => Ok(Vec::new()),
        requests => Ok(ports.reader.portal_rows(workspace, requests).await?),
    }
}

/// Returns those of these rows that the viewer has voted for.
async fn voted(
    workspace: WorkspaceId,
    rows: &[PortalRow],
    viewer: Viewer,
    ports: &QueryPorts,
) -> Result<Vec<FeatureRequestId>, RoadmapError> {
    let ids: Vec<FeatureRequestId> = rows.iter().map(|row| row.summary.id).collect();
    match viewer.customer {
        Some(customer) if !ids.is_empty() => Ok(ports.reader.voted_among(workspace, customer, &ids).await?),
        _ => Ok(Vec::new()),
    }
}

#[async_trait]
impl Query for ListFeatureRequests {
    type Output = ListedRequests;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ListedRequests, RoadmapError> {
        let (listing, lane_counts) = match &self.query {
            Some(query) => {
                let (listing, counts) = self.search(query, workspace, ports).await?;
                (listing, Some(counts))
            }
            None if self.filter.tag.is_some() || self.filter.mine.is_some() => {
                let counts = ports.reader.lane_counts(workspace, &self.filter).await?;
                (self.listing(workspace, ports).await?, Some(counts))
            }
            None => (self.listing(workspace, ports).await?, None),
        };
        let voted = voted(workspace, &listing.items, self.viewer, ports).await?;
        Ok(ListedRequests { listing, voted, lane_counts })
    }
}

/// Finds the feature requests that a new one with this title may duplicate, most similar first.
#[derive(Debug, Clone)]
pub struct FindSimilar {
    /// The words of the title.
    pub title: SearchQuery,
    /// A feature request to leave out.
    pub except: Option<FeatureRequestId>,
}

#[async_trait]
impl Query for FindSimilar {
    type Output = Vec<FeatureRequestId>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Self::Output, RoadmapError> {
        let search = SearchFeatureRequests::similar(self.title.clone());
        let mut similar = search.run(workspace, &*ports.search, &*ports.synonyms).await?;
        similar.retain(|id| Some(*id) != self.except);
        Ok(similar)
    }
}

/// Lists the feature requests that a new one may duplicate, with the votes of the viewer.
#[derive(Debug, Clone)]
pub struct ListSimilar {
    /// Which ones.
    pub similar: FindSimilar,
    /// Who looks.
    pub viewer: Viewer,
}

/// Similar feature requests with the votes of the viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimilarRequests {
    /// The feature requests, most similar first.
    pub rows: Vec<PortalRow>,
    /// Those that the viewer has voted for.
    pub voted: Vec<FeatureRequestId>,
}

#[async_trait]
impl Query for ListSimilar {
    type Output = SimilarRequests;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<SimilarRequests, RoadmapError> {
        let ids = self.similar.execute(workspace, ports).await?;
        let rows = rows(workspace, &ids, ports).await?;
        let voted = voted(workspace, &rows, self.viewer, ports).await?;
        Ok(SimilarRequests { rows, voted })
    }
}

/// Lists public feature requests by their IDs, in the given order. Those that are not public any more are left out.
#[derive(Debug, Clone)]
pub struct ListPublicRequests {
    pub requests: Vec<FeatureRequestId>,
}

#[async_trait]
impl Query for ListPublicRequests {
    type Output = Vec<PortalRow>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<PortalRow>, RoadmapError> {
        rows(workspace, &self.requests, ports).await
    }
}

/// Shows the page of a feature request. One that the viewer may not see does not exist.
#[derive(Debug, Clone, Copy)]
pub struct ShowRequestPage {
    /// The feature request. A merged one is shown as what it was merged into, to those who may see both.
    pub request: FeatureRequestRef,
    /// Who looks.
    pub viewer: Viewer,
    /// The page of comments, from 1; `None` for the last one.
    pub comments: Option<u64>,
}

#[async_trait]
impl Query for ShowRequestPage {
    type Output = RequestPage;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<RequestPage, RoadmapError> {
        let page = ports.reader.request_page(workspace, &self.request, self.viewer, self.comments).await?;
        let missing = || RoadmapError::NotFound(Resource::FeatureRequest);
        let page = page.filter(|page| page.is_visible_to(self.viewer)).ok_or_else(missing)?;
        // Of a private one that was merged into a public one, nobody else learns that it exists.
        if !self.request.is_of(&page.detail.summary) {
            let visible = ports.reader.visible_request(workspace, &self.request, self.viewer).await?;
            visible.ok_or_else(missing)?;
        }
        Ok(page)
    }
}

/// Finds which entries of a list of comments somebody has written.
#[derive(Debug, Clone)]
pub struct FindOwnComments {
    /// Who looks. A viewer who is no customer has written none.
    pub viewer: Viewer,
    /// The listed comments.
    pub comments: Vec<CommentId>,
}

#[async_trait]
impl Query for FindOwnComments {
    type Output = Vec<CommentId>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<CommentId>, RoadmapError> {
        match self.viewer.customer {
            Some(customer) if !self.comments.is_empty() => {
                Ok(ports.reader.written_among(workspace, customer, &self.comments).await?)
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Finds a feature request that the viewer may see.
#[derive(Debug, Clone, Copy)]
pub struct FindVisibleRequest {
    /// The feature request. A merged one means what it was merged into.
    pub request: FeatureRequestRef,
    /// Who looks.
    pub viewer: Viewer,
}

#[async_trait]
impl Query for FindVisibleRequest {
    type Output = RequestLink;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<RequestLink, RoadmapError> {
        let request = ports.reader.visible_request(workspace, &self.request, self.viewer).await?;
        request.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))
    }
}

/// Lists published changelogs, the latest first.
#[derive(Debug, Clone, Copy)]
pub struct ListPublishedChangelogs {
    /// Which page.
    pub page: PageRequest,
}

#[async_trait]
impl Query for ListPublishedChangelogs {
    type Output = Listing<PublishedChangelog>;

    async fn execute(
        &self,
        workspace: WorkspaceId,
        ports: &QueryPorts,
    ) -> Result<Listing<PublishedChangelog>, RoadmapError> {
        let request = self.page;
        if request.page() > PortalList::MAX_PAGE {
            return Ok(Listing { items: Vec::new(), request, total: 0 });
        }
        Ok(ports.reader.published_changelogs(workspace, ports.clock.now(), request).await?)
    }
}

/// Shows a published changelog.
#[derive(Debug, Clone, Copy)]
pub struct ShowPublishedChangelog {
    pub changelog: ChangelogId,
}

#[async_trait]
impl Query for ShowPublishedChangelog {
    type Output = PublishedChangelog;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<PublishedChangelog, RoadmapError> {
        let changelog = ports.reader.published_changelog(workspace, self.changelog, ports.clock.now()).await?;
        changelog.ok_or(RoadmapError::NotFound(Resource::Changelog))
    }
}

/// Finds what was published before and after a published changelog.
#[derive(Debug, Clone, Copy)]
pub struct FindChangelogNeighbours {
    pub changelog: ChangelogId,
    /// When it was published.
    pub published_at: Timestamp,
}

#[async_trait]
impl Query for FindChangelogNeighbours {
    type Output = ChangelogNeighbours;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ChangelogNeighbours, RoadmapError> {
        let now = ports.clock.now();
        Ok(ports.reader.changelog_neighbours(workspace, self.changelog, self.published_at, now).await?)
    }
}

/// Finds the changelog that a feature request was shipped with.
#[derive(Debug, Clone, Copy)]
pub struct FindShippedIn {
    /// The feature request, which is merged into nothing.
    pub request: FeatureRequestId,
}

#[async_trait]
impl Query for FindShippedIn {
    type Output = Option<ShippedIn>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Option<ShippedIn>, RoadmapError> {
        Ok(ports.reader.shipped_in(workspace, self.request, ports.clock.now()).await?)
    }
}

/// Finds an image that everybody may see: a cover of a published changelog, or the logo.
#[derive(Debug, Clone, Copy)]
pub struct FindPublicImage {
    pub image: AttachmentId,
}

#[async_trait]
impl Query for FindPublicImage {
    type Output = ReadableFile;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ReadableFile, RoadmapError> {
        let attachment = ports.reader.public_image(workspace, self.image, ports.clock.now()).await?;
        Ok(ReadableFile::new(attachment.ok_or(RoadmapError::NotFound(Resource::File))?, ports.blobs.clone()))
    }
}

/// Finds a picture of a text, or one that was just added.
#[derive(Debug, Clone, Copy)]
pub struct FindPicture {
    pub picture: AttachmentId,
}

#[async_trait]
impl Query for FindPicture {
    type Output = ReadableFile;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ReadableFile, RoadmapError> {
        let since = ports.clock.now().plus(-UNUSED_FOR);
        let attachment = ports.reader.picture(workspace, self.picture, since).await?;
        Ok(ReadableFile::new(attachment.ok_or(RoadmapError::NotFound(Resource::File))?, ports.blobs.clone()))
    }
}

/// Lists what belongs to somebody who is signed in.
#[derive(Debug, Clone)]
pub struct ShowAccount {
    /// The confirmed address.
    pub email: EmailAddress,
    /// The customer with this address.
    pub customer: Option<CustomerId>,
}

/// Maximum number of entries of each list of an account.
const ACCOUNT_ENTRIES: u32 = 50;

#[async_trait]
impl Query for ShowAccount {
    type Output = AccountLists;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<AccountLists, RoadmapError> {
        let folded = self.email.folded();
        let mut lists = ports.reader.account_lists(workspace, folded, self.customer, ACCOUNT_ENTRIES).await?;
        let now = ports.clock.now();
        // Half a year is the longest life of any session; shorter ones are checked at their use.
        lists.sessions.retain(|session| session.created_at >= Session::ended_before(now));
        Ok(lists)
    }
}

/// A sign-in as the page of its link shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInDetail {
    pub sign_in: SignIn,
    /// The action that was kept with it.
    pub pending: Option<PendingAction>,
    /// Whether the address is that of a member.
    pub is_member: bool,
    /// Whether it can be used. If not, it came too late, and a new mail can carry its action.
    pub is_open: bool,
}

/// Finds a sign-in that can be used or renewed: by the ID of its link.
#[derive(Debug, Clone, Copy)]
pub struct FindSignIn {
    pub id: SignInId,
}

/// Finds the latest sign-in of a browser, if it can be used or renewed.
#[derive(Debug, Clone, Copy)]
pub struct FindSignInOfBrowser {
    /// The digest of the browser's cookie.
    pub browser: SecretDigest,
}

async fn show(
    sign_in: Option<SignIn>,
    workspace: WorkspaceId,
    ports: &QueryPorts,
) -> Result<SignInDetail, RoadmapError> {
    let now = ports.clock.now();
    let alive = sign_in.filter(|sign_in| sign_in.is_open_at(now) || sign_in.is_renewable_at(now));
    let sign_in = alive.ok_or(RoadmapError::NotFound(Resource::SignIn))?;
    let is_open = sign_in.is_open_at(now);
    let is_member = ports.reader.members(workspace).await?.iter().any(|member| member.email == sign_in.email);
    let pending = match &sign_in.action {
        Some(action) => Some(PendingAction {
            action: action.clone(),
            title: title(action.request(), workspace, is_member, ports).await?,
        }),
        None => None,
    };
    Ok(SignInDetail { sign_in, pending, is_member, is_open })
}

async fn title(
    request: Option<FeatureRequestId>,
    workspace: WorkspaceId,
    is_member: bool,
    ports: &QueryPorts,
) -> Result<Option<Title>, RoadmapError> {
    let Some(request) = request else { return Ok(None) };
    let viewer = Viewer { customer: None, is_member };
    let link = ports.reader.visible_request(workspace, &FeatureRequestRef::Id(request), viewer).await?;
    Ok(link.map(|link| link.title))
}

#[async_trait]
impl Query for FindSignIn {
    type Output = SignInDetail;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<SignInDetail, RoadmapError> {
        show(ports.reader.sign_in(workspace, self.id).await?, workspace, ports).await
    }
}

#[async_trait]
impl Query for FindSignInOfBrowser {
    type Output = SignInDetail;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<SignInDetail, RoadmapError> {
        show(ports.reader.sign_in_of_browser(workspace, &self.browser).await?, workspace, ports).await
    }
}

/// Number of feature requests in a part of the sitemap. A sitemap may have 50,000 URLs (sitemaps.org); smaller parts take
/// less memory and time at once.
pub const SITEMAP_PART: i64 = 5_000;

/// Counts the parts of the sitemap, at least one.
#[derive(Debug, Clone, Copy)]
pub struct CountSitemapParts;

/// Lists the feature requests in a part of the sitemap.
#[derive(Debug, Clone, Copy)]
pub struct ListSitemap {
    /// The part, from 1: tag numbers in steps of [`SITEMAP_PART`].
    pub part: i64,
}

#[async_trait]
impl Query for CountSitemapParts {
    type Output = i64;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<i64, RoadmapError> {
        let last = ports.reader.last_tag_number(workspace).await?;
        Ok((last.max(1) - 1) / SITEMAP_PART + 1)
    }
}

#[async_trait]
impl Query for ListSitemap {
    type Output = Vec<SitemapEntry>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<SitemapEntry>, RoadmapError> {
        let after = (self.part - 1).checked_mul(SITEMAP_PART).ok_or(RoadmapError::NotFound(Resource::File))?;
        let limit = u32::try_from(SITEMAP_PART).unwrap_or(u32::MAX);
        let mut entries = ports.reader.sitemap(workspace, after, limit).await?;
        entries.retain(|entry| entry.request.tag_number <= after.saturating_add(SITEMAP_PART));
        Ok(entries)
    }
}

/// Lists what waits for approval, oldest first.
#[derive(Debug, Clone)]
pub struct ListHeldPosts {
    /// The page to return, or why it is invalid.
    pub page: crate::error::Validated<PageRequest>,
}

#[async_trait]
impl Query for ListHeldPosts {
    type Output = Listing<HeldPost>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Listing<HeldPost>, RoadmapError> {
        Ok(ports.reader.held_posts(workspace, self.page.clone()?).await?)
    }
}

/// Shows the settings of a portal as they are stored, without a cache.
#[derive(Debug, Clone, Copy)]
pub struct ShowPortalSettings;

#[async_trait]
impl Query for ShowPortalSettings {
    type Output = Portal;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Portal, RoadmapError> {
        ports.reader.portal(workspace).await?.ok_or(RoadmapError::NotFound(Resource::Workspace))
    }
}

/// Returns the path of an image that everybody may see.
#[must_use]
pub fn image_path(image: &CoverImage) -> String {
    format!("/covers/{}/{}", image.attachment, image.filename.percent_encoded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::feature_request::Tag;
    use crate::model::id::LaneId;
    use crate::policy::ranking::Relevance;
    use crate::policy::search::Hit;
    use crate::policy::trending::Ranking;
    use crate::ports::mocks::{MockReads, MockSynonymSource, MockTextSearch, MockTrackSource};
    use crate::usecase::fixtures::{now, request, summary, workspace};
    use crate::usecase::query::Queries;
    use crate::usecase::query::tests::ports;
    use pollster::block_on;
    use time::Duration;
    use uuid::Uuid;

    fn run<Q: Query>(mut reader: MockReads, query: &Q) -> Result<Q::Output, RoadmapError> {
        reader.expect_members().returning(|_| Ok(Vec::new()));
        let queries = Queries::new(QueryPorts { reader: Arc::new(reader), ..ports() });
        block_on(queries.run(workspace(), query))
    }

    fn id(number: u128) -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(number))
    }

    fn row(id: FeatureRequestId) -> PortalRow {
        let mut summary = summary("Inbox", None, 0);
        summary.id = id;
        PortalRow { status_since: now(), summary, excerpt: String::new(), private: false, awaiting_approval: false }
    }

    #[test]
    fn a_page_of_the_trending_ones_asks_for_its_places() {
        for (page, expected) in [("1", vec![3, 2]), ("2", vec![1, 9]), ("99999999999999999999", vec![])] {
            let mut reader = MockReads::new();
            reader.expect_trending().returning(|_, _, wanted| {
                let others = [3, 2, 1].into_iter().skip(usize::try_from(wanted.places.start).unwrap()).map(id);
                Ok(Ranking { total: 4, open: 4, new: vec![id(9)], others: others.collect() })
            });
            reader.expect_portal_rows().returning(|_, ids| Ok(ids.iter().copied().map(row).collect()));
            let page = PageRequest::parse(Some(page), Some("2")).unwrap();
            let mut tracks = MockTrackSource::new();
            tracks.expect_tracks().returning(|_| Ok(Arc::from(Vec::new())));
            let queries = Queries::new(QueryPorts { reader: Arc::new(reader), tracks: Arc::new(tracks), ..ports() });
            let list = ListFeatureRequests { page, ..ListFeatureRequests::default() };
            let listed = block_on(queries.run(workspace(), &list)).unwrap();
            let ids: Vec<u128> = listed.listing.items.iter().map(|row| row.summary.id.uuid().as_u128()).collect();
            assert_eq!(ids, expected);
        }
    }

    #[test]
    fn own_lists_are_newest_first_and_votes_are_those_of_the_viewer() {
        let customer = CustomerId::new(Uuid::from_u128(9));
        let mut reader = MockReads::new();
        reader
            .expect_portal_list()
            .withf(|_, list| list.sort == PortalSort::Newest)
            .returning(|_, list| Ok(Listing { items: vec![row(id(1))], request: list.page, total: 1 }));
        reader
            .expect_voted_among()
            .withf(move |_, of, ids| *of == customer && ids == [id(1)])
            .returning(|_, _, ids| Ok(ids.to_vec()));
        reader.expect_lane_counts().returning(|_, _| Ok(vec![(Name::parse("name", "Planned").unwrap(), 1)]));
        let filter =
            PortalFilter { mine: Some((crate::model::portal::Mine::Voted, customer)), ..PortalFilter::default() };
        let viewer = Viewer { customer: Some(customer), is_member: false };
        let listed = run(reader, &ListFeatureRequests { filter, viewer, ..ListFeatureRequests::default() }).unwrap();
        assert_eq!(listed.voted, [id(1)]);
    }

    fn hit(number: u128) -> Hit {
        let relevance = Relevance { matches: Vec::new(), coverage: 1.0, title_share: 1.0, value: 1.0, similarity: 1.0 };
        let request = id(number);
        Hit { request, number: i64::try_from(number).unwrap(), votes_count: 0, relevance, is_weak: false, score: 1.0 }
    }

    /// The ports of a search that finds the feature requests 3, 2 and 1, and loads no results.
    fn search_ports(reader: MockReads) -> QueryPorts {
        let (mut search, mut synonyms) = (MockTextSearch::new(), MockSynonymSource::new());
        search.expect_search().times(1).returning(|_, _| Ok([3, 2, 1].map(hit).to_vec()));
        synonyms.expect_synonyms().returning(|_| Ok(Arc::default()));
        QueryPorts { reader: Arc::new(reader), search: Arc::new(search), synonyms: Arc::new(synonyms), ..ports() }
    }

    #[test]
    fn a_search_loads_rows_once_and_counts_them_in_all_lanes() {
        let query = Some(SearchQuery::parse("query", "dark").unwrap());
        let lane = |number| Some(LaneId::new(Uuid::from_u128(number)));
        let tag = Tag::parse("tag", "ui").ok();
        // What matches the tag, if there is one, and what matches the lane, too, if there is one.
        for (tag, lane, tagged, in_lane, planned) in [
            (None, None, vec![3, 2, 1], vec![3, 2, 1], 2),
            (None, lane(8), vec![3, 2, 1], vec![3, 1], 2),
            (tag.clone(), None, vec![2, 1], vec![2, 1], 1),
            (tag.clone(), lane(8), vec![3, 1], vec![3], 2),
            (tag, lane(9), vec![], vec![], 0),
        ] {
            let filter = PortalFilter { lane, tag, mine: None };
            let ids = |numbers: Vec<u128>| numbers.into_iter().map(id).collect::<Vec<FeatureRequestId>>();
            let (tagged, in_lane) = (ids(tagged), ids(in_lane));
            let (loaded, expected) = (tagged.clone(), in_lane.clone());
            let mut reader = MockReads::new();
            reader.expect_matching().returning(move |_, filter, _| {
                Ok(if filter.lane.is_some() { in_lane.clone() } else { tagged.iter().rev().copied().collect() })
            });
            reader.expect_portal_rows().withf(move |_, ids| ids == loaded).times(usize::from(planned > 0)).returning(
                |_, ids| {
                    let in_its_lane = |request: FeatureRequestId| {
                        let mut row = row(request);
                        row.summary.placement.status =
                            (request != id(2)).then(|| Name::parse("name", "Planned").unwrap());
                        row
                    };
                    Ok(ids.iter().copied().map(in_its_lane).collect())
                },
            );
            let list = ListFeatureRequests { query: query.clone(), filter, ..ListFeatureRequests::default() };
            let listed = block_on(Queries::new(search_ports(reader)).run(workspace(), &list)).unwrap();
            let ids: Vec<FeatureRequestId> = listed.listing.items.iter().map(|row| row.summary.id).collect();
            assert_eq!((listed.listing.total, &ids), (expected.len() as u64, &expected));
            let counts = listed.lane_counts.unwrap();
            assert_eq!(counts.iter().map(|(_, count)| *count).sum::<u64>(), planned);
        }
    }

    #[test]
    fn similar_requests_are_loaded_once_without_the_excepted_one() {
        let mut reader = MockReads::new();
        reader
            .expect_portal_rows()
            .withf(|_, ids| ids == [id(3), id(1)])
            .times(1)
            .returning(|_, ids| Ok(ids.iter().copied().map(row).collect()));
        let similar = FindSimilar { title: SearchQuery::parse("title", "Dark mode").unwrap(), except: Some(id(2)) };
        let list = ListSimilar { similar, viewer: Viewer::default() };
        let listed = block_on(Queries::new(search_ports(reader)).run(workspace(), &list)).unwrap();
        assert_eq!(listed, SimilarRequests { rows: vec![row(id(3)), row(id(1))], voted: Vec::new() });
    }

    #[test]
    fn no_feature_requests_are_listed_without_a_statement() {
        let list = |requests: Vec<FeatureRequestId>, statements: usize| {
            let mut reader = MockReads::new();
            reader
                .expect_portal_rows()
                .times(statements)
                .returning(|_, ids| Ok(ids.iter().skip(1).copied().map(row).collect()));
            run(reader, &ListPublicRequests { requests }).unwrap()
        };
        assert_eq!(list(Vec::new(), 0), []);
        assert_eq!(list(vec![id(1), id(2)], 1), [row(id(2))]);
    }

    #[test]
    fn only_customers_have_written_comments() {
        let customer = CustomerId::new(Uuid::from_u128(9));
        let comments = [1, 2].map(|number| CommentId::new(Uuid::from_u128(number))).to_vec();
        for (viewer, comments, statements) in [
            (Viewer::default(), comments.clone(), 0),
            (Viewer { customer: Some(customer), is_member: false }, Vec::new(), 0),
            (Viewer { customer: Some(customer), is_member: false }, comments, 1),
        ] {
            let mut reader = MockReads::new();
            reader
                .expect_written_among()
                .times(statements)
                .withf(move |_, of, _| *of == customer)
                .returning(|_, _, comments| Ok(comments[1..].to_vec()));
            let own = run(reader, &FindOwnComments { viewer, comments }).unwrap();
            assert_eq!(own.len(), statements);
        }
    }

    #[test]
    fn a_request_that_may_not_be_seen_does_not_exist() {
        let show = |exists: bool| {
            let mut reader = MockReads::new();
            reader
                .expect_visible_request()
                .returning(move |_, _, _| Ok(exists.then(|| RequestLink::from(&summary("Inbox", None, 0)))));
            run(reader, &FindVisibleRequest { request: request(), viewer: Viewer::default() })
        };
        assert_eq!(show(false).unwrap_err().to_string(), "FeatureRequest does not exist.");
        assert_eq!(show(true).unwrap(), RequestLink::from(&summary("Inbox", None, 0)));
    }

    #[test]
    fn ended_sessions_are_not_found_and_uses_are_stored_once_an_hour() {
        for (age, is_found, touches) in
            [(Duration::ZERO, true, 0), (Duration::hours(2), true, 1), (Duration::days(60), false, 0)]
        {
            let mut reader = MockReads::new();
            reader.expect_session().returning(move |_, _| {
                let email = EmailAddress::from_stored("ann@example.com".to_owned());
                let id = crate::model::id::SessionId::new(Uuid::from_u128(1));
                let at = now().plus(-age);
                let (customer, language, member) = (None, None, None);
                Ok(Some(Session {
                    id,
                    email,
                    customer,
                    language,
                    member,
                    created_at: at,
                    last_seen_at: at,
                    has_shortcuts: false,
                }))
            });
            reader.expect_touch_session().times(touches).returning(|_, _, _| Ok(()));
            let session = run(reader, &FindSession { digest: SecretDigest([0; 32]) }).unwrap();
            assert_eq!(session.is_some(), is_found);
        }
    }

    #[test]
    fn the_sitemap_has_parts_by_tag_numbers() {
        for (last, parts) in [(0, 1), (1, 1), (5_000, 1), (5_001, 2), (100_000, 20)] {
            let mut reader = MockReads::new();
            reader.expect_last_tag_number().returning(move |_| Ok(last));
            assert_eq!(run(reader, &CountSitemapParts).unwrap(), parts);
        }
    }
}
