//! What the first passes over the tables remember.

use roadmap_domain::model::email_address::EmailAddress;

use super::{Post, Row, Run};
use crate::records::{Action, Kind, Person, PersonKey};
use crate::sources::csv::values::{flag, line, optional, person_name};
use crate::sources::fider::FiderError;
use crate::sources::fider::output::{Converted, Spot};
use crate::sources::fider::rows;
use crate::sources::names::User;

/// Longest name of a host, with a port.
const MAX_HOST: usize = 260;
/// The role from which somebody belongs to the team, and the status of somebody who is deleted.
const TEAM_ROLE: u32 = 2;
const DELETED_STATUS: u32 = 2;

impl Run<'_, '_> {
    pub(super) fn read_tenant(&mut self, row: &Row<'_, rows::Tenant>) -> Converted {
        let (cname, is_private) = (row.columns.cname.0.trim(), &row.columns.is_private.0);
        if (1..=MAX_HOST).contains(&cname.len())
            && cname.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:".contains(&byte))
        {
            self.site = format!("https://{cname}");
        }
        if flag(is_private) == Some(true) {
            self.is_private = true;
            let problem = "the whole site is private: its feature requests are private here";
            self.output.report(row.spot.problem("is_private", is_private, problem, Action::Changed))?;
        }
        Ok(())
    }

    pub(super) fn add_user(&mut self, row: &Row<'_, rows::User>) -> Converted {
        let user = row.columns;
        let id = user.id.0.trim();
        let spot = row.spot.of_record(id);
        let is_team = self.read_number(spot, "role", &user.role.0)?.is_some_and(|role| role >= TEAM_ROLE);
        if self.read_number(spot, "status", &user.status.0)? == Some(DELETED_STATUS) {
            return self.add_person(spot, id, &User { person: None, is_team });
        }
        let key = match EmailAddress::parse("email", &user.email.0) {
            Ok(address) => PersonKey::Email(address.as_str().to_owned()),
            Err(error) => {
                if !user.email.0.trim().is_empty() {
                    self.output.report(spot.problem("email", &user.email.0, error.to_string(), Action::Ignored))?;
                }
                PersonKey::ExternalId(id.to_owned())
            }
        };
        let person = Some(Person { key, name: person_name(&user.name.0) });
        self.add_person(spot, id, &User { person, is_team })
    }

    fn add_person(&mut self, spot: Spot<'_>, id: &str, user: &User) -> Converted {
        if id.is_empty() {
            return self.output.report(spot.problem("id", id, "the id is blank", Action::Ignored));
        }
        if !self.people.add(id, user)? {
            let problem = "an earlier record has the same id";
            return self.output.report(spot.problem("id", id, problem, Action::Ignored));
        }
        Ok(())
    }

    pub(super) fn add_tag(&mut self, row: &Row<'_, rows::Tag>) -> Converted {
        let (id, name) = (row.columns.id.0.trim(), &row.columns.name.0);
        let spot = row.spot.of_record(id);
        let is_public = self.output.read_flag(spot, "is_public", &row.columns.is_public.0)?;
        let Some(line) = line(name) else {
            return self.output.report(spot.problem("name", name, "the name is blank", Action::Ignored));
        };
        if !self.tags.add(id, &line, is_public)? {
            let problem = "an earlier record has the same id";
            return self.output.report(spot.problem("id", id, problem, Action::Ignored));
        }
        Ok(())
    }

    pub(super) fn add_post(&mut self, row: &Row<'_, rows::Post>) -> Converted {
        let id = row.columns.id.0.trim();
        if !id.is_empty() {
            self.posts.entry(self.hash(id)).or_insert(Post::of(row.columns));
        }
        Ok(())
    }

    pub(super) fn add_post_tag(&mut self, row: &Row<'_, rows::PostTag>) -> Converted {
        let (post, tag) = (row.columns.post_id.0.trim(), row.columns.tag_id.0.trim());
        match self.tags.find(tag) {
            Some(tag) if tag.is_public => self.post_tags.push((self.hash(post), tag.handle)),
            Some(_) => {}
            None => {
                let problem = "there is no tag with this id";
                self.output.report(row.spot.problem("tag_id", tag, problem, Action::Ignored))?;
            }
        }
        Ok(())
    }

    /// Counts a vote if it has no person.
    pub(super) fn count_vote(&mut self, row: &Row<'_, rows::PostVote>) -> Converted {
        let voter = self.people.find(row.columns.user_id.0.trim());
        if voter.is_none_or(|user| user.person.is_none()) {
            let nameless = self.nameless.entry(self.hash(row.columns.post_id.0.trim())).or_default();
            *nameless = nameless.saturating_add(1);
        }
        Ok(())
    }

    pub(super) fn add_subscriber(&mut self, row: &Row<'_, rows::PostSubscriber>) -> Converted {
        let (post, status) = (row.columns.post_id.0.trim(), &row.columns.status.0);
        let Some(is_subscribed) = flag(status).filter(|_| !status.trim().is_empty()) else {
            let problem = "the status is neither 0 nor 1";
            return self.output.report(row.spot.problem("status", status, problem, Action::Ignored));
        };
        if let Some(person) = self.people.find(row.columns.user_id.0.trim()).and_then(|user| user.person) {
            self.subscribers.insert(self.pair(post, &person), is_subscribed);
        }
        Ok(())
    }

    pub(super) fn add_attachment(&mut self, row: &Row<'_, rows::Attachment>) -> Converted {
        let (post, comment) = (row.columns.post_id.0.trim(), row.columns.comment_id.0.trim());
        let key = row.columns.attachment_bkey.0.trim();
        match self.blobs.get(key) {
            Some(index) if comment.is_empty() => {
                self.attachments.push((self.text_hash(Kind::FeatureRequests, post), *index));
            }
            Some(index) => self.attachments.push((self.text_hash(Kind::Comments, comment), *index)),
            None => {
                let problem = "the file is not in the backup";
                self.output.report(row.spot.problem("attachment_bkey", key, problem, Action::Ignored))?;
            }
        }
        Ok(())
    }

    fn read_number(&mut self, spot: Spot<'_>, field: &'static str, text: &str) -> Result<Option<u32>, FiderError> {
        let read = optional(text).map(str::parse);
        if let Some(Err(_)) = read {
            self.output.report(spot.problem(field, text, "the value is no whole number", Action::Ignored))?;
        }
        Ok(read.and_then(Result::ok))
    }
}
