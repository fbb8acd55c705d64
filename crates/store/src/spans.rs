//! The spans of statements, within the trace of a request.

use std::fmt::{self, Write};

use diesel::connection::{Instrumentation, InstrumentationEvent};
use roadmap_domain::trace::{self, TRACE_TARGET};
use tracing::Span;
use tracing::field::Empty;

/// Opens a span for each statement of a connection that belongs to a trace. It has the statement's name, and no value.
pub struct StatementSpans {
    system: &'static str,
    /// The running statements, oldest first. There are several if they are sent without waiting for each other.
    running: Vec<(String, Span)>,
}

impl StatementSpans {
    /// Creates the spans of a connection to this database system, named as OpenTelemetry names it.
    #[must_use]
    pub fn new(system: &'static str) -> Self {
        Self { system, running: Vec::new() }
    }
}

impl Instrumentation for StatementSpans {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        match event {
            InstrumentationEvent::StartQuery { query, .. } if !trace::current_span().is_disabled() => {
                let name = Name::of(query);
                let span = tracing::info_span!(
                    target: TRACE_TARGET,
                    "statement",
                    otel.name = name.as_str(),
                    otel.kind = "client",
                    otel.status_code = Empty,
                    db.system.name = self.system,
                    db.query.summary = name.as_str(),
                );
                self.running.push((name, span));
            }
            InstrumentationEvent::FinishQuery { query, error, .. } if !self.running.is_empty() => {
                let name = Name::of(query);
                // The last one: diesel does not report the end of a statement whose parameters cannot be bound.
                if let Some(last) = self.running.iter().rposition(|(running, _)| *running == name) {
                    let (_, span) = self.running.remove(last);
                    if error.is_some() {
                        span.record("otel.status_code", "error");
                    }
                }
            }
            _ => {}
        }
    }
}

/// Receives a statement and keeps its name.
#[derive(Default)]
struct Name(String);

impl Name {
    fn of(statement: impl fmt::Display) -> String {
        let mut name = Self::default();
        // Fails on purpose, see below.
        let _ = write!(name, "{statement}");
        name.0
    }
}

impl Write for Name {
    /// The first text is the whole SQL. The error keeps diesel from formatting the values of the parameters, which follow.
    fn write_str(&mut self, sql: &str) -> fmt::Result {
        self.0 = summary(sql);
        Err(fmt::Error)
    }
}

/// Returns the name of a statement: that of its comment, else its command and its first table.
fn summary(sql: &str) -> String {
    if let Some((name, _)) = sql.strip_prefix("/* ").and_then(|rest| rest.split_once(" */")) {
        return name.to_owned();
    }
    let mut words = sql.split_ascii_whitespace();
    let command = words.next().unwrap_or_default();
    let before_table = match command {
        "SELECT" | "DELETE" => "FROM",
        "INSERT" => "INTO",
        "UPDATE" => "UPDATE",
        _ => return command.to_owned(),
    };
    let is_quote = |character: char| !character.is_ascii_alphanumeric() && character != '_';
    let table =
        if before_table == command { words.next() } else { words.skip_while(|word| *word != before_table).nth(1) };
    match table.map(|table| table.trim_matches(is_quote)) {
        Some(table) if !table.is_empty() => format!("{command} {table}"),
        _ => command.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_named_by_its_comment_or_by_command_and_table() {
        for (sql, name) in [
            ("/* CastVote */ WITH voter AS (SELECT 1) SELECT 2", "CastVote"),
            ("SELECT `votes`.`id` FROM `votes` WHERE id = ?", "SELECT votes"),
            ("SELECT EXISTS (SELECT 1 FROM (\"outbox\" JOIN x))", "SELECT outbox"),
            ("INSERT OR IGNORE INTO `customers` (`id`) VALUES (?)", "INSERT customers"),
            ("UPDATE \"outbox\" SET due_at = $1", "UPDATE outbox"),
            ("DELETE  FROM `outbox`", "DELETE outbox"),
            ("SET roadmap.workspace_id = '01976800'", "SET"),
            ("SELECT 1", "SELECT"),
            ("COMMIT", "COMMIT"),
            ("", ""),
        ] {
            assert_eq!(summary(sql), name, "{sql}");
        }
    }

    #[test]
    fn values_of_parameters_are_not_formatted() {
        struct Secret;
        impl fmt::Display for Secret {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                panic!("a value was formatted");
            }
        }
        assert_eq!(Name::of(format_args!("{} -- binds: {}", "SELECT a FROM b", Secret)), "SELECT b");
    }
}
