//! Feature requests, their events, and tracks.

use std::ops::Range;

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{
    Activity, InboxCounts, InboxRow, MergePreview, MissedSearch, MissedWords, Overview, Rising, TrackCounts, Week,
};
use roadmap_domain::model::audit::{Actor, ActorKind};
use roadmap_domain::model::board::RoadmapCard;
use roadmap_domain::model::changes::{ChangeEntry, ChangePlace};
use roadmap_domain::model::event::{Event, EventContent};
use roadmap_domain::model::feature_request::{Attention, FeatureRequestSummary, RequestLink, Tag, Title};
use roadmap_domain::model::id::{EventId, FeatureRequestId, LaneId, TrackId};
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::portal::{FollowedRequest, PortalRow, SitemapEntry};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::{Lane, LaneKind, Placement, Track};
use roadmap_domain::model::vote::VoteCounts;

use super::CustomerNameRow;
use crate::columns::{Id, TextList, TimestampColumn, inconsistent, optional_timestamp};

/// A feature request as another record names it.
#[derive(Debug, Queryable)]
pub struct LinkRow {
    pub id: Id,
    pub tag_number: i64,
    pub title: String,
}

impl From<LinkRow> for RequestLink {
    fn from(row: LinkRow) -> Self {
        let (id, title) = (FeatureRequestId::new(row.id.0), Title::from_stored(row.title));
        Self { id, tag_number: row.tag_number, title }
    }
}

/// The summary of a feature request.
#[derive(Debug, Queryable)]
pub struct SummaryRow {
    pub id: Id,
    pub tag_number: i64,
    pub title: String,
    track: String,
    lane: Option<String>,
    pub votes_count: i64,
    created_at: TimestampColumn,
}

impl TryFrom<SummaryRow> for FeatureRequestSummary {
    type Error = StoreError;

    fn try_from(row: SummaryRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: FeatureRequestId::new(row.id.0),
            tag_number: row.tag_number,
            title: Title::from_stored(row.title),
            placement: Placement { track: Name::from_stored(row.track), status: row.lane.map(Name::from_stored) },
            votes_count: row.votes_count,
            created_at: row.created_at.into_timestamp("feature_requests", "created_at", row.id)?,
        })
    }
}

/// A feature request in the sitemap.
#[derive(Debug, Queryable)]
pub struct SitemapRow {
    request: LinkRow,
    updated_at: TimestampColumn,
}

impl TryFrom<SitemapRow> for SitemapEntry {
    type Error = StoreError;

    fn try_from(row: SitemapRow) -> Result<Self, StoreError> {
        let updated_at = row.updated_at.into_timestamp("feature_requests", "updated_at", row.request.id)?;
        Ok(Self { request: row.request.into(), updated_at })
    }
}

/// Returns the offset and the limit of a statement for the items of a list at these places.
#[must_use]
pub fn limits(places: &Range<u64>) -> (i64, i64) {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    (count(places.start), count(places.end.saturating_sub(places.start)))
}

/// A feature request in a list on the portal, with the beginning of its description.
#[derive(Debug, Queryable)]
pub struct PortalListRow {
    summary: SummaryRow,
    excerpt: String,
    private: bool,
    awaiting_approval: bool,
    status_since: TimestampColumn,
}

impl TryFrom<PortalListRow> for PortalRow {
    type Error = StoreError;

    fn try_from(row: PortalListRow) -> Result<Self, StoreError> {
        let PortalListRow { summary, excerpt, private, awaiting_approval, status_since } = row;
        let status_since = status_since.into_timestamp("feature_requests", "status_since", summary.id)?;
        Ok(Self { summary: summary.try_into()?, status_since, excerpt, private, awaiting_approval })
    }
}

/// A feature request that somebody voted for or gets mail about.
#[derive(Debug, Queryable)]
pub struct FollowedRow {
    row: PortalListRow,
    has_voted: bool,
    is_followed: bool,
}

impl TryFrom<FollowedRow> for FollowedRequest {
    type Error = StoreError;

    fn try_from(row: FollowedRow) -> Result<Self, StoreError> {
        let FollowedRow { row, has_voted, is_followed } = row;
        Ok(Self { row: row.try_into()?, has_voted, is_followed })
    }
}

