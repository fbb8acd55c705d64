ALTER TABLE links DROP COLUMN reported_at;
DROP TABLE link_sources;
