//! What several pages of the admin panel show: choices, tracks, people, files of comma-separated values.

use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, CROSS_ORIGIN_RESOURCE_POLICY,
};
use roadmap_domain::model::admin::InboxCounts;
use roadmap_domain::model::attachment::{Attachment, ContentHeaders};
use roadmap_domain::model::audit::{Actor, ActorKind};
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::{CustomerId, TrackId};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::spreadsheet;
use roadmap_domain::usecase::query::files::ReadableFile;
use roadmap_domain::usecase::upload_attachment::InMemory;
use roadmap_http::content::body_stream;
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::form::{MAX_IMAGE, Problems, UploadedFile};
use crate::reply::{NOSNIFF, PageResult, Reply};
use crate::text::Text;

/// An option of a select.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
    /// Whether it is chosen.
    pub(crate) is_chosen: bool,
}

impl Choice {
    /// Creates an option, which is chosen if its value is `selection`.
    pub(crate) fn new(value: impl Into<String>, label: impl Into<String>, selection: &str) -> Self {
        let value = value.into();
        Self { is_chosen: value == selection, label: label.into(), value }
    }
}

/// Returns the tracks as options.
pub(crate) fn track_choices(counts: &InboxCounts, selection: Option<TrackId>) -> Vec<Choice> {
    let selection = selection.map(|track| track.to_string()).unwrap_or_default();
    let choice = |track: &roadmap_domain::model::track::Track| {
        Choice::new(track.id.to_string(), track.name.as_str(), &selection)
    };
    counts.tracks.iter().map(|counts| choice(&counts.track)).collect()
}

/// A point in time, in words and for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DisplayTime {
    /// In words.
    pub(crate) words: String,
    /// As in HTML's `datetime`.
    pub(crate) machine: String,
}

impl DisplayTime {
    /// Creates a date.
    pub(crate) fn day(t: Text, at: Timestamp) -> Self {
        Self { words: t.date(at), machine: t.machine_date(at) }
    }

    /// Creates a date for a table.
    pub(crate) fn short_day(t: Text, at: Timestamp) -> Self {
        Self { words: t.short_date(at), machine: t.machine_date(at) }
    }

    /// Creates a date with the time.
    pub(crate) fn minute(t: Text, at: Timestamp) -> Self {
        Self { words: t.date_time(at), machine: at.to_string() }
    }
}

/// A customer in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Person {
    /// The name, or the address if there is none.
    pub(crate) label: String,
    /// The address.
    pub(crate) email: String,
    /// The path of the customer's page.
    pub(crate) path: String,
}

impl Person {
    /// Returns the name with the address, for a text that has no room for a link.
    pub(crate) fn full(&self) -> String {
        if self.label == self.email { self.email.clone() } else { format!("{} ({})", self.label, self.email) }
    }
}

impl From<&CustomerName> for Person {
    fn from(customer: &CustomerName) -> Self {
        let email = customer.email.as_str().to_owned();
        let name = customer.name.as_ref().map(|name| name.as_str().to_owned());
        Self { label: name.unwrap_or_else(|| email.clone()), path: format!("/admin/customers/{}", customer.id), email }
    }
}

/// Returns a customer in a list by the parts of a record.
pub(crate) fn person(id: CustomerId, name: Option<&Name>, email: &EmailAddress) -> Person {
    let customer = CustomerName { id, name: name.cloned(), email: email.clone() };
    Person::from(&customer)
}

/// Returns the name of an actor in words.
pub(crate) fn actor_name(t: Text, actor: &Actor) -> String {
    match actor.kind {
        ActorKind::Member => actor.name.clone(),
        ActorKind::ApiKey => t.named("team-actor-key", &actor.name),
        ActorKind::Customer => t.get("team-actor-customer").into_owned(),
        ActorKind::Operator => t.named("team-actor-operator", &actor.name),
        ActorKind::Service => t.get("team-actor-service").into_owned(),
    }
}

/// Marks a file as UTF-8 for spreadsheets, which otherwise take it for the local encoding.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A table of comma-separated values (RFC 4180), as a file to download.
pub(crate) struct CsvFile(String);

impl CsvFile {
    /// Creates a table with the names of its columns.
    pub(crate) fn new(columns: &[&str]) -> Self {
        let mut file = Self(BYTE_ORDER_MARK.to_owned());
        file.row(columns.iter().copied());
        file
    }

    /// Adds a row.
    pub(crate) fn row<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) {
        let cells: Vec<String> = cells.into_iter().map(spreadsheet::cell).collect();
        self.0.push_str(&cells.join(","));
        self.0.push('\n');
    }

    /// Returns the file as a response.
    pub(crate) fn into_reply(self, filename: &str) -> Reply {
        Reply::file("text/csv; charset=utf-8", filename, self.0)
    }
}

