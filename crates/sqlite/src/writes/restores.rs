//! Whole records of an export, as JSON.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Binary, Bool, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::export::restore::Part;
use roadmap_domain::ports::RestoreWrites;
use roadmap_store::columns::Id;

use crate::errors::SqlError;
use crate::statement::statement;
use crate::unit::SqliteUnit;
use crate::writes::merges::recount;

/// SQL for an ID of a row.
macro_rules! id {
    ($key:literal) => {
        concat!("unhex(replace(value ->> '", $key, "', '-', ''))")
    };
}

/// SQL for a timestamp of a row.
macro_rules! millis {
    ($key:literal) => {
        concat!("CAST(round(unixepoch(value ->> '", $key, "', 'subsec') * 1000) AS INTEGER)")
    };
}

/// SQL of the rows, after `WITH scope`.
macro_rules! scope {
    () => {
        "WITH scope (workspace, given) AS (SELECT ?, ?) "
    };
}

/// SQL that reads the rows.
macro_rules! from_rows {
    () => {
        " FROM scope CROSS JOIN json_each(scope.given) "
    };
}

statement! {
    /// Whether a workspace has no feature request, no customer and no changelog.
    IsBlank { workspace: Id => Binary } -> Bool,
    "WITH scope (workspace) AS (SELECT ?)
     SELECT NOT EXISTS (SELECT 1 FROM feature_requests WHERE workspace_id = workspace)
        AND NOT EXISTS (SELECT 1 FROM customers WHERE workspace_id = workspace)
        AND NOT EXISTS (SELECT 1 FROM changelogs WHERE workspace_id = workspace) FROM scope"
}

statement! {
    /// Lets keys be made by the members with the addresses of the given ones.
    MoveKeys { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(), "UPDATE api_keys SET made_by = given.id FROM (
             SELECT members.id AS old, ", id!("id"), " AS id", from_rows!(), "
             CROSS JOIN members ON members.workspace_id = scope.workspace
                    AND members.email_folded = value ->> 'email_folded'
         ) AS given
         WHERE workspace_id = (SELECT workspace FROM scope) AND made_by = given.old"
    )
}

/// SQL that inserts members, and gives members with the same addresses the values of the given ones.
macro_rules! insert_members {
    ($access:literal) => {
        concat!(
            scope!(),
            "INSERT INTO members (workspace_id, id, email, email_folded, name, role, team_mail, saved_views, shortcuts,
                                  created_at, removed_at, told_until)
             SELECT workspace, ",
            id!("id"),
            ", value ->> 'email', value ->> 'email_folded', value ->> 'name',
                    value ->> 'role', value ->> 'team_mail', value -> 'saved_views', value ->> 'shortcuts', ",
            millis!("created_at"),
            ", ",
            millis!("removed_at"),
            ", ",
            millis!("told_until"),
            from_rows!(),
            "WHERE true
             ON CONFLICT (workspace_id, email_folded) DO UPDATE SET id = excluded.id, email = excluded.email,
                name = excluded.name, team_mail = excluded.team_mail, saved_views = excluded.saved_views,
                shortcuts = excluded.shortcuts, created_at = excluded.created_at",
            $access
        )
    };
}

statement! {
    /// Inserts members. Those with the same addresses keep their access.
    InsertMembers { workspace: Id => Binary, rows: String => Text }
    insert_members!("")
}

statement! {
    /// Inserts members. Those with the same addresses get the access of the given ones.
    ReplaceMembers { workspace: Id => Binary, rows: String => Text }
    insert_members!(", role = excluded.role, removed_at = excluded.removed_at")
}

statement! {
    /// Inserts customers.
    InsertCustomers { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "INSERT INTO customers (workspace_id, id, email, email_folded, name, name_folded, language, last_language,
                                mail_stopped_at, mail_stopped_because, stops_changelogs, news_since, blocked_at, created_at)
         SELECT workspace, ", id!("id"), ", value ->> 'email', value ->> 'email_folded', value ->> 'name',
                value ->> 'name_folded', value ->> 'language', value ->> 'last_language', ", millis!("mail_stopped_at"), ",
                value ->> 'mail_stopped_because', value ->> 'stops_changelogs', ", millis!("news_since"), ", ",
        millis!("blocked_at"), ", ", millis!("created_at"), from_rows!()
    )
}

statement! {
    /// Inserts feature requests that are not merged yet.
    InsertRequests { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "INSERT INTO feature_requests (row_number, workspace_id, id, tag_number, title, description, description_text,
                                       track_id, author_id, private, awaiting_approval, handled_at, status_since,
                                       created_at, updated_at)
         SELECT (workspaces.number << 32) + (value ->> 'tag_number'), workspace, ", id!("id"), ",
                value ->> 'tag_number', value ->> 'title', value ->> 'description', value ->> 'description_text', ",
        id!("track_id"), ", ", id!("author_id"), ", value ->> 'private', value ->> 'awaiting_approval', ",
        millis!("handled_at"), ", ", millis!("status_since"), ", ", millis!("created_at"), ", ", millis!("updated_at"),
        from_rows!(), "CROSS JOIN workspaces ON workspaces.id = scope.workspace"
    )
}

