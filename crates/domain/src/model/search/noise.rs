//! Words that say little about what a feature request is about.
//!
//! The words are in `noise.txt`, in sections.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words::{Word, stem};

const WORDS: &str = include_str!("noise.txt");

/// How much a word says about a feature request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// A word without a subject of its own, such as "the". It is ignored if a query has other words.
    Function,
    /// A word that any feature request may have, such as "customer". It has a low weight, and does not find anything
    /// alone if a query has other words.
    Domain,
}

static NOISE: LazyLock<HashMap<String, Noise>> = LazyLock::new(|| parse(WORDS));

/// Function words by surface form, domain words by stem, both as they are written in the file.
fn parse(text: &str) -> HashMap<String, Noise> {
    let mut noise = HashMap::new();
    let mut kind = Noise::Function;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(section) = line.strip_prefix('[') {
            kind = if section == "domain]" { Noise::Domain } else { Noise::Function };
            continue;
        }
        for word in line.split_whitespace() {
            noise.insert(word.to_owned(), kind);
            if kind == Noise::Domain {
                noise.insert(stem(word).into_owned(), kind);
            }
        }
    }
    noise
}

/// Loads the table.
pub(super) fn load() {
    LazyLock::force(&NOISE);
}

/// Returns how much noise a word is, or `None` for a word with a subject.
pub fn noise(word: &Word) -> Option<Noise> {
    let by_stem = || NOISE.get(word.stem()).filter(|noise| **noise == Noise::Domain);
    NOISE.get(word.surface()).or_else(by_stem).copied()
}

/// Whether a folded word is a function word.
pub(super) fn is_function_word(surface: &str) -> bool {
    NOISE.get(surface) == Some(&Noise::Function)
}
