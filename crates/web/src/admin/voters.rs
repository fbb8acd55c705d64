//! The voters of a feature request, as a table and as a file.

use std::collections::HashMap;
use std::rc::Rc;

use askama::Template;
use roadmap_domain::model::company::company;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::vote::{VoteCounts, Voter};
use roadmap_domain::usecase::query::records::ShowFeatureRequest;
use roadmap_domain::usecase::query::votes::{CountVotes, ListVoterNotes, ListVoters};
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

/// Files that are written at the same time: one takes some 30 MB, and as much again with long notes.
static DOWNLOADS: Semaphore = Semaphore::const_new(2);

#[derive(Template)]
#[template(path = "admin/voters.html")]
struct VotersPage {
    page: Page,
    /// The path of the feature request.
    back: String,
    voters: Vec<VoterRow>,
    total: u64,
    counts: CountsInWords,
    /// Whether a file has all voters.
    fits_file: bool,
    pager: Option<Pager>,
}

struct VoterRow {
    person: Person,
    /// Whether the label of the person is a name.
    has_name: bool,
    /// The domain of the address, unless it is that of a provider.
    company: String,
    note: String,
    date: DisplayTime,
}

impl VoterRow {
    fn new(t: Text, voter: &Voter, note: Option<&String>) -> Self {
        Self {
            person: person(voter.id, voter.name.as_ref(), &voter.email),
            has_name: voter.name.is_some(),
            company: company(voter.email.folded()).unwrap_or_default().to_owned(),
            note: note.cloned().unwrap_or_default(),
            date: DisplayTime::short_day(t, voter.voted_at),
        }
    }
}

/// What is counted of the votes for a feature request.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountsInWords {
    /// From how many companies the votes are, if any is known.
    pub(crate) companies: Option<String>,
    /// How many votes without a name there are besides those of the voters, if any.
    pub(crate) nameless: Option<String>,
    /// The same where there are no voters.
    pub(crate) only_nameless: Option<String>,
    /// Their number.
    pub(crate) nameless_votes: i64,
}

impl CountsInWords {
    fn new(t: Text, counts: VoteCounts) -> Self {
        let VoteCounts { companies, nameless } = counts;
        Self {
            companies: (companies > 0).then(|| t.count("team-companies", companies)),
            nameless: (nameless > 0).then(|| t.count("team-nameless-votes", nameless)),
            only_nameless: (nameless > 0).then(|| t.count("team-only-nameless-votes", nameless)),
            nameless_votes: i64::try_from(nameless).unwrap_or(i64::MAX),
        }
    }

    /// Loads those of a feature request.
    pub(crate) async fn load(context: &Context, request: FeatureRequestId) -> Result<Self, HttpError> {
        Ok(Self::new(context.text(), context.run(&CountVotes { request }).await?))
    }
}

async fn notes(
    context: &Context,
    request: FeatureRequestId,
    voters: &[Voter],
) -> Result<HashMap<CustomerId, String>, HttpError> {
    let voters = voters.iter().map(|voter| voter.id).collect();
    context.run(&ListVoterNotes { request, voters }).await
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
    let notes = notes(&context, detail.summary.id, &voters.items).await?;
    let counts = CountsInWords::load(&context, detail.summary.id).await?;
    let page = frame(&context, Entry::Inbox, t.named("team-voters-title", detail.summary.title.as_str())).await?;
    let path_of = |number: u64| format!("{back}/voters?page={number}");
    let template = VotersPage {
        pager: Pager::new(t, &voters, u64::MAX, path_of),
        voters: voters.items.iter().map(|voter| VoterRow::new(t, voter, notes.get(&voter.id))).collect(),
        total: voters.total,
        counts,
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
    let detail = context.run(&ShowFeatureRequest { request: reference(&context) }).await?;
    let notes = notes(&context, detail.summary.id, &voters.items).await?;
    let mut file = CsvFile::new(&["name", "email", "voted_at", "domain", "note"]);
    for voter in &voters.items {
        let name = voter.name.as_ref().map_or("", |name| name.as_str());
        let domain = company(voter.email.folded()).unwrap_or_default();
        let note = notes.get(&voter.id).map_or("", String::as_str);
        file.row([name, voter.email.as_str(), &voter.voted_at.to_string(), domain, note]);
    }
    if let Some(more) = voters.total.checked_sub(MAX_FILE).filter(|more| *more > 0) {
        file.row([context.text().count("team-csv-cut", more).as_str(), "", "", "", ""]);
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
                    voters: voters.iter().map(|voter| VoterRow::new(t, voter, Some(&"<i>".to_owned()))).collect(),
                    counts: CountsInWords::new(t, VoteCounts { companies: 19, nameless: 7 }),
                    pager: None,
                };
                assert_well_formed(&template.render().unwrap());
            }
        }
    }
}
