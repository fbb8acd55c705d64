ALTER TABLE portal_settings DROP COLUMN time_zone;
