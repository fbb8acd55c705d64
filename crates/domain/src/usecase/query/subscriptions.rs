//! The choices of the page behind an unsubscribe link.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::id::{FeatureRequestId, WorkspaceId};
use crate::model::mail::Unsubscription;
use crate::model::text::Name;
use crate::usecase::query::setting::ShowSetting;
use crate::usecase::query::{Query, QueryPorts};

/// Loads the scopes that a voter can unsubscribe from by a link.
#[derive(Debug, Clone, Copy)]
pub struct UnsubscribeOptions {
    /// The feature request of the mail, if the link names one.
    pub request: Option<FeatureRequestId>,
}

/// The choices that the page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsubscribeChoice {
    /// The name of the product that sends the mail.
    pub product_name: Name,
    /// Whether mail about one feature request can be stopped separately.
    pub offers_request: bool,
}

impl UnsubscribeOptions {
    /// Returns the scope to unsubscribe from. `only_request` is whether the voter chose the one feature request. A
    /// missing or unknown choice means all mail.
    #[must_use]
    pub fn unsubscription(self, only_request: bool) -> Unsubscription {
        match self.request {
            Some(request) if only_request => Unsubscription::Request(request),
            _ => Unsubscription::Everything,
        }
    }
}

#[async_trait]
impl Query for UnsubscribeOptions {
    type Output = UnsubscribeChoice;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<UnsubscribeChoice, RoadmapError> {
        let setting = ShowSetting.execute(workspace, ports).await?;
        Ok(UnsubscribeChoice { product_name: setting.product_name, offers_request: self.request.is_some() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::setting::Setting;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::query::tests::run_query;
    use uuid::Uuid;

    fn request() -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(7))
    }

    #[test]
    fn one_request_can_be_chosen_where_the_link_names_it() {
        for request in [None, Some(request())] {
            let mut reader = MockReads::new();
            reader.expect_setting().returning(|_| Ok(Some(Setting::parse("Acme", "https://acme.example").unwrap())));
            let choice = run_query(reader, MockBlobs::new(), &UnsubscribeOptions { request }).unwrap();
            assert_eq!((choice.product_name.as_str(), choice.offers_request), ("Acme", request.is_some()));
        }
        for (request, only_request, expected) in [
            (Some(request()), true, Unsubscription::Request(request())),
            (Some(request()), false, Unsubscription::Everything),
            (None, true, Unsubscription::Everything),
        ] {
            assert_eq!(UnsubscribeOptions { request }.unsubscription(only_request), expected);
        }
    }

    #[test]
    fn a_workspace_that_is_gone_has_no_options() {
        let mut reader = MockReads::new();
        reader.expect_setting().returning(|_| Ok(None));
        let gone = run_query(reader, MockBlobs::new(), &UnsubscribeOptions { request: None });
        assert_eq!(gone.unwrap_err().to_string(), "Workspace does not exist.");
    }
}
