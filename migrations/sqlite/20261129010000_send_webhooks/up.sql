-- Where the events of a workspace are sent.
CREATE TABLE webhooks (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    -- URL and secrets are encrypted with a key that is derived from the secret of the service.
    sealed_url TEXT NOT NULL,
    -- A JSON array of secrets, newest first: {"sealed": …, "expires_at": milliseconds or null}.
    sealed_secrets TEXT NOT NULL,
    description TEXT NOT NULL,
    format TEXT NOT NULL CHECK (format IN ('standard', 'slack', 'discord', 'teams')),
    -- The types of events, separated by commas. NULL means all.
    events TEXT,
    include_private INTEGER NOT NULL,
    include_emails INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    disabled_because TEXT CHECK (disabled_because IN ('operator', 'gone', 'failing')),
    -- The time since which it is enabled, or was before it was disabled: events from then on are delivered.
    enabled_at INTEGER NOT NULL,
    disabled_at INTEGER,
    failing_since INTEGER,
    -- The number of failed tries since then.
    failed_tries INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- What has happened in workspaces with webhooks.
CREATE TABLE webhook_events (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id BLOB,
    actor_name TEXT NOT NULL,
    -- What the operation says of it, and the records that it is about, as they were after the change.
    data TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- Whether there is a delivery for each webhook that wants it.
    is_distributed INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;

CREATE INDEX webhook_events_to_distribute ON webhook_events (workspace_id, id) WHERE NOT is_distributed;

CREATE TABLE webhook_deliveries (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    webhook_id BLOB NOT NULL,
    event_id BLOB NOT NULL,
    -- The type that is sent. It can be another one than that of the event.
    kind TEXT NOT NULL,
    include_private INTEGER NOT NULL,
    include_emails INTEGER NOT NULL,
    -- 0 for test events, which come first, else 1.
    priority INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    failure TEXT CHECK (failure IN ('gave_up', 'blocked', 'gone', 'disabled', 'backlog')),
    -- All attempts, and those since it was due for the first or the next time.
    attempts INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    -- NULL unless it waits. The end of the lease while it is leased.
    due_at INTEGER,
    leased_until INTEGER,
    created_at INTEGER NOT NULL,
    -- In this order, so that the deliveries of a deleted event are found by it.
    PRIMARY KEY (workspace_id, event_id, webhook_id),
    FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, event_id) REFERENCES webhook_events (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (workspace_id, webhook_id, priority, due_at)
WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (workspace_id, webhook_id, state, event_id);
CREATE UNIQUE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (workspace_id, webhook_id, event_id);

CREATE TABLE webhook_attempts (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    webhook_id BLOB NOT NULL,
    event_id BLOB NOT NULL,
    -- 1 for the first attempt of a delivery.
    number INTEGER NOT NULL,
    status INTEGER,
    error TEXT,
    duration_ms INTEGER NOT NULL,
    -- The beginning of the response.
    response TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, webhook_id, event_id, number),
    FOREIGN KEY (workspace_id, webhook_id, event_id)
        REFERENCES webhook_deliveries (workspace_id, webhook_id, event_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Whether the publication is to be announced when its time has come.
ALTER TABLE changelogs ADD COLUMN to_announce INTEGER NOT NULL DEFAULT 0;
UPDATE changelogs SET to_announce = 1 WHERE published_at > unixepoch() * 1000;
CREATE INDEX changelogs_to_announce ON changelogs (published_at) WHERE to_announce;

