-- Links from feature requests to what the team builds for them. Never shown to customers.
CREATE TABLE links (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    url text NOT NULL,
    -- A digest that is equal for all URLs of one issue.
    issue text NOT NULL,
    title text,
    state text CHECK (state IN ('open', 'closed')),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, issue, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
);

CREATE INDEX links_by_request ON links (workspace_id, request_id, created_at, id);

ALTER TABLE links ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON links USING (workspace_id = (SELECT current_workspace()));