/// A feature request on the portal's roadmap.
#[derive(Debug, Queryable)]
pub struct CardRow {
    summary: SummaryRow,
    status_since: TimestampColumn,
    comments_count: i64,
    tags: TextList,
}

impl TryFrom<CardRow> for RoadmapCard {
    type Error = StoreError;

    fn try_from(row: CardRow) -> Result<Self, StoreError> {
        let CardRow { summary, status_since, comments_count, tags } = row;
        let status_since = status_since.into_timestamp("feature_requests", "status_since", summary.id)?;
        let tags = tags.0.into_iter().map(Tag::from_stored).collect();
        Ok(Self { summary: summary.try_into()?, status_since, comments_count, tags })
    }
}

/// A feature request in a list of the inbox.
#[derive(Debug, Queryable)]
pub struct InboxListRow {
    summary: SummaryRow,
    private: bool,
    awaiting_approval: bool,
    attention: Option<String>,
    companies_count: i64,
    comments_count: i64,
    /// The number of comments that wait for approval.
    held_count: i64,
    excerpt: String,
    tags: TextList,
    notes_count: i64,
    author: Option<CustomerNameRow>,
    root: Option<LinkRow>,
}

impl TryFrom<InboxListRow> for InboxRow {
    type Error = StoreError;

    fn try_from(row: InboxListRow) -> Result<Self, StoreError> {
        Ok(Self {
            summary: row.summary.try_into()?,
            private: row.private,
            awaiting_approval: row.awaiting_approval,
            attention: row.attention.as_deref().and_then(Attention::from_stored),
            companies_count: row.companies_count,
            comments_count: row.comments_count,
            held_count: row.held_count,
            excerpt: row.excerpt,
            tags: row.tags.0.into_iter().map(Tag::from_stored).collect(),
            notes_count: row.notes_count,
            author: row.author.map(Into::into),
            merged_into: row.root.map(Into::into),
        })
    }
}

/// One of the two feature requests of a merge, with the number of votes that both have after it.
#[derive(Debug, Queryable)]
pub struct MergePreviewRow {
    request: InboxListRow,
    is_source: bool,
    votes_count: i64,
}

/// Returns the preview of a merge from its rows. `None` if a feature request is missing.
///
/// # Errors
/// The model cannot hold a value.
pub fn merge_preview(rows: Vec<MergePreviewRow>) -> Result<Option<MergePreview>, StoreError> {
    let (mut source, mut target, mut votes) = (None, None, 0);
    for MergePreviewRow { request, is_source, votes_count } in rows {
        let side = if is_source { &mut source } else { &mut target };
        *side = Some(InboxRow::try_from(request)?);
        votes = votes_count;
    }
    Ok(source.zip(target).map(|(source, target)| MergePreview { source, target, votes_count: votes }))
}

/// Returns what is counted of votes: companies and nameless ones.
#[must_use]
pub fn vote_counts((companies, nameless): (i64, i64)) -> VoteCounts {
    VoteCounts { companies: companies.unsigned_abs(), nameless: nameless.unsigned_abs() }
}

/// A track with its numbers of feature requests, and numbers of the workspace.
#[derive(Debug, Queryable)]
pub struct InboxCountsRow {
    track: TrackRow,
    all: i64,
    unanswered: i64,
    replied: i64,
    private: i64,
    /// Of the workspace: feature requests that wait for approval.
    awaiting: i64,
    /// Of the workspace: comments that wait for approval.
    held_comments: i64,
    /// Of the workspace: feature requests that are merged.
    merged: i64,
}

/// Returns the counters of the inbox from the rows of all tracks.
#[must_use]
pub fn inbox_counts(rows: Vec<InboxCountsRow>) -> InboxCounts {
    let mut counts = InboxCounts::default();
    for InboxCountsRow { track, all, unanswered, replied, private, awaiting, held_comments, merged } in rows {
        counts.tracks.push(TrackCounts { track: track.into(), all, unanswered, replied, private });
        (counts.awaiting, counts.held_comments, counts.merged) = (awaiting, held_comments, merged);
    }
    counts
}

/// The lists of an overview.
#[derive(Debug)]
pub struct OverviewRows {
    /// Feature requests without an answer, each with the timestamp of the oldest one.
    pub unanswered: Vec<(SummaryRow, Option<TimestampColumn>)>,
    /// Those with a new reply, each with the timestamp of the oldest one.
    pub replied: Vec<(SummaryRow, Option<TimestampColumn>)>,
    /// Feature requests with their numbers of new votes.
    pub rising: Vec<(SummaryRow, i64)>,
    /// Searches that found nothing, with their numbers.
    pub missed_searches: Vec<(String, i64)>,
}

