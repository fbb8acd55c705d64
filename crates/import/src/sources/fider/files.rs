//! Which of the inputs are files of Fider.

use std::collections::HashMap;
use std::io::{self, Read};

use serde::de::DeserializeOwned;

use super::FiderError;
use super::elements::{Element, Elements, JsonError};
use crate::archive::Input;
use crate::encoding::detect;
use crate::table::{Header, Place, Table, TableError};
use crate::visible;

/// Bytes at the beginning of a CSV that have its header.
const CSV_HEAD: u64 = 64 * 1024;
/// Bytes at the beginning of a JSON file that have the keys of its first object, whose texts may be long.
const JSON_HEAD: u64 = 1024 * 1024;

/// Most folders that are searched for a backup.
const MAX_CANDIDATES: usize = 10;

const POSTS: &str = "posts.json";
/// The folder of the pictures and other files of a backup.
const BLOBS: &str = "blobs/";
/// The tables of a backup that are read.
const TABLES: [&str; 9] =
    ["tenants", "users", "tags", "post_tags", "posts", "post_votes", "post_subscribers", "comments", "attachments"];
/// The tables that have nothing to import, or secrets.
const UNREAD: [&str; 5] =
    ["oauth_providers", "email_verifications", "user_providers", "notifications", "user_settings"];

/// How many of [`POST_KEYS`] a post has at least, unless the table of votes is beside it.
const MIN_KEYS: usize = 3;
/// Keys of a post that say that it is of Fider.
const POST_KEYS: [&str; 9] = [
    "tenant_id",
    "number",
    "slug",
    "user_id",
    "original_id",
    "response_date",
    "response_user_id",
    "is_approved",
    "language",
];

/// Columns that only `posts.csv` has beside the number and the title.
const ONLY_COLUMNS: [&str; 4] = ["original_number", "responded_by", "responded_at", "responded_on"];

/// Keys of the JSON of other programs.
const OTHER_KEYS: [(&str, &str); 8] = [
    ("hasMore", "canny"),
    ("hasNextPage", "canny"),
    ("commentCount", "canny"),
    ("postCount", "canny"),
    ("html_url", "github"),
    ("stateReason", "github"),
    ("authorAssociation", "github"),
    ("labels", "github"),
];
/// Columns of the CSVs of other programs.
const OTHER_COLUMNS: [(&str, &str); 7] = [
    ("Idea Id", "uservoice"),
    ("suggestion.id", "uservoice"),
    ("voteValue", "clearflask"),
    ("post_status_id", "astuto"),
    ("slugId", "logchimp"),
    ("moderation_state", "quackback"),
    ("title", "csv"),
];

/// What the inputs are.
pub(super) enum Files<'a> {
    Backup(Tables<'a>),
    Posts(Vec<SourceFile<'a>>),
}

/// An input of Fider.
#[derive(Clone, Copy)]
pub(super) struct SourceFile<'a> {
    pub(super) index: usize,
    pub(super) input: &'a Input,
}

/// The tables of a backup.
pub(super) struct Tables<'a> {
    inputs: &'a [Input],
    posts: usize,
    /// What is before the names of all files of the backup.
    root: &'a str,
}

/// Finds the files of Fider among the inputs.
pub(super) fn find_files(inputs: &[Input]) -> Result<Files<'_>, FiderError> {
    let mut other = None;
    // A table that was renamed is known by its content.
    let is_posts = |input: &Input| root_of(input.name()).is_some() || (inputs.len() == 1 && !is_table(input.name()));
    let mut found: Vec<usize> = (0..inputs.len()).filter(|index| inputs.get(*index).is_some_and(is_posts)).collect();
    found.sort_by_key(|index| inputs.get(*index).map_or(0, |input| input.name().len()));
    for posts in found.into_iter().take(MAX_CANDIDATES) {
        let Some(input) = inputs.get(posts) else { continue };
        let head = SourceFile { index: posts, input }.head()?;
        let has = |key: &str| has_key(&head, key);
        let root = root_of(input.name()).unwrap_or_default();
        let tables = Tables { inputs, posts, root };
        let is_empty = ["[]", "null"].contains(&head.trim_end());
        let is_list_of_posts = head.starts_with('[') && has("title");
        let is_known =
            tables.find("post_votes").is_some() || POST_KEYS.iter().filter(|key| has(key)).count() >= MIN_KEYS;
        if (is_empty || is_list_of_posts) && is_known {
            return Ok(Files::Backup(tables));
        }
        let source = OTHER_KEYS.iter().find(|(key, _)| has(key)).map(|(_, source)| *source);
        other = other.or(source.map(|source| (input, source)));
    }
    let mut posts = Vec::new();
    let tables = inputs.iter().enumerate().filter(|(_, input)| inputs.len() == 1 || is_table(input.name()));
    for (index, input) in tables {
        let Some(header) = read_header(input)? else { continue };
        let has = |name: &str| header.position(name).is_some();
        if has("number") && has("title") && ONLY_COLUMNS.into_iter().any(has) {
            posts.push(SourceFile { index, input });
        } else {
            let source = OTHER_COLUMNS.iter().find(|(column, _)| has(column)).map(|(_, source)| *source);
            other = other.or(source.map(|source| (input, source)));
        }
    }
    match other {
        _ if !posts.is_empty() => Ok(Files::Posts(posts)),
        Some((input, source_name)) => Err(FiderError::OtherSource { file: shown(input), source_name }),
        None => Err(FiderError::NotFider),
    }
}

