-- Ids are UUIDs as 16-byte blobs; moments are milliseconds since 1970-01-01T00:00:00Z.
-- Every table of a workspace has `workspace_id` first in its keys, so that no row can refer to
-- another workspace's row.

CREATE TABLE workspaces (
    -- A small number beside the id: the upper half of the row numbers of its feature requests.
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    subdomain TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE settings (
    workspace_id BLOB NOT NULL PRIMARY KEY REFERENCES workspaces (id),
    product_name TEXT NOT NULL,
    website_url TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    -- SHA-256 of the key. The key itself is stored nowhere.
    digest BLOB NOT NULL UNIQUE,
    last_four TEXT NOT NULL,
    can_read INTEGER NOT NULL,
    can_write INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    email TEXT NOT NULL,
    email_folded TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, email_folded)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_age ON members (workspace_id, created_at, id);

CREATE TABLE lanes (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name),
    UNIQUE (workspace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE tracks (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    -- NULL: what is on this track is not shown on the public roadmap.
    lane_id BLOB,
    position INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name),
    UNIQUE (workspace_id, position),
    FOREIGN KEY (workspace_id, lane_id) REFERENCES lanes (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX tracks_by_lane ON tracks (workspace_id, lane_id);

CREATE TABLE changelogs (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    -- NULL: a draft.
    published_at INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;

CREATE INDEX changelogs_by_age ON changelogs (workspace_id, created_at, id);
