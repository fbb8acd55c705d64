//! What only imports write.

use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::audit::{Actor, ActorKind, Audit};
use roadmap_domain::model::comment::{CommentDraft, PublicAuthor};
use roadmap_domain::model::customer::{CustomerDraft, NewCustomer};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::event::{Event, EventContent, NewEvent};
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, NewFeatureRequest, Tag};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{
    CommentId, CustomerId, EventId, FeatureRequestId, ImportId, MemberId, NoteId, WorkspaceId,
};
use roadmap_domain::model::import::{
    ImportedAuthor, ImportedComment, ImportedNote, ImportedRequest, ImportedSubscription, ImportedVote,
};
use roadmap_domain::model::member::{Member, Role};
use roadmap_domain::model::search::SearchDocument;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::track::Track;
use roadmap_domain::model::vote::VoteCounts;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::delete_feature_request::DeleteFeatureRequest;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::post_comment::PostComment;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::effort::{SeededRng, rounds};
use crate::harness::{Failing, Harness, draft, largest_page, member_viewer, merge, name, unmerge, vote};

/// The run that has made what is imported.
const RUN: ImportId = ImportId::new(Uuid::from_u128(0x1e57));

/// Sets the nameless votes of feature requests.
struct SetNamelessVotes(Vec<(FeatureRequestId, u32)>);

