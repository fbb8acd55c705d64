//! The sentences about what the last action has done, by the parameter `done` of the next page.

use std::borrow::Cow;

use crate::text::Text;

/// What an action of a visitor or of a customer has done, with the key of its sentence.
const PORTAL: [(&str, &str); 27] = [
    ("voted", "done-voted"),
    ("unvoted", "done-unvoted"),
    ("commented", "done-commented"),
    ("comment-held", "done-comment-held"),
    ("submitted", "done-submitted"),
    ("idea-held", "done-idea-held"),
    ("subscribed", "done-subscribed"),
    ("mail-resumed", "done-mail-resumed"),
    ("mail-stopped", "done-mail-stopped"),
    ("mail-saved", "done-mail-saved"),
    ("news", "done-news"),
    ("unsubscribed", "done-unsubscribed"),
    ("signed-in", "done-signed-in"),
    ("signed-out", "done-signed-out"),
    ("signed-out-everywhere", "done-signed-out-everywhere"),
    ("session-ended", "done-session-ended"),
    ("account-deleted", "done-account-deleted"),
    ("denied", "done-denied"),
    ("saved", "done-saved"),
    ("named", "done-named"),
    ("approved", "done-approved"),
    ("discarded", "done-discarded"),
    ("own-saved", "done-own-saved"),
    ("own-comment-deleted", "done-own-comment-deleted"),
    ("own-idea-deleted", "done-own-idea-deleted"),
    ("own-idea-removed", "done-own-idea-removed"),
    ("not-editable", "done-not-editable"),
];

/// What an action of the team has done that would have sent mail, without a mail server.
pub(crate) const WRITTEN_MAIL: [(&str, &str); 2] =
    [("invited", "done-invitation-written"), ("mail-tested", "done-mail-written")];

/// What an action of the team has done, with the key of its sentence about `$count`.
const TEAM: [(&str, &str); 85] = [
    ("moved", "done-moved"),
    ("tagged", "done-tagged"),
    ("untagged", "done-untagged"),
    ("requests-deleted", "done-requests-deleted"),
    ("undone", "done-undone"),
    ("undone-none", "done-undone-none"),
    ("undo-late", "done-undo-late"),
    ("no-answer-needed", "done-no-answer-needed"),
    ("no-answer-needed-here", "done-no-answer-needed-here"),
    ("made-private", "done-made-private"),
    ("made-public", "done-made-public"),
    ("view-saved", "done-view-saved"),
    ("view-removed", "done-view-removed"),
    ("merged", "done-merged"),
    ("unmerged", "done-unmerged"),
    ("requests-approved", "done-requests-approved"),
    ("requests-declined", "done-requests-declined"),
    ("unchanged", "done-unchanged"),
    ("request-saved", "done-request-saved"),
    ("request-created", "done-request-created"),
    ("request-deleted", "done-request-deleted"),
    ("answered", "done-answered"),
    ("answered-mail", "done-answered-mail"),
    ("moved-mail", "done-moved-mail"),
    ("merged-mail", "done-merged-mail"),
    ("link-added", "done-link-added"),
    ("link-known", "done-link-known"),
    ("link-removed", "done-link-removed"),
    ("noted", "done-noted"),
    ("note-deleted", "done-note-deleted"),
    ("vote-added", "done-vote-added"),
    ("vote-known", "done-vote-known"),
    ("comment-saved", "done-comment-saved"),
    ("comment-deleted", "done-comment-deleted"),
    ("changelog-saved", "done-changelog-saved"),
    ("changelog-published", "done-changelog-published"),
    ("changelog-mailed", "done-changelog-mailed"),
    ("changelog-scheduled", "done-changelog-scheduled"),
    ("changelog-scheduled-mail", "done-changelog-scheduled-mail"),
    ("changelog-unpublished", "done-changelog-unpublished"),
    ("changelog-deleted", "done-changelog-deleted"),
    ("track-added", "done-track-added"),
    ("track-saved", "done-track-saved"),
    ("track-deleted", "done-track-deleted"),
    ("lane-added", "done-lane-added"),
    ("lane-saved", "done-lane-saved"),
    ("lane-deleted", "done-lane-deleted"),
    ("tag-saved", "done-tag-saved"),
    ("tag-merged", "done-tag-merged"),
    ("tag-deleted", "done-tag-deleted"),
    ("customer-saved", "done-customer-saved"),
    ("posts-approved", "done-posts-approved"),
    ("posts-discarded", "done-posts-discarded"),
    ("customers-merged", "done-customers-merged"),
    ("customer-blocked", "done-customer-blocked"),
    ("customer-unblocked", "done-customer-unblocked"),
    ("customer-erased", "done-customer-erased"),
    ("texts-removed", "done-texts-removed"),
    ("texts-restored", "done-texts-restored"),
    ("invited", "done-invited"),
    ("member-added", "done-member-added"),
    ("role-changed", "done-role-changed"),
    ("member-removed", "done-member-removed"),
    ("key-created-before", "done-key-created-before"),
    ("key-revoked", "done-key-revoked"),
    ("webhook-created", "done-webhook-created"),
    ("webhook-created-before", "done-webhook-created-before"),
    ("webhook-rotated-before", "done-webhook-rotated-before"),
    ("webhook-saved", "done-webhook-saved"),
    ("webhook-tested", "done-webhook-tested"),
    ("webhook-enabled", "done-webhook-enabled"),
    ("webhook-disabled", "done-webhook-disabled"),
    ("webhook-deleted", "done-webhook-deleted"),
    ("webhook-redelivered", "done-webhook-redelivered"),
    ("webhook-none-failed", "done-webhook-none-failed"),
    ("delivery-redelivered", "done-delivery-redelivered"),
    ("link-source-added-before", "done-link-source-added-before"),
    ("link-source-deleted", "done-link-source-deleted"),
    ("settings-saved", "done-settings-saved"),
    ("import-discarded", "done-import-discarded"),
    ("import-previewed", "done-import-previewed"),
    ("mail-retried", "done-mail-retried"),
    ("mail-tested", "done-mail-tested"),
    ("shortcuts", "done-shortcuts"),
    ("export-created", "done-export-created"),
];

/// Returns the sentence about what an action on the portal has done. Anything unknown is none.
pub(crate) fn of_portal(text: Text, done: &str) -> Option<Cow<'static, str>> {
    PORTAL.iter().find(|(name, _)| *name == done).map(|(_, key)| text.get(key))
}

/// Returns the sentence about what an action of the team has done. Anything unknown is none.
pub(crate) fn of_team(text: Text, done: &str, count: i64) -> Option<String> {
    let (_, key) = TEAM.iter().find(|(name, _)| *name == done)?;
    Some(text.count(key, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::portal::Language;

    #[test]
    fn every_notice_has_a_sentence() {
        for (name, key) in TEAM {
            for language in Language::ALL {
                let sentence = of_team(Text::utc(language), name, 2).unwrap();
                assert_ne!(sentence, key, "{}", language.code());
            }
        }
        assert_eq!(of_team(Text::utc(Language::English), "hacked", 1), None);
    }
}
