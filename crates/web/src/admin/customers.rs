//! The customers, one customer with everything known, and merging two who are one person.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{RoadmapError, Validated};
use roadmap_domain::model::admin::{CustomerRecords, CustomersMerged};
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::customer::{Customer, CustomerQuery};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, RequestLink};
use roadmap_domain::model::id::{CustomerId, parse_uuid};
use roadmap_domain::model::note::Note;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::person::is_erased;
use roadmap_domain::model::text::Name;
use roadmap_domain::usecase::merge_customers::MergeCustomers;
use roadmap_domain::usecase::query::admin::ShowCustomerRecords;
use roadmap_domain::usecase::query::people::{ListCustomers, ShowCustomer};
use roadmap_domain::usecase::rename_customer::{CustomerRenamed, RenameCustomer};
use roadmap_http::error::HttpError;

use crate::admin::customer_texts::Texts;
use crate::admin::parts::{DisplayTime, Person};
use crate::admin::{self, Entry, missing_record_as_404, path_id};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::portal::parts::{Counted, Pager};
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the list.
const PATH: &str = "/admin/customers";
/// Number of customers on a page of the list, and of those that are offered for a merge.
const PER_PAGE: &str = "50";
const OFFERED: &str = "20";
/// The last page of the list.
const MAX_PAGE: u64 = 2_000;

#[derive(Template)]
#[template(path = "admin/customers.html")]
struct ListPage {
    page: Page,
    query: String,
    /// Whether only blocked customers are listed.
    only_blocked: bool,
    count: String,
    customers: Vec<CustomerRow>,
    /// The path of the first page, on one after the last.
    first_page: Option<String>,
    pager: Option<Pager>,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "admin/customer.html")]
struct CustomerPage {
    page: Page,
    customer: CustomerRow,
    /// The name as typed or stored.
    name: String,
    votes: Vec<RequestEntry>,
    requests: Vec<RequestEntry>,
    texts: Texts,
    comments: Vec<Written>,
    notes: Vec<Written>,
    subscriptions: Vec<RequestEntry>,
    /// When all mail was stopped.
    stopped: Option<DisplayTime>,
    problems: Problems,
}

/// The page on which the other customer is looked for.
#[derive(Template)]
#[template(path = "admin/customer-merge.html")]
struct FindPage {
    page: Page,
    customer: CustomerRow,
    query: String,
    /// What was found, if something was looked for.
    matches: Option<Vec<CustomerRow>>,
    problems: Problems,
}

/// The page that asks before two customers become one.
#[derive(Template)]
#[template(path = "admin/customer-unite.html")]
struct UnitePage {
    page: Page,
    customer: CustomerRow,
    other: CustomerRow,
    /// The ID of the one who is kept.
    keep: String,
    is_fresh: bool,
    problems: Problems,
}

/// A customer in a list.
#[derive(Debug, Clone)]
struct CustomerRow {
    id: String,
    person: Person,
    votes: Counted,
    votes_count: i64,
    since: DisplayTime,
    /// Since when the customer is blocked.
    blocked: Option<DisplayTime>,
    /// Whether it is what is left of somebody who was erased.
    is_erased: bool,
}

impl CustomerRow {
    fn in_table(t: Text, customer: &Customer) -> Self {
        Self { since: DisplayTime::short_day(t, customer.created_at), ..Self::new(t, customer) }
    }

    fn new(t: Text, customer: &Customer) -> Self {
        Self {
            id: customer.customer.id.to_string(),
            person: Person::from(&customer.customer),
            votes: Counted::votes(t, customer.votes_count),
            votes_count: customer.votes_count,
            since: DisplayTime::day(t, customer.created_at),
            blocked: customer.blocked_at.map(|at| DisplayTime::day(t, at)),
            is_erased: is_erased(customer.customer.email.folded()),
        }
    }
}

