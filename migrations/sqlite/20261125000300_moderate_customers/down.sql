DROP TRIGGER comments_inserted;
CREATE TRIGGER comments_inserted AFTER INSERT ON comments BEGIN
    UPDATE feature_requests SET unanswered = new.customer_id IS NOT NULL
    WHERE workspace_id = new.workspace_id AND id = new.request_id AND unanswered <> (new.customer_id IS NOT NULL);
END;
DROP INDEX held_comments_by_customer;
CREATE INDEX held_comments_by_customer ON held_comments (workspace_id, customer_id);
-- Removed texts are lost. Published again, they would be worse.
DROP TABLE removed_requests;
DROP TABLE removed_comments;
UPDATE customers SET mail_stopped_at = NULL, mail_stopped_because = NULL WHERE mail_stopped_because = 'blocked';
ALTER TABLE customers DROP COLUMN blocked_at;
