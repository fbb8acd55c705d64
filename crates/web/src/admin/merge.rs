//! Merging a feature request into another one: choosing the target, what the merge would do, and undoing it.

use std::rc::Rc;

use actix_web::http::{Method, StatusCode};
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::admin::{InboxRow, MergePreview};
use roadmap_domain::model::feature_request::{
    FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, RequestLink,
};
use roadmap_domain::model::id::{FeatureRequestId, parse_uuid};
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::usecase::merge_feature_requests::{MergeFeatureRequests, UnmergeFeatureRequest};
use roadmap_domain::usecase::query::admin::{CountSubscribers, ListInbox, PreviewMerge};
use roadmap_domain::usecase::query::portal::{FindSimilar, ListPublicRequests};
use roadmap_domain::usecase::query::records::ShowFeatureRequest;
use roadmap_http::error::HttpError;

use crate::actions::{execute, next_path, with_done};
use crate::admin::request_form::{landing, path, place_query, reference};
use crate::admin::{Entry, frame};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page};
use crate::portal::parts::Counted;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

#[derive(Template)]
#[template(path = "admin/request-merge.html")]
struct MergePage {
    page: Page,
    /// The path of the feature request.
    back: String,
    /// The query of the place in a list from which it was opened.
    place: String,
    step: Step,
    problems: Problems,
}

/// What the page is about.
enum Step {
    /// Choosing the target.
    Choose { query: String, hits: Vec<Hit> },
    /// What the merge would do. `refusal` says why it cannot be done.
    Confirm(Box<Confirmation>),
    /// It is merged already, into what has this title and this path.
    Merged { title: String, path: String },
}

/// A possible target.
struct Hit {
    title: String,
    /// The path of the confirmation.
    path: String,
    number: String,
    is_private: bool,
    is_awaiting: bool,
    votes: Counted,
}

/// What a merge would do.
struct Confirmation {
    source: Hit,
    target: Hit,
    into: String,
    /// How many votes there would be, in words.
    counted: String,
    /// Whether the words of the source stay hidden.
    stays_hidden: bool,
    /// What the box says that tells the voters of the source, if there are any.
    tell: Option<String>,
    refusal: Option<String>,
}

/// The feature request of the path: itself, or what it was merged into.
enum MergeSource {
    Itself(Box<FeatureRequestDetail>),
    Merged { link: RequestLink, target: RequestLink },
}

async fn find_source(context: &Context) -> Result<MergeSource, HttpError> {
    let reference = reference(context);
    let detail = context.run(&ShowFeatureRequest { request: reference }).await?;
    let merged = detail.merged.iter().find(|link| match reference {
        FeatureRequestRef::Id(id) => id == link.id,
        FeatureRequestRef::Number(number) => number == link.tag_number,
        FeatureRequestRef::Unresolvable => false,
    });
    Ok(match merged {
        Some(link) => MergeSource::Merged { link: link.clone(), target: RequestLink::from(&detail.summary) },
        None => MergeSource::Itself(Box::new(detail)),
    })
}

/// `GET /admin/feature_requests/{slug}/merge`: a search for the target, and with the parameter `into` what the merge would
/// do.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let source = match find_source(&context).await? {
        MergeSource::Itself(source) => source,
        MergeSource::Merged { link, target } => return merged(&context, &link, &target, Problems::default()).await,
    };
    if !context.query.has("into") {
        return choose(&context, &source, Problems::default()).await;
    }
    let into = parse_uuid("into", context.query.get("into")).map_err(|_| HttpError::NotFound)?;
    let target = FeatureRequestId::new(into);
    if target == source.summary.id || source.merged.iter().any(|merged| merged.id == target) {
        let mut problems = Problems::default();
        problems.add("query", context.text().get("team-merge-itself"));
        return choose(&context, &source, problems).await;
    }
    let preview = context.run(&PreviewMerge { source: source.summary.id, target }).await?;
    if let Some(root) = &preview.target.merged_into {
        return Ok(Reply::found(format!("{}/merge?into={}", path(&source.summary.slug()), root.id)));
    }
    confirm(&context, &preview).await
}

