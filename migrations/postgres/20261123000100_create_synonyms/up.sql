-- Groups of phrases that mean the same in a workspace, in the order in which they were sent.
CREATE TABLE synonyms (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    group_number integer NOT NULL,
    position integer NOT NULL,
    phrase text NOT NULL,
    PRIMARY KEY (workspace_id, group_number, position)
);

ALTER TABLE synonyms ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON synonyms USING (workspace_id = (SELECT current_workspace()));

ALTER TABLE api_keys ADD COLUMN can_manage boolean NOT NULL DEFAULT false;
