//! Archives that are read, and hostile ones that are refused.

use std::io::Write;

use proptest::prelude::*;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

/// A zip with these entries. A name that ends with `/` is a folder.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(entries, SimpleFileOptions::default().compression_method(CompressionMethod::Deflated))
}

fn zip_with(entries: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        if name.ends_with('/') {
            writer.add_directory(*name, options).unwrap();
        } else {
            writer.start_file(*name, options).unwrap();
            writer.write_all(content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

/// Replaces every occurrence of a text by one of the same length, as in both headers of an entry.
fn patch(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let found: Vec<usize> =
        bytes.windows(from.len()).enumerate().filter(|(_, part)| *part == from).map(|(at, _)| at).collect();
    assert!(!found.is_empty());
    for at in found {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

/// Where the headers of entries in the directory begin.
fn directory_headers(bytes: &[u8]) -> Vec<usize> {
    bytes.windows(4).enumerate().filter(|(_, part)| *part == b"PK\x01\x02").map(|(at, _)| at).collect()
}

fn local_headers(bytes: &[u8]) -> Vec<usize> {
    bytes.windows(4).enumerate().filter(|(_, part)| *part == b"PK\x03\x04").map(|(at, _)| at).collect()
}

/// Overwrites bytes of all headers: at `local` of those beside the content, 2 bytes later of those in the directory.
fn patch_headers(mut bytes: Vec<u8>, local: usize, to: &[u8]) -> Vec<u8> {
    for (headers, at) in [(local_headers(&bytes), local), (directory_headers(&bytes), local + 2)] {
        for header in headers {
            bytes[header + at..header + at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

fn open_bytes(bytes: &[u8], limits: &Limits) -> Result<Vec<Input>, ArchiveError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("backup.zip");
    fs::write(&path, bytes).unwrap();
    open(&path, limits)
}

fn names(inputs: &[Input]) -> Vec<&str> {
    inputs.iter().map(Input::name).collect()
}

fn content(input: &Input) -> Vec<u8> {
    let mut content = Vec::new();
    input.open().unwrap().read_to_end(&mut content).unwrap();
    content
}

/// The message of a refusal, without the path of the archive.
fn refusal(bytes: &[u8], limits: &Limits) -> String {
    let message = open_bytes(bytes, limits).unwrap_err().to_string();
    match message.split_once("backup.zip") {
        Some((_, rest)) => rest.to_owned(),
        None => message,
    }
}

fn small() -> Limits {
    Limits {
        max_entries: 4,
        max_file_bytes: 10_000,
        max_total_bytes: 20_000,
        max_ratio: 20,
        ratio_free_bytes: 1_000,
        max_name_bytes: 20,
    }
}

/// Bytes that deflate cannot make smaller.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
    .take(length)
    .collect()
}

#[test]
fn the_entries_of_a_zip_are_inputs() {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let entries: [(&str, &[u8]); 4] =
        [("b.json", b"[]"), ("a.csv", b"title\nDark mode\n"), ("blobs/", b""), ("blobs/1", b"")];
    for bytes in [zip(&entries), zip_with(&entries, stored)] {
        let inputs = open_bytes(&bytes, &Limits::default()).unwrap();
        assert_eq!(names(&inputs), ["a.csv", "b.json", "blobs/1"]);
        assert_eq!(inputs[0].size(), 16);
        for _ in 0..2 {
            assert_eq!(content(&inputs[0]), b"title\nDark mode\n");
            assert_eq!(content(&inputs[2]), b"");
        }
    }
}

/// Programs that write an archive as a stream, Go's for example, write sizes and checksums after the content.
#[test]
fn an_archive_may_be_written_as_a_stream() {
    let mut writer = ZipWriter::new_stream(Vec::new());
    for name in ["users.json", "blobs/1"] {
        writer.start_file(name, SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)).unwrap();
        writer.write_all(&noise(5_000)).unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    let inputs = open_bytes(&bytes, &Limits::default()).unwrap();
    assert_eq!((names(&inputs), content(&inputs[1])), (vec!["blobs/1", "users.json"], noise(5_000)));
}

#[test]
fn entries_are_read_at_the_same_time() {
    let (one, other) = (noise(20_000), noise(30_000));
    let inputs = open_bytes(&zip(&[("a", &one), ("b", &other)]), &Limits::default()).unwrap();
    let mut readers: Vec<_> = inputs.iter().map(|input| (input.open().unwrap(), Vec::new())).collect();
    for _ in 0..40 {
        for (reader, content) in &mut readers {
            reader.by_ref().take(1_000).read_to_end(content).unwrap();
        }
    }
    assert_eq!([&readers[0].1, &readers[1].1], [&one, &other]);
}

#[test]
fn clutter_and_the_common_folder_are_ignored() {
    for (entries, expected) in [
        (vec!["export/posts.csv", "export/a/votes.csv"], vec!["a/votes.csv", "posts.csv"]),
        (vec!["export/a/posts.csv"], vec!["a/posts.csv"]),
        (vec!["export/posts.csv", "export/.DS_Store", "__MACOSX/export/._posts.csv"], vec!["posts.csv"]),
        (vec![".DS_Store", "posts.csv"], vec!["posts.csv"]),
        (vec!["a/posts.csv", "b/votes.csv"], vec!["a/posts.csv", "b/votes.csv"]),
        (vec!["a/posts.csv", "ab/votes.csv"], vec!["a/posts.csv", "ab/votes.csv"]),
        (vec!["./posts.csv"], vec!["posts.csv"]),
    ] {
        let entries: Vec<(&str, &[u8])> = entries.into_iter().map(|name| (name, &b"x"[..])).collect();
        assert_eq!(names(&open_bytes(&zip(&entries), &Limits::default()).unwrap()), expected);
    }
}

#[test]
fn a_zip_without_files_is_refused() {
    for bytes in [zip(&[]), zip(&[("a/", b"")]), zip(&[("__MACOSX/x", b"x"), (".DS_Store", b"x")])] {
        assert_eq!(refusal(&bytes, &Limits::default()), "` contains no file to import");
    }
}

#[test]
fn hostile_names_are_refused_even_if_they_would_be_ignored() {
    for (name, problem) in [
        ("../evil.csv", "contains `..`"),
        ("/etc/evil.csv", "is an absolute path"),
        ("__MACOSX/../../evil", "contains `..`"),
        ("../.DS_Store", "contains `..`"),
    ] {
        let plain = "x".repeat(name.len());
        let bytes = patch(zip(&[("posts.csv", b"x"), (&plain, b"y")]), plain.as_bytes(), name.as_bytes());
        assert_eq!(
            refusal(&bytes, &Limits::default()),
            format!("the archive is refused: the name of the entry `{name}` {problem}")
        );
    }
}

#[test]
fn limits_hold_for_what_comes_out() {
    let long = "x".repeat(21);
    let half = noise(9_000);
    for (bytes, message) in [
        (zip(&[("a", b""), ("b", b""), ("c", b""), ("d", b""), ("e", b"")]), "the input has more than 4 files"),
        (zip(&[("posts", &noise(1_500).repeat(7))]), "`posts` is larger than 10000 bytes"),
        (zip(&[("posts", &noise(10_001))]), "` is larger than 10000 bytes"),
        (zip(&[("a", &half), ("b", &half), ("c", &half)]), "` is larger than 10000 bytes"),
        (zip(&[("a", &[0; 9_000])]), "the archive is refused: `a` would unpack to more than 20 times its size"),
        (
            zip(&[(long.as_str(), b"")]),
            "the archive is refused: the name of the entry `xxxxxxxxxxxxxxxxxxxxx` is too long",
        ),
    ] {
        assert_eq!(refusal(&bytes, &small()), message);
    }
    let deflated = [b"0123456789".repeat(80), noise(100)].concat();
    let entries: [(&str, &[u8]); 3] = [("a", &deflated), ("b", &deflated), ("c", &deflated)];
    assert!(open_bytes(&zip(&entries), &small()).is_ok());
    let limits = Limits { max_total_bytes: 2_000, ..small() };
    assert_eq!(refusal(&zip(&entries), &limits), "the files of the input are larger than 2000 bytes in all");
    let limits = Limits { max_ratio: 3, ratio_free_bytes: 2_000, ..small() };
    assert!(refusal(&zip(&entries), &limits).ends_with("would unpack to more than 3 times its size"));
}

#[test]
fn an_entry_alone_may_have_any_ratio_up_to_a_size() {
    assert!(open_bytes(&zip(&[("a", &[0; 1_000])]), &small()).is_ok());
}

#[test]
fn links_and_special_files_are_refused() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("posts.csv", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let link = writer.finish().unwrap().into_inner();
    let mut pipe = zip(&[("posts.csv", b"x")]);
    let header = directory_headers(&pipe)[0];
    pipe[header + 38..header + 42].copy_from_slice(&(0o010_644_u32 << 16).to_le_bytes());
    for bytes in [link, pipe] {
        assert_eq!(
            refusal(&bytes, &Limits::default()),
            "the archive is refused: the entry `posts.csv` is a link or a special file"
        );
    }
}

#[test]
fn encrypted_entries_and_other_compressions_are_refused() {
    let bytes = zip(&[("posts.csv", b"x")]);
    assert_eq!(
        refusal(&patch_headers(bytes.clone(), 6, &[1, 0]), &Limits::default()),
        "the archive is refused: the entry `posts.csv` is encrypted"
    );
    for method in [1, 9, 12, 14, 93, 99_u16] {
        assert_eq!(
            refusal(&patch_headers(bytes.clone(), 8, &method.to_le_bytes()), &Limits::default()),
            "the archive is refused: the entry `posts.csv` has a compression other than deflate"
        );
    }
}

#[test]
fn two_entries_of_one_name_are_refused() {
    for (one, other) in [("posts.json", "posts.jsoN"), ("a/posts", "a//post")] {
        let bytes = patch(zip(&[(one, b"[]"), (other, b"[1]")]), other.as_bytes(), one.as_bytes());
        assert_eq!(
            refusal(&bytes, &Limits::default()),
            format!("the archive is refused: two entries have the name `{one}`")
        );
    }
    let bytes = patch(zip(&[("a/posts", b"[]"), ("xx/post", b"[1]")]), b"xx/post", b"a/./pos");
    assert_eq!(names(&open_bytes(&bytes, &Limits::default()).unwrap()), ["pos", "posts"]);
    let bytes = patch(zip(&[("a/pos", b"[]"), ("xx/post", b"[1]")]), b"xx/post", b"a/./pos");
    assert_eq!(refusal(&bytes, &Limits::default()), "the archive is refused: two entries have the name `a/pos`");
}

#[test]
fn overlapping_entries_are_refused() {
    // The directory lists one content twice: the name of the second entry is that of the first one's header.
    let bytes = zip(&[("a.csv", &noise(100)), ("b.csv", &noise(100))]);
    let headers = directory_headers(&bytes);
    let mut overlapping = bytes.clone();
    overlapping[headers[1] + 42..headers[1] + 46].copy_from_slice(&[0; 4]);
    assert!(open_bytes(&overlapping, &Limits::default()).is_err());

    // A stored entry whose content is the whole next entry, header included.
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut bytes = zip_with(&[("a.csv", b"x"), ("b.csv", b"y")], stored);
    let second = local_headers(&bytes)[1];
    let end = directory_headers(&bytes)[0];
    let content_start = second - 1;
    let length = u32::try_from(end - content_start).unwrap().to_le_bytes();
    let crc = crc32fast::hash(&bytes[content_start..end]).to_le_bytes();
    for (header, at) in [(0, 14), (end, 16)] {
        bytes[header + at..header + at + 4].copy_from_slice(&crc);
        bytes[header + at + 4..header + at + 8].copy_from_slice(&length);
        bytes[header + at + 8..header + at + 12].copy_from_slice(&length);
    }
    assert_eq!(
        refusal(&bytes, &Limits::default()),
        "the archive is refused: the entry `b.csv` overlaps another part of the archive"
    );

    // An entry that reaches into the directory.
    let mut bytes = zip_with(&[("a.csv", b"x")], stored);
    let end = directory_headers(&bytes)[0];
    for (header, at) in [(0, 18), (end, 20)] {
        bytes[header + at..header + at + 8].copy_from_slice(&[9, 0, 0, 0, 9, 0, 0, 0]);
    }
    assert_eq!(
        refusal(&bytes, &Limits::default()),
        "the archive is refused: the entry `a.csv` overlaps another part of the archive"
    );
}

#[test]
fn a_content_that_differs_from_its_headers_is_refused() {
    let bytes = zip(&[("posts.csv", b"title\nDark mode\n")]);
    for (at, value, message) in [
        (14, 1_u32, "the archive is refused: the content of `posts.csv` has another checksum than the archive says"),
        (22, 15, "the archive is refused: the content of `posts.csv` has another size than the archive says"),
        (22, 17, "the archive is refused: the content of `posts.csv` has another size than the archive says"),
        (22, 0, "the archive is refused: the content of `posts.csv` has another size than the archive says"),
    ] {
        assert_eq!(refusal(&patch_headers(bytes.clone(), at, &value.to_le_bytes()), &Limits::default()), message);
    }
    // A folder with a content.
    let folder = patch(bytes.clone(), b"posts.csv", b"posts.cs/");
    assert_eq!(
        refusal(&folder, &Limits::default()),
        "the archive is refused: the content of `posts.cs` has another size than the archive says"
    );
    // Headers that contradict each other.
    let mut contradiction = bytes.clone();
    contradiction[14] ^= 1;
    assert!(refusal(&contradiction, &Limits::default()).starts_with("` is no zip that can be read: entry 1: "));
    // Compressed data that goes on after the content has ended.
    let directory = directory_headers(&bytes)[0];
    let mut longer = bytes.clone();
    longer.splice(directory..directory, [0; 8]);
    let size = u32::from_le_bytes(longer[18..22].try_into().unwrap()) + 8;
    longer = patch_headers(longer, 18, &size.to_le_bytes());
    let end = longer.windows(4).position(|part| part == b"PK\x05\x06").unwrap();
    let start = u32::try_from(directory + 8).unwrap();
    longer[end + 16..end + 20].copy_from_slice(&start.to_le_bytes());
    assert_eq!(
        refusal(&longer, &Limits::default()),
        "the archive is refused: the content of `posts.csv` has another size than the archive says"
    );
}

#[test]
fn broken_data_is_refused() {
    let mut bytes = zip(&[("posts.csv", &[b'x'; 100])]);
    let data = 30 + "posts.csv".len();
    bytes[data] = 0xff;
    assert_eq!(
        refusal(&bytes, &Limits::default()),
        "the archive is refused: the content of `posts.csv` cannot be unpacked"
    );
    for bytes in [b"".to_vec(), b"PK\x03\x04".to_vec(), noise(1_000), zip(&[("a", b"x")])[..40].to_vec()] {
        assert!(refusal(&bytes, &Limits::default()).starts_with("` is no zip that can be read: "));
    }
}

#[test]
fn a_message_has_no_control_characters() {
    let bytes = patch(zip(&[("posts.csv", b"x")]), b"posts.csv", b"/\x1b[2Jx.cs");
    assert_eq!(
        refusal(&bytes, &Limits::default()),
        "the archive is refused: the name of the entry `/\u{fffd}[2Jx.cs` is an absolute path"
    );
}

#[test]
fn an_archive_that_changes_afterwards_is_not_read_on() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("backup");
    let bytes = zip(&[("posts.csv", &noise(100))]);
    fs::write(&path, &bytes).unwrap();
    let inputs = open(&path, &Limits::default()).unwrap();
    let mut changed = bytes;
    changed[60] ^= 0xff;
    fs::write(&path, changed).unwrap();
    let error = inputs[0].open().unwrap().read_to_end(&mut Vec::new()).unwrap_err();
    assert!(error.to_string().starts_with("the archive is refused: "), "{error}");
}

#[test]
fn a_file_is_one_input() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("posts.csv");
    fs::write(&path, b"title\nDark mode\n").unwrap();
    let inputs = open(&path, &Limits::default()).unwrap();
    assert_eq!(
        (names(&inputs), inputs[0].size(), content(&inputs[0])),
        (vec!["posts.csv"], 16, b"title\nDark mode\n".to_vec())
    );
    let limits = Limits { max_file_bytes: 15, ..small() };
    assert_eq!(open(&path, &limits).unwrap_err().to_string(), "`posts.csv` is larger than 15 bytes");
    let missing = folder.path().join("other.csv");
    assert!(open(&missing, &small()).unwrap_err().to_string().contains("other.csv` cannot be read: "));
    fs::remove_file(&path).unwrap();
    assert!(inputs[0].open().is_err());
}

#[test]
fn the_files_of_a_folder_are_inputs() {
    let folder = TempDir::new().unwrap();
    for name in ["export/posts.csv", "export/a/votes.csv", "export/.DS_Store"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    let inputs = open(folder.path(), &Limits::default()).unwrap();
    assert_eq!(names(&inputs), ["a/votes.csv", "posts.csv"]);
    assert_eq!(content(&inputs[0]), b"export/a/votes.csv");

    for (limits, message) in [
        (Limits { max_entries: 3, ..Limits::default() }, "the input has more than 3 files"),
        (Limits { max_total_bytes: 20, ..Limits::default() }, "the files of the input are larger than 20 bytes in all"),
    ] {
        assert_eq!(open(folder.path(), &limits).unwrap_err().to_string(), message);
    }
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("export/link.csv")).unwrap();
    assert!(
        open(folder.path(), &Limits::default())
            .unwrap_err()
            .to_string()
            .ends_with("link.csv` is neither a file nor a folder")
    );
}

#[test]
fn an_empty_folder_and_a_device_are_refused() {
    let folder = TempDir::new().unwrap();
    assert!(open(folder.path(), &small()).unwrap_err().to_string().ends_with("` contains no file to import"));
    assert_eq!(
        open(Path::new("/dev/null"), &small()).unwrap_err().to_string(),
        "`/dev/null` is neither a file nor a folder"
    );
}

#[test]
fn bytes_in_memory_are_an_input() {
    let input = Input::from_bytes("posts.csv", *b"title");
    assert_eq!((input.name(), input.size(), content(&input)), ("posts.csv", 5, b"title".to_vec()));
}

proptest! {
    /// A broken archive is refused, or its entries are what they were or have other names: no byte of a content changes.
    #[test]
    fn no_change_of_an_archive_goes_unnoticed(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        is_stored: bool,
    ) {
        let contents = [b"title\nDark mode\n".repeat(9), noise(200)];
        let method = if is_stored { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default().compression_method(method);
        let mut bytes = zip_with(&[("a/posts.csv", &contents[0]), ("a/logo.png", &contents[1])], options);
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(inputs) = open_bytes(&bytes, &Limits::default()) {
            for input in &inputs {
                prop_assert!(contents.contains(&content(input)), "{}", input.name());
            }
        }
    }
}
