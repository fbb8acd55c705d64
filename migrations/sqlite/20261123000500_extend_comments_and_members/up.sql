-- The author, if it is a customer.
ALTER TABLE comments ADD COLUMN customer_id BLOB;
ALTER TABLE comments ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;

UPDATE comments SET updated_at = created_at;

CREATE INDEX comments_by_customer ON comments (workspace_id, customer_id) WHERE customer_id IS NOT NULL;
-- Lists of comments and notes are read in the order of time.
DROP INDEX comments_by_request;
CREATE INDEX comments_by_request ON comments (workspace_id, request_id, created_at, id);
DROP INDEX notes_by_request;
CREATE INDEX notes_by_request ON notes (workspace_id, request_id, created_at, id);

-- Members could do everything so far.
ALTER TABLE members ADD COLUMN role TEXT NOT NULL DEFAULT 'admin';
-- Removed members stay as authors of their comments and notes.
ALTER TABLE members ADD COLUMN removed_at INTEGER;

-- Subscriptions that are independent of votes.
CREATE TABLE followers (
    workspace_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    customer_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, request_id, customer_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX followers_by_customer ON followers (workspace_id, customer_id);

-- The name in lower case, by which customers are found.
ALTER TABLE customers ADD COLUMN name_folded TEXT;

UPDATE customers SET name_folded = lower(name);
