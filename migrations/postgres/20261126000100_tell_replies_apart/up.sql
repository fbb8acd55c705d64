DROP TRIGGER comments_deleted ON comments;
DROP TRIGGER comments_added ON comments;
DROP TRIGGER feature_requests_changed ON feature_requests;
DROP FUNCTION mark_answer();
DROP INDEX feature_requests_unanswered;
DROP INDEX feature_requests_unanswered_by_update;
ALTER TABLE feature_requests DROP COLUMN unanswered;
ALTER TABLE vote_tallies DROP COLUMN unanswered;

-- When the team last decided about a feature request: moved it, or said that no answer is needed. NULL: never.
ALTER TABLE feature_requests ADD COLUMN handled_at timestamptz;
-- Since when it has its public status, or none.
ALTER TABLE feature_requests ADD COLUMN status_since timestamptz;
-- What it needs from the team: 'unanswered', 'replied' or nothing. See `attention_of`.
ALTER TABLE feature_requests ADD COLUMN attention text;
-- A copy, so that a list by votes leaves out those that need nothing. No index has it.
ALTER TABLE vote_tallies ADD COLUMN attention text;
ALTER TABLE track_tallies ADD COLUMN replied_count bigint NOT NULL DEFAULT 0;

UPDATE feature_requests SET
    handled_at = coalesce((
        SELECT max(created_at) FROM feature_request_events AS event
        WHERE event.workspace_id = feature_requests.workspace_id AND event.request_id = feature_requests.id
          AND event.kind = 'moved'
    ), CASE WHEN track_id <> (
        SELECT id FROM tracks WHERE tracks.workspace_id = feature_requests.workspace_id ORDER BY position LIMIT 1
    ) THEN created_at END),
    status_since = coalesce((
        SELECT max(created_at) FROM feature_request_events AS event
        WHERE event.workspace_id = feature_requests.workspace_id AND event.request_id = feature_requests.id
          AND event.kind = 'moved'
          AND event.details::json #>> '{from,status}' IS DISTINCT FROM event.details::json #>> '{to,status}'
    ), created_at);
ALTER TABLE feature_requests ALTER COLUMN status_since SET NOT NULL;

-- Returns what a feature request needs. Comments on what is merged into it count as its own.
CREATE FUNCTION attention_of(of_workspace uuid, of_request uuid) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT CASE
        WHEN root_id IS NOT NULL THEN NULL
        WHEN greatest(team_at, handled_at) IS NULL THEN CASE WHEN NOT private THEN 'unanswered' END
        WHEN customer_at > greatest(team_at, handled_at) THEN 'replied'
    END
    FROM feature_requests CROSS JOIN LATERAL (
        SELECT max(last_of_team.created_at) AS team_at, max(last_of_customers.created_at) AS customer_at
        FROM (
            SELECT of_request AS id
            UNION ALL
            SELECT id FROM feature_requests AS merged
            WHERE merged.workspace_id = of_workspace AND merged.root_id = of_request
        ) AS members
        LEFT JOIN LATERAL (
            SELECT created_at FROM comments
            WHERE comments.workspace_id = of_workspace AND comments.request_id = members.id AND customer_id IS NULL
            ORDER BY created_at DESC LIMIT 1
        ) AS last_of_team ON true
        LEFT JOIN LATERAL (
            SELECT created_at FROM comments
            WHERE comments.workspace_id = of_workspace AND comments.request_id = members.id AND customer_id IS NOT NULL
            ORDER BY created_at DESC LIMIT 1
        ) AS last_of_customers ON true
    ) AS words
    WHERE workspace_id = of_workspace AND id = of_request
$$;

UPDATE feature_requests SET attention = attention_of(workspace_id, id);
UPDATE vote_tallies SET attention = feature_requests.attention
FROM feature_requests
WHERE feature_requests.workspace_id = vote_tallies.workspace_id AND feature_requests.id = vote_tallies.request_id
  AND feature_requests.attention IS NOT NULL;
UPDATE track_tallies SET (unanswered_count, replied_count) = (
    SELECT count(*) FILTER (WHERE attention = 'unanswered'), count(*) FILTER (WHERE attention = 'replied')
    FROM feature_requests
    WHERE feature_requests.workspace_id = track_tallies.workspace_id
      AND feature_requests.track_id = track_tallies.track_id
);

