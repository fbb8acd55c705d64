ALTER TABLE portal_settings DROP COLUMN form_question;
ALTER TABLE portal_settings DROP COLUMN welcome_text;
