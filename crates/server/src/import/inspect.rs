//! Looks into uploaded files: what they begin with, as it will be read.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use anyhow::Context;
use async_trait::async_trait;
use roadmap_domain::error::{FieldError, FieldProblem, RoadmapError, StoreError};
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::import::records::{FeatureRequest, Kind, PersonKey, Record};
use roadmap_domain::model::import::upload::{ImportOptions, Preview, PreviewColumn, PreviewRecord};
use roadmap_domain::model::text::truncate;
use roadmap_domain::ports::{Blobs, Clock, ImportInspector};
use roadmap_domain::usecase::import::prepare::{Pictures, prepare};
use roadmap_import::archive::{self, Input, Limits};
use roadmap_import::dates::DayOrder;
use roadmap_import::encoding;
use roadmap_import::records::{Lost, Problem, Sink};
use roadmap_import::sources::csv::Field;
use tokio::sync::Semaphore;

use super::folders;
use super::source::{self, Reading, Source};
use crate::ownership;

/// How many records of a file are looked at.
const RECORDS: u64 = 100_000;
/// How long a file is looked at.
const TIME: Duration = Duration::from_secs(10);
/// How many characters of a description are shown.
const TEXT: usize = 200;
/// How many characters of the name of a column, and of a status, are shown.
const COLUMN: usize = 100;

/// Looks into uploaded files, one at a time in a process.
pub(crate) struct Inspector {
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    data_dir: PathBuf,
    turns: Semaphore,
}

/// Returns the error for a file that cannot be imported.
fn refused(message: String) -> RoadmapError {
    FieldError::new("file", FieldProblem::InFile { message }).into()
}

/// Parses how a file is read.
///
/// # Errors
/// An option has no meaning.
pub(crate) fn reading(options: &ImportOptions) -> Result<Reading, FieldError> {
    let wrong = |field: &str, message: String| FieldError::new(field, FieldProblem::InFile { message });
    let mut reading = Reading::default();
    for (field, column) in &options.map {
        let text = format!("{field}={column}");
        reading.map.add(&text).map_err(|error| wrong("map", error.to_string()))?;
        reading.map_texts.push(text);
    }
    if let Some(label) = options.encoding.as_deref().filter(|label| !label.is_empty()) {
        reading.encoding = Some(encoding::from_label(label).map_err(|error| wrong("encoding", error.to_string()))?);
    }
    reading.delimiter = match options.delimiter.as_deref() {
        None | Some("") => None,
        Some(text) => match source::delimiter(text) {
            Some(byte) => Some(byte),
            None => return Err(wrong("delimiter", "delimiter must be one character, or `tab`".to_owned())),
        },
    };
    reading.order = match options.dates.as_deref() {
        None | Some("") => None,
        Some(text) => match DayOrder::from_option(text) {
            Some(order) => Some(order),
            None => return Err(wrong("dates", "dates must be dmy or mdy".to_owned())),
        },
    };
    Ok(reading)
}

/// Copies an uploaded file into a folder, under its name.
pub(crate) async fn fetch(blobs: &dyn Blobs, file: &Attachment, folder: &Path) -> anyhow::Result<PathBuf> {
    let chunks = blobs.read(file.key, None).await?;
    let mut chunks = chunks.context("the uploaded file is not in the storage any more: upload it again")?;
    let path = folder.join(file.filename.as_str());
    let mut to = File::create_new(&path)?;
    while let Some(chunk) = chunks.next().await? {
        to.write_all(&chunk)?;
    }
    to.flush()?;
    Ok(path)
}

impl Inspector {
    pub(crate) fn new(blobs: Arc<dyn Blobs>, clock: Arc<dyn Clock>, data_dir: &Path) -> Self {
        Self { blobs, clock, data_dir: data_dir.to_owned(), turns: Semaphore::new(1) }
    }
}