-- Keeps the tallies of tracks exact, and the copies in `vote_tallies`. Two tracks are changed in the order of their IDs,
-- so that opposite moves do not wait for each other in a circle.
CREATE OR REPLACE FUNCTION tally_feature_request() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.root_id IS NULL THEN
            INSERT INTO track_tallies AS tallies
                (workspace_id, track_id, all_count, public_count, unanswered_count, replied_count)
            VALUES (NEW.workspace_id, NEW.track_id, 1, (NOT NEW.private)::integer,
                    (NEW.attention IS NOT DISTINCT FROM 'unanswered')::integer,
                    (NEW.attention IS NOT DISTINCT FROM 'replied')::integer)
            ON CONFLICT (workspace_id, track_id) DO UPDATE
            SET all_count = tallies.all_count + 1, public_count = tallies.public_count + excluded.public_count,
                unanswered_count = tallies.unanswered_count + excluded.unanswered_count,
                replied_count = tallies.replied_count + excluded.replied_count;
        END IF;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        IF OLD.root_id IS NULL THEN
            UPDATE track_tallies
            SET all_count = all_count - 1, public_count = public_count - (NOT OLD.private)::integer,
                unanswered_count = unanswered_count - (OLD.attention IS NOT DISTINCT FROM 'unanswered')::integer,
                replied_count = replied_count - (OLD.attention IS NOT DISTINCT FROM 'replied')::integer
            WHERE workspace_id = OLD.workspace_id AND track_id = OLD.track_id;
        END IF;
        RETURN NULL;
    END IF;
    UPDATE vote_tallies
    SET track_id = NEW.track_id, private = NEW.private, root_id = NEW.root_id, attention = NEW.attention
    WHERE workspace_id = NEW.workspace_id AND request_id = NEW.id;
    INSERT INTO track_tallies AS tallies
        (workspace_id, track_id, all_count, public_count, unanswered_count, replied_count)
    SELECT NEW.workspace_id, changed.track_id, sum(changed.all_count), sum(changed.public_count),
           sum(changed.unanswered_count), sum(changed.replied_count)
    FROM (
        SELECT OLD.track_id, -(OLD.root_id IS NULL)::integer, -(OLD.root_id IS NULL AND NOT OLD.private)::integer,
               -(OLD.attention IS NOT DISTINCT FROM 'unanswered')::integer,
               -(OLD.attention IS NOT DISTINCT FROM 'replied')::integer
        UNION ALL
        SELECT NEW.track_id, (NEW.root_id IS NULL)::integer, (NEW.root_id IS NULL AND NOT NEW.private)::integer,
               (NEW.attention IS NOT DISTINCT FROM 'unanswered')::integer,
               (NEW.attention IS NOT DISTINCT FROM 'replied')::integer
    ) AS changed (track_id, all_count, public_count, unanswered_count, replied_count)
    GROUP BY changed.track_id
    HAVING sum(changed.all_count) <> 0 OR sum(changed.public_count) <> 0 OR sum(changed.unanswered_count) <> 0
        OR sum(changed.replied_count) <> 0
    ORDER BY changed.track_id
    ON CONFLICT (workspace_id, track_id) DO UPDATE
    SET all_count = tallies.all_count + excluded.all_count, public_count = tallies.public_count + excluded.public_count,
        unanswered_count = tallies.unanswered_count + excluded.unanswered_count,
        replied_count = tallies.replied_count + excluded.replied_count;
    RETURN NULL;
END
$$;

CREATE TRIGGER feature_requests_changed AFTER UPDATE OF track_id, private, root_id, attention ON feature_requests
FOR EACH ROW WHEN (
    (OLD.track_id, OLD.private, OLD.root_id, OLD.attention)
    IS DISTINCT FROM (NEW.track_id, NEW.private, NEW.root_id, NEW.attention)
)
EXECUTE FUNCTION tally_feature_request();

-- Sets the attention of feature requests again.
CREATE FUNCTION refresh_attention(of_workspace uuid, of_requests uuid[]) RETURNS void
LANGUAGE sql
AS $$
    UPDATE feature_requests SET attention = attention_of(workspace_id, id)
    WHERE workspace_id = of_workspace AND id = ANY (of_requests)
      AND attention IS DISTINCT FROM attention_of(workspace_id, id)
$$;

-- Keep `feature_requests.attention`. Whoever changes a tree does it for its root.
CREATE FUNCTION refresh_own_attention() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM refresh_attention(NEW.workspace_id, ARRAY[NEW.id]);
    RETURN NULL;
END
$$;

-- Triggers run in the order of their names: the tallies are changed first.
CREATE TRIGGER feature_requests_handled AFTER UPDATE OF private, handled_at ON feature_requests
FOR EACH ROW WHEN ((OLD.private, OLD.handled_at) IS DISTINCT FROM (NEW.private, NEW.handled_at))
EXECUTE FUNCTION refresh_own_attention();

-- The row is locked also if it stays as it is: of two comments that are added or deleted at once, the second one is counted
-- after the first. A feature request that is deleted has no row any more.
CREATE FUNCTION refresh_attention_of_comment() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    changed comments := coalesce(NEW, OLD);
    root uuid;
BEGIN
    SELECT coalesce(root_id, id) FROM feature_requests
    WHERE workspace_id = changed.workspace_id AND id = changed.request_id INTO root;
    PERFORM FROM feature_requests WHERE workspace_id = changed.workspace_id AND id = root FOR NO KEY UPDATE;
    IF FOUND THEN
        PERFORM refresh_attention(changed.workspace_id, ARRAY[root]);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER comments_added AFTER INSERT ON comments
FOR EACH ROW EXECUTE FUNCTION refresh_attention_of_comment();
CREATE TRIGGER comments_deleted AFTER DELETE ON comments
FOR EACH ROW EXECUTE FUNCTION refresh_attention_of_comment();

-- The inbox of the team, newest first and last updated first.
CREATE INDEX feature_requests_by_attention ON feature_requests (workspace_id, attention, track_id, tag_number)
WHERE attention IS NOT NULL;
CREATE INDEX feature_requests_by_attention_and_update
ON feature_requests (workspace_id, attention, track_id, updated_at, tag_number) WHERE attention IS NOT NULL;
