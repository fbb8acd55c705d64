//! `cargo xtask release`: checks, builds, commits and tags a new version.
//!
//! All checks run before anything is changed. Nothing is pushed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use semver::Version;

use crate::ci::{self, Ci};
use crate::deny::Deny;
use crate::dist::Dist;
use crate::run::{output, root, text};

/// Files that a release changes.
const CHANGED: [&str; 3] = ["CHANGELOG.md", "Cargo.lock", "Cargo.toml"];

const UNRELEASED: &str = "\n## [Unreleased]\n";

/// The version must be higher than the current one. The tag is `v` and the version.
#[derive(Debug, clap::Args)]
pub(crate) struct Release {
    /// The new version: 1.2.3, or 1.2.3-rc.1
    version: String,
    /// Run the checks and print the changes, without changing anything
    #[arg(long)]
    dry_run: bool,
}

impl Release {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let repository = Repository(root());
        let today = text(Command::new("date").arg("+%F"), "date")?;
        let plan = Plan::make(&repository, &self.version, &today)?;
        println!("Version {}:\n\n{}\n", plan.version, plan.changes);
        if self.dry_run {
            return Ok(());
        }
        let commit = repository.head()?;
        if !ci::has_passed(&commit) {
            Ci { all: true }.run()?;
            ensure!(ci::has_passed(&commit), "cargo xtask ci --all was good, and something has changed meanwhile");
        }
        Deny::for_release().run()?;
        plan.write(&repository)?;
        // Only updates the new version in the lock file.
        let update = ["update", "--workspace", "--offline", "--quiet"];
        output(Command::new(env!("CARGO")).args(update).current_dir(root()), "cargo update --workspace")?;
        repository.commit(&plan.version)?;
        // From here on a failed release is reverted.
        let built = Dist::default().run().inspect_err(|_| {
            if let Err(error) = repository.reset_to(&commit) {
                eprintln!("the commit of the release could not be reverted: {error:#}");
            }
        })?;
        repository.tag(&plan)?;
        for file in built {
            println!("Publish {}", file.display());
        }
        println!("Push commit and tag with: git push --follow-tags");
        Ok(())
    }
}

/// Returns the version of all crates.
pub(crate) fn version() -> anyhow::Result<Version> {
    version_in(&fs::read_to_string(root().join("Cargo.toml"))?)
}

/// Returns the version in the workspace's manifest, from its only line with this prefix.
fn version_in(manifest: &str) -> anyhow::Result<Version> {
    let mut versions = manifest.lines().filter_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    let version = versions.next().context("Cargo.toml has no line `version = \"…\"`")?;
    ensure!(versions.next().is_none(), "Cargo.toml has two lines `version = \"…\"`");
    Version::parse(version).context("the version in Cargo.toml")
}

/// Changes of a release.
#[derive(Debug)]
struct Plan {
    version: Version,
    /// New text of the manifest.
    manifest: String,
    changelog: String,
    /// Changes since the last version.
    changes: String,
}

impl Plan {
    /// Plans a release.
    ///
    /// # Errors
    /// The version cannot be released.
    fn make(repository: &Repository, raw: &str, today: &str) -> anyhow::Result<Self> {
        let read = |name: &str| fs::read_to_string(repository.0.join(name)).with_context(|| format!("no {name}"));
        let manifest = read("Cargo.toml")?;
        let present = version_in(&manifest)?;
        let version = Version::parse(raw).with_context(|| format!("`{raw}` is no version such as 1.2.3"))?;
        ensure!(version.build.is_empty(), "version {version} names a build, by which no version is higher");
        ensure!(version > present, "version {version} is not higher than the present one, {present}");
        let changed = repository.git(&["status", "--porcelain", "--untracked-files=normal"])?;
        ensure!(changed.is_empty(), "the tree has changes that are not committed:\n{changed}");
        let is_tagged = !repository.git(&["tag", "--list", &format!("v{version}")])?.is_empty();
        ensure!(!is_tagged, "there is a tag v{version} already");
        let (changelog, changes) = released(&read("CHANGELOG.md")?, &version, today)?;
        let line = |version: &Version| format!("\nversion = \"{version}\"\n");
        Ok(Self { manifest: manifest.replacen(&line(&present), &line(&version), 1), version, changelog, changes })
    }

    fn write(&self, repository: &Repository) -> anyhow::Result<()> {
        fs::write(repository.0.join("Cargo.toml"), &self.manifest)?;
        fs::write(repository.0.join("CHANGELOG.md"), &self.changelog)?;
        Ok(())
    }
}

/// Turns the unreleased section of the changelog (<https://keepachangelog.com>) into that of a version, below a new
/// empty one. Returns the new text and the changes.
fn released(text: &str, version: &Version, today: &str) -> anyhow::Result<(String, String)> {
    ensure!(!text.contains(&format!("\n## [{version}]")), "CHANGELOG.md has a section [{version}] already");
    let (before, rest) = text.split_once(UNRELEASED).context("CHANGELOG.md has no section [Unreleased]")?;
    let changes = rest.split("\n## [").next().unwrap_or_default().trim();
    ensure!(!changes.is_empty(), "CHANGELOG.md has nothing in its section [Unreleased]");
    Ok((format!("{before}{UNRELEASED}\n## [{version}] - {today}\n{rest}"), changes.to_owned()))
}

/// Git repository with this root folder.
struct Repository(PathBuf);