/// A feature request in a list.
#[derive(Debug, Clone)]
struct RequestEntry {
    title: String,
    path: String,
    /// The track and the votes, where they are known.
    facts: Option<(String, Counted)>,
}

impl RequestEntry {
    fn new(t: Text, request: &FeatureRequestSummary) -> Self {
        let facts = (request.placement.track.as_str().to_owned(), Counted::votes(t, request.votes_count));
        Self { facts: Some(facts), ..Self::of_link(&RequestLink::from(request)) }
    }

    fn of_link(request: &RequestLink) -> Self {
        Self {
            title: request.title.as_str().to_owned(),
            path: format!("/admin/feature_requests/{}", request.slug()),
            facts: None,
        }
    }
}

/// A comment or a note, on a feature request.
#[derive(Debug, Clone)]
struct Written {
    on: RequestEntry,
    /// The member who wrote it, of a note.
    author: Option<String>,
    at: DisplayTime,
    html: String,
}

impl Written {
    fn comment(t: Text, (request, listed): &(RequestLink, ListedComment)) -> Self {
        let at = DisplayTime::minute(t, listed.comment.created_at);
        let html = prose::html(&listed.comment.content);
        Self { on: RequestEntry::of_link(request), author: None, at, html }
    }

    fn note(t: Text, (request, note): &(RequestLink, Note)) -> Self {
        Self {
            on: RequestEntry::of_link(request),
            author: note.author.as_ref().map(|(name, _)| name.as_str().to_owned()),
            at: DisplayTime::minute(t, note.created_at),
            html: prose::html(&note.body),
        }
    }
}

/// Returns the path of a customer's page.
pub(crate) fn path_of(customer: CustomerId) -> String {
    format!("{PATH}/{customer}")
}

/// `GET /admin/customers`.
pub(crate) async fn list(context: Rc<Context>) -> PageResult {
    let (t, raw_query) = (context.text(), context.query.get("query"));
    let only_blocked = !context.query.get("blocked").is_empty();
    let request = PageRequest::parse(Some(context.query.get("page")), Some(PER_PAGE));
    let request = request.or_else(|_| PageRequest::parse(None, Some(PER_PAGE))).unwrap_or_default();
    let mut problems = Problems::default();
    let listing = match CustomerQuery::parse("customer_query", Some(raw_query)) {
        Ok(query) if request.page() <= MAX_PAGE => {
            let query = if only_blocked { Some(CustomerQuery::blocked_among(query)) } else { query };
            context.run(&ListCustomers { query, page: request }).await?
        }
        Ok(_) => Listing { items: Vec::new(), request, total: 0 },
        Err(error) => {
            problems.add("query", t.problem(&error));
            Listing { items: Vec::new(), request, total: 0 }
        }
    };
    let path = |number: u64| {
        let number = if number > 1 { number.to_string() } else { String::new() };
        let blocked = if only_blocked { "1" } else { "" };
        let parameters = [("query", raw_query), ("blocked", blocked), ("page", &number)];
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(parameters.into_iter().filter(|(_, value)| !value.is_empty()));
        let query = query.finish();
        if query.is_empty() { PATH.to_owned() } else { format!("{PATH}?{query}") }
    };
    let is_past_end = listing.request.page() > 1 && listing.items.is_empty() && problems.is_empty();
    let page = admin::frame(&context, Entry::Customers, t.get("admin-customers")).await?;
    let status = status(&problems);
    let template = ListPage {
        page: page.with_problem(!problems.is_empty()),
        query: raw_query.to_owned(),
        only_blocked,
        count: t.count("customers-count", listing.total),
        customers: listing.items.iter().map(|customer| CustomerRow::in_table(t, customer)).collect(),
        first_page: is_past_end.then(|| path(1)),
        pager: Pager::new(t, &listing, MAX_PAGE, path),
        problems,
    };
    Ok(Reply::page_with(status, &template))
}

/// `GET /admin/customers/{id}`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render(&context, path_id(&context, CustomerId::new)?, None, Problems::default()).await
}

