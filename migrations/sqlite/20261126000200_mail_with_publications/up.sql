-- Whether mail goes out with the publication at a time. It waits in the outbox, and is due then.
ALTER TABLE changelogs ADD COLUMN notifies INTEGER NOT NULL DEFAULT 0;
