//! `roadmap member`

use clap::Subcommand;
use roadmap_domain::error::{Resource, RoadmapError};
use roadmap_domain::model::api_key::ApiKey;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::member::{Member, MemberRef, Role};
use roadmap_domain::model::sign_in::LocalPath;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::policy::links::Links;
use roadmap_domain::usecase::change_members::{AddMember, ChangeRole, RemoveMember};
use roadmap_domain::usecase::sign_in::StartSignIn;
use serde::Serialize;

use super::output::{OutputFormat, Row, print};
use super::{WorkspaceArgument, links};
use crate::credentials::start_sign_in;
use crate::settings::Settings;
use crate::wiring::Application;

/// The path of the admin panel.
const ADMIN: &str = "/admin";

#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Add a team member, and print a link that signs the member in to the admin panel. The first member is the default
    /// author of comments and notes
    Add {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// E-mail address
        #[arg(long)]
        email: String,
        /// Display name
        #[arg(long)]
        name: String,
        /// Role: admin or member [default: admin for the first member, member for the others]
        #[arg(long, value_name = "ROLE")]
        role: Option<String>,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// List the team members of a workspace, oldest first
    List {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Remove a team member, and revoke the API keys that the member made. What the member wrote stays, with the member's
    /// name
    Remove {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// E-mail address or id of the member
        member: String,
        /// Do not revoke API keys
        #[arg(long)]
        keep_api_keys: bool,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Change the role of a team member. One admin is always left. The API keys of somebody who is no admin any more are
    /// revoked
    Role {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// E-mail address or id of the member
        member: String,
        /// New role: admin or member
        role: String,
        /// Do not revoke API keys
        #[arg(long)]
        keep_api_keys: bool,
        #[command(flatten)]
        format: OutputFormat,
    },
}

#[derive(Serialize)]
struct OutputRow {
    id: String,
    name: String,
    email: String,
    role: &'static str,
    created_at: String,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["id", "name", "email", "role", "created_at"];
}

/// A new member.
#[derive(Serialize)]
struct AddedRow {
    #[serde(flatten)]
    member: OutputRow,
    /// `None` if the secret that signs links is not known here.
    sign_in_url: Option<String>,
}

impl Row for AddedRow {
    const COLUMNS: &[&str] = &["id", "name", "email", "role", "created_at", "sign_in_url"];
}

/// A member who was removed or has another role.
#[derive(Serialize)]
struct ChangedRow {
    #[serde(flatten)]
    member: OutputRow,
    /// The IDs of the keys that were revoked.
    revoked_api_keys: Vec<String>,
}

impl Row for ChangedRow {
    const COLUMNS: &[&str] = &["id", "name", "email", "role", "created_at", "revoked_api_keys"];
}

impl ChangedRow {
    fn new(member: &Member, revoked: &[ApiKey]) -> Self {
        let revoked_api_keys = revoked.iter().map(|key| key.id.to_string()).collect();
        Self { member: OutputRow::from(member), revoked_api_keys }
    }
}

impl From<&Member> for OutputRow {
    fn from(member: &Member) -> Self {
        Self {
            id: member.id.to_string(),
            name: member.name.to_string(),
            email: member.email.as_str().to_owned(),
            role: member.role.name(),
            created_at: member.created_at.to_string(),
        }
    }
}

impl MemberCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        match self {
            Self::Add { target, email, name, role, format } => {
                let workspace = target.find(&application).await?;
                let operation = AddMember {
                    email: EmailAddress::parse("--email", &email)?,
                    name: Name::parse("--name", &name)?,
                    role: role.map(|raw| Role::parse("--role", &raw)).transpose()?,
                };
                let links = links(settings, &workspace);
                let member = application.executor.run_without_key(workspace.id, &operation).await?;
                let sign_in = match links {
                    Ok(links) => Ok(sign_in_link(&application, workspace.id, &links, member.email.clone()).await?),
                    Err(error) => Err(error),
                };
                let sign_in_url = sign_in.as_ref().ok().map(|(url, _)| url.clone());
                format.print_one(&AddedRow { member: OutputRow::from(&member), sign_in_url })?;
                match sign_in {
                    _ if format.is_json() => Ok(()),
                    Ok((_, until)) => {
                        print(&format!("The link leads to the admin panel. It works once, until {until}."))
                    }
                    Err(error) => print(&format!("There is no link: {error:#}")),
                }
            }
            Self::List { target, format } => {
                let workspace = target.find(&application).await?;
                let members = application.reader.members(workspace.id).await?;
                format.print_many(&members.iter().map(OutputRow::from).collect::<Vec<_>>())
            }
            Self::Remove { target, member, keep_api_keys, format } => {
                let workspace = target.find(&application).await?;
                let operation =
                    RemoveMember { member: MemberRef::parse("the member", &member)?, revokes_keys: !keep_api_keys };
                let removed = application.executor.run_without_key(workspace.id, &operation).await;
                let removed = removed.map_err(|error| explain(error, &workspace, &member))?;
                format.print_one(&ChangedRow::new(&removed.member, &removed.revoked))
            }
            Self::Role { target, member, role, keep_api_keys, format } => {
                let workspace = target.find(&application).await?;
                let operation = ChangeRole {
                    member: MemberRef::parse("the member", &member)?,
                    role: Role::parse("the role", &role)?,
                    revokes_keys: !keep_api_keys,
                };
                let changed = application.executor.run_without_key(workspace.id, &operation).await;
                let changed = changed.map_err(|error| explain(error, &workspace, &member))?;
                format.print_one(&ChangedRow::new(&changed.member, &changed.revoked))
            }
        }
    }
}

/// Returns a link that signs a member in to the admin panel, and how long it is valid.
async fn sign_in_link(
    application: &Application,
    workspace: WorkspaceId,
    links: &Links,
    email: EmailAddress,
) -> anyhow::Result<(String, Timestamp)> {
    let operation = StartSignIn { next: LocalPath::parse(ADMIN), ..start_sign_in(email) };
    let sign_in = application.executor.run_without_key(workspace, &operation).await?;
    let until = sign_in.expires_at();
    Ok((links.sign_in(sign_in.id, until), until))
}

/// Adds to an error what an operator can do about it.
fn explain(error: RoadmapError, workspace: &Workspace, member: &str) -> anyhow::Error {
    let is_missing = matches!(error, RoadmapError::NotFound(Resource::Member));
    let error = anyhow::Error::new(error);
    if !is_missing {
        return error;
    }
    let subdomain = &workspace.subdomain;
    error.context(format!(
        "there is no member `{member}`; `roadmap member list --workspace {subdomain}` lists all members"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::error::Conflict;
    use roadmap_domain::model::workspace::Subdomain;
    use uuid::Uuid;

    #[test]
    fn an_unknown_member_is_explained() {
        let subdomain = Subdomain::from_label("acme").unwrap();
        let workspace = Workspace { id: WorkspaceId::new(Uuid::from_u128(1)), subdomain };
        let message = |error| format!("{:#}", explain(error, &workspace, "eve@acme.example"));
        assert_eq!(
            message(RoadmapError::NotFound(Resource::Member)),
            "there is no member `eve@acme.example`; `roadmap member list --workspace acme` lists all members: Member \
             does not exist."
        );
        let last = RoadmapError::Conflict(Conflict::LastAdmin);
        assert_eq!(message(last), Conflict::LastAdmin.message());
    }
}
