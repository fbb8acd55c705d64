//! What the columns of a file mean, and by that which records it has.

use std::borrow::Cow;

use roadmap_domain::policy::spreadsheet::unguard;

use super::CsvError;
use crate::records::Kind;
use crate::table::{Header, Row, fold};
use crate::visible;

/// A field of a record. Its name is that of the option `--map`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Id,
    Title,
    Description,
    Status,
    Tags,
    Private,
    AuthorEmail,
    AuthorName,
    Votes,
    Voters,
    CreatedAt,
    Url,
    MergedInto,
    RequestId,
    Body,
    Team,
    Internal,
    Email,
    Name,
}

impl Field {
    /// All fields.
    pub const ALL: [Self; 19] = [
        Self::Id,
        Self::Title,
        Self::Description,
        Self::Status,
        Self::Tags,
        Self::Private,
        Self::AuthorEmail,
        Self::AuthorName,
        Self::Votes,
        Self::Voters,
        Self::CreatedAt,
        Self::Url,
        Self::MergedInto,
        Self::RequestId,
        Self::Body,
        Self::Team,
        Self::Internal,
        Self::Email,
        Self::Name,
    ];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Title => "title",
            Self::Description => "description",
            Self::Status => "status",
            Self::Tags => "tags",
            Self::Private => "private",
            Self::AuthorEmail => "author_email",
            Self::AuthorName => "author_name",
            Self::Votes => "votes",
            Self::Voters => "voters",
            Self::CreatedAt => "created_at",
            Self::Url => "url",
            Self::MergedInto => "merged_into",
            Self::RequestId => "request_id",
            Self::Body => "body",
            Self::Team => "team",
            Self::Internal => "internal",
            Self::Email => "email",
            Self::Name => "name",
        }
    }

    /// Returns the field of this name, regardless of case and punctuation.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| fold(field.name()) == fold(name))
    }
}

/// The fields of one kind of file, with the other names that their columns may have, the strongest first.
type Fields = &'static [(Field, &'static [&'static str])];

const AUTHOR_EMAIL: &[&str] = &["email", "user email", "creator email", "requested by"];
const AUTHOR_NAME: &[&str] = &["author", "user name", "creator", "created by"];
const CREATED_AT: &[&str] = &["created", "created on", "date", "submitted at"];
const REQUEST_ID: &[&str] = &["post id", "idea id", "suggestion id"];

const FEATURE_REQUESTS: Fields = &[
    (Field::Id, &["external id", "source id", "key", "number", "idea id", "post id"]),
    (Field::Title, &["name", "headline", "summary", "subject", "idea", "idea title", "post title"]),
    (Field::Description, &["body", "content", "details", "text"]),
    (Field::Status, &["state", "stage"]),
    (Field::Tags, &["labels", "topics", "category", "board"]),
    (Field::Private, &[]),
    (Field::AuthorEmail, AUTHOR_EMAIL),
    (Field::AuthorName, AUTHOR_NAME),
    (Field::Votes, &["vote count", "votes count", "upvotes", "score", "likes", "total likes"]),
    (Field::Voters, &[]),
    (Field::CreatedAt, CREATED_AT),
    (Field::Url, &["link", "post url"]),
    (Field::MergedInto, &["duplicate of", "original"]),
];

const COMMENTS: Fields = &[
    (Field::Id, &["comment id", "external id", "source id"]),
    (Field::RequestId, REQUEST_ID),
    (Field::Body, &[]),
    (Field::AuthorEmail, AUTHOR_EMAIL),
    (Field::AuthorName, AUTHOR_NAME),
    (Field::Team, &[]),
    (Field::Internal, &[]),
    (Field::CreatedAt, CREATED_AT),
];

const VOTES: Fields = &[
    (Field::RequestId, REQUEST_ID),
    (Field::Email, &["user email", "author email"]),
    (Field::Name, &["user name", "author name"]),
    (Field::CreatedAt, CREATED_AT),
];

/// The columns whose values are tags unless all feature requests share one.
const CATEGORIES: [&str; 2] = ["category", "board"];

/// Which records a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    FeatureRequests,
    Votes,
    Comments,
}

impl FileKind {
    /// The kind of the records, as reports count them. Notes among comments count as comments until they are read.
    pub(super) fn records(self) -> Kind {
        match self {
            Self::FeatureRequests => Kind::FeatureRequests,
            Self::Votes => Kind::Votes,
            Self::Comments => Kind::Comments,
        }
    }

    fn fields(self) -> Fields {
        match self {
            Self::FeatureRequests => FEATURE_REQUESTS,
            Self::Votes => VOTES,
            Self::Comments => COMMENTS,
        }
    }
}

/// Which columns the operator has named for fields, by `--map`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldMap(Vec<(Field, Option<String>)>);

