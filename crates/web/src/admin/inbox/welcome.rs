//! The first steps in a workspace, with ticks at those that are done.

use roadmap_domain::model::admin::{InboxCounts, InboxState};
use roadmap_domain::model::member::{Member, Role};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::track::is_default_board;
use roadmap_domain::usecase::query::people::{ListCustomers, ListMembers};
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::text::Text;

/// With as many feature requests, a team has begun, and needs no list of first steps any more.
const BEGUN: i64 = 25;

/// The first steps.
pub(super) struct Welcome {
    pub(super) steps: Vec<Step>,
    /// How many of them are done, in words.
    pub(super) progress: String,
}

/// A step.
pub(super) struct Step {
    /// The path of the page where it is done.
    pub(super) path: &'static str,
    pub(super) name: String,
    pub(super) text: String,
    pub(super) is_done: bool,
}

/// What tells which steps are done.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    /// Whether there is a mail server.
    pub(super) has_mail: bool,
    pub(super) has_logo: bool,
    /// Whether the lanes or tracks are no longer those of a new workspace, or are in use.
    pub(super) has_lanes: bool,
    /// Whether the team has several members.
    pub(super) has_team: bool,
    pub(super) has_requests: bool,
    pub(super) has_customers: bool,
}

impl Welcome {
    /// Returns the steps that a member can do, unless all are done or the workspace has long begun.
    pub(super) async fn load(
        context: &Context,
        counts: &InboxCounts,
        member: &Member,
    ) -> Result<Option<Self>, HttpError> {
        let requests = counts.of_state(InboxState::All) + counts.merged;
        if requests >= BEGUN {
            return Ok(None);
        }
        let customers = context.run(&ListCustomers { query: None, page: PageRequest::first(1) }).await?;
        let tracks: Vec<_> = counts.tracks.iter().map(|counts| counts.track.clone()).collect();
        let is_in_use = counts.tracks.iter().any(|counts| counts.track.lane.is_some() && counts.all > 0);
        let progress = Progress {
            has_mail: context.state.has_mail_server,
            has_logo: context.portal.logo.is_some(),
            has_lanes: is_in_use || !is_default_board(&tracks),
            has_team: context.run(&ListMembers).await?.len() > 1,
            has_requests: requests > 0,
            has_customers: customers.total > 0,
        };
        let welcome = Self::new(context.text(), progress, member.role == Role::Admin);
        Ok(Some(welcome).filter(|welcome| welcome.steps.iter().any(|step| !step.is_done)))
    }

    pub(super) fn new(t: Text, progress: Progress, is_admin: bool) -> Self {
        let Progress { has_mail, has_logo, has_lanes, has_team, has_requests, has_customers } = progress;
        let step = |path, name, text, is_done| Step {
            path,
            name: t.get(name).into_owned(),
            text: t.get(text).into_owned(),
            is_done,
        };
        let mut steps = Vec::new();
        if is_admin {
            steps.push(step("/admin/mail", "welcome-mail", "welcome-mail-text", has_mail));
            steps.push(step("/admin/settings", "welcome-look", "welcome-look-text", has_logo));
            steps.push(step("/admin/tracks", "welcome-lanes", "welcome-lanes-text", has_lanes));
            steps.push(step("/admin/members", "welcome-team", "welcome-team-text", has_team));
        }
        steps.push(step("/admin/feature_requests/new", "welcome-requests", "welcome-requests-text", has_requests));
        steps.push(step("/", "welcome-share", "welcome-share-text", has_customers));
        let done = steps.iter().filter(|step| step.is_done).count();
        let all = [("done", done.to_string().into()), ("all", steps.len().to_string().into())];
        Self { progress: t.with("welcome-progress", &all), steps }
    }
}
