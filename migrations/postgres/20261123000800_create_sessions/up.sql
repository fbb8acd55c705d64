-- Who is signed in to the pages. A session belongs to an address, not to a customer or a member.
CREATE TABLE sessions (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    -- SHA-256 of the cookie. The cookie itself is stored nowhere.
    digest bytea NOT NULL,
    email text NOT NULL,
    email_folded text NOT NULL,
    browser_name text,
    created_at timestamptz NOT NULL,
    -- Exact to an hour.
    last_seen_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, digest)
);

CREATE INDEX sessions_by_address ON sessions (workspace_id, email_folded);
-- The unused ones, which are deleted.
CREATE INDEX sessions_by_use ON sessions (workspace_id, last_seen_at);

-- Links and codes that were asked for. Both are derived from the ID, and stored nowhere.
CREATE TABLE sign_ins (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    email text NOT NULL,
    email_folded text NOT NULL,
    -- SHA-256 of the cookie of the browser that asked; NULL: a command asked.
    browser_digest bytea,
    browser_name text,
    -- JSON: what to do once the address is confirmed.
    action text,
    -- Where to go then.
    next text,
    language text NOT NULL,
    wrong_codes bigint NOT NULL,
    created_at timestamptz NOT NULL,
    consumed_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX sign_ins_by_address ON sign_ins (workspace_id, email_folded, created_at);
CREATE INDEX sign_ins_by_browser ON sign_ins (workspace_id, browser_digest, created_at);
CREATE INDEX sign_ins_by_age ON sign_ins (workspace_id, created_at);

-- The language of the pages that a customer has chosen; NULL: that of the browser.
ALTER TABLE customers ADD COLUMN language text;

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE sign_ins ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON sessions USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON sign_ins USING (workspace_id = (SELECT current_workspace()));
