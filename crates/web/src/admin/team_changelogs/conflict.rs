//! The form, after somebody else has changed or deleted the changelog.

use actix_web::http::StatusCode;
use roadmap_domain::model::audit::{AuditFilter, AuditPage};
use roadmap_domain::model::changelog::ChangelogDetail;
use roadmap_domain::usecase::query::audit::ListAuditEntries;

use super::fields::ChangelogForm;
use super::form::Draft;
use crate::admin::image_field::ImageField;
use crate::context::Context;
use crate::form::Problems;
use crate::reply::PageResult;

/// What is stored now, as far as it differs from what was typed.
#[derive(Default)]
pub(super) struct Stored {
    pub(super) title: Option<String>,
    pub(super) content: Option<String>,
    /// The category in words, blank if it has none.
    pub(super) category: Option<String>,
    pub(super) publish_at: Option<String>,
    /// The path of the cover. `Some(None)` if it has none.
    pub(super) cover: Option<Option<String>>,
}

impl Stored {
    /// Whether it is what was typed.
    pub(super) fn is_same(&self) -> bool {
        let Self { title, content, category, publish_at, cover } = self;
        [title, content, category, publish_at].iter().all(|text| text.is_none()) && cover.is_none()
    }
}

impl Draft {
    /// Shows the form to somebody whose changelog was deleted meanwhile. It creates a new one.
    pub(super) async fn after_deletion(mut self, context: &Context) -> PageResult {
        self.problems = Problems::default();
        self.problems.add("form", context.text().get("changelog-gone"));
        self.render(context, None, StatusCode::CONFLICT).await
    }

    /// Shows the form with what is stored, so that the next **Save** overwrites it knowingly.
    pub(super) async fn conflict(mut self, context: &Context, detail: &ChangelogDetail) -> PageResult {
        let (t, now) = (context.text(), context.state.http.clock.now());
        let stored = ChangelogForm::of_stored(detail, now, t.zone);
        let filter = AuditFilter { subject: Some(detail.changelog.id.uuid()), ..AuditFilter::default() };
        let page = AuditPage { before: None, size: 1 };
        let last = context.run(&ListAuditEntries { filter, page }).await?.entries.into_iter().next();
        let by = last.map(|entry| entry.origin.actor.name).filter(|name| !name.is_empty());
        self.problems.add(
            "stored-now",
            by.as_ref().map_or_else(
                || t.get("changelog-conflict").into_owned(),
                |name| t.named("changelog-conflict-by", name),
            ),
        );
        let differs = |raw: &str, stored: &str| (raw != stored).then(|| stored.to_owned());
        let cover = ImageField::of_stored(detail.changelog.cover.as_ref());
        self.conflict = Some(Stored {
            title: differs(&self.form.title, &stored.title),
            content: differs(&self.form.content, &stored.content),
            category: (self.form.category != stored.category).then(|| match stored.category {
                Some(category) => t.category(category).into_owned(),
                None => String::new(),
            }),
            publish_at: differs(&self.form.publish_at, &stored.publish_at),
            cover: (cover.file_to_store() != self.cover.file_to_store()).then(|| cover.view(context).path),
        });
        self.form.fingerprint = stored.fingerprint;
        self.render(context, Some(detail), StatusCode::CONFLICT).await
    }
}
