//! Schemas of the fields that clients send. The limits are those of the domain's types.
//!
//! The patterns match exactly the accepted values, including surrounding white space, so that clients can validate
//! against the document. Rules that no pattern can express have a custom format: [`HTML`], [`HTTP_URL`], [`SIGNED_ID`].

use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{Description, Tag, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::operation_key::OperationKey;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::search::{SearchQuery, Synonyms};
use roadmap_domain::model::setting::WebsiteUrl;
use roadmap_domain::model::text::Name;
use roadmap_domain::usecase::query::feature_requests::{DEFAULT_PER_PAGE, MAX_PER_PAGE};
use serde_json::{Value, json};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{
    Array, ArrayBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Object, Required};

/// HTML that contains text after it is cleaned.
pub(crate) const HTML: &str = "html";
/// An absolute `http` or `https` URL, as browsers parse it.
pub(crate) const HTTP_URL: &str = "http-url";
/// The `signed_id` of a file of the workspace; a blank value means none.
pub(crate) const SIGNED_ID: &str = "signed-id";

/// The white space that is trimmed from a line: Unicode's White_Space.
const SPACE: &str = r"\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
/// Text without NUL.
const NO_NUL: &str = r"^[^\u0000]*$";
/// A UUID in upper or lower case.
const UUID: &str = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

/// Returns the pattern of a line of 1 to `max` characters, with optional white space around it.
fn line_pattern(max: usize) -> String {
    let inner = max.saturating_sub(2);
    format!(r"^[{SPACE}]*[^{SPACE}\u0000](?:[^\u0000]{{0,{inner}}}[^{SPACE}\u0000])?[{SPACE}]*$")
}

/// Returns the pattern of such a line or a blank one.
fn optional_line_pattern(max: usize) -> String {
    let inner = max.saturating_sub(2);
    format!(r"^[{SPACE}]*(?:[^{SPACE}\u0000](?:[^\u0000]{{0,{inner}}}[^{SPACE}\u0000])?[{SPACE}]*)?$")
}

fn string(pattern: impl Into<String>, description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).description(Some(description))
}

fn line_schema(max: usize) -> ObjectBuilder {
    string(line_pattern(max), &format!("At most {max} characters without surrounding white space, which is trimmed."))
}

fn optional(schema: ObjectBuilder, of: Type) -> ObjectBuilder {
    schema.schema_type(SchemaType::from_iter([of, Type::Null]))
}

fn custom_format(format: &str) -> Option<SchemaFormat> {
    Some(SchemaFormat::Custom(format.to_owned()))
}

fn html(description: &str) -> Object {
    string(NO_NUL, description).min_length(Some(1)).max_length(Some(CleanHtml::MAX)).format(custom_format(HTML)).build()
}

fn flag(description: &str) -> Object {
    optional(ObjectBuilder::new(), Type::Boolean).default(Some(false.into())).description(Some(description)).build()
}

pub(crate) fn operation_key() -> Object {
    let what = "Chosen by the client, a new one for each operation: a request that is retried with it gets the saved \
                response. At most 255 characters; blank means none.";
    let pattern = format!(r"^(?:[{SPACE}]*|[^\u0000]{{1,{}}})$", OperationKey::MAX);
    optional(string(pattern, what), Type::String).build()
}

pub(crate) fn email() -> Object {
    string(line_pattern(EmailAddress::MAX), "Matched regardless of case; an unknown customer is created.")
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Email)))
        .build()
}

pub(crate) fn name() -> Object {
    let what = "Name of the customer. It fills an empty name and never replaces one.";
    optional(string(optional_line_pattern(Name::MAX), what), Type::String).build()
}

pub(crate) fn author_email() -> Object {
    let what = "The team member who is the author. If unknown, the author is the workspace's oldest member.";
    optional(string(optional_line_pattern(EmailAddress::MAX), what), Type::String).build()
}

pub(crate) fn note() -> Object {
    html("HTML, which is sanitized. Private: never shown to customers.")
}

pub(crate) fn comment() -> Object {
    html("HTML, which is sanitized. Public on the roadmap.")
}

pub(crate) fn changelog() -> Object {
    html("HTML, which is sanitized.")
}

pub(crate) fn title() -> Object {
    line_schema(Title::MAX).build()
}

pub(crate) fn description() -> Object {
    optional(string(NO_NUL, "HTML, which is sanitized."), Type::String).max_length(Some(Description::MAX)).build()
}

pub(crate) fn tags() -> Array {
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .items(line_schema(Tag::MAX))
        .max_items(Some(Tag::MAX_COUNT))
        .description(Some("Searchable words. Duplicates are dropped, regardless of case."))
        .build()
}

