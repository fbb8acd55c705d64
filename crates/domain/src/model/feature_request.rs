//! Feature requests, contract section 2.2.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::customer::{CustomerName, NewCustomer};
use crate::model::html::CleanHtml;
use crate::model::id::{FeatureRequestId, TrackId, parse_hyphenated_uuid};
use crate::model::search::SearchDocument;
use crate::model::slug;
use crate::model::text::{line_type, truncate};
use crate::model::timestamp::Timestamp;
use crate::model::track::Placement;

line_type! {
    /// The public title of a feature request: 1 to 200 characters.
    Title, 200
}

line_type! {
    /// A tag: 1 to 50 characters.
    Tag, 50
}

impl Tag {
    /// Maximum number of tags of a feature request.
    pub const MAX_COUNT: usize = 20;

    /// Validates a list of tags. A tag that differs from an earlier one only in case is omitted.
    ///
    /// # Errors
    /// More than [`Self::MAX_COUNT`] tags, or a tag that is blank or too long.
    pub fn parse_list(field: &str, raw: &[String]) -> Validated<Vec<Self>> {
        if raw.len() > Self::MAX_COUNT {
            return Err(FieldError::new(field, FieldProblem::TooMany { max: Self::MAX_COUNT }));
        }
        let mut tags: Vec<Self> = Vec::with_capacity(raw.len());
        for raw in raw {
            let tag = Self::parse(field, raw)?;
            if !tags.iter().any(|seen| seen.equals(&tag)) {
                tags.push(tag);
            }
        }
        Ok(tags)
    }

    /// Returns the tag in lower case. Tags that are equal in it are the same.
    #[must_use]
    pub fn folded(&self) -> String {
        self.0.to_lowercase()
    }

    /// Whether both are the same tag, regardless of case.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        self.folded() == other.folded()
    }
}

/// The description of a feature request as sanitized HTML and as plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    html: CleanHtml,
    text: String,
}

impl Description {
    /// Maximum number of characters of a description.
    pub const MAX: usize = 20_000;
    /// Maximum number of characters of an excerpt, contract section 8.
    pub const EXCERPT_MAX: usize = 500;

    /// Sanitizes a description, which may be empty.
    ///
    /// # Errors
    /// Too long, with a NUL character, or with too much markup.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let html = CleanHtml::parse_optional(field, raw.trim(), Self::MAX)?;
        Ok(Self { text: html.to_text(), html })
    }

    /// Sanitizes a description that was converted from Markdown, whose length was checked as it was typed.
    ///
    /// # Errors
    /// With a NUL character, or with too much markup.
    pub fn from_html(field: &str, html: &str) -> Validated<Self> {
        let html = CleanHtml::parse_optional(field, html.trim(), CleanHtml::MAX)?;
        Ok(Self { text: html.to_text(), html })
    }

    /// Wraps a stored description, which is not validated again.
    #[must_use]
    pub fn from_stored(html: String, text: String) -> Self {
        Self { html: CleanHtml::from_stored(html), text }
    }

    /// Returns the description as HTML.
    #[must_use]
    pub fn html(&self) -> &str {
        self.html.as_str()
    }

    /// Returns the description as sanitized HTML.
    #[must_use]
    pub const fn clean(&self) -> &CleanHtml {
        &self.html
    }

    /// Returns the same description with other HTML, which shows the same text.
    #[must_use]
    pub fn with_html(&self, html: CleanHtml) -> Self {
        Self { html, text: self.text.clone() }
    }

    /// Returns the description as plain text. That of a description that shows nothing is empty.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the start of a description's text: at most 500 Unicode characters.
#[must_use]
pub fn excerpt(text: &str) -> &str {
    truncate(text, Description::EXCERPT_MAX)
}

/// A reference of a client to a feature request: a UUID or a slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureRequestRef {
    Id(FeatureRequestId),
    /// The tag number at the start of a slug.
    Number(i64),
    /// Neither a UUID nor a slug. It references no feature request.
    Unresolvable,
}

impl FeatureRequestRef {
    /// Parses a path segment.
    ///
    /// A segment that is neither a UUID nor a slug is not an error, but a reference to a feature request that does not
    /// exist.
    #[must_use]
    pub fn parse(segment: &str) -> Self {
        match (parse_hyphenated_uuid(segment), slug::parse_tag_number(segment)) {
            (Some(id), _) => Self::Id(FeatureRequestId::new(id)),
            (None, Some(number)) => Self::Number(number),
            (None, None) => Self::Unresolvable,
        }
    }

