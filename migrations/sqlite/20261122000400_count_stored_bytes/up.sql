-- How much each workspace stores. Every process adds what it has stored, every few seconds; the rows
-- are counted anew once a day.
CREATE TABLE workspace_usage (
    workspace_id BLOB NOT NULL PRIMARY KEY REFERENCES workspaces (id),
    record_bytes INTEGER NOT NULL,
    file_bytes INTEGER NOT NULL,
    -- NULL: the rows were never counted.
    counted_at INTEGER
) STRICT, WITHOUT ROWID;

-- Which files were uploaded long ago, of those that are perhaps not used.
CREATE INDEX attachments_by_age ON attachments (workspace_id, created_at);
