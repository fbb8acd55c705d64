//! The data of a person, and erasing.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use roadmap_domain::error::StoreError;

use roadmap_domain::model::admin::{MissedSearch, MissedWords};
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::id::{ImportId, WorkspaceId};
use roadmap_domain::model::member::MemberRef;
use roadmap_domain::model::person::{
    ErasedRecords, ErasedTexts, ErasedVotes, ErasureRecord, PersonRecords, PersonRef, UnfinishedErasure, is_erased,
};
use roadmap_domain::policy::erasing::PersonWords;
use roadmap_domain::policy::signed_reference::{ReferenceSigner, Secret};
use roadmap_domain::ports::PersonalFiles;
use roadmap_domain::usecase::change_members::RemoveMember;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::erase_customer::{EraseCustomer, FinishErasures, KeepErasure, RecordExport};
use roadmap_domain::usecase::merge_customers::MergeCustomers;

use super::jobs::{asked, ended, exported};
use crate::fakes::EmptyStorage;
use crate::harness::{Harness, comment, customer_comment, draft, held_idea, largest_page, vote};

const ANN: &str = "Ann@a.example";
const NAME: &str = "Ann Quist";

/// A signer of references, which recognizes erased addresses.
pub(super) fn references() -> Arc<ReferenceSigner> {
    Arc::new(ReferenceSigner::new(Secret::parse("secret", &"s".repeat(32)).unwrap(), Vec::new()))
}

fn address(email: &str) -> EmailAddress {
    EmailAddress::parse("email", email).unwrap()
}

fn erase(votes: ErasedVotes, texts: ErasedTexts) -> EraseCustomer {
    let person = PersonRef::Address(address("ann@a.example").folded().clone());
    EraseCustomer { person, votes, texts, references: references(), repeats: None }
}

/// What the workspace of a case has.
struct Scene {
    workspace: WorkspaceId,
    /// Ann's, with a vote of Bob.
    shared: FeatureRequestSummary,
    /// Ann's alone.
    alone: FeatureRequestSummary,
    /// Bob's, for which Ann has voted, too, and into which `source` is merged, for which Ann alone has voted.
    root: FeatureRequestSummary,
    source: FeatureRequestSummary,
}

/// A workspace in which Ann has left traces everywhere.
async fn scene(harness: &Harness) -> Scene {
    let workspace = harness.workspace("acme").await;
    harness.member(workspace, "mia@acme.example", "Mia").await;
    let own = |title: &str| FeatureRequestDraft {
        customer: CustomerDraft::parse(Some(ANN), Some(NAME)).ok(),
        ..draft(title, &["tagged"], "<p>My words</p>")
    };
    let shared = harness.create(workspace, own("Dark mode")).await;
    harness.vote(workspace, &shared, "bob@b.example").await;
    let alone = harness.create(workspace, own("Secret wish")).await;
    let root = harness.request(workspace, "Export").await;
    harness.next_second();
    let source = harness.request(workspace, "Download").await;
    harness.vote(workspace, &root, "bob@b.example").await;
    let noted = vote(FeatureRequestRef::Id(root.id), Some((ANN, None)), Some("Pays well"));
    harness.perform(workspace, &noted).await;
    harness.vote(workspace, &source, ANN).await;
    harness.merge(workspace, source.id, root.id).await;
    let followed = harness.request(workspace, "Import").await;
    harness.subscribe(workspace, followed.id, ANN).await;
    let wrote = customer_comment(FeatureRequestRef::Id(root.id), "I wait", ANN, Some(NAME));
    harness.perform(workspace, &wrote).await;
    harness.hold(workspace, root.id, "Held words", ANN).await;
    harness.create(workspace, held_idea("Held idea", ANN)).await;
    let mention = comment(FeatureRequestRef::Id(root.id), "We ask ann quist about it", true);
    harness.perform(workspace, &mention).await;
    let word = MissedWords::of_query("where is ann quist").unwrap();
    let searches = [MissedSearch { words: word, count: 2 }];
    let day = harness.now().start_of_day();
    harness.subject.missed_searches.add_missed_searches(workspace, day, &searches, 100).await.unwrap();
    let saved = r#"{"customer":{"name":"Ann Quist","email":"Ann@a.example"}}"#;
    let again = vote(FeatureRequestRef::Id(root.id), Some((ANN, None)), None);
    harness.run(workspace, "k", &again, saved).await.unwrap();
    harness.next_second();
    Scene { workspace, shared, alone, root, source }
}

async fn person(harness: &Harness, workspace: WorkspaceId) -> Option<PersonRecords> {
    let person = PersonRef::Address(address(ANN).folded().clone());
    harness.subject.reader.person(workspace, &person).await.unwrap()
}

