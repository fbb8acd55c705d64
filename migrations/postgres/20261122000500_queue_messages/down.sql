-- Messages of the kinds that came with the table of messages, such as test mails, are dropped.
DROP FUNCTION workspaces_with_messages(timestamptz);
DROP FUNCTION mail_depth(timestamptz);
ALTER TABLE outbox RENAME TO outbox_messages;
ALTER TABLE outbox_messages RENAME CONSTRAINT outbox_pkey TO outbox_messages_pkey;
ALTER TABLE outbox_messages DROP CONSTRAINT outbox_workspace_id_customer_id_fkey;
DROP INDEX outbox_by_due;
DROP INDEX outbox_by_sent;
DROP INDEX outbox_by_failure;
DROP INDEX outbox_by_death;
DROP INDEX outbox_by_lease;
DROP INDEX outbox_by_recipient;
DROP INDEX outbox_by_digest;

CREATE TABLE outbox (
    workspace_id uuid NOT NULL,
    comment_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    due_at timestamptz,
    leased_until timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    tried_at timestamptz,
    sent_at timestamptz,
    failure text,
    digest_at timestamptz,
    PRIMARY KEY (workspace_id, comment_id, customer_id),
    FOREIGN KEY (workspace_id, comment_id) REFERENCES comments (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id)
);

CREATE TABLE outbox_audiences (
    workspace_id uuid NOT NULL,
    comment_id uuid NOT NULL,
    request_id uuid NOT NULL,
    after_customer_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, comment_id),
    FOREIGN KEY (workspace_id, comment_id) REFERENCES comments (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
);

INSERT INTO outbox
SELECT mail.workspace_id, (mail.payload ->> 'comment')::uuid, mail.customer_id, mail.created_at, state.due_at,
       state.leased_until, state.attempts, state.tried_at, state.sent_at, state.failure,
       to_timestamp((state.payload ->> 'at')::bigint / 1000.0)
FROM outbox_messages mail
JOIN outbox_messages state
  ON state.workspace_id = mail.workspace_id AND state.id = coalesce(mail.digest_id, mail.id)
WHERE mail.kind = 'comment';

INSERT INTO outbox_audiences
SELECT workspace_id, (payload ->> 'comment')::uuid, (payload ->> 'request')::uuid, (payload ->> 'after')::uuid, created_at
FROM outbox_messages WHERE kind = 'comment_audience';

DROP TABLE outbox_messages;

CREATE INDEX outbox_by_customer ON outbox (workspace_id, customer_id);
CREATE INDEX outbox_by_due ON outbox (workspace_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_by_sent ON outbox (workspace_id, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX outbox_by_failure ON outbox (workspace_id, tried_at) WHERE failure IS NOT NULL;
CREATE INDEX outbox_by_death ON outbox (workspace_id) WHERE sent_at IS NULL AND due_at IS NULL;
CREATE INDEX outbox_by_digest ON outbox (workspace_id, customer_id, digest_at)
WHERE digest_at IS NOT NULL AND due_at IS NOT NULL;
CREATE INDEX outbox_by_recipient ON outbox (workspace_id, customer_id, sent_at)
WHERE sent_at IS NOT NULL AND digest_at IS NULL;
CREATE INDEX outbox_by_lease ON outbox (workspace_id, customer_id) WHERE leased_until IS NOT NULL;
CREATE INDEX outbox_audiences_by_request ON outbox_audiences (workspace_id, request_id);

ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON outbox USING (workspace_id = (SELECT current_workspace()));
ALTER TABLE outbox_audiences ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON outbox_audiences USING (workspace_id = (SELECT current_workspace()));

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

CREATE FUNCTION mail_depth(at timestamptz)
RETURNS TABLE (
    due bigint, leased bigint, postponed bigint, dead bigint, audiences bigint, oldest_due timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT count(*) FILTER (WHERE due_at <= at),
           count(*) FILTER (WHERE due_at > at AND leased_until IS NOT NULL),
           count(*) FILTER (WHERE due_at > at AND leased_until IS NULL),
           (SELECT count(*) FROM outbox WHERE sent_at IS NULL AND due_at IS NULL),
           (SELECT count(*) FROM outbox_audiences),
           least(
               min(due_at) FILTER (WHERE due_at <= at),
               (SELECT min(created_at) FROM outbox_audiences)
           )
    FROM outbox WHERE due_at IS NOT NULL
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION mail_depth(timestamptz) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION mail_depth(timestamptz) FROM PUBLIC;
