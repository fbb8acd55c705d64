//! Schemas of the fields that clients send. The limits are those of the domain's types.
//!
//! The patterns match exactly the accepted values, including surrounding white space, so that clients can validate
//! against the document. Rules that no pattern can express have a custom format: [`HTML`], [`HTTP_URL`],
//! [`WEBHOOK_URL`], [`HTTP_ORIGIN`], [`MAIL_DOMAIN`], [`SIGNED_ID`], [`TIME_ZONE`], [`TIMESTAMP`], [`GIVEN_TIMESTAMP`],
//! [`FUTURE_TIMESTAMP`].

use roadmap_domain::model::admin::Period;
use roadmap_domain::model::audit::{ActorKind, AuditPage};
use roadmap_domain::model::changelog::{ChangelogCategory, MAX_LINKED};
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::customer::CustomerQuery;
use roadmap_domain::model::destination::Destination;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{Description, Sort, Tag, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::link::{LinkState, LinkUrl, Tracker};
use roadmap_domain::model::operation_key::OperationKey;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::person::{ErasedTexts, ErasedVotes};
use roadmap_domain::model::portal::{EmbedOrigin, Language, MailDomain, Noun, PortalAccess, PortalSettings};
use roadmap_domain::model::search::{SearchQuery, Synonyms};
use roadmap_domain::model::setting::WebsiteUrl;
use roadmap_domain::model::tag::TagQuery;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::LaneKind;
use roadmap_domain::model::webhook::{DeliveryState, Webhook, WebhookFormat};
use roadmap_domain::model::webhook_event::EventKind;
use roadmap_domain::usecase::query::feature_requests::{DEFAULT_PER_PAGE, MAX_PER_PAGE};
use roadmap_domain::usecase::query::tracks::{DEFAULT_PER_LANE, MAX_PER_LANE};
use serde_json::{Map, Value, json};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{
    AdditionalProperties, Array, ArrayBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Object, Required};

/// Plain text or HTML of which something is shown.
pub(crate) const HTML: &str = "html";
/// An absolute `http` or `https` URL, as browsers parse it.
pub(crate) const HTTP_URL: &str = "http-url";
/// An absolute `https` URL without user info and fragment, as browsers parse it, that leads to no forbidden address;
/// with networks in the setting `outbound_networks` also an `http` URL.
pub(crate) const WEBHOOK_URL: &str = "webhook-url";
/// The origin of an `http` or `https` URL (RFC 6454).
pub(crate) const HTTP_ORIGIN: &str = "http-origin";
/// The domain of mail addresses.
pub(crate) const MAIL_DOMAIN: &str = "mail-domain";
/// The `signed_id` of a file of the workspace; a blank value means none.
pub(crate) const SIGNED_ID: &str = "signed-id";
/// A format: a name of the IANA time zone database, or blank.
pub(crate) const TIME_ZONE: &str = "time-zone";
/// A timestamp as in RFC 3339; a blank value means none.
pub(crate) const TIMESTAMP: &str = "timestamp";
/// A timestamp as in RFC 3339.
pub(crate) const GIVEN_TIMESTAMP: &str = "given-timestamp";
/// A timestamp as in RFC 3339 and in the future; a blank value means none.
pub(crate) const FUTURE_TIMESTAMP: &str = "future-timestamp";

/// The white space that is trimmed from a line: Unicode's White_Space.
const SPACE: &str = r"\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
/// What is not visible at the start and the end of a line, in the Basic Multilingual Plane: white space, control
/// characters, and those that [`clean_line`](roadmap_domain::model::text::clean_line) drops there.
const BLANK: &str = r"\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb";
/// Text without NUL.
const NO_NUL: &str = r"^[^\u0000]*$";
/// A UUID in upper or lower case.
const UUID: &str = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

/// Returns the pattern of a line of 1 to `max` characters, with blank characters around it.
fn line_pattern(max: usize) -> String {
    let inner = max.saturating_sub(2);
    format!(r"^[{BLANK}]*[^{BLANK}\u0000](?:[^\u0000]{{0,{inner}}}[^{BLANK}\u0000])?[{BLANK}]*$")
}

/// Returns the pattern of such a line or a blank one.
fn optional_line_pattern(max: usize) -> String {
    let inner = max.saturating_sub(2);
    format!(r"^[{BLANK}]*(?:[^{BLANK}\u0000](?:[^\u0000]{{0,{inner}}}[^{BLANK}\u0000])?[{BLANK}]*)?$")
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

/// Returns the pattern of one of these values or a blank one, with optional white space around it.
fn optional_value_pattern(values: &str) -> String {
    format!("^[{SPACE}]*(?:(?:{values})[{SPACE}]*)?$")
}

fn html(description: &str) -> Object {
    string(NO_NUL, description).min_length(Some(1)).max_length(Some(CleanHtml::MAX)).format(custom_format(HTML)).build()
}

/// A boolean that is false if it is absent. It has no `default`, which generators of TypeScript read as a required field.
fn flag(description: &str) -> Object {
    changed_flag(&format!("{description} By default false."))
}

fn changed_flag(description: &str) -> Object {
    optional(ObjectBuilder::new(), Type::Boolean).description(Some(description)).build()
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
    let what = "Public name. It fills an empty one and never replaces one.";
    optional(string(optional_line_pattern(Name::MAX), what), Type::String).build()
}

pub(crate) fn author_email() -> Object {
    let what = "The team member who is the author. If unknown, the author is the workspace's oldest member.";
    optional(string(optional_line_pattern(EmailAddress::MAX), what), Type::String).build()
}

pub(crate) fn mover_email() -> Object {
    let what = "The team member who moves. If unknown, the API key does.";
    optional(string(optional_line_pattern(EmailAddress::MAX), what), Type::String).build()
}

pub(crate) fn note() -> Object {
    html("Plain text, whose line breaks stay, or HTML, which is sanitized. Private: never shown to customers.")
}

pub(crate) fn comment() -> Object {
    html("Plain text, whose line breaks stay, or HTML, which is sanitized. Public on the roadmap.")
}

pub(crate) fn changelog() -> Object {
    html("Plain text, whose line breaks stay, or HTML, which is sanitized.")
}

pub(crate) fn title() -> Object {
    line_schema(Title::MAX).build()
}

pub(crate) fn description() -> Object {
    optional(string(NO_NUL, "Plain text, whose line breaks stay, or HTML, which is sanitized."), Type::String)
        .max_length(Some(Description::MAX))
        .build()
}

pub(crate) fn tags() -> Array {
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .items(line_schema(Tag::MAX))
        .max_items(Some(Tag::MAX_COUNT))
        .description(Some("Searchable words. Duplicates are dropped, regardless of case."))
        .build()
}

pub(crate) fn tag_name() -> Object {
    line_schema(Tag::MAX).build()
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

fn optional_id(description: &str) -> Object {
    optional(string(optional_value_pattern(UUID), description), Type::String).build()
}

pub(crate) fn first_track_id() -> Object {
    optional_id("The id of a track; the workspace's first track if absent or blank.")
}

pub(crate) fn lane_id() -> Object {
    optional_id("The id of the lane that the track maps to; if null or blank, the track is not on the roadmap.")
}

pub(crate) fn target_id() -> Object {
    let what = "The id or the slug of a feature request. If it is merged, what it was merged into is the target.";
    string(format!("[^{SPACE}]"), what).build()
}

pub(crate) fn target_customer_id() -> Object {
    string(format!("^[{SPACE}]*{UUID}[{SPACE}]*$"), "The id of another customer.").build()
}

pub(crate) fn erased_votes() -> Object {
    sent_choice("What becomes of the votes; by default they stay.", &ErasedVotes::ALL.map(ErasedVotes::name))
}

pub(crate) fn erased_texts() -> Object {
    let what = "What becomes of feature requests and comments; by default they stay without a name.";
    sent_choice(what, &ErasedTexts::ALL.map(ErasedTexts::name))
}

pub(crate) fn without_people() -> Object {
    flag("Whether who customers and members are, and private notes, are left out. All numbers stay.")
}

pub(crate) fn without_notes() -> Object {
    flag("Whether private notes are left out.")
}

/// The name of a record of the workspace.
pub(crate) fn record_name() -> Object {
    line_schema(Name::MAX).build()
}

pub(crate) fn lane_kind() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(LaneKind::ALL.map(LaneKind::as_str)))
        .description(Some("What the lane means, whatever its name."))
        .build()
}

pub(crate) fn new_lane_kind() -> Object {
    sent_choice("What the lane means; by default what its name says.", &LaneKind::ALL.map(LaneKind::as_str))
}

pub(crate) fn changed_lane_kind() -> Object {
    sent_choice("What the lane means from now on.", &LaneKind::ALL.map(LaneKind::as_str))
}

/// A field with one of these names, a blank text or null.
fn sent_choice(what: &str, names: &[&str]) -> Object {
    let what = format!("{what} One of {}.", names.join(", "));
    let pattern = optional_value_pattern(&names.join("|"));
    optional(ObjectBuilder::new().pattern(Some(pattern)).description(Some(what)), Type::String).build()
}

pub(crate) fn changelog_category() -> Object {
    let names = ChangelogCategory::ALL.map(|category| Some(category.name()));
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .enum_values(Some(names.into_iter().chain([None])))
        .description(Some("What kind of news it is."))
        .build()
}

pub(crate) fn new_changelog_category() -> Object {
    sent_choice("What kind of news it is; by default none.", &ChangelogCategory::ALL.map(ChangelogCategory::name))
}

pub(crate) fn changed_changelog_category() -> Object {
    sent_choice("What kind of news it is; null removes it.", &ChangelogCategory::ALL.map(ChangelogCategory::name))
}

pub(crate) fn position() -> Object {
    let what = "The position, from 1; by default the last. The position of another one shifts it.";
    let integer = ObjectBuilder::new().minimum(Some(1)).description(Some(what));
    optional(integer, Type::Integer).build()
}

pub(crate) fn changed_position() -> Object {
    let what = "The new position, from 1. The position of another one shifts it.";
    let integer = ObjectBuilder::new().minimum(Some(1)).description(Some(what));
    optional(integer, Type::Integer).build()
}

pub(crate) fn changed_private() -> Object {
    changed_flag("Whether it is hidden from search and all public pages.")
}

pub(crate) fn notify_of_status() -> Object {
    flag("Sends mail about the new public status to every subscribed customer. Nothing is sent if it is the same.")
}

pub(crate) fn notify_at_publication() -> Object {
    flag("With `publish_at`: sends mail at that time.")
}

pub(crate) fn notify_subscribers() -> Object {
    flag(
        "Sends the changelog as mail to every subscribed customer of its feature requests, and to every customer who gets all changelogs. It is sent only once.",
    )
}

pub(crate) fn feature_request_ids() -> Array {
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .items(string(format!("^[{SPACE}]*{UUID}[{SPACE}]*$"), "The id of a feature request."))
        .max_items(Some(MAX_LINKED))
        .description(Some("The feature requests that the changelog is about."))
        .build()
}

pub(crate) fn publish_at() -> Object {
    let what = "When the changelog is to be published, as in RFC 3339 and in the future; if null or blank, it is not \
                scheduled.";
    optional(ObjectBuilder::new(), Type::String).format(custom_format(FUTURE_TIMESTAMP)).description(Some(what)).build()
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

pub(crate) fn changed_cover() -> Object {
    let what = "The `signed_id` of a file of the workspace; null or blank removes the cover.";
    optional(ObjectBuilder::new(), Type::String).format(custom_format(SIGNED_ID)).description(Some(what)).build()
}

pub(crate) fn changed_publish_at() -> Object {
    let what = "When the changelog is to be published, as in RFC 3339 and in the future; null or blank makes a \
                scheduled one a draft. Not for published ones.";
    optional(ObjectBuilder::new(), Type::String).format(custom_format(FUTURE_TIMESTAMP)).description(Some(what)).build()
}

pub(crate) fn product_name() -> Object {
    line_schema(Name::MAX).build()
}

pub(crate) fn website_url() -> Object {
    web_address(WebsiteUrl::MAX)
}

pub(crate) fn link_url() -> Object {
    web_address(LinkUrl::MAX)
}

pub(crate) fn link_title() -> Object {
    let what = format!("At most {} characters. Null or blank: none.", Title::MAX);
    optional(string(optional_line_pattern(Title::MAX), &what), Type::String).build()
}

pub(crate) fn new_link_state() -> Object {
    link_state_schema("Without it, an issue of a known tracker is open. Null or blank: none.")
}

pub(crate) fn link_state() -> Object {
    link_state_schema("Null or blank: none.")
}

fn link_state_schema(what: &str) -> Object {
    let names = [LinkState::Open, LinkState::Closed].map(LinkState::name).join("|");
    optional(string(optional_value_pattern(&names), &format!("`open` or `closed`. {what}")), Type::String).build()
}

pub(crate) fn link_source_kind() -> Object {
    let names = Tracker::ALL.map(Tracker::name);
    let pattern = format!("^[{SPACE}]*({})[{SPACE}]*$", names.join("|"));
    string(pattern, &format!("The tracker: one of {}.", names.join(", "))).build()
}

pub(crate) fn closed_track() -> Object {
    optional_id("The id of the track to which feature requests move whose issues are done. Null or blank: none moves.")
}

pub(crate) fn notify_closed() -> Object {
    flag("Whether such a move notifies the subscribed customers.")
}

pub(crate) fn new_link_source_enabled() -> Object {
    flag("Whether reports are taken. They are unless this is false.")
}

pub(crate) fn link_source_enabled() -> Object {
    flag("Whether reports are taken.")
}

pub(crate) fn new_link_source_secret() -> Object {
    link_source_secret_schema("Without it, one is made.")
}

pub(crate) fn link_source_secret() -> Object {
    link_source_secret_schema("Null or blank: it stays.")
}

fn link_source_secret_schema(what: &str) -> Object {
    let what = format!("What the tracker proves its reports with, 16 to 255 characters. {what}");
    let pattern = format!(r"^([{SPACE}]*|[^\u0000-\u001f\u007f-\u009f]{{16,255}})$");
    optional(string(pattern, &what), Type::String).build()
}

pub(crate) fn webhook_url() -> Object {
    let what = "Absolute, `https`, with a host and without user info and fragment. It must not lead to a local or \
                reserved address, and use port 80, 443 or one above 1023.";
    string(format!("[^{SPACE}]"), what).format(custom_format(WEBHOOK_URL)).max_length(Some(Destination::MAX)).build()
}

pub(crate) fn webhook_description() -> Object {
    let schema = string(NO_NUL, "What the team says of it.").max_length(Some(Webhook::MAX_DESCRIPTION));
    optional(schema, Type::String).build()
}

pub(crate) fn new_webhook_format() -> Object {
    let what = "What is sent: signed JSON, the default, or messages for a chat service.";
    sent_choice(what, &WebhookFormat::ALL.map(WebhookFormat::name))
}

pub(crate) fn webhook_format() -> Object {
    sent_choice("The format that it has: it cannot be changed.", &WebhookFormat::ALL.map(WebhookFormat::name))
}

pub(crate) fn webhook_events() -> Array {
    let names = listed_kinds().map(|kind| kind.name().replace('.', r"\.")).collect::<Vec<_>>().join("|");
    let kind = string(format!("^[{SPACE}]*(?:{names})[{SPACE}]*$"), "The type of an event.");
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .items(kind)
        .min_items(Some(1))
        .description(Some(
            "The types of events that it gets; null for all that the format has, also later ones. Chat services get \
             `feature_request.created`, `feature_request.moved`, `comment.created` and `changelog.published` only. \
             Duplicates are dropped.",
        ))
        .build()
}

/// What the flags of a webhook mean.
const OF_PRIVATE: &str = "Whether it also gets what concerns private feature requests, and notes.";
const OF_EMAILS: &str =
    "Whether its events have the addresses of customers and members. Chat messages never have them.";
const OF_ENABLED: &str = "Whether events are recorded for it.";

pub(crate) fn new_webhook_includes_private() -> Object {
    flag(OF_PRIVATE)
}

pub(crate) fn webhook_includes_private() -> Object {
    changed_flag(OF_PRIVATE)
}

pub(crate) fn new_webhook_includes_emails() -> Object {
    flag(OF_EMAILS)
}

pub(crate) fn webhook_includes_emails() -> Object {
    changed_flag(OF_EMAILS)
}

pub(crate) fn new_webhook_enabled() -> Object {
    changed_flag(&format!("{OF_ENABLED} By default true."))
}

pub(crate) fn webhook_enabled() -> Object {
    changed_flag(&format!("{OF_ENABLED} True also forgets why it was disabled, and since when it has failed."))
}

pub(crate) fn overlap() -> Object {
    let seconds = "[0-9]{1,5}|[1-5][0-9]{5}|60[0-3][0-9]{3}|604[0-7][0-9]{2}|604800";
    let minutes = "[0-9]{1,4}|100[0-7][0-9]|10080";
    let hours = "[0-9]{1,2}|1[0-5][0-9]|16[0-8]";
    let spans = format!("0*(?:(?:{seconds})s|(?:{minutes})m|(?:{hours})h|[0-7]d)");
    let what = "For how long requests are also signed with the secret before: a number and s, m, h or d, at most 7d. \
                Null or blank: 24h.";
    optional(string(optional_value_pattern(&spans), what), Type::String).build()
}

pub(crate) fn since() -> Object {
    string(format!("[^{SPACE}]"), "Only events from this time on, as in RFC 3339.")
        .format(custom_format(GIVEN_TIMESTAMP))
        .build()
}

/// The types of events that webhooks can be set to get.
fn listed_kinds() -> impl Iterator<Item = EventKind> {
    EventKind::ALL.into_iter().filter(|kind| *kind != EventKind::WebhookTest)
}

/// The type of an event that was sent.
pub(crate) fn event_type() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(EventKind::ALL.map(EventKind::name)))
        .description(Some("The type of the event."))
        .build()
}

