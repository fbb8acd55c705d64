-- Where the events of a workspace are sent.
CREATE TABLE webhooks (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    -- URL and secrets are encrypted with a key that is derived from the secret of the service.
    sealed_url text NOT NULL,
    -- A JSON array of secrets, newest first: {"sealed": …, "expires_at": milliseconds or null}.
    sealed_secrets text NOT NULL,
    description text NOT NULL,
    format text NOT NULL CHECK (format IN ('standard', 'slack', 'discord', 'teams')),
    -- The types of events, separated by commas. NULL means all.
    events text,
    include_private boolean NOT NULL,
    include_emails boolean NOT NULL,
    enabled boolean NOT NULL,
    disabled_because text CHECK (disabled_because IN ('operator', 'gone', 'failing')),
    -- The time since which it is enabled, or was before it was disabled: events from then on are delivered.
    enabled_at timestamptz NOT NULL,
    disabled_at timestamptz,
    failing_since timestamptz,
    -- The number of failed tries since then.
    failed_tries integer NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

-- What has happened in workspaces with webhooks.
CREATE TABLE webhook_events (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    kind text NOT NULL,
    actor_kind text NOT NULL,
    actor_id uuid,
    actor_name text NOT NULL,
    -- What the operation says of it, and the records that it is about, as they were after the change.
    data jsonb NOT NULL,
    snapshot jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    -- Whether there is a delivery for each webhook that wants it.
    is_distributed boolean NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX webhook_events_to_distribute ON webhook_events (workspace_id, id) WHERE NOT is_distributed;

CREATE TABLE webhook_deliveries (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    webhook_id uuid NOT NULL,
    event_id uuid NOT NULL,
    -- The type that is sent. It can be another one than that of the event.
    kind text NOT NULL,
    include_private boolean NOT NULL,
    include_emails boolean NOT NULL,
    -- 0 for test events, which come first, else 1.
    priority smallint NOT NULL,
    state text NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    failure text CHECK (failure IN ('gave_up', 'blocked', 'gone', 'disabled', 'backlog')),
    -- All attempts, and those since it was due for the first or the next time.
    attempts integer NOT NULL,
    tries integer NOT NULL,
    -- NULL unless it waits. The end of the lease while it is leased.
    due_at timestamptz,
    leased_until timestamptz,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, webhook_id, event_id),
    FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, event_id) REFERENCES webhook_events (workspace_id, id) ON DELETE CASCADE
);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (workspace_id, webhook_id, priority, due_at)
WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (workspace_id, webhook_id, state, event_id);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (workspace_id, event_id);

CREATE TABLE webhook_attempts (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    webhook_id uuid NOT NULL,
    event_id uuid NOT NULL,
    -- 1 for the first attempt of a delivery.
    number integer NOT NULL,
    status integer,
    error text,
    duration_ms bigint NOT NULL,
    -- The beginning of the response.
    response text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, webhook_id, event_id, number),
    FOREIGN KEY (workspace_id, webhook_id, event_id)
        REFERENCES webhook_deliveries (workspace_id, webhook_id, event_id) ON DELETE CASCADE
);

-- Whether the publication is to be announced when its time has come.
ALTER TABLE changelogs ADD COLUMN to_announce boolean NOT NULL DEFAULT false;
UPDATE changelogs SET to_announce = true WHERE published_at > now();
CREATE INDEX changelogs_to_announce ON changelogs (published_at) WHERE to_announce;

ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON webhooks USING (workspace_id = (SELECT current_workspace()));
ALTER TABLE webhook_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON webhook_events USING (workspace_id = (SELECT current_workspace()));
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON webhook_deliveries USING (workspace_id = (SELECT current_workspace()));
ALTER TABLE webhook_attempts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON webhook_attempts USING (workspace_id = (SELECT current_workspace()));

