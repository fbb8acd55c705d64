//! `roadmap api-key`

use clap::Subcommand;
use roadmap_domain::error::{FieldError, RoadmapError};
use roadmap_domain::model::api_key::{ApiKey, KeyText, Scopes};
use roadmap_domain::model::id::{ApiKeyId, parse_uuid};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::issue_api_key::IssueApiKey;
use roadmap_domain::usecase::revoke_api_key::RevokeApiKey;
use roadmap_domain::usecase::rotate_api_key::RotateApiKey;
use serde::Serialize;

use super::WorkspaceArgument;
use super::output::{OutputFormat, Row};
use crate::credentials::generate_api_key;
use crate::settings::{Settings, duration};
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum ApiKeyCommand {
    /// Create a key and print it. It cannot be shown again
    Create {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Name of the key
        #[arg(long)]
        name: String,
        /// Scopes of the key: read, write, manage [default: read,write]
        #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',')]
        scopes: Vec<String>,
        /// Lifetime of the key, for example 90d [default: unlimited]
        #[arg(long, value_name = "DURATION")]
        expires_in: Option<String>,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// List the keys of a workspace, without the keys themselves
    List {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Revoke a key. It stops working within a second
    Revoke {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Id of the key
        id: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Replace a key by a new one with the same name and permissions. The old key keeps working for a while
    Rotate {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Id of the key
        id: String,
        /// How long the old key keeps working: 0s to 7d
        #[arg(long, value_name = "DURATION", default_value = "24h")]
        overlap: String,
        #[command(flatten)]
        format: OutputFormat,
    },
}

#[derive(Serialize)]
struct OutputRow {
    id: String,
    name: String,
    last_four: String,
    scopes: Vec<&'static str>,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    last_used_at: Option<String>,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] =
        &["id", "name", "last_four", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at"];
}

impl From<&ApiKey> for OutputRow {
    fn from(key: &ApiKey) -> Self {
        let to_text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Self {
            id: key.id.to_string(),
            name: key.name.to_string(),
            last_four: key.last_four.clone(),
            scopes: key.scopes.names(),
            created_at: key.created_at.to_string(),
            expires_at: to_text(key.expires_at),
            revoked_at: to_text(key.revoked_at),
            last_used_at: to_text(key.last_used_at),
        }
    }
}

/// A new key with its secret text, which is not stored.
#[derive(Serialize)]
struct Issued {
    id: String,
    name: String,
    key: String,
    scopes: Vec<&'static str>,
    created_at: String,
    expires_at: Option<String>,
}

impl Row for Issued {
    const COLUMNS: &[&str] = &["id", "name", "key", "scopes", "created_at", "expires_at"];
}

impl Issued {
    fn new(key: &ApiKey, text: &KeyText) -> Self {
        let OutputRow { id, name, scopes, created_at, expires_at, .. } = key.into();
        Self { id, name, key: text.reveal().to_owned(), scopes, created_at, expires_at }
    }
}

impl ApiKeyCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        match self {
            Self::Create { target, name, scopes, expires_in, format } => {
                let workspace = target.find(&application).await?;
                let operation = IssueApiKey {
                    key: generate_api_key()?,
                    name: Name::parse("--name", &name)?,
                    scopes: Scopes::parse("--scope", &scopes)?,
                    expires_in: expires_in.map(|raw| parse_duration("--expires-in", &raw)).transpose()?,
                };
                let key = application.executor.run_without_key(workspace.id, &operation).await?;
                format.print_one(&Issued::new(&key, &operation.key))
            }
            Self::List { target, format } => {
                let workspace = target.find(&application).await?;
                let keys = application.directory.api_keys(workspace.id).await?;
                format.print_many(&keys.iter().map(OutputRow::from).collect::<Vec<_>>())
            }
            Self::Revoke { target, id, format } => {
                let workspace = target.find(&application).await?;
                let operation = RevokeApiKey { id: key_id(&id)? };
                format
                    .print_one(&OutputRow::from(&application.executor.run_without_key(workspace.id, &operation).await?))
            }
            Self::Rotate { target, id, overlap, format } => {
                let workspace = target.find(&application).await?;
                let replacement = generate_api_key()?;
                let operation =
                    RotateApiKey { id: key_id(&id)?, replacement, overlap: parse_duration("--overlap", &overlap)? };
                let rotated = application.executor.run_without_key(workspace.id, &operation).await;
                format.print_one(&Issued::new(&rotated.map_err(with_flag_name)?, &operation.replacement))
            }
        }
    }
}

/// Replaces the name of the invalid field by the name of its flag.
fn with_flag_name(error: RoadmapError) -> RoadmapError {
    match error {
        RoadmapError::Invalid(invalid) if invalid.field == "overlap" => {
            FieldError { field: "--overlap".to_owned(), ..invalid }.into()
        }
        other => other,
    }
}

fn key_id(raw: &str) -> anyhow::Result<ApiKeyId> {
    Ok(ApiKeyId::new(parse_uuid("the id", raw)?))
}

fn parse_duration(name: &str, raw: &str) -> anyhow::Result<time::Duration> {
    Ok(time::Duration::try_from(duration(name, raw)?)?)
}
