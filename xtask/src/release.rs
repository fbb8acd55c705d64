//! `cargo xtask release`: a version that is checked, built, written down and tagged.
//!
//! Everything that can be refused is refused before anything is changed. Nothing is pushed.

mod changelog;
mod repository;
mod version;

use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};
use semver::Version;
use time::OffsetDateTime;

use crate::ci;
use crate::dist::Dist;
use crate::run::{output, root};
use repository::Repository;

/// The files that a release changes.
const CHANGED: [&str; 3] = ["CHANGELOG.md", "Cargo.lock", "Cargo.toml"];

/// The version must be higher than the present one. The tag is `v` and the version.
#[derive(Debug, clap::Args)]
pub(crate) struct Release {
    /// The new version: 1.2.3, or 1.2.3-rc.1
    version: String,
    /// Check, and say what would be done, without doing it
    #[arg(long)]
    dry_run: bool,
}

impl Release {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let repository = Repository::at(&root());
        let plan = Plan::make(&repository, &self.version, today())?;
        let commit = repository.head()?;
        let proven = ci::has_passed(&commit);
        if self.dry_run {
            println!("{}", plan.instructions(proven, &commit));
            return Ok(());
        }
        if proven {
            eprintln!("cargo xtask ci was good for this very commit, {commit}");
        } else {
            ci::run()?;
            ensure!(ci::has_passed(&commit), "cargo xtask ci was good, and something has changed meanwhile");
        }
        plan.write(&repository)?;
        lock()?;
        repository.commit(&CHANGED, &plan.message())?;
        // From here on nothing is left of a release that fails.
        let built = Dist::default().run().inspect_err(|_| {
            if let Err(error) = repository.reset_to(&commit) {
                eprintln!("the commit of the release could not be taken back: {error:#}");
            }
        })?;
        repository.tag(&plan.tag(), &plan.tag_message())?;
        println!("Version {} is commit {} and tag {}.", plan.version, repository.head()?, plan.tag());
        for file in built {
            println!("Publish {}", file.display());
        }
        println!("Push it with: git push --follow-tags");
        Ok(())
    }
}

/// What a release changes.
#[derive(Debug)]
struct Plan {
    present: Version,
    version: Version,
    /// The new texts of the manifest and the list of changes.
    manifest: String,
    changelog: String,
    /// What has changed since the last version.
    changes: String,
}

impl Plan {
    /// Refuses what cannot be released.
    fn make(repository: &Repository, version: &str, today: time::Date) -> anyhow::Result<Self> {
        let text = |name: &str| fs::read_to_string(repository.root.join(name)).with_context(|| format!("no {name}"));
        let manifest = text("Cargo.toml")?;
        let (present, version) = version::next(&manifest, version)?;
        let changed = repository.changes()?;
        ensure!(changed.is_empty(), "the tree has changes that are not committed:\n{changed}");
        let tag = format!("v{version}");
        ensure!(!repository.has_tag(&tag)?, "there is a tag {tag} already");
        let (changelog, changes) = changelog::released(&text("CHANGELOG.md")?, &version, today)?;
        Ok(Self { manifest: version::set(&manifest, &version)?, present, version, changelog, changes })
    }

    fn write(&self, repository: &Repository) -> anyhow::Result<()> {
        fs::write(repository.root.join("Cargo.toml"), &self.manifest)?;
        fs::write(repository.root.join("CHANGELOG.md"), &self.changelog)?;
        Ok(())
    }

    fn tag(&self) -> String {
        format!("v{}", self.version)
    }

    fn message(&self) -> String {
        format!("Release version {}", self.version)
    }

    fn tag_message(&self) -> String {
        format!("Version {}\n\n{}", self.version, self.changes)
    }

    /// What would be done.
    fn instructions(&self, proven: bool, commit: &str) -> String {
        let ci = if proven {
            format!("take the good run of `cargo xtask ci` for commit {commit}")
        } else {
            "run `cargo xtask ci`, and stop unless all of it is good".to_owned()
        };
        format!(
            "Would release version {version}, after {present}:\n\
             1. {ci}\n\
             2. write version {version} into Cargo.toml (all crates take theirs from it) and Cargo.lock\n\
             3. write today's section {version} into CHANGELOG.md, above an empty one:\n\n{changes}\n\n\
             4. commit {files} as \"{message}\"\n\
             5. run `cargo xtask dist`: the binary, its archive, what is in it (SBOM), and checksums\n\
             6. make the annotated tag {tag} at that commit\n\
             Nothing was changed.",
            version = self.version,
            present = self.present,
            changes = self.changes,
            files = CHANGED.join(", "),
            message = self.message(),
            tag = self.tag(),
        )
    }
}

/// Writes the new version into the lock file, and nothing else.
fn lock() -> anyhow::Result<()> {
    let arguments = ["update", "--workspace", "--offline", "--quiet"];
    output(Command::new(env!("CARGO")).args(arguments).current_dir(root()), "cargo update --workspace").map(drop)
}

/// The day that goes into the list of changes, which is not a matter of the service's clock.
fn today() -> time::Date {
    OffsetDateTime::from(now()).date()
}

