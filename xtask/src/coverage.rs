//! `cargo xtask coverage`: the tests that `docs/contract-coverage.md` names exist.

use anyhow::{Context, bail, ensure};

use crate::run::root;

/// Checks every test that the document names.
pub(crate) fn run() -> anyhow::Result<()> {
    let document = std::fs::read_to_string(root().join("docs/contract-coverage.md"))?;
    let mut missing = Vec::new();
    let tests = named_tests(&document);
    ensure!(!tests.is_empty(), "docs/contract-coverage.md names no tests");
    for test in tests {
        let (file, name) = test_location(test).with_context(|| format!("`{test}` names no test"))?;
        let source = std::fs::read_to_string(root().join(&file)).with_context(|| format!("`{test}`: no {file}"))?;
        if !source.contains(&format!("fn {name}(")) {
            missing.push(test);
        }
    }
    if !missing.is_empty() {
        bail!("docs/contract-coverage.md names tests that do not exist:\n  {}", missing.join("\n  "));
    }
    Ok(())
}

/// What stands in backticks in a table and has the form of a test's name.
fn named_tests(document: &str) -> Vec<&str> {
    let tables = document.lines().filter(|line| line.starts_with('|'));
    tables.flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|text| text.contains("::")).collect()
}

/// The file that a test is in, and its name.
fn test_location(test: &str) -> Option<(String, &str)> {
    match test.split("::").collect::<Vec<_>>()[..] {
        ["store", module, name] => Some((format!("crates/testkit/src/contract/{module}.rs"), name)),
        [module, name] => Some((format!("tests/api/{module}.rs"), name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_named_in_tables_only() {
        let document = "`a::b` is a form\n| x | `votes::one`, `GET /x`, `store::votes::two` |\n";
        assert_eq!(named_tests(document), ["votes::one", "store::votes::two"]);
    }

    #[test]
    fn a_name_leads_to_its_file() {
        assert_eq!(test_location("votes::one"), Some(("tests/api/votes.rs".to_owned(), "one")));
        assert_eq!(
            test_location("store::votes::two"),
            Some(("crates/testkit/src/contract/votes.rs".to_owned(), "two"))
        );
        assert_eq!(test_location("a::b::c::d"), None);
    }
}