#[async_trait]
impl Operation for SetNamelessVotes {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        work.set_nameless_votes(&self.0).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

/// Imports records in one unit of work. Returns the customers, the first number of the feature requests and the number of new
/// votes.
#[derive(Default)]
struct Import {
    customers: Vec<(NewCustomer, Timestamp)>,
    requests: Vec<ImportedRequest>,
    votes: Vec<ImportedVote>,
    subscriptions: Vec<ImportedSubscription>,
    comments: Vec<ImportedComment>,
    notes: Vec<ImportedNote>,
    events: Vec<NewEvent>,
}

#[async_trait]
impl Operation for Import {
    type Output = (Vec<CustomerId>, i64, u64);

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Self::Output>, RoadmapError> {
        let customers = work.import_customers(RUN, &self.customers).await?;
        let number = work.import_feature_requests(RUN, &self.requests).await?;
        let votes = work.import_votes(RUN, &self.votes).await?;
        let _: u64 = work.import_subscriptions(RUN, &self.subscriptions).await?;
        work.import_comments(&self.comments).await?;
        work.import_notes(&self.notes).await?;
        work.import_events(&self.events).await?;
        Ok(Performed::new((customers, number, votes.new), Audit::Unchanged))
    }
}

fn new_customer(id: u128, address: &str, name: Option<&str>) -> NewCustomer {
    let draft = CustomerDraft::parse(Some(address), name).unwrap();
    draft.to_new_customer(CustomerId::new(Uuid::from_u128(id)))
}

fn imported(
    id: u128,
    draft: FeatureRequestDraft,
    author: Option<NewCustomer>,
    track: &Track,
    at: Timestamp,
) -> ImportedRequest {
    let tags: Vec<&str> = draft.tags.iter().map(Tag::as_str).collect();
    let document = SearchDocument::new(draft.title.as_str(), tags.iter().copied(), draft.description.text());
    let request = NewFeatureRequest {
        id: FeatureRequestId::new(Uuid::from_u128(id)),
        search: (!draft.private).then_some(document),
        title: draft.title,
        description: draft.description,
        tags: draft.tags,
        track: track.id,
        is_handled: track.name.as_str() != "Inbox",
        private: draft.private,
        awaiting_approval: false,
        author,
        created_at: at,
    };
    ImportedRequest { request, nameless_votes: 0 }
}

/// Customers are found by their addresses. Names are kept or filled, also those of the same import. Whoever has no mailbox
/// gets no mail.
pub async fn imported_customers_are_found_by_address(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(acme, "Dark mode").await;
    let reference = FeatureRequestRef::Id(request.id);
    for (address, name) in [("ann@a.example", Some("Ann")), ("bob@b.example", None)] {
        harness.perform(acme, &vote(reference, Some((address, name)), None)).await;
    }
    let [ann, bob] =
        [harness.customer(acme, "ann@a.example").await.id, harness.customer(acme, "bob@b.example").await.id];
    let at = harness.now();
    harness.next_second();
    let import = || Import {
        customers: vec![
            (new_customer(1, "ANN@a.example", Some("Other")), at),
            (new_customer(2, "bob@B.example", Some("Bob")), at),
            (new_customer(3, "cyd@c.example", None), at),
            (new_customer(4, "CYD@c.example", Some("Cyd")), harness.now()),
            (new_customer(5, "cyd@c.example", Some("Later")), at),
            (new_customer(6, "7@tool.invalid", Some("Eve")), at),
        ],
        ..Import::default()
    };
    harness.failure(acme, &Failing(import())).await;
    assert_eq!(harness.count("customers", acme).await, 2);
    assert_eq!(harness.perform(acme, &Import::default()).await, (Vec::new(), 0, 0));
    let [cyd, eve] = [3, 6].map(|id| CustomerId::new(Uuid::from_u128(id)));
    for _ in 0..2 {
        assert_eq!(harness.perform(acme, &import()).await.0, [ann, bob, cyd, cyd, cyd, eve]);
    }
    let listed = harness.subject.reader.customers(acme, None, largest_page()).await.unwrap().items;
    let named = |id| {
        let customer = listed.iter().find(|listed| listed.customer.id == id).unwrap();
        (customer.customer.name.as_ref().map(Name::to_string), customer.created_at)
    };
    let known = |name: &str| Some(name.to_owned());
    assert_eq!([named(ann).0, named(bob).0], [known("Ann"), known("Bob")]);
    assert_eq!([named(cyd), named(eve)], [(known("Cyd"), at), (known("Eve"), at)]);
    let stopped =
        async |customer| harness.subject.reader.customer_records(acme, customer).await.unwrap().unsubscribed_at;
    assert_eq!((stopped(cyd).await, stopped(eve).await), (None, Some(at)));
    assert_eq!(harness.count("customers", bolt).await, 0);
}

/// What is imported is what commands would have written at that time: numbers in order, authors, tags, attention, tallies of
/// tracks, search documents.
pub async fn imported_requests_equal_created_ones(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let first = [harness.request(acme, "First").await, harness.request(bolt, "First").await];
    assert_eq!(first.map(|request| request.tag_number), [1, 1]);
    let draft_of = |number: usize| {
        let title = format!("Idea {}", ["quokka", "fern", "lichen", "gecko"][number]);
        let tags = [&["ui", "Dark"][..], &[], &["ui"], &["b", "a", "c"]][number];
        FeatureRequestDraft { private: number == 2, ..draft(&title, tags, "<p>Words <b>of</b> it</p>") }
    };
    let (mut requests, mut votes) = (Vec::new(), Vec::new());
    for number in 0..4 {
        harness.next_second();
        let email = ["ann@a.example", "bob@b.example"][number % 2];
        let track = ["Inbox", "Planned", "Inbox", "Done"][number];
        let author = CustomerDraft::parse(Some(email), Some("Ann")).unwrap();
        let customer = (number != 1).then(|| author.clone());
        let draft = FeatureRequestDraft {
            track: Some(harness.track(bolt, track).await),
            customer: customer.clone(),
            ..draft_of(number)
        };
        harness.create(bolt, draft).await;
        let tracks = harness.subject.reader.tracks(acme).await.unwrap();
        let track = tracks.iter().find(|found| found.name.as_str() == track).unwrap();
        let id = 10 + u128::try_from(number).unwrap();
        let author = customer.map(|author| author.to_new_customer(CustomerId::new(Uuid::from_u128(id))));
        requests.push(imported(id, draft_of(number), author, track, harness.now()));
        if number != 1 {
            votes.push((id, email, harness.now()));
        }
    }
    let import = Import { requests, ..Import::default() };
    harness.failure(acme, &Failing(Import { requests: import.requests.clone(), ..Import::default() })).await;
    assert_eq!(harness.perform(acme, &import).await.1, 2);
    let mut imported_votes = Vec::new();
    for (id, email, at) in votes {
        let customer = harness.customer(acme, email).await.id;
        let request = FeatureRequestId::new(Uuid::from_u128(id));
        imported_votes.push(ImportedVote { request, customer, is_subscribed: true, at });
    }
    for new in [3, 0] {
        let import = Import { votes: imported_votes.clone(), ..Import::default() };
        assert_eq!(harness.perform(acme, &import).await.2, new);
    }
    let mut shapes = Vec::new();
    for workspace in [acme, bolt] {
        let mut all = Vec::new();
        for number in 1..=5 {
            let found = harness.subject.reader.feature_request(workspace, &FeatureRequestRef::Number(number)).await;
            let detail = found.unwrap().unwrap();
            let summary = &detail.summary;
            let voters = harness.voters(workspace, summary.id).await;
            let voters: Vec<_> = voters.iter().map(|voter| (voter.email.as_str().to_owned(), voter.voted_at)).collect();
            let author = detail.author.as_ref().map(|author| format!("{:?}", author.name));
            all.push(format!(
                "{} {:?} {} {:?} {} {} {author:?} {} {:?} {voters:?} {:?}",
                summary.title,
                summary.placement,
                summary.votes_count,
                detail.tags,
                detail.private,
                detail.description.as_str(),
                detail.comments_count,
                (summary.created_at, detail.updated_at),
                harness.search(workspace, summary.title.as_str()).await
            ));
        }
        let counts = harness.subject.reader.inbox_counts(workspace).await.unwrap();
        let counts: Vec<_> = counts
            .tracks
            .iter()
            .map(|counts| (counts.track.name.to_string(), counts.all, counts.unanswered, counts.private))
            .collect();
        let tags = harness.subject.reader.tags(workspace, None, largest_page()).await.unwrap();
        shapes.push((all, counts, format!("{tags:?}")));
    }
    assert_eq!(shapes[0], shapes[1]);
    assert_eq!(harness.request(acme, "Next").await.tag_number, 6);
}

/// Votes belong to the feature request that they are for, so that an unmerge is exact; in a tree, a customer counts once.
pub async fn imported_votes_are_counted_in_trees(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target, other] = harness.requests(workspace, ["Source", "Target", "Other"]).await;
    let at = harness.now();
    let people = ["ann@a.example", "bob@a.example", "cyd@c.example"];
    let customers = (1..).zip(people).map(|(id, address)| (new_customer(id, address, None), at)).collect();
    let customers = harness.perform(workspace, &Import { customers, ..Import::default() }).await.0;
    let vote_of = |request: &FeatureRequestSummary, person: usize, is_subscribed: bool| ImportedVote {
        request: request.id,
        customer: customers[person],
        is_subscribed,
        at,
    };
    harness.vote(workspace, &source, people[0]).await;
    harness.merge(workspace, source.id, target.id).await;
    harness.next_second();
    let votes_of = |list: &[ImportedVote]| Import { votes: list.to_vec(), ..Import::default() };
    let all = [
        vote_of(&source, 0, false),
        vote_of(&source, 1, true),
        vote_of(&target, 1, true),
        vote_of(&target, 0, false),
        vote_of(&other, 0, true),
        vote_of(&other, 1, false),
        vote_of(&other, 2, false),
        vote_of(&other, 2, true),
    ];
    harness.failure(workspace, &Failing(votes_of(&all))).await;
    assert_eq!(votes(&harness, workspace, &other).await, (0, 0));
    assert_eq!(harness.perform(workspace, &votes_of(&all)).await.2, 6);
    assert_eq!(harness.perform(workspace, &votes_of(&all)).await.2, 0);
    assert_eq!((votes(&harness, workspace, &target).await, votes(&harness, workspace, &other).await), ((2, 0), (3, 0)));
    // The companies of the voters are counted by the same list.
    for request in [&target, &other] {
        harness.voters(workspace, request.id).await;
    }
    harness.unmerge(workspace, source.id).await;
    assert_eq!(
        (votes(&harness, workspace, &source).await, votes(&harness, workspace, &target).await),
        ((2, 0), (2, 0))
    );
    // What was part of a merge is counted like what was not.
    assert_eq!(harness.perform(workspace, &votes_of(&[vote_of(&target, 2, true)])).await.2, 1);
    assert_eq!(votes(&harness, workspace, &target).await, (3, 0));
    for (person, expected) in [(0, vec!["Other"]), (1, vec!["Source", "Target"]), (2, vec!["Target"])] {
        let records = harness.subject.reader.customer_records(workspace, customers[person]).await.unwrap();
        let mut titles: Vec<String> = records.subscriptions.iter().map(|link| link.title.to_string()).collect();
        titles.sort();
        // The vote that was there before the import stays subscribed.
        let expected = if person == 0 { vec!["Other", "Source"] } else { expected };
        assert_eq!(titles, expected, "{person}");
    }
}

