//! Edits and deletes ideas and comments for the customers who have written them.
//!
//! There is no entry in the audit log, as posts are records of themselves. What others have a part in is not deleted: only
//! the name of its author and the text are.

use async_trait::async_trait;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::event::EventContent;
use crate::model::feature_request::{FeatureRequestRef, RequestLink};
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, CustomerId};
use crate::model::own_post::{OwnComment, OwnRequest};
use crate::model::picture::MAX_IN_POST;
use crate::model::webhook_event::{EventDraft, EventKind};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::add_picture::replace_pictures;
use crate::usecase::edit_feature_request::{EditFeatureRequest, EditUnchangedRequest};
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::indexing::index;
use crate::usecase::records::{deleted_request, load_detail, record_event};

/// Finds a comment for the customer who has written it. It changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct FindOwnComment {
    pub comment: CommentId,
    /// Who asks.
    pub customer: CustomerId,
}

/// Replaces the content of an own comment, public or waiting for approval.
#[derive(Debug, Clone)]
pub struct EditOwnComment {
    pub own: FindOwnComment,
    /// The new content.
    pub content: CleanHtml,
    /// The setting of the portal, as for [`Written::is_editable`](crate::model::own_post::Written::is_editable).
    pub holds_posts: bool,
}

/// Deletes an own comment, and mail about it that was not sent yet.
#[derive(Debug, Clone, Copy)]
pub struct DeleteOwnComment {
    pub own: FindOwnComment,
}

/// Finds an idea for the customer who has written it: itself, also if it is merged. It changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct FindOwnRequest {
    pub request: FeatureRequestRef,
    /// Who asks.
    pub customer: CustomerId,
}

/// Changes title and description of an own idea, unless somebody else has changed it since its author read it.
#[derive(Debug, Clone)]
pub struct EditOwnRequest {
    pub edit: EditUnchangedRequest,
    /// Who asks.
    pub customer: CustomerId,
    /// The setting of the portal, as for [`Written::is_editable`](crate::model::own_post::Written::is_editable).
    pub holds_posts: bool,
}

/// Deletes an own idea. If others have a part in it, only its author and its description are removed from it, unless the
/// author was not asked about that.
#[derive(Debug, Clone, Copy)]
pub struct DeleteOwnRequest {
    pub own: FindOwnRequest,
    /// Whether the question was about the removal of author and description, as [`OwnRequest::is_shared`] said then.
    pub keeps_shared: bool,
}

/// What was done about an own idea.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnRequestDeleted {
    /// It does not exist any more.
    Deleted,
    /// It has neither author nor description any more.
    Anonymous(RequestLink),
}

async fn find_comment(find: FindOwnComment, work: &mut dyn UnitOfWork) -> Result<OwnComment, RoadmapError> {
    let own = work.find_own_comment(find.comment, find.customer).await?;
    own.ok_or(RoadmapError::NotFound(Resource::Comment))
}

async fn find_request(find: FindOwnRequest, work: &mut dyn UnitOfWork) -> Result<OwnRequest, RoadmapError> {
    let own = work.find_own_request(&find.request, find.customer).await?;
    own.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))
}

