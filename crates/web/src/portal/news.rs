//! Mail about all changelogs, for anybody with an address.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::model::sign_in::{LocalPath, PageAction};

use crate::actions::{act, check_honeypot, keep, read_email};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page};
use crate::portal::{changelogs, mail_choice};
use crate::reply::{PageResult, Reply};

/// The path of the page and of its form.
const PATH: &str = "/news";

#[derive(Template)]
#[template(path = "portal/news.html")]
struct NewsPage {
    page: Page,
    /// The address of a visitor as typed. `None`: the person is signed in.
    email: Option<String>,
    /// Whether the person gets the mail already.
    is_on: bool,
    problems: Problems,
}

/// `GET /news`.
pub(crate) async fn ask(context: Rc<Context>) -> PageResult {
    page(&context, String::new(), Problems::default()).await
}

/// `POST /news`: lets somebody who is signed in get the mail, and a visitor after a confirmation of the address.
pub(crate) async fn get_mail(context: Rc<Context>, fields: Fields) -> PageResult {
    if let Some(session) = context.session.as_deref() {
        return act(&context, session, PageAction::GetNews, &fields, changelogs::PATH.to_owned()).await;
    }
    let mut problems = Problems::default();
    check_honeypot(&context, &fields, &mut problems);
    match (read_email(&context, &fields, &mut problems), problems.is_empty()) {
        (Some(email), true) => {
            keep(&context, email, Some(PageAction::GetNews), LocalPath::parse(changelogs::PATH)).await
        }
        _ => page(&context, fields.get("email").to_owned(), problems).await,
    }
}

async fn page(context: &Context, email: String, problems: Problems) -> PageResult {
    let session = context.session.as_deref();
    let is_on = match session.and_then(|session| session.customer.as_ref()) {
        Some(customer) => mail_choice::shown(context, customer.id).await?.settings.news,
        None => false,
    };
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let frame = Page::new(context, Nav::Changelog, context.text().get("get-news"));
    let frame = Page { here: PATH.to_owned(), ..frame.with_problem(!problems.is_empty()).not_indexed() };
    let email = session.is_none().then_some(email);
    Ok(Reply::page_with(status, &NewsPage { page: frame, email, is_on, problems }).not_indexed())
}
