-- How much each workspace stores. Every process adds what it has stored, every few seconds; the rows
-- are counted anew once a day. No command touches it, so that no two of them wait for each other here.
CREATE TABLE workspace_usage (
    workspace_id uuid PRIMARY KEY REFERENCES workspaces (id),
    record_bytes bigint NOT NULL,
    file_bytes bigint NOT NULL,
    -- NULL: the rows were never counted.
    counted_at timestamptz
) WITH (fillfactor = 50);

ALTER TABLE workspace_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON workspace_usage USING (workspace_id = (SELECT current_workspace()));

-- Which files were uploaded long ago, of those that are perhaps not used.
CREATE INDEX attachments_by_age ON attachments (workspace_id, created_at);
