//! What the pages of the portal show.

mod accounts;
mod changelogs;
mod lists;
mod request_page;
mod selections;

pub(crate) use lists::ids;

use async_trait::async_trait;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, Filename};
use roadmap_domain::model::changelog::CoverImage;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::feature_request::{FeatureRequestRef, RequestLink};
use roadmap_domain::model::id::{
    AttachmentId, ChangelogId, CustomerId, FeatureRequestId, SessionId, SignInId, WorkspaceId,
};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::{
    AccountLists, HeldPost, Portal, PortalFilter, PortalList, PortalRow, PublishedChangelog, RequestPage, SitemapEntry,
    Viewer,
};
use roadmap_domain::model::session::{SecretDigest, Session};
use roadmap_domain::model::setting::{Setting, WebsiteUrl};
use roadmap_domain::model::sign_in::SignIn;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::trending::Candidate;
use roadmap_domain::ports::PortalReader;
use uuid::Uuid;

use crate::PostgresReader;
use crate::codec::TimestampColumn;
use crate::portal_rows::{SettingsRow, SignInRow, portal_columns, sign_in_columns};
use crate::reads::listing::{BEYOND, listing};
use crate::rows::{
    AttachmentRow, CustomerNameColumns, CustomerNameRow, LinkColumns, LinkRow, attachment_columns, customer_name,
    request_link,
};
use crate::schema::{
    attachments, changelogs as all_changelogs, portal_settings, sessions, settings, sign_ins, tag_counters,
};
use crate::statement::{id_or_number, resolved, statement};
use request_page::{HeldRow, held_comment};

statement! {
    /// Selects the feature request that a reference means, if a viewer may see it, as well as the one that was merged into
    /// it, if that is meant.
    VisibleRequest {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        is_member: bool => Bool,
    } -> LinkColumns,
    concat!("SELECT id, tag_number, title FROM feature_requests
     WHERE workspace_id = {workspace} AND id = ", resolved!(), "
       AND (NOT private OR {is_member} OR author_id = {customer})
       AND ({is_member}
            OR EXISTS (SELECT FROM feature_requests AS named
                       WHERE named.workspace_id = {workspace} AND named.id = {request}
                         AND (NOT named.private OR named.author_id = {customer}))
            OR EXISTS (SELECT FROM feature_requests AS named
                       WHERE named.workspace_id = {workspace} AND named.tag_number = {number}
                         AND (NOT named.private OR named.author_id = {customer})))")
}

statement! {
    /// Selects public feature requests by their tag numbers.
    Sitemap { workspace: Uuid => SqlUuid, after: i64 => BigInt, limit: i64 => BigInt } -> (LinkColumns, Timestamptz),
    "SELECT id, tag_number, title, updated_at FROM feature_requests
     WHERE workspace_id = {workspace} AND tag_number > {after} AND NOT private AND root_id IS NULL
     ORDER BY tag_number LIMIT {limit}"
}

statement! {
    /// Selects the number of ideas and comments that wait for approval, with a page of them.
    HeldPosts {
        workspace: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        after: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
        end: i64 => BigInt,
    } -> (BigInt, Nullable<HeldPostColumns>),
    "WITH total AS (
         SELECT (SELECT count(*) FROM feature_requests
                 WHERE workspace_id = {workspace} AND awaiting_approval AND root_id IS NULL)
              + (SELECT count(*) FROM held_comments WHERE workspace_id = {workspace}) AS total
     ), page AS MATERIALIZED (
         SELECT id, is_comment, created_at FROM (
             (SELECT id, false AS is_comment, created_at FROM feature_requests
              WHERE workspace_id = {workspace} AND awaiting_approval AND root_id IS NULL
                AND (created_at, id) > ({at}, {after})
              ORDER BY created_at, id LIMIT {end})
             UNION ALL
             (SELECT id, true, created_at FROM held_comments
              WHERE workspace_id = {workspace} AND (created_at, id) > ({at}, {after})
              ORDER BY created_at, id LIMIT {end})
         ) AS posts
         ORDER BY created_at, id LIMIT {limit} OFFSET {offset}
     ), listed AS (
         SELECT request.id AS request_id, request.tag_number, request.title, comment_id, content,
                customers.id AS customer_id, name, email, page.created_at, page.id
         FROM page
         CROSS JOIN LATERAL (
             SELECT NULL::uuid AS comment_id, NULL::text AS content, author_id AS customer_id, id AS request_id
             FROM feature_requests
             WHERE workspace_id = {workspace} AND feature_requests.id = CASE WHEN NOT is_comment THEN page.id END
             UNION ALL
             SELECT held.id, content, customer_id, coalesce(root_id, about.id) FROM held_comments AS held
             JOIN feature_requests AS about ON about.workspace_id = {workspace} AND about.id = held.request_id
             WHERE held.workspace_id = {workspace} AND held.id = CASE WHEN is_comment THEN page.id END
             OFFSET 0
         ) AS post
         CROSS JOIN LATERAL (
             SELECT id, tag_number, title FROM feature_requests
             WHERE workspace_id = {workspace} AND id = post.request_id OFFSET 0
         ) AS request
         LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = post.customer_id
     )
     SELECT total, request_id, tag_number, title, comment_id, content, customer_id, name, email, created_at
     FROM total LEFT JOIN listed ON true ORDER BY created_at, listed.id"
}

