-- The runs of imports, and their undoing.
CREATE TABLE imports (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    -- The program whose files were imported.
    source text NOT NULL,
    -- Which installation of it.
    name text NOT NULL,
    state text NOT NULL,
    -- A digest of the files and of how they are read.
    input text NOT NULL,
    progress text NOT NULL,
    report text,
    -- The process that works on it, which says so from time to time.
    holder uuid NOT NULL,
    began_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

-- One at a time in a workspace.
CREATE UNIQUE INDEX imports_at_work ON imports (workspace_id) WHERE state IN ('running', 'undoing');

-- Where records came from. Votes and customers have the run in their own rows.
CREATE TABLE imported (
    workspace_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    external_id text NOT NULL,
    -- The record, which may be deleted since.
    local_id uuid NOT NULL,
    -- A digest of what the source says.
    digest text NOT NULL,
    -- When an import has written the record.
    written_at timestamptz NOT NULL,
    import_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, name, kind, external_id),
    FOREIGN KEY (workspace_id, import_id) REFERENCES imports (workspace_id, id)
);

CREATE INDEX imported_by_import ON imported (workspace_id, import_id, kind, local_id);

ALTER TABLE imports ENABLE ROW LEVEL SECURITY;
ALTER TABLE imported ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON imports USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON imported USING (workspace_id = (SELECT current_workspace()));

-- The run that has made the row. NULL: none.
ALTER TABLE votes ADD COLUMN import_id uuid;
ALTER TABLE followers ADD COLUMN import_id uuid;
ALTER TABLE customers ADD COLUMN import_id uuid;
