-- People who were erased.
CREATE TABLE erasures (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    -- The customer that is left of the person.
    id uuid NOT NULL,
    -- A keyed hash of the address, by which imports recognize the person.
    digest text NOT NULL,
    -- What was chosen for votes and texts.
    votes text NOT NULL,
    texts text NOT NULL,
    erased_at timestamptz NOT NULL,
    -- Addresses and name, until no file has them any more.
    words text[],
    is_finished boolean NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX erasures_unfinished ON erasures (workspace_id) WHERE NOT is_finished;

ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON erasures USING (workspace_id = (SELECT current_workspace()));

-- Where an erasure is to be finished, of all workspaces, which no session sees. It tells nothing of whose they are.
CREATE FUNCTION unfinished_erasures()
RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT DISTINCT workspace_id FROM erasures WHERE NOT is_finished
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION unfinished_erasures() SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION unfinished_erasures() FROM PUBLIC;
