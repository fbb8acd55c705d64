//! Changelogs: what the product team has to tell, contract section 2.8.

use crate::error::{Invalid, Parsed, Problem};
use crate::model::feature_request::Title;
use crate::model::html::CleanHtml;
use crate::model::id::ChangelogId;
use crate::model::timestamp::Timestamp;

/// A changelog as a call describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogDraft {
    /// Title.
    pub title: Title,
    /// Content.
    pub content: CleanHtml,
    /// Whether it is public at once.
    pub publish: bool,
}

impl ChangelogDraft {
    /// Checks the fields of a changelog.
    ///
    /// # Errors
    /// A title or content that is missing or too long; a cover image, because no file has been
    /// uploaded to this workspace that the reference could stand for.
    pub fn parse(
        title: Option<&str>,
        content: Option<&str>,
        cover_image_signed_id: Option<&str>,
        publish: bool,
    ) -> Parsed<Self> {
        let title = Title::parse("title", title.unwrap_or_default())?;
        let content = CleanHtml::parse("content", content.unwrap_or_default())?;
        if cover_image_signed_id.is_some_and(|reference| !reference.trim().is_empty()) {
            let sentence = "Cover image is invalid";
            return Err(Invalid::new("cover_image_signed_id", Problem::Refused { sentence }));
        }
        Ok(Self { title, content, publish })
    }
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

    #[test]
    fn a_reference_to_no_file_is_refused() {
        let draft = |cover| ChangelogDraft::parse(Some("1.2"), Some("<p>New</p>"), cover, false);
        assert_eq!(draft(Some("forged")).unwrap_err().to_string(), "Cover image is invalid");
        assert!(draft(None).is_ok());
        assert!(draft(Some(" ")).is_ok());
    }
}
