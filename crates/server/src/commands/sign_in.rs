//! `roadmap sign-in`

use clap::Subcommand;
use roadmap_domain::model::email_address::EmailAddress;
use serde::Serialize;

use super::output::{OutputFormat, print, print_json};
use super::{WorkspaceArgument, links};
use crate::credentials::start_sign_in;
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum SignInCommand {
    /// Print a link that signs an address in to the pages of a workspace, without a mail. It works once
    Link {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// E-mail address, of a team member, a customer or anybody else
        #[arg(long)]
        email: String,
        #[command(flatten)]
        format: OutputFormat,
    },
}

#[derive(Serialize)]
struct SignInLink {
    url: String,
    expires_at: String,
}

impl SignInCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let Self::Link { target, email, format } = self;
        let application = Application::open(settings).await?;
        let workspace = target.find(&application).await?;
        let operation = start_sign_in(EmailAddress::parse("--email", &email)?);
        let links = links(settings, &workspace)?;
        let sign_in = application.executor.run_without_key(workspace.id, &operation).await?;
        let expires_at = sign_in.expires_at();
        let url = links.sign_in(sign_in.id, expires_at);
        if format.is_json() {
            return print_json(&SignInLink { url, expires_at: expires_at.to_string() });
        }
        print(&format!("{url}\nIt works once, until {expires_at}."))
    }
}
