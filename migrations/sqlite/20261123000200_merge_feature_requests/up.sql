-- A merge is a link to the feature request that a feature request was merged into. NULL: it is not merged.
ALTER TABLE feature_requests ADD COLUMN merged_into_id BLOB;
-- Where the links lead in the end: the root of the tree. NULL: the row is a root itself.
ALTER TABLE feature_requests ADD COLUMN root_id BLOB;
ALTER TABLE feature_requests ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;

UPDATE feature_requests SET updated_at = created_at;

CREATE INDEX feature_requests_by_root ON feature_requests (workspace_id, root_id) WHERE root_id IS NOT NULL;
CREATE INDEX feature_requests_by_parent ON feature_requests (workspace_id, merged_into_id)
WHERE merged_into_id IS NOT NULL;
-- Rows with the same values are in the order of their row numbers: the newest last.
DROP INDEX feature_requests_by_track;
CREATE INDEX feature_requests_by_track ON feature_requests (workspace_id, track_id, root_id);
CREATE INDEX feature_requests_by_update ON feature_requests (workspace_id, track_id, updated_at)
WHERE root_id IS NULL;

-- Copies of columns of the feature request, so that lists by votes read no wide rows.
ALTER TABLE vote_tallies ADD COLUMN track_id BLOB NOT NULL DEFAULT x'';
ALTER TABLE vote_tallies ADD COLUMN private INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vote_tallies ADD COLUMN root_id BLOB;

UPDATE vote_tallies SET track_id = feature_requests.track_id, private = feature_requests.private
FROM feature_requests WHERE feature_requests.row_number = vote_tallies.row_number;

CREATE INDEX vote_tallies_by_track ON vote_tallies (workspace_id, track_id, votes_count) WHERE root_id IS NULL;

-- The number of feature requests on each track, without merged ones. Triggers keep it exact.
CREATE TABLE track_tallies (
    workspace_id BLOB NOT NULL,
    track_id BLOB NOT NULL,
    all_count INTEGER NOT NULL,
    public_count INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, track_id),
    FOREIGN KEY (workspace_id, track_id) REFERENCES tracks (workspace_id, id)
) STRICT, WITHOUT ROWID;

INSERT INTO track_tallies (workspace_id, track_id, all_count, public_count)
SELECT workspace_id, track_id, count(*), sum(NOT private) FROM vote_tallies GROUP BY workspace_id, track_id;

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
