//! The tags of all feature requests, as a list of their own.

use crate::error::Validated;
use crate::model::feature_request::Tag;
use crate::model::text;

/// A tag with the number of its feature requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTag {
    /// The tag as it is written on the newest feature request that has it.
    pub name: Tag,
    /// Number of feature requests that have it, private ones included. Merged ones are not counted.
    pub feature_requests_count: i64,
}

/// A part of a name that tags are found by, regardless of case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagQuery(String);

impl TagQuery {
    /// Maximum number of characters.
    pub const MAX: usize = Tag::MAX;

    /// Validates a query. An absent or blank one finds all tags.
    ///
    /// # Errors
    /// Too long, or with a NUL character.
    pub fn parse(field: &str, raw: Option<&str>) -> Validated<Option<Self>> {
        let raw = text::parse_optional_line(field, raw.unwrap_or_default(), Self::MAX)?;
        Ok(raw.map(|raw| Self(raw.to_lowercase())))
    }

    /// Returns the part of the name in lower case.
    #[must_use]
    pub fn folded(&self) -> &str {
        &self.0
    }
}

/// A change of a tag on all feature requests that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagChange {
    /// The tag, regardless of case.
    pub tag: Tag,
    /// Its new name, in this spelling. If another tag has it, regardless of case, the two become one. `None` removes the
    /// tag.
    pub name: Option<Tag>,
}

impl TagChange {
    /// Maximum number of feature requests that one change may change. It bounds how long other writes wait.
    pub const MAX_REQUESTS: u32 = 10_000;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_a_part_of_a_name_in_lower_case() {
        for (raw, expected) in [(None, None), (Some(" \t"), None), (Some(" ÜBER "), Some("über"))] {
            let query = TagQuery::parse("query", raw).unwrap();
            assert_eq!(query.as_ref().map(TagQuery::folded), expected, "{raw:?}");
        }
        let long = "x".repeat(TagQuery::MAX + 1);
        assert!(TagQuery::parse("query", Some(&long[1..])).is_ok() && TagQuery::parse("query", Some(&long)).is_err());
    }
}
