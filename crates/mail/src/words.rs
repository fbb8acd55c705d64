//! The words of mails in all languages, from the message files in `locales` (Project Fluent).

use std::borrow::Cow;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::timestamp::Timestamp;

const ENGLISH: &str = include_str!("../locales/en/mail.ftl");
const GERMAN: &str = include_str!("../locales/de/mail.ftl");
const ARABIC: &str = include_str!("../locales/ar/mail.ftl");

static BUNDLES: LazyLock<[FluentBundle<FluentResource>; 3]> = LazyLock::new(|| Language::ALL.map(bundle));

fn source(language: Language) -> &'static str {
    match language {
        Language::English => ENGLISH,
        Language::German => GERMAN,
        Language::Arabic => ARABIC,
    }
}

fn bundle(language: Language) -> FluentBundle<FluentResource> {
    let mut bundle = FluentBundle::new_concurrent(vec![language.code().parse().unwrap_or_default()]);
    // Isolates (U+2068, U+2069) keep the order of names that are written from left to right.
    bundle.set_use_isolating(language.direction() == "rtl");
    // A test parses all files, so that the part with an error is never left out.
    let resource = FluentResource::try_new(source(language).to_owned()).unwrap_or_else(|(resource, _)| resource);
    let _ = bundle.add_resource(resource);
    bundle
}

/// Returns a time as mails show it in all languages: `2026-03-01 09:30 UTC`.
pub(crate) fn utc_minute(at: Timestamp) -> String {
    let at = at.to_string();
    let part = |range| at.get(range).unwrap_or_default();
    format!("{} {} UTC", part(0..10), part(11..16))
}

/// The words in one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words(pub(crate) Language);

impl Words {
    /// Returns a message.
    pub(crate) fn get(self, key: &str) -> String {
        self.format(key, None)
    }

    /// Returns a message with texts.
    pub(crate) fn with(self, key: &str, texts: &[(&'static str, &str)]) -> String {
        let args: FluentArgs<'_> = texts.iter().map(|(name, text)| (*name, FluentValue::from(*text))).collect();
        self.format(key, Some(&args))
    }

    /// Returns a message of the product about a number of things, in the plural form of the language.
    pub(crate) fn count(self, key: &str, product: &str, count: u64) -> String {
        let args: FluentArgs<'_> =
            [("product", FluentValue::from(product)), ("count", FluentValue::from(count))].into_iter().collect();
        self.format(key, Some(&args))
    }

    fn format(self, key: &str, args: Option<&FluentArgs<'_>>) -> String {
        let [english, german, arabic] = &*BUNDLES;
        let bundle = match self.0 {
            Language::English => english,
            Language::German => german,
            Language::Arabic => arabic,
        };
        // A test looks all keys up.
        let pattern = bundle.get_message(key).and_then(|message| message.value());
        let text = pattern.map(|pattern| bundle.format_pattern(pattern, args, &mut Vec::new()));
        text.map_or_else(|| key.to_owned(), Cow::into_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fluent_syntax::ast::Entry;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn keys(language: Language) -> BTreeSet<String> {
        let resource = FluentResource::try_new(source(language).to_owned())
            .unwrap_or_else(|(_, errors)| panic!("{}: {errors:?}", language.code()));
        let mut keys = BTreeSet::new();
        for entry in resource.entries() {
            if let Entry::Message(message) = entry {
                let key = message.id.name.to_owned();
                assert!(keys.insert(key.clone()), "{key} is twice in {}", language.code());
            }
        }
        keys
    }

    #[test]
    fn every_language_has_every_text_and_no_text_is_unused() {
        let english = keys(Language::English);
        for language in [Language::German, Language::Arabic] {
            assert_eq!(keys(language), english, "{}", language.code());
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let code: String = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
            .collect();
        let unused: Vec<_> = english.iter().filter(|key| !code.contains(&format!("\"{key}\""))).collect();
        assert!(unused.is_empty(), "{unused:?}");
        // What the code asks for: the first argument of these functions.
        for function in [".get(\"", ".with(\"", ".count(\""] {
            for (key, _) in code.split(function).skip(1).filter_map(|rest| rest.split_once('"')) {
                assert!(key.contains(['{', ' ', '\\', '<']) || key.is_empty() || english.contains(key), "{key}");
            }
        }
    }

    #[test]
    fn numbers_have_the_plural_form_of_the_language() {
        for (language, count, subject) in [
            (Language::English, 1, "1 update from Acme"),
            (Language::English, 14, "14 updates from Acme"),
            (Language::German, 1, "1 Neuigkeit von Acme"),
            (Language::German, 2, "2 Neuigkeiten von Acme"),
            (Language::Arabic, 2, "مستجدان من \u{2068}Acme\u{2069}"),
            (Language::Arabic, 3, "\u{2068}3\u{2069} مستجدات من \u{2068}Acme\u{2069}"),
            (Language::Arabic, 11, "\u{2068}11\u{2069} مستجدًا من \u{2068}Acme\u{2069}"),
            (Language::Arabic, 100, "\u{2068}100\u{2069} مستجد من \u{2068}Acme\u{2069}"),
        ] {
            assert_eq!(Words(language).count("digest-subject", "Acme", count), subject);
        }
    }
}