impl FieldMap {
    /// Adds `FIELD=COLUMN`, or `FIELD=`, which leaves the field out.
    ///
    /// # Errors
    /// The text has no `=`, or there is no such field, or it is given twice.
    pub fn add(&mut self, text: &str) -> Result<(), CsvError> {
        let invalid = || CsvError::InvalidMap { text: visible(text, 80), fields: field_names() };
        let (field, column) = text.split_once('=').ok_or_else(invalid)?;
        let field = Field::from_name(field).ok_or_else(invalid)?;
        if self.get(field).is_some() {
            return Err(CsvError::MappedTwice { field: field.name() });
        }
        let column = column.trim();
        self.0.push((field, (!column.is_empty()).then(|| column.to_owned())));
        Ok(())
    }

    fn get(&self, field: Field) -> Option<Option<&str>> {
        self.0.iter().find(|(mapped, _)| *mapped == field).map(|(_, column)| column.as_deref())
    }

    /// Returns the columns that the operator has named.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|(_, column)| column.as_deref())
    }
}

fn field_names() -> String {
    Field::ALL.map(Field::name).join(", ")
}

/// The columns of a file by the fields they fill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    /// For each column, the field it fills.
    fields: Vec<Option<Field>>,
    /// The positions of the columns of each field that has any, the strongest first.
    positions: Vec<(Field, Vec<usize>)>,
    /// The positions of the columns that are categories or boards.
    categories: Vec<usize>,
}

impl Columns {
    /// Finds the columns of the fields of a kind: by the map, or else by their names.
    pub(super) fn resolve(kind: FileKind, header: &Header, map: &FieldMap) -> Self {
        let mapped: Vec<usize> = map.columns().filter_map(|column| header.position(column)).collect();
        let is_free = |position: &usize| !mapped.contains(position);
        let mut fields = vec![None; header.names().len()];
        let mut positions = Vec::new();
        for (field, aliases) in kind.fields() {
            let by_map = map.get(*field).map(|column| column.and_then(|column| header.position(column)));
            let is_left_out = map.get(*field) == Some(None);
            let by_name = std::iter::once(field.name())
                .chain(aliases.iter().copied())
                .filter_map(|name| header.position(name))
                .filter(is_free);
            let found: Vec<usize> = match by_map.flatten() {
                Some(position) => vec![position],
                None if is_left_out => Vec::new(),
                None if *field == Field::Tags => by_name.collect(),
                None => by_name.take(1).collect(),
            };
            for position in &found {
                if let Some(column) = fields.get_mut(*position) {
                    *column = Some(*field);
                }
            }
            if !found.is_empty() {
                positions.push((*field, found));
            }
        }
        let tags = positions.iter().filter(|(field, _)| *field == Field::Tags).flat_map(|(_, found)| found.clone());
        let names: Vec<usize> = CATEGORIES.iter().filter_map(|name| header.position(name)).collect();
        Self { categories: tags.filter(|position| names.contains(position)).collect(), fields, positions }
    }

    /// For each column, the field it fills.
    pub(super) fn fields(&self) -> &[Option<Field>] {
        &self.fields
    }

    /// The positions of the columns that are categories or boards.
    pub(super) fn categories(&self) -> &[usize] {
        &self.categories
    }

    /// Returns the positions of the columns of a field.
    pub(super) fn of(&self, field: Field) -> &[usize] {
        self.positions.iter().find(|(other, _)| *other == field).map_or(&[], |(_, positions)| positions)
    }

    pub(super) fn has(&self, field: Field) -> bool {
        !self.of(field).is_empty()
    }

    /// Returns the cell of a field, without a guard against formulas: empty if no column fills it.
    pub(super) fn cell<'a>(&self, row: &Row<'a>, field: Field) -> &'a str {
        self.of(field).first().map_or("", |position| unguard(row.cell(*position)))
    }
}

/// Finds out which records a file has by its columns. `None` if it is neither.
///
/// A column `request_id` decides. Without it, a title decides before the other names of such a column, because the id of a
/// feature request may have them, too; only `name` is weaker, which may also be the name of a voter.
pub(super) fn recognize(header: &Header, map: &FieldMap) -> Option<(FileKind, Columns)> {
    let resolve = |kind| (kind, Columns::resolve(kind, header, map));
    let requests = resolve(FileKind::FeatureRequests);
    let refers = [FileKind::Comments, FileKind::Votes].into_iter().map(resolve).find(|(kind, columns)| {
        let text = if *kind == FileKind::Comments { Field::Body } else { Field::Email };
        columns.has(Field::RequestId) && columns.has(text)
    });
    let is_named = |columns: &Columns, field: Field, name: &str| {
        let position = map.get(field).flatten().or(Some(name)).and_then(|name| header.position(name));
        position.is_some_and(|position| columns.of(field).contains(&position))
    };
    let has_title = requests.1.has(Field::Title);
    let title_is_name = is_named(&requests.1, Field::Title, "name") && map.get(Field::Title).is_none();
    match refers {
        Some(refers) if is_named(&refers.1, Field::RequestId, "request_id") || !has_title || title_is_name => {
            Some(refers)
        }
        _ if has_title => Some(requests),
        _ => None,
    }
}

