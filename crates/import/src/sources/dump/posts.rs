//! What becomes of feature requests.

use super::DumpError;
use super::files::{Row, Table};
use super::run::{Converted, Dump};
use crate::records::{Action, FeatureRequest, Kind, Record};
use crate::sources::csv::values::{Tags, digest, line, optional};

/// Longest last part of an address.
const MAX_SLUG: usize = 1_000;

/// The columns of feature requests, and the tables to which they refer.
pub(crate) struct PostColumns {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
    pub(crate) user: &'static str,
    pub(crate) board: &'static str,
    pub(crate) boards: &'static Table,
    pub(crate) status: &'static str,
    pub(crate) statuses: &'static Table,
    pub(crate) created_at: &'static str,
}

/// Who sees a feature request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Public,
    Private,
    AwaitsApproval,
}

impl Dump<'_> {
    /// Remembers which board all feature requests share so far.
    pub(crate) fn learn_post(&mut self, row: &Row<'_>, columns: &PostColumns) {
        if line(row.cell(columns.title)).is_none() {
            return;
        }
        let board = self.boards.find(row.trimmed(columns.board)).map(|board| self.hash(board.name));
        self.boards_differ |= board.is_none() || self.posts > 0 && board != self.board;
        self.board = board;
        self.posts += 1;
    }

    /// Returns the id and the title of a feature request. `None` if the row is rejected.
    pub(crate) fn begin_post(
        &mut self,
        row: &Row<'_>,
        columns: &PostColumns,
    ) -> Result<Option<(String, String)>, DumpError> {
        let given = optional(row.cell(columns.id));
        let spot = row.spot().of_record(given.unwrap_or_default());
        let Some(title) = line(row.cell(columns.title)) else {
            let problem = spot.problem(columns.title, row.cell(columns.title), "the title is blank", Action::Rejected);
            self.reject(row, Kind::FeatureRequests, problem)?;
            return Ok(None);
        };
        let id = given.map_or_else(|| digest(&[&title, row.trimmed(columns.created_at)]), str::to_owned);
        if !self.ids.insert(self.hash(&*id)) {
            let problem = match given {
                Some(id) => spot.problem(columns.id, id, "an earlier record has the same id", Action::Rejected),
                None => {
                    let problem = "an earlier record has the same title and time, and there is no id";
                    spot.problem(columns.title, &title, problem, Action::Rejected)
                }
            };
            self.reject(row, Kind::FeatureRequests, problem)?;
            return Ok(None);
        }
        Ok(Some((id, title)))
    }

    /// Writes a feature request.
    pub(crate) fn write_post(
        &mut self,
        row: &Row<'_>,
        columns: &PostColumns,
        (id, title): (String, String),
        standing: Standing,
        url: Option<String>,
    ) -> Converted {
        let spot = row.spot().of_record(&id);
        let (title, description) = self.output.fit_title(spot, title, row.cell(columns.text).to_owned())?;
        let (author, is_team) = self.read_author(spot, columns.user, row.cell(columns.user))?;
        let board = self.read_label(row, &id, columns.board, |dump| &dump.boards, columns.boards)?;
        let mut tags = Tags::default();
        if let Some(board) = board.filter(|board| !self.is_shared(board)) {
            tags.add_one(&board);
        }
        let request = FeatureRequest {
            title,
            description,
            status: self.read_label(row, &id, columns.status, |dump| &dump.statuses, columns.statuses)?,
            tags: self.output.fit_tags(spot, tags)?,
            is_private: standing != Standing::Public,
            awaits_approval: standing == Standing::AwaitsApproval,
            author,
            is_team,
            nameless_votes: self.nameless.get(&self.hash(&*id)).copied().unwrap_or_default(),
            created_at: self.output.read_time(spot, columns.created_at, row.cell(columns.created_at))?,
            url,
            merged_into: None,
            origin: spot.origin,
            external_id: id.clone(),
        };
        self.output.votes.nameless += u64::from(request.nameless_votes);
        self.output.write(Record::FeatureRequest(request))
    }

    /// Whether all feature requests have a board, if there are at least two.
    fn is_shared(&self, board: &str) -> bool {
        !self.boards_differ && self.posts > 1 && self.board == Some(self.hash(board))
    }
}

/// Returns the path of a feature request in its source, by the first of these that can be a part of one.
pub(crate) fn path_of(names: &[&str]) -> Option<String> {
    let is_part = |name: &&&str| {
        (1..=MAX_SLUG).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
            && !name.bytes().all(|byte| byte == b'.')
    };
    names.iter().find(is_part).map(|name| format!("/posts/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_part_without_surprises() {
        for (names, path) in [
            (&["dark-mode", "1"][..], Some("/posts/dark-mode")),
            (&["", "1"], Some("/posts/1")),
            (&["a/b", "a b", "ü", "..", "?x", "7"], Some("/posts/7")),
            (&["v1.2_x~"], Some("/posts/v1.2_x~")),
            (&["", "%2e"], None),
        ] {
            assert_eq!(path_of(names).as_deref(), path, "{names:?}");
        }
        assert_eq!(path_of(&[&"x".repeat(MAX_SLUG + 1)]), None);
    }
}
