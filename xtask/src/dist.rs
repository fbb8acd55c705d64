//! `cargo xtask dist`: the binary that is handed out, in an archive with what belongs to it.
//!
//! The same commit gives the same archive, on machines with the same compilers and tools: names are sorted, times are the
//! commit's, owners are nobody's, and no path of this machine is in the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use semver::Version;

use crate::release::version;
use crate::run::{finish, output, require_program, root};
use crate::tools::Tool;

/// Builds a static binary with musl, with the list of its crates inside (`cargo auditable`)
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Dist {
    /// What to build for, as `rustc` calls it [default: Linux with musl on this machine's processor]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
}

/// What is packed beside the binary and the notices, and under which name.
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
    /// Builds, and returns what was made: the archive and the file with its checksum.
    pub(crate) fn run(&self) -> anyhow::Result<Vec<PathBuf>> {
        let musl = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        let target = self.target.as_ref().unwrap_or(&musl);
        let name = format!("roadmap-{}-{target}", version()?);
        // Not `dist`, which is where cargo puts what it builds by the profile of that name.
        let distribution = root().join("target/distribution");
        let folder = distribution.join(&name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let time = printed("git", &["log", "-1", "--format=%ct"])?;
        fs::copy(build(target, &time)?, folder.join("roadmap"))?;
        if target.starts_with(std::env::consts::ARCH) {
            check(&folder.join("roadmap"), target == &musl)?;
        }
        notices(target, &folder.join("THIRD-PARTY.txt"))?;
        for (path, name) in BUNDLED_FILES {
            fs::copy(root().join(path), folder.join(name)).with_context(|| format!("{path} is not there"))?;
        }
        let archive = distribution.join(format!("{name}.tar.gz"));
        let sums = distribution.join(format!("{name}.sha256"));
        pack(&distribution, &name, &time)?;
        let sum = Command::new("sha256sum").arg(format!("{name}.tar.gz")).current_dir(&distribution).output()?;
        ensure!(sum.status.success(), "sha256sum failed");
        fs::write(&sums, sum.stdout)?;
        println!("{}: {:.1} MB", archive.display(), fs::metadata(&archive)?.len() as f64 / 1e6);
        println!("{}: for `sha256sum --check`", sums.display());
        Ok(vec![archive, sums])
    }
}

/// Builds the binary and returns where it is.
fn build(target: &str, time: &str) -> anyhow::Result<PathBuf> {
    if !Path::new(&printed("rustc", &["--print", "target-libdir", "--target", target])?).is_dir() {
        finish(Command::new("rustup").args(["target", "add", target]).current_dir(root()), "rustup target add")?;
    }
    if target.ends_with("-musl") {
        require_program("musl-gcc", "musl-tools", "it has musl-gcc, which compiles the parts in C")?;
    }
    let auditable = Tool { package: "cargo-auditable", version: Version::new(0, 7, 7), arguments: &[] };
    let mut command = Command::new(auditable.find()?);
    command.args(["auditable", "build", "--locked", "--profile", "dist", "--package", "roadmap-server"]);
    command.args(["--bin", "roadmap", "--target", target]).current_dir(root());
    command.env("RUSTFLAGS", remapped()).env("SOURCE_DATE_EPOCH", time);
    finish(&mut command, "cargo auditable build")?;
    Ok(root().join("target").join(target).join("dist/roadmap"))
}

/// The flags that keep this machine's paths out of messages in the binary.
fn remapped() -> String {
    #[expect(clippy::disallowed_methods, reason = "where cargo keeps sources is no setting of the service")]
    let variable = |name| std::env::var(name).ok();
    let cargo = variable("CARGO_HOME").or_else(|| Some(format!("{}/.cargo", variable("HOME")?)));
    let root = root().display().to_string();
    let mut flags = vec![format!("--remap-path-prefix={root}=roadmap")];
    flags.extend(cargo.map(|cargo| format!("--remap-path-prefix={cargo}=cargo")));
    flags.join(" ")
}

/// The binary is of this version, and static when it is to be: it asks for no loader.
fn check(binary: &Path, is_static: bool) -> anyhow::Result<()> {
    let path = binary.display().to_string();
    let said = printed(&path, &["--version"])?;
    ensure!(said == format!("roadmap {}", version()?), "the binary says that it is `{said}`");
    let has_loader = printed("readelf", &["--program-headers", "--wide", &path])?.contains("INTERP");
    ensure!(!is_static || !has_loader, "{path} was to be static and is not");
    Ok(())
}

/// The notices that the licences of linked crates ask for, by cargo-about: `about.toml` and `packaging/about.hbs`.
fn notices(target: &str, file: &Path) -> anyhow::Result<()> {
    let about = Tool { package: "cargo-about", version: Version::new(0, 9, 3), arguments: &["--features", "cli"] };
    let mut command = Command::new(about.find()?);
    command.args(["about", "generate", "--locked", "--offline", "--fail", "--target", target]);
    command.args(["--manifest-path", "crates/server/Cargo.toml", "--config", "about.toml", "--output-file"]);
    command.arg(file).arg("packaging/about.hbs").current_dir(root());
    finish(&mut command, "cargo about")
}

/// Packs a folder: sorted by name, all of one time and of the owner 0.
fn pack(folder: &Path, name: &str, time: &str) -> anyhow::Result<()> {
    let (time, archive) = (format!("--mtime=@{time}"), format!("{name}.tar.gz"));
    let mut command = Command::new("tar");
    command.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
    // Neither a name nor a time stands in the head of the compressed stream.
    command.args([&time, "--use-compress-program=gzip --best --no-name", "--file", &archive, name]);
    finish(command.current_dir(folder), "tar")
}

/// What a program prints, without the last line's end.
fn printed(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let printed = output(Command::new(program).args(arguments).current_dir(root()), program)?;
    Ok(String::from_utf8_lossy(&printed).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_beside_the_binary_exists() {
        for (path, _) in BUNDLED_FILES {
            assert!(root().join(path).is_file(), "{path}");
        }
    }

    #[test]
    fn an_archive_depends_on_names_contents_and_time_alone() {
        let packed = |names: &[&str], time| {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("x")).unwrap();
            for name in names {
                fs::write(folder.path().join("x").join(name), name).unwrap();
            }
            pack(folder.path(), "x", time).unwrap();
            fs::read(folder.path().join("x.tar.gz")).unwrap()
        };
        let one = packed(&["b", "a"], "1000");
        assert_eq!(one, packed(&["a", "b"], "1000"));
        assert_ne!(one, packed(&["a", "b"], "1001"));
        assert_ne!(one, packed(&["a", "c"], "1000"));
    }
}
