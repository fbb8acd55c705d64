//! Tables that are read, and broken ones.

use encoding_rs::{SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE};
use proptest::prelude::*;

use super::*;
use crate::encoding::{Evidence, detect};

/// What a table has: cells, or a problem, each with the line in which the record begins.
type Found = Vec<(u64, Result<Vec<String>, RowProblem>)>;

fn open(bytes: &[u8]) -> Result<Table<&[u8]>, TableError> {
    Table::open(bytes, detect(bytes, None).unwrap(), None)
}

fn read_all<R: Read>(table: &mut Table<R>) -> Found {
    let mut found = Vec::new();
    while let Some(item) = table.read().unwrap() {
        found.push(match item {
            Item::Row(row) => (row.place.line, Ok(row.cells().map(str::to_owned).collect())),
            Item::Rejected(row) => (row.place.line, Err(row.problem)),
        });
    }
    found
}

fn found(bytes: &[u8]) -> Found {
    read_all(&mut open(bytes).unwrap())
}

fn row(line: u64, cells: &[&str]) -> (u64, Result<Vec<String>, RowProblem>) {
    (line, Ok(cells.iter().map(ToString::to_string).collect()))
}

fn utf_16(text: &str, unit: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn records_are_read_with_the_lines_in_which_they_begin() {
    for (text, expected) in [
        ("id,title\n1,Dark mode\n", vec![row(2, &["1", "Dark mode"])]),
        ("id,title\r\n1,Dark mode\r\n2,x", vec![row(2, &["1", "Dark mode"]), row(3, &["2", "x"])]),
        ("id,title\r1,Dark mode\r2,x", vec![row(2, &["1", "Dark mode"]), row(3, &["2", "x"])]),
        ("\n \r\nid,title\n\n\n1,x\n\n2,y\n\n", vec![row(6, &["1", "x"]), row(8, &["2", "y"])]),
        ("id;title\n1;a,b\n", vec![row(2, &["1", "a,b"])]),
        ("id\ttitle\n\t\n1\ta\n", vec![row(2, &["", ""]), row(3, &["1", "a"])]),
        ("sep=;\nid;title\n1;a\n", vec![row(3, &["1", "a"])]),
        ("sep=|\r\nid,a|title\r\n1|a\r\n", vec![row(3, &["1", "a"])]),
        (
            "id,title\n1,\"a\n\nb\"\n2,\"say \"\"hi\"\"\"\n",
            vec![row(2, &["1", "a\n\nb"]), row(5, &["2", "say \"hi\""])],
        ),
        ("id,title\r\n1,\"a\r\nb\r\n\"\r\n2,x\r\n", vec![row(2, &["1", "a\r\nb\r\n"]), row(5, &["2", "x"])]),
        ("id,title\r1,\"a\rb\"\r2,x\r", vec![row(2, &["1", "a\rb"]), row(4, &["2", "x"])]),
        ("id,title\n1,a\rb\n2,\r\n", vec![row(2, &["1", "a\rb"]), row(3, &["2", ""])]),
        ("id,title\n1,x\r", vec![row(2, &["1", "x"])]),
        ("\"id\n#\",title\n1,a\n", vec![row(3, &["1", "a"])]),
        ("id,title\n1,a\"b\"\n2,\"a\" b\n", vec![row(2, &["1", "a\"b\""]), row(3, &["2", "a b"])]),
        ("title\n\"\"\nx\n", vec![row(2, &[""]), row(3, &["x"])]),
        ("id,title\n", vec![]),
        ("id,title", vec![]),
        ("\u{feff}id,title\n1,ü😀\n", vec![row(2, &["1", "ü😀"])]),
    ] {
        assert_eq!(found(text.as_bytes()), expected, "{text:?}");
    }
}

#[test]
fn columns_are_found_by_their_folded_names() {
    let table = open(b"\xef\xbb\xbfId , Post Title,\n").unwrap();
    assert_eq!(table.header().names(), ["Id", "Post Title", ""]);
    assert_eq!(table.header().position("post_title"), Some(1));
}

#[test]
fn records_in_other_encodings_are_the_same() {
    let text = "id,title\r\n1,\"Über\r\nਊ,😀\"\r\n2,x";
    let expected = vec![row(2, &["1", "Über\r\nਊ,😀"]), row(4, &["2", "x"])];
    for bytes in [
        text.as_bytes().to_vec(),
        utf_16(text, u16::to_le_bytes),
        utf_16(text, u16::to_be_bytes),
        utf_16(&format!("\u{feff}{text}"), u16::to_le_bytes),
        utf_16(&format!("\u{feff}{text}"), u16::to_be_bytes),
    ] {
        assert_eq!(found(&bytes), expected);
    }
    assert_eq!(found(b"id;title\r\n1;\xdcber \x80\r\n"), [row(2, &["1", "Über €"])]);
    // The second byte of some Japanese characters is that of `|` or of a backslash.
    let (bytes, _, _) = SHIFT_JIS.encode("id|title\n1|ソ―ポ\n");
    let detected = detect(&*bytes, Some(SHIFT_JIS)).unwrap();
    assert_eq!(read_all(&mut Table::open(&*bytes, detected, None).unwrap()), [row(2, &["1", "ソ―ポ"])]);
}

#[test]
fn a_bad_record_is_rejected_alone() {
    let count = |expected, found| Err(RowProblem::CellCount { expected, found });
    let bad = |name| Err(RowProblem::Encoding { encoding: name });
    let surrogate =
        [utf_16("\u{feff}id,title\n1,", u16::to_le_bytes), vec![0, 0xd8], utf_16("\n2,x\n", u16::to_le_bytes)];
    let odd = [utf_16("\u{feff}id,title\n2,x\n1,y", u16::to_le_bytes), vec![0]];
    for (bytes, expected) in [
        (b"id,title\n1\n2,a,b\n3,x\n".to_vec(), vec![(2, count(2, 1)), (3, count(2, 3)), row(4, &["3", "x"])]),
        (b"\xef\xbb\xbfid,title\n1,caf\xe9\n2,x\n".to_vec(), vec![(2, bad("UTF-8")), row(3, &["2", "x"])]),
        (b"\xef\xbb\xbfid,title\n1,\"caf\xe9\n\"\n2,x\n".to_vec(), vec![(2, bad("UTF-8")), row(4, &["2", "x"])]),
        (surrogate.concat(), vec![(2, bad("UTF-16LE")), row(3, &["2", "x"])]),
        (odd.concat(), vec![row(2, &["2", "x"]), (3, bad("UTF-16LE"))]),
        (b"id,title\n1,a\0b\n2,x\n".to_vec(), vec![(2, Err(RowProblem::Nul)), row(3, &["2", "x"])]),
        (format!("id,title\n{}\n2,x\n", ",".repeat(2_000)).into(), vec![(2, count(2, 2_001)), row(3, &["2", "x"])]),
    ] {
        assert_eq!(found(&bytes), expected);
    }
}

#[test]
fn a_given_encoding_rejects_records_and_not_the_file() {
    let bytes = b"id,title\n1,caf\xe9 \xff\n2,ok\n";
    let detected = detect(&bytes[..], Some(UTF_8)).unwrap();
    let given = read_all(&mut Table::open(&bytes[..], detected, None).unwrap());
    assert_eq!(given, [(2, Err(RowProblem::Encoding { encoding: "UTF-8" })), row(3, &["2", "ok"])]);
    assert_eq!(found(bytes), [row(2, &["1", "café ÿ"]), row(3, &["2", "ok"])]);
}

#[test]
fn an_unclosed_quote_names_the_line_in_which_it_opens() {
    for (text, begins, line, last_line) in [
        ("id,title\n1,\"open\n2,x\n", 2, 2, 3),
        ("id,title\n1,\"open\n2,x", 2, 2, 3),
        ("id,title\n1,\"open", 2, 2, 2),
        ("id,title\n\"a\nb\nc\",\"open\n2,x\n3,y\n", 2, 4, 6),
        ("id,title\n\"a\nb\n\",x,\"c\nd\n\n", 2, 4, 6),
        ("id,title\n\"\n\"\"\n", 2, 2, 3),
    ] {
        assert_eq!(found(text.as_bytes()), [(begins, Err(RowProblem::UnclosedQuote { line, last_line }))], "{text:?}");
    }
    assert_eq!(
        RowProblem::UnclosedQuote { line: 6, last_line: 9 }.to_string(),
        "the quote that opens in line 6 is not closed, so all lines up to 9 belong to this record"
    );
}

#[test]
fn a_record_that_is_too_large_is_rejected_and_the_next_one_read() {
    let largest = MAX_RECORD_BYTES - b"1,\n".len();
    let line = |length: usize| format!("1,{}\n", "x".repeat(length));
    let lines = format!("line,\n\"\"{}\"\"\n", "y".repeat(2_000));
    let quoted = |length: usize| format!("1,\"{}\"\n", lines.repeat(length / lines.len()));
    let count = |length: usize| 1 + (length / lines.len()) as u64 * 2;
    for (record, is_too_large, lines) in [
        (line(largest), false, 1),
        (line(largest + 1), true, 1),
        (line(largest + 3 * PART), true, 1),
        (quoted(largest / 2), false, count(largest / 2)),
        (quoted(largest + 3 * PART), true, count(largest + 3 * PART)),
    ] {
        let text = format!("id,title\n{record}2,x\n");
        let text_utf_16 = if is_too_large && lines > 1 { utf_16(&text, u16::to_be_bytes) } else { Vec::new() };
        let mut files = vec![(text.as_bytes(), UTF_8, 1)];
        if !text_utf_16.is_empty() {
            files.push((&text_utf_16, UTF_16BE, 2));
        }
        for (bytes, encoding, width) in files {
            let detected = Detected { encoding, bom_length: 0, evidence: Evidence::Given };
            let mut table = Table::open(bytes, detected, None).unwrap();
            match table.read().unwrap().unwrap() {
                Item::Row(row) => assert!(!is_too_large && row.cell(1).len() <= largest),
                Item::Rejected(rejected) => {
                    assert_eq!(rejected.problem, RowProblem::TooLarge { last_line: 1 + lines });
                    assert!(is_too_large && rejected.original.is_none());
                    let span = 9 * width..(9 + record.len() as u64) * width;
                    assert_eq!(rejected.place, Place { line: 2, span });
                }
            }
            assert!(table.record.original.capacity() <= 3 * MAX_RECORD_BYTES, "{}", table.record.original.capacity());
            assert_eq!(read_all(&mut table), [row(2 + lines, &["2", "x"])]);
        }
    }
    // A quote that is never closed.
    let lines = MAX_RECORD_BYTES / 100;
    let mut table = open_owned(format!("id,title\n1,\"{}", format!("{}\n", "x".repeat(200)).repeat(lines)));
    let last_line = 1 + lines as u64;
    assert_eq!(read_all(&mut table), [(2, Err(RowProblem::TooLarge { last_line }))]);
}

fn open_owned(text: String) -> Table<io::Cursor<String>> {
    let detected = Detected { encoding: UTF_8, bom_length: 0, evidence: Evidence::Valid };
    Table::open(io::Cursor::new(text), detected, None).unwrap()
}

#[test]
fn a_file_without_a_usable_header_is_refused() {
    let refused = |bytes: &[u8]| open(bytes).err().unwrap().to_string();
    for (bytes, message) in [
        (&b""[..], "the file is empty"),
        (b"\xef\xbb\xbf\r\n \n", "the file is empty"),
        (b"sep=;\n", "the file is empty"),
        (
            b"Post Title,id,post_title\n",
            "the columns `Post Title` and `post_title` have the same name: rename or remove one of them",
        ),
        (b"id,ti\0tle\n", "the header in line 1 cannot be read: the record has a NUL character"),
        (
            b"\n\"id,title\n1,x\n",
            "the header in line 2 cannot be read: the quote that opens in line 2 is not closed, so all lines up to 3 belong to this record",
        ),
        (b"\xef\xbb\xbfid,\xff\n", "the header in line 1 cannot be read: the record has bytes that are no UTF-8"),
    ] {
        assert_eq!(refused(bytes), message);
    }
    assert_eq!(refused(",".repeat(500).as_bytes()), "the file has 501 columns: more than 500");
    assert_eq!(
        refused("x".repeat(MAX_RECORD_BYTES + 1).as_bytes()),
        "the header in line 1 cannot be read: the record is larger than 4 MB, up to line 1"
    );
    assert!(open(",".repeat(499).as_bytes()).is_ok());
}

#[test]
fn a_given_delimiter_is_stronger_than_the_files() {
    let bytes = b"sep=;\nid,a;title\n1,2\n";
    let detected = detect(&bytes[..], None).unwrap();
    let mut table = Table::open(&bytes[..], detected, Some(b',')).unwrap();
    assert_eq!(table.header().names(), ["id", "a;title"]);
    assert_eq!(read_all(&mut table), [row(3, &["1", "2"])]);
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk failed"))
        }
    }
    let detected = Detected { encoding: UTF_8, bom_length: 0, evidence: Evidence::Valid };
    assert_eq!(Table::open(Broken, detected, None).err().unwrap().to_string(), "disk failed");
    let rows = "1\n".repeat(100_000);
    let mut table = Table::open(b"id\n".chain(rows.as_bytes()).chain(Broken), detected, None).unwrap();
    let error = loop {
        match table.read() {
            Ok(item) => assert!(item.is_some()),
            Err(error) => break error,
        }
    };
    assert_eq!(error.to_string(), "disk failed");
}

