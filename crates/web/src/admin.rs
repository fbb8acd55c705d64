//! The pages of the admin panel, one file for each.
//!
//! A handler loads the frame ([`frame`]), which has the navigation with its numbers.

pub(crate) mod api_keys;
pub(crate) mod audit;
pub(crate) mod customer_texts;
pub(crate) mod customers;
pub(crate) mod delete_request;
pub(crate) mod edit_request;
pub(crate) mod erasing;
pub(crate) mod exports;
pub(crate) mod image_field;
pub(crate) mod imports;
pub(crate) mod inbox;
pub(crate) mod link_sources;
pub(crate) mod mail;
pub(crate) mod members;
pub(crate) mod merge;
pub(crate) mod new_request;
pub(crate) mod overview;
pub(crate) mod parts;
pub(crate) mod record_vote;
pub(crate) mod request_form;
pub(crate) mod settings;
pub(crate) mod shortcuts;
pub(crate) mod tags;
pub(crate) mod team_changelogs;
pub(crate) mod team_comment;
pub(crate) mod team_request;
pub(crate) mod tracks;
pub(crate) mod voters;
pub(crate) mod webhooks;

use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::admin::{InboxCounts, InboxState};
use roadmap_domain::model::id::parse_uuid;
use roadmap_domain::model::member::{Member, Role};
use roadmap_domain::model::session::Session;
use roadmap_domain::usecase::query::admin::CountInbox;
use roadmap_http::error::HttpError;
use uuid::Uuid;

use crate::context::Context;
use crate::page::{AdminNav, Nav, NavEntry, Page};
use crate::reply::PageResult;
use crate::text::Text;

/// The pages in the navigation of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The inbox, and the pages of feature requests.
    Inbox,
    Overview,
    Changelogs,
    Customers,
    Tags,
    /// Tracks and lanes.
    Tracks,
    Members,
    ApiKeys,
    /// Where events are sent.
    Webhooks,
    /// Trackers that report issues.
    LinkSources,
    Settings,
    Import,
    Exports,
    Mail,
    /// The audit log.
    Audit,
}

impl Entry {
    /// Whether people expect that somebody gets mail by what they do on these pages.
    const fn concerns_mail(self) -> bool {
        match self {
            Self::Inbox | Self::Overview | Self::Changelogs | Self::Members | Self::Settings | Self::Mail => true,
            Self::Customers
            | Self::Tags
            | Self::Tracks
            | Self::ApiKeys
            | Self::Webhooks
            | Self::LinkSources
            | Self::Import
            | Self::Exports
            | Self::Audit => false,
        }
    }

    /// All pages in their order.
    const ALL: [Self; 15] = [
        Self::Inbox,
        Self::Overview,
        Self::Changelogs,
        Self::Customers,
        Self::Tags,
        Self::Tracks,
        Self::Members,
        Self::ApiKeys,
        Self::Webhooks,
        Self::LinkSources,
        Self::Settings,
        Self::Import,
        Self::Exports,
        Self::Mail,
        Self::Audit,
    ];

    /// Returns the path and the key of the name.
    const fn link(self) -> (&'static str, &'static str) {
        match self {
            Self::Inbox => ("/admin", "admin-inbox"),
            Self::Overview => ("/admin/overview", "admin-overview"),
            Self::Changelogs => ("/admin/changelogs", "admin-changelogs"),
            Self::Customers => ("/admin/customers", "admin-customers"),
            Self::Tags => ("/admin/tags", "admin-tags"),
            Self::Tracks => ("/admin/tracks", "admin-tracks"),
            Self::Members => ("/admin/members", "admin-members"),
            Self::ApiKeys => ("/admin/api-keys", "admin-api-keys"),
            Self::Webhooks => ("/admin/webhooks", "admin-webhooks"),
            Self::LinkSources => ("/admin/link-sources", "admin-link-sources"),
            Self::Settings => ("/admin/settings", "admin-settings"),
            Self::Import => ("/admin/imports", "admin-import"),
            Self::Exports => ("/admin/exports", "admin-exports"),
            Self::Mail => ("/admin/mail", "admin-mail"),
            Self::Audit => ("/admin/audit", "admin-audit"),
        }
    }

