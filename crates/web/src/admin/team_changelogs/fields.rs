//! What was typed into the form of a changelog.

use roadmap_domain::error::Validated;
use roadmap_domain::model::admin::Fingerprint;
use roadmap_domain::model::changelog::{Changelog, ChangelogCategory, ChangelogDetail, ChangelogState};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{FeatureRequestId, parse_uuid};
use roadmap_domain::model::markdown;
use roadmap_domain::model::time_zone::{TimeZone, write_local};
use roadmap_domain::model::timestamp::Timestamp;

use crate::actions::multiline_text;
use crate::form::Fields;
use crate::pictures;
use crate::reply::Reply;

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ChangelogForm {
    pub(super) title: String,
    pub(super) content: String,
    /// Whether the content is HTML, because Markdown cannot express it.
    pub(super) is_html: bool,
    pub(super) category: Option<ChangelogCategory>,
    /// The time of publication in the workspace's time zone, as in a field of the type `datetime-local`.
    pub(super) publish_at: String,
    pub(super) linked: Vec<FeatureRequestId>,
    /// Those that were linked when the form was opened. `None` for a new changelog.
    pub(super) linked_before: Option<Vec<FeatureRequestId>>,
    pub(super) query: String,
    pub(super) notifies: bool,
    /// Whether the linked feature requests are moved when it is published.
    pub(super) moves_linked: bool,
    pub(super) fingerprint: String,
}

impl ChangelogForm {
    /// Returns what the form of a stored changelog has.
    pub(super) fn of_stored(detail: &ChangelogDetail, now: Timestamp, zone: TimeZone) -> Self {
        let ChangelogDetail { changelog, feature_requests } = detail;
        let content = markdown::to_editable(&changelog.content);
        let linked: Vec<FeatureRequestId> = feature_requests.iter().map(|summary| summary.id).collect();
        Self {
            title: changelog.title.as_str().to_owned(),
            content: content.as_str().to_owned(),
            is_html: content.is_html(),
            category: changelog.category,
            publish_at: match changelog.state(now) {
                ChangelogState::Scheduled(at) => write_local(zone.local(at)),
                _ => String::new(),
            },
            linked_before: Some(linked.clone()),
            linked,
            query: String::new(),
            notifies: false,
            moves_linked: false,
            fingerprint: Fingerprint::of_changelog(changelog).as_str().to_owned(),
        }
    }

    pub(super) fn of_form(fields: &Fields) -> Self {
        Self {
            title: fields.get("title").to_owned(),
            content: multiline_text(fields, "content"),
            is_html: fields.get("format") == "html",
            category: ChangelogCategory::from_name(fields.get("category")),
            publish_at: fields.get("publish-at").trim().to_owned(),
            linked: parse_ids(fields.all("linked")),
            linked_before: fields
                .has("linked-before")
                .then(|| parse_ids(fields.get("linked-before").split_ascii_whitespace())),
            query: fields.get("query").trim().to_owned(),
            notifies: fields.has("notify"),
            moves_linked: fields.has("move-linked"),
            fingerprint: fields.get("fingerprint").to_owned(),
        }
    }

    /// Links and unlinks what others have linked and unlinked since the form was opened.
    pub(super) fn follow_links(&mut self, stored: &ChangelogDetail) {
        let stored: Vec<FeatureRequestId> = stored.feature_requests.iter().map(|summary| summary.id).collect();
        let before = self.linked_before.as_ref().unwrap_or(&stored);
        let still_linked = stored.iter().filter(|id| self.linked.contains(id) || !before.contains(id));
        let added = self.linked.iter().filter(|id| !before.contains(id) && !stored.contains(id));
        self.linked = still_linked.chain(added).copied().collect();
        self.linked_before = Some(stored);
    }

    /// Returns the ticks that are no part of the changelog, as parameters of its page.
    pub(super) fn ticks(&self) -> String {
        let ticks = [(self.notifies, "&notify=1"), (self.moves_linked, "&move-linked=1")];
        ticks.into_iter().filter(|(is_ticked, _)| *is_ticked).map(|(_, parameter)| parameter).collect()
    }

    /// Returns the value of the field with those that were linked.
    pub(super) fn linked_before(&self) -> String {
        let ids: Vec<String> = self.linked_before.iter().flatten().map(ToString::to_string).collect();
        ids.join(" ")
    }

    /// Says on the next page how many pictures of other sites became links.
    pub(super) fn tell_linked(&self, reply: Reply) -> Reply {
        if self.is_html { reply } else { pictures::tell_linked(reply, &self.content) }
    }

    pub(super) fn parse_content(&self) -> Validated<CleanHtml> {
        match self.is_html {
            true => CleanHtml::parse("content", &self.content),
            false => markdown::to_html("content", &self.content),
        }
    }
}

/// Returns the ids among these texts, each once.
fn parse_ids<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<FeatureRequestId> {
    let mut ids = Vec::new();
    for id in texts.filter_map(|raw| parse_uuid("linked", raw).ok()).map(FeatureRequestId::new) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Whether a typed time is the stored one, also if that has passed since.
pub(super) fn is_same_time(raw: &str, changelog: &Changelog, stored: &ChangelogForm, zone: TimeZone) -> bool {
    raw == stored.publish_at || changelog.public_from.is_some_and(|at| write_local(zone.local(at)) == raw)
}

#[cfg(test)]
mod tests {
    use super::super::tests::detail;
    use super::*;
    use crate::portal::parts::tests::at;
    use uuid::Uuid;

    #[test]
    fn a_time_that_has_passed_since_is_the_stored_one() {
        let scheduled = detail("a", Some(at(1)));
        let zone = TimeZone::from_stored("Europe/Berlin");
        let stored = ChangelogForm::of_stored(&scheduled, at(2), zone);
        assert_eq!(stored.publish_at, "");
        let is_same = |raw: &str| is_same_time(raw, &scheduled.changelog, &stored, zone);
        assert!(is_same(&write_local(zone.local(at(1)))) && is_same(""));
        assert!(!is_same(&write_local(zone.local(at(3)))) && !is_same(&write_local(TimeZone::UTC.local(at(1)))));
        let waiting = ChangelogForm::of_stored(&scheduled, at(0), zone);
        assert_eq!(waiting.publish_at, write_local(zone.local(at(1))));
    }

    #[test]
    fn what_was_typed_is_read_once() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let form = format!(
            "title=+a+&content=b%0D%0Ac&category=fixed&linked={one}&linked=x&linked={two}&linked={one}&notify=1"
        );
        let form = ChangelogForm::of_form(&Fields::parse(form.as_bytes()));
        let expected = ChangelogForm {
            title: " a ".to_owned(),
            content: "b\nc".to_owned(),
            category: Some(ChangelogCategory::Fixed),
            linked: [one, two].map(FeatureRequestId::new).to_vec(),
            notifies: true,
            ..ChangelogForm::default()
        };
        assert_eq!(form, expected);
        assert_eq!(form.parse_content().unwrap().as_str().trim_end(), "<p>b<br>\nc</p>");
        let html = ChangelogForm { is_html: true, content: "<p onclick=x>b</p>".to_owned(), ..form };
        assert_eq!(html.parse_content().unwrap().as_str(), "<p>b</p>");
    }
}
