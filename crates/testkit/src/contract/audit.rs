//! The audit log.

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::audit::{
    Actor, ActorFilter, ActorKind, Audit, AuditEntry, AuditFilter, AuditPage, Change, Channel, Origin, Subject,
};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{ApiKeyId, AuditEntryId, CustomerId, MemberId, WorkspaceId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::harness::{Failing, Harness, comment, edit, name, new_title, vote};

/// Adds entries to the audit log.
struct Record(Vec<AuditEntry>);

#[async_trait]
impl Operation for Record {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        for entry in &self.0 {
            work.insert_audit_entry(entry).await?;
        }
        Ok(Performed::new((), Audit::Unchanged))
    }
}

fn entry(number: u128, at: Timestamp, action: &str, subject: Option<Uuid>, actor: Actor) -> AuditEntry {
    AuditEntry {
        id: AuditEntryId::new(Uuid::from_u128(number)),
        at,
        origin: Origin { actor, channel: Channel::Command, request_id: None },
        action: action.to_owned(),
        subject: Subject { kind: "track".to_owned(), id: subject },
        changes: Vec::new(),
    }
}

/// All fields of an entry are returned, with and without the optional ones, of all kinds of actors and channels.
///
/// Addition 6.
pub async fn an_entry_is_returned_as_it_was_stored(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let id = |number| Uuid::from_u128(number);
    let mut entries = Vec::new();
    for (number, (actor, channel)) in (1..).zip([
        (Actor::api_key(ApiKeyId::new(id(7)), &name("Größer")), Channel::Api),
        (Actor::member(MemberId::new(id(8)), &name("Mia")), Channel::Page),
        (Actor::customer(CustomerId::new(id(9))), Channel::Page),
        (Actor::operator("root"), Channel::Command),
        (Actor::service(), Channel::Job),
    ]) {
        let at = harness.next_second();
        let request_id = (number % 2 == 1).then(|| format!("request-{number}"));
        let subject = Subject { kind: "feature_request".to_owned(), id: (number % 2 == 0).then(|| id(number)) };
        let changes = vec![
            Change::new("title", "Größe \"1\" \\ ", ""),
            Change::new("tags", json!(["a", "b"]), Value::Null),
            Change::without_values("description"),
        ];
        let changes = if number < 4 { changes } else { Vec::new() };
        let origin = Origin { actor, channel, request_id };
        let id = AuditEntryId::new(id(u128::MAX - 10 + number));
        entries.insert(0, AuditEntry { id, at, origin, action: "track.update".to_owned(), subject, changes });
    }
    harness.perform(workspace, &Record(entries.iter().rev().cloned().collect())).await;
    assert_eq!(harness.audit_entries(workspace, &AuditFilter::default()).await[..5], entries);
    harness.failure(workspace, &Failing(Record(vec![entry(1, harness.now(), "lost", None, Actor::service())]))).await;
    // The entry of the workspace itself.
    assert_eq!(harness.count("audit_entries", workspace).await, 6);
}

/// A filter selects by actor, kind of actor, action, subject and time, and by several of them. Pages go on after their
/// cursor, and the last one has none.
///
/// Addition 6: audit entries show the own workspace only.
pub async fn entries_are_filtered_and_paged(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [key, member, subject] = [7, 8, 9].map(Uuid::from_u128);
    let actors = [
        Actor::api_key(ApiKeyId::new(key), &name("key")),
        Actor::member(MemberId::new(member), &name("Mia")),
        Actor::operator("root"),
    ];
    let first = harness.next_second();
    let mut stored = Vec::new();
    for number in 0..12_u128 {
        let index = usize::try_from(number).unwrap();
        let action = ["lane.update", "track.update"][index % 2];
        let at = first.plus(Duration::seconds(i64::try_from(number / 2).unwrap()));
        let of = (number % 4 == 0).then_some(subject);
        stored.insert(0, entry(u128::MAX - 20 + number, at, action, of, actors[index % 3].clone()));
    }
    harness.perform(workspace, &Record(stored.iter().rev().cloned().collect())).await;
    let mine = AuditFilter { from: Some(first), ..AuditFilter::default() };
    let at = |seconds| Some(first.plus(Duration::seconds(seconds)));
    let by = |actor| AuditFilter { actor: Some(actor), ..mine.clone() };
    let select = |is_selected: &dyn Fn(&AuditEntry) -> bool| {
        stored.iter().filter(|entry| is_selected(entry)).cloned().collect::<Vec<_>>()
    };
    for (filter, expected) in [
        (mine.clone(), stored.clone()),
        (by(ActorFilter::Id(key)), select(&|entry| entry.origin.actor.id == Some(key))),
        (by(ActorFilter::Id(subject)), Vec::new()),
        (by(ActorFilter::Kind(ActorKind::Operator)), select(&|entry| entry.origin.actor.kind == ActorKind::Operator)),
        (by(ActorFilter::Kind(ActorKind::Customer)), Vec::new()),
        (
            AuditFilter { action: Some("lane.update".to_owned()), ..mine.clone() },
            select(&|entry| entry.action == "lane.update"),
        ),
        (AuditFilter { action: Some("lane".to_owned()), ..mine.clone() }, Vec::new()),
        (AuditFilter { subject: Some(subject), ..mine.clone() }, select(&|entry| entry.subject.id == Some(subject))),
        (
            AuditFilter { from: at(2), to: at(4), ..AuditFilter::default() },
            select(&|entry| Some(entry.at) >= at(2) && Some(entry.at) < at(4)),
        ),
        (
            AuditFilter { subject: Some(subject), to: at(3), ..by(ActorFilter::Kind(ActorKind::Member)) },
            select(&|entry| {
                let is_member = entry.origin.actor.kind == ActorKind::Member;
                entry.subject.id == Some(subject) && is_member && Some(entry.at) < at(3)
            }),
        ),
    ] {
        assert_eq!(harness.audit_entries(workspace, &filter).await, expected, "{filter:?}");
        for size in [1, 2, 3, 4] {
            let (mut before, mut paged) = (None, Vec::new());
            loop {
                let page = AuditPage { before, size };
                let listing = harness.subject.reader.audit_entries(workspace, &filter, page).await.unwrap();
                assert!(listing.entries.len() <= size as usize);
                paged.extend(listing.entries);
                // The last page has no cursor, even if it is full.
                assert_eq!(listing.next.is_none(), paged.len() == expected.len(), "{filter:?}, {size}");
                match listing.next {
                    Some(next) => before = Some(next),
                    None => break,
                }
            }
            assert_eq!(paged, expected, "{filter:?}, {size}");
        }
        assert_eq!(harness.audit_entries(other, &AuditFilter { from: Some(first), ..filter }).await, []);
    }
}

