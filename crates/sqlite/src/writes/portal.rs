//! The portal: its settings, sign-ins and sessions, and what waits for approval. The file `sessions.rs` next to this one
//! has the statements of sign-ins and sessions.

use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Text};
use diesel::{SqliteConnection, delete, insert_into, update};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::{CommentAuthor, NewComment};
use roadmap_domain::model::customer::{CustomerName, NewCustomer};
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::id::{CommentId, CustomerId, FeatureRequestId, SessionId, SignInId};
use roadmap_domain::model::mail::Topic;
use roadmap_domain::model::message::MessageContent;
use roadmap_domain::model::portal::{EmbedOrigin, Language, MailDomain, PortalSettings};
use roadmap_domain::model::session::NewSession;
use roadmap_domain::model::sign_in::{Consumption, KnownAddress, SignIn};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_requests::CounterKey;
use roadmap_domain::ports::PortalWrites;
use uuid::Uuid;

use crate::codec::{Id, json_texts, optional_timestamp, uuid_text};
use crate::errors::SqlError;
use crate::portal_settings::{PortalSettingsRow, StoredSettings};
use crate::records::{CustomerNameRow, customer_name};
use crate::rows::{SummaryRow, find_summary};
use crate::schema::{comments, customers, feature_requests, held_comments, portal_settings};
use crate::statement::statement;
use crate::unit::SqliteUnit;
use crate::writes::sessions;
use crate::writes::votes::find_or_insert_customer;

statement! {
    /// Creates the notification of a comment for the author of the feature request, who is subscribed to the tree.
    NotifyAuthor {
        workspace: Id => Binary, comment: Id => Binary, topic: String => Text, kind: String => Text,
        payload: String => Text, at: i64 => BigInt,
    }
    concat!(
        "WITH scope (workspace, comment, topic, kind, payload, at) AS (SELECT ?, ?, ?, ?, ?, ?),
         root (id) AS (
             SELECT coalesce(vote_tallies.root_id, comments.request_id) FROM scope
             CROSS JOIN comments ON comments.workspace_id = scope.workspace AND comments.id = scope.comment
             CROSS JOIN vote_tallies ON vote_tallies.workspace_id = comments.workspace_id
                    AND vote_tallies.request_id = comments.request_id
         ),
         tree (id) AS (
             SELECT id FROM root
             UNION ALL
             SELECT merged.id FROM scope CROSS JOIN root
             CROSS JOIN feature_requests merged ON merged.workspace_id = scope.workspace AND merged.root_id = root.id
         )
         INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at)
         SELECT scope.workspace, scope.topic || '.' || ", uuid_text!("author.id"), ", scope.kind, 1, author.id,
                scope.payload, scope.at, scope.at
         FROM scope CROSS JOIN root
         CROSS JOIN feature_requests ON feature_requests.workspace_id = scope.workspace
                AND feature_requests.id = root.id
         CROSS JOIN customers author ON author.workspace_id = scope.workspace AND author.id = feature_requests.author_id
         WHERE author.mail_stopped_at IS NULL AND (
             EXISTS (SELECT 1 FROM tree CROSS JOIN votes ON votes.workspace_id = author.workspace_id
                        AND votes.request_id = tree.id AND votes.customer_id = author.id WHERE votes.subscribed)
             OR EXISTS (SELECT 1 FROM tree CROSS JOIN followers ON followers.workspace_id = author.workspace_id
                           AND followers.request_id = tree.id AND followers.customer_id = author.id)
         )
         ON CONFLICT DO NOTHING"
    )
}

/// Stores a comment of a customer that waits for approval. Nobody else's comments wait.
fn hold(
    connection: &mut SqliteConnection,
    workspace: Id,
    comment: &NewComment,
) -> Result<Option<SummaryRow>, SqlError> {
    let CommentAuthor::Customer(customer) = &comment.author else {
        return Err(StoreError::Fatal("a comment of the team does not wait for approval".into()).into());
    };
    let Some(request) = find_summary(connection, workspace, &comment.request)? else { return Ok(None) };
    let customer = find_or_insert_customer(connection, workspace, customer, comment.created_at)?;
    insert_into(held_comments::table)
        .values((
            held_comments::workspace_id.eq(workspace),
            held_comments::id.eq(Id(comment.id.uuid())),
            held_comments::request_id.eq(request.id),
            held_comments::customer_id.eq(customer),
            held_comments::content.eq(comment.content.as_str()),
            held_comments::created_at.eq(comment.created_at.millis()),
        ))
        .execute(connection)?;
    Ok(Some(request))
}

