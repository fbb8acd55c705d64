//! Downloads for browsers. `/blobs/<signed id>/<name>` works for everyone who has the link and redirects to a URL of
//! the content that is valid for five minutes.

use std::ops::Range;

use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    self, ACCEPT_RANGES, ByteRangeSpec, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
    CROSS_ORIGIN_RESOURCE_POLICY, ETAG, EntityTag, Header, HeaderName, IfRange, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use roadmap_domain::model::attachment::ContentHeaders;
use roadmap_domain::model::id::AttachmentId;
use roadmap_domain::policy::links::Links;
use roadmap_domain::policy::signed_reference::Purpose;
use roadmap_domain::usecase::query::files::{FindFile, LocateFile, ReadableFile};
use roadmap_http::content::{body_stream, is_not_modified};
use roadmap_http::workspace::resolve_reference;

use crate::error::ApiError;
use crate::state::State;

/// Headers of every response with or about a file: no type sniffing and no active content.
const SECURITY_HEADERS: [(HeaderName, &str); 3] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; sandbox"),
    (REFERRER_POLICY, "no-referrer"),
];

/// `GET /blobs/<signed id>/<name>`
pub(crate) async fn blob(state: web::Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (workspace, file) = resolve_reference(&state.http, &request, Purpose::Blob).await?;
    let links = Links::new(&state.http.base_url, &workspace.subdomain, workspace.id, state.http.references.clone());
    let query = LocateFile { file: AttachmentId::new(file), links };
    let located = state.queries.run(workspace.id, &query).await.map_err(ApiError::of_page)?;
    Ok(response_with_security_headers(StatusCode::FOUND, &located.content_headers)
        .insert_header((LOCATION, located.url))
        .finish())
}

/// `GET /files/<token>/<name>`
pub(crate) async fn file(state: web::Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (workspace, file) = resolve_reference(&state.http, &request, Purpose::File).await?;
    let query = FindFile { file: AttachmentId::new(file) };
    let file = state.queries.run(workspace.id, &query).await.map_err(ApiError::of_page)?;
    let ReadableFile { attachment, content_headers, .. } = &file;
    let tag = EntityTag::new_strong(attachment.checksum.to_string());
    let mut response = response_with_security_headers(StatusCode::OK, content_headers);
    response.insert_header((ETAG, tag.clone())).insert_header((ACCEPT_RANGES, "bytes"));
    if is_not_modified(&request, &tag) {
        return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
    }
    let range = requested_range(&request, &tag, attachment.byte_size)?;
    let chunks = file.read(range.clone()).await.map_err(ApiError::of_page)?;
    response.content_type(content_headers.content_type.as_str());
    response.insert_header((CONTENT_DISPOSITION, content_headers.content_disposition()));
    let length = match range {
        Some(Range { start, end }) => {
            let content_range = format!("bytes {start}-{}/{}", end.saturating_sub(1), attachment.byte_size);
            response.status(StatusCode::PARTIAL_CONTENT).insert_header((CONTENT_RANGE, content_range));
            end.saturating_sub(start)
        }
        None => attachment.byte_size,
    };
    Ok(response.body(SizedStream::new(length, body_stream(chunks))))
}

fn response_with_security_headers(status: StatusCode, content_headers: &ContentHeaders) -> HttpResponseBuilder {
    let mut response = HttpResponseBuilder::new(status);
    for header in SECURITY_HEADERS {
        response.insert_header(header);
    }
    // Images are embedded in the customers' own pages. Browsers check this header on redirects, too.
    let policy = if content_headers.inline { "cross-origin" } else { "same-origin" };
    response.insert_header((CROSS_ORIGIN_RESOURCE_POLICY, policy));
    response
}

/// Returns the requested range (RFC 9110 section 14.2), if it is a single byte range. Other ranges are ignored, and so
/// is a range with an outdated `If-Range`.
fn requested_range(request: &HttpRequest, tag: &EntityTag, length: u64) -> Result<Option<Range<u64>>, ApiError> {
    let Ok(header::Range::Bytes(ranges)) = header::Range::parse(request) else { return Ok(None) };
    if request.headers().contains_key(header::IF_RANGE)
        && !matches!(IfRange::parse(request), Ok(IfRange::EntityTag(known)) if known.strong_eq(tag))
    {
        return Ok(None);
    }
    let [only] = ranges.as_slice() else { return Ok(None) };
    let (first, last) =
        ByteRangeSpec::to_satisfiable_range(only, length).ok_or(ApiError::RangeNotSatisfiable(length))?;
    Ok(Some(first..last.saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn tag() -> EntityTag {
        EntityTag::new_strong("abc==".to_owned())
    }

    /// Beyond the contract.
    #[test]
    fn a_single_byte_range_is_served() {
        for (range, cut) in [
            ("bytes=0-0", Some(0..1)),
            ("bytes=0-9", Some(0..10)),
            ("bytes=5-", Some(5..10)),
            ("bytes=5-99", Some(5..10)),
            ("bytes=-3", Some(7..10)),
            ("bytes=-99", Some(0..10)),
            ("bytes=0-1,4-5", None),
            ("lines=0-1", None),
            ("bytes=9-0", None),
            ("nonsense", None),
        ] {
            let request = TestRequest::get().insert_header((header::RANGE, range)).to_http_request();
            assert_eq!(requested_range(&request, &tag(), 10).unwrap(), cut, "{range}");
        }
        assert_eq!(requested_range(&TestRequest::get().to_http_request(), &tag(), 10).unwrap(), None);
        for range in ["bytes=10-", "bytes=-0", "bytes=99-100"] {
            let request = TestRequest::get().insert_header((header::RANGE, range)).to_http_request();
            assert!(matches!(requested_range(&request, &tag(), 10), Err(ApiError::RangeNotSatisfiable(10))), "{range}");
        }
    }

    /// Beyond the contract.
    #[test]
    fn a_range_of_another_version_is_ignored() {
        for (known, cut) in [("\"abc==\"", Some(0..1)), ("\"other\"", None), ("W/\"abc==\"", None), ("?", None)] {
            let request = TestRequest::get()
                .insert_header((header::RANGE, "bytes=0-0"))
                .insert_header((header::IF_RANGE, known))
                .to_http_request();
            assert_eq!(requested_range(&request, &tag(), 10).unwrap(), cut, "{known}");
        }
    }
}