#[expect(clippy::disallowed_methods, reason = "the day of a release is the day on which it is made")]
fn now() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use time::macros::date;

    const MANIFEST: &str = "# kept\n[workspace.package]\nversion = \"0.1.0\" # kept, too\nedition = \"2024\"\n";
    const CHANGELOG: &str = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Everything.\n";

    /// A repository with one commit.
    fn repository(folder: &Path) -> Repository {
        let repository = Repository::at(folder);
        repository.git(&["init", "--quiet", "--initial-branch=main"]).unwrap();
        repository.git(&["config", "user.name", "Ann"]).unwrap();
        repository.git(&["config", "user.email", "ann@example.com"]).unwrap();
        for (name, text) in [("Cargo.toml", MANIFEST), ("CHANGELOG.md", CHANGELOG), ("Cargo.lock", "")] {
            fs::write(folder.join(name), text).unwrap();
        }
        repository.commit(&CHANGED, "Begin").unwrap();
        repository
    }

    fn plan(repository: &Repository, version: &str) -> anyhow::Result<Plan> {
        Plan::make(repository, version, date!(2026 - 03 - 02))
    }

    fn refusal(repository: &Repository, version: &str) -> String {
        format!("{:#}", plan(repository, version).unwrap_err())
    }

    #[test]
    fn a_version_that_is_none_or_not_higher_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        for version in ["1.0", "v1.0.0", "1.0.0.0", "one", ""] {
            assert!(refusal(&repository, version).starts_with(&format!("`{version}` is no version")), "{version}");
        }
        for version in ["0.1.0", "0.0.9", "0.1.0-rc.1"] {
            let expected = format!("version {version} is not higher than the present one, 0.1.0");
            assert_eq!(refusal(&repository, version), expected);
        }
        assert!(refusal(&repository, "0.2.0+build").contains("build"));
        for version in ["0.1.1", "0.2.0-rc.1", "1.0.0"] {
            assert!(plan(&repository, version).is_ok(), "{version}");
        }
    }

    #[test]
    fn a_tree_with_changes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        fs::write(folder.path().join("new.txt"), "").unwrap();
        assert_eq!(refusal(&repository, "0.2.0"), "the tree has changes that are not committed:\n?? new.txt");
        fs::remove_file(folder.path().join("new.txt")).unwrap();
        fs::write(folder.path().join("Cargo.lock"), "changed").unwrap();
        assert_eq!(refusal(&repository, "0.2.0"), "the tree has changes that are not committed:\n M Cargo.lock");
    }

    #[test]
    fn a_tag_that_exists_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        repository.tag("v0.2.0", "Version 0.2.0").unwrap();
        assert_eq!(refusal(&repository, "0.2.0"), "there is a tag v0.2.0 already");
        assert!(plan(&repository, "0.2.1").is_ok());
    }

    #[test]
    fn a_version_without_changes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        fs::write(folder.path().join("CHANGELOG.md"), "# Changelog\n\n## [Unreleased]\n").unwrap();
        repository.commit(&CHANGED, "Forget").unwrap();
        assert_eq!(refusal(&repository, "0.2.0"), "CHANGELOG.md has nothing in its section [Unreleased]");
    }

    #[test]
    fn a_dry_run_changes_neither_tree_nor_tags() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        let state = || {
            let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
            let git = |arguments: &[&str]| repository.git(arguments).unwrap();
            (CHANGED.map(read), git(&["status", "--porcelain"]), git(&["tag", "--list"]), repository.head().unwrap())
        };
        let before = state();
        let instructions = plan(&repository, "0.2.0").unwrap().instructions(false, "abc");
        assert_eq!(state(), before);
        for step in [
            "Would release version 0.2.0, after 0.1.0",
            "1. run `cargo xtask ci`",
            "- Everything.",
            "commit CHANGELOG.md, Cargo.lock, Cargo.toml as \"Release version 0.2.0\"",
            "5. run `cargo xtask dist`",
            "annotated tag v0.2.0",
        ] {
            assert!(instructions.contains(step), "{step}: {instructions}");
        }
        assert!(plan(&repository, "0.2.0").unwrap().instructions(true, "abc").contains("1. take the good run of"));
    }

    #[test]
    fn a_release_is_a_commit_and_an_annotated_tag() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        let plan = plan(&repository, "0.2.0").unwrap();
        plan.write(&repository).unwrap();
        repository.commit(&CHANGED, &plan.message()).unwrap();
        repository.tag(&plan.tag(), &plan.tag_message()).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("Cargo.toml"), MANIFEST.replace("0.1.0", "0.2.0"));
        let section = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-02\n\n### Added\n\n- Everything.\n";
        assert_eq!(read("CHANGELOG.md"), section);
        assert_eq!(repository.changes().unwrap(), "");
        assert_eq!(repository.git(&["log", "-1", "--format=%s"]).unwrap(), "Release version 0.2.0");
        assert_eq!(repository.git(&["cat-file", "-t", "v0.2.0"]).unwrap(), "tag");
        let message = repository.git(&["tag", "--list", "--format=%(contents)", "v0.2.0"]).unwrap();
        assert_eq!(message.trim_end(), "Version 0.2.0\n\n### Added\n\n- Everything.");
        assert_eq!(refusal(&repository, "0.2.0"), "version 0.2.0 is not higher than the present one, 0.2.0");
    }

    #[test]
    fn a_commit_is_undone_without_harm_to_later_changes() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        let before = repository.head().unwrap();
        let plan = plan(&repository, "0.2.0").unwrap();
        plan.write(&repository).unwrap();
        repository.commit(&CHANGED, &plan.message()).unwrap();
        fs::write(folder.path().join("meanwhile.txt"), "kept").unwrap();
        repository.reset_to(&before).unwrap();
        assert_eq!(repository.head().unwrap(), before);
        assert_eq!(fs::read_to_string(folder.path().join("Cargo.toml")).unwrap(), MANIFEST);
        assert_eq!(fs::read_to_string(folder.path().join("meanwhile.txt")).unwrap(), "kept");
    }

    #[test]
    fn this_project_can_be_released() {
        let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
        let (present, version) = version::next(&manifest, "999.0.0").unwrap();
        assert!(version > present);
        let text = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
        assert!(text.contains("\n## [Unreleased]\n"), "CHANGELOG.md has no section [Unreleased]");
    }
}
