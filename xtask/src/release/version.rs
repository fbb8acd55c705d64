//! The version in the manifest, which all crates share.

use anyhow::{Context, ensure};
use semver::Version;
use toml_edit::{DocumentMut, Item};

/// The present version and the next one, which must be higher.
pub(super) fn next(manifest: &str, raw: &str) -> anyhow::Result<(Version, Version)> {
    let version = Version::parse(raw).with_context(|| format!("`{raw}` is no version such as 1.2.3"))?;
    ensure!(version.build.is_empty(), "version {version} names a build, by which no version is higher");
    let mut manifest: DocumentMut = manifest.parse().context("Cargo.toml is no TOML")?;
    let present = place(&mut manifest)?.as_str().context("the version in Cargo.toml is no text")?;
    let present = Version::parse(present).context("the version in Cargo.toml")?;
    ensure!(version > present, "version {version} is not higher than the present one, {present}");
    Ok((present, version))
}

/// The manifest with another version, and all else as it was.
pub(super) fn set(manifest: &str, version: &Version) -> anyhow::Result<String> {
    let mut manifest: DocumentMut = manifest.parse().context("Cargo.toml is no TOML")?;
    let place = place(&mut manifest)?.as_value_mut().context("the version in Cargo.toml is no value")?;
    // What stands around a value, comments among them, belongs to it.
    let around = place.decor().clone();
    *place = version.to_string().into();
    *place.decor_mut() = around;
    Ok(manifest.to_string())
}

fn place(manifest: &mut DocumentMut) -> anyhow::Result<&mut Item> {
    let place = manifest.get_mut("workspace").and_then(|table| table.get_mut("package")?.get_mut("version"));
    place.context("Cargo.toml has no workspace.package.version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_version_of_the_workspace_changes() {
        let manifest =
            "[workspace.package]\nversion = \"1.2.3\" # x\n\n[workspace.dependencies]\na = { version = \"1.2.3\" }\n";
        assert_eq!(
            set(manifest, &Version::new(1, 3, 0)).unwrap(),
            manifest.replacen("version = \"1.2.3\"", "version = \"1.3.0\"", 1)
        );
        assert!(set("[package]\nversion = \"1.0.0\"", &Version::new(2, 0, 0)).is_err());
    }
}
