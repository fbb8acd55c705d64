//! Erases customers, hands out their data, and finishes erasures outside of the database.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::export::run::{ExportRun, ExportState};
use crate::model::feature_request::{Description, EditableFields, Tag, Title};
use crate::model::id::{CustomerId, ImportId, WorkspaceId};
use crate::model::person::{
    AskedRequest, ErasedRecords, ErasedTexts, ErasedVotes, Erasure, ErasureRecord, PersonRef, UnfinishedErasure,
    is_erased,
};
use crate::policy::erasing::{AskedRequestFate, PersonWords, fate};
use crate::policy::signed_reference::ReferenceSigner;
use crate::ports::{Maintenance, PersonalFiles, Reads, UnitOfWork};
use crate::usecase::executor::{Executor, Operation, OperationContext, Performed};
use crate::usecase::export_jobs::ForgetExports;
use crate::usecase::import::jobs::ForgetImportFiles;
use crate::usecase::indexing::index;
use crate::usecase::upload_attachment::UploadAttachment;

/// Erases a customer, which cannot be undone.
#[derive(Debug, Clone)]
pub struct EraseCustomer {
    pub person: PersonRef,
    pub votes: ErasedVotes,
    pub texts: ErasedTexts,
    /// Makes the keyed hash of the address that is kept.
    pub references: Arc<ReferenceSigner>,
    /// An earlier erasure that a restored database does not know.
    pub repeats: Option<ErasureRecord>,
}

#[async_trait]
impl Operation for EraseCustomer {
    /// How much it concerned.
    type Output = ErasedRecords;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ErasedRecords>, RoadmapError> {
        let person = work.find_person(&self.person).await?.filter(|person| !is_erased(person.email.folded()));
        let person = person.ok_or(RoadmapError::NotFound(Resource::Customer))?;
        if work.find_member(person.email.folded()).await?.is_some() {
            return Err(RoadmapError::Conflict(Conflict::IsMember));
        }
        let asked = work.asked_requests(person.id).await?;
        let (id, digest, at) = match &self.repeats {
            Some(record) if !work.customer_exists(record.id).await? => (record.id, record.digest.clone(), record.at),
            _ => {
                let digest = self.references.address_digest(context.workspace, person.email.folded());
                (context.new_id(CustomerId::new), digest, context.now)
            }
        };
        let (votes, texts) = (self.votes, self.texts);
        let erasure = Erasure { person: person.clone(), id, votes, texts, at: context.now };
        let erased = work.erase_person(&erasure).await?;
        work.delete_events_of(person.id).await?;
        // Afterwards, so that all votes are counted.
        for request in &asked {
            match fate(request, self.texts) {
                AskedRequestFate::Keep => {}
                AskedRequestFate::Empty => empty(work, request, context).await?,
                AskedRequestFate::Delete => work.delete_feature_request(request.id).await?,
            }
        }
        let words = PersonWords::new(&person);
        work.save_erasure(&ErasureRecord { id, digest, votes, texts, at }, Some(&words)).await?;
        let changes = vec![
            Change::new("votes", serde_json::Value::Null, votes.name()),
            Change::new("texts", serde_json::Value::Null, texts.name()),
        ];
        let audit = Audit::with_changes("customer.erase", "customer", Some(person.id.uuid()), changes);
        Ok(Performed::new(ErasedRecords { feature_requests: asked.len() as u64, ..erased }, audit))
    }
}

/// Takes the texts away from a feature request. Tags stay: they are the team's.
async fn empty(
    work: &mut dyn UnitOfWork,
    request: &AskedRequest,
    context: &OperationContext<'_>,
) -> Result<(), RoadmapError> {
    let title = Title::parse("title", &format!("Feature request {}", request.tag_number))?;
    let description = Description::from_stored(String::new(), String::new());
    let tags = request.tags.iter().map(|tag| Tag::from_stored(tag.clone())).collect();
    let fields = EditableFields { id: request.id, title, description, tags, private: request.is_private };
    work.save_editable_fields(&fields, context.now).await?;
    index(work, request.id).await?;
    // It was found by the words of what is merged into it.
    if let Some(root) = request.root {
        index(work, root).await?;
    }
    Ok(())
}

/// Records that somebody has got the data of a customer.
#[derive(Debug, Clone, Copy)]
pub struct RecordExport {
    pub customer: CustomerId,
}

#[async_trait]
impl Operation for RecordExport {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        if !work.customer_exists(self.customer).await? {
            return Err(RoadmapError::NotFound(Resource::Customer));
        }
        Ok(Performed::new((), Audit::entry("customer.export", "customer", Some(self.customer.uuid()))))
    }
}

/// Keeps an erasure that a restored database does not know and whose person it does not have, so that imports do not bring
/// the person back.
#[derive(Debug, Clone)]
pub struct KeepErasure {
    pub record: ErasureRecord,
}

#[async_trait]
impl Operation for KeepErasure {
    /// Whether it was not known.
    type Output = bool;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        let is_known = work.erasures().await?.iter().any(|known| known.digest == self.record.digest);
        if !is_known {
            work.save_erasure(&self.record, None).await?;
        }
        Ok(Performed::new(!is_known, Audit::Unchanged))
    }
}