/// Returns a file of an import or an export, as a file to download.
///
/// # Errors
/// 404 if its bytes are missing. Otherwise the storage fails.
pub(crate) async fn download_reply(file: &ReadableFile) -> PageResult {
    let chunks = file.read(None).await.map_err(HttpError::of_page)?;
    // What begins like an image is saved, too.
    let headers = ContentHeaders { inline: false, ..file.content_headers.clone() };
    let response = HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, headers.content_type.as_str()))
        .insert_header((CONTENT_DISPOSITION, headers.content_disposition()))
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; sandbox"))
        .insert_header((CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"))
        .insert_header((CACHE_CONTROL, "private, no-store"))
        .insert_header(NOSNIFF)
        .body(SizedStream::new(file.attachment.byte_size, body_stream(chunks)));
    Ok(Reply::other(response))
}

/// Returns the size of a file in words, rounded up.
pub(crate) fn file_size(t: Text, bytes: u64) -> String {
    match bytes {
        0..1_000_000 => t.count("size-kb", bytes.div_ceil(1_000)),
        _ => t.count("size-mb", bytes.div_ceil(1_000_000)),
    }
}

/// Stores an image that was sent with a form. `None` if it is no image, or larger than `max` bytes: then the problem is
/// that of its field.
///
/// # Errors
/// Those of the upload.
pub(crate) async fn store_image(
    context: &Context,
    file: &UploadedFile,
    max: usize,
    problems: &mut Problems,
) -> Result<Option<Attachment>, HttpError> {
    let text = context.text();
    if file.content.len() > max.min(MAX_IMAGE) {
        problems.add(file.field.clone(), text.count("problem-image-large", (max / 1_000) as i64));
        return Ok(None);
    }
    if !is_image(&file.content) {
        problems.add(file.field.clone(), text.get("problem-image"));
        return Ok(None);
    }
    let (upload, workspace) = (context.state.upload.clone(), context.workspace.id);
    upload.check_budget(workspace).await.map_err(HttpError::Domain)?;
    let (description, content) = (file.description.clone(), file.content.clone());
    let work = async move { upload.run(workspace, description, &mut InMemory(Some(content))).await };
    Ok(Some(context.state.http.detached.run(work).await?.map_err(HttpError::Domain)?))
}

/// Whether the content is that of an image that the portal serves: PNG, JPEG, GIF or WebP.
fn is_image(content: &[u8]) -> bool {
    let is_webp = content.starts_with(b"RIFF") && content.get(8..12) == Some(b"WEBP");
    content.starts_with(b"\x89PNG\r\n\x1a\n")
        || content.starts_with(b"\xff\xd8\xff")
        || content.starts_with(b"GIF87a")
        || content.starts_with(b"GIF89a")
        || is_webp
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::id::{ApiKeyId, MemberId};
    use roadmap_domain::model::portal::Language;
    use uuid::Uuid;

    #[test]
    fn somebody_without_a_name_is_known_by_the_address() {
        let email = EmailAddress::from_stored("ann@example.com".to_owned());
        let id = CustomerId::new(Uuid::nil());
        for (name, full) in [(Some("Ann"), "Ann (ann@example.com)"), (None, "ann@example.com")] {
            let name = name.map(|name| Name::from_stored(name.to_owned()));
            assert_eq!(Person::from(&CustomerName { id, name, email: email.clone() }).full(), full);
        }
    }

    #[test]
    fn a_table_has_a_row_for_each_record() {
        let mut file = CsvFile::new(&["name", "email"]);
        file.row(["x;=1+1", "a@b.example"]);
        assert_eq!(file.0, "\u{feff}\"name\",\"email\"\n\"x;'=1+1\",\"a@b.example\"\n");
    }

    #[test]
    fn sizes_are_rounded_up() {
        for (bytes, words) in [
            (0, "0 kB"),
            (1, "1 kB"),
            (1_000, "1 kB"),
            (999_001, "1,000 kB"),
            (1_000_000, "1 MB"),
            (1_000_001, "2 MB"),
            (5_000_000_000, "5,000 MB"),
        ] {
            assert_eq!(file_size(Text::utc(Language::English), bytes), words);
        }
    }

    #[test]
    fn images_are_known_by_their_first_bytes() {
        assert!(is_image(b"\x89PNG\r\n\x1a\n...") && is_image(b"GIF89a") && is_image(b"RIFF\0\0\0\0WEBPVP8 "));
        assert!(!is_image(b"<svg xmlns=") && !is_image(b"") && !is_image(b"RIFF\0\0\0\0WAVE"));
    }

    #[test]
    fn actors_have_names_in_words() {
        let name = Name::from_stored("Zapier".to_owned());
        let key = Actor::api_key(ApiKeyId::new(Uuid::from_u128(1)), &name);
        let member = Actor::member(MemberId::new(Uuid::from_u128(1)), &name);
        for (actor, expected) in [
            (key, "API key “Zapier”"),
            (member, "Zapier"),
            (Actor::customer(CustomerId::new(Uuid::from_u128(1))), "a customer"),
            (Actor::operator("root"), "root, by a command"),
            (Actor::service(), "the service"),
        ] {
            assert_eq!(actor_name(Text::utc(Language::English), &actor), expected);
        }
    }
}