impl OverviewRows {
    /// Converts the rows of a workspace, and adds the sums of its activity.
    ///
    /// # Errors
    /// The model cannot hold a value.
    pub fn into_overview(
        self,
        (activity, activity_before, weeks): (Activity, Activity, Vec<Week>),
        workspace: impl ToString,
    ) -> Result<Overview, StoreError> {
        let oldest = self.unanswered.first().and_then(|(_, oldest)| *oldest);
        let rising = |(row, new_votes): (SummaryRow, i64)| Ok(Rising { request: row.try_into()?, new_votes });
        let missed = |(words, count)| MissedSearch { words: MissedWords::from_stored(words), count };
        Ok(Overview {
            activity,
            activity_before,
            weeks,
            unanswered: self.unanswered.into_iter().map(|(row, _)| row.try_into()).collect::<Result<_, _>>()?,
            replied: self.replied.into_iter().map(|(row, _)| row.try_into()).collect::<Result<_, _>>()?,
            oldest_unanswered_at: optional_timestamp(oldest, "feature_requests", "created_at", workspace)?,
            rising: self.rising.into_iter().map(rising).collect::<Result<_, StoreError>>()?,
            missed_searches: self.missed_searches.into_iter().map(missed).collect(),
        })
    }
}

/// An event in the history of a feature request.
#[derive(Debug, Queryable)]
pub struct EventRow {
    pub id: Id,
    pub kind: String,
    pub details: String,
    pub actor_kind: String,
    pub actor_id: Option<Id>,
    pub actor_name: String,
    pub created_at: TimestampColumn,
}

impl TryFrom<EventRow> for Event {
    type Error = StoreError;

    fn try_from(row: EventRow) -> Result<Self, StoreError> {
        let table = "feature_request_events";
        let broken = |column| inconsistent(table, column, row.id);
        let kind = ActorKind::from_name(&row.actor_kind).ok_or_else(|| broken("actor_kind"))?;
        Ok(Self {
            id: EventId::new(row.id.0),
            content: EventContent::parse(&row.kind, &row.details).ok_or_else(|| broken("details"))?,
            actor: Actor { kind, id: row.actor_id.map(|id| id.0), name: row.actor_name },
            created_at: row.created_at.into_timestamp(table, "created_at", row.id)?,
        })
    }
}

/// A change of a feature request or of a comment.
#[derive(Debug, Queryable)]
pub struct ChangeRow {
    record: Id,
    track: Option<Id>,
    private: bool,
    was_public: bool,
    deleted: bool,
    updated_at: TimestampColumn,
    changed_at: TimestampColumn,
    number: i64,
}

impl TryFrom<ChangeRow> for ChangeEntry {
    type Error = StoreError;

    fn try_from(row: ChangeRow) -> Result<Self, StoreError> {
        let at = row.changed_at.into_timestamp("changes", "changed_at", row.record)?;
        Ok(Self {
            id: row.record.0,
            track: row.track.map(|track| TrackId::new(track.0)),
            private: row.private,
            was_public: row.was_public,
            deleted: row.deleted,
            updated_at: row.updated_at.into_timestamp("changes", "updated_at", row.record)?,
            place: ChangePlace { at, number: row.number },
        })
    }
}

/// A lane.
#[derive(Debug, Queryable)]
pub struct LaneRow {
    id: Id,
    name: String,
    kind: String,
    /// The names by language, as JSON.
    names: String,
}

impl From<LaneRow> for Lane {
    fn from(row: LaneRow) -> Self {
        let kind = LaneKind::from_stored(&row.kind);
        let names = Localized::from_stored(&row.names);
        Self { id: LaneId::new(row.id.0), name: Name::from_stored(row.name), kind, names }
    }
}

/// A track with its lane.
#[derive(Debug, Queryable)]
pub struct TrackRow {
    id: Id,
    name: String,
    lane: Option<LaneRow>,
}

impl From<TrackRow> for Track {
    fn from(row: TrackRow) -> Self {
        Self { id: TrackId::new(row.id.0), name: Name::from_stored(row.name), lane: row.lane.map(Into::into) }
    }
}