/// Returns the erasures of a workspace that are not finished, and what is at work.
#[derive(Debug, Clone, Copy)]
struct ListUnfinished;

/// What is to be finished, and what may write the person into files meanwhile.
struct Unfinished {
    erasures: Vec<UnfinishedErasure>,
    /// The runs of imports at work.
    running: Vec<ImportId>,
    /// Whether an export with people is being written.
    is_exporting: bool,
}

#[async_trait]
impl Operation for ListUnfinished {
    type Output = Unfinished;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Self::Output>, RoadmapError> {
        let imports = work.load_imports().await?;
        let running = imports.iter().filter(|import| import.is_at_work(context.now)).map(|import| import.id).collect();
        // Also one that no process works on: a process that has died may have stored its file.
        let is_exporting = |export: &ExportRun| export.state == ExportState::Running && export.holds_people();
        let is_exporting = work.load_exports().await?.iter().any(is_exporting);
        let erasures = work.unfinished_erasures().await?;
        Ok(Performed::new(Unfinished { erasures, running, is_exporting }, Audit::Unchanged))
    }
}

/// Forgets the words of an erasure, which no file has any more.
struct ForgetWords(UnfinishedErasure);

#[async_trait]
impl Operation for ForgetWords {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        work.forget_words(&self.0).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

/// Marks erasures as finished.
struct Finish(Vec<CustomerId>);

#[async_trait]
impl Operation for Finish {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        work.finish_erasures(&self.0).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

/// Finishes erasures: takes address and name of the person out of all files, deletes exports that may hold them, and
/// overwrites what the database has left of deleted rows. A process that dies in between leaves it to another one or to the next start.
#[derive(Clone)]
pub struct FinishErasures {
    executor: Executor,
    maintenance: Arc<dyn Maintenance>,
    files: Arc<dyn PersonalFiles>,
    reader: Arc<dyn Reads>,
    /// Deletes files of the storage.
    upload: UploadAttachment,
}

impl FinishErasures {
    /// Creates the use case.
    #[must_use]
    pub fn new(
        executor: Executor,
        maintenance: Arc<dyn Maintenance>,
        files: Arc<dyn PersonalFiles>,
        (reader, upload): (Arc<dyn Reads>, UploadAttachment),
    ) -> Self {
        Self { executor, maintenance, files, reader, upload }
    }

    /// Finishes what can be finished now. Returns how many erasures are finished, and how many are left.
    ///
    /// # Errors
    /// Errors of the store and of the files. Another call goes on.
    pub async fn run(&self) -> Result<(u64, u64), RoadmapError> {
        let (mut clean, mut left) = (Vec::new(), 0);
        for workspace in self.maintenance.workspaces_of_unfinished_erasures().await? {
            let (ready, waiting) = self.clean_files(workspace).await?;
            left += waiting;
            clean.extend((!ready.is_empty()).then_some((workspace, ready)));
        }
        let count = clean.iter().map(|(_, ready)| ready.len() as u64).sum();
        if clean.is_empty() || !self.maintenance.overwrite_remains().await? {
            return Ok((0, left + count));
        }
        for (workspace, ready) in clean {
            self.executor.run_without_key(workspace, &Finish(ready)).await?;
        }
        Ok((count, left))
    }

    /// Takes the words of a workspace's erasures out of files. Returns those that are in no file any more, and the number of
    /// the others.
    async fn clean_files(&self, workspace: WorkspaceId) -> Result<(Vec<CustomerId>, u64), RoadmapError> {
        let Unfinished { erasures, running, is_exporting } =
            self.executor.run_without_key(workspace, &ListUnfinished).await?;
        let (mut ready, mut waiting) = (Vec::new(), 0);
        if erasures.iter().any(|erasure| !erasure.words.is_empty()) {
            // Archives are not searched for a person. An export is made again in a minute.
            let files = self.executor.run_without_key(workspace, &ForgetExports { with_people: true }).await?;
            self.upload.forget_files(workspace, files).await;
        }
        for erasure in erasures {
            let id = erasure.record.id;
            if !erasure.words.is_empty() {
                let are_gone = self.files.erase(workspace, &erasure, &running).await?;
                if !self.clean_imports(workspace, &erasure).await? || !are_gone || is_exporting {
                    waiting += 1;
                    continue;
                }
                self.executor.run_without_key(workspace, &ForgetWords(erasure)).await?;
            }
            ready.push(id);
        }
        Ok((ready, waiting))
    }

