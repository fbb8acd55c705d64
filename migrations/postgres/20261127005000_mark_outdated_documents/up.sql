-- The feature requests whose search documents are built again in the background, after a change of many at once. A row goes
-- when its document is saved or deleted. Marked here and not in `search_documents`, whose rows and indexes are large.
CREATE TABLE outdated_documents (
    workspace_id uuid NOT NULL,
    request_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id) ON DELETE CASCADE
);

ALTER TABLE outdated_documents ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON outdated_documents USING (workspace_id = (SELECT current_workspace()));
