-- Files, without their bytes.
CREATE TABLE attachments (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    filename TEXT NOT NULL,
    content_type TEXT NOT NULL,
    byte_size INTEGER NOT NULL,
    -- MD5
    checksum BLOB NOT NULL,
    -- Where the bytes are, in which storage.
    key TEXT NOT NULL,
    service_name TEXT NOT NULL,
    -- In pixels; NULL: no image, or one whose head does not tell.
    width INTEGER,
    height INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;

-- A foreign key of two columns can only be given to a table when it is created.
CREATE TABLE changelogs_with_covers (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    cover_attachment_id BLOB,
    -- NULL: a draft.
    published_at INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, cover_attachment_id) REFERENCES attachments (workspace_id, id)
) STRICT;

INSERT INTO changelogs_with_covers (workspace_id, id, title, content, published_at, created_at)
SELECT workspace_id, id, title, content, published_at, created_at FROM changelogs;

DROP TABLE changelogs;
ALTER TABLE changelogs_with_covers RENAME TO changelogs;

CREATE INDEX changelogs_by_age ON changelogs (workspace_id, created_at, id);
CREATE INDEX changelogs_by_cover ON changelogs (workspace_id, cover_attachment_id);
