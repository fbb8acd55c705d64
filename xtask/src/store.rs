//! The stores of the service.

use roadmap_testkit::postgres::{Cluster, Durability};

use crate::postgres;

/// Store of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Store {
    /// SQLite, embedded
    Sqlite,
    /// PostgreSQL
    Postgres,
}

impl Store {
    /// The only store of an argument, both by default.
    pub(crate) fn selected(only: Option<Self>) -> impl Iterator<Item = Self> {
        [Self::Sqlite, Self::Postgres].into_iter().filter(move |store| only.is_none_or(|only| only == *store))
    }

    /// Starts a database server, if the store needs one.
    pub(crate) fn cluster(self, durability: Durability) -> anyhow::Result<Option<Cluster>> {
        (self == Self::Postgres).then(|| postgres::cluster(durability)).transpose()
    }
}

impl std::fmt::Display for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        })
    }
}
