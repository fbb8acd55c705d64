//! The keyboard shortcuts of the inbox. The page and its script take them from this table.

/// A key and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortcut {
    /// The key, as it is typed.
    pub(crate) key: &'static str,
    /// What the script does. `focus-…` puts the focus on the control with the key.
    pub(crate) action: &'static str,
    /// The key of its description.
    pub(crate) label: &'static str,
}

/// All shortcuts, as they are listed.
pub(crate) const SHORTCUTS: [Shortcut; 6] = [
    Shortcut { key: "j", action: "next", label: "shortcut-next" },
    Shortcut { key: "k", action: "previous", label: "shortcut-previous" },
    Shortcut { key: "x", action: "tick", label: "shortcut-tick" },
    Shortcut { key: "m", action: "focus-move", label: "shortcut-move" },
    Shortcut { key: "/", action: "focus-search", label: "shortcut-search" },
    Shortcut { key: "?", action: "help", label: "shortcut-help" },
];

/// Returns the key of an action.
pub(crate) fn key(action: &str) -> Option<&'static str> {
    SHORTCUTS.iter().find(|shortcut| shortcut.action == action).map(|shortcut| shortcut.key)
}

/// Returns the table for the script: keys and actions, separated by spaces.
pub(crate) fn table() -> String {
    SHORTCUTS.map(|shortcut| format!("{} {}", shortcut.key, shortcut.action)).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_does_one_thing() {
        for (at, shortcut) in SHORTCUTS.iter().enumerate() {
            assert_eq!(SHORTCUTS.iter().position(|other| other.key == shortcut.key), Some(at));
            assert_eq!(key(shortcut.action), Some(shortcut.key));
            assert!(!shortcut.key.contains(' ') && !shortcut.action.contains(' '));
        }
        assert_eq!(key("unknown"), None);
        assert_eq!(table(), "j next k previous x tick m focus-move / focus-search ? help");
    }

    #[test]
    fn the_script_knows_every_action() {
        let script = include_str!("../../../assets/enhance.js");
        for shortcut in SHORTCUTS {
            let action = if shortcut.action.starts_with("focus-") { "focus-" } else { shortcut.action };
            assert!(script.contains(&format!("\"{action}\"")), "{action}");
        }
    }
}
