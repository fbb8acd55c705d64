//! `cargo xtask migrations`

use std::collections::BTreeSet;

use anyhow::ensure;

use crate::run::{cargo, root};

/// Every migration has both directions, and all of them go up, down and up to the same schema.
pub(crate) fn run() -> anyhow::Result<()> {
    let folder = root().join("migrations/sqlite");
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(&folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        for direction in ["up.sql", "down.sql"] {
            ensure!(entry.path().join(direction).is_file(), "the migration {name} has no {direction}");
        }
        let stamp = name.split_once('_').map(|(stamp, _)| stamp.to_owned()).unwrap_or_default();
        ensure!(
            stamp.len() == 14 && stamp.bytes().all(|byte| byte.is_ascii_digit()),
            "the migration {name} has no stamp"
        );
        ensure!(names.insert(stamp), "two migrations have the stamp of {name}");
    }
    ensure!(!names.is_empty(), "there are no migrations in {}", folder.display());
    cargo(&["test", "--locked", "--package", "roadmap-sqlite", "--test", "store", "--", "migrat"])
}
