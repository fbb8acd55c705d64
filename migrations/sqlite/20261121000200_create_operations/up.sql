-- Answers saved under operation keys, as the bytes that went out.
CREATE TABLE operations (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    operation_key TEXT NOT NULL,
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, operation_key)
) STRICT;

CREATE INDEX operations_by_age ON operations (created_at);

-- Mail to be sent: one message per comment and voter.
CREATE TABLE outbox (
    workspace_id BLOB NOT NULL,
    comment_id BLOB NOT NULL,
    customer_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, comment_id, customer_id),
    FOREIGN KEY (workspace_id, comment_id) REFERENCES comments (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_by_customer ON outbox (workspace_id, customer_id);
