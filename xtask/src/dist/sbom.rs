//! Software bill of materials (SBOM) of the binary in CycloneDX 1.5, as JSON.
//!
//! Like the archive, it depends only on the commit and the binary: no serial number, the time of the commit, no path
//! of this machine. Bundled code that is not a crate, such as the C code of SQLite in `libsqlite3-sys`, is
//! represented by its crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, ensure};
use cyclonedx_bom::models::component::{Classification, Component, Components};
use cyclonedx_bom::models::dependency::{Dependencies, Dependency};
use cyclonedx_bom::models::hash::{Hash, HashAlgorithm, HashValue, Hashes};
use cyclonedx_bom::models::license::{LicenseChoice, Licenses};
use cyclonedx_bom::models::metadata::Metadata as Head;
use cyclonedx_bom::prelude::{Bom, DateTime, Purl, SpdxExpression, SpecVersion, Validate};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::sha256;
use super::third_party::{Metadata, Package};
use crate::run::root;

/// Crate of the binary.
const BINARY: &str = "roadmap-server";

/// Builds the SBOM of a binary from its crates.
pub(super) fn for_binary(metadata: &Metadata, binary: &[u8], timestamp: u64) -> anyhow::Result<Vec<u8>> {
    let bom = bill(metadata, &lock_checksums()?, binary, timestamp)?;
    let validation = bom.validate_version(SpecVersion::V1_5);
    ensure!(validation.passed(), "the bill of materials is not CycloneDX 1.5: {validation:?}");
    let mut json = Vec::new();
    bom.output_as_json(&mut json, SpecVersion::V1_5)?;
    json.push(b'\n');
    Ok(json)
}

fn bill(
    metadata: &Metadata,
    checksums: &BTreeMap<(String, String), String>,
    binary: &[u8],
    timestamp: u64,
) -> anyhow::Result<Bom> {
    let made_at = OffsetDateTime::from_unix_timestamp(i64::try_from(timestamp)?)?.format(&Rfc3339)?;
    let program = metadata.packages.iter().find(|package| package.name == BINARY);
    let program = program.with_context(|| format!("{BINARY} is none of the crates"))?;
    let mut root = Component::new(Classification::Application, "roadmap", &program.version, Some(reference(program)));
    root.licenses = licenses(program)?;
    root.hashes = Some(hashes(sha256(binary)));
    let mut components = Vec::new();
    for package in metadata.packages.iter().filter(|package| package.id != program.id) {
        components.push(component(package, checksums)?);
    }
    components.sort_by(|one, other| one.bom_ref.cmp(&other.bom_ref));
    Ok(Bom {
        serial_number: None,
        metadata: Some(Head {
            timestamp: Some(DateTime::try_from(made_at)?),
            component: Some(root),
            ..Head::default()
        }),
        components: Some(Components(components)),
        dependencies: Some(dependencies(metadata)),
        spec_version: SpecVersion::V1_5,
        ..Bom::default()
    })
}

/// Reference of a package. Cargo's own ids are unsuitable, because they contain paths.
fn reference(package: &Package) -> String {
    format!("{}@{}", package.name, package.version)
}

fn component(package: &Package, checksums: &BTreeMap<(String, String), String>) -> anyhow::Result<Component> {
    let Package { name, version, source, .. } = package;
    let mut component = Component::new(Classification::Library, name, version, Some(reference(package)));
    component.licenses = licenses(package)?;
    // The project's own crates are not in a registry.
    if source.is_some() {
        component.purl = Some(Purl::new("cargo", name, version)?);
        component.hashes = checksums.get(&(name.clone(), version.clone())).cloned().map(hashes);
    }
    Ok(component)
}

fn licenses(package: &Package) -> anyhow::Result<Option<Licenses>> {
    let Some(license) = &package.license else { return Ok(None) };
    // Some crates still write `MIT/Apache-2.0`.
    let expression = SpdxExpression::parse_lax(license.clone())
        .with_context(|| format!("the licence of {} is `{license}`", package.name))?;
    Ok(Some(Licenses(vec![LicenseChoice::Expression(expression)])))
}

fn hashes(digest: String) -> Hashes {
    Hashes(vec![Hash { alg: HashAlgorithm::SHA_256, content: HashValue(digest) }])
}

/// Dependencies between the crates in the binary.
fn dependencies(metadata: &Metadata) -> Dependencies {
    let known: BTreeMap<&str, String> =
        metadata.packages.iter().map(|package| (package.id.as_str(), reference(package))).collect();
    let mut needed: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for node in &metadata.resolve.nodes {
        if let Some(package) = known.get(node.id.as_str()) {
            let needs = node.deps.iter().filter_map(|needed| known.get(needed.pkg.as_str()));
            needed.entry(package).or_default().extend(needs);
        }
    }
    let list = |needs: BTreeSet<&String>| needs.into_iter().cloned().collect();
    let needed = needed.into_iter();
    Dependencies(
        needed
            .map(|(package, needs)| Dependency { dependency_ref: package.clone(), dependencies: list(needs) })
            .collect(),
    )
}

