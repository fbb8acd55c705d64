//! Which merges of a source can be made, before anything is written.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::policy::merging::MAX_MERGED;

/// The feature requests of a source and their merges so far. Ids are remembered as hashes with a key of their own, which no
/// file can foresee.
#[derive(Debug, Default)]
pub struct MergePlan {
    hasher: RandomState,
    /// Whether the feature requests of the input are private.
    requests: HashMap<u64, bool>,
    /// What feature requests are merged into.
    parents: HashMap<u64, u64>,
    /// How many lead to a feature request, without those that lead to none.
    merged: HashMap<u64, u64>,
}

impl MergePlan {
    /// Adds a feature request of the input.
    pub fn add_request(&mut self, external_id: &str, is_private: bool) {
        self.requests.insert(self.hasher.hash_one(external_id), is_private);
    }

    /// Adds a merge. `is_known` says whether an earlier run has imported the target.
    ///
    /// # Errors
    /// A sentence that says why the merge cannot be made (see [`decide`](crate::policy::merging::decide)).
    pub fn add_merge(
        &mut self,
        source: &str,
        target: &str,
        is_known: impl FnOnce() -> bool,
    ) -> Result<(), &'static str> {
        let (source, target) = (self.hasher.hash_one(source), self.hasher.hash_one(target));
        if !self.requests.contains_key(&target) {
            return if is_known() { Ok(()) } else { Err("there is no feature request with this id: it is not merged") };
        }
        let root = self.root(target);
        if root == source {
            return Err("the merges lead in a circle: it is not merged");
        }
        let is_private = |id| self.requests.get(&id).copied().unwrap_or_default();
        if is_private(root) && !is_private(source) {
            return Err("a public feature request cannot be merged into a private one: it is not merged");
        }
        let moved = self.merged.get(&source).copied().unwrap_or_default() + 1;
        let merged = self.merged.entry(root).or_default();
        if *merged + moved > MAX_MERGED {
            return Err("more than 500 feature requests would be merged into one: it is not merged");
        }
        *merged += moved;
        self.parents.insert(source, root);
        Ok(())
    }

    /// Returns what a feature request leads to, and makes all that lead there by others lead there directly.
    fn root(&mut self, request: u64) -> u64 {
        let mut root = request;
        while let Some(parent) = self.parents.get(&root) {
            root = *parent;
        }
        let mut next = request;
        while let Some(parent) = self.parents.get_mut(&next) {
            next = std::mem::replace(parent, root);
        }
        root
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(requests: &[(&str, bool)]) -> MergePlan {
        let mut plan = MergePlan::default();
        for (id, is_private) in requests {
            plan.add_request(id, *is_private);
        }
        plan
    }

    #[test]
    fn merges_lead_to_one_that_is_there() {
        let mut plan = plan(&[("A", false), ("B", false), ("C", false), ("P", true), ("Q", true)]);
        assert_eq!(
            plan.add_merge("A", "X", || false),
            Err("there is no feature request with this id: it is not merged")
        );
        assert_eq!(plan.add_merge("A", "X", || true), Ok(()));
        let circle = Err("the merges lead in a circle: it is not merged");
        assert_eq!(plan.add_merge("B", "B", || false), circle);
        for (source, target) in [("A", "B"), ("B", "C"), ("Q", "P"), ("Q", "C")] {
            assert_eq!(plan.add_merge(source, target, || false), Ok(()), "{source} {target}");
        }
        assert_eq!(plan.add_merge("C", "A", || false), circle);
        let private = Err("a public feature request cannot be merged into a private one: it is not merged");
        assert_eq!(plan.add_merge("C", "P", || false), private);
    }

    #[test]
    fn a_tree_has_an_end() {
        let ids: Vec<String> = (0..=MAX_MERGED + 2).map(|number| number.to_string()).collect();
        let requests: Vec<_> = ids.iter().map(|id| (id.as_str(), false)).collect();
        let mut plan = plan(&requests);
        // Each into the one before, as far as that works: a chain.
        let refused: Vec<_> =
            ids.windows(2).filter(|pair| plan.add_merge(&pair[1], &pair[0], || false).is_err()).collect();
        assert_eq!(refused, [[(MAX_MERGED).to_string(), (MAX_MERGED + 1).to_string()]]);
    }
}
