//! Team members: their roles, their removal and their return.

use roadmap_domain::model::comment::{CommentDraft, PublicAuthor};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{MemberId, WorkspaceId};
use roadmap_domain::model::member::{Member, MemberRef, Role};
use roadmap_domain::model::saved_view::SavedView;
use roadmap_domain::usecase::change_members::{AddMember, ChangeRole, RemoveMember, RoleChanged};
use roadmap_domain::usecase::post_comment::PostComment;
use roadmap_domain::usecase::save_view::{RemoveView, SaveView};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::harness::{Failing, Harness, add_member, name, vote};

const LAST_ADMIN: &str = "The last admin cannot be removed or demoted. Make another member an admin first.";

async fn members(harness: &Harness, workspace: WorkspaceId) -> Vec<Member> {
    harness.subject.reader.members(workspace).await.unwrap()
}

fn change_role(member: MemberId, role: Role) -> ChangeRole {
    ChangeRole { member: MemberRef::Id(member), role, revokes_keys: false }
}

fn remove(member: MemberId) -> RemoveMember {
    RemoveMember { member: MemberRef::Id(member), revokes_keys: false }
}

/// The first member is an admin, later ones are members unless told otherwise. Members are listed oldest first, found
/// by ID and by address, and never by another workspace.
///
/// Addition 4.
pub async fn members_have_roles(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let member = |id, email: &str, text: &str, role, created_at| Member {
        id,
        email: EmailAddress::parse("email", email).unwrap(),
        name: name(text),
        role,
        created_at,
    };
    let mut expected = Vec::new();
    for (email, text, role, stored) in [
        ("Mia@team.example", "Mia", None, Role::Admin),
        ("noa@team.example", "Noa", None, Role::Member),
        ("ida@team.example", "Ida", Some(Role::Admin), Role::Admin),
    ] {
        let added = harness.perform(workspace, &AddMember { role, ..add_member(email, text) }).await;
        assert_eq!(added, member(added.id, email, text, stored, harness.now()));
        expected.push(added);
        harness.next_second();
    }
    assert_eq!(members(&harness, workspace).await, expected);
    assert_eq!(members(&harness, other).await, []);
    let by_address = MemberRef::parse("member", "NOA@team.example").unwrap();
    let changed =
        harness.perform(workspace, &ChangeRole { member: by_address, role: Role::Admin, revokes_keys: false }).await;
    expected[1].role = Role::Admin;
    assert_eq!(changed, RoleChanged { member: expected[1].clone(), old: Role::Member, revoked: Vec::new() });
    assert_eq!(members(&harness, workspace).await, expected);
    for unknown in
        [MemberRef::Id(MemberId::new(Uuid::from_u128(1))), MemberRef::parse("member", "x@y.example").unwrap()]
    {
        let operation = ChangeRole { member: unknown.clone(), role: Role::Member, revokes_keys: false };
        assert_eq!(harness.failure(workspace, &operation).await, "Member does not exist.");
        assert_eq!(
            harness.failure(workspace, &RemoveMember { member: unknown, revokes_keys: false }).await,
            "Member does not exist."
        );
    }
    let foreign = expected[0].id;
    assert_eq!(harness.failure(other, &change_role(foreign, Role::Member)).await, "Member does not exist.");
    assert_eq!(harness.failure(other, &remove(foreign)).await, "Member does not exist.");
    harness.failure(workspace, &Failing(remove(foreign))).await;
    assert_eq!(members(&harness, workspace).await, expected);
}

/// A workspace with members keeps an admin, also with concurrent changes.
///
/// Addition 4.
pub async fn the_last_admin_stays(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let mia = harness.member(workspace, "mia@team.example", "Mia").await.id;
    let noa = harness.member(workspace, "noa@team.example", "Noa").await.id;
    assert_eq!(harness.failure(workspace, &change_role(mia, Role::Member)).await, LAST_ADMIN);
    assert_eq!(harness.failure(workspace, &remove(mia)).await, LAST_ADMIN);
    for _ in 0..5 {
        for member in [mia, noa] {
            harness.perform(workspace, &change_role(member, Role::Admin)).await;
        }
        let mut changes = JoinSet::new();
        for member in [mia, noa] {
            let executor = harness.executor.clone();
            changes.spawn(async move {
                let change = change_role(member, Role::Member);
                executor.run_without_key(workspace, &change).await.map(|_| ()).map_err(|error| error.to_string())
            });
        }
        let mut outcomes = changes.join_all().await;
        outcomes.sort();
        assert_eq!(outcomes, [Ok(()), Err(LAST_ADMIN.to_owned())]);
    }
}

