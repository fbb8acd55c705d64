//! Mail to team members about what customers write.

use roadmap_domain::model::comment::{CommentDraft, PublicAuthor};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{MemberId, WorkspaceId};
use roadmap_domain::model::member::{MemberRef, Role};
use roadmap_domain::model::message::{MessageContent, MessageOutcome, Priority, Recipient};
use roadmap_domain::model::portal::{Language, PortalChange};
use roadmap_domain::model::team_mail::{MemberToTell, TeamDigestContent, TeamDigestId, TeamMail, TeamPost};
use roadmap_domain::model::time_zone::TimeZone;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::change_members::{ChangeRole, RemoveMember};
use roadmap_domain::usecase::hold_comment::ApproveComment;
use roadmap_domain::usecase::post_comment::PostComment;
use roadmap_domain::usecase::save_account::SaveAccount;
use roadmap_domain::usecase::tell_team::TellTeam;
use roadmap_domain::usecase::unsubscribe::SaveTeamMail;
use roadmap_domain::usecase::update_portal::UpdatePortal;
use time::Duration;
use tokio::task::JoinSet;

use crate::harness::{Harness, add_member, comment, customer_comment, edit_comment, held_idea, name};

/// The mail to a member about a period.
async fn digest(
    harness: &Harness,
    workspace: WorkspaceId,
    member: MemberId,
    (after, until): (Timestamp, Timestamp),
) -> Option<TeamDigestContent> {
    let id = TeamDigestId { member, after, until };
    harness.subject.mail.team_digest(workspace, &id, 20, 5).await.unwrap()
}

fn shown(posts: &[TeamPost]) -> Vec<(i64, Option<PublicAuthor>, bool, &str)> {
    let post = |post: &TeamPost| post.author.clone();
    posts.iter().map(|one| (one.request.tag_number, post(one), one.is_awaiting, one.beginning.as_str())).collect()
}

fn customer(text: Option<&str>) -> Option<PublicAuthor> {
    Some(PublicAuthor::Customer(text.map(name)))
}

async fn want(harness: &Harness, workspace: WorkspaceId, member: MemberId, wanted: TeamMail) {
    harness.perform(workspace, &SaveTeamMail { member, wanted }).await;
}

/// A mail has the feature requests and the comments of customers of its period, with those that wait for approval, and no
/// others. Merged, approved and edited ones are as they are now, deleted ones are left out.
pub async fn a_mail_is_about_its_period(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let ines = harness.member(workspace, "ines@team.example", "Ines").await;
    let early = harness.request(workspace, "Too early").await;
    harness.vote(workspace, &early, "ann@example.com").await;
    let by_ann = |text| customer_comment(FeatureRequestRef::Id(early.id), text, "ann@example.com", Some("Ann"));
    harness.perform(workspace, &by_ann("<p>Too early</p>")).await;
    let after = harness.now();
    harness.next_second();
    let first = harness.request(workspace, "First").await;
    harness.next_second();
    let reply = harness.perform(workspace, &by_ann("<p>Reply</p>")).await.comment.id;
    harness.perform(workspace, &comment(FeatureRequestRef::Id(early.id), "<p>Of the team</p>", false)).await;
    harness.next_second();
    let idea = harness.create(workspace, held_idea("Held", "bo@example.com")).await;
    let gone = harness.request(workspace, "Deleted").await;
    let until = harness.next_second();
    let held = harness.hold(workspace, early.id, "<p>Held</p>", "cy@example.com").await;
    harness.request(other, "Of a neighbour").await;
    harness.next_second();
    harness.request(workspace, "Too late").await;
    harness.perform(workspace, &by_ann("<p>Too late</p>")).await;

    harness.delete(workspace, gone.id, false).await;
    harness.perform(workspace, &edit_comment(reply, "<p>Better</p>")).await;
    let found = digest(&harness, workspace, ines.id, (after, until)).await.unwrap();
    assert_eq!((found.to.as_str(), found.language), ("ines@team.example", None));
    assert_eq!(shown(&found.requests), [(2, None, false, ""), (3, customer(None), true, "")]);
    let replies = [(1, customer(Some("Ann")), false, "<p>Be"), (1, customer(None), true, "<p>He")];
    assert_eq!(shown(&found.replies), replies);
    assert_eq!((found.requests_count, found.replies_count), (2, 2));

    // A comment on what is merged is one on the target, and an approved one is still the same.
    harness.merge(workspace, early.id, first.id).await;
    let approve = ApproveComment { comment: held };
    harness.perform(workspace, &approve).await;
    let found = digest(&harness, workspace, ines.id, (after, until)).await.unwrap();
    let replies = [(2, customer(Some("Ann")), false, "<p>Be"), (2, customer(None), false, "<p>He")];
    assert_eq!((shown(&found.replies), idea.tag_number), (replies.to_vec(), 3));

    // The counts are those of all, and the language is that of the customer with the address.
    let email = ines.email.clone();
    let account = SaveAccount { email, name: None, language: Some(Language::German), holds_names: false };
    harness.perform(workspace, &account).await;
    let id = TeamDigestId { member: ines.id, after, until };
    let found = harness.subject.mail.team_digest(workspace, &id, 1, 100).await.unwrap().unwrap();
    assert_eq!((found.requests.len(), found.requests_count, found.replies.len(), found.replies_count), (1, 2, 1, 2));
    assert_eq!(found.language, Some(Language::German));
    assert!(digest(&harness, workspace, ines.id, (until, until)).await.unwrap().is_empty());
    assert_eq!(digest(&harness, other, ines.id, (after, until)).await, None);
}

