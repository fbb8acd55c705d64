//! Reads the content and the recipients of mails.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, NullableExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, SmallInt, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::event::EventContent;
use roadmap_domain::model::feature_request::{RequestLink, Title};
use roadmap_domain::model::id::{
    ChangelogId, CommentId, CustomerId, EventId, FeatureRequestId, SignInId, WorkspaceId, lowest_id_at,
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
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{AuthorRow, CoverRow, HeldMessageRow, SignInRow, TeamPostRow, team_posts};
use uuid::Uuid;

use crate::PostgresStore;
use crate::reads::settings::load_portal;
use crate::rows::{LinkColumns, sign_in_columns};
use crate::schema::{outbox, sign_ins};
use crate::statement::statement;

statement! {
    /// Selects the subdomain of a workspace, and the name that its mail comes from.
    SenderOf { workspace: Uuid => SqlUuid } -> (Text, Nullable<Text>),
    "SELECT subdomain, sender_name FROM settings JOIN workspaces ON workspaces.id = workspace_id
     WHERE workspace_id = {workspace}"
}

statement! {
    /// Selects the recipients of mails. A mail consists of the kind of its topic ([`topic_kind`]), the ID of its topic and
    /// a customer.
    Recipients {
        workspace: Uuid => SqlUuid,
        kinds: Vec<i16> => Array<SmallInt>,
        topics: Vec<Uuid> => Array<SqlUuid>,
        customers: Vec<Uuid> => Array<SqlUuid>,
        hour: TimestampColumn => Timestamptz,
        now: TimestampColumn => Timestamptz,
    } -> (SmallInt, SqlUuid, SqlUuid, Text, Nullable<Text>, Bool, Nullable<Bool>, Bool, BigInt),
    "WITH mails AS MATERIALIZED (
         SELECT kind, topic, customer_id FROM unnest({kinds}, {topics}, {customers}) AS mails (kind, topic, customer_id)
     ), topics AS MATERIALIZED (
         SELECT DISTINCT kind, topic FROM mails
     ), about AS MATERIALIZED (
         SELECT kind, topic, request_id FROM topics
         JOIN comments ON comments.workspace_id = {workspace} AND comments.id = CASE kind WHEN 0 THEN topic END
         UNION ALL
         SELECT topics.kind, topic, request_id FROM topics
         JOIN feature_request_events AS events
           ON events.workspace_id = {workspace} AND events.id = CASE WHEN topics.kind IN (1, 3) THEN topic END
         UNION ALL
         SELECT kind, topic, request_id FROM topics
         JOIN changelogs ON changelogs.workspace_id = {workspace} AND changelogs.id = CASE kind WHEN 2 THEN topic END
         LEFT JOIN changelog_feature_requests AS links
                ON links.workspace_id = {workspace} AND links.changelog_id = changelogs.id
     ), roots AS MATERIALIZED (
         SELECT DISTINCT kind, topic, coalesce(root_id, feature_requests.id) AS id FROM about
         LEFT JOIN feature_requests
                ON feature_requests.workspace_id = {workspace} AND feature_requests.id = about.request_id
     ), members AS MATERIALIZED (
         SELECT kind, topic, id FROM roots
         UNION ALL
         SELECT kind, topic, merged.id FROM roots CROSS JOIN LATERAL (
             SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND root_id = roots.id OFFSET 0
         ) AS merged
     )
     SELECT mails.kind, mails.topic, mails.customer_id, customers.email,
            coalesce(customers.language, customers.last_language),
            CASE mails.kind WHEN 2 THEN stops_changelogs OR blocked_at IS NOT NULL ELSE mail_stopped_at IS NOT NULL END,
            (SELECT bool_or(subscriptions.subscribed) FROM members CROSS JOIN LATERAL (
                 SELECT subscribed FROM votes
                 WHERE votes.workspace_id = {workspace} AND votes.request_id = members.id
                   AND votes.customer_id = mails.customer_id
                 UNION ALL
                 SELECT true FROM followers
                 WHERE followers.workspace_id = {workspace} AND followers.request_id = members.id
                   AND followers.customer_id = mails.customer_id
             ) AS subscriptions (subscribed)
             WHERE members.kind = mails.kind AND members.topic = mails.topic),
            mails.kind = 2 AND news_since IS NOT NULL AND blocked_at IS NULL,
            (SELECT count(*) FROM outbox sent WHERE sent.workspace_id = {workspace}
              AND sent.customer_id = mails.customer_id AND sent.sent_at >= {hour} AND sent.kind <> 'comment_digest'
              AND sent.digest_id IS NULL)
            + (SELECT count(*) FROM outbox leased WHERE leased.workspace_id = {workspace}
                AND leased.customer_id = mails.customer_id AND leased.leased_until > {now}
                AND leased.kind <> 'comment_digest')
     FROM mails
     JOIN customers ON customers.workspace_id = {workspace} AND customers.id = mails.customer_id
     WHERE EXISTS (SELECT FROM about WHERE about.kind = mails.kind AND about.topic = mails.topic)"
}

