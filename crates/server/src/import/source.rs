//! The programs whose files can be imported, and how these are read.

use anyhow::bail;
use encoding_rs::Encoding;
use roadmap_domain::model::export::{Kind, MANIFEST};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_import::archive::Input;
use roadmap_import::dates::{Dates, DayOrder};
use roadmap_import::records::{Sink, VoteTotals};
use roadmap_import::sources::csv::{FieldMap, MAX_RECORDS};
use roadmap_import::sources::{astuto, canny, clearflask, csv, fider, github, logchimp, quackback, uservoice};

/// A program whose files can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Csv,
    Astuto,
    Canny,
    Clearflask,
    Fider,
    Github,
    Logchimp,
    Quackback,
    Uservoice,
}

impl Source {
    /// Returns the name of the command, which is also that of the installation if nothing else is said.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Astuto => "astuto",
            Self::Canny => "canny",
            Self::Clearflask => "clearflask",
            Self::Fider => "fider",
            Self::Github => "github",
            Self::Logchimp => "logchimp",
            Self::Quackback => "quackback",
            Self::Uservoice => "uservoice",
        }
    }

    /// The names of the sources, and what people call the programs.
    pub(crate) const NAMES: [(&str, &str); 9] = [
        ("csv", "CSV"),
        ("astuto", "Astuto"),
        ("canny", "Canny"),
        ("clearflask", "ClearFlask"),
        ("fider", "Fider"),
        ("github", "GitHub"),
        ("logchimp", "LogChimp"),
        ("quackback", "Quackback"),
        ("uservoice", "UserVoice"),
    ];
    const ALL: [Self; 9] = [
        Self::Csv,
        Self::Astuto,
        Self::Canny,
        Self::Clearflask,
        Self::Fider,
        Self::Github,
        Self::Logchimp,
        Self::Quackback,
        Self::Uservoice,
    ];

    /// Returns the source of a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }

    /// Returns the columns of the first table with feature requests, or of the first table, with the fields that they fill.
    /// Nothing if the source has tables of its own.
    pub(crate) fn columns(self, inputs: &[Input], reading: &Reading) -> Vec<(String, Option<csv::Field>)> {
        if self != Self::Csv {
            return Vec::new();
        }
        let (encoding, delimiter) = (reading.encoding, reading.delimiter);
        let dates = Dates { order: reading.order, now: Timestamp::MAX };
        let options = csv::Options {
            map: &reading.map,
            encoding,
            delimiter,
            dates,
            is_known: &|_| false,
            max_records: MAX_RECORDS,
        };
        let mut tables: Vec<_> = inputs.iter().filter_map(|input| csv::inspect(input, &options).ok()).collect();
        tables.sort_by_key(|table| table.kind != Some(csv::FileKind::FeatureRequests));
        tables.into_iter().next().map(|table| table.columns).unwrap_or_default()
    }

    /// Refuses the files of another program.
    pub(crate) fn check(self, inputs: &[Input]) -> anyhow::Result<()> {
        let has = |name: &str| inputs.iter().any(|input| input.name() == name);
        if has(MANIFEST) && has(Kind::FeatureRequests.file()) {
            bail!("the files are those of an export of this service: restore them with `roadmap import roadmap`");
        }
        type Recognize = fn(&[Input]) -> bool;
        // Those whose files have columns of their own come first.
        let programs: [(&str, Self, Recognize); 8] = [
            ("UserVoice", Self::Uservoice, uservoice::recognizes),
            ("Astuto", Self::Astuto, astuto::recognizes),
            ("LogChimp", Self::Logchimp, logchimp::recognizes),
            ("Quackback", Self::Quackback, quackback::recognizes),
            ("ClearFlask", Self::Clearflask, clearflask::recognizes),
            ("GitHub", Self::Github, github::recognizes),
            ("Fider", Self::Fider, fider::recognizes),
            ("Canny", Self::Canny, canny::recognizes),
        ];
        let found = programs.into_iter().find(|(_, _, recognizes)| recognizes(inputs));
        match found {
            Some((_, source, _)) if source == self => Ok(()),
            // Its tables are tables of any program.
            Some((_, Self::Fider, _)) if self == Self::Csv && !is_backup(inputs) => Ok(()),
            Some((program, source, _)) => {
                bail!("the files are those of {program}: import them with `roadmap import {}`", source.name())
            }
            None => Ok(()),
        }
    }

    /// Reads all of the input.
    pub(crate) fn convert(
        self,
        inputs: &[Input],
        reading: &Reading,
        now: Timestamp,
        is_known: &dyn Fn(&str) -> bool,
        sink: &mut dyn Sink,
    ) -> anyhow::Result<VoteTotals> {
        let (encoding, delimiter) = (reading.encoding, reading.delimiter);
        let (dates, max_records) = (Dates { order: reading.order, now }, MAX_RECORDS);
        let tables = uservoice::Options { encoding, delimiter, dates, is_known, max_records };
        Ok(match self {
            Self::Csv => {
                let options = csv::Options { map: &reading.map, encoding, delimiter, dates, is_known, max_records };
                csv::convert(inputs, &options, sink)?.votes
            }
            // Its spreadsheets are those of any program.
            Self::Canny if !canny::recognizes(inputs) && !is_backup(inputs) => {
                let options = csv::Options { map: &reading.map, encoding, delimiter, dates, is_known, max_records };
                csv::convert(inputs, &options, sink)?.votes
            }
            Self::Canny => {
                let options = canny::Options { encoding, dates, is_known, max_records };
                canny::convert(inputs, &options, sink)?
            }
            Self::Fider => fider::convert(inputs, &fider::Options { encoding, dates, max_records }, sink)?,
            Self::Github => {
                let options = github::Options { encoding, dates, is_known, max_records };
                github::convert(inputs, &options, sink)?.votes
            }
            Self::Astuto | Self::Logchimp => {
                let convert = if self == Self::Astuto { astuto::convert } else { logchimp::convert };
                convert(inputs, &tables, sink)?
            }
            Self::Clearflask => clearflask::convert(inputs, &tables, sink)?,
            Self::Quackback => quackback::convert(inputs, &tables, sink)?,
            Self::Uservoice => uservoice::convert(inputs, &tables, sink)?.votes,
        })
    }
}

/// Whether files are no tables.
fn is_backup(inputs: &[Input]) -> bool {
    inputs.iter().any(|input| input.name().ends_with(".json"))
}

/// Returns the character of an option between columns: one character, or `tab`. `None`: it is none of these.
pub(crate) fn delimiter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        b"tab" => Some(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Some(*byte),
        _ => None,
    }
}

/// How files are read.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) map: FieldMap,
    /// The map as it was typed.
    pub(crate) map_texts: Vec<String>,
    pub(crate) encoding: Option<&'static Encoding>,
    pub(crate) delimiter: Option<u8>,
    pub(crate) order: Option<DayOrder>,
}
