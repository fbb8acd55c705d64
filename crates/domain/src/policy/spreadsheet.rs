//! Cells of files for spreadsheets, which run what looks like a formula.

/// Characters with which a formula begins. Some programs also take the full-width ones.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// Characters before which a cell is guarded at its beginning, too.
const CELL_START: [char; 2] = ['\t', '\r'];

/// Returns a text as a quoted cell of a file of comma-separated values (RFC 4180).
///
/// A formula begins with an apostrophe, so that it is a text. That is also so within the cell where a program could begin a
/// new cell: German and French ones separate by semicolons, and pasted text by tabs.
#[must_use]
pub fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len() + 2);
    cell.push('"');
    if text.starts_with(CELL_START) {
        cell.push('\'');
    }
    for part in text.split_inclusive([';', '\t', '\r', '\n']) {
        if part.trim_start().starts_with(FORMULA) {
            cell.push('\'');
        }
        cell.push_str(&part.replace('"', "\"\""));
    }
    cell.push('"');
    cell
}

/// Takes off the apostrophe that guards the beginning of a cell, as [`cell()`] and other programs write it.
#[must_use]
pub fn unguard(cell: &str) -> &str {
    let is_guarded = |text: &&str| text.starts_with(FORMULA) || text.starts_with(CELL_START);
    cell.strip_prefix('\'').filter(is_guarded).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_guard_is_taken_off() {
        for (cell, text) in [
            ("'=1", "=1"),
            ("''=1", "''=1"),
            ("'+1", "+1"),
            ("'-1", "-1"),
            ("'@here", "@here"),
            ("'\tx", "\tx"),
            ("'\rx", "\rx"),
            ("'＝1", "＝1"),
            ("'＠x", "＠x"),
            ("=1", "=1"),
            ("'quoted'", "'quoted'"),
            ("'", "'"),
            ("", ""),
        ] {
            assert_eq!(unguard(cell), text, "{cell:?}");
        }
    }

    #[test]
    fn cells_are_quoted_and_no_part_of_them_is_a_formula() {
        for (text, expected) in [
            ("", "\"\""),
            ("Ann", "\"Ann\""),
            ("Ann, \"the\" tester", "\"Ann, \"\"the\"\" tester\""),
            ("a\nb", "\"a\nb\""),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@a,b", "\"'@a,b\""),
            ("\tx", "\"'\tx\""),
            ("\u{ff1d}1", "\"'\u{ff1d}1\""),
            ("  =1", "\"'  =1\""),
            ("x;=1+1", "\"x;'=1+1\""),
            ("x; =1;-2", "\"x;' =1;'-2\""),
            ("x\t@a", "\"x\t'@a\""),
            ("x\r\n=1", "\"x\r\n'=1\""),
            ("a=b+c-d@e", "\"a=b+c-d@e\""),
            ("2026-05-28T20:26:40.000Z", "\"2026-05-28T20:26:40.000Z\""),
        ] {
            assert_eq!(cell(text), expected, "{text:?}");
        }
    }
}
