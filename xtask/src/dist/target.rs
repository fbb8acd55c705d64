//! Target of the distributed binary.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::run::{output, require_program, root, text};

/// Compiler target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) triple: String,
    host: String,
}

impl Target {
    /// Returns the requested target, otherwise the one with the fewest requirements that can be built here.
    pub(super) fn choose(requested: Option<&str>) -> anyhow::Result<Self> {
        let host = host()?;
        if let Some(triple) = requested {
            let target = Self { triple: triple.to_owned(), host };
            target.prepare().with_context(|| format!("{triple} cannot be built for on this machine"))?;
            return Ok(target);
        }
        let Some(triple) = musl_of(&host) else { return Ok(Self { triple: host.clone(), host }) };
        let target = Self { triple, host };
        match target.prepare() {
            Ok(()) => Ok(target),
            Err(why) => {
                eprintln!("The binary will NOT be static: {} cannot be built for here ({why:#}).", target.triple);
                Ok(Self { triple: target.host.clone(), ..target })
            }
        }
    }

    /// Whether its binaries must be static.
    pub(super) fn is_static(&self) -> bool {
        self.triple.ends_with("-musl")
    }

    /// Whether its binaries run on this machine.
    pub(super) fn runs_here(&self) -> bool {
        self.triple == self.host || musl_of(&self.host).as_ref() == Some(&self.triple)
    }

    /// Installs the target's standard library and, for static binaries, musl-gcc, which compiles SQLite and ring.
    fn prepare(&self) -> anyhow::Result<()> {
        if !has_standard_library(&self.triple)? {
            let name = format!("rustup target add {}", self.triple);
            eprintln!("$ {name}");
            output(Command::new("rustup").args(["target", "add", &self.triple]).current_dir(root()), &name)?;
        }
        let needs_musl_gcc = self.is_static() && self.triple != self.host;
        if needs_musl_gcc {
            require_program("musl-gcc", "musl-tools", "it has musl-gcc, which compiles the parts in C")?;
        }
        Ok(())
    }
}

/// Returns the musl counterpart of a Linux target with glibc.
fn musl_of(host: &str) -> Option<String> {
    host.strip_suffix("-gnu").filter(|rest| rest.ends_with("-linux")).map(|rest| format!("{rest}-musl"))
}

/// Host triple of the compiler.
fn host() -> anyhow::Result<String> {
    let printed = text(Command::new("rustc").arg("-vV").current_dir(root()), "rustc -vV")?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc did not report its host")?.to_owned())
}

/// Whether the standard library of a target is installed.
fn has_standard_library(triple: &str) -> anyhow::Result<bool> {
    let mut command = Command::new("rustc");
    command.args(["--print", "target-libdir", "--target", triple]).current_dir(root()).stderr(Stdio::null());
    Ok(Path::new(&text(&mut command, "rustc --print target-libdir")?).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(triple: &str) -> Target {
        Target { triple: triple.to_owned(), host: "x86_64-unknown-linux-gnu".to_owned() }
    }

    #[test]
    fn linux_with_glibc_has_a_static_sibling() {
        assert_eq!(musl_of("x86_64-unknown-linux-gnu").as_deref(), Some("x86_64-unknown-linux-musl"));
        assert_eq!(musl_of("aarch64-unknown-linux-gnu").as_deref(), Some("aarch64-unknown-linux-musl"));
        for other in ["x86_64-unknown-linux-musl", "aarch64-apple-darwin", "x86_64-pc-windows-gnu"] {
            assert_eq!(musl_of(other), None, "{other}");
        }
    }

    #[test]
    fn a_binary_for_this_processor_is_tried_and_one_for_another_is_not() {
        assert!(target("x86_64-unknown-linux-musl").runs_here() && target("x86_64-unknown-linux-gnu").runs_here());
        assert!(!target("aarch64-unknown-linux-musl").runs_here());
        assert!(target("x86_64-unknown-linux-musl").is_static() && !target("x86_64-unknown-linux-gnu").is_static());
    }

    #[test]
    fn the_compiler_has_the_standard_library_of_its_host() {
        assert!(has_standard_library(&host().unwrap()).unwrap());
        assert!(has_standard_library("no-such-target").is_err());
    }
}
