//! The texts of a backup, with its pictures.

use std::borrow::Cow;

use super::{Run, entries};
use crate::records::{Action, File, Origin, Record};
use crate::sources::csv::values::digest;
use crate::sources::fider::FiderError;
use crate::sources::fider::output::Spot;
use crate::sources::fider::texts::{file_name, replace_mentions, replace_pictures};

/// Longest id of a picture.
const MAX_FILE_ID: usize = 200;
/// Most files that follow a text without being in it.
const MAX_ATTACHED: usize = 100;

impl Run<'_, '_> {
    /// Returns the positions of the files that belong to a text and are not in it. The text is that of an earlier version of
    /// Fider, which showed them below it.
    pub(super) fn attached(&mut self, spot: Spot<'_>, text_hash: u64, text: &str) -> Result<Vec<usize>, FiderError> {
        let files = entries(&self.attachments, text_hash);
        let rest = files.len().saturating_sub(MAX_ATTACHED);
        let mut attached: Vec<usize> = Vec::new();
        for (_, index) in files.iter().take(MAX_ATTACHED) {
            let is_in_text = self.tables.key(*index).is_none_or(|key| text.contains(key));
            if !is_in_text && !attached.contains(index) {
                attached.push(*index);
            }
        }
        if rest > 0 {
            let problem = format!("a text has at most {MAX_ATTACHED} attached files: {rest} are left out");
            self.output.report(spot.whole_problem(problem, Action::Ignored))?;
        }
        Ok(attached)
    }

    /// Returns a text with names instead of mentions, and with its pictures. `attached` follow it.
    pub(super) fn convert_text(
        &mut self,
        spot: Spot<'_>,
        field: &'static str,
        text: &str,
        attached: Vec<usize>,
    ) -> Result<String, FiderError> {
        let with_pictures = replace_pictures(text, |shown, key| self.convert_picture(spot, field, shown, key))?;
        let mut converted = match replace_mentions(&with_pictures) {
            Cow::Borrowed(_) => with_pictures.into_owned(),
            Cow::Owned(replaced) => replaced,
        };
        for key in attached.into_iter().filter_map(|index| self.tables.key(index)) {
            let picture = self.convert_picture(spot, field, "", key)?;
            if !converted.trim().is_empty() {
                converted.push_str("\n\n");
            }
            converted.push_str(&picture);
        }
        Ok(converted)
    }

    /// Returns what is in a text instead of a picture, which becomes a record when it is first seen.
    fn convert_picture(
        &mut self,
        spot: Spot<'_>,
        field: &'static str,
        shown: &str,
        key: &str,
    ) -> Result<String, FiderError> {
        if let Some(index) = self.blobs.get(key).copied() {
            let external_id = file_id(key);
            let link = File::link(&external_id);
            if self.pictures.insert(index) {
                let origin = Origin { file: index, line: 1 };
                self.output.write(Record::File(File { external_id, name: file_name(key).to_owned(), origin }))?;
            }
            return Ok(format!("![{shown}]({link})"));
        }
        let name = match shown.trim() {
            "" => file_name(key).replace(['[', ']', '<', '>'], ""),
            shown => shown.to_owned(),
        };
        let (text, problem) = if self.site.is_empty() || !is_file_id(key) {
            (name, "the picture is not in the backup: its name is in its place")
        } else {
            let address = format!("{}/static/images/{key}", self.site);
            (format!("[{name}]({address})"), "the picture is not in the backup: a link is in its place")
        };
        self.output.report(spot.problem(field, key, problem, Action::Changed))?;
        Ok(text)
    }
}

/// Returns the id of a picture: its key, or a digest of one that no file may have.
fn file_id(key: &str) -> String {
    if is_file_id(key) { key.to_owned() } else { digest(&[key]) }
}

fn is_file_id(key: &str) -> bool {
    (1..=MAX_FILE_ID).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>()\\".contains(&byte))
}