#[async_trait]
impl ImportInspector for Inspector {
    fn sources(&self) -> &'static [(&'static str, &'static str)] {
        &Source::NAMES
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    async fn inspect(&self, source: &str, file: &Attachment, options: &ImportOptions) -> Result<Preview, RoadmapError> {
        let unavailable = |error: anyhow::Error| RoadmapError::Store(StoreError::Unavailable(error.into()));
        let source = Source::from_name(source).ok_or_else(|| refused("its source is unknown".to_owned()))?;
        let reading = reading(options)?;
        let _turn = self.turns.acquire().await.map_err(|closed| unavailable(closed.into()))?;
        let imports = folders::all(&self.data_dir);
        ownership::create_folder(&imports).map_err(|error| unavailable(error.into()))?;
        let folder = tempfile::Builder::new().prefix(folders::NEW).tempdir_in(&imports);
        let folder = folder.map_err(|error| unavailable(error.into()))?;
        let path = fetch(&*self.blobs, file, folder.path()).await.map_err(unavailable)?;
        let now = self.clock.now();
        let look = move || {
            let inputs = archive::open(&path, &Limits::default()).map_err(|error| refused(error.to_string()))?;
            source.check(&inputs).map_err(|error| refused(format!("{error:#}")))?;
            let columns = columns(source, &inputs, &reading);
            let mut sink =
                FirstRecords { began: Instant::now(), preview: Preview::default(), seen: 0, statuses: BTreeSet::new() };
            let converted = source.convert(&inputs, &reading, now, &|_| false, &mut sink);
            let FirstRecords { mut preview, statuses, .. } = sink;
            preview.columns = columns;
            preview.statuses = statuses.into_iter().take(Preview::STATUSES).collect();
            match converted {
                Ok(_) => {}
                Err(_) if preview.is_cut => {}
                // Other columns or another encoding may help.
                Err(error) if !preview.columns.is_empty() => preview.problem = Some(format!("{error:#}")),
                Err(error) => return Err(refused(format!("{error:#}"))),
            }
            drop(folder);
            Ok(preview)
        };
        tokio::task::spawn_blocking(look).await.map_err(|panic| unavailable(panic.into()))?
    }
}

/// The names of the fields of columns.
static FIELDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| Field::ALL.map(Field::name).to_vec());

/// Returns the columns of the table with the feature requests, or of the first one.
fn columns(source: Source, inputs: &[Input], reading: &Reading) -> Vec<PreviewColumn> {
    let cut = |name: String| truncate(&name, COLUMN).to_owned();
    source
        .columns(inputs, reading)
        .into_iter()
        .map(|(name, field)| PreviewColumn { name: cut(name), field: field.map(|field| field.name().to_owned()) })
        .collect()
}

/// Keeps the first feature requests, and the statuses of all.
struct FirstRecords {
    began: Instant,
    preview: Preview,
    seen: u64,
    statuses: BTreeSet<String>,
}

impl FirstRecords {
    fn keep(&mut self, request: FeatureRequest) -> io::Result<()> {
        let author = request.author.as_ref().map(|person| match (&person.name, &person.key) {
            (Some(name), _) => name.clone(),
            (None, PersonKey::Email(address)) => address.clone(),
            (None, PersonKey::ExternalId(id)) => id.clone(),
        });
        let prepared = prepare(Record::FeatureRequest(request), &Pictures::default())?;
        let Some(Record::FeatureRequest(request)) = prepared.records.into_iter().next().map(|first| first.record)
        else {
            return Ok(());
        };
        let text = CleanHtml::from_stored(request.description).to_text();
        self.preview.records.push(PreviewRecord {
            title: request.title,
            text: truncate(text.trim(), TEXT).to_owned(),
            status: request.status.unwrap_or_default(),
            tags: request.tags,
            author: author.unwrap_or_default(),
            created_at: request.created_at.map(|at| at.to_string()),
            is_private: request.is_private,
        });
        Ok(())
    }
}

impl Sink for FirstRecords {
    fn record(&mut self, record: Record) -> io::Result<()> {
        self.seen += 1;
        if self.seen > RECORDS || self.began.elapsed() > TIME {
            self.preview.is_cut = true;
            return Err(io::Error::other("enough"));
        }
        let Record::FeatureRequest(request) = record else { return Ok(()) };
        // A track is chosen for the whole status.
        if let Some(status) = request.status.as_deref().filter(|status| truncate(status, COLUMN) == *status) {
            self.statuses.insert(status.to_owned());
        }
        if self.preview.records.len() < Preview::RECORDS { self.keep(request) } else { Ok(()) }
    }

    fn problem(&mut self, _: Problem) -> io::Result<()> {
        Ok(())
    }

    fn lost(&mut self, _: Lost) -> io::Result<()> {
        Ok(())
    }

    fn rejected(&mut self, _: Kind, _: usize, _: &[u8], _: &mut dyn Read) -> io::Result<()> {
        Ok(())
    }
}
