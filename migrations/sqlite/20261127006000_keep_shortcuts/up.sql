-- Whether a member has switched on the keyboard shortcuts.
ALTER TABLE members ADD COLUMN shortcuts INTEGER NOT NULL DEFAULT 0;
