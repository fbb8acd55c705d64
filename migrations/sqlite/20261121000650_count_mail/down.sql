DROP INDEX outbox_by_death;