    /// Deletes the files of imports that have the words of an erasure. Returns whether none is left: those of a run at work
    /// stay until it has ended.
    async fn clean_imports(&self, workspace: WorkspaceId, erasure: &UnfinishedErasure) -> Result<bool, RoadmapError> {
        let mut are_gone = true;
        for import in self.reader.imports(workspace).await? {
            let upload = import.upload.as_ref().map(|upload| upload.file.uuid());
            let jobs: Vec<_> = std::iter::once(import.id.uuid()).chain(upload).collect();
            for file in self.reader.job_files(workspace, &jobs).await? {
                if self.files.mentions(&file.file, &erasure.words).await? {
                    let forget = ForgetImportFiles { id: import.id, is_upload: Some(file.job) == upload };
                    let files = self.executor.run_without_key(workspace, &forget).await?;
                    are_gone &= !files.is_empty();
                    self.upload.forget_files(workspace, files).await;
                }
            }
        }
        Ok(are_gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::customer::CustomerName;
    use crate::model::email_address::EmailAddress;
    use crate::model::id::{FeatureRequestId, MemberId};
    use crate::model::member::{Member, Role};
    use crate::model::person::erased_address;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{name, now, perform, references, workspace};
    use uuid::Uuid;

    fn ann() -> CustomerName {
        let email = EmailAddress::parse("email", "ann@a.example").unwrap();
        CustomerName { id: CustomerId::new(Uuid::from_u128(5)), name: Some(name("Ann")), email }
    }

    fn erase(texts: ErasedTexts, repeats: Option<ErasureRecord>) -> EraseCustomer {
        let votes = ErasedVotes::Keep;
        EraseCustomer { person: PersonRef::Id(ann().id), votes, texts, references: references(), repeats }
    }

    /// Import contract 8.
    #[test]
    fn members_and_who_is_erased_already_cannot_be_erased() {
        let erased = CustomerName { email: erased_address(ann().id), name: None, ..ann() };
        for (found, is_member, expected) in [
            (None, false, "Customer does not exist."),
            (Some(erased), false, "Customer does not exist."),
            (Some(ann()), true, "The customer is a member of the team."),
        ] {
            let mut unit = MockUnit::new();
            unit.expect_find_person().returning(move |_| Ok(found.clone()));
            let member = Member {
                id: MemberId::new(Uuid::from_u128(9)),
                email: ann().email,
                name: name("Ann"),
                role: Role::Member,
                created_at: now(),
            };
            unit.expect_find_member().returning(move |_| Ok(is_member.then(|| member.clone())));
            let error = perform(&erase(ErasedTexts::Keep, None), &mut unit).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    /// Import contract 8: what nobody else took part in goes, and the erasure is kept under a hash.
    #[test]
    fn own_feature_requests_go_and_the_hash_of_the_address_is_kept() {
        let record = |at| ErasureRecord {
            id: CustomerId::new(Uuid::from_u128(70)),
            digest: "of the file".to_owned(),
            votes: ErasedVotes::Keep,
            texts: ErasedTexts::Remove,
            at,
        };
        let earlier = now().plus(-time::Duration::DAY);
        let own = references().address_digest(workspace(), ann().email.folded());
        for (repeats, exists, expected) in [
            (None, false, (1, own.clone(), now())),
            (Some(record(earlier)), false, (70, "of the file".to_owned(), earlier)),
            (Some(record(earlier)), true, (1, own.clone(), now())),
        ] {
            let mut unit = MockUnit::new();
            unit.expect_find_person().returning(|_| Ok(Some(ann())));
            unit.expect_find_member().returning(|_| Ok(None));
            unit.expect_customer_exists().returning(move |_| Ok(exists));
            let request = AskedRequest {
                id: FeatureRequestId::new(Uuid::from_u128(8)),
                tag_number: 3,
                tags: Vec::new(),
                is_private: false,
                root: None,
                is_waiting: false,
                has_others: false,
            };
            unit.expect_asked_requests().returning(move |_| Ok(vec![request.clone()]));
            unit.expect_delete_feature_request().times(1).returning(|_| Ok(()));
            unit.expect_erase_person()
                .times(1)
                .returning(|_| Ok(ErasedRecords { votes: 2, ..ErasedRecords::default() }));
            unit.expect_delete_events_of().withf(|of| *of == ann().id).times(1).returning(|_| Ok(()));
            let (id, digest, at) = expected;
            unit.expect_save_erasure()
                .withf(move |record, words| {
                    record.id.uuid().as_u128() == id
                        && record.digest == digest
                        && record.at == at
                        && words.is_some_and(|words| words.to_list() == ["ann@a.example", "Ann"])
                })
                .times(1)
                .returning(|_, _| Ok(()));
            let performed = perform(&erase(ErasedTexts::Remove, repeats), &mut unit).unwrap();
            assert_eq!(performed.output, ErasedRecords { votes: 2, feature_requests: 1, comments: 0, notes: 0 });
            assert!(performed.events.is_empty());
        }
    }

    #[test]
    fn a_known_erasure_is_kept_once() {
        let record = ErasureRecord {
            id: CustomerId::new(Uuid::from_u128(70)),
            digest: "d".to_owned(),
            votes: ErasedVotes::Drop,
            texts: ErasedTexts::Keep,
            at: now(),
        };
        for is_known in [false, true] {
            let mut unit = MockUnit::new();
            let known = record.clone();
            unit.expect_erasures().returning(move || Ok(if is_known { vec![known.clone()] } else { Vec::new() }));
            unit.expect_save_erasure().times(usize::from(!is_known)).returning(|_, _| Ok(()));
            assert_eq!(perform(&KeepErasure { record: record.clone() }, &mut unit).unwrap().output, !is_known);
        }
    }
}
