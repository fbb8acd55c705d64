//! Single feature requests and what belongs to them: comments, notes, links, moves, history.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::comment::ListedComment;
use crate::model::event::{Event, Move};
use crate::model::feature_request::{FeatureRequestDetail, FeatureRequestRef};
use crate::model::id::WorkspaceId;
use crate::model::link::Link;
use crate::model::note::Note;
use crate::model::pagination::{Listing, PageRequest};
use crate::usecase::query::{Query, QueryPorts};

/// Shows a feature request, private ones included. A merged one is shown as what it was merged into.
#[derive(Debug, Clone, Copy)]
pub struct ShowFeatureRequest {
    pub request: FeatureRequestRef,
}

#[async_trait]
impl Query for ShowFeatureRequest {
    type Output = FeatureRequestDetail;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<FeatureRequestDetail, RoadmapError> {
        let detail = ports.reader.feature_request(workspace, &self.request).await?;
        detail.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))
    }
}

/// Declares a list of what belongs to a feature request. The existence of the record is checked before the page.
macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident => $item:ty, |$ports:ident, $workspace:ident, $request:ident, $page:ident| $read:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name {
            /// The feature request.
            pub request: FeatureRequestRef,
            /// The page to return, or why it is invalid.
            pub page: Validated<PageRequest>,
        }

        #[async_trait]
        impl Query for $name {
            type Output = Listing<$item>;

            async fn execute(&self, $workspace: WorkspaceId, $ports: &QueryPorts) -> Result<Listing<$item>, RoadmapError> {
                let $page = self.page.as_ref().copied().unwrap_or_default();
                let $request = &self.request;
                let listing = $read.await?.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
                self.page.clone()?;
                Ok(listing)
            }
        }
    )+};
}

lists! {
    /// Lists the comments of a feature request and of what is merged into it, oldest first.
    ListComments => ListedComment, |ports, workspace, request, page| ports.reader.comments(workspace, request, page);
    /// Lists the private notes of a feature request and of what is merged into it, newest first.
    ListNotes => Note, |ports, workspace, request, page| ports.reader.notes(workspace, request, page);
    /// Lists the links of a feature request and of what is merged into it, oldest first.
    ListLinks => Link, |ports, workspace, request, page| ports.reader.links(workspace, request, page);
    /// Lists the moves of a feature request, newest first.
    ListMoves => Event, |ports, workspace, request, page| ports.reader.events(workspace, request, Some(Move::KIND), page);
    /// Lists all events of a feature request, newest first.
    ListEvents => Event, |ports, workspace, request, page| ports.reader.events(workspace, request, None, page);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::fixtures::{detail, request};
    use crate::usecase::query::tests::run_query;

    fn empty<T>(exists: bool, request: PageRequest) -> Option<Listing<T>> {
        exists.then_some(Listing { items: Vec::new(), request, total: 0 })
    }

    fn reader(exists: bool) -> MockReads {
        let mut reader = MockReads::new();
        reader.expect_feature_request().returning(move |_, _| Ok(exists.then(detail)));
        reader.expect_comments().returning(move |_, _, page| Ok(empty(exists, page)));
        reader.expect_notes().returning(move |_, _, page| Ok(empty(exists, page)));
        reader.expect_links().returning(move |_, _, page| Ok(empty(exists, page)));
        reader.expect_events().returning(move |_, _, _, page| Ok(empty(exists, page)));
        reader
    }

    #[test]
    fn a_missing_request_comes_before_a_bad_page() {
        let page = |raw| PageRequest::parse(Some(raw), None);
        for (raw, exists, expected) in [
            ("2", true, None),
            ("0", true, Some("page must be an integer of at least 1")),
            ("0", false, Some("FeatureRequest does not exist.")),
            ("2", false, Some("FeatureRequest does not exist.")),
        ] {
            let request = request();
            let errors = [
                run_query(reader(exists), MockBlobs::new(), &ListComments { request, page: page(raw) }).err(),
                run_query(reader(exists), MockBlobs::new(), &ListNotes { request, page: page(raw) }).err(),
                run_query(reader(exists), MockBlobs::new(), &ListLinks { request, page: page(raw) }).err(),
                run_query(reader(exists), MockBlobs::new(), &ListMoves { request, page: page(raw) }).err(),
                run_query(reader(exists), MockBlobs::new(), &ListEvents { request, page: page(raw) }).err(),
            ];
            for error in errors {
                assert_eq!(error.map(|error| error.to_string()).as_deref(), expected);
            }
        }
    }

    #[test]
    fn moves_are_the_events_of_their_kind() {
        let mut reader = MockReads::new();
        reader
            .expect_events()
            .withf(|_, _, kind, _| *kind == Some("moved"))
            .times(1)
            .returning(|_, _, _, page| Ok(empty(true, page)));
        let moves = ListMoves { request: request(), page: Ok(PageRequest::default()) };
        run_query(reader, MockBlobs::new(), &moves).unwrap();
    }

    /// Addition 2.
    #[test]
    fn an_unknown_request_is_not_shown() {
        let show = ShowFeatureRequest { request: request() };
        assert_eq!(run_query(reader(true), MockBlobs::new(), &show).unwrap(), detail());
        let error = run_query(reader(false), MockBlobs::new(), &show).unwrap_err();
        assert_eq!(error.to_string(), "FeatureRequest does not exist.");
    }
}
