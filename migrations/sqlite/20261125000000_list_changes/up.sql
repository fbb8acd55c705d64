-- The number of the last change of each workspace, and the latest timestamp of its changes.
CREATE TABLE change_counters (
    workspace_id BLOB NOT NULL PRIMARY KEY,
    last_number INTEGER NOT NULL,
    last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The last change of each feature request and each comment, also of deleted ones. Triggers keep it.
CREATE TABLE changes (
    workspace_id BLOB NOT NULL,
    -- `feature_request` or `comment`.
    kind TEXT NOT NULL,
    record_id BLOB NOT NULL,
    -- The feature request of a comment.
    request_id BLOB,
    -- The track of a feature request.
    track_id BLOB,
    -- Whether the feature request, or that of the comment, is private.
    private INTEGER NOT NULL,
    was_public INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- The place in the order of changes: never less than that of an earlier change. NULL until a trigger has set it.
    changed_at INTEGER,
    number INTEGER,
    PRIMARY KEY (workspace_id, kind, record_id)
) STRICT;

CREATE INDEX changes_in_order ON changes (workspace_id, kind, changed_at, number) WHERE number IS NOT NULL;
CREATE INDEX changes_by_request ON changes (workspace_id, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX changes_deleted ON changes (updated_at) WHERE deleted;

INSERT INTO changes (
    workspace_id, kind, record_id, request_id, track_id, private, was_public, deleted, updated_at, changed_at, number
)
SELECT workspace_id, kind, record_id, request_id, track_id, private, NOT private, 0, updated_at, updated_at,
       row_number() OVER (PARTITION BY workspace_id ORDER BY updated_at, record_id)
FROM (
    SELECT workspace_id, 'feature_request' AS kind, id AS record_id, NULL AS request_id, track_id, private, updated_at
    FROM feature_requests
    UNION ALL
    SELECT comments.workspace_id, 'comment', comments.id, comments.request_id, NULL, feature_requests.private,
           comments.updated_at
    FROM comments
    JOIN feature_requests ON feature_requests.workspace_id = comments.workspace_id
                         AND feature_requests.id = comments.request_id
);

INSERT INTO change_counters (workspace_id, last_number, last_at)
SELECT workspace_id, max(number), max(changed_at) FROM changes GROUP BY workspace_id;

-- A change without a number gets the next one. There is one writer: numbers are in the order of commits.
CREATE TRIGGER changes_inserted AFTER INSERT ON changes BEGIN
    INSERT INTO change_counters (workspace_id, last_number, last_at) VALUES (new.workspace_id, 1, new.updated_at)
    ON CONFLICT (workspace_id) DO UPDATE SET
        last_number = last_number + 1, last_at = max(last_at, excluded.last_at);
    UPDATE changes SET (number, changed_at) = (
        SELECT last_number, last_at FROM change_counters WHERE workspace_id = new.workspace_id
    ) WHERE rowid = new.rowid;
END;

CREATE TRIGGER changes_updated AFTER UPDATE OF number ON changes WHEN new.number IS NULL BEGIN
    UPDATE change_counters SET last_number = last_number + 1, last_at = max(last_at, new.updated_at)
    WHERE workspace_id = new.workspace_id;
    UPDATE changes SET (number, changed_at) = (
        SELECT last_number, last_at FROM change_counters WHERE workspace_id = new.workspace_id
    ) WHERE rowid = new.rowid;
END;

CREATE TRIGGER change_of_inserted_request AFTER INSERT ON feature_requests BEGIN
    INSERT INTO changes (workspace_id, kind, record_id, track_id, private, was_public, deleted, updated_at)
    VALUES (new.workspace_id, 'feature_request', new.id, new.track_id, new.private, NOT new.private, 0, new.updated_at)
    ON CONFLICT (workspace_id, kind, record_id) DO UPDATE SET
        track_id = excluded.track_id, private = excluded.private, was_public = was_public OR excluded.was_public,
        deleted = 0, updated_at = excluded.updated_at, number = NULL;
END;

CREATE TRIGGER change_of_updated_request
AFTER UPDATE OF title, description, track_id, private, root_id, updated_at ON feature_requests BEGIN
    UPDATE changes SET
        track_id = new.track_id, private = new.private, was_public = was_public OR NOT new.private,
        updated_at = new.updated_at, number = NULL
    WHERE workspace_id = new.workspace_id AND kind = 'feature_request' AND record_id = new.id;
END;

-- What shows or hides a feature request does so to its comments.
CREATE TRIGGER change_of_shown_request AFTER UPDATE OF private ON feature_requests WHEN old.private <> new.private BEGIN
    UPDATE changes SET
        private = new.private, was_public = was_public OR NOT new.private, updated_at = new.updated_at, number = NULL
    WHERE workspace_id = new.workspace_id AND request_id = new.id AND NOT deleted;
END;

CREATE TRIGGER change_of_deleted_request AFTER DELETE ON feature_requests BEGIN
    UPDATE changes SET
        deleted = 1, number = NULL,
        updated_at = max(old.updated_at, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
    WHERE workspace_id = old.workspace_id AND kind = 'feature_request' AND record_id = old.id;
END;

CREATE TRIGGER change_of_inserted_comment AFTER INSERT ON comments BEGIN
    INSERT INTO changes (workspace_id, kind, record_id, request_id, private, was_public, deleted, updated_at)
    SELECT new.workspace_id, 'comment', new.id, new.request_id, private, NOT private, 0, new.updated_at
    FROM feature_requests WHERE workspace_id = new.workspace_id AND id = new.request_id
    ON CONFLICT (workspace_id, kind, record_id) DO UPDATE SET
        request_id = excluded.request_id, private = excluded.private, was_public = was_public OR excluded.was_public,
        deleted = 0, updated_at = excluded.updated_at, number = NULL;
END;

CREATE TRIGGER change_of_updated_comment AFTER UPDATE OF content, updated_at ON comments BEGIN
    UPDATE changes SET updated_at = new.updated_at, number = NULL
    WHERE workspace_id = new.workspace_id AND kind = 'comment' AND record_id = new.id;
END;

CREATE TRIGGER change_of_deleted_comment AFTER DELETE ON comments BEGIN
    UPDATE changes SET
        deleted = 1, number = NULL,
        updated_at = max(old.updated_at, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
    WHERE workspace_id = old.workspace_id AND kind = 'comment' AND record_id = old.id;
END;
