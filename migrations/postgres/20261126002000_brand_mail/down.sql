ALTER TABLE customers DROP COLUMN last_language;
ALTER TABLE portal_settings DROP COLUMN reply_to;
ALTER TABLE settings DROP COLUMN sender_name;
