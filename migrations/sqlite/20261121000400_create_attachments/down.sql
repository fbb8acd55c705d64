CREATE TABLE changelogs_without_covers (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    -- NULL: a draft.
    published_at INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;

INSERT INTO changelogs_without_covers (workspace_id, id, title, content, published_at, created_at)
SELECT workspace_id, id, title, content, published_at, created_at FROM changelogs;

DROP TABLE changelogs;
ALTER TABLE changelogs_without_covers RENAME TO changelogs;

CREATE INDEX changelogs_by_age ON changelogs (workspace_id, created_at, id);

DROP TABLE attachments;
