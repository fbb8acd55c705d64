-- The views of the inbox that a member has saved: a JSON array of pairs, a name and a query.
ALTER TABLE members ADD COLUMN saved_views TEXT NOT NULL DEFAULT '[]';
