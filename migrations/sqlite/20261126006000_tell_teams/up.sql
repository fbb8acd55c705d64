-- Which mail a member gets about what customers write: each, answered, daily or nothing. And the last timestamp of what the
-- member was told, or did not want to be told.
ALTER TABLE members ADD COLUMN team_mail TEXT NOT NULL DEFAULT 'daily';
ALTER TABLE members ADD COLUMN told_until INTEGER NOT NULL DEFAULT 0;
UPDATE members SET told_until = CAST(unixepoch('subsec') * 1000 AS INTEGER);
