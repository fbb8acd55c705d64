//! What the columns of a file mean, and by that which records it has.

use crate::records::Kind;
use crate::table::{Header, Row, fold};

/// A field of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Id,
    Title,
    Text,
    Status,
    State,
    Forum,
    Category,
    Labels,
    Count,
    CreatedAt,
    AuthorName,
    AuthorEmail,
    AuthorId,
    Url,
    Parent,
    VoterName,
    VoterEmail,
    VoterId,
    VotedAt,
    UpdateText,
    UpdatedAt,
    UpdaterName,
    UpdaterEmail,
    Request,
    Email,
    Role,
}

/// The fields of one kind of file, with the names that their columns may have, the strongest first. Problems have the first.
type Fields = &'static [(Field, &'static [&'static str])];

const IDEAS: Fields = &[
    (Field::Id, &["Idea Id", "suggestion.id", "id"]),
    (Field::Title, &["Idea Title", "suggestion.title", "title"]),
    (Field::Text, &["Idea Description", "Idea Text", "suggestion.body", "suggestion.text", "description"]),
    (
        Field::Status,
        &["Public Status Name", "suggestion.status.name", "Idea Status Name", "Idea Status", "Status Name", "status"],
    ),
    (
        Field::State,
        &[
            "Moderation State",
            "Idea Moderation State",
            "suggestion.moderation_state",
            "suggestion.state",
            "Idea State",
            "state",
        ],
    ),
    (Field::Forum, &["Forum Name", "suggestion.forum.name", "Idea Forum Name", "forum"]),
    (Field::Category, &["Category Name", "suggestion.category.name", "Idea Category Name", "category"]),
    (Field::Labels, &["Labels", "suggestion.labels.name", "suggestion.labels", "Label Names", "Idea Labels"]),
    (
        Field::Count,
        &[
            "Voters Count",
            "Idea Voters Count",
            "suggestion.voters_count",
            "suggestion.supporters_count",
            "Supporters Count",
            "suggestion.votes_count",
            "Votes Count",
            "votes",
        ],
    ),
    (
        Field::CreatedAt,
        &[
            "Created Timestamp",
            "Idea Created Timestamp",
            "suggestion.created_timestamp",
            "suggestion.created_at",
            "Created At",
        ],
    ),
    (
        Field::AuthorName,
        &["Idea Creator Name", "suggestion.creator.name", "suggestion.created_by.name", "Creator Name"],
    ),
    (
        Field::AuthorEmail,
        &[
            "Idea Creator Email Address",
            "Idea Creator Email",
            "suggestion.creator.email_address",
            "suggestion.creator.email",
            "suggestion.created_by.email_address",
            "suggestion.created_by.email",
            "Creator Email Address",
            "Creator Email",
        ],
    ),
    (Field::AuthorId, &["Idea Creator Id", "suggestion.creator.id", "suggestion.created_by.id", "Creator Id"]),
    (Field::Url, &["Idea Portal Url", "Portal Url", "suggestion.portal_url", "Idea Url", "url"]),
    (Field::Parent, &["suggestion.parent.id", "Parent Idea Id", "Idea Parent Id", "Merged Into Idea Id", "Parent Id"]),
    (Field::VoterName, &["User Name", "Voter Name", "supporter.name"]),
    (
        Field::VoterEmail,
        &[
            "User Email Address",
            "User Email",
            "Voter Email Address",
            "Voter Email",
            "supporter.email_address",
            "supporter.email",
        ],
    ),
    (Field::VoterId, &["User Id", "Voter Id", "supporter.id"]),
    (
        Field::VotedAt,
        &[
            "Linked Idea Creation Date",
            "Linked Idea Created Timestamp",
            "linked_suggestion.created_timestamp",
            "supporter.created_timestamp",
        ],
    ),
    (Field::UpdateText, &["Public Status Update Message", "suggestion.status_update.message"]),
    (Field::UpdatedAt, &["Public Status Updated Timestamp", "suggestion.status_update.created_timestamp"]),
    (Field::UpdaterName, &["Public Status Creator Name", "suggestion.status_update.creator.name"]),
    (
        Field::UpdaterEmail,
        &[
            "Public Status Creator Email Address",
            "Public Status Creator Email",
            "suggestion.status_update.creator.email",
        ],
    ),
];

const COMMENTS: Fields = &[
    (Field::Id, &["id", "Comment Id", "Note Id"]),
    (Field::Request, &["suggestion_id", "Idea Id"]),
    (Field::Text, &["text", "body", "comment", "Comment Text", "Comment Body", "note", "Note Text", "Note Body"]),
    (Field::State, &["state", "Moderation State", "Comment State"]),
    (
        Field::AuthorName,
        &["user_name", "Author Name", "Creator Name", "Comment Creator Name", "Note Creator Name", "name"],
    ),
    (
        Field::AuthorEmail,
        &[
            "user_email",
            "User Email Address",
            "Author Email",
            "Creator Email Address",
            "Creator Email",
            "Comment Creator Email Address",
            "Note Creator Email Address",
            "email",
        ],
    ),
    (Field::AuthorId, &["user_id", "Creator Id"]),
    (
        Field::CreatedAt,
        &["created_at", "Created Timestamp", "Comment Created Timestamp", "Note Created Timestamp", "Creation Date"],
    ),
];

const USERS: Fields = &[
    (
        Field::Email,
        &[
            "email",
            "Email Address",
            "User Email Address",
            "User Email",
            "external_user.email_address",
            "external_user.email",
        ],
    ),
    (Field::Role, &["type", "roles", "role", "User Type", "User Roles", "external_user.type"]),
    (Field::State, &["state", "User State"]),
];

/// Columns of which other programs write none.
const OF_USERVOICE: [&str; 2] = ["Idea Title", "suggestion.title"];
const REQUEST_OF_USERVOICE: &str = "suggestion_id";

/// Which records a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// Ideas, with a row for each voter.
    Ideas,
    Comments,
    /// What only the team sees.
    Notes,
    Users,
}

