CREATE TABLE customers (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    -- As first written; compared by the folded form.
    email TEXT NOT NULL,
    email_folded TEXT NOT NULL,
    name TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, email_folded)
) STRICT, WITHOUT ROWID;

-- The last tag number drawn: a table of its own, so that drawing one touches nothing else.
CREATE TABLE tag_counters (
    workspace_id BLOB NOT NULL PRIMARY KEY REFERENCES workspaces (id),
    last_tag_number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE feature_requests (
    -- workspaces.number << 32 | tag_number: keeps a workspace's rows together, and a range of it
    -- is the workspace to the full-text index, which knows no other columns.
    row_number INTEGER PRIMARY KEY,
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    tag_number INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    -- The description without markup.
    description_text TEXT NOT NULL,
    track_id BLOB NOT NULL,
    author_id BLOB,
    private INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (workspace_id, id),
    UNIQUE (workspace_id, tag_number),
    FOREIGN KEY (workspace_id, track_id) REFERENCES tracks (workspace_id, id),
    FOREIGN KEY (workspace_id, author_id) REFERENCES customers (workspace_id, id)
) STRICT;

CREATE INDEX feature_requests_by_track ON feature_requests (workspace_id, track_id);
CREATE INDEX feature_requests_by_author ON feature_requests (workspace_id, author_id);

CREATE TABLE feature_request_tags (
    workspace_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    position INTEGER NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (workspace_id, request_id, position),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- Counts are kept apart from the wide rows that they belong to.
CREATE TABLE vote_tallies (
    row_number INTEGER PRIMARY KEY,
    workspace_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    votes_count INTEGER NOT NULL,
    UNIQUE (workspace_id, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
) STRICT;

CREATE INDEX vote_tallies_by_count ON vote_tallies (workspace_id, votes_count);

CREATE TABLE votes (
    workspace_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    customer_id BLOB NOT NULL,
    -- Whether the voter gets mail about this request.
    subscribed INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, request_id, customer_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX votes_by_customer ON votes (workspace_id, customer_id);
CREATE INDEX votes_by_age ON votes (workspace_id, request_id, created_at);

-- Private: read by nothing that answers clients.
CREATE TABLE notes (
    workspace_id BLOB NOT NULL,
    id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    customer_id BLOB,
    author_id BLOB,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id),
    FOREIGN KEY (workspace_id, author_id) REFERENCES members (workspace_id, id)
) STRICT;

CREATE INDEX notes_by_request ON notes (workspace_id, request_id);
CREATE INDEX notes_by_customer ON notes (workspace_id, customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX notes_by_author ON notes (workspace_id, author_id);

CREATE TABLE comments (
    workspace_id BLOB NOT NULL,
    id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    author_id BLOB,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id),
    FOREIGN KEY (workspace_id, author_id) REFERENCES members (workspace_id, id)
) STRICT;

CREATE INDEX comments_by_request ON comments (workspace_id, request_id);
CREATE INDEX comments_by_author ON comments (workspace_id, author_id);
