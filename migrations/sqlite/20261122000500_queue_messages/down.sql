-- Messages of the kinds that came with the table of messages, such as test mails, are dropped.
ALTER TABLE outbox RENAME TO outbox_messages;
DROP INDEX outbox_by_due;
DROP INDEX outbox_by_sent;
DROP INDEX outbox_by_failure;
DROP INDEX outbox_by_death;
DROP INDEX outbox_by_lease;
DROP INDEX outbox_by_recipient;
DROP INDEX outbox_by_digest;

CREATE TABLE outbox (
    workspace_id BLOB NOT NULL,
    comment_id BLOB NOT NULL,
    customer_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER,
    leased_until INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    tried_at INTEGER,
    sent_at INTEGER,
    failure TEXT,
    digest_at INTEGER,
    PRIMARY KEY (workspace_id, comment_id, customer_id),
    FOREIGN KEY (workspace_id, comment_id) REFERENCES comments (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox_audiences (
    workspace_id BLOB NOT NULL,
    comment_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    after_customer_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, comment_id),
    FOREIGN KEY (workspace_id, comment_id) REFERENCES comments (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
) STRICT, WITHOUT ROWID;

INSERT INTO outbox
SELECT mail.workspace_id, unhex(mail.payload ->> 'comment', '-'), mail.customer_id, mail.created_at, state.due_at,
       state.leased_until, state.attempts, state.tried_at, state.sent_at, state.failure, state.payload ->> 'at'
FROM outbox_messages mail
JOIN outbox_messages state
  ON state.workspace_id = mail.workspace_id AND state.id = coalesce(mail.digest_id, mail.id)
WHERE mail.kind = 'comment';

INSERT INTO outbox_audiences
SELECT workspace_id, unhex(payload ->> 'comment', '-'), unhex(payload ->> 'request', '-'),
       unhex(payload ->> 'after', '-'), created_at
FROM outbox_messages WHERE kind = 'comment_audience';

DROP TABLE outbox_messages;

CREATE INDEX outbox_by_customer ON outbox (workspace_id, customer_id);
CREATE INDEX outbox_by_due ON outbox (workspace_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_by_sent ON outbox (workspace_id, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX outbox_by_failure ON outbox (workspace_id, tried_at) WHERE failure IS NOT NULL;
CREATE INDEX outbox_by_death ON outbox (workspace_id) WHERE sent_at IS NULL AND due_at IS NULL;
CREATE INDEX outbox_by_digest ON outbox (workspace_id, customer_id, digest_at)
WHERE digest_at IS NOT NULL AND due_at IS NOT NULL;
CREATE INDEX outbox_by_recipient ON outbox (workspace_id, customer_id, sent_at)
WHERE sent_at IS NOT NULL AND digest_at IS NULL;
CREATE INDEX outbox_by_lease ON outbox (workspace_id, customer_id) WHERE leased_until IS NOT NULL;
CREATE INDEX outbox_audiences_by_request ON outbox_audiences (workspace_id, request_id);
