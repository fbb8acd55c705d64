//! Ports for reads outside of units of work, one per noun. One method per query of a client or operator.
//!
//! Contract: a method that names a number of statements executes at most as many, whatever its number of rows. A page of
//! the portal needs at most five.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::admin::{
    CustomerRecords, InboxCounts, InboxFilter, InboxList, InboxRow, MergePreview, Overview, OverviewTimes, TeamPage,
};
use crate::model::attachment::Attachment;
use crate::model::audit::{AuditFilter, AuditListing, AuditPage};
use crate::model::board::{ListedLane, PortalLane, RoadmapLane};
use crate::model::changelog::{Changelog, ChangelogDetail, ChangelogMail};
use crate::model::changes::{ChangedComment, ChangedRequest, ChangesFilter, ChangesListing, ChangesPage};
use crate::model::comment::ListedComment;
use crate::model::customer::{Customer, CustomerName, CustomerQuery};
use crate::model::email_address::{EmailAddress, FoldedEmail};
use crate::model::event::Event;
use crate::model::feature_request::{
    FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, RequestLink, Sort, Tag,
};
use crate::model::html::CleanHtml;
use crate::model::id::{
    AttachmentId, ChangelogId, CommentId, CustomerId, FeatureRequestId, MemberId, SessionId, SignInId, TrackId,
    WorkspaceId,
};
use crate::model::link::Link;
use crate::model::mail::MailSettings;
use crate::model::member::Member;
use crate::model::note::Note;
use crate::model::pagination::{Listing, PageRequest};
use crate::model::person::{ErasedTexts, Mention, PersonRecords, PersonRef};
use crate::model::portal::{
    AccountLists, ChangelogNeighbours, HeldPost, Portal, PortalFilter, PortalList, PortalRow, PublishedChangelog,
    RequestPage, ShippedIn, SitemapEntry, Viewer,
};
use crate::model::removal::CustomerTexts;
use crate::model::saved_view::SavedViews;
use crate::model::search::Synonyms;
use crate::model::session::{SecretDigest, Session};
use crate::model::setting::Setting;
use crate::model::sign_in::SignIn;
use crate::model::tag::{ListedTag, TagQuery};
use crate::model::team_mail::TeamMail;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::track::{LaneKind, Track};
use crate::model::vote::{VoteCounts, Voter};
use crate::policy::erasing::PersonWords;
use crate::policy::mail_requests::CounterKey;
use crate::policy::trending::{Ranking, WantedRanking};

/// All reads of records. What reads records of one noun takes the port of this noun.
pub trait Reads:
    AccountReader
    + AttachmentReader
    + AuditReader
    + ChangeReader
    + ChangelogReader
    + CommentReader
    + CustomerReader
    + FeatureRequestReader
    + InboxReader
    + crate::ports::JobReader
    + LinkReader
    + crate::ports::LinkSourceReader
    + crate::ports::WebhookReader
    + MemberReader
    + OverviewReader
    + PersonReader
    + PortalListReader
    + RequestPageReader
    + SessionReader
    + SettingReader
    + TagReader
    + TrackReader
    + VoteReader
{
}

/// Reads what people see of their own account.
#[async_trait]
pub trait AccountReader: Send + Sync {
    /// Returns the lists of an account, each with at most `limit` entries. Sessions are those of the address. Private feature
    /// requests of others are left out, and nothing is followed if all mail to the customer is stopped. Three statements.
    async fn account_lists(
        &self,
        workspace: WorkspaceId,
        email: &FoldedEmail,
        customer: Option<CustomerId>,
        limit: u32,
    ) -> Result<AccountLists, StoreError>;

    /// Returns the address of a customer, and which mail the customer gets. One statement.
    async fn mail_settings(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
    ) -> Result<Option<(EmailAddress, MailSettings)>, StoreError>;
}

/// Reads the metadata of files.
#[async_trait]
pub trait AttachmentReader: Send + Sync {
    /// Returns the metadata of a file.
    async fn attachment(&self, workspace: WorkspaceId, id: AttachmentId) -> Result<Option<Attachment>, StoreError>;

    /// Returns an uploaded image that everybody may see: the cover of a changelog that is public at `now`, or the logo
    /// of the portal. One statement.
    async fn public_image(
        &self,
        workspace: WorkspaceId,
        image: AttachmentId,
        now: Timestamp,
    ) -> Result<Option<Attachment>, StoreError>;

