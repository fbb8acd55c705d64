//! Names of images: a version always, and a digest for all of them or for none.

use std::fmt;

/// The name of an image with its version, and perhaps the digest that it is pinned to: `alpine:3.22@sha256:…`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// Name and version.
    tagged: String,
    digest: Option<String>,
}

impl Image {
    /// Reads a name. An error says what is wrong with it.
    pub(super) fn parse(raw: &str) -> Result<Self, String> {
        let (tagged, digest) = match raw.split_once('@') {
            Some((tagged, digest)) => (tagged, Some(digest)),
            None => (raw, None),
        };
        // A port of a registry has a colon, too, but a slash behind it.
        let tag = tagged.rsplit_once(':').map(|(_, tag)| tag).filter(|tag| !tag.contains('/'));
        if tag.is_none_or(|tag| tag.is_empty() || tag == "latest") {
            return Err(format!("`{raw}` names no version"));
        }
        let is_hexadecimal = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_digest = |digest: &str| {
            digest.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.bytes().all(is_hexadecimal))
        };
        if digest.is_some_and(|digest| !is_digest(digest)) {
            return Err(format!("`{raw}` has no digest behind the @: `sha256:` and 64 hexadecimal digits"));
        }
        Ok(Self { tagged: tagged.to_owned(), digest: digest.map(str::to_owned) })
    }

    /// Whether it is of this name and begins with this version.
    pub(super) fn is(&self, beginning: &str) -> bool {
        self.tagged.starts_with(beginning)
    }

    /// Whether it is always the same image.
    pub(super) fn is_pinned(&self) -> bool {
        self.digest.is_some()
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tagged)
    }
}

/// Images that are pinned say nothing while another one can still change.
pub(super) fn unpinned(images: &[Image]) -> Vec<String> {
    if !images.iter().any(Image::is_pinned) {
        return Vec::new();
    }
    let open = images.iter().filter(|image| !image.is_pinned());
    open.map(|image| format!("{image} has no digest, and other images have one: pin all of them or none")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn a_name_has_a_version_and_perhaps_a_digest() {
        let image = Image::parse("rust:1.95.0-slim").unwrap();
        assert!(image.is("rust:1.95.0-") && !image.is("rust:1.94.0-") && !image.is_pinned());
        let pinned = Image::parse(&format!("localhost:5000/rust:1.95.0-slim@{DIGEST}")).unwrap();
        assert!(pinned.is_pinned());
        assert_eq!(pinned.to_string(), "localhost:5000/rust:1.95.0-slim");
    }

    #[test]
    fn each_fault_is_named() {
        for raw in ["alpine", "alpine:", "alpine:latest", "localhost:5000/alpine", ""] {
            assert_eq!(Image::parse(raw).unwrap_err(), format!("`{raw}` names no version"));
        }
        let untagged = format!("alpine@{DIGEST}");
        assert_eq!(Image::parse(&untagged).unwrap_err(), format!("`{untagged}` names no version"));
        for digest in
            ["", "sha256:", "sha256:abc", &DIGEST.to_uppercase(), &DIGEST[1..], &format!("{DIGEST}0"), "md5:abc"]
        {
            let raw = format!("alpine:3.22@{digest}");
            let says = format!("`{raw}` has no digest behind the @: `sha256:` and 64 hexadecimal digits");
            assert_eq!(Image::parse(&raw).unwrap_err(), says);
        }
    }

    #[test]
    fn all_images_are_pinned_or_none() {
        let images = |names: &[&str]| names.iter().map(|name| Image::parse(name).unwrap()).collect::<Vec<_>>();
        let pinned = format!("alpine:3.22@{DIGEST}");
        assert_eq!(unpinned(&images(&["rust:1", "alpine:3.22"])), [] as [&str; 0]);
        assert_eq!(unpinned(&images(&[&pinned, &pinned])), [] as [&str; 0]);
        assert_eq!(
            unpinned(&images(&["rust:1", &pinned])),
            ["rust:1 has no digest, and other images have one: pin all of them or none"]
        );
    }
}
