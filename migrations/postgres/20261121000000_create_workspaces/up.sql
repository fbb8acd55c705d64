-- Every table of a workspace has `workspace_id` first in its keys, so that no row can refer to
-- another workspace's row, and so that the tables can be distributed by it. Row-level security is a
-- second wall: whoever is not the owner sees the rows of the workspace that the session or
-- transaction has named, and none when it has named none.

-- The workspace that this session or transaction works for.
CREATE FUNCTION current_workspace() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('roadmap.workspace_id', true), '')::uuid;

-- The only table without a second wall: it is what a call's host is looked up in.
CREATE TABLE workspaces (
    id uuid PRIMARY KEY,
    subdomain text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL
);

CREATE TABLE settings (
    workspace_id uuid PRIMARY KEY REFERENCES workspaces (id),
    product_name text NOT NULL,
    website_url text NOT NULL
);

CREATE TABLE api_keys (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    name text NOT NULL,
    -- SHA-256 of the key. The key itself is stored nowhere.
    digest bytea NOT NULL,
    last_four text NOT NULL,
    can_read boolean NOT NULL,
    can_write boolean NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, digest)
);

CREATE TABLE members (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    email text NOT NULL,
    email_folded text NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, email_folded)
);

CREATE INDEX members_by_age ON members (workspace_id, created_at, id);

CREATE TABLE lanes (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    name text NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name),
    UNIQUE (workspace_id, position)
);

CREATE TABLE tracks (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    name text NOT NULL,
    -- NULL: what is on this track is not shown on the public roadmap.
    lane_id uuid,
    position bigint NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name),
    UNIQUE (workspace_id, position),
    FOREIGN KEY (workspace_id, lane_id) REFERENCES lanes (workspace_id, id)
);

CREATE INDEX tracks_by_lane ON tracks (workspace_id, lane_id);

CREATE TABLE changelogs (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    title text NOT NULL,
    content text NOT NULL,
    -- NULL: a draft.
    published_at timestamptz,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX changelogs_by_age ON changelogs (workspace_id, created_at, id);

ALTER TABLE settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE members ENABLE ROW LEVEL SECURITY;
ALTER TABLE lanes ENABLE ROW LEVEL SECURITY;
ALTER TABLE tracks ENABLE ROW LEVEL SECURITY;
ALTER TABLE changelogs ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON settings USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON api_keys USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON members USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON lanes USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON tracks USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON changelogs USING (workspace_id = (SELECT current_workspace()));
