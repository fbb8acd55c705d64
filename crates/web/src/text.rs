//! The texts of the pages in all languages, from the message files in `locales` (Project Fluent).

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use fluent_langneg::{NegotiationStrategy, accepted_languages, negotiate_languages};
use roadmap_domain::error::{FieldError, FieldProblem};
use roadmap_domain::model::changelog::ChangelogCategory;
use roadmap_domain::model::picture::{self, PictureProblem};
use roadmap_domain::model::portal::{Language, Noun, PortalSettings};
use roadmap_domain::model::saved_view;
use roadmap_domain::model::time_zone::TimeZone;
use roadmap_domain::model::timestamp::Timestamp;
use unic_langid::LanguageIdentifier;

/// The message files of a language.
macro_rules! messages {
    ($language:literal) => {
        [
            include_str!(concat!("../locales/", $language, "/admin.ftl")),
            include_str!(concat!("../locales/", $language, "/admin-content.ftl")),
            include_str!(concat!("../locales/", $language, "/admin-imports.ftl")),
            include_str!(concat!("../locales/", $language, "/admin-inbox.ftl")),
            include_str!(concat!("../locales/", $language, "/admin-people.ftl")),
            include_str!(concat!("../locales/", $language, "/admin-request.ftl")),
            include_str!(concat!("../locales/", $language, "/base.ftl")),
            include_str!(concat!("../locales/", $language, "/reading.ftl")),
            include_str!(concat!("../locales/", $language, "/taking-part.ftl")),
        ]
    };
}

/// Number of message files of a language.
const SOURCES: usize = 9;

const ENGLISH: [&str; SOURCES] = messages!("en");
const GERMAN: [&str; SOURCES] = messages!("de");
const ARABIC: [&str; SOURCES] = messages!("ar");

static BUNDLES: LazyLock<[FluentBundle<FluentResource>; 3]> = LazyLock::new(|| Language::ALL.map(bundle));

fn sources(language: Language) -> [&'static str; SOURCES] {
    match language {
        Language::English => ENGLISH,
        Language::German => GERMAN,
        Language::Arabic => ARABIC,
    }
}

fn identifier(language: Language) -> LanguageIdentifier {
    language.code().parse().unwrap_or_default()
}

fn bundle(language: Language) -> FluentBundle<FluentResource> {
    let mut bundle = FluentBundle::new_concurrent(vec![identifier(language)]);
    // Templates isolate people's text with `bdi` and `dir`; marks in accessible names would be read aloud.
    bundle.set_use_isolating(false);
    for source in sources(language) {
        // A test parses all files, so that the part with an error is never left out.
        let resource = FluentResource::try_new(source.to_owned()).unwrap_or_else(|(resource, _)| resource);
        let _ = bundle.add_resource(resource);
    }
    bundle
}

/// The texts in one language, with times of one time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) language: Language,
    pub(crate) zone: TimeZone,
    /// The year that short dates leave out: the current one.
    pub(crate) year: i32,
    /// What a feature request is called, where a message has words for it.
    pub(crate) noun: Noun,
}

impl Text {
    /// Returns the texts with times in UTC, and the year in all dates.
    pub(crate) const fn utc(language: Language) -> Self {
        Self { language, zone: TimeZone::UTC, year: 0, noun: Noun::FeatureRequests }
    }

    /// Returns the texts for everybody, whom caches serve alike: in the default language of the portal, with the year in all
    /// dates.
    pub(crate) fn of_portal(settings: &PortalSettings) -> Self {
        Self { zone: settings.time_zone, noun: settings.noun, ..Self::utc(settings.default_language()) }
    }

