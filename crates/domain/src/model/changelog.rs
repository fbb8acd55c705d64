//! Changelogs: announcements of the product team, contract section 2.8.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::attachment::Filename;
use crate::model::audit::parse_time;
use crate::model::feature_request::{FeatureRequestSummary, Title};
use crate::model::html::CleanHtml;
use crate::model::id::{AttachmentId, ChangelogId, FeatureRequestId, parse_uuid};
use crate::model::timestamp::Timestamp;

/// The validated fields of a new changelog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogDraft {
    pub title: Title,
    pub content: CleanHtml,
    pub category: Option<ChangelogCategory>,
    /// The cover image.
    pub cover: Option<AttachmentId>,
    /// When it is published.
    pub publication: Publication,
    /// Whether mail goes out with a publication at a time.
    pub notifies: bool,
    /// The feature requests that it is about.
    pub feature_requests: Vec<FeatureRequestId>,
}

/// When a new changelog is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publication {
    /// Not yet: it is a draft.
    Never,
    /// Immediately.
    Now,
    /// At this time, which must be in the future.
    At(Timestamp),
}

/// The fields of a changelog as clients send them.
#[derive(Debug, Clone, Default)]
pub struct ChangelogFields {
    pub title: Option<String>,
    /// Content as HTML.
    pub content: Option<String>,
    /// The name of a category. `Some(None)` and blank mean none.
    pub category: Option<Option<String>>,
    /// The signed reference of the cover image. `Some(None)` and blank mean none.
    pub cover_image_signed_id: Option<Option<String>>,
    /// IDs of the feature requests that it is about. `Some(None)` means none.
    pub feature_request_ids: Option<Option<Vec<String>>>,
    /// The time of the publication as in RFC 3339. `Some(None)` and blank mean none.
    pub publish_at: Option<Option<String>>,
    /// Whether mail goes out at that time.
    pub notify_subscribers: Option<bool>,
}

/// Maximum number of feature requests that a changelog is about.
pub const MAX_LINKED: usize = 50;

impl ChangelogDraft {
    /// Validates the fields of a new changelog. `resolve_reference` verifies a signed reference and returns its file.
    ///
    /// # Errors
    /// A title or content that is missing or invalid, a reference that cannot be resolved, an invalid ID or time, or
    /// two times of publication.
    pub fn parse(
        fields: &ChangelogFields,
        publish: bool,
        resolve_reference: impl FnOnce(&str) -> Option<AttachmentId>,
    ) -> Validated<Self> {
        let title = Title::parse("title", fields.title.as_deref().unwrap_or_default())?;
        let content = CleanHtml::parse("content", fields.content.as_deref().unwrap_or_default())?;
        let category = parse_category(fields.category.as_ref())?.flatten();
        let cover = parse_cover(fields.cover_image_signed_id.as_ref(), resolve_reference)?.flatten();
        let feature_requests = parse_linked(fields.feature_request_ids.as_ref())?.unwrap_or_default();
        let publication = match (publish, parse_publish_at(fields.publish_at.as_ref())?.flatten()) {
            (true, Some(_)) => {
                let message = "publish_at and publish cannot both be given";
                return Err(FieldError::new("publish_at", FieldProblem::Custom { message }));
            }
            (true, None) => Publication::Now,
            (false, Some(at)) => Publication::At(at),
            (false, None) => Publication::Never,
        };
        let notifies = fields.notify_subscribers.unwrap_or(false);
        if notifies && !matches!(publication, Publication::At(_)) {
            return Err(mail_without_time());
        }
        Ok(Self { title, content, category, cover, publication, notifies, feature_requests })
    }
}

/// The validated changes of a changelog. `None` leaves a field as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangelogChange {
    /// The new title.
    pub title: Option<Title>,
    /// The new content.
    pub content: Option<CleanHtml>,
    /// The new category. `Some(None)` removes it.
    pub category: Option<Option<ChangelogCategory>>,
    /// The new cover image. `Some(None)` removes it.
    pub cover: Option<Option<AttachmentId>>,
    /// The feature requests that it is about.
    pub feature_requests: Option<Vec<FeatureRequestId>>,
    /// The time at which it is to be published. `Some(None)` makes a scheduled changelog a draft.
    pub publish_at: Option<Option<Timestamp>>,
    /// Whether mail goes out at that time.
    pub notifies: Option<bool>,
}

