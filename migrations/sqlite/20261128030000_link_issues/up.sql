-- Links from feature requests to what the team builds for them. Never shown to customers.
CREATE TABLE links (
    workspace_id BLOB NOT NULL,
    id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    url TEXT NOT NULL,
    -- A digest that is equal for all URLs of one issue.
    issue TEXT NOT NULL,
    title TEXT,
    state TEXT CHECK (state IN ('open', 'closed')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, issue, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
) STRICT;

CREATE INDEX links_by_request ON links (workspace_id, request_id, created_at, id);
