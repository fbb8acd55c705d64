//! What the service's own source says about its settings.

use std::collections::BTreeSet;

use anyhow::{Context, ensure};

/// The names of all settings, from the list in `settings.rs`.
pub(super) fn names(source: &str) -> anyhow::Result<Vec<String>> {
    let list = source.split_once("const NAMES").and_then(|(_, rest)| rest.split_once("];"));
    let (list, _) = list.context("settings.rs has no list of names")?;
    let names: Vec<String> = list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    ensure!(!names.is_empty(), "the list of names in settings.rs is empty");
    Ok(names)
}

/// The default of `shutdown_wait`, in seconds.
pub(super) fn shutdown_wait(source: &str) -> anyhow::Result<u64> {
    let rest = source.split_once("\"shutdown_wait\", \"").map(|(_, rest)| rest);
    let raw = rest.and_then(|rest| rest.split('"').next());
    raw.and_then(super::seconds).context("settings.rs has no default of shutdown_wait in seconds")
}

/// The names behind the prefix of the service's environment that stand in a text.
pub(super) fn variables(text: &str) -> BTreeSet<String> {
    let word = |character: char| character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_';
    let words = text.split(|character| !word(character));
    words.filter(|word| word.len() > "ROADMAP_".len() && word.starts_with("ROADMAP_")).map(str::to_owned).collect()
}

/// What is wrong with a file of settings: names that are none, also in examples behind a `#`.
pub(super) fn unknown_in_file(toml: &str, names: &[String]) -> anyhow::Result<Vec<String>> {
    let uncommented: String = toml
        .lines()
        .map(|line| match line.strip_prefix("# ").filter(|rest| rest.contains(" = ")) {
            Some(example) => format!("{example}\n"),
            None => format!("{line}\n"),
        })
        .collect();
    let table: toml_edit::DocumentMut = uncommented.parse().context("roadmap.toml is no TOML")?;
    let unknown = table.iter().map(|(name, _)| name).filter(|name| !names.iter().any(|known| known == name));
    Ok(unknown.map(|name| format!("roadmap.toml: {name} is no setting")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_the_wait_are_read_from_the_source() {
        let source =
            "const NAMES: [&str; 2] = [\n    \"listen\",\n    \"log\",\n];\n.set_default(\"shutdown_wait\", \"30s\")?";
        assert_eq!(names(source).unwrap(), ["listen", "log"]);
        assert_eq!(shutdown_wait(source).unwrap(), 30);
        assert!(names("").is_err() && shutdown_wait("").is_err());
    }

    #[test]
    fn variables_are_found_wherever_they_stand() {
        let text = "ENV ROADMAP_LOG=${ROADMAP_LOG:-x} \"ROADMAP_A2_B\" # ROADMAP_… MY_LOG";
        assert_eq!(variables(text), ["ROADMAP_A2_B".to_owned(), "ROADMAP_LOG".to_owned()].into());
    }

    #[test]
    fn a_name_that_is_no_setting_is_found_also_in_an_example() {
        let names = ["listen".to_owned()];
        let problems = unknown_in_file("# text\nlisten = \"x\"\nlisen = \"x\"\n# lsten = \"x\"\n", &names).unwrap();
        assert_eq!(problems, ["roadmap.toml: lisen is no setting", "roadmap.toml: lsten is no setting"]);
        assert!(unknown_in_file("listen", &names).is_err());
    }
}
