//! Text of a file as an operator may see it.

/// Returns at most `max` characters of a text from a file, with control and bidirectional characters as U+FFFD, so that it
/// can neither control a terminal nor disguise what it says. A text that is cut ends with `…`.
#[must_use]
pub fn visible(text: &str, max: usize) -> String {
    let is_cut = text.chars().nth(max).is_some();
    let kept = if is_cut { max.saturating_sub(1) } else { max };
    let mut shown: String = text.chars().take(kept).map(|c| if is_hidden(c) { '\u{fffd}' } else { c }).collect();
    if is_cut {
        shown.push('…');
    }
    shown
}

/// Whether a character controls a terminal, breaks a line, or changes the direction of text (Unicode property
/// `Bidi_Control`).
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_is_shown() {
        for (text, max, shown) in [
            ("Dark mode", 9, "Dark mode"),
            ("Dark mode", 8, "Dark mo…"),
            ("\u{1b}[31ma\r\nb\t\u{9b}\0", 80, "\u{fffd}[31ma\u{fffd}\u{fffd}b\u{fffd}\u{fffd}\u{fffd}"),
            ("a\u{202e}gpj.exe\u{2066}\u{200f}", 80, "a\u{fffd}gpj.exe\u{fffd}\u{fffd}"),
            ("a\u{2028}b", 80, "a\u{fffd}b"),
            ("übergrün 😀", 80, "übergrün 😀"),
            ("", 80, ""),
            ("ab", 0, "…"),
        ] {
            assert_eq!(visible(text, max), shown, "{text:?}");
        }
    }
}
