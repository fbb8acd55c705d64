//! The output of commands: a table for people, JSON for programs.

use std::borrow::Cow;
use std::io::Write;

use comfy_table::{Table, presets};
use serde::Serialize;
use serde_json::Value;

/// The output format.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct OutputFormat {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// A row of a table.
pub(crate) trait Row: Serialize {
    /// The columns in order, as names of fields.
    const COLUMNS: &[&str];
}

impl OutputFormat {
    /// Whether the format is JSON.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Prints one row: a JSON object, or a table of its fields.
    pub(crate) fn print_one<R: Row>(self, row: &R) -> anyhow::Result<()> {
        if self.json {
            return print_json(row);
        }
        let value = serde_json::to_value(row)?;
        let mut table = table();
        for column in R::COLUMNS {
            table.add_row([(*column).to_owned(), cell(&value, column)]);
        }
        print(&table.trim_fmt())
    }

    /// Prints several rows: a JSON array, or a table.
    pub(crate) fn print_many<R: Row>(self, rows: &[R]) -> anyhow::Result<()> {
        if self.json {
            return print_json(rows);
        }
        let mut table = table();
        table.set_header(R::COLUMNS);
        for row in rows {
            let value = serde_json::to_value(row)?;
            table.add_row(R::COLUMNS.iter().map(|column| cell(&value, column)));
        }
        print(&table.trim_fmt())
    }
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

fn cell(row: &Value, column: &str) -> String {
    let text = match row.get(column) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Some(other) => other.to_string(),
    };
    // Before the widths of the columns are computed.
    printable(&text).into_owned()
}

/// Replaces control characters by U+FFFD, except line breaks and tabs. Titles, names and other texts of strangers may
/// contain sequences that control a terminal.
fn printable(text: &str) -> Cow<'_, str> {
    let is_control = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace(is_control, "\u{fffd}"))
}

/// Prints a value as JSON, which is for programs: its texts stay as they are.
pub(crate) fn print_json<T: Serialize + ?Sized>(value: &T) -> anyhow::Result<()> {
    write_line(&serde_json::to_string_pretty(value)?)
}

/// Prints a text for people, without control characters that a terminal would obey.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    write_line(&printable(text))
}

/// Writes a line to standard output. A closed pipe is not an error.
fn write_line(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        outcome => Ok(outcome?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn control_characters_of_a_terminal_are_replaced() {
        for (text, printed) in [
            ("Dark mode", "Dark mode"),
            ("a\tb\nc", "a\tb\nc"),
            ("a\r\nb", "a\nb"),
            ("a\rb", "a\u{fffd}b"),
            ("\u{1b}[2J\u{7}\u{7f}", "\u{fffd}[2J\u{fffd}\u{fffd}"),
            ("\u{9b}31m\u{80}\u{9f}", "\u{fffd}31m\u{fffd}\u{fffd}"),
            ("ü \u{a0}\u{200d}😀", "ü \u{a0}\u{200d}😀"),
        ] {
            assert_eq!(printable(text), printed);
        }
    }

    #[test]
    fn cells_have_no_control_characters() {
        let row = json!({ "title": "\u{1b}]0;x\u{7}", "tags": ["a\u{9b}", "b"], "status": null, "votes": 3 });
        for (column, text) in [
            ("title", "\u{fffd}]0;x\u{fffd}"),
            ("tags", "a\u{fffd}, b"),
            ("status", "-"),
            ("votes", "3"),
            ("missing", "-"),
        ] {
            assert_eq!(cell(&row, column), text, "{column}");
        }
    }
}
