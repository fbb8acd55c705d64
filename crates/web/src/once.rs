//! Forms of people who are signed in, each of which does one thing, also if it is sent twice.

use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_domain::model::sign_in::LocalPath;
use roadmap_domain::usecase::executor::Operation;
use roadmap_domain::usecase::target::Target;
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::digest;
use crate::form::Fields;
use crate::reply::Reply;

/// Returns the operation key of a form, which counts only in the session of its page.
fn operation_key(context: &Context, fields: &Fields, step: &str) -> Option<OperationKey> {
    let session = context.session.as_ref()?;
    fields.get(OperationKey::FIELD).strip_prefix("web:")?.strip_prefix(&format!("{}:", session.id))?;
    key_of_form(context, fields, step)
}

/// Returns the operation key of a form: that of the page with what was typed. Whoever goes back and sends something else
/// does something else. `step` tells apart the operations of one form.
fn key_of_form(context: &Context, fields: &Fields, step: &str) -> Option<OperationKey> {
    let raw = fields.get(OperationKey::FIELD);
    raw.strip_prefix("web:")?;
    // Forms of one page have one key, so that the path tells apart those that send the same fields.
    let form = digest::short(format!("{} {}", context.request.path(), fields.digest()));
    OperationKey::parse(&format!("{raw}:{form}{step}")).ok().flatten()
}

/// The status under which the result of an action is saved. Only successes are.
const SAVED: u16 = 200;

/// Runs an operation at most once for each form, to its end, even if the browser disconnects. `landing` returns the path
/// of the next page.
///
/// # Errors
/// Those of the operation.
pub(crate) async fn run_once<O>(
    context: &Context,
    fields: &Fields,
    operation: O,
    landing: impl Fn(O::Output) -> String + Send + Sync + 'static,
) -> Result<Reply, HttpError>
where
    O: Operation + 'static,
    O::Output: 'static,
{
    let location = Some(run_step(context, fields, "", operation, landing).await?);
    let location = location.filter(|location| LocalPath::parse(location).is_some());
    Ok(Reply::see_other(location.unwrap_or_else(|| "/".to_owned())))
}

/// Runs an operation of a form as [`run_once`]. Returns what `render` has made of its output, also when the form was sent
/// before: it is stored, so it has no secret. `step` tells apart the operations of one form.
///
/// # Errors
/// Those of the operation.
pub(crate) async fn run_step<O>(
    context: &Context,
    fields: &Fields,
    step: &str,
    operation: O,
    render: impl Fn(O::Output) -> String + Send + Sync + 'static,
) -> Result<String, HttpError>
where
    O: Operation + 'static,
    O::Output: 'static,
{
    let key = operation_key(context, fields, step);
    let (executor, workspace) = (context.executor(), context.workspace.id);
    let render = move |output| SavedResponse { status: SAVED, body: render(output).into_bytes() };
    let work = async move { executor.run(workspace, key.as_ref(), &operation, render).await };
    let done = context.state.http.detached.run(work).await?.map_err(HttpError::Domain)?;
    Ok(String::from_utf8(done.response.body).unwrap_or_default())
}

/// Whether a form was sent before, in a session that it has ended. It does nothing.
///
/// # Errors
/// The store fails.
pub(crate) async fn was_sent(context: &Context, fields: &Fields) -> Result<bool, HttpError> {
    let Some(key) = key_of_form(context, fields, "") else { return Ok(false) };
    let (executor, workspace) = (context.executor(), context.workspace.id);
    let work = async move { executor.find_saved_response(workspace, Some(&key), &Target::Workspace).await };
    let saved = context.state.http.detached.run(work).await?.map_err(HttpError::Domain)?;
    Ok(saved.is_some())
}