/// The number of votes of a feature request, which is that of its list of voters and of its nameless votes.
async fn votes(harness: &Harness, workspace: WorkspaceId, request: &FeatureRequestSummary) -> (i64, u64) {
    let summary = harness.detail(workspace, request.id).await.summary;
    let reader = &harness.subject.reader;
    let reference = FeatureRequestRef::Id(request.id);
    let listing = reader.voters(workspace, &reference, largest_page()).await.unwrap().unwrap();
    let counts = reader.vote_counts(workspace, summary.id).await.unwrap();
    assert_eq!(listing.total, listing.items.len() as u64);
    assert_eq!(summary.votes_count.unsigned_abs(), listing.total + counts.nameless);
    (summary.votes_count, counts.nameless)
}

/// Imports members who have left.
struct ImportMembers(Vec<Member>);

#[async_trait]
impl Operation for ImportMembers {
    type Output = Vec<MemberId>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<MemberId>>, RoadmapError> {
        Ok(Performed::new(work.import_members(&self.0).await?, Audit::Unchanged))
    }
}

fn member(id: u128, address: &str, text: &str, at: Timestamp) -> Member {
    Member {
        id: MemberId::new(Uuid::from_u128(id)),
        email: EmailAddress::parse("email", address).unwrap(),
        name: name(text),
        role: Role::Admin,
        created_at: at,
    }
}

