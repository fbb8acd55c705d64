//! Votes, voters and notes. Contract sections 3, 4.4 and 4.7.

use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::comment::CommentDraft;
use roadmap_domain::model::company::{FREE_MAIL, company};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::vote::{VoteCast, VoteCounts, VoteDraft, VoteOutcome, VoteWithdrawn};
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::post_comment::PostComment;
use time::Duration;
use tokio::task::JoinSet;

use crate::harness::{Failing, Harness, operation_key, reply, vote, withdraw};

fn email(raw: &str) -> EmailAddress {
    EmailAddress::parse("email", raw).unwrap()
}

/// A repeated vote is not counted, has its own outcome, and its note is still stored in the same unit of work.
///
/// Contract 2.2, 3.
pub async fn a_second_vote_is_not_counted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.request(workspace, "Dark mode").await;
    let vote = vote(FeatureRequestRef::Number(1), Some(("ann@example.com", None)), Some("again"));
    let first = harness.executor.run_without_key(workspace, &vote).await.unwrap();
    assert_eq!((first.outcome, first.request.votes_count), (VoteOutcome::Registered, 1));
    let second = harness.executor.run_without_key(workspace, &vote).await.unwrap();
    assert_eq!((second.outcome, second.request.votes_count), (VoteOutcome::AlreadyVoted, 1));
    assert_eq!(harness.count("votes", workspace).await, 1);
    assert_eq!(harness.count("notes", workspace).await, 2);
}

/// Sixteen concurrent first votes with two spellings of an address: one customer, one vote, sixteen notes.
///
/// Contract 2.4, 4.7.
pub async fn concurrent_first_votes_make_one_customer(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.request(workspace, "Dark mode").await;
    let harness = Arc::new(harness);
    let mut voters = JoinSet::new();
    for number in 0..16 {
        let harness = Arc::clone(&harness);
        voters.spawn(async move {
            let email = if number % 2 == 0 { "Ann@Example.com" } else { "ann@example.COM" };
            let vote = vote(FeatureRequestRef::Number(1), Some((email, None)), Some("note"));
            harness.executor.run_without_key(workspace, &vote).await.unwrap().outcome
        });
    }
    let outcomes = voters.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == VoteOutcome::Registered).count(), 1);
    for (table, rows) in [("customers", 1), ("votes", 1), ("notes", 16)] {
        assert_eq!(harness.count(table, workspace).await, rows, "{table}");
    }
    let voters =
        harness.subject.reader.voters(workspace, &FeatureRequestRef::Number(1), PageRequest::default()).await.unwrap();
    assert_eq!(voters.unwrap().total, 1);
}

/// A stored name is never overwritten, and a missing one is filled in.
///
/// Decision 4: an upvote keeps a stored name, and sets an empty one.
pub async fn names_are_filled_but_not_overwritten(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.request(workspace, "Dark mode").await;
    for (sent, stored) in [(None, None), (Some("Ann"), Some("Ann")), (Some("Anna"), Some("Ann")), (None, Some("Ann"))] {
        let vote = vote(FeatureRequestRef::Number(1), Some(("ann@example.com", sent)), None);
        harness.executor.run_without_key(workspace, &vote).await.unwrap();
        let voters =
            harness.subject.reader.voters(workspace, &FeatureRequestRef::Number(1), PageRequest::default()).await;
        let voters = voters.unwrap().unwrap();
        assert_eq!(voters.items[0].name.as_ref().map(Name::as_str), stored, "after {sent:?}");
        assert_eq!(voters.items[0].email.as_str(), "ann@example.com");
    }
}

/// "A private note is attached on every call", with or without a customer.
///
/// Contract 4.7.
pub async fn every_vote_stores_its_note(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.request(workspace, "Dark mode").await;
    for (customer, outcome) in [
        (None, VoteOutcome::NoVoter),
        (Some(("ann@example.com", None)), VoteOutcome::Registered),
        (Some(("ann@example.com", None)), VoteOutcome::AlreadyVoted),
        (None, VoteOutcome::NoVoter),
    ] {
        let vote = vote(FeatureRequestRef::Number(1), customer, Some("note"));
        assert_eq!(harness.executor.run_without_key(workspace, &vote).await.unwrap().outcome, outcome);
    }
    assert_eq!(harness.count("notes", workspace).await, 4);
}

