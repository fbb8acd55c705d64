//! `cargo xtask packaging`: checks that the container, compose and systemd files match the service and are valid.
//!
//! systemd, Docker and hadolint validate their own formats, where they are installed. Values that only this project
//! knows are compared as text.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::run::{has_program, output, root};

/// Required lines, because other files repeat their values: data folder, port, and limits on stopping. These limits
/// are more than three times `shutdown_wait`.
const AGREED: [(&str, &[&str]); 4] = [
    (
        "Dockerfile",
        &[
            "ENV ROADMAP_LISTEN=0.0.0.0:8080 \\",
            "    ROADMAP_DATA_DIR=/var/lib/roadmap \\",
            "USER 10001:10001",
            "VOLUME [\"/var/lib/roadmap\"]",
            "EXPOSE 8080",
            "    CMD [\"wget\", \"-q\", \"-O\", \"/dev/null\", \"http://127.0.0.1:8080/readyz\"]",
        ],
    ),
    (
        "compose.yaml",
        &[
            "      - \"127.0.0.1:8080:8080\"",
            "      - data:/var/lib/roadmap",
            "    stop_grace_period: 100s",
            "    read_only: true",
            "      - no-new-privileges:true",
        ],
    ),
    (
        "roadmap.service",
        &[
            "User=roadmap",
            "ExecStart=/usr/local/bin/roadmap serve --config /etc/roadmap/roadmap.toml",
            "StateDirectory=roadmap",
            "TimeoutStopSec=100",
        ],
    ),
    ("roadmap.toml", &["data_dir = \"/var/lib/roadmap\""]),
];

/// Checks all files.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut problems = Vec::new();
    let documentation = text("docs/configuration.md")?;
    for entry in fs::read_dir(root().join("packaging"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // A local `.env` with secrets is not part of the project.
        if name != ".env" {
            problems.extend(undocumented(&name, &text(&format!("packaging/{name}"))?, &documentation));
        }
    }
    for (name, lines) in AGREED {
        problems.extend(missing(name, &text(&format!("packaging/{name}"))?, lines));
    }
    let dockerfile = text("packaging/Dockerfile")?;
    let toolchain = text("rust-toolchain.toml")?;
    let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"'));
    let compiler = format!("=rust:{}-", channel.context("rust-toolchain.toml names no channel")?);
    if !dockerfile.contains(&compiler) {
        problems.push("Dockerfile: its compiler is not that of rust-toolchain.toml".to_owned());
    }
    problems.extend(
        copied(&dockerfile)
            .filter(|path| !root().join(path).exists())
            .map(|path| format!("Dockerfile: it copies {path}, which is not there")),
    );
    let example = text("packaging/.env.example")?;
    let compose = text("packaging/compose.yaml")?;
    let variables = compose.split("${").skip(1).filter_map(|rest| rest.split_once(':')).map(|(name, _)| name);
    let unknown = variables.filter(|name| !example.lines().any(|line| line == format!("{name}=")));
    problems.extend(unknown.map(|name| format!("compose.yaml: {name} is not in .env.example")));
    ensure!(problems.is_empty(), "the files in packaging/ do not fit:\n  {}", problems.join("\n  "));
    by_their_programs()
}

fn text(path: &str) -> anyhow::Result<String> {
    fs::read_to_string(root().join(path)).with_context(|| format!("no {path}"))
}

/// Returns variables of the service that are missing in the documentation. A test of the settings checks that the
/// documentation lists exactly the existing ones.
fn undocumented(file: &str, text: &str, documentation: &str) -> Vec<String> {
    let word = |character: char| character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_';
    let variables = text.split(|character| !word(character)).filter(|word| word.starts_with("ROADMAP_"));
    let unknown = variables.filter(|name| !documentation.contains(&format!("`{name}`")));
    unknown.map(|name| format!("{file}: {name} is not in docs/configuration.md")).collect()
}

fn missing(file: &str, text: &str, lines: &[&str]) -> Vec<String> {
    let absent = lines.iter().filter(|expected| !text.lines().any(|line| line == **expected));
    absent.map(|line| format!("{file}: the line `{line}` is missing")).collect()
}

/// Returns the paths that a Dockerfile copies from the repository.
fn copied(dockerfile: &str) -> impl Iterator<Item = &str> {
    let copies = dockerfile.lines().filter_map(|line| line.strip_prefix("COPY "));
    copies.filter(|paths| !paths.starts_with("--")).flat_map(|paths| {
        let paths: Vec<&str> = paths.split_whitespace().collect();
        let sources = paths.len().saturating_sub(1);
        paths.into_iter().take(sources)
    })
}

/// Validates the files with the programs that they are for, as far as these are installed.
fn by_their_programs() -> anyhow::Result<()> {
    if has_program("systemd-analyze") {
        // systemd-analyze requires an existing program, and the service may not be installed here.
        let unit = text("packaging/roadmap.service")?.replace("/usr/local/bin/roadmap", "/bin/true");
        let folder = root().join("target/packaging");
        fs::create_dir_all(&folder)?;
        let file = folder.join("roadmap.service");
        fs::write(&file, unit)?;
        check("systemd-analyze", &["verify"], &file)?;
        // The exposure ranges from 0 (nothing is allowed) to 100.
        check("systemd-analyze", &["security", "--offline=true", "--threshold=20", "--no-pager"], &file)?;
    } else {
        eprintln!("systemd-analyze is not installed: roadmap.service was NOT checked by systemd.");
    }
    if has_compose() {
        let arguments = ["compose", "--file", "packaging/compose.yaml", "config", "--no-interpolate", "--quiet"];
        output(Command::new("docker").args(arguments).current_dir(root()), "docker compose config")?;
    } else {
        eprintln!("docker compose is not installed: compose.yaml was NOT checked by it.");
    }
    if has_program("hadolint") {
        check("hadolint", &["--failure-threshold", "warning"], &root().join("packaging/Dockerfile"))
    } else {
        eprintln!("hadolint is not installed: the Dockerfile was NOT checked by it.");
        Ok(())
    }
}

fn has_compose() -> bool {
    let mut command = Command::new("docker");
    command.args(["compose", "version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs a program on a file, and shows its output when it fails.
fn check(program: &str, arguments: &[&str], file: &Path) -> anyhow::Result<()> {
    let name = format!("{program} {} {}", arguments.join(" "), file.display());
    output(Command::new(program).args(arguments).arg(file), &name).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undocumented_variable_is_reported() {
        let documentation = "| `ROADMAP_LISTEN` | … |";
        assert_eq!(undocumented("f", "ENV ROADMAP_LISTEN=x MY_ROADMAP_LISTEN=y", documentation), [] as [&str; 0]);
        assert_eq!(
            undocumented("f", "# ${ROADMAP_LISTENS:-x}", documentation),
            ["f: ROADMAP_LISTENS is not in docs/configuration.md"]
        );
    }

    #[test]
    fn a_missing_line_is_reported() {
        assert_eq!(missing("f", "a\nb=1\n", &["b=1", "a"]), [] as [&str; 0]);
        assert_eq!(missing("f", "a\nb=10\n", &["b=1"]), ["f: the line `b=1` is missing"]);
    }

    #[test]
    fn copies_from_a_stage_are_ignored() {
        let dockerfile = "COPY a b ./\nCOPY --from=build /x /x\nCOPY c d\n";
        assert_eq!(copied(dockerfile).collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}
