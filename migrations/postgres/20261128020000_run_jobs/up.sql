-- Imports and exports that a process of the service does, because somebody has asked for it on a page or over the API.

-- The import or the export whose file it is. NULL: somebody has uploaded it for a text, a changelog or the logo.
ALTER TABLE attachments ADD COLUMN job_id uuid;
CREATE INDEX files_of_jobs ON attachments (workspace_id, job_id) WHERE job_id IS NOT NULL;

-- What a process is to do.
ALTER TABLE imports ADD COLUMN job text CHECK (job IN ('try', 'run', 'undo'));
-- The file that was uploaded, how it is read, and what it begins with.
ALTER TABLE imports ADD COLUMN upload text;
CREATE INDEX imports_to_do ON imports (workspace_id) WHERE job IS NOT NULL;

CREATE TABLE exports (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    state text NOT NULL CHECK (state IN ('running', 'done', 'failed')),
    without_people boolean NOT NULL,
    without_notes boolean NOT NULL,
    -- The process that works on it, which says so from time to time.
    holder uuid NOT NULL,
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

-- One at a time in a workspace.
CREATE UNIQUE INDEX exports_at_work ON exports (workspace_id) WHERE state = 'running';

ALTER TABLE exports ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON exports USING (workspace_id = (SELECT current_workspace()));

-- What is to do in all workspaces, which no session sees. It tells nothing of whose it is.
CREATE FUNCTION jobs_to_do()
RETURNS TABLE (of_workspace uuid, job uuid, is_export boolean)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT workspace_id, id, false FROM imports WHERE imports.job IS NOT NULL
    UNION ALL SELECT workspace_id, id, true FROM exports WHERE state = 'running'
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION jobs_to_do() SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION jobs_to_do() FROM PUBLIC;
