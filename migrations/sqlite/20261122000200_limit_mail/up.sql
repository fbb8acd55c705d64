-- How many mails a workspace has asked for in each of the last hours.
CREATE TABLE mail_hours (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    hour INTEGER NOT NULL,
    mails INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, hour)
) STRICT, WITHOUT ROWID;

-- When the mail goes out with others to the same customer, in one digest; NULL: by itself.
ALTER TABLE outbox ADD COLUMN digest_at INTEGER;

CREATE INDEX outbox_by_digest ON outbox (workspace_id, customer_id, digest_at)
WHERE digest_at IS NOT NULL AND due_at IS NOT NULL;
-- How many mails a customer has got in this hour, or gets at this moment.
CREATE INDEX outbox_by_recipient ON outbox (workspace_id, customer_id, sent_at)
WHERE sent_at IS NOT NULL AND digest_at IS NULL;
CREATE INDEX outbox_by_lease ON outbox (workspace_id, customer_id) WHERE leased_until IS NOT NULL;