async fn votes_of(harness: &Harness, scene: &Scene) -> Vec<i64> {
    let mut counts = Vec::new();
    for request in [&scene.shared, &scene.root] {
        counts.push(harness.detail(scene.workspace, request.id).await.summary.votes_count);
    }
    counts
}

/// Import contract 8: everything about a person is read at once.
pub async fn a_person_s_records_are_complete(harness: Harness) {
    let scene = scene(&harness).await;
    let records = person(&harness, scene.workspace).await.unwrap();
    assert_eq!((records.customer.email.as_str(), records.customer.name.as_deref()), (ANN, Some(NAME)));
    let titles = |titles: Vec<&str>| titles.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let own: Vec<String> = records.feature_requests.iter().map(|own| own.feature_request.title.clone()).collect();
    assert_eq!(own, titles(vec!["Dark mode", "Secret wish", "Held idea"]));
    let states: Vec<&str> = records.feature_requests.iter().map(|own| own.state.as_str()).collect();
    assert_eq!(states, ["public", "public", "waiting"]);
    assert_eq!(records.feature_requests.first().map(|own| own.tags.clone()), Some(titles(vec!["tagged"])));
    let mut voted: Vec<(String, bool)> =
        (records.votes.iter()).map(|vote| (vote.feature_request.title.clone(), vote.feature_request.is_own)).collect();
    voted.sort();
    let expected =
        [("Dark mode", true), ("Download", false), ("Export", false), ("Held idea", true), ("Secret wish", true)];
    assert_eq!(voted, expected.map(|(title, own)| (title.to_owned(), own)));
    let comments: Vec<(&str, &str)> =
        records.comments.iter().map(|comment| (comment.content.as_str(), comment.state.as_str())).collect();
    assert_eq!(comments, [("I wait", "public"), ("Held words", "waiting")]);
    assert_eq!(records.notes.iter().map(|note| note.content.as_str()).collect::<Vec<_>>(), ["Pays well"]);
    assert_eq!(records.subscriptions.len(), 1);
    assert_eq!(records.mails.iter().map(|mail| mail.kind.as_str()).collect::<Vec<_>>(), ["comment"]);
    assert_eq!(records.erased(), ErasedRecords { votes: 5, feature_requests: 3, comments: 2, notes: 1 });
    let id = harness.customer(scene.workspace, ANN).await.id;
    let by_id = harness.subject.reader.person(scene.workspace, &PersonRef::Id(id)).await.unwrap();
    assert_eq!(by_id, Some(records));
    let other = harness.workspace("other").await;
    assert_eq!(harness.subject.reader.person(other, &PersonRef::Id(id)).await.unwrap(), None);
    harness.perform(scene.workspace, &RecordExport { customer: id }).await;
    assert_eq!(harness.failure(other, &RecordExport { customer: id }).await, "Customer does not exist.");
}

/// Import contract 8: with votes and texts kept, no number changes, and unmerging stays exact.
pub async fn erasing_keeps_every_count(harness: Harness) {
    let scene = scene(&harness).await;
    let workspace = scene.workspace;
    let counts = votes_of(&harness, &scene).await;
    let erased = harness.perform(workspace, &erase(ErasedVotes::Keep, ErasedTexts::Keep)).await;
    assert_eq!(erased, ErasedRecords { votes: 5, feature_requests: 3, comments: 2, notes: 1 });
    assert_eq!(votes_of(&harness, &scene).await, counts);
    assert_eq!(person(&harness, workspace).await, None);
    // Bob and what is left of Ann, who has no name and no company.
    let voters = harness.voters(workspace, scene.root.id).await;
    let nameless: Vec<_> = voters.iter().filter(|voter| is_erased(voter.email.folded())).collect();
    assert_eq!((voters.len(), nameless.len()), (2, 1));
    assert!(nameless.iter().all(|voter| voter.name.is_none()));
    assert_eq!(harness.unmerge(workspace, scene.source.id).await.source.summary.votes_count, 1);
    assert_eq!(votes_of(&harness, &scene).await, counts);
    let comments = harness.comments(workspace, scene.root.id).await;
    assert!(comments.iter().any(|comment| comment.comment.content.as_str() == "I wait"));
    assert_eq!(harness.count("held_comments", workspace).await, 0);
    assert_eq!(harness.count("notes", workspace).await, 0);
    assert_eq!(harness.count("followers", workspace).await, 0);
    assert_eq!(harness.count("missed_searches", workspace).await, 0);
    let held = harness.subject.reader.held_posts(workspace, largest_page()).await.unwrap();
    assert_eq!(held.items.len(), 0);
    assert_eq!(harness.search(workspace, "secret").await, ["Secret wish"]);
    // The key still has no second effect, and its response no person.
    let again = vote(FeatureRequestRef::Id(scene.root.id), Some(("bob@b.example", None)), None);
    let replayed = harness.run(workspace, "k", &again, "").await.unwrap();
    let body = String::from_utf8(replayed.response.body).unwrap();
    assert!(replayed.replayed && !body.contains("Ann") && body.contains("@erased.invalid"), "{body}");
    // A second time, there is nobody.
    let failure = harness.failure(workspace, &erase(ErasedVotes::Keep, ErasedTexts::Keep)).await;
    assert_eq!(failure, "Customer does not exist.");
    // Who takes part again is a new customer.
    harness.vote(workspace, &scene.root, ANN).await;
    assert_eq!(person(&harness, workspace).await.map(|records| records.votes.len()), Some(1));
}

