//! Which of the inputs are tables of Quackback.

use std::io::{BufRead, BufReader, Read};

use crate::archive::Input;
use crate::records::Kind;
use crate::sources::quackback::QuackbackError;
use crate::sources::tables::{
    Column, Columns, Converted, Output, Sheet, SourceFile, columns, file_stem, foreign, is_table_by_name, peek,
    read_error,
};
use crate::table::{Header, fold};

const PROGRAM: &str = "Quackback";
const EXPECTED: &str = "its export has a `posts.csv`, and its template a column `title`";
const MANIFEST: &str = "manifest.json";
/// Most bytes of a manifest that are read.
const MAX_MANIFEST: u64 = 64 * 1024;

columns! {
    Posts {
        id: ["id", "source_id", "post_id"],
        title: ["title"],
        content: ["content", "body"],
        status: ["status"],
        tags: ["tags"],
        board: ["board"],
        author_name: ["author_name"],
        author_email: ["author_email"],
        vote_count: ["vote_count"],
        created_at: ["created_at"],
        moderation_state: ["moderation_state", "moderation"],
        is_private: ["is_private"],
        merged_into: ["canonical_post_id", "merged_into"],
        // What says nothing that has a place here.
        updated_at: ["updated_at"],
    }
    Votes {
        post_id: ["post_id"],
        voter_email: ["voter_email", "email"],
        voter_name: ["voter_name"],
        created_at: ["created_at"],
        id: ["id"],
    }
    Comments {
        id: ["id"],
        post_id: ["post_id"],
        parent_id: ["parent_id"],
        author_name: ["author_name"],
        author_email: ["author_email"],
        is_team_member: ["is_team_member", "is_staff"],
        is_private: ["is_private"],
        moderation_state: ["moderation_state"],
        content: ["content", "body"],
        created_at: ["created_at"],
        updated_at: ["updated_at"],
    }
    Statuses {
        name: ["name"],
        slug: ["slug"],
        category: ["category"],
        position: ["position"],
        show_on_roadmap: ["show_on_roadmap"],
        id: ["id"],
        color: ["color"],
        is_default: ["is_default"],
    }
    Changelogs {
        id: ["id"],
        title: ["title"],
        content: ["content"],
        published_at: ["published_at"],
        display_date: ["display_date"],
        created_at: ["created_at"],
        updated_at: ["updated_at"],
    }
    Users {
        name: ["name"],
        email: ["email"],
        verified: ["verified"],
        lifecycle: ["lifecycle"],
        joined_at: ["joined_at"],
        last_seen_at: ["last_seen_at"],
        post_count: ["post_count"],
        comment_count: ["comment_count"],
        vote_count: ["vote_count"],
    }
}

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Posts,
    Votes,
    Comments,
    /// Comments that only the team sees, as the scripts of Quackback read them.
    Notes,
    Statuses,
    Changelogs,
    Users,
    /// It says nothing that others do not say.
    Nothing,
    /// Its records have no place here.
    Lost(&'static str),
}

/// The files of a run.
#[derive(Default)]
pub(super) struct Files<'a> {
    pub(super) posts: Vec<Sheet<'a, Posts>>,
    pub(super) votes: Vec<Sheet<'a, Votes>>,
    pub(super) comments: Vec<Sheet<'a, Comments>>,
    pub(super) statuses: Vec<Sheet<'a, Statuses>>,
    pub(super) changelogs: Vec<Sheet<'a, Changelogs>>,
    pub(super) users: Vec<Sheet<'a, Users>>,
    lost: Vec<(&'a Input, &'static str)>,
}

impl Table {
    /// Finds out what a file is by its name.
    fn of_name(name: &str) -> Option<Self> {
        if name.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(MANIFEST)) {
            return Some(Self::Nothing);
        }
        let stem = fold(file_stem(name));
        if stem == "conversations" {
            return Some(Self::Lost("conversations"));
        }
        if !is_table_by_name(name) {
            return None;
        }
        Some(match &*stem {
            "posts" => Self::Posts,
            "postvotes" | "votes" => Self::Votes,
            "postcomments" | "comments" => Self::Comments,
            "notes" => Self::Notes,
            "statuses" | "poststatuses" => Self::Statuses,
            "changelog" | "changelogs" | "changelogentries" => Self::Changelogs,
            "users" => Self::Users,
            "boards" | "tags" | "posttags" => Self::Nothing,
            "companies" => Self::Lost("companies"),
            "kbarticles" => Self::Lost("articles of the knowledge base"),
            _ => return None,
        })
    }

    /// Finds out what a file is by its columns.
    fn of_columns(header: &Header) -> Option<Self> {
        [Self::Votes, Self::Comments, Self::Statuses, Self::Changelogs, Self::Posts]
            .into_iter()
            .find(|table| table.fits(header))
    }

    /// Whether the columns are those that the records need.
    fn fits(self, header: &Header) -> bool {
        let has = |column: Column| column.exists();
        match self {
            Self::Posts => has(Posts::find(header).title),
            Self::Votes => {
                let votes = Votes::find(header);
                has(votes.post_id) && has(votes.voter_email)
            }
            Self::Comments | Self::Notes => {
                let comments = Comments::find(header);
                has(comments.post_id) && has(comments.content)
            }
            Self::Statuses => {
                let statuses = Statuses::find(header);
                has(statuses.name) && has(statuses.show_on_roadmap)
            }
            Self::Changelogs => {
                let changelogs = Changelogs::find(header);
                has(changelogs.title) && has(changelogs.content) && has(changelogs.published_at)
            }
            Self::Users => has(Users::find(header).email),
            Self::Nothing | Self::Lost(_) => true,
        }
    }
}

