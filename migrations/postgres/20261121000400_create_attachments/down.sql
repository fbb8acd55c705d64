ALTER TABLE changelogs DROP COLUMN cover_attachment_id;
DROP TABLE attachments;
