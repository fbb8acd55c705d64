-- People who were erased.
CREATE TABLE erasures (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    -- The customer that is left of the person.
    id BLOB NOT NULL,
    -- A keyed hash of the address, by which imports recognize the person.
    digest TEXT NOT NULL,
    -- What was chosen for votes and texts.
    votes TEXT NOT NULL,
    texts TEXT NOT NULL,
    erased_at INTEGER NOT NULL,
    -- A JSON array of addresses and name, until no file has them any more.
    words TEXT CHECK (json_valid(words)),
    -- Whether the files of the database may still have them.
    is_finished INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX erasures_unfinished ON erasures (workspace_id) WHERE NOT is_finished;
