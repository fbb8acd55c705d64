//! A filter in front of comparisons of terms.

/// Rejects most terms that are not in a small set, by their first byte and their length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TermFilter {
    /// For each first byte, the lengths of the terms in the set as bits. The last bit is for all longer terms.
    lengths: Box<[u64; 256]>,
}

impl TermFilter {
    /// Creates the filter of a set of terms.
    pub(crate) fn new<'a>(terms: impl IntoIterator<Item = &'a str>) -> Self {
        let mut lengths = Box::new([0_u64; 256]);
        for term in terms {
            if let Some(lengths) = term.bytes().next().and_then(|first| lengths.get_mut(usize::from(first))) {
                *lengths |= length_bit(term);
            }
        }
        Self { lengths }
    }

    /// Whether a term may be in the set.
    pub(crate) fn may_contain(&self, term: &str) -> bool {
        let lengths = term.bytes().next().and_then(|first| self.lengths.get(usize::from(first)));
        lengths.is_some_and(|lengths| lengths & length_bit(term) != 0)
    }
}

fn length_bit(term: &str) -> u64 {
    1 << term.len().min(63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_terms_of_the_set_pass_and_others_seldom_do() {
        let long = "x".repeat(200);
        let filter = TermFilter::new(["quokka", "fern", "", &long]);
        for (term, may_be) in
            [("quokka", true), ("quaint", true), ("quok", false), ("wombat", false), ("fern", true), ("", false)]
        {
            assert_eq!(filter.may_contain(term), may_be, "{term}");
        }
        assert!(filter.may_contain(&long) && filter.may_contain(&"x".repeat(63)) && !filter.may_contain("xxx"));
    }
}
