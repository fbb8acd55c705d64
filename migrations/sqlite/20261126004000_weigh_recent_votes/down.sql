DROP INDEX vote_tallies_by_trend;
ALTER TABLE vote_tallies DROP COLUMN trend;