/// The types of events that a webhook gets.
pub(crate) fn listed_event_types() -> Array {
    let kind = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(listed_kinds().map(EventKind::name)));
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .items(kind)
        .description(Some("The types of events that it gets; null for all that the format has, also later ones."))
        .build()
}

fn web_address(max: usize) -> Object {
    let pattern = format!(r"^[{SPACE}]*[hH][tT][tT][pP][sS]?://[^{SPACE}\u0000-\u001f\u007f-\u009f\\/]");
    string(pattern, "Absolute, `http` or `https`, with a host and without user info.")
        .format(custom_format(HTTP_URL))
        .max_length(Some(max))
        .build()
}

pub(crate) fn visibility() -> Object {
    let what = "Who can see the portal: everybody; members and signed-in people with an address of `mail_domains`; or \
                members.";
    let names = PortalAccess::ALL.map(PortalAccess::name).join("|");
    string(format!("^[{SPACE}]*(?:{names})[{SPACE}]*$"), what).build()
}

pub(crate) fn mail_domains() -> Array {
    let domain = string(NO_NUL, "Without subdomains. An `@` before it is ignored.")
        .min_length(Some(1))
        .format(custom_format(MAIL_DOMAIN));
    let what = "The domains of the addresses whose owners can see a private portal. Duplicates are dropped.";
    optional_list(domain, MailDomain::MAX_COUNT, what)
}

