//! Whole records of an export, as JSON.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Bool, Text, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::export::restore::Part;
use roadmap_domain::ports::RestoreWrites;
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::statement::statement;
use crate::unit::PostgresUnit;

/// The SQL of the common table expression `given`: the rows with these columns.
macro_rules! given {
    ($columns:literal) => {
        concat!("WITH given AS MATERIALIZED (SELECT * FROM json_to_recordset({rows}::json) AS given (", $columns, ")) ")
    };
}

statement! {
    /// Whether a workspace has no feature request, no customer and no changelog.
    IsBlank { workspace: Uuid => SqlUuid } -> Bool,
    "SELECT NOT EXISTS (SELECT FROM feature_requests WHERE workspace_id = {workspace})
        AND NOT EXISTS (SELECT FROM customers WHERE workspace_id = {workspace})
        AND NOT EXISTS (SELECT FROM changelogs WHERE workspace_id = {workspace})"
}

statement! {
    /// Inserts members. A member with the same address gets the values of the given one, and its access, unless members keep
    /// theirs. Keys stay those of the member.
    InsertMembers { workspace: Uuid => SqlUuid, rows: String => Text, keeps_access: bool => Bool } -> Untyped,
    concat!(
        given!(
            "id uuid, email text, email_folded text, name text, role text, team_mail text, saved_views json,
             shortcuts boolean, created_at timestamptz, removed_at timestamptz, told_until timestamptz"
        ),
        ", moved AS (
             UPDATE api_keys SET made_by = given.id FROM given
             JOIN members ON members.workspace_id = {workspace} AND members.email_folded = given.email_folded
             WHERE api_keys.workspace_id = {workspace} AND made_by = members.id
         )
         INSERT INTO members (workspace_id, id, email, email_folded, name, role, team_mail, saved_views, shortcuts,
                              created_at, removed_at, told_until)
         SELECT {workspace}, id, email, email_folded, name, role, team_mail, saved_views::text, shortcuts, created_at,
                removed_at, told_until
         FROM given
         ON CONFLICT (workspace_id, email_folded) DO UPDATE SET id = excluded.id, email = excluded.email,
            name = excluded.name, team_mail = excluded.team_mail, saved_views = excluded.saved_views,
            shortcuts = excluded.shortcuts, created_at = excluded.created_at,
            role = CASE WHEN {keeps_access} THEN members.role ELSE excluded.role END,
            removed_at = CASE WHEN {keeps_access} THEN members.removed_at ELSE excluded.removed_at END"
    )
}

statement! {
    /// Inserts customers.
    InsertCustomers { workspace: Uuid => SqlUuid, rows: String => Text } -> Untyped,
    concat!(
        given!(
            "id uuid, email text, email_folded text, name text, name_folded text, language text, last_language text,
             mail_stopped_at timestamptz, mail_stopped_because text, stops_changelogs boolean, news_since timestamptz,
             blocked_at timestamptz, created_at timestamptz"
        ),
        "INSERT INTO customers (workspace_id, id, email, email_folded, name, name_folded, language, last_language,
                                mail_stopped_at, mail_stopped_because, stops_changelogs, news_since, blocked_at, created_at)
         SELECT {workspace}, given.* FROM given"
    )
}

statement! {
    /// Inserts feature requests that are not merged yet, with their tallies and tags.
    InsertRequests { workspace: Uuid => SqlUuid, rows: String => Text } -> Untyped,
    concat!(
        given!(
            "id uuid, tag_number bigint, title text, description text, description_text text, folded_tags json, track_id uuid,
             author_id uuid, private boolean, awaiting_approval boolean, nameless_votes bigint, handled_at timestamptz,
             status_since timestamptz, created_at timestamptz, updated_at timestamptz"
        ),
        ", requests AS (
             INSERT INTO feature_requests
                 (workspace_id, id, tag_number, title, description, description_text, track_id, author_id, private,
                  awaiting_approval, handled_at, status_since, created_at, updated_at)
             SELECT {workspace}, id, tag_number, title, description, description_text, track_id, author_id, private,
                    awaiting_approval, handled_at, status_since, created_at, updated_at
             FROM given
         ), tallies AS (
             INSERT INTO vote_tallies
                 (workspace_id, request_id, tag_number, votes_count, nameless_votes, track_id, private)
             SELECT {workspace}, id, tag_number, nameless_votes, nameless_votes, track_id, private FROM given
         )
         INSERT INTO feature_request_tags (workspace_id, request_id, position, tag, tag_folded)
         SELECT {workspace}, id, position - 1, tag ->> 0, tag ->> 1
         FROM given CROSS JOIN LATERAL json_array_elements(folded_tags) WITH ORDINALITY AS tags (tag, position)"
    )
}