impl<'a> Tables<'a> {
    /// Returns the file of a table.
    pub(super) fn find(&self, table: &str) -> Option<SourceFile<'a>> {
        let index = match table {
            "posts" => self.posts,
            _ => self.inputs.iter().position(|input| self.table(input) == Some(table))?,
        };
        self.inputs.get(index).map(|input| SourceFile { index, input })
    }

    /// Returns the position of each blob by its key.
    pub(super) fn blobs(&self) -> HashMap<&'a str, usize> {
        let blobs = self.inputs.iter().enumerate();
        blobs.filter_map(|(index, input)| Some((self.blob(input)?, index))).collect()
    }

    /// Returns the key of the blob at a position.
    pub(super) fn key(&self, index: usize) -> Option<&'a str> {
        self.inputs.get(index).and_then(|input| self.blob(input))
    }

    /// Returns the inputs that are no part of a backup.
    pub(super) fn others(&self) -> Vec<&'a Input> {
        let is_known = |input: &Input| {
            let table = self.table(input);
            self.blob(input).is_some() || table.is_some_and(|table| TABLES.contains(&table) || UNREAD.contains(&table))
        };
        let others = self.inputs.iter().enumerate().filter(|(index, input)| *index != self.posts && !is_known(input));
        others.map(|(_, input)| input).collect()
    }

    fn table<'b>(&self, input: &'b Input) -> Option<&'b str> {
        input.name().strip_prefix(self.root)?.strip_suffix(".json")
    }

    fn blob<'b>(&self, input: &'b Input) -> Option<&'b str> {
        input.name().strip_prefix(self.root)?.strip_prefix(BLOBS)
    }
}

impl SourceFile<'_> {
    /// Calls `each` for every row of a table.
    pub(super) fn read<T: DeserializeOwned>(
        &self,
        mut each: impl FnMut(Element<'_, T>) -> Result<(), FiderError>,
    ) -> Result<(), FiderError> {
        let file = self.input.open().map_err(|source| read_error(self.input, source))?;
        let mut elements = Elements::open(file).map_err(|problem| self.json_error(problem))?;
        while let Some(element) = elements.read().map_err(|problem| self.json_error(problem))? {
            each(element)?;
        }
        Ok(())
    }

    /// Opens the file at a record.
    pub(super) fn reopen(&self, place: &Place) -> Result<io::Take<Box<dyn Read + Send>>, FiderError> {
        let open = || {
            let mut file = self.input.open()?;
            io::copy(&mut file.by_ref().take(place.span.start), &mut io::sink())?;
            Ok(file.take(place.span.end - place.span.start))
        };
        open().map_err(|source| read_error(self.input, source))
    }

    /// Returns the beginning of the file.
    fn head(&self) -> Result<String, FiderError> {
        let mut head = Vec::new();
        let mut read = || self.input.open()?.take(JSON_HEAD).read_to_end(&mut head);
        read().map_err(|source| read_error(self.input, source))?;
        Ok(String::from_utf8_lossy(&head).trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace()).to_owned())
    }

    fn json_error(&self, problem: JsonError) -> FiderError {
        match problem {
            JsonError::Read(source) => read_error(self.input, source),
            problem => FiderError::Json { file: shown(self.input), problem },
        }
    }
}

/// Returns what is before the name of the table of posts. `None` for other names.
fn root_of(name: &str) -> Option<&str> {
    name.strip_suffix(POSTS).filter(|root| root.is_empty() || root.ends_with('/'))
}

/// Whether a text in JSON has a key. In the text of a value, the quotes around it are escaped.
fn has_key(json: &str, key: &str) -> bool {
    let quoted = format!("\"{key}\"");
    json.match_indices(&quoted)
        .any(|(start, _)| json.get(start + quoted.len()..).is_some_and(|after| after.trim_start().starts_with(':')))
}

/// Whether a file says that it is a table by the end of its name.
fn is_table(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["csv", "tsv", "tab"].iter().any(|table| extension.eq_ignore_ascii_case(table))
}

/// Reads the header of a table. `None` if there is none.
fn read_header(input: &Input) -> Result<Option<Header>, FiderError> {
    let mut head = Vec::new();
    let mut read = || input.open()?.take(CSV_HEAD).read_to_end(&mut head);
    read().map_err(|source| read_error(input, source))?;
    let Ok(detected) = detect(&*head, None) else { return Ok(None) };
    Ok(Table::open(&*head, detected, None).ok().map(|table| table.header().clone()))
}

pub(super) fn read_error(input: &Input, source: io::Error) -> FiderError {
    FiderError::Read { file: shown(input), source }
}

pub(super) fn table_error(input: &Input, problem: TableError) -> FiderError {
    match problem {
        TableError::Read(source) => read_error(input, source),
        problem => FiderError::Table { file: shown(input), problem },
    }
}

fn shown(input: &Input) -> String {
    visible(input.name(), 200)
}