/// `POST /admin/customers/{id}`: saves the name.
pub(crate) async fn rename(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, customer) = (context.text(), path_id(&context, CustomerId::new)?);
    let (raw_name, mut problems) = (fields.get("name"), Problems::default());
    let Some(name) = problems.check(Name::parse("name", raw_name), t) else {
        return render(&context, customer, Some(raw_name), problems).await;
    };
    let landing = move |done: CustomerRenamed| {
        let done = if done.has_changed { "customer-saved" } else { "unchanged" };
        format!("{}?done={done}", path_of(customer))
    };
    missing_record_as_404(run_once(&context, &fields, RenameCustomer { customer, name }, landing).await)
}

/// Shows the page of a customer, with what was typed as the name.
///
/// # Errors
/// 404 if there is no such customer.
pub(crate) async fn render(
    context: &Context,
    id: CustomerId,
    raw_name: Option<&str>,
    problems: Problems,
) -> PageResult {
    let t = context.text();
    let (customer, records) = context.run(&ShowCustomerRecords { customer: id }).await?;
    let texts = Texts::load(context, id).await?;
    let row = CustomerRow::new(t, &customer);
    let page = admin::frame(context, Entry::Customers, row.person.label.clone()).await?;
    let stored = customer.customer.name.as_ref().map(Name::as_str).unwrap_or_default();
    let page = Page { here: path_of(id), ..page.with_problem(!problems.is_empty()) };
    let status = status(&problems);
    let template = CustomerPage::new(page, row, raw_name.unwrap_or(stored).to_owned(), &records, texts, problems);
    Ok(Reply::page_with(status, &template))
}

impl CustomerPage {
    fn new(
        page: Page,
        customer: CustomerRow,
        name: String,
        records: &CustomerRecords,
        texts: Texts,
        problems: Problems,
    ) -> Self {
        let t = page.t;
        Self {
            customer,
            name,
            votes: records.votes.iter().map(|request| RequestEntry::new(t, request)).collect(),
            requests: records.requests.iter().map(|request| RequestEntry::new(t, request)).collect(),
            texts,
            comments: records.comments.iter().map(|comment| Written::comment(t, comment)).collect(),
            notes: records.notes.iter().map(|note| Written::note(t, note)).collect(),
            subscriptions: records.subscriptions.iter().map(RequestEntry::of_link).collect(),
            stopped: records.unsubscribed_at.map(|at| DisplayTime::day(t, at)),
            problems,
            page,
        }
    }

    /// Returns the sentence about a list that may be cut.
    fn cut(&self, rows: usize) -> Option<String> {
        let max = usize::try_from(CustomerRecords::MAX).unwrap_or(usize::MAX);
        (rows >= max).then(|| self.page.t.count("customer-latest", i64::from(CustomerRecords::MAX)))
    }
}

/// `GET /admin/customers/{id}/merge`: looks for another customer, or asks whether to merge with the one of `with`.
pub(crate) async fn ask_merge(context: Rc<Context>) -> PageResult {
    let id = path_id(&context, CustomerId::new)?;
    match context.query.get("with") {
        "" => show_search(&context, id, Problems::default()).await,
        with => unite(&context, id, with, &id.to_string(), Problems::default()).await,
    }
}

/// `POST /admin/customers/{id}/merge`.
pub(crate) async fn merge(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, id) = (context.text(), path_id(&context, CustomerId::new)?);
    let (with, keep) = (fields.get("with"), fields.get("keep"));
    let customer = |raw: &str| parse_uuid("with", raw).map(CustomerId::new);
    let target: Validated<CustomerId> = customer(keep);
    let (source, target) = match (customer(with), target) {
        (Ok(other), Ok(target)) if other != id && target == id => (other, id),
        (Ok(other), Ok(target)) if other != id && target == other => (id, other),
        _ => {
            let mut problems = Problems::default();
            problems.add("keep-this", t.get("customer-keep-missing"));
            return unite(&context, id, with, keep, problems).await;
        }
    };
    let landing = |merged: CustomersMerged| format!("{}?done=customers-merged", path_of(merged.customer.customer.id));
    match run_once(&context, &fields, MergeCustomers { source, target }, landing).await {
        Err(HttpError::Domain(RoadmapError::NotFound(_))) => {
            let mut problems = Problems::default();
            problems.add("query", t.get("customer-gone"));
            show_search(&context, id, problems).await
        }
        done => done,
    }
}

