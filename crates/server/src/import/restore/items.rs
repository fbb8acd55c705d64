//! The lines of an export as records to store.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context, anyhow, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Checksum, Dimensions, Filename};
use roadmap_domain::model::board::Board;
use roadmap_domain::model::event::NewEvent;
use roadmap_domain::model::export::restore::{MergeRow, Part, Restorer, Settings, merge_rows};
use roadmap_domain::model::export::{
    Attachment as AttachmentRecord, Changelog, Comment, Customer, Event, FeatureRequest, Imported, Kind, Lane, Link,
    Member, Note, Subscription, Track, Vote, Workspace,
};
use roadmap_domain::model::id::{AttachmentId, CustomerId, FeatureRequestId, ImportId, MemberId, TrackId, WorkspaceId};
use roadmap_domain::model::import::ImportedNote;
use roadmap_domain::model::import::run::{RESTORE, SourceName};
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::model::picture::PictureBy;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::links::Links;
use roadmap_domain::policy::portable_links::LinkedFile;
use roadmap_domain::usecase::import::restore::Batch;
use roadmap_import::records::{Action, Problem};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::input::{ExportArchive, Lines};

/// What is stored, in this order: nothing refers to what comes later, except merges, which are a step of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Files,
    Board,
    Members,
    Customers,
    FeatureRequests,
    Merges,
    Votes,
    Subscriptions,
    Comments,
    Notes,
    Links,
    Events,
    Changelogs,
    Imported,
    Settings,
    FileTimes,
    Index,
}

impl Step {
    pub(crate) const ALL: [Self; 17] = [
        Self::Files,
        Self::Board,
        Self::Members,
        Self::Customers,
        Self::FeatureRequests,
        Self::Merges,
        Self::Votes,
        Self::Subscriptions,
        Self::Comments,
        Self::Notes,
        Self::Links,
        Self::Events,
        Self::Changelogs,
        Self::Imported,
        Self::Settings,
        Self::FileTimes,
        Self::Index,
    ];

    /// Returns the file with its lines.
    const fn kind(self) -> Kind {
        match self {
            Self::Files | Self::FileTimes => Kind::Attachments,
            // Lanes are read with the tracks.
            Self::Board => Kind::Tracks,
            Self::Members => Kind::Members,
            Self::Customers => Kind::Customers,
            Self::FeatureRequests | Self::Merges | Self::Index => Kind::FeatureRequests,
            Self::Votes => Kind::Votes,
            Self::Subscriptions => Kind::Subscriptions,
            Self::Comments => Kind::Comments,
            Self::Notes => Kind::Notes,
            Self::Links => Kind::Links,
            Self::Events => Kind::Events,
            Self::Changelogs => Kind::Changelogs,
            Self::Imported => Kind::Imported,
            Self::Settings => Kind::Workspace,
        }
    }

    /// Returns what a progress says.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Files | Self::FileTimes => "files",
            Self::Board => "lanes and tracks",
            Self::Members => "members",
            Self::Customers => "customers",
            Self::FeatureRequests => "feature requests",
            Self::Merges => "merges",
            Self::Votes => "votes",
            Self::Subscriptions => "subscriptions",
            Self::Comments => "comments",
            Self::Notes => "notes",
            Self::Links => "links",
            Self::Events => "histories",
            Self::Changelogs => "changelogs",
            Self::Imported => "origins",
            Self::Settings => "settings",
            Self::Index => "search",
        }
    }

    /// Returns how many lines a batch has at most. The board is one.
    pub(crate) const fn most_in_batch(self) -> usize {
        match self {
            Self::Board => usize::MAX,
            Self::Files => 20,
            Self::Index => 200,
            _ => 2_000,
        }
    }
}

