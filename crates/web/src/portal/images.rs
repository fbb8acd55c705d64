//! Images that pages show: covers of published changelogs and the logo.

use std::rc::Rc;

use actix_web::HttpResponseBuilder;
use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, CROSS_ORIGIN_RESOURCE_POLICY, ETAG,
    EntityTag,
};
use roadmap_domain::model::id::{AttachmentId, parse_uuid};
use roadmap_domain::usecase::query::files::ReadableFile;
use roadmap_domain::usecase::query::portal::FindPublicImage;
use roadmap_http::content::{body_stream, is_not_modified};
use roadmap_http::error::HttpError;

use crate::context::{Context, Entrance};
use crate::reply::{NOSNIFF, PageResult, Reply};

/// How long caches have an image of a portal that is open to everybody. It can be closed later.
const CACHED_FOR_ALL: &str = "public, max-age=86400";

/// How long browsers, but no shared caches, have an image that is not for everybody.
pub(crate) const CACHED_FOR_ONE: &str = "private, max-age=3600";

/// `GET /covers/{id}/{name}`. The name is for people and not compared.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let image = parse_uuid("id", context.parameter("id")).map(AttachmentId::new).map_err(|_| HttpError::NotFound)?;
    // Whoever has to sign in first sees the logo, but no cover.
    let is_logo = context.portal.settings.logo == Some(image);
    if !is_logo && context.entrance() != Entrance::Open {
        return Err(HttpError::NotFound);
    }
    let file = context.run(&FindPublicImage { image }).await?;
    let cache = if context.is_public() { CACHED_FOR_ALL } else { CACHED_FOR_ONE };
    // Feed readers show covers, too.
    stream(&context, &file, cache, "cross-origin").await
}

/// Returns a response for an image with this entity tag, without its bytes, and whether the client has it: 304.
pub(crate) fn response(context: &Context, tag: String, cache: &str, readers: &str) -> (HttpResponseBuilder, bool) {
    let tag = EntityTag::new_strong(tag);
    let is_known = is_not_modified(&context.request, &tag);
    let mut response = HttpResponseBuilder::new(if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
    response
        .insert_header(NOSNIFF)
        .insert_header((CACHE_CONTROL, cache))
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; sandbox"))
        .insert_header((CROSS_ORIGIN_RESOURCE_POLICY, readers))
        .insert_header((ETAG, tag.to_string()));
    if !context.portal.settings.is_indexed {
        response.insert_header(("X-Robots-Tag", "noindex"));
    }
    (response, is_known)
}

/// Returns the bytes of an image with these values of `Cache-Control` and `Cross-Origin-Resource-Policy`.
///
/// # Errors
/// 404 if it is not shown by browsers or its bytes are missing. Otherwise the storage fails.
pub(crate) async fn stream(context: &Context, file: &ReadableFile, cache: &str, readers: &str) -> PageResult {
    if !file.content_headers.inline {
        return Err(HttpError::NotFound);
    }
    let (mut response, is_known) = response(context, file.attachment.checksum.to_string(), cache, readers);
    if is_known {
        return Ok(Reply::other(response.finish()));
    }
    let chunks = file.read(None).await.map_err(HttpError::of_page)?;
    response
        .insert_header((CONTENT_TYPE, file.content_headers.content_type.as_str()))
        .insert_header((CONTENT_DISPOSITION, file.content_headers.content_disposition()));
    Ok(Reply::other(response.body(SizedStream::new(file.attachment.byte_size, body_stream(chunks)))))
}
