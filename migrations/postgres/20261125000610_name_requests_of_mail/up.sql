-- The id of the HTTP request that caused the message. NULL: no request did, or several did, as for a digest.
ALTER TABLE outbox ADD COLUMN request_id text;
