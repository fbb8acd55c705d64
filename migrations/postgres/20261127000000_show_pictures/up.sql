-- Who has added the picture of a text: team or customer. NULL: it is not a picture for texts.
ALTER TABLE attachments ADD COLUMN picture_by text CHECK (picture_by IN ('team', 'customer'));
CREATE INDEX pictures_by_age ON attachments (workspace_id, picture_by, created_at) WHERE picture_by IS NOT NULL;

-- Which texts have which pictures. A record is a feature request, a comment or a changelog. Its rows stay when it is deleted,
-- until the hourly maintenance deletes the pictures that no text has any more.
CREATE TABLE text_pictures (
    workspace_id uuid NOT NULL,
    record_id uuid NOT NULL,
    attachment_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, record_id, attachment_id),
    FOREIGN KEY (workspace_id, attachment_id) REFERENCES attachments (workspace_id, id) ON DELETE CASCADE
);

CREATE INDEX text_pictures_by_attachment ON text_pictures (workspace_id, attachment_id);

ALTER TABLE text_pictures ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON text_pictures USING (workspace_id = (SELECT current_workspace()));
