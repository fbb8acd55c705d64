-- Whether the last word on a feature request is not the team's. A comment without a customer is one of the team.
ALTER TABLE feature_requests ADD COLUMN unanswered boolean NOT NULL DEFAULT true;
UPDATE feature_requests SET unanswered = false
WHERE (
    SELECT customer_id IS NULL FROM comments
    WHERE comments.workspace_id = feature_requests.workspace_id AND comments.request_id = feature_requests.id
    ORDER BY comments.created_at DESC, comments.id DESC LIMIT 1
);

-- The inbox of the team, newest first and last updated first. A list of several tracks is merged from the first ones of
-- each.
CREATE INDEX feature_requests_unanswered ON feature_requests (workspace_id, track_id, tag_number)
WHERE unanswered AND root_id IS NULL;
CREATE INDEX feature_requests_unanswered_by_update
ON feature_requests (workspace_id, track_id, updated_at, tag_number) WHERE unanswered AND root_id IS NULL;
CREATE INDEX feature_requests_private ON feature_requests (workspace_id, track_id, tag_number)
WHERE private AND root_id IS NULL;
CREATE INDEX feature_requests_private_by_update
ON feature_requests (workspace_id, track_id, updated_at, tag_number) WHERE private AND root_id IS NULL;
CREATE INDEX feature_requests_merged ON feature_requests (workspace_id, track_id, tag_number) WHERE root_id IS NOT NULL;
CREATE INDEX feature_requests_awaiting_by_track ON feature_requests (workspace_id, track_id, tag_number)
WHERE awaiting_approval AND root_id IS NULL;

-- What a member has commented and written notes on, and the comments of a customer and the notes about one, newest first.
DROP INDEX comments_by_author;
CREATE INDEX comments_by_author ON comments (workspace_id, author_id, request_id);
DROP INDEX notes_by_author;
CREATE INDEX notes_by_author ON notes (workspace_id, author_id, request_id);
DROP INDEX comments_by_customer;
CREATE INDEX comments_by_customer ON comments (workspace_id, customer_id, created_at, id) WHERE customer_id IS NOT NULL;
DROP INDEX notes_by_customer;
CREATE INDEX notes_by_customer ON notes (workspace_id, customer_id, created_at, id) WHERE customer_id IS NOT NULL;

-- A copy, so that a list by votes leaves out those with an answer. No index has it.
ALTER TABLE vote_tallies ADD COLUMN unanswered boolean NOT NULL DEFAULT true;
UPDATE vote_tallies SET unanswered = false
FROM feature_requests
WHERE feature_requests.workspace_id = vote_tallies.workspace_id AND feature_requests.id = vote_tallies.request_id
  AND NOT feature_requests.unanswered;

-- The number of feature requests without an answer on each track, without merged ones.
ALTER TABLE track_tallies ADD COLUMN unanswered_count bigint NOT NULL DEFAULT 0;
UPDATE track_tallies SET unanswered_count = (
    SELECT count(*) FROM feature_requests
    WHERE feature_requests.workspace_id = track_tallies.workspace_id
      AND feature_requests.track_id = track_tallies.track_id AND unanswered AND root_id IS NULL
);

