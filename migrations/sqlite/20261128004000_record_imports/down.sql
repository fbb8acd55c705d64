ALTER TABLE customers DROP COLUMN import_id;
ALTER TABLE followers DROP COLUMN import_id;
ALTER TABLE votes DROP COLUMN import_id;
DROP TABLE imported;
DROP TABLE imports;