statement! {
    /// Inserts the tallies of feature requests.
    InsertTallies { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "INSERT INTO vote_tallies (row_number, workspace_id, request_id, votes_count, nameless_votes, trend, track_id, private)
         SELECT (workspaces.number << 32) + (value ->> 'tag_number'), workspace, ", id!("id"), ",
                value ->> 'nameless_votes', value ->> 'nameless_votes', 0, ", id!("track_id"), ", value ->> 'private'",
        from_rows!(), "CROSS JOIN workspaces ON workspaces.id = scope.workspace"
    )
}

statement! {
    /// Inserts the tags of feature requests.
    InsertTags { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        ", request (id, tags) AS (SELECT ", id!("id"), ", value -> 'folded_tags'", from_rows!(), ")
         INSERT INTO feature_request_tags (workspace_id, request_id, position, tag, tag_folded)
         SELECT workspace, request.id, tag.key, tag.value ->> 0, tag.value ->> 1
         FROM scope CROSS JOIN request CROSS JOIN json_each(request.tags) AS tag"
    )
}

statement! {
    /// Sets what feature requests need from the team.
    SetAttention { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "UPDATE feature_requests SET attention = (
             SELECT attention FROM feature_request_attention AS of_request
             WHERE of_request.row_number = feature_requests.row_number
         )
         WHERE workspace_id = (SELECT workspace FROM scope) AND id IN (SELECT ", id!("id"), from_rows!(), ")"
    )
}

statement! {
    /// Links feature requests to what they are merged into.
    LinkRequests { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "UPDATE feature_requests SET merged_into_id = link.target, root_id = link.root FROM (
             SELECT ", id!("id"), " AS id, ", id!("merged_into_id"), " AS target, ", id!("root_id"), " AS root",
        from_rows!(), "
         ) AS link
         WHERE workspace_id = (SELECT workspace FROM scope) AND feature_requests.id = link.id"
    )
}

statement! {
    /// Selects the roots of the trees of feature requests.
    Roots { workspace: Id => Binary, rows: String => Text } -> Binary,
    concat!(
        scope!(),
        "SELECT DISTINCT coalesce(root_id, request_id) FROM vote_tallies
         WHERE workspace_id = (SELECT workspace FROM scope)
           AND request_id IN (SELECT ", id!("feature_request_id"), from_rows!(), ")"
    )
}

statement! {
    /// Inserts votes.
    InsertVotes { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
         SELECT workspace, ", id!("feature_request_id"), ", ", id!("customer_id"), ", value ->> 'subscribed', ",
        millis!("created_at"), from_rows!()
    )
}

statement! {
    /// Inserts subscriptions without a vote.
    InsertFollowers { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "INSERT INTO followers (workspace_id, request_id, customer_id, created_at)
         SELECT workspace, ", id!("feature_request_id"), ", ", id!("customer_id"), ", ", millis!("created_at"), from_rows!()
    )
}

statement! {
    /// Inserts the comments that do not wait for approval.
    InsertComments { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "INSERT INTO comments (workspace_id, id, request_id, author_id, customer_id, content, created_at, updated_at)
         SELECT workspace, ", id!("id"), ", ", id!("feature_request_id"), ", ", id!("author_id"), ", ", id!("customer_id"),
        ", value ->> 'content', ", millis!("created_at"), ", ", millis!("updated_at"), from_rows!(),
        "WHERE NOT (value ->> 'held')"
    )
}

statement! {
    /// Inserts the comments that wait for approval.
    InsertHeldComments { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "INSERT INTO held_comments (workspace_id, id, request_id, customer_id, content, created_at)
         SELECT workspace, ", id!("id"), ", ", id!("feature_request_id"), ", ", id!("customer_id"), ", value ->> 'content', ",
        millis!("created_at"), from_rows!(), "WHERE value ->> 'held'"
    )
}

statement! {
    /// Inserts links.
    InsertLinks { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "INSERT INTO links (workspace_id, id, request_id, url, issue, title, state, created_at, updated_at)
         SELECT workspace, ", id!("id"), ", ", id!("feature_request_id"), ", value ->> 'url', value ->> 'issue',
                value ->> 'title', value ->> 'state', ", millis!("created_at"), ", ", millis!("updated_at"), from_rows!()
    )
}

statement! {
    /// Inserts changelogs.
    InsertChangelogs { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "INSERT INTO changelogs (workspace_id, id, title, content, category, cover_attachment_id, published_at, notified,
                                 notifies, created_at, updated_at)
         SELECT workspace, ", id!("id"), ", value ->> 'title', value ->> 'content', value ->> 'category', ",
        id!("cover_attachment_id"), ", ", millis!("publish_at"), ", value ->> 'notified', value ->> 'notifies', ",
        millis!("created_at"), ", ", millis!("updated_at"), from_rows!()
    )
}

