-- The time zone of a workspace, a name of the IANA database.
ALTER TABLE portal_settings ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC';
