//! Conditions about the pictures of texts, for statements about the table `attachments`.

/// A text that everybody who has its link may see has the picture. A picture of a text that the team has removed is not
/// shown: the description of a removed feature request is empty.
macro_rules! is_in_text {
    () => {
        "EXISTS (
             SELECT FROM text_pictures AS used
             WHERE used.workspace_id = attachments.workspace_id AND used.attachment_id = attachments.id AND (
                 EXISTS (SELECT FROM comments AS text
                         WHERE text.workspace_id = used.workspace_id AND text.id = used.record_id)
                 OR EXISTS (SELECT FROM held_comments AS text
                            WHERE text.workspace_id = used.workspace_id AND text.id = used.record_id)
                 OR EXISTS (SELECT FROM changelogs AS text
                            WHERE text.workspace_id = used.workspace_id AND text.id = used.record_id)
                 OR EXISTS (SELECT FROM feature_requests AS text
                            WHERE text.workspace_id = used.workspace_id AND text.id = used.record_id
                            AND position('/pictures/' IN text.description) > 0)
             )
         )"
    };
}
pub(crate) use is_in_text;

/// A text has the picture, or one that was removed and can be restored.
macro_rules! is_kept_by_text {
    () => {
        concat!(
            "(",
            $crate::pictures::is_in_text!(),
            " OR EXISTS (
             SELECT FROM text_pictures AS used
             WHERE used.workspace_id = attachments.workspace_id AND used.attachment_id = attachments.id AND (
                 EXISTS (SELECT FROM removed_comments AS text
                         WHERE text.workspace_id = used.workspace_id AND text.id = used.record_id)
                 OR EXISTS (SELECT FROM removed_requests AS text
                            WHERE text.workspace_id = used.workspace_id AND text.request_id = used.record_id)
             )
         ))"
        )
    };
}
pub(crate) use is_kept_by_text;

/// No text has had the picture yet: somebody has just added it.
macro_rules! is_new_picture {
    () => {
        "NOT EXISTS (
             SELECT FROM text_pictures AS used
             WHERE used.workspace_id = attachments.workspace_id AND used.attachment_id = attachments.id
         )"
    };
}
pub(crate) use is_new_picture;