statement! {
    /// Selects the content of topics, each cut after a number of characters: comments, changes of the status, and public
    /// changelogs. Each with its kind ([`topic_kind`]), its feature request if it is about one, the title of that which was
    /// merged into it, the details of an event, the author of a comment, and the cover of a changelog.
    Topics {
        workspace: Uuid => SqlUuid,
        comments: Vec<Uuid> => Array<SqlUuid>,
        events: Vec<Uuid> => Array<SqlUuid>,
        changelogs: Vec<Uuid> => Array<SqlUuid>,
        characters: i32 => Integer,
        public_at: TimestampColumn => Timestamptz,
    } -> (
        SmallInt, SqlUuid, Text, Nullable<(SqlUuid, BigInt)>, Text, Text, Text, Text, (Bool, Nullable<Text>),
        Nullable<(SqlUuid, Text)>,
    ),
    "WITH about AS (
         SELECT 0::smallint AS kind, id, request_id, id AS comment_id, '' AS event_kind, '' AS details
         FROM comments WHERE workspace_id = {workspace} AND id = ANY ({comments})
         UNION ALL
         SELECT 1::smallint, id, request_id, (details::json ->> 'comment')::uuid, kind, details
         FROM feature_request_events WHERE workspace_id = {workspace} AND id = ANY ({events})
     ), rooted AS MATERIALIZED (
         SELECT about.*, coalesce(root_id, feature_requests.id) AS root_id, title AS own_title FROM about
         JOIN feature_requests
           ON feature_requests.workspace_id = {workspace} AND feature_requests.id = about.request_id
     )
     SELECT kind, rooted.id, coalesce(substr(comments.content, 1, {characters}), ''), root.id, root.tag_number,
            root.title, CASE WHEN root.id <> rooted.request_id THEN own_title ELSE '' END, event_kind, details,
            comments.customer_id IS NOT NULL,
            CASE WHEN comments.customer_id IS NULL THEN members.name ELSE customers.name END, NULL, NULL
     FROM rooted
     JOIN feature_requests AS root ON root.workspace_id = {workspace} AND root.id = rooted.root_id
     LEFT JOIN comments ON comments.workspace_id = {workspace} AND comments.id = rooted.comment_id
     LEFT JOIN members ON members.workspace_id = {workspace} AND members.id = comments.author_id
     LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = comments.customer_id
     UNION ALL
     SELECT 2::smallint, changelogs.id, substr(content, 1, {characters}), NULL, NULL, title, '', '', '', false, NULL,
            cover.id, cover.filename
     FROM changelogs
     LEFT JOIN attachments AS cover
            ON cover.workspace_id = {workspace} AND cover.id = changelogs.cover_attachment_id
     WHERE changelogs.workspace_id = {workspace} AND changelogs.id = ANY ({changelogs})
       AND published_at <= {public_at}"
}