type HeldPostColumns = (LinkColumns, Nullable<(SqlUuid, Text)>, Nullable<CustomerNameColumns>, Timestamptz);
type HeldPostRow = (LinkRow, Option<(Uuid, String)>, Option<CustomerNameRow>, TimestampColumn);

fn held_post((request, comment, customer, created_at): HeldPostRow) -> Result<HeldPost, StoreError> {
    let id = request.0;
    let (comment, author) = match (comment, customer) {
        (Some((id, content)), Some(customer)) => {
            let row: HeldRow = (id, content, customer, created_at);
            (Some(held_comment(row)?), None)
        }
        (_, customer) => (None, customer.map(customer_name)),
    };
    Ok(HeldPost {
        request: request_link(request),
        comment,
        author,
        created_at: created_at.into_timestamp("feature_requests", "created_at", id)?,
    })
}

#[async_trait]
impl PortalReader for PostgresReader {
    async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Portal>, StoreError> {
        type Row = (String, String, Option<SettingsRow>, Option<(Uuid, String)>);
        let session = self.session(workspace).await?;
        let found = settings::table
            .left_join(portal_settings::table.on(portal_settings::workspace_id.eq(settings::workspace_id)))
            .left_join(
                attachments::table.on(attachments::workspace_id
                    .eq(settings::workspace_id)
                    .and(attachments::id.nullable().eq(portal_settings::logo_attachment_id))),
            )
            .filter(settings::workspace_id.eq(workspace.uuid()))
            .select((
                settings::product_name,
                settings::website_url,
                portal_columns().nullable(),
                (attachments::id, attachments::filename).nullable(),
            ));
        let row: Option<Row> = session.run_optional(found.first(&mut session.connection()?)).await?;
        let Some((product_name, website_url, stored, logo)) = row else { return Ok(None) };
        let settings = stored.map(|row| row.into_settings(workspace.uuid())).transpose()?.unwrap_or_default();
        let logo = logo.map(|(id, filename)| CoverImage {
            attachment: AttachmentId::new(id),
            filename: Filename::from_stored(filename),
        });
        let setting = Setting {
            product_name: Name::from_stored(product_name),
            website_url: WebsiteUrl::from_stored(website_url),
        };
        Ok(Some(Portal { setting, settings, logo }))
    }

    async fn session(&self, workspace: WorkspaceId, digest: &SecretDigest) -> Result<Option<Session>, StoreError> {
        accounts::session(&self.session(workspace).await?, workspace.uuid(), digest).await
    }

    async fn touch_session(&self, workspace: WorkspaceId, id: SessionId, at: Timestamp) -> Result<(), StoreError> {
        let session = self.session(workspace).await?;
        let at = TimestampColumn::from(at);
        // Of concurrent uses, the last one counts.
        let touch = diesel::update(sessions::table)
            .filter(sessions::workspace_id.eq(workspace.uuid()))
            .filter(sessions::id.eq(id.uuid()))
            .filter(sessions::last_seen_at.lt(at))
            .set(sessions::last_seen_at.eq(at));
        session.run(touch.execute(&mut session.connection()?)).await?;
        Ok(())
    }

    async fn sign_in(&self, workspace: WorkspaceId, id: SignInId) -> Result<Option<SignIn>, StoreError> {
        let session = self.session(workspace).await?;
        let found = sign_ins::table
            .filter(sign_ins::workspace_id.eq(workspace.uuid()))
            .filter(sign_ins::id.eq(id.uuid()))
            .select(sign_in_columns());
        let row: Option<SignInRow> = session.run_optional(found.first(&mut session.connection()?)).await?;
        row.map(SignIn::try_from).transpose()
    }

    async fn sign_in_of_browser(
        &self,
        workspace: WorkspaceId,
        browser: &SecretDigest,
    ) -> Result<Option<SignIn>, StoreError> {
        let session = self.session(workspace).await?;
        let found = sign_ins::table
            .filter(sign_ins::workspace_id.eq(workspace.uuid()))
            .filter(sign_ins::browser_digest.eq(browser.0.to_vec()))
            .order((sign_ins::created_at.desc(), sign_ins::id.desc()))
            .select(sign_in_columns());
        let row: Option<SignInRow> = session.run_optional(found.first(&mut session.connection()?)).await?;
        row.map(SignIn::try_from).transpose()
    }

    async fn portal_list(&self, workspace: WorkspaceId, list: &PortalList) -> Result<Listing<PortalRow>, StoreError> {
        lists::page(&self.session(workspace).await?, workspace.uuid(), list).await
    }

