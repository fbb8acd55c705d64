//! What becomes of the records of a source: values are read, and problems are listed.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read};
use std::marker::PhantomData;

use encoding_rs::Encoding;
use roadmap_domain::model::timestamp::Timestamp;

use super::csv::values::{Tags, fit_title};
use crate::archive::Input;
use crate::dates::{Dates, When};
use crate::records::{Action, Kind, Lost, Origin, Problem, Record, Sink, VoteTotals};

/// The output cannot be stored.
#[derive(Debug)]
pub(super) struct SinkFailed(pub(super) io::Error);

/// Where a value is.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    pub(super) input: &'a Input,
    pub(super) origin: Origin,
    /// The id of the record.
    pub(super) id: Option<&'a str>,
}

impl<'a> Spot<'a> {
    pub(super) fn of_record(self, id: &'a str) -> Self {
        Self { id: Some(id).filter(|id| !id.is_empty()), ..self }
    }

    pub(super) fn problem(
        &self,
        field: &'static str,
        value: &str,
        problem: impl Into<String>,
        action: Action,
    ) -> Problem {
        self.whole_problem(problem, action).of_value(field, value)
    }

    /// Creates a problem of the whole record.
    pub(super) fn whole_problem(&self, problem: impl Into<String>, action: Action) -> Problem {
        let problem = Problem::new(self.input.name(), problem, action).in_line(self.origin.line);
        match self.id {
            Some(id) => problem.of_record(id),
            None => problem,
        }
    }
}

/// How files are read.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) encoding: Option<&'static Encoding>,
    pub(super) dates: Dates,
    pub(super) max_records: usize,
}

/// The sink of a conversion that fails with `E`.
pub(super) struct Output<'a, E> {
    pub(super) reading: Reading,
    sink: &'a mut dyn Sink,
    pub(super) votes: VoteTotals,
    lost: BTreeMap<(Option<Kind>, String), u64>,
    /// The positions of the files of which a record was rejected.
    pub(super) begun: HashSet<usize>,
    error: PhantomData<E>,
}

impl<'a, E: From<SinkFailed>> Output<'a, E> {
    pub(super) fn new(reading: Reading, sink: &'a mut dyn Sink) -> Self {
        let votes = VoteTotals::default();
        Self { reading, sink, votes, lost: BTreeMap::new(), begun: HashSet::new(), error: PhantomData }
    }

    /// Reports what has no place here. Returns the votes.
    pub(super) fn finish(self) -> Result<VoteTotals, E> {
        for ((kind, what), count) in self.lost {
            self.sink.lost(Lost { what, count, kind }).map_err(SinkFailed)?;
        }
        Ok(self.votes)
    }

    pub(super) fn report(&mut self, problem: Problem) -> Result<(), E> {
        Ok(self.sink.problem(problem).map_err(SinkFailed)?)
    }

    pub(super) fn report_unknown_file(&mut self, input: &Input) -> Result<(), E> {
        let is_zip = input.name().to_ascii_lowercase().ends_with(".zip");
        let problem = if is_zip {
            "an archive beside other files is not opened: import it alone"
        } else {
            "the file is no table of a known kind"
        };
        self.report(Problem::new(input.name(), problem, Action::Skipped))
    }

    pub(super) fn write(&mut self, record: Record) -> Result<(), E> {
        Ok(self.sink.record(record).map_err(SinkFailed)?)
    }

    pub(super) fn lose(&mut self, what: impl Into<String>, count: u64) {
        if count > 0 {
            *self.lost.entry((None, what.into())).or_default() += count;
        }
    }

    /// Leaves a record out.
    pub(super) fn skip(&mut self, kind: Kind, why: &str) {
        *self.lost.entry((Some(kind), why.to_owned())).or_default() += 1;
    }

    /// Rejects a record of a CSV.
    pub(super) fn reject_row(
        &mut self,
        kind: Kind,
        problem: Problem,
        file: usize,
        head: &[u8],
        original: &mut dyn Read,
    ) -> Result<(), E> {
        self.report(problem)?;
        Ok(self.sink.rejected(kind, file, head, original).map_err(SinkFailed)?)
    }

    /// Reads a time. An unusable one is listed.
    pub(super) fn read_time(
        &mut self,
        spot: Spot<'_>,
        field: &'static str,
        text: &str,
    ) -> Result<Option<Timestamp>, E> {
        match self.reading.dates.read(text) {
            When::Missing => Ok(None),
            When::At(time) => Ok(Some(time)),
            When::Unusable(problem) => {
                self.report(spot.problem(field, text, problem.to_string(), Action::Changed))?;
                Ok(None)
            }
        }
    }

    /// Returns a title that fits, and the description.
    pub(super) fn fit_title(
        &mut self,
        spot: Spot<'_>,
        title: String,
        description: String,
    ) -> Result<(String, String), E> {
        let (short, whole) = fit_title(&title, &description);
        if short != title {
            let problem = "the title is longer than 200 characters: it is cut, and whole before the description";
            self.report(spot.problem("title", &title, problem, Action::Changed))?;
        }
        Ok((short.into_owned(), whole.into_owned()))
    }

    /// Returns the tags that a feature request can have. The others are listed.
    pub(super) fn fit_tags(&mut self, spot: Spot<'_>, tags: Tags) -> Result<Vec<String>, E> {
        for tag in &tags.too_long {
            self.report(spot.problem("tags", tag, "tags have at most 50 characters", Action::Ignored))?;
        }
        if tags.rest > 0 {
            let problem = format!("a feature request has at most 20 tags: {} are left out", tags.rest);
            self.report(spot.problem("tags", &tags.too_many.join(", "), problem, Action::Ignored))?;
        }
        Ok(tags.kept)
    }
}
