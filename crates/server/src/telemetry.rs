//! The log: to standard error, as text or as JSON.

use anyhow::Context;
use tracing_subscriber::EnvFilter;

use crate::settings::{LogFormat, Settings};

/// What is to be logged.
pub(crate) fn filter(settings: &Settings) -> anyhow::Result<EnvFilter> {
    EnvFilter::try_new(&settings.log)
        .with_context(|| format!("the setting log is `{}`, which is not a filter such as info", settings.log))
}

/// Starts logging. Keys, addresses and bodies are never logged.
pub(crate) fn start(settings: &Settings) -> anyhow::Result<()> {
    let filter = filter(settings)?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match settings.log_format {
        LogFormat::Text => builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).with_span_list(false).try_init(),
    };
    started.map_err(anyhow::Error::from_boxed).context("logging cannot be started")
}
