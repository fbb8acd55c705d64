//! Texts that are put together.

use crate::json::{Object, Value};

/// Returns a text with links to its pictures after it, and whether there are some that cannot be linked to.
pub(super) fn with_pictures(text: &str, pictures: Value<'_>) -> (String, bool) {
    let mut whole = text.to_owned();
    let mut has_bad = !pictures.is_null() && pictures.array().is_none();
    for picture in pictures.array().into_iter().flatten() {
        let Some(url) = picture.text().map(|url| url.trim().to_owned()).filter(|url| is_web_address(url)) else {
            has_bad |= !picture.is_null();
            continue;
        };
        if !whole.trim().is_empty() {
            whole.push_str("\n\n");
        }
        whole.push_str(&format!("<{url}>"));
    }
    (whole, has_bad)
}

/// Whether a text is an address that can stand between `<` and `>`.
fn is_web_address(text: &str) -> bool {
    let scheme = text.split_once("://").filter(|(_, rest)| !rest.is_empty()).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '\\'))
}

/// Returns the time that is planned and the fields of one's own as lines. `None` if there are none.
pub(super) fn own_fields(object: &Object<'_>) -> Option<String> {
    let mut lines = Vec::new();
    let eta = object.get("eta");
    if !eta.is_null() && !eta.shown().trim().is_empty() {
        lines.push(format!("ETA: {}", eta.shown().trim()));
    }
    let custom = object.get("customFields");
    let mut add = |name: &str, value: Value<'_>| {
        let value = value.array().map_or_else(
            || value.shown().trim().to_owned(),
            |values| values.map(|value| value.shown().trim().to_owned()).collect::<Vec<_>>().join(", "),
        );
        if !value.is_empty() && value != "null" {
            lines.push(format!("{}: {value}", name.trim()));
        }
    };
    if let Some(fields) = custom.array() {
        for field in fields.filter_map(Value::object) {
            let name = [field.get("name"), field.get("label"), field.get("id")].into_iter().find_map(Value::text);
            add(name.as_deref().unwrap_or("Field"), field.get("value"));
        }
    } else if let Some(fields) = custom.object() {
        for (name, value) in fields.entries() {
            add(name, value);
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the number of votes of a post: 0 if there is none, and what is below 0 as it is. `None` if it is no whole number.
pub(super) fn score(value: Value<'_>) -> Option<i64> {
    if value.is_null() {
        return Some(0);
    }
    let text = value.text()?;
    let float = || text.trim().parse::<f64>().ok().filter(|number| number.fract() == 0.0 && number.abs() < 1e15);
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of at most 15 digits")]
    let whole = || float().map(|number| number as i64);
    crate::sources::csv::values::count(&text).or_else(whole)
}

/// Returns a count of something that has no place here, such as reactions: a number, or the sum of an object's numbers.
pub(super) fn amount(value: Value<'_>) -> u64 {
    let number = |value: Value<'_>| value.text().and_then(|text| text.parse::<u32>().ok()).map_or(0, u64::from);
    value.object().map_or_else(|| number(value), |object| object.entries().map(|(_, value)| number(value)).sum())
}

/// Returns how many records of other programs are linked: the values of all arrays `linked…` in objects of a post.
pub(super) fn linked(object: &Object<'_>) -> u64 {
    let programs =
        object.entries().filter(|(_, value)| value.raw().contains("\"linked")).filter_map(|(_, value)| value.object());
    let count = |program: Object<'_>| {
        let lists =
            program.entries().filter(|(key, _)| key.starts_with("linked")).filter_map(|(_, value)| value.array());
        lists.map(|list| list.count() as u64).sum::<u64>()
    };
    programs.map(count).sum()
}