    fn bundle(self) -> &'static FluentBundle<FluentResource> {
        let [english, german, arabic] = &*BUNDLES;
        match self.language {
            Language::English => english,
            Language::German => german,
            Language::Arabic => arabic,
        }
    }

    /// Returns a message.
    pub(crate) fn get(self, key: &str) -> Cow<'static, str> {
        self.format(key, None)
    }

    /// Returns a message about `$name`.
    pub(crate) fn named(self, key: &str, name: &str) -> String {
        self.with(key, &[("name", FluentValue::from(name))])
    }

    /// Returns a message about `$count`, in the plural form of the language. The number is grouped as in the language.
    pub(crate) fn count(self, key: &str, count: impl TryInto<i64>) -> String {
        let count = count.try_into().unwrap_or(i64::MAX);
        self.with(key, &[("count", FluentValue::from(count)), ("number", FluentValue::from(self.number(count)))])
    }

    /// Returns which comment a button or a link is about, for its accessible name: one of several of a person.
    pub(crate) fn comment_of(self, author: &str, title: &str, date: &str) -> String {
        let values = [("name", author), ("title", title), ("date", date)];
        self.with("comment-of", &values.map(|(name, value)| (name, FluentValue::from(value))))
    }

    /// Returns the sentence about a limit that is used up, with the time until it is not.
    pub(crate) fn too_many(self, retry_after: Option<u64>) -> String {
        match retry_after {
            None => self.get("too-many-text").into_owned(),
            Some(seconds @ 0..7_200) => self.count("too-many-minutes", seconds.div_ceil(60).max(1)),
            Some(seconds) => self.count("too-many-hours", seconds.div_ceil(3_600)),
        }
    }

    /// Returns a message with arguments.
    pub(crate) fn with(self, key: &str, values: &[(&'static str, FluentValue<'_>)]) -> String {
        let args: FluentArgs<'_> = values.iter().cloned().collect();
        self.format(key, Some(&args)).into_owned()
    }

    fn format(self, key: &str, args: Option<&FluentArgs<'_>>) -> Cow<'static, str> {
        let bundle = self.bundle();
        let message = bundle.get_message(key);
        // The attribute `ideas` of a message has the words of a workspace that calls feature requests ideas.
        let own =
            message.as_ref().filter(|_| self.noun == Noun::Ideas).and_then(|message| message.get_attribute("ideas"));
        let pattern = own.map(|own| own.value()).or_else(|| message.as_ref().and_then(|message| message.value()));
        let Some(pattern) = pattern else {
            tracing::error!(key, language = self.language.code(), "a text is missing");
            return Cow::Owned(key.to_owned());
        };
        let mut errors = Vec::new();
        bundle.format_pattern(pattern, args, &mut errors)
    }

    /// Returns a number with separators between groups of three digits.
    pub(crate) fn number(self, number: i64) -> String {
        let separator = match self.language {
            Language::English | Language::Arabic => ',',
            Language::German => '.',
        };
        let digits = number.unsigned_abs().to_string();
        let mut grouped = String::from(if number < 0 { "-" } else { "" });
        for (position, digit) in digits.chars().enumerate() {
            if position > 0 && (digits.len() - position).is_multiple_of(3) {
                grouped.push(separator);
            }
            grouped.push(digit);
        }
        grouped
    }

    /// Returns the name of a category of changelogs.
    pub(crate) fn category(self, category: ChangelogCategory) -> Cow<'static, str> {
        self.get(match category {
            ChangelogCategory::New => "category-new",
            ChangelogCategory::Improved => "category-improved",
            ChangelogCategory::Fixed => "category-fixed",
        })
    }

    /// Returns a date in words: `4 March 2026`.
    pub(crate) fn date(self, at: Timestamp) -> String {
        let date = self.zone.local(at).date();
        let month = self.get(&format!("month-{}", u8::from(date.month())));
        self.with(
            "date",
            &[
                ("day", FluentValue::from(date.day().to_string())),
                ("month", FluentValue::from(month)),
                ("year", FluentValue::from(date.year().to_string())),
            ],
        )
    }

    /// Returns a date for a table: `4 Mar`, or of another year `4 Mar 2025`.
    pub(crate) fn short_date(self, at: Timestamp) -> String {
        let date = self.zone.local(at).date();
        let month = self.get(&format!("month-short-{}", u8::from(date.month())));
        let day = ("day", FluentValue::from(date.day().to_string()));
        let month = ("month", FluentValue::from(month));
        if date.year() == self.year {
            return self.with("date-short", &[day, month]);
        }
        self.with("date", &[day, month, ("year", FluentValue::from(date.year().to_string()))])
    }

    /// Returns a date with the time: `4 March 2026, 11:02`.
    pub(crate) fn date_time(self, at: Timestamp) -> String {
        let time = self.zone.local(at).time();
        let mut clock = String::new();
        // Writing to memory cannot fail.
        let _ = write!(clock, "{:02}:{:02}", time.hour(), time.minute());
        self.with("date-time", &[("date", FluentValue::from(self.date(at))), ("time", FluentValue::from(clock))])
    }

    /// Returns the date as in HTML's `datetime`: `2026-03-04`.
    pub(crate) fn machine_date(self, at: Timestamp) -> String {
        let date = self.zone.local(at).date();
        format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
    }

    /// Returns the sentence about an invalid field of a form.
    pub(crate) fn problem(self, error: &FieldError) -> String {
        if let Some(key) = known_problem(error) {
            return self.get(key).into_owned();
        }
        let label = self.get(&format!("field-{}", error.field));
        let label = || ("field", FluentValue::from(label.clone()));
        match &error.problem {
            FieldProblem::Missing => self.with("problem-missing", &[label()]),
            FieldProblem::TooLong { max } => {
                let max = self.number(i64::try_from(*max).unwrap_or(i64::MAX));
                self.with("problem-too-long", &[label(), ("max", FluentValue::from(max))])
            }
            FieldProblem::Malformed { .. } if error.field == "email" => self.get("problem-email").into_owned(),
            FieldProblem::Malformed { .. } if error.field == "url" => self.get("problem-url").into_owned(),
            // What a file of another program contains is said in the words of the commands.
            FieldProblem::InFile { message } => message.clone(),
            FieldProblem::TooMuchMarkup { .. } => self.with("problem-markup", &[label()]),
            FieldProblem::ContainsNul
            | FieldProblem::Malformed { .. }
            | FieldProblem::WrongType { .. }
            | FieldProblem::TooMany { .. }
            | FieldProblem::InGroup { .. }
            | FieldProblem::UnknownParameter { .. }
            | FieldProblem::Custom { .. } => self.with("problem-invalid", &[label()]),
        }
    }
}

