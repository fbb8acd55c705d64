//! The output of commands: a table for people, JSON for programs.

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
            return print(&serde_json::to_string_pretty(row)?);
        }
        let value = serde_json::to_value(row)?;
        let mut table = table();
        for column in R::COLUMNS {
            table.add_row([(*column).to_owned(), cell(&value, column)]);
        }
        print(&table.to_string())
    }

    /// Prints several rows: a JSON array, or a table.
    pub(crate) fn print_many<R: Row>(self, rows: &[R]) -> anyhow::Result<()> {
        if self.json {
            return print(&serde_json::to_string_pretty(rows)?);
        }
        let mut table = table();
        table.set_header(R::COLUMNS);
        for row in rows {
            let value = serde_json::to_value(row)?;
            table.add_row(R::COLUMNS.iter().map(|column| cell(&value, column)));
        }
        print(&table.to_string())
    }
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

fn cell(row: &Value, column: &str) -> String {
    match row.get(column) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Some(other) => other.to_string(),
    }
}

/// Prints a line. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        outcome => Ok(outcome?),
    }
}