/// Members of a source are removed ones: their names are shown, and nothing else. Adding the address restores them.
pub async fn imported_members_have_no_access(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let at = harness.now();
    harness.next_second();
    let mia = harness.member(workspace, "mia@team.example", "Mia").await.id;
    let members = vec![
        member(1, "old@team.example", "Olga", at),
        member(2, "MIA@team.example", "Other", at),
        member(3, "OLD@team.example", "Other", at),
    ];
    let olga = MemberId::new(Uuid::from_u128(1));
    harness.failure(workspace, &Failing(ImportMembers(members.clone()))).await;
    for _ in 0..2 {
        assert_eq!(harness.perform(workspace, &ImportMembers(members.clone())).await, [olga, mia, olga]);
    }
    assert_eq!(harness.perform(workspace, &ImportMembers(Vec::new())).await, []);
    let listed = harness.subject.reader.members(workspace).await.unwrap();
    assert_eq!(listed.iter().map(|member| member.id).collect::<Vec<_>>(), [mia]);
    // The oldest member is not one of them, nor is an author found by their address.
    let request = harness.request(workspace, "Dark mode").await;
    let draft = CommentDraft::parse(Some("Soon"), Some("old@team.example"), false).unwrap();
    harness.perform(workspace, &PostComment { request: FeatureRequestRef::Id(request.id), draft }).await;
    let page = harness.page_of(workspace, request.id, member_viewer()).await;
    assert_eq!(page.comments.items[0].author, PublicAuthor::Member(Some(name("Mia"))));
    // Who is added is the same person.
    assert_eq!(harness.member(workspace, "old@team.example", "Olga again").await.id, olga);
}

