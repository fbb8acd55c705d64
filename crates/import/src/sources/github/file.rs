//! The files of a run, and the object that is being converted.

use std::io::{self, Read};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::element::{Element, looks_like};
use super::json::{Found, Item, JsonError, Object, Objects, Shape};
use super::{GithubError, Options};
use crate::archive::Input;
use crate::encoding::{Detected, detect};
use crate::records::{Action, Origin, Problem};
use crate::table::Place;
use crate::visible;

/// Bytes of the beginning of a file by which it is recognized.
const SAMPLE: u64 = 64 * 1024;

/// The objects of answers, and the keys that only issues, discussions and comments have.
const SHAPE: Shape = Shape {
    wrappers: &[
        "data",
        "organization",
        "viewer",
        "user",
        "repository",
        "repositories",
        "search",
        "issues",
        "issue",
        "discussions",
        "discussion",
        "nodes",
        "edges",
        "node",
        "items",
    ],
    marks: &["number", "title", "issue_url"],
};

/// Whether the first object of a file is of GitHub. Whatever cannot be read is not.
pub(super) fn is_recognized(input: &Input) -> bool {
    let first = || -> Result<bool, JsonError> {
        let encoding = detect(input.open()?.take(SAMPLE), None)?;
        let mut objects = Objects::open(input.open()?, encoding, SHAPE)?;
        while let Some(item) = objects.read()? {
            let Item::Object(found) = item else { return Ok(false) };
            match Object::parse(&found.text).map(Element) {
                Some(element) if element.0.is_empty() => {}
                element => return Ok(element.is_some_and(|element| element.is_of_github())),
            }
        }
        Ok(false)
    };
    first().unwrap_or_default()
}

/// A file with JSON.
pub(super) struct SourceFile<'a> {
    pub(super) index: usize,
    pub(super) input: &'a Input,
    pub(super) encoding: Detected,
    /// What goes before the first rejected object, and before others.
    pub(super) head: Vec<u8>,
    pub(super) separator: Vec<u8>,
}

impl<'a> SourceFile<'a> {
    pub(super) fn new(index: usize, input: &'a Input, options: &Options<'_>) -> Result<Self, GithubError> {
        let read = |source| read_error(input, source);
        let encoding = detect(input.open().map_err(read)?, options.encoding).map_err(read)?;
        let mut head = Vec::new();
        input.open().map_err(read)?.take(encoding.bom_length as u64).read_to_end(&mut head).map_err(read)?;
        head.extend(encode(b'[', encoding.encoding));
        Ok(Self { index, input, encoding, head, separator: encode(b',', encoding.encoding) })
    }

    /// Calls `each` for every object and everything else until it returns `false`.
    pub(super) fn read(&self, mut each: impl FnMut(Item<'_>) -> Result<bool, GithubError>) -> Result<(), GithubError> {
        let file = self.input.open().map_err(|source| read_error(self.input, source))?;
        let json = |problem| json_error(self.input, problem);
        let mut objects = Objects::open(file, self.encoding, SHAPE).map_err(json)?;
        while let Some(item) = objects.read().map_err(json)? {
            if !each(item)? {
                break;
            }
        }
        Ok(())
    }

    /// Checks that the first object is of GitHub. A file without any object has nothing else either.
    pub(super) fn check(&self) -> Result<(), GithubError> {
        let mut found = None;
        let read = self.read(|item| {
            found = match item {
                Item::Object(object) => match Object::parse(&object.text).map(Element) {
                    // GraphQL writes what is of another type as an empty object.
                    Some(element) if element.0.is_empty() => return Ok(true),
                    Some(element) if element.is_of_github() => None,
                    Some(element) => Some(looks_like(&element.0)),
                    None => Some("its first object is no valid JSON".to_owned()),
                },
                Item::NoObject { line } => Some(format!("line {line} has something that is no object")),
                Item::Rejected(_) => None,
            };
            Ok(false)
        });
        read.and(match found {
            None => Ok(()),
            Some(found) => Err(GithubError::Foreign { file: visible(self.input.name(), 200), found }),
        })
    }

    pub(super) fn problem(&self, problem: impl Into<String>, action: Action) -> Problem {
        Problem::new(self.input.name(), problem, action)
    }

    /// Opens the input at an object.
    pub(super) fn reopen(&self, place: &Place) -> Result<impl Read, GithubError> {
        let open = || {
            let mut file = self.input.open()?;
            io::copy(&mut file.by_ref().take(place.span.start), &mut io::sink())?;
            Ok(file.take(place.span.end - place.span.start))
        };
        open().map_err(|source| read_error(self.input, source))
    }
}

pub(super) fn json_error(input: &Input, problem: JsonError) -> GithubError {
    match problem {
        JsonError::Read(source) => read_error(input, source),
        problem => GithubError::Json { file: visible(input.name(), 200), problem },
    }
}

fn read_error(input: &Input, source: io::Error) -> GithubError {
    GithubError::Read { file: visible(input.name(), 200), source }
}

fn encode(character: u8, encoding: &'static Encoding) -> Vec<u8> {
    match encoding {
        encoding if encoding == UTF_16LE => vec![character, 0],
        encoding if encoding == UTF_16BE => vec![0, character],
        _ => vec![character],
    }
}

/// The object of the file that is being converted.
pub(super) struct Context<'a> {
    pub(super) file: &'a SourceFile<'a>,
    pub(super) found: &'a Found<'a>,
}

impl Context<'_> {
    pub(super) fn origin(&self) -> Origin {
        Origin { file: self.file.index, line: self.found.place.line }
    }

    /// A problem of a record of the object.
    pub(super) fn problem(&self, id: Option<&str>, problem: impl Into<String>, action: Action) -> Problem {
        let problem = self.file.problem(problem, action).in_line(self.found.place.line);
        match id {
            Some(id) => problem.of_record(id),
            None => problem,
        }
    }
}