-- Keeps the tallies of tracks exact, and the copies in `vote_tallies`. Two tracks are changed in the order of their IDs,
-- so that opposite moves do not wait for each other in a circle.
CREATE OR REPLACE FUNCTION tally_feature_request() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.root_id IS NULL THEN
            INSERT INTO track_tallies AS tallies (workspace_id, track_id, all_count, public_count, unanswered_count)
            VALUES (NEW.workspace_id, NEW.track_id, 1, (NOT NEW.private)::integer, NEW.unanswered::integer)
            ON CONFLICT (workspace_id, track_id) DO UPDATE
            SET all_count = tallies.all_count + 1, public_count = tallies.public_count + excluded.public_count,
                unanswered_count = tallies.unanswered_count + excluded.unanswered_count;
        END IF;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        IF OLD.root_id IS NULL THEN
            UPDATE track_tallies
            SET all_count = all_count - 1, public_count = public_count - (NOT OLD.private)::integer,
                unanswered_count = unanswered_count - OLD.unanswered::integer
            WHERE workspace_id = OLD.workspace_id AND track_id = OLD.track_id;
        END IF;
        RETURN NULL;
    END IF;
    UPDATE vote_tallies
    SET track_id = NEW.track_id, private = NEW.private, root_id = NEW.root_id, unanswered = NEW.unanswered
    WHERE workspace_id = NEW.workspace_id AND request_id = NEW.id;
    INSERT INTO track_tallies AS tallies (workspace_id, track_id, all_count, public_count, unanswered_count)
    SELECT NEW.workspace_id, changed.track_id, sum(changed.all_count), sum(changed.public_count),
           sum(changed.unanswered_count)
    FROM (
        SELECT OLD.track_id, -1, -(NOT OLD.private)::integer, -OLD.unanswered::integer WHERE OLD.root_id IS NULL
        UNION ALL
        SELECT NEW.track_id, 1, (NOT NEW.private)::integer, NEW.unanswered::integer WHERE NEW.root_id IS NULL
    ) AS changed (track_id, all_count, public_count, unanswered_count)
    GROUP BY changed.track_id
    HAVING sum(changed.all_count) <> 0 OR sum(changed.public_count) <> 0 OR sum(changed.unanswered_count) <> 0
    ORDER BY changed.track_id
    ON CONFLICT (workspace_id, track_id) DO UPDATE
    SET all_count = tallies.all_count + excluded.all_count, public_count = tallies.public_count + excluded.public_count,
        unanswered_count = tallies.unanswered_count + excluded.unanswered_count;
    RETURN NULL;
END
$$;

DROP TRIGGER feature_requests_changed ON feature_requests;
CREATE TRIGGER feature_requests_changed AFTER UPDATE OF track_id, private, root_id, unanswered ON feature_requests
FOR EACH ROW WHEN (
    (OLD.track_id, OLD.private, OLD.root_id, OLD.unanswered)
    IS DISTINCT FROM (NEW.track_id, NEW.private, NEW.root_id, NEW.unanswered)
)
EXECUTE FUNCTION tally_feature_request();

-- Keeps `feature_requests.unanswered`. The row is locked also if it stays as it is: of two comments that are added or
-- deleted at once, the second one is counted after the first. A feature request that is deleted has no row any more.
CREATE FUNCTION mark_answer() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    changed comments := coalesce(NEW, OLD);
    stored boolean;
    counted boolean;
BEGIN
    SELECT unanswered FROM feature_requests
    WHERE workspace_id = changed.workspace_id AND id = changed.request_id FOR NO KEY UPDATE
    INTO stored;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
        counted := changed.customer_id IS NOT NULL;
    ELSE
        counted := coalesce((
            SELECT customer_id IS NOT NULL FROM comments
            WHERE workspace_id = changed.workspace_id AND request_id = changed.request_id
            ORDER BY created_at DESC, id DESC LIMIT 1
        ), true);
    END IF;
    IF counted <> stored THEN
        UPDATE feature_requests SET unanswered = counted
        WHERE workspace_id = changed.workspace_id AND id = changed.request_id;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER comments_added AFTER INSERT ON comments
FOR EACH ROW EXECUTE FUNCTION mark_answer();
CREATE TRIGGER comments_deleted AFTER DELETE ON comments
FOR EACH ROW EXECUTE FUNCTION mark_answer();

-- How often the visitors of a workspace have searched for something that was not found, by day (UTC). Who has searched is
-- stored nowhere.
CREATE TABLE missed_searches (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    day date NOT NULL,
    words text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (workspace_id, day, words)
);

ALTER TABLE missed_searches ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON missed_searches USING (workspace_id = (SELECT current_workspace()));

-- Which workspaces have counts of earlier days. Whoever deletes them must know it of all of them, whereas a session sees the
-- rows of one: this runs as its owner, and returns nothing but the identities.
CREATE FUNCTION workspaces_with_missed_searches(before date)
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT workspaces.id FROM workspaces
    WHERE EXISTS (SELECT FROM missed_searches WHERE workspace_id = workspaces.id AND day < before)
    ORDER BY workspaces.id
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION workspaces_with_missed_searches(date) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION workspaces_with_missed_searches(date) FROM PUBLIC;
