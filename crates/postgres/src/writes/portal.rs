//! Settings of the portal, accounts of customers, sign-ins, sessions and comments that wait for approval.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::NewComment;
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

use crate::codec::TimestampColumn;
use crate::portal_rows::{SettingsRow, portal_columns};
use crate::rows::{CustomerNameColumns, CustomerNameRow, customer_name};
use crate::schema::{customers, feature_requests, held_comments, portal_settings, settings};
use crate::statement::{members, statement};
use crate::unit::PostgresUnit;
use crate::writes::requests::{folded_name_of, name_of};

statement! {
    /// Inserts or replaces the settings of the portal.
    SavePortal {
        workspace: Uuid => SqlUuid,
        access: String => Text,
        mail_domains: Vec<String> => Array<Text>,
        is_indexed: bool => Bool,
        embed_origins: Vec<String> => Array<Text>,
        languages: Vec<String> => Array<Text>,
        holds_posts: bool => Bool,
        accent: Option<String> => Nullable<Text>,
        logo: Option<Uuid> => Nullable<SqlUuid>,
    } -> Untyped,
    "INSERT INTO portal_settings
         (workspace_id, access, mail_domains, is_indexed, embed_origins, languages, holds_posts, accent,
          logo_attachment_id)
     VALUES ({workspace}, {access}, {mail_domains}, {is_indexed}, {embed_origins}, {languages}, {holds_posts}, {accent},
             {logo})
     ON CONFLICT (workspace_id) DO UPDATE
     SET access = excluded.access, mail_domains = excluded.mail_domains, is_indexed = excluded.is_indexed,
         embed_origins = excluded.embed_origins, languages = excluded.languages, holds_posts = excluded.holds_posts,
         accent = excluded.accent, logo_attachment_id = excluded.logo_attachment_id"
}

statement! {
    /// Inserts a customer, or finds the one with the same address and fills an empty name. Stores the language.
    SetLanguage {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        email: String => Text,
        email_folded: String => Text,
        name: Option<String> => Nullable<Text>,
        name_folded: Option<String> => Nullable<Text>,
        language: Option<String> => Nullable<Text>,
        at: TimestampColumn => Timestamptz,
    } -> CustomerNameColumns,
    "INSERT INTO customers (workspace_id, id, email, email_folded, name, name_folded, language, created_at)
     VALUES ({workspace}, {customer}, {email}, {email_folded}, {name}, {name_folded}, {language}, {at})
     ON CONFLICT (workspace_id, email_folded) DO UPDATE
     SET name = coalesce(customers.name, excluded.name),
         name_folded = coalesce(customers.name_folded, excluded.name_folded),
         language = excluded.language
     RETURNING id, name, email"
}

statement! {
    /// Creates the notification of the author of the feature request of a comment, if the author is subscribed to
    /// anything in its tree.
    NotifyAuthor {
        workspace: Uuid => SqlUuid,
        comment: Uuid => SqlUuid,
        topic: String => Text,
        kind: String => Text,
        payload: String => Text,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    concat!("WITH roots AS MATERIALIZED (
         SELECT coalesce(root_id, id) AS id FROM feature_requests
         WHERE workspace_id = {workspace} AND id = (
             SELECT request_id FROM comments WHERE workspace_id = {workspace} AND id = {comment})
     ), ", members!(), ", author AS MATERIALIZED (
         SELECT customers.id FROM roots
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = roots.id
         JOIN customers ON customers.workspace_id = {workspace} AND customers.id = author_id
         WHERE mail_stopped_at IS NULL
     )
     INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at)
     SELECT {workspace}, {topic} || '.' || id::text, {kind}, 1, id, {payload}::jsonb, {at}, {at} FROM author
     WHERE EXISTS (
         SELECT FROM members JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
         WHERE votes.customer_id = author.id AND subscribed
     ) OR EXISTS (
         SELECT FROM members JOIN followers ON followers.workspace_id = {workspace} AND followers.request_id = members.id
         WHERE followers.customer_id = author.id
     )
     ON CONFLICT (workspace_id, id) DO NOTHING")
}

