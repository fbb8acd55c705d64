-- Trackers that report closed issues.
CREATE TABLE link_sources (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('github', 'gitlab', 'jira', 'linear')),
    -- Encrypted with a key that is derived from the secret of the service.
    sealed_secret TEXT NOT NULL,
    -- The track to which feature requests are moved whose issues are done.
    closed_track_id BLOB,
    notify_all_voters INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    last_received_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, closed_track_id) REFERENCES tracks (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX link_sources_by_track ON link_sources (workspace_id, closed_track_id);

-- The time of the last report of the issue, by the clock of its tracker.
ALTER TABLE links ADD COLUMN reported_at INTEGER;
