//! `cargo xtask packaging`: the container, compose and systemd files agree with the service and with each other.
//!
//! No container is built: that needs an engine. What can be told from the files is.

mod compose;
mod dockerfile;
mod image;
mod settings;
mod unit;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::run::{has_program, root};
use compose::Compose;
use dockerfile::Dockerfile;
use image::Image;
use unit::Unit;

/// Where packages keep data.
const DATA: &str = "/var/lib/roadmap";

/// Checks all files.
pub(crate) fn run() -> anyhow::Result<()> {
    let project = Project::read()?;
    let problems = project.problems()?;
    if !problems.is_empty() {
        bail!("the files in packaging/ do not fit:\n  {}", problems.join("\n  "));
    }
    if !project.images().iter().any(Image::is_pinned) {
        eprintln!("No image is pinned by its digest: docs/operations.md (Images) tells how.");
    }
    verify_unit(&project.unit)
}

/// What the checks look at.
struct Project {
    /// The names of all settings.
    names: Vec<String>,
    /// How long each of the three steps of a stop may take, in seconds.
    shutdown_wait: u64,
    /// The version of the compiler.
    toolchain: String,
    /// Names and texts of the files in `packaging/`.
    files: Vec<(String, String)>,
    dockerfile: Dockerfile,
    compose: Compose,
    unit: String,
    toml: String,
    /// The documentation of settings, and the environment of an example.
    documentation: String,
}

impl Project {
    fn read() -> anyhow::Result<Self> {
        let text = |path: &str| fs::read_to_string(root().join(path)).with_context(|| format!("no {path}"));
        let mut files = Vec::new();
        for entry in fs::read_dir(root().join("packaging"))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // The secrets of whoever tries it are not part of the project.
            if name != ".env" {
                files.push((name, fs::read_to_string(&path)?));
            }
        }
        let source = text("crates/server/src/settings.rs")?;
        let toolchain: toml_edit::DocumentMut = text("rust-toolchain.toml")?.parse()?;
        let toolchain = toolchain.get("toolchain").and_then(|table| table.get("channel")?.as_str());
        Ok(Self {
            names: settings::names(&source)?,
            shutdown_wait: settings::shutdown_wait(&source)?,
            toolchain: toolchain.context("rust-toolchain.toml names no channel")?.to_owned(),
            dockerfile: Dockerfile::parse(&text("packaging/Dockerfile")?).context("packaging/Dockerfile")?,
            compose: Compose::parse(&text("packaging/compose.yaml")?).context("packaging/compose.yaml")?,
            unit: text("packaging/roadmap.service")?,
            toml: text("packaging/roadmap.toml")?,
            documentation: text("docs/configuration.md")?,
            files,
        })
    }

    /// All images that come from a registry.
    fn images(&self) -> Vec<Image> {
        let of_dockerfile = self.dockerfile.images().into_iter().flatten();
        of_dockerfile.chain(self.compose.images()).collect()
    }

    fn problems(&self) -> anyhow::Result<Vec<String>> {
        let mut problems = image::unpinned(&self.images());
        for (file, text) in &self.files {
            for variable in settings::variables(text) {
                if !self.names.contains(&variable.to_lowercase().replacen("roadmap_", "", 1)) {
                    problems.push(format!("{file}: {variable} is no setting"));
                } else if !self.documentation.contains(&format!("`{variable}`")) {
                    problems.push(format!("{file}: {variable} is not in docs/configuration.md"));
                }
            }
        }
        problems.extend(settings::unknown_in_file(&self.toml, &self.names)?);
        problems.extend(self.dockerfile.problems(&self.toolchain, DATA, &|path| root().join(path).exists()));
        let example = self.files.iter().find(|(name, _)| name == ".env.example");
        let example = &example.context("packaging/ has no .env.example")?.1;
        let port = self.dockerfile.port();
        problems.extend(self.compose.problems(port.as_deref(), DATA, self.shutdown_wait, example, &|path| {
            root().join("packaging").join(path).exists()
        }));
        problems.extend(Unit::parse(&self.unit)?.problems(&self.toml, DATA, self.shutdown_wait)?);
        Ok(problems)
    }
}

