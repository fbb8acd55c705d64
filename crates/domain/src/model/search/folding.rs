//! One spelling for texts that mean the same.

use std::borrow::Cow;

use deunicode::deunicode_char;
use unicode_normalization::UnicodeNormalization;

use super::script::{Script, is_cyrillic};
use super::words::without_article;

/// Signs that belong to a word, as in `c++`, `c#` and `.net`. Their full-width forms mark them, because an index splits
/// at ASCII signs, and no other text has full-width forms after normalization.
pub(super) const PLUS: char = '＋';
pub(super) const HASH: char = '＃';
pub(super) const DOT: char = '．';

/// Maximum number of characters of a text that are folded. A few characters have 18 times as many after normalization.
const MAX_CHARACTERS: usize = 200_000;

/// Folds a text: words that are searched for alike are spelled alike afterwards, except for their case.
///
/// - Compatibility characters are normalized (NFKC): full-width and half-width forms, ligatures, letters with
///   separate marks.
/// - Apostrophes, Arabic vowel signs and tatweel, Hebrew points, other marks of Latin letters, and invisible characters
///   are removed. Variants of an Arabic or Hebrew letter become one. The Arabic article is removed.
/// - Cyrillic letters, Arabic and Hebrew ones and [pairs](Script::Pairs) stay. Everything else becomes ASCII.
/// - Between letters of different kinds is a space.
/// - Signs that belong to a word are replaced by [`PLUS`], [`HASH`] and [`DOT`].
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    let folded: Cow<'_, str> = if !text.is_ascii() {
        fold_unicode(text).into()
    } else if text.contains('\'') {
        text.replace('\'', "").into()
    } else {
        text.into()
    };
    match with_marked_signs(&folded) {
        Some(marked) => marked.into(),
        None => folded,
    }
}

fn fold_unicode(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut last = Script::Ascii;
    // The start of the last word in Arabic.
    let mut word_start = None;
    // Normalization would replace the acute accent, which is used as an apostrophe, by a space.
    let characters = text.chars().map(|c| if c == '´' { '\'' } else { c });
    for c in characters.nfkc().take(MAX_CHARACTERS) {
        let is_invisible_here = c == '\u{200b}' && last == Script::Pairs;
        // Abbreviations in Hebrew have a quotation mark before their last letter.
        let is_quote = matches!(c, '"' | '\'' | '״' | '׳') && last == Script::Hebrew;
        if is_removed(c) || is_invisible_here || is_quote {
            continue;
        }
        let script = Script::of(c);
        if script != last {
            remove_article(&mut folded, word_start.take());
            folded.push(' ');
            last = script;
            word_start = (script == Script::Arabic).then_some(folded.len());
        }
        match script {
            Script::Ascii if c == '\'' => {}
            Script::Ascii if c.is_ascii() => folded.push(c),
            Script::Ascii if is_cyrillic(c) => folded.push(cyrillic_letter(c)),
            Script::Ascii => folded.extend(deunicode_char(c).unwrap_or(" ").chars().filter(|c| *c != '\'')),
            Script::Arabic => folded.push(arabic_letter(c)),
            Script::Hebrew => folded.push(hebrew_letter(c)),
            Script::Pairs => folded.push(c),
        }
    }
    remove_article(&mut folded, word_start);
    folded
}

/// Removes the article of the Arabic word that begins here and is the last of the text.
fn remove_article(folded: &mut String, start: Option<usize>) {
    if let Some(start) = start
        && let Some(word) = folded.get(start..)
    {
        let article = word.len() - without_article(word).len();
        folded.drain(start..start + article);
    }
}

/// Whether a character is not searched for: combining marks except those of scripts that need them, and characters
/// without a width.
fn is_removed(c: char) -> bool {
    matches!(c,
        // Latin, Greek and Cyrillic.
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        // Hebrew, except the hyphen and other punctuation.
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        // Arabic, and tatweel.
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
        | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}' | '\u{898}'..='\u{89f}'
        | '\u{8ca}'..='\u{8e1}' | '\u{8e3}'..='\u{8ff}'
        // Soft hyphens, joiners, marks of direction, variation selectors.
        | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

fn cyrillic_letter(c: char) -> char {
    match c {
        'ё' => 'е',
        'Ё' => 'Е',
        c => c,
    }
}

fn arabic_letter(c: char) -> char {
    match c {
        'أ' | 'إ' | 'آ' | 'ٱ' => 'ا',
        'ى' | 'ی' | 'ئ' | 'ې' => 'ي',
        'ؤ' => 'و',
        'ة' | 'ہ' | 'ە' | 'ۀ' => 'ه',
        'ک' => 'ك',
        c => c,
    }
}

fn hebrew_letter(c: char) -> char {
    match c {
        'ך' => 'כ',
        'ם' => 'מ',
        'ן' => 'נ',
        'ף' => 'פ',
        'ץ' => 'צ',
        c => c,
    }
}

/// Returns the text with marks for the signs that belong to words. `None` if there are none.
fn with_marked_signs(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut marked = String::new();
    let mut end = 0;
    for (position, _) in text.match_indices(['+', '#', '.']) {
        if position < end {
            continue;
        }
        let Some((sign, count)) = sign(bytes, position) else { continue };
        marked.push_str(text.get(end..position)?);
        marked.extend(std::iter::repeat_n(sign, count));
        end = position + count;
        if sign != DOT && bytes.get(end).is_some_and(u8::is_ascii_digit) {
            marked.push(' ');
        }
    }
    if end == 0 {
        return None;
    }
    marked.push_str(text.get(end..)?);
    Some(marked)
}

/// Returns the mark and the number of equal signs at a position that belong to a word: `+` and `++` or `#` after it, a
/// dot before it.
fn sign(text: &[u8], position: usize) -> Option<(char, usize)> {
    let sign = *text.get(position)?;
    let count = text.get(position..)?.iter().take(3).take_while(|byte| **byte == sign).count();
    let before = |distance: usize| position.checked_sub(distance).and_then(|position| text.get(position));
    let next = text.get(position + count);
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
    if sign == b'.' {
        let is_free = !is_word(before(1)) && before(1) != Some(&b'.');
        return (count == 1 && is_free && is_letter(next)).then_some((DOT, 1));
    }
    let (mark, max_count) = if sign == b'+' { (PLUS, 2) } else { (HASH, 1) };
    // The version of a language may follow: `C++17`. `Ctrl+K` and `issue#5` are two words.
    let is_version = next.is_some_and(u8::is_ascii_digit) && count == max_count && !is_word(before(2));
    let is_last = !is_word(next) || is_version;
    (count <= max_count && is_letter(before(1)) && is_last).then_some((mark, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(fold("A plain text, with a dot. And 1 + 1."), Cow::Borrowed(_)));
    }

    #[test]
    fn text_that_expands_is_bounded() {
        // One character is a phrase of 18.
        assert!(fold(&"\u{fdfa}".repeat(40_000)).len() <= 3 * MAX_CHARACTERS);
    }
}
