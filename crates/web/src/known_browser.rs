//! The cookie that says who was signed in in a browser before.
//!
//! Somebody whose address others ask sign-ins for is never locked out of such a browser, because its sign-ins have a count
//! of their own ([`roadmap_domain::policy::mail_requests`]). The cookie is set by a sign-in alone, and does not sign
//! anybody in. It has a token for each person, which says who only together with the address and the service's secret.

use roadmap_domain::model::email_address::EmailAddress;
use uuid::Uuid;

use crate::context::Context;
use crate::cookies;

/// Number of people whom a browser remembers, the latest first.
const MAX_PEOPLE: usize = 5;

fn tokens(context: &Context) -> impl Iterator<Item = &str> {
    let value = cookies::value(&context.request, cookies::known_browser(context.is_https())).unwrap_or_default();
    value.split('.').take(MAX_PEOPLE).filter(move |token| context.state.http.references.is_well_formed(token))
}

/// Returns the ID of the browser, if this person was signed in there before.
pub(crate) fn find(context: &Context, email: &EmailAddress) -> Option<Uuid> {
    let (references, workspace) = (&context.state.http.references, context.workspace.id);
    tokens(context).find_map(|token| references.verify_known_browser(workspace, token, email.folded()))
}

/// Returns the `Set-Cookie` value after this person has signed in.
pub(crate) fn remember(context: &Context, email: &EmailAddress) -> String {
    let (http, workspace) = (&context.state.http, context.workspace.id);
    let id = find(context, email).unwrap_or_else(|| http.ids.next(http.clock.now()));
    let own = http.references.sign_known_browser(workspace, id, email.folded());
    let is_other = |token: &&str| http.references.verify_known_browser(workspace, token, email.folded()).is_none();
    let others = tokens(context).filter(is_other).take(MAX_PEOPLE - 1).map(ToOwned::to_owned);
    let tokens: Vec<String> = std::iter::once(own).chain(others).collect();
    cookies::set_known_browser(tokens.join("."), context.is_https())
}
