//! Records that operators manage: workspaces, members, lanes, tracks, settings and keys.

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::api_key::{ApiKey, Credential, KeyText, Scopes};
use roadmap_domain::model::audit::{Actor, Audit, Channel, Origin};
use roadmap_domain::model::id::{MemberId, WorkspaceId};
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::{Setting, SettingChange};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::ports::{Clock, UnitOfWork};
use roadmap_domain::usecase::change_board::{AddLane, AddTrack, LaneDraft, LaneRef, TrackDraft};
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::issue_api_key::IssueApiKey;
use roadmap_domain::usecase::replace_synonyms::ReplaceSynonyms;
use roadmap_domain::usecase::revoke_api_key::RevokeApiKey;
use roadmap_domain::usecase::rotate_api_key::RotateApiKey;
use roadmap_domain::usecase::update_setting::UpdateSetting;
use time::Duration;

use crate::harness::{Harness, add_member, name};

fn key(letter: char) -> KeyText {
    KeyText::from_random(&String::from(letter).repeat(43)).unwrap()
}

fn subdomain(label: &str) -> Subdomain {
    Subdomain::from_label(label).unwrap()
}

async fn issue(harness: &Harness, workspace: WorkspaceId, letter: char, expires_in: Option<Duration>) {
    let scopes = Scopes { read: true, write: letter == 'w', manage: letter == 'm' };
    let issue = IssueApiKey { key: key(letter), name: name("ci"), scopes, expires_in };
    harness.executor.run_without_key(workspace, &issue).await.expect("a key");
}

async fn credential(harness: &Harness, label: &str, letter: char) -> Option<Credential> {
    harness.subject.directory.credential(&subdomain(label), &key(letter).digest()).await.expect("the directory")
}

/// Decision 3: the lanes and tracks of a new workspace, in their order.
pub async fn a_workspace_starts_with_its_lanes_and_tracks(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let tracks = harness.subject.reader.tracks(workspace).await.unwrap();
    let tracks: Vec<(&str, Option<&str>)> =
        tracks.iter().map(|track| (track.name.as_str(), track.status().map(Name::as_str))).collect();
    let same = |name| (name, Some(name));
    assert_eq!(
        tracks,
        [
            ("Inbox", None),
            same("Under consideration"),
            same("Planned"),
            same("In progress"),
            same("Done"),
            ("Declined", None)
        ]
    );
    let lanes = harness.subject.reader.lanes(workspace).await.unwrap();
    let lanes: Vec<(&str, u64, i64)> =
        lanes.iter().map(|lane| (lane.lane.name.as_str(), lane.position, lane.feature_requests_count)).collect();
    assert_eq!(lanes, [("Under consideration", 1, 0), ("Planned", 2, 0), ("In progress", 3, 0), ("Done", 4, 0)]);
    let setting = harness.subject.reader.setting(workspace).await.unwrap();
    assert_eq!(setting, Some(Setting::parse("Acme", "https://acme.example").unwrap()));
    let known = harness.subject.directory.workspace(&subdomain("acme")).await.unwrap().expect("the workspace");
    assert_eq!(known.id, workspace);
    assert_eq!(harness.subject.directory.workspaces().await.unwrap(), [known]);
}

/// The first workspaces are those of the list of all, which is in the order of the subdomains.
pub async fn the_first_workspaces_are_listed_alone(harness: Harness) {
    let directory = &harness.subject.directory;
    assert_eq!(directory.first_workspaces(2).await.unwrap(), []);
    for label in ["bolt", "acme", "cog"] {
        harness.workspace(label).await;
    }
    let all = directory.workspaces().await.unwrap();
    let labels: Vec<&str> = all.iter().map(|workspace| workspace.subdomain.as_str()).collect();
    assert_eq!(labels, ["acme", "bolt", "cog"]);
    for (limit, count) in [(0, 0), (1, 1), (2, 2), (3, 3), (u32::MAX, 3)] {
        assert_eq!(directory.first_workspaces(limit).await.unwrap(), all[..count], "{limit}");
    }
}

