//! Reads all of the input of a run into a folder.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;

use bytes::Bytes;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::import::run::SourceName;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::import::load::FindRequests;
use roadmap_import::archive::Input;
use roadmap_import::dates::DayOrder;
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;

use super::source::{Reading, Source};
use super::staging::{LoadOptions, Reader, Staged, Staging};
use crate::wiring::Application;

/// Looks up which feature requests are known from earlier runs. Each is looked up once.
pub(crate) struct Known<'a> {
    application: &'a Application,
    workspace: WorkspaceId,
    name: SourceName,
    handle: Handle,
    found: Mutex<HashMap<String, bool>>,
    /// The first failure of a look-up.
    failure: Mutex<Option<RoadmapError>>,
}

impl<'a> Known<'a> {
    /// Most ids that are remembered.
    const MAX: usize = 200_000;

    pub(crate) fn new(application: &'a Application, workspace: WorkspaceId, name: SourceName) -> Self {
        Self {
            application,
            workspace,
            name,
            handle: Handle::current(),
            found: Mutex::default(),
            failure: Mutex::default(),
        }
    }

    /// Whether a feature request is known. After a failure nothing is looked up, and what was read is not to be used
    /// ([`Self::check`]).
    fn is_known(&self, external_id: &str) -> bool {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = found.get(external_id) {
            return *known;
        }
        let mut failure = self.failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if failure.is_some() {
            return false;
        }
        let find = FindRequests { name: self.name.clone(), external_ids: vec![external_id.to_owned()] };
        let outcome = self.handle.block_on(self.application.executor.run_without_key(self.workspace, &find));
        let known = match outcome {
            Ok(ids) => ids.first().is_some_and(Option::is_some),
            Err(error) => {
                *failure = Some(error);
                return false;
            }
        };
        if found.len() < Self::MAX {
            found.insert(external_id.to_owned(), known);
        }
        known
    }

    /// Returns the failure of a look-up, after which some votes may have been left out.
    pub(crate) fn check(self) -> anyhow::Result<()> {
        let failure = self.failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        failure.map_or(Ok(()), |error| Err(anyhow::Error::from(error).context("earlier imports cannot be looked up")))
    }
}

/// More records are rejected than may be, so that nothing is imported.
#[derive(Debug, thiserror::Error)]
#[error("more than {0} records are rejected, so nothing is imported")]
pub(crate) struct TooManyRejected(u64);

/// Reads all of the input into a folder.
pub(crate) fn read(
    source: Source,
    inputs: &[Input],
    reading: &Reading,
    folder: &Path,
    name: &SourceName,
    (read_at, options, max_rejected): (Timestamp, LoadOptions, u64),
    known: &Known<'_>,
) -> anyhow::Result<Staged> {
    let is_known = |id: &str| known.is_known(id);
    let scaler = Application::scaler();
    let scale = |content: Bytes| known.handle.block_on(scaler.scale(content));
    let reader = Reader { inputs, scale: &scale, is_known: &is_known };
    let mut staging = Staging::create(folder, name, reader, max_rejected)?;
    match source.convert(inputs, reading, read_at, &is_known, &mut staging) {
        Ok(votes) => staging.finish(source.name(), read_at, votes, options),
        Err(_) if staging.is_over => Err(TooManyRejected(max_rejected).into()),
        Err(error) => Err(error),
    }
}

/// Returns a digest of the files and of how they are imported.
pub(crate) fn digest(inputs: &[Input], reading: &Reading, options: &LoadOptions) -> anyhow::Result<String> {
    let mut digest = Sha256::new();
    let encoding = reading.encoding.map(encoding_rs::Encoding::name);
    let order = reading.order.map(|order| order == DayOrder::DayFirst);
    let how = serde_json::to_vec(&(&reading.map_texts, encoding, reading.delimiter, order, options))?;
    digest.update((how.len() as u64).to_be_bytes());
    digest.update(&how);
    let mut buffer = vec![0; 64 * 1024];
    for input in inputs {
        digest.update(input.size().to_be_bytes());
        let mut content = input.open()?;
        loop {
            let length = content.read(&mut buffer)?;
            let Some(read) = buffer.get(..length).filter(|read| !read.is_empty()) else { break };
            digest.update(read);
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
