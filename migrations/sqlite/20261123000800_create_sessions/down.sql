-- Their mails need the sign-ins.
DELETE FROM outbox WHERE kind = 'sign_in';
ALTER TABLE customers DROP COLUMN language;
DROP TABLE sign_ins;
DROP TABLE sessions;
