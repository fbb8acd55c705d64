//! The synonyms of a workspace: groups of words and phrases that mean the same to its team.

use std::collections::HashMap;

use super::concepts::{MAX_PHRASE, phrase_key, phrase_length};
use super::noise::is_function_word;
use super::query::{Alternative, MatchKind, SearchQuery};
use super::words::{Word, words};
use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::text;

const FIELD: &str = "synonyms";

/// The groups of synonyms of a workspace.
///
/// A search for one phrase of a group also finds the others. Inflections of a phrase and its spellings with a space, with
/// a hyphen and as one word are the same phrase: `log in`, `log-in`, `login` and `logging in`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synonyms {
    groups: Vec<Vec<String>>,
    /// The group of each phrase.
    positions: HashMap<String, usize>,
}

impl Synonyms {
    /// Maximum number of groups.
    pub const MAX_GROUPS: usize = 500;
    /// Number of phrases of a group.
    pub const GROUP_SIZE: std::ops::RangeInclusive<usize> = 2..=8;
    /// Maximum number of characters of a phrase.
    pub const MAX_PHRASE: usize = 60;
    /// Maximum number of words of a phrase. Up to five characters of a script without spaces between words count as one.
    pub const MAX_WORDS: usize = MAX_PHRASE;
    /// Maximum number of synonyms that are searched for each word of a query.
    pub const MAX_PER_WORD: usize = 8;

    /// Validates and trims groups of phrases.
    ///
    /// # Errors
    /// More than [`Self::MAX_GROUPS`] groups, or a group that
    ///
    /// - does not have two to eight phrases;
    /// - has a phrase that is blank, has no letter or digit, is too long, has too many words, a comma or a NUL
    ///   character;
    /// - has a phrase that is in the group or in another one already.
    ///
    /// Errors of a group name its number, from 1.
    pub fn parse(groups: &[Vec<String>]) -> Validated<Self> {
        if groups.len() > Self::MAX_GROUPS {
            return Err(FieldError::new(FIELD, FieldProblem::TooMany { max: Self::MAX_GROUPS }));
        }
        let mut parsed = Self::default();
        for (position, group) in groups.iter().enumerate() {
            parsed
                .add_group(position, group)
                .map_err(|problem| FieldError::new(FIELD, FieldProblem::InGroup { number: position + 1, problem }))?;
        }
        Ok(parsed)
    }

    /// Wraps stored phrases with the numbers of their groups, in their order. They are not validated again.
    #[must_use]
    pub fn from_stored(phrases: Vec<(i32, String)>) -> Self {
        let mut groups: Vec<Vec<String>> = Vec::new();
        let mut last = None;
        for (number, phrase) in phrases {
            match groups.last_mut() {
                Some(group) if last == Some(number) => group.push(phrase),
                _ => groups.push(vec![phrase]),
            }
            last = Some(number);
        }
        let keys =
            (0..).zip(&groups).flat_map(|(position, group)| group.iter().map(move |phrase| (key(phrase), position)));
        Self { positions: keys.collect(), groups }
    }

    /// Returns the groups as they were sent, with trimmed phrases.
    #[must_use]
    pub fn groups(&self) -> &[Vec<String>] {
        &self.groups
    }

