//! Unit tests of the operations on webhooks.

use super::*;
use crate::model::base_url::BaseUrl;
use crate::model::destination::OutboundNetworks;
use crate::model::setting::Setting;
use crate::policy::signed_reference::Secret;
use crate::ports::Random;
use crate::ports::mocks::MockUnit;
use crate::usecase::fixtures::{now, perform, webhook, workspace};
use std::sync::Mutex;
use uuid::Uuid;

struct Zeros;

impl Random for Zeros {
    fn base62(&self, characters: usize) -> String {
        "0".repeat(characters)
    }
}

fn sealer() -> Arc<Sealer> {
    Arc::new(Sealer::new(&Secret::parse("secret", "8f0c2b64e19d7a35f1e40b9c6d2a8375").unwrap(), &[], Arc::new(Zeros)))
}

fn rules() -> DestinationRules {
    let base_url = BaseUrl::parse("base_url", "https://roadmap.example.com").unwrap();
    DestinationRules::new(&base_url, OutboundNetworks::default())
}

type Saved = Arc<Mutex<Vec<Webhook>>>;

/// A unit with these webhooks that remembers what is saved.
fn unit(webhooks: Vec<Webhook>) -> (MockUnit, Saved) {
    let (mut unit, saved) = (MockUnit::new(), Saved::default());
    unit.expect_load_webhooks().returning(move || Ok(webhooks.clone()));
    let saving = saved.clone();
    unit.expect_save_webhook().returning(move |webhook| {
        saving.lock().unwrap().push(webhook.clone());
        Ok(())
    });
    (unit, saved)
}

fn draft(url: &str, format: &str, change: WebhookChange) -> WebhookDraft {
    WebhookDraft::parse(Some(url), Some(format), change, &rules()).unwrap()
}

fn create(url: &str, format: &str) -> CreateWebhook {
    CreateWebhook { draft: draft(url, format, WebhookChange::default()), sealer: sealer() }
}

fn update(change: WebhookChange) -> UpdateWebhook {
    let webhook = webhook(WebhookFormat::Standard).id;
    UpdateWebhook { webhook, url: None, format: None, change, sealer: sealer() }
}

fn slack() -> Webhook {
    webhook(WebhookFormat::Slack)
}

/// A stored webhook whose URL opens.
fn stored(url: &str, format: WebhookFormat) -> Webhook {
    let webhook = webhook(format);
    let sealed_url = sealer().seal(url_place(workspace(), webhook.id), &SecretText::new(url.to_owned()));
    Webhook { sealed_url, ..webhook }
}

#[test]
fn a_webhook_is_created_with_a_secret_and_sealed() {
    let (mut work, saved) = unit(Vec::new());
    let created = perform(&create("https://example.com/hook", "standard"), &mut work).unwrap();
    let secret = created.output.secret.unwrap();
    assert!(secret.as_str().starts_with("whsec_"), "{}", secret.as_str());
    let webhook = saved.lock().unwrap().remove(0);
    assert_eq!(shown_url(&sealer(), workspace(), &webhook), "https://example.com/hook");
    assert_eq!(open_secrets(&sealer(), workspace(), &webhook, now()), std::slice::from_ref(&secret));
    assert!(webhook.enabled && webhook.events.is_none() && webhook.includes == Inclusion::default());
    let recorded = format!("{:?}", created.audit);
    assert!(!recorded.contains("example.com") && !recorded.contains(secret.as_str()), "{recorded}");
}

#[test]
fn the_url_of_a_chat_service_is_not_shown() {
    let (mut work, saved) = unit(Vec::new());
    let url = "https://hooks.slack.com/services/T0/B0/abcdaB3x";
    let created = perform(&create(url, "slack"), &mut work).unwrap();
    assert_eq!(created.output.secret, None);
    let webhook = saved.lock().unwrap().remove(0);
    assert_eq!(shown_url(&sealer(), workspace(), &webhook), "https://hooks.slack.com/…aB3x");
    assert_eq!(shown_host(&sealer(), workspace(), &webhook), "hooks.slack.com");
    let other = Webhook { sealed_url: "sealed1.x".to_owned(), ..webhook };
    assert_eq!(shown_url(&sealer(), workspace(), &other), "", "it does not open");
}

#[test]
fn a_workspace_has_at_most_ten_webhooks() {
    let (mut work, saved) = unit(vec![webhook(WebhookFormat::Standard); 10]);
    let error = perform(&create("https://example.com/hook", "standard"), &mut work).unwrap_err();
    assert_eq!(error.to_string(), "A workspace has at most 10 webhooks.");
    assert!(saved.lock().unwrap().is_empty());
}

