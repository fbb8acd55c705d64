//! The API inside of the process: calls its operations exactly as a request from outside would, after authentication.
//!
//! So that a tool cannot differ from its operation, there is no second handler: routing, scopes, validation, operation
//! keys, limits of bodies and responses are those of the API.

use actix_http::{Payload, Request};
use actix_service::boxed::{BoxService, service};
use actix_service::{IntoServiceFactory, Service, ServiceFactory};
use actix_web::body::to_bytes;
use actix_web::dev::{AppConfig, ServiceResponse};
use actix_web::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use actix_web::http::{StatusCode, Uri};
use actix_web::web::{self, Bytes};
use actix_web::{App, Error, HttpMessage, HttpRequest};
use futures_util::stream;
use roadmap_domain::model::api_key::Credential;
use roadmap_http::error::{ExceededBudget, HttpError, render};
use roadmap_http::headers::IDEMPOTENT_REPLAYED;
use roadmap_http::request_id::RequestId;

use crate::call::ApiCall;

/// The operations of the API as a service of this thread.
pub(crate) struct Api(BoxService<Request, ServiceResponse, Error>);

/// The response of an operation.
#[derive(Debug)]
pub(crate) struct ApiResponse {
    pub(crate) status: StatusCode,
    /// The body: JSON, or empty.
    pub(crate) body: Bytes,
    /// Whether it is the saved response of an earlier request.
    pub(crate) replayed: bool,
    /// The seconds after which the request may be repeated, if the response says so.
    pub(crate) retry_after: Option<u64>,
    /// The budget that the request would have exceeded.
    pub(crate) budget: Option<ExceededBudget>,
}

/// Who calls.
pub(crate) struct Caller {
    /// The key and its workspace.
    pub(crate) credential: Credential,
    request_id: Option<RequestId>,
}

impl Caller {
    /// Returns the authenticated caller of a request.
    ///
    /// # Errors
    /// 401 outside of [`roadmap_http::authentication`].
    pub(crate) fn of(request: &HttpRequest) -> Result<Self, HttpError> {
        let credential = roadmap_api::extractors::credential(request)?;
        Ok(Self { credential, request_id: request.extensions().get().cloned() })
    }
}

impl Api {
    /// Starts the operations.
    pub(crate) async fn start(state: web::Data<roadmap_api::State>) -> Result<Self, HttpError> {
        let app = App::new().configure(|config| roadmap_api::configure_operations(config, state)).into_factory();
        let started = app.new_service(AppConfig::default()).await;
        // Only data factories can fail, and there are none.
        Ok(Self(service(started.map_err(|()| HttpError::HandlerPanicked)?)))
    }

    /// Calls an operation on behalf of a caller.
    pub(crate) async fn call(&self, caller: &Caller, call: ApiCall) -> Result<ApiResponse, HttpError> {
        let ApiCall { method, target, body } = call;
        let mut request = Request::new();
        request.head_mut().method = method;
        request.head_mut().uri = Uri::try_from(target).map_err(|_| HttpError::NotFound)?;
        if let Some((media_type, content)) = body {
            let media_type = HeaderValue::try_from(media_type).map_err(|_| HttpError::UnsupportedMediaType)?;
            request.headers_mut().insert(CONTENT_TYPE, media_type);
            let payload = Payload::Stream { payload: Box::pin(stream::iter([Ok(content)])) as _ };
            request = request.replace_payload(payload).0;
        }
        request.extensions_mut().insert(caller.credential.clone());
        if let Some(id) = &caller.request_id {
            request.extensions_mut().insert(id.clone());
        }
        let response = match self.0.call(request).await {
            Ok(response) => response.into_parts().1,
            Err(error) => error.error_response(),
        };
        let budget = response.extensions().get::<ExceededBudget>().copied();
        let response = render(response, roadmap_api::error::render);
        let (status, replayed) = (response.status(), response.headers().contains_key(IDEMPOTENT_REPLAYED));
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|seconds| seconds.to_str().ok()?.parse().ok());
        let body = to_bytes(response.into_body()).await.map_err(|_| HttpError::HandlerPanicked)?;
        Ok(ApiResponse { status, body, replayed, retry_after, budget })
    }
}