statement! {
    /// Selects the titles of the roots of feature requests, unless they are private.
    PublicTitles { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> (SqlUuid, Text),
    "SELECT source.id, root.title FROM feature_requests AS source
     JOIN feature_requests AS root
       ON root.workspace_id = {workspace} AND root.id = coalesce(source.root_id, source.id)
     WHERE source.workspace_id = {workspace} AND source.id = ANY ({requests}) AND NOT root.private"
}

statement! {
    /// Selects the address of a member, the language of the customer with this address, and which mail the member wants.
    TeamRecipient { workspace: Uuid => SqlUuid, member: Uuid => SqlUuid } -> (Text, Nullable<Text>, Text),
    "SELECT members.email, coalesce(customers.language, customers.last_language), team_mail
     FROM members
     LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.email_folded = members.email_folded
     WHERE members.workspace_id = {workspace} AND members.id = {member} AND removed_at IS NULL"
}

/// The types of the columns of `TeamPostRow`.
type TeamPostColumns = (LinkColumns, Bool, Nullable<Text>, Bool, Text, BigInt);

statement! {
    /// Selects the feature requests of a period, the beginning of each description cut after a number of characters.
    TeamRequests {
        workspace: Uuid => SqlUuid,
        lowest_id: Uuid => SqlUuid,
        after: TimestampColumn => Timestamptz,
        until: TimestampColumn => Timestamptz,
        characters: i32 => Integer,
        limit: i64 => BigInt,
    } -> TeamPostColumns,
    "SELECT request.id, request.tag_number, request.title, request.author_id IS NOT NULL, customers.name,
            request.awaiting_approval, substr(request.description, 1, {characters}), count(*) OVER ()
     FROM feature_requests AS request
     LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = request.author_id
     WHERE request.workspace_id = {workspace} AND request.id >= {lowest_id} AND request.created_at > {after}
       AND request.created_at <= {until}
     ORDER BY request.created_at, request.id LIMIT {limit}"
}

statement! {
    /// Selects the comments of customers of a period, with those that wait for approval, each cut after a number of
    /// characters. With a member, only those on what the member has commented on.
    TeamReplies {
        workspace: Uuid => SqlUuid,
        lowest_id: Uuid => SqlUuid,
        after: TimestampColumn => Timestamptz,
        until: TimestampColumn => Timestamptz,
        answered_by: Option<Uuid> => Nullable<SqlUuid>,
        characters: i32 => Integer,
        limit: i64 => BigInt,
    } -> TeamPostColumns,
    "WITH written AS (
         SELECT id, request_id, customer_id, content, created_at, false AS is_awaiting FROM comments
         WHERE workspace_id = {workspace} AND id >= {lowest_id} AND created_at > {after} AND created_at <= {until}
           AND customer_id IS NOT NULL
         UNION ALL
         SELECT id, request_id, customer_id, content, created_at, true FROM held_comments
         WHERE workspace_id = {workspace} AND created_at > {after} AND created_at <= {until}
     )
     SELECT root.id, root.tag_number, root.title, true, customers.name, is_awaiting,
            substr(written.content, 1, {characters}), count(*) OVER ()
     FROM written
     JOIN feature_requests AS request ON request.workspace_id = {workspace} AND request.id = written.request_id
     JOIN feature_requests AS root
       ON root.workspace_id = {workspace} AND root.id = coalesce(request.root_id, request.id)
     JOIN customers ON customers.workspace_id = {workspace} AND customers.id = written.customer_id
     WHERE {answered_by} IS NULL OR EXISTS (
         SELECT FROM comments AS answer
         WHERE answer.workspace_id = {workspace} AND answer.author_id = {answered_by} AND answer.request_id IN (
             SELECT root.id UNION ALL
             SELECT id FROM feature_requests AS merged
             WHERE merged.workspace_id = {workspace} AND merged.root_id = root.id
         )
     )
     ORDER BY written.created_at, written.id LIMIT {limit}"
}

/// Returns the number of a topic's kind in the statements of this file, and its ID.
fn topic_kind(topic: Topic) -> (i16, Uuid) {
    match topic {
        Topic::Comment(comment) => (0, comment.uuid()),
        Topic::StatusChange(event) => (1, event.uuid()),
        Topic::Changelog(changelog) => (2, changelog.uuid()),
        Topic::Merge(event) => (3, event.uuid()),
    }
}

