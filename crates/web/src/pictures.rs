//! Pictures in texts: adding them, and showing them.
//!
//! A form has the file field **Add picture**. With the script, a picture is sent as soon as it is chosen, pasted or dropped,
//! and its link is put into the text. Without it, it is sent with the form, and its link is put behind the text.

use std::rc::Rc;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::id::{AttachmentId, parse_uuid};
use roadmap_domain::model::markdown;
use roadmap_domain::model::operation_key::OperationKey;
use roadmap_domain::model::picture::{MAX_BYTES, PictureBy, PictureProblem};
use roadmap_domain::usecase::query::portal::FindPicture;
use roadmap_http::error::HttpError;
use roadmap_http::limits::PostWeight;

use crate::context::Context;
use crate::form::{Fields, Problems, UploadedFile};
use crate::portal::images::stream;
use crate::reply::{NOSNIFF, PageResult, Reply};

/// The field of the file.
const FIELD: &str = "picture";

/// The parameter of a page with the number of pictures of other sites that became links.
pub(crate) const LINKED: &str = "linked_pictures";

/// How long caches have a picture. Its text can be removed.
const CACHED: &str = "public, max-age=3600";

/// `GET /pictures/{id}`: a picture of a text. Mail programs and feed readers show it, too, so that it needs no session:
/// whoever has its link may see it, also if its text is private.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let picture = parse_uuid("id", context.parameter("id")).map(AttachmentId::new).map_err(|_| HttpError::NotFound)?;
    let file = context.run(&FindPicture { picture }).await?;
    stream(&context, &file, CACHED, "cross-origin").await
}

/// `POST /pictures`: stores a picture, and returns its link as Markdown. For the script.
pub(crate) async fn add(context: Rc<Context>, fields: Fields) -> PageResult {
    let stored = match fields.file(FIELD) {
        Some(file) => store(&context, file, None).await?,
        None => Err(PictureProblem::Unreadable.of_field(FIELD)),
    };
    let (status, text) = match stored {
        Ok(picture) => (StatusCode::CREATED, markdown::of_picture(picture.id, name_of(&picture))),
        Err(problem) => (StatusCode::UNPROCESSABLE_ENTITY, context.text().problem(&problem)),
    };
    let response = HttpResponse::build(status)
        .insert_header((CONTENT_TYPE, "text/plain; charset=utf-8"))
        .insert_header((CACHE_CONTROL, "private, no-store"))
        .insert_header(NOSNIFF)
        .body(text);
    Ok(Reply::other(response))
}

/// Stores the picture that was sent with a form, if there is one, and puts its link behind a text.
///
/// # Errors
/// The picture cannot be stored. What is wrong with it becomes a problem of its field.
pub(crate) async fn append(
    context: &Context,
    fields: &Fields,
    problems: &mut Problems,
    text: &mut String,
) -> Result<(), HttpError> {
    let Some(file) = fields.file(FIELD).filter(|_| context.session.is_some()) else { return Ok(()) };
    match store(context, file, Some(fields.get(OperationKey::FIELD))).await {
        Ok(Ok(picture)) => {
            let separator = if text.trim().is_empty() { "" } else { "\n\n" };
            *text = format!("{}{separator}{}", text.trim_end(), markdown::of_picture(picture.id, name_of(&picture)));
        }
        Ok(Err(problem)) => problems.add(FIELD, context.text().problem(&problem)),
        Err(HttpError::Domain(RoadmapError::OverBudget(_))) => {
            problems.add(FIELD, context.text().get("storage-used-up"));
        }
        Err(HttpError::TooManyRequests(_)) => problems.add(FIELD, context.text().get("problem-picture-rate")),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Says on the next page how many pictures of other sites became links.
pub(crate) fn tell_linked(reply: Reply, markdown: &str) -> Reply {
    match markdown::foreign_pictures(markdown) {
        0 => reply,
        count => reply.with_parameter(&format!("{LINKED}={count}")),
    }
}

/// Stores a picture of the person who is signed in. With the key of a form, the same picture is stored once.
async fn store(
    context: &Context,
    file: &UploadedFile,
    key: Option<&str>,
) -> Result<Result<Attachment, roadmap_domain::error::FieldError>, HttpError> {
    let session = context.session.as_deref().ok_or(HttpError::Forbidden)?;
    if file.content.len() > MAX_BYTES {
        return Ok(Err(PictureProblem::TooLarge.of_field(FIELD)));
    }
    let (workspace, limits) = (context.workspace.id, &context.state.http.limits);
    let by = if session.member.is_some() { PictureBy::Team } else { PictureBy::Customer };
    if by == PictureBy::Customer {
        let person = session.email.folded();
        limits.admit_post(workspace, person, PostWeight::Toggle)?;
        if limits.admit_picture(workspace, person, file.content.len()).is_err() {
            return Ok(Err(PictureProblem::DayUsedUp.of_field(FIELD)));
        }
    }
    let (pictures, name, content) =
        (context.state.pictures.clone(), file.description.filename.clone(), file.content.clone());
    let key = key.filter(|key| !key.is_empty()).map(ToOwned::to_owned);
    let work = async move { pictures.run(workspace, &name, content, by, key.as_deref()).await };
    match context.state.http.detached.run(work).await? {
        Ok(picture) => Ok(Ok(picture)),
        Err(RoadmapError::Invalid(problem)) => Ok(Err(problem)),
        Err(error) => Err(HttpError::Domain(error)),
    }
}

/// Returns the name of a picture without the ending of its file, as its alternative text.
fn name_of(picture: &Attachment) -> &str {
    let name = picture.filename.as_str();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
