//! Which mail customers and members get, for the pages that stop and resume it.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::{FeatureRequestRef, RequestLink};
use crate::model::id::{CustomerId, MemberId, WorkspaceId};
use crate::model::mail::{MailSettings, Unsubscription};
use crate::model::portal::Viewer;
use crate::model::team_mail::TeamMail;
use crate::usecase::query::{Query, QueryPorts};

/// Loads the mail settings of a customer.
#[derive(Debug, Clone, Copy)]
pub struct ShowMailSettings {
    pub customer: CustomerId,
    /// What the link stops that the customer has followed.
    pub what: Unsubscription,
}

/// Loads the address of a member, and which mail the member gets about what customers write.
#[derive(Debug, Clone, Copy)]
pub struct ShowTeamMail {
    pub member: MemberId,
}

#[async_trait]
impl Query for ShowTeamMail {
    type Output = (EmailAddress, TeamMail);

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Self::Output, RoadmapError> {
        let found = ports.reader.team_mail(workspace, self.member).await?;
        found.ok_or(RoadmapError::NotFound(Resource::Member))
    }
}

/// The mail settings of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSettingsShown {
    pub email: EmailAddress,
    pub settings: MailSettings,
    /// The feature request that the link is about, if the customer may see it.
    pub request: Option<RequestLink>,
}

#[async_trait]
impl Query for ShowMailSettings {
    type Output = MailSettingsShown;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<MailSettingsShown, RoadmapError> {
        let found = ports.reader.mail_settings(workspace, self.customer).await?;
        let (email, settings) = found.ok_or(RoadmapError::NotFound(Resource::Customer))?;
        let request = match self.what {
            Unsubscription::Request(request) => {
                let viewer = Viewer { customer: Some(self.customer), is_member: false };
                ports.reader.visible_request(workspace, &FeatureRequestRef::Id(request), viewer).await?
            }
            Unsubscription::Changelogs | Unsubscription::News | Unsubscription::Everything => None,
        };
        Ok(MailSettingsShown { email, settings, request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::feature_request::Title;
    use crate::model::id::FeatureRequestId;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::query::tests::run_query;
    use uuid::Uuid;

    #[test]
    fn a_feature_request_is_named_as_the_customer_sees_it() {
        let (customer, id) = (CustomerId::new(Uuid::from_u128(3)), FeatureRequestId::new(Uuid::from_u128(7)));
        let link = RequestLink { id, tag_number: 7, title: Title::from_stored("Dark mode".to_owned()) };
        let settings = MailSettings { requests: true, changelogs: false, news: false };
        for (what, is_asked) in [(Unsubscription::Request(id), true), (Unsubscription::Changelogs, false)] {
            let (mut reader, found) = (MockReads::new(), link.clone());
            reader
                .expect_mail_settings()
                .withf(move |_, of| *of == customer)
                .returning(move |_, _| Ok(Some((EmailAddress::from_stored("ann@example.com".to_owned()), settings))));
            reader
                .expect_visible_request()
                .withf(move |_, request, viewer| {
                    *request == FeatureRequestRef::Id(id)
                        && *viewer == Viewer { customer: Some(customer), is_member: false }
                })
                .times(usize::from(is_asked))
                .return_once(move |_, _, _| Ok(Some(found)));
            let shown = run_query(reader, MockBlobs::new(), &ShowMailSettings { customer, what }).unwrap();
            assert_eq!((shown.settings, shown.request), (settings, is_asked.then(|| link.clone())));
        }
    }

    #[test]
    fn somebody_who_is_gone_has_no_settings() {
        let mut reader = MockReads::new();
        reader.expect_mail_settings().returning(|_, _| Ok(None));
        let customer = CustomerId::new(Uuid::nil());
        let query = ShowMailSettings { customer, what: Unsubscription::Everything };
        let gone = run_query(reader, MockBlobs::new(), &query).unwrap_err();
        assert_eq!(gone.to_string(), "Customer does not exist.");
    }
}
