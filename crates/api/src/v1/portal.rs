//! `GET` and `PATCH /portal`.

use std::collections::BTreeMap;

use actix_web::{HttpResponse, web};
use roadmap_domain::error::{FieldError, FieldProblem, Validated};
use roadmap_domain::model::id::AttachmentId;
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::portal::{
    Color, EmbedOrigin, Language, MailDomain, Noun, PortalAccess, PortalChange, PortalSettings, parse_reply_to,
};
use roadmap_domain::model::time_zone::TimeZone;
use roadmap_domain::usecase::query::portal::ShowPortalSettings;
use roadmap_domain::usecase::target::Target;
use roadmap_domain::usecase::update_portal::{PortalUpdated, UpdatePortal, invalid_logo};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{execute_operation, resolve_file};
use crate::error::ApiError;
use crate::extractors::{ReadRequest, WriteRequest};
use crate::fields::{Object, double_option};
use crate::openapi::failures::{BodyErrors, CommonErrors, OperationKeyErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdatePortal)]
struct Body {
    #[schema(required = true, value_type = PortalBody)]
    portal: Option<Object<PortalBody>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = PortalChange)]
struct PortalBody {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::visibility)]
    visibility: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::mail_domains)]
    mail_domains: Option<Option<Vec<String>>>,
    #[schema(schema_with = described::indexing)]
    indexing: Option<bool>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::embed_origins)]
    embed_origins: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::languages)]
    languages: Option<Option<Vec<String>>>,
    #[schema(schema_with = described::moderation)]
    moderation: Option<bool>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::accent_color)]
    accent_color: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::logo_signed_id)]
    logo_signed_id: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::reply_to)]
    reply_to: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::time_zone)]
    time_zone: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::welcome_text)]
    welcome_text: Option<Option<BTreeMap<String, Option<String>>>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::form_question)]
    form_question: Option<Option<BTreeMap<String, Option<String>>>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::noun)]
    noun: Option<Option<String>>,
}

/// Get the settings of the portal
///
/// The portal is the public pages of the workspace.
#[utoipa::path(
    get,
    path = "/api/external/v1/portal",
    operation_id = "getPortal",
    tag = "Settings",
    responses((status = 200, description = "The settings.", body = wire::portal::Response), CommonErrors)
)]
pub(crate) async fn show(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let portal = state.queries.run(input.workspace, &ShowPortalSettings).await?;
    Ok(wire::ok(&wire::portal::response(&portal.settings, portal.logo.as_ref(), &input.links)))
}

/// Update the settings of the portal
///
/// Omitted fields are unchanged.
#[utoipa::path(
    patch,
    path = "/api/external/v1/portal",
    operation_id = "updatePortal",
    tag = "Settings",
    request_body(
        content = Body,
        example = json!({
            "portal": { "visibility": "private", "mail_domains": ["acme.example"], "accent_color": "#17694f" }
        })
    ),
    responses(
        (status = 200, description = "The settings.", body = wire::portal::Response),
        CommonErrors, BodyErrors, OperationKeyErrors
    )
)]
pub(crate) async fn update(state: web::Data<State>, input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let referred = resolve_file(&state, input.workspace);
    let render = move |updated: PortalUpdated| {
        wire::saved_ok(&wire::portal::response(&updated.settings, updated.logo.as_ref(), &links))
    };
    let change = |body| change(body, referred);
    execute_operation(&state, input, Target::Workspace, change, |change| UpdatePortal { change }, render).await
}

fn localized(field: &str, max: usize, texts: BTreeMap<String, Option<String>>) -> Validated<Localized> {
    Localized::parse(field, max, texts.iter().map(|(code, text)| (code.as_str(), text.as_deref())))
}