/// By systemd's own check, where it is there.
fn verify_unit(unit: &str) -> anyhow::Result<()> {
    if !has_program("systemd-analyze") {
        eprintln!("systemd-analyze is not there: systemd itself has not looked at packaging/roadmap.service.");
        return Ok(());
    }
    // It wants a program that exists; on this machine the service's own is not installed.
    let program = "/usr/local/bin/roadmap";
    ensure!(unit.contains(program), "packaging/roadmap.service does not start {program}");
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("roadmap.service");
    fs::write(&file, unit.replace(program, "/bin/true"))?;
    analyze(&["verify"], &file)?;
    // From 0, nothing is allowed, to 100.
    analyze(&["security", "--offline=true", "--threshold=20", "--no-pager"], &file)
}

fn analyze(arguments: &[&str], file: &Path) -> anyhow::Result<()> {
    let name = format!("systemd-analyze {}", arguments.join(" "));
    let output = Command::new("systemd-analyze").args(arguments).arg(file).output()?;
    if !output.status.success() {
        let printed = [output.stdout, output.stderr].concat();
        bail!("`{name}` is not content with packaging/roadmap.service:\n{}", String::from_utf8_lossy(&printed));
    }
    Ok(())
}

/// Seconds of a duration such as `100s`, `2m` or `100`, as compose and systemd write them.
fn seconds(raw: &str) -> Option<u64> {
    let digits = raw.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let factor = match raw.get(digits.len()..)? {
        "" | "s" => 1,
        "m" | "min" => 60,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// That a limit on stopping leaves the time that a stop may take: `docs/operations.md`.
fn too_short(file: &str, what: &str, raw: Option<&str>, shutdown_wait: u64) -> Option<String> {
    let limit = raw.and_then(seconds);
    (limit.is_none_or(|limit| limit <= 3 * shutdown_wait)).then(|| {
        let raw = raw.unwrap_or("not set");
        format!("{file}: {what} is {raw}, which is not more than three times shutdown_wait ({shutdown_wait}s)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_this_project_fit() {
        assert_eq!(Project::read().unwrap().problems().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_variable_that_is_no_setting_is_found_in_every_file() {
        let mut project = Project::read().unwrap();
        for (_, text) in &mut project.files {
            text.push_str("\n# ROADMAP_LISTEN ROADMAP_LISTENS\n");
        }
        let problems = project.problems().unwrap();
        assert_eq!(problems.len(), project.files.len());
        assert!(problems.iter().all(|problem| problem.ends_with(": ROADMAP_LISTENS is no setting")), "{problems:?}");
    }

    #[test]
    fn a_setting_without_documentation_is_reported() {
        let mut project = Project::read().unwrap();
        project.files = vec![
            ("Dockerfile".to_owned(), "ENV ROADMAP_LISTEN=x".to_owned()),
            (
                ".env.example".to_owned(),
                project.files.iter().find(|(name, _)| name == ".env.example").unwrap().1.clone(),
            ),
        ];
        project.documentation = project.documentation.replace("`ROADMAP_LISTEN`", "");
        assert_eq!(project.problems().unwrap(), ["Dockerfile: ROADMAP_LISTEN is not in docs/configuration.md"]);
    }

    #[test]
    fn a_digest_of_one_image_asks_for_those_of_all() {
        let mut project = Project::read().unwrap();
        let images: Vec<String> = project.images().iter().map(Image::to_string).collect();
        let [rust, alpine, postgres] = images.as_slice() else { panic!("{images:?}") };
        assert!(rust.starts_with("rust:") && alpine.starts_with("alpine:") && postgres.starts_with("postgres:"));
        let digest = "0123456789abcdef".repeat(4);
        let text = fs::read_to_string(root().join("packaging/Dockerfile")).unwrap();
        let text = text.replacen(&format!("={alpine}\n"), &format!("={alpine}@sha256:{digest}\n"), 1);
        project.dockerfile = Dockerfile::parse(&text).unwrap();
        let open = |image: &str| format!("{image} has no digest, and other images have one: pin all of them or none");
        assert_eq!(project.problems().unwrap(), [open(rust), open(postgres)]);
    }

    #[test]
    fn a_limit_on_stopping_is_more_than_three_times_the_wait() {
        assert_eq!(
            (seconds("100s"), seconds("2m"), seconds("2min"), seconds("7")),
            (Some(100), Some(120), Some(120), Some(7))
        );
        assert_eq!((seconds("soon"), seconds(""), seconds("1h")), (None, None, None));
        assert_eq!(too_short("f", "w", Some("91s"), 30), None);
        assert_eq!(
            too_short("f", "w", Some("90s"), 30).unwrap(),
            "f: w is 90s, which is not more than three times shutdown_wait (30s)"
        );
        assert!(too_short("f", "w", None, 30).unwrap().contains("w is not set"));
    }
}
