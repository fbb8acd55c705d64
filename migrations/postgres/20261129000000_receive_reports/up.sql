-- Trackers that report closed issues.
CREATE TABLE link_sources (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('github', 'gitlab', 'jira', 'linear')),
    -- Encrypted with a key that is derived from the secret of the service.
    sealed_secret text NOT NULL,
    -- The track to which feature requests are moved whose issues are done.
    closed_track_id uuid,
    notify_all_voters boolean NOT NULL,
    enabled boolean NOT NULL,
    last_received_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, closed_track_id) REFERENCES tracks (workspace_id, id)
);

CREATE INDEX link_sources_by_track ON link_sources (workspace_id, closed_track_id);

ALTER TABLE link_sources ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON link_sources USING (workspace_id = (SELECT current_workspace()));

-- The time of the last report of the issue, by the clock of its tracker.
ALTER TABLE links ADD COLUMN reported_at timestamptz;

-- The link sources of all workspaces whose secrets are encrypted with another key. It tells nothing of the secrets.
CREATE FUNCTION link_sources_sealed_otherwise(prefix text)
RETURNS TABLE (of_workspace uuid, source uuid)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT workspace_id, id FROM link_sources WHERE NOT starts_with(sealed_secret, prefix)
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION link_sources_sealed_otherwise(text) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION link_sources_sealed_otherwise(text) FROM PUBLIC;