#[test]
fn fields_are_validated() {
    let parse = |url: Option<&str>, format: Option<&str>, events: Option<Vec<&str>>| {
        let events = events.map(|names| Some(names.into_iter().map(str::to_owned).collect()));
        let change = WebhookChange { events, ..WebhookChange::default() };
        WebhookDraft::parse(url, format, change, &rules()).map(|draft| draft.events).map_err(|error| error.to_string())
    };
    let url = Some("https://example.com/");
    assert_eq!(parse(url, None, None), Ok(None));
    assert_eq!(
        parse(url, None, Some(vec!["vote.created", "feature_request.created", "vote.created"])),
        Ok(Some(vec![EventKind::FeatureRequestCreated, EventKind::VoteCreated]))
    );
    for (url, format, events, message) in [
        (None, None, None, "url is missing"),
        (Some(" "), None, None, "url is missing"),
        (Some("http://example.com"), None, None, "url must be an absolute https URL"),
        (Some("https://roadmap.example.com/x"), None, None, "url must not lead to a local or reserved address"),
        (url, Some("irc"), None, "format must be one of standard, slack, discord, teams"),
        (url, None, Some(vec![]), "events must be null or name at least one type"),
        (url, None, Some(vec!["vote"]), "events must be types of events"),
        (url, None, Some(vec!["webhook.test"]), "events must be types of events"),
        (url, Some("slack"), Some(vec!["vote.created"]), "events must be types of events that the format has"),
    ] {
        let error = parse(url, format, events).unwrap_err();
        assert!(error.contains(message.trim_end_matches("is missing").trim()), "{error} is not {message}");
    }
}

#[test]
fn what_is_not_sent_stays() {
    let webhook = stored("https://example.com/hook", WebhookFormat::Standard);
    let (mut work, saved) = unit(vec![webhook.clone()]);
    let same_url = Destination::parse("https://example.com/hook", &rules()).unwrap();
    let nothing = UpdateWebhook { url: Some(same_url), ..update(WebhookChange::default()) };
    let performed = perform(&nothing, &mut work).unwrap();
    assert_eq!((performed.output, performed.audit), (webhook.clone(), Audit::Unchanged));
    assert!(saved.lock().unwrap().is_empty());
    let format = UpdateWebhook { format: Some(WebhookFormat::Slack), ..update(WebhookChange::default()) };
    assert_eq!(perform(&format, &mut work).unwrap_err().to_string(), "format cannot be changed");
    let change = WebhookChange { include_private: Some(true), ..WebhookChange::default() };
    perform(&update(change), &mut work).unwrap();
    let includes = Inclusion { private: true, emails: false };
    assert_eq!(*saved.lock().unwrap(), [Webhook { includes, ..webhook }]);
}

#[test]
fn what_waits_fails_when_a_webhook_is_disabled_and_enabling_begins_anew() {
    let webhook = Webhook { failing_since: Some(now()), failed_tries: 7, ..webhook(WebhookFormat::Standard) };
    let (mut work, saved) = unit(vec![webhook.clone()]);
    work.expect_fail_waiting().times(1).withf(|_, failure| *failure == Failure::Disabled).returning(|_, _| Ok(()));
    perform(&update(WebhookChange { enabled: Some(false), ..WebhookChange::default() }), &mut work).unwrap();
    let disabled = saved.lock().unwrap().remove(0);
    assert_eq!(
        (disabled.enabled, disabled.disabled_because, disabled.disabled_at),
        (false, Some(DisabledBecause::Operator), Some(now()))
    );
    let (mut work, saved) = unit(vec![disabled]);
    perform(&update(WebhookChange { enabled: Some(true), ..WebhookChange::default() }), &mut work).unwrap();
    let expected = Webhook { enabled_at: now(), failing_since: None, failed_tries: 0, ..webhook };
    assert_eq!(*saved.lock().unwrap(), [expected]);
}

#[test]
fn older_secrets_sign_until_the_overlap_has_passed() {
    let mut webhook = stored("https://example.com/", WebhookFormat::Standard);
    let rotate = |webhook: &Webhook, overlap| {
        let (mut work, saved) = unit(vec![webhook.clone()]);
        let rotate = RotateWebhookSecret { webhook: webhook.id, overlap, sealer: sealer() };
        perform(&rotate, &mut work).unwrap();
        saved.lock().unwrap().remove(0)
    };
    webhook.secrets = vec![SealedSecret { sealed: "first".to_owned(), expires_at: None }];
    let once = rotate(&webhook, Duration::days(1));
    let end = now().plus(Duration::days(1));
    assert_eq!(once.secrets.len(), 2);
    assert_eq!(once.previous_secret_expires_at(now()), Some(end));
    assert_eq!(once.previous_secret_expires_at(end), None);
    let thrice = rotate(&rotate(&once, Duration::days(1)), Duration::days(1));
    assert_eq!(thrice.secrets.len(), 3, "at most two older ones");
    assert!(thrice.secrets.iter().all(|secret| secret.sealed != "first"));
    assert_eq!(rotate(&thrice, Duration::ZERO).secrets.len(), 1, "without an overlap, all older ones end");
    let slack = slack();
    let (mut work, _) = unit(vec![slack.clone()]);
    let rotate = RotateWebhookSecret { webhook: slack.id, overlap: Duration::ZERO, sealer: sealer() };
    assert_eq!(perform(&rotate, &mut work).unwrap_err().to_string(), "Webhook has no secret.");
}