/// A taken name is an error that names it, and changes nothing. Other workspaces may use the name.
///
/// Beyond the contract: names are unique in their workspace; the error for an unknown workspace shows how to list the
/// existing ones.
pub async fn names_are_unique_in_their_scope(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let taken = harness.try_workspace("acme").await.unwrap_err();
    assert_eq!(taken.to_string(), "subdomain `acme` is already taken");
    let other = harness.workspace("bolt").await;

    let lane =
        AddLane { draft: LaneDraft { name: name("Later"), kind: None, names: Localized::default(), position: None } };
    let in_lane = Some(LaneRef::Name(name("later")));
    let track = AddTrack { draft: TrackDraft { name: name("Ideas"), lane: in_lane, position: None } };
    for workspace in [workspace, other] {
        harness.perform(workspace, &lane).await;
        harness.perform(workspace, &track).await;
        harness.perform(workspace, &add_member("ann@example.com", "Ann")).await;
    }
    assert_eq!(harness.failure(workspace, &lane).await, "lane `Later` is already taken");
    assert_eq!(harness.failure(workspace, &track).await, "track `Ideas` is already taken");
    let taken = harness.failure(workspace, &add_member("ANN@example.com", "Ann")).await;
    assert_eq!(taken, "e-mail address `ANN@example.com` is already taken");
    let tracks = harness.subject.reader.tracks(workspace).await.unwrap();
    let last = tracks.last().expect("tracks");
    assert_eq!((last.name.as_str(), last.status().map(Name::as_str)), ("Ideas", Some("Later")));
    let members = harness.subject.reader.members(workspace).await.unwrap();
    assert_eq!(members.len(), 1);
}

/// A change without a field leaves that field unchanged.
///
/// Contract 2.1: each workspace has one setting.
/// Contract 4.3.
pub async fn settings_are_replaced(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let other = harness.workspace("bolt").await;
    let change = SettingChange::parse(Some(Some("Acme 2")), None);
    harness.executor.run_without_key(workspace, &UpdateSetting { change: change.unwrap() }).await.unwrap();
    let setting = |workspace| harness.subject.reader.setting(workspace);
    assert_eq!(setting(workspace).await.unwrap(), Some(Setting::parse("Acme 2", "https://acme.example").unwrap()));
    assert_eq!(setting(other).await.unwrap(), Some(Setting::parse("Acme", "https://acme.example").unwrap()));
    let unknown = WorkspaceId::new(uuid::Uuid::from_u128(1));
    assert_eq!(setting(unknown).await.unwrap(), None);
}

/// All groups are replaced, and a search of this workspace alone finds their phrases.
///
/// Decision 4.
pub async fn synonyms_are_replaced(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let other = harness.workspace("bolt").await;
    for workspace in [workspace, other] {
        harness.request(workspace, "Quokka zoo").await;
    }
    let groups = |groups: &[&[&str]]| -> Vec<Vec<String>> {
        groups.iter().map(|group| group.iter().map(|phrase| (*phrase).to_owned()).collect()).collect()
    };
    let unknown = WorkspaceId::new(uuid::Uuid::from_u128(1));
    assert!(harness.subject.reader.synonyms(unknown).await.unwrap().is_empty());
    for (replaced, expected) in [
        (groups(&[&["wombat", "numbat"]]), vec![]),
        (groups(&[&["pen", "pencil"], &["numbat", "zoo of quokkas", "2FA"]]), vec!["Quokka zoo"]),
        (groups(&[]), vec![]),
    ] {
        let replace = ReplaceSynonyms { synonyms: Synonyms::parse(&replaced).unwrap() };
        assert_eq!(harness.executor.run_without_key(workspace, &replace).await.unwrap().groups(), replaced);
        assert_eq!(harness.subject.reader.synonyms(workspace).await.unwrap().groups(), replaced);
        assert!(harness.subject.reader.synonyms(other).await.unwrap().is_empty());
        assert_eq!(harness.search(workspace, "numbat").await, expected);
        assert_eq!(harness.search(other, "numbat").await, Vec::<String>::new());
    }
    // The largest list is saved whole.
    let phrase = |number: usize, position: usize| format!("{number}w{position} {}", "x".repeat(40));
    let group = |number| (0..8).map(|position| phrase(number, position)).collect();
    let replaced: Vec<Vec<String>> = (0..Synonyms::MAX_GROUPS).map(group).collect();
    let replace = ReplaceSynonyms { synonyms: Synonyms::parse(&replaced).unwrap() };
    harness.executor.run_without_key(workspace, &replace).await.unwrap();
    assert_eq!(harness.subject.reader.synonyms(workspace).await.unwrap().groups(), replaced);
}

