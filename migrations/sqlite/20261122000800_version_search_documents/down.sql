DROP INDEX search_documents_by_version;

ALTER TABLE search_documents DROP COLUMN version;
