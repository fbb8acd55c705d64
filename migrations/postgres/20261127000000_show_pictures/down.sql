DROP TABLE text_pictures;
DROP INDEX pictures_by_age;
ALTER TABLE attachments DROP COLUMN picture_by;
