//! Subscriptions of customers to feature requests.

use roadmap_domain::usecase::subscribe::Subscription;
use serde::Serialize;
use utoipa::ToSchema;

/// Whether the customer is subscribed to the feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Subscription)]
pub(crate) struct Body {
    subscribed: bool,
}

pub(crate) fn response(subscription: Subscription) -> impl Serialize {
    Body { subscribed: subscription.is_subscribed }
}