    /// Returns the number of phrases.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are no groups.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    fn add_group(&mut self, position: usize, group: &[String]) -> Result<(), String> {
        if !Self::GROUP_SIZE.contains(&group.len()) {
            let (min, max) = (Self::GROUP_SIZE.start(), Self::GROUP_SIZE.end());
            return Err(format!("must have {min} to {max} words or phrases"));
        }
        let mut phrases = Vec::with_capacity(group.len());
        for phrase in group {
            let phrase = phrase.trim();
            let excerpt = text::truncate(phrase, Self::MAX_PHRASE);
            if phrase.is_empty() {
                return Err("has a blank phrase".to_owned());
            }
            match text::validate_text(FIELD, phrase, Self::MAX_PHRASE).map_err(|error| error.problem) {
                Err(FieldProblem::TooLong { max }) => {
                    return Err(format!("has a phrase of more than {max} characters"));
                }
                Err(_) => return Err("has a phrase with the NUL character".to_owned()),
                Ok(()) => {}
            }
            if phrase.contains(',') {
                return Err(format!("has the phrase `{excerpt}` with a comma; send two phrases instead"));
            }
            match phrase_length(&words(phrase)) {
                0 => return Err(format!("has the phrase `{excerpt}` without a letter or digit")),
                1..=Self::MAX_WORDS => {}
                _ => return Err(format!("has the phrase `{excerpt}` of more than {} words", Self::MAX_WORDS)),
            }
            match self.positions.insert(key(phrase), position) {
                Some(known) if known == position => return Err(format!("has `{excerpt}` twice")),
                Some(known) => return Err(format!("has `{excerpt}`, which is in group {}, too", known + 1)),
                None => phrases.push(phrase.to_owned()),
            }
        }
        self.groups.push(phrases);
        Ok(())
    }

    /// Adds the synonyms of a query's phrases as alternatives of their words. A phrase within a longer one does not count.
    pub fn expand(&self, query: &mut SearchQuery) {
        if self.is_empty() {
            return;
        }
        let mut end = 0;
        let mut matches = Vec::new();
        for phrase in query.phrases() {
            if let Some(position) = self.positions.get(&phrase.key)
                && phrase.position.end > end
            {
                end = phrase.position.end;
                matches.push((phrase, *position));
            }
        }
        for (phrase, position) in matches {
            let others = self.groups.get(position).into_iter().flatten().filter(|other| key(other) != phrase.key);
            let alternatives: Vec<Alternative> =
                others.map(|other| Alternative::Words(MatchKind::Synonym, content_words(other))).collect();
            for word in phrase.words {
                query.add_synonyms(word, &alternatives, Self::MAX_PER_WORD);
            }
        }
    }
}

/// Returns the words of a phrase without function words, unless it has no others.
fn content_words(phrase: &str) -> Vec<Word> {
    let all = words(phrase);
    let content: Vec<Word> = all.iter().filter(|word| !is_function_word(word.surface())).cloned().collect();
    without_overlaps(if content.is_empty() { all } else { content })
}

/// Leaves out pairs of characters that others cover, so that a phrase has few words.
fn without_overlaps(words: Vec<Word>) -> Vec<Word> {
    let mut uncovered: Vec<Word> = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    let mut is_covered = false;
    while let Some(word) = words.next() {
        // The last pair of a run stays.
        is_covered = !is_covered
            && uncovered.last().is_some_and(|last| word.overlaps(last))
            && words.peek().is_some_and(|next| next.overlaps(&word));
        if !is_covered {
            uncovered.push(word);
        }
    }
    uncovered
}

