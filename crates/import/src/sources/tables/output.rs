//! What becomes of values and of what cannot be imported, and what is remembered for that.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};

use roadmap_domain::model::timestamp::Timestamp;

use super::{Column, Context, Options, SourceFile, TablesError};
use crate::archive::Input;
use crate::dates::When;
use crate::encoding::Evidence;
use crate::records::{Action, Kind, Lost, Problem, Record, Sink, VoteTotals};
use crate::sources::csv::values::{Tags, count, digest, fit_title, flag, line, nameless_votes, optional};
use crate::sources::quotes::{Quotes, with_quote};
use crate::table::{Item, RejectedRow};

pub(crate) type Converted = Result<(), TablesError>;

/// The sink of a conversion. Ids are remembered as hashes with a key of the run, which no file can foresee.
pub(crate) struct Output<'a> {
    pub(crate) options: &'a Options<'a>,
    sink: &'a mut dyn Sink,
    hasher: RandomState,
    /// The ids of feature requests, and of those that are left out.
    requests: HashSet<u64>,
    left_out: HashSet<u64>,
    /// The ids of other records, each with its kind.
    ids: HashSet<u64>,
    pub(crate) quotes: Quotes,
    pub(crate) votes: VoteTotals,
    lost: BTreeMap<(Option<Kind>, String), u64>,
}

