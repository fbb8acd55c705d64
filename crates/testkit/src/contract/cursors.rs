//! Pages that begin after a place of a list.

use std::fmt::Debug;

use roadmap_domain::model::changelog::ChangelogDraft;
use roadmap_domain::model::cursor::{CursorList, Place, Placed};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, Sort};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::member::Author;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::move_feature_request::{MoveDraft, MoveFeatureRequest};

use crate::harness::{Harness, add_link, changelog_fields, customer_comment, held_idea, largest_page, page, vote};

/// Reads a list in pages of several sizes, each from the place of the last item before, and compares them with the whole
/// list, which has several items.
async fn assert_parts<T: Debug + PartialEq>(
    name: &str,
    workspace: WorkspaceId,
    list: impl AsyncFn(PageRequest) -> Listing<T>,
    place: impl Fn(&T) -> Place,
) {
    let whole = list(largest_page()).await;
    assert!(whole.items.len() >= 3, "{name}: {whole:?}");
    assert_eq!(whole.next(&place), None, "{name}");
    let cursors = CursorList::new(workspace, name, "");
    for size in 1..=4 {
        let (mut cursor, mut items) = (String::new(), Vec::new());
        loop {
            let part = list(page(1, size).with_cursor(&cursors, Some(&cursor)).unwrap()).await;
            assert_eq!(part.total, whole.total, "{name}");
            assert!(!part.page_items().is_empty() && part.page_items().len() as u64 <= size, "{name}: {part:?}");
            let next = part.next(&place).expect("a part of a list with cursors");
            items.extend(part.items.into_iter().take(usize::try_from(size).unwrap()));
            match next {
                Some(place) => cursor = cursors.cursor(place),
                None => break,
            }
        }
        assert_eq!(items, whole.items, "{name} in parts of {size}");
    }
}

/// Every list that has cursors is the same in parts of any size as at once: also of merged feature requests, and with
/// items of the same millisecond.
///
/// Addition 1: every list is stable under equal keys.
/// Addition 6.
pub async fn lists_in_parts_are_the_whole_list(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.member(workspace, "mia@team.example", "Mia").await;
    let inbox = harness.track(workspace, "Inbox").await;
    let mut requests = Vec::new();
    for number in 0..7 {
        let request = harness.request(workspace, &format!("Idea {number}")).await;
        harness
            .perform(workspace, &vote(FeatureRequestRef::Id(request.id), Some(("ann@example.com", None)), None))
            .await;
        if number % 3 == 0 {
            harness.next_second();
        }
        requests.push(request);
    }
    let alone = FeatureRequestRef::Id(requests[0].id);
    let (merged, source) = (FeatureRequestRef::Id(requests[1].id), FeatureRequestRef::Id(requests[2].id));
    for number in 0..7 {
        for request in [alone, merged, source] {
            let voter = format!("voter-{number}@example.com");
            harness.perform(workspace, &vote(request, Some((&voter, None)), Some(&format!("Note {number}")))).await;
            harness.perform(workspace, &customer_comment(request, &format!("<p>{number}</p>"), &voter, None)).await;
            let url = format!("https://github.com/acme/{}/issues/{number}", if request == source { "b" } else { "a" });
            harness.perform(workspace, &add_link(request, &url)).await;
        }
        harness.hold(workspace, requests[0].id, "<p>Waits</p>", "ann@example.com").await;
        harness.create(workspace, held_idea(&format!("Held {number}"), "ann@example.com")).await;
        let news = changelog_fields(&format!("News {number}"), "<p>New</p>");
        harness
            .perform(workspace, &CreateChangelog { draft: ChangelogDraft::parse(&news, true, |_| None).unwrap() })
            .await;
        let track = if number % 2 == 0 { harness.track(workspace, "Planned").await } else { inbox };
        let draft = MoveDraft { track, author: Author::Oldest, notify_all_voters: false, comment: None };
        let moved = MoveFeatureRequest { request: alone, draft };
        harness.perform(workspace, &moved).await;
        if number % 3 == 0 {
            harness.next_second();
        }
    }
    harness.merge(workspace, requests[2].id, requests[1].id).await;
    let (reader, portal) = (&harness.subject.reader, &harness.subject.reader);
    let email = EmailAddress::parse("email", "ann@example.com").unwrap();
    for (kind, request) in [("alone", alone), ("merged", merged)] {
        let name = |list: &str| format!("{list} of {kind}");
        let list = async |page| reader.voters(workspace, &request, page).await.unwrap().unwrap();
        assert_parts(&name("voters"), workspace, list, Placed::place).await;
        let list = async |page| reader.comments(workspace, &request, page).await.unwrap().unwrap();
        assert_parts(&name("comments"), workspace, list, Placed::place).await;
        let list = async |page| reader.notes(workspace, &request, page).await.unwrap().unwrap();
        assert_parts(&name("notes"), workspace, list, Placed::place).await;
        let list = async |page| reader.links(workspace, &request, page).await.unwrap().unwrap();
        assert_parts(&name("links"), workspace, list, Placed::place).await;
    }
    let list = async |page| reader.events(workspace, &alone, None, page).await.unwrap().unwrap();
    assert_parts("events", workspace, list, Placed::place).await;
    let list = async |page| reader.voted_requests(workspace, &email, page).await.unwrap();
    assert_parts("votes", workspace, list, |request| Place::of_id(request.id.uuid())).await;
    let list = async |page| reader.track_requests(workspace, inbox, Sort::Newest, page).await.unwrap().unwrap();
    assert_parts("track", workspace, list, |request| Place::of_number(request.tag_number)).await;
    let list = async |page| reader.customers(workspace, None, page).await.unwrap();
    assert_parts("customers", workspace, list, Placed::place).await;
    let list = async |page| reader.changelogs(workspace, page).await.unwrap();
    assert_parts("changelogs", workspace, list, Placed::place).await;
    let list = async |page| portal.held_posts(workspace, page).await.unwrap();
    assert_parts("held posts", workspace, list, Placed::place).await;
    // The feature request after which a part begins may be gone.
    let cursors = CursorList::new(workspace, "gone", "");
    let after = cursors.cursor(Place::of_number(requests[4].tag_number));
    harness.delete(workspace, requests[4].id, false).await;
    let part = page(1, 2).with_cursor(&cursors, Some(&after)).unwrap();
    let part = reader.track_requests(workspace, inbox, Sort::Newest, part).await.unwrap().unwrap();
    let numbers: Vec<i64> = part.page_items().iter().map(|request| request.tag_number).collect();
    assert_eq!(numbers, [requests[3].tag_number, requests[1].tag_number]);
}

crate::contract::cases!($ cursors { lists_in_parts_are_the_whole_list, });
