//! The list of changes, in the form of <https://keepachangelog.com>.

use anyhow::{Context, ensure};
use semver::Version;
use time::Date;

const UNRELEASED: &str = "\n## [Unreleased]\n";

/// The text with its section of unreleased changes as that of a version, below a new empty one; and what has changed.
pub(super) fn released(text: &str, version: &Version, today: Date) -> anyhow::Result<(String, String)> {
    ensure!(!text.contains(&format!("\n## [{version}]")), "CHANGELOG.md has a section [{version}] already");
    let (before, rest) = text.split_once(UNRELEASED).context("CHANGELOG.md has no section [Unreleased]")?;
    let changes = rest.find("\n## [").map_or(rest, |end| rest.get(..end).unwrap_or(rest)).trim();
    ensure!(!changes.is_empty(), "CHANGELOG.md has nothing in its section [Unreleased]");
    let released = format!("{before}{UNRELEASED}\n## [{version}] - {today}\n{rest}");
    Ok((released, changes.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::date;

    #[test]
    fn earlier_versions_stay_below() {
        let text = "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.1.0] - 2026-01-01\n\n- old\n";
        let (written, changes) = released(text, &Version::new(0, 2, 0), date!(2026 - 03 - 02)).unwrap();
        assert_eq!(changes, "- new");
        assert_eq!(
            written,
            "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-02\n\n- new\n\n## [0.1.0] - 2026-01-01\n\n- old\n"
        );
    }

    #[test]
    fn a_section_that_is_there_already_or_missing_is_refused() {
        let refused =
            |text: &str| released(text, &Version::new(0, 1, 0), date!(2026 - 03 - 02)).unwrap_err().to_string();
        assert_eq!(
            refused("# C\n\n## [Unreleased]\n\n- x\n\n## [0.1.0] - 2026-01-01\n"),
            "CHANGELOG.md has a section [0.1.0] already"
        );
        assert_eq!(refused("# C\n"), "CHANGELOG.md has no section [Unreleased]");
        assert_eq!(
            refused("# C\n\n## [Unreleased]\n\n## [0.0.1] - x\n\n- y\n"),
            "CHANGELOG.md has nothing in its section [Unreleased]"
        );
    }
}
