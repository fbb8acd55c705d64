ALTER TABLE api_keys DROP COLUMN can_manage;
DROP TABLE synonyms;
