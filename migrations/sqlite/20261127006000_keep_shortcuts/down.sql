ALTER TABLE members DROP COLUMN shortcuts;
