-- `published_at` is the time from which a changelog is public. It may be in the future.
ALTER TABLE changelogs ADD COLUMN updated_at timestamptz;
-- Whether the voters of its feature requests were notified.
ALTER TABLE changelogs ADD COLUMN notified boolean NOT NULL DEFAULT false;
UPDATE changelogs SET updated_at = created_at;
ALTER TABLE changelogs ALTER COLUMN updated_at SET NOT NULL;

-- What a changelog is about, in the team's order.
CREATE TABLE changelog_feature_requests (
    workspace_id uuid NOT NULL,
    changelog_id uuid NOT NULL,
    request_id uuid NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (workspace_id, changelog_id, request_id),
    FOREIGN KEY (workspace_id, changelog_id) REFERENCES changelogs (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
);

CREATE INDEX changelog_feature_requests_by_request ON changelog_feature_requests (workspace_id, request_id);

ALTER TABLE changelog_feature_requests ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON changelog_feature_requests USING (workspace_id = (SELECT current_workspace()));
