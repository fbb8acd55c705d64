//! The page with the new secret of a webhook, once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use askama::Template;
use roadmap_domain::model::id::{WebhookId, parse_uuid};
use roadmap_domain::policy::sealing::SecretText;
use roadmap_domain::usecase::change_webhooks::WebhookWithSecret;
use roadmap_domain::usecase::executor::Operation;
use roadmap_http::error::HttpError;
use sha2::{Digest, Sha256};

use super::{find, name_of, path_of};
use crate::admin::{self, Entry};
use crate::context::Context;
use crate::digest::hex;
use crate::form::Fields;
use crate::once::run_step;
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};

#[derive(Template)]
#[template(path = "admin/webhook-secret.html")]
struct SecretPage {
    page: Page,
    /// The path of the page of the webhook.
    path: String,
    name: String,
    secret: String,
    /// What happens with the secret that it replaces.
    overlap: Option<String>,
}

/// What a form that makes a secret has done.
pub(super) enum Made {
    /// The secret is to be shown now.
    Secret(WebhookId, SecretText),
    /// The format has no secrets.
    NoSecret(WebhookId),
    /// The form was sent before, and the secret was shown then.
    Before(WebhookId),
}

/// The secrets that an operation has made for this request. It may run more than once until it is committed.
#[derive(Clone, Default)]
struct NewSecrets(Arc<Mutex<Vec<SecretText>>>);

impl NewSecrets {
    fn lock(&self) -> MutexGuard<'_, Vec<SecretText>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a secret. Returns what is stored of it: a digest, which tells it from that of an earlier use of the form.
    fn keep(&self, made: WebhookWithSecret) -> String {
        let digest = made.secret.as_ref().map(digest_of).unwrap_or_default();
        self.lock().extend(made.secret);
        format!("{}:{digest}", made.webhook.id)
    }

    /// Reads what is stored.
    fn read(&self, saved: &str) -> Option<Made> {
        let (id, digest) = saved.split_once(':')?;
        let id = WebhookId::new(parse_uuid("id", id).ok()?);
        if digest.is_empty() {
            return Some(Made::NoSecret(id));
        }
        let own = self.lock().iter().find(|secret| digest_of(secret) == digest).cloned();
        Some(own.map_or(Made::Before(id), |secret| Made::Secret(id, secret)))
    }
}

fn digest_of(secret: &SecretText) -> String {
    hex(&Sha256::digest(secret.as_str()))
}

/// Runs an operation that makes a secret, at most once for each form.
///
/// # Errors
/// Those of the operation.
pub(super) async fn run<O>(context: &Context, fields: &Fields, operation: O) -> Result<Made, HttpError>
where
    O: Operation<Output = WebhookWithSecret> + 'static,
{
    let secrets = NewSecrets::default();
    let kept = secrets.clone();
    let saved = run_step(context, fields, "", operation, move |made| kept.keep(made)).await?;
    secrets.read(&saved).ok_or(HttpError::NotFound)
}

/// Shows the new secret of a webhook.
pub(super) async fn show(
    context: &Context,
    id: WebhookId,
    secret: &SecretText,
    notice: &str,
    overlap: Option<String>,
) -> PageResult {
    let t = context.text();
    let name = name_of(context, &find(context, id).await?);
    let page = admin::frame(context, Entry::Webhooks, t.named("webhook-secret-title", &name)).await?;
    let (path, notice) = (path_of(id), Some(t.get(notice).into_owned()));
    let page = Page { here: path.clone(), notice, ..page };
    let template = SecretPage { page, path, name, secret: secret.as_str().to_owned(), overlap };
    Ok(Reply::page(&template).private())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::webhooks::tests::webhook;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::webhook::WebhookFormat;

    #[test]
    fn the_page_is_well_formed_and_has_the_secret_once() {
        for language in Language::ALL {
            for overlap in [None, Some("A sentence.".to_owned())] {
                let template = SecretPage {
                    page: sample_page(language, true, "The secret"),
                    path: "/admin/webhooks/7".to_owned(),
                    name: "Sync <b>".to_owned(),
                    secret: "whsec_a&b".to_owned(),
                    overlap,
                };
                let html = template.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.matches("whsec_a&#38;b").count(), 1, "{html}");
                assert!(html.contains("Sync &#60;b&#62;"), "{html}");
            }
        }
    }

    #[test]
    fn a_secret_is_shown_for_the_form_that_has_made_it() {
        let made = |format: WebhookFormat, secret: Option<&str>| WebhookWithSecret {
            webhook: webhook(format),
            secret: secret.map(|secret| SecretText::new(secret.to_owned())),
        };
        let secrets = NewSecrets::default();
        let first = secrets.keep(made(WebhookFormat::Standard, Some("first")));
        let second = secrets.keep(made(WebhookFormat::Standard, Some("second")));
        for (saved, secret) in [(&first, "first"), (&second, "second")] {
            assert!(!saved.contains(secret), "the secret is not stored");
            assert!(matches!(secrets.read(saved), Some(Made::Secret(_, shown)) if shown.as_str() == secret));
            assert!(matches!(NewSecrets::default().read(saved), Some(Made::Before(_))));
        }
        let chat = secrets.keep(made(WebhookFormat::Slack, None));
        assert!(matches!(NewSecrets::default().read(&chat), Some(Made::NoSecret(_))));
        assert!(secrets.read("anything").is_none());
    }
}