/// A record to store.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    File(Attachment, Option<PictureBy>),
    Row { row: String, pictures: Option<(Uuid, Vec<AttachmentId>)>, nameless_votes: u64 },
    Note(ImportedNote),
    Event(NewEvent),
    Board(Board),
    Settings(Box<Settings>),
    Index(FeatureRequestId),
}

impl Item {
    fn row(row: String) -> Self {
        Self::Row { row, pictures: None, nameless_votes: 0 }
    }

    fn text(row: String, record: Uuid, pictures: Vec<AttachmentId>) -> Self {
        let pictures = (!pictures.is_empty()).then_some((record, pictures));
        Self::Row { row, pictures, nameless_votes: 0 }
    }

    pub(crate) fn nameless_votes(&self) -> u64 {
        match self {
            Self::Row { nameless_votes, .. } => *nameless_votes,
            _ => 0,
        }
    }
}

/// What a line is.
pub(crate) struct Found {
    /// `None`: nothing is stored.
    pub(crate) item: Option<Item>,
    /// Its text was cleaned.
    pub(crate) problem: Option<Problem>,
}

impl From<Item> for Found {
    fn from(item: Item) -> Self {
        Self { item: Some(item), problem: None }
    }
}

/// Returns a batch of records of a step.
pub(crate) fn batch(step: Step, items: Vec<Item>, makes_members: bool) -> Batch {
    let part = match step {
        Step::Members => Part::Members { keeps_access: !makes_members },
        Step::Customers => Part::Customers,
        Step::FeatureRequests => Part::FeatureRequests,
        Step::Merges => Part::Merges,
        Step::Votes => Part::Votes,
        Step::Subscriptions => Part::Subscriptions,
        Step::Comments => Part::Comments,
        Step::Links => Part::Links,
        Step::Changelogs => Part::Changelogs,
        Step::Imported => Part::Imported,
        Step::Files | Step::Board | Step::Notes | Step::Events | Step::Settings | Step::FileTimes | Step::Index => {
            Part::FileTimes
        }
    };
    let (mut rows, mut pictures, mut files) = (Vec::new(), Vec::new(), Vec::new());
    let (mut notes, mut events, mut index) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        match item {
            Item::File(file, picture_by) => files.push((file, picture_by)),
            Item::Row { row, pictures: of_row, .. } => {
                rows.push(row);
                pictures.extend(of_row);
            }
            Item::Note(note) => notes.push(note),
            Item::Event(event) => events.push(event),
            Item::Index(request) => index.push(request),
            Item::Board(board) => return Batch::Board(board),
            Item::Settings(settings) => return Batch::Settings(settings),
        }
    }
    match step {
        Step::Files => Batch::Files(files),
        Step::Notes => Batch::Notes(notes),
        Step::Events => Batch::Events(events),
        Step::Index => Batch::Index(index),
        _ => Batch::Rows { part, rows, pictures },
    }
}

/// The ids of the records that others refer to.
#[derive(Default)]
struct Ids {
    tracks: HashSet<TrackId>,
    members: HashSet<MemberId>,
    customers: HashSet<CustomerId>,
    requests: HashSet<FeatureRequestId>,
}

/// Reads the lines of an archive.
pub(crate) struct Reader<'a> {
    archive: &'a ExportArchive,
    links: &'a Links,
    makes_members: bool,
    began_at: Timestamp,
    workspace: WorkspaceId,
    import: ImportId,
    source: SourceName,
    files: HashMap<AttachmentId, LinkedFile>,
    ids: Ids,
    merged: BTreeMap<FeatureRequestId, FeatureRequestId>,
    /// The links of merged feature requests, once all are known.
    rows: HashMap<FeatureRequestId, MergeRow>,
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> anyhow::Result<T> {
    Ok(serde_json::from_slice(line)?)
}

