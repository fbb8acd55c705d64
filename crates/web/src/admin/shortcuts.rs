//! The keyboard shortcuts of the panel. The pages and their script take them from these tables.

use std::rc::Rc;

use roadmap_domain::usecase::set_shortcuts::SetShortcuts;

use crate::actions::{execute, next_path, with_done};
use crate::admin::member;
use crate::context::Context;
use crate::form::Fields;
use crate::reply::{PageResult, Reply};

/// A key and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortcut {
    /// The key, as it is typed.
    pub(crate) key: &'static str,
    /// What the script does. `focus-…` puts the focus on the control with that ID, `press-…` presses the one with the key.
    pub(crate) action: &'static str,
    /// The key of its description.
    pub(crate) label: &'static str,
}

const fn shortcut(key: &'static str, action: &'static str, label: &'static str) -> Shortcut {
    Shortcut { key, action, label }
}

const RECORD_VOTE: Shortcut = shortcut("v", "press-record-vote", "record-vote");
const HELP: Shortcut = shortcut("?", "help", "shortcut-help");

/// The shortcuts of the inbox, as they are listed.
pub(crate) const INBOX: &[Shortcut] = &[
    shortcut("j", "next", "shortcut-next"),
    shortcut("k", "previous", "shortcut-previous"),
    shortcut("x", "tick", "shortcut-tick"),
    shortcut("m", "focus-change", "shortcut-change"),
    shortcut("/", "focus-query", "shortcut-search"),
    RECORD_VOTE,
    HELP,
];

/// The shortcuts of the page of a feature request.
pub(crate) const REQUEST: &[Shortcut] = &[
    shortcut("n", "press-next", "team-next"),
    shortcut("p", "press-previous", "team-previous"),
    shortcut("e", "press-edit", "team-edit"),
    shortcut("c", "focus-content", "your-comment"),
    shortcut("t", "focus-track", "field-track"),
    RECORD_VOTE,
    HELP,
];

/// Returns the key of an action on a page with these shortcuts.
pub(crate) fn key(shortcuts: &[Shortcut], action: &str) -> Option<&'static str> {
    shortcuts.iter().find(|shortcut| shortcut.action == action).map(|shortcut| shortcut.key)
}

/// Returns a table for the script: keys and actions, separated by spaces.
pub(crate) fn table(shortcuts: &[Shortcut]) -> String {
    let pairs: Vec<String> = shortcuts.iter().map(|shortcut| format!("{} {}", shortcut.key, shortcut.action)).collect();
    pairs.join(" ")
}

/// `POST /admin/shortcuts`: the field `shortcuts` is `on` or `off`. It counts in all browsers of the member.
pub(crate) async fn switch(context: Rc<Context>, fields: Fields) -> PageResult {
    let (_, member) = member(&context)?;
    execute(&context, SetShortcuts { member: member.id, on: fields.get("shortcuts") == "on" }).await?;
    let next = next_path(&fields);
    Ok(Reply::see_other(with_done(next.as_ref().map_or("/admin", |next| next.as_str()), "shortcuts")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_does_one_thing() {
        for shortcuts in [INBOX, REQUEST] {
            for (at, shortcut) in shortcuts.iter().enumerate() {
                assert_eq!(shortcuts.iter().position(|other| other.key == shortcut.key), Some(at));
                assert_eq!(key(shortcuts, shortcut.action), Some(shortcut.key));
                assert!(!shortcut.key.contains(' ') && !shortcut.action.contains(' '));
            }
            assert_eq!(key(shortcuts, "unknown"), None);
        }
        let expected = "j next k previous x tick m focus-change / focus-query v press-record-vote ? help";
        assert_eq!(table(INBOX), expected);
    }

    #[test]
    fn the_script_knows_every_action() {
        let script = include_str!("../../assets/enhance.js");
        for shortcut in [INBOX, REQUEST].concat() {
            let kinds = ["focus-", "press-"].into_iter();
            let action = kinds.clone().find(|kind| shortcut.action.starts_with(kind)).unwrap_or(shortcut.action);
            assert!(script.contains(&format!("\"{action}\"")), "{action}");
        }
    }
}
