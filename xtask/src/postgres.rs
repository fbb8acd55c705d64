//! The PostgreSQL server that tests and benchmarks run on.

use roadmap_testkit::postgres::{Cluster, Durability, SERVER_VARIABLE, binaries};

use crate::run;

/// A server, and how tests are told of it.
pub(crate) struct Server {
    /// A URL of its superuser.
    pub(crate) url: String,
    /// Ends with it, when it is ours.
    _cluster: Option<Cluster>,
}

impl Server {
    /// The server that the environment names, else a throw-away one; its programs are installed
    /// where that can be done.
    pub(crate) fn find() -> anyhow::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "what tests run on is no setting of the service")]
        if let Ok(url) = std::env::var(SERVER_VARIABLE) {
            return Ok(Self { url, _cluster: None });
        }
        let cluster = cluster(Durability::None)?;
        Ok(Self { url: cluster.url(), _cluster: Some(cluster) })
    }
}

/// A throw-away server.
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
