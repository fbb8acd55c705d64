//! Ports of the portal: what its pages read, and what its commands write.

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::StoreError;
use crate::model::attachment::Attachment;
use crate::model::comment::NewComment;
use crate::model::customer::{CustomerName, NewCustomer};
use crate::model::email_address::FoldedEmail;
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, RequestLink};
use crate::model::id::{
    AttachmentId, ChangelogId, CommentId, CustomerId, FeatureRequestId, SessionId, SignInId, WorkspaceId,
};
use crate::model::pagination::{Listing, PageRequest};
use crate::model::portal::{
    AccountLists, HeldPost, Language, Portal, PortalFilter, PortalList, PortalRow, PortalSettings, PublishedChangelog,
    RequestPage, SitemapEntry, Viewer,
};
use crate::model::session::{NewSession, SecretDigest, Session};
use crate::model::sign_in::{Consumption, KnownAddress, SignIn};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::policy::mail_requests::CounterKey;
use crate::policy::trending::Candidate;

/// Reads of the portal's pages.
///
/// Contract: a page needs at most five statements, whatever its number of rows. Merged feature requests appear in no
/// list. Private ones appear where a method says so. A method names the most statements that it may execute.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PortalReader: Send + Sync {
    /// Returns the settings of a workspace and its portal. A portal without stored settings has the default ones. One
    /// statement.
    async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Portal>, StoreError>;

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

    /// Lists feature requests: public ones, and with a filter for what a customer has written, also the customer's
    /// private ones. [`PortalSort::Trending`](crate::model::portal::PortalSort::Trending) is as by votes. The total of a
    /// list with a tag counts at most [`PortalList::TAG_LIMIT`]. Two statements.
    async fn portal_list(&self, workspace: WorkspaceId, list: &PortalList) -> Result<Listing<PortalRow>, StoreError>;

    /// Returns the public feature requests of a filter that may trend: the `limit` most voted and the `limit` newest.
    /// Some may be returned twice. One statement.
    async fn trending_candidates(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        limit: u32,
    ) -> Result<Vec<Candidate>, StoreError>;

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

    /// Returns an uploaded image that everybody may see: the cover of a changelog that is public at `now`, or the logo
    /// of the portal. One statement.
    async fn public_image(
        &self,
        workspace: WorkspaceId,
        image: AttachmentId,
        now: Timestamp,
    ) -> Result<Option<Attachment>, StoreError>;

    /// Returns the lists of an account, each with at most `limit` entries. Sessions are those of the address. The latest
    /// vote in a tree counts for the order of the votes. Private feature requests of others are left out, and there are no
    /// subscriptions if all mail to the customer is stopped. Four statements.
    async fn account_lists(
        &self,
        workspace: WorkspaceId,
        email: &FoldedEmail,
        customer: Option<CustomerId>,
        limit: u32,
    ) -> Result<AccountLists, StoreError>;

    /// Lists the public feature requests with tag numbers above `after`, in their order. One statement.
    async fn sitemap(&self, workspace: WorkspaceId, after: i64, limit: u32) -> Result<Vec<SitemapEntry>, StoreError>;

    /// Returns the highest tag number so far, or 0. One statement.
    async fn last_tag_number(&self, workspace: WorkspaceId) -> Result<i64, StoreError>;

    /// Lists what waits for approval, oldest first.
    async fn held_posts(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<HeldPost>, StoreError>;
}

/// Provides the settings of portals to pages: the store, usually with a cache.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PortalSource: Send + Sync {
    /// Returns the settings of a workspace and its portal.
    async fn portal(&self, workspace: WorkspaceId) -> Result<Option<std::sync::Arc<Portal>>, StoreError>;
}

/// Writes of the portal.
#[async_trait]
pub trait PortalWrites {
    /// Returns the settings of the portal, the default ones if none are stored. Other units of work that load them wait
    /// for this one.
    async fn load_portal(&mut self) -> Result<PortalSettings, StoreError>;

    /// Replaces the settings of the portal.
    async fn save_portal(&mut self, settings: &PortalSettings) -> Result<(), StoreError>;

