//! Reads the content and the recipients of mails.

use crate::trees::LinkSql;
use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{
    ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl,
};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::event::EventContent;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::id::{
    ChangelogId, CommentId, EventId, FeatureRequestId, SignInId, WorkspaceId, lowest_id_at,
};
use roadmap_domain::model::mail::{
    About, HeldMessage, MailId, MailRecipient, MailSender, SenderName, Topic, TopicContent,
};
use roadmap_domain::model::message::MessageId;
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::sign_in::SignIn;
use roadmap_domain::model::team_mail::{TeamDigestContent, TeamDigestId, TeamMail};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::ports::MailReader;
use roadmap_store::columns::{Id, inconsistent};
use roadmap_store::rows::{AuthorRow, CoverRow, HeldMessageRow, LinkRow, SignInRow, TeamPostRow, team_posts};

use crate::SqliteStore;
use crate::audience::{json_topic, topic_record, topic_requests};
use crate::codec::{json_array, json_ids, quoted_id};
use crate::reads::settings::{OnePortal, PortalRowColumns};
use crate::records::comment_authors;
use crate::rows::sign_in_columns;
use crate::schema::{outbox, settings, sign_ins, workspaces};
use crate::statement::statement;

statement! {
    /// Selects the recipients of mails, with the index of each mail. A mail is a triple of the kind and the ID of its
    /// topic and of the customer, in JSON. Whoever has a subscribed vote or follows is subscribed.
    Recipients {
        workspace: Id => Binary, topics: String => Text, hour: i64 => BigInt, now: i64 => BigInt, mails: String => Text,
    } -> (BigInt, Text, Nullable<Text>, Bool, Nullable<Bool>, Bool, BigInt),
    concat!(
        "WITH ", topic_requests!(), "
         SELECT mails.key, customers.email, coalesce(customers.language, customers.last_language),
            CASE mails.value ->> 0 WHEN 'changelog' THEN customers.stops_changelogs OR customers.blocked_at IS NOT NULL
                ELSE customers.mail_stopped_at IS NOT NULL END,
            (SELECT max(subscribed) FROM (
                SELECT votes.subscribed FROM requests CROSS JOIN votes ON votes.workspace_id = customers.workspace_id
                   AND votes.request_id = requests.request AND votes.customer_id = customers.id
                WHERE requests.record = unhex(mails.value ->> 1)
                UNION ALL
                SELECT 1 FROM requests CROSS JOIN followers ON followers.workspace_id = customers.workspace_id
                   AND followers.request_id = requests.request AND followers.customer_id = customers.id
                WHERE requests.record = unhex(mails.value ->> 1)
            )),
            mails.value ->> 0 = 'changelog' AND customers.news_since IS NOT NULL AND customers.blocked_at IS NULL,
            (SELECT count(*) FROM outbox sent WHERE sent.workspace_id = customers.workspace_id
              AND sent.customer_id = customers.id AND sent.sent_at >= ? AND sent.kind <> 'comment_digest'
              AND sent.digest_id IS NULL)
            + (SELECT count(*) FROM outbox leased WHERE leased.workspace_id = customers.workspace_id
                AND leased.customer_id = customers.id AND leased.leased_until > ? AND leased.kind <> 'comment_digest')
         FROM scope CROSS JOIN json_each(?) AS mails
         CROSS JOIN customers ON customers.workspace_id = scope.workspace AND customers.id = unhex(mails.value ->> 2)
         WHERE CASE mails.value ->> 0
             WHEN 'changelog' THEN EXISTS (SELECT 1 FROM changelogs
                 WHERE changelogs.workspace_id = scope.workspace AND changelogs.id = unhex(mails.value ->> 1))
             ELSE EXISTS (SELECT 1 FROM requests WHERE requests.record = unhex(mails.value ->> 1))
         END"
    )
}

