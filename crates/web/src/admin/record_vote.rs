//! The form for a vote that a customer asked for by mail, chat or telephone: who, for what, and what was said.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Resource, RoadmapError};
use roadmap_domain::model::admin::{InboxList, InboxRow};
use roadmap_domain::model::customer::{Customer, CustomerDraft, CustomerQuery};
use roadmap_domain::model::feature_request::{Description, FeatureRequestRef, Title};
use roadmap_domain::model::id::{FeatureRequestId, parse_uuid};
use roadmap_domain::model::markdown;
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::model::vote::{VoteCast, VoteDraft};
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::query::admin::ListInbox;
use roadmap_domain::usecase::query::people::ListCustomers;
use roadmap_http::error::HttpError;

use crate::actions::multiline_text;
use crate::admin::request_form::{author, landing, refusal, show_unsaved_text};
use crate::admin::{Entry, frame};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::portal::parts::{Counted, excerpt};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the form.
const PATH: &str = "/admin/record-vote";

/// The value of the choice of a new feature request.
const NEW: &str = "new";

/// Number of feature requests that are offered.
const MAX_HITS: usize = 5;

/// Number of customers that are suggested.
const MAX_CUSTOMERS: &str = "8";

/// Maximum number of characters of the beginning of a description, of which one line is shown.
const EXCERPT: usize = 100;

/// The ID of the first radio button, to which problems of the choice lead.
const FIRST: &str = "request-1";

#[derive(Template)]
#[template(path = "admin/record-vote.html")]
struct RecordVotePage {
    page: Page,
    draft: Draft,
    /// What was found, once somebody has looked for it.
    hits: Option<Vec<Hit>>,
}

/// Customers as options of a list.
#[derive(Template)]
#[template(path = "admin/customer-options.html")]
struct CustomerOptions {
    /// The title of the document.
    title: String,
    /// Addresses with the names.
    customers: Vec<(String, String)>,
}

/// A feature request that may be what is asked for.
struct Hit {
    id: String,
    title: String,
    number: String,
    track: String,
    votes: Counted,
    is_private: bool,
    /// The beginning of the description. It may be empty.
    excerpt: String,
    is_chosen: bool,
}

/// The fields as they were typed.
#[derive(Debug, Clone, Default)]
struct Draft {
    email: String,
    words: String,
    /// The ID of a feature request, or [`NEW`].
    request: String,
    note: String,
    problems: Problems,
}

/// What a checked form asks for.
enum Wanted {
    Vote(Box<CastVote>),
    New(Box<CreateFeatureRequest>),
}

impl Draft {
    fn of_form(fields: &Fields) -> Self {
        Self {
            email: fields.get("email").to_owned(),
            words: fields.get("words").to_owned(),
            request: fields.get("request").to_owned(),
            note: multiline_text(fields, "note"),
            problems: Problems::default(),
        }
    }

    /// Validates all fields. `None` if there are problems.
    fn check(&mut self, context: &Context) -> Result<Option<Wanted>, HttpError> {
        let text = context.text();
        let customer = self.problems.check(CustomerDraft::parse(Some(&self.email), None), text);
        let note = match self.note.trim() {
            "" => None,
            _ => self.problems.check(markdown::to_html("note", &self.note), text),
        };
        let author = author(context)?;
        let note = note.map(|body| NoteDraft { body, author });
        if self.request == NEW {
            let title = self.problems.check(Title::parse("words", &self.words), text);
            let (Some(title), true) = (title, self.problems.is_empty()) else { return Ok(None) };
            let draft = FeatureRequestDraft {
                title,
                description: Description::parse("description", "")?,
                tags: Vec::new(),
                track: None,
                private: false,
                awaiting_approval: false,
                customer,
                note,
            };
            return Ok(Some(Wanted::New(Box::new(CreateFeatureRequest::new(draft)))));
        }
        let Ok(request) = parse_uuid("request", &self.request).map(FeatureRequestId::new) else {
            self.problems.add(FIRST, text.get("record-vote-choose"));
            return Ok(None);
        };
        if !self.problems.is_empty() {
            return Ok(None);
        }
        let request = FeatureRequestRef::Id(request);
        Ok(Some(Wanted::Vote(Box::new(CastVote { request, draft: VoteDraft::new(customer, note)? }))))
    }
}

/// `GET /admin/record-vote`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let draft = Draft { email: context.query.get("email").to_owned(), ..Draft::default() };
    page(&context, draft).await
}

