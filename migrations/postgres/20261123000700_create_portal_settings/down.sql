DROP INDEX followers_by_customer;
CREATE INDEX followers_by_customer ON followers (workspace_id, customer_id);
DROP INDEX changelogs_by_publication;
DROP INDEX comments_of_team;

DROP INDEX feature_request_tags_by_tag;
ALTER TABLE feature_request_tags DROP COLUMN tag_folded;

DROP INDEX feature_requests_by_author;
CREATE INDEX feature_requests_by_author ON feature_requests (workspace_id, author_id);
ALTER TABLE feature_requests DROP COLUMN awaiting_approval;

-- Comments that wait are lost. Published without approval, they would be worse.
DROP TABLE held_comments;
DROP TABLE portal_settings;