pub(crate) fn embed_origins() -> Array {
    let origin = string(NO_NUL, "Scheme, host, and port unless it is the default. No path and no wildcard.")
        .min_length(Some(1))
        .format(custom_format(HTTP_ORIGIN));
    optional_list(origin, EmbedOrigin::MAX_COUNT, "The sites that may embed the portal. Duplicates are dropped.")
}

fn optional_list(items: ObjectBuilder, max: usize, description: &str) -> Array {
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .items(items)
        .max_items(Some(max))
        .description(Some(description))
        .build()
}

pub(crate) fn languages() -> Array {
    let codes = Language::ALL.map(Language::code).join("|");
    ArrayBuilder::new()
        .items(string(format!("^[{SPACE}]*(?:{codes})[{SPACE}]*$"), "As in BCP 47."))
        .min_items(Some(1))
        .description(Some("The languages of the portal. The first one is the default. Duplicates are dropped."))
        .build()
}

pub(crate) fn indexing() -> Object {
    changed_flag("Whether search engines may list the portal.")
}

pub(crate) fn moderation() -> Object {
    changed_flag("Whether feature requests and comments of customers on the portal wait for approval.")
}

pub(crate) fn accent_color() -> Object {
    let pattern = optional_value_pattern("#[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?");
    optional(string(pattern, "Hexadecimal, as in CSS; null or blank removes it."), Type::String).build()
}