/// Returns the key of the sentence about a picture, about the pictures of a text, or about a saved view.
fn known_problem(error: &FieldError) -> Option<&'static str> {
    use PictureProblem::{Animated, Busy, DayUsedUp, ShareUsedUp, TooLarge, TooManyPixels, Unreadable};
    let FieldProblem::Custom { message } = error.problem else { return None };
    let problems = [
        (TooLarge, "problem-picture-large"),
        (Unreadable, "problem-picture-unreadable"),
        (TooManyPixels, "problem-picture-pixels"),
        (Animated, "problem-picture-animated"),
        (Busy, "problem-picture-busy"),
        (DayUsedUp, "problem-picture-day"),
        (ShareUsedUp, "problem-picture-share"),
    ];
    let of_file = problems.into_iter().find(|(problem, _)| problem.message() == message).map(|(_, key)| key);
    let field = &error.field;
    let others = [
        (saved_view::name_taken(), "problem-view-name"),
        (saved_view::too_many(), "problem-views"),
        (picture::missing(field), "problem-picture-gone"),
        (picture::too_many(field, picture::MAX_IN_POST), "problem-pictures-post"),
        (picture::too_many(field, picture::MAX_IN_CHANGELOG), "problem-pictures-changelog"),
    ];
    of_file.or_else(|| others.iter().find(|(of, _)| of == error).map(|(_, key)| *key))
}

