//! Saves the settings of the product, its portal and its search from one form, in one unit of work.
//!
//! Optimistic locking by field: the form remembers what it showed, so that what others have changed since then stays
//! (ADR 51).

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use crate::error::{Conflict, RoadmapError};
use crate::model::admin::Fingerprint;
use crate::model::audit::Audit;
use crate::model::localized::Localized;
use crate::model::portal::{EmbedOrigin, Language, MailDomain, PortalChange, PortalSettings};
use crate::model::search::Synonyms;
use crate::model::setting::{Setting, SettingChange};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::replace_synonyms::ReplaceSynonyms;
use crate::usecase::update_portal::UpdatePortal;
use crate::usecase::update_setting::UpdateSetting;

/// The fields of the welcome text.
pub const WELCOME_FIELDS: [(&str, Language); 3] =
    [("welcome-en", Language::English), ("welcome-de", Language::German), ("welcome-ar", Language::Arabic)];
/// The fields of the question of the form for ideas.
pub const QUESTION_FIELDS: [(&str, Language); 3] =
    [("question-en", Language::English), ("question-de", Language::German), ("question-ar", Language::Arabic)];

/// Changes what was changed in the form, unless somebody else has changed a field of it since the form was opened, too.
#[derive(Debug, Clone)]
pub struct SaveSettings {
    /// The settings of the form.
    pub form: AllSettings,
    /// What the form showed when it was opened.
    pub fingerprints: FormFingerprints,
}

/// All settings of a workspace.
#[derive(Debug, Clone)]
pub struct AllSettings {
    /// Those of the product.
    pub setting: Setting,
    /// Those of the portal.
    pub settings: PortalSettings,
    /// Those of the search.
    pub synonyms: Synonyms,
}

impl AllSettings {
    /// Returns the fields, each with a text that is the same for equal values.
    #[must_use]
    pub fn texts(&self) -> Vec<(&'static str, String)> {
        let Self { setting, settings, synonyms } = self;
        let lines = |lines: Vec<&str>| lines.join("\n");
        let mut languages: Vec<&str> = settings.languages.iter().map(|language| language.code()).collect();
        // The form does not show the order of the others.
        languages.sort_unstable();
        languages.push(settings.default_language().code());
        let groups: Vec<String> = synonyms.groups().iter().map(|group| group.join(",")).collect();
        let localized = |fields: [(&'static str, Language); 3], texts: &Localized| {
            fields.map(|(field, language)| (field, texts.get(language).unwrap_or_default().to_owned()))
        };
        let others = [
            ("product_name", setting.product_name.as_str().to_owned()),
            ("website_url", setting.website_url.as_str().to_owned()),
            ("accent", settings.accent.map(|accent| accent.to_string()).unwrap_or_default()),
            ("logo", settings.logo.map(|logo| logo.to_string()).unwrap_or_default()),
            ("access", settings.access.name().to_owned()),
            ("mail-domains", lines(settings.mail_domains.iter().map(MailDomain::as_str).collect())),
            ("indexed", settings.is_indexed.to_string()),
            ("embed-origins", lines(settings.embed_origins.iter().map(EmbedOrigin::as_str).collect())),
            ("languages", languages.join(" ")),
            ("moderation", settings.holds_posts.to_string()),
            ("reply-to", settings.reply_to.as_ref().map(|address| address.as_str().to_owned()).unwrap_or_default()),
            ("time-zone", settings.time_zone.name().to_owned()),
            ("noun", settings.noun.name().to_owned()),
            ("synonyms", groups.join("\n")),
        ];
        let localized =
            [localized(WELCOME_FIELDS, &settings.welcome_text), localized(QUESTION_FIELDS, &settings.form_question)];
        others.into_iter().chain(localized.into_iter().flatten()).collect()
    }
}

/// The fields of a form with the fingerprints of what they showed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FormFingerprints(pub BTreeMap<String, Fingerprint>);

impl FormFingerprints {
    /// Returns what a form shows with these settings.
    #[must_use]
    pub fn of_stored(stored: &AllSettings) -> Self {
        let print = |(field, text): (&str, String)| (field.to_owned(), Fingerprint::of_field(&text));
        Self(stored.texts().into_iter().map(print).collect())
    }

    /// Parses `field:fingerprint field:fingerprint …`.
    #[must_use]
    pub fn parse(raw: &str) -> Self {
        let fields = raw.split_ascii_whitespace().filter_map(|field| field.split_once(':'));
        Self(fields.map(|(field, raw)| (field.to_owned(), Fingerprint::from_form(raw))).collect())
    }

