//! The files of a run, what their records are, and the record that is being converted.

use std::borrow::Cow;

use super::CannyError;
use crate::archive::Input;
use crate::encoding::Detected;
use crate::json::{Element, JsonError, Object, Value, read_elements};
use crate::records::{Action, Kind, Origin, Problem};
use crate::visible;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordKind {
    Board,
    Post,
    Vote,
    Comment,
    StatusChange,
    Entry,
}

impl RecordKind {
    /// The names of lists. `items` has records of any kind.
    pub(super) const LISTS: [&'static str; 8] =
        ["boards", "posts", "votes", "comments", "statusChanges", "status_changes", "entries", "items"];

    /// The kinds that become records, in the order in which they are written. Boards are only read ahead.
    pub(super) const IN_ORDER: [Self; 5] = [Self::Post, Self::Vote, Self::Comment, Self::StatusChange, Self::Entry];

    /// Returns what a record is by the list that has it, or by its own keys.
    pub(super) fn of(list: Option<&str>, object: &Object<'_>) -> Option<Self> {
        list.and_then(Self::of_list).or_else(|| Self::of_keys(object))
    }

    pub(super) fn of_list(list: &str) -> Option<Self> {
        match list {
            "boards" => Some(Self::Board),
            "posts" => Some(Self::Post),
            "votes" => Some(Self::Vote),
            "comments" => Some(Self::Comment),
            "statusChanges" | "status_changes" => Some(Self::StatusChange),
            "entries" => Some(Self::Entry),
            _ => None,
        }
    }

    fn of_keys(object: &Object<'_>) -> Option<Self> {
        let has_any = |keys: &[&str]| keys.iter().any(|key| object.has(key));
        if has_any(&["voter", "voterID"]) {
            Some(Self::Vote)
        } else if has_any(&["changer", "changerID"]) || (object.has("changeComment") && !object.has("title")) {
            Some(Self::StatusChange)
        } else if object.has("value") && has_any(&["post", "postID", "parentID", "author", "authorID"]) {
            Some(Self::Comment)
        } else if has_any(&["markdownDetails", "plaintextDetails", "publishedAt", "scheduledFor"]) {
            Some(Self::Entry)
        } else if object.has("title") && !has_any(&["number", "body", "description", "html_url"]) {
            Some(Self::Post)
        } else if has_any(&["isPrivate", "privateComments"]) && object.has("name") {
            Some(Self::Board)
        } else {
            None
        }
    }

    /// The kind of its records, as reports count them. Notes among comments count as comments until they are read.
    pub(super) fn records(self) -> Kind {
        match self {
            Self::Board | Self::Post => Kind::FeatureRequests,
            Self::Vote => Kind::Votes,
            Self::Comment => Kind::Comments,
            Self::StatusChange => Kind::Moves,
            Self::Entry => Kind::Changelogs,
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Whether only Canny has records like this one.
pub(super) fn is_of_canny(object: &Object<'_>) -> bool {
    let has_all = |keys: &[&str]| keys.iter().all(|key| object.has(key));
    match RecordKind::of_keys(object) {
        Some(RecordKind::Vote) => has_all(&["voter", "post"]),
        Some(RecordKind::StatusChange) => has_all(&["changer", "post"]),
        Some(RecordKind::Comment) => has_all(&["value", "post", "created"]),
        Some(RecordKind::Entry) => object.has("markdownDetails") || object.has("plaintextDetails"),
        Some(RecordKind::Post) => has_all(&["board", "created"]) && (object.has("score") || object.has("details")),
        Some(RecordKind::Board) => has_all(&["isPrivate", "postCount"]),
        None => false,
    }
}

/// Returns what a record of another program looks like.
fn looks_like(object: &Object<'_>) -> Option<&'static str> {
    let has_all = |keys: &[&str]| keys.iter().all(|key| object.has(key));
    if !has_all(&["number", "title"]) {
        None
    } else if ["html_url", "labels", "closedAt", "upvoteCount"].iter().any(|key| object.has(key)) {
        Some("issues or discussions of GitHub")
    } else {
        Some("posts of Fider")
    }
}

/// The kinds of records that a file has.
#[derive(Clone, Copy, Default)]
pub(super) struct Kinds {
    bits: u8,
    /// The first one beside boards, which records that cannot be read are taken for.
    first: Option<RecordKind>,
}

impl Kinds {
    pub(super) fn add(&mut self, kind: RecordKind) {
        self.bits |= kind.bit();
        if kind != RecordKind::Board {
            self.first.get_or_insert(kind);
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.bits == 0
    }

    pub(super) fn has_only_boards(self) -> bool {
        self.first.is_none()
    }
}

/// A file of Canny.
pub(super) struct SourceFile<'a> {
    pub(super) index: usize,
    pub(super) input: &'a Input,
    pub(super) encoding: Detected,
    pub(super) kinds: Kinds,
    /// Whether it has lists with names.
    pub(super) has_lists: bool,
}

impl SourceFile<'_> {
    pub(super) fn has(&self, kind: RecordKind) -> bool {
        self.kinds.bits & kind.bit() != 0
    }

    /// Returns what an element is that cannot be read. `None` if it may be no record: a page without a known list.
    pub(super) fn kind_of_unreadable(&self, element: &Element<'_>) -> Option<RecordKind> {
        let may_be_page = self.has_lists && !element.is_listed;
        element.list.and_then(RecordKind::of_list).or(self.kinds.first.filter(|_| !may_be_page))
    }

    /// Calls `each` for every element. Returns the names of the lists that there are.
    pub(super) fn read(
        &self,
        mut each: impl FnMut(Element<'_>) -> Result<(), CannyError>,
    ) -> Result<Vec<&'static str>, CannyError> {
        let file = self.input.open().map_err(|source| self.error(source.into()))?;
        let mut failed = None;
        let read = read_elements(file, self.encoding, &RecordKind::LISTS, &mut |element| {
            // An error of the conversion ends the reading, and goes on outside.
            Ok::<_, JsonError>(each(element).map_err(|error| failed = Some(error)).is_ok())
        });
        match failed {
            Some(error) => Err(error),
            None => read.map_err(|problem| self.error(problem)),
        }
    }

    pub(super) fn error(&self, problem: JsonError) -> CannyError {
        CannyError::Json { file: visible(self.input.name(), 200), problem }
    }

    pub(super) fn problem(&self, problem: impl Into<String>, action: Action) -> Problem {
        Problem::new(self.input.name(), problem, action)
    }
}

/// Returns why a file has nothing of Canny. `first` is its first record.
pub(super) fn refusal(input: &Input, first: Option<&Object<'_>>) -> CannyError {
    let file = visible(input.name(), 200);
    match first.and_then(looks_like) {
        Some(looks_like) => CannyError::OtherSource { file, looks_like },
        None => CannyError::NoList { file },
    }
}

/// The record that is being converted.
pub(super) struct Context<'a> {
    pub(super) file: &'a SourceFile<'a>,
    pub(super) line: u64,
    pub(super) kind: RecordKind,
    /// What is kept of it if it is rejected.
    pub(super) original: &'a [u8],
    pub(super) object: &'a Object<'a>,
}

impl<'a> Context<'a> {
    pub(super) fn get(&self, key: &str) -> Value<'a> {
        self.object.get(key)
    }

    /// Returns a text without white space around it. `None` if it is blank, or no text.
    pub(super) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        trimmed(self.get(key))
    }

    pub(super) fn origin(&self) -> Origin {
        Origin { file: self.file.index, line: self.line }
    }

    pub(super) fn problem(&self, id: Option<&str>, problem: impl Into<String>, action: Action) -> Problem {
        let problem = self.file.problem(problem, action).in_line(self.line);
        match id {
            Some(id) => problem.of_record(id),
            None => problem,
        }
    }

    pub(super) fn problem_of(
        &self,
        id: Option<&str>,
        field: &'static str,
        problem: impl Into<String>,
        action: Action,
    ) -> Problem {
        self.problem(id, problem, action).of_value(field, &self.get(field).shown())
    }
}

/// Returns a text without white space around it. `None` if it is blank, or no text.
pub(super) fn trimmed(value: Value<'_>) -> Option<Cow<'_, str>> {
    let text = match value.text()? {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    };
    (!text.is_empty()).then_some(text)
}

/// Returns the id of an object that is written as an object or as its id: `post` or `postID`.
pub(super) fn id_of<'a>(object: &Object<'a>, key: &str, flat_key: &str) -> Option<Cow<'a, str>> {
    let value = object.get(key);
    match value.object() {
        Some(inner) => trimmed(inner.get("id")),
        None => trimmed(value),
    }
    .or_else(|| trimmed(object.get(flat_key)))
}
