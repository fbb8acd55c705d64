//! The data of a customer as a file, and the page that asks before a customer is erased.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::person::{ErasedRecords, ErasedVotes, ExportOptions, Mention, PersonRef};
use roadmap_domain::usecase::erase_customer::EraseCustomer;
use roadmap_domain::usecase::query::people::{ListMembers, ListMentions, PreviewErasure};
use roadmap_http::error::HttpError;

use crate::admin::customers::path_of;
use crate::admin::parts::Person;
use crate::admin::{Entry, frame, missing_record_as_404, path_id};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::person;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// Number of texts that the page lists.
const MAX_MENTIONS: usize = 50;

#[derive(Template)]
#[template(path = "admin/customer-erase.html")]
struct ErasePage {
    page: Page,
    person: Person,
    /// Whether the person is a member of the team, who cannot be erased.
    is_member: bool,
    counts: Counts,
    mentions: Vec<MentionEntry>,
    /// How many more texts there are, in words.
    more_mentions: Option<String>,
    is_fresh: bool,
    problems: Problems,
}

/// How much an erasure concerns.
struct Counts {
    votes: String,
    /// In words, as far as there are some.
    texts: String,
    /// In words, if there are some.
    notes: Option<String>,
}

impl Counts {
    fn new(t: Text, records: ErasedRecords) -> Self {
        let ErasedRecords { votes, feature_requests, comments, notes } = records;
        let number = |count: u64| t.number(i64::try_from(count).unwrap_or(i64::MAX));
        let in_words = |key: &str, count: u64| (count > 0).then(|| t.count(key, count));
        let texts = [in_words("requests-count", feature_requests), in_words("comments-count", comments)];
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        Self {
            votes: number(votes),
            texts: if texts.is_empty() { number(0) } else { texts.join(" · ") },
            notes: in_words("team-notes-count", notes),
        }
    }
}

/// A text that has the address or the name.
struct MentionEntry {
    /// The key of what it is.
    kind: &'static str,
    title: String,
    path: String,
}

impl From<&Mention> for MentionEntry {
    fn from(mention: &Mention) -> Self {
        let kind = match mention.kind.as_str() {
            "feature_request" => "record-request",
            "note" => "record-note",
            "changelog" => "record-changelog",
            _ => "record-comment",
        };
        let path = match &mention.request {
            Some(request) => format!("/admin/feature_requests/{}", request.slug()),
            None => format!("/admin/changelogs/{}", mention.id),
        };
        Self { kind, title: mention.title.clone(), path }
    }
}

/// `GET /admin/customers/{id}/export`.
pub(crate) async fn download(context: Rc<Context>) -> PageResult {
    let options = ExportOptions { with_notes: true, with_private_titles: true };
    person::file(&context, path_id(&context, CustomerId::new)?, options).await
}

/// `GET /admin/customers/{id}/erase`: says what goes and what stays.
pub(crate) async fn ask(context: Rc<Context>) -> PageResult {
    page(&context, Problems::default()).await
}

/// `POST /admin/customers/{id}/erase`.
pub(crate) async fn erase(context: Rc<Context>, fields: Fields) -> PageResult {
    let votes = ErasedVotes::ALL.into_iter().find(|votes| votes.name() == fields.get("votes")).unwrap_or_default();
    let erase = EraseCustomer {
        person: PersonRef::Id(path_id(&context, CustomerId::new)?),
        votes,
        texts: person::texts(&fields),
        references: context.state.http.references.clone(),
        repeats: None,
    };
    match run_once(&context, &fields, erase, |_| "/admin/customers?done=customer-erased".to_owned()).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::IsMember))) => {
            let mut problems = Problems::default();
            problems.add("erase", context.text().get("customer-block-member"));
            page(&context, problems).await
        }
        done => missing_record_as_404(done),
    }
}

async fn page(context: &Context, problems: Problems) -> PageResult {
    let (t, customer) = (context.text(), path_id(context, CustomerId::new)?);
    let (person, records) = context.run(&PreviewErasure { customer }).await?;
    let members = context.run(&ListMembers).await?;
    let is_member = members.iter().any(|member| member.email.folded() == person.email.folded());
    let mentions = context.run(&ListMentions { person: person.clone() }).await?;
    let title = t.named("customer-erase-title", &Person::from(&person).label);
    let page = frame(context, Entry::Customers, title).await?.with_problem(!problems.is_empty());
    let page = Page { here: format!("{}/erase", path_of(customer)), ..page };
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let is_fresh = context.has_fresh_sign_in();
    let template = ErasePage::new(page, (&person, records), &mentions, (is_member, is_fresh), problems);
    Ok(Reply::page_with(status, &template).not_indexed())
}

