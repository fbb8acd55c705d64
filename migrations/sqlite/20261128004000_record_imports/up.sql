-- The runs of imports, and their undoing.
CREATE TABLE imports (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    -- The program whose files were imported.
    source TEXT NOT NULL,
    -- Which installation of it.
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    -- A digest of the files and of how they are read.
    input TEXT NOT NULL,
    progress TEXT NOT NULL CHECK (json_valid(progress)),
    report TEXT CHECK (json_valid(report)),
    -- The process that works on it, which says so from time to time.
    holder BLOB NOT NULL,
    began_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    ended_at INTEGER,
    PRIMARY KEY (workspace_id, id)
) STRICT;

-- One at a time in a workspace.
CREATE UNIQUE INDEX imports_at_work ON imports (workspace_id) WHERE state IN ('running', 'undoing');

-- Where records came from. Votes and customers have the run in their own rows.
CREATE TABLE imported (
    workspace_id BLOB NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    external_id TEXT NOT NULL,
    -- The record, which may be deleted since.
    local_id BLOB NOT NULL,
    -- A digest of what the source says.
    digest TEXT NOT NULL,
    -- When an import has written the record.
    written_at INTEGER NOT NULL,
    import_id BLOB NOT NULL,
    PRIMARY KEY (workspace_id, name, kind, external_id),
    FOREIGN KEY (workspace_id, import_id) REFERENCES imports (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX imported_by_import ON imported (workspace_id, import_id, kind, local_id);

-- The run that has made the row. NULL: none.
ALTER TABLE votes ADD COLUMN import_id BLOB;
ALTER TABLE followers ADD COLUMN import_id BLOB;
ALTER TABLE customers ADD COLUMN import_id BLOB;