fn change(body: Body, referred: impl FnOnce(&str) -> Option<AttachmentId>) -> Validated<PortalChange> {
    let Object(sent) = body.portal.ok_or_else(|| FieldError::missing("portal"))?;
    let logo = |reference: &str| referred(reference).ok_or_else(invalid_logo);
    Ok(PortalChange {
        access: sent.visibility.map(|raw| access(raw.as_deref())).transpose()?,
        mail_domains: sent
            .mail_domains
            .map(|raw| list("mail_domains", MailDomain::MAX_COUNT, raw, MailDomain::parse))
            .transpose()?,
        is_indexed: sent.indexing,
        embed_origins: sent
            .embed_origins
            .map(|raw| list("embed_origins", EmbedOrigin::MAX_COUNT, raw, EmbedOrigin::parse))
            .transpose()?,
        languages: sent.languages.map(languages).transpose()?,
        holds_posts: sent.moderation,
        accent: sent
            .accent_color
            .map(|raw| not_blank(raw.as_deref()).map(|raw| Color::parse("accent_color", raw)).transpose())
            .transpose()?,
        logo: sent.logo_signed_id.map(|raw| not_blank(raw.as_deref()).map(logo).transpose()).transpose()?,
        reply_to: sent
            .reply_to
            .map(|raw| parse_reply_to("reply_to", raw.as_deref().unwrap_or_default()))
            .transpose()?,
        time_zone: sent
            .time_zone
            .map(|raw| not_blank(raw.as_deref()).map_or(Ok(TimeZone::UTC), |raw| TimeZone::parse("time_zone", raw)))
            .transpose()?,
        welcome_text: sent
            .welcome_text
            .map(|raw| localized("welcome_text", PortalSettings::MAX_WELCOME, raw.unwrap_or_default()))
            .transpose()?,
        form_question: sent
            .form_question
            .map(|raw| localized("form_question", PortalSettings::MAX_QUESTION, raw.unwrap_or_default()))
            .transpose()?,
        noun: sent
            .noun
            .map(|raw| not_blank(raw.as_deref()).map_or(Ok(Noun::default()), |raw| Noun::parse("noun", raw)))
            .transpose()?,
    })
}

/// Returns a text unless it is null or blank.
fn not_blank(raw: Option<&str>) -> Option<&str> {
    raw.map(str::trim).filter(|raw| !raw.is_empty())
}

fn access(raw: Option<&str>) -> Validated<PortalAccess> {
    let raw = not_blank(raw).ok_or_else(|| FieldError::missing("visibility"))?;
    let expected = "one of public, private, off";
    PortalAccess::from_name(raw).ok_or_else(|| FieldError::new("visibility", FieldProblem::Malformed { expected }))
}

fn languages(raw: Option<Vec<String>>) -> Validated<Vec<Language>> {
    let expected = "one of en, de, ar";
    let parse = |field: &str, code: &str| {
        let language = Language::from_code(code.trim());
        language.ok_or_else(|| FieldError::new(field, FieldProblem::Malformed { expected }))
    };
    let languages = list("languages", usize::MAX, raw, parse)?;
    if languages.is_empty() { Err(FieldError::missing("languages")) } else { Ok(languages) }
}