#[test]
fn a_test_event_is_delivered_also_to_a_disabled_webhook() {
    let disabled = Webhook { enabled: false, ..webhook(WebhookFormat::Standard) };
    let (mut work, _) = unit(vec![disabled.clone()]);
    work.expect_load_setting().returning(|| Ok(Setting::parse("Acme", "https://acme.example").unwrap()));
    work.expect_insert_test_delivery()
        .times(1)
        .withf(|event, delivery| {
            event.draft.details.product.as_deref() == Some("Acme")
                && (delivery.event, delivery.kind) == (event.id, EventKind::WebhookTest)
        })
        .returning(|_, _| Ok(()));
    let delivery = perform(&TestWebhook { webhook: disabled.id }, &mut work).unwrap().output;
    assert_eq!((delivery.state, delivery.due_at), (DeliveryState::Waiting, Some(now())));
}

#[test]
fn failed_events_are_delivered_again_unless_the_webhook_is_disabled() {
    let event = WebhookEventId::new(Uuid::from_u128(7));
    let hook = webhook(WebhookFormat::Standard);
    let failed = Delivery {
        event,
        kind: EventKind::VoteCreated,
        includes: Inclusion::default(),
        state: DeliveryState::Failed,
        failure: Some(Failure::GaveUp),
        attempts: 10,
        due_at: None,
        created_at: now(),
        last_attempt: None,
    };
    for (webhook, knows, expected) in [
        (hook.clone(), true, Ok(())),
        (hook.clone(), false, Err("Delivery does not exist.")),
        (Webhook { enabled: false, ..hook.clone() }, true, Err("Webhook is disabled.")),
    ] {
        let (mut work, _) = unit(vec![webhook]);
        let found = knows.then(|| failed.clone());
        work.expect_find_delivery().returning(move |_, _| Ok(found.clone()));
        work.expect_redeliver().times(usize::from(expected.is_ok())).returning(|_, _, _| Ok(()));
        let performed = perform(&Redeliver { webhook: hook.id, event }, &mut work);
        let result = performed.map(|performed| {
            assert_eq!((performed.output.state, performed.output.failure), (DeliveryState::Waiting, None));
        });
        assert_eq!(result.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }
    let (mut work, _) = unit(vec![hook.clone()]);
    work.expect_redeliver_failed().returning(|_, _, _| Ok(0));
    let performed = perform(&RedeliverFailed { webhook: hook.id, since: now() }, &mut work).unwrap();
    assert_eq!((performed.output, performed.audit), (0, Audit::Unchanged));
    let unknown = RedeliverFailed { webhook: WebhookId::new(Uuid::nil()), since: now() };
    assert_eq!(perform(&unknown, &mut work).unwrap_err().to_string(), "Webhook does not exist.");
}

#[test]
fn secrets_are_sealed_anew_and_what_does_not_open_stays() {
    let mut webhook = stored("https://example.com/", WebhookFormat::Standard);
    webhook.secrets = vec![SealedSecret { sealed: "sealed1.unknown.x.y".to_owned(), expires_at: None }];
    let (mut work, saved) = unit(vec![webhook.clone()]);
    let performed = perform(&SealAnew { webhook: webhook.id, sealer: sealer() }, &mut work).unwrap();
    assert!(!performed.output);
    assert_eq!(saved.lock().unwrap().remove(0).secrets, webhook.secrets);
}

#[test]
fn an_overlap_is_a_number_with_a_unit() {
    for (raw, expected) in [
        (None, Duration::hours(24)),
        (Some(" "), Duration::hours(24)),
        (Some("0s"), Duration::ZERO),
        (Some(" 90m "), Duration::minutes(90)),
        (Some("007d"), MAX_OVERLAP),
        (Some("604800s"), MAX_OVERLAP),
    ] {
        assert_eq!(parse_overlap(raw).unwrap(), expected, "{raw:?}");
    }
    for raw in
        ["24", "h", "-1h", "+1h", "1.5h", "1 h", "1w", "24H", "8d", "604801s", "9223372036854775807d", "1hh", "٣h"]
    {
        let refused = parse_overlap(Some(raw)).unwrap_err();
        assert_eq!(refused.to_string(), "overlap must be a duration from 0s to 7d, for example 24h", "{raw}");
    }
}