pub(crate) fn logo_signed_id() -> Object {
    let what = "The `signed_id` of a file of the workspace; null or blank removes the logo.";
    optional(ObjectBuilder::new(), Type::String).format(custom_format(SIGNED_ID)).description(Some(what)).build()
}

pub(crate) fn reply_to() -> Object {
    let what = "The address that replies to mail of the workspace go to; null or blank for that of the sender.";
    optional(string(optional_line_pattern(EmailAddress::MAX), what), Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Email)))
        .build()
}

pub(crate) fn time_zone() -> Object {
    let what = "A name of the IANA time zone database, such as Europe/Berlin; null or blank for UTC.";
    optional(ObjectBuilder::new(), Type::String).format(custom_format(TIME_ZONE)).description(Some(what)).build()
}

pub(crate) fn noun() -> Object {
    let what = "What the pages of visitors call a feature request; null or blank for feature_requests.";
    sent_choice(what, &Noun::ALL.map(Noun::name))
}

/// What is shown without a text of the workspace.
const OWN_TEXT: &str = "the product's own text";

pub(crate) fn welcome_text() -> Object {
    localized(PortalSettings::MAX_WELCOME, "What the roadmap says first, in Markdown", OWN_TEXT)
}

pub(crate) fn form_question() -> Object {
    localized(PortalSettings::MAX_QUESTION, "What the form for ideas asks", OWN_TEXT)
}