/// The inverse of [`topic_kind`].
fn topic(kind: i16, id: Uuid) -> Topic {
    match kind {
        0 => Topic::Comment(CommentId::new(id)),
        1 => Topic::StatusChange(EventId::new(id)),
        3 => Topic::Merge(EventId::new(id)),
        _ => Topic::Changelog(ChangelogId::new(id)),
    }
}

#[async_trait]
impl MailReader for PostgresStore {
    async fn sender(&self, workspace: WorkspaceId) -> Result<Option<MailSender>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let sender = SenderOf { workspace: workspace.uuid() };
        let row: Option<(String, Option<String>)> =
            session.run_optional(sender.get_result(&mut session.connection()?)).await?;
        let Some((subdomain, name)) = row else { return Ok(None) };
        let Some(portal) = load_portal(&session, workspace).await? else { return Ok(None) };
        let (subdomain, name) = (Subdomain::from_stored(subdomain), name.map(SenderName::from_stored));
        Ok(Some(MailSender { subdomain, name, portal }))
    }

    async fn recipients(
        &self,
        workspace: WorkspaceId,
        mails: &[MailId],
        hour: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<MailRecipient>, StoreError> {
        type Row = (i16, Uuid, Uuid, String, Option<String>, bool, Option<bool>, bool, i64);
        let session = self.mail_session(workspace).await?;
        let (kinds, topics) = mails.iter().map(|mail| topic_kind(mail.topic)).unzip();
        let recipients = Recipients {
            workspace: workspace.uuid(),
            kinds,
            topics,
            customers: mails.iter().map(|mail| mail.customer.uuid()).collect(),
            hour: hour.into(),
            now: now.into(),
        };
        let rows: Vec<Row> = session.run(recipients.load(&mut session.connection()?)).await?;
        let recipient = |row: Row| {
            let (kind, id, customer, email, language, is_stopped, is_subscribed, wants_news, recent) = row;
            MailRecipient {
                mail: MailId { topic: topic(kind, id), customer: CustomerId::new(customer) },
                to: EmailAddress::from_stored(email),
                language: language.as_deref().and_then(Language::from_code),
                is_stopped,
                is_subscribed,
                wants_news,
                recent_count: u32::try_from(recent).unwrap_or(u32::MAX),
            }
        };
        Ok(rows.into_iter().map(recipient).collect())
    }

    async fn topics(
        &self,
        workspace: WorkspaceId,
        topics: &[Topic],
        characters: u32,
        public_at: Timestamp,
    ) -> Result<Vec<TopicContent>, StoreError> {
        type Row =
            (i16, Uuid, String, Option<(Uuid, i64)>, String, String, String, String, AuthorRow, Option<CoverRow>);
        let session = self.mail_session(workspace).await?;
        let of_kind = |number: i16| -> Vec<Uuid> {
            topics
                .iter()
                .map(|topic| topic_kind(*topic))
                .filter(|(kind, _)| *kind == number)
                .map(|(_, id)| id)
                .collect()
        };
        let select = Topics {
            workspace: workspace.uuid(),
            comments: of_kind(0),
            events: [of_kind(1), of_kind(3)].concat(),
            changelogs: of_kind(2),
            characters: i32::try_from(characters).unwrap_or(i32::MAX),
            public_at: public_at.into(),
        };
        let rows: Vec<Row> = session.run(select.load(&mut session.connection()?)).await?;
        let content = |row: Row| {
            let (kind, id, content, request, title, own_title, event_kind, details, author, cover) = row;
            let (mut topic, title) = (topic(kind, id), Title::from_stored(title));
            let about = match (topic, request) {
                (Topic::Changelog(id), _) => About::Changelog { id, title, cover: cover.map(Into::into) },
                (_, None) => return None,
                (Topic::Comment(_), Some((request, tag_number))) => {
                    let request = RequestLink { id: FeatureRequestId::new(request), tag_number, title };
                    About::Comment(request, author.into())
                }
                (Topic::StatusChange(_), Some((request, tag_number))) => {
                    let request = RequestLink { id: FeatureRequestId::new(request), tag_number, title };
                    match EventContent::parse(&event_kind, &details)? {
                        EventContent::Moved(moved) => {
                            let author = (!content.is_empty()).then(|| author.into());
                            About::StatusChange { request, status: moved.to.status, author }
                        }
                        // Without a title, the merge was undone.
                        EventContent::MergedInto(_) if !own_title.is_empty() => {
                            topic = Topic::Merge(EventId::new(id));
                            About::Merge { request, source: Title::from_stored(own_title) }
                        }
                        _ => return None,
                    }
                }
                (Topic::Merge(_), Some(_)) => return None,
            };
            Some(TopicContent { topic, about, content })
        };
        Ok(rows.into_iter().filter_map(content).collect())
    }

    async fn public_titles(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<(FeatureRequestId, Title)>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let requests = requests.iter().map(|request| request.uuid()).collect();
        let titles = PublicTitles { workspace: workspace.uuid(), requests };
        let rows: Vec<(Uuid, String)> = session.run(titles.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().map(|(id, title)| (FeatureRequestId::new(id), Title::from_stored(title))).collect())
    }

    async fn sign_ins(&self, workspace: WorkspaceId, ids: &[SignInId]) -> Result<Vec<SignIn>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
        let select = sign_ins::table
            .filter(sign_ins::workspace_id.eq(workspace.uuid()))
            .filter(sign_ins::id.eq_any(ids))
            .select(sign_in_columns());
        let rows: Vec<SignInRow> = session.run(select.load(&mut session.connection()?)).await?;
        rows.into_iter().map(SignIn::try_from).collect()
    }

    async fn team_digest(
        &self,
        workspace: WorkspaceId,
        id: &TeamDigestId,
        limit: u32,
        characters: u32,
    ) -> Result<Option<TeamDigestContent>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let (workspace, member) = (workspace.uuid(), id.member.uuid());
        let recipient = TeamRecipient { workspace, member };
        let recipient: Option<(String, Option<String>, String)> =
            session.run_optional(recipient.get_result(&mut session.connection()?)).await?;
        let Some((email, language, wanted)) = recipient else { return Ok(None) };
        let wanted = TeamMail::from_name(&wanted).unwrap_or(TeamMail::Nothing);
        if wanted == TeamMail::Nothing {
            return Ok(None);
        }
        let (lowest_id, after, until) = (lowest_id_at(id.after), id.after.into(), id.until.into());
        let (limit, characters) = (i64::from(limit), i32::try_from(characters).unwrap_or(i32::MAX));
        let answered_by = (wanted == TeamMail::Answered).then_some(member);
        let requests: Vec<TeamPostRow> = match answered_by {
            Some(_) => Vec::new(),
            None => {
                let requests = TeamRequests { workspace, lowest_id, after, until, characters, limit };
                session.run(requests.load(&mut session.connection()?)).await?
            }
        };
        let replies = TeamReplies { workspace, lowest_id, after, until, answered_by, characters, limit };
        let replies: Vec<TeamPostRow> = session.run(replies.load(&mut session.connection()?)).await?;
        let ((requests, requests_count), (replies, replies_count)) = (team_posts(requests), team_posts(replies));
        let (to, language) = (EmailAddress::from_stored(email), language.as_deref().and_then(Language::from_code));
        Ok(Some(TeamDigestContent { to, language, requests, requests_count, replies, replies_count }))
    }

    async fn held(&self, workspace: WorkspaceId, digests: &[MessageId]) -> Result<Vec<HeldMessage>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let digests: Vec<&str> = digests.iter().map(MessageId::as_str).collect();
        let held = outbox::table
            .filter(outbox::workspace_id.eq(workspace.uuid()))
            .filter(outbox::digest_id.eq_any(digests))
            .select((
                outbox::digest_id.assume_not_null(),
                outbox::kind,
                diesel::dsl::sql::<Text>("payload::text"),
                outbox::customer_id,
                outbox::address,
            ));
        let rows: Vec<HeldMessageRow> = session.run(held.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().map(HeldMessage::from).collect())
    }
}