/// Returns the offered language that an `Accept-Language` header (RFC 9110 section 12.5.4) prefers.
pub(crate) fn negotiate(header: &str, offered: &[Language]) -> Option<Language> {
    // A header of a kilobyte names more languages than anybody speaks.
    let header = header.get(..1_024).unwrap_or(header);
    let available: Vec<LanguageIdentifier> = offered.iter().map(|language| identifier(*language)).collect();
    let requested = accepted_languages::parse(header);
    let best = negotiate_languages(&requested, &available, None, NegotiationStrategy::Lookup);
    let best = best.first()?.language;
    offered.iter().copied().find(|language| identifier(*language).language == best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fluent_syntax::ast::Entry;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn keys(language: Language) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        for source in sources(language) {
            let resource = FluentResource::try_new(source.to_owned())
                .unwrap_or_else(|(_, errors)| panic!("{}: {errors:?}", language.code()));
            for entry in resource.entries() {
                if let Entry::Message(message) = entry {
                    let key = message.id.name.to_owned();
                    assert!(keys.insert(key.clone()), "{key} is twice in {}", language.code());
                }
            }
        }
        keys
    }

    /// Returns the contents of all files below a folder of this crate.
    fn files(folder: &str) -> String {
        let mut all = String::new();
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { all.push_str(&std::fs::read_to_string(path).unwrap()) }
            }
        }
        all
    }

    /// Portal: every language has every text, and no text is unused.
    #[test]
    fn words_for_ideas_are_in_all_languages() {
        let keys = |language| {
            let (mut key, mut keys) = ("", Vec::new());
            for line in sources(language).into_iter().flat_map(str::lines) {
                match line.split_once(" = ") {
                    Some(("    .ideas", _)) => keys.push(key),
                    Some((name, _)) if !name.starts_with(' ') => key = name,
                    _ => {}
                }
            }
            keys
        };
        let english = keys(Language::English);
        assert!(english.len() > 15, "{english:?}");
        for language in Language::ALL {
            assert_eq!(keys(language), english, "{}", language.code());
            let (requests, ideas) = (Text::utc(language), Text { noun: Noun::Ideas, ..Text::utc(language) });
            for key in &english {
                assert_ne!(requests.count(key, 7), ideas.count(key, 7), "{key}");
            }
            assert_eq!(requests.get("apply"), ideas.get("apply"));
        }
    }

    #[test]
    fn every_language_has_every_text_and_no_text_is_unused() {
        let english = keys(Language::English);
        for language in [Language::German, Language::Arabic] {
            let keys = keys(language);
            let missing: Vec<_> = english.difference(&keys).chain(keys.difference(&english)).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", language.code());
        }
        let used = files("templates") + &files("src");
        let is_used = |key: &String| {
            // The keys of months, fields and what becomes of imported records are put together.
            let starts = ["month-", "field-", "import-field-", "import-count-", "import-action-"];
            let prefix = starts.iter().any(|prefix| key.starts_with(prefix));
            prefix || used.contains(&format!("\"{key}\""))
        };
        let unused: Vec<_> = english.iter().filter(|key| !is_used(key)).collect();
        assert!(unused.is_empty(), "{unused:?}");
        let used_keys = used.split("t.get(\"").skip(1).filter_map(|rest| rest.split_once('"'));
        for (key, _) in used_keys {
            assert!(english.contains(key), "{key}");
        }
    }

    #[test]
    fn numbers_and_dates_are_those_of_the_language() {
        let at = Timestamp::from_millis(1_772_622_120_000).unwrap();
        assert_eq!(Text::utc(Language::English).number(1_234_567), "1,234,567");
        assert_eq!(Text::utc(Language::German).number(-1_234), "-1.234");
        assert_eq!(Text::utc(Language::English).number(999), "999");
        assert_eq!(Text::utc(Language::English).date(at), "4 March 2026");
        assert_eq!(Text::utc(Language::German).date(at), "4. März 2026");
        assert_eq!(Text::utc(Language::English).date_time(at), "4 March 2026, 11:02");
        for (language, same_year, other_year) in [
            (Language::English, "4 Mar", "4 Mar 2026"),
            (Language::German, "4. März", "4. März 2026"),
            (Language::Arabic, "4 مارس", "4 مارس 2026"),
        ] {
            let of = |year| Text { year, ..Text::utc(language) }.short_date(at);
            assert_eq!((of(2026).as_str(), of(2027).as_str()), (same_year, other_year));
        }
        let evening = Timestamp::from_millis(1_772_665_200_000).unwrap();
        for (zone, expected, machine) in [
            ("UTC", "4 March 2026, 23:00", "2026-03-04"),
            ("Asia/Kathmandu", "5 March 2026, 04:45", "2026-03-05"),
            ("America/Los_Angeles", "4 March 2026, 15:00", "2026-03-04"),
        ] {
            let t = Text { zone: TimeZone::from_stored(zone), ..Text::utc(Language::English) };
            assert_eq!(
                (t.date_time(evening).as_str(), t.machine_date(evening).as_str()),
                (expected, machine),
                "{zone}"
            );
        }
    }

    #[test]
    fn the_preferred_language_is_chosen() {
        for (header, offered, expected) in [
            ("de-AT,de;q=0.9,en;q=0.5", &Language::ALL[..], Some(Language::German)),
            ("ar", &Language::ALL, Some(Language::Arabic)),
            ("fr, en;q=0.3", &Language::ALL, Some(Language::English)),
            ("fr", &Language::ALL, None),
            ("de", &[Language::English], None),
            ("", &Language::ALL, None),
            ("*", &Language::ALL, None),
            ("\u{e4};q=nonsense,,;", &Language::ALL, None),
        ] {
            assert_eq!(negotiate(header, offered), expected, "{header}");
        }
    }
}