    /// Whether it refers to this feature request itself, and not to one that was merged into it.
    #[must_use]
    pub fn is_of(self, request: &FeatureRequestSummary) -> bool {
        match self {
            Self::Id(id) => id == request.id,
            Self::Number(number) => number == request.tag_number,
            Self::Unresolvable => false,
        }
    }
}

/// A feature request to be stored. The store assigns its tag number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFeatureRequest {
    pub id: FeatureRequestId,
    pub title: Title,
    pub description: Description,
    /// Tags in the given order.
    pub tags: Vec<Tag>,
    /// The initial track.
    pub track: TrackId,
    /// Whether the team has decided about it: it begins on another track than the first one.
    pub is_handled: bool,
    /// Whether the feature request is hidden from search and all public views.
    pub private: bool,
    /// Whether it is private only until it is approved.
    pub awaiting_approval: bool,
    /// The requesting customer.
    pub author: Option<NewCustomer>,
    /// The search document. `None` for a private feature request, which is excluded from search.
    pub search: Option<SearchDocument>,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
}

impl NewFeatureRequest {
    /// Returns what it needs from the team.
    #[must_use]
    pub const fn attention(&self) -> Option<Attention> {
        if self.private || self.is_handled { None } else { Some(Attention::Unanswered) }
    }

    /// Returns when the team has decided about it.
    #[must_use]
    pub fn handled_at(&self) -> Option<Timestamp> {
        self.is_handled.then_some(self.created_at)
    }
}

/// What a feature request needs from the team, which is one of the two or nothing. The stores keep it: migration
/// `tell_replies_apart`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attention {
    /// It is public, nobody of the team has commented on it or on what is merged into it, and it was never moved. Nobody
    /// said that no answer is needed.
    Unanswered,
    /// The last word is a customer's: it is later than the team's last comment, the last move, and the last time that
    /// somebody said that no answer is needed.
    Replied,
}

impl Attention {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Unanswered, Self::Replied];

    /// Returns the stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unanswered => "unanswered",
            Self::Replied => "replied",
        }
    }

    /// Returns the one with this stored name.
    #[must_use]
    pub fn from_stored(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attention| attention.name() == name)
    }
}

/// The fields that all representations of a feature request share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureRequestSummary {
    pub id: FeatureRequestId,
    /// Tag number, unique in the workspace, from 1.
    pub tag_number: i64,
    pub title: Title,
    /// Track and public status.
    pub placement: Placement,
    /// Number of votes.
    pub votes_count: i64,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
}

impl FeatureRequestSummary {
    /// Returns the slug, which consists of the tag number and the title.
    #[must_use]
    pub fn slug(&self) -> String {
        slug::slug(self.tag_number, &self.title)
    }
}

/// A feature request with all of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureRequestDetail {
    /// The fields that all representations share.
    pub summary: FeatureRequestSummary,
    /// The sanitized HTML of the description. It may be empty.
    pub description: CleanHtml,
    /// Tags in the given order.
    pub tags: Vec<Tag>,
    /// Whether it is hidden from search and all public views.
    pub private: bool,
    /// Whether it is private only until it is approved.
    pub awaiting_approval: bool,
    /// Number of entries in its list of comments.
    pub comments_count: i64,
    /// The customer who asked for it.
    pub author: Option<CustomerName>,
    /// What was merged into it, directly or not, oldest first.
    pub merged: Vec<RequestLink>,
    /// Timestamp of the last change of title, description, tags, track, visibility or merges.
    pub updated_at: Timestamp,
}

/// A feature request, as other records refer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLink {
    pub id: FeatureRequestId,
    pub tag_number: i64,
    pub title: Title,
}

impl RequestLink {
    /// Returns the slug, which consists of the tag number and the title.
    #[must_use]
    pub fn slug(&self) -> String {
        slug::slug(self.tag_number, &self.title)
    }
}

impl From<&FeatureRequestSummary> for RequestLink {
    fn from(request: &FeatureRequestSummary) -> Self {
        Self { id: request.id, tag_number: request.tag_number, title: request.title.clone() }
    }
}

