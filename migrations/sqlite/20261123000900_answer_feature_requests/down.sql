DROP TABLE missed_searches;

DROP INDEX notes_by_customer;
CREATE INDEX notes_by_customer ON notes (workspace_id, customer_id) WHERE customer_id IS NOT NULL;
DROP INDEX notes_by_author;
CREATE INDEX notes_by_author ON notes (workspace_id, author_id);
DROP INDEX comments_by_customer;
CREATE INDEX comments_by_customer ON comments (workspace_id, customer_id) WHERE customer_id IS NOT NULL;
DROP INDEX comments_by_author;
CREATE INDEX comments_by_author ON comments (workspace_id, author_id);

DROP INDEX comments_of_customers;
DROP INDEX feature_requests_by_age;
DROP INDEX feature_requests_private_by_update;
DROP INDEX feature_requests_unanswered_by_update;
DROP INDEX feature_requests_private_by_track;
DROP INDEX feature_requests_unanswered_by_track;
DROP INDEX feature_requests_merged;
DROP INDEX feature_requests_awaiting_by_number;
DROP INDEX feature_requests_private;
DROP INDEX feature_requests_unanswered;

DROP TRIGGER comments_deleted;
DROP TRIGGER comments_inserted;
DROP TRIGGER feature_requests_deleted;
DROP TRIGGER feature_requests_updated;
DROP TRIGGER feature_requests_inserted;
ALTER TABLE track_tallies DROP COLUMN unanswered_count;
ALTER TABLE vote_tallies DROP COLUMN unanswered;
ALTER TABLE feature_requests DROP COLUMN unanswered;

CREATE TRIGGER feature_requests_inserted AFTER INSERT ON feature_requests BEGIN
    INSERT INTO track_tallies (workspace_id, track_id, all_count, public_count)
    VALUES (new.workspace_id, new.track_id, new.root_id IS NULL, new.root_id IS NULL AND NOT new.private)
    ON CONFLICT (workspace_id, track_id) DO UPDATE SET
        all_count = all_count + excluded.all_count, public_count = public_count + excluded.public_count;
END;

CREATE TRIGGER feature_requests_updated AFTER UPDATE OF track_id, private, root_id ON feature_requests BEGIN
    UPDATE vote_tallies SET track_id = new.track_id, private = new.private, root_id = new.root_id
    WHERE row_number = new.row_number;
    UPDATE track_tallies SET
        all_count = all_count - (old.root_id IS NULL),
        public_count = public_count - (old.root_id IS NULL AND NOT old.private)
    WHERE workspace_id = old.workspace_id AND track_id = old.track_id;
    INSERT INTO track_tallies (workspace_id, track_id, all_count, public_count)
    VALUES (new.workspace_id, new.track_id, new.root_id IS NULL, new.root_id IS NULL AND NOT new.private)
    ON CONFLICT (workspace_id, track_id) DO UPDATE SET
        all_count = all_count + excluded.all_count, public_count = public_count + excluded.public_count;
END;

CREATE TRIGGER feature_requests_deleted AFTER DELETE ON feature_requests BEGIN
    UPDATE track_tallies SET
        all_count = all_count - (old.root_id IS NULL),
        public_count = public_count - (old.root_id IS NULL AND NOT old.private)
    WHERE workspace_id = old.workspace_id AND track_id = old.track_id;
END;