pub(crate) fn lane_names() -> Object {
    localized(Name::MAX, "The name on the pages of the portal", "the `name`")
}

/// Returns the schema of a text in the languages of a portal, and what is shown without it.
fn localized(max: usize, what: &str, otherwise: &str) -> Object {
    let what = format!(
        "{what}, by language, at most {max} characters each; it replaces all texts. Null, or a language that is left out, \
         null or blank: {otherwise}."
    );
    let texts = optional(ObjectBuilder::new(), Type::Object).description(Some(what));
    let text = || optional(ObjectBuilder::new().max_length(Some(max)), Type::String).build();
    let texts = Language::ALL.iter().fold(texts, |texts, language| texts.property(language.code(), text()));
    texts.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false))).build()
}

/// The key of a rule between the fields of a body: alternatives, of which a body must match one, as in `anyOf`.
///
/// Generators of clients fail at an `anyOf` beside `properties`. They ignore this key. Programs that validate requests
/// can read it as `anyOf`.
pub(crate) const RULE: &str = "x-any-of";

/// The key of the schema of objects that count as absent, which are valid, too.
pub(crate) const COUNTS_AS_ABSENT: &str = "x-counts-as-absent";

/// The rules between the fields of a body: the schema, the rule in words, the key, and its value.
pub(crate) fn rules() -> [(&'static str, &'static str, &'static str, Value); 6] {
    let never = json!({ "enum": [false, null] });
    let object = |name: &str| json!({ "required": [name], "properties": { name: { "type": "object" } } });
    let blanks = |names: [&str; 2]| {
        let properties: Map<String, Value> = names.map(|name| (name.to_owned(), blank())).into_iter().collect();
        json!({ "type": "object", "required": names, "properties": properties })
    };
    [
        (
            "CreateUpvote",
            "`customer`, `reference_note` or both are required.",
            RULE,
            json!([object("customer"), object("reference_note")]),
        ),
        (
            "CreateComment",
            "The author is a team member or the `customer`: with a `customer`, `author_email` must be absent or blank, \
             and `notify_all_voters` absent or false.",
            RULE,
            json!([
                { "properties": { "customer": { "type": "null" } } },
                { "properties": { "author_email": blank(), "notify_all_voters": never.clone() } },
                { "properties": { "customer": blanks(["email", "name"]) } },
            ]),
        ),
        (
            "NewChangelog",
            "It is published at once, later or not at all: with `publish` true, `publish_at` must be absent or blank. \
             `notify_subscribers` true is for changelogs that are published later.",
            RULE,
            json!([
                { "properties": { "publish_at": blank(), "notify_subscribers": never.clone() } },
                { "required": ["publish_at"], "properties": { "publish": never.clone(), "publish_at": given() } },
            ]),
        ),
        (
            "ChangelogChange",
            "A changelog that is not to be published later sends no mail then: with a blank `publish_at`, \
             `notify_subscribers` must be absent or false.",
            RULE,
            json!([
                { "properties": { "notify_subscribers": never } },
                { "properties": { "publish_at": given() } },
            ]),
        ),
        (
            "Customer",
            "If `email` and `name` are both sent and blank or null, there is no customer.",
            COUNTS_AS_ABSENT,
            blanks(["email", "name"]),
        ),
        (
            "ReferenceNote",
            "If `body` and `author_email` are both sent and blank or null, there is no note.",
            COUNTS_AS_ABSENT,
            blanks(["body", "author_email"]),
        ),
    ]
}

/// The schema of a value that counts as absent.
fn blank() -> Value {
    json!({ "type": ["string", "null"], "pattern": format!("^[{SPACE}]*$") })
}

/// The schema of a text that does not count as absent.
fn given() -> Value {
    json!({ "type": "string", "pattern": format!("[^{SPACE}]") })
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

fn page_size(default: u64, max: u64) -> Parameter {
    let description = format!("Items per page. Values above {max} are lowered to {max}.");
    parameter("page_size", ParameterIn::Query, count(default), &description).build()
}

fn page() -> [Parameter; 3] {
    let page = parameter("page", ParameterIn::Query, count(1), "Starts at 1. A page past the end is empty.").build();
    let size = page_size(PageRequest::DEFAULT_SIZE, PageRequest::MAX_SIZE);
    let what = "Instead of `page`: blank begins, then the `next_cursor` of the page before.";
    [page, size, text_parameter("cursor", cursor_pattern(), what)]
}

/// A parameter of the query with a value that matches this pattern.
fn text_parameter(name: &str, pattern: impl Into<String>, description: &str) -> Parameter {
    let schema = string(pattern, "").description(None::<String>).build();
    parameter(name, ParameterIn::Query, schema, description).build()
}

fn time_parameter(name: &str, description: &str) -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::String).format(custom_format(TIMESTAMP)).build();
    parameter(name, ParameterIn::Query, schema, description).build()
}

