//! Webhooks and their deliveries.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::id::{WebhookEventId, WebhookId, WorkspaceId};
use crate::model::pagination::{Listing, PageRequest};
use crate::model::webhook::{Delivery, DeliveryDetail, DeliveryState, Webhook};
use crate::usecase::query::{Query, QueryPorts};

/// Lists the webhooks of a workspace, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct ListWebhooks;

/// Shows a webhook.
#[derive(Debug, Clone, Copy)]
pub struct ShowWebhook {
    /// The webhook. `None` for an ID that none can have.
    pub webhook: Option<WebhookId>,
}

/// Lists the deliveries of a webhook, newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListDeliveries {
    /// The webhook. `None` for an ID that none can have.
    pub webhook: Option<WebhookId>,
    /// Only those in this state.
    pub state: Option<DeliveryState>,
    pub page: PageRequest,
}

/// Shows a delivery of a webhook with its tries.
#[derive(Debug, Clone, Copy)]
pub struct ShowDelivery {
    /// The webhook. `None` for an ID that none can have.
    pub webhook: Option<WebhookId>,
    /// The event. `None` for an ID that none can have.
    pub event: Option<WebhookEventId>,
}

async fn find(workspace: WorkspaceId, webhook: Option<WebhookId>, ports: &QueryPorts) -> Result<Webhook, RoadmapError> {
    let webhooks = ports.reader.webhooks(workspace).await?;
    let found = webhooks.into_iter().find(|known| Some(known.id) == webhook);
    found.ok_or(RoadmapError::NotFound(Resource::Webhook))
}

#[async_trait]
impl Query for ListWebhooks {
    type Output = Vec<Webhook>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<Webhook>, RoadmapError> {
        Ok(ports.reader.webhooks(workspace).await?)
    }
}

#[async_trait]
impl Query for ShowWebhook {
    type Output = Webhook;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Webhook, RoadmapError> {
        find(workspace, self.webhook, ports).await
    }
}

#[async_trait]
impl Query for ListDeliveries {
    type Output = Listing<Delivery>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Listing<Delivery>, RoadmapError> {
        let webhook = find(workspace, self.webhook, ports).await?;
        Ok(ports.reader.deliveries(workspace, webhook.id, self.state, self.page).await?)
    }
}

#[async_trait]
impl Query for ShowDelivery {
    /// The webhook and the delivery.
    type Output = (Webhook, DeliveryDetail);

    async fn execute(
        &self,
        workspace: WorkspaceId,
        ports: &QueryPorts,
    ) -> Result<(Webhook, DeliveryDetail), RoadmapError> {
        let webhook = find(workspace, self.webhook, ports).await?;
        let missing = || RoadmapError::NotFound(Resource::Delivery);
        let event = self.event.ok_or_else(missing)?;
        let delivery = ports.reader.delivery(workspace, webhook.id, event).await?.ok_or_else(missing)?;
        Ok((webhook, delivery))
    }
}
