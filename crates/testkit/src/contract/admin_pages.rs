//! What the admin panel shows of a feature request and of a customer.

use std::collections::BTreeSet;

use roadmap_domain::model::admin::{CustomerRecords, InboxFilter, InboxState, MergePreview, TeamPage};
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, RequestLink};
use roadmap_domain::model::id::{CommentId, CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::vote::VoteDraft;
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use uuid::Uuid;

use crate::effort::{SeededRng, rounds};
use crate::harness::{Harness, Many, comment, customer_comment, draft, merge, unmerge, vote};

async fn team_page(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId) -> TeamPage {
    harness.subject.reader.team_page(workspace, request).await.unwrap()
}

async fn subscribers(harness: &Harness, workspace: WorkspaceId, requests: &[FeatureRequestId]) -> i64 {
    harness.subject.reader.count_changelog_audience(workspace, requests).await.unwrap()
}

async fn records(harness: &Harness, workspace: WorkspaceId, customer: CustomerId) -> CustomerRecords {
    harness.subject.reader.customer_records(workspace, customer).await.unwrap()
}

/// A note on a feature request, optionally about a customer, who then votes for it.
fn note(request: &FeatureRequestSummary, body: &str, customer: Option<&str>) -> CastVote {
    vote(FeatureRequestRef::Id(request.id), customer.map(|email| (email, None)), Some(body))
}

/// The notes of a tree come newest first, and the latest voters, each once with the first vote. Both lists are cut, but
/// all notes are counted.
pub async fn a_team_page_shows_notes_and_voters(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    harness.member(workspace, "mia@team.example", "Mia").await;
    let [source, target, alone] = harness.requests(workspace, ["Quokka", "Fern", "Lichen"]).await;
    let empty = TeamPage::default();
    assert_eq!(team_page(&harness, workspace, alone.id).await, empty);
    for number in 0..14 {
        harness.perform(workspace, &note(&target, "On the target", Some(&format!("v{number}@example.com")))).await;
        // Some have equal timestamps.
        if number % 3 == 0 {
            harness.next_second();
        }
        harness
            .perform(workspace, &note(&source, "On the source", Some(&format!("v{}@example.com", number / 2))))
            .await;
    }
    let compare = async |request: &FeatureRequestSummary, notes: i64| {
        let page = team_page(&harness, workspace, request.id).await;
        let (all, voters) = (harness.notes(workspace, request.id).await, harness.voters(workspace, request.id).await);
        assert_eq!(page.notes, all, "{}", request.title);
        assert_eq!((page.notes_count, page.notes_count), (notes, i64::try_from(all.len()).unwrap()));
        assert_eq!(page.voters, voters.into_iter().take(10).collect::<Vec<_>>(), "{}", request.title);
        page
    };
    assert_eq!(compare(&source, 14).await.voters.len(), 7);
    assert_eq!(compare(&target, 14).await.voters.len(), 10);
    harness.merge(workspace, source.id, target.id).await;
    let page = compare(&target, 28).await;
    assert_eq!((page.voters.len(), page.subscribers), (10, 14));
    harness
        .perform(workspace, &Many((0..90).map(|number| note(&target, &format!("Note {number}"), None)).collect()))
        .await;
    let page = team_page(&harness, workspace, target.id).await;
    assert_eq!((page.notes_count, page.notes.len()), (118, 100));
    assert_eq!(page.notes, harness.notes(workspace, target.id).await);
    assert_eq!(team_page(&harness, workspace, alone.id).await, empty);
    assert_eq!(team_page(&harness, other, target.id).await, empty);
    harness.unmerge(workspace, source.id).await;
    compare(&source, 14).await;
}

/// Comments of customers, and the descriptions of merged feature requests, lead to the customers. Those of the team, and
/// those of another workspace, lead to nobody.
pub async fn customers_of_comments_are_found(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    harness.member(workspace, "mia@team.example", "Mia").await;
    let customer = CustomerDraft::parse(Some("bob@example.com"), None).ok();
    let described = FeatureRequestDraft { customer, ..draft("Quokka", &[], "<p>Why</p>") };
    let described = harness.create(workspace, described).await;
    let [target] = harness.requests(workspace, ["Fern"]).await;
    let reference = FeatureRequestRef::Id(target.id);
    let of_ann = customer_comment(reference, "<p>When?</p>", "ann@example.com", Some("Ann"));
    let of_ann = harness.perform(workspace, &of_ann).await.comment.id;
    let of_team = harness.perform(workspace, &comment(reference, "<p>Soon</p>", false)).await.comment.id;
    let ids = [of_ann, of_team, CommentId::new(described.id.uuid()), CommentId::new(Uuid::nil())];
    let find = async |workspace: WorkspaceId, ids: &[CommentId]| {
        let rows = harness.subject.reader.comment_customers(workspace, ids).await.unwrap();
        rows.into_iter().map(|(comment, customer)| (comment, customer.id)).collect::<BTreeSet<_>>()
    };
    let (ann, bob) = (
        harness.customer(workspace, "ann@example.com").await.id,
        harness.customer(workspace, "bob@example.com").await.id,
    );
    assert_eq!(find(workspace, &ids).await, BTreeSet::from([(ids[0], ann), (ids[2], bob)]));
    assert_eq!(find(workspace, &ids[1..2]).await, BTreeSet::new());
    assert_eq!(find(workspace, &[]).await, BTreeSet::new());
    assert_eq!(find(other, &ids).await, BTreeSet::new());
}

/// The number of subscribers is that of the mails that a comment sends: voters and followers of the tree, each once,
/// without those who have unsubscribed from it or stopped all mail.
pub async fn subscribers_are_those_who_get_mail(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    harness.member(workspace, "mia@team.example", "Mia").await;
    let [source, target, third] = harness.requests(workspace, ["Quokka", "Fern", "Lichen"]).await;
    let mailed = async |request: FeatureRequestId, expected: i64, step: &str| {
        let before = harness.count("outbox", workspace).await;
        harness.perform(workspace, &comment(FeatureRequestRef::Id(request), "<p>Soon</p>", true)).await;
        let mails = i64::try_from(harness.count("outbox", workspace).await - before).unwrap();
        assert_eq!(mails, expected, "{step}");
        assert_eq!(subscribers(&harness, workspace, &[request]).await, expected, "{step}");
        let root = harness.detail(workspace, request).await.summary.id;
        assert_eq!(team_page(&harness, workspace, root).await.subscribers, expected, "{step}");
    };
    mailed(target.id, 0, "nobody").await;
    for voter in ["ann", "bob", "cyd"] {
        harness.vote(workspace, &target, &format!("{voter}@example.com")).await;
    }
    for voter in ["bob", "dan"] {
        harness.vote(workspace, &source, &format!("{voter}@example.com")).await;
    }
    mailed(target.id, 3, "voters").await;
    assert!(harness.subscribe(workspace, target.id, "eve@example.com").await);
    // A vote and a subscription without one.
    assert!(harness.subscribe(workspace, target.id, "ann@example.com").await);
    mailed(target.id, 4, "a follower").await;
    harness.perform(workspace, &merge(source.id, target.id)).await;
    mailed(target.id, 5, "merged").await;
    mailed(source.id, 5, "by the source").await;
    let customer = async |email: &str| harness.customer(workspace, email).await.id;
    let from_request = Unsubscription::Request(target.id);
    harness.unsubscribe(workspace, customer("cyd@example.com").await, from_request).await.unwrap();
    mailed(target.id, 4, "unsubscribed from the request").await;
    harness.unsubscribe(workspace, customer("eve@example.com").await, Unsubscription::Everything).await.unwrap();
    harness.unsubscribe(workspace, customer("dan@example.com").await, Unsubscription::Everything).await.unwrap();
    mailed(target.id, 2, "unsubscribed from everything").await;
    // Ann follows it still.
    harness.withdraw(workspace, target.id, "ann@example.com").await;
    mailed(target.id, 2, "withdrawn").await;

    for voter in ["bob", "fay", "eve"] {
        harness.vote(workspace, &third, &format!("{voter}@example.com")).await;
    }
    assert_eq!(subscribers(&harness, workspace, &[third.id]).await, 2);
    for requests in
        [vec![target.id, third.id], vec![source.id, third.id], vec![third.id, target.id, source.id, third.id]]
    {
        assert_eq!(subscribers(&harness, workspace, &requests).await, 3, "{requests:?}");
    }
    let unknown = FeatureRequestId::new(Uuid::from_u128(1));
    assert_eq!(subscribers(&harness, workspace, &[unknown]).await, 0);
    assert_eq!(subscribers(&harness, workspace, &[]).await, 0);
    assert_eq!(subscribers(&harness, other, &[target.id]).await, 0);
}

/// A preview has the number of votes that the target has after the merge, for any trees. The target is the root that the
/// source would lead to.
pub async fn a_preview_equals_the_merge(harness: Harness) {
    let seeds: &[u64] = if rounds(0, 1) == 0 { &[5] } else { &[1, 2, 3, 4, 5] };
    let admin = &harness.subject.reader;
    let mut merges = 0;
    for seed in seeds {
        let mut random = SeededRng::new(*seed);
        let mut below = |end: usize| usize::try_from(random.below(end as u64)).unwrap();
        let workspace = harness.workspace(&format!("seed-{seed}")).await;
        let requests = harness.requests(workspace, ["Quokka", "Fern", "Lichen", "Gecko", "Zebra", "Burrow"]).await;
        for step in 0..rounds(60, 300) {
            let (source, target) = (&requests[below(6)], &requests[below(6)]);
            harness.vote(workspace, source, &format!("v{}@example.com", below(9))).await;
            let root = harness.detail(workspace, target.id).await.summary.id;
            let preview = admin.merge_preview(workspace, source.id, target.id).await.unwrap().unwrap();
            let own = async |id: FeatureRequestId| {
                for state in [InboxState::All, InboxState::Merged] {
                    let filter = InboxFilter { state, ..InboxFilter::default() };
                    let rows = admin.inbox_rows(workspace, &filter, &[id]).await.unwrap();
                    if let Some(row) = rows.into_iter().next() {
                        return row;
                    }
                }
                panic!("there is a row");
            };
            let (source_row, target_row) = (own(source.id).await, own(root).await);
            let is_merged = source_row.merged_into.is_some();
            let outcome = harness.executor.run_without_key(workspace, &merge(source.id, target.id)).await;
            let votes_count = match &outcome {
                Ok(merged) if !is_merged => merged.target.summary.votes_count,
                _ => preview.votes_count,
            };
            merges += usize::from(outcome.is_ok() && !is_merged);
            let expected = MergePreview { source: source_row, target: target_row, votes_count };
            assert_eq!(preview, expected, "seed {seed}, step {step}");
            let undone = &requests[below(6)];
            if below(2) == 0 {
                let _ = harness.executor.run_without_key(workspace, &unmerge(undone.id)).await;
            }
        }
        let unknown = FeatureRequestId::new(Uuid::from_u128(1));
        let elsewhere = harness.workspace(&format!("other-{seed}")).await;
        let foreign = harness.request(elsewhere, "Quokka").await.id;
        for nothing in [unknown, foreign] {
            assert_eq!(admin.merge_preview(workspace, requests[0].id, nothing).await.unwrap(), None);
            assert_eq!(admin.merge_preview(workspace, nothing, requests[0].id).await.unwrap(), None);
        }
    }
    assert!(merges > 5, "{merges}");
}

fn numbers(requests: &[FeatureRequestSummary]) -> Vec<i64> {
    requests.iter().map(|request| request.tag_number).collect()
}

/// The records of a customer are listed newest first, private ones, too. Votes and subscriptions name what a merged
/// feature request was merged into, once. Comments and notes name the feature request on which they were written.
pub async fn records_of_a_customer_are_listed(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    harness.member(workspace, "mia@team.example", "Mia").await;
    let [first, second, third, fourth] = harness.requests(workspace, ["Quokka", "Fern", "Lichen", "Gecko"]).await;
    let of_ann = |draft: FeatureRequestDraft| {
        let customer = CustomerDraft::parse(Some("Ann@Example.com"), Some("Ann")).ok();
        FeatureRequestDraft { customer, ..draft }
    };
    let idea = harness.create(workspace, of_ann(draft("Numbat", &[], ""))).await;
    let private = FeatureRequestDraft { private: true, ..draft("Wombat", &[], "") };
    let private = harness.create(workspace, of_ann(private)).await;
    let ann = harness.customer(workspace, "ann@example.com").await.id;
    for request in [&first, &third, &second] {
        harness.perform(workspace, &note(request, &format!("On {}", request.title), Some("ann@example.com"))).await;
        harness.next_second();
    }
    for request in [&second, &first] {
        let reference = FeatureRequestRef::Id(request.id);
        harness.perform(workspace, &customer_comment(reference, "<p>When?</p>", "ann@example.com", None)).await;
        // At the same time.
        harness.perform(workspace, &customer_comment(reference, "<p>Please</p>", "ann@example.com", None)).await;
        harness.perform(workspace, &customer_comment(reference, "<p>Me, too</p>", "bob@example.com", None)).await;
        harness.next_second();
    }
    harness.hold(workspace, fourth.id, "<p>Held</p>", "ann@example.com").await;
    assert!(harness.subscribe(workspace, fourth.id, "ann@example.com").await);
    harness.withdraw(workspace, idea.id, "ann@example.com").await;
    let about_nobody = NoteDraft::parse(Some("<p>Other</p>"), None).ok();
    let nobody =
        CastVote { request: FeatureRequestRef::Id(first.id), draft: VoteDraft::new(None, about_nobody).unwrap() };
    harness.perform(workspace, &nobody).await;

    let check = async |votes: &[i64], requests: &[i64], subscriptions: &[i64], step: &str| {
        let records = records(&harness, workspace, ann).await;
        assert_eq!(numbers(&records.votes), votes, "{step}");
        assert_eq!(numbers(&records.requests), requests, "{step}");
        let subscribed: Vec<i64> = records.subscriptions.iter().map(|link| link.tag_number).collect();
        assert_eq!(subscribed, subscriptions, "{step}");
        assert!(records.subscriptions.iter().all(|link| !link.title.as_str().is_empty()), "{step}");
        for summary in &records.votes {
            assert_eq!(harness.detail(workspace, summary.id).await.summary, *summary, "{step}");
        }
        let texts: Vec<(RequestLink, String)> = records
            .comments
            .iter()
            .map(|(link, listed)| (link.clone(), listed.comment.content.as_str().to_owned()))
            .collect();
        let on = |request: &FeatureRequestSummary, text: &str| (RequestLink::from(request), format!("<p>{text}</p>"));
        let expected = [on(&first, "Please"), on(&first, "When?"), on(&second, "Please"), on(&second, "When?")];
        assert_eq!(texts, expected, "{step}");
        for (link, listed) in &records.comments {
            let comments = harness.comments(workspace, link.id).await;
            assert!(comments.contains(listed), "{step}: {listed:?}");
        }
        let noted: Vec<RequestLink> = records.notes.iter().map(|(link, _)| link.clone()).collect();
        assert_eq!(noted, [&second, &third, &first].map(RequestLink::from), "{step}");
        for (link, note) in &records.notes {
            assert!(harness.notes(workspace, link.id).await.contains(note), "{step}: {note:?}");
        }
        assert_eq!(records.unsubscribed_at, None, "{step}");
    };
    check(&[6, 3, 2, 1], &[6, 5], &[6, 4, 3, 2, 1], "at first").await;
    harness.merge(workspace, first.id, second.id).await;
    check(&[6, 3, 2], &[6, 5], &[6, 4, 3, 2], "merged").await;
    harness.merge(workspace, idea.id, fourth.id).await;
    check(&[6, 3, 2], &[6, 5], &[6, 4, 3, 2], "the idea is merged").await;
    harness.merge(workspace, private.id, third.id).await;
    check(&[3, 2], &[6, 5], &[4, 3, 2], "the private idea is merged").await;
    harness.unsubscribe(workspace, ann, Unsubscription::Request(third.id)).await.unwrap();
    check(&[3, 2], &[6, 5], &[4, 2], "unsubscribed").await;
    harness.unmerge(workspace, first.id).await;
    check(&[3, 2, 1], &[6, 5], &[4, 2, 1], "unmerged").await;

    let before = records(&harness, workspace, ann).await;
    let at = harness.next_second();
    harness.unsubscribe(workspace, ann, Unsubscription::Everything).await.unwrap();
    let expected = CustomerRecords { subscriptions: Vec::new(), unsubscribed_at: Some(at), ..before };
    assert_eq!(records(&harness, workspace, ann).await, expected);
    let empty = CustomerRecords::default();
    assert_eq!(records(&harness, other, ann).await, empty);
    assert_eq!(records(&harness, workspace, CustomerId::new(Uuid::from_u128(1))).await, empty);
}

/// Each list of a customer's records has at most 50 entries, the newest ones.
pub async fn records_of_a_customer_are_bounded(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let mut requests = Vec::new();
    for number in 0..53 {
        let customer = CustomerDraft::parse(Some("ann@example.com"), None).ok();
        let new = FeatureRequestDraft { customer, ..draft(&format!("Request {number}"), &[], "") };
        requests.push(harness.create(workspace, new).await);
    }
    let references = || requests.iter().map(|request| FeatureRequestRef::Id(request.id));
    let comments = references().map(|reference| customer_comment(reference, "<p>Me</p>", "ann@example.com", None));
    harness.perform(workspace, &Many(comments.collect())).await;
    let notes = references().map(|reference| vote(reference, Some(("ann@example.com", None)), Some("<p>Note</p>")));
    harness.perform(workspace, &Many(notes.collect())).await;
    let ann = harness.customer(workspace, "ann@example.com").await.id;
    let records = records(&harness, workspace, ann).await;
    let newest: Vec<i64> = (4..=53).rev().collect();
    assert_eq!((numbers(&records.votes), numbers(&records.requests)), (newest.clone(), newest.clone()));
    let links = |links: Vec<&RequestLink>| links.iter().map(|link| link.tag_number).collect::<Vec<_>>();
    assert_eq!(links(records.subscriptions.iter().collect()), newest);
    assert_eq!(links(records.comments.iter().map(|(link, _)| link).collect()), newest);
    assert_eq!(links(records.notes.iter().map(|(link, _)| link).collect()), newest);
    let distinct: BTreeSet<_> = records.notes.iter().map(|(_, note)| note.id).collect();
    assert_eq!(distinct.len(), 50);
}

crate::contract::cases!($ admin_pages {
    a_team_page_shows_notes_and_voters,
    customers_of_comments_are_found,
    subscribers_are_those_who_get_mail,
    a_preview_equals_the_merge,
    records_of_a_customer_are_listed,
    records_of_a_customer_are_bounded,
});
