//! Voters of a feature request, contract section 2.8.

use roadmap_domain::model::cursor::{CursorList, Placed};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::vote::Voter;
use serde::Serialize;
use utoipa::ToSchema;

use super::page::Envelope;

/// A page of the voters of a feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VotersPage)]
pub(crate) struct Body<'a> {
    #[schema(max_items = 100)]
    voters: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A customer who voted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Voter)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(required = true)]
    name: Option<&'a str>,
    /// The address as it was first sent.
    #[schema(min_length = 3, max_length = 254)]
    email: &'a str,
    /// The time of the vote.
    #[schema(format = DateTime)]
    created_at: String,
}

fn fields(voter: &Voter) -> Fields<'_> {
    Fields {
        id: voter.id.to_string(),
        name: voter.name.as_ref().map(Name::as_str),
        email: voter.email.as_str(),
        created_at: voter.voted_at.to_string(),
    }
}

pub(crate) fn listed(voters: &Listing<Voter>, cursors: &CursorList) -> impl Serialize {
    let envelope = Envelope::with_cursor(voters, cursors, Placed::place);
    Body { voters: voters.page_items().iter().map(fields).collect(), envelope }
}
