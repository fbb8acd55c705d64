//! Isolation of workspaces: no workspace reads or changes rows of another.

use roadmap_domain::model::audit::AuditFilter;
use roadmap_domain::model::changelog::{ChangelogDraft, ChangelogFields};
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, Sort};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::change_board::{RemoveLane, RemoveTrack};
use roadmap_domain::usecase::change_changelog::{DeleteChangelog, UnpublishChangelog};
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::delete_feature_request::DeleteFeatureRequest;
use roadmap_domain::usecase::delete_note::DeleteNote;
use roadmap_domain::usecase::edit_comment::{DeleteComment, EditComment};
use roadmap_domain::usecase::rename_customer::RenameCustomer;
use roadmap_domain::usecase::subscribe::{EndSubscription, Subscribe};

use crate::harness::{
    Harness, changelog_fields, comment, draft, edit, largest_page, merge, move_to, new_title, unmerge, vote, withdraw,
};

/// With the same content in two workspaces, every query finds only rows of its own workspace.
///
/// Contract 1: a request sees its own workspace's data only.
/// Addition 1.
pub async fn nothing_is_seen_from_another_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.create(acme, draft("Dark mode", &["quokka"], "wombat")).await;
    harness.vote(acme, &request, "ann@example.com").await;
    let reader = &harness.subject.reader;
    let ann = EmailAddress::parse("email", "ann@example.com").unwrap();
    assert_eq!(reader.voted_requests(bolt, &ann, PageRequest::default()).await.unwrap().total, 0);
    for reference in [FeatureRequestRef::Id(request.id), FeatureRequestRef::Number(request.tag_number)] {
        assert_eq!(reader.voters(bolt, &reference, PageRequest::default()).await.unwrap(), None);
    }
    for query in ["dark", "quokka", "wombat", "drak", "quoka"] {
        assert_eq!(harness.search(bolt, query).await, Vec::<String>::new(), "{query}");
    }
    assert_eq!(harness.subject.search.load_results(bolt, &[request.id]).await.unwrap(), vec![]);
    let tracks = |workspace| reader.tracks(workspace);
    assert!(tracks(acme).await.unwrap().iter().all(|track| track.name.as_str() != "Elsewhere"));
    assert_ne!(tracks(acme).await.unwrap()[0].id, tracks(bolt).await.unwrap()[0].id);
    // The other workspace's own feature request gets the same number.
    let own = harness.request(bolt, "Dark mode").await;
    assert_eq!((own.tag_number, own.votes_count), (request.tag_number, 0));
    assert_eq!(harness.search(bolt, "dark").await, ["Dark mode"]);
    assert_eq!(harness.search(bolt, "quokka").await, Vec::<String>::new());
}

/// An id of another workspace is treated as unknown.
///
/// Contract 1; Addition 1.
pub async fn nothing_is_changed_from_another_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(acme, "Dark mode").await;
    harness.request(bolt, "Own").await;
    let foreign = FeatureRequestRef::Id(request.id);
    let missing = "FeatureRequest does not exist.";
    let voted =
        harness.executor.run_without_key(bolt, &vote(foreign, Some(("ann@example.com", None)), Some("note"))).await;
    assert_eq!(voted.unwrap_err().to_string(), missing);
    let commented = harness.executor.run_without_key(bolt, &comment(foreign, "text", true)).await;
    assert_eq!(commented.unwrap_err().to_string(), missing);
    let own_track = harness.track(bolt, "Done").await;
    assert_eq!(harness.failure(bolt, &move_to(foreign, own_track)).await, missing);
    let foreign_track = move_to(FeatureRequestRef::Number(1), harness.track(acme, "Done").await);
    assert_eq!(harness.failure(bolt, &foreign_track).await, "Track does not exist.");
    for table in ["votes", "notes", "comments", "customers"] {
        assert_eq!(harness.count(table, acme).await + harness.count(table, bolt).await, 0, "{table}");
    }
}

