//! The form of a webhook: what was typed, what it shows, and the sentences about what is wrong.

use roadmap_domain::error::{FieldError, FieldProblem};
use roadmap_domain::model::destination::{Destination, DestinationRules};
use roadmap_domain::model::webhook::{Webhook, WebhookFormat, parse_events};
use roadmap_domain::model::webhook_event::EventKind;
use roadmap_domain::usecase::change_webhooks::parse_url;

use crate::form::{Fields, Problems};
use crate::text::Text;

/// What was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RawForm {
    pub(super) url: String,
    pub(super) description: String,
    pub(super) format: String,
    /// The names of the ticked kinds of events. None means all.
    pub(super) events: Vec<String>,
    pub(super) private: bool,
    pub(super) emails: bool,
}

impl RawForm {
    pub(super) fn new(fields: &Fields) -> Self {
        Self {
            url: fields.get("url").trim().to_owned(),
            description: fields.get("description").to_owned(),
            format: fields.get("format").to_owned(),
            events: fields.all("events").map(ToOwned::to_owned).collect(),
            private: fields.has("include_private"),
            emails: fields.has("include_emails"),
        }
    }

    /// Returns what the form shows at first for a webhook with this URL.
    pub(super) fn of(webhook: &Webhook, url: String) -> Self {
        let names = webhook.events.iter().flatten().map(|kind| kind.name().to_owned());
        Self {
            url,
            description: webhook.description.clone(),
            format: webhook.format.name().to_owned(),
            events: names.collect(),
            private: webhook.includes.private,
            emails: webhook.includes.emails,
        }
    }

    /// Returns the names of the ticked kinds of events, or `None` for all.
    pub(super) fn ticked(&self) -> Option<Vec<String>> {
        (!self.events.is_empty()).then(|| self.events.clone())
    }

    /// Validates the kinds of events. The inner `None` means all.
    pub(super) fn check_events(
        &self,
        problems: &mut Problems,
        t: Text,
        format: WebhookFormat,
    ) -> Option<Option<Vec<EventKind>>> {
        let events = self.ticked().map(|names| parse_events(&names, format)).transpose();
        events.map_err(|_| problems.add("events", t.get("webhook-events-problem"))).ok()
    }
}

/// The fields that creating and changing a webhook share.
pub(super) struct WebhookForm {
    pub(super) url: String,
    pub(super) description: String,
    pub(super) events: Vec<EventChoice>,
    pub(super) private: bool,
    pub(super) emails: bool,
}

/// A kind of events that can be ticked.
pub(super) struct EventChoice {
    /// The ID of the field. That of the first one is the name of the problem.
    pub(super) id: String,
    pub(super) name: &'static str,
    /// The key of what it means.
    pub(super) hint: &'static str,
    pub(super) is_ticked: bool,
}

impl WebhookForm {
    /// Creates the form of a webhook with this format, or of a new one.
    pub(super) fn new(raw: &RawForm, format: Option<WebhookFormat>) -> Self {
        let kinds = EventKind::ALL.into_iter().filter_map(|kind| Some((kind, hint(kind)?)));
        let kinds = kinds.filter(|(kind, _)| format.is_none_or(|format| format.has(*kind)));
        let choice = |(number, (kind, hint)): (usize, (EventKind, &'static str))| EventChoice {
            id: if number == 0 { "events".to_owned() } else { format!("events-{number}") },
            name: kind.name(),
            hint,
            is_ticked: raw.events.iter().any(|name| name == kind.name()),
        };
        Self {
            url: raw.url.clone(),
            description: raw.description.clone(),
            events: kinds.enumerate().map(choice).collect(),
            private: raw.private,
            emails: raw.emails,
        }
    }
}

/// Returns the key of what a kind of events means. Nobody chooses test events.
fn hint(kind: EventKind) -> Option<&'static str> {
    Some(match kind {
        EventKind::FeatureRequestCreated => "webhook-event-request-created",
        EventKind::FeatureRequestUpdated => "webhook-event-request-updated",
        EventKind::FeatureRequestMoved => "webhook-event-request-moved",
        EventKind::FeatureRequestMerged => "webhook-event-request-merged",
        EventKind::FeatureRequestUnmerged => "webhook-event-request-unmerged",
        EventKind::FeatureRequestDeleted => "webhook-event-request-deleted",
        EventKind::VoteCreated => "webhook-event-vote-created",
        EventKind::VoteRemoved => "webhook-event-vote-removed",
        EventKind::CommentCreated => "webhook-event-comment-created",
        EventKind::CommentUpdated => "webhook-event-comment-updated",
        EventKind::CommentDeleted => "webhook-event-comment-deleted",
        EventKind::ReferenceNoteCreated => "webhook-event-note-created",
        EventKind::ChangelogPublished => "webhook-event-changelog-published",
        EventKind::ChangelogUnpublished => "webhook-event-changelog-unpublished",
        EventKind::WebhookTest => return None,
    })
}

