//! The id of a request, in its response and in all its log lines.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::{HttpMessage, HttpRequest};
use roadmap_domain::ports::{Clock, IdGenerator};

/// The header with the id, in requests and responses.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is accepted from a client.
const MAX_REQUEST_ID_LENGTH: usize = 128;

/// The id of a request, in its extensions. A request that is passed on inside of the process gets a copy.
#[derive(Debug, Clone)]
pub struct RequestId(pub(crate) HeaderValue);

/// Returns the id that the response and the log lines of this request have.
#[must_use]
pub fn id_of(request: &HttpRequest) -> Option<String> {
    let extensions = request.extensions();
    let RequestId(id) = extensions.get()?;
    id.to_str().ok().map(str::to_owned)
}

/// Returns the client's id if it has at most 128 visible ASCII characters, otherwise a new one.
pub(crate) fn request_id(headers: &HeaderMap, ids: &dyn IdGenerator, clock: &dyn Clock) -> HeaderValue {
    let client_id = headers
        .get(REQUEST_ID)
        .filter(|id| (1..=MAX_REQUEST_ID_LENGTH).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic));
    client_id.cloned().unwrap_or_else(|| {
        let new = ids.next(clock.now()).to_string();
        HeaderValue::try_from(new).unwrap_or_else(|_| HeaderValue::from_static("none"))
    })
}
