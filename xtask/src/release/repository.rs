//! What a release asks of git.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::output;

/// A repository with a tree.
pub(super) struct Repository {
    /// Its root folder.
    pub(super) root: PathBuf,
}

impl Repository {
    /// The one of this folder.
    pub(super) fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// Runs git, and returns what it prints without the last line's end.
    pub(super) fn git(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let name = format!("git {}", arguments.join(" "));
        let printed = output(Command::new("git").args(arguments).current_dir(&self.root), &name)?;
        Ok(String::from_utf8_lossy(&printed).trim_end().to_owned())
    }

    /// What is not committed, one file a line. Files that are ignored do not count.
    pub(super) fn changes(&self) -> anyhow::Result<String> {
        self.git(&["status", "--porcelain", "--untracked-files=normal"])
    }

    /// The commit that the tree is at.
    pub(super) fn head(&self) -> anyhow::Result<String> {
        self.git(&["rev-parse", "HEAD"])
    }

    /// Whether there is a tag of this name.
    pub(super) fn has_tag(&self, tag: &str) -> anyhow::Result<bool> {
        Ok(!self.git(&["tag", "--list", tag])?.is_empty())
    }

    /// Commits these files.
    pub(super) fn commit(&self, files: &[&str], message: &str) -> anyhow::Result<()> {
        self.git(&[&["add", "--"], files].concat())?;
        self.git(&[&["commit", "--quiet", "--message", message, "--"], files].concat()).map(drop)
    }

    /// Makes an annotated tag, whose lines that begin with `#` are headings and no comments.
    pub(super) fn tag(&self, tag: &str, message: &str) -> anyhow::Result<()> {
        self.git(&["tag", "--annotate", "--cleanup=whitespace", "--message", message, tag]).map(drop)
    }

    /// Takes back the commits after this one, and their files. What has changed besides stays.
    pub(super) fn reset_to(&self, commit: &str) -> anyhow::Result<()> {
        self.git(&["reset", "--quiet", "--keep", commit]).map(drop)
    }
}
