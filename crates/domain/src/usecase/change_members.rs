//! Adds, changes and removes team members.

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::api_key::ApiKey;
use crate::model::audit::{Audit, Change};
use crate::model::email_address::EmailAddress;
use crate::model::id::MemberId;
use crate::model::member::{Member, MemberRef, Role};
use crate::model::text::Name;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::revoke_api_key::revocation;

/// Adds a member. A removed one with the same address is restored.
#[derive(Debug, Clone)]
pub struct AddMember {
    /// E-mail address.
    pub email: EmailAddress,
    /// Display name.
    pub name: Name,
    /// Role. By default the first member of a workspace is an admin, and later ones are members.
    pub role: Option<Role>,
}

/// Changes the role of a member, whose sessions end.
#[derive(Debug, Clone)]
pub struct ChangeRole {
    pub member: MemberRef,
    /// The new role.
    pub role: Role,
    /// Whether a member who is no admin any more loses the API keys that it made.
    pub revokes_keys: bool,
}

/// A member whose role was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleChanged {
    /// The member with the new role.
    pub member: Member,
    /// The role before.
    pub old: Role,
    pub revoked: Vec<ApiKey>,
}

/// Removes a member. Its comments and notes stay, with its name. Its sessions end.
#[derive(Debug, Clone)]
pub struct RemoveMember {
    pub member: MemberRef,
    /// Whether the API keys that the member made are revoked.
    pub revokes_keys: bool,
}

/// A removed member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRemoved {
    pub member: Member,
    pub revoked: Vec<ApiKey>,
}

fn find<'a>(members: &'a [Member], reference: &MemberRef) -> Result<&'a Member, RoadmapError> {
    let member = members.iter().find(|member| match reference {
        MemberRef::Id(id) => member.id == *id,
        MemberRef::Address(address) => member.email.folded() == address,
    });
    member.ok_or(RoadmapError::NotFound(Resource::Member))
}

/// Checks that an admin is left when this member is none any more.
fn ensure_other_admin(members: &[Member], leaving: MemberId) -> Result<(), RoadmapError> {
    let is_admin = |member: &Member| member.role == Role::Admin;
    let is_leaving_admin = members.iter().any(|member| member.id == leaving && is_admin(member));
    let has_other = members.iter().any(|member| member.id != leaving && is_admin(member));
    if is_leaving_admin && !has_other { Err(RoadmapError::Conflict(Conflict::LastAdmin)) } else { Ok(()) }
}

#[async_trait]
impl Operation for AddMember {
    type Output = Member;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Member>, RoadmapError> {
        let is_first = work.load_members().await?.is_empty();
        let default = if is_first { Role::Admin } else { Role::Member };
        let member = Member {
            id: context.new_id(MemberId::new),
            email: self.email.clone(),
            name: self.name.clone(),
            role: self.role.unwrap_or(default),
            created_at: context.now,
        };
        let taken = || RoadmapError::Taken { what: format!("e-mail address `{}`", self.email.as_str()) };
        let member = work.insert_member(&member).await?.ok_or_else(taken)?;
        let changes = vec![
            Change::new("name", Value::Null, member.name.as_str()),
            Change::new("role", Value::Null, member.role.name()),
        ];
        let audit = Audit::with_changes("member.add", "member", Some(member.id.uuid()), changes);
        Ok(Performed::new(member, audit))
    }
}

#[async_trait]
impl Operation for ChangeRole {
    type Output = RoleChanged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<RoleChanged>, RoadmapError> {
        let members = work.load_members().await?;
        let member = find(&members, &self.member)?;
        if self.role != Role::Admin {
            ensure_other_admin(&members, member.id)?;
        }
        if self.role == member.role {
            let unchanged = RoleChanged { member: member.clone(), old: member.role, revoked: Vec::new() };
            return Ok(Performed::new(unchanged, Audit::Unchanged));
        }
        work.set_role(member.id, self.role).await?;
        work.end_sessions(member.email.folded()).await?;
        let loses_keys = self.revokes_keys && member.role == Role::Admin && self.role != Role::Admin;
        let revoked = if loses_keys { work.revoke_keys_of(member.id, context.now).await? } else { Vec::new() };
        let changes = vec![Change::new("role", member.role.name(), self.role.name())];
        let mut audit = Audit::with_changes("member.role", "member", Some(member.id.uuid()), changes);
        revoked.iter().for_each(|key| audit.join(revocation(key)));
        let changed = RoleChanged { member: Member { role: self.role, ..member.clone() }, old: member.role, revoked };
        Ok(Performed::new(changed, audit))
    }
}

