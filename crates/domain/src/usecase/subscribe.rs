//! Subscribes customers to feature requests, and ends such subscriptions on behalf of the team.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, Change, OwnRecord};
use crate::model::customer::CustomerDraft;
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::FeatureRequestRef;
use crate::model::id::{CustomerId, FeatureRequestId};
use crate::model::mail::{MailSettingsChange, SubscribeOutcome};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Subscribes a customer to a feature request, with or without a vote.
#[derive(Debug, Clone)]
pub struct Subscribe {
    pub request: FeatureRequestRef,
    /// The customer, who is found or created.
    pub customer: CustomerDraft,
    /// Whether the customer asks for it, so that answers and changes of the status are turned on again if the customer
    /// has stopped them.
    pub resumes_mail: bool,
}

/// Ends the subscription of a customer to a feature request.
#[derive(Debug, Clone)]
pub struct EndSubscription {
    pub request: FeatureRequestRef,
    /// The customer's address.
    pub customer: EmailAddress,
}

/// Lets a customer get all changelogs by mail.
#[derive(Debug, Clone)]
pub struct AskForNews {
    /// The customer, who is found or created.
    pub customer: CustomerDraft,
}

#[async_trait]
impl Operation for AskForNews {
    /// Whether the customer gets them now. A blocked one does not.
    type Output = bool;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        let customer = self.customer.to_new_customer(context.new_id(CustomerId::new));
        let gets_news = work.ask_for_news(&customer, context.now).await?;
        let performed = Performed::new(gets_news, Audit::OwnRecord(OwnRecord::Subscription));
        Ok(performed.storing(storage::customer_bytes(&self.customer)))
    }
}

/// Whether a customer is subscribed to a feature request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    pub request: FeatureRequestId,
    /// Whether the customer is subscribed now.
    pub is_subscribed: bool,
    /// Whether that was different before.
    pub has_changed: bool,
    /// Whether mail was turned on again.
    pub has_resumed: bool,
}

impl Subscription {
    fn performed(self, action: &'static str) -> Performed<Self> {
        if !self.has_changed {
            return Performed::new(self, Audit::Unchanged);
        }
        let changes = vec![Change::new("subscribed", !self.is_subscribed, self.is_subscribed)];
        Performed::new(self, Audit::with_changes(action, "feature_request", Some(self.request.uuid()), changes))
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
    ) -> Result<Performed<Subscription>, RoadmapError> {
        let request = work.find_feature_request(&self.request).await?.ok_or_else(missing)?.id;
        let mut has_resumed = false;
        if self.resumes_mail
            && let Some(customer) = work.find_customer(self.customer.email.folded()).await?
        {
            let change = MailSettingsChange { requests: Some(true), ..MailSettingsChange::default() };
            has_resumed = work.change_mail_settings(customer, change, context.now).await? == Some(true);
        }
        let customer = self.customer.to_new_customer(context.new_id(CustomerId::new));
        let subscribed = work.subscribe(&FeatureRequestRef::Id(request), &customer, context.now).await?;
        let SubscribeOutcome { is_subscribed, has_changed } = subscribed.ok_or_else(missing)?;
        let subscription =
            Subscription { request, is_subscribed, has_changed: has_changed || has_resumed, has_resumed };
        Ok(subscription.performed("subscription.create").storing(storage::voter_bytes(&self.customer)))
    }
}

#[async_trait]
impl Operation for EndSubscription {
    type Output = Subscription;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Subscription>, RoadmapError> {
        let request = work.find_feature_request(&self.request).await?.ok_or_else(missing)?.id;
        let changed = match work.find_customer(self.customer.folded()).await? {
            Some(customer) => work.unsubscribe(customer, request).await?,
            None => None,
        };
        let subscription =
            Subscription { request, is_subscribed: false, has_changed: changed == Some(true), has_resumed: false };
        Ok(subscription.performed("subscription.delete"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{now, perform, request, summary};
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
            let operation = Subscribe { request: request(), customer: customer.unwrap(), resumes_mail: false };
            let done = perform(&operation, &mut unit).unwrap();
            assert_eq!((done.output.is_subscribed, done.output.has_changed), (is_subscribed, has_changed));
            assert_eq!(done.has_changed(), has_changed);
        }
    }

    /// Whoever follows again wants mail, also after having stopped it.
    #[test]
    fn following_turns_mail_on_again() {
        for (known, changed, has_resumed) in
            [(true, Some(true), true), (true, Some(false), false), (true, None, false), (false, None, false)]
        {
            let mut unit = unit();
            let customer = CustomerId::new(Uuid::from_u128(3));
            unit.expect_find_customer().returning(move |_| Ok(known.then_some(customer)));
            unit.expect_change_mail_settings()
                .withf(move |of, change, at| {
                    (*of, *at) == (customer, now())
                        && *change == MailSettingsChange { requests: Some(true), ..MailSettingsChange::default() }
                })
                .times(usize::from(known))
                .returning(move |_, _, _| Ok(changed));
            let subscribed = SubscribeOutcome { is_subscribed: true, has_changed: false };
            unit.expect_subscribe().times(1).returning(move |_, _, _| Ok(Some(subscribed)));
            let customer = CustomerDraft::parse(Some("ann@example.com"), None).unwrap();
            let operation = Subscribe { request: request(), customer, resumes_mail: true };
            let done = perform(&operation, &mut unit).unwrap();
            assert_eq!((done.output.has_resumed, done.output.has_changed), (has_resumed, has_resumed));
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
                .withf(|customer, request| {
                    *customer == CustomerId::new(Uuid::from_u128(3)) && *request == summary("", None, 0).id
                })
                .times(usize::from(known))
                .returning(move |_, _| Ok(Some(has_changed)));
            let operation = EndSubscription {
                request: request(),
                customer: EmailAddress::parse("email", "Ann@example.com").unwrap(),
            };
            let done = perform(&operation, &mut unit).unwrap();
            assert!(!done.output.is_subscribed);
            assert_eq!(done.has_changed(), has_changed);
        }
    }

    #[test]
    fn an_unknown_request_is_reported() {
        let mut unit = MockUnit::new();
        unit.expect_find_feature_request().returning(|_| Ok(None));
        let customer = CustomerDraft::parse(Some("ann@example.com"), None).unwrap();
        let end = EndSubscription { request: request(), customer: customer.email.clone() };
        let subscribe = Subscribe { request: request(), customer, resumes_mail: true };
        for error in [perform(&subscribe, &mut unit).unwrap_err(), perform(&end, &mut unit).unwrap_err()] {
            assert_eq!(error.to_string(), "FeatureRequest does not exist.");
        }
    }
}