/// SQL for the feature request that a row of `source` is about, or the one that it was merged into.
macro_rules! join_root {
    ($source:literal) => {
        concat!(
            "CROSS JOIN vote_tallies ON vote_tallies.workspace_id = ",
            $source,
            ".workspace_id
                    AND vote_tallies.request_id = ",
            $source,
            ".request_id
             CROSS JOIN feature_requests ON feature_requests.workspace_id = ",
            $source,
            ".workspace_id
                    AND feature_requests.id = coalesce(vote_tallies.root_id, ",
            $source,
            ".request_id)"
        )
    };
}

/// SQL for the author of a comment: whether it is a customer, and the name.
macro_rules! author {
    () => {
        "comments.customer_id IS NOT NULL,
         CASE WHEN comments.customer_id IS NULL THEN members.name ELSE customers.name END"
    };
}

/// The types of [`author!`].
type AuthorSql = (Bool, Nullable<Text>);

statement! {
    /// Selects comments by their ids, in JSON, each cut after a number of characters.
    Comments { characters: i64 => BigInt, comments: String => Text, workspace: Id => Binary }
        -> (Binary, Text, LinkSql, AuthorSql),
    concat!(
        "SELECT comments.id, substr(comments.content, 1, ?), feature_requests.id, feature_requests.tag_number,
                feature_requests.title, ", author!(), "
         FROM json_each(?) AS wanted
         CROSS JOIN comments ON comments.id = unhex(wanted.value) ", join_root!("comments"), comment_authors!(),
        " WHERE comments.workspace_id = ?"
    )
}

statement! {
    /// Selects events by their ids, in JSON, each with the comment of a move, cut after a number of characters.
    Events { characters: i64 => BigInt, events: String => Text, workspace: Id => Binary }
        -> (Binary, Text, Text, Text, LinkSql, Nullable<Text>, AuthorSql),
    concat!(
        "SELECT event.id, event.kind, event.details, coalesce(substr(comments.content, 1, ?), ''),
                feature_requests.id, feature_requests.tag_number, feature_requests.title, source.title, ", author!(), "
         FROM json_each(?) AS wanted
         CROSS JOIN feature_request_events event ON event.id = unhex(wanted.value) ", join_root!("event"), "
         LEFT JOIN feature_requests source ON source.workspace_id = event.workspace_id
               AND source.id = event.request_id AND source.id <> feature_requests.id
         LEFT JOIN comments ON comments.workspace_id = event.workspace_id
               AND comments.id = unhex(event.details ->> '$.comment', '-') ", comment_authors!(),
        " WHERE event.workspace_id = ?"
    )
}

statement! {
    /// Selects the public ones of changelogs by their ids, in JSON, each cut after a number of characters.
    Changelogs { characters: i64 => BigInt, changelogs: String => Text, workspace: Id => Binary, public_at: i64 => BigInt }
        -> (Binary, Text, Text, Nullable<(Binary, Text)>),
    "SELECT changelogs.id, changelogs.title, substr(changelogs.content, 1, ?), cover.id, cover.filename
     FROM json_each(?) AS wanted
     CROSS JOIN changelogs ON changelogs.id = unhex(wanted.value)
     LEFT JOIN attachments cover ON cover.workspace_id = changelogs.workspace_id
           AND cover.id = changelogs.cover_attachment_id
     WHERE changelogs.workspace_id = ? AND changelogs.published_at <= ?"
}

statement! {
    /// Selects the titles of the roots of feature requests by their ids, in JSON, unless they are private.
    PublicTitles { requests: String => Text, workspace: Id => Binary } -> (Binary, Text),
    concat!(
        "SELECT source.id, feature_requests.title FROM json_each(?) AS wanted
         CROSS JOIN (SELECT workspace_id, id, id AS request_id FROM feature_requests) AS source
            ON source.id = unhex(wanted.value) ", join_root!("source"),
        " WHERE source.workspace_id = ? AND NOT feature_requests.private"
    )
}

statement! {
    /// Selects the address of a member, the language of the customer with this address, and which mail the member wants.
    TeamRecipient { workspace: Id => Binary, member: Id => Binary } -> (Text, Nullable<Text>, Text),
    "SELECT members.email, coalesce(customers.language, customers.last_language), team_mail
     FROM members
     LEFT JOIN customers ON customers.workspace_id = members.workspace_id
           AND customers.email_folded = members.email_folded
     WHERE members.workspace_id = ? AND members.id = ? AND removed_at IS NULL"
}

/// The types of the columns of `TeamPostRow`.
type TeamPostSql = (LinkSql, Bool, Nullable<Text>, Bool, Text, BigInt);

statement! {
    /// Selects the feature requests of a period, the beginning of each description cut after a number of characters.
    TeamRequests {
        characters: i64 => BigInt, workspace: Id => Binary, lowest_id: Id => Binary, after: i64 => BigInt,
        until: i64 => BigInt, limit: i64 => BigInt,
    } -> TeamPostSql,
    "SELECT request.id, request.tag_number, request.title, request.author_id IS NOT NULL, customers.name,
            request.awaiting_approval, substr(request.description, 1, ?), count(*) OVER ()
     FROM feature_requests request
     LEFT JOIN customers ON customers.workspace_id = request.workspace_id AND customers.id = request.author_id
     WHERE request.workspace_id = ? AND request.id >= ? AND request.created_at > ? AND request.created_at <= ?
     ORDER BY request.created_at, request.id LIMIT ?"
}

statement! {
    /// Selects the comments of customers of a period, with those that wait for approval, each cut after a number of
    /// characters. With a member, only those on what the member has commented on.
    TeamReplies {
        workspace: Id => Binary, lowest_id: Id => Binary, after: i64 => BigInt, until: i64 => BigInt,
        answered_by: Option<Id> => Nullable<Binary>, characters: i64 => BigInt, limit: i64 => BigInt,
    } -> TeamPostSql,
    "WITH period (workspace, lowest_id, after, until, answered_by) AS (SELECT ?, ?, ?, ?, ?), written AS (
         SELECT comments.workspace_id, id, request_id, customer_id, content, created_at, 0 AS is_awaiting
         FROM period CROSS JOIN comments
           ON workspace_id = period.workspace AND id >= lowest_id AND created_at > after AND created_at <= until
         WHERE customer_id IS NOT NULL
         UNION ALL
         SELECT held_comments.workspace_id, id, request_id, customer_id, content, created_at, 1
         FROM period CROSS JOIN held_comments
           ON workspace_id = period.workspace AND created_at > after AND created_at <= until
     )
     SELECT root.id, root.tag_number, root.title, 1, customers.name, is_awaiting, substr(written.content, 1, ?),
            count(*) OVER ()
     FROM period CROSS JOIN written
     CROSS JOIN feature_requests request
             ON request.workspace_id = written.workspace_id AND request.id = written.request_id
     CROSS JOIN feature_requests root
             ON root.workspace_id = written.workspace_id AND root.id = coalesce(request.root_id, request.id)
     CROSS JOIN customers ON customers.workspace_id = written.workspace_id AND customers.id = written.customer_id
     WHERE answered_by IS NULL OR EXISTS (
         SELECT 1 FROM comments answer
         WHERE answer.workspace_id = written.workspace_id AND answer.author_id = answered_by
           AND answer.request_id IN (
               SELECT root.id UNION ALL
               SELECT merged.id FROM feature_requests merged
               WHERE merged.workspace_id = root.workspace_id AND merged.root_id = root.id
           )
     )
     ORDER BY written.created_at, written.id LIMIT ?"
}

