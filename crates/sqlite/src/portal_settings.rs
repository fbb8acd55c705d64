//! The stored settings of a portal, which units of work and reads select in the same form.

use diesel::sql_types::{Binary, Bool, Nullable, Text};
use roadmap_store::columns::Id;

use crate::statement::statement;

/// SQL for the columns of the settings of a portal. The texts of a JSON array are one per line: none of them has a line
/// break.
macro_rules! portal_columns {
    () => {
        "portal_settings.access,
         (SELECT group_concat(value, char(10) ORDER BY key) FROM json_each(portal_settings.mail_domains)),
         portal_settings.is_indexed,
         (SELECT group_concat(value, char(10) ORDER BY key) FROM json_each(portal_settings.embed_origins)),
         (SELECT group_concat(value, char(10) ORDER BY key) FROM json_each(portal_settings.languages)),
         portal_settings.holds_posts, portal_settings.accent, portal_settings.logo_attachment_id,
         portal_settings.reply_to, portal_settings.time_zone, portal_settings.welcome_text,
         portal_settings.form_question, portal_settings.noun"
    };
}
pub(crate) use portal_columns;

/// The types of the columns of [`portal_columns!`].
pub(crate) type SettingsSql = (
    Text,
    Nullable<Text>,
    Bool,
    Nullable<Text>,
    Nullable<Text>,
    Bool,
    Nullable<Text>,
    Nullable<Binary>,
    Nullable<Text>,
    Text,
    Text,
    Text,
    Text,
);

statement! {
    /// Selects the settings of a portal.
    StoredSettings { workspace: Id => Binary } -> SettingsSql,
    concat!("SELECT ", portal_columns!(), " FROM portal_settings WHERE workspace_id = ?")
}
