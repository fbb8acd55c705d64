-- Since when nothing that the person does on the portal has an effect. NULL: not blocked.
ALTER TABLE customers ADD COLUMN blocked_at timestamptz;

-- Comments of customers that the team has removed. They are apart from the public ones, so that no read shows them.
CREATE TABLE removed_comments (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    content text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    -- Whether it waited for approval.
    was_held boolean NOT NULL,
    removed_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id) ON DELETE CASCADE
);

CREATE INDEX removed_comments_by_request ON removed_comments (workspace_id, request_id);
CREATE INDEX removed_comments_by_customer ON removed_comments (workspace_id, customer_id, created_at, id);
CREATE INDEX removed_comments_by_removal ON removed_comments (workspace_id, removed_at);

-- The texts of feature requests that the team has removed. The feature request itself stays, private and without them.
CREATE TABLE removed_requests (
    workspace_id uuid NOT NULL,
    request_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    description_text text NOT NULL,
    tags text[] NOT NULL,
    was_private boolean NOT NULL,
    was_awaiting boolean NOT NULL,
    removed_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id) ON DELETE CASCADE
);

CREATE INDEX removed_requests_by_customer ON removed_requests (workspace_id, customer_id, request_id);
CREATE INDEX removed_requests_by_removal ON removed_requests (workspace_id, removed_at);

ALTER TABLE removed_comments ENABLE ROW LEVEL SECURITY;
ALTER TABLE removed_requests ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON removed_comments USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON removed_requests USING (workspace_id = (SELECT current_workspace()));

-- What a customer has written that waits, in the order of time.
DROP INDEX held_comments_by_customer;
CREATE INDEX held_comments_by_customer ON held_comments (workspace_id, customer_id, created_at, id);
