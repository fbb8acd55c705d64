-- When the next try is due; NULL: never again, because it was sent or because it is dead.
ALTER TABLE outbox ADD COLUMN due_at timestamptz;
-- The end of the lease of the worker that has taken it out.
ALTER TABLE outbox ADD COLUMN leased_until timestamptz;
ALTER TABLE outbox ADD COLUMN attempts integer NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN tried_at timestamptz;
ALTER TABLE outbox ADD COLUMN sent_at timestamptz;
-- Why the last try failed.
ALTER TABLE outbox ADD COLUMN failure text;

UPDATE outbox SET due_at = created_at;

CREATE INDEX outbox_by_due ON outbox (workspace_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_by_sent ON outbox (workspace_id, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX outbox_by_failure ON outbox (workspace_id, tried_at) WHERE failure IS NOT NULL;

-- Audiences that are too big to be written out in the comment's own transaction.
CREATE TABLE outbox_audiences (
    workspace_id uuid NOT NULL,
    comment_id uuid NOT NULL,
    request_id uuid NOT NULL,
    -- The last voter whose mail is written out.
    after_customer_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, comment_id),
    FOREIGN KEY (workspace_id, comment_id) REFERENCES comments (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
);

CREATE INDEX outbox_audiences_by_request ON outbox_audiences (workspace_id, request_id);

-- Since when nothing is sent to the customer, and why.
ALTER TABLE customers ADD COLUMN mail_stopped_at timestamptz;
ALTER TABLE customers ADD COLUMN mail_stopped_because text;

ALTER TABLE outbox_audiences ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON outbox_audiences USING (workspace_id = (SELECT current_workspace()));

-- Which workspaces have mail to be sent. A worker must know it of all of them, whereas a session
-- sees the rows of one: this runs as its owner, and tells nothing but the identities.
CREATE FUNCTION workspaces_with_mail(at timestamptz)
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT id FROM workspaces
    WHERE EXISTS (SELECT FROM outbox WHERE workspace_id = workspaces.id AND due_at <= at)
       OR EXISTS (SELECT FROM outbox_audiences WHERE workspace_id = workspaces.id)
    ORDER BY id
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION workspaces_with_mail(timestamptz) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION workspaces_with_mail(timestamptz) FROM PUBLIC;
