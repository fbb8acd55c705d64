//! `cargo xtask public-docs`: checks that public items have doc comments. The lint `missing_docs` would also require them
//! for fields and variants, whose names and types often say everything.

use std::fs;

use anyhow::ensure;

use crate::run::{root, rust_files};

/// Words between `pub` and the name of an item that needs a doc comment. A module has its own in its file.
const ITEMS: [&str; 8] = ["const ", "enum ", "fn ", "static ", "struct ", "trait ", "type ", "async fn "];

/// Checks all crates outside of their tests.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut problems = Vec::new();
    for file in rust_files(&["crates", "xtask"])?.iter().filter(|file| file.iter().any(|folder| folder == "src")) {
        let code = fs::read_to_string(file)?;
        let lines = undocumented(code.split("#[cfg(test)]\nmod ").next().unwrap_or_default());
        let path = file.strip_prefix(root())?.display();
        problems.extend(lines.into_iter().map(|(number, line)| format!("{path}:{number}: {line}")));
    }
    ensure!(problems.is_empty(), "public items without a doc comment:\n  {}", problems.join("\n  "));
    Ok(())
}

/// Returns the public items without a doc comment, with the numbers of their lines. The first line is the module.
fn undocumented(code: &str) -> Vec<(usize, &str)> {
    let (mut items, mut has_doc, mut in_attribute, mut in_trait) = (Vec::new(), false, false, false);
    if !code.starts_with("//!") {
        items.push((1, code.lines().next().unwrap_or_default()));
    }
    for (number, line) in (1..).zip(code.lines()) {
        let item = line.trim_start();
        in_trait = (in_trait && line != "}") || line.starts_with("pub trait ");
        in_attribute |= item.starts_with("#[");
        if item.starts_with("///") || item.starts_with("$(#[$doc])*") {
            has_doc = true;
        } else if in_attribute {
            in_attribute = !item.ends_with(']');
        } else {
            let public = item.strip_prefix("pub ").or_else(|| line.strip_prefix("    ").filter(|_| in_trait));
            if !has_doc && public.is_some_and(|item| ITEMS.iter().any(|words| item.starts_with(words))) {
                items.push((number, item));
            }
            has_doc = false;
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(code: &str) -> Vec<usize> {
        undocumented(code).into_iter().map(|(number, _)| number).collect()
    }

    #[test]
    fn public_items_without_a_doc_comment_are_found() {
        assert_eq!(numbers("use std::fs;\n"), [1]);
        for item in ["fn a() {}", "struct A;", "enum A {", "trait A {", "const A: u8 = 1;", "const fn a() {}"] {
            assert_eq!(numbers(&format!("//! A module.\n\npub {item}\n")), [3], "{item}");
            assert_eq!(numbers(&format!("//! A module.\n\n/// An item.\n#[must_use]\npub {item}\n")), [] as [usize; 0]);
            assert_eq!(numbers(&format!("//! A module.\n\n{item}\npub(crate) {item}\n")), [] as [usize; 0]);
        }
        // An attribute of many lines is between them.
        assert_eq!(numbers("//! M.\n\n/// A.\n#[derive(\n    Debug,\n)]\npub struct A;\npub struct B;\n"), [8]);
        // Functions of a public trait are public, those of others are not.
        assert_eq!(numbers("//! M.\n\n/// A.\npub trait A {\n    fn a();\n}\nimpl A for B {\n    fn a() {}\n}\n"), [5]);
        // Fields and variants need none.
        assert_eq!(
            numbers("//! M.\n\n/// A.\npub struct A {\n    pub a: u8,\n    pub b: fn(),\n}\n"),
            [] as [usize; 0]
        );
    }
}
