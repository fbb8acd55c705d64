//! What the pages and forms about one feature request share: its path, its author, and forms that are refused.

use roadmap_domain::error::{Budget, Conflict, OverBudget, Resource, RoadmapError};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::member::Author;
use roadmap_domain::model::sign_in::PageAction;
use roadmap_http::error::HttpError;
use uuid::Uuid;

use crate::actions::{not_done, with_done};
use crate::admin::inbox::place::ListPlace;
use crate::admin::member;
use crate::context::Context;
use crate::reply::PageResult;
use crate::text::Text;

/// Returns the path of a feature request in the panel.
pub(crate) fn path(slug: &str) -> String {
    format!("/admin/feature_requests/{slug}")
}

/// Returns the query of the place in a list of the inbox from which the page of the form was opened. Empty without one.
pub(crate) fn place_query(context: &Context) -> String {
    ListPlace::parse(&context.query).map(|place| format!("?{}", place.query())).unwrap_or_default()
}

/// Returns the path of the page after an action, with the place that it had.
pub(crate) fn landing(slug: &str, place: &str, done: &str) -> String {
    with_done(&format!("{}{place}", path(slug)), done)
}

/// Returns the reference in the path.
pub(crate) fn reference(context: &Context) -> FeatureRequestRef {
    FeatureRequestRef::parse(context.parameter("slug"))
}

/// Returns the member as the author of what is written.
///
/// # Errors
/// There is no member.
pub(crate) fn author(context: &Context) -> Result<Author, HttpError> {
    let (_, member) = member(context)?;
    Ok(Author::Named(member.email.folded().clone()))
}

/// Returns the sentence about an error that somebody at a form can do something about.
pub(crate) fn refusal(text: Text, error: &HttpError) -> Option<String> {
    let HttpError::Domain(error) = error else { return None };
    let key = match error {
        RoadmapError::Invalid(invalid) => return Some(text.problem(invalid)),
        RoadmapError::OverBudget(OverBudget { budget: Budget::MailsPerDay, limit }) => {
            return Some(text.count("team-problem-mail", *limit));
        }
        RoadmapError::OverBudget(_) => "team-problem-storage",
        RoadmapError::NotFound(Resource::Track) => "team-problem-track",
        RoadmapError::Conflict(Conflict::TooManyLinks) => "team-problem-links",
        RoadmapError::Conflict(Conflict::HasMerged) => "team-problem-has-merged",
        _ => return None,
    };
    Some(text.get(key).into_owned())
}

/// Shows a text that could not be saved, with the reason, so that it can be copied.
pub(crate) fn show_unsaved_text(context: &Context, error: HttpError, text: &str) -> PageResult {
    if text.trim().is_empty() {
        return Err(error);
    }
    let request = FeatureRequestId::new(Uuid::nil());
    let action = PageAction::Comment { request, content: text.to_owned() };
    Ok(not_done(context, &error, &action, "/admin".to_owned()))
}