impl ChangelogChange {
    /// Validates the changed fields. `resolve_reference` verifies a signed reference and returns its file.
    ///
    /// # Errors
    /// A field that is invalid, or a title or content that is blank.
    pub fn parse(
        fields: &ChangelogFields,
        resolve_reference: impl FnOnce(&str) -> Option<AttachmentId>,
    ) -> Validated<Self> {
        Ok(Self {
            title: fields.title.as_deref().map(|title| Title::parse("title", title)).transpose()?,
            content: fields.content.as_deref().map(|content| CleanHtml::parse("content", content)).transpose()?,
            category: parse_category(fields.category.as_ref())?,
            cover: parse_cover(fields.cover_image_signed_id.as_ref(), resolve_reference)?,
            feature_requests: parse_linked(fields.feature_request_ids.as_ref())?,
            publish_at: parse_publish_at(fields.publish_at.as_ref())?,
            notifies: fields.notify_subscribers,
        })
    }
}

/// What kind of news a changelog is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangelogCategory {
    New,
    Improved,
    Fixed,
}

impl ChangelogCategory {
    /// All categories, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::New, Self::Improved, Self::Fixed];

    /// Returns the name that is stored and sent.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Improved => "improved",
            Self::Fixed => "fixed",
        }
    }

    /// Returns the category with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }
}

fn parse_category(sent: Option<&Option<String>>) -> Validated<Option<Option<ChangelogCategory>>> {
    let Some(sent) = sent else { return Ok(None) };
    let Some(name) = sent.as_deref().map(str::trim).filter(|name| !name.is_empty()) else { return Ok(Some(None)) };
    let expected = "one of new, improved, fixed";
    let category = ChangelogCategory::from_name(name);
    let category = category.ok_or_else(|| FieldError::new("category", FieldProblem::Malformed { expected }))?;
    Ok(Some(Some(category)))
}

fn parse_cover(
    sent: Option<&Option<String>>,
    resolve_reference: impl FnOnce(&str) -> Option<AttachmentId>,
) -> Validated<Option<Option<AttachmentId>>> {
    let Some(sent) = sent else { return Ok(None) };
    let reference = sent.as_deref().map(str::trim).filter(|reference| !reference.is_empty());
    let cover = reference.map(|reference| resolve_reference(reference).ok_or_else(invalid_cover)).transpose()?;
    Ok(Some(cover))
}

fn parse_linked(sent: Option<&Option<Vec<String>>>) -> Validated<Option<Vec<FeatureRequestId>>> {
    let Some(sent) = sent else { return Ok(None) };
    let sent = sent.as_deref().unwrap_or_default();
    if sent.len() > MAX_LINKED {
        return Err(FieldError::new("feature_request_ids", FieldProblem::TooMany { max: MAX_LINKED }));
    }
    let mut linked = Vec::with_capacity(sent.len());
    for raw in sent {
        let id = FeatureRequestId::new(parse_uuid("feature_request_ids", raw)?);
        if !linked.contains(&id) {
            linked.push(id);
        }
    }
    Ok(Some(linked))
}

fn parse_publish_at(sent: Option<&Option<String>>) -> Validated<Option<Option<Timestamp>>> {
    let Some(sent) = sent else { return Ok(None) };
    let raw = sent.as_deref().map(str::trim).filter(|raw| !raw.is_empty());
    raw.map(|raw| parse_time("publish_at", raw)).transpose().map(Some)
}

/// Returns the error for mail with a publication that has no time.
#[must_use]
pub fn mail_without_time() -> FieldError {
    let message = "notify_subscribers is for changelogs with publish_at, others are mailed when they are published";
    FieldError::new("notify_subscribers", FieldProblem::Custom { message })
}

/// Returns the error for a time of publication that has passed.
#[must_use]
pub fn publication_in_the_past() -> FieldError {
    FieldError::new("publish_at", FieldProblem::Custom { message: "publish_at is not in the future" })
}

/// Returns the error for scheduling a changelog that is published already.
#[must_use]
pub fn already_published() -> FieldError {
    let message = "publish_at is for changelogs that are not published, unpublish it first";
    FieldError::new("publish_at", FieldProblem::Custom { message })
}

