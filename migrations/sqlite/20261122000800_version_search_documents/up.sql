-- Documents of an earlier version are indexed again in the background.
ALTER TABLE search_documents ADD COLUMN version INTEGER NOT NULL DEFAULT 0;

CREATE INDEX search_documents_by_version ON search_documents (workspace_id, version);