/// `GET /admin/record-vote/customers?query=`: known customers as options.
pub(crate) async fn customers(context: Rc<Context>) -> PageResult {
    let query = context.query.get("query");
    let customers = match CustomerQuery::parse("query", Some(query)) {
        Ok(Some(query)) => {
            let page = PageRequest::parse(None, Some(MAX_CUSTOMERS)).unwrap_or_default();
            context.run(&ListCustomers { query: Some(query), page }).await?.items
        }
        _ => Vec::new(),
    };
    let option = |customer: &Customer| {
        let name = customer.customer.name.as_ref().map(|name| name.as_str().to_owned()).unwrap_or_default();
        (customer.customer.email.as_str().to_owned(), name)
    };
    let title = context.text().get("record-vote").into_owned();
    Ok(Reply::page(&CustomerOptions { title, customers: customers.iter().map(option).collect() }).not_indexed())
}

/// `POST /admin/record-vote`: looks for feature requests with the field `find`, else records the vote.
pub(crate) async fn save(context: Rc<Context>, fields: Fields) -> PageResult {
    let mut draft = Draft::of_form(&fields);
    if fields.has("find") {
        draft.problems.check(Title::parse("words", &draft.words), context.text());
        return page(&context, draft).await;
    }
    let recorded = match draft.check(&context)? {
        None => return page(&context, draft).await,
        Some(Wanted::Vote(vote)) => {
            let next = |cast: VoteCast| {
                let done = if cast.already_voted() { "vote-known" } else { "vote-added" };
                landing(&cast.request.slug(), "", done)
            };
            run_once(&context, &fields, *vote, next).await
        }
        Some(Wanted::New(create)) => {
            let next = |cast: VoteCast| landing(&cast.request.slug(), "", "request-created");
            run_once(&context, &fields, *create, next).await
        }
    };
    let error = match recorded {
        Ok(reply) => return Ok(reply),
        Err(error) => error,
    };
    let is_gone = matches!(error, HttpError::Domain(RoadmapError::NotFound(Resource::FeatureRequest)));
    let sentence = match is_gone {
        true => Some(context.text().get("record-vote-gone").into_owned()),
        false => refusal(context.text(), &error),
    };
    match sentence {
        Some(sentence) => {
            draft.problems.add(if is_gone { FIRST } else { "email" }, sentence);
            page(&context, draft).await
        }
        None => show_unsaved_text(&context, error, &draft.note),
    }
}

impl Hit {
    fn new(t: Text, row: &InboxRow, chosen: &str) -> Self {
        let id = row.summary.id.to_string();
        Self {
            is_chosen: id == chosen,
            id,
            title: row.summary.title.as_str().to_owned(),
            number: row.summary.tag_number.to_string(),
            track: row.summary.placement.track.as_str().to_owned(),
            votes: Counted::votes(t, row.summary.votes_count),
            is_private: row.private,
            excerpt: excerpt(&row.excerpt, EXCERPT),
        }
    }
}

/// Renders the form with what the words find: 422 if it has problems.
async fn page(context: &Context, draft: Draft) -> PageResult {
    let t = context.text();
    let words = Title::parse("words", &draft.words).and_then(|words| SearchQuery::parse("words", words.as_str()));
    let hits = match words {
        Ok(words) => {
            let list = ListInbox { query: Some(words), list: InboxList::default(), is_sorted: false };
            let rows = context.run(&list).await?.items;
            Some(rows.iter().take(MAX_HITS).map(|row| Hit::new(t, row, &draft.request)).collect())
        }
        Err(_) => None,
    };
    let page = frame(context, Entry::Inbox, t.get("record-vote")).await?;
    let has_problem = !draft.problems.is_empty();
    let page = Page { here: PATH.to_owned(), ..page.with_problem(has_problem) };
    let status = if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(Reply::page_with(status, &RecordVotePage { page, draft, hits }).not_indexed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::inbox::tests::sample_row;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use roadmap_domain::model::portal::Language;

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            let t = Text::utc(language);
            let hit = |number| Hit::new(t, &sample_row(number, true), "");
            for (hits, has_problem) in [(None, false), (Some(Vec::new()), true), (Some(vec![hit(1), hit(2)]), true)] {
                let mut draft = Draft { words: "\"<b>".to_owned(), note: "</textarea>".to_owned(), ..Draft::default() };
                if has_problem {
                    for field in ["email", "words", "note", FIRST] {
                        draft.problems.add(field, "A <problem>");
                    }
                }
                let page = sample_page(language, true, &t.get("record-vote")).with_problem(has_problem);
                let radios = hits.as_ref().map_or(0, |hits: &Vec<Hit>| hits.len() + 1);
                let html = RecordVotePage { page, draft, hits }.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.matches("type=\"radio\"").count(), radios, "{html}");
            }
        }
        let customers = vec![("a@b.example".to_owned(), "Ann <b>".to_owned())];
        let html = CustomerOptions { title: "Record".to_owned(), customers }.render().unwrap();
        assert!(html.contains("<option value=\"a@b.example\">Ann &#60;b&#62;</option>"), "{html}");
    }
}
