ALTER TABLE members DROP COLUMN saved_views;
