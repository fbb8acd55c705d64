//! `cargo xtask coverage`: the tests that `docs/contract-coverage.md` names exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use crate::run::root;

const DOCUMENT: &str = "docs/contract-coverage.md";

/// Checks every test that the document references.
pub(crate) fn run() -> anyhow::Result<()> {
    let document = fs::read_to_string(root().join(DOCUMENT))?;
    let tests = references(&document);
    ensure!(!tests.is_empty(), "{DOCUMENT} names no tests");
    let mut sources = BTreeMap::new();
    let mut missing = Vec::new();
    for test in &tests {
        if !exists(test, &mut sources)? {
            missing.push(test.to_string());
        }
    }
    if !missing.is_empty() {
        bail!("{DOCUMENT} names tests that do not exist:\n  {}", missing.join("\n  "));
    }
    Ok(())
}

/// Reference to a test in the document.
#[derive(Debug, PartialEq, Eq)]
struct Reference<'a> {
    /// Crate of a unit or integration test; `None` for black-box tests and the store test suite.
    package: Option<&'a str>,
    /// Module path and function name.
    path: &'a str,
}

impl std::fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.package.map_or(Ok(()), |package| write!(f, "{package} "))?;
        f.write_str(self.path)
    }
}

/// Parses the references in tables: every word with `::`. A preceding word without backticks is its crate.
fn references(document: &str) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    for line in document.lines().filter(|line| line.starts_with('|')) {
        for (number, part) in line.split('`').enumerate() {
            if number % 2 == 1 {
                found.extend(part.contains("::").then_some(Reference { package: None, path: part }));
                continue;
            }
            let mut before = None;
            for word in part.split(|character: char| character.is_whitespace() || ",;()|".contains(character)) {
                if word.contains("::") {
                    found.push(Reference { package: before, path: word });
                }
                before = Some(word).filter(|word| !word.is_empty());
            }
        }
    }
    found
}

/// Returns the files that may contain a test. Unit tests are in the module's file in `src`, integration tests in
/// `tests` of the crate.
fn files(test: &Reference<'_>) -> Option<Vec<PathBuf>> {
    let (modules, _) = test.path.rsplit_once("::")?;
    let Some(package) = test.package else {
        return Some(vec![match modules.split_once("::") {
            Some(("store", module)) => PathBuf::from(format!("crates/testkit/src/contract/{module}.rs")),
            _ => PathBuf::from(format!("tests/api/{modules}.rs")),
        }]);
    };
    let of_crate = Path::new("crates").join(package);
    let module =
        modules.strip_suffix("tests").map_or(modules, |module| module.trim_end_matches(':')).replace("::", "/");
    let source = of_crate.join("src").join(&module);
    let file = |name: &Path| name.with_extension("rs");
    Some(vec![
        file(&source),
        source.join("tests.rs"),
        file(&of_crate.join("tests").join(&module)),
        // An inline module.
        source.parent().map(file).unwrap_or_default(),
        of_crate.join("tests").join(&module).parent().map(file).unwrap_or_default(),
    ])
}

/// Whether one of the files has a function with the test's name.
fn exists(test: &Reference<'_>, sources: &mut BTreeMap<PathBuf, Option<String>>) -> anyhow::Result<bool> {
    let files = files(test).with_context(|| format!("`{test}` names no test"))?;
    let name = test.path.rsplit("::").next().unwrap_or_default();
    let function = format!("fn {name}(");
    Ok(files.into_iter().any(|file| {
        let source = sources.entry(file).or_insert_with_key(|file| fs::read_to_string(root().join(file)).ok());
        source.as_ref().is_some_and(|source| source.contains(&function))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(package: Option<&'a str>, path: &'a str) -> Reference<'a> {
        Reference { package, path }
    }

    #[test]
    fn tests_are_named_in_tables_only() {
        let document =
            "`a::b` is a form\n| x | `votes::one`, `GET /x`, domain model::x::tests::two; `store::votes::three` |\n";
        assert_eq!(
            references(document),
            [at(None, "votes::one"), at(Some("domain"), "model::x::tests::two"), at(None, "store::votes::three")]
        );
    }

    #[test]
    fn a_reference_leads_to_its_files() {
        let files = |package, path| {
            files(&at(package, path))
                .map(|files| files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>())
        };
        assert_eq!(files(None, "votes::one").unwrap(), ["tests/api/votes.rs"]);
        assert_eq!(files(None, "store::votes::two").unwrap(), ["crates/testkit/src/contract/votes.rs"]);
        let unit = files(Some("domain"), "model::slug::tests::three").unwrap();
        assert_eq!(unit.first().unwrap(), "crates/domain/src/model/slug.rs");
        assert!(files(Some("mail"), "smtp::four").unwrap().contains(&"crates/mail/tests/smtp.rs".to_owned()));
        assert_eq!(files(None, "one"), None);
    }

    #[test]
    fn a_missing_test_is_reported() {
        let mut sources = BTreeMap::new();
        let mut is_there = |package, path| exists(&at(package, path), &mut sources).unwrap();
        assert!(is_there(None, "votes::a_repeat_vote_is_listed_once"));
        assert!(is_there(Some("domain"), "model::slug::tests::words_become_ascii_and_lower_case"));
        assert!(!is_there(Some("domain"), "model::slug::tests::nobody_has_written_this"));
        assert!(!is_there(Some("domain"), "model::nowhere::tests::words_become_ascii_and_lower_case"));
    }
}
