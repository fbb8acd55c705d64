//! Changelogs: announcements of the product team, contract section 2.8.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::attachment::Filename;
use crate::model::feature_request::Title;
use crate::model::html::CleanHtml;
use crate::model::id::{AttachmentId, ChangelogId};
use crate::model::timestamp::Timestamp;

/// The validated fields of a new changelog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogDraft {
    /// Title.
    pub title: Title,
    /// Content.
    pub content: CleanHtml,
    /// The cover image.
    pub cover: Option<AttachmentId>,
    /// Whether it is published immediately.
    pub publish: bool,
}

impl ChangelogDraft {
    /// Validates the fields of a changelog. `resolve_reference` verifies a signed reference and returns its file.
    ///
    /// # Errors
    /// A title or content that is missing or invalid, or a reference that cannot be resolved.
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
    /// ID.
    pub id: ChangelogId,
    /// Title.
    pub title: Title,
    /// The sanitized HTML.
    pub content: CleanHtml,
    /// The cover image, if any.
    pub cover: Option<CoverImage>,
    /// Timestamp of the publication. `None` for a draft.
    pub published_at: Option<Timestamp>,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
}

impl Changelog {
    /// Returns `published` or `draft`.
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
