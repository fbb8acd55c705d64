ALTER TABLE customers DROP COLUMN language;
DELETE FROM outbox WHERE kind = 'sign_in';
DROP TABLE sign_ins;
DROP TABLE sessions;
