//! Words of texts.
//!
//! A text is folded to one spelling first (`folding.rs`) and split into *runs* at spaces and
//! punctuation. A run of letters is a word. A run of a script without spaces between words is split into pairs of
//! neighbouring characters, which are words here.

use std::borrow::Cow;
use std::sync::LazyLock;

use deunicode::deunicode;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::is_combining_mark;

use super::folding::{DOT, HASH, PLUS, fold};
use super::script::{Script, is_cyrillic, is_hangul};

static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
static RUSSIAN: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Russian));
static ARABIC: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Arabic));

/// Maximum length of a word in bytes. Longer words are truncated.
pub const MAX_WORD_LENGTH: usize = 40;

/// Minimum length of a word that is abbreviated by its length.
const MIN_NUMERONYM_WORD: usize = 10;

/// The Arabic article, alone and after the prepositions and conjunctions that are written with it as one word.
const ARABIC_ARTICLES: [&str; 7] = ["وال", "بال", "كال", "فال", "ولل", "لل", "ال"];

/// The Hebrew article, prepositions and conjunctions that are written with the next word as one word.
const HEBREW_PREFIXES: [char; 7] = ['ה', 'ו', 'ב', 'ל', 'מ', 'ש', 'כ'];

/// Feminine and plural endings of Hebrew.
const HEBREW_SUFFIXES: [&str; 5] = ["יות", "ית", "ות", "ימ", "ה"];

/// Minimum number of letters that an Arabic or Hebrew word has without what is removed.
const MIN_SEMITIC_STEM: usize = 3;

/// Korean particles, longer ones first.
const KOREAN_PARTICLES: [&str; 21] = [
    "에서는",
    "에서",
    "에게",
    "으로",
    "까지",
    "부터",
    "처럼",
    "보다",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "에",
    "의",
    "로",
    "와",
    "과",
    "도",
    "만",
];

/// Minimum number of syllables of a Korean word without its particle.
const MIN_KOREAN_WORD: usize = 2;

/// A word in the two forms that are searched for: the folded surface form and its stem.
///
/// Both have only letters, digits, combining marks and the full-width signs `＋`, `＃` and `．`. ASCII characters are
/// lower-case letters and digits, which makes both safe in any index's query language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    surface: String,
    stem: String,
}

impl Word {
    /// Creates a word from a folded one. `None` if it has no letter or digit.
    fn from_folded(folded: &str) -> Option<Self> {
        let surface = surface(folded)?;
        Some(Self { stem: stem(folded, &surface).into_owned(), surface })
    }

    /// Creates a word from the surface form of another one.
    pub(crate) fn new(surface: &str) -> Self {
        Self { stem: stem(surface, surface).into_owned(), surface: surface.to_owned() }
    }

    /// Returns the folded surface form.
    #[must_use]
    pub fn surface(&self) -> &str {
        &self.surface
    }

    /// Returns the stem, which inflections of a word share.
    #[must_use]
    pub fn stem(&self) -> &str {
        &self.stem
    }

    /// Whether the word is one or two characters of a script without spaces between words.
    #[must_use]
    pub fn is_pair(&self) -> bool {
        is_pair(&self.surface)
    }

    /// Whether the word is one character of a script without spaces between words.
    #[must_use]
    pub fn is_half_pair(&self) -> bool {
        self.is_pair() && characters(&self.surface).nth(1).is_none()
    }

    /// Whether the word is a pair that begins with the last character of the pair before it.
    #[must_use]
    pub fn overlaps(&self, before: &Self) -> bool {
        self.is_pair()
            && before.is_pair()
            && characters(&before.surface).nth(1).is_some_and(|last| self.surface.starts_with(last))
    }
}

/// Splits a text into words, as a query does: Korean particles are removed.
///
/// Accents are dropped, and Latin, Greek, Cyrillic and most other alphabets are converted to ASCII. Every character
/// except letters, digits and apostrophes separates words. Apostrophes are removed: `don't` becomes `dont`.
pub fn words(text: &str) -> Vec<Word> {
    let folded = fold(text);
    split_runs(&folded).flat_map(|run| split_words(without_particle(run))).filter_map(Word::from_folded).collect()
}

/// Splits a folded text at spaces and punctuation.
pub(super) fn split_runs(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty())
}

/// Splits a run into its words: the pairs of characters of a script without spaces between words, or else the run.
pub(super) fn split_words(run: &str) -> impl Iterator<Item = &str> {
    let (word, pairs) = if is_pair(run) { (None, pairs(run)) } else { (Some(run), Vec::new()) };
    word.into_iter().chain(pairs)
}

