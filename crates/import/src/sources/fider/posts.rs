//! The `posts.csv` of Fider: feature requests and answers, without voters, comments and addresses.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::FiderError;
use super::files::{SourceFile, read_error, table_error};
use super::output::{Converted, Output, Spot};
use super::rows::{Status, answer_id, post_number, url};
use crate::encoding::{Evidence, detect};
use crate::records::{Action, Comment, FeatureRequest, Kind, Origin, Problem, Record};
use crate::sources::csv::values::{Tags, count, digest, line, nameless_votes, optional};
use crate::table::{Header, Item, Row, Table};
use crate::visible;

const NAMES_WITHOUT_ADDRESS: &str = "names without an address";

/// The columns, with the names that older versions give them. The title of the original says nothing more.
const COLUMNS: [&[&str]; 14] = [
    &["number"],
    &["title"],
    &["description"],
    &["created_at", "created_on"],
    &["created_by"],
    &["votes_count", "total_votes"],
    &["comments_count", "total_comments"],
    &["status"],
    &["responded_by"],
    &["responded_at", "responded_on"],
    &["response"],
    &["original_number"],
    &["original_title"],
    &["tags"],
];

/// The ids of the feature requests of all files.
#[derive(Default)]
pub(super) struct Ids {
    hasher: RandomState,
    hashes: HashSet<u64>,
}

/// Converts all records of a file.
pub(super) fn convert(file: &SourceFile<'_>, ids: &mut Ids, output: &mut Output<'_>) -> Converted {
    let read = |source| read_error(file.input, source);
    let encoding = detect(file.input.open().map_err(read)?, output.reading.encoding).map_err(read)?;
    let mut table = Table::open(file.input.open().map_err(read)?, encoding, None)
        .map_err(|problem| table_error(file.input, problem))?;
    if encoding.evidence == Evidence::Guessed {
        let warning = "the encoding is not known, so the file is read as windows-1252: --encoding names another one";
        output.report(Problem::new(file.input.name(), warning, Action::Changed))?;
    }
    let hint = "the file has no voters, comments and addresses: the `backup.zip` of Fider also has these";
    output.report(Problem::new(file.input.name(), hint, Action::Ignored))?;

    let (header, head) = (table.header().clone(), table.head().to_vec());
    let mut posts = Posts { file, output, header: &header, head: &head, ids };
    let unused = unused_columns(&header);
    let mut lost = vec![0_u64; unused.len()];
    while let Some(item) = table.read().map_err(read)? {
        match item {
            Item::Row(row) => {
                for (position, lost) in unused.iter().zip(&mut lost) {
                    *lost += u64::from(!row.cell(*position).trim().is_empty());
                }
                posts.convert(&row)?;
            }
            Item::Rejected(row) => {
                let problem = posts.spot(row.place.line).whole_problem(row.problem.to_string(), Action::Rejected);
                match row.original {
                    Some(mut original) => {
                        posts.output.reject_row(Kind::FeatureRequests, problem, file.index, &head, &mut original)?
                    }
                    None => {
                        let mut original = file.reopen(&row.place)?;
                        posts.output.reject_row(Kind::FeatureRequests, problem, file.index, &head, &mut original)?;
                    }
                }
            }
        }
    }
    for (position, lost) in unused.into_iter().zip(lost).filter(|(_, lost)| *lost > 0) {
        let name = header.names().get(position).map_or("", String::as_str);
        output.lose(format!("column {}", visible(name, 80)), lost);
    }
    Ok(())
}

/// Returns the positions of the columns that have no meaning here.
fn unused_columns(header: &Header) -> Vec<usize> {
    let used: Vec<usize> = COLUMNS.iter().filter_map(|names| position(header, names)).collect();
    (0..header.names().len()).filter(|position| !used.contains(position)).collect()
}

fn position(header: &Header, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| header.position(name))
}

/// Returns the cell of a column by its name today.
fn cell<'a>(header: &Header, row: &Row<'a>, name: &str) -> &'a str {
    let names = COLUMNS.iter().find(|names| names.first() == Some(&name));
    names.and_then(|names| position(header, names)).map_or("", |position| row.cell(position))
}

/// A conversion of one file.
struct Posts<'a, 'b> {
    file: &'a SourceFile<'a>,
    output: &'a mut Output<'b>,
    header: &'a Header,
    head: &'a [u8],
    ids: &'a mut Ids,
}