/// A key is found by its digest in its own workspace only, with all its fields.
///
/// Contract 5.
pub async fn a_key_is_valid_in_its_own_workspace_only(harness: Harness) {
    let acme = harness.workspace("acme").await;
    harness.workspace("bolt").await;
    issue(&harness, acme, 'a', Some(Duration::days(90))).await;
    let stored = credential(&harness, "acme", 'a').await.expect("the key");
    assert_eq!(stored.workspace.id, acme);
    assert_eq!(stored.workspace.subdomain, subdomain("acme"));
    assert_eq!(stored.key.last_four, key('a').last_four());
    assert_eq!(stored.key.scopes, Scopes { read: true, write: false, manage: false });
    issue(&harness, acme, 'm', None).await;
    let manager = credential(&harness, "acme", 'm').await.expect("the key");
    assert_eq!(manager.key.scopes, Scopes { read: true, write: false, manage: true });
    assert_eq!(stored.key.created_at, harness.clock.now());
    assert_eq!(stored.key.expires_at, Some(harness.clock.now().plus(Duration::days(90))));
    assert_eq!((stored.key.revoked_at, stored.key.last_used_at), (None, None));
    assert_eq!(credential(&harness, "bolt", 'a').await, None);
    assert_eq!(credential(&harness, "acme", 'b').await, None);
    assert_eq!(credential(&harness, "unknown", 'a').await, None);
}

/// All keys of the workspace are listed, including expired and revoked ones, and none of another workspace.
pub async fn digests_are_listed_by_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    for (workspace, letter) in [(acme, 'a'), (acme, 'b'), (bolt, 'c')] {
        issue(&harness, workspace, letter, None).await;
    }
    let revoked = credential(&harness, "acme", 'b').await.unwrap().key.id;
    harness.executor.run_without_key(acme, &RevokeApiKey { id: revoked }).await.unwrap();
    let listed = async |workspace| {
        let digests = harness.subject.directory.key_digests(workspace).await.unwrap();
        let mut digests: Vec<[u8; 32]> = digests.into_iter().map(|digest| digest.0).collect();
        digests.sort_unstable();
        digests
    };
    let mut expected = ['a', 'b'].map(|letter| key(letter).digest().0);
    expected.sort_unstable();
    assert_eq!(listed(acme).await, expected);
    assert_eq!(listed(bolt).await, [key('c').digest().0]);
    assert_eq!(listed(WorkspaceId::new(uuid::Uuid::from_u128(1))).await, [[0; 32]; 0]);
}

/// The timestamp of the last use is written at most once a minute.
///
/// Decision 1.
pub async fn a_key_s_use_is_recorded_once_a_minute(harness: Harness) {
    let acme = harness.workspace("acme").await;
    issue(&harness, acme, 'a', None).await;
    let stored = credential(&harness, "acme", 'a').await.unwrap();
    let directory = &harness.subject.directory;
    let first = harness.clock.now();
    directory.record_use(&stored, first).await.unwrap();
    directory.record_use(&stored, first.plus(Duration::milliseconds(59_999))).await.unwrap();
    assert_eq!(credential(&harness, "acme", 'a').await.unwrap().key.last_used_at, Some(first));
    let later = first.plus(Duration::MINUTE);
    directory.record_use(&stored, later).await.unwrap();
    assert_eq!(credential(&harness, "acme", 'a').await.unwrap().key.last_used_at, Some(later));
}

/// The valid keys that a member made are revoked together, and no others.
pub async fn keys_of_a_member_are_revoked(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let (mia, noa) =
        (harness.member(acme, "mia@team.example", "Mia").await, harness.member(acme, "noa@team.example", "Noa").await);
    let make = async |maker: Option<MemberId>, letter: char, expires_in: Option<Duration>| {
        let actor = maker.map_or_else(|| Actor::operator("root"), |member| Actor::member(member, &name("Mia")));
        let executor = harness.executor.acting_as(Origin { actor, channel: Channel::Page, request_id: None });
        let issue = IssueApiKey { key: key(letter), name: name("ci"), scopes: Scopes::ALL, expires_in };
        executor.run_without_key(acme, &issue).await.unwrap().id
    };
    make(None, 'a', None).await;
    let first = make(Some(mia.id), 'b', None).await;
    make(Some(noa.id), 'c', None).await;
    make(Some(mia.id), 'd', Some(Duration::SECOND)).await;
    let revoked_before = make(Some(mia.id), 'e', None).await;
    harness.perform(acme, &RevokeApiKey { id: revoked_before }).await;
    harness.next_second();
    let second = make(Some(mia.id), 'f', None).await;
    let listed = harness.subject.directory.api_keys(acme).await.unwrap();
    let makers: Vec<_> = listed.iter().map(|key| key.made_by).collect();
    assert_eq!(makers.iter().filter(|maker| **maker == Some(mia.id)).count(), 4);
    assert_eq!(makers.iter().filter(|maker| maker.is_none()).count(), 1);
    assert_eq!(harness.perform(bolt, &RevokeOf(mia.id)).await, []);
    let revoked = harness.perform(acme, &RevokeOf(mia.id)).await;
    assert_eq!(revoked.iter().map(|key| key.id).collect::<Vec<_>>(), [first, second]);
    assert!(revoked.iter().all(|key| key.revoked_at == Some(harness.now())));
    assert_eq!(harness.perform(acme, &RevokeOf(mia.id)).await, []);
    for (letter, is_valid) in [('a', true), ('b', false), ('c', true), ('f', false)] {
        let key = credential(&harness, "acme", letter).await.unwrap().key;
        assert_eq!(key.is_valid_at(harness.now()), is_valid, "{letter}");
    }
}

