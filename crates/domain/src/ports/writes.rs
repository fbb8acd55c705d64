//! Writes of commands inside a unit of work.
//!
//! A method combines the writes that fit into one statement, so that a command needs few round trips.

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::StoreError;
use crate::model::admin::CustomersMerged;
use crate::model::api_key::{ApiKey, KeyDigest};
use crate::model::attachment::{Attachment, UnusedAttachment};
use crate::model::audit::{Actor, AuditEntry};
use crate::model::board::Board;
use crate::model::changelog::{Changelog, CoverImage, EditableChangelog};
use crate::model::comment::{ListedComment, NewComment};
use crate::model::customer::{Customer, CustomerName, NewCustomer};
use crate::model::email_address::{EmailAddress, FoldedEmail};
use crate::model::event::NewEvent;
use crate::model::export::restore::Part;
use crate::model::feature_request::{
    EditableFields, FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, NewFeatureRequest, SearchableText,
    Tag,
};
use crate::model::html::CleanHtml;
use crate::model::id::{
    ApiKeyId, AttachmentId, ChangelogId, CommentId, CustomerId, FeatureRequestId, ImportId, LaneId, LinkId, MemberId,
    NoteId, SessionId, SignInId, TrackId,
};
use crate::model::import::records::Kind;
use crate::model::import::run::{Import, Progress, SourceName};
use crate::model::import::{
    ImportedComment, ImportedFrom, ImportedMove, ImportedNote, ImportedRecord, ImportedRequest, ImportedSubscription,
    ImportedVote, MadeChangelog, MadePosts, MadeRequest, VotesImported,
};
use crate::model::link::{Issue, Link};
use crate::model::mail::{MailSettingsChange, SenderName, SubscribeOutcome, Topic};
use crate::model::media_type::MediaType;
use crate::model::member::{Member, Role};
use crate::model::message::{MessageId, NewMessage};
use crate::model::own_post::{OwnComment, OwnRequest};
use crate::model::person::{AskedRequest, ErasedRecords, Erasure, ErasureRecord, PersonRef, UnfinishedErasure};
use crate::model::picture::{Picture, PictureBy};
use crate::model::portal::{Language, PortalSettings};
use crate::model::removal::MovedTexts;
use crate::model::saved_view::SavedViews;
use crate::model::search::{SearchDocument, Synonyms};
use crate::model::session::NewSession;
use crate::model::setting::Setting;
use crate::model::sign_in::{Consumption, KnownAddress, SignIn};
use crate::model::tag::{ListedTag, TagChange};
use crate::model::team_mail::TeamMail;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::track::Track;
use crate::model::vote::{NewVote, VoteCast, VoteWithdrawn};
use crate::model::workspace::Workspace;
use crate::policy::erasing::PersonWords;
use crate::policy::mail_limits::MailBudgetWindow;
use crate::policy::mail_requests::CounterKey;
use crate::policy::merging::MergeNode;