/// Returns the key of a phrase, which is the same for its inflections and spellings.
fn key(phrase: &str) -> String {
    let words = words(phrase);
    phrase_key(&words.iter().map(Word::stem).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(groups: &[&[&str]]) -> Vec<Vec<String>> {
        groups.iter().map(|group| group.iter().map(|phrase| (*phrase).to_owned()).collect()).collect()
    }

    fn synonyms(of: &[&[&str]]) -> Synonyms {
        Synonyms::parse(&groups(of)).unwrap()
    }

    /// The synonyms of each word of a query, after its other alternatives.
    fn expanded(synonyms: &Synonyms, query: &str) -> Vec<(String, Vec<String>)> {
        let mut query = SearchQuery::parse("query", query).unwrap();
        synonyms.expand(&mut query);
        let text = |alternative: &Alternative| match alternative {
            Alternative::Words(MatchKind::Synonym, words) => {
                Some(words.iter().map(Word::surface).collect::<Vec<_>>().join(" "))
            }
            _ => None,
        };
        let words = query.words().iter();
        words
            .map(|word| (word.word.surface().to_owned(), word.alternatives.iter().filter_map(text).collect()))
            .collect()
    }

    #[test]
    fn groups_are_kept_in_their_order_and_trimmed() {
        let parsed = synonyms(&[&[" 2FA ", "two-factor"], &["quokka", "numbat"]]);
        assert_eq!(parsed.groups(), groups(&[&["2FA", "two-factor"], &["quokka", "numbat"]]));
        assert_eq!((parsed.len(), parsed.is_empty()), (4, false));
        let stored = [(0, "2FA"), (0, "two-factor"), (1, "quokka"), (1, "numbat")];
        assert_eq!(Synonyms::from_stored(stored.map(|(number, phrase)| (number, phrase.to_owned())).to_vec()), parsed);
        assert!(synonyms(&[]).is_empty());
    }

    /// Decision 4.
    #[test]
    fn an_invalid_group_is_named_by_its_number() {
        let long = "x".repeat(61);
        let many = ["a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "i1"];
        for (group, message) in [
            (&["quokka"][..], "must have 2 to 8 words or phrases"),
            (&[], "must have 2 to 8 words or phrases"),
            (&many, "must have 2 to 8 words or phrases"),
            (&["quokka", " \t"], "has a blank phrase"),
            (&["quokka", "\0"], "has a phrase with the NUL character"),
            (&["quokka", &long], "has a phrase of more than 60 characters"),
            (&["quokka", "a, b"], "has the phrase `a, b` with a comma; send two phrases instead"),
            (&["quokka", "+-*"], "has the phrase `+-*` without a letter or digit"),
            (&["quokka", "one two three four five"], "has the phrase `one two three four five` of more than 4 words"),
            (&["quokka", "Quokkas"], "has `Quokkas` twice"),
            (&["log in", "login"], "has `login` twice"),
            (&["quokka", "wombats"], "has `wombats`, which is in group 1, too"),
        ] {
            let error = Synonyms::parse(&groups(&[&["wombat", "marsupial"], group])).unwrap_err();
            assert_eq!(error.to_string(), format!("group 2 of synonyms {message}"));
        }
        let group = |number: usize| vec![format!("quokka{number}"), format!("numbat{number}")];
        assert!(Synonyms::parse(&(0..500).map(group).collect::<Vec<_>>()).is_ok());
        let error = Synonyms::parse(&(0..501).map(group).collect::<Vec<_>>()).unwrap_err();
        assert_eq!(error.to_string(), "synonyms must have at most 500 items");
    }

    /// Decision 4: a phrase finds the others of its group of synonyms, at most eight per word.
    #[test]
    fn a_phrase_of_a_query_gets_the_others_of_its_group() {
        let synonyms = synonyms(&[&["2fa", "two-factor", "mfa"], &["quokka", "the zoo of wombats"], &["two", "pair"]]);
        let expected = |words: &[(&str, &[&str])]| -> Vec<(String, Vec<String>)> {
            let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
            words.iter().map(|(word, synonyms)| ((*word).to_owned(), owned(synonyms))).collect()
        };
        for (query, words) in [
            ("2FA", &[("2fa", &["two factor", "mfa"][..])][..]),
            ("Two-Factors login", &[("two", &["2fa", "mfa"]), ("factors", &["2fa", "mfa"]), ("login", &[])]),
            ("twofactor", &[("twofactor", &["2fa", "mfa"])]),
            ("quokkas", &[("quokkas", &["zoo wombats"])]),
            ("the zoo of wombats", &[("zoo", &["quokka"]), ("wombats", &["quokka"])]),
            ("zoo wombat", &[("zoo", &[]), ("wombat", &[])]),
            ("the two quokka", &[("two", &["pair"]), ("quokka", &["zoo wombats"])]),
        ] {
            assert_eq!(expanded(&synonyms, query), expected(words), "{query}");
        }
    }

    #[test]
    fn phrases_in_scripts_without_spaces_are_found_within_a_run() {
        let synonyms = synonyms(&[&["モバイルアプリ", "スマホ", "C++"], &["工单", "ticket"]]);
        // Pairs that others cover are left out.
        let app = vec!["モバ イル アプ プリ".to_owned(), "c＋＋".to_owned()];
        let alternatives = expanded(&synonyms, "スマホの設定");
        assert_eq!(alternatives.iter().filter(|(_, synonyms)| *synonyms == app).count(), 2, "{alternatives:?}");
        assert_eq!(expanded(&synonyms, "自动分配工单").last().unwrap().1, ["ticket"]);
        assert_eq!(expanded(&synonyms, "新モバイルアプリ版")[1].1, ["スマ マホ", "c＋＋"]);
        assert_eq!(expanded(&synonyms, "c++")[0].1, ["モバ イル アプ プリ", "スマ マホ"]);
        assert!(Synonyms::parse(&groups(&[&[&"検".repeat(17), "quokka"]])).is_ok());
        let error = Synonyms::parse(&groups(&[&[&"検".repeat(18), "quokka"]])).unwrap_err();
        assert!(error.to_string().ends_with("of more than 4 words"), "{error}");
    }

    /// Decision 4.
    #[test]
    fn a_word_has_a_bounded_number_of_synonyms() {
        let group: Vec<String> = (0..8).map(|number| format!("quokka{number}")).collect();
        let other: Vec<String> = (0..8).map(|number| format!("fern {}", "abcdefgh".split_at(number).1)).collect();
        let synonyms = Synonyms::parse(&[group, other]).unwrap();
        for (_, synonyms) in expanded(&synonyms, "quokka1 quokka2 fern abcdefgh") {
            assert!(synonyms.len() <= Synonyms::MAX_PER_WORD, "{synonyms:?}");
        }
    }
}
