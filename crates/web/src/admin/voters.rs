//! The voters of a feature request, as a table and as a file.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::vote::Voter;
use roadmap_domain::usecase::query::records::ShowFeatureRequest;
use roadmap_domain::usecase::query::votes::ListVoters;
use roadmap_http::error::HttpError;
use tokio::sync::Semaphore;

use crate::admin::parts::{CsvFile, DisplayTime, Person, person};
use crate::admin::request_form::{path, reference};
use crate::admin::{Entry, frame};
use crate::context::Context;
use crate::page::{Nav, Page};
use crate::portal::parts::Pager;
use crate::portal::request_links::{Place, place};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// Maximum number of voters in a file.
const MAX_FILE: u64 = 100_000;

/// Files that are written at the same time: one takes some 30 MB.
static DOWNLOADS: Semaphore = Semaphore::const_new(2);

#[derive(Template)]
#[template(path = "admin/voters.html")]
struct VotersPage {
    page: Page,
    /// The path of the feature request.
    back: String,
    voters: Vec<VoterRow>,
    total: u64,
    /// Whether a file has all voters.
    fits_file: bool,
    pager: Option<Pager>,
}

struct VoterRow {
    person: Person,
    name: String,
    date: DisplayTime,
}

impl VoterRow {
    fn new(t: Text, voter: &Voter) -> Self {
        let name = voter.name.as_ref().map(|name| name.as_str().to_owned()).unwrap_or_default();
        let person = person(voter.id, voter.name.as_ref(), &voter.email);
        Self { person, name, date: DisplayTime::short_day(t, voter.voted_at) }
    }
}

/// `GET /admin/feature_requests/{slug}/voters`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let (t, request) = (context.text(), reference(&context));
    let detail = context.run(&ShowFeatureRequest { request }).await?;
    let back = path(&detail.summary.slug());
    if place(request, context.parameter("slug"), &detail) == Place::Merged {
        return Ok(Reply::found(format!("{back}/voters")));
    }
    let number = Some(context.query.get("page")).filter(|page| !page.is_empty());
    let page = Ok(PageRequest::parse(number, Some("100")).unwrap_or(full_page(1)));
    let voters = context.run(&ListVoters { request, page }).await?;
    let page = frame(&context, Entry::Inbox, t.named("team-voters-title", detail.summary.title.as_str())).await?;
    let path_of = |number: u64| format!("{back}/voters?page={number}");
    let template = VotersPage {
        pager: Pager::new(t, &voters, u64::MAX, path_of),
        voters: voters.items.iter().map(|voter| VoterRow::new(t, voter)).collect(),
        total: voters.total,
        fits_file: voters.total <= MAX_FILE,
        page,
        back,
    };
    Ok(Reply::page(&template).not_indexed())
}

/// `GET /admin/feature_requests/{slug}/voters.csv`: the latest [`MAX_FILE`] voters. If there are more, the last row says so.
pub(crate) async fn download(context: Rc<Context>) -> PageResult {
    let permit = DOWNLOADS.acquire().await.map_err(|_| HttpError::HandlerPanicked)?;
    // One read: pages by offset would read the first voters again for each page, and votes between them would move others.
    let page = Ok(PageRequest::first(MAX_FILE));
    let voters = context.run(&ListVoters { request: reference(&context), page }).await?;
    let mut file = CsvFile::new(&["name", "email", "voted_at"]);
    for voter in &voters.items {
        let name = voter.name.as_ref().map_or("", |name| name.as_str());
        file.row([name, voter.email.as_str(), &voter.voted_at.to_string()]);
    }
    if let Some(more) = voters.total.checked_sub(MAX_FILE).filter(|more| *more > 0) {
        file.row([context.text().count("team-csv-cut", more).as_str(), "", ""]);
    }
    drop(permit);
    Ok(file.into_reply("voters.csv"))
}

/// Returns a page of the largest size.
fn full_page(number: u64) -> PageRequest {
    PageRequest::parse(Some(&number.to_string()), Some("100")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page};
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::id::CustomerId;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::text::Name;
    use uuid::Uuid;

    #[test]
    fn the_page_is_well_formed() {
        let voter = |name: Option<&str>| Voter {
            id: CustomerId::new(Uuid::from_u128(1)),
            name: name.map(|name| Name::from_stored(name.to_owned())),
            email: EmailAddress::from_stored("bo@customer.example".to_owned()),
            voted_at: at(0),
        };
        for language in Language::ALL {
            for voters in [vec![voter(Some("Bo <b>")), voter(None)], Vec::new()] {
                let page = sample_page(language, true, "Voters");
                let t = page.t;
                let template = VotersPage {
                    page,
                    back: "/admin/feature_requests/7-x".to_owned(),
                    total: 100_001 * voters.len() as u64,
                    fits_file: voters.is_empty(),
                    voters: voters.iter().map(|voter| VoterRow::new(t, voter)).collect(),
                    pager: None,
                };
                assert_well_formed(&template.render().unwrap());
            }
        }
    }
}
