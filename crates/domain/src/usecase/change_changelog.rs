//! Edits, publishes, unpublishes and deletes a changelog.

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::admin::Fingerprint;
use crate::model::audit::{Audit, Change};
use crate::model::changelog::{self, Changelog, ChangelogChange, ChangelogDetail, ChangelogState, EditableChangelog};
use crate::model::id::{ChangelogId, WebhookEventId};
use crate::model::mail::Topic;
use crate::model::message::MessageId;
use crate::model::picture::MAX_IN_CHANGELOG;
use crate::model::webhook_event::{EventDraft, EventKind, NewWebhookEvent};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::add_picture::replace_pictures;
use crate::usecase::create_changelog::{ensure_linked_exist, find_cover};
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::notify::{notify_subscribers, notify_subscribers_later};

/// Changes the fields that were sent and keeps the others.
#[derive(Debug, Clone)]
pub struct EditChangelog {
    pub changelog: ChangelogId,
    pub change: ChangelogChange,
}

/// Publishes a changelog now, whether it is a draft or scheduled. A published one keeps its time.
#[derive(Debug, Clone)]
pub struct PublishChangelog {
    pub changelog: ChangelogId,
    /// Whether the voters of its feature requests are notified. They are notified once.
    pub notify_subscribers: bool,
}

/// Makes a changelog a draft again.
#[derive(Debug, Clone, Copy)]
pub struct UnpublishChangelog {
    pub changelog: ChangelogId,
}

/// Deletes a changelog. Its cover is kept until it is swept.
#[derive(Debug, Clone, Copy)]
pub struct DeleteChangelog {
    pub changelog: ChangelogId,
}

/// A changed changelog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogChanged {
    pub detail: ChangelogDetail,
    /// The changed fields.
    pub changes: Vec<Change>,
}

fn missing() -> RoadmapError {
    RoadmapError::NotFound(Resource::Changelog)
}

fn is_public(changelog: &EditableChangelog, context: &OperationContext<'_>) -> bool {
    matches!(changelog.changelog.state(context.now), ChangelogState::Published(_))
}

/// The event of a changelog that is no longer public.
fn unpublished(changelog: ChangelogId) -> EventDraft {
    EventDraft::of_changelog(EventKind::ChangelogUnpublished, changelog)
}

fn time(changelog: &Changelog) -> Value {
    changelog.public_from.map_or(Value::Null, |at| at.to_string().into())
}

fn category(changelog: &Changelog) -> Value {
    changelog.category.map_or(Value::Null, |category| category.name().into())
}

