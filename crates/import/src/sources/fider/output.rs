//! What becomes of the records of both forms, beyond what all sources do.

use std::io::Read;

use super::elements::{HEAD, SEPARATOR};
use super::rows::Status;
use super::{FiderError, Options};
use crate::records::{Action, Kind, Problem, Sink};
use crate::sources::csv::values::flag;
pub(super) use crate::sources::output::Spot;
use crate::sources::output::{self, Reading};

pub(super) type Converted = Result<(), FiderError>;

/// The sink of a conversion.
pub(super) type Output<'a> = output::Output<'a, FiderError>;

impl<'a> Output<'a> {
    pub(super) fn of_options(options: &Options, sink: &'a mut dyn Sink) -> Self {
        let Options { encoding, dates, max_records } = *options;
        Self::new(Reading { encoding, dates, max_records }, sink)
    }

    /// Rejects an element of a JSON file.
    pub(super) fn reject_element(
        &mut self,
        kind: Kind,
        problem: Problem,
        file: usize,
        original: impl Read,
    ) -> Converted {
        let separator = if self.begun.insert(file) { b"" } else { SEPARATOR };
        self.reject_row(kind, problem, file, HEAD, &mut separator.chain(original))
    }

    /// Reads a status. A number that no status has is listed.
    pub(super) fn read_status<'b>(&mut self, spot: Spot<'_>, text: &'b str) -> Result<Status<'b>, FiderError> {
        let status = Status::read(text);
        if status == Status::Unknown {
            self.report(spot.problem("status", text, "no status has this number", Action::Ignored))?;
        }
        Ok(status)
    }

    /// Reads a flag that is yes if it is missing. What is neither yes nor no counts as no.
    pub(super) fn read_flag(&mut self, spot: Spot<'_>, field: &'static str, text: &str) -> Result<bool, FiderError> {
        if text.trim().is_empty() {
            return Ok(true);
        }
        let value = flag(text);
        if value.is_none() {
            let problem = "the value is neither yes nor no: it counts as no";
            self.report(spot.problem(field, text, problem, Action::Changed))?;
        }
        Ok(value.unwrap_or_default())
    }
}
