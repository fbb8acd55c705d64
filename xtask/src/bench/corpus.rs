//! Generated feature requests, identical in every run. Word frequencies follow Zipf's law: the second word is half as
//! common as the first, and so on. One more word occurs in all of the newest feature requests and nowhere else.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::load::Request;

const VOCABULARY: usize = 6_000;
const TITLE_WORDS: usize = 6;
const DESCRIPTION_WORDS: usize = 60;
/// Number of the most common words, which occur in many feature requests.
const COMMON: usize = 50;

/// Word of the newest feature requests. It cannot be generated from syllables.
const YOUNG: &str = "qyoungq";
/// Share of the newest feature requests, in percent.
const YOUNG_PERCENT: u64 = 40;

/// Data to load.
pub(crate) struct Corpus {
    words: Vec<String>,
    pub(crate) requests: u64,
    /// Number of customers that vote.
    pub(crate) customers: u64,
}

impl Corpus {
    pub(crate) fn new(requests: u64, customers: u64) -> Self {
        let words = (0..VOCABULARY).map(word).collect();
        Self { words, requests, customers }
    }

    /// Request that creates a feature request.
    pub(crate) fn create(&self, number: u64) -> Request {
        let words = self.words_of(number);
        let (title, description) = words.split_at(TITLE_WORDS);
        let tags: Vec<&str> = description.iter().take(2).copied().collect();
        let young = if self.is_young(number) { YOUNG } else { "" };
        let body = format!(
            r#"{{"feature_request":{{"title":"{}","description":"{} {young}","tags":["{}"]}},"customer":{{"email":"customer{}@example.com"}}}}"#,
            title.join(" "),
            description.join(" "),
            tags.join("\",\""),
            number % self.customers
        );
        ("POST", "/feature_requests".to_owned(), body)
    }

    /// Title and description of a feature request.
    pub(crate) fn texts(&self, number: u64) -> (String, String) {
        let words = self.words_of(number);
        let (title, description) = words.split_at(TITLE_WORDS);
        (title.join(" "), description.join(" "))
    }

    /// The customer and the feature request of a loaded vote.
    pub(crate) fn vote(&self, number: u64) -> (u64, u64) {
        let mut random = SmallRng::seed_from_u64(number);
        (random.random_range(0..self.customers), self.skewed_request(&mut random))
    }

    /// Random feature request, uniformly distributed.
    pub(crate) fn any_request(&self, random: &mut SmallRng) -> u64 {
        random.random_range(1..=self.requests)
    }

    /// Random feature request from a skewed distribution.
    fn skewed_request(&self, random: &mut SmallRng) -> u64 {
        skewed(self.requests, random) + 1
    }

    /// Two rarer words of one feature request, so that a search for both has a match.
    pub(crate) fn two_words_of_a_request(&self, random: &mut SmallRng) -> [&str; 2] {
        loop {
            let mut rarer = indexes(random.random_range(0..self.requests)).filter(|index| *index >= COMMON);
            if let (Some(one), Some(other)) = (rarer.next(), rarer.next()) {
                return [self.word(one), self.word(other)];
            }
        }
    }

    /// The title of a feature request.
    pub(crate) fn title(&self, random: &mut SmallRng) -> Vec<&str> {
        self.words_of(random.random_range(0..self.requests)).into_iter().take(TITLE_WORDS).collect()
    }

    /// Ten words of a feature request, rare and common ones, as in a sentence.
    pub(crate) fn sentence(&self, random: &mut SmallRng) -> Vec<&str> {
        self.words_of(random.random_range(0..self.requests)).into_iter().skip(TITLE_WORDS).take(10).collect()
    }

    /// Different words with a typing error each.
    pub(crate) fn misspelt_words(&self, count: usize, random: &mut SmallRng) -> Vec<String> {
        let first = random.random_range(0..VOCABULARY - count);
        // No generated word has this letter.
        (first..first + count).map(|index| format!("{}q{}", &self.word(index)[..2], &self.word(index)[2..])).collect()
    }

    /// Most common word, which nearly every feature request has.
    pub(crate) fn commonest_word(&self) -> &str {
        self.word(0)
    }

    /// Common word of feature requests with few votes.
    pub(crate) fn young_common_word(&self) -> &'static str {
        YOUNG
    }

    fn is_young(&self, number: u64) -> bool {
        number < self.requests && number >= self.requests * (100 - YOUNG_PERCENT) / 100
    }

    fn words_of(&self, number: u64) -> Vec<&str> {
        indexes(number).map(|index| self.word(index)).collect()
    }

    fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }
}

/// Word numbers of a feature request.
fn indexes(number: u64) -> impl Iterator<Item = usize> {
    let mut random = SmallRng::seed_from_u64(number);
    (0..TITLE_WORDS + DESCRIPTION_WORDS)
        .map(move |_| usize::try_from(skewed(VOCABULARY as u64, &mut random)).unwrap_or(0))
}

/// Random number below `end` from a log-uniform distribution: smaller numbers are more likely.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn skewed(end: u64, random: &mut SmallRng) -> u64 {
    let spread = (end as f64 + 1.0).powf(random.random::<f64>()) - 1.0;
    (spread as u64).min(end - 1)
}

/// Builds the word of a number from syllables for its digits.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "co", "di", "fu", "ge", "ha", "jo", "ki", "lu", "me", "na", "po", "ri", "su", "te", "va", "wo", "xi",
        "yu", "ze",
    ];
    let mut word = String::new();
    let mut left = number + SYLLABLES.len();
    while left > 0 {
        word += SYLLABLES.get(left % SYLLABLES.len()).copied().unwrap_or_default();
        left /= SYLLABLES.len();
    }
    word
}
