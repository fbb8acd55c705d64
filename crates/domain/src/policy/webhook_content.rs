//! What a webhook gets of an event.
//!
//! Without private feature requests, a webhook gets nothing that concerns one: as the subject, or as the other side of
//! a merge. Two exceptions keep copies right: it learns that a feature request has become private, and one that has
//! become public is new to it.

use crate::model::webhook::{Inclusion, WebhookFormat};
use crate::model::webhook_event::{EventKind, StoredEvent};

/// The name of the field that hides a feature request, as in [`crate::model::webhook_event::EventDetails::changed`].
const PRIVATE: &str = "private";

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// The kind as which it is sent.
    pub kind: EventKind,
    pub shape: Shape,
}

/// How much of the records is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Whole,
    /// Only that the feature request with this ID is private now.
    BecamePrivate,
}

/// Returns what a webhook of this format gets of an event, or `None` if it gets nothing. Which kinds it wants is
/// another matter ([`crate::model::webhook::Webhook::wants`]).
#[must_use]
pub fn content_for(event: &StoredEvent, format: WebhookFormat, includes: Inclusion) -> Option<Content> {
    let content = if includes.private { whole(event.kind) } else { public_content(event)? };
    (format.has(content.kind) && has_records(event)).then_some(content)
}

const fn whole(kind: EventKind) -> Content {
    Content { kind, shape: Shape::Whole }
}

/// Returns what is sent without private feature requests and notes.
fn public_content(event: &StoredEvent) -> Option<Content> {
    let kind = event.kind;
    let changes_visibility =
        kind == EventKind::FeatureRequestUpdated && event.details.changed.iter().any(|field| field == PRIVATE);
    match (changes_visibility, concerns_private(event)) {
        (true, true) => Some(Content { kind, shape: Shape::BecamePrivate }),
        (true, false) => Some(whole(EventKind::FeatureRequestCreated)),
        (false, true) => None,
        (false, false) => (kind != EventKind::ReferenceNoteCreated).then_some(whole(kind)),
    }
}

/// Whether the subject of an event is private, or the other side of a merge.
fn concerns_private(event: &StoredEvent) -> bool {
    let mentioned = [&event.details.source, &event.details.deleted];
    event.snapshot.feature_request.as_ref().is_some_and(|request| request.private)
        || mentioned.into_iter().flatten().any(|request| request.private)
}