impl Repository {
    /// Runs git and returns its output without the final line break.
    fn git(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let name = format!("git {}", arguments.join(" "));
        text(Command::new("git").args(arguments).current_dir(&self.0), &name)
    }

    fn head(&self) -> anyhow::Result<String> {
        self.git(&["rev-parse", "HEAD"])
    }

    fn commit(&self, version: &Version) -> anyhow::Result<()> {
        self.git(&[&["add", "--"], &CHANGED[..]].concat())?;
        let message = format!("Release version {version}");
        self.git(&[&["commit", "--quiet", "--message", &message, "--"], &CHANGED[..]].concat()).map(drop)
    }

    /// Creates an annotated tag. Lines that begin with `#` are headings and not comments.
    fn tag(&self, plan: &Plan) -> anyhow::Result<()> {
        let (tag, message) = (format!("v{}", plan.version), format!("Version {}\n\n{}", plan.version, plan.changes));
        self.git(&["tag", "--annotate", "--cleanup=whitespace", "--message", &message, &tag]).map(drop)
    }

    /// Reverts later commits and their files. Other changes are kept.
    fn reset_to(&self, commit: &str) -> anyhow::Result<()> {
        self.git(&["reset", "--quiet", "--keep", commit]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const MANIFEST: &str =
        "# kept\n[workspace.package]\nversion = \"0.1.0\"\n\n[workspace.dependencies]\na = { version = \"0.1.0\" }\n";
    const CHANGELOG: &str = "# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [0.1.0] - 2026-01-01\n\n- Old.\n";

    /// Creates a repository with one commit.
    fn repository(folder: &Path) -> Repository {
        let repository = Repository(folder.to_owned());
        repository.git(&["init", "--quiet", "--initial-branch=main"]).unwrap();
        repository.git(&["config", "user.name", "Ann"]).unwrap();
        repository.git(&["config", "user.email", "ann@example.com"]).unwrap();
        for (name, text) in [("Cargo.toml", MANIFEST), ("CHANGELOG.md", CHANGELOG), ("Cargo.lock", "")] {
            fs::write(folder.join(name), text).unwrap();
        }
        repository.commit(&Version::new(0, 1, 0)).unwrap();
        repository
    }

    fn refusal(repository: &Repository, version: &str) -> String {
        format!("{:#}", Plan::make(repository, version, "2026-03-02").unwrap_err())
    }

    #[test]
    fn an_invalid_or_lower_version_is_rejected() {
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
            assert!(Plan::make(&repository, version, "2026-03-02").is_ok(), "{version}");
        }
    }

    #[test]
    fn uncommitted_tagged_and_empty_releases_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        fs::write(folder.path().join("new.txt"), "").unwrap();
        assert_eq!(refusal(&repository, "0.2.0"), "the tree has changes that are not committed:\n?? new.txt");
        fs::remove_file(folder.path().join("new.txt")).unwrap();
        fs::write(folder.path().join("Cargo.lock"), "changed").unwrap();
        assert_eq!(refusal(&repository, "0.2.0"), "the tree has changes that are not committed:\n M Cargo.lock");
        repository.commit(&Version::new(0, 1, 0)).unwrap();
        repository.git(&["tag", "v0.2.0"]).unwrap();
        assert_eq!(refusal(&repository, "0.2.0"), "there is a tag v0.2.0 already");
        fs::write(folder.path().join("CHANGELOG.md"), "# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n- x").unwrap();
        repository.commit(&Version::new(0, 1, 0)).unwrap();
        assert_eq!(refusal(&repository, "0.2.1"), "CHANGELOG.md has nothing in its section [Unreleased]");
    }

    #[test]
    fn a_release_is_a_commit_and_an_annotated_tag_and_can_be_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        let before = repository.head().unwrap();
        let plan = Plan::make(&repository, "0.2.0", "2026-03-02").unwrap();
        assert_eq!(repository.git(&["status", "--porcelain"]).unwrap(), "");
        plan.write(&repository).unwrap();
        repository.commit(&plan.version).unwrap();
        repository.tag(&plan).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("Cargo.toml"), MANIFEST.replacen("0.1.0", "0.2.0", 1));
        let (above, below) = CHANGELOG.split_once("\n- New.").unwrap();
        assert_eq!(read("CHANGELOG.md"), format!("{above}\n## [0.2.0] - 2026-03-02\n\n- New.{below}"));
        assert_eq!(repository.git(&["log", "-1", "--format=%s"]).unwrap(), "Release version 0.2.0");
        assert_eq!(repository.git(&["cat-file", "-t", "v0.2.0"]).unwrap(), "tag");
        let message = repository.git(&["tag", "--list", "--format=%(contents)", "v0.2.0"]).unwrap();
        assert_eq!(message.trim_end(), "Version 0.2.0\n\n- New.");

        fs::write(folder.path().join("meanwhile.txt"), "kept").unwrap();
        repository.reset_to(&before).unwrap();
        assert_eq!(read("Cargo.toml"), MANIFEST);
        assert_eq!(read("meanwhile.txt"), "kept");
    }

    #[test]
    fn this_project_can_be_released() {
        assert_eq!(version().unwrap().to_string(), env!("CARGO_PKG_VERSION"));
        assert!(fs::read_to_string(root().join("CHANGELOG.md")).unwrap().contains(UNRELEASED));
    }
}