    /// Whether only admins may open the page.
    const fn is_for_admins(self) -> bool {
        match self {
            Self::Inbox | Self::Overview | Self::Changelogs | Self::Customers | Self::Tags => false,
            Self::Tracks
            | Self::Members
            | Self::ApiKeys
            | Self::Webhooks
            | Self::LinkSources
            | Self::Settings
            | Self::Import
            | Self::Exports
            | Self::Mail
            | Self::Audit => true,
        }
    }
}

/// Returns the navigation of the panel: the pages that the member may open.
fn navigation(text: Text, member: &Member, current: Entry, counts: &InboxCounts) -> AdminNav {
    let entry = |entry: Entry| {
        let (path, key) = entry.link();
        let waiting = counts.of_state(InboxState::Unanswered) + counts.of_state(InboxState::Replied);
        let count = (entry == Entry::Inbox && waiting > 0)
            .then(|| (text.number(waiting), text.count("admin-inbox-waiting", waiting)));
        let begins_group = matches!(entry, Entry::Tracks | Entry::Settings);
        NavEntry { path, key, is_current: entry == current, begins_group, count }
    };
    let may_open = |entry: &Entry| member.role == Role::Admin || !entry.is_for_admins();
    AdminNav { entries: Entry::ALL.into_iter().filter(may_open).map(entry).collect() }
}

/// Returns the session and the member, without whom these pages are not reached.
///
/// # Errors
/// There is none.
pub(crate) fn member(context: &Context) -> Result<(&Session, &Member), HttpError> {
    let session = context.session.as_deref().ok_or(HttpError::NotFound)?;
    Ok((session, session.member.as_ref().ok_or(HttpError::NotFound)?))
}

/// Creates the frame of a page of the panel.
///
/// # Errors
/// The store fails.
pub(crate) async fn frame(context: &Context, entry: Entry, title: impl Into<String>) -> Result<Page, HttpError> {
    frame_with_counts(context, entry, title).await.map(|(page, _)| page)
}

/// Creates the frame of a page of the panel. Returns the counts of feature requests, which its navigation needs, too.
///
/// # Errors
/// The store fails.
pub(crate) async fn frame_with_counts(
    context: &Context,
    entry: Entry,
    title: impl Into<String>,
) -> Result<(Page, InboxCounts), HttpError> {
    let (_, member) = member(context)?;
    let counts = context.run(&CountInbox).await?;
    let nav = navigation(context.text(), member, entry, &counts);
    let page = Page::new(context, Nav::Admin, title).not_indexed();
    let lacks_mail_server = !context.state.has_mail_server && entry.concerns_mail();
    Ok((Page { admin: Some(nav), lacks_mail_server, ..page }, counts))
}

/// Returns the ID in the path.
///
/// # Errors
/// 404 if it is none.
pub(crate) fn path_id<T>(context: &Context, wrap: fn(Uuid) -> T) -> Result<T, HttpError> {
    parse_uuid("id", context.parameter("id")).map(wrap).map_err(|_| HttpError::NotFound)
}

/// A record that does not exist has no page.
pub(crate) fn missing_record_as_404(done: PageResult) -> PageResult {
    match done {
        Err(HttpError::Domain(RoadmapError::NotFound(_))) => Err(HttpError::NotFound),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::id::MemberId;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::text::Name;
    use roadmap_domain::model::timestamp::Timestamp;

    #[test]
    fn only_admins_have_the_pages_of_admins_in_their_navigation() {
        for (role, pages) in [(Role::Admin, 15), (Role::Member, 5)] {
            let member = Member {
                id: MemberId::new(Uuid::from_u128(1)),
                email: EmailAddress::parse("email", "ann@example.com").unwrap(),
                name: Name::from_stored("Ann".to_owned()),
                role,
                created_at: Timestamp::from_millis(0).unwrap(),
            };
            let nav = navigation(Text::utc(Language::English), &member, Entry::Inbox, &InboxCounts::default());
            assert_eq!(nav.entries.len(), pages);
        }
    }
}
