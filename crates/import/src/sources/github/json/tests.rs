//! Tables of cases for the stream of objects and for the readers of values.

use encoding_rs::SHIFT_JIS;
use proptest::prelude::*;

use super::*;
use crate::encoding::{Evidence, detect};

const SHAPE: Shape = Shape { wrappers: &["data", "nodes"], marks: &["title"] };

/// A reader that returns a few bytes at a time.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(3);
        self.0.read(&mut buffer[..length])
    }
}

/// Reads a file. An object is its line and its text, everything else a sentence.
fn read(bytes: &[u8]) -> Vec<String> {
    let detected = detect(bytes, None).unwrap();
    let collect = |file: Box<dyn Read + '_>| {
        let mut objects = Objects::open(file, detected, SHAPE).unwrap();
        let mut found = Vec::new();
        loop {
            match objects.read() {
                Ok(None) => return found,
                Ok(Some(Item::Object(object))) => {
                    let span = object.place.span.start as usize..object.place.span.end as usize;
                    assert_eq!(&bytes[span], object.original);
                    found.push(format!("{} {}", object.place.line, object.text));
                }
                Ok(Some(Item::Rejected(object))) => {
                    let span = object.place.span.start as usize..object.place.span.end as usize;
                    if let Some(original) = object.original {
                        assert_eq!(&bytes[span], original);
                    } else {
                        assert!(span.len() > MAX_RECORD_BYTES);
                        assert_eq!((bytes[span.start], bytes[span.end - 1]), (b'{', b'}'));
                    }
                    found.push(format!("{} {}", object.place.line, object.problem));
                }
                Ok(Some(Item::NoObject { line })) => found.push(format!("{line} no object")),
                Err(error) => {
                    found.push(error.to_string());
                    return found;
                }
            }
        }
    };
    let found = collect(Box::new(bytes));
    if bytes.len() < 1000 {
        assert_eq!(collect(Box::new(Trickle(bytes))), found);
    }
    found
}