/// Returns the last character of a run of pairs, with which no pair begins.
pub(super) fn last_character(run: &str) -> Option<&str> {
    let mut characters = is_pair(run).then(|| characters(run))?;
    characters.next()?;
    characters.last()
}

/// Whether a text is written in a script without spaces between words.
pub(super) fn is_pair(text: &str) -> bool {
    text.chars().next().is_some_and(|first| Script::of(first) == Script::Pairs)
}

/// Returns the characters of a text with their combining marks.
fn characters(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut letters = rest.char_indices().skip(1).filter(|(_, c)| !is_combining_mark(*c));
        let (character, behind) = rest.split_at(letters.next().map_or(rest.len(), |(start, _)| start));
        rest = behind;
        (!character.is_empty()).then_some(character)
    })
}

/// Returns the pairs of neighbouring characters, or the only character.
fn pairs(run: &str) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut at = 0;
    for character in characters(run) {
        starts.push(at);
        at += character.len();
    }
    starts.push(at);
    if starts.len() < 3 {
        return vec![run];
    }
    let pair = |bounds: &[usize]| run.get(*bounds.first()?..*bounds.last()?);
    starts.windows(3).filter_map(pair).collect()
}

/// Returns a run without the Korean particle at its end.
fn without_particle(run: &str) -> &str {
    if !run.ends_with(is_hangul) {
        return run;
    }
    let stems = KOREAN_PARTICLES.iter().filter_map(|particle| run.strip_suffix(particle));
    let mut words = stems.filter(|stem| stem.chars().rev().take_while(|c| is_hangul(*c)).count() >= MIN_KOREAN_WORD);
    words.next().unwrap_or(run)
}

/// Returns the surface form of a folded word: in lower case, Cyrillic in ASCII, truncated to [`MAX_WORD_LENGTH`].
/// `None` if it has no letter or digit.
pub(super) fn surface(folded: &str) -> Option<String> {
    let surface = if is_any_cyrillic(folded) { to_ascii(folded) } else { folded.to_ascii_lowercase() };
    let surface = truncated(surface);
    surface.contains(char::is_alphanumeric).then_some(surface)
}

/// Returns the stem of a folded word with this surface form, by the language that its script is read as.
pub(super) fn stem<'a>(folded: &str, surface: &'a str) -> Cow<'a, str> {
    if is_any_cyrillic(folded) {
        let stem = truncated(to_ascii(&RUSSIAN.stem(&folded.to_lowercase())));
        return if stem.is_empty() { surface.into() } else { stem.into() };
    }
    if surface.is_ascii() {
        return ENGLISH.stem(surface);
    }
    match surface.chars().next().map(Script::of) {
        Some(Script::Arabic) => arabic_stem(surface),
        Some(Script::Hebrew) => hebrew_stem(surface).into(),
        Some(Script::Pairs) => surface.into(),
        _ => {
            // The letters of a longer word mean nearly the same without the signs: `Google+`, `.csv`.
            let letters = surface.trim_matches([PLUS, HASH, DOT]);
            if letters.len() > 1 { ENGLISH.stem(letters) } else { surface.into() }
        }
    }
}

fn is_any_cyrillic(word: &str) -> bool {
    !word.is_ascii() && word.contains(is_cyrillic)
}

/// Converts a word to ASCII letters and digits.
fn to_ascii(word: &str) -> String {
    let mut ascii = deunicode(word);
    ascii.retain(|c| c.is_ascii_alphanumeric());
    ascii.make_ascii_lowercase();
    ascii
}

fn truncated(mut word: String) -> String {
    word.truncate(word.floor_char_boundary(MAX_WORD_LENGTH));
    word
}

/// Returns a folded Arabic word without its article.
pub(super) fn without_article(word: &str) -> &str {
    let mut rests = ARABIC_ARTICLES.iter().filter_map(|article| word.strip_prefix(article));
    rests.find(|rest| rest.chars().count() >= MIN_SEMITIC_STEM).unwrap_or(word)
}

fn arabic_stem(surface: &str) -> Cow<'_, str> {
    // The stemmer removes plural endings only of nouns with an article.
    let noun = format!("ال{surface}");
    let stem = ARABIC.stem(&noun);
    let stem = stem.strip_prefix("ال").unwrap_or(&stem);
    if stem.is_empty() { surface.into() } else { stem.to_owned().into() }
}