/// Import contract 8: dropped votes are counted no more, and removed texts are found no more.
pub async fn erasing_drops_votes_and_removes_texts(harness: Harness) {
    let scene = scene(&harness).await;
    let workspace = scene.workspace;
    harness.perform(workspace, &erase(ErasedVotes::Drop, ErasedTexts::Remove)).await;
    assert_eq!(votes_of(&harness, &scene).await, [1, 1]);
    assert_eq!(harness.voters(workspace, scene.root.id).await.len(), 1);
    let shared = harness.detail(workspace, scene.shared.id).await;
    assert_eq!(shared.summary.title.as_str(), format!("Feature request {}", scene.shared.tag_number));
    assert_eq!(shared.description.as_str(), "");
    assert!(harness.search(workspace, "dark mode").await.is_empty());
    assert!(harness.search(workspace, "secret wish").await.is_empty());
    let gone = harness.subject.reader.feature_request(workspace, &FeatureRequestRef::Id(scene.alone.id)).await;
    assert!(gone.unwrap().is_none());
    let comments = harness.comments(workspace, scene.root.id).await;
    assert_eq!(comments.len(), 1, "the comment of the team stays");
    let unmerged = harness.unmerge(workspace, scene.source.id).await;
    assert_eq!((unmerged.source.summary.votes_count, votes_of(&harness, &scene).await), (0, vec![1, 1]));
}

/// Import contract 8: a member stays, somebody who was one becomes nameless.
pub async fn members_are_not_erased_and_former_ones_lose_their_names(harness: Harness) {
    let scene = scene(&harness).await;
    let workspace = scene.workspace;
    let member = harness.member(workspace, ANN, NAME).await;
    let failure = harness.failure(workspace, &erase(ErasedVotes::Keep, ErasedTexts::Keep)).await;
    assert_eq!(failure, "The customer is a member of the team.");
    harness.perform(workspace, &RemoveMember { member: MemberRef::Id(member.id), revokes_keys: false }).await;
    harness.perform(workspace, &erase(ErasedVotes::Keep, ErasedTexts::Keep)).await;
    assert_eq!(person(&harness, workspace).await, None);
    // Somebody else may have the address now.
    assert_ne!(harness.member(workspace, ANN, "Ann B").await.id, member.id);
}

/// Import contract 8: texts of others that name a person are listed, and those that stay of the person.
pub async fn mentions_are_the_texts_that_stay(harness: Harness) {
    let scene = scene(&harness).await;
    let workspace = scene.workspace;
    let own = customer_comment(FeatureRequestRef::Id(scene.shared.id), "Yours, Ann Quist", ANN, None);
    harness.perform(workspace, &own).await;
    let customer = harness.customer(workspace, ANN).await;
    let words = PersonWords::new(&customer);
    for (texts, expected) in [(ErasedTexts::Keep, 2), (ErasedTexts::Remove, 1)] {
        let mentions = harness.subject.reader.mentions(workspace, customer.id, &words, texts).await.unwrap();
        assert_eq!(mentions.len(), expected, "{mentions:?}");
        assert!(mentions.iter().all(|mention| mention.kind == "comment" && mention.request.is_some()));
    }
}

/// Remembers of whom files were deleted.
#[derive(Default)]
struct Files {
    erased: Mutex<Vec<Vec<String>>>,
    is_busy: Mutex<bool>,
}

#[async_trait]
impl PersonalFiles for Files {
    async fn erase(&self, _: WorkspaceId, erasure: &UnfinishedErasure, _: &[ImportId]) -> Result<bool, StoreError> {
        self.erased.lock().unwrap().push(erasure.words.clone());
        Ok(!*self.is_busy.lock().unwrap())
    }

