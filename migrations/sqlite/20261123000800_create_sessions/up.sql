-- Sessions of people who are signed in to the pages. They belong to an address.
CREATE TABLE sessions (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    -- SHA-256 of the cookie. The cookie itself is stored nowhere.
    digest BLOB NOT NULL,
    email TEXT NOT NULL,
    email_folded TEXT NOT NULL,
    browser_name TEXT,
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_address ON sessions (workspace_id, email_folded, last_seen_at, id);
-- The unused ones, which are deleted.
CREATE INDEX sessions_by_use ON sessions (workspace_id, last_seen_at);

-- Sign-ins that were asked for. The link and the code are derived from the ID.
CREATE TABLE sign_ins (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    email TEXT NOT NULL,
    email_folded TEXT NOT NULL,
    -- SHA-256 of the cookie of the browser that asked; NULL: a command asked.
    browser_digest BLOB,
    browser_name TEXT,
    -- What to do once the address is confirmed, and where to go then.
    action TEXT CHECK (json_valid(action)),
    next TEXT,
    language TEXT NOT NULL,
    wrong_codes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    consumed_at INTEGER,
    PRIMARY KEY (workspace_id, id)
) STRICT;

CREATE INDEX sign_ins_by_address ON sign_ins (workspace_id, email_folded, created_at);
CREATE INDEX sign_ins_by_browser ON sign_ins (workspace_id, browser_digest, created_at);
CREATE INDEX sign_ins_by_age ON sign_ins (workspace_id, created_at);

-- The language of the pages that a customer has chosen. NULL: that of the browser.
ALTER TABLE customers ADD COLUMN language TEXT;
