//! What becomes of comments and notes.

use super::DumpError;
use super::files::Row;
use super::run::{Converted, Dump};
use crate::records::{Action, Comment, Kind, Note, Person, Record};
use crate::sources::csv::values::{digest, optional};
use crate::sources::quotes::{Quote, quoted, with_quote};

/// The columns of comments.
pub(crate) struct CommentColumns {
    pub(crate) id: &'static str,
    pub(crate) text: &'static str,
    /// The comment to which it replies.
    pub(crate) parent: &'static str,
    pub(crate) created_at: &'static str,
}

impl Dump<'_> {
    /// Remembers to which comment a comment replies.
    pub(crate) fn learn_parent(&mut self, row: &Row<'_>, columns: &CommentColumns) {
        if let Some(parent) = optional(row.cell(columns.parent)) {
            self.quotes.add_parent(self.hash(parent));
        }
    }

    pub(crate) fn has_replies(&self) -> bool {
        self.quotes.has_parents()
    }

    /// Remembers what replies to a comment quote. Nothing is quoted of what `is_left_out`.
    pub(crate) fn learn_quote(&mut self, row: &Row<'_>, columns: &CommentColumns, is_private: bool, is_left_out: bool) {
        let id = self.hash(row.trimmed(columns.id));
        if self.quotes.is_parent(id) {
            let text = quoted(row.cell(columns.text)).filter(|_| !is_left_out).unwrap_or_default();
            self.quotes.add(id, Quote { text, is_private }, self.options.max_records);
        }
    }

    /// Returns the id of a comment or note, or a digest of what identifies it. `None` if the row is rejected.
    pub(crate) fn begin_comment(
        &mut self,
        row: &Row<'_>,
        columns: &CommentColumns,
        kind: Kind,
        [request, author]: [&str; 2],
    ) -> Result<Option<String>, DumpError> {
        let (given, text) = (optional(row.cell(columns.id)), row.cell(columns.text));
        let spot = row.spot().of_record(given.unwrap_or_default());
        if text.trim().is_empty() {
            self.reject(row, kind, spot.problem(columns.text, text, "the text is blank", Action::Rejected))?;
            return Ok(None);
        }
        let id = given.map_or_else(|| digest(&[request, author, row.trimmed(columns.created_at), text]), str::to_owned);
        if !self.comments.insert(self.hash(&*id)) {
            let problem = match given {
                Some(_) => "an earlier record has the same id",
                None => "an earlier record is the same, and there is no id",
            };
            self.reject(row, kind, spot.problem(columns.id, &id, problem, Action::Rejected))?;
            return Ok(None);
        }
        Ok(Some(id))
    }

    /// Writes a comment of the team or of a customer.
    pub(crate) fn write_comment(
        &mut self,
        row: &Row<'_>,
        columns: &CommentColumns,
        id: &str,
        request: &str,
        (author, is_team): (Option<Person>, bool),
    ) -> Converted {
        let spot = row.spot().of_record(id);
        let comment = Comment {
            external_id: id.to_owned(),
            request: request.to_owned(),
            body: self.read_text(row, columns, id, false)?,
            author,
            is_team,
            is_held: false,
            created_at: self.output.read_time(spot, columns.created_at, row.cell(columns.created_at))?,
            origin: spot.origin,
        };
        self.output.write(Record::Comment(comment))
    }

    /// Writes a note.
    pub(crate) fn write_note(
        &mut self,
        row: &Row<'_>,
        columns: &CommentColumns,
        id: &str,
        request: &str,
        author: Option<Person>,
    ) -> Converted {
        let spot = row.spot().of_record(id);
        let note = Note {
            external_id: id.to_owned(),
            request: request.to_owned(),
            body: self.read_text(row, columns, id, true)?,
            author,
            is_team: true,
            created_at: self.output.read_time(spot, columns.created_at, row.cell(columns.created_at))?,
            origin: spot.origin,
        };
        self.output.write(Record::Note(note))
    }

    /// Returns a text with what it quotes before it. What customers do not see is not quoted where they see it.
    fn read_text(
        &mut self,
        row: &Row<'_>,
        columns: &CommentColumns,
        id: &str,
        is_note: bool,
    ) -> Result<String, DumpError> {
        let text = row.cell(columns.text);
        let Some(parent) = optional(row.cell(columns.parent)) else { return Ok(text.to_owned()) };
        let problem = match self.quotes.find(self.hash(parent)) {
            Some(quote) if quote.is_private && !is_note => {
                "the reply is public, but the comment is not: it is not quoted"
            }
            Some(quote) if quote.text.is_empty() => return Ok(text.to_owned()),
            Some(quote) => return Ok(with_quote(&quote.text, text)),
            None if self.quotes.left_out() > 0 => return Ok(text.to_owned()),
            None => "there is no comment with this id, so the reply quotes nothing",
        };
        let spot = row.spot().of_record(id);
        self.output.report(spot.problem(columns.parent, parent, problem, Action::Ignored))?;
        Ok(text.to_owned())
    }
}