pub(crate) fn synonyms() -> Array {
    let phrases = ArrayBuilder::new()
        .items(line_schema(Synonyms::MAX_PHRASE))
        .min_items(Some(*Synonyms::GROUP_SIZE.start()))
        .max_items(Some(*Synonyms::GROUP_SIZE.end()))
        .description(Some(
            "Words and phrases that mean the same, each with a letter or digit, up to four words and no comma. Each is in \
             one group only; other inflections and spellings are the same phrase.",
        ));
    ArrayBuilder::new().items(phrases).max_items(Some(Synonyms::MAX_GROUPS)).build()
}

pub(crate) fn track_id() -> Object {
    string(format!("^[{SPACE}]*{UUID}[{SPACE}]*$"), "The id of a track.").build()
}

pub(crate) fn first_track_id() -> Object {
    let what = "The id of a track; the workspace's first track if absent or blank.";
    optional(string(format!("^[{SPACE}]*(?:{UUID}[{SPACE}]*)?$"), what), Type::String).build()
}

pub(crate) fn private() -> Object {
    flag("Hides the feature request from search and all public pages.")
}

pub(crate) fn notify_all_voters() -> Object {
    flag("Sends the comment as mail to every subscribed voter.")
}

pub(crate) fn publish() -> Object {
    flag("Publishes the changelog at once.")
}

pub(crate) fn cover_image_signed_id() -> Object {
    let what = "The `signed_id` of a file of the workspace; no cover if absent or blank.";
    optional(ObjectBuilder::new(), Type::String).format(custom_format(SIGNED_ID)).description(Some(what)).build()
}

pub(crate) fn product_name() -> Object {
    line_schema(Name::MAX).build()
}

pub(crate) fn website_url() -> Object {
    let pattern = format!(r"^[{SPACE}]*[hH][tT][tT][pP][sS]?://[^{SPACE}\u0000-\u001f\u007f-\u009f\\/]");
    string(pattern, "Absolute, `http` or `https`, with a host and without user info.")
        .format(custom_format(HTTP_URL))
        .max_length(Some(WebsiteUrl::MAX))
        .build()
}

/// Requires at least one of two fields to be an object.
pub(crate) fn require_any_of(names: [&str; 2]) -> Value {
    names.map(|name| json!({ "required": [name], "properties": { name: { "type": "object" } } })).to_vec().into()
}

fn parameter(name: &str, place: ParameterIn, schema: impl Into<Schema>, description: &str) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(schema.into()))
}

fn count(default: u64) -> Object {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).default(Some(default.into())).build()
}

fn page() -> [Parameter; 2] {
    let most = format!("Items per page. Values above {0} are lowered to {0}.", PageRequest::MAX_SIZE);
    [
        parameter("page", ParameterIn::Query, count(1), "Starts at 1. A page past the end is empty."),
        parameter("page_size", ParameterIn::Query, count(PageRequest::DEFAULT_SIZE), &most),
    ]
    .map(ParameterBuilder::build)
}

/// Declares types that represent groups of parameters.
macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident => $parameters:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) enum $name {}

        impl IntoParams for $name {
            fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
                $parameters
            }
        }
    )+};
}

parameters! {
    /// The feature request in the path.
    FeatureRequestIdParameter => {
        let any = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
        let what = "The feature request's `id`, or its slug: the last part of its `url`, of which only the number is \
                    used.";
        vec![parameter("id", ParameterIn::Path, any, what).required(Required::True).build()]
    };
    /// The page of a list.
    PageParameters => page().into();
    /// The voter and the page of the votes.
    VoterParameters => {
        let what = "The customer, matched regardless of case. An unknown customer has no votes.";
        let email = parameter("email", ParameterIn::Query, email(), what).required(Required::True).build();
        [&[email][..], &page()].concat()
    };
    /// The title of a new feature request.
    SimilarParameters => {
        let title = string(NO_NUL, "").max_length(Some(SearchQuery::MAX)).description(None::<String>).build();
        vec![parameter("title", ParameterIn::Query, title, "A title. Nothing is similar to a blank title.").build()]
    };
    /// The words and the number of results of a search.
    SearchParameters => {
        let words = string(NO_NUL, "").max_length(Some(SearchQuery::MAX)).description(None::<String>).build();
        let what = format!(
            "Words to search for, at most {}; the last may be incomplete. A blank query finds nothing.",
            SearchQuery::MAX_WORDS
        );
        let most = format!("Maximum number of results. Values above {MAX_PER_PAGE} are lowered to {MAX_PER_PAGE}.");
        vec![
            parameter("query", ParameterIn::Query, words, &what).build(),
            parameter("per_page", ParameterIn::Query, count(DEFAULT_PER_PAGE), &most).build(),
        ]
    };
}
