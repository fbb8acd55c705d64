//! Which of the inputs are tables of ClearFlask.

use crate::archive::Input;
use crate::records::Kind;
use crate::sources::clearflask::ClearflaskError;
use crate::sources::tables::{Column, Columns, Output, Sheet, SourceFile, columns, foreign, is_table_by_name};
use crate::table::Header;

const PROGRAM: &str = "ClearFlask";
const EXPECTED: &str = "its export has tables of posts, comments and users";

columns! {
    Posts {
        id: ["ideaId"],
        author: ["authorUserId"],
        created: ["created"],
        title: ["title"],
        description: ["description"],
        response: ["response"],
        category: ["categoryId"],
        status: ["statusId"],
        tags: ["tagIds"],
        funded: ["funded"],
        votes: ["voteValue", "votersCount"],
        expressions: ["expressions"],
        // What others say, too.
        funders_count: ["fundersCount"],
        fund_goal: ["fundGoal"],
        voters_count: ["votersCount"],
        expressions_value: ["expressionsValue"],
    }
    Comments {
        id: ["commentId"],
        post: ["ideaId"],
        parent: ["parentCommentId"],
        author: ["authorUserId"],
        created: ["created"],
        edited: ["edited"],
        content: ["content"],
        upvotes: ["upvotes"],
        downvotes: ["downvotes"],
    }
    Users {
        id: ["userId"],
        name: ["name"],
        email: ["email"],
        is_mod: ["isMod"],
        sso_guid: ["ssoGuid"],
        balance: ["balance"],
        // What an account here has of its own.
        email_verified: ["emailVerified"],
        email_notify: ["emailNotify"],
        created: ["created"],
    }
}

/// The files of a run.
#[derive(Default)]
pub(super) struct Files<'a> {
    pub(super) posts: Vec<Sheet<'a, Posts>>,
    pub(super) comments: Vec<Sheet<'a, Comments>>,
    pub(super) users: Vec<Sheet<'a, Users>>,
}

/// Returns the kind of the records of a table.
fn recognize(header: &Header) -> Option<Kind> {
    let has = |column: Column| column.exists();
    let (posts, comments, users) = (Posts::find(header), Comments::find(header), Users::find(header));
    if has(comments.id) && has(comments.post) && has(comments.content) {
        Some(Kind::Comments)
    } else if has(posts.id) && has(posts.title) {
        Some(Kind::FeatureRequests)
    } else if has(users.id) && (has(users.name) || has(users.email) || has(users.is_mod)) {
        Some(Kind::Customers)
    } else {
        None
    }
}

/// Finds the tables among the inputs.
pub(super) fn find_files<'a>(inputs: &'a [Input], output: &mut Output<'_>) -> Result<Files<'a>, ClearflaskError> {
    let mut files = Files::default();
    let mut is_empty = true;
    for (index, input) in inputs.iter().enumerate() {
        if inputs.len() > 1 && !is_table_by_name(input.name()) {
            output.report_unknown_file(input)?;
            continue;
        }
        let (file, header) = SourceFile::open(index, input, output.options)?;
        let Some(kind) = recognize(&header) else {
            if inputs.len() == 1 {
                return Err(foreign(input, PROGRAM, &header));
            }
            output.report_unknown_file(input)?;
            continue;
        };
        is_empty = false;
        output.warn_of_encoding(&file)?;
        match kind {
            Kind::FeatureRequests => files.posts.push(file.into_sheet(&header, kind, false)),
            Kind::Comments => files.comments.push(file.into_sheet(&header, kind, false)),
            _ => files.users.push(file.into_sheet(&header, kind, false)),
        }
    }
    if is_empty {
        return Err(ClearflaskError::Nothing { program: PROGRAM, expected: EXPECTED });
    }
    Ok(files)
}

/// Whether the columns are of ClearFlask, and of no other program.
pub(super) fn is_recognized(header: &Header) -> bool {
    let has = |columns: &[&str]| columns.iter().all(|column| header.position(column).is_some());
    has(&["ideaId", "title", "voteValue"])
        || has(&["ideaId", "title", "authorUserId"])
        || has(&["ideaId", "commentId", "content"])
        || has(&["userId", "isMod", "emailNotify"])
}
