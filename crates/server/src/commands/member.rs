//! `roadmap member`

use clap::Subcommand;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::member::Member;
use roadmap_domain::model::text::Name;
use roadmap_domain::usecase::add_member::AddMember;
use serde::Serialize;

use super::InWorkspace;
use super::output::{Form, Row};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Add a team member. The first one is the author of what names no known author
    Add {
        #[command(flatten)]
        of: InWorkspace,
        /// E-mail address
        #[arg(long)]
        email: String,
        /// Display name
        #[arg(long)]
        name: String,
        #[command(flatten)]
        form: Form,
    },
    /// List the team members of a workspace, oldest first
    List {
        #[command(flatten)]
        of: InWorkspace,
        #[command(flatten)]
        form: Form,
    },
}

#[derive(Serialize)]
struct Shown {
    id: String,
    name: String,
    email: String,
    created_at: String,
}

impl Row for Shown {
    const COLUMNS: &[&str] = &["id", "name", "email", "created_at"];
}

impl From<&Member> for Shown {
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
            Self::Add { of, email, name, form } => {
                let workspace = of.find(&application).await?;
                let operation =
                    AddMember { email: EmailAddress::parse("--email", &email)?, name: Name::parse("--name", &name)? };
                form.one(&Shown::from(&application.executor.apply(workspace.id, &operation).await?))
            }
            Self::List { of, form } => {
                let workspace = of.find(&application).await?;
                let members = application.reader.members(workspace.id).await?;
                form.many(&members.iter().map(Shown::from).collect::<Vec<_>>())
            }
        }
    }
}