/// A withdrawn vote is not counted, and can be cast again with a new time. Without a vote nothing changes. The address
/// matches regardless of case, and the notes of the vote stay.
pub async fn a_withdrawn_vote_is_not_counted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, other] = harness.requests(workspace, ["Dark mode", "Export"]).await;
    let reference = FeatureRequestRef::Id(request.id);
    for (voter, note) in [("Ann@Example.com", Some("note")), ("bob@example.com", None)] {
        harness.perform(workspace, &vote(reference, Some((voter, None)), note)).await;
        harness.vote(workspace, &other, voter).await;
        harness.next_second();
    }
    let before = harness.snapshots(workspace, &[request.id, other.id]).await;
    let counted = |votes_count| FeatureRequestSummary { votes_count, ..request.clone() };
    for nobody in ["eve@example.com", "ann@example.co"] {
        let withdrawn = harness.withdraw(workspace, request.id, nobody).await;
        assert_eq!(withdrawn, VoteWithdrawn { request: counted(2), vote_removed: false });
    }
    harness.failure(workspace, &Failing(withdraw(reference, "ann@example.com"))).await;
    assert_eq!(harness.snapshots(workspace, &[request.id, other.id]).await, before);
    assert_eq!(harness.count("customers", workspace).await, 2);
    for vote_removed in [true, false] {
        let withdrawn = harness.withdraw(workspace, request.id, "ANN@example.com").await;
        assert_eq!(withdrawn, VoteWithdrawn { request: counted(1), vote_removed });
    }
    let after = harness.snapshots(workspace, &[request.id, other.id]).await;
    assert_eq!(after[0].detail.summary, counted(1));
    assert_eq!(after[0].voters, before[0].voters[..1]);
    assert_eq!((&after[0].notes, &after[1]), (&before[0].notes, &before[1]));
    assert_eq!(harness.voted(workspace, "ann@example.com").await, [2]);
    let again = harness.next_second();
    let cast = harness.vote(workspace, &request, "ann@example.com").await;
    assert_eq!((cast.outcome, cast.request), (VoteOutcome::Registered, counted(2)));
    let voter = harness.voters(workspace, request.id).await.remove(0);
    assert_eq!((voter.email.as_str(), voter.voted_at), ("Ann@Example.com", again));
    for unknown in [FeatureRequestRef::Number(3), FeatureRequestRef::Unresolvable] {
        let message = harness.failure(workspace, &withdraw(unknown, "ann@example.com")).await;
        assert_eq!(message, "FeatureRequest does not exist.");
    }
}

/// Concurrent votes and withdrawals of one customer: each effective one alternates with the other, and the tally is
/// right.
///
/// Addition 2: concurrent withdrawals remove one vote.
pub async fn concurrent_votes_and_withdrawals_alternate(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let harness = Arc::new(harness);
    let mut tasks = JoinSet::new();
    for number in 0..24 {
        let (harness, reference) = (Arc::clone(&harness), FeatureRequestRef::Id(request.id));
        tasks.spawn(async move {
            let email = "ann@example.com";
            if number % 2 == 0 {
                let cast = harness.perform(workspace, &vote(reference, Some((email, None)), None)).await;
                i64::from(cast.vote_registered())
            } else {
                -i64::from(harness.perform(workspace, &withdraw(reference, email)).await.vote_removed)
            }
        });
    }
    let tally: i64 = tasks.join_all().await.into_iter().sum();
    assert_eq!(harness.detail(workspace, request.id).await.summary.votes_count, tally);
    assert_eq!(harness.voters(workspace, request.id).await.len() as u64, tally.unsigned_abs());
    assert_eq!((harness.count("votes", workspace).await, tally >= 0), (tally.unsigned_abs(), true));
}