/// Deletes a comment that waits. Returns its feature request, its author, its content and its timestamp.
fn take_held(
    connection: &mut SqliteConnection,
    workspace: Id,
    comment: Id,
) -> Result<Option<(Id, Id, String, i64)>, SqlError> {
    let held =
        held_comments::table.filter(held_comments::workspace_id.eq(workspace)).filter(held_comments::id.eq(comment));
    let columns =
        (held_comments::request_id, held_comments::customer_id, held_comments::content, held_comments::created_at);
    Ok(delete(held).returning(columns).get_result(connection).optional()?)
}

fn save_settings(connection: &mut SqliteConnection, workspace: Id, settings: &PortalSettings) -> Result<(), SqlError> {
    let values = (
        portal_settings::access.eq(settings.access.name()),
        portal_settings::mail_domains.eq(json_texts(settings.mail_domains.iter().map(MailDomain::as_str))),
        portal_settings::is_indexed.eq(settings.is_indexed),
        portal_settings::embed_origins.eq(json_texts(settings.embed_origins.iter().map(EmbedOrigin::as_str))),
        portal_settings::languages.eq(json_texts(settings.languages.iter().map(|language| language.code()))),
        portal_settings::holds_posts.eq(settings.holds_posts),
        portal_settings::accent.eq(settings.accent.map(|accent| accent.to_string())),
        portal_settings::logo_attachment_id.eq(settings.logo.map(|logo| Id(logo.uuid()))),
    );
    insert_into(portal_settings::table)
        .values((portal_settings::workspace_id.eq(workspace), values.clone()))
        .on_conflict(portal_settings::workspace_id)
        .do_update()
        .set(values)
        .execute(connection)?;
    Ok(())
}

#[async_trait]
impl PortalWrites for SqliteUnit {
    async fn load_portal(&mut self) -> Result<PortalSettings, StoreError> {
        let (workspace, row): (Id, Option<PortalSettingsRow>) = self
            .run(|connection, workspace| {
                Ok((workspace, StoredSettings { workspace }.get_result(connection).optional()?))
            })
            .await?;
        row.map_or_else(|| Ok(PortalSettings::default()), |row| row.settings(workspace))
    }

    async fn save_portal(&mut self, settings: &PortalSettings) -> Result<(), StoreError> {
        let settings = settings.clone();
        self.run(move |connection, workspace| save_settings(connection, workspace, &settings)).await
    }

    async fn nth_counted_mail(&mut self, counter: CounterKey, nth: u32) -> Result<Option<Timestamp>, StoreError> {
        let at = self.run(move |connection, _| sessions::nth_counted_mail(connection, counter, nth)).await?;
        optional_timestamp(at, "counted_mails", "asked_at", Id(Uuid::nil()))
    }

    async fn count_mail(&mut self, mail: Uuid, counters: &[CounterKey], at: Timestamp) -> Result<(), StoreError> {
        let counters = counters.to_vec();
        self.run(move |connection, workspace| sessions::count_mail(connection, workspace, Id(mail), &counters, at))
            .await
    }

    async fn find_known_address(&mut self, email: &FoldedEmail) -> Result<KnownAddress, StoreError> {
        let email = email.clone();
        self.run(move |connection, workspace| sessions::find_known_address(connection, workspace, &email)).await
    }

    async fn insert_sign_in(&mut self, sign_in: &SignIn, has_mail: bool) -> Result<(), StoreError> {
        let sign_in = sign_in.clone();
        self.run(move |connection, workspace| sessions::insert_sign_in(connection, workspace, &sign_in, has_mail)).await
    }

    async fn consume_sign_in(
        &mut self,
        sign_in: SignInId,
        how: Consumption,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let sign_in = Id(sign_in.uuid());
        self.run(move |connection, workspace| sessions::consume_sign_in(connection, workspace, sign_in, how, at)).await
    }

    async fn count_code(&mut self, sign_in: SignInId, at: Timestamp) -> Result<bool, StoreError> {
        let sign_in = Id(sign_in.uuid());
        self.run(move |connection, workspace| sessions::count_code(connection, workspace, sign_in, at)).await
    }

    async fn insert_session(&mut self, session: &NewSession) -> Result<(), StoreError> {
        let session = session.clone();
        self.run(move |connection, workspace| sessions::insert_session(connection, workspace, &session)).await
    }

    async fn end_session(&mut self, session: SessionId, email: &FoldedEmail) -> Result<bool, StoreError> {
        let (session, email) = (Id(session.uuid()), email.clone());
        self.run(move |connection, workspace| sessions::end_session(connection, workspace, session, &email)).await
    }

