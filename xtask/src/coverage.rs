//! `cargo xtask coverage`: the tests for each sentence of the HTTP contract, from the doc comments of the tests.
//!
//! `/// Contract 4.7: every request attaches its note.` is a sentence that the function below shows, and
//! `/// Contract 4.7, 4.8; Decision 3.` names sections of which it shows something. A sentence may continue on the next
//! lines, up to an empty one or the next of this form.

use std::fs;

use anyhow::{Context, ensure};

use crate::run::{root, rust_files};

/// Sections of the contract, of the decisions that fill its gaps and of the additions to the API, and two chapters
/// without sections. Each needs a test.
const SECTIONS: [(&str, &str); 5] = [
    (
        "Contract",
        "1 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 2.10 3 4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 4.10 4.11 5 6 7 8 9",
    ),
    ("Decision", "1 2 3 4 5 6 7"),
    ("Addition", "1 2 3 4 5 6 7 8"),
    ("Portal", ""),
    ("Beyond the contract", ""),
];

/// Sentences without a test.
const UNTESTED: [(&str, &str); 12] = [
    ("Contract 6", "no webhooks or other notifications are described: nothing to test"),
    ("Decision 1", "an upload's 403 comes before its 400 (differs: its body is not read before)"),
    ("Decision 2", "malformed HTTP has a body and an id too (differs: the HTTP library returns an empty 400 or 431)"),
    ("Decision 4", "the service's own link to a file expires after five minutes: only in tests of the domain"),
    ("Decision 4", "a bucket sends the headers of the service (differs: only type and disposition)"),
    ("Decision 4", "`signed_id` and `attachable_sgid` have no expiry: none is written into them"),
    ("Decision 4", "`signed_id` and `attachable_sgid` are compared in constant time: by the library"),
    ("Decision 5", "the running service purges saved responses every hour"),
    ("Decision 6", "the running service purges sent mail by itself, at its start and every hour"),
    ("Decision 7", "the time-out of reads takes effect in the running service"),
    ("Beyond the contract", "the running service sweeps by itself, at its start and every hour"),
    ("Beyond the contract", "a bucket that does not exist or rejects the keys is 500: only the kind of error"),
];

/// A section, a sentence of it or nothing, and the function that shows it.
type Row = (String, String, String);

/// Prints the tests of each section.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut rows = rows()?;
    rows.extend(UNTESTED.map(|(section, what)| (section.to_owned(), what.to_owned(), "no test".to_owned())));
    rows.sort_by_key(|(_, sentence, _)| sentence.is_empty());
    for section in sections() {
        println!("{section}");
        for (_, sentence, test) in rows.iter().filter(|(of, ..)| *of == section) {
            match sentence.as_str() {
                "" => println!("  also {test}"),
                _ => println!("  {sentence}\n    {test}"),
            }
        }
    }
    Ok(())
}

/// Collects the rows of all tests. Every section has one.
pub(crate) fn rows() -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for file in rust_files(&["crates", "tests/api"])? {
        let path = file.strip_prefix(root())?.display().to_string();
        rows.extend(parse(&path, &fs::read_to_string(&file)?).context(path)?);
    }
    let missing: Vec<String> = sections().filter(|section| rows.iter().all(|(of, ..)| of != section)).collect();
    ensure!(missing.is_empty(), "no test is for {}", missing.join(", "));
    Ok(rows)
}

fn sections() -> impl Iterator<Item = String> {
    SECTIONS.into_iter().flat_map(|(source, numbers)| {
        numbers.split(' ').map(move |number| format!("{source} {number}").trim_end().to_owned())
    })
}

fn parse(path: &str, code: &str) -> anyhow::Result<Vec<Row>> {
    let (mut rows, mut docs) = (Vec::new(), String::new());
    for (number, line) in (1..).zip(code.lines().map(str::trim)) {
        if let Some(doc) = line.strip_prefix("///").map(str::trim) {
            docs += if doc.is_empty() || names_sections(doc) { "\n" } else { " " };
            docs += doc;
        } else if !line.starts_with("#[") {
            for doc in std::mem::take(&mut docs).lines().filter(|doc| names_sections(doc)) {
                let function = line.split_once("fn ").and_then(|(_, rest)| rest.split_once('('));
                let (name, _) = function.with_context(|| format!("line {number} is no function for `{doc}`"))?;
                let (names, sentence) = doc.split_once(": ").unwrap_or((doc.trim_end_matches('.'), ""));
                for names in names.split("; ") {
                    let digit = names.find(|letter: char| letter.is_ascii_digit()).unwrap_or(names.len());
                    let (source, numbers) = names.split_at(digit);
                    for section in numbers.split(", ").map(|number| format!("{source}{number}")) {
                        ensure!(sections().any(|known| known == section), "line {number}: no section is `{section}`");
                        rows.push((section, sentence.to_owned(), format!("{path}:{number} {name}")));
                    }
                }
            }
        }
    }
    Ok(rows)
}

/// Whether a line begins with a section. `Contract: …` is the contract of a function.
fn names_sections(doc: &str) -> bool {
    SECTIONS.iter().any(|(source, numbers)| match doc.strip_prefix(source) {
        Some(rest) if numbers.is_empty() => rest.starts_with([':', '.', ';']),
        Some(rest) => rest.trim_start().starts_with(|letter: char| letter.is_ascii_digit()),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_shows_sentences_and_sections() {
        let code = "/// Notes.\n///\n/// Contract 4.7: a note\n/// is attached.\n/// Contract 1, 2.1; Portal.\n#[test]\n\
                    pub async fn noted(x: X) {\n/// Contract: x.\nfn other() {}\n";
        let row = |section: &str, sentence: &str| (section.to_owned(), sentence.to_owned(), "a.rs:7 noted".to_owned());
        let sections = ["Contract 1", "Contract 2.1", "Portal"].map(|section| row(section, ""));
        assert_eq!(
            parse("a.rs", code).unwrap(),
            [&[row("Contract 4.7", "a note is attached.")], &sections[..]].concat()
        );
    }

    #[test]
    fn a_line_with_an_unknown_section_or_without_a_function_is_reported() {
        for code in ["/// Decision 9: x.\nfn a() {}", "/// Decision 1 x\nfn a() {}", "/// Decision 1: x.\nstruct A;"] {
            assert!(parse("a.rs", code).is_err(), "{code}");
        }
        assert!(UNTESTED.iter().all(|(section, _)| sections().any(|known| known == *section)));
    }
}
