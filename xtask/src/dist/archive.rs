//! Reproducible archives.

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// File in an archive.
pub(super) struct Entry {
    /// Name in the archive's folder.
    pub(super) name: String,
    /// File mode.
    pub(super) mode: u32,
    /// Content.
    pub(super) bytes: Vec<u8>,
}

/// Packs files into one folder, sorted by name, with the same timestamp (seconds since 1970) and the owner 0.
pub(super) fn pack(folder: &str, entries: &[Entry], timestamp: u64) -> anyhow::Result<Vec<u8>> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    // The gzip header contains neither a name nor a time.
    let mut archive = Builder::new(GzBuilder::new().write(Vec::new(), Compression::best()));
    let mut head = header(EntryType::Directory, 0o755, 0, timestamp);
    archive.append_data(&mut head, format!("{folder}/"), std::io::empty())?;
    for entry in sorted {
        let mut head = header(EntryType::Regular, entry.mode, entry.bytes.len() as u64, timestamp);
        archive.append_data(&mut head, format!("{folder}/{}", entry.name), entry.bytes.as_slice())?;
    }
    Ok(archive.into_inner()?.finish()?)
}

fn header(kind: EntryType, mode: u32, size: u64, timestamp: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(timestamp);
    header.set_uid(0);
    header.set_gid(0);
    header
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn entry(name: &str, mode: u32, text: &str) -> Entry {
        Entry { name: name.to_owned(), mode, bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn the_archive_does_not_depend_on_the_order_of_files() {
        let one = pack("x", &[entry("b", 0o644, "2"), entry("a", 0o755, "1")], 1_000).unwrap();
        let other = pack("x", &[entry("a", 0o755, "1"), entry("b", 0o644, "2")], 1_000).unwrap();
        assert_eq!(one, other);
        assert_ne!(one, pack("x", &[entry("a", 0o755, "1"), entry("b", 0o644, "2")], 1_001).unwrap());
    }

    #[test]
    fn packed_files_come_out_with_mode_timestamp_and_no_owner() {
        let packed = pack("x-1.0", &[entry("b", 0o644, "two"), entry("a", 0o755, "one")], 1_000).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
        let mut entries = Vec::new();
        for file in archive.entries().unwrap() {
            let mut file = file.unwrap();
            let head = file.header().clone();
            assert_eq!((head.uid().unwrap(), head.gid().unwrap(), head.mtime().unwrap()), (0, 0, 1_000));
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            entries.push((file.path().unwrap().display().to_string(), head.mode().unwrap(), text));
        }
        let expected = [("x-1.0/", 0o755, ""), ("x-1.0/a", 0o755, "one"), ("x-1.0/b", 0o644, "two")];
        assert_eq!(entries, expected.map(|(name, mode, text)| (name.to_owned(), mode, text.to_owned())));
    }
}