/// A member chooses. Whoever wants comments where the member has commented gets these only.
pub async fn a_member_chooses_the_mail(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let ines = harness.member(workspace, "ines@team.example", "Ines").await;
    let noa = harness.member(workspace, "noa@team.example", "Noa").await;
    let period = (harness.now(), harness.now().plus(Duration::HOUR));
    harness.next_second();
    let [answered, merged, other] = harness.requests(workspace, ["Answered", "Merged", "Other"]).await;
    let of_noa = CommentDraft::parse(Some("<p>Soon</p>"), Some("noa@team.example"), false);
    let post = PostComment { request: FeatureRequestRef::Id(answered.id), draft: of_noa.unwrap() };
    harness.perform(workspace, &post).await;
    harness.merge(workspace, merged.id, answered.id).await;
    for (request, text) in [(answered.id, "<p>1</p>"), (other.id, "<p>2</p>"), (merged.id, "<p>3</p>")] {
        let reply = customer_comment(FeatureRequestRef::Id(request), text, "ann@example.com", None);
        harness.perform(workspace, &reply).await;
        harness.next_second();
    }
    let counts = async |member: MemberId| {
        let found = digest(&harness, workspace, member, period).await;
        found.map(|found| (found.requests_count, found.replies_count))
    };
    for (wanted, of_ines, of_noa) in [
        (TeamMail::Daily, Some((3, 3)), Some((3, 3))),
        (TeamMail::Each, Some((3, 3)), Some((3, 3))),
        (TeamMail::Answered, Some((0, 0)), Some((0, 2))),
        (TeamMail::Nothing, None, None),
    ] {
        for member in [ines.id, noa.id] {
            want(&harness, workspace, member, wanted).await;
            let (email, stored) = harness.subject.reader.team_mail(workspace, member).await.unwrap().unwrap();
            assert_eq!((stored, email.as_str().ends_with("@team.example")), (wanted, true));
        }
        assert_eq!((counts(ines.id).await, counts(noa.id).await), (of_ines, of_noa), "{wanted:?}");
    }
    want(&harness, workspace, noa.id, TeamMail::Daily).await;
    harness.perform(workspace, &RemoveMember { member: MemberRef::Id(noa.id), revokes_keys: false }).await;
    assert_eq!(counts(noa.id).await, None);
    assert_eq!(harness.subject.reader.team_mail(workspace, noa.id).await.unwrap(), None);
    let gone = SaveTeamMail { member: noa.id, wanted: TeamMail::Each };
    assert_eq!(harness.failure(workspace, &gone).await, "Member does not exist.");
    let neighbour = harness.workspace("bolt").await;
    let foreign = SaveTeamMail { member: ines.id, wanted: TeamMail::Each };
    assert_eq!(harness.failure(neighbour, &foreign).await, "Member does not exist.");
}

/// The members of all workspaces who want mail are found, with the time until which they were told. What was written while
/// a member wanted none is never told.
pub async fn members_to_tell_are_found(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let zone = TimeZone::parse("time_zone", "Asia/Tokyo").unwrap();
    let change = PortalChange { time_zone: Some(zone), ..PortalChange::default() };
    harness.perform(bolt, &UpdatePortal { change }).await;
    let joined = harness.now();
    let ines = harness.member(acme, "ines@team.example", "Ines").await.id;
    let noa = harness.member(bolt, "noa@team.example", "Noa").await.id;
    let to_tell = async || {
        let mut members = harness.subject.queue.members_to_tell().await.unwrap();
        members.sort_by_key(|member| member.member != ines);
        members
    };
    let member =
        |workspace, zone, member, wanted, told_until| MemberToTell { workspace, zone, member, wanted, told_until };
    let daily = |told_until| {
        vec![
            member(acme, TimeZone::UTC, ines, TeamMail::Daily, told_until),
            member(bolt, zone, noa, TeamMail::Daily, joined),
        ]
    };
    assert_eq!(to_tell().await, daily(joined));
    harness.next_second();
    for wanted in [TeamMail::Each, TeamMail::Answered] {
        want(&harness, acme, ines, wanted).await;
        assert_eq!(to_tell().await[0], member(acme, TimeZone::UTC, ines, wanted, joined));
    }
    want(&harness, acme, ines, TeamMail::Nothing).await;
    assert_eq!(to_tell().await, daily(joined)[1..]);
    let again = harness.next_second();
    want(&harness, acme, ines, TeamMail::Daily).await;
    assert_eq!(to_tell().await, daily(again));
    let remove = RemoveMember { member: MemberRef::Id(noa), revokes_keys: false };
    let mia = harness.member(bolt, "mia@team.example", "Mia").await;
    let promote = ChangeRole { member: MemberRef::Id(mia.id), role: Role::Admin, revokes_keys: false };
    harness.perform(bolt, &promote).await;
    want(&harness, bolt, mia.id, TeamMail::Nothing).await;
    harness.perform(bolt, &remove).await;
    assert_eq!(to_tell().await, daily(again)[..1]);
    // Whoever comes back is not told what was written meanwhile.
    let back = harness.next_second();
    harness.perform(bolt, &add_member("noa@team.example", "Noa")).await;
    assert_eq!(to_tell().await[1], member(bolt, zone, noa, TeamMail::Daily, back));
}

