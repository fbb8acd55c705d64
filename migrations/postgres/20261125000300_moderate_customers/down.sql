CREATE OR REPLACE FUNCTION mark_answer() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    changed comments := coalesce(NEW, OLD);
    stored boolean;
    counted boolean;
BEGIN
    SELECT unanswered FROM feature_requests
    WHERE workspace_id = changed.workspace_id AND id = changed.request_id FOR NO KEY UPDATE
    INTO stored;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
        counted := changed.customer_id IS NOT NULL;
    ELSE
        counted := coalesce((
            SELECT customer_id IS NOT NULL FROM comments
            WHERE workspace_id = changed.workspace_id AND request_id = changed.request_id
            ORDER BY created_at DESC, id DESC LIMIT 1
        ), true);
    END IF;
    IF counted <> stored THEN
        UPDATE feature_requests SET unanswered = counted
        WHERE workspace_id = changed.workspace_id AND id = changed.request_id;
    END IF;
    RETURN NULL;
END
$$;

DROP INDEX held_comments_by_customer;
CREATE INDEX held_comments_by_customer ON held_comments (workspace_id, customer_id);
-- Removed texts are lost. Published again, they would be worse.
DROP TABLE removed_requests;
DROP TABLE removed_comments;
UPDATE customers SET mail_stopped_at = NULL, mail_stopped_because = NULL WHERE mail_stopped_because = 'blocked';
ALTER TABLE customers DROP COLUMN blocked_at;