#[test]
fn rejected_records_with_the_head_are_a_file_of_the_same_kind() {
    for bytes in [
        b"sep=;\r\n\r\nid;title\r\n1;x\r\n2\r\n3;y".to_vec(),
        utf_16("\u{feff}id,\"ti\ntle\"\n1,x\n2\n3,y", u16::to_le_bytes),
    ] {
        let mut table = open(&bytes).unwrap();
        let mut rejected = table.head().to_vec();
        while let Some(item) = table.read().unwrap() {
            if let Item::Rejected(row) = item {
                rejected.extend_from_slice(row.original.unwrap());
            }
        }
        let again = found(&rejected);
        assert_eq!(
            again.iter().map(|(_, row)| row.clone()).collect::<Vec<_>>(),
            [Err(RowProblem::CellCount { expected: 2, found: 1 })]
        );
    }
}

/// Bytes of which tables are made, and some others.
fn csv_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "1", ",", ";", "\t", "|", "\"", "\"\"", "\n", "\r\n", "\r", " ", "\n\n"])
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::sample::select(vec!["\0", "ü", "\u{feff}", "sep=;\n", "a,b\n", "ਊ"]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..3),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// No bytes make a table panic, and each byte belongs to the head, to a record or to a blank line.
    #[test]
    fn every_byte_belongs_to_one_record(
        bytes in csv_bytes(),
        given in prop::sample::select(vec![None, Some(UTF_8), Some(UTF_16LE), Some(UTF_16BE), Some(SHIFT_JIS)]),
        delimiter in prop::sample::select(vec![None, Some(b','), Some(b'|')]),
    ) {
        let detected = detect(&*bytes, given).unwrap();
        let Ok(mut table) = Table::open(&*bytes, detected, delimiter) else { return Ok(()) };
        let is_blank = |start: u64, end: u64| {
            bytes[start as usize..end as usize].iter().all(|byte| matches!(byte, b' ' | b'\r' | b'\n' | 0))
        };
        let mut end = None;
        let mut last_line = 0;
        while let Some(item) = table.read().unwrap() {
            let (place, original) = match item {
                Item::Row(row) => (row.place, row.original),
                Item::Rejected(row) => (row.place, row.original.unwrap()),
            };
            prop_assert_eq!(original, &bytes[place.span.start as usize..place.span.end as usize]);
            prop_assert!(end.is_none_or(|end| is_blank(end, place.span.start)));
            prop_assert!(!original.is_empty() && place.line > last_line);
            (end, last_line) = (Some(place.span.end), place.line);
        }
        prop_assert!(end.is_none_or(|end| is_blank(end, bytes.len() as u64)));
    }

    /// What a CSV writer writes is read as it was.
    #[test]
    fn written_records_are_read(
        rows in prop::collection::vec(prop::collection::vec("[a-c,;|\"\t\r\n 'ü😀=]{0,6}", 3), 0..8),
        is_crlf: bool,
        encode in prop::sample::select(vec![0, 1, 2]),
    ) {
        let terminator = if is_crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mut writer = csv::WriterBuilder::new().terminator(terminator).from_writer(Vec::new());
        writer.write_record(["one", "two", "three"]).unwrap();
        for row in &rows {
            writer.write_record(row).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let bytes = match encode {
            0 => text.into_bytes(),
            1 => utf_16(&format!("\u{feff}{text}"), u16::to_le_bytes),
            _ => utf_16(&format!("\u{feff}{text}"), u16::to_be_bytes),
        };
        let read: Vec<_> = found(&bytes).into_iter().map(|(_, row)| row.unwrap()).collect();
        prop_assert_eq!(read, rows);
    }
}