    /// Returns the text that [`Self::parse`] reads.
    #[must_use]
    pub fn text(&self) -> String {
        let fields: Vec<String> =
            self.0.iter().map(|(field, fingerprint)| format!("{field}:{}", fingerprint.as_str())).collect();
        fields.join(" ")
    }

    /// Whether a field showed this text. A form that does not say it showed what is stored.
    fn is(&self, field: &str, text: &str, stored: &str) -> bool {
        match self.0.get(field) {
            Some(fingerprint) => *fingerprint == Fingerprint::of_field(text),
            None => text == stored,
        }
    }
}

#[async_trait]
impl Operation for SaveSettings {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        // The settings stay locked until the unit ends.
        let stored = AllSettings {
            setting: work.load_setting().await?,
            settings: work.load_portal().await?,
            synonyms: work.load_synonyms().await?,
        };
        let changes = SettingsChanges::between(&stored, self.form.clone(), &self.fingerprints);
        if !changes.contested.is_empty() {
            return Err(RoadmapError::Conflict(Conflict::ChangedMeanwhile));
        }
        let mut saved = Performed::new((), Audit::Unchanged);
        if let Some(update) = changes.setting {
            saved.join(update.perform(context, work).await?);
        }
        if let Some(update) = changes.portal {
            saved.join(update.perform(context, work).await?);
        }
        if let Some(replace) = changes.synonyms {
            saved.join(replace.perform(context, work).await?);
        }
        Ok(saved)
    }
}

/// What a form changes of what is stored.
#[derive(Debug, Clone)]
pub struct SettingsChanges {
    /// The change of the product's settings, if any.
    pub setting: Option<UpdateSetting>,
    /// The change of the portal's settings, if any.
    pub portal: Option<UpdatePortal>,
    /// The new synonyms, if they change.
    pub synonyms: Option<ReplaceSynonyms>,
    /// The fields that somebody else has changed since the form was opened, too.
    pub contested: Vec<&'static str>,
}

impl SettingsChanges {
    /// Returns what was changed in the form, compared with what is stored.
    #[must_use]
    pub fn between(stored: &AllSettings, form: AllSettings, fingerprints: &FormFingerprints) -> Self {
        let (old, new) = (stored.texts(), form.texts());
        let mut changed = BTreeSet::new();
        let mut contested = Vec::new();
        for ((field, old), (_, new)) in old.iter().zip(&new) {
            if old == new || fingerprints.is(field, new, old) {
                continue;
            }
            changed.insert(*field);
            if !fingerprints.is(field, old, old) {
                contested.push(*field);
            }
        }
        let is = |field| changed.contains(field);
        // Each language is a field of its own.
        let texts = |fields: [(&'static str, Language); 3], stored: &Localized, form: &Localized| {
            let mut new = stored.clone();
            for (field, language) in fields {
                if is(field) {
                    new = new.with(language, form.get(language).unwrap_or_default());
                }
            }
            (new != *stored).then_some(new)
        };
        let AllSettings { setting, settings, synonyms } = form;
        let setting = SettingChange {
            product_name: is("product_name").then_some(setting.product_name),
            website_url: is("website_url").then_some(setting.website_url),
        };
        let portal = PortalChange {
            access: is("access").then_some(settings.access),
            mail_domains: is("mail-domains").then_some(settings.mail_domains),
            is_indexed: is("indexed").then_some(settings.is_indexed),
            embed_origins: is("embed-origins").then_some(settings.embed_origins),
            languages: is("languages").then_some(settings.languages),
            holds_posts: is("moderation").then_some(settings.holds_posts),
            accent: is("accent").then_some(settings.accent),
            logo: is("logo").then_some(settings.logo),
            reply_to: is("reply-to").then_some(settings.reply_to),
            time_zone: is("time-zone").then_some(settings.time_zone),
            welcome_text: texts(WELCOME_FIELDS, &stored.settings.welcome_text, &settings.welcome_text),
            form_question: texts(QUESTION_FIELDS, &stored.settings.form_question, &settings.form_question),
            noun: is("noun").then_some(settings.noun),
        };
        Self {
            setting: (setting != SettingChange::default()).then_some(UpdateSetting { change: setting }),
            portal: (portal != PortalChange::default()).then_some(UpdatePortal { change: portal }),
            synonyms: is("synonyms").then_some(ReplaceSynonyms { synonyms }),
            contested,
        }
    }
}