/// A removed member is in no list and is nobody's default author. Its name stays on its comments and notes. Added again,
/// it has its former ID, and the new name and role.
///
/// Addition 4: a removed member stays as the author of old comments and notes.
pub async fn a_removed_member_leaves_its_name(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let reference = FeatureRequestRef::Id(request.id);
    let mia = harness.member(workspace, "mia@team.example", "Mia").await;
    harness.next_second();
    let noa = AddMember { role: Some(Role::Admin), ..add_member("noa@team.example", "Noa") };
    let noa = harness.perform(workspace, &noa).await;
    let post = async |author: Option<&str>| {
        let draft = CommentDraft::parse(Some("<p>Soon</p>"), author, false);
        harness.perform(workspace, &PostComment { request: reference, draft: draft.unwrap() }).await;
        harness.perform(workspace, &vote(reference, None, Some("note"))).await;
        harness.next_second();
    };
    let comments = async || {
        let comments = harness.comments(workspace, request.id).await;
        comments.into_iter().map(|listed| listed.author).collect::<Vec<_>>()
    };
    let notes = async || {
        let notes = harness.notes(workspace, request.id).await;
        notes.into_iter().rev().map(|note| note.author.unwrap().0.to_string()).collect::<Vec<_>>()
    };
    let by = |names: &[&str]| names.iter().map(|text| PublicAuthor::Member(Some(name(text)))).collect::<Vec<_>>();
    post(None).await;
    let removed = harness.perform(workspace, &remove(mia.id)).await.member;
    assert_eq!(removed, mia);
    assert_eq!(members(&harness, workspace).await, std::slice::from_ref(&noa));
    for author in [None, Some("mia@team.example")] {
        post(author).await;
    }
    assert_eq!(comments().await, by(&["Mia", "Noa", "Noa"]));
    assert_eq!(notes().await, ["Mia", "Noa", "Noa"]);
    for operation in [
        change_role(mia.id, Role::Admin),
        ChangeRole { member: MemberRef::Address(mia.email.folded().clone()), role: Role::Admin, revokes_keys: false },
    ] {
        assert_eq!(harness.failure(workspace, &operation).await, "Member does not exist.");
    }
    assert_eq!(harness.failure(workspace, &remove(mia.id)).await, "Member does not exist.");

    let again = harness.perform(workspace, &add_member("MIA@team.example", "Mia Muster")).await;
    assert_eq!((again.id, &again.name, again.role), (mia.id, &name("Mia Muster"), Role::Member));
    let taken = harness.failure(workspace, &add_member("mia@team.example", "Mia")).await;
    assert_eq!(taken, "e-mail address `mia@team.example` is already taken");
    let listed = members(&harness, workspace).await;
    assert_eq!(listed.iter().find(|member| member.id == mia.id), Some(&again));
    assert_eq!(listed.len(), 2);
    post(Some("mia@team.example")).await;
    assert_eq!(comments().await, by(&["Mia Muster", "Noa", "Noa", "Mia Muster"]));
    // Without any member, comments have no author again.
    harness.perform(workspace, &change_role(mia.id, Role::Admin)).await;
    harness.perform(workspace, &remove(noa.id)).await;
    assert_eq!(harness.failure(workspace, &remove(mia.id)).await, LAST_ADMIN);
    assert_eq!(comments().await, by(&["Mia Muster", "Noa", "Noa", "Mia Muster"]));
}

/// Views belong to one member of one workspace. A removed member has none to change.
pub async fn a_member_has_saved_views(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let omar = harness.member(acme, "omar@team.example", "Omar").await;
    let ines = harness.member(acme, "ines@team.example", "Ines").await;
    let view = |name: &str| SavedView::parse(name, "state=all&tag=%C3%BC").unwrap();
    let save = |name: &str| SaveView { member: ines.id, view: view(name) };
    harness.perform(acme, &save("\"Ünes\"")).await;
    harness.failure(acme, &Failing(save("Lost"))).await;
    harness.perform(acme, &save("Second")).await;
    let names = async |workspace, member| {
        let saved = harness.subject.reader.saved_views(workspace, member).await.unwrap();
        saved.views().iter().map(|view| view.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(acme, ines.id).await, ["\"Ünes\"", "Second"]);
    assert_eq!(harness.subject.reader.saved_views(acme, ines.id).await.unwrap().views()[0], view("\"Ünes\""));
    assert!(names(acme, omar.id).await.is_empty() && names(bolt, ines.id).await.is_empty());
    assert_eq!(harness.failure(bolt, &save("Foreign")).await, "Member does not exist.");
    harness.perform(acme, &RemoveView { member: ines.id, name: "Second".to_owned() }).await;
    // Two at once lose nothing.
    let (one, other) = (save("One"), save("Other"));
    let both =
        tokio::join!(harness.executor.run_without_key(acme, &one), harness.executor.run_without_key(acme, &other));
    both.0.unwrap();
    both.1.unwrap();
    assert_eq!(names(acme, ines.id).await.len(), 3);
    harness.perform(acme, &remove(ines.id)).await;
    assert_eq!(harness.failure(acme, &save("Late")).await, "Member does not exist.");
}

crate::contract::cases!($ members {
    members_have_roles,
    the_last_admin_stays,
    a_removed_member_leaves_its_name,
    a_member_has_saved_views,
});
