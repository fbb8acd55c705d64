//! An image of a form: a cover or the logo.
//!
//! A file that was sent with a form is stored at once, so that it is not lost when another field has a problem. The page
//! keeps it as a signed reference, as clients of the API do. A raw ID is never accepted.

use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::attachment::Filename;
use roadmap_domain::model::changelog::CoverImage;
use roadmap_domain::model::id::AttachmentId;
use roadmap_domain::policy::signed_reference::Purpose;
use roadmap_domain::usecase::query::files::FindFile;
use roadmap_http::error::HttpError;

use std::rc::Rc;

use crate::admin::parts::store_image;
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::portal::images::{CACHED_FOR_ONE, stream};
use crate::reply::PageResult;

/// The image that a form has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ImageField {
    file: Option<AttachmentId>,
    /// The name of the file.
    name: String,
    /// Whether the box to remove it is ticked.
    is_removed: bool,
}

/// The same as templates show it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ImageView {
    /// The path of the image, if there is one.
    pub(crate) path: Option<String>,
    /// The signed reference.
    pub(crate) reference: String,
    /// The name of the file.
    pub(crate) name: String,
    /// Whether the box to remove it is ticked.
    pub(crate) is_removed: bool,
}

impl ImageField {
    /// Returns the stored image.
    pub(crate) fn of_stored(image: Option<&CoverImage>) -> Self {
        Self {
            file: image.map(|image| image.attachment),
            name: image.map(|image| image.filename.as_str().to_owned()).unwrap_or_default(),
            is_removed: false,
        }
    }

    /// Reads the image of a form: a new file of at most `max` bytes, or the one that the page had. `gone` is the key of
    /// the sentence about a reference that is not valid.
    ///
    /// # Errors
    /// The file cannot be stored.
    pub(crate) async fn read(
        context: &Context,
        fields: &Fields,
        id: &str,
        max: usize,
        gone: &str,
        problems: &mut Problems,
    ) -> Result<Self, HttpError> {
        if let Some(sent) = fields.file(id) {
            match store_image(context, sent, max, problems).await {
                Ok(Some(stored)) => {
                    let name = stored.filename.as_str().to_owned();
                    return Ok(Self { file: Some(stored.id), name, is_removed: false });
                }
                Ok(None) => {}
                Err(HttpError::Domain(RoadmapError::OverBudget(_))) => {
                    problems.add(id, context.text().get("storage-used-up"));
                }
                Err(error) => return Err(error),
            }
        }
        let reference = fields.get(&format!("{id}-reference"));
        let file = file_of(context, reference);
        if file.is_none() && !reference.is_empty() {
            problems.add(id, context.text().get(gone));
        }
        let is_removed = fields.has(&format!("{id}-removed"));
        Ok(Self { file, name: fields.get(&format!("{id}-name")).to_owned(), is_removed })
    }

    /// Returns the file that is to be stored.
    pub(crate) fn file_to_store(&self) -> Option<AttachmentId> {
        self.file.filter(|_| !self.is_removed)
    }

    /// Returns what templates show.
    pub(crate) fn view(&self, context: &Context) -> ImageView {
        let Some(file) = self.file else { return ImageView::default() };
        let reference = context.links.signed_id(file);
        let path = format!("/admin/covers/{reference}/{}", Filename::sanitize(&self.name).percent_encoded());
        ImageView { path: Some(path), reference, name: self.name.clone(), is_removed: self.is_removed }
    }
}

/// Returns the file of a signed reference.
fn file_of(context: &Context, reference: &str) -> Option<AttachmentId> {
    let http = &context.state.http;
    let file = http.references.verify(Purpose::Blob, context.workspace.id, reference, http.clock.now());
    file.map(AttachmentId::new)
}

/// `GET /admin/covers/{id}/{name}`: an image that a form shows, also before it is public. The ID is the signed reference
/// that the page has, so that nothing else can be opened. The name is for people and not compared.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let file = file_of(&context, context.parameter("id")).ok_or(HttpError::NotFound)?;
    let file = context.run(&FindFile { file }).await?;
    stream(&context, &file, CACHED_FOR_ONE, "same-origin").await
}