/// `POST /admin/feature_requests/{slug}/merge`: merges it into the feature request of the field `into`.
pub(crate) async fn merge(context: Rc<Context>, fields: Fields) -> PageResult {
    let into = parse_uuid("into", fields.get("into")).map_err(|_| HttpError::NotFound)?;
    let target = FeatureRequestId::new(into);
    let tells_voters = fields.has("tell");
    let (source, target_ref) = (reference(&context), FeatureRequestRef::Id(target));
    let operation = MergeFeatureRequests { source, target: target_ref, tells_voters };
    let error = match execute(&context, operation).await {
        Ok(merged) => {
            let done = match (merged.was_there, tells_voters && !merged.target.private) {
                (true, _) => "unchanged",
                (false, true) => "merged-mail",
                (false, false) => "merged",
            };
            return Ok(Reply::see_other(landing(&merged.target.summary.slug(), &place_query(&context), done)));
        }
        Err(error) => error,
    };
    let (text, mut problems) = (context.text(), Problems::default());
    match (find_source(&context).await?, &error) {
        (MergeSource::Merged { link, target }, HttpError::Domain(RoadmapError::Conflict(Conflict::AlreadyMerged))) => {
            problems.add("main", text.get("team-merge-elsewhere"));
            merged(&context, &link, &target, problems).await
        }
        (MergeSource::Itself(source), HttpError::Domain(RoadmapError::Invalid(_) | RoadmapError::NotFound(_))) => {
            problems.add("query", text.get(reason(&context, &source, target, &error).await?));
            choose(&context, &source, problems).await
        }
        _ => Err(error),
    }
}

/// `POST /admin/feature_requests/{slug}/unmerge`: it stands for itself again.
pub(crate) async fn unmerge(context: Rc<Context>, fields: Fields) -> PageResult {
    let next = next_path(&fields).map(|next| next.as_str().to_owned());
    match execute(&context, UnmergeFeatureRequest { source: reference(&context) }).await {
        Ok(unmerged) => {
            let next = next.unwrap_or_else(|| path(&unmerged.source.summary.slug()));
            Ok(Reply::see_other(with_done(&next, "unmerged")))
        }
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::NotMerged))) => {
            let next = next.unwrap_or_else(|| path(context.parameter("slug")));
            Ok(Reply::see_other(with_done(&next, "unchanged")))
        }
        Err(error) => Err(error),
    }
}

/// Returns the key of the sentence that says why a merge was refused.
async fn reason(
    context: &Context,
    source: &FeatureRequestDetail,
    target: FeatureRequestId,
    error: &HttpError,
) -> Result<&'static str, HttpError> {
    if matches!(error, HttpError::Domain(RoadmapError::NotFound(_))) {
        return Ok("team-merge-gone");
    }
    if target == source.summary.id || source.merged.iter().any(|merged| merged.id == target) {
        return Ok("team-merge-itself");
    }
    let target = context.run(&ShowFeatureRequest { request: FeatureRequestRef::Id(target) }).await?;
    Ok(if target.private && !source.private { "team-merge-private" } else { "team-merge-many" })
}

async fn choose(context: &Context, source: &FeatureRequestDetail, mut problems: Problems) -> PageResult {
    let (t, back) = (context.text(), path(&source.summary.slug()));
    let query = context.query.get("query").trim().to_owned();
    let hits = match query.as_str() {
        "" => suggestions(context, source, &back).await?,
        text => match SearchQuery::parse("linked-query", text) {
            Ok(words) => {
                let list = ListInbox { query: Some(words), ..ListInbox::default() };
                let rows = context.run(&list).await?.items;
                let others = rows.iter().filter(|row| row.summary.id != source.summary.id);
                others.map(|row| Hit::of_row(t, row, &back)).collect()
            }
            Err(error) => {
                problems.add("query", t.problem(&error));
                Vec::new()
            }
        },
    };
    page(context, source.summary.title.as_str(), back, Step::Choose { query, hits }, problems).await
}

/// Returns the similar feature requests, which are public.
async fn suggestions(context: &Context, source: &FeatureRequestDetail, back: &str) -> Result<Vec<Hit>, HttpError> {
    let Ok(title) = SearchQuery::parse("title", source.summary.title.as_str()) else { return Ok(Vec::new()) };
    let requests = context.run(&FindSimilar { title, except: Some(source.summary.id) }).await?;
    let similar = context.run(&ListPublicRequests { requests }).await?;
    let t = context.text();
    Ok(similar.iter().map(|row| Hit::new(t, &row.summary, back)).collect())
}

async fn confirm(context: &Context, preview: &MergePreview) -> PageResult {
    let (t, back) = (context.text(), path(&preview.source.summary.slug()));
    let subscribers = context.run(&CountSubscribers { request: preview.source.summary.id }).await?;
    let confirmation = Confirmation::new(t, preview, subscribers, &back);
    let title = preview.source.summary.title.as_str();
    page(context, title, back, Step::Confirm(Box::new(confirmation)), Problems::default()).await
}

async fn merged(context: &Context, link: &RequestLink, target: &RequestLink, problems: Problems) -> PageResult {
    let step = Step::Merged { title: target.title.as_str().to_owned(), path: path(&target.slug()) };
    page(context, link.title.as_str(), path(&link.slug()), step, problems).await
}

