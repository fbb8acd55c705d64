-- A comment has a member or a customer as its author.
ALTER TABLE comments ADD COLUMN customer_id uuid;
ALTER TABLE comments ADD COLUMN updated_at timestamptz;
UPDATE comments SET updated_at = created_at;
ALTER TABLE comments ALTER COLUMN updated_at SET NOT NULL;
ALTER TABLE comments ADD FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id);
CREATE INDEX comments_by_customer ON comments (workspace_id, customer_id) WHERE customer_id IS NOT NULL;

-- The lists of comments and notes.
DROP INDEX comments_by_request;
CREATE INDEX comments_by_request ON comments (workspace_id, request_id, created_at, id);
DROP INDEX notes_by_request;
CREATE INDEX notes_by_request ON notes (workspace_id, request_id, created_at, id);

ALTER TABLE members ADD COLUMN role text NOT NULL DEFAULT 'admin';
-- A removed member stays as the author of comments and notes.
ALTER TABLE members ADD COLUMN removed_at timestamptz;

-- The name in lower case, to search for.
ALTER TABLE customers ADD COLUMN name_folded text;
UPDATE customers SET name_folded = lower(name) WHERE name IS NOT NULL;

-- Subscriptions that were asked for, with or without a vote.
CREATE TABLE followers (
    workspace_id uuid NOT NULL,
    request_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, request_id, customer_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id)
);

CREATE INDEX followers_by_customer ON followers (workspace_id, customer_id);

ALTER TABLE followers ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON followers USING (workspace_id = (SELECT current_workspace()));

-- Lanes and tracks swap positions: these are compared at the end of a statement instead of at each row.
ALTER TABLE lanes DROP CONSTRAINT lanes_workspace_id_name_key;
ALTER TABLE lanes DROP CONSTRAINT lanes_workspace_id_position_key;
ALTER TABLE lanes ADD UNIQUE (workspace_id, name) DEFERRABLE;
ALTER TABLE lanes ADD UNIQUE (workspace_id, position) DEFERRABLE;
ALTER TABLE tracks DROP CONSTRAINT tracks_workspace_id_name_key;
ALTER TABLE tracks DROP CONSTRAINT tracks_workspace_id_position_key;
ALTER TABLE tracks ADD UNIQUE (workspace_id, name) DEFERRABLE;
ALTER TABLE tracks ADD UNIQUE (workspace_id, position) DEFERRABLE;