    async fn end_sessions(&mut self, email: &FoldedEmail) -> Result<u64, StoreError> {
        let email = email.clone();
        self.run(move |connection, workspace| sessions::end_sessions(connection, workspace, &email)).await
    }

    async fn set_language(
        &mut self,
        customer: &NewCustomer,
        language: Option<Language>,
        at: Timestamp,
    ) -> Result<CustomerName, StoreError> {
        let customer = customer.clone();
        let row: CustomerNameRow = self
            .run(move |connection, workspace| {
                let customer = find_or_insert_customer(connection, workspace, &customer, at)?;
                Ok(update(customers::table)
                    .filter(customers::workspace_id.eq(workspace))
                    .filter(customers::id.eq(customer))
                    .set(customers::language.eq(language.map(Language::code)))
                    .returning((customers::id, customers::name, customers::email))
                    .get_result(connection)?)
            })
            .await?;
        Ok(customer_name(row))
    }

    async fn has_public_posts(&mut self, customer: CustomerId) -> Result<bool, StoreError> {
        let customer = Id(customer.uuid());
        self.run(move |connection, workspace| {
            let written =
                comments::table.filter(comments::workspace_id.eq(workspace)).filter(comments::customer_id.eq(customer));
            let submitted = feature_requests::table
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::author_id.eq(customer))
                .filter(feature_requests::private.eq(false));
            Ok(diesel::select(exists(written)).get_result(connection)?
                || diesel::select(exists(submitted)).get_result(connection)?)
        })
        .await
    }

    async fn set_own_name<'a>(&mut self, customer: CustomerId, name: Option<&'a Name>) -> Result<(), StoreError> {
        let (customer, name) = (Id(customer.uuid()), name.cloned());
        self.run(move |connection, workspace| {
            let name = name.as_ref().map(Name::as_str);
            update(customers::table.find((workspace, customer)))
                .set((customers::name.eq(name), customers::name_folded.eq(name.map(str::to_lowercase))))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn hold_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let comment = comment.clone();
        let row = self.run(move |connection, workspace| hold(connection, workspace, &comment)).await?;
        row.map(FeatureRequestSummary::try_from).transpose()
    }

    async fn decline_feature_request(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError> {
        let id = Id(request.uuid());
        self.run(move |connection, workspace| {
            let waiting = feature_requests::table
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::id.eq(id))
                .filter(feature_requests::awaiting_approval.eq(true));
            let declined = update(waiting)
                .set((feature_requests::awaiting_approval.eq(false), feature_requests::updated_at.eq(at.millis())))
                .execute(connection)?;
            Ok(declined > 0)
        })
        .await
    }

    async fn find_held_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let request: Option<Id> = self
            .run(move |connection, workspace| {
                Ok(held_comments::table
                    .find((workspace, Id(comment.uuid())))
                    .select(held_comments::request_id)
                    .first(connection)
                    .optional()?)
            })
            .await?;
        Ok(request.map(|request| FeatureRequestId::new(request.0)))
    }

    async fn approve_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let id = Id(comment.uuid());
        self.run(move |connection, workspace| {
            let Some((request, customer, content, created_at)) = take_held(connection, workspace, id)? else {
                return Ok(None);
            };
            insert_into(comments::table)
                .values((
                    comments::workspace_id.eq(workspace),
                    comments::id.eq(id),
                    comments::request_id.eq(request),
                    comments::customer_id.eq(customer),
                    comments::content.eq(content),
                    comments::created_at.eq(created_at),
                    comments::updated_at.eq(created_at),
                ))
                .execute(connection)?;
            Ok(Some(FeatureRequestId::new(request.0)))
        })
        .await
    }

    async fn discard_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let id = Id(comment.uuid());
        let held = self.run(move |connection, workspace| take_held(connection, workspace, id)).await?;
        Ok(held.map(|(request, ..)| FeatureRequestId::new(request.0)))
    }

    async fn notify_author(&mut self, comment: CommentId, at: Timestamp) -> Result<(), StoreError> {
        let topic = Topic::Comment(comment);
        let content = MessageContent::Notification(topic);
        self.run(move |connection, workspace| {
            let notify = NotifyAuthor {
                workspace,
                comment: Id(comment.uuid()),
                topic: topic.to_string(),
                kind: content.kind().to_owned(),
                payload: content.payload(),
                at: at.millis(),
            };
            notify.execute(connection)?;
            Ok(())
        })
        .await
    }
}
