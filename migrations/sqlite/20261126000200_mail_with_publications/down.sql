ALTER TABLE changelogs DROP COLUMN notifies;