impl<'a> Posts<'a, '_> {
    fn spot(&self, line: u64) -> Spot<'a> {
        Spot { input: self.file.input, origin: Origin { file: self.file.index, line }, id: None }
    }

    fn convert(&mut self, row: &Row<'_>) -> Converted {
        let header = self.header;
        let cell = |name| cell(header, row, name);
        let number = post_number(cell("number"));
        let id = match (number, optional(cell("number"))) {
            (Some(number), _) => number.to_string(),
            (None, Some(id)) => id.to_owned(),
            (None, None) => digest(&[cell("title"), cell("created_at").trim()]),
        };
        let spot = self.spot(row.place.line).of_record(&id);
        let status = self.output.read_status(spot, cell("status"))?;
        if status == Status::Deleted {
            self.output.skip(Kind::FeatureRequests, "deleted feature requests");
            return Ok(());
        }
        let Some(title) = line(cell("title")) else {
            return self.reject(row, spot.problem("title", cell("title"), "the title is blank", Action::Rejected));
        };
        if !self.ids.hashes.insert(self.ids.hasher.hash_one(&id)) {
            let problem = match optional(cell("number")) {
                Some(number) => spot.problem("number", number, "an earlier record has the same id", Action::Rejected),
                None => {
                    let problem = "an earlier record has the same title and time, and there is no number";
                    spot.problem("title", cell("title"), problem, Action::Rejected)
                }
            };
            return self.reject(row, problem);
        }
        if self.ids.hashes.len() > self.output.reading.max_records {
            return Err(FiderError::TooManyRecords { max: self.output.reading.max_records });
        }

        let (title, description) = self.output.fit_title(spot, title, cell("description").to_owned())?;
        let mut tags = Tags::default();
        cell("tags").split(", ").for_each(|tag| tags.add_one(tag));
        let comments = count(cell("comments_count")).and_then(|count| u64::try_from(count).ok());
        self.output.lose("comments", comments.unwrap_or_default());
        self.lose_name(cell("created_by"));
        let original = cell("original_number");
        let request = FeatureRequest {
            external_id: id.clone(),
            title,
            description,
            status: status.name().and_then(line),
            tags: self.output.fit_tags(spot, tags)?,
            is_private: false,
            awaits_approval: false,
            author: None,
            is_team: false,
            nameless_votes: self.read_nameless_votes(spot, cell("votes_count"))?,
            created_at: self.output.read_time(spot, "created_at", cell("created_at"))?,
            url: number.map(|number| url("", number, "")),
            merged_into: optional(original)
                .map(|text| post_number(text).map_or(text.to_owned(), |number| number.to_string())),
            origin: spot.origin,
        };
        self.output.votes.nameless += u64::from(request.nameless_votes);
        self.output.write(Record::FeatureRequest(request))?;
        if cell("response").trim().is_empty() {
            return Ok(());
        }
        self.lose_name(cell("responded_by"));
        let comment = Comment {
            external_id: answer_id(&id),
            request: id.clone(),
            body: cell("response").to_owned(),
            author: None,
            is_team: true,
            is_held: false,
            created_at: self.output.read_time(spot, "responded_at", cell("responded_at"))?,
            origin: spot.origin,
        };
        self.output.write(Record::Comment(comment))
    }

    fn lose_name(&mut self, name: &str) {
        if line(name).is_some() {
            self.output.lose(NAMES_WITHOUT_ADDRESS, 1);
        }
    }

    fn read_nameless_votes(&mut self, spot: Spot<'_>, cell: &str) -> Result<u32, FiderError> {
        let counted = count(cell);
        let problem = match counted {
            None => Some(("the count is no whole number", Action::Ignored)),
            Some(..0) => Some(("the count is below 0: it is 0", Action::Changed)),
            Some(_) => None,
        };
        if let Some((problem, action)) = problem {
            self.output.report(spot.problem("votes_count", cell, problem, action))?;
        }
        Ok(nameless_votes(counted.unwrap_or_default(), 0, 0))
    }

    fn reject(&mut self, row: &Row<'_>, problem: Problem) -> Converted {
        let mut original = row.original;
        self.output.reject_row(Kind::FeatureRequests, problem, self.file.index, self.head, &mut original)
    }
}
