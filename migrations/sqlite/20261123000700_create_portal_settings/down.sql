DROP INDEX changelogs_by_publication;
DROP INDEX comments_of_team;
DROP INDEX vote_tallies_public;
DROP INDEX feature_request_tags_by_tag;
ALTER TABLE feature_request_tags DROP COLUMN tag_folded;
DROP TABLE held_comments;
DROP INDEX feature_requests_awaiting;
ALTER TABLE feature_requests DROP COLUMN awaiting_approval;
DROP TABLE portal_settings;