statement! {
    /// Whether a customer has written a comment or a public feature request.
    HasPublicPosts { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> Bool,
    "SELECT EXISTS (SELECT FROM comments WHERE workspace_id = {workspace} AND customer_id = {customer})
         OR EXISTS (SELECT FROM feature_requests
                    WHERE workspace_id = {workspace} AND author_id = {customer} AND NOT private)"
}

#[async_trait]
impl PortalWrites for PostgresUnit {
    /// Locks the settings of the workspace, which always exist, with one statement and reads with the next, which sees
    /// the changes that the lock waited for.
    async fn load_portal(&mut self) -> Result<PortalSettings, StoreError> {
        let lock = settings::table
            .filter(settings::workspace_id.eq(self.workspace))
            .select(settings::workspace_id)
            .for_no_key_update();
        let _: Vec<Uuid> = self.run(lock.load(&mut self.connection()?)).await?;
        let stored =
            portal_settings::table.filter(portal_settings::workspace_id.eq(self.workspace)).select(portal_columns());
        let row: Option<SettingsRow> = self.run_optional(stored.first(&mut self.connection()?)).await?;
        Ok(row.map(|row| row.into_settings(self.workspace)).transpose()?.unwrap_or_default())
    }

    async fn save_portal(&mut self, settings: &PortalSettings) -> Result<(), StoreError> {
        let save = SavePortal {
            workspace: self.workspace,
            access: settings.access.name().to_owned(),
            mail_domains: settings.mail_domains.iter().map(MailDomain::as_str).map(ToOwned::to_owned).collect(),
            is_indexed: settings.is_indexed,
            embed_origins: settings.embed_origins.iter().map(EmbedOrigin::as_str).map(ToOwned::to_owned).collect(),
            languages: settings.languages.iter().map(|language| language.code().to_owned()).collect(),
            holds_posts: settings.holds_posts,
            accent: settings.accent.map(|accent| accent.to_string()),
            logo: settings.logo.map(|logo| logo.uuid()),
        };
        self.run(save.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn nth_counted_mail(&mut self, counter: CounterKey, nth: u32) -> Result<Option<Timestamp>, StoreError> {
        self.nth_mail(counter, nth).await
    }

    async fn count_mail(&mut self, mail: Uuid, counters: &[CounterKey], at: Timestamp) -> Result<(), StoreError> {
        self.add_counted_mail(mail, counters, at).await
    }

    async fn find_known_address(&mut self, email: &FoldedEmail) -> Result<KnownAddress, StoreError> {
        self.known_address(email).await
    }

    async fn insert_sign_in(&mut self, sign_in: &SignIn, has_mail: bool) -> Result<(), StoreError> {
        self.add_sign_in(sign_in, has_mail).await
    }

    async fn consume_sign_in(
        &mut self,
        sign_in: SignInId,
        how: Consumption,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.use_sign_in(sign_in, how, at).await
    }

    async fn count_code(&mut self, sign_in: SignInId, at: Timestamp) -> Result<bool, StoreError> {
        self.add_code(sign_in, at).await
    }

    async fn insert_session(&mut self, session: &NewSession) -> Result<(), StoreError> {
        self.add_session(session).await
    }

    async fn end_session(&mut self, session: SessionId, email: &FoldedEmail) -> Result<bool, StoreError> {
        self.delete_session(session, email).await
    }

    async fn end_sessions(&mut self, email: &FoldedEmail) -> Result<u64, StoreError> {
        self.delete_sessions(email).await
    }

    async fn set_language(
        &mut self,
        customer: &NewCustomer,
        language: Option<Language>,
        at: Timestamp,
    ) -> Result<CustomerName, StoreError> {
        let set = SetLanguage {
            workspace: self.workspace,
            customer: customer.id.uuid(),
            email: customer.email.as_str().to_owned(),
            email_folded: customer.email.folded().as_str().to_owned(),
            name: name_of(customer),
            name_folded: folded_name_of(customer),
            language: language.map(|language| language.code().to_owned()),
            at: at.into(),
        };
        let row: CustomerNameRow = self.run(set.get_result(&mut self.connection()?)).await?;
        Ok(customer_name(row))
    }

    async fn has_public_posts(&mut self, customer: CustomerId) -> Result<bool, StoreError> {
        let find = HasPublicPosts { workspace: self.workspace, customer: customer.uuid() };
        self.run(find.get_result(&mut self.connection()?)).await
    }

    async fn set_own_name<'a>(&mut self, customer: CustomerId, name: Option<&'a Name>) -> Result<(), StoreError> {
        let rename = diesel::update(customers::table)
            .filter(customers::workspace_id.eq(self.workspace))
            .filter(customers::id.eq(customer.uuid()))
            .set((
                customers::name.eq(name.map(Name::to_string)),
                customers::name_folded.eq(name.map(|name| name.as_str().to_lowercase())),
            ));
        self.run(rename.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn hold_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError> {
        self.hold(comment).await
    }

    async fn decline_feature_request(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError> {
        let decline = diesel::update(feature_requests::table)
            .filter(feature_requests::workspace_id.eq(self.workspace))
            .filter(feature_requests::id.eq(request.uuid()))
            .filter(feature_requests::awaiting_approval)
            .set((
                feature_requests::awaiting_approval.eq(false),
                feature_requests::updated_at.eq(TimestampColumn::from(at)),
            ));
        Ok(self.run(decline.execute(&mut self.connection()?)).await? > 0)
    }

    async fn find_held_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let request = held_comments::table
            .filter(held_comments::workspace_id.eq(self.workspace))
            .filter(held_comments::id.eq(comment.uuid()))
            .select(held_comments::request_id);
        let request: Option<Uuid> = self.run_optional(request.first(&mut self.connection()?)).await?;
        Ok(request.map(FeatureRequestId::new))
    }

    async fn approve_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        self.approve(comment).await
    }

    async fn discard_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        self.discard(comment).await
    }

    async fn notify_author(&mut self, comment: CommentId, at: Timestamp) -> Result<(), StoreError> {
        let topic = Topic::Comment(comment);
        let notification = MessageContent::Notification(topic);
        let notify = NotifyAuthor {
            workspace: self.workspace,
            comment: comment.uuid(),
            topic: topic.to_string(),
            kind: notification.kind().to_owned(),
            payload: notification.payload(),
            at: at.into(),
        };
        self.run(notify.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
