//! Voters of a feature request, contract section 2.8.

use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::vote::Voter;
use serde::Serialize;

use super::page::Envelope;

#[derive(Debug, Serialize)]
struct Body<'a> {
    voters: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

#[derive(Debug, Serialize)]
struct Fields<'a> {
    id: String,
    name: Option<&'a str>,
    email: &'a str,
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

pub(crate) fn listed(voters: &Listing<Voter>) -> impl Serialize {
    Body { voters: voters.items.iter().map(fields).collect(), envelope: voters.into() }
}
