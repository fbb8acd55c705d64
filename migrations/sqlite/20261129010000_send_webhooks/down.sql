DROP INDEX changelogs_to_announce;
ALTER TABLE changelogs DROP COLUMN to_announce;
DELETE FROM outbox WHERE kind = 'webhook_disabled';
DROP TABLE webhook_attempts;
DROP TABLE webhook_deliveries;
DROP TABLE webhook_events;
DROP TABLE webhooks;
