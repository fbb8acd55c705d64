DROP INDEX feature_requests_by_attention_and_update;
DROP INDEX feature_requests_by_attention;
DROP TRIGGER comments_deleted ON comments;
DROP TRIGGER comments_added ON comments;
DROP TRIGGER feature_requests_handled ON feature_requests;
DROP TRIGGER feature_requests_changed ON feature_requests;
DROP FUNCTION refresh_attention_of_comment();
DROP FUNCTION refresh_own_attention();
DROP FUNCTION refresh_attention(uuid, uuid[]);
DROP FUNCTION attention_of(uuid, uuid);
ALTER TABLE track_tallies DROP COLUMN replied_count;
ALTER TABLE vote_tallies DROP COLUMN attention;
ALTER TABLE feature_requests DROP COLUMN attention;
ALTER TABLE feature_requests DROP COLUMN status_since;
ALTER TABLE feature_requests DROP COLUMN handled_at;

ALTER TABLE feature_requests ADD COLUMN unanswered boolean NOT NULL DEFAULT true;
ALTER TABLE vote_tallies ADD COLUMN unanswered boolean NOT NULL DEFAULT true;
UPDATE feature_requests SET unanswered = false
WHERE (
    SELECT customer_id IS NULL FROM comments
    WHERE comments.workspace_id = feature_requests.workspace_id AND comments.request_id = feature_requests.id
    ORDER BY comments.created_at DESC, comments.id DESC LIMIT 1
);
UPDATE vote_tallies SET unanswered = false
FROM feature_requests
WHERE feature_requests.workspace_id = vote_tallies.workspace_id AND feature_requests.id = vote_tallies.request_id
  AND NOT feature_requests.unanswered;
UPDATE track_tallies SET unanswered_count = (
    SELECT count(*) FROM feature_requests
    WHERE feature_requests.workspace_id = track_tallies.workspace_id
      AND feature_requests.track_id = track_tallies.track_id AND unanswered AND root_id IS NULL
);

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

CREATE INDEX feature_requests_unanswered ON feature_requests (workspace_id, track_id, tag_number)
WHERE unanswered AND root_id IS NULL;
CREATE INDEX feature_requests_unanswered_by_update
ON feature_requests (workspace_id, track_id, updated_at, tag_number) WHERE unanswered AND root_id IS NULL;
