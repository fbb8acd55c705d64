//! The portal's page of a feature request: comments, answers, events, and what depends on who looks.

use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, RequestLink};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::model::portal::{RequestPage, Viewer};
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::edit_comment::DeleteComment;
use roadmap_domain::usecase::subscribe::EndSubscription;
use uuid::Uuid;

use crate::harness::{
    Harness, Many, comment, customer_comment, draft, held_idea, member_viewer, move_to, new_visibility, page, vote,
};

const VISITOR: Viewer = Viewer { customer: None, is_member: false };

async fn find(
    harness: &Harness,
    workspace: WorkspaceId,
    reference: FeatureRequestRef,
    viewer: Viewer,
) -> Option<RequestPage> {
    harness.subject.reader.request_page(workspace, &reference, viewer, None).await.unwrap()
}

/// The page as a visitor sees it, without comments that wait and without anything of the viewer, from other reads.
async fn expected(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId) -> RequestPage {
    let detail = harness.detail(workspace, request).await;
    let comments = page(1, RequestPage::COMMENTS);
    let comments = harness.subject.reader.comments(workspace, &FeatureRequestRef::Id(request), comments).await;
    RequestPage {
        detail,
        comments: comments.unwrap().unwrap(),
        answer: None,
        events: harness.events(workspace, request, None).await,
        held: Vec::new(),
        has_voted: false,
        is_subscribed: false,
    }
}

/// A page shows everything of a feature request, by every reference, also of a private one. A merged one is what it was
/// merged into.
pub async fn a_page_shows_everything_of_a_request(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let customer = CustomerDraft::parse(Some("Ann@Example.com"), Some("Ann")).ok();
    let first_draft = draft("Größer", &["zoo", "Api"], "<p>Eyes <b>hurt</b></p>");
    let first = harness.create(workspace, FeatureRequestDraft { customer, ..first_draft }).await;
    let [second, source] = harness.requests(workspace, ["Fern", "Lichen"]).await;
    let private = FeatureRequestDraft { private: true, ..draft("Gecko", &[], "<p>Quiet</p>") };
    let private = harness.create(workspace, private).await;
    let held = harness.create(workspace, held_idea("Bilby", "ann@example.com")).await;
    harness.member(workspace, "mia@team.example", "Mia").await;
    for request in [&first, &source, &private] {
        let reference = FeatureRequestRef::Id(request.id);
        let words = format!("<p>On {}</p>", request.title);
        harness.perform(workspace, &customer_comment(reference, &words, "bob@example.com", Some("Bob"))).await;
        harness.next_second();
    }
    harness.move_to(workspace, first.id, "Planned").await;
    harness.move_to(workspace, second.id, "Done").await;
    harness.move_to(workspace, private.id, "Declined").await;
    harness.merge(workspace, source.id, second.id).await;
    for (reference, request) in [
        (FeatureRequestRef::Id(first.id), first.id),
        (FeatureRequestRef::Number(1), first.id),
        (FeatureRequestRef::parse("1-an-older-title"), first.id),
        (FeatureRequestRef::Id(second.id), second.id),
        (FeatureRequestRef::Id(source.id), second.id),
        (FeatureRequestRef::Number(3), second.id),
        (FeatureRequestRef::Id(private.id), private.id),
        (FeatureRequestRef::Number(5), held.id),
    ] {
        let page_of_request = find(&harness, workspace, reference, VISITOR).await.unwrap();
        assert_eq!(page_of_request, expected(&harness, workspace, request).await, "{reference:?}");
        // All of this is the same for everybody.
        assert_eq!(find(&harness, workspace, reference, member_viewer()).await, Some(page_of_request), "{reference:?}");
    }
    for unknown in [
        FeatureRequestRef::Id(FeatureRequestId::new(Uuid::from_u128(1))),
        FeatureRequestRef::Number(9),
        FeatureRequestRef::Unresolvable,
    ] {
        assert_eq!(find(&harness, workspace, unknown, member_viewer()).await, None);
        assert_eq!(harness.subject.reader.visible_request(workspace, &unknown, member_viewer()).await.unwrap(), None);
    }
}