    /// Returns when the `nth` newest mail that this counter has counted was asked for, from 1. It counts for all
    /// workspaces.
    ///
    /// Contract: concurrent units of work that ask for the same counter, of all workspaces, wait for each other and see
    /// each other's mails.
    async fn nth_counted_mail(&mut self, counter: CounterKey, nth: u32) -> Result<Option<Timestamp>, StoreError>;

    /// Counts a mail by each of these counters. Mails of the workspace that were asked for more than
    /// [`COUNTED_FOR`](crate::policy::mail_requests::COUNTED_FOR) before are forgotten.
    async fn count_mail(&mut self, mail: Uuid, counters: &[CounterKey], at: Timestamp) -> Result<(), StoreError>;

    /// Returns what the workspace knows about an address, with one statement for every address.
    async fn find_known_address(&mut self, email: &FoldedEmail) -> Result<KnownAddress, StoreError>;

    /// Stores a sign-in. Sign-ins of the workspace that were asked for more than a day before it are deleted, and of those
    /// without a mail the oldest, beyond [`SignIn::MAX_WITHOUT_MAIL`].
    async fn insert_sign_in(&mut self, sign_in: &SignIn, has_mail: bool) -> Result<(), StoreError>;

    /// Marks a sign-in as used. Returns whether it was open at `at`. If it is redeemed, its mail is not counted any more,
    /// and its address is known from now on.
    ///
    /// Contract: of several concurrent calls for a sign-in, at most one returns `true`.
    async fn consume_sign_in(&mut self, sign_in: SignInId, how: Consumption, at: Timestamp)
    -> Result<bool, StoreError>;

    /// Counts a code that was typed for a sign-in, before it is compared. Returns whether it may be compared: the
    /// sign-in accepted codes at `at`.
    ///
    /// Contract: concurrent calls see each other's counts.
    async fn count_code(&mut self, sign_in: SignInId, at: Timestamp) -> Result<bool, StoreError>;

    /// Stores a session. Sessions of the workspace that were not used for half a year are deleted.
    async fn insert_session(&mut self, session: &NewSession) -> Result<(), StoreError>;

    /// Deletes a session of an address. Returns whether there was one.
    async fn end_session(&mut self, session: SessionId, email: &FoldedEmail) -> Result<bool, StoreError>;

    /// Deletes all sessions and open sign-ins of an address. Returns the number of sessions.
    async fn end_sessions(&mut self, email: &FoldedEmail) -> Result<u64, StoreError>;

    /// Finds or creates a customer and stores its language; `None` follows the browser. Returns the customer.
    async fn set_language(
        &mut self,
        customer: &NewCustomer,
        language: Option<Language>,
        at: Timestamp,
    ) -> Result<CustomerName, StoreError>;

    /// Whether a customer has written a comment, or a public feature request, that does not wait for approval.
    async fn has_public_posts(&mut self, customer: CustomerId) -> Result<bool, StoreError>;

    /// Replaces the name of a customer by this one or by none.
    async fn set_own_name<'a>(&mut self, customer: CustomerId, name: Option<&'a Name>) -> Result<(), StoreError>;

    /// Stores a comment of a customer that waits for approval. Otherwise as
    /// [`CommentWrites::insert_comment`](super::CommentWrites::insert_comment).
    async fn hold_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError>;

    /// Ends the wait of a feature request for approval. It stays private. Returns whether it waited.
    async fn decline_feature_request(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError>;

    /// Returns the feature request of a comment that waits for approval, or `None` if no such comment waits.
    async fn find_held_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;

    /// Publishes a comment that waits for approval, with its ID and time. Returns its feature request, or `None` if no
    /// such comment waits.
    async fn approve_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;

    /// Deletes a comment that waits for approval. Returns its feature request, or `None` if no such comment waits.
    async fn discard_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;

    /// Puts a mail about a comment of the team in the outbox for the author of the feature request, if the author is a
    /// customer who is subscribed to it.
    ///
    /// Contract: at most one mail per customer and comment.
    async fn notify_author(&mut self, comment: CommentId, at: Timestamp) -> Result<(), StoreError>;
}
