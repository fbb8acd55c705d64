//! Stops and resumes mail to customers and members.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::id::{CustomerId, MemberId};
use crate::model::mail::{MailSettings, MailSettingsChange, Unsubscription};
use crate::model::team_mail::TeamMail;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Stops mail to a customer. It is idempotent.
#[derive(Debug, Clone, Copy)]
pub struct Unsubscribe {
    pub customer: CustomerId,
    pub what: Unsubscription,
}

/// Saves which mail a customer wants.
#[derive(Debug, Clone, Copy)]
pub struct SaveMailSettings {
    pub customer: CustomerId,
    pub settings: MailSettings,
}

/// Saves which mail a member gets about what customers write.
#[derive(Debug, Clone, Copy)]
pub struct SaveTeamMail {
    pub member: MemberId,
    pub wanted: TeamMail,
}

/// Saves which mail somebody gets who is signed in: a customer, a member, or both.
#[derive(Debug, Clone, Copy)]
pub struct SaveOwnMail {
    pub customer: Option<SaveMailSettings>,
    pub member: Option<SaveTeamMail>,
}

async fn change(
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
    customer: CustomerId,
    change: MailSettingsChange,
) -> Result<Performed<()>, RoadmapError> {
    let changed = work.change_mail_settings(customer, change, context.now).await?;
    changed.ok_or(RoadmapError::NotFound(Resource::Customer))?;
    Ok(Performed::new((), Audit::OwnRecord(OwnRecord::MailSettings)))
}

#[async_trait]
impl Operation for Unsubscribe {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let nothing = match self.what {
            Unsubscription::Request(request) => {
                let changed = work.unsubscribe(self.customer, request).await?;
                changed.ok_or(RoadmapError::NotFound(Resource::Customer))?;
                return Ok(Performed::new((), Audit::OwnRecord(OwnRecord::MailSettings)));
            }
            Unsubscription::Changelogs => {
                MailSettingsChange { changelogs: Some(false), news: Some(false), requests: None }
            }
            Unsubscription::News => MailSettingsChange { news: Some(false), ..MailSettingsChange::default() },
            Unsubscription::Everything => MailSettingsChange::NOTHING,
        };
        change(context, work, self.customer, nothing).await
    }
}

#[async_trait]
impl Operation for SaveMailSettings {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        change(context, work, self.customer, self.settings.into()).await
    }
}

#[async_trait]
impl Operation for SaveTeamMail {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        match work.set_team_mail(self.member, self.wanted, context.now).await? {
            true => Ok(Performed::new((), Audit::OwnRecord(OwnRecord::MailSettings))),
            false => Err(RoadmapError::NotFound(Resource::Member)),
        }
    }
}

#[async_trait]
impl Operation for SaveOwnMail {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let mut performed = Performed::new((), Audit::Unchanged);
        if let Some(customer) = self.customer {
            performed.join(customer.perform(context, work).await?);
        }
        if let Some(member) = self.member {
            performed.join(member.perform(context, work).await?);
        }
        Ok(performed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::FeatureRequestId;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{now, perform};
    use uuid::Uuid;

    fn ann() -> CustomerId {
        CustomerId::new(Uuid::from_u128(3))
    }

    fn unit(expected: MailSettingsChange) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_change_mail_settings()
            .withf(move |customer, change, at| (*customer, *change, *at) == (ann(), expected, now()))
            .times(1)
            .returning(|_, _, _| Ok(Some(true)));
        unit
    }

    #[test]
    fn a_link_stops_its_kind_and_leaves_the_others() {
        let off = Some(false);
        let news = MailSettingsChange { requests: None, changelogs: None, news: off };
        let changelogs = MailSettingsChange { changelogs: off, ..news };
        let everything = MailSettingsChange { requests: off, ..changelogs };
        for (what, expected) in [
            (Unsubscription::News, news),
            (Unsubscription::Changelogs, changelogs),
            (Unsubscription::Everything, everything),
        ] {
            perform(&Unsubscribe { customer: ann(), what }, &mut unit(expected)).unwrap();
        }
        let request = FeatureRequestId::new(Uuid::from_u128(7));
        let mut unit = MockUnit::new();
        unit.expect_unsubscribe()
            .withf(move |customer, about| (*customer, *about) == (ann(), request))
            .times(1)
            .returning(|_, _| Ok(Some(false)));
        perform(&Unsubscribe { customer: ann(), what: Unsubscription::Request(request) }, &mut unit).unwrap();
    }

    #[test]
    fn settings_are_saved_whole() {
        for settings in [
            MailSettings { requests: true, changelogs: false, news: true },
            MailSettings { requests: false, changelogs: true, news: false },
        ] {
            perform(&SaveMailSettings { customer: ann(), settings }, &mut unit(settings.into())).unwrap();
        }
    }

    #[test]
    fn a_customer_and_a_member_in_one_choose_together() {
        let (ines, settings) =
            (MemberId::new(Uuid::from_u128(1)), MailSettings { requests: true, changelogs: false, news: false });
        for (is_customer, is_member) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut unit = MockUnit::new();
            unit.expect_change_mail_settings().times(usize::from(is_customer)).returning(|_, _, _| Ok(Some(true)));
            unit.expect_set_team_mail()
                .withf(move |member, wanted, at| (*member, *wanted, *at) == (ines, TeamMail::Each, now()))
                .times(usize::from(is_member))
                .returning(|_, _, _| Ok(true));
            let save = SaveOwnMail {
                customer: is_customer.then(|| SaveMailSettings { customer: ann(), settings }),
                member: is_member.then_some(SaveTeamMail { member: ines, wanted: TeamMail::Each }),
            };
            assert_eq!(perform(&save, &mut unit).unwrap().has_changed(), is_customer || is_member);
        }
        let mut unit = MockUnit::new();
        unit.expect_set_team_mail().returning(|_, _, _| Ok(false));
        let gone = perform(&SaveTeamMail { member: ines, wanted: TeamMail::Daily }, &mut unit).unwrap_err();
        assert_eq!(gone.to_string(), "Member does not exist.");
    }

    #[test]
    fn somebody_who_is_gone_is_reported() {
        let mut unit = MockUnit::new();
        unit.expect_change_mail_settings().returning(|_, _, _| Ok(None));
        unit.expect_unsubscribe().returning(|_, _| Ok(None));
        let request = Unsubscription::Request(FeatureRequestId::new(Uuid::nil()));
        for what in [Unsubscription::Everything, request] {
            let gone = perform(&Unsubscribe { customer: ann(), what }, &mut unit).unwrap_err();
            assert_eq!(gone.to_string(), "Customer does not exist.");
        }
    }
}