/// Revokes the keys of a member.
struct RevokeOf(MemberId);

#[async_trait]
impl Operation for RevokeOf {
    type Output = Vec<ApiKey>;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<ApiKey>>, RoadmapError> {
        Ok(Performed::new(work.revoke_keys_of(self.0, context.now).await?, Audit::Unchanged))
    }
}

/// Revoking disables a key at once, rotating after the overlap.
///
/// Decision 1.
pub async fn revoked_and_rotated_keys_get_their_timestamps(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let bolt = harness.workspace("bolt").await;
    issue(&harness, acme, 'a', None).await;
    let id = credential(&harness, "acme", 'a').await.unwrap().key.id;
    assert!(harness.executor.run_without_key(bolt, &RevokeApiKey { id }).await.is_err());
    let rotate = RotateApiKey { id, replacement: key('w'), overlap: Duration::hours(24) };
    harness.executor.run_without_key(acme, &rotate).await.unwrap();
    let now = harness.clock.now();
    let old = credential(&harness, "acme", 'a').await.unwrap().key;
    assert_eq!((old.expires_at, old.revoked_at), (Some(now.plus(Duration::hours(24))), None));
    let new = credential(&harness, "acme", 'w').await.unwrap().key;
    assert_eq!((new.scopes, new.expires_at), (old.scopes, None));
    harness.executor.run_without_key(acme, &RevokeApiKey { id: new.id }).await.unwrap();
    assert_eq!(credential(&harness, "acme", 'w').await.unwrap().key.revoked_at, Some(now));
    let keys = harness.subject.directory.api_keys(acme).await.unwrap();
    assert_eq!(keys.iter().map(|key| key.id).collect::<Vec<_>>(), [id, new.id]);
}

/// A rotation that waits for a revocation finds a key that no longer works. A revocation that waits for a rotation takes
/// effect at once.
pub async fn a_key_is_not_rotated_while_it_is_revoked(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let rotate = |id, letter| RotateApiKey { id, replacement: key(letter), overlap: Duration::hours(24) };
    for letter in ['a', 'b'] {
        issue(&harness, acme, letter, None).await;
        let id = credential(&harness, "acme", letter).await.unwrap().key.id;
        if letter == 'a' {
            let (revoked, rotated) = harness.overlap(acme, RevokeApiKey { id }, &rotate(id, 'v')).await;
            let message = "The API key no longer works; create a new one instead";
            assert_eq!((revoked.is_ok(), rotated.unwrap_err().to_string()), (true, message.to_owned()));
        } else {
            let (rotated, revoked) = harness.overlap(acme, rotate(id, 'w'), &RevokeApiKey { id }).await;
            assert!(rotated.is_ok() && revoked.is_ok());
        }
        let stored = credential(&harness, "acme", letter).await.unwrap().key;
        assert_eq!(stored.revoked_at, Some(harness.clock.now()));
    }
    assert_eq!(credential(&harness, "acme", 'v').await, None);
}

crate::contract::cases!($ provisioning {
    a_workspace_starts_with_its_lanes_and_tracks,
    the_first_workspaces_are_listed_alone,
    names_are_unique_in_their_scope,
    settings_are_replaced,
    synonyms_are_replaced,
    a_key_is_valid_in_its_own_workspace_only,
    digests_are_listed_by_workspace,
    a_key_s_use_is_recorded_once_a_minute,
    keys_of_a_member_are_revoked,
    revoked_and_rotated_keys_get_their_timestamps,
    a_key_is_not_rotated_while_it_is_revoked,
});
