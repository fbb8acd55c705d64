DROP FUNCTION workspaces_with_missed_searches(date);
DROP TABLE missed_searches;
DROP TRIGGER comments_added ON comments;
DROP TRIGGER comments_deleted ON comments;
DROP FUNCTION mark_answer();

DROP TRIGGER feature_requests_changed ON feature_requests;
CREATE TRIGGER feature_requests_changed AFTER UPDATE OF track_id, private, root_id ON feature_requests
FOR EACH ROW WHEN ((OLD.track_id, OLD.private, OLD.root_id) IS DISTINCT FROM (NEW.track_id, NEW.private, NEW.root_id))
EXECUTE FUNCTION tally_feature_request();

-- Keeps the tallies of tracks exact, and the copies in `vote_tallies`. Two tracks are changed in the order of their IDs,
-- so that opposite moves do not wait for each other in a circle.
CREATE OR REPLACE FUNCTION tally_feature_request() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.root_id IS NULL THEN
            INSERT INTO track_tallies AS tallies (workspace_id, track_id, all_count, public_count)
            VALUES (NEW.workspace_id, NEW.track_id, 1, (NOT NEW.private)::integer)
            ON CONFLICT (workspace_id, track_id) DO UPDATE
            SET all_count = tallies.all_count + 1, public_count = tallies.public_count + excluded.public_count;
        END IF;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        IF OLD.root_id IS NULL THEN
            UPDATE track_tallies
            SET all_count = all_count - 1, public_count = public_count - (NOT OLD.private)::integer
            WHERE workspace_id = OLD.workspace_id AND track_id = OLD.track_id;
        END IF;
        RETURN NULL;
    END IF;
    UPDATE vote_tallies SET track_id = NEW.track_id, private = NEW.private, root_id = NEW.root_id
    WHERE workspace_id = NEW.workspace_id AND request_id = NEW.id;
    INSERT INTO track_tallies AS tallies (workspace_id, track_id, all_count, public_count)
    SELECT NEW.workspace_id, changed.track_id, sum(changed.all_count), sum(changed.public_count)
    FROM (
        SELECT OLD.track_id, -1, -(NOT OLD.private)::integer WHERE OLD.root_id IS NULL
        UNION ALL
        SELECT NEW.track_id, 1, (NOT NEW.private)::integer WHERE NEW.root_id IS NULL
    ) AS changed (track_id, all_count, public_count)
    GROUP BY changed.track_id HAVING sum(changed.all_count) <> 0 OR sum(changed.public_count) <> 0
    ORDER BY changed.track_id
    ON CONFLICT (workspace_id, track_id) DO UPDATE
    SET all_count = tallies.all_count + excluded.all_count, public_count = tallies.public_count + excluded.public_count;
    RETURN NULL;
END
$$;

ALTER TABLE track_tallies DROP COLUMN unanswered_count;
ALTER TABLE vote_tallies DROP COLUMN unanswered;

DROP INDEX notes_by_customer;
CREATE INDEX notes_by_customer ON notes (workspace_id, customer_id) WHERE customer_id IS NOT NULL;
DROP INDEX comments_by_customer;
CREATE INDEX comments_by_customer ON comments (workspace_id, customer_id) WHERE customer_id IS NOT NULL;
DROP INDEX notes_by_author;
CREATE INDEX notes_by_author ON notes (workspace_id, author_id);
DROP INDEX comments_by_author;
CREATE INDEX comments_by_author ON comments (workspace_id, author_id);

DROP INDEX feature_requests_awaiting_by_track;
DROP INDEX feature_requests_merged;
DROP INDEX feature_requests_private_by_update;
DROP INDEX feature_requests_private;
ALTER TABLE feature_requests DROP COLUMN unanswered;