/// Validates a URL.
pub(super) fn check_url(problems: &mut Problems, t: Text, raw: &str, rules: &DestinationRules) -> Option<Destination> {
    parse_url(Some(raw), rules).map_err(|error| problems.add("url", url_problem(t, error))).ok()
}

/// Returns the sentence about a URL that may not be used.
fn url_problem(t: Text, error: FieldError) -> String {
    let known = match error.problem {
        FieldProblem::Custom { message } => URL_PROBLEMS.iter().find(|(of, _)| *of == message),
        _ => None,
    };
    // The field `url` of other forms has another label.
    let labelled = || t.problem(&FieldError::new("webhook-url", error.problem.clone()));
    known.map_or_else(labelled, |(_, key)| t.get(key).into_owned())
}

/// What can be wrong with a URL, with the keys of the sentences.
const URL_PROBLEMS: [(&str, &str); 3] = [
    ("url must be an absolute https URL", "webhook-url-https"),
    ("url must not lead to a local or reserved address", "webhook-url-local"),
    ("url must use port 80, 443 or one above 1023", "webhook-url-port"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::webhooks::tests::webhook;
    use roadmap_domain::model::base_url::BaseUrl;
    use roadmap_domain::model::destination::OutboundNetworks;
    use roadmap_domain::model::portal::Language;

    #[test]
    fn what_is_wrong_with_a_url_is_said_in_words() {
        let base_url = BaseUrl::parse("base_url", "https://roadmap.example.com").unwrap();
        let rules = DestinationRules::new(&base_url, OutboundNetworks::default());
        for language in Language::ALL {
            let t = Text::utc(language);
            for (raw, key) in [
                ("http://hooks.example.org/", "webhook-url-https"),
                ("https://127.0.0.1/", "webhook-url-local"),
                ("https://roadmap.example.com/", "webhook-url-local"),
                ("https://hooks.example.org:25/", "webhook-url-port"),
            ] {
                let mut problems = Problems::default();
                assert!(check_url(&mut problems, t, raw, &rules).is_none());
                assert_eq!(problems.of("url"), Some(&*t.get(key)), "{raw}");
            }
        }
        let t = Text::utc(Language::English);
        let long = format!("https://hooks.example.org/{}", "x".repeat(Destination::MAX));
        for (raw, sentence) in [
            (" ", "URL is missing. Please fill it in."),
            (long.as_str(), "URL is too long. It can have 2,048 characters at most."),
        ] {
            let mut problems = Problems::default();
            assert!(check_url(&mut problems, t, raw, &rules).is_none());
            assert_eq!(problems.of("url"), Some(sentence));
        }
        assert!(check_url(&mut Problems::default(), t, "https://hooks.example.org/", &rules).is_some());
    }

    #[test]
    fn a_form_offers_the_events_of_the_format() {
        let raw = RawForm::of(&webhook(WebhookFormat::Slack), String::new());
        for (format, count) in [(None, 14), (Some(WebhookFormat::Standard), 14), (Some(WebhookFormat::Slack), 4)] {
            let form = WebhookForm::new(&raw, format);
            assert_eq!(form.events.len(), count);
            let ticked: Vec<_> = form.events.iter().filter(|event| event.is_ticked).map(|event| event.name).collect();
            assert_eq!((ticked, form.events[0].id.as_str()), (vec!["comment.created"], "events"));
        }
    }

    #[test]
    fn no_tick_means_all_events() {
        let t = Text::utc(Language::English);
        let check = |events: &[&str], format| {
            let events = events.iter().map(|name| (*name).to_owned()).collect();
            let (form, mut problems) = (RawForm { events, ..RawForm::default() }, Problems::default());
            (form.check_events(&mut problems, t, format), problems.of("events").is_some())
        };
        assert_eq!(check(&[], WebhookFormat::Slack), (Some(None), false));
        let vote = Some(Some(vec![EventKind::VoteCreated]));
        assert_eq!(check(&["vote.created"], WebhookFormat::Standard), (vote, false));
        assert_eq!(check(&["vote.created"], WebhookFormat::Slack), (None, true));
        assert_eq!(check(&["vote"], WebhookFormat::Standard), (None, true));
    }
}
