//! Pictures for the previews of links in chats: of the portal, and of a feature request. They show what everybody sees, in
//! the language of the portal, because programs fetch them once for many people.

use std::rc::Rc;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, RETRY_AFTER};
use actix_web::web::{Bytes, BytesMut};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::portal::{Color, Viewer};
use roadmap_domain::model::preview::Preview;
use roadmap_domain::policy::contrast::AccentPalette;
use roadmap_domain::usecase::query::portal::{FindPublicImage, FindVisibleRequest, ListPublicRequests};
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::digest;
use crate::portal::images::response;
use crate::portal::parts::{Status, Statuses};
use crate::portal::request_links;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The picture of the portal.
pub(crate) const PATH: &str = "/preview.png";

/// Changes with the look of pictures, so that caches get the new ones.
const VERSION: &str = "1";

/// How long caches have a picture. Votes and the status change, and a feature request can become private.
const CACHED: &str = "public, max-age=3600";

/// Largest file of a logo that is read, in bytes.
const MAX_LOGO: u64 = 5 * 1024 * 1024;

/// Returns the path of the picture of a feature request.
pub(crate) fn path(slug: &str) -> String {
    format!("{}.png", request_links::path(slug))
}

/// `GET /preview.png`.
pub(crate) async fn of_portal(context: Rc<Context>) -> PageResult {
    let t = Text::of_portal(&context.portal.settings);
    let title = t.named("roadmap-title", context.portal.setting.product_name.as_str());
    draw(&context, t, title, None, None).await
}

/// `GET /feature_requests/{slug}.png`: that of what it was merged into, if it was.
pub(crate) async fn of_request(context: Rc<Context>) -> PageResult {
    let t = Text::of_portal(&context.portal.settings);
    let request = FeatureRequestRef::parse(context.parameter("slug"));
    let link = context.run(&FindVisibleRequest { request, viewer: Viewer::default() }).await?;
    let rows = context.run(&ListPublicRequests { requests: vec![link.id] }).await?;
    let summary = &rows.first().ok_or(HttpError::NotFound)?.summary;
    let status = Statuses::load_with(&context, t).await?.of(&summary.placement, false);
    let votes = t.count("votes", summary.votes_count);
    draw(&context, t, summary.title.as_str().to_owned(), Some(votes), status).await
}

async fn draw(context: &Context, t: Text, title: String, votes: Option<String>, status: Option<Status>) -> PageResult {
    let portal = &context.portal;
    let mut preview = Preview {
        product_name: portal.setting.product_name.as_str().to_owned(),
        logo: None,
        accent: AccentPalette::of_portal(portal.settings.accent).light.fill,
        title,
        votes,
        status: status.map(|status| (status.name, tone(status.sign))),
        is_right_to_left: t.language.direction() == "rtl",
    };
    // The tag is that of what is drawn, so that a known picture is not drawn.
    let tag = digest::short(format!("{VERSION} {:?} {preview:?}", portal.settings.logo));
    let (mut response, is_known) = response(context, tag, CACHED, "cross-origin");
    if is_known {
        return Ok(Reply::other(response.finish()));
    }
    preview.logo = logo(context).await?;
    match context.state.previews.render(preview).await {
        Some(picture) => Ok(Reply::other(response.insert_header((CONTENT_TYPE, "image/png")).body(picture))),
        None => Ok(Reply::other(
            HttpResponse::build(StatusCode::SERVICE_UNAVAILABLE).insert_header((RETRY_AFTER, "1")).finish(),
        )),
    }
}

/// Returns the file of the logo, unless it is missing or too large.
async fn logo(context: &Context) -> Result<Option<Bytes>, HttpError> {
    let Some(image) = context.portal.settings.logo else { return Ok(None) };
    let Ok(file) = context.run(&FindPublicImage { image }).await else { return Ok(None) };
    if file.attachment.byte_size > MAX_LOGO {
        return Ok(None);
    }
    let mut chunks = file.read(None).await.map_err(HttpError::of_page)?;
    let mut content = BytesMut::new();
    while let Some(chunk) = chunks.next().await.map_err(|error| HttpError::Domain(error.into()))? {
        content.extend_from_slice(&chunk);
    }
    Ok(Some(content.freeze()))
}

/// Returns the colour of a status, that of the stylesheet on a light background.
fn tone(sign: &str) -> Color {
    match sign {
        "planned" => Color::new(0x2a, 0x5f, 0xae),
        "started" => Color::new(0x8f, 0x54, 0x00),
        "done" => Color::new(0x1b, 0x73, 0x43),
        "other" => Color::new(0x7a, 0x3f, 0x9d),
        "declined" => Color::new(0xa3, 0x32, 0x5a),
        _ => Color::new(0x64, 0x66, 0x60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::track::LaneKind;

    #[test]
    fn a_status_has_the_colour_of_the_stylesheet() {
        let stylesheet = include_str!("../../assets/site.css");
        for sign in LaneKind::ALL.map(LaneKind::as_str).into_iter().chain(["new"]) {
            let (_, rest) = stylesheet.split_once(&format!(".tone-{sign}")).unwrap();
            let (_, rest) = rest.split_once("--tone: var(").unwrap();
            let (variable, _) = rest.split_once(')').unwrap();
            let declared = format!("{variable}: light-dark({},", tone(sign));
            assert!(stylesheet.contains(&declared), "{sign}: {declared}");
        }
    }
}