/// The reads and writes of single records treat an ID of another workspace as unknown, and change nothing.
pub async fn records_of_another_workspace_are_unknown(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [request, source] = harness.requests(acme, ["Dark mode", "Night mode"]).await;
    let own = harness.request(bolt, "Own").await;
    let reference = FeatureRequestRef::Id(request.id);
    harness.perform(acme, &vote(reference, Some(("ann@example.com", Some("Ann"))), Some("note"))).await;
    let comment = harness.perform(acme, &comment(reference, "<p>Soon</p>", true)).await.comment.id;
    let note = harness.notes(acme, request.id).await[0].id;
    let customer = harness.voters(acme, request.id).await[0].id;
    let fields = ChangelogFields {
        feature_request_ids: Some(Some(vec![request.id.to_string()])),
        ..changelog_fields("1.0", "<p>New</p>")
    };
    let draft = ChangelogDraft::parse(&fields, true, |_| None);
    let changelog = harness.perform(acme, &CreateChangelog { draft: draft.unwrap() }).await.changelog.id;
    harness.merge(acme, source.id, request.id).await;
    let before = (harness.snapshots(acme, &[request.id]).await, harness.count_records(acme).await);
    let audit = (harness.count("audit_entries", acme).await, harness.count("audit_entries", bolt).await);

    let (reader, page) = (&harness.subject.reader, largest_page());
    for foreign in [request.id, source.id] {
        let reference = FeatureRequestRef::Id(foreign);
        assert_eq!(reader.feature_request(bolt, &reference).await.unwrap(), None);
        assert_eq!(reader.comments(bolt, &reference, page).await.unwrap(), None);
        assert_eq!(reader.notes(bolt, &reference, page).await.unwrap(), None);
        assert_eq!(reader.events(bolt, &reference, None, page).await.unwrap(), None);
        let missing = "FeatureRequest does not exist.";
        let address = EmailAddress::parse("email", "ann@example.com");
        let draft = CustomerDraft::parse(Some("ann@example.com"), None);
        let delete = DeleteFeatureRequest { request: reference, with_merged: true };
        for message in [
            harness.failure(bolt, &edit(reference, new_title("Mine"))).await,
            harness.failure(bolt, &withdraw(reference, "ann@example.com")).await,
            harness
                .failure(bolt, &Subscribe { request: reference, customer: draft.unwrap(), resumes_mail: false })
                .await,
            harness.failure(bolt, &EndSubscription { request: reference, customer: address.unwrap() }).await,
            harness.failure(bolt, &merge(foreign, own.id)).await,
            harness.failure(bolt, &merge(own.id, foreign)).await,
            harness.failure(bolt, &unmerge(foreign)).await,
            harness.failure(bolt, &delete).await,
        ] {
            assert_eq!(message, missing);
        }
    }
    let track = harness.track(acme, "Inbox").await;
    assert_eq!(reader.track_requests(bolt, track, Sort::Votes, page).await.unwrap(), None);
    assert_eq!(reader.customer(bolt, customer).await.unwrap(), None);
    assert_eq!(reader.customers(bolt, None, page).await.unwrap().total, 0);
    assert_eq!(reader.changelog(bolt, changelog).await.unwrap(), None);
    assert!(reader.roadmap(bolt, 50).await.unwrap().iter().all(|lane| lane.feature_requests.is_empty()));
    let lane = harness.lanes(acme).await[0].lane.id;
    let content = CleanHtml::parse("content", "<p>Mine</p>");
    let name = crate::harness::name("Mine");
    for (message, missing) in [
        (harness.failure(bolt, &EditComment { comment, content: content.unwrap() }).await, "Comment does not exist."),
        (harness.failure(bolt, &DeleteComment { comment }).await, "Comment does not exist."),
        (harness.failure(bolt, &DeleteNote { note }).await, "ReferenceNote does not exist."),
        (harness.failure(bolt, &RenameCustomer { customer, name }).await, "Customer does not exist."),
        (harness.failure(bolt, &DeleteChangelog { changelog }).await, "Changelog does not exist."),
        (harness.failure(bolt, &UnpublishChangelog { changelog }).await, "Changelog does not exist."),
        (harness.failure(bolt, &RemoveLane { lane }).await, "Lane does not exist."),
        (harness.failure(bolt, &RemoveTrack { track, move_to: None }).await, "Track does not exist."),
    ] {
        assert_eq!(message, missing);
    }
    assert_eq!((harness.snapshots(acme, &[request.id]).await, harness.count_records(acme).await), before);
    let after = (harness.count("audit_entries", acme).await, harness.count("audit_entries", bolt).await);
    assert_eq!(after, audit);
    let entries = harness.audit_entries(bolt, &AuditFilter::default()).await;
    assert_eq!(entries.iter().map(|entry| entry.action.as_str()).collect::<Vec<_>>(), ["workspace.create"]);
}

crate::contract::cases!($ tenancy {
    nothing_is_seen_from_another_workspace,
    nothing_is_changed_from_another_workspace,
    records_of_another_workspace_are_unknown,
});
