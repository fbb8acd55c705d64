DROP FUNCTION purge_audit_entries(uuid, timestamptz, bigint);
DROP TABLE audit_entries;
