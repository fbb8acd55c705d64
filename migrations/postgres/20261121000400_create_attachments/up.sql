-- Files, without their bytes.
CREATE TABLE attachments (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    filename text NOT NULL,
    content_type text NOT NULL,
    byte_size bigint NOT NULL,
    -- MD5
    checksum bytea NOT NULL,
    -- Where the bytes are, in which storage.
    key text NOT NULL,
    service_name text NOT NULL,
    -- In pixels; NULL: no image, or one whose head does not tell.
    width bigint,
    height bigint,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

ALTER TABLE changelogs ADD COLUMN cover_attachment_id uuid;
ALTER TABLE changelogs
    ADD FOREIGN KEY (workspace_id, cover_attachment_id) REFERENCES attachments (workspace_id, id);

CREATE INDEX changelogs_by_cover ON changelogs (workspace_id, cover_attachment_id);

ALTER TABLE attachments ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON attachments USING (workspace_id = (SELECT current_workspace()));