impl<'a> Reader<'a> {
    /// Reads which files there are.
    pub(crate) fn new(
        archive: &'a ExportArchive,
        links: &'a Links,
        makes_members: bool,
        began_at: Timestamp,
        workspace: WorkspaceId,
    ) -> anyhow::Result<Self> {
        let mut files = HashMap::new();
        let mut lines = archive.lines(Kind::Attachments, 0)?;
        while let Some((number, line)) = lines.next_line()? {
            let file: AttachmentRecord = parse(&line).with_context(|| place(Kind::Attachments, number))?;
            if archive.has_file(file.id) {
                let filename = Filename::sanitize(&file.filename);
                files.insert(file.id, LinkedFile { filename, is_picture: file.picture_by.is_some() });
            }
        }
        Ok(Self {
            archive,
            links,
            makes_members,
            began_at,
            workspace,
            import: ImportId::new(Uuid::nil()),
            source: SourceName::parse("name", RESTORE)?,
            files,
            ids: Ids::default(),
            merged: BTreeMap::new(),
            rows: HashMap::new(),
        })
    }

    pub(crate) fn archive(&self) -> &ExportArchive {
        self.archive
    }

    pub(crate) const fn makes_members(&self) -> bool {
        self.makes_members
    }

    /// Sets the run that stores the records.
    pub(crate) const fn set_import(&mut self, import: ImportId) {
        self.import = import;
    }

    /// Returns how many lines a step has.
    pub(crate) fn len(&self, step: Step) -> u64 {
        self.archive.len(step.kind())
    }

    /// Returns the lines of a step after the first ones.
    pub(crate) fn lines(&self, step: Step, skipped: u64) -> anyhow::Result<Lines> {
        self.archive.lines(step.kind(), skipped)
    }

    /// Remembers a record that others refer to.
    pub(crate) fn learn(&mut self, step: Step, line: &[u8]) -> anyhow::Result<()> {
        let is_new = match step {
            Step::Board => self.ids.tracks.insert(parse::<Track>(line)?.id),
            Step::Members => self.ids.members.insert(parse::<Member>(line)?.id),
            Step::Customers => self.ids.customers.insert(parse::<Customer>(line)?.id),
            Step::FeatureRequests => {
                let request: FeatureRequest = parse(line)?;
                if let Some(target) = request.merged_into_id {
                    self.merged.insert(request.id, target);
                }
                self.ids.requests.insert(request.id)
            }
            _ => true,
        };
        if !is_new {
            bail!("{} has two records with one id", step.kind().file());
        }
        if step == Step::FeatureRequests && self.ids.requests.len() as u64 == self.len(step) {
            self.check_links()?;
        }
        Ok(())
    }

    /// Finds the roots of all trees, once all feature requests are known.
    ///
    /// # Errors
    /// Merges form a circle, or lead to an unknown feature request.
    fn check_links(&mut self) -> anyhow::Result<()> {
        if let Some(unknown) = self.merged.values().find(|target| !self.ids.requests.contains(target)) {
            bail!("a feature request is merged into {unknown}, which the export does not have");
        }
        let rows = merge_rows(&self.merged).context("merges of feature requests form a circle")?;
        self.rows = rows.into_iter().map(|row| (row.id, row)).collect();
        Ok(())
    }

    /// Returns what a line of a step is.
    ///
    /// # Errors
    /// It is no record of this kind, or refers to something that the export does not have.
    pub(crate) fn item(&self, step: Step, number: u64, line: &[u8]) -> anyhow::Result<Found> {
        self.read(step, number, line).with_context(|| place(step.kind(), number))
    }

