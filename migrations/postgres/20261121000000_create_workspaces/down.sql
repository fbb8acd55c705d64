DROP TABLE changelogs;
DROP TABLE tracks;
DROP TABLE lanes;
DROP TABLE members;
DROP TABLE api_keys;
DROP TABLE settings;
DROP TABLE workspaces;
DROP FUNCTION current_workspace();
