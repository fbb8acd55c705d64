//! `cargo xtask dist`: builds the distributed binary and packs it into an archive with its accompanying files.
//!
//! The archive is reproducible from the same commit and compilers: names are sorted, times are the commit's, the
//! owner is 0, and the binary contains no path of this machine.

mod archive;
mod executable;
mod sbom;
mod target;
mod third_party;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};

use crate::release::version;
use crate::run::{finish, root, text};
use archive::Entry;
use executable::Executable;
use target::Target;
use third_party::Metadata;

/// Without a target: static with musl if possible, otherwise for the C library of this machine
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Dist {
    /// Target triple of `rustc`
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
}

/// Files that are packed besides the binary and the notices, with their names in the archive.
pub(crate) const BUNDLED_FILES: [(&str, &str); 7] = [
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("README.md", "README.md"),
    ("packaging/roadmap.service", "roadmap.service"),
    ("packaging/roadmap.sysusers", "roadmap.sysusers"),
    ("packaging/roadmap.toml", "roadmap.toml"),
];

impl Dist {
    /// Builds and returns the created files: archive, software bill of materials (SBOM) and checksums.
    pub(crate) fn run(&self) -> anyhow::Result<Vec<PathBuf>> {
        let target = Target::choose(self.target.as_deref())?;
        let (version, timestamp) = (version()?, commit_timestamp()?);
        let binary = build(&target, timestamp)?;
        let bytes = fs::read(&binary).with_context(|| format!("{} is not there", binary.display()))?;
        let executable = Executable::read(&bytes)?;
        println!("{}: {:.1} MB, {executable}", binary.display(), bytes.len() as f64 / 1e6);
        ensure!(!target.is_static() || executable.is_static, "{} was to be static and is not", binary.display());
        if target.runs_here() {
            let said = text(Command::new(&binary).arg("--version"), "roadmap --version")?;
            ensure!(said == format!("roadmap {version}"), "the binary says that it is `{said}`, not version {version}");
        }
        let name = format!("roadmap-{version}-{}", target.triple);
        let metadata = third_party::metadata(&target.triple)?;
        let materials = sbom::for_binary(&metadata, &bytes, timestamp)?;
        let packed = archive::pack(&name, &contents(bytes, &metadata)?, timestamp)?;
        // Not `dist`, because cargo writes the builds of the profile `dist` there.
        let folder = root().join("target/distribution");
        fs::create_dir_all(&folder)?;
        let archive = folder.join(format!("{name}.tar.gz"));
        let bill = folder.join(format!("{name}.cdx.json"));
        let sums = folder.join(format!("{name}.sha256"));
        fs::write(&archive, &packed)?;
        fs::write(&bill, &materials)?;
        fs::write(&sums, checksum_line(&packed, &archive) + &checksum_line(&materials, &bill))?;
        println!("{}: {:.1} MB", archive.display(), packed.len() as f64 / 1e6);
        println!("{}: what is in it, as CycloneDX", bill.display());
        println!("{}: for `sha256sum --check`", sums.display());
        Ok(vec![archive, bill, sums])
    }
}

fn contents(binary: Vec<u8>, metadata: &Metadata) -> anyhow::Result<Vec<Entry>> {
    let mut contents = vec![
        Entry { name: "roadmap".to_owned(), mode: 0o755, bytes: binary },
        Entry { name: "THIRD-PARTY.txt".to_owned(), mode: 0o644, bytes: third_party::notices(metadata)?.into() },
    ];
    for (path, name) in BUNDLED_FILES {
        let bytes = fs::read(root().join(path)).with_context(|| format!("{path} is not there"))?;
        contents.push(Entry { name: name.to_owned(), mode: 0o644, bytes });
    }
    Ok(contents)
}

/// Builds the binary and returns its path.
fn build(target: &Target, timestamp: u64) -> anyhow::Result<PathBuf> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--locked", "--profile", "dist", "--package", "roadmap-server", "--bin", "roadmap"]);
    command.args(["--target", &target.triple]).current_dir(root());
    let name = format!("cargo build --profile dist --target {}", target.triple);
    eprintln!("$ {name}");
    command.env("RUSTFLAGS", remapped()).env("SOURCE_DATE_EPOCH", timestamp.to_string());
    finish(&mut command, &name)?;
    Ok(root().join("target").join(&target.triple).join("dist/roadmap"))
}

/// Compiler flags that remove this machine's paths from messages in the binary.
fn remapped() -> String {
    #[expect(clippy::disallowed_methods, reason = "where cargo keeps sources is no setting of the service")]
    let variable = |name| std::env::var(name).ok();
    let cargo = variable("CARGO_HOME").or_else(|| Some(format!("{}/.cargo", variable("HOME")?)));
    let root = root().display().to_string();
    let mut flags = vec![format!("--remap-path-prefix={root}=roadmap")];
    flags.extend(cargo.map(|cargo| format!("--remap-path-prefix={cargo}=cargo")));
    flags.join(" ")
}

/// Time of the commit in seconds since 1970, used for everything in the archive.
fn commit_timestamp() -> anyhow::Result<u64> {
    let mut command = Command::new("git");
    command.args(["log", "-1", "--format=%ct"]).current_dir(root());
    text(&mut command, "git log -1 --format=%ct")?.parse().context("git reported no time of the last commit")
}

/// Formats a line for `sha256sum --check`.
fn checksum_line(bytes: &[u8], file: &Path) -> String {
    format!("{}  {}\n", sha256(bytes), file.file_name().unwrap_or_default().to_string_lossy())
}

/// SHA-256 of a file in hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_has_the_form_that_sha256sum_checks() {
        assert_eq!(
            checksum_line(b"abc", Path::new("/x/roadmap.tar.gz")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  roadmap.tar.gz\n"
        );
    }

    #[test]
    fn files_packed_with_the_binary_exist() {
        for (path, _) in BUNDLED_FILES {
            assert!(root().join(path).is_file(), "{path}");
        }
    }
}
