DROP INDEX outbox_by_lease;
DROP INDEX outbox_by_recipient;
DROP INDEX outbox_by_digest;
ALTER TABLE outbox DROP COLUMN digest_at;
DROP TABLE mail_hours;
