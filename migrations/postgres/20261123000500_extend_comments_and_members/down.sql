ALTER TABLE tracks DROP CONSTRAINT tracks_workspace_id_name_key;
ALTER TABLE tracks DROP CONSTRAINT tracks_workspace_id_position_key;
ALTER TABLE tracks ADD UNIQUE (workspace_id, name);
ALTER TABLE tracks ADD UNIQUE (workspace_id, position);
ALTER TABLE lanes DROP CONSTRAINT lanes_workspace_id_name_key;
ALTER TABLE lanes DROP CONSTRAINT lanes_workspace_id_position_key;
ALTER TABLE lanes ADD UNIQUE (workspace_id, name);
ALTER TABLE lanes ADD UNIQUE (workspace_id, position);

DROP TABLE followers;
ALTER TABLE customers DROP COLUMN name_folded;
ALTER TABLE members DROP COLUMN removed_at;
ALTER TABLE members DROP COLUMN role;

DROP INDEX notes_by_request;
CREATE INDEX notes_by_request ON notes (workspace_id, request_id);
DROP INDEX comments_by_request;
CREATE INDEX comments_by_request ON comments (workspace_id, request_id);
ALTER TABLE comments DROP COLUMN updated_at;
ALTER TABLE comments DROP COLUMN customer_id;