/// Removes all prefixes, so that a word and the same word with another prefix have one stem.
fn hebrew_stem(surface: &str) -> &str {
    let is_long = |rest: &&str| rest.chars().count() >= MIN_SEMITIC_STEM;
    let mut stem = surface;
    while let Some(rest) = stem.strip_prefix(HEBREW_PREFIXES).filter(is_long) {
        stem = rest;
    }
    HEBREW_SUFFIXES.iter().find_map(|suffix| stem.strip_suffix(suffix).filter(is_long)).unwrap_or(stem)
}

/// Returns the numeronym of a long word: its first letter, the number of letters between, and its last letter.
/// `accessibility` becomes `a11y`.
pub(super) fn numeronym(surface: &str) -> Option<String> {
    let is_word = surface.len() >= MIN_NUMERONYM_WORD && surface.bytes().all(|byte| byte.is_ascii_lowercase());
    let (first, last) = (surface.chars().next()?, surface.chars().last()?);
    is_word.then(|| format!("{first}{}{last}", surface.len() - 2))
}

/// Joins two neighbouring words. Returns `None` if the result is too long for a word, or if they are not in ASCII:
/// other scripts do not have compounds, or no spaces.
pub(super) fn joined(one: &str, other: &str) -> Option<String> {
    let is_compound = one.is_ascii() && other.is_ascii() && one.len() + other.len() <= MAX_WORD_LENGTH;
    is_compound.then(|| format!("{one}{other}"))
}

