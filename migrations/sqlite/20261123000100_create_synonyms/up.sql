-- Groups of phrases that mean the same in a workspace, in the order in which they were sent.
CREATE TABLE synonyms (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    group_number INTEGER NOT NULL,
    position INTEGER NOT NULL,
    phrase TEXT NOT NULL,
    PRIMARY KEY (workspace_id, group_number, position)
) WITHOUT ROWID, STRICT;

ALTER TABLE api_keys ADD COLUMN can_manage INTEGER NOT NULL DEFAULT 0;
