-- The outbox becomes one table of messages of all kinds. What is about one kind is in `payload`.
CREATE TABLE outbox_messages (
    workspace_id BLOB NOT NULL,
    -- Made of what the message is about: creating it twice creates one.
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- The lowest is leased first.
    priority INTEGER NOT NULL,
    -- The recipient: a customer, an address, or nobody, when the message stands for others.
    customer_id BLOB,
    address TEXT,
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    created_at INTEGER NOT NULL,
    -- When the next try is due; NULL: never again, because it was sent, is dead, or is held for a digest.
    due_at INTEGER,
    -- The end of the lease of a worker.
    leased_until INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    tried_at INTEGER,
    sent_at INTEGER,
    -- Why the last try failed.
    failure TEXT,
    -- The mail server's answer when it was sent.
    answer TEXT,
    -- The digest that it is held for, with which it is sent, tried again or given up.
    digest_id TEXT,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id) REFERENCES workspaces (id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id),
    FOREIGN KEY (workspace_id, digest_id) REFERENCES outbox_messages (workspace_id, id) ON DELETE CASCADE
) STRICT;

-- A digest for all mails of one customer that are held until the same hour.
INSERT INTO outbox_messages
    (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at, leased_until, attempts, tried_at,
     sent_at, failure)
SELECT workspace_id,
       'digest.' || digest_at || '.' ||
       lower(substr(hex(customer_id), 1, 8) || '-' || substr(hex(customer_id), 9, 4) || '-' ||
             substr(hex(customer_id), 13, 4) || '-' || substr(hex(customer_id), 17, 4) || '-' ||
             substr(hex(customer_id), 21)),
       'comment_digest', 1, customer_id, json_object('at', digest_at), min(created_at), min(due_at), max(leased_until),
       max(attempts), max(tried_at), CASE WHEN min(due_at) IS NULL THEN max(sent_at) END, max(failure)
FROM outbox WHERE digest_at IS NOT NULL GROUP BY workspace_id, customer_id, digest_at;

INSERT INTO outbox_messages
    (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at, leased_until, attempts, tried_at,
     sent_at, failure, digest_id)
SELECT workspace_id, comment || '.' || customer, 'comment', 1, customer_id, json_object('comment', comment), created_at,
       CASE WHEN digest_at IS NULL THEN due_at END,
       CASE WHEN digest_at IS NULL THEN leased_until END,
       CASE WHEN digest_at IS NULL THEN attempts ELSE 0 END,
       CASE WHEN digest_at IS NULL THEN tried_at END,
       CASE WHEN digest_at IS NULL THEN sent_at END,
       CASE WHEN digest_at IS NULL THEN failure END,
       CASE WHEN digest_at IS NOT NULL THEN 'digest.' || digest_at || '.' || customer END
FROM (
    SELECT *,
           lower(substr(hex(comment_id), 1, 8) || '-' || substr(hex(comment_id), 9, 4) || '-' ||
                 substr(hex(comment_id), 13, 4) || '-' || substr(hex(comment_id), 17, 4) || '-' ||
                 substr(hex(comment_id), 21)) AS comment,
           lower(substr(hex(customer_id), 1, 8) || '-' || substr(hex(customer_id), 9, 4) || '-' ||
                 substr(hex(customer_id), 13, 4) || '-' || substr(hex(customer_id), 17, 4) || '-' ||
                 substr(hex(customer_id), 21)) AS customer
    FROM outbox
);

INSERT INTO outbox_messages (workspace_id, id, kind, priority, payload, created_at, due_at)
SELECT workspace_id, 'audience.' || comment, 'comment_audience', 1,
       json_object('comment', comment, 'request', request, 'after', after), created_at, created_at
FROM (
    SELECT *,
           lower(substr(hex(comment_id), 1, 8) || '-' || substr(hex(comment_id), 9, 4) || '-' ||
                 substr(hex(comment_id), 13, 4) || '-' || substr(hex(comment_id), 17, 4) || '-' ||
                 substr(hex(comment_id), 21)) AS comment,
           lower(substr(hex(request_id), 1, 8) || '-' || substr(hex(request_id), 9, 4) || '-' ||
                 substr(hex(request_id), 13, 4) || '-' || substr(hex(request_id), 17, 4) || '-' ||
                 substr(hex(request_id), 21)) AS request,
           lower(substr(hex(after_customer_id), 1, 8) || '-' || substr(hex(after_customer_id), 9, 4) || '-' ||
                 substr(hex(after_customer_id), 13, 4) || '-' || substr(hex(after_customer_id), 17, 4) || '-' ||
                 substr(hex(after_customer_id), 21)) AS after
    FROM outbox_audiences
);

DROP TABLE outbox_audiences;
DROP TABLE outbox;
ALTER TABLE outbox_messages RENAME TO outbox;

CREATE INDEX outbox_by_due ON outbox (workspace_id, priority, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_by_sent ON outbox (workspace_id, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX outbox_by_failure ON outbox (workspace_id, tried_at) WHERE failure IS NOT NULL;
CREATE INDEX outbox_by_death ON outbox (workspace_id) WHERE sent_at IS NULL AND due_at IS NULL AND digest_id IS NULL;
CREATE INDEX outbox_by_lease ON outbox (workspace_id, customer_id) WHERE leased_until IS NOT NULL;
-- All messages for a customer, and how many the customer has got in this hour.
CREATE INDEX outbox_by_recipient ON outbox (workspace_id, customer_id, sent_at);
CREATE INDEX outbox_by_digest ON outbox (workspace_id, digest_id);