type CommentRow = (Id, String, LinkRow, AuthorRow);
type EventRow = (Id, String, String, String, LinkRow, Option<String>, AuthorRow);
type ChangelogRow = (Id, String, String, Option<CoverRow>);

/// The rows of the topics of each kind.
type TopicRows = (Vec<CommentRow>, Vec<EventRow>, Vec<ChangelogRow>);

fn comment_content((comment, content, request, author): CommentRow) -> TopicContent {
    let topic = Topic::Comment(CommentId::new(comment.0));
    TopicContent { topic, about: About::Comment(request.into(), author.into()), content }
}

/// Returns the content of an event. `None` if it is neither a move nor a merge that lasts.
fn event_content(
    (event, kind, details, content, request, source, author): EventRow,
) -> Result<Option<TopicContent>, StoreError> {
    let parsed = EventContent::parse(&kind, &details);
    let parsed = parsed.ok_or_else(|| inconsistent("feature_request_events", "details", event))?;
    let id = EventId::new(event.0);
    Ok(match (parsed, source) {
        (EventContent::Moved(moved), _) => {
            let author = (!content.is_empty()).then(|| author.into());
            let about = About::StatusChange { request: request.into(), status: moved.to.status, author };
            Some(TopicContent { topic: Topic::StatusChange(id), about, content })
        }
        // Without a source, the merge was undone.
        (EventContent::MergedInto(_), Some(source)) => {
            let about = About::Merge { request: request.into(), source: Title::from_stored(source) };
            Some(TopicContent { topic: Topic::Merge(id), about, content })
        }
        _ => None,
    })
}

