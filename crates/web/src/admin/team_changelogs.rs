//! Changelogs: the list, the form, and the page that asks before one is deleted.

mod conflict;
mod fields;
mod form;
mod list;

use roadmap_domain::model::changelog::{Changelog, ChangelogState};
use roadmap_domain::model::id::ChangelogId;
use roadmap_domain::model::timestamp::Timestamp;

use crate::admin::parts::DisplayTime;
use crate::portal::changelogs;
use crate::text::Text;

pub(crate) use crate::admin::image_field::show as cover;
pub(crate) use form::{create, new, save, show};
pub(crate) use list::{ask_delete, delete, list};

/// The path of the list.
const PATH: &str = "/admin/changelogs";

/// Returns the path of the form of a changelog.
fn path(id: ChangelogId) -> String {
    format!("{PATH}/{id}")
}

/// The state of a changelog in words.
struct State {
    name: String,
    /// What the time means.
    label: String,
    at: DisplayTime,
    /// The path on the portal, if it is published.
    portal: Option<String>,
}

impl State {
    fn new(t: Text, changelog: &Changelog, now: Timestamp) -> Self {
        let state = changelog.state(now);
        let (name, label, at) = match state {
            ChangelogState::Draft => ("changelog-draft", "changelog-changed-on", changelog.updated_at),
            ChangelogState::Scheduled(at) => ("changelog-scheduled", "changelog-public-from", at),
            ChangelogState::Published(at) => ("changelog-published", "changelog-public-since", at),
        };
        let is_published = matches!(state, ChangelogState::Published(_));
        Self {
            name: t.get(name).into_owned(),
            label: t.get(label).into_owned(),
            at: DisplayTime::minute(t, at),
            portal: is_published.then(|| changelogs::path(changelog.id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{at, sample_summary};
    use roadmap_domain::model::attachment::Filename;
    use roadmap_domain::model::changelog::{ChangelogCategory, ChangelogDetail, CoverImage};
    use roadmap_domain::model::feature_request::Title;
    use roadmap_domain::model::html::CleanHtml;
    use roadmap_domain::model::id::AttachmentId;
    use uuid::Uuid;

    /// A changelog with a cover and a feature request.
    pub(super) fn detail(content: &str, public_from: Option<Timestamp>) -> ChangelogDetail {
        let attachment = AttachmentId::new(Uuid::from_u128(2));
        let changelog = Changelog {
            id: ChangelogId::new(Uuid::from_u128(1)),
            title: Title::parse("title", "Undo <send>").unwrap(),
            content: CleanHtml::from_stored(content.to_owned()),
            category: Some(ChangelogCategory::Improved),
            cover: Some(CoverImage { attachment, filename: Filename::sanitize("a.png") }),
            public_from,
            created_at: at(0),
            updated_at: at(1),
        };
        ChangelogDetail { changelog, feature_requests: vec![sample_summary(3, "Dark <mode>", None)] }
    }
}
