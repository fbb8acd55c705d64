//! The PostgreSQL server that tests and benchmarks run on.

use std::process::Command;

use anyhow::{Context, bail};
use roadmap_testkit::postgres::{Cluster, Durability, SERVER_VARIABLE, binaries};

use crate::run::{finish, has};

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
    if !has("apt-get") {
        bail!(
            "the tests need PostgreSQL, and there is none: install its server programs with the system's package \
             manager, or let {SERVER_VARIABLE} name a server with a superuser"
        );
    }
    eprintln!("PostgreSQL is not installed; installing it with apt-get");
    for arguments in [&["update"][..], &["install", "--yes", "--no-install-recommends", "postgresql"]] {
        let name = format!("apt-get {}", arguments.join(" "));
        let installed = finish(Command::new("apt-get").args(arguments), &name);
        installed.with_context(|| {
            format!(
                "the tests need PostgreSQL, and it cannot be installed from here; install it, or set {SERVER_VARIABLE}"
            )
        })?;
    }
    Ok(())
}