async fn page(context: &Context, title: &str, back: String, step: Step, problems: Problems) -> PageResult {
    let page = frame(context, Entry::Inbox, context.text().named("team-merge-title", title)).await?;
    let has_problem = !problems.is_empty();
    let mut page = page.with_problem(has_problem);
    if context.request.method() == Method::POST {
        page.here = format!("{back}/merge");
    }
    let status = if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(Reply::page_with(status, &MergePage { page, place: place_query(context), back, step, problems }).not_indexed())
}

impl Hit {
    /// `back` is the path of what is to be merged.
    fn new(t: Text, summary: &FeatureRequestSummary, back: &str) -> Self {
        Self {
            title: summary.title.as_str().to_owned(),
            path: format!("{back}/merge?into={}", summary.id),
            number: summary.tag_number.to_string(),
            is_private: false,
            is_awaiting: false,
            votes: Counted::votes(t, summary.votes_count),
        }
    }

    fn of_row(t: Text, row: &InboxRow, back: &str) -> Self {
        let is_awaiting = row.awaiting_approval;
        Self { is_private: row.private && !is_awaiting, is_awaiting, ..Self::new(t, &row.summary, back) }
    }
}

impl Confirmation {
    fn new(t: Text, preview: &MergePreview, subscribers: i64, back: &str) -> Self {
        let (source, target) = (&preview.source, &preview.target);
        let both = source.summary.votes_count + target.summary.votes_count - preview.votes_count;
        let shared = t.count("team-merge-shared", both.max(0));
        let votes = t.count("votes", preview.votes_count);
        let is_refused = target.private && !source.private;
        Self {
            source: Hit::of_row(t, source, back),
            target: Hit::of_row(t, target, back),
            into: target.summary.id.to_string(),
            counted: t.with("team-merge-counted", &[("votes", votes.into()), ("shared", shared.into())]),
            stays_hidden: source.private && !target.private,
            tell: (subscribers > 0 && !target.private).then(|| t.count("team-merge-tell", subscribers)),
            refusal: is_refused.then(|| t.get("team-merge-private").into_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page, sample_summary};
    use roadmap_domain::model::portal::Language;

    fn row(number: i64, private: bool) -> InboxRow {
        InboxRow {
            summary: sample_summary(number, "Dark <mode>", None),
            private,
            awaiting_approval: false,
            attention: None,
            companies_count: 19,
            comments_count: 0,
            held_count: 0,
            excerpt: String::new(),
            tags: Vec::new(),
            notes_count: 0,
            author: None,
            merged_into: None,
        }
    }

    fn confirmation(t: Text, source: InboxRow, target: InboxRow, votes_count: i64) -> Confirmation {
        Confirmation::new(t, &MergePreview { source, target, votes_count }, votes_count, "/admin/feature_requests/7-x")
    }

    #[test]
    fn the_page_is_well_formed_in_every_step() {
        for language in Language::ALL {
            let t = Text::utc(language);
            let hit = || Hit::of_row(t, &row(8, true), "/admin/feature_requests/7-x");
            let confirm = |source, target| Step::Confirm(Box::new(confirmation(t, row(7, source), row(8, target), 9)));
            for step in [
                Step::Choose { query: String::new(), hits: Vec::new() },
                Step::Choose { query: "\"".to_owned(), hits: Vec::new() },
                Step::Choose { query: String::new(), hits: vec![hit(), hit()] },
                confirm(false, false),
                confirm(true, false),
                confirm(false, true),
                Step::Merged { title: "<b>".to_owned(), path: "/admin/feature_requests/8-b".to_owned() },
            ] {
                let mut problems = Problems::default();
                if matches!(step, Step::Choose { .. }) {
                    problems.add("query", "Choose another one.");
                }
                let page = sample_page(language, true, "Merge <b>");
                let back = "/admin/feature_requests/7-x".to_owned();
                let place = "?list=&at=3".to_owned();
                assert_well_formed(&MergePage { page, back, place, step, problems }.render().unwrap());
            }
        }
    }

    #[test]
    fn a_confirmation_says_what_is_counted() {
        let t = Text::utc(Language::English);
        let counted = |votes| confirmation(t, row(7, false), row(8, false), votes).counted;
        assert_eq!(counted(12), "Together 12 votes: 3 customers voted for both and count once.");
        assert_eq!(counted(14), "Together 14 votes: 1 customer voted for both and counts once.");
        assert_eq!(counted(15), "Together 15 votes: nobody voted for both.");
        let flags = |source, target| {
            let confirmation = confirmation(t, row(7, source), row(8, target), 15);
            (confirmation.stays_hidden, confirmation.refusal.is_some())
        };
        assert_eq!(flags(false, false), (false, false));
        assert_eq!(flags(true, false), (true, false));
        assert_eq!(flags(false, true), (false, true));
        assert_eq!(flags(true, true), (false, false));
    }
}
