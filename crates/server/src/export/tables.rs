//! The files of an export for spreadsheets. `roadmap import csv` understands the headers of those of feature requests, votes
//! and comments.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use roadmap_domain::model::export::{Exported, Person, Record};
use roadmap_domain::model::id::TrackId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::spreadsheet::cell;

/// A file that grows while the records are read.
struct Table {
    name: &'static str,
    rows: BufWriter<File>,
    records: u64,
}

impl Table {
    fn new(folder: &Path, name: &'static str, header: &[&str]) -> anyhow::Result<Self> {
        let file = tempfile::tempfile_in(folder);
        let file = file.with_context(|| format!("no temporary file can be written in {}", folder.display()))?;
        let mut table = Self { name, rows: BufWriter::new(file), records: 0 };
        // Spreadsheets take a file for UTF-8 only if it says so.
        table.rows.write_all("\u{feff}".as_bytes())?;
        table.write(header.iter().map(|name| (*name).to_owned()).collect())?;
        Ok(table)
    }

    fn add(&mut self, cells: Vec<String>) -> anyhow::Result<()> {
        self.records += 1;
        self.write(cells)
    }

    fn write(&mut self, cells: Vec<String>) -> anyhow::Result<()> {
        let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
        Ok(self.rows.write_all(format!("{}\r\n", cells.join(",")).as_bytes())?)
    }
}

/// All files for spreadsheets.
pub(crate) struct Tables {
    requests: Table,
    votes: Table,
    comments: Table,
    customers: Table,
    changelogs: Table,
    tracks: HashMap<TrackId, String>,
}

impl Tables {
    /// Begins the files.
    pub(crate) fn new(folder: &Path) -> anyhow::Result<Self> {
        let request = [
            "id",
            "tag_number",
            "title",
            "description",
            "status",
            "tags",
            "private",
            "author_email",
            "author_name",
            "votes",
            "created_at",
            "merged_into",
        ];
        let comment = ["request_id", "id", "body", "author_email", "author_name", "team", "internal", "created_at"];
        let customer = ["id", "email", "name", "created_at", "mail_stopped_at", "blocked_at"];
        let changelog = ["id", "title", "content", "category", "publish_at", "request_ids"];
        Ok(Self {
            requests: Table::new(folder, "csv/feature_requests.csv", &request)?,
            votes: Table::new(folder, "csv/votes.csv", &["request_id", "email", "name", "created_at"])?,
            comments: Table::new(folder, "csv/comments.csv", &comment)?,
            customers: Table::new(folder, "csv/customers.csv", &customer)?,
            changelogs: Table::new(folder, "csv/changelogs.csv", &changelog)?,
            tracks: HashMap::new(),
        })
    }

    /// Adds a record that one of the files has. Comments that wait for approval are in none: a program that imports the file
    /// would publish them.
    pub(crate) fn add(&mut self, Exported { record, author, votes }: &Exported) -> anyhow::Result<()> {
        let Person { name, email } = author;
        let [name, email] = [name, email].map(|text| text.clone().unwrap_or_default());
        match record {
            Record::Track(track) => {
                self.tracks.insert(track.id, track.name.clone());
                Ok(())
            }
            Record::FeatureRequest(request) => self.requests.add(vec![
                request.id.to_string(),
                request.tag_number.to_string(),
                request.title.clone(),
                request.description.clone(),
                self.tracks.get(&request.track_id).cloned().unwrap_or_default(),
                tags(&request.tags),
                yes_or_no(request.private),
                email,
                name,
                votes.to_string(),
                request.created_at.to_string(),
                optional(request.merged_into_id),
            ]),
            Record::Vote(vote) => {
                let at = vote.created_at.to_string();
                self.votes.add(vec![vote.feature_request_id.to_string(), email, name, at])
            }
            Record::Comment(comment) if !comment.held => self.comments.add(vec![
                comment.feature_request_id.to_string(),
                comment.id.to_string(),
                comment.content.clone(),
                email,
                name,
                yes_or_no(comment.customer_id.is_none()),
                yes_or_no(false),
                comment.created_at.to_string(),
            ]),
            Record::Note(note) => self.comments.add(vec![
                note.feature_request_id.to_string(),
                note.id.to_string(),
                note.body.clone(),
                email,
                name,
                yes_or_no(true),
                yes_or_no(true),
                note.created_at.to_string(),
            ]),
            Record::Customer(customer) => {
                let details = customer.details.as_ref();
                let at = |time: fn(&_) -> Option<Timestamp>| optional(details.and_then(time));
                self.customers.add(vec![
                    customer.id.to_string(),
                    details.map(|details| details.email.clone()).unwrap_or_default(),
                    details.and_then(|details| details.name.clone()).unwrap_or_default(),
                    at(|details| Some(details.created_at)),
                    at(|details| details.mail_stopped_at),
                    at(|details| details.blocked_at),
                ])
            }
            Record::Changelog(changelog) => {
                let requests: Vec<_> = changelog.feature_request_ids.iter().map(ToString::to_string).collect();
                self.changelogs.add(vec![
                    changelog.id.to_string(),
                    changelog.title.clone(),
                    changelog.content.clone(),
                    changelog.category.clone().unwrap_or_default(),
                    optional(changelog.publish_at),
                    requests.join("|"),
                ])
            }
            _ => Ok(()),
        }
    }

    /// Returns the name of each file, the number of its rows, and the file.
    pub(crate) fn into_files(self) -> anyhow::Result<Vec<(&'static str, u64, File)>> {
        let tables = [self.requests, self.votes, self.comments, self.customers, self.changelogs];
        let finish = |table: Table| Ok((table.name, table.records, table.rows.into_inner()?));
        tables.into_iter().map(finish).collect()
    }
}

fn yes_or_no(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Returns tags in one cell. The first separator that occurs in it separates: a single tag with another one needs it, too.
fn tags(tags: &[String]) -> String {
    let needs_separator = tags.len() == 1 && tags.iter().any(|tag| tag.contains([';', ',']));
    format!("{}{}", tags.join("|"), if needs_separator { "|" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_with_a_comma_stays_one() {
        for (list, cell) in [
            (&[][..], ""),
            (&["ui"], "ui"),
            (&["ui", "dark, mode"], "ui|dark, mode"),
            (&["dark, mode"], "dark, mode|"),
            (&["a;b"], "a;b|"),
        ] {
            let list: Vec<String> = list.iter().map(|tag| (*tag).to_owned()).collect();
            assert_eq!(tags(&list), cell);
        }
    }
}
