-- The history of feature requests: moves, merges and edits.
CREATE TABLE feature_request_events (
    workspace_id BLOB NOT NULL,
    id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    -- Who caused it, with the name of that time.
    actor_kind TEXT NOT NULL,
    actor_id BLOB,
    actor_name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
) STRICT;

CREATE INDEX feature_request_events_by_request
ON feature_request_events (workspace_id, request_id, created_at, id);