#[test]
fn objects_are_found_in_arrays_pages_and_answers() {
    for (text, expected) in [
        (r#"[{"title":1},{"title":2}]"#, &[r#"1 {"title":1}"#, r#"1 {"title":2}"#][..]),
        ("[\n {\"a\":\n1}\n,\n{}\n]\n", &["2 {\"a\":\n1}", "5 {}"]),
        (r#"[[{"a":1}],[],[[{"b":"]}"}]]]"#, &[r#"1 {"a":1}"#, r#"1 {"b":"]}"}"#]),
        ("{\"title\":1}\n{\"title\":2}\n", &["1 {\"title\":1}", "2 {\"title\":2}"]),
        (r#"[{"a":1}][{"a":2}]"#, &[r#"1 {"a":1}"#, r#"1 {"a":2}"#]),
        (r#"{"x":[1,{"title":0}],"data":{"y":{},"nodes":[{"a":1},null]},"z":"}"}"#, &[r#"1 {"a":1}"#]),
        (r#"{"data":null,"nodes":7}"#, &[]),
        // A mark is stronger than a key of something around.
        (r#"{"data":{"a":1},"title":2}"#, &[r#"1 {"data":{"a":1},"title":2}"#]),
        (r#"{"title":2,"data":[{"a":1}]}"#, &[r#"1 {"title":2,"data":[{"a":1}]}"#]),
        // Texts have no keys.
        (r#"{"a":"\"data\":[","b":["data"]}"#, &[r#"1 {"a":"\"data\":[","b":["data"]}"#]),
        (r#"{"data":[{"a":"\\"}]}"#, &[r#"1 {"a":"\\"}"#]),
        ("[]", &[]),
        (" [ null , null ] ", &[]),
        (r#"[1,"x",true,{"a":1}]"#, &["1 no object", "1 no object", "1 no object", r#"1 {"a":1}"#]),
        // What is inside of an object is for its parser.
        (r#"[{"a":]},{nonsense}]"#, &[r#"1 {"a":]"#, "it is no JSON in line 1"]),
        ("[{nonsense}]", &["1 {nonsense}"]),
    ] {
        assert_eq!(read(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn what_is_no_json_is_refused() {
    for (text, message) in [
        ("", "the file is empty"),
        (" \n", "the file is empty"),
        ("id,title\n", "it is no JSON in line 1"),
        ("\n<html>", "it is no JSON in line 2"),
        ("]", "it is no JSON in line 1"),
        ("[}", "it is no JSON in line 1"),
        (r#"{"data":[],5}"#, "it is no JSON in line 1"),
        (r#"{"data":[] "x" 5}"#, "it is no JSON in line 1"),
        (r#"{"data":}"#, "it is no JSON in line 1"),
        (r#"{"data":[],"x":]}"#, "it is no JSON in line 1"),
        ("\n[", "the file ends inside of what begins in line 2, so it is not complete"),
        ("[\n{\"a\":\"", "the file ends inside of what begins in line 2, so it is not complete"),
        ("[\n\"a", "the file ends inside of what begins in line 1, so it is not complete"),
        ("[nul", "the file ends inside of what begins in line 1, so it is not complete"),
        ("\"a\\\"", "the file ends inside of what begins in line 1, so it is not complete"),
    ] {
        assert_eq!(read(text.as_bytes()), [message], "{text}");
    }
    let detected = Detected { encoding: SHIFT_JIS, bom_length: 0, evidence: Evidence::Given };
    let error = Objects::open(&b"[]"[..], detected, SHAPE).err().unwrap();
    assert_eq!(error.to_string(), "JSON is not read in Shift_JIS: convert the file to UTF-8");
}

#[test]
fn nested_objects_are_rejected_and_nested_arrays_refused() {
    let nested = |levels: usize| format!("{{\"a\":{}1{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    let text = format!("[{},{},{{}}]", nested(63), nested(64));
    let problem = "1 the record is nested deeper than 64 levels";
    assert_eq!(read(text.as_bytes()), [&format!("1 {}", nested(63)), problem, "1 {}"]);
    let arrays = format!("{}{}", "[".repeat(64), "]".repeat(64));
    assert_eq!(read(arrays.as_bytes()), [] as [&str; 0]);
    assert_eq!(read("[".repeat(65).as_bytes()), ["the arrays in line 1 are nested deeper than 64 levels"]);
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(read(format!("{{\"data\":[],\"x\":{deep}}}").as_bytes()), [] as [&str; 0]);
    assert_eq!(read(format!("[{{\"x\":{deep}}}]").as_bytes()), [problem]);
    // Only some objects around others are looked into.
    let data = |levels: usize| format!("{}{{\"title\":1}}{}", "{\"data\":".repeat(levels), "}".repeat(levels));
    assert_eq!(read(data(MAX_WRAPPERS).as_bytes()), ["1 {\"title\":1}"]);
    assert_eq!(read(data(MAX_WRAPPERS + 1).as_bytes()), ["1 {\"data\":{\"title\":1}}"]);
}

#[test]
fn large_objects_are_rejected_unless_they_are_around_others() {
    let half = "x".repeat(MAX_RECORD_BYTES / 2);
    let object = format!("{{\"a\":\"{half}\"}}");
    let fitting = format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_RECORD_BYTES - 8));
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_RECORD_BYTES - 7));
    let too_large = "2 the record is larger than 4 MB".to_owned();
    assert_eq!(read(format!("[\n{large}\n,\n{fitting}]").as_bytes()), [too_large.clone(), format!("4 {fitting}")]);
    // All in all they are larger than a record.
    let objects = [&*object; 4].join(",");
    let expected = vec![format!("1 {object}"); 4];
    assert_eq!(read(format!("{{\"data\":{{\"nodes\":[{objects}]}}}}").as_bytes()), expected);
    assert_eq!(read(format!("{{\"x\":\"{half}\",\"data\":{{\"y\":0,\"nodes\":[{objects}]}}}}").as_bytes()), expected);
    for around in ["title", "x"] {
        assert_eq!(read(format!("\n{{\"{around}\":[{objects}]}}").as_bytes()), std::slice::from_ref(&too_large));
    }
    assert_eq!(
        read(format!("\n{{\"data\":[{objects}").as_bytes())[4..],
        ["the file ends inside of what begins in line 2, so it is not complete"]
    );
}

#[test]
fn all_encodings_of_json_are_read() {
    let text = "[{\"title\":\"Größe 😀\"},\n{\"Ģ\":\"ā\"}]";
    let expected = ["1 {\"title\":\"Größe 😀\"}", "2 {\"Ģ\":\"ā\"}"];
    let utf_16 = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    for bytes in [
        text.as_bytes().to_vec(),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        [&b"\xff\xfe"[..], &utf_16(u16::to_le_bytes)].concat(),
        [&b"\xfe\xff"[..], &utf_16(u16::to_be_bytes)].concat(),
        utf_16(u16::to_le_bytes),
        utf_16(u16::to_be_bytes),
    ] {
        assert_eq!(read(&bytes), expected, "{:?}", &bytes[..4]);
    }
    assert_eq!(read(b"[{\"a\":\"\xfc\"}]"), ["1 {\"a\":\"ü\"}"]);
    assert_eq!(
        read(b"\xef\xbb\xbf[{\"a\":\"\xfc\"},{\"a\":\"\0\"},{}]"),
        ["1 the record has bytes that are no UTF-8", "1 the record has a NUL character", "1 {}"]
    );
    assert_eq!(read(b"\xff\xfe{\0\"\0\x00\xd8\"\0:\x000\0}\0"), ["1 the record has bytes that are no UTF-16LE"]);
}

fn value(object: &str) -> Value<'_> {
    Object::parse(object).unwrap().get("v").unwrap()
}

#[test]
fn values_are_read_leniently() {
    for (written, text, number, flag) in [
        (r#""a""#, Some("a"), None, None),
        (r#""\"\u00fc\ud83d\ude00\n""#, Some("\"ü😀\n"), None, None),
        (r#""a\ud83d\\\ude00b""#, Some("a\u{fffd}\\\u{fffd}b"), None, None),
        (r#""""#, Some(""), None, Some(false)),
        ("12", Some("12"), Some(12), None),
        (r#"" -3 ""#, Some(" -3 "), Some(-3), None),
        ("1.5", Some("1.5"), None, None),
        ("1", Some("1"), Some(1), Some(true)),
        ("99999999999999999999", Some("99999999999999999999"), None, None),
        ("true", Some("true"), None, Some(true)),
        (r#""No""#, Some("No"), None, Some(false)),
        ("[1]", None, None, None),
        (r#"{"a":1}"#, None, None, None),
    ] {
        let object = format!("{{ \"v\" : {written} }}");
        let value = value(&object);
        assert_eq!((value.text().as_deref(), value.whole_number(), value.flag()), (text, number, flag), "{written}");
        assert_eq!(value.as_written(), written);
    }
}

#[test]
fn lists_are_arrays_or_pages() {
    for (written, items, count) in [
        ("[]", Some(&[][..]), 0),
        ("[1, null,{}]", Some(&["1", "null", "{}"]), 3),
        (r#"{"nodes":[1]}"#, Some(&["1"]), 1),
        (r#"{"nodes":[1],"totalCount":5}"#, Some(&["1"]), 5),
        (r#"{"nodes":null,"edges":[{"node":1},{"node":null},{},2]}"#, Some(&["1"]), 1),
        (r#"{"totalCount":"4"}"#, Some(&[]), 4),
        (r#"{"nodes":[1],"totalCount":-5}"#, Some(&["1"]), 1),
        (r#"{"nodes":{}}"#, None, 0),
        ("{}", None, 0),
        ("7", None, 0),
    ] {
        let object = format!("{{\"v\":{written}}}");
        let list = value(&object).list();
        let found = list.as_ref().map(|list| list.items.iter().map(|item| item.as_written()).collect::<Vec<_>>());
        assert_eq!((found.as_deref(), list.map_or(0, |list| list.count())), (items, count), "{written}");
    }
}

#[test]
fn objects_have_members() {
    let object = Object::parse("{\"a\":1, \"b\" : null ,\"\\u0061\":\"x\",\"c\":\"\\\\u0000\"}").unwrap();
    assert_eq!(object.text("a").as_deref(), Some("x"));
    assert_eq!((object.get("b"), object.has("b"), object.has("d")), (None, true, false));
    assert_eq!(object.first(&["d", "b", "c"]).unwrap().0, "c");
    assert_eq!(object.keys().collect::<Vec<_>>(), ["a", "b", "a", "c"]);
    assert!(!object.has_nul("") && !object.is_empty());
    assert!(Object::parse("{}").unwrap().is_empty());
    for (text, has_nul) in [
        ("{\"a\":\"\\u0000\"}", true),
        ("{\"a\":\"\\\\\\u0000\"}", true),
        ("{\"a\":\"\\\\\\\\u0000\"}", false),
        ("{\"a\":[{\"b\\u0000\":1}]}", true),
        ("{\"b\\u0000\":1}", true),
        ("{\"x\":\"\\u0000\"}", false),
    ] {
        assert_eq!(Object::parse(text).unwrap().has_nul("x"), has_nul, "{text}");
    }
    for text in ["", "[]", "{", "{}{}", "{\"a\":nul}", "{\"a\"}", "{a:1}", "{\"a\":1,}", "{\"a\":\"\n\"}"] {
        assert_eq!(Object::parse(text), None, "{text}");
    }
}

proptest! {
    /// The objects of any array are found, whatever is in them.
    #[test]
    fn any_objects_are_found(texts in prop::collection::vec("[a\"\\\\{}\\[\\],:ü\n]{0,20}", 0..6)) {
        let objects: Vec<_> = texts.iter().map(|text| serde_json::json!({ "k": text, "l": [text] }).to_string()).collect();
        let found = read(format!("[{}]", objects.join(",")).as_bytes());
        let expected: Vec<_> = objects.iter().map(|object| format!("1 {object}")).collect();
        prop_assert_eq!(found, expected);
        for (object, text) in objects.iter().zip(&texts) {
            let parsed = Object::parse(object).unwrap();
            let read = parsed.text("k");
            prop_assert_eq!(read.as_deref(), Some(&**text));
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        text in "[\\[\\]{}\",:1a\\\\ndatoes ]{0,60}",
    ) {
        read(&bytes);
        read(text.as_bytes());
    }
}