statement! {
    /// Links feature requests to what they are merged into.
    LinkRequests { workspace: Uuid => SqlUuid, rows: String => Text } -> Untyped,
    concat!(
        given!("id uuid, merged_into_id uuid, root_id uuid"),
        ", part AS (
             SELECT id, true AS is_source FROM given
             UNION ALL
             SELECT root_id, false FROM given WHERE root_id NOT IN (SELECT id FROM given) GROUP BY root_id
         )
         UPDATE feature_requests SET merged_into_id = given.merged_into_id, root_id = given.root_id, was_merged = true
         FROM part LEFT JOIN given ON part.is_source AND given.id = part.id
         WHERE workspace_id = {workspace} AND feature_requests.id = part.id"
    )
}

statement! {
    /// Selects the IDs of the rows.
    GivenIds { rows: String => Text } -> SqlUuid,
    "SELECT id FROM json_to_recordset({rows}::json) AS given (id uuid)"
}

statement! {
    /// Selects the roots of the trees of feature requests.
    Roots { workspace: Uuid => SqlUuid, rows: String => Text } -> SqlUuid,
    "SELECT DISTINCT coalesce(root_id, id) AS root FROM feature_requests
     WHERE workspace_id = {workspace} AND id IN (
         SELECT feature_request_id FROM json_to_recordset({rows}::json) AS given (feature_request_id uuid)
     )
     ORDER BY root"
}

statement! {
    /// Inserts votes.
    InsertVotes { workspace: Uuid => SqlUuid, rows: String => Text } -> Untyped,
    concat!(
        given!("feature_request_id uuid, customer_id uuid, subscribed boolean, created_at timestamptz"),
        "INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
         SELECT {workspace}, given.* FROM given"
    )
}

statement! {
    /// Inserts subscriptions without a vote.
    InsertFollowers { workspace: Uuid => SqlUuid, rows: String => Text } -> Untyped,
    concat!(
        given!("feature_request_id uuid, customer_id uuid, created_at timestamptz"),
        "INSERT INTO followers (workspace_id, request_id, customer_id, created_at) SELECT {workspace}, given.* FROM given"
    )
}

statement! {
    /// Inserts comments, also those that wait for approval.
    InsertComments { workspace: Uuid => SqlUuid, rows: String => Text } -> Untyped,
    concat!(
        given!(
            "id uuid, feature_request_id uuid, author_id uuid, customer_id uuid, content text, held boolean,
             created_at timestamptz, updated_at timestamptz"
        ),
        ", held AS (
             INSERT INTO held_comments (workspace_id, id, request_id, customer_id, content, created_at)
             SELECT {workspace}, id, feature_request_id, customer_id, content, created_at FROM given WHERE held
         )
         INSERT INTO comments (workspace_id, id, request_id, author_id, customer_id, content, created_at, updated_at)
         SELECT {workspace}, id, feature_request_id, author_id, customer_id, content, created_at, updated_at
         FROM given WHERE NOT held"
    )
}

statement! {
    /// Inserts links.
    InsertLinks { workspace: Uuid => SqlUuid, rows: String => Text } -> Untyped,
    concat!(
        given!(
            "id uuid, feature_request_id uuid, url text, issue text, title text, state text, created_at timestamptz,
             updated_at timestamptz"
        ),
        "INSERT INTO links (workspace_id, id, request_id, url, issue, title, state, created_at, updated_at)
         SELECT {workspace}, given.* FROM given"
    )
}

statement! {
    /// Inserts changelogs with their links to feature requests.
    InsertChangelogs { workspace: Uuid => SqlUuid, rows: String => Text } -> Untyped,
    concat!(
        given!(
            "id uuid, title text, content text, category text, cover_attachment_id uuid, publish_at timestamptz,
             notified boolean, notifies boolean, feature_request_ids json, created_at timestamptz, updated_at timestamptz"
        ),
        ", inserted AS (
             INSERT INTO changelogs (workspace_id, id, title, content, category, cover_attachment_id, published_at,
                                     notified, notifies, created_at, updated_at)
             SELECT {workspace}, id, title, content, category, cover_attachment_id, publish_at, notified, notifies,
                    created_at, updated_at
             FROM given
         )
         INSERT INTO changelog_feature_requests (workspace_id, changelog_id, request_id, position)
         SELECT {workspace}, id, request::uuid, position - 1 FROM given
         CROSS JOIN LATERAL json_array_elements_text(feature_request_ids) WITH ORDINALITY AS linked (request, position)"
    )
}

