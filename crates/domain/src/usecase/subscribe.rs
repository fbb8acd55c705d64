//! Subscribes customers to feature requests, and ends such subscriptions on behalf of the team.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::audit::{Audit, Change};
use crate::model::customer::CustomerDraft;
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::FeatureRequestRef;
use crate::model::id::{CustomerId, FeatureRequestId};
use crate::model::mail::{SubscribeOutcome, Unsubscription};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Subscribes a customer to a feature request, with or without a vote.
#[derive(Debug, Clone)]
pub struct Subscribe {
    /// The feature request.
    pub request: FeatureRequestRef,
    /// The customer, who is found or created, or the validation error.
    pub customer: Validated<CustomerDraft>,
}

/// Ends the subscription of a customer to a feature request.
#[derive(Debug, Clone)]
pub struct EndSubscription {
    /// The feature request.
    pub request: FeatureRequestRef,
    /// The customer's address, or its validation error.
    pub customer: Validated<EmailAddress>,
}

/// Whether a customer is subscribed to a feature request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    /// The feature request.
    pub request: FeatureRequestId,
    /// Whether the customer is subscribed now.
    pub is_subscribed: bool,
    /// Whether that was different before.
    pub has_changed: bool,
}

impl Subscription {
    fn audit(self, action: &'static str) -> Audit {
        if !self.has_changed {
            return Audit::Unchanged;
        }
        let changes = vec![Change::new("subscribed", !self.is_subscribed, self.is_subscribed)];
        Audit::with_changes(action, "feature_request", Some(self.request.uuid()), changes)
    }
}

fn missing() -> RoadmapError {
    RoadmapError::NotFound(Resource::FeatureRequest)
}

#[async_trait]
impl Operation for Subscribe {
    type Output = Subscription;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Subscription, RoadmapError> {
        let request = work.find_feature_request(&self.request).await?.ok_or_else(missing)?.id;
        let customer = self.customer.as_ref().map_err(Clone::clone)?;
        let customer = customer.to_new_customer(context.new_id(CustomerId::new));
        let subscribed = work.subscribe(&FeatureRequestRef::Id(request), &customer, context.now).await?;
        let SubscribeOutcome { is_subscribed, has_changed } = subscribed.ok_or_else(missing)?;
        Ok(Subscription { request, is_subscribed, has_changed })
    }

    fn stored_bytes(&self) -> u64 {
        self.customer.as_ref().map_or(0, storage::voter_bytes)
    }

    fn audit(&self, subscription: &Subscription) -> Audit {
        subscription.audit("subscription.create")
    }
}

#[async_trait]
impl Operation for EndSubscription {
    type Output = Subscription;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Subscription, RoadmapError> {
        let request = work.find_feature_request(&self.request).await?.ok_or_else(missing)?.id;
        let address = self.customer.as_ref().map_err(Clone::clone)?;
        let changed = match work.find_customer(address.folded()).await? {
            Some(customer) => work.unsubscribe(customer, Unsubscription::Request(request), context.now).await?,
            None => None,
        };
        Ok(Subscription { request, is_subscribed: false, has_changed: changed == Some(true) })
    }

    fn audit(&self, subscription: &Subscription) -> Audit {
        subscription.audit("subscription.delete")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, now, request, summary};
    use pollster::block_on;
    use uuid::Uuid;

    fn unit() -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_find_feature_request().returning(|_| Ok(Some(summary("Inbox", None, 0))));
        unit
    }

    /// Addition 2.
    #[test]
    fn a_customer_who_has_stopped_all_mail_stays_unsubscribed() {
        for (is_subscribed, has_changed) in [(true, true), (true, false), (false, false)] {
            let mut unit = unit();
            unit.expect_subscribe()
                .withf(|_, customer, at| customer.email.as_str() == "ann@example.com" && *at == now())
                .times(1)
                .returning(move |_, _, _| Ok(Some(SubscribeOutcome { is_subscribed, has_changed })));
            let customer = CustomerDraft::parse(Some("ann@example.com"), None);
            let operation = Subscribe { request: request(), customer };
            let done = block_on(operation.perform(&context(&NumberedIds::default()), &mut unit)).unwrap();
            assert_eq!((done.is_subscribed, done.has_changed), (is_subscribed, has_changed));
            assert_eq!(operation.audit(&done) == Audit::Unchanged, !has_changed);
        }
    }

    #[test]
    fn the_subscription_of_an_unknown_customer_has_ended() {
        for (known, has_changed) in [(true, true), (true, false), (false, false)] {
            let mut unit = unit();
            unit.expect_find_customer()
                .withf(|address| address.as_str() == "ann@example.com")
                .returning(move |_| Ok(known.then(|| CustomerId::new(Uuid::from_u128(3)))));
            unit.expect_unsubscribe()
                .withf(|customer, what, _| {
                    *customer == CustomerId::new(Uuid::from_u128(3))
                        && *what == Unsubscription::Request(summary("", None, 0).id)
                })
                .times(usize::from(known))
                .returning(move |_, _, _| Ok(Some(has_changed)));
            let operation =
                EndSubscription { request: request(), customer: EmailAddress::parse("email", "Ann@example.com") };
            let done = block_on(operation.perform(&context(&NumberedIds::default()), &mut unit)).unwrap();
            assert!(!done.is_subscribed);
            assert_eq!(operation.audit(&done) == Audit::Unchanged, !has_changed);
        }
    }

    #[test]
    fn an_unknown_request_is_reported_before_a_missing_address() {
        let error = |exists: bool| {
            let mut unit = MockUnit::new();
            unit.expect_find_feature_request().returning(move |_| Ok(exists.then(|| summary("Inbox", None, 0))));
            let subscribe = Subscribe { request: request(), customer: CustomerDraft::parse(None, None) };
            let end = EndSubscription { request: request(), customer: EmailAddress::parse("email", "") };
            let ids = NumberedIds::default();
            let one = block_on(subscribe.perform(&context(&ids), &mut unit)).unwrap_err().to_string();
            assert_eq!(one, block_on(end.perform(&context(&ids), &mut unit)).unwrap_err().to_string());
            one
        };
        assert_eq!(error(false), "FeatureRequest does not exist.");
        assert_eq!(error(true), "param is missing or the value is empty or invalid: email");
    }
}