/// Whether all records are there that an event of its kind is about. One that was deleted in the same unit of work is
/// not.
fn has_records(event: &StoredEvent) -> bool {
    let (details, snapshot) = (&event.details, &event.snapshot);
    let has_request = snapshot.feature_request.is_some();
    match event.kind {
        EventKind::FeatureRequestCreated | EventKind::FeatureRequestUpdated => has_request,
        EventKind::FeatureRequestMoved => has_request && details.moved.is_some(),
        EventKind::FeatureRequestMerged | EventKind::FeatureRequestUnmerged => has_request && details.source.is_some(),
        EventKind::FeatureRequestDeleted => details.deleted.is_some(),
        EventKind::VoteCreated | EventKind::VoteRemoved => has_request && snapshot.customer.is_some(),
        EventKind::CommentCreated | EventKind::CommentUpdated => has_request && snapshot.comment.is_some(),
        EventKind::CommentDeleted => has_request && details.deleted_comment.is_some(),
        EventKind::ReferenceNoteCreated => has_request && snapshot.reference_note.is_some(),
        EventKind::ChangelogPublished | EventKind::ChangelogUnpublished => snapshot.changelog.is_some(),
        EventKind::WebhookTest => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{CommentId, EventId, FeatureRequestId, WebhookEventId, WebhookId};
    use crate::model::webhook_event::{
        ChangelogSnapshot, CommentSnapshot, EventDetails, EventSnapshot, LinkDetails, MoveDetails, NoteSnapshot,
        PersonSnapshot, RequestSnapshot,
    };
    use crate::usecase::fixtures::{actor, now};
    use uuid::Uuid;

    fn id() -> Uuid {
        Uuid::from_u128(1)
    }

    fn request(private: bool) -> RequestSnapshot {
        RequestSnapshot {
            id: id(),
            tag_number: 3,
            title: "Dark mode".to_owned(),
            description: String::new(),
            status: None,
            track: "Inbox".to_owned(),
            votes_count: 1,
            created_at: 1,
            tags: Vec::new(),
            private,
            author: None,
        }
    }

    fn mention(private: bool) -> LinkDetails {
        LinkDetails { id: FeatureRequestId::new(id()), tag_number: 4, title: "Night mode".to_owned(), private }
    }

    /// An event of this kind with all records of its kind. `private` says it of the subject and of the other side of a
    /// merge.
    fn event(kind: EventKind, private: (bool, bool)) -> StoredEvent {
        let person = || PersonSnapshot { id: id(), name: None, email: "ann@example.com".to_owned() };
        let (mut details, mut snapshot) = (EventDetails::default(), EventSnapshot::default());
        if kind.name().starts_with("changelog.") {
            snapshot.changelog = Some(ChangelogSnapshot {
                id: id(),
                title: "1.2".to_owned(),
                content: "New".to_owned(),
                category: None,
                cover: None,
                published_at: Some(1),
                created_at: 1,
                updated_at: 1,
                feature_requests: Vec::new(),
            });
        } else if kind == EventKind::FeatureRequestDeleted {
            details.deleted = Some(mention(private.0));
        } else if kind != EventKind::WebhookTest {
            snapshot.feature_request = Some(request(private.0));
        }
        match kind {
            EventKind::FeatureRequestMoved => {
                details.moved = Some(MoveDetails {
                    id: EventId::new(id()),
                    from_track: "Inbox".to_owned(),
                    to_track: "Planned".to_owned(),
                    from_status: None,
                    to_status: None,
                    actor_kind: "member".to_owned(),
                    actor_name: "Ann".to_owned(),
                    comment: None,
                    at: 1,
                });
            }
            EventKind::FeatureRequestMerged | EventKind::FeatureRequestUnmerged => {
                details.source = Some(mention(private.1));
            }
            EventKind::VoteCreated | EventKind::VoteRemoved => snapshot.customer = Some(person()),
            EventKind::CommentCreated | EventKind::CommentUpdated => {
                snapshot.comment = Some(CommentSnapshot {
                    id: id(),
                    content: "Yes".to_owned(),
                    customer: Some(person()),
                    member: None,
                    created_at: 1,
                    updated_at: 1,
                });
            }
            EventKind::CommentDeleted => details.deleted_comment = Some(CommentId::new(id())),
            EventKind::ReferenceNoteCreated => {
                snapshot.reference_note = Some(NoteSnapshot {
                    id: id(),
                    body: "Big customer".to_owned(),
                    author: Some(person()),
                    customer: None,
                    created_at: 1,
                });
            }
            EventKind::WebhookTest => details.webhook = Some(WebhookId::new(id())),
            _ => {}
        }
        StoredEvent { id: WebhookEventId::new(id()), kind, actor: actor(), at: now(), details, snapshot }
    }

    fn edited(fields: &[&str], private: bool) -> StoredEvent {
        let mut event = event(EventKind::FeatureRequestUpdated, (private, false));
        event.details.changed = fields.iter().map(|field| (*field).to_owned()).collect();
        event
    }

    /// Addresses change nothing of what is sent.
    fn content(event: &StoredEvent, format: WebhookFormat, private: bool) -> Option<Content> {
        let [without, with] = [false, true].map(|emails| content_for(event, format, Inclusion { private, emails }));
        assert_eq!(without, with);
        without
    }

    /// Kinds whose subject is a feature request.
    fn is_about_request(kind: EventKind) -> bool {
        !matches!(kind, EventKind::ChangelogPublished | EventKind::ChangelogUnpublished | EventKind::WebhookTest)
    }

    fn is_about_merge(kind: EventKind) -> bool {
        matches!(kind, EventKind::FeatureRequestMerged | EventKind::FeatureRequestUnmerged)
    }

    /// Webhooks: nothing that concerns a private feature request without `include_private`, notes only with it, and
    /// chat formats get five kinds.
    #[test]
    fn private_feature_requests_and_notes_are_for_those_who_include_them() {
        for kind in EventKind::ALL {
            for private in [(false, false), (true, false), (false, true), (true, true)] {
                let event = event(kind, private);
                let concerns_private = (is_about_request(kind) && private.0) || (is_about_merge(kind) && private.1);
                let is_public = !concerns_private && kind != EventKind::ReferenceNoteCreated;
                for format in WebhookFormat::ALL {
                    let expected = |is_visible: bool| (is_visible && format.has(kind)).then_some(whole(kind));
                    assert_eq!(content(&event, format, true), expected(true), "{kind:?} {private:?} {format:?}");
                    assert_eq!(content(&event, format, false), expected(is_public), "{kind:?} {private:?} {format:?}");
                }
            }
        }
    }

    /// Webhooks: the two exceptions that keep copies right.
    #[test]
    fn a_change_of_visibility_is_told_to_all() {
        let (updated, created) = (EventKind::FeatureRequestUpdated, EventKind::FeatureRequestCreated);
        let became_private = Content { kind: updated, shape: Shape::BecamePrivate };
        let related: [&[&str]; 3] = [&["private"], &["title", "private"], &["description", "tags", "private"]];
        for fields in related {
            for format in WebhookFormat::ALL {
                let standard = !format.is_chat();
                let (hidden, shown) = (edited(fields, true), edited(fields, false));
                assert_eq!(content(&hidden, format, true), standard.then_some(whole(updated)));
                assert_eq!(content(&shown, format, true), standard.then_some(whole(updated)));
                assert_eq!(content(&hidden, format, false), standard.then_some(became_private));
                // A message in a chat, too: it is new there.
                assert_eq!(content(&shown, format, false), Some(whole(created)), "{fields:?} {format:?}");
            }
        }
        let unrelated: [&[&str]; 3] = [&[], &["title"], &["description", "tags"]];
        for fields in unrelated {
            assert_eq!(content(&edited(fields, true), WebhookFormat::Standard, false), None);
            assert_eq!(content(&edited(fields, false), WebhookFormat::Standard, false), Some(whole(updated)));
            assert_eq!(content(&edited(fields, false), WebhookFormat::Slack, false), None);
        }
        // The details of other kinds are not looked at.
        let mut moved = event(EventKind::FeatureRequestMoved, (true, false));
        moved.details.changed = vec!["private".to_owned()];
        assert_eq!(content(&moved, WebhookFormat::Standard, false), None);
    }

    /// A record that was deleted in the same unit of work is not in the snapshot.
    #[test]
    fn an_event_without_its_records_is_not_sent() {
        let both = |event: &StoredEvent| {
            [false, true].map(|private| content(event, WebhookFormat::Standard, private).is_some())
        };
        for kind in EventKind::ALL {
            let whole = event(kind, (false, false));
            let is_test = kind == EventKind::WebhookTest;
            let without_records = StoredEvent { snapshot: EventSnapshot::default(), ..whole.clone() };
            let needs_records = !is_test && kind != EventKind::FeatureRequestDeleted;
            assert_eq!(both(&without_records), [!needs_records; 2], "{kind:?}");
            let without_request = StoredEvent {
                snapshot: EventSnapshot { feature_request: None, ..whole.snapshot.clone() },
                ..whole.clone()
            };
            let needs_request = is_about_request(kind) && kind != EventKind::FeatureRequestDeleted;
            assert_eq!(both(&without_request), [!needs_request; 2], "{kind:?}");
            let request = whole.snapshot.feature_request.clone();
            let request_alone = StoredEvent {
                details: EventDetails::default(),
                snapshot: EventSnapshot { feature_request: request, ..EventSnapshot::default() },
                ..whole.clone()
            };
            let is_enough =
                is_test || matches!(kind, EventKind::FeatureRequestCreated | EventKind::FeatureRequestUpdated);
            assert_eq!(both(&request_alone), [is_enough; 2], "{kind:?}");
        }
        // The feature request was deleted after it had become public or private.
        for private in [true, false] {
            let gone = StoredEvent { snapshot: EventSnapshot::default(), ..edited(&["private"], private) };
            assert_eq!(both(&gone), [false; 2]);
        }
    }
}
