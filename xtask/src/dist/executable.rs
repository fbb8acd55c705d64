//! Requirements of an executable, from its ELF headers.

use anyhow::Context;
use object::Endianness;
use object::elf::{FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader, ProgramHeader};

/// Requirements of an executable.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Executable {
    /// Whether it is static: no loader, no shared libraries.
    pub(super) is_static: bool,
    /// Newest required version of glibc.
    glibc: Option<Vec<u32>>,
}

impl Executable {
    /// Parses a 64-bit ELF file.
    pub(super) fn read(bytes: &[u8]) -> anyhow::Result<Self> {
        let head = FileHeader64::<Endianness>::parse(bytes).context("the binary is no ELF file of 64 bits")?;
        let endian = head.endian()?;
        let needs_loader = head.program_headers(endian, bytes)?.iter().any(|part| part.p_type(endian) == PT_INTERP);
        let mut versions = Vec::new();
        let sections = head.sections(endian, bytes)?;
        if let Some((mut libraries, strings)) = sections.gnu_verneed(endian, bytes)? {
            let strings = sections.strings(endian, bytes, strings)?;
            while let Some((_, mut symbols)) = libraries.next()? {
                while let Some(symbol) = symbols.next()? {
                    versions.extend(glibc(&String::from_utf8_lossy(symbol.name(endian, strings)?)));
                }
            }
        }
        Ok(Self { is_static: !needs_loader, glibc: versions.into_iter().max() })
    }
}

impl std::fmt::Display for Executable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.glibc, self.is_static) {
            (_, true) => f.write_str("static: it needs no libraries"),
            (None, false) => f.write_str("not static"),
            (Some(glibc), false) => {
                let parts: Vec<String> = glibc.iter().map(u32::to_string).collect();
                write!(f, "not static: it needs glibc {} or newer", parts.join("."))
            }
        }
    }
}

/// Parses a version such as `GLIBC_2.34`.
fn glibc(name: &str) -> Option<Vec<u32>> {
    name.strip_prefix("GLIBC_")?.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(glibc("GLIBC_2.34"), Some(vec![2, 34]));
        assert_eq!(glibc("GLIBC_PRIVATE"), None);
        assert_eq!(glibc("GCC_3.0"), None);
        assert!(glibc("GLIBC_2.34") > glibc("GLIBC_2.4") && glibc("GLIBC_2.2.5") < glibc("GLIBC_2.3"));
    }

    #[test]
    fn requirements_are_described_in_words() {
        let description = |is_static, glibc| Executable { is_static, glibc }.to_string();
        assert_eq!(description(true, None), "static: it needs no libraries");
        assert_eq!(description(false, Some(vec![2, 34])), "not static: it needs glibc 2.34 or newer");
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn this_test_itself_is_not_static() {
        let own = Executable::read(&std::fs::read(std::env::current_exe().unwrap()).unwrap()).unwrap();
        assert!(!own.is_static);
        assert!(own.glibc.unwrap() >= vec![2, 2]);
        assert!(Executable::read(b"#!/bin/sh\n").is_err());
    }
}
