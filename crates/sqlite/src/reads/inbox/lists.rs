//! Lists of the inbox: which statements a filter needs.

use diesel::SqliteConnection;
use diesel::prelude::RunQueryDsl;
use roadmap_domain::model::admin::{InboxList, InboxSort, InboxState};
use roadmap_store::rows::InboxListRow;

use super::ordered::{
    CountAwaiting, CountMerged, CountOfTracks, LastUpdatedNoticedOfTracks, LastUpdatedOfTracks,
    LastUpdatedPrivateOfTracks, MostCompaniesOfTracks, MostVotedOfTracks, MostVotedPage, NewestAwaitingPage,
    NewestMergedPage, NewestNoticedOfTracks, NewestNoticedPage, NewestOfTracks, NewestPage, NewestPrivateOfTracks,
    NewestPrivatePage, OldestAwaitingPage, OldestMergedPage, OldestNoticedOfTracks, OldestNoticedPage, OldestOfTracks,
    OldestPage, OldestPrivateOfTracks, OldestPrivatePage,
};
use super::rows::Scope;
use super::selections::{
    AwaitingPage, CountAwaitingOfTracks, CountMergedOfTracks, CountOfMember, CountTagged, FewNoticedPage,
    FewPrivatePage, MemberPage, MergedPage, TaggedPage,
};
use crate::errors::SqlError;

/// Maximum number of feature requests that await approval, or that are merged, that are counted and listed: all pages.
pub(super) const MAX_LISTED: i64 = (InboxList::MAX_PAGE * InboxList::PER_PAGE).cast_signed();

/// Maximum number of feature requests that are read to sort them.
const MAX_SORTED: i64 = InboxList::READ_LIMIT as i64;

/// How the feature requests of a list are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    /// From an index, in the order of the list.
    OfWorkspace,
    /// The first ones of each track, from an index in the order of the list.
    OfTracks,
    /// All of a state on the tracks, which are few.
    Few,
    /// The newest ones with the tag.
    Tagged,
    /// The newest ones of the member.
    OfMember,
    /// The newest ones of the state.
    OfState,
}

impl Scope {
    pub(super) fn plan(&self, sort: InboxSort, total: i64) -> Plan {
        let is_of_workspace = self.tracks.is_none();
        let is_by_number = matches!(sort, InboxSort::Newest | InboxSort::Oldest);
        let has_index = !matches!(self.state, InboxState::Awaiting | InboxState::Merged);
        if self.member.is_some() {
            Plan::OfMember
        } else if self.tag.is_some() {
            Plan::Tagged
        } else if is_of_workspace && is_by_number {
            Plan::OfWorkspace
        } else if !has_index {
            Plan::OfState
        } else if matches!(sort, InboxSort::Votes | InboxSort::Companies)
            && !matches!(self.state, InboxState::All | InboxState::Open)
            && total <= MAX_SORTED
        {
            Plan::Few
        } else if is_of_workspace && sort == InboxSort::Votes {
            Plan::OfWorkspace
        } else {
            Plan::OfTracks
        }
    }

    /// Counts what the filter chooses.
    pub(super) fn count(&self, connection: &mut SqliteConnection) -> Result<i64, SqlError> {
        let Self { workspace, tracks, tag, member, state } = self.clone();
        let is_of_workspace = tracks.is_none();
        let name = state.name();
        if member.is_some() {
            let count = CountOfMember { workspace, tracks, tag, member, state: name, scan_limit: MAX_SORTED };
            return Ok(count.get_result(connection)?);
        }
        if tag.is_some() {
            let count = CountTagged { workspace, tracks, tag, member, state: name, scan_limit: MAX_SORTED };
            return Ok(count.get_result(connection)?);
        }
        let scan_limit = MAX_LISTED;
        Ok(match state {
            InboxState::Awaiting if is_of_workspace => {
                CountAwaiting { workspace, limit: MAX_LISTED }.get_result(connection)?
            }
            InboxState::Merged if is_of_workspace => {
                CountMerged { workspace, limit: MAX_LISTED }.get_result(connection)?
            }
            InboxState::Awaiting => CountAwaitingOfTracks { workspace, tracks, tag, member, state: name, scan_limit }
                .get_result(connection)?,
            InboxState::Merged => CountMergedOfTracks { workspace, tracks, tag, member, state: name, scan_limit }
                .get_result(connection)?,
            InboxState::Open | InboxState::All | InboxState::Unanswered | InboxState::Replied | InboxState::Private => {
                CountOfTracks { workspace, tracks, state: name }.get_result(connection)?
            }
        })
    }