/// A repeated vote that races with withdrawals of the same customer is answered with a number of votes that includes the
/// earlier one.
pub async fn a_repeated_vote_is_among_the_counted_ones(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, merged] = harness.requests(workspace, ["Dark mode", "Night"]).await;
    harness.merge(workspace, merged.id, request.id).await;
    let harness = Arc::new(harness);
    let mut tasks = JoinSet::new();
    for task in 0..4 {
        let (harness, reference) = (Arc::clone(&harness), FeatureRequestRef::Id(request.id));
        tasks.spawn(async move {
            for _ in 0..100 {
                if task == 0 {
                    harness.perform(workspace, &withdraw(reference, "ann@example.com")).await;
                }
                let cast = harness.perform(workspace, &vote(reference, Some(("ann@example.com", None)), None)).await;
                assert_eq!(cast.request.votes_count, 1, "{:?}", cast.outcome);
            }
        });
    }
    tasks.join_all().await;
}

/// Casts a vote and posts a comment in one unit of work.
struct VoteAndComment(CastVote, PostComment);

#[async_trait]
impl Operation for VoteAndComment {
    type Output = VoteCast;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<VoteCast>, RoadmapError> {
        let mut cast = self.0.perform(context, work).await?;
        cast.join(self.1.perform(context, work).await?);
        Ok(cast)
    }
}

/// A unit of work whose first write is a vote may have others after it, also while other votes are cast.
pub async fn a_unit_may_go_on_after_its_vote(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.request(workspace, "Dark mode").await;
    let harness = Arc::new(harness);
    let mut tasks = JoinSet::new();
    for number in 0..24 {
        let harness = Arc::clone(&harness);
        tasks.spawn(async move {
            let (request, voter) = (FeatureRequestRef::Number(1), format!("v{number}@example.com"));
            let vote = vote(request, Some((&voter, None)), Some("note"));
            let render = |cast: VoteCast| reply(&cast.request.votes_count.to_string());
            let key = operation_key(&voter);
            let done = if number % 2 == 0 {
                let draft = CommentDraft::parse(Some("comment"), None, false).unwrap();
                let operation = VoteAndComment(vote, PostComment { request, draft });
                harness.executor.run(workspace, Some(&key), &operation, render).await
            } else {
                harness.executor.run(workspace, Some(&key), &vote, render).await
            };
            String::from_utf8(done.unwrap().response.body).unwrap().parse::<u32>().unwrap()
        });
    }
    let mut counts = tasks.join_all().await;
    counts.sort_unstable();
    assert_eq!(counts, (1..=24).collect::<Vec<u32>>());
    for (table, rows) in [("votes", 24), ("notes", 24), ("operations", 24), ("comments", 12)] {
        assert_eq!(harness.count(table, workspace).await, rows, "{table}");
    }
}

