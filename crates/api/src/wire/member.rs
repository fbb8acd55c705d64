//! Team members.

use roadmap_domain::model::member::Member;
use serde::Serialize;
use utoipa::ToSchema;

/// All members, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Members)]
pub(crate) struct Body<'a> {
    members: Vec<Fields<'a>>,
}

/// Somebody of the workspace's team.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Member)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 3, max_length = 254)]
    email: &'a str,
    #[schema(min_length = 1, max_length = 200)]
    name: &'a str,
    #[schema(value_type = Role)]
    role: &'static str,
    #[schema(format = DateTime)]
    created_at: String,
}

/// What a member may do.
#[derive(ToSchema)]
#[schema(as = MemberRole, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum Role {
    Admin,
    Member,
}

fn fields(member: &Member) -> Fields<'_> {
    Fields {
        id: member.id.to_string(),
        email: member.email.as_str(),
        name: member.name.as_str(),
        role: member.role.name(),
        created_at: member.created_at.to_string(),
    }
}

pub(crate) fn listed(members: &[Member]) -> impl Serialize {
    Body { members: members.iter().map(fields).collect() }
}
