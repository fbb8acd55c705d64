-- Messages of the later kinds are dropped. Audiences of comments name their feature request again.
DELETE FROM outbox WHERE kind IN ('status_change', 'status_change_audience', 'changelog', 'changelog_audience');
UPDATE outbox SET payload = payload || jsonb_build_object('request', comments.request_id)
FROM comments
WHERE outbox.kind = 'comment_audience' AND comments.workspace_id = outbox.workspace_id
  AND comments.id = (outbox.payload ->> 'comment')::uuid;
DELETE FROM outbox WHERE kind = 'comment_audience' AND payload ->> 'request' IS NULL;

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
    EXECUTE format('ALTER FUNCTION mail_depth(timestamptz) SET search_path = %I, pg_temp', current_schema());
END
$$;

DROP INDEX outbox_by_topic;
DROP TABLE feature_request_events;
