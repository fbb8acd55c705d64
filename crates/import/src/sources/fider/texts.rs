//! The texts of Fider: mentions, and pictures of its own.

use std::borrow::Cow;

use serde::Deserialize;

use super::elements::Text;

/// The end of the alternative text of a picture that Fider keeps, and the beginning of its key.
const PICTURE: &str = "](fider-image:";
/// Letters and digits before the name of a file in a key.
const KEY_PREFIX: usize = 64;

/// Replaces the pictures of a text: `picture` returns what becomes of one with an alternative text and a key.
pub(super) fn replace_pictures<E>(
    text: &str,
    mut picture: impl FnMut(&str, &str) -> Result<String, E>,
) -> Result<Cow<'_, str>, E> {
    let mut replaced = String::new();
    let mut done = 0;
    for (middle, _) in text.match_indices(PICTURE) {
        let (Some(before), Some(after)) = (text.get(done..middle), text.get(middle + PICTURE.len()..)) else {
            continue;
        };
        let alternative = before.rfind("![").and_then(|start| before.get(start + 2..));
        match (alternative.filter(|alternative| !alternative.contains("](")), key(after)) {
            (Some(alternative), Some(key)) => {
                let kept = before.len() - alternative.len() - 2;
                replaced.push_str(before.get(..kept).unwrap_or_default());
                replaced.push_str(&picture(alternative, key)?);
                done = middle + PICTURE.len() + key.len() + 1;
            }
            _ => {
                // What was searched is not searched again.
                replaced.push_str(before);
                done = middle;
            }
        }
    }
    Ok(finish(text, replaced, done))
}

/// Returns the key at the beginning of a text, which a parenthesis closes.
fn key(text: &str) -> Option<&str> {
    let (key, after) = text.split_at_checked(text.find(|c: char| matches!(c, '(' | ')') || c.is_whitespace())?)?;
    after.starts_with(')').then_some(key)
}

/// Replaces `@[Name]`, and `@{"name":"Name"}` of older versions, by `@Name`.
pub(super) fn replace_mentions(text: &str) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Mention {
        name: Text,
    }

    let mut replaced = String::new();
    let mut done = 0;
    for (at, _) in text.match_indices('@') {
        let Some(after) = text.get(at + 1..).filter(|_| at >= done) else { continue };
        let found = if let Some(name) = inside(after, '[', ']') {
            // A link after an at sign is no mention.
            let is_link = after.get(name.len() + 2..).is_some_and(|rest| rest.starts_with('('));
            (!is_link).then(|| (name.trim().to_owned(), name.len()))
        } else if let Some(fields) = inside(after, '{', '}') {
            let mention = serde_json::from_str(&format!("{{{fields}}}"));
            mention.ok().map(|mention: Mention| (mention.name.0.trim().to_owned(), fields.len()))
        } else {
            None
        };
        if let Some((name, length)) = found.filter(|(name, _)| !name.is_empty()) {
            replaced.push_str(text.get(done..=at).unwrap_or_default());
            replaced.push_str(&name);
            done = at + length + 3;
        }
    }
    finish(text, replaced, done)
}

/// Returns what is between brackets at the beginning of a text, in one line and without another opening bracket.
fn inside(text: &str, open: char, close: char) -> Option<&str> {
    let text = text.strip_prefix(open)?;
    let (inside, after) = text.split_at_checked(text.find([open, close, '\n', '\r'])?)?;
    after.starts_with(close).then_some(inside)
}

/// Adds the rest of a text to what was replaced in it.
fn finish(text: &str, mut replaced: String, done: usize) -> Cow<'_, str> {
    if done == 0 {
        return Cow::Borrowed(text);
    }
    replaced.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(replaced)
}

/// Returns the name of the file of a key, such as `attachments/<64 letters and digits>-shot.png`.
pub(super) fn file_name(key: &str) -> &str {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    match name.split_at_checked(KEY_PREFIX) {
        Some((prefix, rest)) if prefix.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            rest.strip_prefix('-').filter(|name| !name.is_empty()).unwrap_or(name)
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn pictures(text: &str) -> Cow<'_, str> {
        let shown = |alternative: &str, key: &str| Ok::<_, Infallible>(format!("<{alternative}|{key}>"));
        let Ok(replaced) = replace_pictures(text, shown);
        replaced
    }

    #[test]
    fn pictures_are_replaced() {
        for (text, replaced) in [
            ("![](fider-image:a/b.png)", "<|a/b.png>"),
            ("see ![The shot](fider-image:a) and\n![](fider-image:b).", "see <The shot|a> and\n<|b>."),
            ("![a] ![b](fider-image:c)", "![a] <b|c>"),
            ("![a](https://x.example) b](fider-image:c)", "![a](https://x.example) b](fider-image:c)"),
            ("![](https://x.example/a.png)", "![](https://x.example/a.png)"),
            ("[a](fider-image:b)", "[a](fider-image:b)"),
            ("![](fider-image:a b) ![](fider-image:c)", "![](fider-image:a b) <|c>"),
            ("![](fider-image:![](fider-image:c)", "![](fider-image:<|c>"),
            ("![](fider-image:", "![](fider-image:"),
            ("![ü](fider-image:ü)ü", "<ü|ü>ü"),
            ("![](fider-image:)", "<|>"),
            ("", ""),
        ] {
            assert_eq!(pictures(text), replaced, "{text}");
        }
        let failed = replace_pictures("![](fider-image:a)", |_, _| Err("full"));
        assert_eq!(failed, Err("full"));
    }

    #[test]
    fn mentions_are_names() {
        for (text, replaced) in [
            ("Yes please, @[Arya Stark] 👍", "Yes please, @Arya Stark 👍"),
            ("@[A]@[Bö]", "@A@Bö"),
            ("@{\"id\":1,\"name\":\"Jon \\\"J\\\" Snow\",\"isNew\":true}, hi", "@Jon \"J\" Snow, hi"),
            ("@{\"name\":\"a@[b]\"}", "@a@[b]"),
            ("@[docs](https://x.example)", "@[docs](https://x.example)"),
            ("@[a\nb] @[] @[ ] @{} @{\"name\":\"\"} @{x} a@[b", "@[a\nb] @[] @[ ] @{} @{\"name\":\"\"} @{x} a@[b"),
            ("@[a @[b]", "@[a @b"),
            ("a@b.example @", "a@b.example @"),
            ("@ü@[ü]", "@ü@ü"),
        ] {
            assert_eq!(replace_mentions(text), replaced, "{text}");
        }
    }

    #[test]
    fn large_texts_take_no_long_time() {
        for part in ["![](fider-image:", "](fider-image:", "![", "@[", "@{", "@[a](", "@{\"name\":"] {
            let text = part.repeat(4 * 1024 * 1024 / part.len());
            assert_eq!(pictures(&text), text);
            assert_eq!(replace_mentions(&text), text);
        }
    }

    #[test]
    fn names_of_files_are_without_the_key() {
        let key = "Q1w2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0x1C2v3B4n5M6q7W8e9R0t1Y2";
        for (text, name) in [
            (format!("attachments/{key}-shot.png"), "shot.png"),
            (format!("attachments/{key}-"), &*format!("{key}-")),
            (format!("attachments/{key}"), key),
            ("attachments/shot.png".to_owned(), "shot.png"),
            ("logo-1.png".to_owned(), "logo-1.png"),
            (String::new(), ""),
        ] {
            assert_eq!(file_name(&text), name, "{text}");
        }
    }
}
