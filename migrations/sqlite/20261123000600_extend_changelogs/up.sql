-- From now on, a changelog can have a time of publication in the future.
ALTER TABLE changelogs ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
-- Whether the voters of its feature requests were notified.
ALTER TABLE changelogs ADD COLUMN notified INTEGER NOT NULL DEFAULT 0;

UPDATE changelogs SET updated_at = created_at;

-- The feature requests that a changelog is about.
CREATE TABLE changelog_feature_requests (
    workspace_id BLOB NOT NULL,
    changelog_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, changelog_id, request_id),
    FOREIGN KEY (workspace_id, changelog_id) REFERENCES changelogs (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
) STRICT;

CREATE INDEX changelog_feature_requests_by_request ON changelog_feature_requests (workspace_id, request_id);
