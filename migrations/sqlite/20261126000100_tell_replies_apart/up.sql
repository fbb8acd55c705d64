DROP TRIGGER comments_deleted;
DROP TRIGGER comments_inserted;
DROP TRIGGER feature_requests_deleted;
DROP TRIGGER feature_requests_updated;
DROP TRIGGER feature_requests_inserted;
DROP INDEX feature_requests_unanswered;
DROP INDEX feature_requests_unanswered_by_track;
DROP INDEX feature_requests_unanswered_by_update;
ALTER TABLE feature_requests DROP COLUMN unanswered;
ALTER TABLE vote_tallies DROP COLUMN unanswered;

-- When the team last decided about a feature request: moved it, or said that no answer is needed. NULL: never.
ALTER TABLE feature_requests ADD COLUMN handled_at INTEGER;
-- Since when it has its public status, or none.
ALTER TABLE feature_requests ADD COLUMN status_since INTEGER NOT NULL DEFAULT 0;
-- What it needs from the team: 'unanswered', 'replied' or nothing. See `feature_request_attention`.
ALTER TABLE feature_requests ADD COLUMN attention TEXT;
-- A copy, as those of the other columns.
ALTER TABLE vote_tallies ADD COLUMN attention TEXT;
ALTER TABLE track_tallies ADD COLUMN replied_count INTEGER NOT NULL DEFAULT 0;

UPDATE feature_requests SET
    handled_at = coalesce((
        SELECT max(created_at) FROM feature_request_events event
        WHERE event.workspace_id = feature_requests.workspace_id AND event.request_id = feature_requests.id
          AND event.kind = 'moved'
    ), CASE WHEN track_id <> (
        SELECT id FROM tracks WHERE tracks.workspace_id = feature_requests.workspace_id ORDER BY position LIMIT 1
    ) THEN created_at END),
    status_since = coalesce((
        SELECT max(created_at) FROM feature_request_events event
        WHERE event.workspace_id = feature_requests.workspace_id AND event.request_id = feature_requests.id
          AND event.kind = 'moved' AND event.details ->> '$.from.status' IS NOT event.details ->> '$.to.status'
    ), created_at);

-- What each feature request needs. Comments on what is merged into it count as its own.
CREATE VIEW feature_request_attention (row_number, attention) AS
SELECT row_number, CASE
    WHEN root_id IS NOT NULL THEN NULL
    WHEN team_at IS NULL AND handled_at IS NULL THEN CASE WHEN NOT private THEN 'unanswered' END
    WHEN customer_at > max(coalesce(team_at, handled_at), coalesce(handled_at, team_at)) THEN 'replied'
END
FROM (
    SELECT request.row_number, request.root_id, request.private, request.handled_at, (
        SELECT max((
            SELECT created_at FROM comments
            WHERE comments.workspace_id = request.workspace_id AND comments.request_id = member.id
              AND comments.customer_id IS NULL
            ORDER BY created_at DESC LIMIT 1
        )) FROM (
            SELECT request.id AS id
            UNION ALL
            SELECT merged.id FROM feature_requests merged
            WHERE merged.workspace_id = request.workspace_id AND merged.root_id = request.id
        ) AS member
    ) AS team_at, (
        SELECT max((
            SELECT created_at FROM comments
            WHERE comments.workspace_id = request.workspace_id AND comments.request_id = member.id
              AND comments.customer_id IS NOT NULL
            ORDER BY created_at DESC LIMIT 1
        )) FROM (
            SELECT request.id AS id
            UNION ALL
            SELECT merged.id FROM feature_requests merged
            WHERE merged.workspace_id = request.workspace_id AND merged.root_id = request.id
        ) AS member
    ) AS customer_at
    FROM feature_requests request
);

UPDATE feature_requests SET attention = (
    SELECT attention FROM feature_request_attention of_request
    WHERE of_request.row_number = feature_requests.row_number
);
UPDATE vote_tallies SET attention = feature_requests.attention
FROM feature_requests WHERE feature_requests.row_number = vote_tallies.row_number;
UPDATE track_tallies SET unanswered_count = 0;
UPDATE track_tallies SET unanswered_count = counted.unanswered, replied_count = counted.replied
FROM (
    SELECT workspace_id, track_id, sum(attention IS 'unanswered') AS unanswered, sum(attention IS 'replied') AS replied
    FROM vote_tallies WHERE root_id IS NULL GROUP BY workspace_id, track_id
) AS counted
WHERE counted.workspace_id = track_tallies.workspace_id AND counted.track_id = track_tallies.track_id;