fn changelog_content((changelog, title, content, cover): ChangelogRow) -> TopicContent {
    let changelog = ChangelogId::new(changelog.0);
    let about = About::Changelog { id: changelog, title: Title::from_stored(title), cover: cover.map(Into::into) };
    TopicContent { topic: Topic::Changelog(changelog), about, content }
}

#[async_trait]
impl MailReader for SqliteStore {
    async fn sender(&self, workspace: WorkspaceId) -> Result<Option<MailSender>, StoreError> {
        type Row = ((String, Option<String>), PortalRowColumns);
        let id = Id(workspace.uuid());
        let load = move |connection: &mut SqliteConnection| {
            let sender = workspaces::table
                .inner_join(settings::table.on(settings::workspace_id.eq(workspaces::id)))
                .filter(workspaces::id.eq(id))
                .select((workspaces::subdomain, settings::sender_name));
            let Some(sender) = sender.first(connection).optional()? else { return Ok(None) };
            Ok(Some((sender, OnePortal { workspace: id }.get_result(connection)?)))
        };
        let row: Option<Row> = self.readers.run_in_snapshot(load).await?;
        let Some(((subdomain, name), portal)) = row else { return Ok(None) };
        let (subdomain, name) = (Subdomain::from_stored(subdomain), name.map(SenderName::from_stored));
        Ok(Some(MailSender { subdomain, name, portal: portal.portal(workspace)? }))
    }

