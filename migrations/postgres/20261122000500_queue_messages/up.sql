-- The outbox becomes one table of messages of all kinds. What is about one kind is in `payload`.
CREATE TABLE outbox_messages (
    workspace_id uuid NOT NULL,
    -- Made of what the message is about: creating it twice creates one.
    id text NOT NULL,
    kind text NOT NULL,
    -- The lowest is leased first.
    priority smallint NOT NULL,
    -- The recipient: a customer, an address, or nobody, when the message stands for others.
    customer_id uuid,
    address text,
    payload jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    -- When the next try is due; NULL: never again, because it was sent, is dead, or is held for a digest.
    due_at timestamptz,
    -- The end of the lease of a worker.
    leased_until timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    tried_at timestamptz,
    sent_at timestamptz,
    -- Why the last try failed.
    failure text,
    -- The mail server's answer when it was sent.
    answer text,
    -- The digest that it is held for, with which it is sent, tried again or given up.
    digest_id text,
    CONSTRAINT outbox_messages_pkey PRIMARY KEY (workspace_id, id)
);

-- A digest for all mails of one customer that are held until the same hour.
INSERT INTO outbox_messages
    (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at, leased_until, attempts, tried_at,
     sent_at, failure)
SELECT workspace_id, 'digest.' || (extract(epoch FROM digest_at) * 1000)::bigint || '.' || customer_id,
       'comment_digest', 1, customer_id,
       jsonb_build_object('at', (extract(epoch FROM digest_at) * 1000)::bigint), min(created_at), min(due_at),
       max(leased_until), max(attempts), max(tried_at), CASE WHEN min(due_at) IS NULL THEN max(sent_at) END,
       max(failure)
FROM outbox WHERE digest_at IS NOT NULL GROUP BY workspace_id, customer_id, digest_at;

INSERT INTO outbox_messages
    (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at, leased_until, attempts, tried_at,
     sent_at, failure, digest_id)
SELECT workspace_id, comment_id || '.' || customer_id, 'comment', 1, customer_id,
       jsonb_build_object('comment', comment_id), created_at,
       CASE WHEN digest_at IS NULL THEN due_at END,
       CASE WHEN digest_at IS NULL THEN leased_until END,
       CASE WHEN digest_at IS NULL THEN attempts ELSE 0 END,
       CASE WHEN digest_at IS NULL THEN tried_at END,
       CASE WHEN digest_at IS NULL THEN sent_at END,
       CASE WHEN digest_at IS NULL THEN failure END,
       CASE WHEN digest_at IS NOT NULL
            THEN 'digest.' || (extract(epoch FROM digest_at) * 1000)::bigint || '.' || customer_id END
FROM outbox;

INSERT INTO outbox_messages (workspace_id, id, kind, priority, payload, created_at, due_at)
SELECT workspace_id, 'audience.' || comment_id, 'comment_audience', 1,
       jsonb_build_object('comment', comment_id, 'request', request_id, 'after', after_customer_id), created_at,
       created_at
FROM outbox_audiences;

DROP FUNCTION workspaces_with_mail(timestamptz);
DROP FUNCTION mail_depth(timestamptz);
DROP TABLE outbox_audiences;
DROP TABLE outbox;
ALTER TABLE outbox_messages RENAME TO outbox;
ALTER TABLE outbox RENAME CONSTRAINT outbox_messages_pkey TO outbox_pkey;
ALTER TABLE outbox ADD CONSTRAINT outbox_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces (id);
ALTER TABLE outbox ADD CONSTRAINT outbox_workspace_id_customer_id_fkey
FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id);
ALTER TABLE outbox ADD CONSTRAINT outbox_workspace_id_digest_id_fkey
FOREIGN KEY (workspace_id, digest_id) REFERENCES outbox (workspace_id, id) ON DELETE CASCADE;

CREATE INDEX outbox_by_due ON outbox (workspace_id, priority, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_by_sent ON outbox (workspace_id, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX outbox_by_failure ON outbox (workspace_id, tried_at) WHERE failure IS NOT NULL;
CREATE INDEX outbox_by_death ON outbox (workspace_id) WHERE sent_at IS NULL AND due_at IS NULL AND digest_id IS NULL;
CREATE INDEX outbox_by_lease ON outbox (workspace_id, customer_id) WHERE leased_until IS NOT NULL;
-- All messages for a customer, and how many the customer has got in this hour.
CREATE INDEX outbox_by_recipient ON outbox (workspace_id, customer_id, sent_at);
CREATE INDEX outbox_by_digest ON outbox (workspace_id, digest_id);

ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON outbox USING (workspace_id = (SELECT current_workspace()));

-- Which workspaces have messages to be sent, with their priorities. A worker must know it of all of them, whereas a session
-- sees the rows of one: this runs as its owner, and returns nothing but the identities.
CREATE FUNCTION workspaces_with_messages(at timestamptz)
RETURNS TABLE (id uuid, priority smallint)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT workspaces.id, wanted.priority::smallint FROM workspaces CROSS JOIN (VALUES (0), (1)) AS wanted (priority)
    WHERE EXISTS (SELECT FROM outbox WHERE workspace_id = workspaces.id AND outbox.priority = wanted.priority::smallint
                  AND due_at <= at)
    ORDER BY workspaces.id, wanted.priority
$$;

-- How much mail there is of all workspaces together, which no session may count. It returns numbers, and nothing of whose
-- they are. A digest counts as the mails that are held for it.
CREATE FUNCTION mail_depth(at timestamptz)
RETURNS TABLE (
    due bigint, leased bigint, postponed bigint, dead bigint, audiences bigint, oldest_due timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    WITH unsent AS (
        SELECT workspace_id, id, kind, due_at, leased_until FROM outbox WHERE due_at IS NOT NULL
        UNION ALL
        SELECT workspace_id, id, kind, due_at, leased_until FROM outbox
        WHERE sent_at IS NULL AND due_at IS NULL AND digest_id IS NULL
    ), counted AS (
        SELECT kind, due_at, leased_until,
               CASE kind
                   WHEN 'comment_audience' THEN 0
                   WHEN 'comment_digest' THEN (SELECT count(*) FROM outbox held
                       WHERE held.workspace_id = unsent.workspace_id AND held.digest_id = unsent.id)
                   ELSE 1
               END AS mails
        FROM unsent
    )
    SELECT coalesce(sum(mails) FILTER (WHERE due_at <= at), 0)::bigint,
           coalesce(sum(mails) FILTER (WHERE due_at > at AND leased_until IS NOT NULL), 0)::bigint,
           coalesce(sum(mails) FILTER (WHERE due_at > at AND leased_until IS NULL), 0)::bigint,
           coalesce(sum(mails) FILTER (WHERE due_at IS NULL), 0)::bigint,
           count(*) FILTER (WHERE kind = 'comment_audience'),
           min(due_at) FILTER (WHERE due_at <= at)
    FROM counted
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION workspaces_with_messages(timestamptz) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION mail_depth(timestamptz) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION workspaces_with_messages(timestamptz) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION mail_depth(timestamptz) FROM PUBLIC;
