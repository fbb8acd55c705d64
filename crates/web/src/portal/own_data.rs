//! What customers do about everything that is stored about them: get it as a file, or delete it with their account.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::person::{ErasedVotes, ExportOptions, PersonRef};
use roadmap_domain::usecase::erase_customer::EraseCustomer;
use roadmap_domain::usecase::query::people::PreviewErasure;
use roadmap_http::error::HttpError;

use crate::admin::missing_record_as_404;
use crate::context::Context;
use crate::form::Fields;
use crate::once::{run_once, was_sent};
use crate::page::{Nav, Page};
use crate::person;
use crate::portal::sign_in::signed_out;
use crate::reply::{PageResult, Reply};

/// What a deletion has done, for the parameter `done`.
const DELETED: &str = "account-deleted";

#[derive(Template)]
#[template(path = "portal/delete-me.html")]
struct DeletePage {
    page: Page,
    email: String,
    /// How many votes stay, in words, if there are some.
    votes: Option<String>,
    is_fresh: bool,
}

/// Returns who is signed in, without whom these pages are not reached.
fn customer(context: &Context) -> Result<CustomerId, HttpError> {
    context.viewer().customer.ok_or(HttpError::NotFound)
}

/// `GET /account/export`: nothing that the portal does not show to the person.
pub(crate) async fn download(context: Rc<Context>) -> PageResult {
    let options = ExportOptions { with_notes: false, with_private_titles: false };
    person::file(&context, customer(&context)?, options).await
}

/// `GET /account/delete`: asks, and says what stays.
pub(crate) async fn ask_delete(context: Rc<Context>) -> PageResult {
    let (person, records) = context.run(&PreviewErasure { customer: customer(&context)? }).await?;
    let t = context.text();
    let page = Page::new(&context, Nav::Account, t.get("delete-me-title")).not_indexed();
    let template = DeletePage {
        page: Page { here: context.request.path().to_owned(), ..page },
        email: person.email.as_str().to_owned(),
        votes: (records.votes > 0).then(|| t.count("delete-me-votes", records.votes)),
        is_fresh: context.has_fresh_sign_in(),
    };
    Ok(Reply::page(&template).not_indexed())
}

/// `POST /account/delete`. It ends all sessions of the person.
pub(crate) async fn delete(context: Rc<Context>, fields: Fields) -> PageResult {
    let erase = EraseCustomer {
        person: PersonRef::Id(customer(&context)?),
        votes: ErasedVotes::Keep,
        texts: person::texts(&fields),
        references: context.state.http.references.clone(),
        repeats: None,
    };
    let erased = run_once(&context, &fields, erase, |_| "/".to_owned()).await;
    missing_record_as_404(erased.map(|_| signed_out(&context, DELETED)))
}

/// Returns the response to a form that has deleted the account before: its session is gone. `None` for any other form.
pub(crate) async fn deleted_before(context: &Context, fields: &Fields) -> Option<PageResult> {
    match was_sent(context, fields).await {
        Ok(false) => None,
        Ok(true) => Some(Ok(signed_out(context, DELETED))),
        Err(error) => Some(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use roadmap_domain::model::portal::Language;

    #[test]
    fn the_page_is_well_formed_and_has_a_form_only_if_it_is_accepted() {
        for language in Language::ALL {
            for (votes, is_fresh) in [(0, true), (1, true), (3, false)] {
                let page = sample_page(language, true, "Delete your account?");
                let votes = (votes > 0).then(|| page.t.count("delete-me-votes", votes));
                let html = DeletePage { page, email: "ann@example.com".to_owned(), votes, is_fresh }.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.contains("action=\"/account/delete\""), is_fresh, "{html}");
                assert_eq!(html.contains("/sign-in?next="), !is_fresh, "{html}");
            }
        }
    }
}