    async fn recipients(
        &self,
        workspace: WorkspaceId,
        mails: &[MailId],
        hour: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<MailRecipient>, StoreError> {
        type Row = (i64, String, Option<String>, bool, Option<bool>, bool, i64);
        let triple = |mail: &MailId| {
            let (kind, record) = topic_record(mail.topic);
            format!("[\"{kind}\",{},{}]", quoted_id(record), quoted_id(mail.customer.uuid()))
        };
        let recipients = Recipients {
            workspace: Id(workspace.uuid()),
            topics: json_array(mails.iter().map(|mail| json_topic(mail.topic))),
            hour: hour.millis(),
            now: now.millis(),
            mails: json_array(mails.iter().map(triple)),
        };
        let rows: Vec<Row> = self.readers.run(move |connection| Ok(recipients.load(connection)?)).await?;
        let recipient = |(index, email, language, is_stopped, is_subscribed, wants_news, recent): Row| {
            let mail = usize::try_from(index).ok().and_then(|index| mails.get(index)).copied()?;
            Some(MailRecipient {
                mail,
                to: EmailAddress::from_stored(email),
                language: language.as_deref().and_then(Language::from_code),
                is_stopped,
                is_subscribed,
                wants_news,
                recent_count: u32::try_from(recent).unwrap_or(u32::MAX),
            })
        };
        Ok(rows.into_iter().filter_map(recipient).collect())
    }

    async fn topics(
        &self,
        workspace: WorkspaceId,
        topics: &[Topic],
        characters: u32,
        public_at: Timestamp,
    ) -> Result<Vec<TopicContent>, StoreError> {
        let (workspace, characters) = (Id(workspace.uuid()), i64::from(characters));
        let (mut comments, mut events, mut changelogs) = (Vec::new(), Vec::new(), Vec::new());
        for topic in topics {
            match topic {
                Topic::Comment(comment) => comments.push(Id(comment.uuid())),
                Topic::StatusChange(event) | Topic::Merge(event) => events.push(Id(event.uuid())),
                Topic::Changelog(changelog) => changelogs.push(Id(changelog.uuid())),
            }
        }
        let (comments, events, changelogs): TopicRows = self
            .readers
            .run_in_snapshot(move |connection| {
                let comments = Comments { characters, comments: json_ids(&comments), workspace }.load(connection)?;
                let events = Events { characters, events: json_ids(&events), workspace }.load(connection)?;
                let (changelogs, public_at) = (json_ids(&changelogs), public_at.millis());
                let changelogs = Changelogs { characters, changelogs, workspace, public_at }.load(connection)?;
                Ok((comments, events, changelogs))
            })
            .await?;
        let mut contents: Vec<TopicContent> = comments.into_iter().map(comment_content).collect();
        for event in events {
            contents.extend(event_content(event)?);
        }
        contents.extend(changelogs.into_iter().map(changelog_content));
        Ok(contents)
    }

    async fn public_titles(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<(FeatureRequestId, Title)>, StoreError> {
        let requests: Vec<Id> = requests.iter().map(|request| Id(request.uuid())).collect();
        let titles = PublicTitles { requests: json_ids(&requests), workspace: Id(workspace.uuid()) };
        let rows: Vec<(Id, String)> = self.readers.run(move |connection| Ok(titles.load(connection)?)).await?;
        Ok(rows.into_iter().map(|(id, title)| (FeatureRequestId::new(id.0), Title::from_stored(title))).collect())
    }

    async fn sign_ins(&self, workspace: WorkspaceId, sign_ins: &[SignInId]) -> Result<Vec<SignIn>, StoreError> {
        let workspace = Id(workspace.uuid());
        let ids: Vec<Id> = sign_ins.iter().map(|sign_in| Id(sign_in.uuid())).collect();
        let rows: Vec<SignInRow> = self
            .readers
            .run(move |connection| {
                Ok(sign_ins::table
                    .filter(sign_ins::workspace_id.eq(workspace))
                    .filter(sign_ins::id.eq_any(ids))
                    .select(sign_in_columns())
                    .load(connection)?)
            })
            .await?;
        rows.into_iter().map(SignIn::try_from).collect()
    }

    async fn team_digest(
        &self,
        workspace: WorkspaceId,
        id: &TeamDigestId,
        limit: u32,
        characters: u32,
    ) -> Result<Option<TeamDigestContent>, StoreError> {
        type Rows = (String, Option<String>, Vec<TeamPostRow>, Vec<TeamPostRow>);
        let (workspace, member) = (Id(workspace.uuid()), Id(id.member.uuid()));
        let (lowest_id, after, until) = (Id(lowest_id_at(id.after)), id.after.millis(), id.until.millis());
        let (limit, characters) = (i64::from(limit), i64::from(characters));
        let rows: Option<Rows> = self
            .readers
            .run_in_snapshot(move |connection| {
                let recipient: Option<(String, Option<String>, String)> =
                    TeamRecipient { workspace, member }.get_result(connection).optional()?;
                let Some((email, language, wanted)) = recipient else { return Ok(None) };
                let wanted = TeamMail::from_name(&wanted).unwrap_or(TeamMail::Nothing);
                if wanted == TeamMail::Nothing {
                    return Ok(None);
                }
                let answered_by = (wanted == TeamMail::Answered).then_some(member);
                let requests = TeamRequests { characters, workspace, lowest_id, after, until, limit };
                let requests = match answered_by {
                    Some(_) => Vec::new(),
                    None => requests.load(connection)?,
                };
                let replies = TeamReplies { workspace, lowest_id, after, until, answered_by, characters, limit };
                Ok(Some((email, language, requests, replies.load(connection)?)))
            })
            .await?;
        let Some((email, language, requests, replies)) = rows else { return Ok(None) };
        let ((requests, requests_count), (replies, replies_count)) = (team_posts(requests), team_posts(replies));
        let (to, language) = (EmailAddress::from_stored(email), language.as_deref().and_then(Language::from_code));
        Ok(Some(TeamDigestContent { to, language, requests, requests_count, replies, replies_count }))
    }

    async fn held(&self, workspace: WorkspaceId, digests: &[MessageId]) -> Result<Vec<HeldMessage>, StoreError> {
        let workspace = Id(workspace.uuid());
        let digests: Vec<String> = digests.iter().map(|digest| digest.as_str().to_owned()).collect();
        let rows: Vec<HeldMessageRow> = self
            .readers
            .run(move |connection| {
                let held = outbox::table
                    .filter(outbox::workspace_id.eq(workspace))
                    .filter(outbox::digest_id.eq_any(digests))
                    .select((
                        outbox::digest_id.assume_not_null(),
                        outbox::kind,
                        outbox::payload,
                        outbox::customer_id,
                        outbox::address,
                    ));
                Ok(held.load(connection)?)
            })
            .await?;
        Ok(rows.into_iter().map(HeldMessage::from).collect())
    }
}