statement! {
    /// Links changelogs to their feature requests.
    LinkChangelogs { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        ", changelog (id, requests) AS (SELECT ", id!("id"), ", value -> 'feature_request_ids'", from_rows!(), ")
         INSERT INTO changelog_feature_requests (workspace_id, changelog_id, request_id, position)
         SELECT workspace, changelog.id, unhex(replace(request.value, '-', '')), request.key
         FROM scope CROSS JOIN changelog CROSS JOIN json_each(changelog.requests) AS request"
    )
}

statement! {
    /// Remembers where records came from.
    InsertOrigins { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "INSERT INTO imported (workspace_id, name, kind, external_id, local_id, digest, written_at, import_id)
         SELECT workspace, value ->> 'name', value ->> 'kind', value ->> 'external_id', ", id!("local_id"), ",
                value ->> 'digest', ", millis!("written_at"), ", ", id!("import_id"), from_rows!()
    )
}

statement! {
    /// Sets when files were stored.
    SetFileTimes { workspace: Id => Binary, rows: String => Text }
    concat!(
        scope!(),
        "UPDATE attachments SET created_at = file.at FROM (
             SELECT ", id!("id"), " AS id, ", millis!("created_at"), " AS at", from_rows!(), "
         ) AS file
         WHERE workspace_id = (SELECT workspace FROM scope) AND attachments.id = file.id"
    )
}

statement! {
    /// Sets the number of the newest feature request.
    SetCounter { workspace: Id => Binary, number: i64 => BigInt }
    "INSERT INTO tag_counters (workspace_id, last_tag_number) VALUES (?, ?)
     ON CONFLICT (workspace_id) DO UPDATE SET last_tag_number = excluded.last_tag_number"
}

fn restore(connection: &mut SqliteConnection, workspace: Id, part: Part, rows: String) -> Result<(), SqlError> {
    match part {
        Part::Members { keeps_access } => {
            MoveKeys { workspace, rows: rows.clone() }.execute(connection)?;
            match keeps_access {
                true => InsertMembers { workspace, rows }.execute(connection),
                false => ReplaceMembers { workspace, rows }.execute(connection),
            }?;
        }
        Part::Customers => drop(InsertCustomers { workspace, rows }.execute(connection)?),
        Part::FeatureRequests => {
            InsertRequests { workspace, rows: rows.clone() }.execute(connection)?;
            InsertTallies { workspace, rows: rows.clone() }.execute(connection)?;
            InsertTags { workspace, rows: rows.clone() }.execute(connection)?;
            SetAttention { workspace, rows }.execute(connection)?;
        }
        Part::Merges => {
            LinkRequests { workspace, rows: rows.clone() }.execute(connection)?;
            SetAttention { workspace, rows: rows.clone() }.execute(connection)?;
            count_trees(connection, workspace, rows)?;
        }
        Part::Votes => {
            InsertVotes { workspace, rows: rows.clone() }.execute(connection)?;
            count_trees(connection, workspace, rows)?;
        }
        Part::Subscriptions => drop(InsertFollowers { workspace, rows }.execute(connection)?),
        Part::Comments => {
            InsertComments { workspace, rows: rows.clone() }.execute(connection)?;
            InsertHeldComments { workspace, rows }.execute(connection)?;
        }
        Part::Links => drop(InsertLinks { workspace, rows }.execute(connection)?),
        Part::Changelogs => {
            InsertChangelogs { workspace, rows: rows.clone() }.execute(connection)?;
            LinkChangelogs { workspace, rows }.execute(connection)?;
        }
        Part::Imported => drop(InsertOrigins { workspace, rows }.execute(connection)?),
        Part::FileTimes => drop(SetFileTimes { workspace, rows }.execute(connection)?),
    }
    Ok(())
}

/// Counts the votes of the trees of feature requests again.
fn count_trees(connection: &mut SqliteConnection, workspace: Id, rows: String) -> Result<(), SqlError> {
    let roots: Vec<Id> = Roots { workspace, rows }.load(connection)?;
    roots.into_iter().try_for_each(|root| recount(connection, workspace, root))
}

#[async_trait]
impl RestoreWrites for SqliteUnit {
    async fn is_blank(&mut self) -> Result<bool, StoreError> {
        self.run(|connection, workspace| Ok(IsBlank { workspace }.get_result(connection)?)).await
    }

    async fn restore(&mut self, part: Part, rows: String) -> Result<(), StoreError> {
        self.run(move |connection, workspace| restore(connection, workspace, part, rows)).await
    }

    async fn set_last_tag_number(&mut self, number: i64) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            SetCounter { workspace, number }.execute(connection)?;
            Ok(())
        })
        .await
    }
}
