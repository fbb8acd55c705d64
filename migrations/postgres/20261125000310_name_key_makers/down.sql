DROP INDEX api_keys_by_maker;
ALTER TABLE api_keys DROP COLUMN made_by;