#[async_trait]
impl Operation for FindOwnComment {
    type Output = OwnComment;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<OwnComment>, RoadmapError> {
        Ok(Performed::new(find_comment(*self, work).await?, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for FindOwnRequest {
    type Output = OwnRequest;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<OwnRequest>, RoadmapError> {
        Ok(Performed::new(find_request(*self, work).await?, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for EditOwnComment {
    type Output = RequestLink;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<RequestLink>, RoadmapError> {
        let own = find_comment(self.own, work).await?;
        if !own.written.is_editable(self.holds_posts, context.now) {
            return Err(RoadmapError::Conflict(Conflict::NotEditable));
        }
        if own.content == self.content {
            return Ok(Performed::new(own.request, Audit::Unchanged));
        }
        let comment = self.own.comment;
        let content =
            replace_pictures(work, ("content", &self.content), &own.content, comment.uuid(), MAX_IN_POST).await?;
        let is_edited = match own.written.is_held {
            true => work.update_held_comment(comment, &content).await?,
            false => work.update_comment(comment, &content, context.now).await?.is_some(),
        };
        if !is_edited {
            // The team has approved, discarded or deleted it just now.
            return Err(RoadmapError::Conflict(Conflict::NotEditable));
        }
        let bytes = storage::row_bytes(&[content.as_str()]);
        let announced =
            (!own.written.is_held).then(|| EventDraft::of_comment(EventKind::CommentUpdated, own.request.id, comment));
        let edited = Performed::new(own.request, Audit::OwnRecord(OwnRecord::Comment));
        Ok(edited.storing(bytes).announcing(announced))
    }
}

#[async_trait]
impl Operation for DeleteOwnComment {
    type Output = RequestLink;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<RequestLink>, RoadmapError> {
        let own = find_comment(self.own, work).await?;
        // In this order: a comment that waits is perhaps being approved, and is public after that.
        let comment = self.own.comment;
        let was_held = work.discard_comment(comment).await?.is_some();
        if !was_held && work.delete_comment(comment).await?.is_none() {
            return Err(RoadmapError::NotFound(Resource::Comment));
        }
        let announced = (!was_held).then(|| EventDraft::of_deleted_comment(own.request.id, comment));
        Ok(Performed::new(own.request, Audit::OwnRecord(OwnRecord::Comment)).announcing(announced))
    }
}

#[async_trait]
impl Operation for EditOwnRequest {
    type Output = RequestLink;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<RequestLink>, RoadmapError> {
        let EditFeatureRequest { request, .. } = self.edit.edit;
        let own = find_request(FindOwnRequest { request, customer: self.customer }, work).await?;
        if !own.is_editable(self.holds_posts, context.now) {
            return Err(RoadmapError::Conflict(Conflict::NotEditable));
        }
        let edited = self.edit.perform(context, work).await?.with_own_record(OwnRecord::FeatureRequest);
        Ok(edited.map(|edited| RequestLink::from(&edited.detail.summary)))
    }
}

#[async_trait]
impl Operation for DeleteOwnRequest {
    type Output = OwnRequestDeleted;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<OwnRequestDeleted>, RoadmapError> {
        // Who votes for it meanwhile waits, or is seen here.
        work.lock_feature_request(&self.own.request).await?;
        let own = find_request(self.own, work).await?;
        let id = own.request.id;
        if !own.is_shared {
            let private = load_detail(work, id).await?.private;
            work.delete_feature_request(id).await?;
            let done = Performed::new(OwnRequestDeleted::Deleted, Audit::OwnRecord(OwnRecord::FeatureRequest));
            return Ok(done.announcing([deleted_request(&own.request, private)]));
        }
        if !self.keeps_shared {
            // Somebody has taken part since the author was asked whether all of it is to be deleted.
            return Err(RoadmapError::Conflict(Conflict::ChangedMeanwhile));
        }
        work.remove_author(id, context.now).await?;
        work.set_pictures(id.uuid(), &[]).await?;
        let fields = ["author", "description"].map(ToOwned::to_owned).to_vec();
        record_event(context, work, id, context.actor.clone(), EventContent::Edited(fields)).await?;
        index(work, own.root.unwrap_or(id)).await?;
        // What a merged one leads to has not changed.
        let announced = own.root.is_none().then(|| EventDraft::of_edit(id, ["description"]));
        let output = OwnRequestDeleted::Anonymous(own.request);
        let done = Performed::new(output, Audit::OwnRecord(OwnRecord::FeatureRequest));
        Ok(done.recording(storage::EVENT_BYTES).announcing(announced))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::admin::Fingerprint;
    use crate::model::comment::parse_content;
    use crate::model::comment::{Comment, ListedComment, PublicAuthor};
    use crate::model::feature_request::{Description, EditableFields, FeatureRequestDetail, SearchableText, Title};
    use crate::model::id::FeatureRequestId;
    use crate::model::own_post::Written;
    use crate::model::timestamp::Timestamp;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::edit_feature_request::FeatureRequestChange;
    use crate::usecase::fixtures::{detail, now, perform, request, summary};
    use uuid::Uuid;

    fn comment() -> FindOwnComment {
        FindOwnComment { comment: CommentId::new(Uuid::from_u128(5)), customer: customer() }
    }

    fn customer() -> CustomerId {
        CustomerId::new(Uuid::from_u128(3))
    }

    fn written(minutes: i64, is_held: bool) -> Written {
        let at = Timestamp::from_millis(now().millis() - minutes * 60_000).unwrap();
        Written { at, is_answered: false, is_held }
    }

    fn unit_of_comment(written: Written) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_find_own_comment().withf(|id, who| (*id, *who) == (comment().comment, customer())).returning(
            move |_, _| {
                let request = RequestLink::from(&summary("Inbox", None, 1));
                Ok(Some(OwnComment { request, content: parse_content(Some("Soon")).unwrap(), written }))
            },
        );
        unit
    }

    fn unit_of_request(written: Written, root: Option<u128>, is_shared: bool) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_find_own_request().withf(|of, who| (*of, *who) == (request(), customer())).returning(
            move |_, _| {
                let request = RequestLink::from(&summary("Inbox", None, 1));
                let root = root.map(|root| FeatureRequestId::new(Uuid::from_u128(root)));
                Ok(Some(OwnRequest { request, root, written, is_shared }))
            },
        );
        unit.expect_lock_feature_request().returning(|_| Ok(Some(summary("Inbox", None, 1))));
        unit
    }

    fn edit(unit: &mut MockUnit, content: &str, holds_posts: bool) -> Result<Performed<RequestLink>, RoadmapError> {
        let content = parse_content(Some(content)).unwrap();
        perform(&EditOwnComment { own: comment(), content, holds_posts }, unit)
    }

    #[test]
    fn a_public_comment_and_one_that_waits_are_edited_where_they_are() {
        for is_held in [false, true] {
            let mut unit = unit_of_comment(written(1, is_held));
            unit.expect_update_comment()
                .withf(|id, content, at| (*id, content.as_str(), *at) == (comment().comment, "<p>Later</p>", now()))
                .times(usize::from(!is_held))
                .returning(|id, content, at| {
                    let comment = Comment { id, content: content.clone(), created_at: at };
                    Ok(Some(ListedComment {
                        comment,
                        author: PublicAuthor::Customer(None),
                        from: None,
                        updated_at: at,
                    }))
                });
            unit.expect_update_held_comment()
                .withf(|id, content| (*id, content.as_str()) == (comment().comment, "<p>Later</p>"))
                .times(usize::from(is_held))
                .returning(|_, _| Ok(true));
            let edited = edit(&mut unit, "<p>Later</p>", is_held).unwrap();
            assert_eq!(edited.audit, Audit::OwnRecord(OwnRecord::Comment));
            assert!(edited.stored_bytes > 0);
            let announced =
                EventDraft::of_comment(EventKind::CommentUpdated, summary("", None, 0).id, comment().comment);
            assert_eq!(edited.events, if is_held { Vec::new() } else { vec![announced] });
        }
    }

    #[test]
    fn an_equal_comment_changes_nothing() {
        assert!(!edit(&mut unit_of_comment(written(1, false)), "Soon", false).unwrap().has_changed());
    }

    #[test]
    fn nothing_is_edited_too_late_after_approval_or_while_it_is_being_decided() {
        // Without an expectation of `update_comment`.
        for (written, holds_posts) in [(written(15, false), false), (written(1, false), true)] {
            let error = edit(&mut unit_of_comment(written), "Later", holds_posts).unwrap_err();
            assert!(matches!(error, RoadmapError::Conflict(Conflict::NotEditable)), "{error}");
            let edit = EditFeatureRequest { request: request(), change: FeatureRequestChange::default() };
            let edit = EditUnchangedRequest { edit, read: Fingerprint::from_form("") };
            let operation = EditOwnRequest { edit, customer: customer(), holds_posts };
            let error = perform(&operation, &mut unit_of_request(written, None, false)).unwrap_err();
            assert!(matches!(error, RoadmapError::Conflict(Conflict::NotEditable)), "{error}");
        }
        let mut unit = unit_of_comment(written(1, true));
        unit.expect_update_held_comment().returning(|_, _| Ok(false));
        let error = edit(&mut unit, "Later", true).unwrap_err();
        assert!(matches!(error, RoadmapError::Conflict(Conflict::NotEditable)), "{error}");
    }

    #[test]
    fn a_comment_is_deleted_whether_it_waits_or_not() {
        for (waits, is_public) in [(true, false), (false, true), (false, false)] {
            let request = |exists: bool| exists.then(|| summary("", None, 0).id);
            // It is too late to edit it.
            let mut unit = unit_of_comment(written(60, waits));
            unit.expect_discard_comment().times(1).returning(move |_| Ok(request(waits)));
            unit.expect_delete_comment().times(usize::from(!waits)).returning(move |_| Ok(request(is_public)));
            match perform(&DeleteOwnComment { own: comment() }, &mut unit) {
                Ok(deleted) => {
                    assert!(waits || is_public);
                    assert_eq!(deleted.audit, Audit::OwnRecord(OwnRecord::Comment));
                    let announced = EventDraft::of_deleted_comment(summary("", None, 0).id, comment().comment);
                    assert_eq!(deleted.events, if waits { Vec::new() } else { vec![announced] });
                }
                Err(error) => {
                    assert_eq!((waits || is_public, error.to_string().as_str()), (false, "Comment does not exist."));
                }
            }
        }
    }

    #[test]
    fn posts_of_others_do_not_exist() {
        let unit = || {
            let mut unit = MockUnit::new();
            unit.expect_find_own_comment().returning(|_, _| Ok(None));
            unit.expect_find_own_request().returning(|_, _| Ok(None));
            unit.expect_lock_feature_request().returning(|_| Ok(None));
            unit
        };
        assert_eq!(perform(&comment(), &mut unit()).unwrap_err().to_string(), "Comment does not exist.");
        assert_eq!(edit(&mut unit(), "Later", false).unwrap_err().to_string(), "Comment does not exist.");
        let delete = DeleteOwnComment { own: comment() };
        assert_eq!(perform(&delete, &mut unit()).unwrap_err().to_string(), "Comment does not exist.");
        let own = FindOwnRequest { request: request(), customer: customer() };
        assert_eq!(perform(&own, &mut unit()).unwrap_err().to_string(), "FeatureRequest does not exist.");
        let delete = DeleteOwnRequest { own, keeps_shared: true };
        assert_eq!(perform(&delete, &mut unit()).unwrap_err().to_string(), "FeatureRequest does not exist.");
        let edit = EditFeatureRequest { request: request(), change: FeatureRequestChange::default() };
        let edit = EditUnchangedRequest { edit, read: Fingerprint::from_form("") };
        let edit = EditOwnRequest { edit, customer: customer(), holds_posts: false };
        assert_eq!(perform(&edit, &mut unit()).unwrap_err().to_string(), "FeatureRequest does not exist.");
    }

    #[test]
    fn an_edited_idea_is_recorded_as_the_author_s() {
        let fields = || EditableFields {
            id: summary("", None, 0).id,
            title: Title::parse("title", "Dark mode").unwrap(),
            description: Description::parse("description", "Eyes").unwrap(),
            tags: Vec::new(),
            private: false,
        };
        let old = fields();
        let read = Fingerprint::of_request(&old.title, old.description.html(), &old.tags, old.private);
        let mut unit = unit_of_request(written(1, false), None, true);
        unit.expect_find_editable_fields().returning(move |_| Ok(Some(fields())));
        unit.expect_save_editable_fields()
            .withf(|fields, _| fields.title.as_str() == "Night mode")
            .times(1)
            .returning(|_, _| Ok(()));
        unit.expect_searchable_text().returning(|_, _| Ok(None));
        unit.expect_delete_search_document().returning(|_| Ok(()));
        unit.expect_insert_event().times(1).returning(|_| Ok(()));
        unit.expect_feature_request_detail().returning(|_| Ok(Some(detail())));
        let title = Some(Title::parse("title", "Night mode").unwrap());
        let change = FeatureRequestChange { title, ..FeatureRequestChange::default() };
        let edit = EditUnchangedRequest { edit: EditFeatureRequest { request: request(), change }, read };
        let edit = EditOwnRequest { edit, customer: customer(), holds_posts: false };
        let edited = perform(&edit, &mut unit).unwrap();
        assert_eq!(edited.audit, Audit::OwnRecord(OwnRecord::FeatureRequest));
        assert_eq!(edited.events, [EventDraft::of_edit(summary("", None, 0).id, ["title"])]);
    }

    #[test]
    fn an_idea_of_nobody_else_is_deleted() {
        for (keeps_shared, private) in [(false, false), (true, true)] {
            let mut unit = unit_of_request(written(60, false), None, false);
            unit.expect_feature_request_detail()
                .returning(move |_| Ok(Some(FeatureRequestDetail { private, ..detail() })));
            unit.expect_delete_feature_request()
                .withf(|id| *id == summary("", None, 0).id)
                .times(1)
                .returning(|_| Ok(()));
            let own = FindOwnRequest { request: request(), customer: customer() };
            let deleted = perform(&DeleteOwnRequest { own, keeps_shared }, &mut unit).unwrap();
            assert_eq!(deleted.output, OwnRequestDeleted::Deleted);
            let request = RequestLink::from(&summary("Inbox", None, 1));
            assert_eq!(deleted.events, [deleted_request(&request, private)]);
        }
    }

    #[test]
    fn of_a_shared_idea_only_author_and_text_are_removed_and_its_root_is_indexed() {
        for root in [None, Some(9)] {
            let mut unit = unit_of_request(written(60, false), root, true);
            let id = summary("", None, 0).id;
            let indexed = root.map_or(id, |root| FeatureRequestId::new(Uuid::from_u128(root)));
            unit.expect_remove_author()
                .withf(move |of, at| (*of, *at) == (id, now()))
                .times(1)
                .returning(|_, _| Ok(()));
            unit.expect_set_pictures().withf(|_, kept| kept.is_empty()).times(1).returning(|_, _| Ok(()));
            unit.expect_insert_event()
                .withf(move |new| {
                    let fields = ["author", "description"].map(ToOwned::to_owned).to_vec();
                    new.request == id && new.event.content == EventContent::Edited(fields)
                })
                .times(1)
                .returning(|_| Ok(()));
            unit.expect_searchable_text().withf(move |of, _| *of == indexed).times(1).returning(|_, _| {
                let title = "Dark mode".to_owned();
                Ok(Some(SearchableText { title, tags: vec![], description: String::new(), merged: vec![] }))
            });
            unit.expect_save_search_document().times(1).returning(|_, _| Ok(()));
            let own = FindOwnRequest { request: request(), customer: customer() };
            let done = perform(&DeleteOwnRequest { own, keeps_shared: true }, &mut unit).unwrap();
            assert!(matches!(done.output, OwnRequestDeleted::Anonymous(request) if request.id == id));
            let announced = EventDraft::of_edit(id, ["description"]);
            assert_eq!(done.events, if root.is_none() { vec![announced] } else { Vec::new() });
        }
    }

    #[test]
    fn who_was_asked_about_an_idea_of_nobody_else_is_asked_again_once_others_take_part() {
        let mut unit = unit_of_request(written(1, false), None, true);
        let own = FindOwnRequest { request: request(), customer: customer() };
        let error = perform(&DeleteOwnRequest { own, keeps_shared: false }, &mut unit).unwrap_err();
        assert!(matches!(error, RoadmapError::Conflict(Conflict::ChangedMeanwhile)), "{error}");
    }
}