/// Returns the error for a cover image that is forged, belongs to another workspace, or does not exist.
#[must_use]
pub fn invalid_cover() -> FieldError {
    FieldError::new("cover_image_signed_id", FieldProblem::Custom { message: "Cover image is invalid" })
}

/// The cover image of a changelog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverImage {
    /// The file.
    pub attachment: AttachmentId,
    /// The name of the file.
    pub filename: Filename,
}

/// A changelog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changelog {
    pub id: ChangelogId,
    pub title: Title,
    /// The sanitized HTML.
    pub content: CleanHtml,
    pub category: Option<ChangelogCategory>,
    /// The cover image, if any.
    pub cover: Option<CoverImage>,
    /// Timestamp from which it is public. `None` for a draft.
    pub public_from: Option<Timestamp>,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
    /// Timestamp of the last change.
    pub updated_at: Timestamp,
}

/// The state of a changelog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangelogState {
    /// Not public.
    Draft,
    /// Not public yet.
    Scheduled(Timestamp),
    /// Public since then.
    Published(Timestamp),
}

impl ChangelogState {
    /// Returns the name that is shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Scheduled(_) => "scheduled",
            Self::Published(_) => "published",
        }
    }
}

impl Changelog {
    /// Returns the state at `now`. A scheduled changelog becomes public by itself.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> ChangelogState {
        match self.public_from {
            None => ChangelogState::Draft,
            Some(at) if at > now => ChangelogState::Scheduled(at),
            Some(at) => ChangelogState::Published(at),
        }
    }
}

/// A changelog with everything that its own page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogDetail {
    pub changelog: Changelog,
    /// The feature requests that it is about, in the team's order. A merged one is the one it was merged into.
    pub feature_requests: Vec<FeatureRequestSummary>,
}

/// A changelog as a unit of work changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditableChangelog {
    pub changelog: Changelog,
    /// The feature requests that it is about.
    pub feature_requests: Vec<FeatureRequestId>,
    /// Whether mail about it was sent, or began to be.
    pub is_notified: bool,
    /// Whether mail goes out with its publication at a time, or went out with it.
    pub notifies: bool,
}

impl EditableChangelog {
    /// Returns it as it is at `now`: what was to be mailed with a publication that has passed is mailed.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Self {
        let is_published = matches!(self.changelog.state(now), ChangelogState::Published(_));
        let mail = ChangelogMail::new(self.is_notified, self.notifies, is_published);
        Self { is_notified: mail.is_sent, notifies: mail.is_scheduled, ..self }
    }
}

/// Whether voters get mail about a changelog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChangelogMail {
    /// Mail about it was sent, or began to be.
    pub is_sent: bool,
    /// Mail goes out with its publication at a time.
    pub is_scheduled: bool,
}

