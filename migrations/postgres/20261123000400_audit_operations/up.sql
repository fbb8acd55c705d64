-- The audit log. There is no foreign key: an entry outlives what it is about, and to check one of the workspace, each
-- write of a workspace would lock the same row.
CREATE TABLE audit_entries (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    actor_kind text NOT NULL,
    actor_id uuid,
    actor_name text NOT NULL,
    channel text NOT NULL,
    request_id text,
    action text NOT NULL,
    subject_kind text NOT NULL,
    subject_id uuid,
    -- JSON: the changed fields.
    changes text NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX audit_entries_by_subject ON audit_entries (workspace_id, subject_id, id);
CREATE INDEX audit_entries_by_actor ON audit_entries (workspace_id, actor_id, id);
CREATE INDEX audit_entries_by_action ON audit_entries (workspace_id, action, id);
CREATE INDEX audit_entries_by_age ON audit_entries (workspace_id, created_at);

ALTER TABLE audit_entries ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON audit_entries USING (workspace_id = (SELECT current_workspace()));

-- Deletes the oldest entries of the current workspace from before a timestamp. The service's role may only read and add
-- entries, so this runs as its owner. It keeps the entries of the last 30 days, whatever the timestamp is.
CREATE FUNCTION purge_audit_entries(workspace uuid, before timestamptz, most bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
AS $$
DECLARE
    purged bigint;
BEGIN
    IF workspace IS DISTINCT FROM current_workspace() THEN
        RETURN 0;
    END IF;
    DELETE FROM audit_entries WHERE workspace_id = workspace AND id IN (
        SELECT id FROM audit_entries
        WHERE workspace_id = workspace AND created_at < least(before, now() - interval '30 days')
        ORDER BY created_at LIMIT most
    );
    GET DIAGNOSTICS purged = ROW_COUNT;
    RETURN purged;
END
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION purge_audit_entries(uuid, timestamptz, bigint) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION purge_audit_entries(uuid, timestamptz, bigint) FROM PUBLIC;
