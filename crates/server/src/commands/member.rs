//! `roadmap member`

use clap::Subcommand;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::member::Member;
use roadmap_domain::model::text::Name;
use roadmap_domain::usecase::add_member::AddMember;
use serde::Serialize;

use super::WorkspaceArgument;
use super::output::{OutputFormat, Row};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Add a team member. The first one is the default author of comments and notes
    Add {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// E-mail address
        #[arg(long)]
        email: String,
        /// Display name
        #[arg(long)]
        name: String,
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
}

#[derive(Serialize)]
struct OutputRow {
    id: String,
    name: String,
    email: String,
    created_at: String,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["id", "name", "email", "created_at"];
}

impl From<&Member> for OutputRow {
    fn from(member: &Member) -> Self {
        Self {
            id: member.id.to_string(),
            name: member.name.to_string(),
            email: member.email.as_str().to_owned(),
            created_at: member.created_at.to_string(),
        }
    }
}

impl MemberCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        match self {
            Self::Add { target, email, name, format } => {
                let workspace = target.find(&application).await?;
                let operation =
                    AddMember { email: EmailAddress::parse("--email", &email)?, name: Name::parse("--name", &name)? };
                format
                    .print_one(&OutputRow::from(&application.executor.run_without_key(workspace.id, &operation).await?))
            }
            Self::List { target, format } => {
                let workspace = target.find(&application).await?;
                let members = application.reader.members(workspace.id).await?;
                format.print_many(&members.iter().map(OutputRow::from).collect::<Vec<_>>())
            }
        }
    }
}