impl ErasePage {
    fn new(
        page: Page,
        (person, records): (&CustomerName, ErasedRecords),
        mentions: &[Mention],
        (is_member, is_fresh): (bool, bool),
        problems: Problems,
    ) -> Self {
        let more = mentions.len().saturating_sub(MAX_MENTIONS);
        Self {
            person: Person::from(person),
            is_member,
            counts: Counts::new(page.t, records),
            mentions: mentions.iter().take(MAX_MENTIONS).map(MentionEntry::from).collect(),
            more_mentions: (more > 0).then(|| page.t.count("customer-erase-more-mentions", more)),
            is_fresh,
            problems,
            page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::person::RequestOfRecord;
    use roadmap_domain::model::portal::Language;
    use uuid::Uuid;

    fn mention(kind: &str, of_request: bool) -> Mention {
        let request = RequestOfRecord {
            id: "1".to_owned(),
            tag_number: 7,
            title: "Dark <b>".to_owned(),
            is_private: false,
            is_own: false,
        };
        let request = of_request.then_some(request);
        Mention { kind: kind.to_owned(), id: "5".to_owned(), title: "Dark <b>".to_owned(), request }
    }

    #[test]
    fn the_page_is_well_formed_and_has_a_form_only_if_it_is_accepted() {
        let person = CustomerName {
            id: CustomerId::new(Uuid::from_u128(1)),
            name: None,
            email: EmailAddress::from_stored("ann@example.com".to_owned()),
        };
        let mut problems = Problems::default();
        problems.add("erase", "A sentence.");
        for language in Language::ALL {
            for (is_member, is_fresh) in [(false, true), (false, false), (true, true)] {
                for (mentions, problems) in [
                    (Vec::new(), Problems::default()),
                    (vec![mention("note", true); MAX_MENTIONS + 1], problems.clone()),
                ] {
                    let page = sample_page(language, true, "Erase Ann");
                    let about = (&person, ErasedRecords { votes: 2, ..ErasedRecords::default() });
                    let more = mentions.len() > MAX_MENTIONS;
                    let page = ErasePage::new(page, about, &mentions, (is_member, is_fresh), problems);
                    assert_eq!(page.more_mentions.is_some(), more);
                    let html = page.render().unwrap();
                    assert_well_formed(&html);
                    assert_eq!(html.contains("name=\"votes\""), !is_member && is_fresh, "{html}");
                }
            }
        }
    }

    #[test]
    fn only_what_is_there_is_counted_in_words() {
        let t = Text::utc(Language::English);
        let all = ErasedRecords { votes: 1_000, feature_requests: 2, comments: 1, notes: 3 };
        let counts = Counts::new(t, all);
        assert_eq!((counts.votes.as_str(), counts.texts.as_str()), ("1,000", "2 feature requests · 1 comment"));
        assert_eq!(counts.notes.as_deref(), Some("3 private notes"));
        let counts = Counts::new(t, ErasedRecords { comments: 2, ..ErasedRecords::default() });
        assert_eq!((counts.votes.as_str(), counts.texts.as_str(), counts.notes), ("0", "2 comments", None));
        assert_eq!(Counts::new(t, ErasedRecords::default()).texts, "0");
    }

    #[test]
    fn mentions_lead_to_the_pages_of_the_team() {
        for (kind, of_request, key, path) in [
            ("feature_request", true, "record-request", "/admin/feature_requests/7-dark-b"),
            ("comment", true, "record-comment", "/admin/feature_requests/7-dark-b"),
            ("note", true, "record-note", "/admin/feature_requests/7-dark-b"),
            ("changelog", false, "record-changelog", "/admin/changelogs/5"),
        ] {
            let entry = MentionEntry::from(&mention(kind, of_request));
            assert_eq!((entry.kind, entry.path.as_str(), entry.title.as_str()), (key, path, "Dark <b>"));
        }
    }
}