/// Checksums of third-party crates by name and version, from the lock file.
fn lock_checksums() -> anyhow::Result<BTreeMap<(String, String), String>> {
    let lock: toml_edit::DocumentMut = fs::read_to_string(root().join("Cargo.lock"))?.parse()?;
    let packages = lock.get("package").and_then(toml_edit::Item::as_array_of_tables);
    let packages = packages.context("Cargo.lock lists no packages")?;
    let text = |package: &toml_edit::Table, key| package.get(key)?.as_str().map(str::to_owned);
    Ok(packages
        .iter()
        .filter_map(|package| Some(((text(package, "name")?, text(package, "version")?), text(package, "checksum")?)))
        .collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::dist::third_party;

    /// Builds the SBOM of this project, for a placeholder binary.
    fn serialized_bill() -> (Value, Vec<u8>) {
        let metadata = third_party::metadata("x86_64-unknown-linux-musl").unwrap();
        let bytes = for_binary(&metadata, b"abc", 1_000).unwrap();
        (serde_json::from_slice(&bytes).unwrap(), bytes)
    }

    #[test]
    fn the_sbom_of_this_project_is_valid_and_lists_each_linked_crate() {
        let (bill, bytes) = serialized_bill();
        let read = Bom::parse_from_json(bytes.as_slice()).unwrap();
        assert!(read.validate_version(SpecVersion::V1_5).passed());
        assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&json!("CycloneDX"), &json!("1.5")));
        assert_eq!(bill["metadata"]["timestamp"], "1970-01-01T00:16:40Z");
        let component = &bill["metadata"]["component"];
        assert_eq!((&component["name"], &component["type"]), (&json!("roadmap"), &json!("application")));
        assert_eq!(component["version"], env!("CARGO_PKG_VERSION"));
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(component["hashes"], json!([{ "alg": "SHA-256", "content": digest }]));

        let components = bill["components"].as_array().unwrap();
        let named = |name: &str| components.iter().find(|component| component["name"] == name);
        let sqlite = named("libsqlite3-sys").unwrap();
        let version = sqlite["version"].as_str().unwrap();
        assert_eq!(sqlite["purl"], format!("pkg:cargo/libsqlite3-sys@{version}"));
        assert_eq!(sqlite["licenses"], json!([{ "expression": "MIT" }]));
        assert_eq!(sqlite["hashes"][0]["content"].as_str().unwrap().len(), 64);
        assert!(named("roadmap-domain").unwrap().get("purl").is_none());
        // Build dependencies and test dependencies are not linked.
        for absent in ["proptest", "mockall", "clap_derive", "cyclonedx-bom", "roadmap-server"] {
            assert!(named(absent).is_none(), "{absent}");
        }
        let foreign = components.iter().filter(|component| component.get("purl").is_some());
        assert!(foreign.clone().count() > 200, "{}", foreign.count());
        let (mut hashed, mut licensed) = (foreign.clone(), foreign);
        assert!(hashed.all(|component| component["hashes"][0]["alg"] == "SHA-256"));
        assert!(licensed.all(|component| component["licenses"][0]["expression"].is_string()));
    }

    #[test]
    fn every_crate_is_a_dependency_of_the_binary() {
        let (bill, _) = serialized_bill();
        let needs: BTreeMap<&str, Vec<&str>> = bill["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| {
                let on = node["dependsOn"].as_array().into_iter().flatten();
                (node["ref"].as_str().unwrap(), on.map(|on| on.as_str().unwrap()).collect())
            })
            .collect();
        let mut reached = BTreeSet::new();
        let mut open = vec![bill["metadata"]["component"]["bom-ref"].as_str().unwrap()];
        while let Some(package) = open.pop() {
            if reached.insert(package) {
                open.extend(&needs[package]);
            }
        }
        let all = bill["components"].as_array().unwrap().iter();
        let lost: Vec<&str> = all
            .map(|component| component["bom-ref"].as_str().unwrap())
            .filter(|name| !reached.contains(name))
            .collect();
        assert_eq!(lost, [] as [&str; 0]);
    }

    #[test]
    fn the_same_binary_has_the_same_sbom_on_every_machine() {
        let (one, other) = (serialized_bill().1, serialized_bill().1);
        assert_eq!(one, other);
        let text = String::from_utf8(one).unwrap();
        assert!(!text.contains(&root().display().to_string()) && !text.contains("serialNumber"), "{text}");
    }
}
