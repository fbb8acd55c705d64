-- Whether a member has switched on the keyboard shortcuts.
ALTER TABLE members ADD COLUMN shortcuts boolean NOT NULL DEFAULT false;