    /// Returns a picture that a text has, also one that is not public, or that was stored after `since` for a text that is
    /// still written. A picture of a removed text is not returned. One statement.
    async fn picture(
        &self,
        workspace: WorkspaceId,
        picture: AttachmentId,
        since: Timestamp,
    ) -> Result<Option<Attachment>, StoreError>;
}

/// Reads the audit log.
#[async_trait]
pub trait AuditReader: Send + Sync {
    /// Returns a part of the audit log, newest first.
    async fn audit_entries(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        page: AuditPage,
    ) -> Result<AuditListing, StoreError>;
}

/// Reads what has changed, in the order of the changes.
#[async_trait]
pub trait ChangeReader: Send + Sync {
    /// Returns a part of the list of all feature requests, oldest change first, merged and deleted ones included.
    ///
    /// Contract: a change that is committed after the call has a greater place than everything that the call returns.
    async fn changed_requests(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedRequest>, StoreError>;

    /// As [`Self::changed_requests`], for comments. A comment changes, too, when its feature request becomes private or
    /// public.
    async fn changed_comments(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedComment>, StoreError>;
}

/// Reads changelogs.
#[async_trait]
pub trait ChangelogReader: Send + Sync {
    /// Returns the changelogs, newest first.
    async fn changelogs(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<Changelog>, StoreError>;

    /// Returns a changelog with everything that its own page shows.
    async fn changelog(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
    ) -> Result<Option<ChangelogDetail>, StoreError>;

    /// Lists the changelogs that are public at `now`, the latest publication first. Three statements.
    async fn published_changelogs(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Listing<PublishedChangelog>, StoreError>;

    /// Returns a changelog, if it is public at `now`. Two statements.
    async fn published_changelog(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        now: Timestamp,
    ) -> Result<Option<PublishedChangelog>, StoreError>;

    /// Returns the changelogs before and after a publication among those that are public at `now`, in the order of
    /// [`Self::published_changelogs`]. One statement.
    async fn changelog_neighbours(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        published_at: Timestamp,
        now: Timestamp,
    ) -> Result<ChangelogNeighbours, StoreError>;

    /// Returns the latest changelog that is public at `now` and is about a feature request or something that is merged into
    /// it. One statement.
    async fn shipped_in(
        &self,
        workspace: WorkspaceId,
        request: FeatureRequestId,
        now: Timestamp,
    ) -> Result<Option<ShippedIn>, StoreError>;

    /// Returns whether the voters of a changelog get mail about it at `now`, which happens once. Neither for an unknown
    /// changelog.
    async fn changelog_mail(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        now: Timestamp,
    ) -> Result<ChangelogMail, StoreError>;
}

/// Reads comments and notes.
#[async_trait]
pub trait CommentReader: Send + Sync {
    /// Returns the comments of a feature request and of everything that is merged into it, oldest first, with the
    /// descriptions of what is merged into it. Words of private feature requests that are merged into a public one are
    /// left out, and blank descriptions, too. `None` when it does not exist.
    async fn comments(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<ListedComment>>, StoreError>;

    /// Returns the notes of a feature request and of everything that is merged into it, newest first. `None` when it
    /// does not exist.
    async fn notes(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Note>>, StoreError>;

    /// Lists what waits for approval, oldest first.
    async fn held_posts(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<HeldPost>, StoreError>;

    /// Returns the customers who wrote these comments, in any order. Comments of the team are left out. The description
    /// of a merged feature request, which is listed as a comment with the ID of that feature request, is one of them. One
    /// statement.
    async fn comment_customers(
        &self,
        workspace: WorkspaceId,
        comments: &[CommentId],
    ) -> Result<Vec<(CommentId, CustomerName)>, StoreError>;
}

/// Reads customers and what belongs to them.
#[async_trait]
pub trait CustomerReader: Send + Sync {
    /// Returns the customers whose name or address contains the query, or all, newest first.
    async fn customers<'a, 'b>(
        &'a self,
        workspace: WorkspaceId,
        query: Option<&'b CustomerQuery>,
        page: PageRequest,
    ) -> Result<Listing<Customer>, StoreError>;

    /// Returns a customer.
    async fn customer(&self, workspace: WorkspaceId, customer: CustomerId) -> Result<Option<Customer>, StoreError>;

    /// Returns the records of a customer, private feature requests included. Five statements.
    async fn customer_records(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
    ) -> Result<CustomerRecords, StoreError>;

    /// Returns a page of the texts of a customer, also of those that wait for approval or were removed, newest first, with
    /// their numbers. Two statements.
    async fn customer_texts(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        page: PageRequest,
    ) -> Result<CustomerTexts, StoreError>;

    /// Returns when the newest mail of the workspace that this counter has counted was asked for. One statement.
    async fn last_counted_mail(
        &self,
        workspace: WorkspaceId,
        counter: CounterKey,
    ) -> Result<Option<Timestamp>, StoreError>;
}

/// Reads feature requests, and what belongs to one or several of them.
#[async_trait]
pub trait FeatureRequestReader: Send + Sync {
    /// Returns a feature request with all of its fields. A merged one is the one it was merged into.
    async fn feature_request(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestDetail>, StoreError>;

    /// Returns the events of a feature request, newest first, optionally only those of one stored kind. `None` when it
    /// does not exist.
    async fn events(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        kind: Option<&'static str>,
        page: PageRequest,
    ) -> Result<Option<Listing<Event>>, StoreError>;

    /// Returns what only the team sees of a feature request that is not merged. Two statements.
    async fn team_page(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<TeamPage, StoreError>;

    /// Returns the number of different people who would get a changelog about these feature requests and what is merged with
    /// them, with those who get all changelogs. One statement.
    async fn count_changelog_audience(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<i64, StoreError>;

    /// Lists the public feature requests with tag numbers above `after`, in their order. One statement.
    async fn sitemap(&self, workspace: WorkspaceId, after: i64, limit: u32) -> Result<Vec<SitemapEntry>, StoreError>;

    /// Returns the highest tag number so far, or 0. One statement.
    async fn last_tag_number(&self, workspace: WorkspaceId) -> Result<i64, StoreError>;
}

/// Reads the lists of feature requests that the team works on, private ones included.
#[async_trait]
pub trait InboxReader: Send + Sync {
    /// Returns the numbers of feature requests by track and state, from counters. One statement.
    async fn inbox_counts(&self, workspace: WorkspaceId) -> Result<InboxCounts, StoreError>;

    /// Returns a page of the inbox. Merged feature requests are listed with their state only, see
    /// [`InboxState`](crate::model::admin::InboxState). The total of a list with a tag or a member counts at most
    /// [`InboxList::READ_LIMIT`]. Two statements.
    async fn inbox(&self, workspace: WorkspaceId, list: &InboxList) -> Result<Listing<InboxRow>, StoreError>;

    /// Returns those of these feature requests that match a filter, in the given order. One statement.
    async fn inbox_rows(
        &self,
        workspace: WorkspaceId,
        filter: &InboxFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<InboxRow>, StoreError>;

    /// Returns the feature request with this tag number, merged ones included, and the private ones that are not merged
    /// and whose title contains all of these words, regardless of case, newest first; at most `limit` of them. The newest
    /// [`InboxList::READ_LIMIT`] private feature requests are looked at. One statement.
    async fn find_unindexed(
        &self,
        workspace: WorkspaceId,
        number: Option<i64>,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError>;

    /// Returns what a merge would do. `None` if one of them does not exist. One statement.
    async fn merge_preview(
        &self,
        workspace: WorkspaceId,
        source: FeatureRequestId,
        target: FeatureRequestId,
    ) -> Result<Option<MergePreview>, StoreError>;
}

/// Reads links of feature requests.
#[async_trait]
pub trait LinkReader: Send + Sync {
    /// Returns the links of a feature request and of everything that is merged into it, oldest first. `None` when it does
    /// not exist.
    async fn links(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Link>>, StoreError>;
}

/// Reads team members.
#[async_trait]
pub trait MemberReader: Send + Sync {
    /// Returns the team members, oldest first.
    async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError>;

    /// Returns the address of a member, and which mail the member gets about what customers write. One statement.
    async fn team_mail(
        &self,
        workspace: WorkspaceId,
        member: MemberId,
    ) -> Result<Option<(EmailAddress, TeamMail)>, StoreError>;

    /// Returns the views that a member has saved. One statement.
    async fn saved_views(&self, workspace: WorkspaceId, member: MemberId) -> Result<SavedViews, StoreError>;
}

/// Reads the overview of a workspace.
#[async_trait]
pub trait OverviewReader: Send + Sync {
    /// Returns the overview of a workspace. It reads all votes of the workspace, so that callers keep the result for a
    /// while. Five statements.
    async fn overview(&self, workspace: WorkspaceId, times: &OverviewTimes) -> Result<Overview, StoreError>;
}

/// Reads everything about one person.
#[async_trait]
pub trait PersonReader: Send + Sync {
    /// Returns what is stored about a customer. One statement, so that all of it is of one moment.
    async fn person(&self, workspace: WorkspaceId, person: &PersonRef) -> Result<Option<PersonRecords>, StoreError>;

    /// Returns texts that have the address or the name of a customer and that erasing the customer leaves: those of others,
    /// and with [`ErasedTexts::Keep`] those of the customer. One statement.
    async fn mentions(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        words: &PersonWords,
        texts: ErasedTexts,
    ) -> Result<Vec<Mention>, StoreError>;
}

/// Reads the lists of feature requests on the portal. Merged feature requests appear in none of them, private ones where a
/// method says so.
#[async_trait]
pub trait PortalListReader: Send + Sync {
    /// Lists feature requests: public ones, and with a filter for what a customer has written, also the customer's
    /// private ones. [`PortalSort::Trending`](crate::model::portal::PortalSort::Trending) is as by votes. The total of a
    /// list with a tag counts at most [`PortalList::TAG_LIMIT`]. Two statements.
    async fn portal_list(&self, workspace: WorkspaceId, list: &PortalList) -> Result<Listing<PortalRow>, StoreError>;

    /// Ranks the public feature requests of a filter, whose `mine` is `None`, by [`crate::policy::trending`]: those on
    /// closed tracks last, before that those with few votes, each by the sum of the weights of their votes, the newest
    /// first among equals. A customer with several votes in one tree counts with the earliest one. Three statements.
    async fn trending(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        wanted: &WantedRanking,
    ) -> Result<Ranking, StoreError>;

    /// Counts what a filter with a tag or a customer shows in each lane, whatever its own lane. Lanes without any are left
    /// out. One statement.
    async fn lane_counts(&self, workspace: WorkspaceId, filter: &PortalFilter) -> Result<Vec<(Name, u64)>, StoreError>;

    /// Returns public feature requests by their IDs, in the given order. Others are left out. One statement.
    async fn portal_rows(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<PortalRow>, StoreError>;

    /// Returns which of these public feature requests match a filter. One statement.
    async fn matching(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError>;

    /// Returns which of these feature requests the customer has voted for, or for one that is merged into it. One
    /// statement.
    async fn voted_among(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError>;
}

/// Reads a feature request as a person may see it.
#[async_trait]
pub trait RequestPageReader: Send + Sync {
    /// Returns the page of a feature request, also of a private one. A reference to a merged one leads to what it was
    /// merged into. `comments` is the page of comments, from 1; `None` is the last one. Private feature requests that are
    /// merged into a public one are named to members only. Three statements.
    async fn request_page(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        viewer: Viewer,
        comments: Option<u64>,
    ) -> Result<Option<RequestPage>, StoreError>;

    /// Returns a feature request if this viewer may see it. A reference to a merged one leads to what it was merged
    /// into, if the viewer may see both. One statement.
    async fn visible_request(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        viewer: Viewer,
    ) -> Result<Option<RequestLink>, StoreError>;

    /// Returns which of these entries in lists of comments a customer has written: comments, and descriptions of merged
    /// feature requests, which are listed under the IDs of those. One statement.
    async fn written_among(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        comments: &[CommentId],
    ) -> Result<Vec<CommentId>, StoreError>;
}

/// Reads sessions and sign-ins.
#[async_trait]
pub trait SessionReader: Send + Sync {
    /// Returns a session, also one that has ended by its age, with the customer and the member of its address. One
    /// statement.
    async fn session(&self, workspace: WorkspaceId, digest: &SecretDigest) -> Result<Option<Session>, StoreError>;

    /// Stores the last use of a session.
    async fn touch_session(&self, workspace: WorkspaceId, session: SessionId, at: Timestamp) -> Result<(), StoreError>;

    /// Returns a sign-in, also a used or expired one. One statement.
    async fn sign_in(&self, workspace: WorkspaceId, id: SignInId) -> Result<Option<SignIn>, StoreError>;

    /// Returns the latest sign-in that the browser with this secret has asked for. One statement.
    async fn sign_in_of_browser(
        &self,
        workspace: WorkspaceId,
        browser: &SecretDigest,
    ) -> Result<Option<SignIn>, StoreError>;
}

/// Reads settings and synonyms.
#[async_trait]
pub trait SettingReader: Send + Sync {
    /// Returns the settings, or `None` when the workspace does not exist.
    async fn setting(&self, workspace: WorkspaceId) -> Result<Option<Setting>, StoreError>;

    /// Returns the synonyms of the workspace. Empty when it does not exist.
    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Synonyms, StoreError>;

    /// Returns the settings of a workspace and its portal. A portal without stored settings has the default ones. One
    /// statement.
    async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Portal>, StoreError>;
}

/// Reads the tags of all feature requests.
#[async_trait]
pub trait TagReader: Send + Sync {
    /// Returns the tags whose name contains the query, or all, most used first, and by name among equal ones. It reads the
    /// index of all tags of the workspace.
    async fn tags<'a, 'b>(
        &'a self,
        workspace: WorkspaceId,
        query: Option<&'b TagQuery>,
        page: PageRequest,
    ) -> Result<Listing<ListedTag>, StoreError>;

    /// Returns the tag with this name, regardless of case. `None` if no feature request has it, also no merged one. One
    /// statement.
    async fn tag(&self, workspace: WorkspaceId, name: &Tag) -> Result<Option<ListedTag>, StoreError>;

    /// Returns at most `limit` tags, those first that are most used by the newest feature requests: of their tags, the
    /// last `scan_limit` are read. One statement.
    async fn known_tags(&self, workspace: WorkspaceId, scan_limit: u32, limit: u32) -> Result<Vec<Tag>, StoreError>;
}

/// Reads tracks and lanes, and the feature requests on them.
#[async_trait]
pub trait TrackReader: Send + Sync {
    /// Returns the tracks in the team's order.
    async fn tracks(&self, workspace: WorkspaceId) -> Result<Vec<Track>, StoreError>;

    /// Returns the lanes in the team's order.
    async fn lanes(&self, workspace: WorkspaceId) -> Result<Vec<ListedLane>, StoreError>;

    /// Returns the lanes in the team's order, each with its `per_lane` most voted public feature requests. Merged ones
    /// are left out.
    async fn roadmap(&self, workspace: WorkspaceId, per_lane: u32) -> Result<Vec<RoadmapLane>, StoreError>;

    /// Returns the lanes in the team's order, each with at most `per_lane` public feature requests, without merged ones: in
    /// lanes of the kinds `latest_first` those that have their status for the shortest time, in others the most voted ones;
    /// among equals the newest. Two statements.
    async fn portal_roadmap(
        &self,
        workspace: WorkspaceId,
        per_lane: u32,
        latest_first: &[LaneKind],
    ) -> Result<Vec<PortalLane>, StoreError>;

    /// Returns the feature requests of a track, private ones included, without merged ones. `None` when the track does
    /// not exist.
    async fn track_requests(
        &self,
        workspace: WorkspaceId,
        track: TrackId,
        sort: Sort,
        page: PageRequest,
    ) -> Result<Option<Listing<FeatureRequestSummary>>, StoreError>;
}

/// Reads votes.
#[async_trait]
pub trait VoteReader: Send + Sync {
    /// Returns the voters of a feature request and of everything that is merged into it, latest vote first. Each is
    /// listed once, with the first vote. `None` when it does not exist.
    async fn voters(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Voter>>, StoreError>;

    /// Returns the latest note about each of these customers on a feature request and on what is merged into it. One
    /// statement.
    async fn notes_of_voters(
        &self,
        workspace: WorkspaceId,
        request: FeatureRequestId,
        customers: &[CustomerId],
    ) -> Result<Vec<(CustomerId, CleanHtml)>, StoreError>;

    /// Returns what is counted of the votes for a feature request and for what is merged into it. Nothing when it does not
    /// exist. One statement, which reads no vote.
    async fn vote_counts(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<VoteCounts, StoreError>;

    /// Returns the feature requests that a customer voted for, newest first. A merged one is the one it was merged into,
    /// listed once. Empty for an unknown customer.
    async fn voted_requests(
        &self,
        workspace: WorkspaceId,
        customer: &EmailAddress,
        page: PageRequest,
    ) -> Result<Listing<FeatureRequestSummary>, StoreError>;
}

#[cfg(any(test, feature = "mocks"))]
mockall::mock! {
    /// Double of [`Reads`].
    pub Reads {}

    impl Reads for Reads {}

    #[async_trait]
    impl AccountReader for Reads {
        async fn account_lists(&self, workspace: WorkspaceId, email: &FoldedEmail, customer: Option<CustomerId>, limit: u32) -> Result<AccountLists, StoreError>;
        async fn mail_settings(&self, workspace: WorkspaceId, customer: CustomerId) -> Result<Option<(EmailAddress, MailSettings)>, StoreError>;
    }

    #[async_trait]
    impl AttachmentReader for Reads {
        async fn attachment(&self, workspace: WorkspaceId, id: AttachmentId) -> Result<Option<Attachment>, StoreError>;
        async fn public_image(&self, workspace: WorkspaceId, image: AttachmentId, now: Timestamp) -> Result<Option<Attachment>, StoreError>;
        async fn picture(&self, workspace: WorkspaceId, picture: AttachmentId, since: Timestamp) -> Result<Option<Attachment>, StoreError>;
    }

    #[async_trait]
    impl AuditReader for Reads {
        async fn audit_entries(&self, workspace: WorkspaceId, filter: &AuditFilter, page: AuditPage) -> Result<AuditListing, StoreError>;
    }

    #[async_trait]
    impl ChangeReader for Reads {
        async fn changed_requests(&self, workspace: WorkspaceId, filter: &ChangesFilter, page: ChangesPage) -> Result<ChangesListing<ChangedRequest>, StoreError>;
        async fn changed_comments(&self, workspace: WorkspaceId, filter: &ChangesFilter, page: ChangesPage) -> Result<ChangesListing<ChangedComment>, StoreError>;
    }

    #[async_trait]
    impl ChangelogReader for Reads {
        async fn changelogs(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<Changelog>, StoreError>;
        async fn changelog(&self, workspace: WorkspaceId, changelog: ChangelogId) -> Result<Option<ChangelogDetail>, StoreError>;
        async fn published_changelogs(&self, workspace: WorkspaceId, now: Timestamp, page: PageRequest) -> Result<Listing<PublishedChangelog>, StoreError>;
        async fn published_changelog(&self, workspace: WorkspaceId, changelog: ChangelogId, now: Timestamp) -> Result<Option<PublishedChangelog>, StoreError>;
        async fn changelog_neighbours(&self, workspace: WorkspaceId, changelog: ChangelogId, published_at: Timestamp, now: Timestamp) -> Result<ChangelogNeighbours, StoreError>;
        async fn shipped_in(&self, workspace: WorkspaceId, request: FeatureRequestId, now: Timestamp) -> Result<Option<ShippedIn>, StoreError>;
        async fn changelog_mail(&self, workspace: WorkspaceId, changelog: ChangelogId, now: Timestamp) -> Result<ChangelogMail, StoreError>;
    }

    #[async_trait]
    impl CommentReader for Reads {
        async fn comments(&self, workspace: WorkspaceId, request: &FeatureRequestRef, page: PageRequest) -> Result<Option<Listing<ListedComment>>, StoreError>;
        async fn notes(&self, workspace: WorkspaceId, request: &FeatureRequestRef, page: PageRequest) -> Result<Option<Listing<Note>>, StoreError>;
        async fn held_posts(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<HeldPost>, StoreError>;
        async fn comment_customers(&self, workspace: WorkspaceId, comments: &[CommentId]) -> Result<Vec<(CommentId, CustomerName)>, StoreError>;
    }

    #[async_trait]
    impl LinkReader for Reads {
        async fn links(&self, workspace: WorkspaceId, request: &FeatureRequestRef, page: PageRequest) -> Result<Option<Listing<Link>>, StoreError>;
    }

    #[async_trait]
    impl crate::ports::WebhookReader for Reads {
        async fn webhooks(&self, workspace: WorkspaceId) -> Result<Vec<crate::model::webhook::Webhook>, StoreError>;
        async fn deliveries(&self, workspace: WorkspaceId, webhook: crate::model::id::WebhookId, state: Option<crate::model::webhook::DeliveryState>, page: PageRequest) -> Result<Listing<crate::model::webhook::Delivery>, StoreError>;
        async fn delivery(&self, workspace: WorkspaceId, webhook: crate::model::id::WebhookId, event: crate::model::id::WebhookEventId) -> Result<Option<crate::model::webhook::DeliveryDetail>, StoreError>;
    }

    #[async_trait]
    impl crate::ports::LinkSourceReader for Reads {
        async fn link_sources(&self, workspace: WorkspaceId) -> Result<Vec<crate::model::link_source::LinkSource>, StoreError>;
        async fn sealed_link_source(&self, workspace: WorkspaceId, source: crate::model::id::LinkSourceId) -> Result<Option<(crate::model::link_source::LinkSource, String)>, StoreError>;
    }

    #[async_trait]
    impl CustomerReader for Reads {
        async fn customers<'a, 'b>(&'a self, workspace: WorkspaceId, query: Option<&'b CustomerQuery>, page: PageRequest) -> Result<Listing<Customer>, StoreError>;
        async fn customer(&self, workspace: WorkspaceId, customer: CustomerId) -> Result<Option<Customer>, StoreError>;
        async fn customer_records(&self, workspace: WorkspaceId, customer: CustomerId) -> Result<CustomerRecords, StoreError>;
        async fn customer_texts(&self, workspace: WorkspaceId, customer: CustomerId, page: PageRequest) -> Result<CustomerTexts, StoreError>;
        async fn last_counted_mail(&self, workspace: WorkspaceId, counter: CounterKey) -> Result<Option<Timestamp>, StoreError>;
    }

    #[async_trait]
    impl FeatureRequestReader for Reads {
        async fn feature_request(&self, workspace: WorkspaceId, request: &FeatureRequestRef) -> Result<Option<FeatureRequestDetail>, StoreError>;
        async fn events(&self, workspace: WorkspaceId, request: &FeatureRequestRef, kind: Option<&'static str>, page: PageRequest) -> Result<Option<Listing<Event>>, StoreError>;
        async fn team_page(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<TeamPage, StoreError>;
        async fn count_changelog_audience(&self, workspace: WorkspaceId, requests: &[FeatureRequestId]) -> Result<i64, StoreError>;
        async fn sitemap(&self, workspace: WorkspaceId, after: i64, limit: u32) -> Result<Vec<SitemapEntry>, StoreError>;
        async fn last_tag_number(&self, workspace: WorkspaceId) -> Result<i64, StoreError>;
    }

    #[async_trait]
    impl InboxReader for Reads {
        async fn inbox_counts(&self, workspace: WorkspaceId) -> Result<InboxCounts, StoreError>;
        async fn inbox(&self, workspace: WorkspaceId, list: &InboxList) -> Result<Listing<InboxRow>, StoreError>;
        async fn inbox_rows(&self, workspace: WorkspaceId, filter: &InboxFilter, requests: &[FeatureRequestId]) -> Result<Vec<InboxRow>, StoreError>;
        async fn find_unindexed(&self, workspace: WorkspaceId, number: Option<i64>, words: &[String], limit: u32) -> Result<Vec<FeatureRequestId>, StoreError>;
        async fn merge_preview(&self, workspace: WorkspaceId, source: FeatureRequestId, target: FeatureRequestId) -> Result<Option<MergePreview>, StoreError>;
    }

    #[async_trait]
    impl crate::ports::JobReader for Reads {
        async fn imports(&self, workspace: WorkspaceId) -> Result<Vec<crate::model::import::run::Import>, StoreError>;
        async fn exports(&self, workspace: WorkspaceId) -> Result<Vec<crate::model::export::run::ExportRun>, StoreError>;
        async fn job_files(&self, workspace: WorkspaceId, jobs: &[uuid::Uuid]) -> Result<Vec<crate::model::import::upload::JobFile>, StoreError>;
        async fn job_file(&self, workspace: WorkspaceId, file: AttachmentId) -> Result<Option<crate::model::import::upload::JobFile>, StoreError>;
    }

    #[async_trait]
    impl MemberReader for Reads {
        async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError>;
        async fn team_mail(&self, workspace: WorkspaceId, member: MemberId) -> Result<Option<(EmailAddress, TeamMail)>, StoreError>;
        async fn saved_views(&self, workspace: WorkspaceId, member: MemberId) -> Result<SavedViews, StoreError>;
    }

    #[async_trait]
    impl OverviewReader for Reads {
        async fn overview(&self, workspace: WorkspaceId, times: &OverviewTimes) -> Result<Overview, StoreError>;
    }

    #[async_trait]
    impl PersonReader for Reads {
        async fn person(&self, workspace: WorkspaceId, person: &PersonRef) -> Result<Option<PersonRecords>, StoreError>;
        async fn mentions(&self, workspace: WorkspaceId, customer: CustomerId, words: &PersonWords, texts: ErasedTexts) -> Result<Vec<Mention>, StoreError>;
    }

    #[async_trait]
    impl PortalListReader for Reads {
        async fn portal_list(&self, workspace: WorkspaceId, list: &PortalList) -> Result<Listing<PortalRow>, StoreError>;
        async fn lane_counts(&self, workspace: WorkspaceId, filter: &PortalFilter) -> Result<Vec<(Name, u64)>, StoreError>;
        async fn trending(&self, workspace: WorkspaceId, filter: &PortalFilter, wanted: &WantedRanking) -> Result<Ranking, StoreError>;
        async fn portal_rows(&self, workspace: WorkspaceId, requests: &[FeatureRequestId]) -> Result<Vec<PortalRow>, StoreError>;
        async fn matching(&self, workspace: WorkspaceId, filter: &PortalFilter, requests: &[FeatureRequestId]) -> Result<Vec<FeatureRequestId>, StoreError>;
        async fn voted_among(&self, workspace: WorkspaceId, customer: CustomerId, requests: &[FeatureRequestId]) -> Result<Vec<FeatureRequestId>, StoreError>;
    }

    #[async_trait]
    impl RequestPageReader for Reads {
        async fn request_page(&self, workspace: WorkspaceId, request: &FeatureRequestRef, viewer: Viewer, comments: Option<u64>) -> Result<Option<RequestPage>, StoreError>;
        async fn visible_request(&self, workspace: WorkspaceId, request: &FeatureRequestRef, viewer: Viewer) -> Result<Option<RequestLink>, StoreError>;
        async fn written_among(&self, workspace: WorkspaceId, customer: CustomerId, comments: &[CommentId]) -> Result<Vec<CommentId>, StoreError>;
    }

    #[async_trait]
    impl SessionReader for Reads {
        async fn session(&self, workspace: WorkspaceId, digest: &SecretDigest) -> Result<Option<Session>, StoreError>;
        async fn touch_session(&self, workspace: WorkspaceId, session: SessionId, at: Timestamp) -> Result<(), StoreError>;
        async fn sign_in(&self, workspace: WorkspaceId, id: SignInId) -> Result<Option<SignIn>, StoreError>;
        async fn sign_in_of_browser(&self, workspace: WorkspaceId, browser: &SecretDigest) -> Result<Option<SignIn>, StoreError>;
    }

    #[async_trait]
    impl SettingReader for Reads {
        async fn setting(&self, workspace: WorkspaceId) -> Result<Option<Setting>, StoreError>;
        async fn synonyms(&self, workspace: WorkspaceId) -> Result<Synonyms, StoreError>;
        async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Portal>, StoreError>;
    }

    #[async_trait]
    impl TagReader for Reads {
        async fn tags<'a, 'b>(&'a self, workspace: WorkspaceId, query: Option<&'b TagQuery>, page: PageRequest) -> Result<Listing<ListedTag>, StoreError>;
        async fn tag(&self, workspace: WorkspaceId, name: &Tag) -> Result<Option<ListedTag>, StoreError>;
        async fn known_tags(&self, workspace: WorkspaceId, scan_limit: u32, limit: u32) -> Result<Vec<Tag>, StoreError>;
    }

    #[async_trait]
    impl TrackReader for Reads {
        async fn tracks(&self, workspace: WorkspaceId) -> Result<Vec<Track>, StoreError>;
        async fn lanes(&self, workspace: WorkspaceId) -> Result<Vec<ListedLane>, StoreError>;
        async fn roadmap(&self, workspace: WorkspaceId, per_lane: u32) -> Result<Vec<RoadmapLane>, StoreError>;
        async fn portal_roadmap(&self, workspace: WorkspaceId, per_lane: u32, latest_first: &[LaneKind]) -> Result<Vec<PortalLane>, StoreError>;
        async fn track_requests(&self, workspace: WorkspaceId, track: TrackId, sort: Sort, page: PageRequest) -> Result<Option<Listing<FeatureRequestSummary>>, StoreError>;
    }

    #[async_trait]
    impl VoteReader for Reads {
        async fn notes_of_voters(&self, workspace: WorkspaceId, request: FeatureRequestId, customers: &[CustomerId]) -> Result<Vec<(CustomerId, CleanHtml)>, StoreError>;
        async fn vote_counts(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<VoteCounts, StoreError>;
        async fn voters(&self, workspace: WorkspaceId, request: &FeatureRequestRef, page: PageRequest) -> Result<Option<Listing<Voter>>, StoreError>;
        async fn voted_requests(&self, workspace: WorkspaceId, customer: &EmailAddress, page: PageRequest) -> Result<Listing<FeatureRequestSummary>, StoreError>;
    }
}
