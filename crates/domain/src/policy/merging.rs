//! Which feature requests can be merged, and what the merge of a feature request means.
//!
//! A merge is a link. The source keeps its votes, comments, notes and tags; the target counts and shows them. All
//! feature requests that lead to the same target form a tree, whose root is that target.

use crate::error::{Conflict, FieldError, FieldProblem, RoadmapError};
use crate::model::feature_request::FeatureRequestSummary;
use crate::model::id::FeatureRequestId;

/// Maximum number of feature requests that lead to one target.
///
/// Bounds what its pages list and what its votes and comments are looked up in.
pub const MAX_MERGED: u64 = 500;

/// A feature request with its place in a tree of merged feature requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeNode {
    /// The feature request itself, even if it is merged.
    pub request: FeatureRequestSummary,
    /// Whether it is hidden from search and all public views.
    pub private: bool,
    /// What it is merged into, nearest first. The last one is the root of its tree. Empty if it is not merged.
    pub ancestors: Vec<FeatureRequestId>,
    /// Number of feature requests that are merged into it, directly or not.
    pub descendants: u64,
}

impl MergeNode {
    /// Returns the root of its tree.
    #[must_use]
    pub fn root(&self) -> FeatureRequestId {
        self.ancestors.last().copied().unwrap_or(self.request.id)
    }
}

/// What a request to merge leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeDecision {
    /// The source is to be linked to this feature request.
    Link(FeatureRequestId),
    /// The source leads there already.
    AlreadyThere,
}

/// Decides whether `source` can be merged into `target`, which may be merged itself. `root` is the root of the target's
/// tree.
///
/// # Errors
/// The target is the source or was merged into it, the source is merged elsewhere, or a public one would become part of
/// a private one.
pub fn decide(source: &MergeNode, target: &MergeNode, root: &MergeNode) -> Result<MergeDecision, RoadmapError> {
    let refused = |message| RoadmapError::from(FieldError::new("target_id", FieldProblem::Custom { message }));
    let source_id = source.request.id;
    if target.request.id == source_id {
        return Err(refused("target_id is the feature request itself"));
    }
    if target.ancestors.contains(&source_id) {
        return Err(refused("target_id is a feature request that was merged into this one"));
    }
    if !source.ancestors.is_empty() {
        let is_there = source.root() == target.root();
        return if is_there {
            Ok(MergeDecision::AlreadyThere)
        } else {
            Err(RoadmapError::Conflict(Conflict::AlreadyMerged))
        };
    }
    if root.private && !source.private {
        return Err(refused("target_id is a private feature request, into which a public one cannot be merged"));
    }
    if root.descendants.saturating_add(source.descendants) >= MAX_MERGED {
        return Err(refused("target_id has too many merged feature requests"));
    }
    Ok(MergeDecision::Link(root.request.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::summary;
    use uuid::Uuid;

    fn id(number: u128) -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(number))
    }

    fn node(number: u128, private: bool, ancestors: &[u128], descendants: u64) -> MergeNode {
        let request = FeatureRequestSummary { id: id(number), ..summary("Inbox", None, 0) };
        MergeNode { request, private, ancestors: ancestors.iter().map(|number| id(*number)).collect(), descendants }
    }

    fn decision(source: &MergeNode, target: &MergeNode, root: &MergeNode) -> Result<MergeDecision, String> {
        decide(source, target, root).map_err(|error| error.to_string())
    }

    /// Addition 3.
    #[test]
    fn a_source_is_linked_to_the_root_of_the_target() {
        let (source, target, root) = (node(1, false, &[], 0), node(2, false, &[3], 0), node(3, false, &[], 1));
        assert_eq!(decision(&source, &target, &root), Ok(MergeDecision::Link(id(3))));
        assert_eq!(decision(&source, &root, &root), Ok(MergeDecision::Link(id(3))));
    }

    /// Addition 3.
    #[test]
    fn no_request_is_merged_into_itself_or_its_descendant() {
        let source = node(1, false, &[], 2);
        let itself = Err("target_id is the feature request itself".to_owned());
        assert_eq!(decision(&source, &source, &source), itself);
        let descendant = Err("target_id is a feature request that was merged into this one".to_owned());
        assert_eq!(decision(&source, &node(2, false, &[1], 0), &source), descendant);
        assert_eq!(decision(&source, &node(3, false, &[2, 1], 0), &source), descendant);
        // Also if the source is merged itself.
        let (source, root) = (node(1, false, &[9], 1), node(9, false, &[], 2));
        assert_eq!(decision(&source, &node(2, false, &[1, 9], 0), &root), descendant);
    }

    /// Addition 3.
    #[test]
    fn a_merged_source_stays_where_it_is() {
        let (source, root) = (node(1, false, &[2, 9], 0), node(9, false, &[], 2));
        for target in [node(9, false, &[], 2), node(2, false, &[9], 1), node(3, false, &[9], 0)] {
            assert_eq!(decision(&source, &target, &root), Ok(MergeDecision::AlreadyThere));
        }
        let elsewhere = node(8, false, &[], 0);
        assert_eq!(decision(&source, &elsewhere, &elsewhere), Err("FeatureRequest is already merged.".to_owned()));
    }

    /// Addition 3.
    #[test]
    fn a_public_request_does_not_become_part_of_a_private_one() {
        let (public, private) = (node(1, false, &[], 0), node(2, true, &[], 0));
        let message = "target_id is a private feature request, into which a public one cannot be merged";
        assert_eq!(decision(&public, &private, &private), Err(message.to_owned()));
        assert_eq!(decision(&private, &public, &public), Ok(MergeDecision::Link(id(1))));
        assert_eq!(decision(&node(3, true, &[], 0), &private, &private), Ok(MergeDecision::Link(id(2))));
    }

    /// Addition 3.
    #[test]
    fn a_tree_has_a_maximum_size() {
        let target = |descendants| node(2, false, &[], descendants);
        for (descendants, source, fits) in [(499, 0, true), (500, 0, false), (400, 99, true), (400, 100, false)] {
            let outcome = decision(&node(1, false, &[], source), &target(descendants), &target(descendants));
            assert_eq!(outcome.is_ok(), fits, "{descendants} {source}");
        }
    }
}