/// Votes of two workspaces that run at the same time have the results that they have one by one: distinct counts, notes,
/// filled names, missing feature requests and saved responses, also for a feature request with others merged into it.
pub async fn concurrent_votes_have_their_own_results(harness: Harness) {
    let workspaces = [harness.workspace("acme").await, harness.workspace("globex").await];
    for workspace in workspaces {
        let [_, root, merged] = harness.requests(workspace, ["Dark mode", "Export", "Download"]).await;
        for name in ["early", "v0-2", "v5-2"] {
            harness.vote(workspace, &merged, &format!("{name}@example.com")).await;
        }
        harness.merge(workspace, merged.id, root.id).await;
        let saved = vote(FeatureRequestRef::Number(1), None, Some("before"));
        harness.run(workspace, "used", &saved, "saved").await.unwrap();
    }
    let harness = Arc::new(harness);
    let mut tasks = JoinSet::new();
    // Numbers 1 to 3 are known, 2 and 3 are one tree.
    for (index, workspace) in workspaces.into_iter().enumerate() {
        for (voter, number) in (0..12).flat_map(|voter| (0..5).map(move |number| (voter, number))) {
            let harness = Arc::clone(&harness);
            tasks.spawn(async move {
                let (email, name) = (format!("V{voter}-{number}@example.com"), format!("Voter {voter}"));
                let reference = FeatureRequestRef::Number(number.min(4));
                let operation = vote(reference, Some((&email, Some(&name))), Some(&email));
                let key = if number == 4 { "used".to_owned() } else { format!("{voter}-{number}") };
                let render = |cast: VoteCast| {
                    reply(&format!("{:?} {} {}", cast.outcome, cast.request.tag_number, cast.request.votes_count))
                };
                let key = operation_key(&key);
                let text = match harness.executor.run(workspace, Some(&key), &operation, render).await {
                    Ok(done) if done.replayed => format!("replayed {:?}", done.response.body == b"saved"),
                    Ok(done) => String::from_utf8(done.response.body).unwrap(),
                    Err(error) => error.to_string(),
                };
                (index, number, text)
            });
        }
    }
    let mut results = tasks.join_all().await;
    results.sort();
    for (index, workspace) in workspaces.into_iter().enumerate() {
        let of = |numbers: &[i64]| -> Vec<String> {
            let here = results.iter().filter(|(at, number, _)| *at == index && numbers.contains(number));
            here.map(|(.., text)| text.clone()).collect()
        };
        assert_eq!(of(&[0]), vec!["FeatureRequest does not exist."; 12]);
        assert_eq!(of(&[4]), vec!["replayed true"; 12]);
        let mut expected: Vec<String> = (1..=12).map(|count| format!("Registered 1 {count}")).collect();
        expected.sort();
        assert_eq!(of(&[1]), expected);
        // Three have voted before, two of them vote again.
        let mut tree = of(&[2, 3]);
        tree.retain(|text| text.starts_with("Registered"));
        tree.sort();
        let mut expected: Vec<String> = (4..=25).map(|count| format!("Registered 2 {count}")).collect();
        expected.sort();
        assert_eq!(tree, expected);
        let voters = harness.voters(workspace, harness.find(workspace, 1).await.id).await;
        assert!(voters.iter().all(|voter| voter.name.is_some()));
        assert_eq!((voters.len(), harness.find(workspace, 2).await.votes_count), (12, 25));
        // One note before, and one of each vote for a known feature request.
        for (table, rows) in [("customers", 37), ("votes", 37), ("notes", 37), ("operations", 37)] {
            assert_eq!(harness.count(table, workspace).await, rows, "{table}");
        }
    }
}

/// A vote for an unknown feature request stores neither a customer nor a note.
///
/// Contract 4.7.
pub async fn a_vote_for_an_unknown_request_has_no_effect(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    for unknown in [FeatureRequestRef::Number(1), FeatureRequestRef::Unresolvable] {
        let vote = vote(unknown, Some(("ann@example.com", None)), Some("note"));
        let outcome = harness.executor.run_without_key(workspace, &vote).await;
        assert_eq!(outcome.unwrap_err().to_string(), "FeatureRequest does not exist.");
    }
    assert_eq!(harness.count("customers", workspace).await + harness.count("notes", workspace).await, 0);
}

/// The oldest member is the one added first. A workspace without members stores notes without an author.
///
/// Contract 2.5: `author_email` is the member that a note is attributed to.
/// Contract 2.5: without such a member, a note is attributed to the oldest one.
pub async fn notes_and_comments_fall_back_to_the_oldest_member(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.request(workspace, "Dark mode").await;
    let note = vote(FeatureRequestRef::Number(1), None, Some("before there was a team"));
    harness.executor.run_without_key(workspace, &note).await.expect("a note without an author");
    for member in ["bob@team.example", "ann@team.example"] {
        harness.member(workspace, member, "Member").await;
        harness.clock.advance(Duration::SECOND);
    }
    let members = harness.subject.reader.members(workspace).await.unwrap();
    assert_eq!(members[0].email.as_str(), "bob@team.example");
    for named in [None, Some("nobody@team.example"), Some("ANN@team.example")] {
        let note = NoteDraft::parse(Some("note"), named).unwrap();
        let vote = CastVote { request: FeatureRequestRef::Number(1), draft: VoteDraft::new(None, Some(note)).unwrap() };
        harness.executor.run_without_key(workspace, &vote).await.unwrap();
        let draft = CommentDraft::parse(Some("comment"), named, false);
        harness
            .executor
            .run_without_key(workspace, &PostComment { request: FeatureRequestRef::Number(1), draft: draft.unwrap() })
            .await
            .unwrap();
    }
    let [oldest, named] = [0, 1].map(|index: usize| Some(members[index].id));
    assert_eq!(harness.subject.probe.authors("notes", workspace).await, [None, oldest, oldest, named]);
    assert_eq!(harness.subject.probe.authors("comments", workspace).await, [oldest, oldest, named]);
}

