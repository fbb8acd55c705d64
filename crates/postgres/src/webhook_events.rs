//! The events that units of work record, with the records that they are about.

use diesel::sql_types::{Array, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::id::{ChangelogId, CommentId, CustomerId, FeatureRequestId, NoteId};
use roadmap_domain::model::webhook_event::{EventCustomer, EventRecords, NewWebhookEvent};
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::details_column;
use uuid::Uuid;

use crate::statement::statement;

statement! {
    /// Records events, unless the workspace has no enabled webhook. All arrays have one element for each event. The records
    /// that an event is about become JSON (`EventSnapshot`); one that does not exist is null.
    ///
    /// It is a function of the database, because to begin the large statement inside of it costs more than the look-up.
    RecordEvents {
        workspace: Uuid => SqlUuid,
        ids: Vec<Uuid> => Array<SqlUuid>,
        kinds: Vec<String> => Array<Text>,
        actor_kinds: Vec<String> => Array<Text>,
        actor_ids: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        actor_names: Vec<String> => Array<Text>,
        details: Vec<String> => Array<Text>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
        requests: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        customers: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        addresses: Vec<Option<String>> => Array<Nullable<Text>>,
        comments: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        notes: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        changelogs: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
    } -> Untyped,
    "SELECT record_webhook_events({workspace}, {ids}, {kinds}, {actor_kinds}, {actor_ids}, {actor_names}, {details}, {times},
                                  {requests}, {customers}, {addresses}, {comments}, {notes}, {changelogs})"
}

impl RecordEvents {
    /// Returns the statement that records events, unless there is none.
    pub(crate) fn of<'a>(
        workspace: Uuid,
        events: impl IntoIterator<Item = &'a NewWebhookEvent>,
    ) -> Result<Option<Self>, StoreError> {
        let mut all = Self {
            workspace,
            ids: vec![],
            kinds: vec![],
            actor_kinds: vec![],
            actor_ids: vec![],
            actor_names: vec![],
            details: vec![],
            times: vec![],
            requests: vec![],
            customers: vec![],
            addresses: vec![],
            comments: vec![],
            notes: vec![],
            changelogs: vec![],
        };
        for NewWebhookEvent { id, draft, actor, at } in events {
            let EventRecords { request, customer, comment, note, changelog } = &draft.records;
            let (customer, address) = match customer {
                Some(EventCustomer::Id(customer)) => (Some(*customer), None),
                Some(EventCustomer::Address(address)) => (None, Some(address)),
                None => (None, None),
            };
            all.ids.push(id.uuid());
            all.kinds.push(draft.kind.name().to_owned());
            all.actor_kinds.push(actor.kind.name().to_owned());
            all.actor_ids.push(actor.id);
            all.actor_names.push(actor.name.clone());
            all.details.push(details_column(&draft.details)?);
            all.times.push(TimestampColumn::from(*at));
            all.requests.push(request.map(FeatureRequestId::uuid));
            all.customers.push(customer.map(CustomerId::uuid));
            all.addresses.push(address.map(FoldedEmail::as_str).map(ToOwned::to_owned));
            all.comments.push(comment.map(CommentId::uuid));
            all.notes.push(note.map(NoteId::uuid));
            all.changelogs.push(changelog.map(ChangelogId::uuid));
        }
        Ok((!all.ids.is_empty()).then_some(all))
    }
}
