//! Requests to endpoints that need no key.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{Error, ResponseError, web};

use crate::dependencies::HttpDependencies;

/// Middleware that limits requests without a key: passes a request on, or responds with 400 or 429.
///
/// # Errors
/// None of its own.
pub(crate) async fn limit_anonymous(
    dependencies: web::Data<HttpDependencies>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let address = match dependencies.proxies.origin(request.headers(), request.peer_addr()) {
        Ok(origin) => origin.address,
        Err(error) => return Ok(request.into_response(error.error_response())),
    };
    let admission = dependencies.limits.admit_anonymous(address);
    let mut response = match admission.check() {
        Ok(()) => next.call(request).await?.map_into_boxed_body(),
        Err(error) => request.into_response(error.error_response()),
    };
    admission.write_headers(response.headers_mut());
    Ok(response)
}
