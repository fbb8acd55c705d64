//! Query parameters and forms.

use actix_multipart::{Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::http::header::HeaderMap;
use actix_web::web::{Bytes, BytesMut};
use futures_util::StreamExt;
use roadmap_domain::error::FieldError;
use roadmap_domain::model::attachment::Filename;
use roadmap_domain::usecase::upload_attachment::FileDescription;
use roadmap_http::error::HttpError;
use roadmap_http::form_part::{FormPart, lenient_headers};
use sha2::{Digest, Sha256};

use crate::digest;

/// Largest form in bytes: two texts of 20,000 characters, percent-encoded at worst.
pub(crate) const LIMIT: usize = 512 * 1024;

/// Largest form with files in bytes: a picture and a cover of [`MAX_IMAGE`] each. A larger file than that is read, too, so
/// that the form can be shown again with a sentence about it.
pub(crate) const FILE_LIMIT: usize = 2 * MAX_IMAGE + LIMIT;

/// Largest image of a form in bytes.
pub(crate) const MAX_IMAGE: usize = 5 * 1024 * 1024;

/// The fields of a query or a form, in their order. Unless a method says otherwise, the first one of a name counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields {
    values: Vec<(String, String)>,
    /// The files that were chosen.
    files: Vec<UploadedFile>,
}

/// A file that was sent with a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UploadedFile {
    /// The name of its field.
    pub(crate) field: String,
    /// The name and the media type that the browser declares.
    pub(crate) description: FileDescription,
    pub(crate) content: Bytes,
}

/// Maximum number of fields that are read: the check boxes of a selection, and the other fields of its form.
const MAX_FIELDS: usize = 150;

impl Fields {
    /// Parses fields (`application/x-www-form-urlencoded`). Malformed parts become the replacement character.
    pub(crate) fn parse(encoded: &[u8]) -> Self {
        let fields = url::form_urlencoded::parse(encoded).take(MAX_FIELDS);
        Self {
            values: fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect(),
            files: Vec::new(),
        }
    }

    /// Reads the fields of a form with files (`multipart/form-data`, RFC 7578). A part with a file name is a file, if one was
    /// chosen.
    ///
    /// # Errors
    /// The body is malformed.
    pub(crate) async fn parse_multipart(headers: &HeaderMap, body: Bytes) -> Result<Self, HttpError> {
        let malformed = |_: MultipartError| HttpError::MalformedBody;
        let body = futures_util::stream::once(std::future::ready(Ok::<_, PayloadError>(body)));
        let mut parts = Multipart::new(&lenient_headers(headers), body);
        let mut fields = Self::default();
        for _ in 0..MAX_FIELDS {
            let Some(part) = parts.next().await else { break };
            let mut part = part.map_err(malformed)?;
            let FormPart { name, filename } = FormPart::parse(part.headers()).ok_or(HttpError::MalformedBody)?;
            let media_type = part.content_type().map(|mime| mime.essence_str().to_owned());
            let mut content = BytesMut::new();
            while let Some(piece) = part.next().await {
                content.extend_from_slice(&piece.map_err(malformed)?);
            }
            match filename {
                // A browser sends an empty file if none was chosen.
                Some(_) if content.is_empty() => {}
                Some(filename) => {
                    let description = FileDescription { filename: Filename::sanitize(&filename), media_type };
                    fields.files.push(UploadedFile { field: name, description, content: content.freeze() });
                }
                None => fields.values.push((name, String::from_utf8_lossy(&content).into_owned())),
            }
        }
        Ok(fields)
    }

    /// Returns the file of a field, if one was chosen.
    pub(crate) fn file(&self, field: &str) -> Option<&UploadedFile> {
        self.files.iter().find(|file| file.field == field)
    }

    /// Returns all values of a field, in their order.
    pub(crate) fn all<'a, 'b>(&'a self, name: &'b str) -> impl Iterator<Item = &'a str> + use<'a, 'b> {
        self.values.iter().filter(move |(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// Returns a digest of everything that was sent.
    pub(crate) fn digest(&self) -> String {
        let mut digest = Sha256::new();
        let values = self.values.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
        for part in values.chain(self.files.iter().map(|file| &file.content[..])) {
            digest.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            digest.update(part);
        }
        digest::hex(digest.finalize().iter().take(digest::SHORT))
    }

    /// Returns the value of a field as it was sent. A missing one is empty.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.values.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value)
    }

    /// Whether a field was sent.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }
}

/// The problems of a form, in the order of its fields.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problems(Vec<(String, String)>);

impl Problems {
    /// Adds a problem: the ID of the field, and a sentence.
    pub(crate) fn add(&mut self, field: impl Into<String>, sentence: impl Into<String>) {
        self.0.push((field.into(), sentence.into()));
    }

    /// Adds the problem of a validated field, unless it is valid.
    pub(crate) fn check<T>(&mut self, validated: Result<T, FieldError>, text: crate::text::Text) -> Option<T> {
        validated.map_err(|error| self.add(error.field.clone(), text.problem(&error))).ok()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sentence about a field, if it has a problem.
    pub(crate) fn of(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|(of, _)| of == field).map(|(_, sentence)| sentence.as_str())
    }

    /// Returns all problems.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, String)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{CONTENT_TYPE, HeaderValue};
    use actix_web::rt::System;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        System::new().block_on(future)
    }

    #[test]
    fn a_form_with_a_file_is_read() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n\u{e4}\r\n\
            --x\r\nContent-Disposition: form-data; name=\"none\"; filename=\"\"\r\n\r\n\r\n\
            --x\r\nContent-Disposition: form-data; name=\"cover\"; filename=\"a/b.png\"\r\n\
            Content-Type: image/png\r\n\r\nbytes\r\n--x--\r\n";
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("multipart/form-data; boundary=x"));
        let read = |body: &str| block_on(Fields::parse_multipart(&headers, Bytes::from(body.to_owned())));
        let fields = read(body).unwrap();
        assert_eq!((fields.get("title"), fields.file("none"), fields.file("title")), ("\u{e4}", None, None));
        let file = fields.file("cover").unwrap();
        assert_eq!((file.description.filename.as_str(), &file.content[..]), ("b.png", &b"bytes"[..]));
        assert_eq!(file.description.media_type.as_deref(), Some("image/png"));
        assert_ne!(fields.digest(), read(&body.replace("bytes", "other")).unwrap().digest());
        assert!(read("--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\ncut").is_err());
    }

    #[test]
    fn the_first_of_repeated_fields_counts_and_nothing_is_lost() {
        let fields = Fields::parse(b"title=a%20b&title=c&empty=&content=%C3%A4+%0D%0A%ff");
        assert_eq!((fields.get("title"), fields.get("empty"), fields.get("none")), ("a b", "", ""));
        assert_eq!(fields.get("content"), "\u{e4} \r\n\u{fffd}");
        assert!(fields.has("empty") && !fields.has("none"));
        assert_eq!(fields.all("title").collect::<Vec<_>>(), ["a b", "c"]);
        assert_ne!(fields.digest(), Fields::parse(b"title=a%20b").digest());
        let many: String = (0..1_000).map(|number| format!("f{number}=1&")).collect();
        assert!(Fields::parse(many.as_bytes()).has("f149") && !Fields::parse(many.as_bytes()).has("f150"));
    }
}