/// Comments come in pages of thirty, oldest first. Without a number, the last page is shown.
pub async fn comments_of_a_page_are_paged(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, source] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    let reference = FeatureRequestRef::Id(request.id);
    let mut posted = 0;
    for (total, last) in [(0, 1), (1, 1), (30, 1), (31, 2), (60, 2), (61, 3)] {
        let words = |number| comment(reference, &format!("<p>{number}</p>"), false);
        harness.perform(workspace, &Many((posted..total).map(words).collect())).await;
        posted = total;
        let all = harness.comments(workspace, request.id).await;
        assert_eq!(all.len() as u64, total);
        let pages = &harness.subject.reader;
        for (requested, number) in
            [(None, last), (Some(1), 1), (Some(2), 2), (Some(3), 3), (Some(4), 4), (Some(last), last)]
        {
            let request_page = pages.request_page(workspace, &reference, VISITOR, requested).await.unwrap().unwrap();
            let comments = request_page.comments;
            assert_eq!((comments.total, comments.request), (total, page(number, 30)), "{requested:?}");
            let items = all.iter().skip(usize::try_from((number - 1) * 30).unwrap()).take(30);
            assert_eq!(comments.items, items.cloned().collect::<Vec<_>>(), "{total}: {requested:?}");
            assert_eq!(request_page.detail.comments_count.unsigned_abs(), total);
        }
    }
    // With what is merged into it, there is one more.
    harness.perform(workspace, &comment(FeatureRequestRef::Id(source.id), "<p>Old</p>", false)).await;
    harness.merge(workspace, source.id, request.id).await;
    let comments = harness.page_of(workspace, request.id, VISITOR).await.comments;
    assert_eq!((comments.total, comments.items.len(), comments.request), (62, 2, page(3, 30)));
    let old = comments.items.iter().find(|comment| comment.from.is_some()).unwrap();
    assert_eq!(old.from, Some(RequestLink::from(&source)));
}

/// The answer is the latest comment of the team, on whatever page it is, also one on what was merged. Descriptions of
/// merged feature requests are no answers, and the words of private ones do not show.
pub async fn the_latest_comment_of_the_team_is_the_answer(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let source = harness.create(workspace, draft("Quokka", &[], "<p>They smile</p>")).await;
    let hidden = FeatureRequestDraft { private: true, ..draft("Gecko", &[], "<p>It sticks</p>") };
    let hidden = harness.create(workspace, hidden).await;
    let target = harness.request(workspace, "Fern").await;
    let answer = async |request: FeatureRequestId| harness.page_of(workspace, request, VISITOR).await.answer;
    let post = async |request: &FeatureRequestSummary, words: &str| {
        harness.next_second();
        let posted = harness.perform(workspace, &comment(FeatureRequestRef::Id(request.id), words, false)).await;
        let listed = harness.comments(workspace, request.id).await;
        let listed = listed.into_iter().find(|listed| listed.comment.id == posted.comment.id);
        Some(listed.expect("the comment"))
    };
    let of_customer = async |number: u64| {
        harness.next_second();
        let reference = FeatureRequestRef::Id(target.id);
        let words = format!("<p>{number}</p>");
        harness.perform(workspace, &customer_comment(reference, &words, "ann@example.com", None)).await;
    };
    assert_eq!(answer(target.id).await, None);
    of_customer(1).await;
    assert_eq!(answer(target.id).await, None);
    // Without members, the comment is that of the team nevertheless.
    let first = post(&target, "<p>Soon</p>").await;
    assert_eq!(answer(target.id).await, first);
    harness.member(workspace, "mia@team.example", "Mia").await;
    let second = post(&target, "<p>Sooner</p>").await;
    for number in 0..30 {
        of_customer(number).await;
    }
    let page_of_target = harness.page_of(workspace, target.id, VISITOR).await;
    assert!(second.is_some() && !page_of_target.comments.items.contains(second.as_ref().unwrap()));
    assert_eq!(page_of_target.answer, second);

    let on_source = post(&source, "<p>On the source</p>").await;
    let on_hidden = post(&hidden, "<p>On the hidden one</p>").await;
    assert_eq!((answer(source.id).await, answer(hidden.id).await), (on_source.clone(), on_hidden.clone()));
    harness.merge(workspace, hidden.id, target.id).await;
    assert_eq!(answer(target.id).await, second);
    harness.merge(workspace, source.id, target.id).await;
    let from = Some(RequestLink::from(&source));
    let merged = on_source.map(|answer| ListedComment { from, ..answer });
    assert_eq!(answer(target.id).await, merged);
    assert_eq!(answer(source.id).await, merged);
    // Everything of a private target is shown to members.
    harness.edit(workspace, target.id, new_visibility(true)).await;
    let from = Some(RequestLink::from(&hidden));
    let all = on_hidden.map(|answer| ListedComment { from, ..answer });
    assert_eq!(harness.page_of(workspace, target.id, member_viewer()).await.answer, all);
    assert_eq!(answer(target.id).await, merged);
    harness.edit(workspace, target.id, new_visibility(false)).await;
    for expected in [second, first, None] {
        let comment = answer(target.id).await.unwrap().comment.id;
        harness.perform(workspace, &DeleteComment { comment }).await;
        assert_eq!(answer(target.id).await, expected);
    }
}

