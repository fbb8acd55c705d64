ALTER TABLE changelogs DROP COLUMN category;
