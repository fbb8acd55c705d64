-- Imports and exports that a process of the service does, because somebody has asked for it on a page or over the API.

-- The import or the export whose file it is. NULL: somebody has uploaded it for a text, a changelog or the logo.
ALTER TABLE attachments ADD COLUMN job_id BLOB;
CREATE INDEX files_of_jobs ON attachments (workspace_id, job_id) WHERE job_id IS NOT NULL;

-- What a process is to do.
ALTER TABLE imports ADD COLUMN job TEXT CHECK (job IN ('try', 'run', 'undo'));
-- The file that was uploaded, how it is read, and what it begins with.
ALTER TABLE imports ADD COLUMN upload TEXT CHECK (json_valid(upload));
CREATE INDEX imports_to_do ON imports (workspace_id) WHERE job IS NOT NULL;

CREATE TABLE exports (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed')),
    without_people INTEGER NOT NULL,
    without_notes INTEGER NOT NULL,
    -- The process that works on it, which says so from time to time.
    holder BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    ended_at INTEGER,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- One at a time in a workspace.
CREATE UNIQUE INDEX exports_at_work ON exports (workspace_id) WHERE state = 'running';
