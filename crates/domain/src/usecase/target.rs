//! Finds the record that a command is about, before the command's fields are looked at.

use crate::error::{Resource, RoadmapError};
use crate::model::feature_request::{FeatureRequestRef, Tag};
use crate::model::id::{
    ChangelogId, CommentId, CustomerId, ImportId, LaneId, LinkId, LinkSourceId, TrackId, WebhookEventId, WebhookId,
};
use crate::ports::UnitOfWork;

/// The record that a command is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The workspace itself, whose host was found before: there is nothing that could be missing.
    Workspace,
    FeatureRequest(FeatureRequestRef),
    /// A public comment.
    Comment(CommentId),
    /// A comment that waits for approval.
    HeldComment(CommentId),
    Link(LinkId),
    LinkSource(LinkSourceId),
    Webhook(WebhookId),
    /// An event that was, or is to be, delivered to a webhook.
    Delivery(WebhookId, WebhookEventId),
    Customer(CustomerId),
    Changelog(ChangelogId),
    Lane(LaneId),
    Track(TrackId),
    Import(ImportId),
    /// A tag, by name. `None` for a name that no tag can have.
    Tag(Option<Tag>),
}

impl Target {
    /// Checks that the record exists.
    ///
    /// # Errors
    /// [`RoadmapError::NotFound`] when it does not, or errors of the store.
    pub(crate) async fn locate(&self, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        let (is_found, resource) = match self {
            Self::Workspace => return Ok(()),
            Self::Lane(lane) => return work.load_board().await?.lane(*lane).map(drop),
            Self::Track(track) => return work.load_board().await?.track(*track).map(drop),
            Self::FeatureRequest(request) => {
                (work.find_feature_request(request).await?.is_some(), Resource::FeatureRequest)
            }
            Self::Comment(comment) => (work.find_comment(*comment).await?.is_some(), Resource::Comment),
            Self::HeldComment(comment) => (work.find_held_comment(*comment).await?.is_some(), Resource::Comment),
            Self::Link(link) => (work.find_link(*link).await?.is_some(), Resource::Link),
            Self::LinkSource(source) => {
                let mut sources = work.load_link_sources().await?.into_iter();
                (sources.any(|(known, _)| known.id == *source), Resource::LinkSource)
            }
            Self::Webhook(webhook) => {
                (work.load_webhooks().await?.iter().any(|known| known.id == *webhook), Resource::Webhook)
            }
            Self::Delivery(webhook, event) => {
                if !work.load_webhooks().await?.iter().any(|known| known.id == *webhook) {
                    return Err(RoadmapError::NotFound(Resource::Webhook));
                }
                (work.find_delivery(*webhook, *event).await?.is_some(), Resource::Delivery)
            }
            Self::Customer(customer) => (work.customer_exists(*customer).await?, Resource::Customer),
            Self::Changelog(changelog) => (work.find_changelog(*changelog).await?.is_some(), Resource::Changelog),
            Self::Import(import) => {
                (work.load_imports().await?.iter().any(|known| known.id == *import), Resource::Import)
            }
            Self::Tag(Some(tag)) => (work.find_tag(tag).await?.is_some(), Resource::Tag),
            Self::Tag(None) => (false, Resource::Tag),
        };
        if is_found { Ok(()) } else { Err(RoadmapError::NotFound(resource)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::board::Board;
    use crate::model::localized::Localized;
    use crate::model::tag::ListedTag;
    use crate::model::track::{Lane, LaneKind};
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{changelog, link, name, request, summary};
    use pollster::block_on;
    use uuid::Uuid;

    /// A unit in which all records exist, or none.
    fn unit(exists: bool) -> MockUnit {
        let id = summary("Inbox", None, 0).id;
        let mut unit = MockUnit::new();
        unit.expect_find_feature_request().returning(move |_| Ok(exists.then(|| summary("Inbox", None, 0))));
        unit.expect_find_comment().returning(move |_| Ok(exists.then_some(id)));
        unit.expect_find_held_comment().returning(move |_| Ok(exists.then_some(id)));
        unit.expect_find_link().returning(move |_| Ok(exists.then(|| link("https://acme.example/browse/APP-7"))));
        unit.expect_customer_exists().returning(move |_| Ok(exists));
        unit.expect_find_changelog().returning(move |_| Ok(exists.then(|| changelog(None, false))));
        unit.expect_find_tag()
            .returning(move |tag| Ok(exists.then(|| ListedTag { name: tag.clone(), feature_requests_count: 1 })));
        unit.expect_load_board().returning(move || {
            let mut board = Board::default();
            if exists {
                board
                    .add_lane(
                        Lane {
                            id: LaneId::new(Uuid::nil()),
                            name: name("Planned"),
                            kind: LaneKind::Planned,
                            names: Localized::default(),
                        },
                        None,
                    )
                    .unwrap();
                board.add_track(TrackId::new(Uuid::nil()), name("Ideas"), None, None).unwrap();
            }
            Ok(board)
        });
        unit
    }

    #[test]
    fn each_record_is_found_or_reported() {
        let id = Uuid::nil();
        for (target, error) in [
            (Target::Workspace, None),
            (Target::FeatureRequest(request()), Some("FeatureRequest does not exist.")),
            (Target::Comment(CommentId::new(id)), Some("Comment does not exist.")),
            (Target::HeldComment(CommentId::new(id)), Some("Comment does not exist.")),
            (Target::Link(LinkId::new(id)), Some("Link does not exist.")),
            (Target::Customer(CustomerId::new(id)), Some("Customer does not exist.")),
            (Target::Changelog(ChangelogId::new(id)), Some("Changelog does not exist.")),
            (Target::Lane(LaneId::new(id)), Some("Lane does not exist.")),
            (Target::Track(TrackId::new(id)), Some("Track does not exist.")),
            (Target::Tag(Some(Tag::from_stored("ui".to_owned()))), Some("Tag does not exist.")),
        ] {
            block_on(target.locate(&mut unit(true))).unwrap();
            let missing = block_on(target.locate(&mut unit(false)));
            assert_eq!(missing.err().map(|error| error.to_string()).as_deref(), error, "{target:?}");
        }
    }
}
