//! The pages of the portal, one file for each.

pub(crate) mod account;
pub(crate) mod changelogs;
pub(crate) mod embeds;
pub(crate) mod feeds;
pub(crate) mod ideas;
pub(crate) mod images;
pub(crate) mod parts;
pub(crate) mod preferences;
pub(crate) mod request;
pub(crate) mod requests;
pub(crate) mod roadmap;
pub(crate) mod sign_in;
pub(crate) mod sitemap;
pub(crate) mod take_part;

use std::borrow::Cow;

use crate::text::Text;

/// What an action has done, as the parameter `done` of the next page, with the key of its sentence.
const NOTICES: [(&str, &str); 17] = [
    ("voted", "done-voted"),
    ("unvoted", "done-unvoted"),
    ("commented", "done-commented"),
    ("comment-held", "done-comment-held"),
    ("submitted", "done-submitted"),
    ("idea-held", "done-idea-held"),
    ("subscribed", "done-subscribed"),
    ("mail-stopped", "done-mail-stopped"),
    ("unsubscribed", "done-unsubscribed"),
    ("signed-in", "done-signed-in"),
    ("signed-out", "done-signed-out"),
    ("signed-out-everywhere", "done-signed-out-everywhere"),
    ("session-ended", "done-session-ended"),
    ("denied", "done-denied"),
    ("saved", "done-saved"),
    ("approved", "done-approved"),
    ("discarded", "done-discarded"),
];

/// Returns the sentence of a notice. Anything unknown is none.
pub(crate) fn notice(text: Text, done: &str) -> Option<Cow<'static, str>> {
    NOTICES.iter().find(|(name, _)| *name == done).map(|(_, key)| text.get(key))
}