/// Comments, notes, subscriptions and events belong to the feature request that they have in the source, with their own
/// times, and the inbox knows of them. Nobody whose mail is stopped is subscribed.
pub async fn imported_conversations_are_like_others(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target, other] = harness.requests(workspace, ["Source", "Target", "Other"]).await;
    harness.merge(workspace, source.id, target.id).await;
    let at = harness.now();
    harness.next_second();
    let customers = vec![
        (new_customer(1, "ann@a.example", Some("Ann")), at),
        (new_customer(2, "7@tool.invalid", Some("Eve")), at),
        (new_customer(3, "bob@b.example", Some("Bob")), at),
    ];
    let customers = harness.perform(workspace, &Import { customers, ..Import::default() }).await.0;
    let [ann, eve, bob] = [customers[0], customers[1], customers[2]];
    let olga = harness.perform(workspace, &ImportMembers(vec![member(1, "old@team.example", "Olga", at)])).await[0];
    let comment = |id: u128, request: &FeatureRequestSummary, author, text: &str| ImportedComment {
        id: CommentId::new(Uuid::from_u128(id)),
        request: request.id,
        author,
        content: CleanHtml::from_stored(format!("<p>{text}</p>")),
        at,
    };
    let note = |id: u128, customer, author| ImportedNote {
        id: NoteId::new(Uuid::from_u128(id)),
        request: source.id,
        customer,
        author,
        body: CleanHtml::from_stored("<p>Pays</p>".to_owned()),
        at,
    };
    let moved = Event {
        id: EventId::new(Uuid::from_u128(7)),
        content: EventContent::NoAnswerNeeded,
        actor: Actor { kind: ActorKind::Member, id: Some(olga.uuid()), name: "Olga".to_owned() },
        created_at: at,
    };
    let subscription =
        |request: &FeatureRequestSummary, customer| ImportedSubscription { request: request.id, customer, at };
    let import = || Import {
        votes: vec![
            ImportedVote { request: other.id, customer: ann, is_subscribed: false, at },
            ImportedVote { request: other.id, customer: eve, is_subscribed: true, at },
        ],
        subscriptions: [ann, eve, bob, bob].map(|customer| subscription(&other, customer)).to_vec(),
        comments: vec![
            comment(1, &source, ImportedAuthor::Customer(ann), "One"),
            comment(2, &source, ImportedAuthor::Member(Some(olga)), "Two"),
            comment(3, &source, ImportedAuthor::Member(None), "Three"),
            comment(4, &other, ImportedAuthor::Customer(eve), "Four"),
            comment(5, &other, ImportedAuthor::HeldCustomer(bob), "Five"),
        ],
        notes: vec![note(1, Some(ann), Some(olga)), note(2, None, None)],
        events: vec![NewEvent { request: other.id, event: moved.clone() }],
        ..Import::default()
    };
    harness.failure(workspace, &Failing(import())).await;
    harness.perform(workspace, &import()).await;
    harness.perform(workspace, &Import::default()).await;

    let page = harness.page_of(workspace, target.id, member_viewer()).await;
    let mut comments: Vec<_> = page
        .comments
        .items
        .iter()
        .map(|listed| (listed.comment.content.as_str().to_owned(), listed.author.clone(), listed.comment.created_at))
        .collect();
    comments.sort_by(|one, other| one.0.cmp(&other.0));
    let text = |text: &str| format!("<p>{text}</p>");
    assert_eq!(
        comments,
        [
            (text("One"), PublicAuthor::Customer(Some(name("Ann"))), at),
            (text("Three"), PublicAuthor::Member(None), at),
            (text("Two"), PublicAuthor::Member(Some(name("Olga"))), at),
        ]
    );
    assert_eq!(harness.subject.reader.inbox_counts(workspace).await.unwrap().held_comments, 1);
    let page = harness.page_of(workspace, other.id, member_viewer()).await;
    assert_eq!((page.comments.total, page.held.len()), (1, 1));
    assert_eq!((page.events.len(), page.events[0].created_at, page.events[0].actor.name.as_str()), (1, at, "Olga"));
    let followed = async |customer| {
        let records = harness.subject.reader.customer_records(workspace, customer).await.unwrap();
        (records.subscriptions.len(), records.notes.len(), records.votes.len())
    };
    assert_eq!((followed(ann).await, followed(eve).await, followed(bob).await), ((0, 1, 1), (0, 0, 1), (1, 0, 0)));
    harness.unmerge(workspace, source.id).await;
    let count = async |request: &FeatureRequestSummary| harness.detail(workspace, request.id).await.comments_count;
    assert_eq!((count(&source).await, count(&target).await, count(&other).await), (3, 0, 1));
}

