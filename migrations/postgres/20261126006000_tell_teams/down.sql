DROP FUNCTION members_to_tell();
DELETE FROM outbox WHERE kind = 'team_digest';
ALTER TABLE members DROP COLUMN told_until;
ALTER TABLE members DROP COLUMN team_mail;