fn changes(old: &EditableChangelog, new: &EditableChangelog) -> Vec<Change> {
    let changed = |field: &str, is: bool| is.then(|| Change::without_values(field));
    [
        Change::between("title", old.changelog.title.as_str(), new.changelog.title.as_str()),
        changed("content", old.changelog.content != new.changelog.content),
        Change::between("category", category(&old.changelog), category(&new.changelog)),
        changed("cover_image", old.changelog.cover != new.changelog.cover),
        changed("feature_request_ids", old.feature_requests != new.feature_requests),
        Change::between("public_from", time(&old.changelog), time(&new.changelog)),
        Change::between("notified", old.is_notified, new.is_notified),
        Change::between("notifies", old.notifies, new.notifies),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Saves a changed changelog and returns it with what it is about. `action` is that of the entry in the audit log.
async fn save(
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
    old: &EditableChangelog,
    mut new: EditableChangelog,
    action: &'static str,
) -> Result<Performed<ChangelogChanged>, RoadmapError> {
    schedule_mail(context, work, old, &new).await?;
    let changes = changes(old, &new);
    if !changes.is_empty() {
        new.changelog.updated_at = context.now;
        work.save_changelog(&new).await?;
    }
    let feature_requests = work.linked_feature_requests(new.changelog.id).await?;
    let audit = Audit::of_changes(action, "changelog", Some(new.changelog.id.uuid()), &changes);
    let detail = ChangelogDetail { changelog: new.changelog, feature_requests };
    Ok(Performed::new(ChangelogChanged { detail, changes }, audit))
}

#[async_trait]
impl Operation for EditChangelog {
    type Output = ChangelogChanged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ChangelogChanged>, RoadmapError> {
        let old = work.find_changelog(self.changelog).await?.ok_or_else(missing)?.at(context.now);
        let change = &self.change;
        let mut new = old.clone();
        if let Some(title) = &change.title {
            new.changelog.title = title.clone();
        }
        if let Some(content) = &change.content {
            let (old, id) = (&old.changelog.content, self.changelog.uuid());
            let text = ("content", content);
            new.changelog.content = replace_pictures(work, text, old, id, MAX_IN_CHANGELOG).await?;
        }
        if let Some(category) = change.category {
            new.changelog.category = category;
        }
        if let Some(cover) = change.cover
            && cover != old.changelog.cover.as_ref().map(|cover| cover.attachment)
        {
            new.changelog.cover = find_cover(work, cover).await?;
        }
        if let Some(linked) = &change.feature_requests {
            ensure_linked_exist(work, linked).await?;
            new.feature_requests.clone_from(linked);
        }
        if let Some(publish_at) = change.publish_at {
            let is_published = matches!(old.changelog.state(context.now), ChangelogState::Published(_));
            match publish_at {
                Some(_) if is_published => return Err(changelog::already_published().into()),
                Some(at) if at <= context.now => return Err(changelog::publication_in_the_past().into()),
                Some(at) => new.changelog.public_from = Some(at),
                None if is_published => {}
                None => new.changelog.public_from = None,
            }
        }
        new.notifies = match (new.changelog.state(context.now), change.notifies) {
            (ChangelogState::Scheduled(_), notifies) => notifies.unwrap_or(old.notifies) && !old.is_notified,
            (_, Some(true)) => return Err(changelog::mail_without_time().into()),
            (_, Some(false) | None) => false,
        };
        let title = change.title.as_ref().map_or("", |title| title.as_str());
        let content = change.content.as_ref().map_or("", |content| content.as_str());
        let links = change.feature_requests.as_ref().map_or(0, Vec::len) as u64;
        let bytes = storage::row_bytes(&[title, content]) + storage::ROW_BYTES.saturating_mul(links);
        Ok(save(context, work, &old, new, "changelog.update").await?.storing(bytes))
    }
}

/// Takes the mail of a publication at a time out of the outbox, or puts it there for the new time. It is due at that time,
/// and reaches those who are subscribed then.
async fn schedule_mail(
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
    old: &EditableChangelog,
    new: &EditableChangelog,
) -> Result<(), RoadmapError> {
    let due = |of: &EditableChangelog| of.changelog.public_from.filter(|_| of.notifies);
    if due(old) == due(new) {
        return Ok(());
    }
    let topic = Topic::Changelog(new.changelog.id);
    if old.notifies {
        work.delete_message(&MessageId::audience(topic)).await?;
    }
    match due(new) {
        Some(at) => notify_subscribers_later(context, work, topic, at).await,
        None => Ok(()),
    }
}

/// Edits a changelog, unless somebody else has changed it since its editor read it.
#[derive(Debug, Clone)]
pub struct EditUnchangedChangelog {
    pub edit: EditChangelog,
    /// What the editor has read.
    pub read: Fingerprint,
}

#[async_trait]
impl Operation for EditUnchangedChangelog {
    type Output = ChangelogChanged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ChangelogChanged>, RoadmapError> {
        let now = work.find_changelog(self.edit.changelog).await?.ok_or_else(missing)?;
        if Fingerprint::of_changelog(&now.changelog) != self.read {
            return Err(RoadmapError::Conflict(Conflict::ChangedMeanwhile));
        }
        self.edit.perform(context, work).await
    }
}

#[async_trait]
impl Operation for PublishChangelog {
    type Output = ChangelogChanged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ChangelogChanged>, RoadmapError> {
        let old = work.find_changelog(self.changelog).await?.ok_or_else(missing)?.at(context.now);
        let mut new = old.clone();
        if !matches!(old.changelog.state(context.now), ChangelogState::Published(_)) {
            new.changelog.public_from = Some(context.now);
        }
        new.notifies = false;
        // What was to be mailed later is mailed now.
        new.is_notified |= self.notify_subscribers || old.notifies;
        let saved = save(context, work, &old, new, "changelog.publish").await?;
        let state = old.changelog.state(context.now);
        if matches!(state, ChangelogState::Scheduled(_)) {
            // Its time will not come any more.
            work.mark_announced(self.changelog, context.now).await?;
        }
        if saved.output.changes.iter().any(|change| change.field == "notified") {
            notify_subscribers(context, work, Topic::Changelog(self.changelog)).await?;
        }
        let announced = (!matches!(state, ChangelogState::Published(_)))
            .then(|| EventDraft::of_changelog(EventKind::ChangelogPublished, self.changelog));
        Ok(saved.announcing(announced))
    }
}

#[async_trait]
impl Operation for UnpublishChangelog {
    type Output = ChangelogChanged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ChangelogChanged>, RoadmapError> {
        let old = work.find_changelog(self.changelog).await?.ok_or_else(missing)?.at(context.now);
        let mut new = old.clone();
        new.changelog.public_from = None;
        new.notifies = false;
        let announced = is_public(&old, context).then(|| unpublished(self.changelog));
        Ok(save(context, work, &old, new, "changelog.unpublish").await?.announcing(announced))
    }
}

#[async_trait]
impl Operation for DeleteChangelog {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let old = work.find_changelog(self.changelog).await?.ok_or_else(missing)?;
        if is_public(&old, context) {
            // Before it is deleted: the event has the changelog.
            let event = NewWebhookEvent {
                id: context.new_id(WebhookEventId::new),
                draft: unpublished(self.changelog),
                actor: context.actor.clone(),
                at: context.now,
            };
            work.record_events_now(&[event]).await?;
        }
        if work.delete_changelog(self.changelog).await? {
            Ok(Performed::new((), Audit::entry("changelog.delete", "changelog", Some(self.changelog.uuid()))))
        } else {
            Err(missing())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::changelog::ChangelogFields;

    use crate::model::timestamp::Timestamp;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures;
    use crate::usecase::fixtures::{CHANGELOG, now, perform, summary};
    use mockall::Sequence;
    use time::Duration;

    /// A unit with a changelog that expects `saves` saved changelogs.
    fn unit(public_from: Option<Timestamp>, is_notified: bool, saves: usize) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_find_changelog().returning(move |_| Ok(Some(fixtures::changelog(public_from, is_notified))));
        unit.expect_save_changelog()
            .withf(|saved| saved.changelog.updated_at == now())
            .times(saves)
            .returning(|_| Ok(()));
        unit.expect_linked_feature_requests().returning(|_| Ok(vec![summary("Done", Some("Done"), 2)]));
        unit
    }

    fn run<O: Operation>(operation: &O, unit: &mut MockUnit) -> Result<O::Output, String> {
        perform(operation, unit).map(|performed| performed.output).map_err(|error| error.to_string())
    }

    fn edit(fields: &ChangelogFields) -> EditChangelog {
        EditChangelog { changelog: CHANGELOG, change: ChangelogChange::parse(fields, |_| None).unwrap() }
    }

    fn publish_at(raw: Option<String>) -> EditChangelog {
        edit(&ChangelogFields { publish_at: Some(raw), ..ChangelogFields::default() })
    }

    fn publish(notify: bool) -> PublishChangelog {
        PublishChangelog { changelog: CHANGELOG, notify_subscribers: notify }
    }

    #[test]
    fn sent_fields_are_changed_and_others_kept() {
        let fields = ChangelogFields {
            title: Some("1.3".to_owned()),
            content: Some("<b>Newer</b>".to_owned()),
            feature_request_ids: Some(None),
            ..ChangelogFields::default()
        };
        let changed = run(&edit(&fields), &mut unit(None, false, 1)).unwrap();
        let expected = [
            Change::new("title", "1.2", "1.3"),
            Change::without_values("content"),
            Change::without_values("feature_request_ids"),
        ];
        assert_eq!(changed.changes, expected);
        assert_eq!(changed.detail.changelog.updated_at, now());

        let operation = edit(&ChangelogFields { title: Some("1.2".to_owned()), ..ChangelogFields::default() });
        assert!(!perform(&operation, &mut unit(None, false, 0)).unwrap().has_changed());
    }

    #[test]
    fn only_what_is_not_published_is_scheduled() {
        let later = now().plus(Duration::HOUR);
        let schedule = || publish_at(Some(later.to_string()));
        let changed = run(&schedule(), &mut unit(None, false, 1)).unwrap();
        assert_eq!(changed.detail.changelog.state(now()), ChangelogState::Scheduled(later));
        let cancelled = run(&publish_at(None), &mut unit(Some(later), false, 1)).unwrap();
        assert_eq!(cancelled.detail.changelog.state(now()), ChangelogState::Draft);
        let published = run(&publish_at(None), &mut unit(Some(now()), false, 0)).unwrap();
        assert_eq!(published.detail.changelog.state(now()), ChangelogState::Published(now()));
        let error = run(&schedule(), &mut unit(Some(now()), false, 0)).unwrap_err();
        assert_eq!(error, "publish_at is for changelogs that are not published, unpublish it first");
        let past = publish_at(Some(now().to_string()));
        assert_eq!(run(&past, &mut unit(None, false, 0)).unwrap_err(), "publish_at is not in the future");
    }

    /// Addition 5.
    #[test]
    fn a_changelog_is_published_once_and_keeps_its_time() {
        let (earlier, later) = (now().plus(-Duration::HOUR), now().plus(Duration::HOUR));
        for (before, saves, after, marks) in
            [(None, 1, now(), 0), (Some(later), 1, now(), 1), (Some(earlier), 0, earlier, 0)]
        {
            let mut unit = unit(before, false, saves);
            expect_announcement(&mut unit, marks);
            let published = perform(&publish(false), &mut unit).unwrap();
            assert_eq!(published.output.detail.changelog.state(now()), ChangelogState::Published(after));
            let announced = EventDraft::of_changelog(EventKind::ChangelogPublished, CHANGELOG);
            assert_eq!(published.events, if saves > 0 { vec![announced] } else { Vec::new() });
        }
    }

    /// Expects that a changelog whose time has not come is announced no more.
    fn expect_announcement(unit: &mut MockUnit, times: usize) {
        unit.expect_mark_announced()
            .withf(|of, at| (*of, *at) == (CHANGELOG, now()))
            .times(times)
            .returning(|_, _| Ok(true));
    }

    /// Addition 5.
    #[test]
    fn voters_are_notified_once_per_changelog() {
        for (notify, is_notified, mails) in [(true, false, 1), (true, true, 0), (false, false, 0), (false, true, 0)] {
            let mut unit = unit(None, is_notified, 1);
            unit.expect_enqueue_notifications()
                .withf(|topic, _, _, _| *topic == Topic::Changelog(CHANGELOG))
                .times(mails)
                .returning(|_, _, _, _| Ok(()));
            run(&publish(notify), &mut unit).unwrap();
        }
    }

    /// A message that is due at this time, and reaches those who are subscribed then.
    fn expect_later(unit: &mut MockUnit, at: Option<Timestamp>) {
        let topic = Topic::Changelog(CHANGELOG);
        unit.expect_insert_message()
            .withf(move |new| (new.id.clone(), Some(new.created_at)) == (MessageId::audience(topic), at))
            .times(usize::from(at.is_some()))
            .returning(|_| Ok(true));
    }

    fn expect_withdrawal(unit: &mut MockUnit, times: usize) {
        let id = MessageId::audience(Topic::Changelog(CHANGELOG));
        unit.expect_delete_message().withf(move |deleted| *deleted == id).times(times).returning(|_| Ok(()));
    }

    /// A unit with a changelog that is scheduled with mail.
    fn scheduled(at: Timestamp) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_find_changelog()
            .returning(move |_| Ok(Some(EditableChangelog { notifies: true, ..fixtures::changelog(Some(at), false) })));
        unit.expect_linked_feature_requests().returning(|_| Ok(Vec::new()));
        unit
    }

    #[test]
    fn mail_waits_for_the_time_of_the_publication() {
        let later = now().plus(Duration::HOUR);
        let schedule = |notify_subscribers| {
            let publish_at = Some(Some(later.to_string()));
            edit(&ChangelogFields { publish_at, notify_subscribers, ..ChangelogFields::default() })
        };
        for (notify, is_notified, at) in [
            (Some(true), false, Some(later)),
            (Some(true), true, None),
            (Some(false), false, None),
            (None, false, None),
        ] {
            let mut unit = unit(None, is_notified, 1);
            expect_later(&mut unit, at);
            let changed = run(&schedule(notify), &mut unit).unwrap();
            assert_eq!(changed.changes.contains(&Change::new("notifies", false, true)), at.is_some());
        }
        // There is no time to wait for.
        for before in [None, Some(now())] {
            let mail = edit(&ChangelogFields { notify_subscribers: Some(true), ..ChangelogFields::default() });
            let error = run(&mail, &mut unit(before, false, 0)).unwrap_err();
            assert_eq!(error, changelog::mail_without_time().to_string());
        }
    }

    #[test]
    fn mail_that_waits_follows_the_publication() {
        let (later, much_later) = (now().plus(Duration::HOUR), now().plus(Duration::DAY));
        let fields = |publish_at: Option<Timestamp>, notify_subscribers| ChangelogFields {
            publish_at: Some(publish_at.map(|at| at.to_string())),
            notify_subscribers,
            ..ChangelogFields::default()
        };
        for (fields, withdrawals, at, notifies) in [
            (fields(Some(much_later), None), 1, Some(much_later), true),
            (fields(Some(much_later), Some(false)), 1, None, false),
            (fields(None, None), 1, None, false),
            (fields(Some(later), Some(true)), 0, None, true),
        ] {
            let mut unit = scheduled(later);
            expect_withdrawal(&mut unit, withdrawals);
            expect_later(&mut unit, at);
            unit.expect_save_changelog()
                .withf(move |saved| saved.notifies == notifies)
                .times(withdrawals)
                .returning(|_| Ok(()));
            run(&edit(&fields), &mut unit).unwrap();
        }
        // Published before its time, its mail goes out then; taken back, it does not.
        let mut unit = scheduled(later);
        expect_withdrawal(&mut unit, 1);
        expect_announcement(&mut unit, 1);
        unit.expect_save_changelog().withf(|saved| saved.is_notified && !saved.notifies).times(1).returning(|_| Ok(()));
        unit.expect_enqueue_notifications().times(1).returning(|_, _, _, _| Ok(()));
        run(&publish(false), &mut unit).unwrap();
        let mut unit = scheduled(later);
        expect_withdrawal(&mut unit, 1);
        unit.expect_save_changelog()
            .withf(|saved| !saved.is_notified && !saved.notifies)
            .times(1)
            .returning(|_| Ok(()));
        run(&UnpublishChangelog { changelog: CHANGELOG }, &mut unit).unwrap();
    }

    #[test]
    fn what_was_mailed_with_its_publication_is_not_mailed_again() {
        let mut unit = scheduled(now().plus(-Duration::HOUR));
        assert!(!perform(&publish(true), &mut unit).unwrap().has_changed());
        // Unpublished, it stays mailed.
        let mut unit = scheduled(now().plus(-Duration::HOUR));
        unit.expect_save_changelog().withf(|saved| saved.is_notified && !saved.notifies).times(1).returning(|_| Ok(()));
        run(&UnpublishChangelog { changelog: CHANGELOG }, &mut unit).unwrap();
    }

    /// Addition 5.
    #[test]
    fn an_unpublished_changelog_is_a_draft() {
        let operation = UnpublishChangelog { changelog: CHANGELOG };
        let changed = perform(&operation, &mut unit(Some(now()), true, 1)).unwrap();
        assert_eq!(changed.output.detail.changelog.state(now()), ChangelogState::Draft);
        assert_eq!(changed.events, [unpublished(CHANGELOG)]);
        assert!(!perform(&operation, &mut unit(None, true, 0)).unwrap().has_changed());
        // One whose time has not come was never announced.
        let later = now().plus(Duration::HOUR);
        assert!(perform(&operation, &mut unit(Some(later), true, 1)).unwrap().events.is_empty());
    }

    #[test]
    fn a_published_changelog_is_announced_before_it_is_deleted() {
        for (public_from, is_public) in [(Some(now()), true), (Some(now().plus(Duration::HOUR)), false), (None, false)]
        {
            let mut sequence = Sequence::new();
            let mut unit = unit(public_from, false, 0);
            if is_public {
                let is_expected = |event: &NewWebhookEvent| {
                    event.draft == unpublished(CHANGELOG) && event.actor == fixtures::actor() && event.at == now()
                };
                unit.expect_record_events_now()
                    .withf(move |events| events.len() == 1 && events.iter().all(is_expected))
                    .times(1)
                    .in_sequence(&mut sequence)
                    .returning(|_| Ok(()));
            }
            unit.expect_delete_changelog().times(1).in_sequence(&mut sequence).returning(|_| Ok(true));
            let deleted = perform(&DeleteChangelog { changelog: CHANGELOG }, &mut unit).unwrap();
            // It would find no changelog at the end of the unit of work.
            assert!(deleted.events.is_empty());
        }
    }

    #[test]
    fn an_unknown_changelog_is_reported() {
        let mut unit = MockUnit::new();
        unit.expect_find_changelog().returning(|_| Ok(None));
        unit.expect_delete_changelog().returning(|_| Ok(false));
        let missing = "Changelog does not exist.";
        assert_eq!(run(&edit(&ChangelogFields::default()), &mut unit).unwrap_err(), missing);
        assert_eq!(run(&publish(true), &mut unit).unwrap_err(), missing);
        assert_eq!(run(&UnpublishChangelog { changelog: CHANGELOG }, &mut unit).unwrap_err(), missing);
        assert_eq!(run(&DeleteChangelog { changelog: CHANGELOG }, &mut unit).unwrap_err(), missing);
    }
}