/// Shows the page on which the other customer is looked for.
async fn show_search(context: &Context, id: CustomerId, mut problems: Problems) -> PageResult {
    let (t, raw_query) = (context.text(), context.query.get("query"));
    let customer = context.run(&ShowCustomer { customer: Some(id) }).await?;
    let matches = match CustomerQuery::parse("customer_query", Some(raw_query)) {
        Ok(Some(query)) => {
            let page = PageRequest::parse(None, Some(OFFERED)).unwrap_or_default();
            Some(context.run(&ListCustomers { query: Some(query), page }).await?)
        }
        Ok(None) => None,
        Err(error) => {
            problems.add("query", t.problem(&error));
            None
        }
    };
    let page = admin::frame(context, Entry::Customers, t.get("customer-merge-title")).await?;
    let others = |matches: Listing<Customer>| {
        let others = matches.items.into_iter().filter(|other| other.customer.id != id);
        others.map(|other| CustomerRow::new(t, &other)).collect()
    };
    let status = status(&problems);
    let template = FindPage {
        page: Page { here: format!("{}/merge", path_of(id)), ..page.with_problem(!problems.is_empty()) },
        customer: CustomerRow::new(t, &customer),
        query: raw_query.to_owned(),
        matches: matches.map(others),
        problems,
    };
    Ok(Reply::page_with(status, &template))
}

/// Shows the page that asks before the merge.
async fn unite(context: &Context, id: CustomerId, with: &str, keep: &str, mut problems: Problems) -> PageResult {
    let t = context.text();
    let other = parse_uuid("with", with).ok().map(CustomerId::new).filter(|other| *other != id);
    let other = match context.run(&ShowCustomer { customer: other }).await {
        Ok(other) => other,
        Err(HttpError::NotFound) => {
            problems = Problems::default();
            problems.add("query", t.get("customer-gone"));
            return show_search(context, id, problems).await;
        }
        Err(error) => return Err(error),
    };
    let customer = context.run(&ShowCustomer { customer: Some(id) }).await?;
    let page = admin::frame(context, Entry::Customers, t.get("customer-merge-title")).await?;
    let here = format!("{}/merge?with={}", path_of(id), other.customer.id);
    let status = status(&problems);
    let template = UnitePage {
        page: Page { here, ..page.with_problem(!problems.is_empty()) },
        customer: CustomerRow::new(t, &customer),
        other: CustomerRow::new(t, &other),
        keep: keep.to_owned(),
        is_fresh: context.has_fresh_sign_in(),
        problems,
    };
    Ok(Reply::page_with(status, &template))
}

