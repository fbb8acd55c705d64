//! What responses with contents share: conditional requests, and files as streams.

use actix_web::HttpRequest;
use actix_web::http::header::{self, EntityTag, Header, IfNoneMatch};
use actix_web::web::Bytes;
use futures_util::{Stream, stream};
use roadmap_domain::error::{ErrorChain, StoreError};
use roadmap_domain::ports::Chunks;

/// Whether the client has the current content (RFC 9110 section 13.1.2).
#[must_use]
pub fn is_not_modified(request: &HttpRequest, tag: &EntityTag) -> bool {
    if !request.headers().contains_key(header::IF_NONE_MATCH) {
        return false;
    }
    match IfNoneMatch::parse(request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(tags)) => tags.iter().any(|known| known.weak_eq(tag)),
        Err(_) => false,
    }
}

/// Converts a file's pieces into a stream for the web server.
pub fn body_stream(chunks: Box<dyn Chunks>) -> impl Stream<Item = Result<Bytes, StoreError>> {
    stream::unfold(Some(chunks), |chunks| async move {
        let mut chunks = chunks?;
        match chunks.next().await {
            Ok(Some(bytes)) => Some((Ok(bytes), Some(chunks))),
            Ok(None) => None,
            // The status is already sent, so the only option is to abort the response.
            Err(error) => {
                tracing::error!(error = %ErrorChain::new(&error), "failed to read a file while sending it");
                Some((Err(error), None))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    /// Beyond the contract.
    #[test]
    fn a_content_with_a_matching_etag_is_not_modified() {
        let tag = EntityTag::new_strong("abc==".to_owned());
        for (known, same) in [("\"abc==\"", true), ("W/\"abc==\", \"x\"", true), ("*", true), ("\"x\"", false)] {
            let request = TestRequest::get().insert_header((header::IF_NONE_MATCH, known)).to_http_request();
            assert_eq!(is_not_modified(&request, &tag), same, "{known}");
        }
        assert!(!is_not_modified(&TestRequest::get().to_http_request(), &tag));
    }
}