impl ChangelogMail {
    /// Returns it from what is stored: what `notifies` with its publication is mailed once it is published.
    #[must_use]
    pub const fn new(is_notified: bool, notifies: bool, is_published: bool) -> Self {
        Self { is_sent: is_notified || (notifies && is_published), is_scheduled: notifies && !is_published }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::now;
    use time::Duration;
    use uuid::Uuid;

    fn file() -> AttachmentId {
        AttachmentId::new(Uuid::from_u128(1))
    }

    fn fields() -> ChangelogFields {
        ChangelogFields {
            title: Some("1.2".to_owned()),
            content: Some("<p>New</p>".to_owned()),
            ..ChangelogFields::default()
        }
    }

    fn draft(fields: &ChangelogFields, publish: bool) -> Validated<ChangelogDraft> {
        ChangelogDraft::parse(fields, publish, |reference| (reference == "signed").then_some(file()))
    }

    fn change(fields: &ChangelogFields) -> Validated<ChangelogChange> {
        ChangelogChange::parse(fields, |reference| (reference == "signed").then_some(file()))
    }

    fn sent(text: &str) -> Option<Option<String>> {
        Some(Some(text.to_owned()))
    }

    #[test]
    fn a_category_is_one_of_three_or_none() {
        let with = |category: Option<Option<String>>| ChangelogFields { category, ..fields() };
        for category in ChangelogCategory::ALL {
            let fields = with(sent(&format!(" {} ", category.name())));
            assert_eq!(draft(&fields, false).unwrap().category, Some(category));
            assert_eq!(change(&fields).unwrap().category, Some(Some(category)));
        }
        for none in [Some(None), sent(" ")] {
            assert_eq!(draft(&with(none.clone()), false).unwrap().category, None);
            assert_eq!(change(&with(none)).unwrap().category, Some(None));
        }
        assert_eq!(change(&fields()).unwrap().category, None);
        let error = change(&with(sent("New"))).unwrap_err();
        assert_eq!(error.to_string(), "category is not one of new, improved, fixed");
    }

    /// Decision 4.
    #[test]
    fn a_reference_to_no_file_is_rejected() {
        let with = |reference: Option<Option<String>>| ChangelogFields { cover_image_signed_id: reference, ..fields() };
        assert_eq!(draft(&with(sent("forged")), false).unwrap_err().to_string(), "Cover image is invalid");
        assert_eq!(draft(&with(sent("signed")), false).unwrap().cover, Some(file()));
        for none in [None, Some(None), sent(" ")] {
            assert_eq!(draft(&with(none), false).unwrap().cover, None);
        }
        assert_eq!(change(&with(None)).unwrap().cover, None);
        assert_eq!(change(&with(Some(None))).unwrap().cover, Some(None));
        assert_eq!(change(&with(sent("signed"))).unwrap().cover, Some(Some(file())));
        assert_eq!(change(&with(sent("forged"))).unwrap_err().to_string(), "Cover image is invalid");
    }

    #[test]
    fn a_changelog_is_published_now_later_or_never() {
        let at = |raw: Option<Option<String>>| ChangelogFields { publish_at: raw, ..fields() };
        let later = "2026-03-01T09:30:00.000Z";
        let publication = |fields: &ChangelogFields, publish| draft(fields, publish).map(|draft| draft.publication);
        assert_eq!(publication(&at(None), false), Ok(Publication::Never));
        assert_eq!(publication(&at(Some(None)), true), Ok(Publication::Now));
        assert!(matches!(publication(&at(sent(later)), false), Ok(Publication::At(at)) if at.to_string() == later));
        let both = publication(&at(sent(later)), true).unwrap_err();
        assert_eq!(both.to_string(), "publish_at and publish cannot both be given");
        assert_eq!(publication(&at(sent("soon")), false).unwrap_err().field, "publish_at");
        assert_eq!(change(&at(Some(None))).unwrap().publish_at, Some(None));
    }

    #[test]
    fn linked_requests_are_bounded_and_listed_once() {
        let linked = |ids: Vec<String>| change(&ChangelogFields { feature_request_ids: Some(Some(ids)), ..fields() });
        let id = |number: u128| Uuid::from_u128(number).to_string();
        let expected = [2, 1].map(|number| FeatureRequestId::new(Uuid::from_u128(number))).to_vec();
        assert_eq!(linked(vec![id(2), id(1), id(2)]).unwrap().feature_requests, Some(expected));
        assert_eq!(
            linked(vec!["7-dark-mode".to_owned()]).unwrap_err().to_string(),
            "feature_request_ids is not a valid UUID"
        );
        let many = linked((1..=51).map(id).collect()).unwrap_err();
        assert_eq!(many.to_string(), "feature_request_ids must have at most 50 items");
    }

    #[test]
    fn a_change_leaves_absent_fields_and_rejects_blank_ones() {
        assert_eq!(change(&ChangelogFields::default()).unwrap(), ChangelogChange::default());
        let blank = ChangelogFields { title: Some(" ".to_owned()), ..ChangelogFields::default() };
        assert_eq!(change(&blank).unwrap_err(), FieldError::missing("title"));
    }

    /// Addition 5.
    #[test]
    fn a_scheduled_changelog_becomes_public_by_itself() {
        let changelog = |public_from| Changelog {
            id: ChangelogId::new(Uuid::from_u128(1)),
            title: Title::parse("title", "1.2").unwrap(),
            content: CleanHtml::parse("content", "New").unwrap(),
            category: None,
            cover: None,
            public_from,
            created_at: now(),
            updated_at: now(),
        };
        let later = now().plus(Duration::SECOND);
        assert_eq!(changelog(None).state(now()), ChangelogState::Draft);
        assert_eq!(changelog(Some(later)).state(now()), ChangelogState::Scheduled(later));
        assert_eq!(changelog(Some(later)).state(later), ChangelogState::Published(later));
        assert_eq!(changelog(Some(now())).state(later).name(), "published");
    }
}