fn status(problems: &Problems) -> StatusCode {
    if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::customer_texts::tests::sample_texts;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page, sample_summary};
    use roadmap_domain::model::comment::{Comment, PublicAuthor};
    use roadmap_domain::model::customer::CustomerName;
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::html::CleanHtml;
    use roadmap_domain::model::id::{CommentId, NoteId};
    use roadmap_domain::model::portal::Language;
    use uuid::Uuid;

    fn customer(number: u128, name: Option<&str>) -> Customer {
        Customer {
            customer: CustomerName {
                id: CustomerId::new(Uuid::from_u128(number)),
                name: name.map(|name| Name::from_stored(name.to_owned())),
                email: EmailAddress::from_stored(format!("c{number}@example.com")),
            },
            votes_count: 2,
            created_at: at(1),
            blocked_at: name.map(|_| at(2)),
        }
    }

    fn problem() -> Problems {
        let mut problems = Problems::default();
        for field in ["query", "name", "keep-this", "block"] {
            problems.add(field, "A sentence.");
        }
        problems
    }

    fn records() -> CustomerRecords {
        let html = |text: &str| CleanHtml::parse("content", text).unwrap();
        let summary = sample_summary(3, "Night <colours> & \"themes\"", Some("Done"));
        let link = RequestLink::from(&summary);
        let comment =
            Comment { id: CommentId::new(Uuid::from_u128(1)), content: html("<p>Yes</p>"), created_at: at(0) };
        let author = PublicAuthor::Customer(None);
        let listed = ListedComment { comment, author, from: None, updated_at: at(0) };
        let email = EmailAddress::from_stored("olga@acme.example".to_owned());
        let note = Note {
            id: NoteId::new(Uuid::from_u128(1)),
            body: html("<h2>Calls</h2><p>often</p>"),
            author: Some((Name::from_stored("Olga".to_owned()), email)),
            customer: None,
            created_at: at(2),
        };
        CustomerRecords {
            votes: vec![summary.clone(); 50],
            requests: vec![summary],
            comments: vec![(link.clone(), listed)],
            notes: vec![(link.clone(), note)],
            subscriptions: vec![link],
            unsubscribed_at: None,
        }
    }

    #[test]
    fn all_pages_are_well_formed() {
        for language in Language::ALL {
            let t = Text::utc(language);
            let page = || sample_page(language, true, "Customers");
            let rows = || [customer(1, Some("Ann <b>")), customer(2, None)].map(|row| CustomerRow::new(t, &row));
            let [ann, other] = rows();
            for problems in [Problems::default(), problem()] {
                for (customers, first_page) in
                    [(rows().to_vec(), None), (Vec::new(), None), (Vec::new(), Some("/admin/customers?query=a%22b"))]
                {
                    let (query, count) = ("a\"b".to_owned(), t.count("customers-count", 2));
                    let (first_page, problems) = (first_page.map(str::to_owned), problems.clone());
                    let only_blocked = first_page.is_some();
                    let list = ListPage {
                        page: page(),
                        query,
                        only_blocked,
                        count,
                        customers,
                        first_page,
                        pager: None,
                        problems,
                    };
                    assert_well_formed(&list.render().unwrap());
                }
                for matches in [None, Some(Vec::new()), Some(rows().to_vec())] {
                    let (customer, query, problems) = (ann.clone(), "a".to_owned(), problems.clone());
                    let find = FindPage { page: page(), customer, query, matches, problems };
                    assert_well_formed(&find.render().unwrap());
                }
                for is_fresh in [true, false] {
                    let (customer, other, keep) = (ann.clone(), other.clone(), ann.id.clone());
                    let problems = problems.clone();
                    let unite = UnitePage { page: page(), customer, other, keep, is_fresh, problems };
                    assert_well_formed(&unite.render().unwrap());
                }
                let stopped = CustomerRecords { unsubscribed_at: Some(at(3)), ..CustomerRecords::default() };
                for records in [records(), stopped] {
                    let id = CustomerId::new(Uuid::from_u128(1));
                    for texts in [Texts::default(), Texts::new(t, id, &sample_texts())] {
                        for row in rows() {
                            let name = "Ann".to_owned();
                            let template =
                                CustomerPage::new(page(), row, name, &records, texts.clone(), problems.clone());
                            assert_well_formed(&template.render().unwrap());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_list_says_when_it_may_be_cut() {
        let row = CustomerRow::new(Text::utc(Language::English), &customer(1, None));
        let page = sample_page(Language::English, true, "Ann");
        let template = CustomerPage::new(page, row, String::new(), &records(), Texts::default(), Problems::default());
        assert_eq!(template.cut(50).as_deref(), Some("These are the latest 50."));
        assert_eq!(template.cut(49), None);
    }
}
