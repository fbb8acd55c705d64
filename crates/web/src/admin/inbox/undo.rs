//! Taking back what was just done with the selected feature requests.

use std::rc::Rc;

use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::query::admin::FindReversibleChanges;
use roadmap_domain::usecase::undo_changes::{ChangesUndone, REVERSIBLE_FOR, UndoChanges};

use super::Address;
use crate::actions::with_done;
use crate::admin::member;
use crate::context::Context;
use crate::form::Fields;
use crate::once::run_once;
use crate::page::Undo;
use crate::reply::{PageResult, Reply};

/// The parameter with the timestamp of what can be taken back, in milliseconds since 1970.
pub(super) const PARAMETER: &str = "undo";

/// Returns the form that takes back what was just done, beside the notice about it.
pub(super) fn form(context: &Context, address: &Address) -> Option<Undo> {
    let at = parse(context.query.get(PARAMETER))?;
    let is_late = at.plus(REVERSIBLE_FOR) < context.state.http.clock.now();
    (!is_late).then(|| Undo { at: at.millis().to_string(), next: address.path() })
}

fn parse(raw: &str) -> Option<Timestamp> {
    Timestamp::from_millis(raw.parse().ok()?)
}

/// `POST /admin/undo`: takes back what the member did at the time of the field `at`.
pub(crate) async fn undo(context: Rc<Context>, fields: Fields) -> PageResult {
    let (_, member) = member(&context)?;
    let path = Address::of_path(fields.get("next")).path();
    let changes = match parse(fields.get("at")) {
        Some(at) => context.run(&FindReversibleChanges { member: member.id, at }).await?,
        None => Vec::new(),
    };
    if changes.is_empty() {
        return Ok(Reply::see_other(with_done(&path, "undo-late")));
    }
    let landing = move |done: ChangesUndone| landing(&path, done);
    run_once(&context, &fields, UndoChanges { changes }, landing).await
}

fn landing(path: &str, done: ChangesUndone) -> String {
    match done {
        ChangesUndone { undone: 0, .. } => with_done(path, "undone-none"),
        ChangesUndone { undone, kept: 0 } => format!("{}&count={undone}", with_done(path, "undone")),
        ChangesUndone { undone, kept } => format!("{}&count={undone}&kept={kept}", with_done(path, "undone")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_back_and_what_stays_is_counted() {
        for ((undone, kept), expected) in [
            ((3, 0), "/admin?tag=a&done=undone&count=3"),
            ((2, 1), "/admin?tag=a&done=undone&count=2&kept=1"),
            ((0, 3), "/admin?tag=a&done=undone-none"),
        ] {
            assert_eq!(landing("/admin?tag=a", ChangesUndone { undone, kept }), expected);
        }
    }

    #[test]
    fn a_time_that_is_none_has_nothing_to_take_back() {
        for raw in ["", "x", "1.5", "99999999999999999999", "9223372036854775807"] {
            assert_eq!(parse(raw), None, "{raw}");
        }
        assert_eq!(parse("1767225600000").map(Timestamp::millis), Some(1_767_225_600_000));
    }
}
