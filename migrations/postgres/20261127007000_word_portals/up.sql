-- What the roadmap says first and what the form for ideas asks: JSON objects by language.
ALTER TABLE portal_settings ADD COLUMN welcome_text text NOT NULL DEFAULT '{}';
ALTER TABLE portal_settings ADD COLUMN form_question text NOT NULL DEFAULT '{}';
