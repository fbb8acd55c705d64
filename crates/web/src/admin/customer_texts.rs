//! Everything that a customer has written: its list on the customer's page, its removal and the undoing of that; and
//! blocks of customers.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::pagination::parse_count;
use roadmap_domain::model::removal::{CustomerText, CustomerTexts, MAX_AT_ONCE, MovedTexts, TextCounts, TextState};
use roadmap_domain::usecase::block_customer::BlockCustomer;
use roadmap_domain::usecase::query::admin::ListCustomerTexts;
use roadmap_domain::usecase::query::people::ShowCustomer;
use roadmap_domain::usecase::remove_texts::MoveTexts;
use roadmap_http::error::HttpError;

use crate::actions::with_done;
use crate::admin::customers::{self, path_of};
use crate::admin::inbox::team_path;
use crate::admin::parts::{DisplayTime, Person};
use crate::admin::{self, Entry, missing_record_as_404, path_id};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::portal::parts::Pager;
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The texts of a customer, as the customer's page lists them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    /// The texts of the page, newest first.
    pub(crate) entries: Vec<TextEntry>,
    /// The number of all texts, also of removed ones.
    pub(crate) count: i64,
    /// Whether there are some to remove.
    pub(crate) is_removable: bool,
    /// What can be restored, in words.
    pub(crate) removed: Option<String>,
    /// Other pages.
    pub(crate) pager: Option<Pager>,
}

/// A text of a customer.
#[derive(Debug, Clone)]
pub(crate) struct TextEntry {
    /// The title of an idea, or that of what was commented on.
    pub(crate) title: String,
    /// The path of the feature request.
    pub(crate) path: String,
    /// Whether it is a comment.
    pub(crate) is_comment: bool,
    /// The key of what is special about it: that it waits, is private, or was removed.
    pub(crate) badge: Option<&'static str>,
    /// When it was written.
    pub(crate) at: DisplayTime,
    /// The content.
    pub(crate) html: String,
}

impl TextEntry {
    fn new(t: Text, text: &CustomerText) -> Self {
        let title = text.title.as_ref().unwrap_or(&text.request.title);
        Self {
            title: title.as_str().to_owned(),
            path: team_path(&text.request),
            is_comment: text.title.is_none(),
            badge: match text.state {
                TextState::Shown => None,
                TextState::Private => Some("badge-private"),
                TextState::Held => Some("badge-awaiting"),
                TextState::Removed(_) => Some("badge-removed"),
            },
            at: DisplayTime::minute(t, text.created_at),
            html: prose::html(&text.content),
        }
    }
}

impl Texts {
    /// Loads the page that the parameter `texts` names.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn load(context: &Context, customer: CustomerId) -> Result<Self, HttpError> {
        let number = parse_count("texts", Some(context.query.get("texts")), 1, CustomerTexts::MAX_PAGE).unwrap_or(1);
        let texts = context.run(&ListCustomerTexts { customer, page: number }).await?;
        Ok(Self::new(context.text(), customer, &texts))
    }

    pub(crate) fn new(t: Text, customer: CustomerId, texts: &CustomerTexts) -> Self {
        let TextCounts { requests, comments, removed, removed_at } = texts.counts;
        let path = |number: u64| format!("{}?texts={number}#texts", path_of(customer));
        Self {
            entries: texts.page.items.iter().map(|text| TextEntry::new(t, text)).collect(),
            count: texts.counts.total(),
            is_removable: requests + comments > 0,
            removed: removed_at.map(|_| t.count("customer-texts-removed", removed)),
            pager: Pager::new(t, &texts.page, CustomerTexts::MAX_PAGE, path),
        }
    }
}

/// The page that asks before the texts of a customer are removed.
#[derive(Template)]
#[template(path = "admin/texts-remove.html")]
struct RemovePage {
    page: Page,
    person: Person,
    /// What is removed, in words. Empty if there is nothing.
    effects: Vec<String>,
}

/// Returns what a removal does, in words.
fn effects(t: Text, counts: TextCounts) -> Vec<String> {
    let mut effects = Vec::new();
    if counts.comments > 0 {
        effects.push(t.count("customer-remove-comments", counts.comments));
    }
    if counts.requests > 0 {
        effects.push(t.count("customer-remove-ideas", counts.requests));
        effects.push(t.get("customer-remove-others").into_owned());
    }
    if effects.is_empty() {
        return effects;
    }
    if counts.requests.max(counts.comments) > i64::from(MAX_AT_ONCE) {
        effects.push(t.count("customer-remove-many", i64::from(MAX_AT_ONCE)));
    }
    effects.push(t.get("customer-remove-mail").into_owned());
    effects.push(t.get("customer-remove-undo").into_owned());
    effects
}

/// `GET /admin/customers/{id}/remove-texts`: asks.
pub(crate) async fn ask_remove(context: Rc<Context>) -> PageResult {
    let (t, id) = (context.text(), path_id(&context, CustomerId::new)?);
    let customer = context.run(&ShowCustomer { customer: Some(id) }).await?;
    let texts = context.run(&ListCustomerTexts { customer: id, page: 1 }).await?;
    let person = Person::from(&customer.customer);
    let page = admin::frame(&context, Entry::Customers, t.named("customer-remove-title", &person.label)).await?;
    let page = Page { here: format!("{}/remove-texts", path_of(id)), ..page };
    let template = RemovePage { page, person, effects: effects(t, texts.counts) };
    Ok(Reply::page_with(StatusCode::OK, &template).not_indexed())
}

