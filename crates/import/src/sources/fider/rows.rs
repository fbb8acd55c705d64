//! The rows of the tables of a backup. Fider writes a text of digits as a number.

use serde::Deserialize;

use super::elements::Text;

/// Defines rows whose columns may all be missing.
macro_rules! rows {
    ($($(#[$meta:meta])* $name:ident { $($column:ident),+ $(,)? })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(default)]
        pub(super) struct $name {
            $(pub(super) $column: Text,)+
        }
    )+};
}

rows! {
    /// The site itself.
    Tenant { cname, is_private }
    User { id, name, email, role, status }
    Tag { id, name, is_public }
    PostTag { post_id, tag_id, created_at, created_by_id }
    Post {
        id, number, title, slug, description, status, user_id, created_at, original_id, response, response_date,
        response_user_id, is_approved,
    }
    PostVote { post_id, user_id, created_at }
    PostSubscriber { post_id, user_id, created_at, status }
    Comment { id, post_id, user_id, content, created_at, deleted_at, is_approved }
    Attachment { post_id, comment_id, attachment_bkey }
}

/// The name of each status by its number.
const STATUSES: [&str; 7] = ["Open", "Started", "Completed", "Declined", "Planned", "Duplicate", "Deleted"];

/// What the status of a feature request says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status<'a> {
    /// The name of a status, or nothing.
    Named(&'a str),
    /// It is merged into another one.
    Duplicate,
    /// It is not shown any more.
    Deleted,
    /// A number that no status has.
    Unknown,
}

impl<'a> Status<'a> {
    /// Reads a number or a name.
    pub(super) fn read(text: &'a str) -> Self {
        let text = text.trim();
        let is_number = text.parse::<f64>().is_ok();
        let known = match text.parse::<usize>() {
            Ok(number) => STATUSES.get(number),
            Err(_) => STATUSES.iter().find(|name| name.eq_ignore_ascii_case(text)),
        };
        match known.copied() {
            Some("Duplicate") => Self::Duplicate,
            Some("Deleted") => Self::Deleted,
            Some(name) => Self::Named(name),
            None if is_number => Self::Unknown,
            None => Self::Named(text),
        }
    }

    /// Returns the name. A duplicate is not done.
    pub(super) fn name(self) -> Option<&'a str> {
        match self {
            Self::Named(name) => Some(name).filter(|name| !name.is_empty()),
            Self::Duplicate => Some("Declined"),
            Self::Deleted | Self::Unknown => None,
        }
    }
}

/// Returns the number of a feature request, which visitors see in its address.
pub(super) fn post_number(text: &str) -> Option<u32> {
    text.trim().parse().ok()
}

/// Returns the address of a feature request: only its path if the host is not known.
pub(super) fn url(site: &str, number: u32, slug: &str) -> String {
    let separator = if slug.is_empty() { "" } else { "/" };
    format!("{site}/posts/{number}{separator}{slug}")
}

/// Returns the id of the comment that is the answer of the team to a feature request.
pub(super) fn answer_id(post: &str) -> String {
    format!("response-{post}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_number_or_a_name() {
        for (text, status, name) in [
            ("0", Status::Named("Open"), Some("Open")),
            ("1", Status::Named("Started"), Some("Started")),
            ("2", Status::Named("Completed"), Some("Completed")),
            ("3", Status::Named("Declined"), Some("Declined")),
            ("4", Status::Named("Planned"), Some("Planned")),
            ("5", Status::Duplicate, Some("Declined")),
            ("6", Status::Deleted, None),
            (" planned ", Status::Named("Planned"), Some("Planned")),
            ("DUPLICATE", Status::Duplicate, Some("Declined")),
            ("deleted", Status::Deleted, None),
            ("In review", Status::Named("In review"), Some("In review")),
            ("7", Status::Unknown, None),
            ("-1", Status::Unknown, None),
            ("1.5", Status::Unknown, None),
            ("", Status::Named(""), None),
        ] {
            assert_eq!((Status::read(text), Status::read(text).name()), (status, name), "{text}");
        }
    }
}