/// Finds the tables among the inputs.
pub(super) fn find_files<'a>(inputs: &'a [Input], output: &mut Output<'_>) -> Result<Files<'a>, QuackbackError> {
    let mut files = Files::default();
    let mut is_empty = true;
    for (index, input) in inputs.iter().enumerate() {
        let by_name = Table::of_name(input.name());
        match by_name {
            Some(Table::Nothing) => continue,
            Some(Table::Lost(what)) => {
                files.lost.push((input, what));
                continue;
            }
            None if inputs.len() > 1 && !is_table_by_name(input.name()) => {
                output.report_unknown_file(input)?;
                continue;
            }
            _ => {}
        }
        let (file, header) = SourceFile::open(index, input, output.options)?;
        let Some(table) = by_name.filter(|table| table.fits(&header)).or_else(|| Table::of_columns(&header)) else {
            if by_name.is_some() || inputs.len() == 1 {
                return Err(foreign(input, PROGRAM, &header));
            }
            output.report_unknown_file(input)?;
            continue;
        };
        is_empty = false;
        output.warn_of_encoding(&file)?;
        match table {
            Table::Posts => files.posts.push(file.into_sheet(&header, Kind::FeatureRequests, true)),
            Table::Votes => files.votes.push(file.into_sheet(&header, Kind::Votes, true)),
            Table::Comments => files.comments.push(file.into_sheet(&header, Kind::Comments, true)),
            Table::Notes => files.comments.push(file.into_sheet(&header, Kind::Notes, true)),
            Table::Statuses => files.statuses.push(file.into_sheet(&header, Kind::Tracks, true)),
            Table::Changelogs => files.changelogs.push(file.into_sheet(&header, Kind::Changelogs, true)),
            Table::Users => files.users.push(file.into_sheet(&header, Kind::Customers, true)),
            Table::Nothing | Table::Lost(_) => {}
        }
    }
    if is_empty {
        return Err(QuackbackError::Nothing { program: PROGRAM, expected: EXPECTED });
    }
    Ok(files)
}

impl Files<'_> {
    /// Counts the records of the files that have no place here: their lines that are not blank, without the header.
    pub(super) fn count_others(&self, output: &mut Output<'_>) -> Converted {
        for (index, (input, what)) in self.lost.iter().enumerate() {
            let count =
                if is_table_by_name(input.name()) { count_rows(index, input, output)? } else { count_lines(input)? };
            output.lose(*what, count);
        }
        Ok(())
    }
}

fn count_rows(index: usize, input: &Input, output: &Output<'_>) -> Result<u64, QuackbackError> {
    let mut rows = 0;
    match SourceFile::open(index, input, output.options) {
        Ok((file, _)) => file.count_rows(output.options, &mut rows)?,
        Err(QuackbackError::Table { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(rows)
}

/// Counts the lines that are not blank.
fn count_lines(input: &Input) -> Result<u64, QuackbackError> {
    let read = |source| read_error(input, source);
    let mut file = BufReader::new(input.open().map_err(read)?);
    let (mut lines, mut is_blank) = (0, true);
    loop {
        let chunk = file.fill_buf().map_err(read)?;
        if chunk.is_empty() {
            return Ok(lines);
        }
        for byte in chunk {
            match byte {
                b'\n' => is_blank = true,
                byte if is_blank && !byte.is_ascii_whitespace() => {
                    is_blank = false;
                    lines += 1;
                }
                _ => {}
            }
        }
        let length = chunk.len();
        file.consume(length);
    }
}

/// Whether a file is one that only Quackback writes.
pub(super) fn is_recognized(input: &Input, is_alone: bool) -> bool {
    if input.name().rsplit('/').next() == Some(MANIFEST) {
        let mut manifest = String::new();
        let read = input.open().and_then(|file| file.take(MAX_MANIFEST).read_to_string(&mut manifest));
        let manifest = manifest.split_whitespace().collect::<String>();
        return read.is_ok() && manifest.contains("\"generator\":\"quackback\"");
    }
    if !is_alone && !is_table_by_name(input.name()) {
        return false;
    }
    let Some(header) = peek(input) else { return false };
    let has = |columns: &[&str]| columns.iter().all(|column| header.position(column).is_some());
    let is_export = Table::of_name(input.name()) == Some(Table::Posts)
        && has(&["id", "title", "content", "status", "tags", "board", "author_name", "author_email", "vote_count"]);
    is_export
        || has(&["title", "email_verified", "source_id"])
        || has(&["post_id", "voter_email", "source_type"])
        || has(&["post_id", "is_team_member", "moderation_state"])
        || has(&["name", "slug", "show_on_roadmap"])
}