/// Writes of feature requests.
///
/// Unless a method says otherwise, a reference to a merged feature request means the one that it was merged into.
#[async_trait]
pub trait FeatureRequestWrites {
    /// Returns the feature request, if it exists in this workspace.
    async fn find_feature_request(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestSummary>, StoreError>;

    /// Stores a feature request under the workspace's next tag number, with its author, its tags and its search
    /// document.
    ///
    /// Contract: tag numbers count from 1 in each workspace, without reuse.
    async fn insert_feature_request(
        &mut self,
        request: &NewFeatureRequest,
    ) -> Result<FeatureRequestSummary, StoreError>;

    /// Moves a feature request to a track of this workspace. The team has decided about it then. `changes_status` says
    /// whether its public status is another one since then.
    async fn set_feature_request_track(
        &mut self,
        request: FeatureRequestId,
        track: TrackId,
        changes_status: bool,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Makes a feature request need nothing from the team until a customer writes again. Returns whether it needed
    /// something.
    async fn clear_attention(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError>;

    /// As [`Self::find_feature_request`]. Other units of work that change the feature request wait for this one, and this
    /// one sees the changes of those that it waited for.
    async fn lock_feature_request(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestSummary>, StoreError>;

    /// Returns the editable fields, if the feature request exists in this workspace. Other units of work that edit it
    /// wait for this one.
    async fn find_editable_fields(&mut self, request: &FeatureRequestRef)
    -> Result<Option<EditableFields>, StoreError>;

    /// Replaces the editable fields of the feature request with this ID.
    async fn save_editable_fields(&mut self, fields: &EditableFields, at: Timestamp) -> Result<(), StoreError>;

    /// Returns the feature request with all of its fields.
    async fn feature_request_detail(
        &mut self,
        request: FeatureRequestId,
    ) -> Result<Option<FeatureRequestDetail>, StoreError>;

    /// Returns the texts that a feature request is searched by, unless it is private, merged or does not exist. With
    /// those of at most `merged` public feature requests that are merged into it.
    async fn searchable_text(
        &mut self,
        request: FeatureRequestId,
        merged: u32,
    ) -> Result<Option<SearchableText>, StoreError>;

    /// Inserts or replaces the search document of a feature request, which gets the current version.
    async fn save_search_document(
        &mut self,
        request: FeatureRequestId,
        document: &SearchDocument,
    ) -> Result<(), StoreError>;

    /// Deletes the search document of a feature request, if it has one.
    async fn delete_search_document(&mut self, request: FeatureRequestId) -> Result<(), StoreError>;

    /// Marks the search documents of feature requests as outdated
    /// ([`Maintenance::outdated_documents`](super::Maintenance::outdated_documents)) until they are saved or deleted.
    async fn expire_search_documents(&mut self, requests: &[FeatureRequestId]) -> Result<(), StoreError>;

    /// Returns the feature requests of this workspace that have these IDs, merged ones included, in any order.
    async fn existing_feature_requests(
        &mut self,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError>;

    /// Adds an event to the history of a feature request.
    async fn insert_event(&mut self, event: &NewEvent) -> Result<(), StoreError>;

    /// Deletes the feature request with this reference, even if it is merged: with its votes, comments, notes,
    /// links, subscriptions, events, search document, links of changelogs and unsent messages, and with everything that is
    /// merged into it. What it was merged into is counted again.
    async fn delete_feature_request(&mut self, request: FeatureRequestId) -> Result<(), StoreError>;
}

/// Merges of feature requests.
#[async_trait]
pub trait MergeWrites {
    /// Returns the feature request with this reference itself, even if it is merged, with its place in its tree.
    ///
    /// Contract: from the first call of this method on, other units of work that merge, unmerge or delete feature
    /// requests of this workspace wait for this one.
    async fn find_merge_node(&mut self, request: &FeatureRequestRef) -> Result<Option<MergeNode>, StoreError>;

    /// Links `source`, which is not merged, to `target`, which is not merged either.
    ///
    /// Contract: the tally of the target is the number of distinct customers with a vote in the tree, and of the nameless
    /// votes in it. No concurrent vote is lost or counted twice.
    async fn link_feature_request(
        &mut self,
        source: FeatureRequestId,
        target: FeatureRequestId,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Removes the link of `source`. Both trees are counted again.
    async fn unlink_feature_request(&mut self, source: FeatureRequestId, at: Timestamp) -> Result<(), StoreError>;
}

/// Writes of records that only imports make.
#[async_trait]
pub trait ImportWrites {
    /// Returns the customers with these addresses, in the given order.
    async fn find_customers(&mut self, addresses: &[FoldedEmail]) -> Result<Vec<Option<CustomerId>>, StoreError>;

    /// Returns the members with these addresses, removed ones included, in the given order.
    async fn find_all_members(&mut self, addresses: &[FoldedEmail]) -> Result<Vec<Option<MemberId>>, StoreError>;

    /// Returns which customers have voted for a feature request itself, in the given order.
    async fn existing_votes(&mut self, votes: &[(FeatureRequestId, CustomerId)]) -> Result<Vec<bool>, StoreError>;

    /// Finds customers by their folded addresses, and inserts those that are new, with these times. A stored name is kept,
    /// an empty one is filled. A new customer whose address has no mailbox gets no mail
    /// ([`FoldedEmail::has_mailbox`]). Returns their IDs in the given order.
    async fn import_customers(
        &mut self,
        by: ImportId,
        customers: &[(NewCustomer, Timestamp)],
    ) -> Result<Vec<CustomerId>, StoreError>;

    /// Stores feature requests under the next tag numbers, in the given order. Otherwise as
    /// [`FeatureRequestWrites::insert_feature_request`]. Returns the first number, 0 if there is none.
    async fn import_feature_requests(&mut self, by: ImportId, requests: &[ImportedRequest]) -> Result<i64, StoreError>;

    /// Finds members by their folded addresses, removed ones included, and inserts those that are new as removed: their
    /// name is shown beside what they have written, they have no access, and adding the address restores them. Returns their
    /// IDs in the given order.
    async fn import_members(&mut self, members: &[Member]) -> Result<Vec<MemberId>, StoreError>;

    /// Stores votes, each for its feature request itself, and counts them: a customer with another vote in the same tree
    /// counts once. A vote that is there already stays as it is.
    ///
    /// Contract: the feature requests and the customers exist. As with [`MergeWrites::link_feature_request`], no
    /// concurrent vote is lost or counted twice.
    async fn import_votes(&mut self, by: ImportId, votes: &[ImportedVote]) -> Result<VotesImported, StoreError>;

    /// Returns which customers have voted for a feature request itself or are subscribed to it, in the given order.
    async fn existing_subscriptions(
        &mut self,
        subscriptions: &[(FeatureRequestId, CustomerId)],
    ) -> Result<Vec<bool>, StoreError>;

    /// Subscribes customers to feature requests without a vote, unless they have voted or their mail is stopped. Returns how
    /// many.
    async fn import_subscriptions(
        &mut self,
        by: ImportId,
        subscriptions: &[ImportedSubscription],
    ) -> Result<u64, StoreError>;

    /// Stores comments, each on its feature request itself.
    async fn import_comments(&mut self, comments: &[ImportedComment]) -> Result<(), StoreError>;

    /// Stores notes, each on its feature request itself.
    async fn import_notes(&mut self, notes: &[ImportedNote]) -> Result<(), StoreError>;

    /// Adds moves to the histories of feature requests. The team has decided about a feature request at its last move, and
    /// its public status is that of the last one that changes it and leads to its track. Nothing is moved.
    async fn import_moves(&mut self, moves: &[ImportedMove]) -> Result<(), StoreError>;

    /// Adds events to the histories of feature requests.
    async fn import_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;

    /// Sets how many votes of a feature request, without what is merged into it, are those of people of whom nothing is
    /// known. They count in the tally of its tree, and in no list of voters. A feature request that does not exist is left
    /// out.
    ///
    /// Contract: as with [`MergeWrites::link_feature_request`], no concurrent vote is lost or counted twice.
    async fn set_nameless_votes(&mut self, votes: &[(FeatureRequestId, u32)]) -> Result<(), StoreError>;
}

/// Writes of the runs of imports: how far they are, where their records came from, and their undoing.
#[async_trait]
pub trait ImportRunWrites {
    /// Returns the runs of the workspace, newest first. Other units of work that load them wait for this one.
    async fn load_imports(&mut self) -> Result<Vec<Import>, StoreError>;

    /// Inserts or replaces a run.
    ///
    /// Contract: at most one run of a workspace is running or being undone.
    async fn save_import(&mut self, import: &Import) -> Result<(), StoreError>;

    /// Stores how far a run is, and that its process works on it at that time. Returns whether it does: not if another
    /// process has taken the run over.
    async fn advance_import(
        &mut self,
        import: ImportId,
        holder: Uuid,
        progress: &Progress,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Says that a process works on a run at that time, and changes nothing else. Returns whether it does.
    async fn hold_import(&mut self, import: ImportId, holder: Uuid, at: Timestamp) -> Result<bool, StoreError>;

    /// Returns what is known of records of a source, in the given order. `None`: nothing.
    async fn find_imported(
        &mut self,
        name: &SourceName,
        kind: Kind,
        external_ids: &[String],
    ) -> Result<Vec<Option<ImportedRecord>>, StoreError>;

    /// Remembers where records came from, that a run has written them at that time. The run of a record that is known stays
    /// the one that has made it.
    async fn remember_imported(
        &mut self,
        import: ImportId,
        name: &SourceName,
        kind: Kind,
        records: &[ImportedFrom],
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns how many records of a kind a run has made, whether they are still there or not.
    async fn count_imported(&mut self, import: ImportId, kind: Kind) -> Result<u64, StoreError>;

    /// Returns feature requests that a run has made and that are still there, merged ones or others, ordered by ID, after
    /// one of them.
    ///
    /// Contract: as [`MergeWrites::find_merge_node`].
    async fn made_requests(
        &mut self,
        import: ImportId,
        merged: bool,
        after: Option<FeatureRequestId>,
        limit: u32,
    ) -> Result<Vec<MadeRequest>, StoreError>;

    /// Returns the IDs of the records of a kind that a run has made, whether they are still there or not.
    async fn made_records(&mut self, import: ImportId, kind: Kind) -> Result<Vec<Uuid>, StoreError>;

    /// Returns changelogs that a run has made and that are still there, ordered by ID, after one of them.
    async fn made_changelogs(
        &mut self,
        import: ImportId,
        after: Option<ChangelogId>,
        limit: u32,
    ) -> Result<Vec<MadeChangelog>, StoreError>;

    /// Deletes comments and notes that a run has made, and votes and subscriptions of feature requests that are remembered as
    /// [`Kind::Votes`], at most of this many records and feature requests, and the votes from their tallies. Those of feature
    /// requests that the run has made itself, and that are still there, stay. Returns how many, `None` if there are no more.
    async fn delete_made_posts(&mut self, import: ImportId, limit: u32) -> Result<Option<MadePosts>, StoreError>;

    /// Deletes the customers of a run to whom nothing refers, among so many after one of them. Returns how many, and the last
    /// one that was looked at. `None`: there are no more.
    async fn delete_made_customers(
        &mut self,
        import: ImportId,
        after: Option<CustomerId>,
        limit: u32,
    ) -> Result<(u64, Option<CustomerId>), StoreError>;

    /// Deletes the removed members of a run to whom nothing refers. Returns how many.
    async fn delete_made_members(&mut self, import: ImportId) -> Result<u64, StoreError>;

    /// Forgets where records came from that a run has made and that are not there any more.
    async fn forget_deleted(&mut self, import: ImportId) -> Result<(), StoreError>;
}

/// Writes of whole records that an export has.
#[async_trait]
pub trait RestoreWrites {
    /// Whether the workspace has no feature request, no customer and no changelog.
    async fn is_blank(&mut self) -> Result<bool, StoreError>;

    /// Stores rows, which are a JSON array of the records of an export with what is derived from them
    /// ([`Restorer`](crate::model::export::restore::Restorer)): with their IDs, numbers and times. What is counted from them is
    /// right afterwards; the search index does not know them.
    ///
    /// Contract: the rows that they refer to exist, and they themselves do not. Only a member may have the address of one that
    /// is there, which then becomes the given one.
    async fn restore(&mut self, part: Part, rows: String) -> Result<(), StoreError>;

    /// Sets the number of the newest feature request, which may be deleted since.
    async fn set_last_tag_number(&mut self, number: i64) -> Result<(), StoreError>;
}

/// Writes of votes and their notes.
#[async_trait]
pub trait VoteWrites {
    /// Stores the note under its [`Author`](crate::model::member::Author), finds or creates the customer, and counts
    /// the vote unless the customer has voted before for this feature request or for one that is merged with it.
    ///
    /// Returns the outcome and the updated feature request, or `None` without any change when the feature request does
    /// not exist. A vote for a merged feature request is one for what it was merged into.
    ///
    /// Contract:
    ///
    /// - Customers are found by folded address. A stored name is kept, an empty one is set. A vote subscribes the voter.
    /// - If the unit has not called the store before, the vote may be cast in one transaction with those of other units.
    ///   Such a unit fails with [`StoreError::Transient`] if another one fails, or if it calls anything but the commit
    ///   afterwards.
    async fn cast_vote(&mut self, vote: &NewVote) -> Result<Option<VoteCast>, StoreError>;

    /// Deletes the votes of a customer for a feature request and everything that is merged with it, and with them the
    /// subscriptions that came with the votes. The customer's waiting messages about these feature requests are deleted
    /// unless the customer is subscribed without a vote.
    ///
    /// Returns whether there was a vote, and the updated feature request; `None` when it does not exist.
    async fn withdraw_vote(
        &mut self,
        request: &FeatureRequestRef,
        customer: &FoldedEmail,
    ) -> Result<Option<VoteWithdrawn>, StoreError>;

    /// Deletes a note. Returns its feature request, or `None` when the note does not exist.
    async fn delete_note(&mut self, note: NoteId) -> Result<Option<FeatureRequestId>, StoreError>;
}

/// Writes of public comments.
#[async_trait]
pub trait CommentWrites {
    /// Stores a comment under its author, who is found, or created if it is a new customer. Returns the feature
    /// request; of a merged one, the one that it was merged into, which gets the comment.
    ///
    /// Returns `None` and changes nothing when the feature request does not exist.
    async fn insert_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError>;

    /// Returns the feature request of a comment, or `None` when the comment does not exist.
    async fn find_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;

    /// Replaces the content of a comment. Returns the comment as it is listed, or `None` when it does not exist.
    async fn update_comment(
        &mut self,
        comment: CommentId,
        content: &CleanHtml,
        at: Timestamp,
    ) -> Result<Option<ListedComment>, StoreError>;

    /// Deletes a comment and the unsent messages about it. Returns its feature request, or `None` when the comment does
    /// not exist.
    async fn delete_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;

    /// Puts mails about a comment in the outbox for customers who are subscribed to its feature request: for the author of
    /// the feature request, if `to_author`, and for the authors of those comments of the same page that it is a reply to.
    /// Nobody gets one about an own comment, or about a feature request that is hidden from them.
    ///
    /// Contract: at most one mail per customer and comment.
    async fn notify_people(
        &mut self,
        comment: CommentId,
        to_author: bool,
        replied: &[CommentId],
        at: Timestamp,
    ) -> Result<(), StoreError>;
}

/// Writes of links of feature requests.
#[async_trait]
pub trait LinkWrites {
    /// Returns the link, or `None` when it does not exist. Other units of work that find it wait for this one.
    async fn find_link(&mut self, link: LinkId) -> Result<Option<Link>, StoreError>;

    /// Returns the link to an issue, as [`Self::find_link`]: of the feature request itself, else the oldest one of what is
    /// merged into it.
    async fn find_link_to(&mut self, request: FeatureRequestId, issue: &Issue) -> Result<Option<Link>, StoreError>;

    /// Counts the links of a feature request, without those of what is merged into it.
    async fn count_links(&mut self, request: FeatureRequestId) -> Result<u64, StoreError>;

    /// Stores a link of a feature request itself.
    ///
    /// Contract: the feature request exists and has no link to the same issue.
    async fn insert_link(&mut self, request: FeatureRequestId, link: &Link) -> Result<(), StoreError>;

    /// Replaces the title and the state of a link.
    async fn save_link(&mut self, link: &Link) -> Result<(), StoreError>;

    /// Deletes a link. Returns its feature request, or `None` when the link does not exist.
    async fn delete_link(&mut self, link: LinkId) -> Result<Option<FeatureRequestId>, StoreError>;
}

/// Writes of what waits for approval.
#[async_trait]
pub trait HeldPostWrites {
    /// Stores a comment of a customer that waits for approval. Otherwise as [`CommentWrites::insert_comment`].
    async fn hold_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError>;

    /// Returns the feature request of a comment that waits for approval, or `None` if no such comment waits.
    async fn find_held_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;

    /// Publishes a comment that waits for approval, with its ID and time. Returns its feature request and its content, or
    /// `None` if no such comment waits.
    async fn approve_comment(
        &mut self,
        comment: CommentId,
    ) -> Result<Option<(FeatureRequestId, CleanHtml)>, StoreError>;

    /// Deletes a comment that waits for approval. Returns its feature request, or `None` if no such comment waits.
    async fn discard_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;

    /// Ends the wait of a feature request for approval. It stays private. Returns whether it waited.
    async fn decline_feature_request(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError>;
}

/// Changes of what customers have written, by themselves.
#[async_trait]
pub trait OwnPostWrites {
    /// Returns a comment that a customer has written, public or waiting for approval. `None` if it does not exist, or
    /// somebody else has written it.
    async fn find_own_comment(
        &mut self,
        comment: CommentId,
        customer: CustomerId,
    ) -> Result<Option<OwnComment>, StoreError>;

    /// Replaces the content of a comment that waits for approval. Returns whether it waits.
    async fn update_held_comment(&mut self, comment: CommentId, content: &CleanHtml) -> Result<bool, StoreError>;

    /// Returns a feature request that a customer has written: itself, also if it is merged. `None` if it does not exist,
    /// or somebody else has written it.
    async fn find_own_request(
        &mut self,
        request: &FeatureRequestRef,
        customer: CustomerId,
    ) -> Result<Option<OwnRequest>, StoreError>;

    /// Removes the author and the description from a feature request: itself, also if it is merged.
    async fn remove_author(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<(), StoreError>;
}

/// Messages that are sent after the unit of work has committed.
#[async_trait]
pub trait Outbox {
    /// Adds one mail about the topic to the outbox for every subscribed customer. If there are more than `at_once`,
    /// adds a single entry that a worker expands later.
    ///
    /// The customers are those with a subscribed vote or a subscription without a vote for a feature request of the
    /// topic, or for one that is merged with it.
    ///
    /// Contract: at most one mail per customer and topic, and none to unsubscribed customers. All carry the id of the HTTP
    /// request that caused them, if any.
    async fn enqueue_notifications(
        &mut self,
        topic: Topic,
        at: Timestamp,
        at_once: u32,
        request_id: Option<String>,
    ) -> Result<(), StoreError>;

    /// Puts a message in the outbox, unless there is one with the same identity. Returns whether it is new.
    async fn insert_message(&mut self, message: &NewMessage) -> Result<bool, StoreError>;

    /// Deletes the message with this identity from the outbox, if it was not sent.
    async fn delete_message(&mut self, message: &MessageId) -> Result<(), StoreError>;

    /// Makes postponed mail due; with `dead`, dead mail too. Returns the number of these mails, counted as by
    /// [`OutboxQueue::status`](super::OutboxQueue::status).
    async fn retry_mail(&mut self, dead: bool, at: Timestamp) -> Result<u64, StoreError>;

    /// Adds one mail to the workspace's mail count of the current hour. Returns the mail count of `day`, under the same
    /// contract as [`Self::count_mails`].
    async fn count_team_mail(&mut self, day: MailBudgetWindow) -> Result<u64, StoreError>;

    /// Adds the mails of a topic, one per subscribed customer, to the workspace's mail count of the current hour.
    ///
    /// Returns the workspace's mail count of `day`, including these mails. Counting them may stop at `limit` plus one.
    ///
    /// Contract: concurrent units of work of one workspace and hour see each other's counts.
    async fn count_mails(
        &mut self,
        topic: Topic,
        at: Timestamp,
        day: MailBudgetWindow,
        limit: u64,
    ) -> Result<u64, StoreError>;
}

/// Who gets mail, and what else people choose for themselves.
#[async_trait]
pub trait SubscriptionWrites {
    /// Ends the subscription of a customer to a feature request and everything that is merged with it, and deletes the
    /// answers and changes of the status that wait to be sent. Returns whether the customer was subscribed, and `None` if
    /// the workspace has no such customer.
    async fn unsubscribe(
        &mut self,
        customer: CustomerId,
        request: FeatureRequestId,
    ) -> Result<Option<bool>, StoreError>;

    /// Changes which mail a customer gets. Returns whether anything changed, and `None` if the workspace has no such
    /// customer. If all mail is stopped, deletes what waits to be sent.
    ///
    /// Contract: of a customer who has stopped mail before, the first timestamp stays. Nothing turns mail to a blocked
    /// customer on, and a stop stays when the block ends.
    async fn change_mail_settings(
        &mut self,
        customer: CustomerId,
        change: MailSettingsChange,
        at: Timestamp,
    ) -> Result<Option<bool>, StoreError>;

    /// Lets a customer, who is found or created, get all changelogs. Returns whether the customer gets them now: a blocked
    /// one does not.
    async fn ask_for_news(&mut self, customer: &NewCustomer, at: Timestamp) -> Result<bool, StoreError>;

    /// Changes which mail a member gets about what customers write. Returns `false` if the workspace has no such member. If
    /// the member got none before, what was written until `at` is not told.
    async fn set_team_mail(&mut self, member: MemberId, wanted: TeamMail, at: Timestamp) -> Result<bool, StoreError>;

    /// Switches the keyboard shortcuts of a member on or off. Returns `false` if the workspace has no such member.
    async fn set_shortcuts(&mut self, member: MemberId, on: bool) -> Result<bool, StoreError>;

    /// Returns the views that a member has saved, or `None` if the workspace has no such member. Other units of work that
    /// load them wait for this one.
    async fn load_saved_views(&mut self, member: MemberId) -> Result<Option<SavedViews>, StoreError>;

    /// Replaces the views that a member has saved.
    async fn set_saved_views(&mut self, member: MemberId, views: &SavedViews) -> Result<(), StoreError>;

    /// Records until when a member was told what customers write. Returns the member's address, or `None` if the member was
    /// removed, wants no such mail, or was not told until `after` exactly.
    ///
    /// Contract: of concurrent units of work with the same `after`, one gets the address.
    async fn tell_until(
        &mut self,
        member: MemberId,
        after: Timestamp,
        until: Timestamp,
    ) -> Result<Option<EmailAddress>, StoreError>;

    /// Subscribes a customer, who is found or created, to a feature request, with or without a vote.
    ///
    /// The customer is not subscribed if answers and changes of the status to the customer are stopped. Returns `None` and changes nothing when the
    /// feature request does not exist. A stored name is kept, an empty one is set.
    async fn subscribe(
        &mut self,
        request: &FeatureRequestRef,
        customer: &NewCustomer,
        at: Timestamp,
    ) -> Result<Option<SubscribeOutcome>, StoreError>;
}

/// Writes of customers.
#[async_trait]
pub trait CustomerWrites {
    /// Returns the ID of the customer with this address.
    async fn find_customer(&mut self, address: &FoldedEmail) -> Result<Option<CustomerId>, StoreError>;

    /// Whether the workspace has this customer.
    async fn customer_exists(&mut self, customer: CustomerId) -> Result<bool, StoreError>;

    /// Replaces the name of a customer. Returns the customer with the name before, or `None` when it does not exist.
    async fn rename_customer(
        &mut self,
        customer: CustomerId,
        name: &Name,
    ) -> Result<Option<(Customer, Option<Name>)>, StoreError>;

    /// Replaces the name of a customer by this one or by none.
    async fn set_own_name<'a>(&mut self, customer: CustomerId, name: Option<&'a Name>) -> Result<(), StoreError>;

    /// Finds or creates a customer and stores its language; `None` follows the browser. Returns the customer.
    async fn set_language(
        &mut self,
        customer: &NewCustomer,
        language: Option<Language>,
        at: Timestamp,
    ) -> Result<CustomerName, StoreError>;

    /// Stores the language of the pages that the customer with this address has used last. Without such a customer,
    /// nothing changes.
    async fn save_last_language(&mut self, address: &FoldedEmail, language: Language) -> Result<(), StoreError>;

    /// Whether a customer has written a comment, or a public feature request, that does not wait for approval.
    async fn has_public_posts(&mut self, customer: CustomerId) -> Result<bool, StoreError>;

    /// Gives everything of the customer `source` to `target` and deletes `source`: votes, feature requests, comments,
    /// also those that wait for approval, notes and subscriptions. An empty name of `target` becomes that of `source`.
    /// Unsent messages to `source` are deleted. If one of them has stopped all mail, the other one has, too, since the
    /// earlier timestamp.
    ///
    /// Returns `None` and changes nothing when one of them does not exist. They are different.
    ///
    /// Contract: a vote for a tree that both have voted for counts once. No concurrent vote is lost or counted twice.
    /// Of two votes for one feature request, the earlier one stays, subscribed if one of them is. Afterwards the address
    /// of `source` belongs to nobody.
    async fn merge_customers(
        &mut self,
        source: CustomerId,
        target: CustomerId,
    ) -> Result<Option<CustomersMerged>, StoreError>;
}

/// Erasing people, and what is kept of that.
#[async_trait]
pub trait PersonWrites {
    /// Returns the customer that is meant.
    async fn find_person(&mut self, person: &PersonRef) -> Result<Option<CustomerName>, StoreError>;

    /// Returns the feature requests that a customer asked for, oldest first.
    ///
    /// Contract: nobody votes for them, comments on them or merges them until the unit ends.
    async fn asked_requests(&mut self, customer: CustomerId) -> Result<Vec<AskedRequest>, StoreError>;

    /// Replaces a customer by another one, who has no name and an address of nobody, and gets no mail, and deletes
    /// everything else of the person: subscriptions, what waits or was removed, notes, sessions, sign-ins, messages,
    /// counted searches with the address or name; comments and votes as [`Erasure`] says. In saved responses and reports
    /// of imports, address and name are replaced. A removed member with the address loses both, too. Feature requests
    /// stay. Returns how many votes, comments and notes there were.
    ///
    /// Contract: with [`ErasedVotes::Keep`](crate::model::person::ErasedVotes::Keep) no number of votes changes; else all
    /// trees are counted again. As with [`CustomerWrites::merge_customers`], no concurrent vote is lost or counted twice.
    async fn erase_person(&mut self, erasure: &Erasure) -> Result<ErasedRecords, StoreError>;

    /// Stores what is kept of an erasure. With words, it is unfinished: files may have them.
    async fn save_erasure<'a>(
        &mut self,
        record: &ErasureRecord,
        words: Option<&'a PersonWords>,
    ) -> Result<(), StoreError>;

    /// Returns all erasures, oldest first.
    async fn erasures(&mut self) -> Result<Vec<ErasureRecord>, StoreError>;

    /// Returns the erasures that are not finished, oldest first.
    async fn unfinished_erasures(&mut self) -> Result<Vec<UnfinishedErasure>, StoreError>;

    /// Forgets the words of an erasure, which no file has any more, and deletes counted searches that came since.
    async fn forget_words(&mut self, erasure: &UnfinishedErasure) -> Result<(), StoreError>;

    /// Marks erasures as finished: the database has no remains.
    async fn finish_erasures(&mut self, erasures: &[CustomerId]) -> Result<(), StoreError>;
}

/// Writes of sessions, of sign-ins, and of the counters of the mails that they ask for.
#[async_trait]
pub trait SessionWrites {
    /// Returns when the `nth` newest mail that this counter has counted was asked for, from 1. It counts for all
    /// workspaces.
    ///
    /// Contract: concurrent units of work that ask for the same counter, of all workspaces, wait for each other and see
    /// each other's mails.
    async fn nth_counted_mail(&mut self, counter: CounterKey, nth: u32) -> Result<Option<Timestamp>, StoreError>;

    /// Counts a mail by each of these counters. Mails of the workspace that were asked for before `purge_before` are not
    /// counted any more.
    async fn count_mail(
        &mut self,
        mail: Uuid,
        counters: &[CounterKey],
        at: Timestamp,
        purge_before: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns what the workspace knows about an address, with one statement for every address.
    async fn find_known_address(&mut self, email: &FoldedEmail) -> Result<KnownAddress, StoreError>;

    /// Stores a sign-in. Sign-ins of the workspace that were asked for before `purge_before` are deleted.
    async fn insert_sign_in(
        &mut self,
        sign_in: &SignIn,
        has_mail: bool,
        purge_before: Timestamp,
    ) -> Result<(), StoreError>;

    /// Deletes the oldest sign-ins without a mail, so that at most `limit` of them are left.
    async fn purge_sign_ins_without_mail(&mut self, limit: u32) -> Result<(), StoreError>;

    /// Marks a sign-in as used at `at`. Returns whether it was not used before and was asked for at `asked_since` or
    /// later. If it is redeemed, its mail is not counted any more, and its address is known from now on.
    ///
    /// Contract: of several concurrent calls for a sign-in, at most one returns `true`.
    async fn consume_sign_in(
        &mut self,
        sign_in: SignInId,
        how: Consumption,
        asked_since: Timestamp,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Counts a code that was typed for a sign-in, before it is compared. Returns whether it may be compared: the sign-in
    /// is not used, was asked for at `asked_since` or later, and fewer than `max` codes were counted before.
    ///
    /// Contract: concurrent calls see each other's counts.
    async fn count_code(&mut self, sign_in: SignInId, asked_since: Timestamp, max: u32) -> Result<bool, StoreError>;

    /// Stores a session. Sessions of the workspace that were last used before `purge_before` are deleted.
    async fn insert_session(&mut self, session: &NewSession, purge_before: Timestamp) -> Result<(), StoreError>;

    /// Deletes a session of an address. Returns whether there was one.
    async fn end_session(&mut self, session: SessionId, email: &FoldedEmail) -> Result<bool, StoreError>;

    /// Deletes all sessions and open sign-ins of an address. Returns the number of sessions.
    async fn end_sessions(&mut self, email: &FoldedEmail) -> Result<u64, StoreError>;
}

/// Changes of a tag on all feature requests that have it.
#[async_trait]
pub trait TagWrites {
    /// Returns the tag with this name, regardless of case. `None` if no feature request has it, also no merged one.
    async fn find_tag(&mut self, name: &Tag) -> Result<Option<ListedTag>, StoreError>;

    /// Returns the feature requests, merged ones included, that a change changes, in the order of their IDs; `None` if
    /// there are more than `limit`.
    ///
    /// Contract: other units of work that change these feature requests, or index them or what they are merged into, wait
    /// for this one, and this one sees the changes of those that it waited for. Units that change tags of the workspace
    /// follow each other.
    async fn lock_tagged(
        &mut self,
        change: &TagChange,
        limit: u32,
    ) -> Result<Option<Vec<FeatureRequestId>>, StoreError>;

    /// Changes a tag on these feature requests, which are locked. One that has both tags keeps one of them, at the position
    /// of the first. Each gets an event by `actor`. Returns the feature requests whose search documents have words of the
    /// changed tags: these, or what they are merged into.
    async fn change_tag(
        &mut self,
        change: &TagChange,
        requests: &[FeatureRequestId],
        actor: &Actor,
        at: Timestamp,
    ) -> Result<Vec<FeatureRequestId>, StoreError>;
}

/// Tracks and lanes.
#[async_trait]
pub trait TrackWrites {
    /// Returns the track, if it exists in this workspace.
    async fn find_track(&mut self, track: TrackId) -> Result<Option<Track>, StoreError>;

    /// Returns the workspace's first track, the default for new feature requests.
    async fn first_track(&mut self) -> Result<Option<Track>, StoreError>;

    /// Returns all lanes and tracks. Other units of work of this workspace that load the board wait for this one.
    async fn load_board(&mut self) -> Result<Board, StoreError>;

    /// Replaces all lanes and tracks. Those that are not on the board are deleted.
    ///
    /// Contract: a deleted track has no feature requests.
    async fn save_board(&mut self, board: &Board) -> Result<(), StoreError>;

    /// Whether a track has feature requests, merged ones included.
    async fn has_feature_requests(&mut self, track: TrackId) -> Result<bool, StoreError>;

    /// Returns the number of public feature requests that a lane shows.
    async fn count_lane_requests(&mut self, lane: LaneId) -> Result<i64, StoreError>;

    /// Sets since when the feature requests of a track, merged ones included, have their public status.
    async fn set_status_since(&mut self, track: TrackId, at: Timestamp) -> Result<(), StoreError>;

    /// Moves all feature requests of a track, merged ones included, to another one. Each of them gets an event by
    /// `actor`, and the team has decided about it.
    async fn move_feature_requests(
        &mut self,
        from: TrackId,
        to: TrackId,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}

/// Writes of settings.
#[async_trait]
pub trait SettingWrites {
    /// Returns the current settings.
    async fn load_setting(&mut self) -> Result<Setting, StoreError>;

    /// Replaces the settings.
    async fn save_setting(&mut self, setting: &Setting) -> Result<(), StoreError>;

    /// Returns the current synonyms.
    async fn load_synonyms(&mut self) -> Result<Synonyms, StoreError>;

    /// Replaces the synonyms.
    async fn save_synonyms(&mut self, synonyms: &Synonyms) -> Result<(), StoreError>;

    /// Returns the settings of the portal, the default ones if none are stored. Other units of work that load them wait
    /// for this one.
    async fn load_portal(&mut self) -> Result<PortalSettings, StoreError>;

    /// Replaces the settings of the portal.
    async fn save_portal(&mut self, settings: &PortalSettings) -> Result<(), StoreError>;

    /// Replaces the name that the operator lets the workspace's mail come from. Returns the name before. Other units of
    /// work that replace it wait for this one.
    async fn replace_sender_name<'a>(&mut self, name: Option<&'a SenderName>)
    -> Result<Option<SenderName>, StoreError>;
}

/// Writes of changelogs.
#[async_trait]
pub trait ChangelogWrites {
    /// Stores a changelog and the existing feature requests that it is about.
    async fn insert_changelog(
        &mut self,
        changelog: &Changelog,
        feature_requests: &[FeatureRequestId],
    ) -> Result<(), StoreError>;

    /// Returns a changelog. Other units of work that change it wait for this one.
    async fn find_changelog(&mut self, changelog: ChangelogId) -> Result<Option<EditableChangelog>, StoreError>;

    /// Replaces a changelog and the existing feature requests that it is about.
    async fn save_changelog(&mut self, changelog: &EditableChangelog) -> Result<(), StoreError>;

    /// Returns the feature requests that a changelog is about, in the team's order. A merged one is the one it was
    /// merged into, listed once.
    async fn linked_feature_requests(
        &mut self,
        changelog: ChangelogId,
    ) -> Result<Vec<FeatureRequestSummary>, StoreError>;

    /// Deletes a changelog and the unsent messages about it. Returns whether there was one.
    async fn delete_changelog(&mut self, changelog: ChangelogId) -> Result<bool, StoreError>;
}

/// Writes of attachments.
#[async_trait]
pub trait AttachmentWrites {
    /// Stores the row of a file after its bytes were stored; of a picture for texts, with who has added it. Does nothing if
    /// it is there.
    async fn insert_attachment(
        &mut self,
        attachment: &Attachment,
        picture_by: Option<PictureBy>,
    ) -> Result<(), StoreError>;

    /// Returns those of these files that are pictures for texts of this workspace.
    ///
    /// Contract: as [`Self::find_cover`], it prevents their deletion until the unit ends.
    async fn find_pictures(&mut self, pictures: &[AttachmentId]) -> Result<Vec<Picture>, StoreError>;

    /// Says that the text of a record, a feature request, a comment or a changelog, has these pictures and no others.
    async fn set_pictures(&mut self, record: Uuid, pictures: &[AttachmentId]) -> Result<(), StoreError>;

    /// Returns how many bytes the pictures take that customers have added.
    async fn customer_picture_bytes(&mut self) -> Result<u64, StoreError>;

    /// Returns a file for use as a cover, with its media type, if it exists in this workspace.
    async fn find_cover(&mut self, attachment: AttachmentId) -> Result<Option<(CoverImage, MediaType)>, StoreError>;

    /// Deletes the row of a file that nothing uses.
    ///
    /// Contract: a concurrent unit of work that looks up a file as a cover either prevents its deletion or does not
    /// find it.
    async fn delete_attachment(&mut self, attachment: AttachmentId) -> Result<AttachmentDeletion, StoreError>;
}

/// Blocks of customers, and the removal of their texts.
#[async_trait]
pub trait ModerationWrites {
    /// Blocks a customer since a timestamp, or ends the block (`None`). While it lasts, all mail to the customer is stopped; with the block,
    /// unsent messages to the customer are deleted. Returns the customer and whether it changed, or `None` when it does
    /// not exist.
    ///
    /// Contract: of a blocked customer, the first timestamp stays. A customer who had stopped all mail before, or who does
    /// so while blocked, gets none after the block, either.
    async fn set_blocked(
        &mut self,
        customer: CustomerId,
        blocked_at: Option<Timestamp>,
    ) -> Result<Option<(CustomerName, bool)>, StoreError>;

    /// Removes the newest texts of a customer, at most `limit` comments, as many that wait, and as many feature
    /// requests, and deletes unsent messages about them. A removed comment is not there for anybody. A feature request
    /// becomes private and does not wait for approval any more; its title is
    /// [`REMOVED_TITLE`](crate::model::removal::REMOVED_TITLE), and it has no description and no tags. Votes, comments of others
    /// and notes stay.
    async fn remove_texts(&mut self, customer: CustomerId, at: Timestamp, limit: u32)
    -> Result<MovedTexts, StoreError>;

    /// Restores as many removed texts of a customer as they were. A feature request that has got another title or a
    /// description since then keeps these.
    async fn restore_texts(
        &mut self,
        customer: CustomerId,
        at: Timestamp,
        limit: u32,
    ) -> Result<MovedTexts, StoreError>;
}

/// The audit log.
#[async_trait]
pub trait AuditWrites {
    /// Adds an entry.
    async fn insert_audit_entry(&mut self, entry: &AuditEntry) -> Result<(), StoreError>;
}

/// Writes of operator commands.
#[async_trait]
pub trait Provisioning {
    /// Stores the unit's workspace with its settings, without lanes and tracks.
    async fn insert_workspace(
        &mut self,
        workspace: &Workspace,
        setting: &Setting,
        at: Timestamp,
    ) -> Result<Insertion, StoreError>;

    /// Adds a team member. A removed member with the same address is restored, under its former ID, with the new name
    /// and role. Returns the member, or `None` when the address is in use.
    async fn insert_member(&mut self, member: &Member) -> Result<Option<Member>, StoreError>;

    /// Returns the team members, oldest first. Other units of work of this workspace that load them wait for this one.
    async fn load_members(&mut self) -> Result<Vec<Member>, StoreError>;

    /// Returns the member with this address.
    async fn find_member(&mut self, address: &FoldedEmail) -> Result<Option<Member>, StoreError>;

    /// Sets the role of a member.
    async fn set_role(&mut self, member: MemberId, role: Role) -> Result<(), StoreError>;

    /// Removes a member. Its comments and notes stay, with its name.
    async fn remove_member(&mut self, member: MemberId, at: Timestamp) -> Result<(), StoreError>;

    /// Stores a key with its digest.
    async fn insert_api_key(&mut self, key: &ApiKey, digest: &KeyDigest) -> Result<(), StoreError>;

    /// Returns the key, if it exists in this workspace. Other units of work that change it wait for this one.
    async fn find_api_key(&mut self, key: ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Revokes the keys that a member made and that are valid at `at`. Returns them, oldest first.
    async fn revoke_keys_of(&mut self, member: MemberId, at: Timestamp) -> Result<Vec<ApiKey>, StoreError>;

    /// Sets the timestamps of the key's expiry and revocation.
    async fn update_api_key_validity(
        &mut self,
        key: ApiKeyId,
        expires_at: Option<Timestamp>,
        revoked_at: Option<Timestamp>,
    ) -> Result<(), StoreError>;
}

/// The result of deleting the row of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum AttachmentDeletion {
    /// The row was deleted.
    Deleted(UnusedAttachment),
    /// A changelog uses the file.
    InUse,
    /// There is no such file.
    NotFound,
}

/// The result of inserting a record whose name must be unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Insertion {
    /// The record was stored.
    Inserted,
    /// The name is already in use. Nothing was stored.
    NameTaken,
}

#[cfg(any(test, feature = "mocks"))]
mockall::mock! {
    /// Double of [`UnitOfWork`](crate::ports::UnitOfWork) and its supertraits.
    pub Unit {}

    #[async_trait]
    impl crate::ports::UnitOfWork for Unit {
        async fn commit<'a>(self: Box<Self>, saved: Option<&'a crate::model::operation_key::SavedResponse>, at: Timestamp) -> Result<crate::ports::EndOutcome, StoreError>;
        async fn rollback(self: Box<Self>) -> Result<crate::ports::EndOutcome, StoreError>;
    }

    #[async_trait]
    impl FeatureRequestWrites for Unit {
        async fn find_feature_request(&mut self, request: &FeatureRequestRef) -> Result<Option<FeatureRequestSummary>, StoreError>;
        async fn lock_feature_request(&mut self, request: &FeatureRequestRef) -> Result<Option<FeatureRequestSummary>, StoreError>;
        async fn insert_feature_request(&mut self, request: &NewFeatureRequest) -> Result<FeatureRequestSummary, StoreError>;
        async fn set_feature_request_track(&mut self, request: FeatureRequestId, track: TrackId, changes_status: bool, at: Timestamp) -> Result<(), StoreError>;
        async fn clear_attention(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError>;
        async fn find_editable_fields(&mut self, request: &FeatureRequestRef) -> Result<Option<EditableFields>, StoreError>;
        async fn save_editable_fields(&mut self, fields: &EditableFields, at: Timestamp) -> Result<(), StoreError>;
        async fn feature_request_detail(&mut self, request: FeatureRequestId) -> Result<Option<FeatureRequestDetail>, StoreError>;
        async fn searchable_text(&mut self, request: FeatureRequestId, merged: u32) -> Result<Option<SearchableText>, StoreError>;
        async fn save_search_document(&mut self, request: FeatureRequestId, document: &SearchDocument) -> Result<(), StoreError>;
        async fn delete_search_document(&mut self, request: FeatureRequestId) -> Result<(), StoreError>;
        async fn expire_search_documents(&mut self, requests: &[FeatureRequestId]) -> Result<(), StoreError>;
        async fn existing_feature_requests(&mut self, requests: &[FeatureRequestId]) -> Result<Vec<FeatureRequestId>, StoreError>;
        async fn insert_event(&mut self, event: &NewEvent) -> Result<(), StoreError>;
        async fn delete_feature_request(&mut self, request: FeatureRequestId) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl MergeWrites for Unit {
        async fn find_merge_node(&mut self, request: &FeatureRequestRef) -> Result<Option<MergeNode>, StoreError>;
        async fn link_feature_request(&mut self, source: FeatureRequestId, target: FeatureRequestId, at: Timestamp) -> Result<(), StoreError>;
        async fn unlink_feature_request(&mut self, source: FeatureRequestId, at: Timestamp) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl ImportWrites for Unit {
        async fn find_customers(&mut self, addresses: &[FoldedEmail]) -> Result<Vec<Option<CustomerId>>, StoreError>;
        async fn find_all_members(&mut self, addresses: &[FoldedEmail]) -> Result<Vec<Option<MemberId>>, StoreError>;
        async fn existing_votes(&mut self, votes: &[(FeatureRequestId, CustomerId)]) -> Result<Vec<bool>, StoreError>;
        async fn import_customers(&mut self, by: ImportId, customers: &[(NewCustomer, Timestamp)]) -> Result<Vec<CustomerId>, StoreError>;
        async fn import_feature_requests(&mut self, by: ImportId, requests: &[ImportedRequest]) -> Result<i64, StoreError>;
        async fn import_members(&mut self, members: &[Member]) -> Result<Vec<MemberId>, StoreError>;
        async fn import_votes(&mut self, by: ImportId, votes: &[ImportedVote]) -> Result<VotesImported, StoreError>;
        async fn existing_subscriptions(&mut self, subscriptions: &[(FeatureRequestId, CustomerId)]) -> Result<Vec<bool>, StoreError>;
        async fn import_subscriptions(&mut self, by: ImportId, subscriptions: &[ImportedSubscription]) -> Result<u64, StoreError>;
        async fn import_comments(&mut self, comments: &[ImportedComment]) -> Result<(), StoreError>;
        async fn import_notes(&mut self, notes: &[ImportedNote]) -> Result<(), StoreError>;
        async fn import_moves(&mut self, moves: &[ImportedMove]) -> Result<(), StoreError>;
        async fn import_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;
        async fn set_nameless_votes(&mut self, votes: &[(FeatureRequestId, u32)]) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl RestoreWrites for Unit {
        async fn is_blank(&mut self) -> Result<bool, StoreError>;
        async fn restore(&mut self, part: Part, rows: String) -> Result<(), StoreError>;
        async fn set_last_tag_number(&mut self, number: i64) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl ImportRunWrites for Unit {
        async fn load_imports(&mut self) -> Result<Vec<Import>, StoreError>;
        async fn save_import(&mut self, import: &Import) -> Result<(), StoreError>;
        async fn advance_import(&mut self, import: ImportId, holder: Uuid, progress: &Progress, at: Timestamp) -> Result<bool, StoreError>;
        async fn hold_import(&mut self, import: ImportId, holder: Uuid, at: Timestamp) -> Result<bool, StoreError>;
        async fn find_imported(&mut self, name: &SourceName, kind: Kind, external_ids: &[String]) -> Result<Vec<Option<ImportedRecord>>, StoreError>;
        async fn remember_imported(&mut self, import: ImportId, name: &SourceName, kind: Kind, records: &[ImportedFrom], at: Timestamp) -> Result<(), StoreError>;
        async fn count_imported(&mut self, import: ImportId, kind: Kind) -> Result<u64, StoreError>;
        async fn made_requests(&mut self, import: ImportId, merged: bool, after: Option<FeatureRequestId>, limit: u32) -> Result<Vec<MadeRequest>, StoreError>;
        async fn made_records(&mut self, import: ImportId, kind: Kind) -> Result<Vec<Uuid>, StoreError>;
        async fn made_changelogs(&mut self, import: ImportId, after: Option<ChangelogId>, limit: u32) -> Result<Vec<MadeChangelog>, StoreError>;
        async fn delete_made_posts(&mut self, import: ImportId, limit: u32) -> Result<Option<MadePosts>, StoreError>;
        async fn delete_made_customers(&mut self, import: ImportId, after: Option<CustomerId>, limit: u32) -> Result<(u64, Option<CustomerId>), StoreError>;
        async fn delete_made_members(&mut self, import: ImportId) -> Result<u64, StoreError>;
        async fn forget_deleted(&mut self, import: ImportId) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl crate::ports::JobWrites for Unit {
        async fn insert_job_file(&mut self, job: Uuid, name: &str, file: &Attachment) -> Result<(), StoreError>;
        async fn delete_job_files(&mut self, job: Uuid) -> Result<Vec<UnusedAttachment>, StoreError>;
        async fn delete_import(&mut self, import: ImportId) -> Result<(), StoreError>;
        async fn load_exports(&mut self) -> Result<Vec<crate::model::export::run::ExportRun>, StoreError>;
        async fn save_export(&mut self, export: &crate::model::export::run::ExportRun) -> Result<(), StoreError>;
        async fn delete_export(&mut self, export: crate::model::id::ExportId) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl VoteWrites for Unit {
        async fn cast_vote(&mut self, vote: &NewVote) -> Result<Option<VoteCast>, StoreError>;
        async fn withdraw_vote(&mut self, request: &FeatureRequestRef, customer: &FoldedEmail) -> Result<Option<VoteWithdrawn>, StoreError>;
        async fn delete_note(&mut self, note: NoteId) -> Result<Option<FeatureRequestId>, StoreError>;
    }

    #[async_trait]
    impl CommentWrites for Unit {
        async fn insert_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError>;
        async fn find_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn update_comment(&mut self, comment: CommentId, content: &CleanHtml, at: Timestamp) -> Result<Option<ListedComment>, StoreError>;
        async fn delete_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn notify_people(&mut self, comment: CommentId, to_author: bool, replied: &[CommentId], at: Timestamp) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl LinkWrites for Unit {
        async fn find_link(&mut self, link: LinkId) -> Result<Option<Link>, StoreError>;
        async fn find_link_to(&mut self, request: FeatureRequestId, issue: &Issue) -> Result<Option<Link>, StoreError>;
        async fn count_links(&mut self, request: FeatureRequestId) -> Result<u64, StoreError>;
        async fn insert_link(&mut self, request: FeatureRequestId, link: &Link) -> Result<(), StoreError>;
        async fn save_link(&mut self, link: &Link) -> Result<(), StoreError>;
        async fn delete_link(&mut self, link: LinkId) -> Result<Option<FeatureRequestId>, StoreError>;
    }

    #[async_trait]
    impl crate::ports::WebhookWrites for Unit {
        async fn load_webhooks(&mut self) -> Result<Vec<crate::model::webhook::Webhook>, StoreError>;
        async fn save_webhook(&mut self, webhook: &crate::model::webhook::Webhook) -> Result<(), StoreError>;
        async fn delete_webhook(&mut self, webhook: crate::model::id::WebhookId) -> Result<(), StoreError>;
        async fn fail_waiting(&mut self, webhook: crate::model::id::WebhookId, failure: crate::model::webhook::Failure) -> Result<(), StoreError>;
        async fn record_events(&mut self, events: &[crate::model::webhook_event::NewWebhookEvent]) -> Result<(), StoreError>;
        async fn record_events_now(&mut self, events: &[crate::model::webhook_event::NewWebhookEvent]) -> Result<(), StoreError>;
        async fn insert_test_delivery(&mut self, event: &crate::model::webhook_event::NewWebhookEvent, delivery: &crate::model::webhook::NewDelivery) -> Result<(), StoreError>;
        async fn find_delivery(&mut self, webhook: crate::model::id::WebhookId, event: crate::model::id::WebhookEventId) -> Result<Option<crate::model::webhook::Delivery>, StoreError>;
        async fn redeliver(&mut self, webhook: crate::model::id::WebhookId, event: crate::model::id::WebhookEventId, at: Timestamp) -> Result<(), StoreError>;
        async fn redeliver_failed(&mut self, webhook: crate::model::id::WebhookId, since: Timestamp, at: Timestamp) -> Result<u64, StoreError>;
        async fn delete_events_of(&mut self, customer: CustomerId) -> Result<(), StoreError>;
        async fn mark_announced(&mut self, changelog: ChangelogId, at: Timestamp) -> Result<bool, StoreError>;
    }

    #[async_trait]
    impl crate::ports::LinkSourceWrites for Unit {
        async fn load_link_sources(&mut self) -> Result<Vec<(crate::model::link_source::LinkSource, String)>, StoreError>;
        async fn save_link_source(&mut self, source: &crate::model::link_source::LinkSource, sealed: &str) -> Result<(), StoreError>;
        async fn delete_link_source(&mut self, source: crate::model::id::LinkSourceId) -> Result<(), StoreError>;
        async fn last_report(&mut self, issue: &Issue) -> Result<Option<Timestamp>, StoreError>;
        async fn links_to(&mut self, issue: &Issue, after: Option<LinkId>, limit: u32) -> Result<Vec<(FeatureRequestId, Link)>, StoreError>;
        async fn save_reported_links(&mut self, links: &[Link], reported_at: Timestamp) -> Result<(), StoreError>;
        async fn has_open_links(&mut self, request: FeatureRequestId) -> Result<bool, StoreError>;
    }

    #[async_trait]
    impl HeldPostWrites for Unit {
        async fn hold_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError>;
        async fn find_held_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn approve_comment(&mut self, comment: CommentId) -> Result<Option<(FeatureRequestId, CleanHtml)>, StoreError>;
        async fn discard_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn decline_feature_request(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError>;
    }

    #[async_trait]
    impl OwnPostWrites for Unit {
        async fn find_own_comment(&mut self, comment: CommentId, customer: CustomerId) -> Result<Option<OwnComment>, StoreError>;
        async fn update_held_comment(&mut self, comment: CommentId, content: &CleanHtml) -> Result<bool, StoreError>;
        async fn find_own_request(&mut self, request: &FeatureRequestRef, customer: CustomerId) -> Result<Option<OwnRequest>, StoreError>;
        async fn remove_author(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl Outbox for Unit {
        async fn enqueue_notifications(&mut self, topic: Topic, at: Timestamp, at_once: u32, request_id: Option<String>) -> Result<(), StoreError>;
        async fn insert_message(&mut self, message: &NewMessage) -> Result<bool, StoreError>;
        async fn delete_message(&mut self, message: &MessageId) -> Result<(), StoreError>;
        async fn retry_mail(&mut self, dead: bool, at: Timestamp) -> Result<u64, StoreError>;
        async fn count_team_mail(&mut self, day: MailBudgetWindow) -> Result<u64, StoreError>;
        async fn count_mails(&mut self, topic: Topic, at: Timestamp, day: MailBudgetWindow, limit: u64) -> Result<u64, StoreError>;
    }

    #[async_trait]
    impl SubscriptionWrites for Unit {
        async fn unsubscribe(&mut self, customer: CustomerId, request: FeatureRequestId) -> Result<Option<bool>, StoreError>;
        async fn change_mail_settings(&mut self, customer: CustomerId, change: MailSettingsChange, at: Timestamp) -> Result<Option<bool>, StoreError>;
        async fn ask_for_news(&mut self, customer: &NewCustomer, at: Timestamp) -> Result<bool, StoreError>;
        async fn set_team_mail(&mut self, member: MemberId, wanted: TeamMail, at: Timestamp) -> Result<bool, StoreError>;
        async fn set_shortcuts(&mut self, member: MemberId, on: bool) -> Result<bool, StoreError>;
        async fn load_saved_views(&mut self, member: MemberId) -> Result<Option<SavedViews>, StoreError>;
        async fn set_saved_views(&mut self, member: MemberId, views: &SavedViews) -> Result<(), StoreError>;
        async fn tell_until(&mut self, member: MemberId, after: Timestamp, until: Timestamp) -> Result<Option<EmailAddress>, StoreError>;
        async fn subscribe(&mut self, request: &FeatureRequestRef, customer: &NewCustomer, at: Timestamp) -> Result<Option<SubscribeOutcome>, StoreError>;
    }

    #[async_trait]
    impl PersonWrites for Unit {
        async fn find_person(&mut self, person: &PersonRef) -> Result<Option<CustomerName>, StoreError>;
        async fn asked_requests(&mut self, customer: CustomerId) -> Result<Vec<AskedRequest>, StoreError>;
        async fn erase_person(&mut self, erasure: &Erasure) -> Result<ErasedRecords, StoreError>;
        async fn save_erasure<'a>(&mut self, record: &ErasureRecord, words: Option<&'a PersonWords>) -> Result<(), StoreError>;
        async fn erasures(&mut self) -> Result<Vec<ErasureRecord>, StoreError>;
        async fn unfinished_erasures(&mut self) -> Result<Vec<UnfinishedErasure>, StoreError>;
        async fn forget_words(&mut self, erasure: &UnfinishedErasure) -> Result<(), StoreError>;
        async fn finish_erasures(&mut self, erasures: &[CustomerId]) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl TagWrites for Unit {
        async fn find_tag(&mut self, name: &Tag) -> Result<Option<ListedTag>, StoreError>;
        async fn lock_tagged(&mut self, change: &TagChange, limit: u32) -> Result<Option<Vec<FeatureRequestId>>, StoreError>;
        async fn change_tag(&mut self, change: &TagChange, requests: &[FeatureRequestId], actor: &Actor, at: Timestamp) -> Result<Vec<FeatureRequestId>, StoreError>;
    }

    #[async_trait]
    impl TrackWrites for Unit {
        async fn find_track(&mut self, track: TrackId) -> Result<Option<Track>, StoreError>;
        async fn first_track(&mut self) -> Result<Option<Track>, StoreError>;
        async fn load_board(&mut self) -> Result<Board, StoreError>;
        async fn save_board(&mut self, board: &Board) -> Result<(), StoreError>;
        async fn has_feature_requests(&mut self, track: TrackId) -> Result<bool, StoreError>;
        async fn count_lane_requests(&mut self, lane: LaneId) -> Result<i64, StoreError>;
        async fn set_status_since(&mut self, track: TrackId, at: Timestamp) -> Result<(), StoreError>;
        async fn move_feature_requests(&mut self, from: TrackId, to: TrackId, actor: &Actor, at: Timestamp) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl SettingWrites for Unit {
        async fn load_setting(&mut self) -> Result<Setting, StoreError>;
        async fn save_setting(&mut self, setting: &Setting) -> Result<(), StoreError>;
        async fn load_synonyms(&mut self) -> Result<Synonyms, StoreError>;
        async fn save_synonyms(&mut self, synonyms: &Synonyms) -> Result<(), StoreError>;
        async fn load_portal(&mut self) -> Result<PortalSettings, StoreError>;
        async fn save_portal(&mut self, settings: &PortalSettings) -> Result<(), StoreError>;
        async fn replace_sender_name<'a>(&mut self, name: Option<&'a SenderName>) -> Result<Option<SenderName>, StoreError>;
    }

    #[async_trait]
    impl ChangelogWrites for Unit {
        async fn insert_changelog(&mut self, changelog: &Changelog, feature_requests: &[FeatureRequestId]) -> Result<(), StoreError>;
        async fn find_changelog(&mut self, changelog: ChangelogId) -> Result<Option<EditableChangelog>, StoreError>;
        async fn save_changelog(&mut self, changelog: &EditableChangelog) -> Result<(), StoreError>;
        async fn linked_feature_requests(&mut self, changelog: ChangelogId) -> Result<Vec<FeatureRequestSummary>, StoreError>;
        async fn delete_changelog(&mut self, changelog: ChangelogId) -> Result<bool, StoreError>;
    }

    #[async_trait]
    impl AttachmentWrites for Unit {
        async fn insert_attachment(&mut self, attachment: &Attachment, picture_by: Option<PictureBy>) -> Result<(), StoreError>;
        async fn find_pictures(&mut self, pictures: &[AttachmentId]) -> Result<Vec<Picture>, StoreError>;
        async fn set_pictures(&mut self, record: Uuid, pictures: &[AttachmentId]) -> Result<(), StoreError>;
        async fn customer_picture_bytes(&mut self) -> Result<u64, StoreError>;
        async fn find_cover(&mut self, attachment: AttachmentId) -> Result<Option<(CoverImage, MediaType)>, StoreError>;
        async fn delete_attachment(&mut self, attachment: AttachmentId) -> Result<AttachmentDeletion, StoreError>;
    }

    #[async_trait]
    impl AuditWrites for Unit {
        async fn insert_audit_entry(&mut self, entry: &AuditEntry) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl ModerationWrites for Unit {
        async fn set_blocked(&mut self, customer: CustomerId, blocked_at: Option<Timestamp>) -> Result<Option<(CustomerName, bool)>, StoreError>;
        async fn remove_texts(&mut self, customer: CustomerId, at: Timestamp, limit: u32) -> Result<MovedTexts, StoreError>;
        async fn restore_texts(&mut self, customer: CustomerId, at: Timestamp, limit: u32) -> Result<MovedTexts, StoreError>;
    }

    #[async_trait]
    impl CustomerWrites for Unit {
        async fn find_customer(&mut self, address: &FoldedEmail) -> Result<Option<CustomerId>, StoreError>;
        async fn customer_exists(&mut self, customer: CustomerId) -> Result<bool, StoreError>;
        async fn rename_customer(&mut self, customer: CustomerId, name: &Name) -> Result<Option<(Customer, Option<Name>)>, StoreError>;
        async fn set_own_name<'a>(&mut self, customer: CustomerId, name: Option<&'a Name>) -> Result<(), StoreError>;
        async fn set_language(&mut self, customer: &NewCustomer, language: Option<Language>, at: Timestamp) -> Result<CustomerName, StoreError>;
        async fn save_last_language(&mut self, address: &FoldedEmail, language: Language) -> Result<(), StoreError>;
        async fn has_public_posts(&mut self, customer: CustomerId) -> Result<bool, StoreError>;
        async fn merge_customers(&mut self, source: CustomerId, target: CustomerId) -> Result<Option<CustomersMerged>, StoreError>;
    }

    #[async_trait]
    impl SessionWrites for Unit {
        async fn nth_counted_mail(&mut self, counter: CounterKey, nth: u32) -> Result<Option<Timestamp>, StoreError>;
        async fn count_mail(&mut self, mail: Uuid, counters: &[CounterKey], at: Timestamp, purge_before: Timestamp) -> Result<(), StoreError>;
        async fn find_known_address(&mut self, email: &FoldedEmail) -> Result<KnownAddress, StoreError>;
        async fn insert_sign_in(&mut self, sign_in: &SignIn, has_mail: bool, purge_before: Timestamp) -> Result<(), StoreError>;
        async fn purge_sign_ins_without_mail(&mut self, limit: u32) -> Result<(), StoreError>;
        async fn consume_sign_in(&mut self, sign_in: SignInId, how: Consumption, asked_since: Timestamp, at: Timestamp) -> Result<bool, StoreError>;
        async fn count_code(&mut self, sign_in: SignInId, asked_since: Timestamp, max: u32) -> Result<bool, StoreError>;
        async fn insert_session(&mut self, session: &NewSession, purge_before: Timestamp) -> Result<(), StoreError>;
        async fn end_session(&mut self, session: SessionId, email: &FoldedEmail) -> Result<bool, StoreError>;
        async fn end_sessions(&mut self, email: &FoldedEmail) -> Result<u64, StoreError>;
    }

    #[async_trait]
    impl Provisioning for Unit {
        async fn insert_workspace(&mut self, workspace: &Workspace, setting: &Setting, at: Timestamp) -> Result<Insertion, StoreError>;
        async fn insert_member(&mut self, member: &Member) -> Result<Option<Member>, StoreError>;
        async fn load_members(&mut self) -> Result<Vec<Member>, StoreError>;
        async fn find_member(&mut self, address: &FoldedEmail) -> Result<Option<Member>, StoreError>;
        async fn set_role(&mut self, member: MemberId, role: Role) -> Result<(), StoreError>;
        async fn remove_member(&mut self, member: MemberId, at: Timestamp) -> Result<(), StoreError>;
        async fn insert_api_key(&mut self, key: &ApiKey, digest: &KeyDigest) -> Result<(), StoreError>;
        async fn find_api_key(&mut self, key: ApiKeyId) -> Result<Option<ApiKey>, StoreError>;
        async fn revoke_keys_of(&mut self, member: MemberId, at: Timestamp) -> Result<Vec<ApiKey>, StoreError>;
        async fn update_api_key_validity(&mut self, key: ApiKeyId, expires_at: Option<Timestamp>, revoked_at: Option<Timestamp>) -> Result<(), StoreError>;
    }
}