/// The fields of a feature request that can be edited, as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditableFields {
    pub id: FeatureRequestId,
    pub title: Title,
    pub description: Description,
    /// Tags in the given order.
    pub tags: Vec<Tag>,
    /// Whether it is hidden from search and all public views. One that is not does not await approval any more.
    pub private: bool,
}

/// The order of a list of feature requests. Equal ones come newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Most voted first.
    #[default]
    Votes,
    /// Newest first.
    Newest,
    /// Last updated first.
    Updated,
}

impl Sort {
    /// All orders.
    pub const ALL: [Self; 3] = [Self::Votes, Self::Newest, Self::Updated];

    /// Returns the value of the parameter.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Votes => "votes",
            Self::Newest => "newest",
            Self::Updated => "updated",
        }
    }

    /// Parses the parameter `sort`. Absent or blank means [`Self::Votes`].
    ///
    /// # Errors
    /// Any other value.
    pub fn parse(raw: Option<&str>) -> Validated<Self> {
        let raw = raw.unwrap_or_default().trim();
        if raw.is_empty() {
            return Ok(Self::default());
        }
        let expected = "one of votes, newest, updated";
        let known = Self::ALL.into_iter().find(|sort| sort.name() == raw);
        known.ok_or_else(|| FieldError::new("sort", FieldProblem::Malformed { expected }))
    }
}

/// A search result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    pub summary: FeatureRequestSummary,
    /// The complete description as plain text.
    pub description: String,
}

/// The texts that a feature request is searched by, as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchableText {
    pub title: String,
    pub tags: Vec<String>,
    /// Description as plain text.
    pub description: String,
    /// Titles and tags of the public feature requests that are merged into it, oldest first.
    pub merged: Vec<String>,
}

impl SearchableText {
    /// Builds the search document. The words of merged feature requests count as tags.
    #[must_use]
    pub fn document(&self) -> SearchDocument {
        let tags = self.tags.iter().chain(&self.merged).map(String::as_str);
        SearchDocument::new(&self.title, tags, &self.description)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::summary;
    use proptest::prelude::*;
    use uuid::Uuid;

    /// Contract 2.2.
    #[test]
    fn a_reference_is_a_uuid_or_a_slug_or_unresolvable() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        assert_eq!(
            FeatureRequestRef::parse(id),
            FeatureRequestRef::Id(FeatureRequestId::new(parse_hyphenated_uuid(id).unwrap()))
        );
        assert_eq!(FeatureRequestRef::parse("12-dark-mode"), FeatureRequestRef::Number(12));
        // 36 characters that start with digits and a dash, but are not a UUID: a slug.
        assert_eq!(FeatureRequestRef::parse("12-a-title-of-thirty-six-characters-"), FeatureRequestRef::Number(12));
        for other in ["", "dark-mode", "..", "%00", "-1"] {
            assert_eq!(FeatureRequestRef::parse(other), FeatureRequestRef::Unresolvable, "{other}");
        }
    }

    /// Decision 3; Addition 2.
    #[test]
    fn tags_are_trimmed_and_deduplicated() {
        let raw = [" Mobile ".to_owned(), "mobile".to_owned(), "API".to_owned()];
        let tags: Vec<String> = Tag::parse_list("tags", &raw).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(tags, ["Mobile", "API"]);
        assert_eq!(Tag::parse_list("tags", &[" ".to_owned()]).unwrap_err(), FieldError::missing("tags"));
        let tags: Vec<String> = (1..=20).map(|number| format!("tag {number}")).collect();
        assert_eq!(Tag::parse_list("tags", &tags).unwrap().len(), 20);
        assert_eq!(
            Tag::parse_list("tags", &vec!["t".to_owned(); 21]).unwrap_err().to_string(),
            "tags must have at most 20 items"
        );
        assert_eq!(
            Tag::parse_list("tags", &["t".repeat(51)]).unwrap_err().to_string(),
            "tags must be at most 50 characters long"
        );
    }

    #[test]
    fn a_description_is_clean_html_and_its_text() {
        let description = Description::parse("description", " <p onclick=x>Dark <b>mode</b></p> ").unwrap();
        assert_eq!((description.html(), description.text()), ("<p>Dark <b>mode</b></p>", "Dark mode"));
    }

