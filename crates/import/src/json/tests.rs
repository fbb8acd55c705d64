//! Tables of cases for elements and their values.

use encoding_rs::SHIFT_JIS;
use proptest::prelude::*;

use super::*;
use crate::encoding::detect;

const LISTS: [&str; 3] = ["posts", "votes", "items"];

/// An element as text: its list, its line, and its text or problem.
fn shown(element: &Element<'_>) -> String {
    let list = element.list.unwrap_or("-");
    let text = element.text.clone().map_or_else(|problem| problem.to_string(), str::to_owned);
    format!("{list} {} {text}", element.line)
}

fn read(bytes: &[u8]) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    read_elements(bytes, detect(bytes, None).unwrap(), &LISTS, &mut |element| {
        found.push(shown(&element));
        if let (Some(original), false) = (element.original, element.is_repaired) {
            assert!(element.text.is_err() || element.text == Ok(std::str::from_utf8(original).unwrap()));
        }
        Ok::<_, JsonError>(true)
    })
    .map_err(|error| error.to_string())?;
    Ok(found)
}

#[test]
fn elements_are_found_in_every_layout() {
    for (text, elements) in [
        ("", &[][..]),
        (" \n", &[]),
        ("[]", &[]),
        (r#"{"posts":[]}"#, &[]),
        (r#"[{"id":1},{"id":2}]"#, &[r#"- 1 {"id":1}"#, r#"- 1 {"id":2}"#]),
        ("{\"a\":1}\n{\"a\":2}\n", &[r#"- 1 {"a":1}"#, r#"- 2 {"a":2}"#]),
        (r#"{"hasMore":false,"posts":[{"id":1}, {"id":2} ]}"#, &[r#"posts 1 {"id":1}"#, r#"posts 1 {"id":2}"#]),
        (
            "{\"posts\":[{\n\"id\":1}],\n\"votes\":[{\"id\":2}],\"other\":[{}]}",
            &["posts 1 {\n\"id\":1}", r#"votes 3 {"id":2}"#],
        ),
        (r#"{"posts":[{"a":1}]}{"posts":[{"a":2}]}"#, &[r#"posts 1 {"a":1}"#, r#"posts 1 {"a":2}"#]),
        (r#"[{"posts":[{"a":1}]},{"posts":[{"a":2}]}]"#, &[r#"posts 1 {"a":1}"#, r#"posts 1 {"a":2}"#]),
        (r#"[[{"a":1}],[{"a":2}],[]]"#, &[r#"- 1 {"a":1}"#, r#"- 1 {"a":2}"#]),
        (r#"{"items":[{"a":1}]}"#, &[r#"- 1 {"a":1}"#]),
        // Pages that a program has kept under a name.
        (r#"{"posts":[{"posts":[{"a":1}]},{"items":[{"a":2}]}]}"#, &[r#"posts 1 {"a":1}"#, r#"posts 1 {"a":2}"#]),
        // A record with an array of its own.
        (r#"[{"id":1,"posts":[{"a":1}]}]"#, &[r#"- 1 {"id":1,"posts":[{"a":1}]}"#]),
        (r#"{"votes":[{"posts":[{"a":1}]}]}"#, &[r#"votes 1 {"posts":[{"a":1}]}"#]),
        (r#"{"posts":{"a":1}}"#, &[r#"- 1 {"posts":{"a":1}}"#]),
        // What is in texts is no structure, and keys may have escapes.
        (r#"{"posts":[{"a":"}]\"[{\\"}]}"#, &[r#"posts 1 {"a":"}]\"[{\\"}"#]),
        (r#"{"\"posts":[1],"posts":[{"a":"\\"}]}"#, &[r#"posts 1 {"a":"\\"}"#]),
        (r#"[1,-2.5e+7,"x",null,true]"#, &["- 1 1", "- 1 -2.5e+7", "- 1 \"x\"", "- 1 null", "- 1 true"]),
    ] {
        assert_eq!(read(text.as_bytes()).unwrap(), elements, "{text}");
    }
}

#[test]
fn a_file_that_is_no_json_is_refused() {
    let nested = |count: usize| format!("{{\"other\":{}{}}}", "[".repeat(count), "]".repeat(count));
    assert!(read(format!("{{\"posts\":[],{}", &nested(63)[1..]).as_bytes()).is_ok());
    for (text, message) in [
        ("title,score", "is no valid JSON in line 1"),
        ("[]\nx", "is no valid JSON in line 2"),
        ("1", "is no valid JSON in line 1"),
        ("[1 2]", "is no valid JSON in line 1"),
        ("[1,]", "is no valid JSON in line 1"),
        ("[,]", "is no valid JSON in line 1"),
        ("[{\"a\":1,}]", "is no valid JSON in line 1"),
        ("[{a:1}]", "is no valid JSON in line 1"),
        ("[{\"a\" 1}]", "is no valid JSON in line 1"),
        ("[{\"a\":}]", "is no valid JSON in line 1"),
        ("[{\"a\":1}\n{\"a\":2}]", "is no valid JSON in line 2"),
        ("[\n{\"a\":\n[1 2]}]", "is no valid JSON in line 3"),
        ("[{\"a\":nul}]", "is no valid JSON in line 1"),
        ("[{\"a\":\"x\ny\"}]", "is no valid JSON in line 1"),
        ("[{\"a\":[}]}]", "is no valid JSON in line 1"),
        ("[{\"a\":\"\\é\"}]", "is no valid JSON in line 1"),
        ("[", "is not whole: it ends in line 1, inside of a value"),
        ("[{\"a\":1},", "is not whole: it ends in line 1, inside of a value"),
        ("[{\"a\":1}", "is not whole: it ends in line 1, inside of a value"),
        ("{\"posts\":[\n{\"a\":\"x", "is not whole: it ends in line 2, inside of a value"),
        ("{\"posts", "is not whole: it ends in line 1, inside of a value"),
        ("{\"posts\":[]", "is not whole: it ends in line 1, inside of a value"),
        (&"[".repeat(100_000), "is nested more than 64 deep in line 1"),
        (&"{\"posts\":[".repeat(100_000), "is nested more than 64 deep in line 1"),
        (&format!("{{\"posts\":[],{}", &nested(64)[1..]), "is nested more than 64 deep in line 1"),
    ] {
        assert_eq!(read(text.as_bytes()).unwrap_err(), message, "{}", &text[..text.len().min(40)]);
    }
}

#[test]
fn an_element_that_cannot_be_read_does_not_end_the_file() {
    let deep = |count: usize| format!("{{\"a\":{}{}}}", "[".repeat(count), "]".repeat(count));
    // The list and the element itself are around the value.
    assert_eq!(read(format!("[{}]", deep(62)).as_bytes()).unwrap(), [format!("- 1 {}", deep(62))]);
    for (element, problem) in [
        (deep(63), "the record is nested more than 64 deep"),
        (
            format!("{{\"a\":{}", "[".repeat(200_000) + &"]".repeat(200_000) + "}"),
            "the record is nested more than 64 deep",
        ),
        (r#"{"a":"x\u0000"}"#.to_owned(), "the record has a NUL character"),
        ("{\"a\":\"x\0\"}".to_owned(), "the record has a NUL character"),
        (
            format!("{{\"a\":\"x\",\n\"b\":\"{}\"}}", "y".repeat(MAX_ELEMENT_BYTES)),
            "the record is larger than 4 MB, up to line 2",
        ),
    ] {
        let found = read(format!("[{element},{{\"a\":1}}]").as_bytes()).unwrap();
        assert_eq!(found[0], format!("- 1 {problem}"));
        assert!(found[1].ends_with(" {\"a\":1}"));
        assert_eq!(found.len(), 2);
    }
    let largest = format!("{{\"a\":\"{}\"}}", "y".repeat(MAX_ELEMENT_BYTES - 8));
    assert_eq!(largest.len(), MAX_ELEMENT_BYTES);
    assert_eq!(read(format!("[{largest}]").as_bytes()).unwrap(), [format!("- 1 {largest}")]);
    // An escaped backslash is no escape.
    assert_eq!(read(br#"[{"a":"\\u0000"}]"#).unwrap(), [r#"- 1 {"a":"\\u0000"}"#]);
}

#[test]
fn a_large_element_is_read_again_from_the_file() {
    let large = format!("{{\"a\":\"{}\"}}", "ü\n".repeat(MAX_ELEMENT_BYTES / 2));
    let text = format!("[\n{large}]");
    let utf_16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for bytes in [text.into_bytes(), utf_16] {
        let encoding = detect(&*bytes, None).unwrap();
        let input = Input::from_bytes("posts.json", bytes.clone());
        let mut span = 0..0;
        read_elements(&*bytes, encoding, &LISTS, &mut |element| {
            assert!(element.original.is_none());
            span = element.span;
            Ok::<_, JsonError>(true)
        })
        .unwrap();
        let mut copy = String::new();
        reopen(&input, encoding, &span).unwrap().read_to_string(&mut copy).unwrap();
        assert!(copy == large);
    }
}

#[test]
fn halves_of_characters_are_replaced() {
    for (text, repaired) in [
        (r#"{"a":"\ud83d\ude00 \u00fc"}"#, None),
        (r#"{"a":"\ud83d"}"#, Some(r#"{"a":"\ufffd"}"#)),
        (r#"{"a":"\ude00\ud83d"}"#, Some(r#"{"a":"\ufffd\ufffd"}"#)),
        (r#"{"a":"\ud83d\ud83d\ude00"}"#, Some(r#"{"a":"\ufffd\ud83d\ude00"}"#)),
        (r#"{"a":"\\ud83d"}"#, None),
    ] {
        let mut found = 0;
        read_elements(text.as_bytes(), detect(text.as_bytes(), None).unwrap(), &LISTS, &mut |element| {
            assert_eq!(element.text, Ok(repaired.unwrap_or(text)));
            assert_eq!((element.is_repaired, element.original), (repaired.is_some(), Some(text.as_bytes())));
            assert!(Object::parse(element.text.unwrap()).unwrap().get("a").text().is_some());
            found += 1;
            Ok::<_, JsonError>(true)
        })
        .unwrap();
        assert_eq!(found, 1);
    }
}

#[test]
fn every_encoding_is_read() {
    let text = r#"[{"a":"Über 😀"}]"#;
    let element = r#"- 1 {"a":"Über 😀"}"#;
    let bom = "\u{feff}".to_owned() + text;
    let units = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    for bytes in [text.into(), bom.into_bytes(), units(u16::to_le_bytes), units(u16::to_be_bytes)] {
        assert_eq!(read(&bytes).unwrap(), [element]);
    }
    assert_eq!(read(b"[{\"a\":\"caf\xe9\"}]").unwrap(), ["- 1 {\"a\":\"café\"}"]);
    let problem = "- 1 the record has bytes that are no UTF-8";
    assert_eq!(read(b"\xef\xbb\xbf[{\"a\":\"\xff\"},{}]").unwrap(), [problem, "- 1 {}"]);
    // In Shift_JIS, a backslash may be the second half of a character.
    let detected = Detected { encoding: SHIFT_JIS, ..detect(&b""[..], None).unwrap() };
    let mut found = Vec::new();
    read_elements(&b"[{\"a\":\"\x83\x5c\"},{\"a\":\"\xfd\"}]"[..], detected, &LISTS, &mut |element| {
        found.push(shown(&element));
        Ok::<_, JsonError>(true)
    })
    .unwrap();
    assert_eq!(found, ["- 1 {\"a\":\"ソ\"}", "- 1 the record has bytes that are no Shift_JIS"]);
    // Longer than what is decoded at a time.
    let long = format!("[{{\"a\":\"{}\"}}]", "ü".repeat(200_000));
    let bytes: Vec<u8> = long.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(read(&bytes).unwrap() == [format!("- 1 {}", &long[1..long.len() - 1])]);
}

#[test]
fn reading_ends_when_there_is_enough() {
    for text in [r#"[{"a":1},{"a":2}"#, r#"{"posts":[{"a":1},x"#, r#"[[{"a":1},"#, r#"{"a":1} x"#] {
        let mut found = 0;
        read_elements(text.as_bytes(), detect(text.as_bytes(), None).unwrap(), &LISTS, &mut |_| {
            found += 1;
            Ok::<_, JsonError>(false)
        })
        .unwrap();
        assert_eq!(found, 1, "{text}");
    }
    let lists = read_elements(
        &br#"{"posts":[],"a":[]}{"votes":[],"posts":[]}"#[..],
        detect(&b""[..], None).unwrap(),
        &LISTS,
        &mut |_| Ok::<_, JsonError>(true),
    );
    assert_eq!(lists.unwrap(), ["posts", "votes"]);
}

#[test]
fn elements_of_arrays_are_listed() {
    let mut listed = Vec::new();
    let text = &br#"{"a":1}[{"a":2},3]{"posts":[{"a":4}]}{"other":[5]}"#[..];
    read_elements(text, detect(&b""[..], None).unwrap(), &LISTS, &mut |element| {
        listed.push(element.is_listed);
        Ok::<_, JsonError>(true)
    })
    .unwrap();
    assert_eq!(listed, [false, true, true, true, false]);
}

#[test]
fn a_file_that_breaks_off_is_an_error() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk failed"))
        }
    }
    for (encoding, bytes) in [(encoding_rs::UTF_8, &b"["[..]), (encoding_rs::UTF_16LE, b"[\0")] {
        let detected = Detected { encoding, ..detect(&b""[..], None).unwrap() };
        let error =
            read_elements(bytes.chain(Broken), detected, &LISTS, &mut |_| Ok::<_, JsonError>(true)).unwrap_err();
        assert_eq!(error.to_string(), "cannot be read: disk failed");
    }
}

#[test]
fn values_are_read_as_what_they_are_asked_for() {
    let object = Object::parse(
        r#"{"text":"a\nb","plain":"a","number":12.50,"yes":true,"null":null,"array":[1,"x"],"object":{"a":{"b":1}},"twice":1,"twice":2,"k\u0065y":3}"#,
    )
    .unwrap();
    for (key, text, shown) in [
        ("text", Some("a\nb"), "a\nb"),
        ("plain", Some("a"), "a"),
        ("number", Some("12.50"), "12.50"),
        ("yes", Some("true"), "true"),
        ("null", None, "null"),
        ("array", None, r#"[1,"x"]"#),
        ("object", None, r#"{"a":{"b":1}}"#),
        ("twice", Some("2"), "2"),
        ("key", Some("3"), "3"),
        ("missing", None, ""),
    ] {
        let value = object.get(key);
        assert_eq!((value.text().as_deref(), &*value.shown()), (text, shown), "{key}");
        assert_eq!(value.is_null(), ["null", "missing"].contains(&key), "{key}");
        assert_eq!(value.array().is_some(), key == "array", "{key}");
        assert_eq!(value.object().is_some(), key == "object", "{key}");
        assert_eq!(object.has(key), key != "missing", "{key}");
    }
    let values: Vec<_> = object.get("array").array().unwrap().map(Value::raw).collect();
    assert_eq!(values, ["1", "\"x\""]);
    assert_eq!(object.get("object").object().unwrap().entries().next().unwrap().0, "a");
    assert!(Object::parse("[]").is_none() && Object::parse("null").is_none());
}

proptest! {
    #[test]
    fn any_file_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    /// All elements are found, and each is where it says.
    #[test]
    fn elements_are_parts_of_the_file(text in "[\\[\\]{}\",:\\\\a1u0d8 \n]{0,60}|(\\[(\\{\"a\":[0-9]\\},?)*\\])*") {
        let bytes = text.as_bytes();
        let mut count = 0;
        let result = read_elements(bytes, detect(bytes, None).unwrap(), &LISTS, &mut |element| {
            let (start, end) = (element.span.start as usize, element.span.end as usize);
            assert_eq!(element.original, Some(&bytes[start..end]));
            assert_eq!(element.line as usize, 1 + bytes[..start].iter().filter(|byte| **byte == b'\n').count());
            count += 1;
            Ok::<_, JsonError>(true)
        });
        // What is JSON by another parser is JSON here too.
        if let Ok(values) = serde_json::from_str::<Vec<serde_json::Value>>(&text) {
            prop_assert!(result.is_ok());
            prop_assert!(count == values.len() || values.iter().any(serde_json::Value::is_array));
        }
    }
}
