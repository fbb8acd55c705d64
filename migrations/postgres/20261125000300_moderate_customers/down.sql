DROP INDEX held_comments_by_customer;
CREATE INDEX held_comments_by_customer ON held_comments (workspace_id, customer_id);
-- Removed texts are lost. Published again, they would be worse.
DROP TABLE removed_requests;
DROP TABLE removed_comments;
UPDATE customers SET mail_stopped_at = NULL, mail_stopped_because = NULL WHERE mail_stopped_because = 'blocked';
ALTER TABLE customers DROP COLUMN blocked_at;
