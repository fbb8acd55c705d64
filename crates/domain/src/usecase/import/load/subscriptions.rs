//! People of a source who get mail about feature requests without a vote.

use super::{BatchWriter, GONE, Subscribing, folded};
use crate::error::RoadmapError;
use crate::model::id::FeatureRequestId;
use crate::model::import::ImportedSubscription;
use crate::model::import::records::{Kind, Subscription};
use crate::policy::storage;

/// Why subscriptions are left out.
const UNWANTED: &str = "subscriptions, because nobody is to be subscribed";
const NO_MAIL: &str = "subscriptions of people who get no mail here";

impl BatchWriter<'_, '_> {
    pub(super) async fn subscriptions(&mut self, subscriptions: &[Subscription]) -> Result<(), RoadmapError> {
        if self.run.subscribing == Subscribing::Nobody {
            subscriptions.iter().for_each(|_| self.refuse(UNWANTED));
            return Ok(());
        }
        let requests = self.find_ids(Kind::FeatureRequests, subscriptions.iter().map(|one| &one.request)).await?;
        let addresses = self.addresses(subscriptions.iter().map(|one| &one.person))?;
        let customers = self.work.find_customers(&folded(&addresses)).await?;
        let mut wanted = Vec::with_capacity(subscriptions.len());
        for ((one, address), customer) in subscriptions.iter().zip(&addresses).zip(customers) {
            if self.is_gone(&requests, &one.request) {
                self.refuse(GONE);
            } else if self.erased.contains(address.folded()) {
                self.written.count.unchanged += 1;
            } else if !address.folded().has_mailbox() {
                self.refuse(NO_MAIL);
            } else if let (Some(known), Some(customer)) = (requests.get(&one.request), customer) {
                let created_at = known.times.map_or(self.run.began_at, |times| times.created_at);
                wanted.push(ImportedSubscription {
                    request: FeatureRequestId::new(known.id),
                    customer,
                    at: one.created_at.unwrap_or(created_at),
                });
            } else {
                // A dry run, which has not stored the one or the other.
                self.written.count.new += 1;
            }
        }
        let pairs: Vec<_> = wanted.iter().map(|one| (one.request, one.customer)).collect();
        let mut existing = self.work.existing_subscriptions(&pairs).await?.into_iter();
        wanted.retain(|_| !existing.next().unwrap_or_default());
        self.written.count.unchanged += (pairs.len() - wanted.len()) as u64;
        let new = if self.run.is_dry {
            wanted.len() as u64
        } else {
            self.remember_voted(requests.into_values()).await?;
            self.work.import_subscriptions(self.run.id, &wanted).await?
        };
        self.written.count.new += new;
        self.written.bytes += new * storage::ROW_BYTES;
        (new..wanted.len() as u64).for_each(|_| self.refuse(NO_MAIL));
        Ok(())
    }
}
