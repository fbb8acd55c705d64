ALTER TABLE customers DROP COLUMN name_folded;
DROP TABLE followers;
ALTER TABLE members DROP COLUMN removed_at;
ALTER TABLE members DROP COLUMN role;

DROP INDEX notes_by_request;
CREATE INDEX notes_by_request ON notes (workspace_id, request_id);
DROP INDEX comments_by_request;
CREATE INDEX comments_by_request ON comments (workspace_id, request_id);
DROP INDEX comments_by_customer;
ALTER TABLE comments DROP COLUMN updated_at;
ALTER TABLE comments DROP COLUMN customer_id;