/// Newest feature request first, independently of the order of the votes. Pages have no repeats with equal timestamps.
///
/// Contract 4.4: the newest request comes first.
pub async fn votes_are_listed_newest_request_first(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let mut requests = Vec::new();
    for number in 0..7 {
        requests.push(harness.request(workspace, &format!("Request {number}")).await);
        if number > 3 {
            harness.clock.advance(Duration::MILLISECOND);
        }
    }
    for index in [3, 0, 6, 1, 5, 2, 4] {
        harness.vote(workspace, &requests[index], "ann@example.com").await;
    }
    let mut listed = Vec::new();
    for page in ["1", "2", "3", "4"] {
        let page = PageRequest::parse(Some(page), Some("2")).unwrap();
        let listing = harness.subject.reader.voted_requests(workspace, &email("ann@example.com"), page).await.unwrap();
        assert_eq!((listing.total, listing.total_pages()), (7, 4));
        listed.extend(listing.items.into_iter().map(|request| request.tag_number));
    }
    assert_eq!(listed, [7, 6, 5, 4, 3, 2, 1]);
}

/// Latest vote first. Pages have no repeats with equal timestamps.
///
/// Decision 4.
pub async fn voters_are_listed_latest_first(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    for voter in ["a", "b", "c", "d", "e"] {
        harness.vote(workspace, &request, &format!("{voter}@example.com")).await;
        if voter > "b" {
            harness.clock.advance(Duration::MILLISECOND);
        }
    }
    let mut listed = Vec::new();
    for page in ["1", "2", "3"] {
        let page = PageRequest::parse(Some(page), Some("2")).unwrap();
        let voters =
            harness.subject.reader.voters(workspace, &FeatureRequestRef::Number(1), page).await.unwrap().unwrap();
        assert_eq!(voters.total, 5);
        listed.extend(voters.items.into_iter().map(|voter| voter.email.as_str().to_owned()));
    }
    assert_eq!(listed[..2], ["e@example.com", "d@example.com"]);
    listed.sort();
    listed.dedup();
    assert_eq!(listed.len(), 5);
}

/// "A page past the last returns an empty list", for page numbers of any size.
///
/// Contract 4.11.
pub async fn pages_past_the_last_are_empty(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    harness.vote(workspace, &request, "ann@example.com").await;
    for page in ["2", "92233720368547758", "9223372036854775807", "99999999999999999999999"] {
        for size in ["1", "100"] {
            let page = PageRequest::parse(Some(page), Some(size)).unwrap();
            let reader = &harness.subject.reader;
            let votes = reader.voted_requests(workspace, &email("ann@example.com"), page).await.unwrap();
            assert_eq!((votes.items.len(), votes.total), (0, 1));
            let voters = reader.voters(workspace, &FeatureRequestRef::Number(1), page).await.unwrap().unwrap();
            assert_eq!((voters.items.len(), voters.total), (0, 1));
            let changelogs = reader.changelogs(workspace, page).await.unwrap();
            assert_eq!((changelogs.items.len(), changelogs.total, changelogs.total_pages()), (0, 0, 1));
        }
    }
}

/// Addresses are matched without regard to case, also for non-ASCII letters.
///
/// Contract 2.4.
pub async fn addresses_match_without_regard_to_case(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    harness.vote(workspace, &request, "Jürgen@Example.com").await;
    for (spelling, votes) in
        [("JüRGEN@EXAMPLE.COM", 1), ("jürgen@example.com", 1), ("JÜRGEN@example.com", 1), ("jurgen@example.com", 0)]
    {
        let listed =
            harness.subject.reader.voted_requests(workspace, &email(spelling), PageRequest::default()).await.unwrap();
        assert_eq!(listed.total, votes, "{spelling}");
    }
}