statement! {
    /// Remembers where records came from.
    InsertOrigins { workspace: Uuid => SqlUuid, rows: String => Text } -> Untyped,
    concat!(
        given!(
            "name text, kind text, external_id text, local_id uuid, digest text, written_at timestamptz, import_id uuid"
        ),
        "INSERT INTO imported (workspace_id, name, kind, external_id, local_id, digest, written_at, import_id)
         SELECT {workspace}, given.* FROM given"
    )
}

statement! {
    /// Sets when files were stored.
    SetFileTimes { workspace: Uuid => SqlUuid, rows: String => Text } -> Untyped,
    concat!(
        given!("id uuid, created_at timestamptz"),
        "UPDATE attachments SET created_at = given.created_at FROM given
         WHERE workspace_id = {workspace} AND attachments.id = given.id"
    )
}

statement! {
    /// Sets the number of the newest feature request.
    SetCounter { workspace: Uuid => SqlUuid, number: i64 => BigInt } -> Untyped,
    "INSERT INTO tag_counters (workspace_id, last_tag_number) VALUES ({workspace}, {number})
     ON CONFLICT (workspace_id) DO UPDATE SET last_tag_number = excluded.last_tag_number"
}

impl PostgresUnit {
    /// Counts the votes of the trees of feature requests again.
    async fn count_trees_of(&self, rows: String) -> Result<(), StoreError> {
        let select = Roots { workspace: self.workspace, rows };
        let roots: Vec<Uuid> = self.run(select.load(&mut self.connection()?)).await?;
        self.lock_in_order(&roots).await?;
        self.count_trees(roots).await
    }

    /// Sets what feature requests need from the team.
    async fn set_attention(&self, rows: String) -> Result<(), StoreError> {
        let given: Vec<Uuid> = self.run(GivenIds { rows }.load(&mut self.connection()?)).await?;
        self.refresh_attention(given).await
    }
}

#[async_trait]
impl RestoreWrites for PostgresUnit {
    async fn is_blank(&mut self) -> Result<bool, StoreError> {
        let select = IsBlank { workspace: self.workspace };
        self.run(select.get_result(&mut self.connection()?)).await
    }

    async fn restore(&mut self, part: Part, rows: String) -> Result<(), StoreError> {
        let workspace = self.workspace;
        match part {
            Part::Members { keeps_access } => {
                let insert = InsertMembers { workspace, rows, keeps_access };
                self.run(insert.execute(&mut self.connection()?)).await?;
            }
            Part::Customers => {
                self.run(InsertCustomers { workspace, rows }.execute(&mut self.connection()?)).await?;
            }
            Part::FeatureRequests => {
                let insert = InsertRequests { workspace, rows: rows.clone() };
                self.run(insert.execute(&mut self.connection()?)).await?;
                self.set_attention(rows).await?;
            }
            Part::Merges => {
                self.lock_workspace(WorkspaceLock::Merges).await?;
                let link = LinkRequests { workspace, rows: rows.clone() };
                self.run(link.execute(&mut self.connection()?)).await?;
                self.set_attention(rows.clone()).await?;
                self.count_trees_of(rows).await?;
            }
            Part::Votes => {
                self.lock_workspace(WorkspaceLock::Merges).await?;
                let insert = InsertVotes { workspace, rows: rows.clone() };
                self.run(insert.execute(&mut self.connection()?)).await?;
                self.count_trees_of(rows).await?;
            }
            Part::Subscriptions => {
                self.run(InsertFollowers { workspace, rows }.execute(&mut self.connection()?)).await?;
            }
            Part::Comments => {
                self.run(InsertComments { workspace, rows }.execute(&mut self.connection()?)).await?;
            }
            Part::Links => {
                self.run(InsertLinks { workspace, rows }.execute(&mut self.connection()?)).await?;
            }
            Part::Changelogs => {
                self.run(InsertChangelogs { workspace, rows }.execute(&mut self.connection()?)).await?;
            }
            Part::Imported => {
                self.run(InsertOrigins { workspace, rows }.execute(&mut self.connection()?)).await?;
            }
            Part::FileTimes => {
                self.run(SetFileTimes { workspace, rows }.execute(&mut self.connection()?)).await?;
            }
        }
        Ok(())
    }

    async fn set_last_tag_number(&mut self, number: i64) -> Result<(), StoreError> {
        let set = SetCounter { workspace: self.workspace, number };
        self.run(set.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