/// Returns the names of columns for a message.
pub(super) fn list_columns(header: &Header) -> String {
    const SHOWN: usize = 40;
    let names = header.names();
    let mut list: Vec<Cow<'_, str>> =
        names.iter().take(SHOWN).map(|name| Cow::Owned(format!("`{}`", visible(name, 40)))).collect();
    if names.len() > SHOWN {
        list.push(Cow::Borrowed("…"));
    }
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::detect;
    use crate::table::Table;

    fn header(line: &str) -> Header {
        let detected = detect(line.as_bytes(), None).unwrap();
        Table::open(line.as_bytes(), detected, None).unwrap().header().clone()
    }

    fn map(texts: &[&str]) -> FieldMap {
        let mut map = FieldMap::default();
        for text in texts {
            map.add(text).unwrap();
        }
        map
    }

    #[test]
    fn files_are_recognized_by_their_columns() {
        use FileKind::{Comments, FeatureRequests, Votes};
        for (line, maps, kind) in [
            ("title", &[][..], Some(FeatureRequests)),
            ("Headline", &[], Some(FeatureRequests)),
            ("Name,Votes", &[], Some(FeatureRequests)),
            ("id,title,body,email", &[], Some(FeatureRequests)),
            ("Post ID,Post Title,Body,Email", &[], Some(FeatureRequests)),
            ("request_id,email,name,created_at", &[], Some(Votes)),
            ("Idea ID,User Email,Name", &[], Some(Votes)),
            ("id,request_id,body,author_email", &[], Some(Comments)),
            ("suggestion id,body", &[], Some(Comments)),
            ("request_id,title,body", &[], Some(Comments)),
            ("request_id,body,email", &[], Some(Comments)),
            ("request_id,title", &[], Some(FeatureRequests)),
            ("request_id", &[], None),
            ("colour,size", &[], None),
            ("colour,size", &["title=Colour"], Some(FeatureRequests)),
            ("Post ID,Name,Body", &["title=Name"], Some(FeatureRequests)),
            ("Post,Name,Body", &["request_id=Post"], Some(Comments)),
            ("title,votes", &["title="], None),
            ("request_id,body", &["body="], None),
        ] {
            assert_eq!(recognize(&header(line), &map(maps)).map(|(kind, _)| kind), kind, "{line} {maps:?}");
        }
    }

    #[test]
    fn a_field_has_the_column_of_its_name_or_the_first_alias() {
        use Field::{AuthorEmail, AuthorName, CreatedAt, Description, Id, Tags, Title, Url, Votes};
        for (line, maps, expected) in [
            ("Name,Title", &[][..], &[None, Some(Title)][..]),
            ("Headline,name", &[], &[None, Some(Title)]),
            ("Title,Details,Content", &[], &[Some(Title), None, Some(Description)]),
            ("Key,Number,title", &[], &[Some(Id), None, Some(Title)]),
            ("title,tags,Category,colour,board", &[], &[Some(Title), Some(Tags), Some(Tags), None, Some(Tags)]),
            ("title,score,likes", &["votes=Likes"], &[Some(Title), None, Some(Votes)]),
            ("title,score", &["votes="], &[Some(Title), None]),
            (
                "title,date,Link,user_email,Creator",
                &[],
                &[Some(Title), Some(CreatedAt), Some(Url), Some(AuthorEmail), Some(AuthorName)],
            ),
            // A column that is mapped fills no other field.
            ("title,text", &["title=Text"], &[None, Some(Title)]),
            // A map for a column of another file.
            ("title,score", &["votes=Other"], &[Some(Title), Some(Votes)]),
        ] {
            let (_, columns) = recognize(&header(line), &map(maps)).unwrap();
            assert_eq!(columns.fields(), expected, "{line} {maps:?}");
        }
    }

    #[test]
    fn every_field_has_its_name() {
        for field in Field::ALL {
            assert_eq!(Field::from_name(field.name()), Some(field));
        }
        assert_eq!(Field::from_name("Author E-Mail"), Some(Field::AuthorEmail));
        assert_eq!(Field::from_name("colour"), None);
    }

    #[test]
    fn an_invalid_map_is_refused() {
        let add = |texts: &[&str]| {
            let mut map = FieldMap::default();
            texts.iter().try_for_each(|text| map.add(text)).map_err(|error| error.to_string())
        };
        assert_eq!(add(&["title=A=B", "votes=", "Created At = When"]), Ok(()));
        assert_eq!(add(&["title=A", "title=B"]), Err("--map names the field `title` twice".to_owned()));
        for text in ["title", "colour=A", "=A", ""] {
            let message = add(&[text]).unwrap_err();
            assert!(
                message.starts_with(&format!("`{text}` is no FIELD=COLUMN: the fields are id, title, ")),
                "{message}"
            );
        }
    }

    #[test]
    fn a_long_list_of_columns_is_cut() {
        let line: Vec<String> = (0..41).map(|n| format!("c{n}")).collect();
        let list = list_columns(&header(&line.join(",")));
        assert!(list.starts_with("`c0`, `c1`, ") && list.ends_with("`c39`, …"), "{list}");
        assert_eq!(list_columns(&header("a,\u{1b}b")), "`a`, `\u{fffd}b`");
    }
}
