//! `cargo xtask migrations`: compares the migrations of both stores.

use std::collections::BTreeSet;

use anyhow::ensure;

use crate::run::root;

/// Checks that both stores have migrations with the same names, each with up and down. Tests of both stores check
/// that up, down and up lead to the same schema: `cargo xtask test migrat`.
pub(crate) fn run() -> anyhow::Result<()> {
    let names = names("sqlite")?;
    ensure!(!names.is_empty(), "there are no migrations");
    let others: Vec<String> = self::names("postgres")?.symmetric_difference(&names).cloned().collect();
    ensure!(others.is_empty(), "only one of the stores has the migrations {others:?}");
    Ok(())
}

fn names(store: &str) -> anyhow::Result<BTreeSet<String>> {
    let (mut names, mut stamps) = (BTreeSet::new(), BTreeSet::new());
    for entry in std::fs::read_dir(root().join("migrations").join(store))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        for direction in ["up.sql", "down.sql"] {
            ensure!(entry.path().join(direction).is_file(), "the migration {name} of {store} has no {direction}");
        }
        let stamp = name.split_once('_').map(|(stamp, _)| stamp.to_owned()).unwrap_or_default();
        ensure!(
            stamp.len() == 14 && stamp.bytes().all(|byte| byte.is_ascii_digit()),
            "the migration {name} of {store} has no stamp"
        );
        ensure!(stamps.insert(stamp), "two migrations of {store} have the stamp of {name}");
        names.insert(name);
    }
    Ok(names)
}