/// Parses a list. Null is an empty one, and an item that is equal to an earlier one is omitted.
fn list<T: PartialEq>(
    field: &str,
    max: usize,
    raw: Option<Vec<String>>,
    parse: impl Fn(&str, &str) -> Validated<T>,
) -> Validated<Vec<T>> {
    let raw = raw.unwrap_or_default();
    if raw.len() > max {
        return Err(FieldError::new(field, FieldProblem::TooMany { max }));
    }
    let mut items = Vec::new();
    for raw in raw {
        let item = parse(field, &raw)?;
        if !items.contains(&item) {
            items.push(item);
        }
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields;
    use roadmap_domain::model::email_address::EmailAddress;
    use serde_json::{Value, json};
    use uuid::Uuid;

    fn file() -> AttachmentId {
        AttachmentId::new(Uuid::from_u128(1))
    }

    fn read(sent: Value) -> Validated<PortalChange> {
        let Value::Object(body) = json!({ "portal": sent }) else { panic!("an object") };
        fields::body(body).and_then(|body| change(body, |reference| (reference == "signed").then(file)))
    }

    /// Addition 7.
    #[test]
    fn sent_fields_are_changed_and_repeated_items_dropped() {
        assert_eq!(read(json!({})).unwrap(), PortalChange::default());
        let all = json!({
            "visibility": "private",
            "mail_domains": ["acme.example", "@ACME.example", "a.example"],
            "indexing": false,
            "embed_origins": ["https://help.example.com/", "https://help.example.com:443"],
            "languages": ["de", "en", "de"],
            "moderation": true,
            "accent_color": "#17694F",
            "logo_signed_id": " signed ",
            "reply_to": "help@acme.example",
            "time_zone": "Europe/Berlin",
            "welcome_text": { "de": " Hallo " },
            "form_question": { "en": null },
            "noun": " ideas ",
        });
        let expected = PortalChange {
            access: Some(PortalAccess::Private),
            mail_domains: Some(["acme.example", "a.example"].map(|name| MailDomain::from_stored(name.into())).to_vec()),
            is_indexed: Some(false),
            embed_origins: Some(vec![EmbedOrigin::from_stored("https://help.example.com".to_owned())]),
            languages: Some(vec![Language::German, Language::English]),
            holds_posts: Some(true),
            accent: Some(Color::from_hex("#17694f")),
            logo: Some(Some(file())),
            reply_to: Some(Some(EmailAddress::from_stored("help@acme.example".to_owned()))),
            time_zone: Some(TimeZone::from_stored("Europe/Berlin")),
            welcome_text: Some(Localized::default().with(Language::German, "Hallo")),
            form_question: Some(Localized::default()),
            noun: Some(Noun::Ideas),
        };
        assert_eq!(read(all).unwrap(), expected);
    }

    /// Addition 7.
    #[test]
    fn null_removes_what_a_portal_can_be_without() {
        let names = [
            "mail_domains",
            "indexing",
            "embed_origins",
            "moderation",
            "accent_color",
            "logo_signed_id",
            "reply_to",
            "time_zone",
            "welcome_text",
            "form_question",
            "noun",
        ];
        let nulls: Value = names.map(|name| (name.to_owned(), Value::Null)).into_iter().collect();
        let removed = PortalChange {
            mail_domains: Some(Vec::new()),
            embed_origins: Some(Vec::new()),
            accent: Some(None),
            logo: Some(None),
            reply_to: Some(None),
            time_zone: Some(TimeZone::UTC),
            welcome_text: Some(Localized::default()),
            form_question: Some(Localized::default()),
            noun: Some(Noun::FeatureRequests),
            ..PortalChange::default()
        };
        assert_eq!(read(nulls).unwrap(), removed);
        let blank = read(json!({ "accent_color": " ", "logo_signed_id": "", "reply_to": " " })).unwrap();
        assert_eq!((blank.accent, blank.logo, blank.reply_to), (Some(None), Some(None), Some(None)));
        for (sent, field) in [
            (json!({ "visibility": null }), "visibility"),
            (json!({ "visibility": " " }), "visibility"),
            (json!({ "languages": null }), "languages"),
            (json!({ "languages": [] }), "languages"),
            (Value::Null, "portal"),
        ] {
            assert_eq!(read(sent.clone()).unwrap_err(), FieldError::missing(field), "{sent}");
        }
    }

    /// Addition 7.
    #[test]
    fn the_messages_list_all_values() {
        let visibility = PortalAccess::ALL.map(PortalAccess::name).join(", ");
        let error = read(json!({ "visibility": "hidden" })).unwrap_err().to_string();
        assert_eq!(error, format!("visibility is not one of {visibility}"));
        let codes = Language::ALL.map(Language::code).join(", ");
        let error = read(json!({ "languages": ["en", "fr"] })).unwrap_err().to_string();
        assert_eq!(error, format!("languages is not one of {codes}"));
    }
}
