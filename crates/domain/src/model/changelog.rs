//! Changelogs: what the product team has to tell, contract section 2.8.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::attachment::Filename;
use crate::model::feature_request::Title;
use crate::model::html::CleanHtml;
use crate::model::id::{AttachmentId, ChangelogId};
use crate::model::timestamp::Timestamp;

/// A changelog as a call describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogDraft {
    /// Title.
    pub title: Title,
    /// Content.
    pub content: CleanHtml,
    /// The file that is to be its cover.
    pub cover: Option<AttachmentId>,
    /// Whether it is public at once.
    pub publish: bool,
}

impl ChangelogDraft {
    /// Checks the fields of a changelog. `resolve_reference` finds the file that a signed reference is to.
    ///
    /// # Errors
    /// A title or content that is missing or too long; a reference to nothing.
    pub fn parse(
        title: Option<&str>,
        content: Option<&str>,
        cover_image_signed_id: Option<&str>,
        publish: bool,
        resolve_reference: impl FnOnce(&str) -> Option<AttachmentId>,
    ) -> Validated<Self> {
        let title = Title::parse("title", title.unwrap_or_default())?;
        let content = CleanHtml::parse("content", content.unwrap_or_default())?;
        let reference = cover_image_signed_id.map(str::trim).filter(|reference| !reference.is_empty());
        let cover = reference.map(|reference| resolve_reference(reference).ok_or_else(invalid_cover)).transpose()?;
        Ok(Self { title, content, cover, publish })
    }
}

/// A cover image that is forged, another workspace's, or gone.
#[must_use]
pub fn invalid_cover() -> FieldError {
    FieldError::new("cover_image_signed_id", FieldProblem::Custom { message: "Cover image is invalid" })
}

/// The file that is the cover of a changelog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverImage {
    /// Which.
    pub attachment: AttachmentId,
    /// Its name.
    pub filename: Filename,
}

/// A changelog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changelog {
    /// Identity.
    pub id: ChangelogId,
    /// Title.
    pub title: Title,
    /// The cleaned HTML.
    pub content: CleanHtml,
    /// Its cover, if it has one.
    pub cover: Option<CoverImage>,
    /// When it became public; none while it is a draft.
    pub published_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Changelog {
    /// `published` or `draft`.
    #[must_use]
    pub fn status(&self) -> &'static str {
        if self.published_at.is_some() { "published" } else { "draft" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_reference_to_no_file_is_rejected() {
        let file = AttachmentId::new(Uuid::from_u128(1));
        let resolve_reference = |reference: &str| (reference == "signed").then_some(file);
        let draft = |cover| ChangelogDraft::parse(Some("1.2"), Some("<p>New</p>"), cover, false, resolve_reference);
        assert_eq!(draft(Some("forged")).unwrap_err().to_string(), "Cover image is invalid");
        assert_eq!(draft(Some("signed")).unwrap().cover, Some(file));
        assert_eq!(draft(None).unwrap().cover, None);
        assert_eq!(draft(Some(" ")).unwrap().cover, None);
    }
}
