DELETE FROM outbox WHERE kind IN ('changelog', 'changelog_audience');
DROP TABLE changelog_feature_requests;
-- What was scheduled is a draft again.
UPDATE changelogs SET published_at = NULL WHERE published_at > unixepoch() * 1000;
ALTER TABLE changelogs DROP COLUMN notified;
ALTER TABLE changelogs DROP COLUMN updated_at;
