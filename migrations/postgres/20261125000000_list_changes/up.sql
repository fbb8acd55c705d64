-- The number of the last change of each workspace, and the latest timestamp of its changes.
CREATE TABLE change_counters (
    workspace_id uuid PRIMARY KEY,
    last_number bigint NOT NULL,
    last_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- The last change of each feature request and each comment, also of deleted ones. Triggers keep it. There is no foreign
-- key: it outlives its record.
CREATE TABLE changes (
    workspace_id uuid NOT NULL,
    -- `feature_request` or `comment`.
    kind text NOT NULL,
    record_id uuid NOT NULL,
    -- The feature request of a comment.
    request_id uuid,
    -- The track of a feature request.
    track_id uuid,
    -- Whether the feature request, or that of the comment, is private.
    private boolean NOT NULL,
    was_public boolean NOT NULL,
    deleted boolean NOT NULL,
    updated_at timestamptz NOT NULL,
    -- The place in the order of changes: never less than that of a change that was committed before. NULL until
    -- number_changes has assigned it.
    changed_at timestamptz,
    number bigint,
    PRIMARY KEY (workspace_id, kind, record_id)
);

CREATE INDEX changes_in_order ON changes (workspace_id, kind, changed_at, number) WHERE number IS NOT NULL;
CREATE INDEX changes_without_number ON changes (workspace_id, updated_at, record_id) WHERE number IS NULL;
CREATE INDEX changes_by_request ON changes (workspace_id, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX changes_deleted ON changes (workspace_id, updated_at) WHERE deleted;

INSERT INTO changes (
    workspace_id, kind, record_id, request_id, track_id, private, was_public, deleted, updated_at, changed_at, number
)
SELECT workspace_id, kind, record_id, request_id, track_id, private, NOT private, false, updated_at,
       date_trunc('milliseconds', updated_at),
       row_number() OVER (PARTITION BY workspace_id ORDER BY updated_at, record_id)
FROM (
    SELECT workspace_id, 'feature_request' AS kind, id AS record_id, NULL::uuid AS request_id, track_id, private,
           updated_at
    FROM feature_requests
    UNION ALL
    SELECT comments.workspace_id, 'comment', comments.id, comments.request_id, NULL, feature_requests.private,
           comments.updated_at
    FROM comments
    JOIN feature_requests ON feature_requests.workspace_id = comments.workspace_id
                         AND feature_requests.id = comments.request_id
) AS existing;

INSERT INTO change_counters (workspace_id, last_number, last_at)
SELECT workspace_id, max(number), max(changed_at) FROM changes GROUP BY workspace_id;

ALTER TABLE change_counters ENABLE ROW LEVEL SECURITY;
ALTER TABLE changes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON change_counters USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON changes USING (workspace_id = (SELECT current_workspace()));

-- Gives the oldest committed changes of a workspace that have no number yet the next ones, and returns how many. The
-- counter is locked until the commit: whoever sees a number sees all smaller ones, and later commits get greater ones.
-- What another transaction is changing right now is left out, and gets its number after that.
CREATE FUNCTION number_changes(of_workspace uuid, most bigint) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    waiting CURSOR FOR
        SELECT updated_at FROM changes WHERE workspace_id = of_workspace AND number IS NULL
        ORDER BY updated_at, record_id LIMIT most FOR NO KEY UPDATE SKIP LOCKED;
    counter change_counters;
    numbered bigint := 0;
BEGIN
    INSERT INTO change_counters AS counters (workspace_id, last_number, last_at)
    VALUES (of_workspace, 0, '-infinity')
    ON CONFLICT (workspace_id) DO UPDATE SET last_number = counters.last_number
    RETURNING * INTO counter;
    -- Not one statement: the planner, which may have seen an empty table, would read all changes for each one.
    FOR change IN waiting LOOP
        numbered := numbered + 1;
        counter.last_number := counter.last_number + 1;
        -- A cursor has milliseconds.
        counter.last_at := greatest(counter.last_at, date_trunc('milliseconds', change.updated_at));
        UPDATE changes SET number = counter.last_number, changed_at = counter.last_at WHERE CURRENT OF waiting;
    END LOOP;
    UPDATE change_counters SET last_number = counter.last_number, last_at = counter.last_at
    WHERE workspace_id = of_workspace;
    RETURN numbered;
END
$$;

CREATE FUNCTION note_change_of_request() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO changes (workspace_id, kind, record_id, track_id, private, was_public, deleted, updated_at)
        VALUES (NEW.workspace_id, 'feature_request', NEW.id, NEW.track_id, NEW.private, NOT NEW.private, false,
                NEW.updated_at)
        ON CONFLICT (workspace_id, kind, record_id) DO UPDATE
        SET track_id = excluded.track_id, private = excluded.private,
            was_public = changes.was_public OR excluded.was_public, deleted = false, updated_at = excluded.updated_at,
            number = NULL, changed_at = NULL;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        UPDATE changes
        SET deleted = true, number = NULL, changed_at = NULL,
            updated_at = greatest(OLD.updated_at, date_trunc('milliseconds', clock_timestamp()))
        WHERE workspace_id = OLD.workspace_id AND kind = 'feature_request' AND record_id = OLD.id;
        RETURN NULL;
    END IF;
    UPDATE changes
    SET track_id = NEW.track_id, private = NEW.private, was_public = was_public OR NOT NEW.private,
        updated_at = NEW.updated_at, number = NULL, changed_at = NULL
    WHERE workspace_id = NEW.workspace_id AND kind = 'feature_request' AND record_id = NEW.id;
    -- What shows or hides a feature request does so to its comments.
    IF OLD.private <> NEW.private THEN
        UPDATE changes
        SET private = NEW.private, was_public = was_public OR NOT NEW.private, updated_at = NEW.updated_at,
            number = NULL, changed_at = NULL
        WHERE workspace_id = NEW.workspace_id AND request_id = NEW.id AND NOT deleted;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER note_change AFTER INSERT OR DELETE ON feature_requests
FOR EACH ROW EXECUTE FUNCTION note_change_of_request();
CREATE TRIGGER note_update AFTER UPDATE OF title, description, track_id, private, root_id, updated_at ON feature_requests
FOR EACH ROW EXECUTE FUNCTION note_change_of_request();

-- Runs after comments_added and comments_deleted, which lock the feature request: whether it is private does not change
-- until the commit.
CREATE FUNCTION note_change_of_comment() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO changes (workspace_id, kind, record_id, request_id, private, was_public, deleted, updated_at)
        SELECT NEW.workspace_id, 'comment', NEW.id, NEW.request_id, private, NOT private, false, NEW.updated_at
        FROM feature_requests WHERE workspace_id = NEW.workspace_id AND id = NEW.request_id
        ON CONFLICT (workspace_id, kind, record_id) DO UPDATE
        SET request_id = excluded.request_id, private = excluded.private,
            was_public = changes.was_public OR excluded.was_public, deleted = false, updated_at = excluded.updated_at,
            number = NULL, changed_at = NULL;
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE changes
        SET deleted = true, number = NULL, changed_at = NULL,
            updated_at = greatest(OLD.updated_at, date_trunc('milliseconds', clock_timestamp()))
        WHERE workspace_id = OLD.workspace_id AND kind = 'comment' AND record_id = OLD.id;
    ELSE
        UPDATE changes SET updated_at = NEW.updated_at, number = NULL, changed_at = NULL
        WHERE workspace_id = NEW.workspace_id AND kind = 'comment' AND record_id = NEW.id;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER note_change AFTER INSERT OR DELETE ON comments
FOR EACH ROW EXECUTE FUNCTION note_change_of_comment();
CREATE TRIGGER note_update AFTER UPDATE OF content, updated_at ON comments
FOR EACH ROW EXECUTE FUNCTION note_change_of_comment();