/// Of a private feature request that is merged into a public one, only members see the title, and the comments that wait.
/// Nobody sees its comments. What is private and merged into a private one is shown to members, not to its author.
pub async fn a_page_names_private_sources_to_members_only(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [target, public] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    let customer = || CustomerDraft::parse(Some("ann@example.com"), None).ok();
    let draft = FeatureRequestDraft { private: true, customer: customer(), ..draft("Gecko", &[], "<p>Secret</p>") };
    let private = harness.create(workspace, draft).await;
    let held = harness.create(workspace, held_idea("Bilby", "ann@example.com")).await;
    harness.perform(workspace, &comment(FeatureRequestRef::Id(private.id), "<p>Secret, too</p>", false)).await;
    let waiting = harness.hold(workspace, private.id, "<p>Please</p>", "ann@example.com").await;
    for source in [&public, &private, &held] {
        harness.merge(workspace, source.id, target.id).await;
    }
    let all = [&public, &private, &held].map(RequestLink::from);
    let ann = harness.viewer(workspace, "ann@example.com").await;
    for (viewer, named) in [(VISITOR, &all[..1]), (ann, &all[..1]), (member_viewer(), &all[..])] {
        let page = harness.page_of(workspace, target.id, viewer).await;
        assert_eq!(page.detail.merged, named, "{viewer:?}");
        assert_eq!((page.comments.total, page.detail.comments_count, page.answer), (0, 0, None), "{viewer:?}");
    }
    let held = |page: RequestPage| page.held.into_iter().map(|comment| comment.id).collect::<Vec<_>>();
    assert_eq!(held(harness.page_of(workspace, target.id, member_viewer()).await), [waiting]);
    assert_eq!(held(harness.page_of(workspace, target.id, VISITOR).await), []);
    harness.edit(workspace, target.id, new_visibility(true)).await;
    for (viewer, named, comments) in [(VISITOR, &all[..1], 0), (ann, &all[..1], 0), (member_viewer(), &all[..], 2)] {
        let page = harness.page_of(workspace, target.id, viewer).await;
        assert_eq!(page.detail.merged, named, "{viewer:?}");
        assert_eq!((page.comments.total, page.comments.items.len()), (comments, comments as usize), "{viewer:?}");
        assert_eq!(page.detail.comments_count, i64::try_from(comments).unwrap(), "{viewer:?}");
        assert_eq!(page.answer.is_some(), viewer.is_member, "{viewer:?}");
    }
}

