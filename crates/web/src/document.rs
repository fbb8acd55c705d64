//! Responses for programs that are no pages: feeds and sitemaps.

use actix_web::HttpResponseBuilder;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, EntityTag, VARY};
use actix_web::web::Bytes;
use flate2::Compression;
use roadmap_http::content::is_not_modified;

use crate::context::Context;
use crate::digest;
use crate::gzip::{accepts_gzip, compress};
use crate::reply::{NOSNIFF, Reply};

/// The media type of Atom feeds (RFC 4287).
pub(crate) const ATOM: &str = "application/atom+xml; charset=utf-8";
/// The media type of sitemaps.
pub(crate) const XML: &str = "application/xml; charset=utf-8";
/// The media type of plain text.
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

/// Returns a document, which caches keep for five minutes.
pub(crate) fn reply(context: &Context, content_type: &'static str, body: String) -> Reply {
    let tag = digest::short(&body);
    respond(context, content_type, tag, |compresses| match compresses {
        true => compress(body.as_bytes(), Compression::fast()),
        false => body.into(),
    })
}

/// A document in both forms in which it is sent, for one that costs much to make.
pub(crate) struct PreparedDocument {
    content_type: &'static str,
    body: Bytes,
    compressed: Bytes,
    tag: String,
}

impl PreparedDocument {
    /// Hashes and compresses a document.
    pub(crate) fn new(content_type: &'static str, body: String) -> Self {
        let tag = digest::short(&body);
        Self { content_type, compressed: compress(body.as_bytes(), Compression::fast()), body: body.into(), tag }
    }

    /// Returns the memory that it takes, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.body.len() + self.compressed.len()
    }

    /// Returns the document, which caches keep for five minutes.
    pub(crate) fn reply(&self, context: &Context) -> Reply {
        respond(context, self.content_type, self.tag.clone(), |compresses| {
            if compresses { self.compressed.clone() } else { self.body.clone() }
        })
    }
}

/// Returns a document or, if the client has it already, 304. `body` returns it, compressed or not.
fn respond(context: &Context, content_type: &str, mut tag: String, body: impl FnOnce(bool) -> Bytes) -> Reply {
    let request = &context.request;
    let compresses = accepts_gzip(request);
    if compresses {
        // Strong tags differ between encodings (RFC 9110 section 8.8.3.3).
        tag.push_str("-gzip");
    }
    let tag = EntityTag::new_strong(tag);
    let is_known = is_not_modified(request, &tag);
    let mut response = HttpResponseBuilder::new(if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
    response
        .insert_header(NOSNIFF)
        .insert_header((CACHE_CONTROL, "public, max-age=300"))
        .insert_header((VARY, "Accept-Encoding"))
        .insert_header((ETAG, tag.to_string()));
    if !context.portal.settings.is_indexed {
        response.insert_header(("X-Robots-Tag", "noindex"));
    }
    Reply::other(match is_known {
        true => response.finish(),
        false => {
            response.insert_header((CONTENT_TYPE, content_type));
            if compresses {
                response.insert_header((CONTENT_ENCODING, "gzip"));
            }
            response.body(body(compresses))
        }
    })
}

/// Returns a text without the characters that XML 1.0 forbids (section 2.2), even as character references.
pub(crate) fn xml_text(text: &str) -> String {
    let is_allowed = |character: &char| match character {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        character => *character >= ' ',
    };
    text.chars().filter(is_allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_xml_forbids_are_left_out() {
        assert_eq!(xml_text("a\u{0}\u{8}\u{b}\u{1f}\u{fffe}\u{ffff}b\tc\r\nd\u{7f}\u{fffd}\u{10ffff}"), {
            "ab\tc\r\nd\u{7f}\u{fffd}\u{10ffff}"
        });
    }
}