    /// Returns a page of what the filter chooses.
    pub(super) fn page(
        &self,
        connection: &mut SqliteConnection,
        plan: Plan,
        sort: InboxSort,
        (limit, offset): (i64, i64),
    ) -> Result<Vec<InboxListRow>, SqlError> {
        let Self { workspace, tracks, tag, member, state } = self.clone();
        let scan_limit = match plan {
            Plan::OfWorkspace | Plan::OfTracks => limit.saturating_add(offset),
            Plan::Few | Plan::Tagged | Plan::OfMember => MAX_SORTED,
            Plan::OfState => MAX_LISTED,
        };
        macro_rules! ordered {
            ($page:ident) => {
                $page { workspace, tracks, state: state.name(), scan_limit, limit, offset }.load(connection)?
            };
        }
        macro_rules! selected {
            ($page:ident) => {
                $page {
                    workspace,
                    tracks,
                    tag,
                    member,
                    state: state.name(),
                    scan_limit,
                    sort: sort.name(),
                    limit,
                    offset,
                }
                .load(connection)?
            };
        }
        use {InboxSort as By, InboxState as Of};
        Ok(match (plan, sort, state) {
            (Plan::Tagged, ..) => selected!(TaggedPage),
            (Plan::OfMember, ..) => selected!(MemberPage),
            (Plan::OfState, _, Of::Merged) => selected!(MergedPage),
            (Plan::OfState, ..) => selected!(AwaitingPage),
            (Plan::Few, _, Of::Private) => {
                FewPrivatePage { workspace, tracks, state: state.name(), sort: sort.name(), limit, offset }
                    .load(connection)?
            }
            (Plan::Few, ..) => {
                FewNoticedPage { workspace, tracks, state: state.name(), sort: sort.name(), limit, offset }
                    .load(connection)?
            }
            (Plan::OfWorkspace, By::Newest, Of::All | Of::Open) => ordered!(NewestPage),
            (Plan::OfWorkspace, By::Newest, Of::Unanswered | Of::Replied) => ordered!(NewestNoticedPage),
            (Plan::OfWorkspace, By::Newest, Of::Private) => ordered!(NewestPrivatePage),
            (Plan::OfWorkspace, By::Newest, Of::Awaiting) => ordered!(NewestAwaitingPage),
            (Plan::OfWorkspace, By::Newest, Of::Merged) => ordered!(NewestMergedPage),
            (Plan::OfWorkspace, By::Oldest, Of::All | Of::Open) => ordered!(OldestPage),
            (Plan::OfWorkspace, By::Oldest, Of::Unanswered | Of::Replied) => ordered!(OldestNoticedPage),
            (Plan::OfWorkspace, By::Oldest, Of::Private) => ordered!(OldestPrivatePage),
            (Plan::OfWorkspace, By::Oldest, Of::Awaiting) => ordered!(OldestAwaitingPage),
            (Plan::OfWorkspace, By::Oldest, Of::Merged) => ordered!(OldestMergedPage),
            (Plan::OfWorkspace, By::Votes | By::Companies | By::Updated, _) => ordered!(MostVotedPage),
            (Plan::OfTracks, By::Votes, _) => ordered!(MostVotedOfTracks),
            (Plan::OfTracks, By::Companies, _) => ordered!(MostCompaniesOfTracks),
            (Plan::OfTracks, By::Newest, Of::Unanswered | Of::Replied) => ordered!(NewestNoticedOfTracks),
            (Plan::OfTracks, By::Newest, Of::Private) => ordered!(NewestPrivateOfTracks),
            (Plan::OfTracks, By::Newest, _) => ordered!(NewestOfTracks),
            (Plan::OfTracks, By::Oldest, Of::Unanswered | Of::Replied) => ordered!(OldestNoticedOfTracks),
            (Plan::OfTracks, By::Oldest, Of::Private) => ordered!(OldestPrivateOfTracks),
            (Plan::OfTracks, By::Oldest, _) => ordered!(OldestOfTracks),
            (Plan::OfTracks, By::Updated, Of::Unanswered | Of::Replied) => ordered!(LastUpdatedNoticedOfTracks),
            (Plan::OfTracks, By::Updated, Of::Private) => ordered!(LastUpdatedPrivateOfTracks),
            (Plan::OfTracks, By::Updated, _) => ordered!(LastUpdatedOfTracks),
        })
    }
}
