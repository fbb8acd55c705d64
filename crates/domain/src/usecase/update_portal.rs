//! Changes the settings of a portal.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::error::{FieldError, FieldProblem, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::changelog::CoverImage;
use crate::model::email_address::EmailAddress;
use crate::model::portal::{EmbedOrigin, Language, MailDomain, PortalChange, PortalSettings};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Changes the settings that were sent and keeps the others.
#[derive(Debug, Clone)]
pub struct UpdatePortal {
    pub change: PortalChange,
}

/// The settings after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortalUpdated {
    pub settings: PortalSettings,
    /// The logo's file name, if there is a logo.
    pub logo: Option<CoverImage>,
    /// The changed fields.
    pub changes: Vec<Change>,
}

/// Returns the error for a logo that is forged, belongs to another workspace, does not exist, or is no image that browsers
/// show.
#[must_use]
pub fn invalid_logo() -> FieldError {
    let message = "logo_signed_id is not the signed_id of an uploaded image";
    FieldError::new("logo_signed_id", FieldProblem::Custom { message })
}

/// The settings as values of the audit log, under the names of the API.
fn values(settings: &PortalSettings) -> [(&'static str, Value); 13] {
    [
        ("visibility", json!(settings.access.name())),
        ("mail_domains", json!(settings.mail_domains.iter().map(MailDomain::as_str).collect::<Vec<_>>())),
        ("indexing", json!(settings.is_indexed)),
        ("embed_origins", json!(settings.embed_origins.iter().map(EmbedOrigin::as_str).collect::<Vec<_>>())),
        ("languages", json!(settings.languages.iter().map(|language| Language::code(*language)).collect::<Vec<_>>())),
        ("moderation", json!(settings.holds_posts)),
        ("accent_color", json!(settings.accent.map(|accent| accent.to_string()))),
        ("logo", json!(settings.logo.map(|logo| logo.to_string()))),
        ("reply_to", json!(settings.reply_to.as_ref().map(EmailAddress::as_str))),
        ("time_zone", json!(settings.time_zone.name())),
        ("welcome_text", json!(settings.welcome_text.texts())),
        ("form_question", json!(settings.form_question.texts())),
        ("noun", json!(settings.noun.name())),
    ]
}

#[async_trait]
impl Operation for UpdatePortal {
    type Output = PortalUpdated;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<PortalUpdated>, RoadmapError> {
        let old = work.load_portal().await?;
        let settings = old.clone().with_change(&self.change);
        let logo = match settings.logo {
            Some(logo) => {
                let (file, media_type) = work.find_cover(logo).await?.ok_or_else(invalid_logo)?;
                if settings.logo != old.logo && !media_type.is_inline() {
                    return Err(invalid_logo().into());
                }
                Some(file)
            }
            None => None,
        };
        let changes: Vec<Change> = values(&old)
            .into_iter()
            .zip(values(&settings))
            .filter_map(|((field, old), (_, new))| Change::between(field, old, new))
            .collect();
        if !changes.is_empty() {
            work.save_portal(&settings).await?;
        }
        let audit = Audit::of_changes("portal.update", "portal", None, &changes);
        Ok(Performed::new(PortalUpdated { settings, logo, changes }, audit).changing_configuration())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attachment::Filename;
    use crate::model::id::AttachmentId;
    use crate::model::media_type::MediaType;
    use crate::model::portal::{Color, PortalAccess};
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context};
    use pollster::block_on;
    use uuid::Uuid;

    fn update(unit: &mut MockUnit, change: PortalChange) -> Result<PortalUpdated, RoadmapError> {
        block_on(UpdatePortal { change }.perform(&context(&NumberedIds::default()), unit))
            .map(|performed| performed.output)
    }

    /// Addition 7: a change of the portal is audited with its values.
    #[test]
    fn changed_fields_are_recorded_with_their_values() {
        let mut unit = MockUnit::new();
        unit.expect_load_portal().returning(|| Ok(PortalSettings::default()));
        unit.expect_save_portal().times(1).returning(|_| Ok(()));
        let change = PortalChange {
            access: Some(PortalAccess::Off),
            accent: Some(Color::from_hex("#17694f")),
            is_indexed: Some(true),
            ..PortalChange::default()
        };
        let updated = update(&mut unit, change).unwrap();
        let expected =
            [Change::new("visibility", "public", "off"), Change::new("accent_color", Value::Null, "#17694f")];
        assert_eq!(updated.changes, expected);
    }

    /// Addition 7: nothing is audited without a change of the portal.
    #[test]
    fn nothing_is_stored_without_a_change() {
        let mut unit = MockUnit::new();
        unit.expect_load_portal().returning(|| Ok(PortalSettings::default()));
        let updated = update(&mut unit, PortalChange::default()).unwrap();
        assert_eq!(updated.changes, []);
    }

    /// Addition 7.
    #[test]
    fn a_logo_is_an_uploaded_file() {
        let id = AttachmentId::new(Uuid::from_u128(1));

        for (media_type, is_image) in
            [(Some("image/png"), true), (None, false), (Some("image/svg+xml"), false), (Some("text/html"), false)]
        {
            let image = CoverImage { attachment: id, filename: Filename::sanitize("logo.png") };
            let mut unit = MockUnit::new();
            unit.expect_load_portal().returning(|| Ok(PortalSettings::default()));
            unit.expect_save_portal().times(usize::from(is_image)).returning(|_| Ok(()));
            let cover = media_type.map(|name| (image.clone(), MediaType::from_stored(name.to_owned())));
            unit.expect_find_cover().withf(move |logo| *logo == id).return_once(move |_| Ok(cover));
            let outcome = update(&mut unit, PortalChange { logo: Some(Some(id)), ..PortalChange::default() });
            match outcome {
                Ok(updated) => assert_eq!((updated.settings.logo, updated.logo), (Some(id), Some(image))),
                Err(error) => assert_eq!((error.to_string(), is_image), (invalid_logo().to_string(), false)),
            }
        }
    }

    /// Addition 7.
    #[test]
    fn a_logo_that_stays_is_returned_with_its_name() {
        let id = AttachmentId::new(Uuid::from_u128(1));
        let mut unit = MockUnit::new();
        unit.expect_load_portal().returning(move || Ok(PortalSettings { logo: Some(id), ..PortalSettings::default() }));
        // Also one that could not be chosen any more.
        let svg = || MediaType::from_stored("image/svg+xml".to_owned());
        unit.expect_find_cover().returning(move |attachment| {
            Ok(Some((CoverImage { attachment, filename: Filename::sanitize("logo.svg") }, svg())))
        });
        let updated = update(&mut unit, PortalChange::default()).unwrap();
        assert_eq!(updated.logo.map(|logo| logo.attachment), Some(id));
        assert_eq!(updated.changes, []);
    }
}