/// Nameless votes count in the tally of a tree, and in no list of voters. They belong to the feature request that was
/// imported with them, so that unmerging and deleting are exact.
pub async fn nameless_votes_count_in_trees(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [source, target, other] = harness.requests(acme, ["Source", "Target", "Other"]).await;
    for (request, address) in [(&source, "ann@a.example"), (&target, "ann@a.example"), (&target, "bob@b.example")] {
        harness.vote(acme, request, address).await;
    }
    let set = |votes: &[(FeatureRequestId, u32)]| SetNamelessVotes(votes.to_vec());
    harness.perform(acme, &set(&[(source.id, 5), (target.id, 2)])).await;
    assert_eq!((votes(&harness, acme, &source).await, votes(&harness, acme, &target).await), ((6, 5), (4, 2)));
    assert_eq!(votes(&harness, acme, &other).await, (0, 0));
    // Neither another workspace nor an unknown feature request has any, and nothing is left of what was rolled back.
    let unknown = FeatureRequestId::new(Uuid::from_u128(1));
    harness.perform(bolt, &set(&[(source.id, 9)])).await;
    harness.perform(acme, &set(&[(unknown, 9), (target.id, 3)])).await;
    harness.perform(acme, &set(&[])).await;
    harness.failure(acme, &Failing(set(&[(target.id, 9)]))).await;
    assert_eq!((votes(&harness, acme, &source).await, votes(&harness, acme, &target).await), ((6, 5), (5, 3)));
    assert_eq!(harness.subject.reader.vote_counts(bolt, source.id).await.unwrap(), VoteCounts::default());

    let preview = harness.subject.reader.merge_preview(acme, source.id, target.id).await.unwrap().unwrap();
    assert_eq!(preview.votes_count, 10);
    harness.merge(acme, source.id, target.id).await;
    assert_eq!(votes(&harness, acme, &target).await, (10, 8));
    // Of a merged one, they change in the tally of its tree.
    harness.perform(acme, &set(&[(source.id, 1), (target.id, 4)])).await;
    assert_eq!(votes(&harness, acme, &target).await, (7, 5));
    harness.withdraw(acme, target.id, "ann@a.example").await;
    assert_eq!(votes(&harness, acme, &target).await, (6, 5));
    harness.vote(acme, &source, "cyd@c.example").await;
    assert_eq!(votes(&harness, acme, &target).await, (7, 5));
    harness.unmerge(acme, source.id).await;
    assert_eq!((votes(&harness, acme, &source).await, votes(&harness, acme, &target).await), ((1, 1), (6, 4)));

    harness.merge(acme, source.id, target.id).await;
    harness.merge(acme, target.id, other.id).await;
    assert_eq!(votes(&harness, acme, &other).await, (7, 5));
    harness.perform(acme, &DeleteFeatureRequest { request: FeatureRequestRef::Id(source.id), with_merged: true }).await;
    assert_eq!(votes(&harness, acme, &other).await, (6, 4));
    harness.perform(acme, &set(&[(target.id, 0)])).await;
    assert_eq!(votes(&harness, acme, &other).await, (2, 0));
}

/// Imports beside votes and merges lose no vote, and count none twice.
pub async fn concurrent_imports_lose_no_vote(harness: Harness) {
    let harness = Arc::new(harness);
    let workspace = harness.workspace("acme").await;
    let requests = harness.requests(workspace, ["One", "Two"]).await;
    let [one, two] = [requests[0].id, requests[1].id];
    let customers = (1..=5).map(|id| (new_customer(id, &format!("voter{}@example.com", id - 1), None), harness.now()));
    let customers = harness.perform(workspace, &Import { customers: customers.collect(), ..Import::default() }).await.0;
    let mut tasks = JoinSet::new();
    for task in 0..4 {
        let (harness, customers) = (Arc::clone(&harness), customers.clone());
        tasks.spawn(async move {
            let mut random = SeededRng::new(task);
            for round in 0..rounds(20, 100) {
                match (task, round % 2) {
                    (0, _) => {
                        let [first, second] = [0, 1].map(|_| u32::try_from(random.below(9)).unwrap());
                        harness.perform(workspace, &SetNamelessVotes(vec![(two, second), (one, first)])).await;
                    }
                    (3, _) => {
                        let pick = |_| ImportedVote {
                            request: if random.below(2) == 0 { one } else { two },
                            customer: customers[usize::try_from(random.below(5)).unwrap()],
                            is_subscribed: true,
                            at: harness.now(),
                        };
                        let votes = (0..3).map(pick).collect();
                        harness.perform(workspace, &Import { votes, ..Import::default() }).await;
                    }
                    (1, 0) => drop(harness.perform(workspace, &merge(one, two)).await),
                    (1, _) => drop(harness.perform(workspace, &unmerge(one)).await),
                    (_, even) => {
                        let reference = FeatureRequestRef::Id(if even == 0 { one } else { two });
                        let email = format!("voter{}@example.com", random.below(5));
                        harness.perform(workspace, &vote(reference, Some((&email, None)), None)).await;
                    }
                }
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    harness.perform(workspace, &SetNamelessVotes(vec![(one, 3), (two, 4)])).await;
    let separate = [votes(&harness, workspace, &requests[0]).await, votes(&harness, workspace, &requests[1]).await];
    assert_eq!(separate.map(|(_, nameless)| nameless), [3, 4]);
    harness.merge(workspace, one, two).await;
    assert_eq!(votes(&harness, workspace, &requests[1]).await.1, 7);
}

crate::contract::cases!($ imports {
    imported_customers_are_found_by_address,
    imported_requests_equal_created_ones,
    imported_votes_are_counted_in_trees,
    imported_members_have_no_access,
    imported_conversations_are_like_others,
    nameless_votes_count_in_trees,
    concurrent_imports_lose_no_vote,
});
