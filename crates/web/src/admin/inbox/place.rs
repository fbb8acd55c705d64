//! The place of a feature request in a list of the inbox, for the links to the ones before and after it on its page.

use roadmap_domain::model::admin::{InboxCounts, InboxList, InboxRow};
use roadmap_domain::model::feature_request::{FeatureRequestRef, RequestLink};
use roadmap_http::error::HttpError;

use super::{Address, PATH, list_of_address, team_path};
use crate::admin::member;
use crate::context::Context;
use crate::form::Fields;

/// A place in a list, which the addresses of the pages of its feature requests have: the parameters `list` and `at`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListPlace {
    /// The list, as its first page.
    address: Address,
    /// The place from 0 when the list was shown.
    at: u64,
}

/// The feature requests before and after one in a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Neighbours {
    pub(crate) previous: Option<String>,
    pub(crate) next: Option<String>,
}

impl ListPlace {
    /// Returns the place in the first row of a page of a list.
    pub(super) fn of_page(address: &Address) -> Self {
        let at = (address.page - 1).saturating_mul(InboxList::PER_PAGE);
        Self { address: Address { page: 1, ..address.clone() }, at }
    }

    /// Returns the place of the parameters, if there is one.
    pub(crate) fn parse(fields: &Fields) -> Option<Self> {
        let at = fields.has("list").then(|| fields.get("at").parse().ok()).flatten()?;
        let address = Address::parse(&Fields::parse(fields.get("list").as_bytes()));
        Some(Self { address: Address { page: 1, ..address }, at })
    }

    /// Returns the place a number of rows further.
    pub(super) fn plus(&self, rows: usize) -> Self {
        Self { at: self.at.saturating_add(rows as u64), ..self.clone() }
    }

    /// Returns the parameters of the place.
    pub(crate) fn query(&self) -> String {
        let list = self.address.path();
        let list = list.strip_prefix(PATH).unwrap_or_default().trim_start_matches('?');
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("list", list).append_pair("at", &self.at.to_string());
        query.finish()
    }

    /// Returns the path of the list, with the page of this place.
    pub(crate) fn list_path(&self) -> String {
        Address { page: self.page(), ..self.address.clone() }.path()
    }

    fn page(&self) -> u64 {
        self.at / InboxList::PER_PAGE + 1
    }

    /// Returns the paths of the feature requests before and after one. One that is not in the list any more, because it has
    /// changed, was before the one that is in its place now.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn neighbours(
        &self,
        context: &Context,
        counts: &InboxCounts,
        request: FeatureRequestRef,
    ) -> Result<Neighbours, HttpError> {
        let rows = self.rows(context, counts, self.page()).await?;
        let start = (self.page() - 1) * InboxList::PER_PAGE;
        let current = rows.iter().position(|row| request.is_of(&row.summary));
        let shown = current.unwrap_or_else(|| usize::try_from(self.at - start).unwrap_or(usize::MAX).min(rows.len()));
        let after = if current.is_some() { shown + 1 } else { shown };
        let link = |row: &InboxRow, at: u64| {
            let place = Self { at, ..self.clone() };
            format!("{}?{}", team_path(&RequestLink::from(&row.summary)), place.query())
        };
        let previous = match shown.checked_sub(1).and_then(|before| rows.get(before)) {
            Some(row) => Some(link(row, start + shown as u64 - 1)),
            None if start > 0 => {
                let before = self.rows(context, counts, self.page() - 1).await?;
                before.last().map(|row| link(row, start - 1))
            }
            None => None,
        };
        let next = match rows.get(after) {
            Some(row) => Some(link(row, start + after as u64)),
            None if rows.len() as u64 >= InboxList::PER_PAGE => {
                let following = self.rows(context, counts, self.page() + 1).await?;
                following.first().map(|row| link(row, start + InboxList::PER_PAGE))
            }
            None => None,
        };
        Ok(Neighbours { previous, next })
    }

    /// Returns the rows of a page of the list. A search has one page.
    async fn rows(&self, context: &Context, counts: &InboxCounts, page: u64) -> Result<Vec<InboxRow>, HttpError> {
        if !self.address.query.is_empty() && page > 1 {
            return Ok(Vec::new());
        }
        let (_, member) = member(context)?;
        let address = Address { page, ..self.address.clone() };
        Ok(list_of_address(context, &address, counts, member.id).await?.items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Option<ListPlace> {
        ListPlace::parse(&Fields::parse(query.as_bytes()))
    }

    #[test]
    fn a_place_is_that_of_its_list() {
        let address = Address::parse(&Fields::parse(b"state=replied&tag=a%26b&page=3"));
        let place = ListPlace::of_page(&address).plus(7);
        assert_eq!(place.query(), "list=state%3Dreplied%26tag%3Da%2526b&at=107");
        assert_eq!(parse(&place.query()), Some(place.clone()));
        assert_eq!(place.list_path(), "/admin?state=replied&tag=a%26b&page=3");
        let first = ListPlace::of_page(&Address::of_path(PATH));
        assert_eq!((first.query().as_str(), first.list_path().as_str()), ("list=&at=0", "/admin"));
        assert_eq!(parse("list=&at=0"), Some(first));
    }

    #[test]
    fn anything_else_is_no_place() {
        for query in ["", "at=3", "list=", "list=&at=", "list=&at=-1", "list=&at=x", "list=&at=99999999999999999999"] {
            assert_eq!(parse(query), None, "{query}");
        }
        // A path that is none of the inbox is the whole inbox.
        let place = parse("list=https%3A%2F%2Fevil.example&at=18446744073709551615").unwrap();
        assert!(place.list_path().starts_with("/admin?page="), "{}", place.list_path());
    }
}