-- Records events with the records that they are about, if the workspace has an enabled webhook. A function, so that the large
-- statement is not even prepared for execution otherwise.
CREATE FUNCTION record_webhook_events(
    of_workspace uuid,
    event_ids uuid[],
    event_kinds text[],
    event_actor_kinds text[],
    event_actor_ids uuid[],
    event_actor_names text[],
    event_details text[],
    event_times timestamptz[],
    event_requests uuid[],
    event_customers uuid[],
    event_addresses text[],
    event_comments uuid[],
    event_notes uuid[],
    event_changelogs uuid[]
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM webhooks WHERE webhooks.workspace_id = of_workspace AND webhooks.enabled) THEN
        INSERT INTO webhook_events (workspace_id, id, kind, actor_kind, actor_id, actor_name, data, snapshot,
                                 created_at, is_distributed)
     SELECT of_workspace, event.id, event.kind, event.actor_kind, event.actor_id, event.actor_name, event.details::jsonb,
            jsonb_build_object(
                'feature_request', (
                    SELECT jsonb_build_object(
                        'id', feature_requests.id,
                        'tag_number', feature_requests.tag_number,
                        'title', feature_requests.title,
                        'description', left(feature_requests.description_text, 500),
                        'status', lanes.name,
                        'track', tracks.name,
                        'votes_count', vote_tallies.votes_count,
                        'created_at', (extract(epoch FROM feature_requests.created_at) * 1000)::bigint,
                        'tags', ARRAY(SELECT tag FROM feature_request_tags
                                      WHERE workspace_id = of_workspace AND request_id = feature_requests.id
                                      ORDER BY position),
                        'private', feature_requests.private,
                        'author', (SELECT jsonb_build_object('id', person.id, 'name', person.name, 'email', person.email)
              FROM customers AS person WHERE person.workspace_id = of_workspace AND person.id = feature_requests.author_id)
                    )
                    FROM feature_requests JOIN vote_tallies ON vote_tallies.workspace_id = feature_requests.workspace_id
                          AND vote_tallies.request_id = feature_requests.id
         JOIN tracks ON tracks.workspace_id = feature_requests.workspace_id AND tracks.id = feature_requests.track_id
         LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = tracks.lane_id
                    WHERE feature_requests.workspace_id = of_workspace AND feature_requests.id = event.request_id
                ),
                'customer', coalesce((SELECT jsonb_build_object('id', person.id, 'name', person.name, 'email', person.email)
              FROM customers AS person WHERE person.workspace_id = of_workspace AND person.id = event.customer_id),
                                     (SELECT jsonb_build_object('id', person.id, 'name', person.name, 'email', person.email)
              FROM customers AS person WHERE person.workspace_id = of_workspace AND person.email_folded = event.address)),
                'comment', (
                    SELECT jsonb_build_object(
                        'id', comments.id,
                        'content', comments.content,
                        'customer', (SELECT jsonb_build_object('id', person.id, 'name', person.name, 'email', person.email)
              FROM customers AS person WHERE person.workspace_id = of_workspace AND person.id = comments.customer_id),
                        'member', (SELECT jsonb_build_object('id', person.id, 'name', person.name, 'email', person.email)
              FROM members AS person WHERE person.workspace_id = of_workspace AND person.id = comments.author_id),
                        'created_at', (extract(epoch FROM comments.created_at) * 1000)::bigint,
                        'updated_at', (extract(epoch FROM comments.updated_at) * 1000)::bigint
                    )
                    FROM comments WHERE comments.workspace_id = of_workspace AND comments.id = event.comment_id
                ),
                'reference_note', (
                    SELECT jsonb_build_object(
                        'id', notes.id,
                        'body', notes.body,
                        'author', (SELECT jsonb_build_object('id', person.id, 'name', person.name, 'email', person.email)
              FROM members AS person WHERE person.workspace_id = of_workspace AND person.id = notes.author_id),
                        'customer', (SELECT jsonb_build_object('id', person.id, 'name', person.name, 'email', person.email)
              FROM customers AS person WHERE person.workspace_id = of_workspace AND person.id = notes.customer_id),
                        'created_at', (extract(epoch FROM notes.created_at) * 1000)::bigint
                    )
                    FROM notes WHERE notes.workspace_id = of_workspace AND notes.id = event.note_id
                ),
                'changelog', (
                    SELECT jsonb_build_object(
                        'id', changelogs.id,
                        'title', changelogs.title,
                        'content', changelogs.content,
                        'category', changelogs.category,
                        'cover', (SELECT jsonb_build_object('attachment', attachments.id,
                                                            'filename', attachments.filename)
                                  FROM attachments
                                  WHERE attachments.workspace_id = of_workspace
                                    AND attachments.id = changelogs.cover_attachment_id),
                        'published_at', (extract(epoch FROM changelogs.published_at) * 1000)::bigint,
                        'created_at', (extract(epoch FROM changelogs.created_at) * 1000)::bigint,
                        'updated_at', (extract(epoch FROM changelogs.updated_at) * 1000)::bigint,
                        'feature_requests', ARRAY(
                            SELECT jsonb_build_object(
                                'id', feature_requests.id,
                                'tag_number', feature_requests.tag_number,
                                'title', feature_requests.title,
                                'status', lanes.name,
                                'private', feature_requests.private
                            )
                            FROM (
                                SELECT coalesce(root_id, id) AS id, min(position) AS position
                                FROM changelog_feature_requests AS links
                                JOIN feature_requests ON feature_requests.workspace_id = of_workspace
                                                     AND feature_requests.id = links.request_id
                                WHERE links.workspace_id = of_workspace AND links.changelog_id = event.changelog_id
                                GROUP BY coalesce(root_id, id)
                            ) AS linked
                            JOIN feature_requests ON feature_requests.workspace_id = of_workspace
                                                 AND feature_requests.id = linked.id
                            JOIN vote_tallies ON vote_tallies.workspace_id = feature_requests.workspace_id
                          AND vote_tallies.request_id = feature_requests.id
         JOIN tracks ON tracks.workspace_id = feature_requests.workspace_id AND tracks.id = feature_requests.track_id
         LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = tracks.lane_id
                            ORDER BY linked.position
                        )
                    )
                    FROM changelogs
                    WHERE changelogs.workspace_id = of_workspace AND changelogs.id = event.changelog_id
                )
            ),
            event.created_at, false
     FROM unnest(event_ids, event_kinds, event_actor_kinds, event_actor_ids, event_actor_names, event_details, event_times, event_requests, event_customers,
                 event_addresses, event_comments, event_notes, event_changelogs)
          AS event (id, kind, actor_kind, actor_id, actor_name, details, created_at, request_id, customer_id, address,
                    comment_id, note_id, changelog_id);
    END IF;