/// Each operation adds an entry with its actor, in its own unit of work. Votes and comments, operations that change
/// nothing, and failed ones add none, and a replay adds none either.
///
/// Addition 6.
pub async fn operations_leave_entries(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let created = harness.audit_entries(workspace, &AuditFilter::default()).await;
    assert_eq!(created.iter().map(|entry| entry.action.as_str()).collect::<Vec<_>>(), ["workspace.create"]);
    let request = harness.request(workspace, "Dark mode").await;
    let reference = FeatureRequestRef::Id(request.id);
    harness.vote(workspace, &request, "ann@example.com").await;
    harness.perform(workspace, &vote(reference, None, Some("note"))).await;
    harness.perform(workspace, &comment(reference, "<p>Soon</p>", true)).await;
    harness.perform(workspace, &edit(reference, new_title("Dark mode"))).await;
    harness.failure(workspace, &Failing(edit(reference, new_title("Lost")))).await;
    harness.failure(workspace, &edit(FeatureRequestRef::Number(9), new_title("Lost"))).await;
    assert_eq!(harness.audit_entries(workspace, &AuditFilter::default()).await, created);
    let origin = Origin {
        actor: Actor::api_key(ApiKeyId::new(Uuid::from_u128(7)), &name("support desk")),
        channel: Channel::Api,
        request_id: Some("r-1".to_owned()),
    };
    let at = harness.next_second();
    let executor = harness.executor.acting_as(origin.clone());
    for _ in 0..2 {
        let (key, operation) = (crate::harness::operation_key("k"), edit(reference, new_title("Night mode")));
        executor.run(workspace, Some(&key), &operation, |_| crate::harness::reply("done")).await.unwrap();
    }
    let entries = harness.audit_entries(workspace, &AuditFilter::default()).await;
    let expected = AuditEntry {
        id: entries[0].id,
        at,
        origin,
        action: "feature_request.update".to_owned(),
        subject: Subject { kind: "feature_request".to_owned(), id: Some(request.id.uuid()) },
        changes: vec![Change::new("title", "Dark mode", "Night mode")],
    };
    assert_eq!(entries, [vec![expected], created].concat());
}

#[expect(clippy::disallowed_methods, reason = "the database itself protects young entries, by its own clock")]
fn real_time() -> Timestamp {
    Timestamp::new(OffsetDateTime::now_utc())
}

/// Entries of all workspaces are purged in batches. Younger ones than 30 days are kept whatever is asked for.
///
/// Addition 6.
pub async fn young_entries_are_never_purged(harness: Harness) {
    let now = real_time();
    harness.clock.advance(Duration::milliseconds(now.millis() - harness.now().millis()));
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let days = |days| now.plus(-Duration::days(days));
    let mut numbers = 1..;
    let mut add = async |workspace: WorkspaceId, at: Timestamp| {
        let entry = entry(numbers.next().unwrap(), at, "test", None, Actor::service());
        harness.perform(workspace, &Record(vec![entry.clone()])).await;
        entry
    };
    let young = add(acme, days(29)).await;
    for (workspace, at) in
        [(acme, days(500)), (acme, days(401)), (bolt, days(402)), (acme, days(399)), (bolt, days(31))]
    {
        add(workspace, at).await;
    }
    let maintenance = &harness.subject.maintenance;
    assert_eq!(maintenance.purge_audit_entries(days(400), 2).await.unwrap(), 2);
    assert_eq!(maintenance.purge_audit_entries(days(400), 2).await.unwrap(), 1);
    assert_eq!(maintenance.purge_audit_entries(days(400), 2).await.unwrap(), 0);
    assert_eq!((harness.count("audit_entries", acme).await, harness.count("audit_entries", bolt).await), (3, 2));
    assert_eq!(maintenance.purge_audit_entries(days(-1), 10).await.unwrap(), 2);
    assert_eq!(maintenance.purge_audit_entries(days(-1), 10).await.unwrap(), 0);
    let left = harness.audit_entries(acme, &AuditFilter { to: Some(days(1)), ..AuditFilter::default() }).await;
    assert_eq!(left, [young]);
    assert_eq!((harness.count("audit_entries", acme).await, harness.count("audit_entries", bolt).await), (2, 1));
}

crate::contract::cases!($ audit {
    an_entry_is_returned_as_it_was_stored,
    entries_are_filtered_and_paged,
    operations_leave_entries,
    young_entries_are_never_purged,
});
