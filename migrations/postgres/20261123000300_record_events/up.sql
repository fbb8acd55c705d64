-- The history of feature requests: moves, merges and edits. Names are those of that time.
CREATE TABLE feature_request_events (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    kind text NOT NULL,
    -- JSON, by kind.
    details text NOT NULL,
    actor_kind text NOT NULL,
    actor_id uuid,
    actor_name text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
);

CREATE INDEX feature_request_events_by_request
ON feature_request_events (workspace_id, request_id, created_at, id);

ALTER TABLE feature_request_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON feature_request_events USING (workspace_id = (SELECT current_workspace()));

-- Messages are not only about comments any more. The unsent ones about a record are found by the beginning of their
-- identity, whatever the collation of the database is.
CREATE INDEX outbox_by_topic ON outbox (workspace_id, (id COLLATE "C")) WHERE sent_at IS NULL;

-- How much mail there is of all workspaces together, which no session may count. It returns numbers, and nothing of whose
-- they are. A digest counts as the mails that are held for it. Each topic has an audience of its own.
CREATE OR REPLACE FUNCTION mail_depth(at timestamptz)
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
        SELECT kind LIKE '%\_audience' AS is_audience, due_at, leased_until,
               CASE
                   WHEN kind LIKE '%\_audience' THEN 0
                   WHEN kind = 'comment_digest' THEN (SELECT count(*) FROM outbox held
                       WHERE held.workspace_id = unsent.workspace_id AND held.digest_id = unsent.id)
                   ELSE 1
               END AS mails
        FROM unsent
    )
    SELECT coalesce(sum(mails) FILTER (WHERE due_at <= at), 0)::bigint,
           coalesce(sum(mails) FILTER (WHERE due_at > at AND leased_until IS NOT NULL), 0)::bigint,
           coalesce(sum(mails) FILTER (WHERE due_at > at AND leased_until IS NULL), 0)::bigint,
           coalesce(sum(mails) FILTER (WHERE due_at IS NULL), 0)::bigint,
           count(*) FILTER (WHERE is_audience),
           min(due_at) FILTER (WHERE due_at <= at)
    FROM counted
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION mail_depth(timestamptz) SET search_path = %I, pg_temp', current_schema());
END
$$;