CREATE TRIGGER feature_requests_inserted AFTER INSERT ON feature_requests BEGIN
    INSERT INTO track_tallies (workspace_id, track_id, all_count, public_count, unanswered_count, replied_count)
    VALUES (new.workspace_id, new.track_id, new.root_id IS NULL, new.root_id IS NULL AND NOT new.private,
            new.attention IS 'unanswered', new.attention IS 'replied')
    ON CONFLICT (workspace_id, track_id) DO UPDATE SET
        all_count = all_count + excluded.all_count, public_count = public_count + excluded.public_count,
        unanswered_count = unanswered_count + excluded.unanswered_count,
        replied_count = replied_count + excluded.replied_count;
END;

-- The trigger that sets the attention may have run before, and this one for what it has changed.
CREATE TRIGGER feature_requests_updated AFTER UPDATE OF track_id, private, root_id, attention ON feature_requests BEGIN
    UPDATE vote_tallies
    SET track_id = new.track_id, private = new.private, root_id = new.root_id,
        attention = (SELECT attention FROM feature_requests WHERE row_number = new.row_number)
    WHERE row_number = new.row_number;
    INSERT INTO track_tallies (workspace_id, track_id, all_count, public_count, unanswered_count, replied_count)
    VALUES (new.workspace_id, new.track_id, 0, 0, 0, 0)
    ON CONFLICT (workspace_id, track_id) DO NOTHING;
    UPDATE track_tallies SET
        all_count = all_count - (old.root_id IS NULL),
        public_count = public_count - (old.root_id IS NULL AND NOT old.private),
        unanswered_count = unanswered_count - (old.attention IS 'unanswered'),
        replied_count = replied_count - (old.attention IS 'replied')
    WHERE workspace_id = old.workspace_id AND track_id = old.track_id;
    UPDATE track_tallies SET
        all_count = all_count + (new.root_id IS NULL),
        public_count = public_count + (new.root_id IS NULL AND NOT new.private),
        unanswered_count = unanswered_count + (new.attention IS 'unanswered'),
        replied_count = replied_count + (new.attention IS 'replied')
    WHERE workspace_id = new.workspace_id AND track_id = new.track_id;
END;

CREATE TRIGGER feature_requests_deleted AFTER DELETE ON feature_requests BEGIN
    UPDATE track_tallies SET
        all_count = all_count - (old.root_id IS NULL),
        public_count = public_count - (old.root_id IS NULL AND NOT old.private),
        unanswered_count = unanswered_count - (old.attention IS 'unanswered'),
        replied_count = replied_count - (old.attention IS 'replied')
    WHERE workspace_id = old.workspace_id AND track_id = old.track_id;
END;

-- Keep `feature_requests.attention`. Whoever changes a tree does it for its root.
CREATE TRIGGER attention_of_changed_request AFTER UPDATE OF private, handled_at ON feature_requests BEGIN
    UPDATE feature_requests SET attention = (
        SELECT attention FROM feature_request_attention of_request WHERE of_request.row_number = new.row_number
    )
    WHERE row_number = new.row_number AND attention IS NOT (
        SELECT attention FROM feature_request_attention of_request WHERE of_request.row_number = new.row_number
    );
END;

CREATE TRIGGER comments_inserted AFTER INSERT ON comments BEGIN
    UPDATE feature_requests SET attention = (
        SELECT attention FROM feature_request_attention of_request
        WHERE of_request.row_number = feature_requests.row_number
    )
    WHERE workspace_id = new.workspace_id AND id = (
        SELECT coalesce(root_id, id) FROM feature_requests
        WHERE workspace_id = new.workspace_id AND id = new.request_id
    ) AND attention IS NOT (
        SELECT attention FROM feature_request_attention of_request
        WHERE of_request.row_number = feature_requests.row_number
    );
END;

CREATE TRIGGER comments_deleted AFTER DELETE ON comments BEGIN
    UPDATE feature_requests SET attention = (
        SELECT attention FROM feature_request_attention of_request
        WHERE of_request.row_number = feature_requests.row_number
    )
    WHERE workspace_id = old.workspace_id AND id = (
        SELECT coalesce(root_id, id) FROM feature_requests
        WHERE workspace_id = old.workspace_id AND id = old.request_id
    ) AND attention IS NOT (
        SELECT attention FROM feature_request_attention of_request
        WHERE of_request.row_number = feature_requests.row_number
    );
END;

-- What the team lists, the newest last; the same of a track, also the last updated last.
CREATE INDEX feature_requests_by_attention ON feature_requests (workspace_id, attention, tag_number)
WHERE attention IS NOT NULL;
CREATE INDEX feature_requests_by_attention_and_track ON feature_requests (workspace_id, track_id, attention)
WHERE attention IS NOT NULL;
CREATE INDEX feature_requests_by_attention_and_update
ON feature_requests (workspace_id, track_id, attention, updated_at) WHERE attention IS NOT NULL;