    async fn trending_candidates(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        limit: u32,
    ) -> Result<Vec<Candidate>, StoreError> {
        lists::candidates(&self.session(workspace).await?, workspace.uuid(), filter, limit).await
    }

    async fn portal_rows(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<PortalRow>, StoreError> {
        lists::rows(&self.session(workspace).await?, workspace.uuid(), requests).await
    }

    async fn matching(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        selections::matching(&self.session(workspace).await?, workspace.uuid(), filter, requests).await
    }

    async fn voted_among(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        lists::voted_among(&self.session(workspace).await?, workspace.uuid(), customer, requests).await
    }

    async fn request_page(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        viewer: Viewer,
        comments: Option<u64>,
    ) -> Result<Option<RequestPage>, StoreError> {
        request_page::page(&self.session(workspace).await?, workspace.uuid(), request, viewer, comments).await
    }

    async fn visible_request(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        viewer: Viewer,
    ) -> Result<Option<RequestLink>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let find = VisibleRequest {
            workspace: workspace.uuid(),
            request,
            number,
            customer: viewer.customer.map(|customer| customer.uuid()),
            is_member: viewer.is_member,
        };
        let row: Option<LinkRow> = session.run_optional(find.get_result(&mut session.connection()?)).await?;
        Ok(row.map(request_link))
    }

    async fn published_changelogs(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Listing<PublishedChangelog>, StoreError> {
        changelogs::page(&self.session(workspace).await?, workspace.uuid(), now, page).await
    }

    async fn published_changelog(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        now: Timestamp,
    ) -> Result<Option<PublishedChangelog>, StoreError> {
        changelogs::find(&self.session(workspace).await?, workspace.uuid(), changelog, now).await
    }

    async fn public_image(
        &self,
        workspace: WorkspaceId,
        image: AttachmentId,
        now: Timestamp,
    ) -> Result<Option<Attachment>, StoreError> {
        let session = self.session(workspace).await?;
        let (workspace, image) = (workspace.uuid(), image.uuid());
        let covers = all_changelogs::table
            .filter(all_changelogs::workspace_id.eq(workspace))
            .filter(all_changelogs::cover_attachment_id.eq(image))
            .filter(all_changelogs::published_at.le(TimestampColumn::from(now)));
        let logo = portal_settings::table
            .filter(portal_settings::workspace_id.eq(workspace))
            .filter(portal_settings::logo_attachment_id.eq(image));
        let found = attachments::table
            .filter(attachments::workspace_id.eq(workspace))
            .filter(attachments::id.eq(image))
            .filter(diesel::dsl::exists(covers).or(diesel::dsl::exists(logo)))
            .select(attachment_columns());
        let row: Option<AttachmentRow> = session.run_optional(found.first(&mut session.connection()?)).await?;
        row.map(Attachment::try_from).transpose()
    }

    async fn account_lists(
        &self,
        workspace: WorkspaceId,
        email: &FoldedEmail,
        customer: Option<CustomerId>,
        limit: u32,
    ) -> Result<AccountLists, StoreError> {
        let session = self.session(workspace).await?;
        accounts::account_lists(&session, workspace.uuid(), email, customer, limit).await
    }

    async fn sitemap(&self, workspace: WorkspaceId, after: i64, limit: u32) -> Result<Vec<SitemapEntry>, StoreError> {
        let session = self.session(workspace).await?;
        let select = Sitemap { workspace: workspace.uuid(), after, limit: i64::from(limit) };
        let rows: Vec<(LinkRow, TimestampColumn)> = session.run(select.load(&mut session.connection()?)).await?;
        let entry = |(request, updated_at): (LinkRow, TimestampColumn)| {
            let updated_at = updated_at.into_timestamp("feature_requests", "updated_at", request.0)?;
            Ok(SitemapEntry { request: request_link(request), updated_at })
        };
        rows.into_iter().map(entry).collect()
    }

    async fn last_tag_number(&self, workspace: WorkspaceId) -> Result<i64, StoreError> {
        let session = self.session(workspace).await?;
        let last = tag_counters::table
            .filter(tag_counters::workspace_id.eq(workspace.uuid()))
            .select(tag_counters::last_tag_number);
        Ok(session.run_optional(last.first(&mut session.connection()?)).await?.unwrap_or(0))
    }

    async fn held_posts(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<HeldPost>, StoreError> {
        let session = self.session(workspace).await?;
        let (limit, offset) = (page.limit(), page.offset().unwrap_or(BEYOND));
        let end = offset.saturating_add(limit);
        let (at, after) = page.after();
        let select = HeldPosts { workspace: workspace.uuid(), at: at.into(), after, limit, offset, end };
        let rows: Vec<(i64, Option<HeldPostRow>)> = session.run(select.load(&mut session.connection()?)).await?;
        listing(rows, page, held_post)
    }
}
