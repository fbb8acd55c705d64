//! Sends the requests of webhooks.

use async_trait::async_trait;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use roadmap_domain::model::destination::OutboundNetworks;
use roadmap_domain::model::webhook::AttemptError;
use roadmap_domain::ports::{WebhookRequest, WebhookResponse, WebhookSender};
use url::Url;

use crate::{OutboundClient, Request, RequestError};

/// Maximum number of bytes of a response that are read. Then the connection is closed.
const BODY_LIMIT: usize = 16 * 1024;

/// The guarded client as the sender of webhooks.
#[derive(Debug, Clone)]
pub struct OutboundSender {
    client: OutboundClient,
}

impl OutboundSender {
    /// Creates the sender, whose requests may go to public addresses and to these networks ([`OutboundClient::new`]).
    #[must_use]
    pub fn new(networks: OutboundNetworks) -> Self {
        Self { client: OutboundClient::new(networks) }
    }
}

#[async_trait]
impl WebhookSender for OutboundSender {
    async fn send(&self, request: WebhookRequest) -> Result<WebhookResponse, AttemptError> {
        let WebhookRequest { url, headers, body, timeout } = request;
        // It was parsed before it was stored.
        let url = Url::parse(url.as_str()).map_err(|_| AttemptError::Unreachable)?;
        let header = |(name, value): (&'static str, String)| {
            Some((HeaderName::from_static(name), HeaderValue::try_from(value).ok()?))
        };
        let headers: HeaderMap = headers.into_iter().filter_map(header).collect();
        let request = Request {
            method: Method::POST,
            url,
            headers,
            body: body.into_bytes(),
            timeout: timeout.unsigned_abs(),
            body_limit: BODY_LIMIT,
        };
        let response = self.client.send(request).await.map_err(|error| {
            tracing::debug!(%error, "a request of a webhook has no response");
            match error {
                RequestError::Timeout => AttemptError::Timeout,
                RequestError::Unreachable(_) => AttemptError::Unreachable,
                RequestError::Tls(_) => AttemptError::Tls,
                RequestError::Blocked => AttemptError::Blocked,
            }
        })?;
        let retry_after = response.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Ok(WebhookResponse { status: response.status, retry_after, body: response.body })
    }
}
