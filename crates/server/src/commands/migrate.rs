//! `roadmap migrate`

use serde::Serialize;

use super::output::{OutputFormat, Row};
use crate::settings::Settings;
use crate::wiring;

#[derive(Debug, clap::Args)]
pub(crate) struct Migrate {
    #[command(flatten)]
    format: OutputFormat,
}

#[derive(Serialize)]
struct Migrated {
    database: String,
    migrations_run: Vec<String>,
}

impl Row for Migrated {
    const COLUMNS: &[&str] = &["database", "migrations_run"];
}

impl Migrate {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let migrations_run = wiring::migrate(settings).await?;
        self.format.print_one(&Migrated { database: settings.database.to_string(), migrations_run })
    }
}