/// The parameters of a list of changes, after its filters.
fn changes() -> [Parameter; 4] {
    let cursor = "The `next_cursor` of the items before, with the same filters. Blank begins.";
    [
        time_parameter("updated_since", "Only changes from this time on, as in RFC 3339."),
        text_parameter(
            "include_private",
            optional_value_pattern("true|false|1|0"),
            "`true` or `1` lists what is private, too. Without it, what was public before is listed as deleted.",
        ),
        text_parameter("cursor", cursor_pattern(), cursor),
        page_size(PageRequest::DEFAULT_SIZE, PageRequest::MAX_SIZE),
    ]
}

fn cursor_pattern() -> String {
    optional_value_pattern(&format!("[A-Za-z0-9_-]{{{}}}", CursorList::CURSOR_LEN))
}

fn customer_email(description: &str) -> Parameter {
    parameter("email", ParameterIn::Query, email(), description).required(Required::True).build()
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
    /// Any other record in the path.
    RecordIdParameter => {
        let any = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
        vec![parameter("id", ParameterIn::Path, any, "The record's `id`.").required(Required::True).build()]
    };
    /// The webhook and the delivery in the path.
    DeliveryIdParameters => {
        let any = || ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
        let id = |name, what| parameter(name, ParameterIn::Path, any(), what).required(Required::True).build();
        vec![id("id", "The `id` of the webhook."), id("delivery_id", "The `id` of the delivery.")]
    };
    /// The tag in the path.
    TagNameParameter => {
        let any = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
        let what = "The tag, regardless of case.";
        vec![parameter("name", ParameterIn::Path, any, what).required(Required::True).build()]
    };
    /// The page of a list, by number or by cursor.
    PageParameters => page().into();
    /// The page of a list, by number.
    PageNumberParameters => {
        let [page, size, _] = page();
        vec![page, size]
    };
    /// The filters and the part of all feature requests.
    AllRequestsParameters => {
        let what = "The id of a track: only feature requests that are on it, or were on it when they were deleted.";
        [&[text_parameter("track_id", optional_value_pattern(UUID), what)][..], &changes()].concat()
    };
    /// The filters and the part of all comments.
    AllCommentsParameters => changes().into();
    /// The voter and the page of the votes.
    VoterParameters => {
        let email = customer_email("The customer, matched regardless of case. An unknown customer has no votes.");
        [&[email][..], &page()].concat()
    };
    /// The customer whose vote or subscription ends.
    CustomerParameters => vec![customer_email("The customer, matched regardless of case.")];
    /// Whether what is merged into a feature request is deleted with it.
    WithMergedParameters => {
        let what = "`true` or `1` deletes what is merged into it, too.";
        vec![text_parameter("with_merged", optional_value_pattern("true|false|1|0"), what)]
    };
    /// The order and the page of the feature requests of a track.
    TrackRequestsParameters => {
        let orders = Sort::ALL.map(Sort::name);
        let what = "`votes` (most voted first, the default), `newest` (newest first) or `updated` (last updated first).";
        let [page, size, cursor] = page();
        let sort = text_parameter("sort", optional_value_pattern(&orders.join("|")), what);
        let cursor = ParameterBuilder::from(cursor).description(Some("As elsewhere, only with `sort=newest`.")).build();
        vec![sort, page, size, cursor]
    };
    /// The number of feature requests in each lane.
    RoadmapParameters => {
        let what = format!("Feature requests per lane. Values above {MAX_PER_LANE} are lowered to {MAX_PER_LANE}.");
        vec![parameter("per_lane", ParameterIn::Query, count(DEFAULT_PER_LANE), &what).build()]
    };
    /// The period of the overview.
    OverviewParameters => {
        let days = Period::ALL.map(|period| period.days().to_string()).join("|");
        let what = format!("The number of days, until now; {} by default.", Period::default().days());
        vec![text_parameter("days", optional_value_pattern(&days), &what)]
    };
    /// Whether the notes about a person are exported.
    ExportParameters => {
        let what = "Whether the team's notes about the person are in it; by default true.";
        vec![text_parameter("notes", optional_value_pattern("true|false"), what)]
    };
    /// Where the feature requests of a deleted track go.
    MoveToParameters => {
        let what = "The id of the track to which its feature requests go. Required if it has any.";
        vec![text_parameter("move_to", optional_value_pattern(UUID), what)]
    };
    /// The query and the page of the customers.
    CustomersParameters => {
        let what = "A part of the name or of the address, regardless of case. A blank query finds all customers.";
        [&[text_parameter("query", optional_line_pattern(CustomerQuery::MAX), what)][..], &page()].concat()
    };
    /// The query and the page of the tags.
    TagsParameters => {
        let what = "A part of the name, regardless of case. A blank query finds all tags.";
        let [page, size, _] = page();
        vec![text_parameter("query", optional_line_pattern(TagQuery::MAX), what), page, size]
    };
    /// The filter and the page of the deliveries of a webhook.
    DeliveriesParameters => {
        let names = DeliveryState::ALL.map(DeliveryState::name);
        let what = format!("Only those in this state: {}.", names.join(", "));
        let [page, size, _] = page();
        vec![text_parameter("state", optional_value_pattern(&names.join("|")), &what), page, size]
    };
    /// The filters and the part of the audit log.
    AuditParameters => {
        let kinds = ActorKind::ALL.map(ActorKind::name);
        let actor = optional_value_pattern(&format!("{UUID}|{}", kinds.join("|")));
        vec![
            text_parameter("actor", actor, &format!("The id of the actor, or its kind: {}.", kinds.join(", "))),
            text_parameter("action", r"^[^\u0000]{0,100}$", "The action: `feature_request.move`."),
            text_parameter("subject", optional_value_pattern(UUID), "The id of the changed record."),
            time_parameter("from", "Only entries from this time on, as in RFC 3339."),
            time_parameter("to", "Only entries before this time, as in RFC 3339."),
            text_parameter("cursor", optional_value_pattern(UUID), "The `next_cursor` of the entries before."),
            page_size(AuditPage::DEFAULT_SIZE, AuditPage::MAX_SIZE),
        ]
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
            "Words to search for, at most {}; the last may be incomplete. A blank query finds nothing. Without it, unknown \
             parameters are an error.",
            SearchQuery::MAX_WORDS
        );
        let limits = format!("Maximum number of results. Values above {MAX_PER_PAGE} are lowered to {MAX_PER_PAGE}.");
        vec![
            parameter("query", ParameterIn::Query, words, &what).build(),
            parameter("per_page", ParameterIn::Query, count(DEFAULT_PER_PAGE), &limits).build(),
        ]
    };
}
