-- Since when nothing that the person does on the portal has an effect. NULL: not blocked.
ALTER TABLE customers ADD COLUMN blocked_at INTEGER;

-- Comments of customers that the team has removed. They are apart from the public ones, so that no read shows them.
CREATE TABLE removed_comments (
    workspace_id BLOB NOT NULL,
    id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    customer_id BLOB NOT NULL,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- Whether it waited for approval.
    was_held INTEGER NOT NULL,
    removed_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX removed_comments_by_request ON removed_comments (workspace_id, request_id);
CREATE INDEX removed_comments_by_customer ON removed_comments (workspace_id, customer_id, created_at, id);
CREATE INDEX removed_comments_by_removal ON removed_comments (removed_at);

-- The texts of feature requests that the team has removed. The feature request itself stays, private and without them.
CREATE TABLE removed_requests (
    workspace_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    customer_id BLOB NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    description_text TEXT NOT NULL,
    -- A JSON array.
    tags TEXT NOT NULL CHECK (json_valid(tags)),
    was_private INTEGER NOT NULL,
    was_awaiting INTEGER NOT NULL,
    removed_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX removed_requests_by_customer ON removed_requests (workspace_id, customer_id, request_id);
CREATE INDEX removed_requests_by_removal ON removed_requests (removed_at);

-- What a customer has written that waits, in the order of time.
DROP INDEX held_comments_by_customer;
CREATE INDEX held_comments_by_customer ON held_comments (workspace_id, customer_id, created_at, id);
