-- Answers saved under operation keys, as the bytes that went out. There is no foreign key: to check
-- one, each write of a workspace would lock the same row of `workspaces`, and answers are kept by
-- units of work alone, which row-level security holds to a workspace that was found.
CREATE TABLE operations (
    workspace_id uuid NOT NULL,
    operation_key text NOT NULL,
    status integer NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, operation_key)
);

CREATE INDEX operations_by_age ON operations (workspace_id, created_at);

-- Mail to be sent: one message per comment and voter.
CREATE TABLE outbox (
    workspace_id uuid NOT NULL,
    comment_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, comment_id, customer_id),
    FOREIGN KEY (workspace_id, comment_id) REFERENCES comments (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id)
);

CREATE INDEX outbox_by_customer ON outbox (workspace_id, customer_id);

ALTER TABLE operations ENABLE ROW LEVEL SECURITY;
ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON operations USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON outbox USING (workspace_id = (SELECT current_workspace()));
