//! Which operations announce events, so that none is forgotten.
//!
//! The executor compares what an operation records with what it announces, in debug builds and so in all tests. An action
//! of the audit log that is not listed here fails.

use crate::model::audit::{Audit, AuditDraft, OwnRecord};
use crate::model::webhook_event::{EventDraft, EventKind};

/// What an operation announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Announces {
    /// At least one event of this kind for each entry.
    Each(EventKind),
    /// An event of any kind.
    Any,
    /// Perhaps: it depends on what it was.
    Perhaps,
    Nothing,
}

/// Returns what operations with this action announce. `None` for an action that is not listed.
fn by_action(action: &str) -> Option<Announces> {
    Some(match action {
        "feature_request.update" | "feature_request.approve" => Announces::Each(EventKind::FeatureRequestUpdated),
        "feature_request.move" => Announces::Each(EventKind::FeatureRequestMoved),
        "feature_request.merge" => Announces::Each(EventKind::FeatureRequestMerged),
        "feature_request.unmerge" => Announces::Each(EventKind::FeatureRequestUnmerged),
        "feature_request.delete" | "feature_request.decline" => Announces::Each(EventKind::FeatureRequestDeleted),
        "comment.update" => Announces::Each(EventKind::CommentUpdated),
        "comment.approve" => Announces::Each(EventKind::CommentCreated),
        "vote.withdraw" => Announces::Each(EventKind::VoteRemoved),
        // A comment that waits for approval was never announced. A changelog may be a draft. Removed texts are those of
        // feature requests and of comments.
        "comment.delete"
        | "changelog.create"
        | "changelog.update"
        | "changelog.publish"
        | "changelog.unpublish"
        | "changelog.delete"
        | "customer.remove_texts"
        | "customer.restore_texts" => Announces::Perhaps,
        // These change many records, or none that events are about.
        "attachment.delete"
        | "customer.block"
        | "customer.erase"
        | "customer.export"
        | "customer.merge"
        | "customer.unblock"
        | "customer.update"
        | "export.create"
        | "feature_request.no_answer_needed"
        | "import.finish"
        | "import.start"
        | "import.undo"
        | "link.create"
        | "link.delete"
        | "link.update"
        | "link_source.create"
        | "link_source.delete"
        | "link_source.update"
        | "mail.retry"
        | "mail.test"
        | "portal.update"
        | "reference_note.delete"
        | "setting.update"
        | "sign_in.link"
        | "subscription.create"
        | "subscription.delete"
        | "synonyms.replace"
        | "tag.delete"
        | "tag.update"
        | "webhook.create"
        | "webhook.delete"
        | "webhook.disable"
        | "webhook.redeliver"
        | "webhook.rotate"
        | "webhook.test"
        | "webhook.update"
        | "workspace.create"
        | "workspace.update" => Announces::Nothing,
        "api_key.create" | "api_key.revoke" | "api_key.rotate" | "lane.create" | "lane.delete" | "lane.update"
        | "member.add" | "member.remove" | "member.role" | "track.create" | "track.delete" | "track.update" => {
            Announces::Nothing
        }
        _ => return None,
    })
}

/// Returns what operations announce that are records of themselves.
fn by_own_record(record: OwnRecord) -> Announces {
    match record {
        OwnRecord::Announcement => Announces::Any,
        // The text of an idea that is merged may be removed, and a comment may wait for approval. A vote may be a name alone.
        // A sign-in may confirm any of them.
        OwnRecord::FeatureRequest | OwnRecord::Vote | OwnRecord::Comment | OwnRecord::Session => Announces::Perhaps,
        OwnRecord::Subscription
        | OwnRecord::Upload
        | OwnRecord::MailSettings
        | OwnRecord::SearchDocument
        | OwnRecord::OwnAccount
        | OwnRecord::SavedView
        | OwnRecord::Shortcuts => Announces::Nothing,
    }
}

/// Whether an operation that records this announces what it must, and nothing if it must not.
#[must_use]
pub fn are_complete(audit: &Audit, events: &[EventDraft]) -> bool {
    let count = |kind| events.iter().filter(|event| event.kind == kind).count();
    let entries: &[AuditDraft] = match audit {
        Audit::Entry(entry) => std::slice::from_ref(entry),
        Audit::Entries(entries) => entries,
        Audit::Unchanged => return events.is_empty(),
        Audit::OwnRecord(record) => {
            return match by_own_record(*record) {
                Announces::Nothing => events.is_empty(),
                Announces::Any => !events.is_empty(),
                Announces::Each(_) | Announces::Perhaps => true,
            };
        }
    };
    entries.iter().all(|entry| match by_action(entry.action) {
        Some(Announces::Each(kind)) => {
            // Several actions have the same kind.
            let of_kind = |other: &&AuditDraft| by_action(other.action) == Some(Announces::Each(kind));
            count(kind) >= entries.iter().filter(of_kind).count()
        }
        Some(Announces::Any | Announces::Perhaps | Announces::Nothing) => true,
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::FeatureRequestId;
    use uuid::Uuid;

    fn event(kind: EventKind) -> EventDraft {
        EventDraft::of_request(kind, FeatureRequestId::new(Uuid::from_u128(1)))
    }

    #[test]
    fn a_forgotten_event_is_noticed() {
        let moved = || Audit::entry("feature_request.move", "feature_request", None);
        let mut twice = moved();
        twice.join(moved());
        for (audit, kinds, expected) in [
            (moved(), vec![EventKind::FeatureRequestMoved], true),
            (moved(), vec![], false),
            (moved(), vec![EventKind::FeatureRequestUpdated], false),
            (twice.clone(), vec![EventKind::FeatureRequestMoved], false),
            (twice, vec![EventKind::FeatureRequestMoved, EventKind::FeatureRequestMoved], true),
            (Audit::Unchanged, vec![], true),
            (Audit::Unchanged, vec![EventKind::VoteCreated], false),
            (Audit::OwnRecord(OwnRecord::Announcement), vec![], false),
            (Audit::OwnRecord(OwnRecord::Announcement), vec![EventKind::ChangelogPublished], true),
            (Audit::OwnRecord(OwnRecord::FeatureRequest), vec![EventKind::FeatureRequestCreated], true),
            (Audit::OwnRecord(OwnRecord::Vote), vec![], true),
            (Audit::OwnRecord(OwnRecord::Session), vec![EventKind::VoteCreated], true),
            (Audit::OwnRecord(OwnRecord::Upload), vec![EventKind::VoteCreated], false),
            (Audit::entry("unheard.of", "x", None), vec![], false),
            (Audit::entry("tag.update", "tag", None), vec![], true),
        ] {
            let events: Vec<_> = kinds.into_iter().map(event).collect();
            assert_eq!(are_complete(&audit, &events), expected, "{audit:?} {events:?}");
        }
    }
}
