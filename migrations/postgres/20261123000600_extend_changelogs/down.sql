DROP TABLE changelog_feature_requests;
-- A scheduled changelog becomes a draft.
UPDATE changelogs SET published_at = NULL WHERE published_at > now();
ALTER TABLE changelogs DROP COLUMN notified;
ALTER TABLE changelogs DROP COLUMN updated_at;