    fn restorer(&self) -> Restorer<'_> {
        Restorer {
            links: self.links,
            files: &self.files,
            import: self.import,
            began_at: self.began_at,
            makes_members: self.makes_members,
            source: self.source.clone(),
        }
    }

    fn read(&self, step: Step, number: u64, line: &[u8]) -> anyhow::Result<Found> {
        let restorer = self.restorer();
        Ok(match step {
            Step::Files => match self.file(parse(line)?)? {
                Some((file, picture_by)) => Item::File(file, picture_by).into(),
                None => Found { item: None, problem: None },
            },
            // With the last track, all are known.
            Step::Board if number < self.len(step) => Found { item: None, problem: None },
            Step::Board => Item::Board(restorer.board(self.all::<Lane>(Kind::Lanes)?, self.all(Kind::Tracks)?)?).into(),
            Step::Members => {
                let member: Member = parse(line)?;
                self.check_people(member.details.is_some())?;
                Item::row(restorer.member(member)?).into()
            }
            Step::Customers => {
                let customer: Customer = parse(line)?;
                self.check_people(customer.details.is_some())?;
                Item::row(restorer.customer(customer)?).into()
            }
            Step::FeatureRequests => {
                let mut request: FeatureRequest = parse(line)?;
                known("track_id", self.ids.tracks.contains(&request.track_id))?;
                self.known_customer(request.author_id)?;
                let problem = self.clean(step, number, &request.id.to_string(), &mut request.description);
                let pictures = restorer.pictures(&request.description);
                let nameless_votes = request.nameless_votes.unsigned_abs();
                let row = restorer.feature_request(&request)?;
                let pictures = (!pictures.is_empty()).then_some((request.id.uuid(), pictures));
                Found { item: Some(Item::Row { row, pictures, nameless_votes }), problem }
            }
            Step::Merges => {
                let request: FeatureRequest = parse(line)?;
                let row = self.rows.get(&request.id).map(serde_json::to_string).transpose()?;
                Found { item: row.map(Item::row), problem: None }
            }
            Step::Votes => {
                let vote: Vote = parse(line)?;
                self.known_request(vote.feature_request_id)?;
                self.known_customer(Some(vote.customer_id))?;
                Item::row(serde_json::to_string(&vote)?).into()
            }
            Step::Subscriptions => {
                let subscription: Subscription = parse(line)?;
                self.known_request(subscription.feature_request_id)?;
                self.known_customer(Some(subscription.customer_id))?;
                Item::row(serde_json::to_string(&subscription)?).into()
            }
            Step::Comments => {
                let mut comment: Comment = parse(line)?;
                self.known_request(comment.feature_request_id)?;
                self.known_customer(comment.customer_id)?;
                self.known_member(comment.author_id)?;
                let problem = self.clean(step, number, &comment.id.to_string(), &mut comment.content);
                let pictures = restorer.pictures(&comment.content);
                Found { item: Some(Item::text(restorer.comment(&comment)?, comment.id.uuid(), pictures)), problem }
            }
            Step::Notes => {
                let mut note: Note = parse(line)?;
                self.known_request(note.feature_request_id)?;
                self.known_customer(note.customer_id)?;
                self.known_member(note.author_id)?;
                let problem = self.clean(step, number, &note.id.to_string(), &mut note.body);
                Found { item: Some(Item::Note(restorer.note(note))), problem }
            }
            Step::Links => {
                let link: Link = parse(line)?;
                self.known_request(link.feature_request_id)?;
                Item::row(restorer.link(&link)?).into()
            }
            Step::Events => {
                let event: Event = parse(line)?;
                self.known_request(event.feature_request_id)?;
                Item::Event(restorer.event(event)?).into()
            }
            Step::Changelogs => {
                let mut changelog: Changelog = parse(line)?;
                for request in &changelog.feature_request_ids {
                    self.known_request(*request)?;
                }
                let problem = self.clean(step, number, &changelog.id.to_string(), &mut changelog.content);
                let pictures = restorer.pictures(&changelog.content);
                let row = restorer.changelog(&mut changelog)?;
                Found { item: Some(Item::text(row, changelog.id.uuid(), pictures)), problem }
            }
            Step::Imported => {
                let imported: Imported = parse(line)?;
                Item::row(restorer.imported(&imported)?).into()
            }
            Step::Settings => {
                let workspace: Workspace = parse(line)?;
                Item::Settings(Box::new(restorer.settings(workspace)?)).into()
            }
            Step::FileTimes => {
                let file: AttachmentRecord = parse(line)?;
                let row = self.files.contains_key(&file.id).then(|| serde_json::to_string(&file)).transpose()?;
                Found { item: row.map(Item::row), problem: None }
            }
            Step::Index => {
                let request: FeatureRequest = parse(line)?;
                let is_found = !request.private && request.merged_into_id.is_none();
                Found { item: is_found.then_some(Item::Index(request.id)), problem: None }
            }
        })
    }

    /// Returns all records of a small file.
    fn all<T: DeserializeOwned>(&self, kind: Kind) -> anyhow::Result<Vec<T>> {
        let (mut lines, mut records) = (self.archive.lines(kind, 0)?, Vec::new());
        while let Some((number, line)) = lines.next_line()? {
            records.push(parse(&line).with_context(|| place(kind, number))?);
        }
        Ok(records)
    }

    /// Returns the row of a file. `None`: its content is not there.
    fn file(&self, file: AttachmentRecord) -> anyhow::Result<Option<(Attachment, Option<PictureBy>)>> {
        if !self.files.contains_key(&file.id) {
            return Ok(None);
        }
        let checksum = STANDARD.decode(&file.checksum).ok().and_then(|bytes| bytes.try_into().ok());
        let picture_by = match file.picture_by.as_deref() {
            None => None,
            Some("team") => Some(PictureBy::Team),
            Some("customer") => Some(PictureBy::Customer),
            Some(_) => bail!("picture_by is not team or customer"),
        };
        let attachment = Attachment {
            id: file.id,
            filename: Filename::sanitize(&file.filename),
            media_type: MediaType::from_stored(file.content_type),
            byte_size: u64::try_from(file.byte_size).context("byte_size is no size of a file")?,
            checksum: Checksum(checksum.context("checksum is no MD5 in Base64")?),
            key: BlobKey { workspace: self.workspace, attachment: file.id },
            service_name: String::new(),
            dimensions: Dimensions::from_stored(file.width, file.height),
            created_at: file.created_at,
        };
        Ok(Some((attachment, picture_by)))
    }

    /// Makes a text one of this workspace. Returns the problem if that changes more than links.
    fn clean(&self, step: Step, number: u64, id: &str, text: &mut String) -> Option<Problem> {
        let (html, is_changed) = self.restorer().html(text);
        let problem = is_changed.then(|| {
            Problem::new(
                step.kind().file(),
                "the text has markup that is not allowed, which is removed",
                Action::Changed,
            )
            .in_line(number)
            .of_record(id)
            .of_value("text", text)
        });
        html.as_str().clone_into(text);
        problem
    }

    /// Checks that people have details, unless the export is without people.
    fn check_people(&self, has_details: bool) -> anyhow::Result<()> {
        match has_details == self.archive.manifest().options.without_people {
            false => Ok(()),
            true => Err(anyhow!("the record has no address, or one that the manifest does not announce")),
        }
    }

    fn known_request(&self, id: FeatureRequestId) -> anyhow::Result<()> {
        known("feature_request_id", self.ids.requests.contains(&id))
    }

    fn known_customer(&self, id: Option<CustomerId>) -> anyhow::Result<()> {
        known("customer", id.is_none_or(|id| self.ids.customers.contains(&id)))
    }

    fn known_member(&self, id: Option<MemberId>) -> anyhow::Result<()> {
        known("author_id", id.is_none_or(|id| self.ids.members.contains(&id)))
    }
}

/// Says where a record is.
fn place(kind: Kind, number: u64) -> String {
    format!("{}:{number}", kind.file())
}

fn known(field: &str, is_known: bool) -> anyhow::Result<()> {
    if is_known { Ok(()) } else { Err(anyhow!("{field} refers to a record that the export does not have")) }
}
