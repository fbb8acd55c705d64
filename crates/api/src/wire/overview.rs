//! The overview of a workspace.

use roadmap_domain::model::admin::{self, MissedSearch, Overview, Rising, Week};
use serde::Serialize;
use utoipa::ToSchema;

use super::Links;
use super::feature_request::{self, Summary, summary};

/// The overview of a workspace.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OverviewShown)]
pub(crate) struct Response<'a> {
    overview: Fields<'a>,
}

/// What happened in a period, and what the team should look at.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Overview)]
pub(crate) struct Fields<'a> {
    /// In the period.
    activity: Activity,
    /// In the period of the same length before it.
    activity_before: Activity,
    /// The last twelve weeks, the oldest first. The last one is not over.
    #[schema(min_items = 12, max_items = 12)]
    weeks: Vec<WeekFields>,
    /// The most voted feature requests without an answer: public ones on which nobody of the team has commented, and
    /// that were never moved.
    #[schema(max_items = 10)]
    unanswered: Vec<Summary>,
    /// The most voted feature requests on which a customer has written after the team did, or moved them.
    #[schema(max_items = 10)]
    replied: Vec<Summary>,
    /// When the oldest of all feature requests without an answer was created; null if there is none.
    #[schema(format = DateTime, required = true)]
    oldest_unanswered_at: Option<String>,
    /// The feature requests with the most votes in the period.
    #[schema(max_items = 10)]
    rising: Vec<RisingFields>,
    /// The most frequent searches in the period that found nothing.
    #[schema(max_items = 10)]
    missed_searches: Vec<MissedSearchFields<'a>>,
}

/// The numbers of a period.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OverviewActivity)]
pub(crate) struct Activity {
    /// Number of new feature requests.
    #[schema(minimum = 0)]
    requests: i64,
    /// Number of votes, without those that were withdrawn.
    #[schema(minimum = 0)]
    votes: i64,
    /// Number of comments of customers.
    #[schema(minimum = 0)]
    comments: i64,
}

/// The numbers of a week.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OverviewWeek)]
pub(crate) struct WeekFields {
    /// Its first instant, on Monday (UTC).
    #[schema(format = DateTime)]
    start: String,
    #[serde(flatten)]
    activity: Activity,
}

/// A feature request that got votes.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RisingFeatureRequest)]
pub(crate) struct RisingFields {
    feature_request: Summary,
    /// Number of its votes in the period.
    #[schema(minimum = 1)]
    new_votes: i64,
}

/// A search that found nothing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MissedSearch)]
pub(crate) struct MissedSearchFields<'a> {
    /// What was searched for, in lower case, without addresses.
    #[schema(min_length = 1, max_length = 80)]
    query: &'a str,
    /// How often.
    #[schema(minimum = 1)]
    count: i64,
}

fn activity(activity: admin::Activity) -> Activity {
    let admin::Activity { requests, votes, comments } = activity;
    Activity { requests, votes, comments }
}

fn week(week: &Week) -> WeekFields {
    let Week { start, requests, votes, comments } = *week;
    WeekFields { start: start.to_string(), activity: Activity { requests, votes, comments } }
}

fn rising(rising: &Rising, links: &Links) -> RisingFields {
    RisingFields { feature_request: summary(&rising.request, links), new_votes: rising.new_votes }
}

fn missed_search(search: &MissedSearch) -> MissedSearchFields<'_> {
    MissedSearchFields { query: search.words.as_str(), count: search.count }
}

pub(crate) fn response<'a>(overview: &'a Overview, links: &Links) -> impl Serialize + use<'a> {
    Response {
        overview: Fields {
            activity: activity(overview.activity),
            activity_before: activity(overview.activity_before),
            weeks: overview.weeks.iter().map(week).collect(),
            unanswered: feature_request::summaries(&overview.unanswered, links),
            replied: feature_request::summaries(&overview.replied, links),
            oldest_unanswered_at: overview.oldest_unanswered_at.map(|at| at.to_string()),
            rising: overview.rising.iter().map(|rose| rising(rose, links)).collect(),
            missed_searches: overview.missed_searches.iter().map(missed_search).collect(),
        },
    }
}
