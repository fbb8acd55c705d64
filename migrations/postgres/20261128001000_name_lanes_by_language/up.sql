-- The names of a lane on the pages of some languages: a JSON object by language.
ALTER TABLE lanes ADD COLUMN names text NOT NULL DEFAULT '{}';
