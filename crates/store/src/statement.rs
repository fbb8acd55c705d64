//! Statements written in SQL: what the `statement!` macros of both stores have in common.

/// Returns the number of question marks of a statement, each of which is a parameter.
///
/// The wrong number of fields does not compile:
///
/// ```compile_fail
/// const _: () = assert!(roadmap_store::statement::count_placeholders("SELECT ? + ?") == 1);
/// ```
///
/// # Panics
/// The statement has a question mark in a string literal. In a constant, this is a compile error:
///
/// ```compile_fail
/// const COUNT: usize = roadmap_store::statement::count_placeholders("SELECT 'why?'");
/// ```
#[must_use]
pub const fn count_placeholders(sql: &str) -> usize {
    let (mut rest, mut count, mut is_literal) = (sql.as_bytes(), 0, false);
    while let [byte, after @ ..] = rest {
        match *byte {
            b'\'' => is_literal = !is_literal,
            b'?' => {
                assert!(!is_literal, "a question mark in a string literal would become a parameter");
                count += 1;
            }
            _ => {}
        }
        rest = after;
    }
    count
}

/// Whether every brace of a statement begins a parameter with the name of a field: `{workspace}`.
///
/// An unknown parameter does not compile:
///
/// ```compile_fail
/// const _: () = assert!(roadmap_store::statement::has_only_parameters("SELECT {of}", &["at"]));
/// ```
#[must_use]
pub const fn has_only_parameters(sql: &str, fields: &[&str]) -> bool {
    let mut rest = sql.as_bytes();
    while let [byte, after @ ..] = rest {
        if *byte == b'{' {
            let (mut left, mut is_field) = (fields, false);
            while let [field, others @ ..] = left {
                is_field |= begins_with_parameter(rest, field);
                left = others;
            }
            if !is_field {
                return false;
            }
        }
        rest = after;
    }
    true
}

/// Whether a statement has a parameter with the name of this field.
///
/// A field that the statement does not use does not compile:
///
/// ```compile_fail
/// const _: () = assert!(roadmap_store::statement::has_parameter("SELECT {at}", "of"));
/// ```
#[must_use]
pub const fn has_parameter(sql: &str, field: &str) -> bool {
    let mut rest = sql.as_bytes();
    while let [_, after @ ..] = rest {
        if begins_with_parameter(rest, field) {
            return true;
        }
        rest = after;
    }
    false
}

/// Whether the text begins with this name in braces.
const fn begins_with_parameter(text: &[u8], name: &str) -> bool {
    let [b'{', after @ ..] = text else { return false };
    let (mut text, mut name) = (after, name.as_bytes());
    loop {
        match (text, name) {
            ([b'}', ..], []) => return true,
            ([one, text_after @ ..], [other, name_after @ ..]) if *one == *other => {
                (text, name) = (text_after, name_after);
            }
            _ => return false,
        }
    }
}

/// Declares the type of a statement that is prepared once per connection. Diesel's own `sql_query` would plan it again at
/// every execution.
#[macro_export]
macro_rules! declare_statement {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $rust:ty),* } -> $row:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub(crate) struct $name {
            $(pub(crate) $field: $rust,)*
        }

        impl $name {
            /// The beginning of the SQL: the name as a comment. Spans and the database's own statistics show it.
            const COMMENT: &'static str = concat!("/* ", stringify!($name), " */ ");
        }

        impl diesel::query_builder::QueryId for $name {
            type QueryId = Self;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl diesel::query_builder::Query for $name {
            type SqlType = $row;
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_marks_are_counted() {
        for (sql, count) in [("", 0), ("SELECT ? + ?", 2), ("SELECT 'it''s' || ?, 'x'", 1)] {
            assert_eq!(count_placeholders(sql), count, "{sql}");
        }
    }

    #[test]
    #[should_panic(expected = "in a string literal")]
    fn a_question_mark_in_a_literal_is_rejected() {
        let _ = count_placeholders("SELECT ?, 'why?'");
    }

    #[test]
    fn parameters_and_fields_are_compared() {
        let fields = ["at", "at_most"];
        assert!(has_only_parameters("SELECT {at} + {at_most} + {at}", &fields));
        for sql in ["SELECT {a}", "SELECT {at_}", "SELECT {at", "SELECT '{}'", "SELECT {{at}"] {
            assert!(!has_only_parameters(sql, &fields), "{sql}");
        }
        assert!(has_only_parameters("SELECT 1", &[]));
        assert!(has_parameter("SELECT {at_most}", "at_most"));
        for sql in ["SELECT {at_most}", "SELECT at", "SELECT {at", "SELECT { at}", ""] {
            assert!(!has_parameter(sql, "at"), "{sql}");
        }
    }
}