/// The latest events of the feature request itself are shown, newest first.
pub async fn the_latest_events_are_shown(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, source] = harness.requests(workspace, ["Quokka", "Fern"]).await;
    harness.move_to(workspace, source.id, "Done").await;
    harness.merge(workspace, source.id, request.id).await;
    let tracks = [harness.track(workspace, "Planned").await, harness.track(workspace, "Inbox").await];
    for number in 0..33 {
        harness.perform(workspace, &move_to(FeatureRequestRef::Id(request.id), tracks[number % 2])).await;
        if number % 3 == 0 {
            harness.next_second();
        }
    }
    let all = harness.events(workspace, request.id, None).await;
    assert_eq!(all.len(), 34);
    for id in [request.id, source.id] {
        assert_eq!(harness.page_of(workspace, id, VISITOR).await.events, all[..30]);
    }
}

/// The vote and the subscription of the viewer are those in the whole tree. Mail that was stopped is no subscription.
pub async fn a_page_shows_the_viewer_s_vote_and_subscription(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [request, source, other] = harness.requests(workspace, ["Quokka", "Fern", "Lichen"]).await;
    let reference = FeatureRequestRef::Id(request.id);
    for (address, on) in [
        ("voter@example.com", &request),
        ("unsubscribed@example.com", &request),
        ("again@example.com", &request),
        ("stopped@example.com", &request),
        ("of-source@example.com", &source),
        ("of-other@example.com", &other),
    ] {
        harness.vote(workspace, on, address).await;
    }
    harness.subscribe(workspace, request.id, "follower@example.com").await;
    harness.subscribe(workspace, request.id, "stopped-follower@example.com").await;
    harness.subscribe(workspace, source.id, "follower-of-source@example.com").await;
    harness.subscribe(workspace, request.id, "ended@example.com").await;
    harness.perform(workspace, &customer_comment(reference, "<p>1</p>", "commenter@example.com", None)).await;
    for address in ["unsubscribed@example.com", "again@example.com", "ended@example.com"] {
        let customer = CustomerDraft::parse(Some(address), None).map(|customer| customer.email);
        harness.perform(workspace, &EndSubscription { request: reference, customer: customer.unwrap() }).await;
    }
    harness.subscribe(workspace, request.id, "again@example.com").await;
    for address in ["stopped@example.com", "stopped-follower@example.com"] {
        let customer = harness.customer(workspace, address).await.id;
        harness.unsubscribe(workspace, customer, Unsubscription::Everything).await.unwrap();
    }
    let check = async |id: FeatureRequestId, expected: &[(&str, bool, bool)]| {
        for (address, has_voted, is_subscribed) in expected {
            let viewer = harness.viewer(workspace, address).await;
            // A member may be a customer, too.
            for viewer in [viewer, Viewer { is_member: true, ..viewer }] {
                let page = harness.page_of(workspace, id, viewer).await;
                assert_eq!((page.has_voted, page.is_subscribed), (*has_voted, *is_subscribed), "{address}");
            }
        }
        for viewer in [VISITOR, member_viewer()] {
            let page = harness.page_of(workspace, id, viewer).await;
            assert_eq!((page.has_voted, page.is_subscribed), (false, false));
        }
    };
    let alone = [
        ("voter@example.com", true, true),
        ("unsubscribed@example.com", true, false),
        ("again@example.com", true, true),
        ("stopped@example.com", true, false),
        ("of-source@example.com", false, false),
        ("of-other@example.com", false, false),
        ("follower@example.com", false, true),
        ("stopped-follower@example.com", false, false),
        ("follower-of-source@example.com", false, false),
        ("ended@example.com", false, false),
        ("commenter@example.com", false, false),
    ];
    check(request.id, &alone).await;
    check(source.id, &[("of-source@example.com", true, true), ("voter@example.com", false, false)]).await;
    harness.merge(workspace, source.id, request.id).await;
    let mut merged = alone;
    merged[4] = ("of-source@example.com", true, true);
    merged[8] = ("follower-of-source@example.com", false, true);
    check(request.id, &merged).await;
    check(source.id, &merged).await;
    harness.unmerge(workspace, source.id).await;
    harness.withdraw(workspace, request.id, "voter@example.com").await;
    check(request.id, &[("voter@example.com", false, false), ("of-source@example.com", false, false)]).await;
}

