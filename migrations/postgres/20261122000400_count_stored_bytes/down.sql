DROP INDEX attachments_by_age;
DROP TABLE workspace_usage;