/// A conversion of tables.
pub(crate) trait Run<'a>: Sized {
    fn output(&mut self) -> &mut Output<'a>;

    /// Returns how many records are remembered beside those of the output.
    fn remembered(&self) -> usize;

    /// Reads the rows of a file to learn of them. Those that cannot be read are nothing.
    fn read_rows(
        &mut self,
        file: &SourceFile<'_>,
        mut learn: impl FnMut(&mut Self, &Context<'_>) -> Converted,
    ) -> Converted {
        file.read(self.output().options, |item, head| {
            if let Item::Row(row) = item {
                learn(self, &Context { file, head, row: &row })?;
            }
            self.check_memory()
        })
    }

    /// Converts the rows of a file with `convert`, and rejects those that cannot be read.
    fn convert_rows(
        &mut self,
        file: &SourceFile<'_>,
        mut convert: impl FnMut(&mut Self, &Context<'_>) -> Converted,
    ) -> Converted {
        let mut unused = vec![0; file.unused.len()];
        file.read(self.output().options, |item, head| {
            match item {
                Item::Row(row) => {
                    for ((position, _), lost) in file.unused.iter().zip(&mut unused) {
                        *lost += u64::from(!row.cell(*position).trim().is_empty());
                    }
                    convert(self, &Context { file, head, row: &row })?;
                }
                Item::Rejected(row) => self.output().reject_unreadable(file, head, &row)?,
            }
            self.check_memory()
        })?;
        for ((_, name), lost) in file.unused.iter().zip(unused) {
            self.output().lose(format!("column {name}"), lost);
        }
        Ok(())
    }

    /// Checks that what is remembered of the records stays within memory.
    fn check_memory(&mut self) -> Converted {
        let max = self.output().options.max_records;
        if self.output().remembered() + self.remembered() > max {
            return Err(TablesError::TooManyRecords { max });
        }
        Ok(())
    }
}

impl<'a> Output<'a> {
    pub(crate) fn new(options: &'a Options<'a>, sink: &'a mut dyn Sink) -> Self {
        Self {
            options,
            sink,
            hasher: RandomState::new(),
            requests: HashSet::new(),
            left_out: HashSet::new(),
            ids: HashSet::new(),
            quotes: Quotes::default(),
            votes: VoteTotals::default(),
            lost: BTreeMap::new(),
        }
    }

    fn remembered(&self) -> usize {
        self.requests.len() + self.left_out.len() + self.ids.len() + self.quotes.records()
    }

    /// Reports what has no place here. Returns the votes.
    pub(crate) fn finish(mut self) -> Result<VoteTotals, TablesError> {
        self.lose("quotes of comments that have replies", self.quotes.left_out());
        for ((kind, what), count) in self.lost {
            self.sink.lost(Lost { what, count, kind }).map_err(TablesError::Sink)?;
        }
        Ok(self.votes)
    }

    pub(crate) fn hash(&self, value: impl Hash) -> u64 {
        self.hasher.hash_one(value)
    }

    pub(crate) fn report(&mut self, problem: Problem) -> Converted {
        self.sink.problem(problem).map_err(TablesError::Sink)
    }

    pub(crate) fn write(&mut self, record: Record) -> Converted {
        self.sink.record(record).map_err(TablesError::Sink)
    }

    pub(crate) fn lose(&mut self, what: impl Into<String>, count: u64) {
        if count > 0 {
            *self.lost.entry((None, what.into())).or_default() += count;
        }
    }

    /// Leaves a whole record out.
    pub(crate) fn skip(&mut self, kind: Kind, what: &str) {
        *self.lost.entry((Some(kind), what.to_owned())).or_default() += 1;
    }

    /// Rejects a row that was read.
    pub(crate) fn reject(&mut self, context: &Context<'_>, problem: Problem) -> Converted {
        self.report(problem)?;
        let (file, mut original) = (context.file, context.row.original);
        self.sink.rejected(file.kind, file.index, context.head, &mut original).map_err(TablesError::Sink)
    }

    /// Rejects a row that cannot be read.
    fn reject_unreadable(&mut self, file: &SourceFile<'_>, head: &[u8], row: &RejectedRow<'_>) -> Converted {
        self.report(file.problem(row.problem.to_string(), Action::Rejected).in_line(row.place.line))?;
        match row.original {
            Some(mut original) => self.sink.rejected(file.kind, file.index, head, &mut original),
            None => self.sink.rejected(file.kind, file.index, head, &mut file.reopen(&row.place)?),
        }
        .map_err(TablesError::Sink)
    }

    pub(crate) fn report_unknown_file(&mut self, input: &Input) -> Converted {
        self.report(Problem::new(input.name(), "the file is no table of a known kind", Action::Skipped))
    }

    pub(crate) fn warn_of_encoding(&mut self, file: &SourceFile<'_>) -> Converted {
        if file.encoding.evidence != Evidence::Guessed {
            return Ok(());
        }
        let warning = "the encoding is not known, so the file is read as windows-1252: --encoding names another one";
        self.report(file.problem(warning, Action::Changed))
    }

    /// Returns the id of a feature request or a changelog, or a digest of what identifies it.
    pub(crate) fn id_of<'b>(context: &Context<'b>, id: Column, title: &str, time: Column) -> Cow<'b, str> {
        match optional(context.cell(id)) {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(digest(&[title, context.cell(time).trim()])),
        }
    }

    /// Remembers the id of a feature request. Returns `false` for a repeated one, which is rejected.
    pub(crate) fn add_request(&mut self, context: &Context<'_>, column: Column, id: &str) -> Result<bool, TablesError> {
        let is_new = self.requests.insert(self.hash(id));
        if !is_new {
            self.reject_double(context, column, "an earlier record has the same title and time, and there is no id")?;
        }
        Ok(is_new)
    }

    /// Remembers the id of another record. Comments and notes have no id in common. Returns `false` for a repeated one.
    pub(crate) fn claim(&mut self, kind: Kind, id: &str) -> bool {
        let is_changelog = kind == Kind::Changelogs;
        self.ids.insert(self.hash((is_changelog, id)))
    }

    /// Remembers the id of another record, as [`Self::add_request`].
    pub(crate) fn add_record(&mut self, context: &Context<'_>, column: Column, id: &str) -> Result<bool, TablesError> {
        let is_new = self.claim(context.file.kind, id);
        if !is_new {
            self.reject_double(context, column, "an earlier record is the same, and there is no id")?;
        }
        Ok(is_new)
    }

    fn reject_double(&mut self, context: &Context<'_>, column: Column, without_id: &str) -> Converted {
        let id = optional(context.cell(column));
        let problem = if id.is_some() { "an earlier record has the same id" } else { without_id };
        self.reject(context, context.problem(id, column, problem, Action::Rejected))
    }

    /// Leaves a feature request out, and with it what belongs to it.
    pub(crate) fn leave_out_request(&mut self, id: &str, what: &str) {
        if self.left_out.insert(self.hash(id)) {
            self.skip(Kind::FeatureRequests, what);
        }
    }

    /// Whether a feature request is one of this run.
    pub(crate) fn is_here(&self, id: &str) -> bool {
        self.requests.contains(&self.hash(id))
    }

    /// Returns the id of the feature request that a record of a kind belongs to. `None` if there is none: the record is
    /// left out.
    pub(crate) fn read_request<'b>(
        &mut self,
        context: &Context<'b>,
        record: Option<&str>,
        column: Column,
        kind: Kind,
    ) -> Result<Option<&'b str>, TablesError> {
        let what = match kind {
            Kind::Votes => "votes for",
            Kind::Notes => "notes on",
            _ => "comments on",
        };
        let id = optional(context.cell(column));
        let problem = match id {
            Some(id) if self.is_here(id) => return Ok(Some(id)),
            Some(id) if self.left_out.contains(&self.hash(id)) => {
                self.skip(kind, &format!("{what} spam or deleted feature requests"));
                return Ok(None);
            }
            Some(id) if (self.options.is_known)(id) => return Ok(Some(id)),
            Some(_) => "there is no feature request with this id",
            None => "the id of the feature request is blank",
        };
        self.skip(kind, &format!("{what} unknown feature requests"));
        self.report(context.problem(record, column, problem, Action::Skipped))?;
        Ok(None)
    }

    /// Returns a title that fits, and the text that has the whole one before it if it was cut.
    pub(crate) fn fit_title(
        &mut self,
        context: &Context<'_>,
        id: &str,
        column: Column,
        title: &str,
        text: &str,
    ) -> Result<(String, String), TablesError> {
        let (short_title, whole_text) = fit_title(title, text);
        if short_title != title {
            let what = if context.file.kind == Kind::Changelogs { "text" } else { "description" };
            let problem = format!("the title is longer than 200 characters: it is cut, and whole before the {what}");
            self.report(context.problem(Some(id), column, problem, Action::Changed))?;
        }
        Ok((short_title.into_owned(), whole_text.into_owned()))
    }

    /// Returns the tags that a feature request can have. The others are listed.
    pub(crate) fn fit_tags(
        &mut self,
        context: &Context<'_>,
        id: &str,
        column: Column,
        tags: Tags,
    ) -> Result<Vec<String>, TablesError> {
        for tag in &tags.too_long {
            let problem = "tags have at most 50 characters";
            self.report(context.problem_of(Some(id), column, tag, problem, Action::Ignored))?;
        }
        if tags.rest > 0 {
            let problem = format!("a feature request has at most 20 tags: {} are left out", tags.rest);
            self.report(context.problem_of(Some(id), column, &tags.too_many.join(", "), problem, Action::Ignored))?;
        }
        Ok(tags.kept)
    }

    /// Returns how many votes of a feature request have no usable person, and counts them. `entries` are all listed
    /// voters, `unusable` those of them without a usable person.
    pub(crate) fn read_nameless_votes(
        &mut self,
        context: &Context<'_>,
        id: &str,
        column: Column,
        entries: u32,
        unusable: u32,
    ) -> Result<u32, TablesError> {
        let counted = count(context.cell(column));
        match counted {
            None => {
                self.report(context.problem(Some(id), column, "the count is no whole number", Action::Ignored))?;
            }
            Some(..0) => {
                self.report(context.problem(Some(id), column, "the count is below 0: it is 0", Action::Changed))?;
            }
            Some(_) => {}
        }
        let nameless = nameless_votes(counted.unwrap_or_default(), entries.into(), unusable.into());
        self.votes.nameless += u64::from(nameless);
        Ok(nameless)
    }

    pub(crate) fn read_time(
        &mut self,
        context: &Context<'_>,
        id: Option<&str>,
        column: Column,
    ) -> Result<Option<Timestamp>, TablesError> {
        match self.options.dates.read(context.cell(column)) {
            When::Missing => Ok(None),
            When::At(time) => Ok(Some(time)),
            When::Unusable(problem) => {
                self.report(context.problem(id, column, problem.to_string(), Action::Changed))?;
                Ok(None)
            }
        }
    }

    /// Returns whether a cell says yes. What says neither yes nor no is what `unclear` says.
    pub(crate) fn read_flag(
        &mut self,
        context: &Context<'_>,
        id: Option<&str>,
        column: Column,
        unclear: bool,
    ) -> Result<bool, TablesError> {
        match flag(context.cell(column)) {
            Some(value) => Ok(value),
            None => {
                let taken = if unclear { "yes" } else { "no" };
                let problem = format!("the value is neither yes nor no: it counts as {taken}");
                self.report(context.problem(id, column, problem, Action::Changed))?;
                Ok(unclear)
            }
        }
    }

    /// Returns a reply with a quote of its parent before it. What customers do not see is not quoted where they see it.
    pub(crate) fn add_quote(
        &mut self,
        context: &Context<'_>,
        id: &str,
        column: Column,
        body: &str,
        is_private: bool,
    ) -> Result<String, TablesError> {
        let Some(parent) = optional(context.cell(column)) else { return Ok(body.to_owned()) };
        let problem = match self.quotes.find(self.hash(parent)) {
            Some(quote) if quote.text.is_empty() => return Ok(body.to_owned()),
            Some(quote) if quote.is_private && !is_private => {
                "the reply is public, but the comment is not: it is not quoted"
            }
            Some(quote) => return Ok(with_quote(&quote.text, body)),
            None if self.quotes.left_out() > 0 => return Ok(body.to_owned()),
            None => "there is no comment with this id, so the reply quotes nothing",
        };
        self.report(context.problem(Some(id), column, problem, Action::Ignored))?;
        Ok(body.to_owned())
    }
}

/// Finds out whether all feature requests have the same board or category, which is no tag then.
#[derive(Default)]
pub(crate) struct Shared {
    name: Option<String>,
    requests: u64,
}

impl Shared {
    /// Adds the board or category of a feature request.
    pub(crate) fn add(&mut self, name: &str) {
        let name = line(name);
        self.name = match self.requests {
            0 => name,
            _ => self.name.take().filter(|before| name.as_ref() == Some(before)),
        };
        self.requests += 1;
    }

    /// Whether a board or category is that of all feature requests, of which there are at least two.
    pub(crate) fn is_of_all(&self, name: &str) -> bool {
        self.requests > 1 && self.name.is_some() && self.name == line(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_of_all_feature_requests_is_known() {
        for (boards, is_of_all) in [
            (&["a", " a "][..], true),
            (&["a"], false),
            (&["a", "a", "b"], false),
            (&["", "a"], false),
            (&["a", "", "a"], false),
            (&["", ""], false),
        ] {
            let mut shared = Shared::default();
            boards.iter().for_each(|board| shared.add(board));
            assert_eq!(shared.is_of_all("a"), is_of_all, "{boards:?}");
            assert!(!shared.is_of_all(""));
        }
    }
}
