ALTER TABLE portal_settings DROP COLUMN noun;
