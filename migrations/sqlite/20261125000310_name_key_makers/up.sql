-- The member who made the key. NULL: an operator, or nobody knows.
ALTER TABLE api_keys ADD COLUMN made_by BLOB;

-- The audit log knows who made keys before.
UPDATE api_keys SET made_by = (
    SELECT actor_id FROM audit_entries
    WHERE audit_entries.workspace_id = api_keys.workspace_id AND audit_entries.subject_id = api_keys.id
      AND audit_entries.action IN ('api_key.create', 'api_key.rotate') AND audit_entries.actor_kind = 'member'
      AND EXISTS (SELECT 1 FROM members WHERE members.workspace_id = api_keys.workspace_id
                     AND members.id = audit_entries.actor_id)
    LIMIT 1
);

CREATE INDEX api_keys_by_maker ON api_keys (workspace_id, made_by);
