ALTER TABLE customers DROP COLUMN stops_changelogs;