/// Companies and notes are those of a feature request and of what is merged into it, and of one workspace.
pub async fn voters_have_companies_and_notes(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [source, target, other] = harness.requests(acme, ["Source", "Target", "Other"]).await;
    let voted = async |request: &FeatureRequestSummary, email: &str, note: &str| {
        let note = Some(note).filter(|note| !note.is_empty());
        harness.perform(acme, &vote(FeatureRequestRef::Id(request.id), Some((email, None)), note)).await;
        harness.next_second();
    };
    for (request, address, note) in [
        (&target, "ann@Example.com", "Old"),
        (&target, "ann@example.com", "New"),
        (&target, "\"b@c\"@other.example", ""),
        (&target, "bo@EXAMPLE.com", ""),
        (&target, "cy@gmail.com", "Mine"),
        (&target, "7@imported.invalid", ""),
        (&source, "dee@bolt.example", "Merged"),
        (&source, "ann@example.com", ""),
        (&other, "ann@example.com", "Elsewhere"),
        (&other, "eve@eve.example", ""),
    ] {
        voted(request, address, note).await;
    }
    let reader = &harness.subject.reader;
    let companies =
        async |request: &FeatureRequestSummary| reader.vote_counts(acme, request.id).await.unwrap().companies;
    assert_eq!((companies(&target).await, companies(&other).await), (2, 2));
    harness.withdraw(acme, target.id, "bo@example.com").await;
    assert_eq!(companies(&target).await, 2);
    harness.withdraw(acme, target.id, "\"b@c\"@other.example").await;
    assert_eq!(companies(&target).await, 1);
    harness.merge(acme, source.id, target.id).await;
    assert_eq!(companies(&target).await, 2);
    assert_eq!(reader.vote_counts(bolt, target.id).await.unwrap(), VoteCounts::default());
    let mut customers = Vec::new();
    for address in ["ann@example.com", "cy@gmail.com", "dee@bolt.example", "eve@eve.example"] {
        customers.push(harness.customer(acme, address).await.id);
    }
    let notes = async |workspace| {
        let mut notes = reader.notes_of_voters(workspace, target.id, &customers).await.unwrap();
        notes.sort_by_key(|(customer, _)| customers.iter().position(|other| other == customer));
        notes.into_iter().map(|(_, note)| note.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(notes(acme).await, ["New", "Mine", "Merged"]);
    assert!(notes(bolt).await.is_empty());
    assert!(reader.notes_of_voters(acme, target.id, &[]).await.unwrap().is_empty());
}

/// The stores have the rule of the domain: every provider in its list, in a vote of its own.
pub async fn providers_of_mail_are_no_companies(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    for (number, domain) in FREE_MAIL.into_iter().enumerate() {
        harness.vote(workspace, &request, &format!("ann@{domain}")).await;
        if number % 4 == 0 {
            harness.vote(workspace, &request, &format!("ann@not-{domain}")).await;
        }
    }
    let voters = harness.voters(workspace, request.id).await;
    let companies = voters.iter().filter(|voter| company(voter.email.folded()).is_some()).count();
    assert_eq!((voters.len(), companies), (FREE_MAIL.len() + 17, 17));
}

crate::contract::cases!($ votes {
    a_second_vote_is_not_counted,
    concurrent_first_votes_make_one_customer,
    names_are_filled_but_not_overwritten,
    every_vote_stores_its_note,
    a_withdrawn_vote_is_not_counted,
    concurrent_votes_and_withdrawals_alternate,
    a_repeated_vote_is_among_the_counted_ones,
    a_unit_may_go_on_after_its_vote,
    concurrent_votes_have_their_own_results,
    a_vote_for_an_unknown_request_has_no_effect,
    notes_and_comments_fall_back_to_the_oldest_member,
    votes_are_listed_newest_request_first,
    voters_are_listed_latest_first,
    voters_have_companies_and_notes,
    providers_of_mail_are_no_companies,
    pages_past_the_last_are_empty,
    addresses_match_without_regard_to_case,
});
