-- Mail that is given up, which metrics count and operators look for.
CREATE INDEX outbox_by_death ON outbox (workspace_id) WHERE sent_at IS NULL AND due_at IS NULL;