/// Processes that look at the same time queue one mail to each member for each period. Together the mails leave nothing out
/// and repeat nothing.
pub async fn each_post_is_told_once(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let each = harness.member(workspace, "each@team.example", "Each").await.id;
    let daily = harness.member(workspace, "daily@team.example", "Daily").await.id;
    want(&harness, workspace, each, TeamMail::Each).await;
    harness.next_second();
    let mut told: Vec<(MemberId, String)> = Vec::new();
    for day in 0..4 {
        for post in ["a", "b", "c"] {
            harness.request(workspace, &format!("{day} {post}")).await;
            harness.next_second();
        }
        // Nothing is due on the third day.
        harness.after_days(u64::from(day != 2));
        // Too young to be told.
        harness.request(workspace, &format!("{day} d")).await;
        let mut processes = JoinSet::new();
        for _ in 0..4 {
            let (queue, reader) = (harness.subject.queue.clone(), harness.subject.mail.clone());
            let tell = TellTeam::new(harness.executor.clone(), queue, reader, harness.clock.clone());
            processes.spawn(async move { tell.run().await.unwrap() });
        }
        let queued: u64 = processes.join_all().await.into_iter().sum();
        assert_eq!(queued, if day == 2 { 0 } else { 2 }, "{day}");
        let until = harness.now().plus(Duration::MINUTE);
        let leased = harness.subject.queue.lease(workspace, Priority::Bulk, harness.now(), until, 100).await.unwrap();
        assert_eq!(leased.messages.len() as u64, queued, "{day}");
        for message in leased.messages {
            let content = MessageContent::parse(&message.kind, &message.payload).unwrap();
            let MessageContent::TeamDigest(id) = content else { panic!("{content:?}") };
            assert_eq!(message.lease.message, id.into());
            let address = if id.member == each { "each@team.example" } else { "daily@team.example" };
            assert!(matches!(&message.recipient, Recipient::Address(to) if to.as_str() == address));
            let found = harness.subject.mail.team_digest(workspace, &id, 20, 0).await.unwrap().unwrap();
            told.extend(found.requests.iter().map(|post| (id.member, post.request.title.as_str().to_owned())));
            let sent = MessageOutcome::Sent { response: String::new() };
            assert!(harness.subject.queue.settle(workspace, &message.lease, &sent, harness.now()).await.unwrap());
        }
        harness.next_second();
    }
    let all = (0..4).flat_map(|day| ["a", "b", "c", "d"].map(|post| format!("{day} {post}")));
    let expected: Vec<String> = all.take(15).collect();
    for member in [each, daily] {
        let titles = told.iter().filter(|(to, _)| *to == member).map(|(_, title)| title);
        assert_eq!(titles.collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
    }
}

/// Mails to members count towards the mails of a day. Without room, a member is told later, and nothing is lost.
pub async fn without_room_a_member_is_told_later(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    for email in ["a@team.example", "b@team.example"] {
        harness.member(workspace, email, "Ines").await;
    }
    harness.next_second();
    harness.request(workspace, "Dark mode").await;
    harness.after_days(1);
    let run = async |limit: u64| {
        let (queue, reader) = (harness.subject.queue.clone(), harness.subject.mail.clone());
        let tell = TellTeam::new(harness.with_mail_budget(limit), queue, reader, harness.clock.clone());
        tell.run().await.unwrap()
    };
    assert_eq!((run(1).await, run(1).await, run(2).await, run(2).await), (1, 0, 1, 0));
}

crate::contract::cases!($ team_mail {
    a_mail_is_about_its_period,
    a_member_chooses_the_mail,
    members_to_tell_are_found,
    each_post_is_told_once,
    without_room_a_member_is_told_later,
});