impl FileKind {
    /// The kind of the records, as reports count them.
    pub(super) fn records(self) -> Kind {
        match self {
            Self::Ideas => Kind::FeatureRequests,
            Self::Comments => Kind::Comments,
            Self::Notes => Kind::Notes,
            Self::Users => Kind::Customers,
        }
    }

    fn fields(self) -> Fields {
        match self {
            Self::Ideas => IDEAS,
            Self::Comments | Self::Notes => COMMENTS,
            Self::Users => USERS,
        }
    }
}

/// The columns of a file by the fields they fill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    kind: FileKind,
    /// The position of the column of each field that has one.
    positions: Vec<(Field, usize)>,
}

impl Columns {
    pub(super) fn new(kind: FileKind, header: &Header) -> Self {
        let position = |names: &[&str]| names.iter().find_map(|name| header.position(name));
        let found = kind.fields().iter().filter_map(|(field, names)| Some((*field, position(names)?)));
        Self { kind, positions: found.collect() }
    }

    fn position(&self, field: Field) -> Option<usize> {
        self.positions.iter().find(|(other, _)| *other == field).map(|(_, position)| *position)
    }

    fn has(&self, field: Field) -> bool {
        self.position(field).is_some()
    }

    /// Whether a column fills a field.
    pub(super) fn is_used(&self, position: usize) -> bool {
        self.positions.iter().any(|(_, used)| *used == position)
    }

    /// Returns the cell of a field: empty if no column fills it.
    pub(super) fn cell<'a>(&self, row: &Row<'a>, field: Field) -> &'a str {
        self.position(field).map_or("", |position| row.cell(position))
    }

    /// Returns the name of the column of a field, as UserVoice writes it.
    pub(super) fn name(&self, field: Field) -> &'static str {
        let names = self.kind.fields().iter().find(|(other, _)| *other == field);
        names.and_then(|(_, names)| names.first()).copied().unwrap_or_default()
    }
}

/// How a kind of file was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recognized {
    Certain(FileKind),
    /// Neither the columns nor the name of the file say whether it has comments or notes.
    CommentsOrNotes,
}

/// Finds out which records a file has. Comments may have the title of their idea beside them, and users may have anything.
pub(super) fn recognize(header: &Header, file_name: &str) -> Option<Recognized> {
    let (ideas, comments) = (Columns::new(FileKind::Ideas, header), Columns::new(FileKind::Comments, header));
    let is_comment = comments.has(Field::Request) && comments.has(Field::Text);
    let is_idea = ideas.has(Field::Title) && (!is_comment || ideas.has(Field::Text) || ideas.has(Field::Count));
    if is_idea {
        return Some(Recognized::Certain(FileKind::Ideas));
    }
    let name = fold(file_name.rsplit('/').next().unwrap_or_default());
    if !is_comment {
        let users = Columns::new(FileKind::Users, header);
        let says_users = users.has(Field::Role) || users.has(Field::State) || name.contains("user");
        return (users.has(Field::Email) && says_users).then_some(Recognized::Certain(FileKind::Users));
    }
    let says = |word: &str| name.contains(word) || header.names().iter().any(|column| fold(column).starts_with(word));
    // Whatever may be a note must not become public.
    Some(match (says("note"), says("comment")) {
        (true, _) => Recognized::Certain(FileKind::Notes),
        (false, true) => Recognized::Certain(FileKind::Comments),
        (false, false) => Recognized::CommentsOrNotes,
    })
}

/// Whether the columns are of UserVoice, and of no other program.
pub(super) fn is_of_uservoice(header: &Header) -> bool {
    let comments = Columns::new(FileKind::Comments, header);
    OF_USERVOICE.iter().any(|name| header.position(name).is_some())
        || header.position(REQUEST_OF_USERVOICE).is_some() && comments.has(Field::Text)
}