#[async_trait]
impl Operation for RemoveMember {
    type Output = MemberRemoved;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<MemberRemoved>, RoadmapError> {
        let members = work.load_members().await?;
        let member = find(&members, &self.member)?.clone();
        ensure_other_admin(&members, member.id)?;
        work.remove_member(member.id, context.now).await?;
        work.end_sessions(member.email.folded()).await?;
        let revoked = if self.revokes_keys { work.revoke_keys_of(member.id, context.now).await? } else { Vec::new() };
        let changes = vec![Change::new("name", member.name.as_str(), Value::Null)];
        let mut audit = Audit::with_changes("member.remove", "member", Some(member.id.uuid()), changes);
        revoked.iter().for_each(|key| audit.join(revocation(key)));
        Ok(Performed::new(MemberRemoved { member, revoked }, audit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api_key::Scopes;
    use crate::model::id::ApiKeyId;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{name, now, perform};
    use uuid::Uuid;

    fn member(number: u128, role: Role) -> Member {
        let email = EmailAddress::parse("email", &format!("m{number}@acme.example")).unwrap();
        Member { id: MemberId::new(Uuid::from_u128(number)), email, name: name("Olga"), role, created_at: now() }
    }

    fn unit(members: &'static [(u128, Role)]) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_end_sessions().returning(|_| Ok(1));
        unit.expect_load_members()
            .returning(|| Ok(members.iter().map(|(number, role)| member(*number, *role)).collect()));
        unit
    }

    fn run<O: Operation>(operation: &O, unit: &mut MockUnit) -> Result<O::Output, String> {
        perform(operation, unit).map(|performed| performed.output).map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_member_is_an_admin_unless_told_otherwise() {
        const OTHERS: &[(u128, Role)] = &[(1, Role::Admin)];
        for (others, role, expected) in [
            (&[][..], None, Role::Admin),
            (OTHERS, None, Role::Member),
            (&[], Some(Role::Member), Role::Member),
            (OTHERS, Some(Role::Admin), Role::Admin),
        ] {
            let mut unit = unit(others);
            unit.expect_insert_member().times(1).returning(|member| Ok(Some(member.clone())));
            let email = EmailAddress::parse("email", "new@acme.example").unwrap();
            assert_eq!(run(&AddMember { email, name: name("New"), role }, &mut unit).unwrap().role, expected);
        }
    }

    /// Addition 4.
    #[test]
    fn the_last_admin_stays() {
        const LAST: &[(u128, Role)] = &[(1, Role::Admin), (2, Role::Member)];
        const TWO: &[(u128, Role)] = &[(1, Role::Admin), (2, Role::Admin)];
        let message = "The last admin cannot be removed or demoted. Make another member an admin first.";
        let admin = || MemberRef::parse("member", "M1@acme.example").unwrap();
        let remove = RemoveMember { member: admin(), revokes_keys: false };
        let demote = ChangeRole { member: admin(), role: Role::Member, revokes_keys: false };
        assert_eq!(run(&remove, &mut unit(LAST)).unwrap_err(), message);
        assert_eq!(run(&demote, &mut unit(LAST)).unwrap_err(), message);
        let mut two = unit(TWO);
        two.expect_remove_member().times(1).returning(|_, _| Ok(()));
        two.expect_set_role().withf(|_, role| *role == Role::Member).times(1).returning(|_, _| Ok(()));
        run(&remove, &mut two).unwrap();
        run(&demote, &mut two).unwrap();
        let mut last = unit(LAST);
        last.expect_remove_member().times(1).returning(|_, _| Ok(()));
        run(&RemoveMember { member: MemberRef::Id(member(2, Role::Member).id), revokes_keys: false }, &mut last)
            .unwrap();
    }

    fn key(number: u128) -> ApiKey {
        ApiKey {
            id: ApiKeyId::new(Uuid::from_u128(number)),
            name: name("ci"),
            last_four: "abcd".to_owned(),
            scopes: Scopes::ALL,
            created_at: now(),
            expires_at: None,
            revoked_at: Some(now()),
            last_used_at: None,
            made_by: Some(MemberId::new(Uuid::from_u128(1))),
        }
    }

    fn actions(audit: Audit) -> Vec<String> {
        let entries = audit.into_entries();
        entries.iter().map(|entry| entry.action.to_owned()).collect()
    }

    #[test]
    fn keys_go_with_their_maker_if_that_is_wanted() {
        const TWO: &[(u128, Role)] = &[(1, Role::Admin), (2, Role::Admin)];
        for revokes_keys in [true, false] {
            let mut unit = unit(TWO);
            unit.expect_remove_member().returning(|_, _| Ok(()));
            unit.expect_set_role().returning(|_, _| Ok(()));
            let first = member(1, Role::Admin).id;
            unit.expect_revoke_keys_of()
                .withf(move |of, at| *of == first && *at == now())
                .times(if revokes_keys { 2 } else { 0 })
                .returning(|_, _| Ok(vec![key(7), key(8)]));
            let remove = RemoveMember { member: MemberRef::Id(first), revokes_keys };
            let removed = perform(&remove, &mut unit).unwrap();
            let keys = if revokes_keys { 2 } else { 0 };
            let revoked = vec!["api_key.revoke".to_owned(); keys];
            assert_eq!(actions(removed.audit), [vec!["member.remove".to_owned()], revoked.clone()].concat());
            let demote = ChangeRole { member: MemberRef::Id(first), role: Role::Member, revokes_keys };
            let changed = perform(&demote, &mut unit).unwrap();
            assert_eq!(actions(changed.audit), [vec!["member.role".to_owned()], revoked].concat());
            // Whoever becomes or stays an admin keeps the keys.
            let promote = ChangeRole { member: MemberRef::Id(first), role: Role::Admin, revokes_keys };
            assert_eq!(run(&promote, &mut unit).unwrap().revoked, []);
        }
    }

    #[test]
    fn an_unchanged_role_ends_no_session_and_is_not_audited() {
        let named = MemberRef::parse("member", "m1@acme.example").unwrap();
        let operation = ChangeRole { member: named, role: Role::Admin, revokes_keys: true };
        // `MockUnit` expects no end of sessions.
        let mut unit = MockUnit::new();
        unit.expect_load_members().returning(|| Ok(vec![member(1, Role::Admin)]));
        assert!(!perform(&operation, &mut unit).unwrap().has_changed());
    }

    #[test]
    fn an_unknown_member_is_not_found() {
        let unknown = || MemberRef::parse("member", "nobody@acme.example").unwrap();
        let error = run(&RemoveMember { member: unknown(), revokes_keys: true }, &mut unit(&[])).unwrap_err();
        assert_eq!(error, "Member does not exist.");
        assert!(run(&ChangeRole { member: unknown(), role: Role::Admin, revokes_keys: true }, &mut unit(&[])).is_err());
    }
}