/// Returns the initials of neighbouring words. `None` if they are not in ASCII.
pub(super) fn initials<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<String> {
    words.try_fold(String::new(), |mut initials, word| {
        initials.push(word.chars().next().filter(|_| word.is_ascii())?);
        Some(initials)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn surfaces(text: &str) -> Vec<String> {
        words(text).iter().map(|word| word.surface().to_owned()).collect()
    }

    fn stems(text: &str) -> Vec<String> {
        words(text).iter().map(|word| word.stem().to_owned()).collect()
    }

    /// Decision 4.
    #[test]
    fn words_lose_accents_case_and_punctuation() {
        assert_eq!(surfaces("Façade für ZÜRICH"), ["facade", "fur", "zurich"]);
        assert_eq!(surfaces("dark-mode, e-mail/CSV"), ["dark", "mode", "e", "mail", "csv"]);
        assert_eq!(surfaces("don't the user’s"), ["dont", "the", "users"]);
        assert_eq!(surfaces("\"a\" OR b* NEAR(c) col:d ^e"), ["a", "or", "b", "near", "c", "col", "d", "e"]);
        assert_eq!(surfaces("!?*-"), Vec::<String>::new());
        assert_eq!(surfaces("поиск"), ["poisk"]);
        assert_eq!(surfaces("объект ь"), ["obekt"]);
    }

    /// Decision 4.
    #[test]
    fn inflections_share_a_stem() {
        for (one, other) in [
            ("notifications", "notification"),
            ("exporting", "exports"),
            ("users", "user’s"),
            ("экспорта", "ЭКСПОРТ"),
            ("отчёты", "отчетов"),
            ("уведомления", "уведомлений"),
            ("экспорт", "eksport"),
            // With and without the article, a preposition and vowel signs.
            ("التَّصْدِير", "تصدير"),
            ("والإشعارات", "اشعار"),
            ("للتقارير", "تقارير"),
            ("البحـــث", "بحث"),
            // With and without points, the article and a plural ending.
            ("הַיִּצּוּא", "יצוא"),
            ("להתראות", "התראות"),
            ("בקובץ", "קובץ"),
            ("החשבוניות", "חשבונית"),
            ("הרשאה", "הרשאות"),
            // With a sign that belongs to the word.
            ("Google+", "google"),
            (".csv", "CSV"),
        ] {
            assert_eq!(stems(one), stems(other), "{one} {other}");
        }
    }

    /// Decision 4.
    #[test]
    fn scripts_without_spaces_are_split_into_pairs() {
        for (text, expected) in [
            ("视频上传", &["视频", "频上", "上传"][..]),
            ("检", &["检"]),
            ("アプリ", &["アプ", "プリ"]),
            ("iPhoneアプリ", &["iphone", "アプ", "プリ"]),
            ("PDF导出2份", &["pdf", "导出", "2", "份"]),
            ("ｱﾌﾟﾘ", &["アプ", "プリ"]),
            ("ク\u{3099}ルー", &["グル", "ルー"]),
            ("検索、機能・一覧", &["検索", "機能", "一覧"]),
            ("葛\u{e0100}城", &["葛城"]),
            // A Thai letter and the marks above and below it are one character.
            ("สีเข้ม", &["สีเ", "เข้", "ข้ม"]),
            ("검색기능을", &["검색", "색기", "기능"]),
            ("PDF로 내보내기", &["pdf", "로", "내보", "보내", "내기"]),
            ("휴가", &["휴가"]),
        ] {
            assert_eq!(surfaces(text), expected, "{text}");
        }
    }

    #[test]
    fn pairs_overlap_within_a_run() {
        let words = words("视频上传 导出 检");
        let overlaps: Vec<bool> = words.windows(2).map(|pair| pair[1].overlaps(&pair[0])).collect();
        assert_eq!(overlaps, [true, true, false, false]);
        assert!(words[4].is_half_pair() && words[4].is_pair() && !words[0].is_half_pair() && words[0].is_pair());
        assert_eq!(
            ["视频上传", "检", "csv", "สี", "เข้ม"].map(last_character),
            [Some("传"), None, None, None, Some("ม")]
        );
    }

    /// Decision 4.
    #[test]
    fn signs_belong_to_names_of_programming_languages() {
        for (text, expected) in [
            ("C++ SDK", &["c＋＋", "sdk"][..]),
            ("C++, C#/F#", &["c＋＋", "c＃", "f＃"]),
            ("Ｃ＋＋", &["c＋＋"]),
            ("C++17 and C#12", &["c＋＋", "17", "and", "c＃", "12"]),
            (".NET", &["．net"]),
            ("(.net)", &["．net"]),
            ("导出.csv", &["导出", "．csv"]),
            ("ASP.NET node.js", &["asp", "net", "node", "js"]),
            ("works.Then v2.0 ...and .5", &["works", "then", "v2", "0", "and", "5"]),
            ("a+b 50+ Ctrl+K + # #5 issue#5", &["a", "b", "50", "ctrl", "k", "5", "issue", "5"]),
            ("+++ C+++", &["c"]),
        ] {
            assert_eq!(surfaces(text), expected, "{text}");
        }
        assert_eq!(stems("C++ C# C c .NET"), ["c＋＋", "c＃", "c", "c", "net"]);
    }

    /// Decision 4.
    #[test]
    fn spellings_of_one_text_have_the_same_words() {
        for (one, other) in [
            ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
            ("ﬁle", "file"),
            ("Cafe\u{301}", "café"),
            ("don´t", "don't"),
            ("グループ", "ｸﾞﾙｰﾌﾟ"),
            ("한국어", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}"),
            ("٢٠٢٦", "2026"),
            ("أحمد إلى آخر", "احمد الي اخر"),
            ("کتاب", "كتاب"),
            ("דו\"ח", "דו״ח"),
            ("co\u{ad}operate", "cooperate"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("คำ", "ค\u{e4d}\u{e32}"),
            ("កម្ម\u{200b}វិធី", "កម្មវិធី"),
        ] {
            assert_eq!(surfaces(one), surfaces(other), "{one} {other}");
        }
    }

    #[test]
    fn long_words_have_a_numeronym() {
        for (word, expected) in [
            ("accessibility", Some("a11y")),
            ("internationalization", Some("i18n")),
            ("kubernetes", Some("k8s")),
            ("terminals", None),
            ("version10", None),
            ("", None),
        ] {
            assert_eq!(numeronym(word).as_deref(), expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn terms_of_any_text_have_no_syntax(text in any::<String>()) {
            for word in words(&text) {
                for form in [word.surface(), word.stem()] {
                    prop_assert!(!form.is_empty() && form.len() <= MAX_WORD_LENGTH);
                    let is_plain = |c: char| !c.is_ascii() || c.is_ascii_lowercase() || c.is_ascii_digit();
                    prop_assert!(form.chars().all(is_plain), "{form}");
                }
            }
        }

        #[test]
        fn pairs_of_any_text_have_no_syntax(text in "[a+#.'\"視グ\u{3099}ー的한글สี\u{e49}ابת\u{5b8}ё ]{0,12}") {
            for word in words(&text) {
                prop_assert!(!word.surface().contains([' ', '\'', '"', '+', '#', '.', '/']), "{word:?}");
                prop_assert!(!word.stem().is_empty() && word.surface().len() <= MAX_WORD_LENGTH, "{word:?}");
            }
        }
    }
}
