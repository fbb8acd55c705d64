-- The settings of a portal. Without a row it has the default ones.
CREATE TABLE portal_settings (
    workspace_id uuid PRIMARY KEY REFERENCES workspaces (id),
    access text NOT NULL,
    mail_domains text[] NOT NULL,
    embed_origins text[] NOT NULL,
    -- At least one. The first is the default.
    languages text[] NOT NULL,
    is_indexed boolean NOT NULL,
    -- Whether ideas and comments of customers wait for approval.
    holds_posts boolean NOT NULL,
    -- `#rrggbb`; NULL: the default.
    accent text,
    logo_attachment_id uuid,
    FOREIGN KEY (workspace_id, logo_attachment_id) REFERENCES attachments (workspace_id, id)
);

CREATE INDEX portal_settings_by_logo ON portal_settings (workspace_id, logo_attachment_id);

-- Comments of customers that wait for approval. An approved one moves to `comments`.
CREATE TABLE held_comments (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    content text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id)
);

CREATE INDEX held_comments_by_request ON held_comments (workspace_id, request_id, created_at, id);
CREATE INDEX held_comments_by_customer ON held_comments (workspace_id, customer_id);
-- The list of everything that waits, oldest first.
CREATE INDEX held_comments_by_age ON held_comments (workspace_id, created_at, id);

-- Whether it is private only until it is approved.
ALTER TABLE feature_requests ADD COLUMN awaiting_approval boolean NOT NULL DEFAULT false;
CREATE INDEX feature_requests_awaiting ON feature_requests (workspace_id, created_at, id)
WHERE awaiting_approval AND root_id IS NULL;

-- The ideas of a customer, newest first.
DROP INDEX feature_requests_by_author;
CREATE INDEX feature_requests_by_author ON feature_requests (workspace_id, author_id, tag_number);

-- The tag in lower case, to find feature requests by, newest first.
ALTER TABLE feature_request_tags ADD COLUMN tag_folded text;
UPDATE feature_request_tags SET tag_folded = lower(tag);
ALTER TABLE feature_request_tags ALTER COLUMN tag_folded SET NOT NULL;
CREATE INDEX feature_request_tags_by_tag ON feature_request_tags (workspace_id, tag_folded, request_id);

-- The answers of the team to a feature request.
CREATE INDEX comments_of_team ON comments (workspace_id, request_id, created_at, id) WHERE customer_id IS NULL;
-- The changelogs that are public, latest first.
CREATE INDEX changelogs_by_publication ON changelogs (workspace_id, published_at, id) WHERE published_at IS NOT NULL;

-- What a customer follows, newest first.
DROP INDEX followers_by_customer;
CREATE INDEX followers_by_customer ON followers (workspace_id, customer_id, request_id);

ALTER TABLE portal_settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE held_comments ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON portal_settings USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON held_comments USING (workspace_id = (SELECT current_workspace()));
