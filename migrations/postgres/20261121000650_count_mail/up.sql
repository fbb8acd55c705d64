-- Mail that is given up, which metrics count and operators look for.
CREATE INDEX outbox_by_death ON outbox (workspace_id) WHERE sent_at IS NULL AND due_at IS NULL;

-- How much mail there is of all workspaces together, which no session may count. It tells numbers,
-- and nothing of whose they are.
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
