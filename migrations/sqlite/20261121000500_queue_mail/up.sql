-- When the next try is due; NULL: never again, because it was sent or because it is dead.
ALTER TABLE outbox ADD COLUMN due_at INTEGER;
-- The end of the lease of the worker that has taken it out.
ALTER TABLE outbox ADD COLUMN leased_until INTEGER;
ALTER TABLE outbox ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN tried_at INTEGER;
ALTER TABLE outbox ADD COLUMN sent_at INTEGER;
-- Why the last try failed.
ALTER TABLE outbox ADD COLUMN failure TEXT;

UPDATE outbox SET due_at = created_at;

CREATE INDEX outbox_by_due ON outbox (workspace_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_by_sent ON outbox (workspace_id, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX outbox_by_failure ON outbox (workspace_id, tried_at) WHERE failure IS NOT NULL;

-- Audiences that are too big to be written out in the comment's own transaction.
CREATE TABLE outbox_audiences (
    workspace_id BLOB NOT NULL,
    comment_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    -- The last voter whose mail is written out.
    after_customer_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, comment_id),
    FOREIGN KEY (workspace_id, comment_id) REFERENCES comments (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_audiences_by_request ON outbox_audiences (workspace_id, request_id);

-- Since when nothing is sent to the customer, and why.
ALTER TABLE customers ADD COLUMN mail_stopped_at INTEGER;
ALTER TABLE customers ADD COLUMN mail_stopped_because TEXT;
