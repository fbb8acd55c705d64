DROP FUNCTION mail_depth(timestamptz);
DROP INDEX outbox_by_death;