    #[test]
    fn a_description_that_shows_nothing_has_an_empty_text() {
        for blank in
            ["", " ", "\u{a0}", "&nbsp;", "\n\r\n", "<p> </p>", "<p>&nbsp;</p><br>\n<p>\t</p>", "\u{3000}", "\u{200b}"]
        {
            assert_eq!(Description::parse("description", blank).unwrap().text(), "", "{blank:?}");
            assert_eq!(Description::from_html("description", blank).unwrap().text(), "", "{blank:?}");
        }
    }

    #[test]
    fn a_list_is_sorted_by_votes_unless_told_otherwise() {
        for (raw, sort) in [
            (None, Sort::Votes),
            (Some(" "), Sort::Votes),
            (Some("votes"), Sort::Votes),
            (Some("newest"), Sort::Newest),
            (Some("updated"), Sort::Updated),
        ] {
            assert_eq!(Sort::parse(raw).unwrap(), sort);
        }
        let error = Sort::parse(Some("Votes")).unwrap_err();
        assert_eq!(error.to_string(), "sort is not one of votes, newest, updated");
    }

    /// Addition 3.
    #[test]
    fn a_search_document_has_the_words_of_merged_requests_as_tags() {
        let text = |tags: &[&str], merged: &[&str]| SearchableText {
            title: "Dark mode".to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            description: "Eyes".to_owned(),
            merged: merged.iter().map(|text| (*text).to_owned()).collect(),
        };
        assert_eq!(text(&["ui"], &["Night theme"]).document(), text(&["ui", "Night theme"], &[]).document());
        assert_ne!(text(&["ui"], &["Night theme"]).document(), text(&["ui"], &[]).document());
    }

    #[test]
    fn a_slug_is_number_and_title() {
        assert_eq!(summary("Inbox", None, 0).slug(), "7-dark-mode");
    }

    /// Decision 3: a description in search is up to 500 whole Unicode characters without HTML.
    /// Contract 2.2.
    #[test]
    fn an_excerpt_is_text_of_at_most_500_characters() {
        let description = Description::parse("description", &format!("<p>{}</p>", "é".repeat(600))).unwrap();
        assert_eq!(excerpt(description.text()), "é".repeat(500));
        assert_eq!(excerpt("short"), "short");
    }

    proptest! {
        #[test]
        fn a_reference_is_read_back_from_an_id_in_either_case(id in any::<u128>()) {
            let id = Uuid::from_u128(id);
            for text in [id.to_string(), id.to_string().to_uppercase()] {
                prop_assert_eq!(FeatureRequestRef::parse(&text), FeatureRequestRef::Id(FeatureRequestId::new(id)));
            }
            for text in [id.simple().to_string(), id.braced().to_string(), id.urn().to_string(), format!("{id}-")] {
                prop_assert!(!matches!(FeatureRequestRef::parse(&text), FeatureRequestRef::Id(_)), "{}", text);
            }
        }

        #[test]
        fn a_slug_of_any_title_resolves_to_its_request(number in 1..=i64::MAX, raw in "\\PC{1,200}|[0-9 -]{1,60}") {
            let Ok(title) = Title::parse("title", &raw) else { return Ok(()) };
            let slug = slug::slug(number, &title);
            prop_assert!(slug.split('-').all(|word| !word.is_empty()), "{}", slug);
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            prop_assert!(slug.bytes().all(plain), "{}", slug);
            // A number of eight digits and words of digits can form a UUID, which takes precedence.
            prop_assume!(parse_hyphenated_uuid(&slug).is_none());
            prop_assert_eq!(FeatureRequestRef::parse(&slug), FeatureRequestRef::Number(number));
        }

        #[test]
        fn any_path_segment_is_parsed(segment in "(?s).{0,60}|[0-9a-f-]{36}|[0-9]{1,25}-?.{0,9}") {
            match FeatureRequestRef::parse(&segment) {
                FeatureRequestRef::Id(id) => prop_assert_eq!(id.to_string(), segment.to_lowercase()),
                FeatureRequestRef::Number(number) => {
                    let digits = segment.split('-').next().unwrap_or_default().trim_start_matches('0');
                    prop_assert_eq!(number.to_string().replacen('0', "", usize::from(number == 0)), digits);
                }
                FeatureRequestRef::Unresolvable => {}
            }
        }
    }
}
