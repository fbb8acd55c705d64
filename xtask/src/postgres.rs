//! PostgreSQL server of tests and benchmarks.

use roadmap_testkit::postgres::{Cluster, Durability, SERVER_VARIABLE, binaries};

use crate::run;

/// PostgreSQL server for tests.
pub(crate) struct Server {
    /// URL of its superuser.
    pub(crate) url: String,
    /// Temporary cluster, stopped when dropped.
    _cluster: Option<Cluster>,
}

impl Server {
    /// Returns the server of the environment, otherwise a temporary one. Its programs are installed if possible.
    pub(crate) fn find() -> anyhow::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "what tests run on is no setting of the service")]
        if let Ok(url) = std::env::var(SERVER_VARIABLE) {
            return Ok(Self { url, _cluster: None });
        }
        let cluster = cluster(Durability::None)?;
        Ok(Self { url: cluster.url(), _cluster: Some(cluster) })
    }
}

/// Starts a temporary server.
pub(crate) fn cluster(durability: Durability) -> anyhow::Result<Cluster> {
    if binaries().is_none() {
        install()?;
    }
    Cluster::start(durability).map_err(anyhow::Error::msg)
}

fn install() -> anyhow::Result<()> {
    let instead = format!(
        "install PostgreSQL's server programs with the system's package manager, or let {SERVER_VARIABLE} name a \
         server with a superuser"
    );
    run::install("postgresql", &instead)
}