/// A private feature request is visible to members and to its author. A merged one leads to what it was merged into, for
/// those who may see both.
///
/// Portal.
pub async fn private_requests_are_visible_to_members_and_authors(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let public = harness.request(workspace, "Quokka").await;
    let customer = CustomerDraft::parse(Some("ann@example.com"), None).ok();
    let private = FeatureRequestDraft { private: true, customer, ..draft("Fern", &[], "") };
    let private = harness.create(workspace, private).await;
    let unowned = FeatureRequestDraft { private: true, ..draft("Lichen", &[], "") };
    let unowned = harness.create(workspace, unowned).await;
    let held = harness.create(workspace, held_idea("Bilby", "ann@example.com")).await;
    harness.perform(workspace, &vote(FeatureRequestRef::Id(private.id), Some(("bob@example.com", None)), None)).await;
    let (ann, bob) =
        (harness.viewer(workspace, "ann@example.com").await, harness.viewer(workspace, "bob@example.com").await);
    let check = async |reference: FeatureRequestRef, leads_to: &FeatureRequestSummary, viewers: &[Viewer]| {
        let is_of_public = leads_to.id == public.id;
        for viewer in [VISITOR, ann, bob, member_viewer(), Viewer { is_member: true, ..bob }] {
            let link = harness.subject.reader.visible_request(workspace, &reference, viewer).await.unwrap();
            let is_visible = viewer.is_member || viewers.contains(&viewer);
            assert_eq!(link, is_visible.then(|| RequestLink::from(leads_to)), "{reference:?} {viewer:?}");
            let page = find(&harness, workspace, reference, viewer).await.unwrap();
            // The page itself is the same for every reference to it.
            assert_eq!(page.is_visible_to(viewer), is_visible || is_of_public, "{reference:?} {viewer:?}");
        }
    };
    for reference in [FeatureRequestRef::Id(public.id), FeatureRequestRef::Number(1)] {
        check(reference, &public, &[VISITOR, ann, bob]).await;
    }
    for reference in [FeatureRequestRef::Id(private.id), FeatureRequestRef::parse("2-fern")] {
        check(reference, &private, &[ann]).await;
    }
    check(FeatureRequestRef::Id(unowned.id), &unowned, &[]).await;
    check(FeatureRequestRef::Id(held.id), &held, &[ann]).await;
    // The author of the target counts, too.
    harness.merge(workspace, held.id, unowned.id).await;
    check(FeatureRequestRef::Id(held.id), &unowned, &[]).await;
    harness.merge(workspace, unowned.id, private.id).await;
    check(FeatureRequestRef::Number(held.tag_number), &private, &[ann]).await;
    harness.merge(workspace, private.id, public.id).await;
    for (reference, viewers) in [(private.id, &[ann][..]), (unowned.id, &[]), (held.id, &[ann])] {
        check(FeatureRequestRef::Id(reference), &public, viewers).await;
    }
    check(FeatureRequestRef::parse("2-fern"), &public, &[ann]).await;
    let other = harness.request(workspace, "Heron").await;
    harness.merge(workspace, other.id, public.id).await;
    check(FeatureRequestRef::Id(other.id), &public, &[VISITOR, ann, bob]).await;
}

crate::contract::cases!($ request_pages {
    a_page_shows_everything_of_a_request,
    comments_of_a_page_are_paged,
    the_latest_comment_of_the_team_is_the_answer,
    a_page_names_private_sources_to_members_only,
    the_latest_events_are_shown,
    a_page_shows_the_viewer_s_vote_and_subscription,
    private_requests_are_visible_to_members_and_authors,
});
