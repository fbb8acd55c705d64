DROP FUNCTION link_sources_sealed_otherwise(text);
ALTER TABLE links DROP COLUMN reported_at;
DROP TABLE link_sources;
