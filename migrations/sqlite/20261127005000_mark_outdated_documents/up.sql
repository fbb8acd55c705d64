-- The feature requests whose search documents are built again in the background, after a change of many at once. A row goes
-- when its document is saved or deleted. Marked here and not in `search_documents`, whose rows and indexes are large.
CREATE TABLE outdated_documents (
    workspace_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    PRIMARY KEY (workspace_id, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
