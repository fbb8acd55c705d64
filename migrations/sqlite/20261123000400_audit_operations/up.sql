-- The audit log: who changed what. Ids are in the order of time.
CREATE TABLE audit_entries (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    -- Who, with the name of that time.
    actor_kind TEXT NOT NULL,
    actor_id BLOB,
    actor_name TEXT NOT NULL,
    -- Through what, and the id of the HTTP request.
    channel TEXT NOT NULL,
    request_id TEXT,
    action TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id BLOB,
    changes TEXT NOT NULL CHECK (json_valid(changes)),
    PRIMARY KEY (workspace_id, id)
) STRICT;

CREATE INDEX audit_entries_by_subject ON audit_entries (workspace_id, subject_id, id);
CREATE INDEX audit_entries_by_actor ON audit_entries (workspace_id, actor_id, id);
CREATE INDEX audit_entries_by_action ON audit_entries (workspace_id, action, id);
CREATE INDEX audit_entries_by_age ON audit_entries (created_at);

CREATE TRIGGER audit_entries_are_never_changed BEFORE UPDATE ON audit_entries BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are never changed');
END;

CREATE TRIGGER audit_entries_are_kept_for_30_days BEFORE DELETE ON audit_entries
WHEN old.created_at > (unixepoch() - 30 * 86400) * 1000 BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are kept for 30 days');
END;