/// Returns where a removal or its undoing leads.
fn landing(customer: CustomerId, moved: &MovedTexts, done: &str) -> String {
    match moved.count() {
        0 => with_done(&path_of(customer), "unchanged"),
        count => format!("{}&count={count}", with_done(&path_of(customer), done)),
    }
}

/// `POST /admin/customers/{id}/remove-texts`.
pub(crate) async fn remove(context: Rc<Context>, fields: Fields) -> PageResult {
    let customer = path_id(&context, CustomerId::new)?;
    let landing = move |moved: MovedTexts| landing(customer, &moved, "texts-removed");
    missing_record_as_404(run_once(&context, &fields, MoveTexts { customer, removes: true }, landing).await)
}

/// `POST /admin/customers/{id}/restore-texts`.
pub(crate) async fn restore(context: Rc<Context>, fields: Fields) -> PageResult {
    let customer = path_id(&context, CustomerId::new)?;
    let landing = move |moved: MovedTexts| landing(customer, &moved, "texts-restored");
    missing_record_as_404(run_once(&context, &fields, MoveTexts { customer, removes: false }, landing).await)
}

/// `POST /admin/customers/{id}/block`.
pub(crate) async fn block(context: Rc<Context>, fields: Fields) -> PageResult {
    set_blocked(&context, &fields, true).await
}

/// `POST /admin/customers/{id}/unblock`.
pub(crate) async fn unblock(context: Rc<Context>, fields: Fields) -> PageResult {
    set_blocked(&context, &fields, false).await
}

async fn set_blocked(context: &Context, fields: &Fields, is_blocked: bool) -> PageResult {
    let customer = path_id(context, CustomerId::new)?;
    let landing = move |_| {
        let done = if is_blocked { "customer-blocked" } else { "customer-unblocked" };
        with_done(&path_of(customer), done)
    };
    match run_once(context, fields, BlockCustomer { customer, is_blocked }, landing).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::IsMember))) => {
            let mut problems = Problems::default();
            problems.add("block", context.text().get("customer-block-member"));
            customers::render(context, customer, None, problems).await
        }
        done => missing_record_as_404(done),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page, sample_summary};
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::feature_request::{RequestLink, Title};
    use roadmap_domain::model::html::CleanHtml;
    use roadmap_domain::model::pagination::{Listing, PageRequest};
    use roadmap_domain::model::portal::Language;
    use uuid::Uuid;

    /// Returns texts in every state.
    pub(crate) fn sample_texts() -> CustomerTexts {
        let request = RequestLink::from(&sample_summary(3, "Night <colours>", Some("Done")));
        let text = |title: Option<&str>, state| CustomerText {
            request: request.clone(),
            title: title.map(|title| Title::from_stored(title.to_owned())),
            content: CleanHtml::parse("content", "<p>Buy <b>now</b></p>").unwrap(),
            state,
            created_at: at(1),
        };
        let states = [TextState::Shown, TextState::Private, TextState::Held, TextState::Removed(at(2))];
        let items = states.into_iter().flat_map(|state| [text(None, state), text(Some("Spam <i>"), state)]).collect();
        let counts = TextCounts { requests: 300, comments: 2, removed: 4, removed_at: Some(at(2)) };
        let request = PageRequest::parse(Some("2"), Some("20")).unwrap();
        CustomerTexts { page: Listing { items, request, total: 306 }, counts }
    }

    #[test]
    fn the_page_says_what_a_removal_does() {
        for language in Language::ALL {
            let t = Text::utc(language);
            let email = EmailAddress::from_stored("ann@example.com".to_owned());
            let person =
                Person { label: "Ann <b>".to_owned(), email: email.as_str().to_owned(), path: "/c".to_owned() };
            for (requests, comments, sentences) in [(0, 0, 0), (0, 2, 3), (1, 0, 4), (1, 2, 5), (201, 0, 5)] {
                let counts = TextCounts { requests, comments, ..TextCounts::default() };
                let (page, effects) = (sample_page(language, true, "Remove"), effects(t, counts));
                assert_eq!(effects.len(), sentences, "{requests} {comments}");
                let page = RemovePage { page, person: person.clone(), effects };
                let html = page.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.contains("name=\"operation_key\""), sentences > 0, "{html}");
            }
        }
    }

    #[test]
    fn texts_have_their_state_and_lead_to_the_feature_request() {
        let texts = Texts::new(Text::utc(Language::English), CustomerId::new(Uuid::from_u128(1)), &sample_texts());
        let badges: Vec<_> = texts.entries.iter().step_by(2).map(|entry| entry.badge).collect();
        assert_eq!(badges, [None, Some("badge-private"), Some("badge-awaiting"), Some("badge-removed")]);
        assert_eq!((texts.entries[0].title.as_str(), texts.entries[0].is_comment), ("Night <colours>", true));
        assert_eq!((texts.entries[1].title.as_str(), texts.entries[1].is_comment), ("Spam <i>", false));
        assert!(texts.entries.iter().all(|entry| entry.path.starts_with("/admin/feature_requests/3-")));
        assert_eq!((texts.count, texts.is_removable), (306, true));
        let next = texts.pager.unwrap().next.unwrap();
        assert_eq!(next, format!("/admin/customers/{}?texts=3#texts", Uuid::from_u128(1)));
    }

    #[test]
    fn a_removal_leads_back_with_its_number() {
        let customer = CustomerId::new(Uuid::from_u128(1));
        let path = path_of(customer);
        let moved = MovedTexts { comments: 3, requests: Vec::new() };
        assert_eq!(landing(customer, &moved, "texts-removed"), format!("{path}?done=texts-removed&count=3"));
        assert_eq!(landing(customer, &MovedTexts::default(), "x"), format!("{path}?done=unchanged"));
    }
}
