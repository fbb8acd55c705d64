//! Digests of what pages and forms contain, as text: parts of entity tags, operation keys and names of files.

use sha2::{Digest, Sha256};

/// The number of bytes of a digest that distinguish two contents.
pub(crate) const SHORT: usize = 12;

/// Returns the start of the SHA-256 digest of some content, in hexadecimal.
pub(crate) fn short(content: impl AsRef<[u8]>) -> String {
    hex(Sha256::digest(content).iter().take(SHORT))
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_digest_is_the_start_of_that_of_the_content() {
        // The first digest of FIPS 180-4, of the message "abc".
        assert_eq!(short("abc"), "ba7816bf8f01cfea414140de");
        assert_eq!(hex(&[0, 10, 255]), "000aff");
    }
}