    async fn mentions(&self, _: &Attachment, _: &[String]) -> Result<bool, StoreError> {
        Ok(false)
    }
}

/// Import contract 8: an erasure is finished once no file has the person, and kept under a hash.
pub async fn an_erasure_is_finished_once(harness: Harness) {
    let scene = scene(&harness).await;
    harness.perform(scene.workspace, &erase(ErasedVotes::Keep, ErasedTexts::Keep)).await;
    let files = Arc::new(Files::default());
    *files.is_busy.lock().unwrap() = true;
    let storage = Arc::new(EmptyStorage::default());
    let maintenance = harness.subject.maintenance.clone();
    let finish = FinishErasures::new(
        harness.executor.clone(),
        maintenance,
        files.clone(),
        (harness.subject.reader.clone(), harness.upload(&storage)),
    );
    assert_eq!(finish.run().await.unwrap(), (0, 1));
    *files.is_busy.lock().unwrap() = false;
    assert_eq!(finish.run().await.unwrap(), (1, 0));
    assert_eq!(finish.run().await.unwrap(), (0, 0));
    let words = ["Ann@a.example", "ann@a.example", NAME].map(str::to_owned);
    assert_eq!(*files.erased.lock().unwrap(), [words.to_vec(), words.to_vec()]);
    // A restored database learns of an erasure once.
    let record = ErasureRecord {
        id: harness.customer(scene.workspace, "bob@b.example").await.id,
        digest: "digest".to_owned(),
        votes: ErasedVotes::Drop,
        texts: ErasedTexts::Remove,
        at: harness.now(),
    };
    for is_new in [true, false] {
        assert_eq!(harness.perform(scene.workspace, &KeepErasure { record: record.clone() }).await, is_new);
    }
    assert_eq!(harness.count("erasures", scene.workspace).await, 2);
}

/// Import contract 8: exports that may hold the person are deleted, those of others stay, and one that is being written is
/// awaited.
pub async fn an_erasure_deletes_exports_with_people(harness: Harness) {
    let scene = scene(&harness).await;
    let bolt = harness.workspace("bolt").await;
    let [with, without, other] = [(scene.workspace, false), (scene.workspace, true), (bolt, false)];
    let mut files = Vec::new();
    for ((workspace, without_people), number) in [with, without, other].into_iter().zip(90..) {
        files.push(exported(&harness, workspace, without_people, number).await);
    }
    let running = harness.perform(scene.workspace, &asked(false)).await;
    harness.perform(scene.workspace, &erase(ErasedVotes::Keep, ErasedTexts::Keep)).await;
    let storage = Arc::new(EmptyStorage::default());
    let (maintenance, found) = (harness.subject.maintenance.clone(), Arc::new(Files::default()));
    let finish = FinishErasures::new(
        harness.executor.clone(),
        maintenance,
        found,
        (harness.subject.reader.clone(), harness.upload(&storage)),
    );
    assert_eq!(finish.run().await.unwrap(), (0, 1));
    assert_eq!(storage.take_deleted(), [files[0]]);
    let last = ended(&harness, scene.workspace, running.id, 99).await;
    assert_eq!(finish.run().await.unwrap(), (1, 0));
    assert_eq!(storage.take_deleted(), [last]);
    for (workspace, left) in [(scene.workspace, 1), (bolt, 1)] {
        assert_eq!(harness.subject.reader.exports(workspace).await.unwrap().len(), left);
        assert_eq!(harness.count("attachments", workspace).await, 1);
    }
}

/// Undoing an import after a merge of customers takes their imported votes along.
pub async fn merged_customers_keep_where_votes_came_from(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    harness.vote(workspace, &request, ANN).await;
    harness.subject.probe.execute("UPDATE votes SET import_id = workspace_id").await;
    let bob = harness.subscribe(workspace, request.id, "bob@b.example").await;
    assert!(bob);
    let (source, target) =
        (harness.customer(workspace, ANN).await.id, harness.customer(workspace, "bob@b.example").await.id);
    harness.perform(workspace, &MergeCustomers { source, target }).await;
    harness.subject.probe.execute("DELETE FROM votes WHERE import_id = workspace_id").await;
    assert_eq!(harness.count("votes", workspace).await, 0);
}

crate::contract::cases!($ people {
    a_person_s_records_are_complete,
    erasing_keeps_every_count,
    erasing_drops_votes_and_removes_texts,
    members_are_not_erased_and_former_ones_lose_their_names,
    mentions_are_the_texts_that_stay,
    an_erasure_is_finished_once,
    an_erasure_deletes_exports_with_people,
    merged_customers_keep_where_votes_came_from,
});
