-- The settings of the public portal. No row: the defaults.
CREATE TABLE portal_settings (
    workspace_id BLOB NOT NULL PRIMARY KEY REFERENCES workspaces (id),
    access TEXT NOT NULL,
    -- JSON arrays: mail domains, origins, codes of languages.
    mail_domains TEXT NOT NULL CHECK (json_valid(mail_domains)),
    is_indexed INTEGER NOT NULL,
    embed_origins TEXT NOT NULL CHECK (json_valid(embed_origins)),
    languages TEXT NOT NULL CHECK (json_valid(languages)),
    holds_posts INTEGER NOT NULL,
    accent TEXT,
    logo_attachment_id BLOB,
    FOREIGN KEY (workspace_id, logo_attachment_id) REFERENCES attachments (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX portal_settings_by_logo ON portal_settings (workspace_id, logo_attachment_id);

-- Whether it is private only until it is approved.
ALTER TABLE feature_requests ADD COLUMN awaiting_approval INTEGER NOT NULL DEFAULT 0;

CREATE INDEX feature_requests_awaiting ON feature_requests (workspace_id, created_at, id)
WHERE awaiting_approval AND root_id IS NULL;

-- Comments of customers that wait for approval. They are apart from the public ones, so that no read shows them.
CREATE TABLE held_comments (
    workspace_id BLOB NOT NULL,
    id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    customer_id BLOB NOT NULL,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id)
) STRICT;

CREATE INDEX held_comments_by_request ON held_comments (workspace_id, request_id, created_at, id);
CREATE INDEX held_comments_by_customer ON held_comments (workspace_id, customer_id);
CREATE INDEX held_comments_by_age ON held_comments (workspace_id, created_at, id);

-- The tag in lower case, by which feature requests are found.
ALTER TABLE feature_request_tags ADD COLUMN tag_folded TEXT NOT NULL DEFAULT '';

UPDATE feature_request_tags SET tag_folded = lower(tag);

CREATE INDEX feature_request_tags_by_tag ON feature_request_tags (workspace_id, tag_folded, request_id);

-- Public feature requests of a track, the newest last.
CREATE INDEX vote_tallies_public ON vote_tallies (workspace_id, track_id) WHERE root_id IS NULL AND NOT private;
-- The answers of the team to a feature request.
CREATE INDEX comments_of_team ON comments (workspace_id, request_id, created_at, id) WHERE customer_id IS NULL;
CREATE INDEX changelogs_by_publication ON changelogs (workspace_id, published_at, id) WHERE published_at IS NOT NULL;
