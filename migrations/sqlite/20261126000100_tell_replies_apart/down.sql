DROP INDEX feature_requests_by_attention_and_update;
DROP INDEX feature_requests_by_attention_and_track;
DROP INDEX feature_requests_by_attention;
DROP TRIGGER comments_deleted;
DROP TRIGGER comments_inserted;
DROP TRIGGER attention_of_changed_request;
DROP TRIGGER feature_requests_deleted;
DROP TRIGGER feature_requests_updated;
DROP TRIGGER feature_requests_inserted;
DROP VIEW feature_request_attention;
ALTER TABLE track_tallies DROP COLUMN replied_count;
ALTER TABLE vote_tallies DROP COLUMN attention;
ALTER TABLE feature_requests DROP COLUMN attention;
ALTER TABLE feature_requests DROP COLUMN status_since;
ALTER TABLE feature_requests DROP COLUMN handled_at;

ALTER TABLE feature_requests ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 1;
ALTER TABLE vote_tallies ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 1;
UPDATE feature_requests SET unanswered = 0 WHERE (
    SELECT customer_id IS NULL FROM comments
    WHERE comments.workspace_id = feature_requests.workspace_id AND comments.request_id = feature_requests.id
    ORDER BY comments.created_at DESC, comments.id DESC LIMIT 1
);
UPDATE vote_tallies SET unanswered = 0
FROM feature_requests WHERE feature_requests.row_number = vote_tallies.row_number AND NOT feature_requests.unanswered;
UPDATE track_tallies SET unanswered_count = 0;
UPDATE track_tallies SET unanswered_count = counted.unanswered_count
FROM (
    SELECT workspace_id, track_id, sum(unanswered) AS unanswered_count FROM vote_tallies
    WHERE root_id IS NULL GROUP BY workspace_id, track_id
) AS counted
WHERE counted.workspace_id = track_tallies.workspace_id AND counted.track_id = track_tallies.track_id;

CREATE TRIGGER feature_requests_inserted AFTER INSERT ON feature_requests BEGIN
    INSERT INTO track_tallies (workspace_id, track_id, all_count, public_count, unanswered_count)
    VALUES (new.workspace_id, new.track_id, new.root_id IS NULL, new.root_id IS NULL AND NOT new.private,
            new.root_id IS NULL AND new.unanswered)
    ON CONFLICT (workspace_id, track_id) DO UPDATE SET
        all_count = all_count + excluded.all_count, public_count = public_count + excluded.public_count,
        unanswered_count = unanswered_count + excluded.unanswered_count;
END;

CREATE TRIGGER feature_requests_updated AFTER UPDATE OF track_id, private, root_id, unanswered ON feature_requests BEGIN
    UPDATE vote_tallies
    SET track_id = new.track_id, private = new.private, root_id = new.root_id, unanswered = new.unanswered
    WHERE row_number = new.row_number;
    UPDATE track_tallies SET
        all_count = all_count - (old.root_id IS NULL),
        public_count = public_count - (old.root_id IS NULL AND NOT old.private),
        unanswered_count = unanswered_count - (old.root_id IS NULL AND old.unanswered)
    WHERE workspace_id = old.workspace_id AND track_id = old.track_id;
    INSERT INTO track_tallies (workspace_id, track_id, all_count, public_count, unanswered_count)
    VALUES (new.workspace_id, new.track_id, new.root_id IS NULL, new.root_id IS NULL AND NOT new.private,
            new.root_id IS NULL AND new.unanswered)
    ON CONFLICT (workspace_id, track_id) DO UPDATE SET
        all_count = all_count + excluded.all_count, public_count = public_count + excluded.public_count,
        unanswered_count = unanswered_count + excluded.unanswered_count;
END;

CREATE TRIGGER feature_requests_deleted AFTER DELETE ON feature_requests BEGIN
    UPDATE track_tallies SET
        all_count = all_count - (old.root_id IS NULL),
        public_count = public_count - (old.root_id IS NULL AND NOT old.private),
        unanswered_count = unanswered_count - (old.root_id IS NULL AND old.unanswered)
    WHERE workspace_id = old.workspace_id AND track_id = old.track_id;
END;

CREATE TRIGGER comments_inserted AFTER INSERT ON comments BEGIN
    UPDATE feature_requests SET unanswered = new.customer_id IS NOT NULL
    WHERE workspace_id = new.workspace_id AND id = new.request_id AND unanswered <> (new.customer_id IS NOT NULL);
END;

CREATE TRIGGER comments_deleted AFTER DELETE ON comments BEGIN
    UPDATE feature_requests SET unanswered = NOT unanswered
    WHERE workspace_id = old.workspace_id AND id = old.request_id AND unanswered <> coalesce((
        SELECT customer_id IS NOT NULL FROM comments
        WHERE comments.workspace_id = old.workspace_id AND comments.request_id = old.request_id
        ORDER BY comments.created_at DESC, comments.id DESC LIMIT 1
    ), 1);
END;

CREATE INDEX feature_requests_unanswered ON feature_requests (workspace_id, tag_number)
WHERE unanswered AND root_id IS NULL;
CREATE INDEX feature_requests_unanswered_by_track ON feature_requests (workspace_id, track_id)
WHERE unanswered AND root_id IS NULL;
CREATE INDEX feature_requests_unanswered_by_update ON feature_requests (workspace_id, track_id, updated_at)
WHERE unanswered AND root_id IS NULL;