END
$$;

-- What the worker looks for spans workspaces. None of it tells anything of their contents.
CREATE FUNCTION workspaces_with_events()
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT DISTINCT workspace_id FROM webhook_events WHERE NOT is_distributed
$$;

CREATE FUNCTION webhooks_with_deliveries(at timestamptz)
RETURNS TABLE (of_workspace uuid, webhook uuid)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT webhooks.workspace_id, webhooks.id FROM webhooks
    WHERE EXISTS (
        SELECT FROM webhook_deliveries
        WHERE webhook_deliveries.workspace_id = webhooks.workspace_id AND webhook_id = webhooks.id AND due_at <= at
    )
$$;

CREATE FUNCTION webhook_depth(at timestamptz)
RETURNS TABLE (due bigint, leased bigint, postponed bigint, failed bigint, oldest timestamptz, on_count bigint, off_count bigint)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT count(*) FILTER (WHERE due_at <= at),
           count(*) FILTER (WHERE due_at > at AND leased_until IS NOT NULL),
           count(*) FILTER (WHERE due_at > at AND leased_until IS NULL),
           (SELECT count(*) FROM webhook_deliveries WHERE state = 'failed'),
           min(due_at) FILTER (WHERE due_at <= at),
           (SELECT count(*) FROM webhooks WHERE enabled),
           (SELECT count(*) FROM webhooks WHERE NOT enabled)
    FROM webhook_deliveries WHERE due_at IS NOT NULL
$$;

CREATE FUNCTION webhooks_sealed_otherwise(prefix text)
RETURNS TABLE (of_workspace uuid, webhook uuid)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT workspace_id, id FROM webhooks
    WHERE NOT starts_with(sealed_url, prefix)
       OR EXISTS (
              SELECT FROM jsonb_array_elements(sealed_secrets::jsonb) AS secret
              WHERE NOT starts_with(secret ->> 'sealed', prefix)
          )
$$;

CREATE FUNCTION changelogs_to_announce(at timestamptz, most bigint)
RETURNS TABLE (of_workspace uuid, changelog uuid)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT workspace_id, id FROM changelogs WHERE to_announce AND published_at <= at ORDER BY published_at LIMIT most
$$;

-- Functions that run as their owner must not find their tables where their caller says.
DO $$
DECLARE
    signature text;
BEGIN
    FOREACH signature IN ARRAY ARRAY[
        'workspaces_with_events()', 'webhooks_with_deliveries(timestamptz)', 'webhook_depth(timestamptz)',
        'webhooks_sealed_otherwise(text)', 'changelogs_to_announce(timestamptz, bigint)'
    ]
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', signature, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', signature);
    END LOOP;
END
$$;
